//! Cleaning: victims are emptied and erased until enough units are free.

use core::mem;

use super::PageFtl;
use crate::addr::{Owner, Ppn, Unit};
use crate::mapping::{MapOp, Mapping};
use crate::nand::{Cause, Chain, Move, Nand, Part};
use crate::prefetch::prefetch;

/// Times that all units may be cleaned before a drive is called too full to be cleaned.
const ROUNDS: u32 = 8;

impl<N: Nand, M: Mapping> PageFtl<N, M> {
    /// Cleans while fewer than `low_water` units are free, as the C FlashSim does.
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
        let mut rest = wanted.as_slice();
        while !rest.is_empty() {
            let (row, more) = rest.split_at(rest.len().min(self.row_room(victim)));
            self.relocate(row, victim, work)?;
            rest = more;
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

    /// How many pages can be moved at once: to the end of a row of the open unit, which is one page
    /// on every plane that it is striped over.
    fn row_room(&self, victim: Unit) -> usize {
        let width = self.geometry.shape().superblock;
        let room = self.frontiers.room(self.blocks.stream(victim));
        (if room == 0 { width } else { (room - 1) % width + 1 }) as usize
    }

    /// Moves pages to the open unit of the stream that they are in.
    fn relocate(
        &mut self,
        row: &[(Ppn, Owner)],
        victim: Unit,
        work: &mut Chain,
    ) -> Result<(), N::Error> {
        let stream = self.blocks.stream(victim);
        let is_map = stream == self.map_stream();
        let mut moves = mem::take(&mut self.moves);
        moves.clear();
        for &(from, owner) in row {
            moves.push(Move { from, to: self.allocate(stream, work)?, owner });
        }
        self.nand.copy(&moves, if is_map { Cause::GcMap } else { Cause::Gc }, work)?;
        for &Move { from, to, owner } in &moves {
            match owner {
                Owner::Data(lpn) => {
                    assert_eq!(self.table[lpn.index()].replace(to), Some(from));
                    if M::ON_FLASH {
                        self.moved.push((lpn, to));
                    }
                }
                Owner::Translation(tpn) => {
                    assert_eq!(self.directory[tpn.index()].replace(to), Some(from));
                }
            }
            self.blocks.invalidate(from, owner);
            self.blocks.validate(to, owner);
        }
        if let Some(counts) = self.streams.get_mut(usize::from(stream)) {
            counts.gc_pages += moves.len() as u64;
        }
        self.moves = moves;
        Ok(())
    }

    fn update_map(&mut self, work: &mut Chain) -> Result<(), N::Error> {
        self.moved.sort_unstable();
        let mut io = mem::take(&mut self.gc_io);
        self.mapping.relocated(&self.moved, &mut io);
        let width = self.geometry.shape().superblock as usize;
        for row in io.chunks(width) {
            self.update_row(row, work)?;
        }
        io.clear();
        self.gc_io = io;
        Ok(())
    }

    /// Updates translation pages at once: all are read, and then all are programmed.
    fn update_row(&mut self, row: &[MapOp], work: &mut Chain) -> Result<(), N::Error> {
        for reading in [true, false] {
            let (begin, mut end) = (work.now, work.now);
            for &op in row {
                let mut branch = Chain::at(begin);
                match (reading, op) {
                    (true, MapOp::Fetch(tpn) | MapOp::Update(tpn)) => {
                        self.read_map(tpn, Cause::GcMap, &mut branch)?;
                    }
                    (false, MapOp::Update(tpn) | MapOp::Rewrite(tpn)) => {
                        self.program_map(tpn, Cause::GcMap, &mut branch)?;
                    }
                    _ => {}
                }
                end = end.max(branch.now);
            }
            work.wait(end, Part::Gc);
        }
        Ok(())
    }
}
