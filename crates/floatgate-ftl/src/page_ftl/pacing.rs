//! Pace of cleaning ahead of need: how many pages the cleaner copies with each page that the host
//! writes.
//!
//! A fixed pace copies a fixed number of pages with each host page while few units are free. A
//! proportional pace makes the room that the coming host pages need. The valid pages of a
//! victim are spread evenly over the host pages that arrive until the victim has to be free:
//!
//! ```text
//!   free pages   start of a victim with v valid pages of p: p - v host pages later,
//!   target ─┐     ┌─┐     the victim is free and the next victim begins
//!            └──┐ │  └──┐
//!               └─┘     └
//! ```
//!
//! If the drive has more (fewer) free pages than the target when a victim begins, its copies are
//! spread over as many more (fewer) host pages. So each victim corrects the error of the victim
//! before it.
//!
//! The *debt* is the number of copies that are due for host pages already admitted, and that the
//! flash has not completed. Before the drive admits a host page that would increase the debt beyond
//! its bound, the page waits for the oldest copies. No later page overtakes a page that waits.

use alloc::collections::VecDeque;

use super::Cleaning;
use crate::geometry::{Geometry, Shape};
use crate::nand::{Chain, Clock, Component, Gate};

/// Pages that the cleaner copies with each page that the host writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pace {
    /// This number of pages, while fewer than `high_water` units are free.
    Fixed(u32),
    /// The pages whose room the coming host pages need.
    Proportional {
        /// Bound of the debt in pages, at least 1.
        debt: u32,
    },
}

/// Copies that are due, and copies that are under way.
#[derive(Debug)]
pub(super) struct Pacing {
    /// Copies of the victim, and the pages over which these copies are spread. Without a victim:
    /// no copies, and the pages until the cleaner looks for a victim again.
    copies: u64,
    span: u64,
    /// Pages, except copies, that have taken space in the span so far; and copies that have begun.
    taken: u64,
    made: u64,
    /// Copies that begin together: the pages that a die programs at once.
    batch: u32,
    /// Copies that are not known to be complete, the oldest first, and their number.
    under_way: VecDeque<(Chain, u32)>,
    pages_under_way: u64,
    /// Where host pages wait for copies.
    gate: Gate,
}

crate::state!(
    Pacing { copies, span, taken, made } fixed { batch, under_way, pages_under_way, gate }
);

impl Pacing {
    pub(super) fn new(config: &Cleaning, geometry: &Geometry) -> Self {
        let Shape { superblock, planes, .. } = *geometry.shape();
        let batch = geometry.program_unit().max(planes.min(superblock));
        let bound = match config.pace {
            Some(Pace::Proportional { debt }) => debt,
            _ => u32::MAX,
        };
        assert!(bound > 0, "a drive that owes no copy cannot clean");
        Self {
            copies: 0,
            span: 0,
            taken: 0,
            made: 0,
            batch: batch.min(bound),
            under_way: VecDeque::new(),
            pages_under_way: 0,
            gate: Gate::OPEN,
        }
    }

    /// Notes a page, other than a copy, that takes space.
    #[inline(always)]
    pub(super) fn take(&mut self) {
        self.taken += 1;
    }

    /// Returns whether all copies of the victim are due, or it is time to look for a victim.
    pub(super) fn is_over(&self) -> bool {
        self.taken >= self.span
    }

    /// Plans to look for a victim after `pages` more pages.
    pub(super) fn rest(&mut self, pages: u64) {
        self.spread(0, pages);
    }

    /// Plans to look for a victim again after a victim has been turned down.
    pub(super) fn retry(&mut self) {
        self.rest(self.batch.into());
    }

    /// Spreads the copies of a victim over `span` pages.
    pub(super) fn spread(&mut self, copies: u64, span: u64) {
        (self.copies, self.span, self.taken, self.made) = (copies, span, 0, 0);
    }

    /// Returns the copies that are due and have not begun.
    fn owed(&self) -> u64 {
        let due = match self.is_over() {
            true => self.copies,
            false => (self.copies * self.taken).div_ceil(self.span),
        };
        due.saturating_sub(self.made)
    }

    /// Returns the number of copies to begin now: a batch, or fewer at the end of the span.
    pub(super) fn due(&self) -> Option<u32> {
        let owed = self.owed();
        let is_batch = owed >= self.batch.into();
        (is_batch || (owed > 0 && self.is_over())).then(|| owed.min(self.batch.into()) as u32)
    }

    /// Notes copies that begin with a host page and end with `work`.
    pub(super) fn begin(&mut self, pages: u32, work: Chain) {
        self.made += u64::from(pages);
        if pages > 0 {
            self.under_way.push_back((work, pages));
            self.pages_under_way += u64::from(pages);
        }
    }

    /// Makes the chain of a host page wait until the debt is within its bound, and until all
    /// earlier pages are admitted. `copies` are about to begin; without them, the copies that are
    /// due count.
    pub(super) fn admit(
        &mut self,
        copies: Option<u32>,
        bound: u32,
        clock: &mut impl Clock,
        chain: &mut Chain,
    ) {
        let owed = copies.map_or_else(|| self.owed(), u64::from);
        while self.pages_under_way + owed > bound.into()
            && let Some((work, pages)) = self.under_way.pop_front()
        {
            self.pages_under_way -= u64::from(pages);
            self.gate.add(work, clock);
        }
        self.gate.wait(chain, Component::Gc, clock);
    }

    /// Forgets the copies under way: the clock has dropped them.
    pub(super) fn reset_counters(&mut self) {
        self.under_way.clear();
        self.pages_under_way = 0;
        self.gate = Gate::OPEN;
    }
}
