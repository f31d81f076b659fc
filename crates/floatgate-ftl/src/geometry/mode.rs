//! How the cells of an erase unit are programmed: with all their bits, or in SLC mode with one bit.
//!
//! In SLC mode a row of cells holds one flash page on each plane. If a cell holds n bits, a unit in
//! SLC mode holds one n-th of its pages. These pages have the first numbers of the unit.

use alloc::vec::Vec;

use super::{Divisor, Geometry};
use crate::addr::{Ppn, Unit};

/// Programming mode of a unit's cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// The cells hold as many bits as they are made for.
    #[default]
    Native,
    /// Each cell holds one bit.
    Slc,
}

crate::state!(Mode = Native | Slc);

impl Geometry {
    /// Returns whether units can be in SLC mode: their cells hold several bits, and the pages of a
    /// program unit divide evenly among the levels.
    pub fn has_slc_mode(&self) -> bool {
        self.levels > 1 && self.program_unit.by.is_multiple_of(self.levels)
    }

    /// Returns the geometry of this drive with all units in `mode`.
    #[must_use]
    pub fn in_mode(&self, mode: Mode) -> Self {
        match mode {
            Mode::Native => *self,
            Mode::Slc => Self {
                program_unit: Divisor::new(self.program_unit.by / self.levels),
                flash_pages: self.flash_pages / self.levels,
                levels: 1,
                capacity: self.pages_per_unit.by / self.levels,
                parity: self
                    .parity
                    .map(|parity| parity.of_program_units(self.program_unit.by / self.levels)),
                ..*self
            },
        }
    }
}

/// Geometry of each unit, by the unit's mode.
#[derive(Clone, Debug)]
pub struct Modes {
    native: Geometry,
    slc: Geometry,
    /// By unit: whether it is in SLC mode. Empty until the first unit is set to SLC mode.
    is_slc: Vec<bool>,
}

crate::state!(Modes { is_slc } fixed { native, slc });

impl Modes {
    /// Starts with all units in native mode.
    pub fn new(geometry: Geometry) -> Self {
        Self { native: geometry, slc: geometry.in_mode(Mode::Slc), is_slc: Vec::new() }
    }

    /// Sets the mode in which a unit is programmed from now on.
    pub fn set(&mut self, unit: Unit, mode: Mode) {
        if mode == Mode::Slc && self.is_slc.is_empty() {
            self.is_slc.resize(self.native.units() as usize, false);
        }
        if let Some(is_slc) = self.is_slc.get_mut(unit.index()) {
            *is_slc = mode == Mode::Slc;
        }
    }

    /// Returns the unit of a physical page.
    #[inline(always)]
    pub fn unit(&self, ppn: Ppn) -> Unit {
        self.native.unit(ppn)
    }

    /// Returns the number of pages in a flash page.
    pub fn pages_per_read(&self) -> u32 {
        self.native.pages_per_read()
    }

    /// Returns the number of pages from this page to the end of its row, and of a whole row. Rows
    /// are counted back from the end of the unit.
    pub fn left_in_row(&self, ppn: Ppn) -> (u32, u32) {
        let (unit, page) = self.native.place(ppn);
        let width = self.native.row_pages();
        let left = self.geometry_of(unit).unit_capacity() - page;
        ((left - 1) % width + 1, width)
    }

    /// Returns the mode of a unit.
    #[inline(always)]
    pub fn mode(&self, unit: Unit) -> Mode {
        match self.is_slc.get(unit.index()) {
            Some(true) => Mode::Slc,
            _ => Mode::Native,
        }
    }

    /// Returns the geometry in which a unit is programmed.
    #[inline(always)]
    pub fn geometry_of(&self, unit: Unit) -> &Geometry {
        match self.mode(unit) {
            Mode::Native => &self.native,
            Mode::Slc => &self.slc,
        }
    }
}
