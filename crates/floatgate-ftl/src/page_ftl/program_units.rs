//! Program units that are only partly filled: their pages wait in the controller's memory.
//!
//! On a drive that loses this memory together with its power, a FLUSH has to fill these program
//! units with padding. Cleaning may also have moved pages into them. Until they are programmed, the
//! emptied unit has the only copy on flash. So the emptied unit is erased only when it is opened
//! again, much later. A program unit that is still waiting by then is filled with padding first.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::PageFtl;
use crate::addr::Unit;
use crate::journal::{CheckpointTrigger, Journal};
use crate::mapping::Mapping;
use crate::nand::{Cause, Chain, Fork, Nand};

/// A unit that is free but not erased yet.
#[derive(Debug)]
pub(super) struct Emptied {
    cause: Cause,
    /// Program units, by stream, that were partly filled when the unit was emptied.
    begun: Vec<(u8, u32)>,
}

crate::state!(blank Emptied { cause, begun });

/// Units that are free but not erased yet, by number.
pub(super) type EmptiedUnits = BTreeMap<u32, Emptied>;

impl<N: Nand, M: Mapping> PageFtl<N, M> {
    /// Returns the end of the program unit that a stream has begun to fill.
    fn begun(&self, stream: u8) -> Option<u32> {
        let (next, left) = self.streams.begun(stream, &self.store.geometry)?;
        Some(next.get() + left)
    }

    /// Fills the program unit that a stream has begun with padding.
    pub(super) fn pad(&mut self, stream: u8, chain: &mut Chain) -> Result<(), N::Error> {
        let Some((next, left)) = self.streams.begun(stream, &self.store.geometry) else {
            return Ok(());
        };
        self.store.nand.pad(next, left, chain)?;
        self.streams.skip(stream, left);
        self.store.units.fill(self.store.geometry.unit(next), left);
        Ok(())
    }

    /// Programs all written pages, if a loss of power would otherwise lose them.
    pub(super) fn program_all(&mut self, chain: &mut Chain) -> Result<(), N::Error> {
        if !self.store.geometry.loses_pages() {
            return Ok(());
        }
        let mut fork = Fork::new(*chain);
        for stream in 0..self.streams.count() {
            let mut branch = fork.branch();
            self.pad(stream, &mut branch)?;
            fork.join(branch, self.store.clock());
        }
        *chain = fork.end();
        Ok(())
    }

    /// Writes the journal if there is one and the trigger requires it. Before a checkpoint, all
    /// pages that it names are programmed.
    pub(super) fn keep_journal(
        &mut self,
        trigger: CheckpointTrigger,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        let stamp = self.store.stamp;
        let names = |journal: &Journal| journal.takes_checkpoint(trigger, stamp);
        if self.store.journal.as_ref().is_some_and(names) {
            self.program_all(chain)?;
        }
        self.store.keep_journal(trigger, chain)
    }

    /// Frees a unit but puts off its erase until it is opened, because the copies of its pages may
    /// still be lost.
    pub(super) fn put_off_erase(&mut self, unit: Unit, cause: Cause) {
        let streams = 0..self.streams.count();
        let begun = streams.filter_map(|stream| Some((stream, self.begun(stream)?))).collect();
        self.store.units.emptied(unit);
        self.emptied.insert(unit.0, Emptied { cause, begun });
    }

    /// Erases a unit that was just opened, if its erase was put off.
    pub(super) fn erase_opened(&mut self, unit: Unit, chain: &Chain) -> Result<(), N::Error> {
        let Some(Emptied { cause, begun }) = self.emptied.remove(&unit.0) else { return Ok(()) };
        let mut work = chain.work();
        for (stream, program_unit) in begun {
            if self.begun(stream) == Some(program_unit) {
                self.pad(stream, &mut work)?;
            }
        }
        self.erase_now(unit, cause, &mut work)
    }
}
