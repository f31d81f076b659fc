//! Saved state of a page-mapped drive.

use super::PageFtl;
use super::cleaner::Cleaner;
use super::map::Map;
use crate::mapping::Mapping;
use crate::nand::Nand;
use crate::saved::{Carrier, State};

impl<N: Nand, M: Mapping> PageFtl<N, M> {
    /// Returns whether all parts of the drive can be saved.
    pub(super) fn is_saveable(&mut self) -> bool {
        self.store.nand.state().is_some()
            && self.map.cache.can_be_saved()
            && self.placement.can_be_saved()
            && self.cleaner.victim.can_be_saved()
    }
}

impl<N: Nand, M: Mapping> State for PageFtl<N, M> {
    fn carry(&mut self, by: &mut Carrier<'_>) {
        let Self {
            store,
            map,
            placement,
            streams,
            owners: _,
            events: _,
            cleaner,
            log: _,
            sampler,
            emptied,
            row_timer: _,
            works_along: _,
            slc,
        } = self;
        store.carry(by);
        map.carry(by);
        placement.carry(by);
        streams.carry(by);
        cleaner.carry(by);
        sampler.carry(by);
        emptied.carry(by);
        slc.iter_mut().for_each(|slc| slc.carry(by));
    }
}

impl<M: Mapping> State for Map<M> {
    fn carry(&mut self, by: &mut Carrier<'_>) {
        let Self { cache, pages_per_page: _, directory, flash, io: _, gc_io: _, trimmed: _ } = self;
        cache.carry(by);
        directory.carry(by);
        flash.iter_mut().for_each(|flash| flash.carry(by));
    }
}

impl State for Cleaner {
    fn carry(&mut self, by: &mut Carrier<'_>) {
        let Self { victim, active, under_way, pacing, levelling, .. } = self;
        victim.carry(by);
        active.carry(by);
        under_way.carry(by);
        pacing.carry(by);
        levelling.iter_mut().for_each(|levelling| levelling.carry(by));
    }
}
