//! Reclaim units: several erase units that a stream fills one after the other, and that are cleaned
//! together.
//!
//! A flexible data placement drive states the size of its reclaim units (NVM Express TP4146,
//! "reclaim unit nominal size"). The first erase unit of a reclaim unit stands for it in the lists
//! of sealed units, in the order of sealing and in victim policies. A full erase unit is no victim
//! before its reclaim unit is full.
//!
//! ```text
//!   stream 1, three erase units in a reclaim unit:   u4 -> u9 -> u2   sealed; u4 stands for it
//!                                                    u7 -> u5         u7 is full, u5 is open
//! ```
//!
//! A drive whose reclaim units are single erase units has no such groups and does not pay for them.

use alloc::vec;
use alloc::vec::Vec;

use super::sealed::Sealed;
use super::{Pool, State, UnitTable, ValidShare};
use crate::addr::Unit;

const NONE: u32 = u32::MAX;

/// Position of an erase unit in its reclaim unit.
#[derive(Clone, Copy, Debug)]
struct Member {
    /// First erase unit of the reclaim unit.
    first: u32,
    /// Next erase unit of the reclaim unit.
    next: u32,
}

crate::state!(blank Member { first, next });

/// Sums over the erase units of a reclaim unit.
#[derive(Clone, Copy, Debug)]
struct Sums {
    /// Erase unit that joined last.
    last: u32,
    /// Erase units, and full erase units.
    units: u32,
    full: u32,
    /// Erase units that make the reclaim unit full.
    size: u32,
    /// Valid pages, if all erase units are full.
    valid: u32,
}

crate::state!(blank Sums { last, units, full, size, valid });

/// The reclaim units of a drive. Empty if each erase unit is a reclaim unit.
#[derive(Clone, Debug, Default)]
pub(super) struct ReclaimUnits {
    /// Erase units in a reclaim unit, by stream.
    sizes: Vec<u32>,
    /// By erase unit.
    members: Vec<Member>,
    /// By first erase unit.
    sums: Vec<Sums>,
    /// By stream: first erase unit of the reclaim unit that is being filled.
    open: Vec<u32>,
}

crate::state!(ReclaimUnits { members, sums, open } fixed { sizes });

impl ReclaimUnits {
    fn new(sizes: Vec<u32>, units: usize) -> Self {
        Self {
            members: vec![Member { first: NONE, next: NONE }; units],
            sums: vec![Sums { last: NONE, units: 0, full: 0, size: 0, valid: 0 }; units],
            open: vec![NONE; sizes.len()],
            sizes,
        }
    }

    /// Returns whether a reclaim unit has several erase units.
    #[inline(always)]
    pub(super) fn exist(&self) -> bool {
        !self.sizes.is_empty()
    }

    /// Returns the number of erase units for which there is room in the reclaim unit that a stream
    /// fills, or in the next one.
    fn room(&self, stream: u8) -> u32 {
        match self.open[usize::from(stream)] {
            NONE => self.sizes[usize::from(stream)],
            open => self.sums[open as usize].size - self.sums[open as usize].units,
        }
    }

    /// Returns whether the reclaim unit that a stream fills has a full erase unit.
    fn has_full(&self, stream: u8) -> bool {
        let open = self.open[usize::from(stream)];
        open != NONE && self.sums[open as usize].full > 0
    }

    /// Returns whether the next erase unit of a stream begins a reclaim unit.
    fn begins(&self, stream: u8) -> bool {
        self.open[usize::from(stream)] == NONE || self.room(stream) == 0
    }

    /// Ends the reclaim unit that a stream fills: no further erase unit joins. Returns its first
    /// erase unit, if all its erase units are full.
    fn end(&mut self, stream: u8) -> Option<Unit> {
        let open = &mut self.open[usize::from(stream)];
        if *open == NONE {
            return None;
        }
        let (first, sums) = (Unit(*open), &mut self.sums[*open as usize]);
        sums.size = sums.units;
        (sums.full == sums.size).then(|| {
            *open = NONE;
            first
        })
    }

    /// Adds an erase unit to the reclaim unit that a stream fills, or begins the next reclaim unit.
    pub(super) fn join(&mut self, unit: Unit, stream: u8) {
        let (begins, size) = (self.begins(stream), self.sizes[usize::from(stream)]);
        let open = &mut self.open[usize::from(stream)];
        if !begins {
            let sums = &mut self.sums[*open as usize];
            self.members[sums.last as usize].next = unit.0;
            (sums.last, sums.units) = (unit.0, sums.units + 1);
        } else {
            *open = unit.0;
            self.sums[unit.index()] = Sums { last: unit.0, units: 1, full: 0, size, valid: 0 };
        }
        self.members[unit.index()] = Member { first: *open, next: NONE };
    }

