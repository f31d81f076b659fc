//! Owners of pages: how many pages the host wrote for each, and for whose writes cleaning copied
//! them.
//!
//! An owner is a placement handle if the placement obeys handles. A page then belongs to the handle
//! of its last write, wherever it is. With any other placement an owner is a stream, and a page
//! belongs to the stream that it is in.

use alloc::vec;
use alloc::vec::Vec;

use super::PageFtl;
use crate::addr::{Lpn, Owner, Ppn};
use crate::counters::{OwnerCounts, StreamCounts};
use crate::mapping::Mapping;
use crate::nand::{Cause, Nand};

/// Counts by owner since the last reset.
#[derive(Debug)]
pub(super) struct Owners {
    /// Owner of each data stream that has one.
    of_stream: Vec<Option<u8>>,
    counts: Vec<OwnerCounts>,
    /// Owner of the write that cleaning runs for; the number of owners if there is none.
    starter: u8,
    /// Owner of the write that goes through the SLC cache.
    cached: u8,
}

impl Owners {
    /// Starts with the owners of the placement's streams.
    pub(super) fn new(of_stream: Vec<Option<u8>>) -> Self {
        let last = of_stream.iter().flatten().max().copied().unwrap_or(0);
        let blank = OwnerCounts { gc_pages: vec![0; usize::from(last) + 2], ..Default::default() };
        let counts = vec![blank; usize::from(last) + 1];
        Self { of_stream, counts, starter: last + 1, cached: last + 1 }
    }

    /// Returns the index in `gc_pages` of cleaning that runs for no write of data.
    fn none(&self) -> u8 {
        self.counts.len() as u8
    }

    fn of(&self, stream: u8) -> Option<u8> {
        self.of_stream.get(usize::from(stream)).copied().flatten()
    }

    /// Notes that cleaning runs for a write to a stream. `slc` is the stream of the SLC cache; a
    /// write to it belongs to the owner of the last cached page.
    pub(super) fn start_for(&mut self, stream: u8, slc: Option<u8>) {
        self.starter = match slc == Some(stream) {
            true => self.cached,
            false => self.of(stream).unwrap_or(self.none()),
        };
    }

    /// Notes that cleaning for a write has ended.
    pub(super) fn end(&mut self) {
        self.starter = self.none();
    }

    /// Counts a page that the host has written to the SLC cache and not to its stream.
    pub(super) fn count_cached(&mut self, stream: u8) {
        self.cached = self.of(stream).unwrap_or(self.none());
        if let Some(counts) = self.counts.get_mut(usize::from(self.cached)) {
            counts.host_pages += 1;
        }
    }

    /// Counts a page that the host has written to a log and not to its stream.
    pub(super) fn count_logged(&mut self, owner: u8) {
        self.counts[usize::from(owner)].host_pages += 1;
    }

    fn count_copies(&mut self, owner: u8, cause: Cause, pages: u64) {
        let counts = &mut self.counts[usize::from(owner)];
        match cause {
            Cause::Gc => counts.gc_pages[usize::from(self.starter)] += pages,
            Cause::Fold => counts.fold_pages += pages,
            Cause::Wear => counts.wear_pages += pages,
            _ => {}
        }
    }

    /// Returns all counts. `streams` has the traffic of the placement's streams.
    pub(super) fn counts(&self, streams: &[StreamCounts]) -> Vec<OwnerCounts> {
        let mut counts = self.counts.clone();
        for (stream, &owner) in streams.iter().zip(&self.of_stream) {
            if let Some(owner) = owner {
                counts[usize::from(owner)].host_pages += stream.host_pages;
            }
        }
        counts
    }

    pub(super) fn reset_counters(&mut self) {
        *self = Self::new(core::mem::take(&mut self.of_stream));
    }
}

impl<N: Nand, M: Mapping> PageFtl<N, M> {
    /// Returns the owner of a page that is in a stream.
    pub(super) fn owner_of(&self, lpn: Lpn, stream: u8) -> u8 {
        let handle = self.placement.handle_of_page(lpn);
        handle.unwrap_or_else(|| self.owners.of(self.streams.home(stream)).unwrap_or(0))
    }

    /// Counts pages of an erase unit that were copied, by owner. Pages of the map have none.
    pub(super) fn count_copies(&mut self, pages: &[(Ppn, Owner)], cause: Cause) {
        let Some(&(first, Owner::Data(lpn))) = pages.first() else { return };
        let stream = self.store.units.stream(self.store.geometry.unit(first));
        if self.placement.handle_of_page(lpn).is_none() {
            let owner = self.owner_of(lpn, stream);
            return self.owners.count_copies(owner, cause, pages.len() as u64);
        }
        for &(_, owner) in pages {
            if let Owner::Data(lpn) = owner {
                let owner = self.owner_of(lpn, stream);
                self.owners.count_copies(owner, cause, 1);
                if let Some(events) = &mut self.events
                    && cause != Cause::Fold
                {
                    events.moved(owner, lpn);
                }
            }
        }
    }

    /// Counts the pages of a wholly valid erase unit that was relabelled, by owner.
    pub(super) fn count_relabelled(&mut self, row: &[(Ppn, Owner)], stream: u8) {
        for &(_, owner) in row {
            if let Owner::Data(lpn) = owner {
                let owner = self.owner_of(lpn, stream);
                self.owners.counts[usize::from(owner)].relabelled_pages += 1;
            }
        }
    }
}
