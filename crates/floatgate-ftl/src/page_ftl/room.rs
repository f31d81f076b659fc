//! Room until cleaning begins, on a drive that has not been fully written yet.

use super::slc::CacheRoom;
use super::{Cleaning, Pace, PageFtl, WhenFull};
use crate::addr::Unit;
use crate::mapping::Mapping;
use crate::nand::Nand;

impl Cleaning {
    /// Returns the number of free units below which cleaning begins, and the number of further
    /// pages until it begins. In the foreground it begins when a unit is opened; ahead of need,
    /// with the next page.
    fn least_free(&self) -> (u32, u64) {
        match (self.pace, self.idle_after_ns) {
            (Some(Pace::Proportional { .. }), _) => (self.high_water - 1, 1),
            (Some(Pace::Fixed(_)), _) | (None, Some(_)) => (self.high_water, 1),
            (None, None) => (self.low_water - 1, 0),
        }
    }
}

impl<N: Nand, M: Mapping> PageFtl<N, M> {
    /// Returns how many pages of the host can be programmed before a unit is cleaned, if nothing
    /// else is programmed. Pages of the map take units too. None once cleaning has begun.
    pub(super) fn room_left(&self) -> Option<u64> {
        let units = &self.store.units;
        let (least, one) = self.cleaner.config.least_free();
        let free = units.free_units();
        let was_erased = |unit| units.lifetime_erases(unit) > 0;
        let is_ahead_begun = one > 0 && free < least;
        let has_erased = || (0..self.store.geometry.units()).map(Unit).any(was_erased);
        if is_ahead_begun || (free <= least && has_erased()) {
            return None;
        }
        let capacity = u64::from(self.store.geometry.unit_capacity());
        let in_units = |units: u32| u64::from(units) * capacity;
        let room = match self.cleaner.config.pace {
            Some(Pace::Proportional { .. }) => self.streams.all_native_room(),
            _ => self.streams.native_room(),
        };
        let native = u64::from(room) + one;
        let opened = free.saturating_sub(least);
        let Some(CacheRoom { pages, units, when_full }) = self.room_in_cache() else {
            return Some(native + in_units(opened));
        };
        Some(match when_full {
            WhenFull::Fold => pages,
            WhenFull::Direct => pages + native + in_units(opened.saturating_sub(units)),
        })
    }
}
