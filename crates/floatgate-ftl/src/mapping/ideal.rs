//! The whole map in the drive's memory: the reference for every cache.

use alloc::vec::Vec;

use super::{Access, MapConfig, MapDemands, MapOp, MapStats, Mapping, Prefetch, Residency};
use crate::addr::{Lpn, Ppn};
use crate::counters::Counters;
use crate::policy::Policy;

/// A mapping without translation pages.
#[derive(Clone, Copy, Debug)]
pub struct Ideal {
    map_bytes: u64,
    hits: u64,
}

crate::state!(Ideal);

impl Ideal {
    /// Makes a map of all entries, whatever the budget.
    pub fn new(config: &MapConfig) -> Self {
        let shape = config.geometry.shape();
        let map_bytes = u64::from(shape.logical_pages) * u64::from(shape.entry_bytes);
        Self { map_bytes, hits: 0 }
    }

    /// Returns the requirements on the drive: nothing on flash.
    pub fn demands(_: &MapConfig) -> MapDemands {
        MapDemands { on_flash: false, ..MapDemands::default() }
    }
}

impl Prefetch for Ideal {}

impl Mapping for Ideal {
    #[inline(always)]
    fn is_on_flash(&self) -> bool {
        false
    }

    #[inline(always)]
    fn access(&mut self, _: Access, _: &mut Vec<MapOp>) {
        self.hits += 1;
    }

    #[inline(always)]
    fn relocated(&mut self, _: &[(Lpn, Ppn)], _: &mut Vec<MapOp>) {}

    fn residency(&self, _: Lpn) -> Residency {
        Residency::Dirty
    }
}

impl Policy for Ideal {
    fn memory_bytes(&self) -> u64 {
        self.map_bytes
    }

    fn report(&self, counters: &mut Counters) {
        counters.map = MapStats { hits: self.hits, ..MapStats::default() };
    }

    fn reset_counters(&mut self) {
        self.hits = 0;
    }
}
