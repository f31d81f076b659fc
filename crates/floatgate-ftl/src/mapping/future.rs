//! The future of a workload: when each map entry will be asked for next.
//!
//! The accesses of the host's reads and writes are numbered from 0 in the order in which the device
//! makes them: request by request, in a request by ascending page. Trims are not among them. Takes
//! 4 bytes per access and 4 per logical page, and while it is put together 4 more per logical page.

use alloc::vec;
use alloc::vec::Vec;

use crate::addr::Lpn;

/// Not once more.
pub(super) const NEVER: u32 = u32::MAX;

/// When each map entry will be asked for.
#[derive(Clone, Debug)]
pub struct Future {
    /// By access: the next access to the same page, or [`NEVER`].
    pub(super) next: Vec<u32>,
    /// By page: the first access to it, or [`NEVER`].
    pub(super) first: Vec<u32>,
}

/// A [`Future`] of which the accesses are still being told.
#[derive(Clone, Debug)]
pub struct Foretelling {
    future: Future,
    /// By page: the last access to it so far, or [`NEVER`].
    last: Vec<u32>,
}

/// There are more accesses than can be numbered: 2^32 - 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLong;

impl Foretelling {
    /// No access so far, to a drive of `pages` logical pages.
    pub fn new(pages: u32) -> Self {
        let none = vec![NEVER; pages as usize];
        Self { future: Future { next: Vec::new(), first: none.clone() }, last: none }
    }

    /// The next access is to this page.
    ///
    /// # Errors
    /// It has no number.
    pub fn push(&mut self, lpn: Lpn) -> Result<(), TooLong> {
        let Future { next, first } = &mut self.future;
        let number = u32::try_from(next.len()).ok().filter(|&number| number != NEVER);
        let number = number.ok_or(TooLong)?;
        match core::mem::replace(&mut self.last[lpn.index()], number) {
            NEVER => first[lpn.index()] = number,
            previous => next[previous as usize] = number,
        }
        next.push(NEVER);
        Ok(())
    }

    /// No more accesses.
    pub fn finish(self) -> Future {
        self.future
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_access_knows_the_next() {
        let mut telling = Foretelling::new(4);
        for lpn in [2, 0, 2, 2, 3, 0] {
            telling.push(Lpn::new(lpn)).unwrap();
        }
        let Future { next, first } = telling.finish();
        assert_eq!(next, [2, 5, 3, NEVER, NEVER, NEVER]);
        assert_eq!(first, [1, NEVER, 0, 4]);
    }
}
