//! Owners of the pages of units.

use super::{State, UnitTable};
use crate::addr::{Owner, OwnerSlot, Ppn, Unit};

impl UnitTable {
    /// Returns the owner of a physical page, if the page is valid.
    #[inline(always)]
    pub fn owner(&self, ppn: Ppn) -> Option<Owner> {
        if self.valid.holds(ppn) { self.owners[ppn.index()].get() } else { None }
    }

    /// Visits the valid pages of a unit and their owners, in ascending order.
    #[inline(always)]
    pub fn for_each_valid(&self, unit: Unit, mut tell: impl FnMut(Ppn, Owner)) {
        let first = self.geometry.page(unit, 0).get();
        self.valid.for_each(first..first + self.geometry.pages_per_unit(), |ppn| {
            tell(ppn, self.owners[ppn.index()].get().expect("what is valid has an owner"));
        });
    }

    /// Notes that the next page of an open unit was programmed for `owner`.
    #[inline(always)]
    pub fn validate(&mut self, ppn: Ppn, owner: Owner) {
        self.owners[ppn.index()] = OwnerSlot::from_owner(owner);
        self.valid.add(ppn);
        self.programmed(ppn, 1);
    }

    /// Notes that the next pages of an open unit, from `first` on, were programmed with valid data.
    #[inline(always)]
    fn programmed(&mut self, first: Ppn, pages: u32) {
        let (unit, page) = self.geometry.place(first);
        assert_eq!(page, self.written[unit.index()], "programmed out of order");
        self.units[unit.index()].valid += pages;
        self.fill(unit, pages);
    }

    /// Notes that the next pages of an open unit were programmed, with data or with padding.
    #[inline(always)]
    pub fn fill(&mut self, unit: Unit, pages: u32) {
        let written = &mut self.written[unit.index()];
        *written += pages;
        if *written == self.capacity(unit) {
            self.seal(unit);
        }
    }

    /// As [`UnitTable::validate`], but the layer may skip pages, which are then never programmed.
    pub fn validate_after_gap(&mut self, ppn: Ppn, owner: Owner) {
        let (unit, page) = self.geometry.place(ppn);
        let written = &mut self.written[unit.index()];
        assert!(page >= *written, "programmed out of order");
        *written = page;
        self.validate(ppn, owner);
    }

    /// Notes that `owner` has no more use for a page.
    #[inline(always)]
    pub fn invalidate(&mut self, ppn: Ppn, owner: Owner) {
        // The owner is not in the processor's cache, so release builds do not check it: it was
        // checked when the page was written.
        debug_assert_eq!(self.owner(ppn), Some(owner), "{ppn:?} is not {owner:?}'s to give up");
        self.valid.remove(ppn);
        let unit = self.geometry.unit(ppn);
        let info = &mut self.units[unit.index()];
        info.valid -= 1;
        if info.state == State::Sealed {
            if self.reclaim.exist() {
                return self.lose_of_reclaim_unit(unit);
            }
            info.modified = self.now;
            self.sealed.lose(unit, info.stream, info.valid);
            self.track_change(unit);
        }
    }

    /// Notes that valid pages of a victim were copied to the next pages of an open unit, from `to`
    /// on.
    pub fn relocate(&mut self, pages: &[(Ppn, Owner)], to: Ppn) {
        let Some(&(first, _)) = pages.first() else { return };
        self.valid.remove_all(pages.iter().map(|&(from, _)| from));
        for (&(_, owner), slot) in pages.iter().zip(&mut self.owners[to.index()..]) {
            *slot = OwnerSlot::from_owner(owner);
        }
        let count = pages.len() as u32;
        self.valid.add_all(to.get()..to.get() + count);
        let victim = &mut self.units[self.geometry.unit(first).index()];
        assert_eq!(victim.state, State::Victim, "only a unit that is cleaned is emptied");
        victim.valid -= count;
        self.programmed(to, count);
    }

    /// Gives a page to another owner. Nothing is programmed.
    pub fn rename(&mut self, ppn: Ppn, from: Owner, to: Owner) {
        assert_eq!(self.owner(ppn), Some(from), "{ppn:?} is not {from:?}'s to hand over");
        self.owners[ppn.index()] = OwnerSlot::from_owner(to);
    }

    /// Prefetches the memory that [`UnitTable::invalidate`] will touch.
    #[inline(always)]
    pub(crate) fn prefetch(&self, ppn: Ppn) {
        let unit = self.geometry.unit(ppn);
        crate::prefetch::prefetch(&self.units, unit.index());
        self.valid.prefetch(ppn);
        self.sealed.prefetch(unit);
    }
}