    /// Notes that an erase unit of a stream is full. Returns the first erase unit of its reclaim
    /// unit, if that is full now.
    fn fill(&mut self, unit: Unit, stream: u8) -> Option<Unit> {
        let first = self.first(unit);
        let sums = &mut self.sums[first.index()];
        sums.full += 1;
        if sums.full < sums.size {
            return None;
        }
        let open = &mut self.open[usize::from(stream)];
        if *open == first.0 {
            *open = NONE;
        }
        Some(first)
    }

    #[inline(always)]
    fn first(&self, unit: Unit) -> Unit {
        Unit(self.members[unit.index()].first)
    }

    /// Yields the erase units of the reclaim unit that `first` stands for.
    fn units_of(&self, first: Unit) -> impl Iterator<Item = Unit> {
        let next = |unit: &Unit| {
            let next = self.members[unit.index()].next;
            (next != NONE).then_some(Unit(next))
        };
        core::iter::successors(Some(first), next)
    }
}

impl UnitTable {
    /// Groups the erase units into reclaim units: `sizes` has the number of erase units in a
    /// reclaim unit, by stream. Units in use are grouped in the order in which they were sealed, as
    /// flash does not record their groups.
    pub fn form_reclaim_units(&mut self, sizes: &[u32]) {
        if sizes.iter().all(|&size| size == 1) {
            return;
        }
        let units = self.units.len();
        let mut sealed: Vec<Unit> = self.sealed(Pool::All).collect();
        sealed.sort_unstable_by_key(|unit| self.sealed_after(*unit));
        self.sealed = Sealed::new(sizes, units, self.geometry.pages_per_unit());
        self.reclaim = ReclaimUnits::new(sizes.to_vec(), units);
        for unit in sealed {
            self.reclaim.join(unit, self.stream(unit));
            self.seal_member(unit);
        }
        for unit in (0..units as u32).map(Unit) {
            if matches!(self.units[unit.index()].state, State::Open | State::Pinned) {
                self.reclaim.join(unit, self.stream(unit));
            }
        }
    }

    /// Notes that an erase unit of a reclaim unit is full. Seals the reclaim unit with its last
    /// erase unit.
    #[inline(never)]
    pub(super) fn seal_member(&mut self, unit: Unit) {
        self.units[unit.index()].state = State::Waiting;
        if let Some(first) = self.reclaim.fill(unit, self.stream(unit)) {
            self.seal_reclaim_unit(first);
        }
    }

    /// Seals a reclaim unit whose erase units are all full.
    fn seal_reclaim_unit(&mut self, first: Unit) {
        let mut valid = 0;
        for member in self.reclaim.units_of(first) {
            let info = &mut self.units[member.index()];
            info.state = State::Sealed;
            valid += info.valid;
        }
        self.reclaim.sums[first.index()].valid = valid;
        self.enter(first, valid);
    }

    /// Notes that a page of a sealed reclaim unit is no longer valid.
    #[inline(never)]
    pub(super) fn lose_of_reclaim_unit(&mut self, unit: Unit) {
        let first = self.reclaim.first(unit);
        let valid = &mut self.reclaim.sums[first.index()].valid;
        *valid -= 1;
        let info = &mut self.units[first.index()];
        info.modified = self.now;
        self.sealed.lose(first, info.stream, *valid);
        self.track_change(first);
    }

    /// Gives a victim's erase unit whose pages are all valid to the reclaim unit that a stream
    /// fills, without a copy. Returns whether that reclaim unit has room for it.
    pub fn relabel(&mut self, unit: Unit, stream: u8) -> bool {
        if !self.reclaim.exist() || self.reclaim.room(stream) == 0 {
            return false;
        }
        let pages = self.capacity(unit);
        let info = &mut self.units[unit.index()];
        assert_eq!((info.state, info.valid), (State::Victim, pages), "{unit:?} is not whole");
        info.stream = stream;
        self.opened[unit.index()] = self.now;
        self.reclaim.join(unit, stream);
        self.seal_member(unit);
        true
    }

    /// Returns whether the next erase unit that is opened for a stream begins a reclaim unit.
    pub fn begins_reclaim_unit(&self, stream: u8) -> bool {
        !self.reclaim.exist() || self.reclaim.begins(stream)
    }

