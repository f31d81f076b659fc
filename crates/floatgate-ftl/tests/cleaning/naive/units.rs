//! Units of the naive drive: their content and the order of free units.

use floatgate_ftl::addr::{Owner, Ppn, Unit};
use floatgate_ftl::mapping::Mapping;
use floatgate_ftl::unit_table::FreeOrder;

use super::{Block, Naive, Page, State};

impl Naive {
    pub(super) fn open_unit(&self, stream: u8) -> Option<Unit> {
        let full = self.geometry.pages_per_unit() as usize;
        let open = |b: &Block| b.state == State::Open && b.stream == stream && b.pages.len() < full;
        self.units.iter().position(open).map(|unit| Unit(unit as u32))
    }

    pub(super) fn room(&self, stream: u8) -> u32 {
        let written = |unit: Unit| self.units[unit.index()].pages.len() as u32;
        self.open_unit(stream).map_or(0, |unit| self.geometry.pages_per_unit() - written(unit))
    }

    pub(super) fn is_free(&self, unit: &Unit) -> bool {
        self.units[unit.index()].state == State::Free
    }

    pub(super) fn all(&self) -> impl Iterator<Item = Unit> + use<> {
        (0..self.geometry.units()).map(Unit)
    }

    pub(super) fn free_units(&self) -> u32 {
        self.all().filter(|unit| self.is_free(unit)).count() as u32
    }

    /// Returns the order in which free units are opened.
    pub(super) fn turn(&self, unit: Unit) -> (u32, u64, u32) {
        let block = &self.units[unit.index()];
        match self.free_order {
            FreeOrder::LeastWorn => (block.erases, block.freed, unit.0),
            FreeOrder::First => (0, block.freed, unit.0),
        }
    }

    /// Opens a free unit. Wear levelling takes the most worn free unit, the last one of equals.
    pub(super) fn open(&mut self, stream: u8) {
        let free = self.all().filter(|unit| self.is_free(unit));
        let levels = self.cleaning.wear_gap.is_some() && stream == self.wear_stream();
        let next = match levels {
            true => free.max_by_key(|&unit| (self.units[unit.index()].erases, self.turn(unit))),
            false => free.min_by_key(|&unit| self.turn(unit)),
        };
        let next = next.unwrap();
        let opened = &mut self.units[next.index()];
        (opened.state, opened.stream, opened.opened) = (State::Open, stream, self.clock);
        self.join(next, stream);
    }

    /// Marks an allocated page as programmed and valid. The last page seals its unit.
    pub(super) fn set(&mut self, ppn: Ppn, owner: Owner) {
        let (unit, page) = self.geometry.place(ppn);
        self.events += 1;
        let block = &mut self.units[unit.index()];
        block.pages[page as usize] = Some(owner);
        if page + 1 == self.geometry.pages_per_unit() {
            block.state = State::Sealed;
            (block.sealed, block.changed) = (self.events, self.events);
        }
    }

    pub(super) fn lose(&mut self, ppn: Ppn) {
        let (unit, page) = self.geometry.place(ppn);
        self.events += 1;
        let block = &mut self.units[unit.index()];
        block.pages[page as usize] = None;
        if block.state == State::Sealed {
            block.changed = self.events;
        }
    }

    pub(super) fn valid(&self, unit: Unit) -> u32 {
        self.units[unit.index()].pages.iter().flatten().count() as u32
    }

    pub(super) fn map_stream(&self) -> Option<u8> {
        self.mapping.is_on_flash().then_some(self.placement.streams())
    }

    pub(super) fn wear_stream(&self) -> u8 {
        self.placement.streams() + u8::from(self.mapping.is_on_flash())
    }

    pub(super) fn is_map(&self, unit: Unit) -> bool {
        Some(self.units[unit.index()].stream) == self.map_stream()
    }

    /// Returns the stream of a unit. Units filled by wear levelling count as cold.
    pub(super) fn home(&self, unit: Unit) -> u8 {
        let stream = self.units[unit.index()].stream;
        if stream < self.placement.streams() || self.is_map(unit) { stream } else { 0 }
    }

    pub(super) fn pages(&self, unit: Unit) -> Vec<Page> {
        let pages = self.units[unit.index()].pages.iter().zip(0..);
        let owned = |(owner, page): (&Option<Owner>, u32)| {
            owner.map(|owner| (self.geometry.page(unit, page), owner))
        };
        pages.filter_map(owned).collect()
    }
}
