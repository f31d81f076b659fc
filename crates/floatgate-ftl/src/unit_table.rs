//! The state of every erase unit. The table is the only owner of validity, page owners, wear and
//! age.
//!
//! Sealed units (all pages programmed) are in lists by stream and number of valid pages. A unit
//! moves to the tail of the next lower list when it loses a page. Each list is therefore in order
//! of the last change, and the head of the lowest list that is not empty has the fewest valid
//! pages, and is the oldest among equals. A second list holds the units of a stream in the order of
//! sealing.
//!
//! ```text
//!   a stream:  valid = 0   1   2   ...  b
//!                      |   |   |        |
//!                     u7  u3  --       u1 <- sealed last     order of sealing: u3, u7, u9, u1
//!                          |
//!                         u9
//! ```
//!
//! Time counts the pages that the host has written. A victim policy with its own order can ask for
//! the units that have changed since its last call.
//!
//! A reclaim unit may consist of several erase units ([`UnitTable::form_reclaim_units`]). Its first
//! erase unit then stands for it in these lists.
//!
//! A unit with log pages that are not remapped yet is pinned. It is sealed when it is fully
//! programmed and its last log page is remapped or invalidated; until then it is in no list.

mod check;
mod found;
mod free;
mod pages;
mod pins;
mod pools;
mod reclaim;
mod sealed;
mod valid;

use alloc::vec;
use alloc::vec::Vec;

use crate::addr::{OwnerSlot, Unit};
use crate::geometry::{Geometry, Mode};
pub use found::InUse;
use free::Free;
pub use pools::ValidShare;
use reclaim::ReclaimUnits;
use sealed::Sealed;
use valid::ValidPages;

/// Order in which free units are opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FreeOrder {
    /// Opens the unit that has been free longest: no wear levelling.
    First,
    /// Opens the least worn unit: dynamic wear levelling, as the C FlashSim does.
    LeastWorn,
}

/// Stage in the life of a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Erased.
    Free,
    /// Being programmed.
    Open,
    /// Fully programmed, and not to be cleaned: it has log pages that are not remapped yet, or
    /// belongs to the SLC cache.
    Pinned,
    /// Fully programmed, in a reclaim unit that is not full.
    Waiting,
    /// Fully programmed, in a reclaim unit that is full.
    Sealed,
    /// Being cleaned.
    Victim,
}

crate::state!(State = Free | Open | Pinned | Waiting | Sealed | Victim);

/// Set of units from which a victim is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pool {
    /// All sealed units.
    All,
    /// The sealed units of a stream.
    Stream(u8),
}

/// Values of a unit that change with every page that it loses. The other values are in separate
/// vectors, so that more units fit into the processor's cache.
#[derive(Clone, Copy, Debug)]
struct Info {
    /// When it was sealed or lost a page, whichever came last.
    modified: u64,
    valid: u32,
    state: State,
    stream: u8,
    /// Programming mode of the unit's cells.
    mode: Mode,
    /// Whether the unit is in the list of changed units.
    changed: bool,
}

crate::state!(blank Info { modified, valid, state, stream, mode, changed });

/// All units of a drive.
#[derive(Clone, Debug)]
pub struct UnitTable {
    geometry: Geometry,
    /// Pages that a unit holds in SLC mode.
    slc_capacity: u32,
    /// Owner of each valid page; for other pages, the last owner.
    owners: Vec<OwnerSlot>,
    valid: ValidPages,
    units: Vec<Info>,
    /// Programmed pages, by unit.
    written: Vec<u32>,
    /// Erases, by unit, since wear was last reset.
    erases: Vec<u32>,
    sealed: Sealed,
    reclaim: ReclaimUnits,
    /// By unit: log pages that are not remapped; 1 for a unit of the SLC cache.
    pins: Vec<u32>,
    /// By unit: when it was opened; when it was sealed, and how many units had been sealed before.
    opened: Vec<u64>,
    sealed_at: Vec<(u64, u64)>,
    seals: u64,
    /// Erases of each unit in its whole life.
    lifetime_erases: Vec<u32>,
    free: Free,
    now: u64,
    changed: Vec<Unit>,
    notes_changes: bool,
}

crate::state!(
    UnitTable {
        owners,
        valid,
        units,
        written,
        erases,
        sealed,
        reclaim,
        pins,
        opened,
        sealed_at,
        seals,
        lifetime_erases,
        free,
        now,
        changed,
    }
    fixed { geometry, slc_capacity, notes_changes }
);