    /// Returns how many erase units can be opened for the reclaim unit that a stream fills, or for
    /// the next one. `is_open` tells whether an erase unit of the stream has room.
    pub fn erase_units_left(&self, stream: u8, is_open: bool) -> u32 {
        if self.reclaim.exist() { self.reclaim.room(stream) } else { u32::from(!is_open) }
    }

    /// Returns whether the reclaim unit that a stream fills has a programmed page. `open` is its
    /// erase unit with room.
    pub fn has_begun(&self, stream: u8, open: Option<Unit>) -> bool {
        open.is_some_and(|unit| self.written(unit) > 0)
            || self.reclaim.exist() && self.reclaim.has_full(stream)
    }

    /// Ends the reclaim unit that a stream fills. The pages that are left in `open`, its erase unit
    /// with room, are never programmed.
    pub fn end_reclaim_unit(&mut self, stream: u8, open: Option<Unit>) {
        let full = if self.reclaim.exist() { self.reclaim.end(stream) } else { None };
        if let Some(first) = full {
            self.seal_reclaim_unit(first);
        }
        if let Some(unit) = open {
            self.fill(unit, self.capacity(unit) - self.written(unit));
        }
    }

    /// Returns the erase unit that stands for the reclaim unit of a sealed erase unit.
    pub fn reclaim_unit(&self, unit: Unit) -> Option<Unit> {
        let is_sealed = self.units[unit.index()].state == State::Sealed;
        let exist = self.reclaim.exist();
        is_sealed.then(|| if exist { self.reclaim.first(unit) } else { unit })
    }

    /// Lists the erase units of the reclaim unit that a sealed erase unit stands for.
    pub fn list_members(&self, unit: Unit, members: &mut Vec<Unit>) {
        members.clear();
        match self.reclaim.exist() {
            true => members.extend(self.reclaim.units_of(unit)),
            false => members.push(unit),
        }
    }

    /// Returns the number of valid pages of an erase unit or, if the unit is sealed, of the reclaim
    /// unit that it stands for.
    pub fn reclaim_valid(&self, unit: Unit) -> u32 {
        let info = &self.units[unit.index()];
        match self.reclaim.exist() && info.state == State::Sealed {
            true => self.reclaim.sums[unit.index()].valid,
            false => info.valid,
        }
    }

    /// Returns the number of pages that an erase unit holds or, if the unit is sealed, the reclaim
    /// unit that it stands for.
    pub fn reclaim_capacity(&self, unit: Unit) -> u32 {
        let is_sealed = self.units[unit.index()].state == State::Sealed;
        match self.reclaim.exist() && is_sealed {
            true => self.reclaim.sums[unit.index()].units * self.capacity(unit),
            false => self.capacity(unit),
        }
    }

    /// Returns the share of valid pages in the reclaim unit that a sealed erase unit stands for.
    pub fn valid_share(&self, unit: Unit) -> ValidShare {
        ValidShare { valid: self.reclaim_valid(unit), pages: self.reclaim_capacity(unit) }
    }

    /// Makes all erase units of a reclaim unit parts of one victim.
    pub(super) fn begin_cleaning_members(&mut self, first: Unit) {
        for member in self.reclaim.units_of(first) {
            self.units[member.index()].state = State::Victim;
        }
    }

    /// Asserts that the sums of each sealed reclaim unit agree with its erase units. Returns the
    /// number of sealed reclaim units.
    pub(super) fn check_reclaim_units(&self) -> u32 {
        let mut sealed = 0;
        for (unit, info) in (0..).map(Unit).zip(&self.units) {
            let first = self.reclaim.first(unit);
            let in_use = matches!(info.state, State::Open | State::Waiting | State::Sealed);
            if !in_use || first != unit {
                continue;
            }
            let (mut valid, mut full, mut units) = (0, 0, 0);
            for member in self.reclaim.units_of(first) {
                let of = &self.units[member.index()];
                assert_eq!((of.stream, self.reclaim.first(member)), (info.stream, first));
                let is_full = matches!(of.state, State::Waiting | State::Sealed);
                (valid, full, units) = (valid + of.valid, full + u32::from(is_full), units + 1);
            }
            let sums = self.reclaim.sums[unit.index()];
            assert_eq!((sums.full, sums.units), (full, units), "erase units with {unit:?}");
            assert!(
                sums.size <= self.reclaim.sizes[usize::from(info.stream)],
                "{unit:?} ends early"
            );
            let is_full = full == sums.size;
            assert_eq!(is_full, info.state == State::Sealed, "reclaim unit of {unit:?}");
            assert!(!is_full || sums.valid == valid, "valid pages with {unit:?}");
            sealed += u32::from(is_full);
        }
        sealed
    }
}
