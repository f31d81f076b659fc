//! How the cells of an erase unit are programmed: with all their bits, or in SLC mode with one.
//!
//! In SLC mode a row of cells holds one flash page on each plane, so a unit holds as many pages
//! less as a cell holds bits less; the pages that there are have the first numbers of the unit.

use alloc::vec::Vec;

use super::{Divisor, Geometry};
use crate::addr::{Ppn, Unit};

/// How the cells of a unit are programmed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// With as many bits as they are made for.
    #[default]
    Native,
    /// With one bit each.
    Slc,
}

crate::state!(Mode = Native | Slc);

impl Geometry {
    /// Whether units can be in SLC mode: their cells hold several bits, and the pages of a row
    /// divide into as many parts.
    pub fn has_slc_mode(&self) -> bool {
        self.levels > 1 && self.program_unit.by.is_multiple_of(self.levels)
    }

    /// The same drive, as its units are in this mode.
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

/// The geometry of each unit, by the mode that it is in.
#[derive(Clone, Debug)]
pub struct Modes {
    native: Geometry,
    slc: Geometry,
    /// Whether a unit is in SLC mode; empty as long as none has been.
    is_slc: Vec<bool>,
}

crate::state!(Modes { is_slc } fixed { native, slc });

impl Modes {
    /// All units are in their native mode.
    pub fn new(geometry: Geometry) -> Self {
        Self { native: geometry, slc: geometry.in_mode(Mode::Slc), is_slc: Vec::new() }
    }

    /// A unit is programmed in this mode from now on.
    pub fn set(&mut self, unit: Unit, mode: Mode) {
        if mode == Mode::Slc && self.is_slc.is_empty() {
            self.is_slc.resize(self.native.units() as usize, false);
        }
        if let Some(is_slc) = self.is_slc.get_mut(unit.index()) {
            *is_slc = mode == Mode::Slc;
        }
    }

    /// The unit of a physical page.
    #[inline(always)]
    pub fn unit(&self, ppn: Ppn) -> Unit {
        self.native.unit(ppn)
    }

    /// The mode of a unit.
    #[inline(always)]
    pub fn mode(&self, unit: Unit) -> Mode {
        match self.is_slc.get(unit.index()) {
            Some(true) => Mode::Slc,
            _ => Mode::Native,
        }
    }

    /// The geometry in which a unit is programmed.
    #[inline(always)]
    pub fn of(&self, unit: Unit) -> &Geometry {
        match self.mode(unit) {
            Mode::Native => &self.native,
            Mode::Slc => &self.slc,
        }
    }
}
