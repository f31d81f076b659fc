//! Where the next page of each stream goes: one open unit per stream.

use alloc::vec;
use alloc::vec::Vec;

use crate::addr::{Ppn, Unit};
use crate::geometry::Geometry;

/// The open units, by stream.
#[derive(Clone, Debug)]
pub(crate) struct Frontiers {
    /// Next page and end of the open unit; equal when there is none.
    open: Vec<(u32, u32)>,
}

impl Frontiers {
    pub(crate) fn new(streams: usize) -> Self {
        Self { open: vec![(0, 0); streams] }
    }

    /// The next page of `stream`, if its unit has one left.
    #[inline(always)]
    pub(crate) fn next(&mut self, stream: u8) -> Option<Ppn> {
        let (next, end) = &mut self.open[stream as usize];
        (*next < *end).then(|| {
            *next += 1;
            Ppn::new(*next - 1)
        })
    }

    /// Pages that are left in the unit of `stream`.
    pub(crate) fn room(&self, stream: u8) -> u32 {
        let (next, end) = self.open[stream as usize];
        end - next
    }

    /// Whether `stream` has a page left in its unit.
    pub(crate) fn has_room(&self, stream: u8) -> bool {
        self.room(stream) > 0
    }

    /// Gives `stream` a unit of which pages are programmed already.
    pub(crate) fn resume(&mut self, stream: u8, unit: Unit, programmed: u32, geometry: &Geometry) {
        self.set(stream, unit, geometry);
        self.open[stream as usize].0 += programmed;
    }

    /// Gives `stream` a new unit.
    pub(crate) fn set(&mut self, stream: u8, unit: Unit, geometry: &Geometry) {
        assert!(!self.has_room(stream), "the open unit still has room");
        let first = geometry.page(unit, 0).get();
        self.open[stream as usize] = (first, first + geometry.pages_per_unit());
    }
}
