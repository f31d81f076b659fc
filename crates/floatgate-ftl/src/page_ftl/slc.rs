//! The SLC cache: units that are programmed with one bit a cell, which is several times as fast.
//!
//! What the host writes goes there while there is room. Some units are nobody else's (the static
//! part); more are taken from those that are free (the dynamic part) as long as the drive is not
//! about to clean. Later they are folded, the oldest first: what is still valid in them is moved to
//! units in native mode, sorted as cleaning would sort it, and they are erased. That is done while
//! the host is idle; when the drive is short of units, for the dynamic part; and, if it is asked
//! for, before a write that finds the cache full. Otherwise such a write goes past the cache.

use alloc::collections::VecDeque;

use super::PageFtl;
use super::cleaning::To;
use crate::addr::Unit;
use crate::counters::SlcCounts;
use crate::geometry::Mode;
use crate::mapping::Mapping;
use crate::nand::{Cause, Chain, Clock, Nand, Part};
use crate::unit_table::UnitTable;

/// An SLC cache, as it is configured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlcConfig {
    /// Units that are always there for it, beyond those that the drive needs otherwise.
    pub static_units: u32,
    /// Most units that it takes besides, of those that are free.
    pub dynamic_units: u32,
    /// What a write does that finds it full.
    pub when_full: WhenFull,
    /// How long the host must have been idle for units to be folded.
    pub idle_after_ns: Option<u64>,
}

crate::choice! {
    /// What a write of the host does that finds the SLC cache full.
    pub enum WhenFull {
        /// It goes past the cache.
        Direct = "direct",
        /// It waits until a unit is folded.
        Fold = "fold",
    }
}

/// Room in an SLC cache until it is full.
#[derive(Clone, Copy, Debug)]
pub(super) struct CacheRoom {
    /// Pages that it takes.
    pub pages: u64,
    /// Free units that it opens for them.
    pub units: u32,
    /// The behaviour of a write that finds the cache full.
    pub when_full: WhenFull,
}

/// Where folded pages go: as the placement sorts them.
const FOLDED: To = To::Placement { anew: true };

/// The cache, and what is in it.
#[derive(Debug)]
pub(super) struct SlcCache {
    config: SlcConfig,
    stream: u8,
    /// Its units in the order in which they were opened. The last may be open.
    units: VecDeque<Unit>,
    pub(super) counts: SlcCounts,
}

crate::state!(SlcCache { units } fixed { config, stream, counts });

impl SlcCache {
    /// An empty one, which is written in this stream.
    pub(super) fn new(config: SlcConfig, stream: u8) -> Self {
        Self { config, stream, units: VecDeque::new(), counts: SlcCounts::default() }
    }

    fn used(&self) -> u32 {
        self.units.len() as u32
    }

    /// Whether it can take one more unit where so many are free and cleaning needs some of them.
    fn has_unit(&self, free: u32, kept: u32) -> bool {
        let SlcConfig { static_units, dynamic_units, .. } = self.config;
        let is_dynamic = self.used() < static_units + dynamic_units && free > kept;
        self.used() < static_units || is_dynamic
    }

    /// A unit is its own from now on.
    pub(super) fn enter(&mut self, unit: Unit, units: &mut UnitTable) {
        units.pin(unit);
        self.units.push_back(unit);
    }

    /// A unit is to be folded.
    fn leave(&mut self, unit: Unit, units: &mut UnitTable) {
        assert_eq!(self.units.pop_front(), Some(unit), "the oldest is folded first");
        units.unpin(unit);
    }

    pub(super) fn counts(&self, units: &UnitTable) -> SlcCounts {
        let valid = self.units.iter().map(|&unit| u64::from(units.valid(unit))).sum();
        SlcCounts { units: self.used(), valid_pages: valid, ..self.counts }
    }

    /// Its units are those in SLC mode that are in use, and stay in use until they are folded.
    pub(super) fn check(&self, units: &UnitTable, all: u32) {
        let used = |unit: &Unit| units.mode(*unit) == Mode::Slc && units.pins(*unit) > 0;
        assert_eq!((0..all).map(Unit).filter(used).count(), self.units.len(), "units of the cache");
        assert!(self.units.iter().all(used), "what is in the cache is pinned");
    }
}

impl<N: Nand, M: Mapping> PageFtl<N, M> {
    /// The stream that a page of the host goes to: that of the cache, if it takes it.
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
            return slc.stream;
        }
        slc.counts.direct_pages += 1;
        stream
    }

    /// Free units that the cache leaves alone, as cleaning begins when there are fewer.
    fn kept_units(&self) -> u32 {
        self.cleaner.config.low_water.max(self.cleaner.config.high_water)
    }

    /// Room in the cache until it is full.
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

    /// The cache is about to open a unit: if it is full, one is folded.
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
        self.store.clock().wait(chain, work, Part::Gc);
        self.cleaner.active = false;
        Ok(())
    }

    /// The unit that is folded next, if it is full.
    fn oldest_in_cache(&self) -> Option<(Unit, To)> {
        let slc = self.slc.as_ref()?;
        let is_full =
            |&&unit: &&Unit| self.store.units.written(unit) == self.store.units.capacity(unit);
        let unit = *slc.units.front().filter(is_full)?;
        self.fits(unit, FOLDED).then_some((unit, FOLDED))
    }

    /// The unit that is folded when units are short: one that the cache has beyond its static part.
    pub(super) fn fold_for_units(&self) -> Option<(Unit, To)> {
        let slc = self.slc.as_ref()?;
        if slc.used() > slc.config.static_units { self.oldest_in_cache() } else { None }
    }

    /// A unit is about to be emptied. Answers whether it was one of the cache.
    pub(super) fn leave_cache(&mut self, victim: Unit) -> bool {
        let Some(slc) = &mut self.slc else { return false };
        if self.store.units.mode(victim) == Mode::Native {
            return false;
        }
        slc.leave(victim, &mut self.store.units);
        slc.counts.folds += 1;
        true
    }

    /// The host has asked for nothing since `from`, and will not until `until`: units are folded,
    /// as long as one can be begun in that time.
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

    /// The host has been idle for long: all that is folded while it is idle has been.
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
