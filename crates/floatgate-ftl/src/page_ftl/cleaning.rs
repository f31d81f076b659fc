//! Cleaning: empties and erases victims until enough units are free.

use alloc::vec::Vec;
use core::mem;

use super::{Destination, PageFtl, Scope};
use crate::addr::{Owner, Ppn, Unit};
use crate::geometry::{Geometry, Mode};
use crate::journal::CheckpointTrigger;
use crate::mapping::Mapping;
use crate::nand::{Cause, Chain, Clock, Component, Move, Moves, Nand};
use crate::placement::{PlacementEvent, Reclaimed, Relocation};
use crate::prefetch::prefetch;
use crate::saved::{Blank, Carrier, State};
use crate::unit_table::{Pool, ValidShare};

/// Cleans per unit of the drive after which the drive counts as too full to be cleaned.
const ROUNDS: u32 = 8;

/// Reason why cleaning cannot go on.
const TOO_LITTLE: &str = "the drive has too little spare space for its streams and their padding; \
                          use a larger capacity.spare_factor or cleaning.low_water";

/// Destination of a batch of pages.
#[derive(Clone, Copy, Debug)]
pub(super) enum MoveTarget {
    /// All pages go to one stream.
    Stream(u8),
    /// The placement chooses a stream for each page: by `classify` if `anew`, else by `moved`.
    Placement { anew: bool },
}

impl State for MoveTarget {
    fn carry(&mut self, by: &mut Carrier<'_>) {
        let (mut stream, mut anew) = match *self {
            Self::Stream(stream) => (Some(stream), false),
            Self::Placement { anew } => (None, anew),
        };
        stream.carry(by);
        anew.carry(by);
        *self = stream.map_or(Self::Placement { anew }, Self::Stream);
    }
}

impl Blank for MoveTarget {
    const BLANK: Self = Self::Stream(0);
}

impl<N: Nand, M: Mapping> PageFtl<N, M> {
    /// Cleans while fewer than `least` units are free, as the C FlashSim does.
    pub(super) fn clean(
        &mut self,
        stream: u8,
        least: u32,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        if self.store.units.free_units() >= least {
            return Ok(());
        }
        self.cleaner.active = true;
        self.owners.start_for(stream, self.streams.slc());
        let mut work = chain.work();
        self.finish_under_way(&mut work)?;
        let mut rounds = 0;
        while self.store.units.free_units() < least {
            rounds += 1;
            let is_stuck = rounds / ROUNDS > self.store.geometry.units();
            assert!(!is_stuck, "cleaning frees no units: {TOO_LITTLE}");
            let (victim, to) = self.choose(stream, rounds);
            let is_folded = self.store.units.mode(victim) == Mode::Slc;
            self.collect(victim, to, Cause::Gc, &mut work)?;
            self.cleaner.counts.foreground += u64::from(!is_folded);
        }
        self.level(&mut work)?;
        self.store.clock().wait(chain, work, Component::Gc);
        self.owners.end();
        self.cleaner.active = false;
        Ok(())
    }

    /// Chooses a victim and the destination of its pages. This is the policy's choice, with two
    /// exceptions: there may be too few free units for it, or there have been more rounds than
    /// units, so cleaning might never end. Then it is the cheapest unit for which there is room.
    pub(super) fn choose(&mut self, stream: u8, rounds: u32) -> (Unit, MoveTarget) {
        let choice = self.pick(stream).expect("a drive with few free units has sealed ones");
        if rounds <= self.store.geometry.units() && self.fits(choice.0, choice.1) {
            return choice;
        }
        self.cleaner.counts.emergency += 1;
        let home = |unit: Unit| (unit, MoveTarget::Stream(self.home(unit)));
        // A unit full of valid pages may be the cheapest, and would be cleaned forever.
        let full = |unit: Unit| !self.gains(unit);
        let fitting =
            self.store.units.sealed(Pool::All).map(home).filter(|&(u, to)| self.fits(u, to));
        let cheapest = fitting.min_by_key(|&(unit, to)| (full(unit), self.price(unit, to).1));
        cheapest.expect(TOO_LITTLE)
    }

