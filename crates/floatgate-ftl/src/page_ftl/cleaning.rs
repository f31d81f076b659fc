//! Cleaning: victims are emptied and erased until enough units are free.

use alloc::vec::Vec;
use core::mem;

use super::PageFtl;
use crate::addr::{Owner, Ppn, Unit};
use crate::blocks::Pool;
use crate::journal::Occasion;
use crate::mapping::{MapOp, Mapping};
use crate::nand::{Cause, Chain, Move, Nand, Part};
use crate::placement::{Moving, Placement, Reclaimed};
use crate::prefetch::prefetch;

/// Times that all units may be cleaned before a drive is called too full to be cleaned.
const ROUNDS: u32 = 8;

/// When units are cleaned, and where what is in them goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cleaning {
    /// A write that needs a unit opens one, and has units cleaned until this many less that one are
    /// free.
    pub low_water: u32,
    /// Where the pages of a victim go.
    pub destination: Destination,
    /// Which units a victim is chosen from.
    pub scope: Scope,
    /// Pages that are moved with each page that the host writes, while fewer than `high_water`
    /// units are free.
    pub pace: Option<u32>,
    /// How long the host must have been idle for units to be cleaned, while fewer than
    /// `high_water` are free.
    pub idle_after_ns: Option<u64>,
    /// Up to how many free units cleaning ahead of need goes.
    pub high_water: u32,
    /// The least worn unit is moved elsewhere when a cleaned unit has been erased by more than this
    /// more often.
    pub wear_gap: Option<u32>,
}

impl Cleaning {
    /// In the foreground only, all units alike, as the schemes have it.
    pub fn new(low_water: u32) -> Self {
        Self {
            low_water,
            destination: Destination::Scheme,
            scope: Scope::All,
            pace: None,
            idle_after_ns: None,
            high_water: low_water,
            wear_gap: None,
        }
    }

    /// The lowest `low_water` with which a drive with so many open units never runs out of free
    /// ones: cleaning a victim opens each stream's next unit at worst. A victim that is emptied bit
    /// by bit may do so twice, before and after a stream has run out.
    pub fn least_low_water(&self, frontiers: u8) -> u32 {
        let ahead = self.pace.is_some() || self.idle_after_ns.is_some();
        u32::from(frontiers) * if ahead { 2 } else { 1 } + 1
    }
}

/// Where the pages of a victim go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Destination {
    /// Where the placement says; most say the stream that they are in.
    Scheme,
    /// The stream that they are in.
    Same,
    /// The coldest stream.
    Cold,
    /// The stream that the placement would put them in now.
    Reclassify,
}

/// Which units a victim is chosen from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// All.
    All,
    /// Those of the stream that needs a unit, if that gives back any space.
    Stream,
}

/// Where a batch of pages goes.
#[derive(Clone, Copy, Debug)]
pub(super) enum To {
    /// All to one stream.
    Stream(u8),
    /// Each where the placement says; it is asked to judge anew, or not.
    Placement { anew: bool },
}

impl<N: Nand, M: Mapping> PageFtl<N, M> {
    /// Cleans while fewer than `least` units are free, as the C FlashSim does.
    pub(super) fn clean(
        &mut self,
        stream: u8,
        least: u32,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        if self.store.blocks.free_units() >= least {
            return Ok(());
        }
        self.cleaning = true;
        let mut work = Chain::at(chain.now);
        self.finish_under_way(&mut work)?;
        let mut rounds = 0;
        while self.store.blocks.free_units() < least {
            rounds += 1;
            assert!(rounds / ROUNDS <= self.store.geometry.units(), "cleaning frees no units");
            let (victim, to) = self.choose(stream, rounds);
            self.collect(victim, to, Cause::Gc, &mut work)?;
            self.cleans.foreground += 1;
        }
        self.level(&mut work)?;
        chain.wait(work.now, Part::Gc);
        self.cleaning = false;
        Ok(())
    }

    /// The policy's choice; but when there may be too few free units for it, or every unit could
    /// have been cleaned without an end, the unit that costs least of those that there is room for.
    pub(super) fn choose(&mut self, stream: u8, rounds: u32) -> (Unit, To) {
        let choice = self.pick(stream).expect("a drive with few free units has sealed ones");
        if rounds <= self.store.geometry.units() && self.fits(choice.0, choice.1) {
            return choice;
        }
        self.cleans.emergency += 1;
        let home = |unit: Unit| (unit, To::Stream(self.home(unit)));
        // One that is full of valid pages may be cheap, and cleaned for ever.
        let full =
            |unit: Unit| self.store.blocks.valid(unit) == self.store.geometry.pages_per_unit();
        let fitting =
            self.store.blocks.sealed(Pool::All).map(home).filter(|&(u, to)| self.fits(u, to));
        let cheapest = fitting.min_by_key(|&(unit, to)| (full(unit), self.price(unit, to).1));
        cheapest.expect("the drive has too little spare to be cleaned")
    }

