//! No mapping cache: the lower bound.
//!
//! Every page read costs a map read, and every page write a map read and a map program. Cleaning
//! rewrites each translation page that has an entry of a victim's page.

use alloc::vec::Vec;

use super::{
    Access, AccessKind, MapConfig, MapDemands, MapOp, MapStats, Mapping, Prefetch, Residency,
    by_page,
};
use crate::addr::{Lpn, Ppn};
use crate::counters::Counters;
use crate::geometry::Geometry;
use crate::policy::Policy;

/// A mapping that caches nothing.
#[derive(Clone, Copy, Debug)]
pub struct NoCache {
    geometry: Geometry,
    misses: u64,
}

crate::state!(NoCache);

impl NoCache {
    /// Takes no memory, whatever the budget.
    pub fn new(config: &MapConfig) -> Self {
        Self { geometry: config.geometry, misses: 0 }
    }

    /// Returns the requirements on the drive: none.
    pub fn demands(_: &MapConfig) -> MapDemands {
        MapDemands::default()
    }
}

impl Prefetch for NoCache {}

impl Mapping for NoCache {
    fn access(&mut self, access: Access, io: &mut Vec<MapOp>) {
        self.misses += 1;
        let tpn = self.geometry.translation_page(access.lpn);
        io.push(match access.kind {
            AccessKind::Read | AccessKind::Write => MapOp::Fetch(tpn),
            AccessKind::Trim => MapOp::Update(tpn),
        });
    }

    fn assigned(&mut self, lpn: Lpn, _: Ppn, io: &mut Vec<MapOp>) {
        io.push(MapOp::Rewrite(self.geometry.translation_page(lpn)));
    }

    fn relocated(&mut self, moved: &[(Lpn, Ppn)], io: &mut Vec<MapOp>) {
        io.extend(by_page(&self.geometry, moved).map(|(tpn, _)| MapOp::Update(tpn)));
    }

    fn residency(&self, _: Lpn) -> Residency {
        Residency::Absent
    }
}

impl Policy for NoCache {
    fn report(&self, counters: &mut Counters) {
        counters.map = MapStats { misses: self.misses, ..MapStats::default() };
    }

    fn reset_counters(&mut self) {
        self.misses = 0;
    }
}