    /// Returns the policy's choice and the destination of its pages. A unit that has to leave the
    /// SLC cache goes first.
    pub(super) fn pick(&mut self, stream: u8) -> Option<(Unit, MoveTarget)> {
        if let Some(folded) = self.fold_for_units() {
            return Some(folded);
        }
        let first = match self.cleaner.config.scope {
            Scope::All => None,
            Scope::Stream => Some(stream),
            Scope::MostInvalid => self.store.units.stream_with_most_invalid(),
            Scope::Pressure => self.store.units.stream_under_pressure(),
        };
        let of_stream = first.and_then(|stream| {
            self.cleaner.victim.pick(&mut self.store.units, Pool::Stream(stream))
        });
        let unit = match of_stream.filter(|&unit| self.gains(unit)) {
            Some(unit) => unit,
            None => self.cleaner.victim.pick(&mut self.store.units, Pool::All)?,
        };
        let to = match self.cleaner.config.destination {
            _ if self.is_map(unit) => MoveTarget::Stream(self.streams.map()),
            Destination::Scheme => MoveTarget::Placement { anew: false },
            Destination::Reclassify => MoveTarget::Placement { anew: true },
            Destination::Same => MoveTarget::Stream(self.home(unit)),
            Destination::Cold => MoveTarget::Stream(0),
        };
        Some((unit, to))
    }

    /// Returns whether a unit has an invalid page, so that cleaning it frees space.
    pub(super) fn gains(&self, unit: Unit) -> bool {
        let ValidShare { valid, pages } = self.store.units.valid_share(unit);
        valid < pages
    }

    /// Returns the stream that a unit's pages stay in unless they are sorted again.
    fn home(&self, unit: Unit) -> u8 {
        self.streams.home(self.store.units.stream(unit))
    }

    pub(super) fn is_map(&self, unit: Unit) -> bool {
        self.streams.is_map(self.store.units.stream(unit))
    }

    /// Returns whether enough units are free to clean a unit.
    pub(super) fn fits(&self, unit: Unit, to: MoveTarget) -> bool {
        self.price(unit, to).0 <= self.store.units.free_units()
    }

    /// Returns the maximum number of free units, and of pages, that cleaning a unit can take. For
    /// the data of a reclaim unit this is enough although its erase units are emptied one after the
    /// other: before `n` of them are erased, its pages fill at most `n` units in addition to the
    /// open units that run out.
    fn price(&self, unit: Unit, to: MoveTarget) -> (u32, u32) {
        let valid = self.store.units.reclaim_valid(unit);
        let geometry = &self.store.geometry;
        let full = |stream| valid > self.streams.room(stream);
        let units = match to {
            MoveTarget::Stream(stream) => u32::from(full(stream)),
            MoveTarget::Placement { .. } => {
                let erase_units = self
                    .store
                    .units
                    .reclaim_capacity(unit)
                    .div_ceil(self.store.units.capacity(unit));
                let padded = geometry.units_padded(erase_units, self.streams.data());
                self.streams.units_at_worst(valid, geometry) + padded
            }
        };
        if !self.map.cache.is_on_flash() || self.is_map(unit) {
            return (units, valid);
        }
        let updates = valid.saturating_mul(self.map.pages_per_page);
        let updates = updates.min(self.map.directory.len() as u32);
        let beyond = updates.saturating_sub(self.streams.sure_room(self.streams.map(), geometry));
        (units + beyond.div_ceil(geometry.pages_per_unit()), valid + updates)
    }

    /// Empties and erases one unit.
    pub(super) fn collect(
        &mut self,
        victim: Unit,
        to: MoveTarget,
        cause: Cause,
        work: &mut Chain,
    ) -> Result<(), N::Error> {
        self.begin(victim, cause);
        self.empty_members(to, cause, work)
    }

    /// Empties and erases the erase units of a victim, one after the other. The map on flash is
    /// updated once for all of them, before the last one is erased.
    pub(super) fn empty_members(
        &mut self,
        to: MoveTarget,
        cause: Cause,
        work: &mut Chain,
    ) -> Result<(), N::Error> {
        let members = mem::take(&mut self.cleaner.members);
        let mut valid = mem::take(&mut self.cleaner.valid);
        self.cleaner.moved.clear();
        for (unit, left) in members.iter().copied().zip((0..members.len()).rev()) {
            let is_relabelled = cause == Cause::Gc && self.relabel(unit, to);
            if !is_relabelled {
                self.list_valid(unit, &mut valid);
                self.copy_pages(&valid, unit, to, cause, work)?;
            }
            if left == 0 {
                self.update_moved(work)?;
            }
            if !is_relabelled {
                self.erase(unit, cause, work)?;
            }
        }
        (self.cleaner.members, self.cleaner.valid) = (members, valid);
        Ok(())
    }

