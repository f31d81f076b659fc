//! The SLC cache: units that are programmed with one bit per cell, which is several times faster.
//!
//! Host writes go to the cache while it has room. Some units are reserved for it (the static part).
//! It takes more of the free units (the dynamic part) while the drive is not about to clean. Later
//! its units are folded, the oldest first: their valid pages move to units in native mode, sorted
//! as cleaning would sort them, and the units are erased. Folding runs on three occasions: while
//! the host is idle; for the dynamic part, when the drive is short of units; and, if configured,
//! before a write that finds the cache full. Without that option such a write bypasses the cache.

use alloc::collections::VecDeque;

use super::PageFtl;
use super::cleaning::MoveTarget;
use crate::addr::Unit;
use crate::counters::SlcCounts;
use crate::geometry::Mode;
use crate::mapping::Mapping;
use crate::nand::{Cause, Chain, Clock, Component, Nand};
use crate::unit_table::UnitTable;

/// Configuration of an SLC cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlcConfig {
    /// Units reserved for the cache, in addition to those that the drive needs otherwise.
    pub static_units: u32,
    /// Maximum number of units that the cache takes in addition, from the free units.
    pub dynamic_units: u32,
    /// Behaviour of a write that finds the cache full.
    pub when_full: WhenFull,
    /// Host idle time after which units are folded.
    pub idle_after_ns: Option<u64>,
}

crate::choice! {
    /// Behaviour of a host write that finds the SLC cache full.
    pub enum WhenFull {
        /// The write bypasses the cache.
        Direct = "direct",
        /// The write waits until a unit is folded.
        Fold = "fold",
    }
}

/// Room in an SLC cache until it is full.
#[derive(Clone, Copy, Debug)]
pub(super) struct CacheRoom {
    /// Pages that fit.
    pub pages: u64,
    /// Free units that it opens for these pages.
    pub units: u32,
    /// Behaviour of a write that finds the cache full.
    pub when_full: WhenFull,
}

/// Destination of folded pages: the placement sorts them.
const FOLDED: MoveTarget = MoveTarget::Placement { anew: true };

#[derive(Debug)]
pub(super) struct SlcCache {
    config: SlcConfig,
    stream: u8,
    /// Units of the cache in the order in which they were opened. The last one may be open.
    units: VecDeque<Unit>,
    pub(super) counts: SlcCounts,
}

crate::state!(SlcCache { units } fixed { config, stream, counts });

impl SlcCache {
    /// Starts with an empty cache, which is written in this stream.
    pub(super) fn new(config: SlcConfig, stream: u8) -> Self {
        Self { config, stream, units: VecDeque::new(), counts: SlcCounts::default() }
    }

    fn used(&self) -> u32 {
        self.units.len() as u32
    }

    /// Returns whether the cache can take one more unit, with `free` free units and `kept` of them
    /// for cleaning.
    fn has_unit(&self, free: u32, kept: u32) -> bool {
        let SlcConfig { static_units, dynamic_units, .. } = self.config;
        let is_dynamic = self.used() < static_units + dynamic_units && free > kept;
        self.used() < static_units || is_dynamic
    }

    pub(super) fn enter(&mut self, unit: Unit, units: &mut UnitTable) {
        units.pin(unit);
        self.units.push_back(unit);
    }

    /// Removes a unit that will be folded.
    fn leave(&mut self, unit: Unit, units: &mut UnitTable) {
        assert_eq!(self.units.pop_front(), Some(unit), "the oldest is folded first");
        units.unpin(unit);
    }

    pub(super) fn counts(&self, units: &UnitTable) -> SlcCounts {
        let valid = self.units.iter().map(|&unit| u64::from(units.valid(unit))).sum();
        SlcCounts { units: self.used(), valid_pages: valid, ..self.counts }
    }

    /// Asserts that the units of the cache are the pinned units in SLC mode.
    pub(super) fn check(&self, units: &UnitTable, all: u32) {
        let used = |unit: &Unit| units.mode(*unit) == Mode::Slc && units.pins(*unit) > 0;
        assert_eq!((0..all).map(Unit).filter(used).count(), self.units.len(), "units of the cache");
        assert!(self.units.iter().all(used), "what is in the cache is pinned");
    }
}

impl<N: Nand, M: Mapping> PageFtl<N, M> {
    /// Returns the stream of a host page: the cache's stream if the cache takes the page.
    #[inline(always)]
    pub(super) fn through_cache(&mut self, stream: u8) -> u8 {
        match &self.slc {
            None => stream,
            Some(_) => self.cache_or(stream),
        }
    }

