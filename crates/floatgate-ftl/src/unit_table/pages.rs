//! Whom the pages of units belong to.

use super::{State, UnitTable};
use crate::addr::{Owner, OwnerSlot, Ppn, Unit};

impl UnitTable {
    /// Whom a physical page's content belongs to, if it is still valid.
    #[inline(always)]
    pub fn owner(&self, ppn: Ppn) -> Option<Owner> {
        self.owners[ppn.index()].get()
    }

    /// Whom the pages of a unit belong to, in their order.
    #[inline(always)]
    pub fn owners(&self, unit: Unit) -> &[OwnerSlot] {
        let first = self.geometry.page(unit, 0).index();
        &self.owners[first..first + self.capacity(unit) as usize]
    }

    /// Notes that the next page of an open unit was programmed for `owner`.
    #[inline(always)]
    pub fn validate(&mut self, ppn: Ppn, owner: Owner) {
        self.owners[ppn.index()] = OwnerSlot::of(owner);
        self.programmed(ppn, 1);
    }

    /// Pages from the next one of an open unit on were programmed with what is valid.
    #[inline(always)]
    fn programmed(&mut self, first: Ppn, pages: u32) {
        let (unit, page) = self.geometry.place(first);
        assert_eq!(page, self.written[unit.index()], "programmed out of order");
        self.units[unit.index()].valid += pages;
        self.fill(unit, pages);
    }

    /// The next pages of an open unit were programmed, be it with nothing.
    #[inline(always)]
    pub fn fill(&mut self, unit: Unit, pages: u32) {
        let written = &mut self.written[unit.index()];
        *written += pages;
        if *written == self.capacity(unit) {
            self.seal(unit);
        }
    }

    /// As [`UnitTable::validate`], where pages may be left out: nothing will be programmed there.
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
        let slot = &mut self.owners[ppn.index()];
        assert_eq!(*slot, OwnerSlot::of(owner), "{ppn:?} is not {owner:?}'s to give up");
        *slot = OwnerSlot::NONE;
        let unit = self.geometry.unit(ppn);
        let info = &mut self.units[unit.index()];
        info.valid -= 1;
        if info.state == State::Sealed {
            info.modified = self.now;
            self.sealed.lose(unit, info.stream, info.valid);
            self.track_change(unit);
        }
    }

    /// Valid pages of a unit that is cleaned were copied, to the next pages of an open unit.
    pub fn relocate(&mut self, pages: &[(Ppn, Owner)], to: Ppn) {
        let Some(&(first, _)) = pages.first() else { return };
        for (&(from, owner), to) in pages.iter().zip(to.index()..) {
            let slot = core::mem::replace(&mut self.owners[from.index()], OwnerSlot::NONE);
            assert_eq!(slot, OwnerSlot::of(owner), "{from:?} is not {owner:?}'s to be moved");
            self.owners[to] = slot;
        }
        let count = pages.len() as u32;
        let victim = &mut self.units[self.geometry.unit(first).index()];
        assert_eq!(victim.state, State::Victim, "only a unit that is cleaned is emptied");
        victim.valid -= count;
        self.programmed(to, count);
    }

    /// A page belongs to another from now on. Nothing is programmed.
    pub fn rename(&mut self, ppn: Ppn, from: Owner, to: Owner) {
        let slot = &mut self.owners[ppn.index()];
        assert_eq!(*slot, OwnerSlot::of(from), "{ppn:?} is not {from:?}'s to hand over");
        *slot = OwnerSlot::of(to);
    }

    /// Asks the processor for what [`UnitTable::invalidate`] will touch.
    #[inline(always)]
    pub(crate) fn prefetch(&self, ppn: Ppn) {
        crate::prefetch::prefetch(&self.owners, ppn.index());
        crate::prefetch::prefetch(&self.units, self.geometry.unit(ppn).index());
    }
}
