//! The state of every erase unit: the sole owner of validity, page owners, wear and age.
//!
//! Sealed units (all pages programmed) stand in lists by their number of valid pages. A unit moves
//! to the tail of the next lower list whenever it loses a page, so each list is in order of the
//! time of the last loss: the fewest-valid unit, oldest first among equals, is the head of the
//! lowest list that is not empty. A second list holds the same units in the order of sealing.
//!
//! ```text
//!   valid = 0   1   2   ...  b
//!           |   |   |        |
//!          u7  u3  --       u1 <- sealed last        order of sealing: u3, u7, u9, u1
//!               |
//!              u9
//! ```

use alloc::collections::BinaryHeap;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::addr::{Owner, OwnerSlot, Ppn, Unit};
use crate::geometry::Geometry;
use crate::lru::{Links, List};

/// Which free unit is opened next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FreeOrder {
    /// The one that has been free for longest: no wear levelling.
    First,
    /// The least worn: dynamic wear levelling, as the C FlashSim does.
    LeastWorn,
}

/// Where a unit is in its life.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Erased.
    Free,
    /// Being programmed.
    Open,
    /// Fully programmed.
    Sealed,
    /// Being cleaned.
    Victim,
}

#[derive(Clone, Copy, Debug)]
struct Info {
    valid: u32,
    written: u32,
    erases: u32,
    state: State,
    stream: u8,
}

/// All units of a drive.
#[derive(Clone, Debug)]
pub struct Blocks {
    geometry: Geometry,
    owners: Vec<OwnerSlot>,
    units: Vec<Info>,
    /// Links and lists by valid count.
    by_valid: Links,
    bins: Vec<List>,
    /// No sealed unit has fewer valid pages.
    lowest: usize,
    /// Links and list in order of sealing.
    by_age: Links,
    sealed: List,
    /// Free units by (wear or 0, order of becoming free).
    free: BinaryHeap<Reverse<(u32, u64, u32)>>,
    freed: u64,
    free_order: FreeOrder,
}

impl Blocks {
    /// An erased drive.
    pub fn new(geometry: Geometry, free_order: FreeOrder) -> Self {
        let units = geometry.units() as usize;
        let fresh = Info { valid: 0, written: 0, erases: 0, state: State::Free, stream: 0 };
        let mut blocks = Self {
            geometry,
            owners: vec![OwnerSlot::NONE; geometry.physical_pages() as usize],
            units: vec![fresh; units],
            by_valid: Links::new(units),
            bins: vec![List::EMPTY; geometry.pages_per_unit() as usize + 1],
            lowest: geometry.pages_per_unit() as usize,
            by_age: Links::new(units),
            sealed: List::EMPTY,
            free: BinaryHeap::with_capacity(units),
            freed: 0,
            free_order,
        };
        (0..geometry.units()).for_each(|unit| blocks.add_free(Unit(unit)));
        blocks
    }

    fn add_free(&mut self, unit: Unit) {
        let wear = match self.free_order {
            FreeOrder::First => 0,
            FreeOrder::LeastWorn => self.units[unit.index()].erases,
        };
        self.free.push(Reverse((wear, self.freed, unit.0)));
        self.freed += 1;
    }

    /// Units that are erased and not open.
    #[inline(always)]
    pub fn free_units(&self) -> u32 {
        self.free.len() as u32
    }

    /// Whom a physical page's content belongs to, if it is still wanted.
    #[inline(always)]
    pub fn owner(&self, ppn: Ppn) -> Option<Owner> {
        self.owners[ppn.index()].get()
    }

    /// Wanted pages of a unit.
    pub fn valid(&self, unit: Unit) -> u32 {
        self.units[unit.index()].valid
    }

    /// The stream that a unit was opened for.
    pub fn stream(&self, unit: Unit) -> u8 {
        self.units[unit.index()].stream
    }

    /// Erases of every unit, since [`Blocks::restart_wear`].
    pub fn wear(&self) -> impl Iterator<Item = u32> {
        self.units.iter().map(|unit| unit.erases)
    }

    /// Counts wear from here on. The order in which free units are opened stays as it is.
    pub fn restart_wear(&mut self) {
        self.units.iter_mut().for_each(|unit| unit.erases = 0);
        let waiting = core::mem::take(&mut self.free).into_sorted_vec();
        for Reverse((_, _, unit)) in waiting.into_iter().rev() {
            self.add_free(Unit(unit));
        }
    }

    /// The sealed unit with the fewest valid pages, the one longest without a loss among equals.
    pub fn fewest_valid(&self) -> Option<Unit> {
        self.bins[self.lowest].front().map(Unit)
    }

    /// The sealed unit that was sealed first.
    pub fn oldest(&self) -> Option<Unit> {
        self.sealed.front().map(Unit)
    }

