//! Saved state of a page-mapped drive.

use super::PageFtl;
use super::cleaner::Cleaner;
use super::map::Map;
use crate::mapping::Mapping;
use crate::nand::Nand;
use crate::placement::Placement;
use crate::saved::{Carrier, State, carry};

impl<N: Nand, M: Mapping> PageFtl<N, M> {
    /// Whether all parts of the drive can be saved.
    pub(super) fn is_saveable(&mut self) -> bool {
        self.store.nand.state().is_some()
            && self.map.cache.state().is_some()
            && self.placement.state().is_some()
            && self.cleaner.victim.state().is_some()
    }
}

impl<N: Nand, M: Mapping> State for PageFtl<N, M> {
    fn carry(&mut self, by: &mut Carrier<'_>) {
        let Self { store, map, placement, streams, cleaner, log: _, sampler, emptied, slc } = self;
        store.carry(by);
        map.carry(by);
        carry(placement.state(), by);
        streams.carry(by);
        cleaner.carry(by);
        sampler.carry(by);
        emptied.carry(by);
        slc.iter_mut().for_each(|slc| slc.carry(by));
    }
}

impl<M: Mapping> State for Map<M> {
    fn carry(&mut self, by: &mut Carrier<'_>) {
        let Self { cache, directory, flash, io: _, gc_io: _, trimmed: _ } = self;
        carry(cache.state(), by);
        directory.carry(by);
        flash.iter_mut().for_each(|flash| flash.carry(by));
    }
}

impl State for Cleaner {
    fn carry(&mut self, by: &mut Carrier<'_>) {
        let Self { victim, active, under_way, levelling, .. } = self;
        carry(victim.state(), by);
        active.carry(by);
        under_way.carry(by);
        levelling.iter_mut().for_each(|levelling| levelling.carry(by));
    }
}
