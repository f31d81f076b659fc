//! When the journal is written, if the drive has one.

use core::ops::Range;

use super::PageFtl;
use crate::addr::Unit;
use crate::journal::{Journal, UnitNote};
use crate::mapping::Mapping;
use crate::nand::{Chain, Nand};

impl<N: Nand, M: Mapping> PageFtl<N, M> {
    /// Pages are about to be trimmed. Those of the log are nobody's for the journal.
    pub(super) fn note_trim(&mut self, lpns: &Range<u32>) {
        let end = lpns.end.min(self.log.base());
        if let Some(journal) = &mut self.journal
            && lpns.start < end
        {
            self.stamp.sequence += 1;
            journal.trim(lpns.start..end, self.stamp.sequence);
        }
    }

    /// Trims that are not written down are.
    pub(super) fn write_down(&mut self, chain: &mut Chain) -> Result<(), N::Error> {
        let Some(journal) = self.journal.as_mut().filter(|journal| journal.is_pending()) else {
            return Ok(());
        };
        match journal.flush(&mut self.nand, &mut self.stamp, chain)? {
            true => Ok(()),
            false => self.checkpoint(chain),
        }
    }

    /// The journal begins anew when enough has been programmed.
    pub(super) fn checkpoint_if_due(&mut self, chain: &mut Chain) -> Result<(), N::Error> {
        let due = |journal: &Journal| journal.age(self.stamp) >= self.checkpoint_every;
        match self.journal.as_ref().is_some_and(due) {
            true => self.checkpoint(chain),
            false => Ok(()),
        }
    }

    /// Writes down the map as it is.
    pub(super) fn checkpoint(&mut self, chain: &mut Chain) -> Result<(), N::Error> {
        let Some(journal) = &mut self.journal else { return Ok(()) };
        let (blocks, remapping) = (&self.blocks, self.remapping);
        let place = |(lpn, &ppn): (usize, &_)| match remapping {
            Some((from, at)) if from.index() == lpn => Some(at),
            _ => ppn,
        };
        let table = self.table.iter().enumerate().map(place);
        let units = (0..self.geometry.units()).map(Unit).map(|unit| UnitNote {
            erases: blocks.lifetime_erases(unit),
            stream: blocks.stream(unit),
        });
        journal.checkpoint(&mut self.nand, table, units, &mut self.stamp, chain)
    }
}