impl UnitTable {
    /// Creates the table of an erased drive that is written in `streams` streams.
    pub fn new(geometry: Geometry, free_order: FreeOrder, streams: u8) -> Self {
        let units = geometry.units() as usize;
        let fresh = Info {
            modified: 0,
            valid: 0,
            state: State::Free,
            stream: 0,
            mode: Mode::Native,
            changed: false,
        };
        let mut free = Free::new(free_order);
        (0..geometry.units()).for_each(|unit| free.add(Unit(unit), 0));
        Self {
            geometry,
            slc_capacity: geometry.in_mode(Mode::Slc).unit_capacity(),
            owners: vec![OwnerSlot::NONE; geometry.physical_pages() as usize],
            valid: ValidPages::new(geometry.physical_pages()),
            units: vec![fresh; units],
            written: vec![0; units],
            erases: vec![0; units],
            sealed: Sealed::new(&vec![1; streams.into()], units, geometry.pages_per_unit()),
            reclaim: ReclaimUnits::default(),
            pins: vec![0; units],
            opened: vec![0; units],
            sealed_at: vec![(0, 0); units],
            seals: 0,
            lifetime_erases: vec![0; units],
            free,
            now: 0,
            changed: Vec::new(),
            notes_changes: false,
        }
    }

    /// Returns the number of pages that the host has written: the clock.
    #[inline(always)]
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Advances the clock by a page that the host writes.
    #[inline(always)]
    pub fn tick(&mut self) {
        self.now += 1;
    }

    /// Starts to note which units change.
    pub fn track_changes(&mut self) {
        self.notes_changes = true;
    }

    /// Moves the changed units to `changed`: those that were sealed, lost a page or became victims
    /// since the last call, each one once.
    pub fn take_changed(&mut self, changed: &mut Vec<Unit>) {
        self.changed.iter().for_each(|unit| self.units[unit.index()].changed = false);
        changed.append(&mut self.changed);
    }

    #[inline(always)]
    fn track_change(&mut self, unit: Unit) {
        let info = &mut self.units[unit.index()];
        if self.notes_changes && !info.changed {
            info.changed = true;
            self.changed.push(unit);
        }
    }

    /// Returns the number of units that are erased and not open.
    #[inline(always)]
    pub fn free_units(&self) -> u32 {
        self.free.len()
    }

    /// Returns the number of valid pages of a unit.
    pub fn valid(&self, unit: Unit) -> u32 {
        self.units[unit.index()].valid
    }

    /// Returns the number of programmed pages of a unit.
    pub fn written(&self, unit: Unit) -> u32 {
        self.written[unit.index()]
    }

    /// Returns the stream that a unit was opened for.
    pub fn stream(&self, unit: Unit) -> u8 {
        self.units[unit.index()].stream
    }

    /// Returns the number of pages that a unit can hold in its mode.
    #[inline(always)]
    pub fn capacity(&self, unit: Unit) -> u32 {
        match self.units[unit.index()].mode {
            Mode::Native => self.geometry.unit_capacity(),
            Mode::Slc => self.slc_capacity,
        }
    }

    /// Returns the number of pages of a unit in native mode.
    pub fn pages_per_unit(&self) -> u32 {
        self.geometry.pages_per_unit()
    }

    /// Returns when a unit was sealed or lost a page, whichever came last.
    pub fn modified(&self, unit: Unit) -> u64 {
        self.units[unit.index()].modified
    }

    /// Returns when a unit was opened.
    pub fn opened(&self, unit: Unit) -> u64 {
        self.opened[unit.index()]
    }

    /// Returns when a unit was sealed.
    pub fn sealed_at(&self, unit: Unit) -> u64 {
        self.sealed_at[unit.index()].0
    }

    /// Returns the erases of a unit since [`UnitTable::reset_wear`].
    pub fn erases(&self, unit: Unit) -> u32 {
        self.erases[unit.index()]
    }

    /// Returns how many units had been sealed before this unit: the order of [`UnitTable::oldest`].
    pub fn sealed_after(&self, unit: Unit) -> u64 {
        self.sealed_at[unit.index()].1
    }

    /// Returns the erases of a unit in its whole life, unaffected by [`UnitTable::reset_wear`].
    pub fn lifetime_erases(&self, unit: Unit) -> u32 {
        self.lifetime_erases[unit.index()]
    }

    /// Returns whether a unit can be a victim: it is fully programmed, not pinned and not being
    /// cleaned, and stands for its reclaim unit.
    pub fn is_sealed(&self, unit: Unit) -> bool {
        self.reclaim_unit(unit) == Some(unit)
    }

