//! The free units, in the order in which they will be opened.

use alloc::collections::BTreeSet;

use super::FreeOrder;
use crate::addr::Unit;

/// Units that are erased and not open.
#[derive(Clone, Debug)]
pub(super) struct Free {
    /// By wear (0 for [`FreeOrder::First`]), and order of becoming free.
    units: BTreeSet<(u32, u64, u32)>,
    order: FreeOrder,
    freed: u64,
}

crate::state!(Free { units, freed } fixed { order });

impl Free {
    pub(super) fn new(order: FreeOrder) -> Self {
        Self { units: BTreeSet::new(), order, freed: 0 }
    }

    pub(super) fn len(&self) -> u32 {
        self.units.len() as u32
    }

    /// Adds a unit that has been erased `erases` times.
    pub(super) fn add(&mut self, unit: Unit, erases: u32) {
        let wear = match self.order {
            FreeOrder::First => 0,
            FreeOrder::LeastWorn => erases,
        };
        self.units.insert((wear, self.freed, unit.0));
        self.freed += 1;
    }

    /// Takes the unit to open next.
    pub(super) fn take(&mut self) -> Option<Unit> {
        self.units.pop_first().map(|(_, _, unit)| Unit(unit))
    }

    /// Takes the unit with the most erases; of equals, the last in order.
    pub(super) fn take_most_worn(&mut self, erases: impl Fn(Unit) -> u32) -> Option<Unit> {
        let &entry = self.units.iter().max_by_key(|&&(_, _, unit)| erases(Unit(unit)))?;
        self.units.remove(&entry);
        Some(Unit(entry.2))
    }

    /// Starts to count wear anew. The order stays as it is.
    pub(super) fn reset_counters(&mut self) {
        for (_, _, unit) in core::mem::take(&mut self.units) {
            self.add(Unit(unit), 0);
        }
    }

    pub(super) fn clear(&mut self) {
        self.units.clear();
    }
}
