//! The future of a workload: when each page will be accessed next.
//!
//! What is an access is for the teller to say: reads and writes for a bound on mapping caches,
//! writes for one on placements. Accesses are numbered from 0 in the order in which the device
//! makes them: request by request, in a request by ascending page. Trims are not among them. Takes
//! 4 bytes per access and 4 per logical page, and while it is put together 4 more per logical page.

use alloc::vec;
use alloc::vec::Vec;

use crate::addr::Lpn;

/// Not once more.
pub(crate) const NEVER: u32 = u32::MAX;

/// In place of the last access to a page that has been given up since.
const ENDED: u32 = u32::MAX - 1;

/// When each page will be accessed.
#[derive(Clone, Debug)]
pub struct NextUses {
    /// By access: the next access to the same page, or [`NEVER`].
    pub(crate) next: Vec<u32>,
    /// By page: the first access to it, or [`NEVER`].
    pub(crate) first: Vec<u32>,
}

/// What is known of a workload before it begins, for those of the policies that are bounds: each
/// takes its own part of it, and the others take none.
#[derive(Clone, Debug, Default)]
pub struct FutureKnowledge {
    /// Reads and writes, page by page: for a mapping.
    pub accesses: Option<NextUses>,
    /// Writes and what ends by a trim, page by page: for a placement.
    pub writes: Option<NextUses>,
    /// Reads and writes, part by part, each by the number of its block: for a write buffer.
    pub blocks: Option<NextUses>,
}

/// A [`NextUses`] of which the accesses are still being told.
#[derive(Clone, Debug)]
pub struct NextUseBuilder {
    future: NextUses,
    /// By page: the last access to it so far, or [`NEVER`], or [`ENDED`].
    last: Vec<u32>,
}

/// There are more accesses than can be numbered: 2^32 - 2.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLong;

impl NextUseBuilder {
    /// No access so far, to a drive of `pages` logical pages.
    pub fn new(pages: u32) -> Self {
        let none = vec![NEVER; pages as usize];
        Self { future: NextUses { next: Vec::new(), first: none.clone() }, last: none }
    }

    /// The next access is to this page.
    ///
    /// # Errors
    /// It has no number.
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

    /// The page is given up (trimmed) before the next access, whatever page that is to: with that
    /// access ends the time of what was accessed last, though the access is to another page. Only
    /// for a bound on placements.
    pub fn end(&mut self, lpn: Lpn) {
        let NextUses { next, first } = &mut self.future;
        let number = next.len() as u32;
        match core::mem::replace(&mut self.last[lpn.index()], ENDED) {
            NEVER => first[lpn.index()] = number,
            ENDED => {}
            previous => next[previous as usize] = number,
        }
    }

    /// No more accesses.
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
