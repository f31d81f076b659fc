//! Merging: copies the newest pages of a logical block into one unit, its new data block.

use core::mem;

use super::LogFtl;
use crate::addr::{Lbn, Owner, Unit};
use crate::journal::CheckpointTrigger;
use crate::nand::{Cause, Chain, Clock, Component, Move, Nand};

impl<N: Nand> LogFtl<N> {
    /// Runs a merge, which the host write waits for.
    #[cold]
    #[inline(never)]
    pub(super) fn merging(
        &mut self,
        chain: &mut Chain,
        work: impl FnOnce(&mut Self, &mut Chain) -> Result<(), N::Error>,
    ) -> Result<(), N::Error> {
        let mut branch = chain.work();
        work(self, &mut branch)?;
        self.store.clock().wait(chain, branch, Component::Merge);
        Ok(())
    }

    /// Makes a log in order the data block. Pages that the log lacks are copied behind its pages.
    pub(super) fn promote(
        &mut self,
        slot: u32,
        lbn: Lbn,
        work: &mut Chain,
    ) -> Result<(), N::Error> {
        let log = self.logs[slot as usize].take().expect("only a log in use is promoted");
        if self.store.units.valid(log.unit) == 0 {
            self.merges.dropped_logs += 1;
            return self.erase(log.unit, work);
        }
        let pages = self.store.geometry.pages_of(lbn);
        self.copy(lbn, log.written, log.unit, work)?;
        if log.written == pages {
            self.merges.switch += 1;
        } else {
            self.merges.partial += 1;
        }
        self.install_data_block(lbn, log.unit, work)
    }

    /// Merges one logical block in full, and erases its log.
    pub(super) fn merge(&mut self, slot: u32, lbn: Lbn, work: &mut Chain) -> Result<(), N::Error> {
        let log = self.logs[slot as usize].take().expect("only a log in use is merged");
        if self.store.units.valid(log.unit) == 0 {
            self.merges.dropped_logs += 1;
        } else {
            self.full_merge(lbn, work)?;
        }
        self.erase(log.unit, work)
    }

    /// Merges in full each logical block that has a valid page in a log, in the order of their
    /// first pages there, and erases the log.
    pub(super) fn collect(&mut self, slot: u32, work: &mut Chain) -> Result<(), N::Error> {
        let log = self.logs[slot as usize].take().expect("only a log in use is emptied");
        let mut to_merge = mem::take(&mut self.to_merge);
        to_merge.clear();
        for page in 0..log.written {
            if let Some(Owner::Data(lpn)) =
                self.store.units.owner(self.store.geometry.page(log.unit, page))
            {
                let (lbn, _) = self.store.geometry.logical_place(lpn);
                if !to_merge.contains(&lbn) {
                    to_merge.push(lbn);
                }
            }
        }
        for &lbn in &to_merge {
            self.full_merge(lbn, work)?;
            if let Some(slot) = self.scheme.merged(lbn) {
                let log = self.logs[slot as usize].take().expect("a scheme knows its logs");
                self.erase(log.unit, work)?;
            }
        }
        let count = to_merge.len() as u64;
        self.to_merge = to_merge;
        if count == 0 {
            self.merges.dropped_logs += 1;
        } else {
            self.merges.shared_logs += 1;
            self.merges.shared_merges += count;
            self.merges.shared_most = self.merges.shared_most.max(count);
        }
        self.erase(log.unit, work)
    }

    /// Copies the newest pages of a logical block, wherever they are, to a fresh unit.
    pub(super) fn full_merge(&mut self, lbn: Lbn, work: &mut Chain) -> Result<(), N::Error> {
        let to = self.open_unit();
        self.copy(lbn, 0, to, work)?;
        self.merges.full += 1;
        self.install_data_block(lbn, to, work)
    }

    /// Copies the newest pages of a logical block, from page `first` on, to their places in a unit.
    /// It copies row by row, because the pages of a row lie on different planes.
    fn copy(&mut self, lbn: Lbn, first: u32, to: Unit, work: &mut Chain) -> Result<(), N::Error> {
        let width = self.store.geometry.shape().superblock;
        let pages = self.store.geometry.pages_of(lbn);
        let mut moves = mem::take(&mut self.moves);
        let mut next = first;
        while next < pages {
            let end = pages.min((next / width + 1) * width);
            moves.clear();
            for offset in next..end {
                let lpn = self.store.geometry.logical_page(lbn, offset);
                if let Some(from) = self.store.table[lpn.index()] {
                    let (to, owner) = (self.store.geometry.page(to, offset), Owner::Data(lpn));
                    let serial = self.store.stamp.copy();
                    moves.push(Move { from, to, owner, serial, joins_read: false });
                }
            }
            self.move_row(&moves, work)?;
            next = end;
        }
        self.moves = moves;
        Ok(())
    }

    fn move_row(&mut self, moves: &[Move], work: &mut Chain) -> Result<(), N::Error> {
        if moves.is_empty() {
            return Ok(());
        }
        self.store.nand.copy(moves.iter().copied(), Cause::Merge, work)?;
        for &Move { from, to, owner, .. } in moves {
            let Owner::Data(lpn) = owner else { unreachable!("a block has pages of data") };
            self.store.table[lpn.index()] = Some(to);
            self.store.units.invalidate(from, owner);
            self.store.units.validate_after_gap(to, owner);
        }
        Ok(())
    }

    /// Makes a unit the data block. The previous data block is erased.
    fn install_data_block(
        &mut self,
        lbn: Lbn,
        unit: Unit,
        work: &mut Chain,
    ) -> Result<(), N::Error> {
        match self.data[lbn.index()].replace(unit) {
            Some(old) => self.erase(old, work),
            None => Ok(()),
        }
    }

    pub(super) fn erase(&mut self, unit: Unit, work: &mut Chain) -> Result<(), N::Error> {
        // After this erase, an older version of a trimmed page may be the newest on flash.
        self.store.keep_journal(CheckpointTrigger::Trims, work)?;
        self.store.nand.erase(unit, Cause::Merge, work)?;
        self.store.units.retire(unit);
        self.store.units.erased(unit);
        Ok(())
    }
}