    /// The policy's choice, and where its pages would go.
    pub(super) fn pick(&mut self, stream: u8) -> Option<(Unit, To)> {
        let of_stream = match self.config.scope {
            Scope::All => None,
            Scope::Stream => self.victim.pick(&mut self.store.blocks, Pool::Stream(stream)),
        };
        let gains =
            |&unit: &Unit| self.store.blocks.valid(unit) < self.store.geometry.pages_per_unit();
        let unit = match of_stream.filter(gains) {
            Some(unit) => unit,
            None => self.victim.pick(&mut self.store.blocks, Pool::All)?,
        };
        let to = match self.config.destination {
            _ if self.is_map(unit) => To::Stream(self.map_stream()),
            Destination::Scheme => To::Placement { anew: false },
            Destination::Reclassify => To::Placement { anew: true },
            Destination::Same => To::Stream(self.home(unit)),
            Destination::Cold => To::Stream(0),
        };
        Some((unit, to))
    }

    /// The stream of a unit's pages. What levelling of wear has moved is cold data; so is, for the
    /// want of anything better, what was written to a log.
    fn home(&self, unit: Unit) -> u8 {
        let stream = self.store.blocks.stream(unit);
        let is_data = stream < self.placement.streams() || self.is_map(unit);
        if is_data { stream } else { 0 }
    }

    /// Whether a unit is of translation pages.
    pub(super) fn is_map(&self, unit: Unit) -> bool {
        M::ON_FLASH && self.store.blocks.stream(unit) == self.map_stream()
    }

    /// Whether enough units are free for a unit to be cleaned.
    pub(super) fn fits(&self, unit: Unit, to: To) -> bool {
        self.price(unit, to).0 <= self.store.blocks.free_units()
    }

    /// How many free units and pages cleaning a unit takes at most.
    fn price(&self, unit: Unit, to: To) -> (u32, u32) {
        let valid = self.store.blocks.valid(unit);
        let full = |stream| valid > self.frontiers.room(stream);
        let units = match to {
            To::Stream(stream) => u32::from(full(stream)),
            To::Placement { .. } => self.units_at_worst(valid),
        };
        if !M::ON_FLASH || self.is_map(unit) {
            return (units, valid);
        }
        let updates = (valid * self.mapping.together()).min(self.directory.len() as u32);
        let beyond = updates.saturating_sub(self.frontiers.room(self.map_stream()));
        (units + beyond.div_ceil(self.store.geometry.pages_per_unit()), valid + updates)
    }

    /// How many streams run out of room at most when so many pages are divided among them.
    fn units_at_worst(&self, pages: u32) -> u32 {
        let mut rooms = [0; u8::MAX as usize];
        let rooms = &mut rooms[..usize::from(self.placement.streams())];
        for (stream, room) in rooms.iter_mut().enumerate() {
            *room = self.frontiers.room(stream as u8);
        }
        rooms.sort_unstable();
        let mut left = pages;
        let fill = |&room: &u32| left.checked_sub(room + 1).map(|rest| left = rest);
        rooms.iter().map_while(fill).count() as u32
    }

    /// Empties and erases one unit.
    pub(super) fn collect(
        &mut self,
        victim: Unit,
        to: To,
        cause: Cause,
        work: &mut Chain,
    ) -> Result<(), N::Error> {
        self.begin(victim);
        let mut wanted = mem::take(&mut self.wanted);
        self.list_wanted(victim, &mut wanted);
        self.move_pages(&wanted, victim, to, cause, work)?;
        self.wanted = wanted;
        self.erase(victim, cause, work)
    }

    /// Takes a unit out of use.
    pub(super) fn begin(&mut self, victim: Unit) {
        if !self.is_map(victim) {
            let age = self.store.blocks.now() - self.store.blocks.opened(victim);
            self.placement.reclaimed(Reclaimed { stream: self.home(victim), age });
        }
        self.store.blocks.begin_cleaning(victim);
    }

    pub(super) fn erase(
        &mut self,
        victim: Unit,
        cause: Cause,
        work: &mut Chain,
    ) -> Result<(), N::Error> {
        // Of what was trimmed, an older version may be all that is left on flash after this.
        self.store.keep_journal(Occasion::Trims, work)?;
        self.store.nand.erase(victim, self.cause_in(victim, cause), work)?;
        self.store.blocks.erased(victim);
        if let Some(levelling) = &mut self.levelling {
            levelling.erased(victim, self.store.blocks.erases(victim));
        }
        Ok(())
    }

    /// Cleaning of translation pages is counted by itself.
    fn cause_in(&self, victim: Unit, cause: Cause) -> Cause {
        if cause == Cause::Gc && self.is_map(victim) { Cause::GcMap } else { cause }
    }

