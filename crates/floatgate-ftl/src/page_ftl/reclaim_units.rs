//! Reclaim units of several erase units: how they are formed, and erase units that change theirs.

use alloc::vec::Vec;
use core::mem;

use super::PageFtl;
use super::cleaning::MoveTarget;
use crate::addr::Unit;
use crate::geometry::Mode;
use crate::mapping::Mapping;
use crate::nand::Nand;

impl<N: Nand, M: Mapping> PageFtl<N, M> {
    /// Groups the erase units into reclaim units. `sizes` has the number of erase units in a
    /// reclaim unit, by stream of the placement.
    pub(super) fn form_reclaim_units(&mut self, mut sizes: Vec<u32>) {
        assert!(sizes.len() <= self.streams.data().into(), "a size for each placement stream");
        sizes.resize(self.streams.count().into(), 1);
        self.store.units.form_reclaim_units(&sizes);
    }

    /// Gives an erase unit of a victim to the reclaim unit that its pages would be copied to, if
    /// all pages are valid and would all be copied there, and that reclaim unit has room for an
    /// erase unit. Returns whether it did.
    pub(super) fn relabel(&mut self, unit: Unit, to: MoveTarget) -> bool {
        let units = &self.store.units;
        let is_whole = self.cleaner.config.relabel
            && units.valid(unit) == units.capacity(unit)
            && units.mode(unit) == Mode::Native
            && !self.is_map(unit);
        let from = units.stream(unit);
        let stream = match to {
            _ if !is_whole => None,
            MoveTarget::Stream(stream) => Some(stream),
            MoveTarget::Placement { anew: true } => None,
            MoveTarget::Placement { anew: false } => {
                self.placement.stream_of_moved(self.streams.home(from))
            }
        };
        let Some(stream) = stream else { return false };
        if !self.store.units.relabel(unit, stream) {
            return false;
        }
        self.cleaner.counts.relabelled += 1;
        let mut pages = mem::take(&mut self.cleaner.valid);
        self.list_valid(unit, &mut pages);
        self.count_relabelled(&pages, from);
        self.cleaner.valid = pages;
        true
    }
}