    /// Yields the number of erases of every unit since [`UnitTable::reset_wear`].
    pub fn wear(&self) -> impl Iterator<Item = u32> {
        self.erases.iter().copied()
    }

    /// Yields the number of valid pages of every unit.
    pub fn valid_pages(&self) -> impl Iterator<Item = u32> {
        self.units.iter().map(|unit| unit.valid)
    }

    /// Sets wear to zero. The order in which free units are opened stays as it is.
    pub fn reset_wear(&mut self) {
        self.erases.fill(0);
        self.free.reset_counters();
    }

    /// Takes a free unit into use for `stream`.
    pub fn open(&mut self, stream: u8) -> Option<Unit> {
        let unit = self.free.take()?;
        Some(self.put_in_use(unit, stream))
    }

    /// Takes the most worn free unit into use for `stream`, for data that will not be written again
    /// soon.
    pub fn open_most_worn(&mut self, stream: u8) -> Option<Unit> {
        let unit = self.free.take_most_worn(|unit| self.erases[unit.index()])?;
        Some(self.put_in_use(unit, stream))
    }

    fn put_in_use(&mut self, unit: Unit, stream: u8) -> Unit {
        self.opened[unit.index()] = self.now;
        let info = &mut self.units[unit.index()];
        let written = self.written[unit.index()];
        assert_eq!((info.state, info.valid, written), (State::Free, 0, 0));
        info.state = State::Open;
        info.stream = stream;
        if self.reclaim.exist() {
            self.reclaim.join(unit, stream);
        }
        unit
    }

    fn seal(&mut self, unit: Unit) {
        let info = &mut self.units[unit.index()];
        assert!(matches!(info.state, State::Open | State::Pinned));
        if self.pins[unit.index()] > 0 {
            info.state = State::Pinned;
            return;
        }
        if self.reclaim.exist() {
            return self.seal_member(unit);
        }
        info.state = State::Sealed;
        let valid = info.valid;
        self.enter(unit, valid);
    }

    /// Enters a sealed unit with `valid` valid pages into the lists. It may stand for a reclaim
    /// unit.
    fn enter(&mut self, unit: Unit, valid: u32) {
        let info = &mut self.units[unit.index()];
        info.modified = self.now;
        self.sealed_at[unit.index()] = (self.now, self.seals);
        self.seals += 1;
        self.sealed.add(unit, info.stream, valid);
        self.track_change(unit);
    }

    /// Takes a sealed unit, or the reclaim unit that it stands for, out of the lists, because it is
    /// cleaned next.
    pub fn begin_cleaning(&mut self, unit: Unit) {
        let valid = self.reclaim_valid(unit);
        let info = &mut self.units[unit.index()];
        assert_eq!(info.state, State::Sealed, "only a sealed unit is cleaned");
        info.state = State::Victim;
        self.sealed.remove(unit, info.stream, valid);
        if self.reclaim.exist() {
            self.begin_cleaning_members(unit);
        }
        self.track_change(unit);
    }

    /// Takes a unit out of use, to be erased, whether or not it is fully programmed.
    pub fn retire(&mut self, unit: Unit) {
        let info = &mut self.units[unit.index()];
        if info.state == State::Open {
            info.state = State::Victim;
        } else {
            self.begin_cleaning(unit);
        }
    }

    /// Notes that a cleaned unit was erased, and is free.
    pub fn erased(&mut self, unit: Unit) {
        self.emptied(unit);
        self.count_erase(unit);
    }

    /// Notes that a cleaned unit is free. It will be erased when it is opened.
    pub fn emptied(&mut self, unit: Unit) {
        let info = &mut self.units[unit.index()];
        assert_eq!((info.state, info.valid), (State::Victim, 0), "{unit:?} is still valid");
        info.state = State::Free;
        self.written[unit.index()] = 0;
        self.free.add(unit, self.erases[unit.index()] + 1);
    }

    /// Counts the erase of a unit.
    pub fn count_erase(&mut self, unit: Unit) {
        self.erases[unit.index()] += 1;
        self.lifetime_erases[unit.index()] += 1;
    }

    /// Prefetches a unit that a victim policy is about to rate.
    #[inline(always)]
    pub(crate) fn prefetch_unit(&self, unit: Unit) {
        crate::prefetch::prefetch(&self.units, unit.index());
        crate::prefetch::prefetch(&self.sealed_at, unit.index());
    }
}
