//! Cleaning: victims are emptied and erased until enough units are free.

use core::mem;

use super::PageFtl;
use crate::addr::{Owner, Ppn, Unit};
use crate::mapping::Mapping;
use crate::nand::{Cause, Chain, Nand, Part};
use crate::prefetch::prefetch;

/// Times that all units may be cleaned before a drive is called too full to be cleaned.
const ROUNDS: u32 = 8;

impl<N: Nand, M: Mapping> PageFtl<N, M> {
    /// Cleans while fewer than `low_water` units are free (algorithms, section 1.6).
    pub(super) fn clean(&mut self, chain: &mut Chain) -> Result<(), N::Error> {
        self.cleaning = true;
        let mut work = Chain::at(chain.now);
        let mut rounds = 0;
        while self.blocks.free_units() < self.low_water {
            rounds += 1;
            assert!(rounds / ROUNDS <= self.geometry.units(), "cleaning frees no units");
            let victim = self.choose(rounds);
            self.collect(victim, &mut work)?;
        }
        chain.wait(work.now, Part::Gc);
        self.cleaning = false;
        Ok(())
    }

    /// The policy's choice; but when there may be too few free units for it, or every unit could
    /// have been cleaned without an end, the unit that costs least of those that there is room for.
    fn choose(&mut self, rounds: u32) -> Unit {
        let choice = self.victim.pick(&self.blocks);
        let choice = choice.expect("a drive with few free units has sealed ones");
        let fits = |unit: &Unit| self.price(*unit).0 <= self.blocks.free_units();
        if rounds <= self.geometry.units() && fits(&choice) {
            return choice;
        }
        let cheapest = self.blocks.sealed().filter(fits).min_by_key(|&unit| self.price(unit).1);
        self.emergencies += 1;
        cheapest.expect("the drive has too little spare to be cleaned")
    }

    /// How many free units and pages cleaning a unit takes at most.
    fn price(&self, unit: Unit) -> (u32, u32) {
        let (stream, valid) = (self.blocks.stream(unit), self.blocks.valid(unit));
        let units = u32::from(valid > self.frontiers.room(stream));
        if !M::ON_FLASH || stream == self.map_stream() {
            return (units, valid);
        }
        let updates = valid.min(self.directory.len() as u32);
        (units + u32::from(updates > self.frontiers.room(self.map_stream())), valid + updates)
    }

    /// Empties and erases one unit.
    fn collect(&mut self, victim: Unit, work: &mut Chain) -> Result<(), N::Error> {
        self.blocks.begin_cleaning(victim);
        let mut wanted = mem::take(&mut self.wanted);
        self.list_wanted(victim, &mut wanted);
        self.moved.clear();
        let start = work.now;
        for &(from, owner) in &wanted {
            let mut branch = Chain::at(start);
            self.relocate(from, owner, victim, &mut branch)?;
            work.wait(branch.now, Part::Gc);
        }
        self.wanted = wanted;
        if M::ON_FLASH && !self.moved.is_empty() {
            self.update_map(work)?;
        }
        let is_map = self.blocks.stream(victim) == self.map_stream();
        let cause = if is_map { Cause::GcMap } else { Cause::Gc };
        self.nand.erase(victim, cause, work)?;
        self.blocks.erased(victim);
        Ok(())
    }

    /// Wanted pages in ascending order; their map entries are on their way from memory.
    fn list_wanted(&self, victim: Unit, wanted: &mut alloc::vec::Vec<(Ppn, Owner)>) {
        wanted.clear();
        for page in 0..self.geometry.pages_per_unit() {
            let ppn = self.geometry.page(victim, page);
            if let Some(owner) = self.blocks.owner(ppn) {
                if let Owner::Data(lpn) = owner {
                    prefetch(&self.table, lpn.index());
                }
                wanted.push((ppn, owner));
            }
        }
    }

    /// Moves one page to the open unit of the stream that it is in.
    #[inline(always)]
    fn relocate(
        &mut self,
        from: Ppn,
        owner: Owner,
        victim: Unit,
        branch: &mut Chain,
    ) -> Result<(), N::Error> {
        let stream = self.blocks.stream(victim);
        let to = self.allocate(stream, branch)?;
        match owner {
            Owner::Data(lpn) => {
                self.nand.copy(from, to, owner, Cause::Gc, branch)?;
                self.streams[usize::from(stream)].gc_pages += 1;
                assert_eq!(self.table[lpn.index()].replace(to), Some(from));
                if M::ON_FLASH {
                    self.moved.push((lpn, to));
                }
            }
            Owner::Translation(tpn) => {
                self.nand.copy(from, to, owner, Cause::GcMap, branch)?;
                assert_eq!(self.directory[tpn.index()].replace(to), Some(from));
            }
        }
        self.blocks.invalidate(from, owner);
        self.blocks.validate(to, owner);
        Ok(())
    }

    fn update_map(&mut self, work: &mut Chain) -> Result<(), N::Error> {
        self.moved.sort_unstable();
        let mut io = mem::take(&mut self.gc_io);
        self.mapping.relocated(&self.moved, &mut io);
        for op in io.drain(..) {
            self.map_op(op, Cause::GcMap, work)?;
        }
        self.gc_io = io;
        Ok(())
    }
}