    /// Wanted pages in ascending order; their map entries are on their way from memory.
    pub(super) fn list_wanted(&self, victim: Unit, wanted: &mut Vec<(Ppn, Owner)>) {
        wanted.clear();
        for page in 0..self.store.geometry.pages_per_unit() {
            let ppn = self.store.geometry.page(victim, page);
            if let Some(owner) = self.store.blocks.owner(ppn) {
                if let Owner::Data(lpn) = owner {
                    prefetch(&self.store.table, lpn.index());
                }
                wanted.push((ppn, owner));
            }
        }
    }

    /// Moves wanted pages of a victim, and has the map point at where they are.
    pub(super) fn move_pages(
        &mut self,
        wanted: &[(Ppn, Owner)],
        victim: Unit,
        to: To,
        cause: Cause,
        work: &mut Chain,
    ) -> Result<(), N::Error> {
        self.moved.clear();
        let cause = self.cause_in(victim, cause);
        match to {
            To::Stream(stream) => self.move_to(wanted, stream, cause, work)?,
            To::Placement { .. } if self.placement.streams() == 1 => {
                self.move_to(wanted, 0, cause, work)?;
            }
            To::Placement { anew } => {
                self.sort(wanted, self.home(victim), anew, work.now);
                let sorted = mem::take(&mut self.sorted);
                let mut group = mem::take(&mut self.group);
                for pages in sorted.chunk_by(|a, b| a.0 == b.0) {
                    group.clear();
                    group.extend(pages.iter().map(|&(_, ppn, owner)| (ppn, owner)));
                    self.move_to(&group, pages[0].0, cause, work)?;
                }
                (self.sorted, self.group) = (sorted, group);
            }
        }
        if M::ON_FLASH && !self.moved.is_empty() {
            self.update_map(work)?;
        }
        Ok(())
    }

    /// Asks the placement where each page goes; puts them in the order of streams.
    fn sort(&mut self, wanted: &[(Ppn, Owner)], stream: u8, anew: bool, now_ns: u64) {
        let clock = self.store.blocks.now();
        self.sorted.clear();
        for &(ppn, owner) in wanted {
            let Owner::Data(lpn) = owner else { unreachable!("translation pages keep together") };
            let moving = Moving { lpn, stream, clock, now_ns };
            let to = match anew {
                true => self.placement.classify(moving),
                false => self.placement.moved(moving),
            };
            self.sorted.push((to, ppn, owner));
        }
        self.sorted.sort_unstable_by_key(|&(to, ppn, _)| (to, ppn.get()));
    }

    fn move_to(
        &mut self,
        wanted: &[(Ppn, Owner)],
        stream: u8,
        cause: Cause,
        work: &mut Chain,
    ) -> Result<(), N::Error> {
        let mut rest = wanted;
        while !rest.is_empty() {
            let (row, more) = rest.split_at(rest.len().min(self.row_room(stream)));
            self.relocate(row, stream, cause, work)?;
            rest = more;
        }
        Ok(())
    }

    /// How many pages can be moved at once: to the end of a row of the open unit, which is one page
    /// on every plane that it is striped over.
    fn row_room(&self, stream: u8) -> usize {
        let width = self.store.geometry.shape().superblock;
        let room = self.frontiers.room(stream);
        (if room == 0 { width } else { (room - 1) % width + 1 }) as usize
    }

    /// Moves pages to the open unit of a stream.
    pub(super) fn relocate(
        &mut self,
        row: &[(Ppn, Owner)],
        stream: u8,
        cause: Cause,
        work: &mut Chain,
    ) -> Result<(), N::Error> {
        let mut moves = mem::take(&mut self.moves);
        moves.clear();
        for &(from, owner) in row {
            let to = self.allocate(stream, work)?;
            moves.push(Move { from, to, owner, serial: self.store.stamp.copy() });
        }
        self.store.nand.copy(&moves, cause, work)?;
        for &Move { from, to, owner, .. } in &moves {
            match owner {
                Owner::Data(lpn) => {
                    assert_eq!(self.store.table[lpn.index()].replace(to), Some(from));
                    if M::ON_FLASH {
                        self.moved.push((lpn, to));
                    }
                }
                Owner::Translation(tpn) => {
                    assert_eq!(self.directory[tpn.index()].replace(to), Some(from));
                }
            }
            self.store.blocks.invalidate(from, owner);
            self.store.blocks.validate(to, owner);
        }
        self.streams[usize::from(stream)].gc_pages += moves.len() as u64;
        self.moves = moves;
        Ok(())
    }

    fn update_map(&mut self, work: &mut Chain) -> Result<(), N::Error> {
        self.moved.sort_unstable();
        let mut io = mem::take(&mut self.gc_io);
        self.mapping.relocated(&self.moved, &mut io);
        let width = self.store.geometry.shape().superblock as usize;
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
