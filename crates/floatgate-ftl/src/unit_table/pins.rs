//! Units that are not to be cleaned: those of a log, and those of the SLC cache, in a mode of their
//! own.

use super::{State, UnitTable};
use crate::addr::Unit;
use crate::geometry::Mode;

impl UnitTable {
    /// How a unit is programmed.
    pub fn mode(&self, unit: Unit) -> Mode {
        self.units[unit.index()].mode
    }

    /// A unit of which nothing is programmed will be in this mode.
    pub fn set_mode(&mut self, unit: Unit, mode: Mode) {
        assert_eq!(self.written[unit.index()], 0, "the mode of {unit:?}, which is programmed");
        self.units[unit.index()].mode = mode;
    }

    /// Pages of a log in a unit that are not remapped; 1 for a unit of the SLC cache.
    pub fn pins(&self, unit: Unit) -> u32 {
        self.pins[unit.index()]
    }

    /// A page of a log is in a unit, or about to be programmed there; or the unit is one of the SLC
    /// cache.
    pub fn pin(&mut self, unit: Unit) {
        self.pins[unit.index()] += 1;
    }

    /// A page of a log in a unit is remapped or given up; or the unit is to leave the SLC cache.
    pub fn unpin(&mut self, unit: Unit) {
        self.pins[unit.index()] -= 1;
        if self.pins[unit.index()] == 0 && self.units[unit.index()].state == State::Pinned {
            self.seal(unit);
        }
    }
}