    /// All sealed units, those with the fewest valid pages first.
    pub fn sealed(&self) -> impl Iterator<Item = Unit> {
        self.bins.iter().flat_map(|bin| self.by_valid.iter(bin)).map(Unit)
    }

    /// Takes a free unit into use for `stream`.
    pub fn open(&mut self, stream: u8) -> Option<Unit> {
        let Reverse((_, _, unit)) = self.free.pop()?;
        let info = &mut self.units[unit as usize];
        assert_eq!((info.state, info.valid, info.written), (State::Free, 0, 0));
        info.state = State::Open;
        info.stream = stream;
        Some(Unit(unit))
    }

    /// Notes that the next page of an open unit was programmed for `owner`.
    #[inline(always)]
    pub fn validate(&mut self, ppn: Ppn, owner: Owner) {
        let (unit, page) = self.geometry.place(ppn);
        let info = &mut self.units[unit.index()];
        assert_eq!(page, info.written, "programmed out of order");
        info.written += 1;
        info.valid += 1;
        self.owners[ppn.index()] = OwnerSlot::of(owner);
        if info.written == self.geometry.pages_per_unit() {
            self.seal(unit);
        }
    }

    fn seal(&mut self, unit: Unit) {
        let info = &mut self.units[unit.index()];
        assert_eq!(info.state, State::Open);
        info.state = State::Sealed;
        let valid = info.valid as usize;
        self.by_valid.push_back(&mut self.bins[valid], unit.0);
        self.by_age.push_back(&mut self.sealed, unit.0);
        self.lowest = self.lowest.min(valid);
    }

    /// Notes that `owner` has no more use for a page.
    #[inline(always)]
    pub fn invalidate(&mut self, ppn: Ppn, owner: Owner) {
        let slot = &mut self.owners[ppn.index()];
        assert_eq!(*slot, OwnerSlot::of(owner), "{ppn:?} is not {owner:?}'s to give up");
        *slot = OwnerSlot::NONE;
        let unit = self.geometry.unit(ppn);
        let info = &mut self.units[unit.index()];
        info.valid -= 1;
        if info.state == State::Sealed {
            let valid = info.valid as usize;
            self.by_valid.remove(&mut self.bins[valid + 1], unit.0);
            self.by_valid.push_back(&mut self.bins[valid], unit.0);
            self.lowest = self.lowest.min(valid);
        }
    }

    /// Takes a sealed unit out of the lists, to be cleaned.
    pub fn begin_cleaning(&mut self, unit: Unit) {
        let info = &mut self.units[unit.index()];
        assert_eq!(info.state, State::Sealed, "only a sealed unit is cleaned");
        info.state = State::Victim;
        self.by_valid.remove(&mut self.bins[info.valid as usize], unit.0);
        self.by_age.remove(&mut self.sealed, unit.0);
        while self.lowest + 1 < self.bins.len() && self.bins[self.lowest].is_empty() {
            self.lowest += 1;
        }
    }

    /// Notes that a cleaned unit was erased.
    pub fn erased(&mut self, unit: Unit) {
        let info = &mut self.units[unit.index()];
        assert_eq!((info.state, info.valid), (State::Victim, 0), "{unit:?} is still wanted");
        info.state = State::Free;
        info.written = 0;
        info.erases += 1;
        self.add_free(unit);
    }

    /// Asks the processor for what [`Blocks::invalidate`] will touch.
    #[inline(always)]
    pub(crate) fn prefetch(&self, ppn: Ppn) {
        crate::prefetch::prefetch(&self.owners, ppn.index());
        crate::prefetch::prefetch(&self.units, self.geometry.unit(ppn).index());
    }

    /// Recomputes everything from the page owners and compares.
    pub fn check(&self) {
        let pages = self.geometry.pages_per_unit();
        let mut sealed = 0;
        for (number, info) in self.units.iter().enumerate() {
            let unit = Unit(number as u32);
            let owned =
                (0..pages).filter(|&p| self.owner(self.geometry.page(unit, p)).is_some()).count();
            assert_eq!(owned, info.valid as usize, "valid pages of {unit:?}");
            assert!(info.valid <= info.written && info.written <= pages);
            assert_eq!(info.written == 0, info.state == State::Free || info.written == 0);
            sealed += u32::from(info.state == State::Sealed);
        }
        assert_eq!(self.sealed.len(), sealed, "units in the order of sealing");
        assert_eq!(self.bins.iter().map(List::len).sum::<u32>(), sealed, "units by valid count");
        for (valid, bin) in self.bins.iter().enumerate() {
            assert!(bin.is_empty() || valid >= self.lowest);
            for unit in self.by_valid.iter(bin) {
                assert_eq!(self.units[unit as usize].valid as usize, valid);
            }
        }
    }
}
