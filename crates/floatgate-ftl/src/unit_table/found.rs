//! State of the units after a loss of power.

use alloc::vec::Vec;

use super::{State, UnitTable};
use crate::addr::{Owner, OwnerSlot, Ppn, Unit};
use crate::geometry::Mode;

/// A unit that is in use after a loss of power.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InUse {
    /// The unit.
    pub unit: Unit,
    /// Stream of the unit.
    pub stream: u8,
    /// Programming mode of the unit's cells.
    pub mode: Mode,
    /// Pages that are programmed, or skipped for good.
    pub written: u32,
}

impl UnitTable {
    /// Enters the state after a loss of power into the table of an erased drive: the units in use,
    /// in the order in which they were sealed, the valid pages, and the erases of each unit.
    pub fn restore(
        &mut self,
        units: &[InUse],
        valid: impl Iterator<Item = (Ppn, Owner)>,
        erases: &[u32],
    ) {
        self.free.clear();
        self.lifetime_erases.copy_from_slice(erases);
        for &InUse { unit, stream, mode, written } in units {
            self.put_in_use(unit, stream);
            self.set_mode(unit, mode);
            self.written[unit.index()] = written;
        }
        for (ppn, owner) in valid {
            self.owners[ppn.index()] = OwnerSlot::from_owner(owner);
            self.valid.add(ppn);
            self.units[self.geometry.unit(ppn).index()].valid += 1;
        }
        for &InUse { unit, written, .. } in units {
            if written == self.capacity(unit) {
                self.seal(unit);
            }
        }
        let free = |unit: &Unit| self.units[unit.index()].state == State::Free;
        let free: Vec<Unit> = (0..self.geometry.units()).map(Unit).filter(free).collect();
        free.into_iter().for_each(|unit| self.free.add(unit, 0));
    }
}
