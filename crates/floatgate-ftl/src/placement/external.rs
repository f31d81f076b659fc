//! External placement policy: a policy that is not in the table, from outside this crate.
//!
//! The engine calls it through a virtual call. Placements of the table do not pay for this. The
//! external policy gets, for each page, the placement handle of the host's last write of that page,
//! buffered or not. Memory for the handles is allocated when a write first names one.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use super::{HostWrite, Placement, PlacementEvent, Reclaimed, Relocation};
use crate::addr::Lpn;
use crate::policy::Policy;

/// Interface of an external placement policy. Each stream that it returns must be below the number
/// of streams in [`AnyPlacement::external`](super::AnyPlacement::external).
pub trait ExternalPlacement: Send {
    /// As [`Placement::stream`], with the handle that the host has named.
    fn stream(&mut self, write: HostWrite, handle: u16) -> u8;

    /// Returns whether [`ExternalPlacement::moved`] is called. If not, pages that cleaning moves
    /// stay in their stream. Pages of an SLC cache, which are in no placement stream, go to the
    /// first one.
    fn sorts_moved(&self) -> bool {
        false
    }

    /// Appends the stream of each page of a unit that cleaning moves. `handles` are the handles of
    /// their last writes. `of` has the stream and times, which all pages share, and the first page.
    fn moved(&mut self, pages: &[Lpn], _handles: &[u16], of: Relocation, streams: &mut Vec<u8>) {
        streams.extend(pages.iter().map(|_| of.stream));
    }

    /// As [`PlacementEvent::Trimmed`].
    fn trimmed(&mut self, _lpn: Lpn) {}

    /// As [`PlacementEvent::Reclaimed`].
    fn reclaimed(&mut self, _unit: Reclaimed) {}
}

/// An external policy, and buffers for the pages of a unit.
pub struct ExternalScheme {
    policy: Box<dyn ExternalPlacement>,
    logical_pages: u32,
    /// Handle of the last write, by page; empty until a write names a handle.
    given: Vec<u16>,
    pages: Vec<Lpn>,
    handles: Vec<u16>,
    streams: Vec<u8>,
}

impl ExternalScheme {
    pub(super) fn new(policy: Box<dyn ExternalPlacement>, logical_pages: u32) -> Self {
        let (pages, handles, streams) = (Vec::new(), Vec::new(), Vec::new());
        Self { policy, logical_pages, given: Vec::new(), pages, handles, streams }
    }

    fn handle(&self, lpn: Lpn) -> u16 {
        self.given.get(lpn.index()).copied().unwrap_or(0)
    }

    /// Notes the handle of a write. Not inlined, which keeps it out of the path for policies of the
    /// table.
    #[inline(never)]
    fn label(&mut self, lpns: Range<u32>, handle: u16) {
        if self.given.is_empty() {
            if handle == 0 {
                return;
            }
            self.given = vec![0; self.logical_pages as usize];
        }
        self.given[lpns.start as usize..lpns.end as usize].fill(handle);
    }

    /// Returns the streams of pages of a unit that are moved together, in their order.
    pub fn sort(&mut self, pages: impl Iterator<Item = Lpn>, of: Relocation) -> &[u8] {
        self.streams.clear();
        if !self.policy.sorts_moved() {
            self.streams.extend(pages.map(|_| of.stream));
            return &self.streams;
        }
        let mut handles = core::mem::take(&mut self.handles);
        self.pages.clear();
        self.pages.extend(pages);
        handles.clear();
        handles.extend(self.pages.iter().map(|&lpn| self.handle(lpn)));
        self.policy.moved(&self.pages, &handles, of, &mut self.streams);
        self.handles = handles;
        assert_eq!(self.streams.len(), self.pages.len(), "a stream for each page");
        &self.streams
    }
}

impl Placement for ExternalScheme {
    fn stream(&mut self, write: HostWrite) -> u8 {
        let handle = self.handle(write.lpn);
        self.policy.stream(write, handle)
    }

    fn moved(&mut self, relocation: Relocation) -> u8 {
        self.sort([relocation.lpn].into_iter(), relocation)[0]
    }

    #[inline(always)]
    fn observe(&mut self, event: PlacementEvent) {
        match event {
            PlacementEvent::Labelled { lpns, handle } => self.label(lpns, handle),
            PlacementEvent::Trimmed(lpn) => self.policy.trimmed(lpn),
            PlacementEvent::Reclaimed(unit) => self.policy.reclaimed(unit),
            PlacementEvent::Command { .. } => {}
        }
    }
}

impl Policy for ExternalScheme {}

crate::state!(ExternalScheme unsaved);

impl fmt::Debug for ExternalScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ExternalScheme")
    }
}