    /// Takes a victim out of use, and lists its erase units. Units that wear levelling moves do not
    /// count as victims: their pages are chosen for being valid.
    pub(super) fn begin(&mut self, victim: Unit, cause: Cause) {
        if cause != Cause::Wear {
            let units = &self.store.units;
            self.streams.count_victim(units.stream(victim), units.valid_share(victim));
        }
        if !self.leave_cache(victim) && !self.is_map(victim) {
            let age = self.store.units.now() - self.store.units.opened(victim);
            let unit = Reclaimed { stream: self.home(victim), age };
            self.placement.observe(PlacementEvent::Reclaimed(unit));
        }
        self.store.units.begin_cleaning(victim);
        self.store.units.list_members(victim, &mut self.cleaner.members);
    }

    pub(super) fn erase(
        &mut self,
        victim: Unit,
        cause: Cause,
        work: &mut Chain,
    ) -> Result<(), N::Error> {
        // After this erase, an older version of a trimmed page may be the newest on flash.
        self.keep_journal(CheckpointTrigger::Trims, work)?;
        if let Some(events) = &mut self.events {
            events.emptied();
        }
        let cause = self.cause_in(victim, cause);
        if self.store.geometry.loses_pages() {
            self.put_off_erase(victim, cause);
            return Ok(());
        }
        self.store.units.emptied(victim);
        self.erase_now(victim, cause, work)
    }

    /// Erases a free unit.
    pub(super) fn erase_now(
        &mut self,
        unit: Unit,
        cause: Cause,
        work: &mut Chain,
    ) -> Result<(), N::Error> {
        self.store.nand.erase(unit, cause, work)?;
        self.store.units.count_erase(unit);
        if let Some(levelling) = &mut self.cleaner.levelling {
            levelling.erased(unit, self.store.units.erases(unit));
        }
        Ok(())
    }

    /// Returns the cause to count: cleaning of translation pages and of the SLC cache have causes
    /// of their own.
    fn cause_in(&self, victim: Unit, cause: Cause) -> Cause {
        match cause {
            Cause::Gc if self.is_map(victim) => Cause::GcMap,
            Cause::Gc if self.store.units.mode(victim) == Mode::Slc => Cause::Fold,
            _ => cause,
        }
    }

    /// Lists valid pages in ascending order, and prefetches their map entries from memory.
    pub(super) fn list_valid(&self, victim: Unit, valid: &mut Vec<(Ppn, Owner)>) {
        valid.clear();
        self.store.units.for_each_valid(victim, |ppn, owner| {
            if let Owner::Data(lpn) = owner {
                prefetch(&self.store.table, lpn.index());
            }
            valid.push((ppn, owner));
        });
    }

    /// Moves valid pages of an erase unit. The map on flash is not updated yet.
    pub(super) fn copy_pages(
        &mut self,
        valid: &[(Ppn, Owner)],
        victim: Unit,
        to: MoveTarget,
        cause: Cause,
        work: &mut Chain,
    ) -> Result<(), N::Error> {
        let cause = self.cause_in(victim, cause);
        self.count_copies(valid, cause);
        match to {
            MoveTarget::Stream(stream) => self.move_to(valid, stream, cause, work)?,
            MoveTarget::Placement { anew: false } if !self.placement.sorts_moved() => {
                self.move_to(valid, self.home(victim), cause, work)?;
            }
            MoveTarget::Placement { anew } => {
                self.sort(valid, self.home(victim), anew);
                let sorted = mem::take(&mut self.cleaner.sorted);
                let mut group = mem::take(&mut self.cleaner.group);
                for pages in sorted.chunk_by(|a, b| a.0 == b.0) {
                    group.clear();
                    group.extend(pages.iter().map(|&(_, ppn, owner)| (ppn, owner)));
                    self.move_to(&group, pages[0].0, cause, work)?;
                }
                (self.cleaner.sorted, self.cleaner.group) = (sorted, group);
            }
        }
        Ok(())
    }

