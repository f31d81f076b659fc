//! Program units that are begun: the pages in them wait in the controller's memory.
//!
//! If a loss of power takes that memory, a FLUSH has to fill them with padding. And a unit may have
//! been emptied into them: what is in it is the only copy on flash until they are programmed. So it
//! is erased when it is opened again, which is much later; a program unit that has been waiting
//! since is filled with padding first.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::PageFtl;
use crate::addr::Unit;
use crate::journal::{CheckpointTrigger, Journal};
use crate::mapping::Mapping;
use crate::nand::{Cause, Chain, Fork, Nand};

/// A unit that is free, and not erased yet.
#[derive(Debug)]
pub(super) struct Emptied {
    cause: Cause,
    /// The program units, by stream, that had been begun when it was emptied.
    begun: Vec<(u8, u32)>,
}

crate::state!(blank Emptied { cause, begun });

/// The units that are free, and not erased yet, by number.
pub(super) type EmptiedUnits = BTreeMap<u32, Emptied>;

impl<N: Nand, M: Mapping> PageFtl<N, M> {
    /// The program unit that a stream has begun: the page behind it.
    fn begun(&self, stream: u8) -> Option<u32> {
        let (next, left) = self.streams.begun(stream, &self.store.geometry)?;
        Some(next.get() + left)
    }

    /// Fills the program unit that a stream has begun with padding.
    fn pad(&mut self, stream: u8, chain: &mut Chain) -> Result<(), N::Error> {
        let Some((next, left)) = self.streams.begun(stream, &self.store.geometry) else {
            return Ok(());
        };
        self.store.nand.pad(next, left, chain)?;
        self.streams.skip(stream, left);
        self.store.units.fill(self.store.geometry.unit(next), left);
        Ok(())
    }

    /// All that was written is programmed, if a loss of power would take it.
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

    /// Writes the journal if there is one and the trigger asks for it. What a checkpoint names is
    /// on flash before it is.
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

    /// A unit is free, and will be erased when it is opened: what was in it may be lost elsewhere.
    pub(super) fn put_off_erase(&mut self, unit: Unit, cause: Cause) {
        let streams = 0..self.streams.count();
        let begun = streams.filter_map(|stream| Some((stream, self.begun(stream)?))).collect();
        self.store.units.emptied(unit);
        self.emptied.insert(unit.0, Emptied { cause, begun });
    }

    /// A unit was taken to be programmed.
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
