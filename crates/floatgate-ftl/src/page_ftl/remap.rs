//! The log of the host layer SHRD, inside the drive: pages that change their logical address.
//!
//! The log's logical pages lie behind the user's pages, and have map entries like all other pages.
//! Host writes to the log go to a stream of their own. A unit of the log is not cleaned before the
//! last page in it is remapped or invalidated (docs/algorithms.md, 9.7). A remap only changes the
//! map: no data is read or programmed. The out-of-band area has both addresses from the start.

use core::ops::Range;

use super::PageFtl;
use crate::addr::{Lpn, Owner, Unit};
use crate::ftl::{Fault, Ftl, Remap};
use crate::geometry::Mode;
use crate::mapping::{Access, AccessKind, Mapping};
use crate::nand::{Cause, Chain, Nand};

/// Range of the logical pages that are the log.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogArea {
    /// The first page of the log; without a log, the number of logical pages.
    base: u32,
}

/// A page that is written to the log.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogPage {
    /// The page that it will become. Without one, the page belongs to no user page after a loss of
    /// power.
    pub(super) original: Option<Lpn>,
}

impl LogArea {
    pub(super) fn new(logical_pages: u32, log_pages: u32) -> Self {
        let base = logical_pages.checked_sub(log_pages).expect("the log is part of the drive");
        Self { base }
    }

    pub(super) fn base(&self) -> u32 {
        self.base
    }

    /// Returns whether a page is in the log.
    #[inline(always)]
    pub(super) fn holds(&self, lpn: Lpn) -> bool {
        lpn.get() >= self.base
    }
}

impl<N: Nand, M: Mapping> PageFtl<N, M> {
    /// Looks up an entry for a remap.
    fn access_to_remap(
        &mut self,
        lpn: Lpn,
        kind: AccessKind,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        // A trim clears a mapped entry, although the table no longer has it.
        let mapped = kind == AccessKind::Trim || self.is_mapped(lpn);
        self.map
            .cache
            .access(Access { lpn, kind, remaining: 1, first: true, mapped }, &mut self.map.io);
        self.perform(Cause::Remap, chain)
    }

    /// Asserts that every unit is pinned once for each page of the log in it.
    pub(super) fn check_pins(&self) {
        let mut pins = alloc::vec![0; self.store.geometry.units() as usize];
        for &ppn in self.store.table[self.log.base as usize..].iter().flatten() {
            pins[self.store.geometry.unit(ppn).index()] += 1;
        }
        for (unit, pins) in pins.into_iter().enumerate() {
            let unit = Unit(unit as u32);
            if self.store.units.mode(unit) == Mode::Native {
                assert_eq!(self.store.units.pins(unit), pins, "{unit:?} is pinned");
            }
        }
    }
}

impl<N: Nand, M: Mapping> Remap for PageFtl<N, M> {
    #[inline]
    fn write_log(
        &mut self,
        at: Lpn,
        original: Option<Lpn>,
        chain: &mut Chain,
    ) -> Result<(), Fault<Self>> {
        assert!(self.log.holds(at), "{at:?} is not a page of the log");
        let stream = self.streams.log().expect("a log has a stream");
        self.put(at, (stream, Some(LogPage { original })), chain)
    }

    fn remap(&mut self, from: Lpn, to: Lpn, chain: &mut Chain) -> Result<bool, Fault<Self>> {
        assert!(self.log.holds(from) && !self.log.holds(to), "from the log to the user's pages");
        // Making room for the map may clean units. The old page may then move, but never the log's
        // page.
        let Some(ppn) = self.store.table[from.index()].take() else { return Ok(false) };
        self.store.remapping = Some((from, ppn));
        self.access_to_remap(from, AccessKind::Trim, chain)?;
        self.access_to_remap(to, AccessKind::Write, chain)?;
        self.store.remapping = None;
        self.store.units.rename(ppn, Owner::Data(from), Owner::Data(to));
        if let Some(old) = self.store.table[to.index()].replace(ppn) {
            self.store.units.invalidate(old, Owner::Data(to));
        }
        self.store.units.unpin(self.store.geometry.unit(ppn));
        if self.map.cache.is_on_flash() {
            self.map.cache.assigned(to, ppn, &mut self.map.io);
            self.perform(Cause::Remap, chain)?;
        }
        Ok(true)
    }

    fn drop_log(&mut self, lpns: Range<u32>, chain: &mut Chain) -> Result<u64, Fault<Self>> {
        assert!(lpns.is_empty() || self.log.holds(Lpn::new(lpns.start)), "pages of the log only");
        self.forget(lpns, Cause::Remap, chain)
    }
}

#[cfg(test)]
mod tests;