    fn cache_or(&mut self, stream: u8) -> u8 {
        let (free, kept) = (self.store.units.free_units(), self.kept_units());
        let Some(slc) = &mut self.slc else { return stream };
        let has_room = self.streams.has_room(slc.stream) || slc.has_unit(free, kept);
        if has_room || slc.config.when_full == WhenFull::Fold {
            slc.counts.cached_pages += 1;
            self.owners.count_cached(stream);
            return slc.stream;
        }
        slc.counts.direct_pages += 1;
        stream
    }

    /// Returns the number of free units below which cleaning begins. The cache leaves them alone.
    fn kept_units(&self) -> u32 {
        self.cleaner.config.low_water.max(self.cleaner.config.high_water)
    }

    /// Computes the room in the cache until it is full.
    pub(super) fn room_in_cache(&self) -> Option<CacheRoom> {
        let slc = self.slc.as_ref()?;
        let SlcConfig { static_units, dynamic_units, when_full, .. } = slc.config;
        let free = self.store.units.free_units();
        let left = (static_units + dynamic_units).saturating_sub(slc.used());
        let static_left = static_units.saturating_sub(slc.used()).min(free);
        let dynamic_left = free.saturating_sub(static_left.max(self.kept_units()));
        let units = left.min(static_left + dynamic_left);
        let capacity = self.store.geometry.in_mode(Mode::Slc).unit_capacity();
        let pages =
            u64::from(self.streams.room(slc.stream)) + u64::from(units) * u64::from(capacity);
        Some(CacheRoom { pages, units, when_full })
    }

    /// Folds a unit if the cache is full and about to open a unit.
    pub(super) fn make_room_in_cache(
        &mut self,
        stream: u8,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        let Some(slc) = self.slc.as_ref().filter(|slc| slc.stream == stream) else {
            return Ok(());
        };
        let most = slc.config.static_units + slc.config.dynamic_units;
        if slc.used() < most || self.cleaner.active {
            return Ok(());
        }
        self.cleaner.active = true;
        let mut work = chain.work();
        self.finish_under_way(&mut work)?;
        if let Some((unit, to)) = self.oldest_in_cache() {
            self.collect(unit, to, Cause::Gc, &mut work)?;
        }
        self.store.clock().wait(chain, work, Component::Gc);
        self.cleaner.active = false;
        Ok(())
    }

    /// Returns the next unit to fold, if it is full.
    fn oldest_in_cache(&self) -> Option<(Unit, MoveTarget)> {
        let slc = self.slc.as_ref()?;
        let is_full =
            |&&unit: &&Unit| self.store.units.written(unit) == self.store.units.capacity(unit);
        let unit = *slc.units.front().filter(is_full)?;
        self.fits(unit, FOLDED).then_some((unit, FOLDED))
    }

    /// Returns the unit to fold when units are short, if the cache has more than its static part.
    pub(super) fn fold_for_units(&self) -> Option<(Unit, MoveTarget)> {
        let slc = self.slc.as_ref()?;
        if slc.used() > slc.config.static_units { self.oldest_in_cache() } else { None }
    }

    /// Removes a unit that is about to be emptied from the cache. Returns whether it was in the
    /// cache.
    pub(super) fn leave_cache(&mut self, victim: Unit) -> bool {
        let Some(slc) = &mut self.slc else { return false };
        if self.store.units.mode(victim) == Mode::Native {
            return false;
        }
        slc.leave(victim, &mut self.store.units);
        slc.counts.folds += 1;
        true
    }

    /// Folds units in a gap between host requests, from `from` until `until`. It begins units while
    /// the gap lasts.
    pub(super) fn fold_while_idle(&mut self, from: u64, until: u64) -> Result<(), N::Error> {
        let Some(after) = self.slc.as_ref().and_then(|slc| slc.config.idle_after_ns) else {
            return Ok(());
        };
        let times = (from.saturating_add(after), until);
        let folded = self.while_idle(times, |ftl| ftl.oldest_in_cache())?;
        if let Some(slc) = &mut self.slc {
            slc.counts.idle_folds += folded;
        }
        Ok(())
    }

    /// Folds all that would be folded in a long idle time of the host.
    pub(super) fn fold_all(&mut self, chain: &mut Chain) -> Result<(), N::Error> {
        if self.slc.as_ref().is_none_or(|slc| slc.config.idle_after_ns.is_none()) {
            return Ok(());
        }
        self.cleaner.active = true;
        self.finish_under_way(chain)?;
        while let Some((unit, to)) = self.oldest_in_cache() {
            self.collect(unit, to, Cause::Gc, chain)?;
        }
        self.cleaner.active = false;
        Ok(())
    }
}