    /// Points the map on flash at the new places of the copied data pages.
    pub(super) fn update_moved(&mut self, work: &mut Chain) -> Result<(), N::Error> {
        if self.map.cache.is_on_flash() && !self.cleaner.moved.is_empty() {
            self.update_map(work)?;
        }
        Ok(())
    }

    /// Asks the placement for the stream of each page, and sorts the pages by stream.
    fn sort(&mut self, valid: &[(Ppn, Owner)], stream: u8, anew: bool) {
        let (clock, now_ns) = (self.store.units.now(), self.store.now_ns());
        self.cleaner.sorted.clear();
        let lpn = |owner| match owner {
            Owner::Data(lpn) => lpn,
            Owner::Translation(_) => unreachable!("translation pages keep together"),
        };
        let relocation = |owner| Relocation { lpn: lpn(owner), stream, clock, now_ns };
        let Some(&(_, first)) = valid.first() else { return };
        if let Some(external) = self.placement.as_external() {
            let lpns = valid.iter().map(|&(_, owner)| lpn(owner));
            let pages = valid.iter().zip(external.sort(lpns, relocation(first)));
            self.cleaner.sorted.extend(pages.map(|(&(ppn, owner), &to)| (to, ppn, owner)));
        } else {
            for &(ppn, owner) in valid {
                let to = match anew {
                    true => self.placement.classify(relocation(owner)),
                    false => self.placement.moved(relocation(owner)),
                };
                self.cleaner.sorted.push((to, ppn, owner));
            }
        }
        self.cleaner.sorted.sort_unstable_by_key(|&(to, ppn, _)| (to, ppn.get()));
    }

    fn move_to(
        &mut self,
        valid: &[(Ppn, Owner)],
        stream: u8,
        cause: Cause,
        work: &mut Chain,
    ) -> Result<(), N::Error> {
        let mut rest = valid;
        while !rest.is_empty() {
            let (row, more) = rest.split_at(rest.len().min(self.row_room(stream)));
            self.relocate(row, stream, cause, work)?;
            rest = more;
        }
        Ok(())
    }

    /// Returns how many pages can be moved at once: up to the end of a row of the open unit. A row
    /// has one page on every plane of the unit. A medium that takes rows accepts all pages to the
    /// end of the unit.
    fn row_room(&self, stream: u8) -> usize {
        let geometry = &self.store.geometry;
        let width = match self.store.nand.takes_rows() {
            true => geometry.unit_capacity(),
            false => geometry.row_pages(),
        };
        let room = self.streams.room(stream);
        (if room == 0 { width } else { (room - 1) % width + 1 }) as usize
    }

    /// Moves pages of a unit to the open unit of a stream, which has room for all of them or for
    /// none.
    pub(super) fn relocate(
        &mut self,
        row: &[(Ppn, Owner)],
        stream: u8,
        cause: Cause,
        work: &mut Chain,
    ) -> Result<(), N::Error> {
        let pages = row.len() as u32;
        let to = self.allocate(stream, work)?;
        self.streams.skip(stream, pages - 1);
        let serial = self.store.stamp.copies(pages);
        let moves = moves(row, to, serial, &self.store.geometry);
        self.store.nand.copy_rows(moves, cause, work)?;
        for (&(from, owner), at) in row.iter().zip(0..) {
            let to = to.after(at);
            let before = match owner {
                Owner::Data(lpn) => {
                    if self.map.cache.is_on_flash() {
                        self.cleaner.moved.push((lpn, to));
                    }
                    self.store.table[lpn.index()].replace(to)
                }
                Owner::Translation(tpn) => self.map.directory[tpn.index()].replace(to),
            };
            assert_eq!(before, Some(from));
        }
        self.store.units.relocate(row, to);
        self.streams.count_gc_pages(stream, row.len());
        Ok(())
    }
}

/// Moves the pages of a row to consecutive places from `to` on.
#[inline(always)]
fn moves(row: &[(Ppn, Owner)], to: Ppn, serial: u64, geometry: &Geometry) -> impl Moves {
    row.iter().enumerate().map(move |(at, &(from, owner))| {
        let before = at.checked_sub(1).map(|before| row[before].0);
        let joins_read = before.is_some_and(|before| geometry.is_read_with(before, from));
        Move { from, to: to.after(at as u32), owner, serial: serial + at as u64, joins_read }
    })
}
