//! Units that must not be cleaned: units with log pages, and units of the SLC cache, which have a
//! mode of their own.

use super::{State, UnitTable};
use crate::addr::Unit;
use crate::geometry::Mode;

impl UnitTable {
    /// Returns the programming mode of a unit.
    pub fn mode(&self, unit: Unit) -> Mode {
        self.units[unit.index()].mode
    }

    /// Sets the mode of a unit without programmed pages.
    pub fn set_mode(&mut self, unit: Unit, mode: Mode) {
        assert_eq!(self.written[unit.index()], 0, "the mode of {unit:?}, which is programmed");
        self.units[unit.index()].mode = mode;
    }

    /// Returns the number of log pages of a unit that are not remapped; 1 for a unit of the SLC
    /// cache.
    pub fn pins(&self, unit: Unit) -> u32 {
        self.pins[unit.index()]
    }

    /// Pins a unit once more: a log page is in the unit, or about to be programmed there, or the
    /// unit joins the SLC cache.
    pub fn pin(&mut self, unit: Unit) {
        self.pins[unit.index()] += 1;
    }

    /// Unpins a unit once: one of its log pages was remapped or invalidated, or the unit leaves the
    /// SLC cache. Seals a full unit with its last pin.
    pub fn unpin(&mut self, unit: Unit) {
        self.pins[unit.index()] -= 1;
        if self.pins[unit.index()] == 0 && self.units[unit.index()].state == State::Pinned {
            self.seal(unit);
        }
    }
}
