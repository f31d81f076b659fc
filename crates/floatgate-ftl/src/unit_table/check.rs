//! Consistency check of the unit table.

use super::{Pool, State, UnitTable};
use crate::addr::Unit;

impl UnitTable {
    /// Recomputes everything from the page owners and compares.
    pub fn check(&self) {
        let mut sealed = 0;
        for (number, info) in self.units.iter().enumerate() {
            let unit = Unit(number as u32);
            let pages = self.capacity(unit);
            let owned =
                (0..pages).filter(|&p| self.owner(self.geometry.page(unit, p)).is_some()).count();
            assert_eq!(owned, info.valid as usize, "valid pages of {unit:?}");
            let written = self.written[number];
            assert!(info.valid <= written && written <= pages);
            assert!(info.state != State::Free || written == 0, "{unit:?} is free");
            sealed += u32::from(info.state == State::Sealed);
            let pinned = info.state == State::Pinned;
            assert!(!pinned || (written == pages && self.pins[number] > 0), "{unit:?}");
            assert!(info.state != State::Waiting || written == pages, "{unit:?} is full");
            assert!(self.pins[number] == 0 || matches!(info.state, State::Open | State::Pinned));
        }
        if self.reclaim.exist() {
            sealed = self.check_reclaim_units();
        }
        assert_eq!(self.sealed_units(Pool::All), sealed, "units in the order of sealing");
        self.sealed.check(|unit| (self.stream(unit), self.reclaim_valid(unit)));
    }
}
