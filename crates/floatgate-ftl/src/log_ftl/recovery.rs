//! Recovery of a block-mapped drive after a loss of power.
//!
//! [`crate::recovery`] finds the newest version of each page. Only merges move pages, and a merge
//! erases nothing before the new data block is complete. So there are two cases for the newest
//! pages of a logical block:
//!
//! - All pages are at their own offsets in one unit. That unit is the data block.
//! - A merge was interrupted or had not begun. Recovery then ignores that merge: of all copies of a
//!   page's newest version, it takes the copy that was programmed first. With a checkpoint, the
//!   only candidates are the copy that the checkpoint names and copies programmed since then.
//!
//! Recovery erases units without a valid page, which leaves as many free units as before the merge.
//! Then it merges in full all logical blocks that are not in one unit. A further loss of power may
//! interrupt each of these steps.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::{LogFtl, LogFtlConfig};
use crate::addr::{Lbn, Lpn, Owner, Ppn, Tag, Unit};
use crate::ftl::Ftl;
use crate::geometry::Mode;
use crate::journal::{Checkpoint, CheckpointTrigger, Journal, Layout};
use crate::log_block::LogBlocks;
use crate::nand::{Cause, Chain, Tagged};
use crate::recovery::{FoundUnit, Mount, ScanResult, owners, scan};
use crate::unit_table::InUse;

impl<N: Tagged> LogFtl<N> {
    /// Rebuilds the drive from a medium after a loss of power. Also returns the cost of the mount.
    ///
    /// # Errors
    /// An error of the medium.
    pub fn recover(
        nand: N,
        scheme: Box<dyn LogBlocks + Send>,
        config: LogFtlConfig,
    ) -> Result<(Self, Mount), N::Error> {
        let journal = config.journal.map(|every| (Layout::new(config.geometry), every));
        let checkpoint = journal.and_then(|(layout, _)| layout.find(&nand));
        let mut found = scan(&nand, &config.geometry, 0, checkpoint.clone());
        let mut ftl = Self::unformatted(nand, scheme, config);
        ftl.store.journal =
            journal.map(|(layout, every)| Journal::recovered(layout, every, &ftl.store.nand));
        ftl.store.stamp = found.stamp;
        ftl.store.table = core::mem::take(&mut found.table);
        let homes: Vec<_> =
            (0..ftl.store.geometry.logical_blocks()).map(|lbn| ftl.home(Lbn(lbn))).collect();
        ftl.take_first_copies(&mut found, &homes, checkpoint.as_ref());
        let chain = &mut Chain::default();
        found.erase_without_valid(
            &mut ftl.store.nand,
            (&ftl.store.geometry, &ftl.store.table),
            Cause::Merge,
            chain,
        )?;
        let as_in_use = |found: &FoundUnit| InUse {
            unit: found.unit,
            stream: 0,
            mode: Mode::Native,
            written: found.programmed,
        };
        let in_use: Vec<_> = found.units.iter().map(as_in_use).collect();
        ftl.store.units.restore(&in_use, owners(&ftl.store.table), &found.erases);
        let mut mount = found.mount;
        mount.moved = ftl.merge_all(&homes, chain)?;
        let before = ftl.store.stamp.serial;
        ftl.store.keep_journal(CheckpointTrigger::Now, chain)?;
        mount.map_programs = ftl.store.stamp.serial - before;
        ftl.reset_counters();
        Ok((ftl, mount))
    }

    /// Returns the unit that has all pages of a logical block, each at its own offset, if there is
    /// one.
    fn home(&self, lbn: Lbn) -> Option<Unit> {
        let pages = (0..self.store.geometry.pages_of(lbn)).map(|at| (at, self.page_of(lbn, at)));
        let mut placed = pages.filter_map(|(at, ppn)| Some((at, self.store.geometry.place(ppn?))));
        let &(_, (unit, _)) = placed.clone().next().as_ref()?;
        placed.all(|(at, place)| place == (unit, at)).then_some(unit)
    }

    fn page_of(&self, lbn: Lbn, offset: u32) -> Option<Ppn> {
        self.store.table[self.store.geometry.logical_page(lbn, offset).index()]
    }

    /// Maps each page of the logical blocks without a home to the copy of its newest version that
    /// was programmed first.
    fn take_first_copies(
        &mut self,
        found: &mut ScanResult,
        homes: &[Option<Unit>],
        checkpoint: Option<&Checkpoint>,
    ) {
        let is_candidate = |lpn: Lpn, ppn: Ppn, tag: Tag| match checkpoint {
            Some(known) => tag.serial > known.stamp.serial || known.table[lpn.index()] == Some(ppn),
            None => true,
        };
        for &FoundUnit { unit, programmed, .. } in &found.units {
            for ppn in (0..programmed).map(|page| self.store.geometry.page(unit, page)) {
                found.mount.tag_reads += 1;
                let Some(tag) = self.store.nand.tag(ppn) else { continue };
                let Owner::Data(lpn) = tag.owner else { continue };
                let (lbn, _) = self.store.geometry.logical_place(lpn);
                let taken = self.store.table[lpn.index()].filter(|_| homes[lbn.index()].is_none());
                let Some(taken) = taken.and_then(|at| self.store.nand.tag(at)) else { continue };
                let is_earlier = tag.sequence == taken.sequence && tag.serial < taken.serial;
                if is_earlier && is_candidate(lpn, ppn, tag) {
                    self.store.table[lpn.index()] = Some(ppn);
                }
            }
        }
    }

    /// Merges each logical block that does not have a unit to itself, and erases the units that the
    /// merges leave without a valid page. Returns the number of pages copied.
    fn merge_all(&mut self, homes: &[Option<Unit>], chain: &mut Chain) -> Result<u64, N::Error> {
        let before = self.store.stamp.serial;
        for (number, home) in homes.iter().enumerate() {
            let lbn = Lbn(number as u32);
            if let Some(unit) = home.filter(|&unit| self.is_all_of(unit, lbn)) {
                self.data[number] = Some(unit);
                continue;
            }
            let pages =
                (0..self.store.geometry.pages_of(lbn)).filter_map(|at| self.page_of(lbn, at));
            let mut units: Vec<Unit> = pages.map(|ppn| self.store.geometry.unit(ppn)).collect();
            if units.is_empty() {
                continue;
            }
            units.sort_unstable();
            units.dedup();
            self.full_merge(lbn, chain)?;
            for unit in units
                .into_iter()
                .filter(|&unit| self.store.units.valid(unit) == 0)
                .collect::<Vec<_>>()
            {
                self.erase(unit, chain)?;
            }
        }
        Ok(self.store.stamp.serial - before)
    }

    /// Returns whether the home of a logical block has no valid pages of other blocks.
    fn is_all_of(&self, unit: Unit, lbn: Lbn) -> bool {
        let pages = (0..self.store.geometry.pages_of(lbn)).filter_map(|at| self.page_of(lbn, at));
        pages.count() == self.store.units.valid(unit) as usize
    }
}

#[cfg(test)]
mod tests;
