//! A placement that is in no table: it comes from outside of this crate.
//!
//! It is asked by a virtual call. Placements of the table are not: they know nothing of it.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use super::{HostWrite, Placement, Reclaimed, Relocation};
use crate::addr::Lpn;

/// What the engine asks of a placement from outside. Its streams are fewer than it has said.
pub trait GuestPlacement: Send {
    /// As [`Placement::stream`].
    fn stream(&mut self, write: HostWrite) -> u8;

    /// Whether [`GuestPlacement::moved`] may answer another stream than the pages are in.
    fn sorts_moved(&self) -> bool;

    /// Appends the stream of each page of a unit that cleaning moves. `of` has what they have in
    /// common, and the first of them.
    fn moved(&mut self, pages: &[Lpn], of: Relocation, streams: &mut Vec<u8>);

    /// As [`Placement::trimmed`].
    fn trimmed(&mut self, lpn: Lpn);

    /// As [`Placement::reclaimed`].
    fn reclaimed(&mut self, unit: Reclaimed);
}

/// A placement from outside, and memory for the pages of a unit.
pub struct Guest {
    policy: Box<dyn GuestPlacement>,
    pages: Vec<Lpn>,
    streams: Vec<u8>,
}

impl Guest {
    pub(super) fn new(policy: Box<dyn GuestPlacement>) -> Self {
        Self { policy, pages: Vec::new(), streams: Vec::new() }
    }

    pub(super) fn sorts_moved(&self) -> bool {
        self.policy.sorts_moved()
    }

    /// The streams of pages of a unit that are moved together, in their order.
    pub fn sort(&mut self, pages: impl Iterator<Item = Lpn>, of: Relocation) -> &[u8] {
        self.pages.clear();
        self.pages.extend(pages);
        self.streams.clear();
        self.policy.moved(&self.pages, of, &mut self.streams);
        assert_eq!(self.streams.len(), self.pages.len(), "a stream for each page");
        &self.streams
    }
}

impl Placement for Guest {
    fn stream(&mut self, write: HostWrite) -> u8 {
        self.policy.stream(write)
    }

    fn moved(&mut self, relocation: Relocation) -> u8 {
        self.sort([relocation.lpn].into_iter(), relocation)[0]
    }

    fn trimmed(&mut self, lpn: Lpn) {
        self.policy.trimmed(lpn);
    }

    fn reclaimed(&mut self, unit: Reclaimed) {
        self.policy.reclaimed(unit);
    }
}

impl fmt::Debug for Guest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Guest")
    }
}
