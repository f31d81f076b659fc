//! The journal, and the drive that finds a medium when power is back.
//!
//! [`crate::recovery`] says where the newest version of each page is. Pages are moved by merges
//! only, and a merge erases nothing before the new data block is whole. So the newest pages of a
//! logical block are either in their places in one unit, which then is its data block; or a merge
//! was cut short or not begun, and it is as if it had not been: of the copies of a page since the
//! checkpoint, and what the checkpoint says, the one programmed first is taken. Units of which
//! nothing is wanted are erased. That leaves as many free units as there were before the merge, and
//! all logical blocks that are not in one unit are merged in full. Each of these steps may be cut
//! short in turn.

use alloc::vec;
use alloc::vec::Vec;

use super::{LogFtl, LogFtlConfig};
use crate::addr::{Lbn, Lpn, Owner, Ppn, Tag, Unit};
use crate::blocks::InUse;
use crate::ftl::Ftl;
use crate::journal::{Checkpoint, Journal, Layout, UnitNote};
use crate::log_block::LogBlocks;
use crate::nand::{Cause, Chain, Nand, Tagged};
use crate::recovery::{Found, FoundUnit, Mount, scan};

impl<N: Nand, L: LogBlocks> LogFtl<N, L> {
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
        let blocks = &self.blocks;
        let units = (0..self.geometry.units()).map(Unit);
        let units = units.map(|unit| UnitNote { erases: blocks.lifetime_erases(unit), stream: 0 });
        let table = self.table.iter().copied();
        journal.checkpoint(&mut self.nand, table, units, &mut self.stamp, chain)
    }
}

impl<N: Tagged, L: LogBlocks> LogFtl<N, L> {
    /// The drive that finds this medium when power is back, and what finding it has cost.
    ///
    /// # Errors
    /// The medium's fault while logical blocks are merged.
    pub fn recover(nand: N, scheme: L, config: LogFtlConfig) -> Result<(Self, Mount), N::Error> {
        let layout = config.journal.map(|_| Layout::new(config.geometry));
        let checkpoint = layout.and_then(|layout| layout.find(&nand));
        let mut found = scan(&nand, &config.geometry, 0, layout.as_ref());
        let mut ftl = Self::unformatted(nand, scheme, config);
        ftl.journal = layout.map(|layout| Journal::recovered(layout, &ftl.nand));
        ftl.stamp = found.stamp;
        ftl.table = core::mem::take(&mut found.table);
        let homes: Vec<_> =
            (0..ftl.geometry.logical_blocks()).map(|lbn| ftl.home(Lbn(lbn))).collect();
        ftl.take_first_copies(&mut found, &homes, checkpoint.as_ref());
        let mut mount = found.mount;
        let chain = &mut Chain::default();
        mount.erased = ftl.adopt(found, chain)?;
        mount.moved = ftl.merge_all(&homes, chain)?;
        let before = ftl.stamp.serial;
        ftl.checkpoint(chain)?;
        mount.map_programs = ftl.stamp.serial - before;
        ftl.restart();
        Ok((ftl, mount))
    }

    /// Where the pages of a logical block are, each at its place, if they are in one unit.
    fn home(&self, lbn: Lbn) -> Option<Unit> {
        let pages = (0..self.geometry.pages_of(lbn)).map(|at| (at, self.page_of(lbn, at)));
        let mut placed = pages.filter_map(|(at, ppn)| Some((at, self.geometry.place(ppn?))));
        let &(_, (unit, _)) = placed.clone().next().as_ref()?;
        placed.all(|(at, place)| place == (unit, at)).then_some(unit)
    }

    fn page_of(&self, lbn: Lbn, offset: u32) -> Option<Ppn> {
        self.table[self.geometry.logical_page(lbn, offset).index()]
    }

    /// For logical blocks without a home, the first of the copies of each page.
    fn take_first_copies(
        &mut self,
        found: &mut Found,
        homes: &[Option<Unit>],
        checkpoint: Option<&Checkpoint>,
    ) {
        let counts = |lpn: Lpn, ppn: Ppn, tag: Tag| match checkpoint {
            Some(known) => tag.serial > known.stamp.serial || known.table[lpn.index()] == Some(ppn),
            None => true,
        };
        for &FoundUnit { unit, programmed, .. } in &found.units {
            for ppn in (0..programmed).map(|page| self.geometry.page(unit, page)) {
                found.mount.tag_reads += 1;
                let Some(tag) = self.nand.tag(ppn) else { continue };
                let Owner::Data(lpn) = tag.owner else { continue };
                let (lbn, _) = self.geometry.logical_place(lpn);
                let taken = self.table[lpn.index()].filter(|_| homes[lbn.index()].is_none());
                let Some(taken) = taken.and_then(|at| self.nand.tag(at)) else { continue };
                let is_first = (taken.sequence, tag.serial < taken.serial) == (tag.sequence, true);
                if is_first && counts(lpn, ppn, tag) {
                    self.table[lpn.index()] = Some(ppn);
                }
            }
        }
    }

    /// Erases units of which nothing is wanted, and enters the others. The answer is how many were
    /// erased.
    fn adopt(&mut self, found: Found, chain: &mut Chain) -> Result<u64, N::Error> {
        let Found { units, mut erases, .. } = found;
        let mut wanted = vec![false; self.geometry.units() as usize];
        for &ppn in self.table.iter().flatten() {
            wanted[self.geometry.unit(ppn).index()] = true;
        }
        let (wanted, unwanted): (Vec<_>, Vec<_>) =
            units.into_iter().partition(|found| wanted[found.unit.index()]);
        for found in &unwanted {
            self.nand.erase(found.unit, Cause::Merge, chain)?;
            erases[found.unit.index()] += 1;
        }
        let in_use: Vec<_> = wanted
            .iter()
            .map(|found| InUse { unit: found.unit, stream: 0, written: found.programmed })
            .collect();
        let mapped = self.table.iter().enumerate().filter_map(|(at, ppn)| Some((at, (*ppn)?)));
        let owners = mapped.map(|(at, ppn)| (ppn, Owner::Data(Lpn::new(at as u32))));
        self.blocks.restore(&in_use, owners, &erases);
        Ok(unwanted.len() as u64)
    }

    /// Merges each logical block that has no home, and erases what that leaves. The answer is how
    /// many pages were copied.
    fn merge_all(&mut self, homes: &[Option<Unit>], chain: &mut Chain) -> Result<u64, N::Error> {
        let before = self.stamp.serial;
        for (number, home) in homes.iter().enumerate() {
            let lbn = Lbn(number as u32);
            if let Some(unit) = home.filter(|&unit| self.is_all_of(unit, lbn)) {
                self.data[number] = Some(unit);
                continue;
            }
            let pages = (0..self.geometry.pages_of(lbn)).filter_map(|at| self.page_of(lbn, at));
            let mut units: Vec<Unit> = pages.map(|ppn| self.geometry.unit(ppn)).collect();
            if units.is_empty() {
                continue;
            }
            units.sort_unstable();
            units.dedup();
            self.gather(lbn, chain)?;
            for unit in
                units.into_iter().filter(|&unit| self.blocks.valid(unit) == 0).collect::<Vec<_>>()
            {
                self.erase(unit, chain)?;
            }
        }
        Ok(self.stamp.serial - before)
    }

    /// Whether a unit has wanted pages of one logical block only.
    fn is_all_of(&self, unit: Unit, lbn: Lbn) -> bool {
        let pages = (0..self.geometry.pages_of(lbn)).filter_map(|at| self.page_of(lbn, at));
        pages.count() == self.blocks.valid(unit) as usize
    }
}
