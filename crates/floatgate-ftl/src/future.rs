//! Future of a workload: the next access to each page.
//!
//! The caller of the builder decides which operations are accesses: reads and writes for a bound on
//! mapping caches, writes for a bound on placements. Accesses are numbered from 0 in the order in
//! which the device makes them: request by request, and within a request by ascending page. Trims
//! are not accesses. Takes 4 bytes per access and 4 per logical page, and during construction
//! another 4 per logical page.

use alloc::vec;
use alloc::vec::Vec;

use crate::addr::Lpn;

/// Marks a page without another access.
pub(crate) const NEVER: u32 = u32::MAX;

/// Marks in `last` a page that was trimmed after its last access.
const ENDED: u32 = u32::MAX - 1;

/// Next access to each page.
#[derive(Clone, Debug)]
pub struct NextUses {
    /// By access: the next access to the same page, or [`NEVER`].
    pub(crate) next: Vec<u32>,
    /// By page: its first access, or [`NEVER`].
    pub(crate) first: Vec<u32>,
}

/// Knowledge of a workload before it begins, for the policies that are offline bounds. Each bound
/// uses its own field; other policies use none.
#[derive(Clone, Debug, Default)]
pub struct FutureKnowledge {
    /// Reads and writes, page by page: for a mapping.
    pub accesses: Option<NextUses>,
    /// Writes, and the ends of pages by trims, page by page: for a placement.
    pub writes: Option<NextUses>,
    /// Reads and writes, part by part, each with the number of its block: for a write buffer.
    pub blocks: Option<NextUses>,
}

/// Builder of [`NextUses`].
#[derive(Clone, Debug)]
pub struct NextUseBuilder {
    future: NextUses,
    /// By page: its last access so far, or [`NEVER`], or [`ENDED`].
    last: Vec<u32>,
}

/// Error: more accesses than can be numbered, 2^32 - 2.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLong;

impl NextUseBuilder {
    /// Creates a builder for a drive of `pages` logical pages, without any access.
    pub fn new(pages: u32) -> Self {
        let none = vec![NEVER; pages as usize];
        Self { future: NextUses { next: Vec::new(), first: none.clone() }, last: none }
    }

    /// Adds an access to this page.
    ///
    /// # Errors
    /// All access numbers are used.
    pub fn push(&mut self, lpn: Lpn) -> Result<(), TooLong> {
        let NextUses { next, first } = &mut self.future;
        let number = u32::try_from(next.len()).ok().filter(|&number| number < ENDED);
        let number = number.ok_or(TooLong)?;
        match core::mem::replace(&mut self.last[lpn.index()], number) {
            NEVER => first[lpn.index()] = number,
            ENDED => {}
            previous => next[previous as usize] = number,
        }
        next.push(NEVER);
        Ok(())
    }

    /// Records that a page is trimmed before the next access. The data of the page's last access
    /// then ends with the number of the next access to any page. Only for a bound on placements.
    pub fn end(&mut self, lpn: Lpn) {
        let NextUses { next, first } = &mut self.future;
        let number = next.len() as u32;
        match core::mem::replace(&mut self.last[lpn.index()], ENDED) {
            NEVER => first[lpn.index()] = number,
            ENDED => {}
            previous => next[previous as usize] = number,
        }
    }

    /// Returns the accesses; no more can be added.
    pub fn finish(self) -> NextUses {
        self.future
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_access_knows_the_next() {
        let mut telling = NextUseBuilder::new(4);
        for lpn in [2, 0, 2, 2, 3, 0] {
            telling.push(Lpn::new(lpn)).unwrap();
        }
        let NextUses { next, first } = telling.finish();
        assert_eq!(next, [2, 5, 3, NEVER, NEVER, NEVER]);
        assert_eq!(first, [1, NEVER, 0, 4]);
    }

    #[test]
    fn a_page_that_is_given_up_ends() {
        let mut telling = NextUseBuilder::new(4);
        let push = |telling: &mut NextUseBuilder, lpn| telling.push(Lpn::new(lpn)).unwrap();
        let end = |telling: &mut NextUseBuilder, lpn| telling.end(Lpn::new(lpn));
        push(&mut telling, 0);
        end(&mut telling, 1);
        push(&mut telling, 2);
        end(&mut telling, 0);
        end(&mut telling, 0);
        push(&mut telling, 1);
        push(&mut telling, 0);
        push(&mut telling, 0);
        end(&mut telling, 0);
        let NextUses { next, first } = telling.finish();
        assert_eq!(next, [2, NEVER, NEVER, 4, 5]);
        assert_eq!(first, [0, 1, 1, NEVER]);
    }
}
