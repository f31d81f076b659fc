//! The medium that counts operations, and does nothing else.

use alloc::boxed::Box;
use core::convert::Infallible;

use super::{Cause, Chain, FlashCounts, Moves, Nand, NoClock, ReadSource};
use crate::addr::{Owner, Ppn, Tag, Unit};
use crate::counters::Counters;
use crate::geometry::{Geometry, Mode, Modes};
use crate::saved::{Carrier, State};

/// Counts operations by cause.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    counts: FlashCounts,
    clock: NoClock,
    /// Modes of the units; `None` if every page is programmed alone.
    modes: Option<Box<Modes>>,
}

impl Counted {
    /// Creates the medium of a drive of this geometry. On the default medium every page is
    /// programmed alone.
    pub fn new(geometry: &Geometry) -> Self {
        let modes = geometry.has_program_units().then(|| Box::new(Modes::new(*geometry)));
        Self { modes, ..Self::default() }
    }

    /// Counts the program unit, and its stripe's parity, if the page `last` completes them.
    #[inline(always)]
    fn count_program_unit(&mut self, last: Ppn, pages: u32) {
        let Self { counts, modes: Some(modes), .. } = self else { return };
        let unit = modes.unit(last);
        let in_mode = modes.geometry_of(unit);
        let is_slc = modes.mode(unit) == Mode::Slc;
        if is_slc {
            counts.slc_programs += u64::from(pages);
        }
        if in_mode.left_in_program_unit(last) > 1 {
            return;
        }
        counts.program_units += 1;
        counts.slc_program_units += u64::from(is_slc);
        if in_mode.stripe_of(last).is_some_and(|(_, left)| left == 1) {
            self.count_parity(last);
        }
    }

    /// Counts the parity of a page's stripe.
    fn count_parity(&mut self, last: Ppn) {
        let Self { counts, modes: Some(modes), .. } = self else { return };
        let unit = modes.unit(last);
        let parity = u64::from(modes.geometry_of(unit).program_unit());
        counts.program_units += 1;
        counts.programs[Cause::Parity as usize] += parity;
        if modes.mode(unit) == Mode::Slc {
            counts.slc_program_units += 1;
            counts.slc_programs += parity;
        }
    }
}

impl State for Counted {
    fn carry(&mut self, by: &mut Carrier<'_>) {
        let Self { modes, counts: _, clock: _ } = self;
        modes.iter_mut().for_each(|modes| modes.carry(by));
    }
}

impl Nand for Counted {
    type Error = Infallible;
    type Clock = NoClock;

    #[inline(always)]
    fn clock(&self) -> &NoClock {
        &self.clock
    }

    #[inline(always)]
    fn clock_mut(&mut self) -> &mut NoClock {
        &mut self.clock
    }

    #[inline(always)]
    fn read(
        &mut self,
        _: Ppn,
        _: Owner,
        source: ReadSource,
        cause: Cause,
        _: &mut Chain,
    ) -> Result<(), Infallible> {
        match source {
            ReadSource::Cells => self.counts.senses += 1,
            ReadSource::Register => {}
            ReadSource::Memory => {
                self.counts.memory_reads[cause as usize] += 1;
                return Ok(());
            }
        }
        self.counts.reads[cause as usize] += 1;
        Ok(())
    }

    #[inline(always)]
    fn program(&mut self, to: Ppn, _: Tag, cause: Cause, _: &mut Chain) -> Result<(), Infallible> {
        self.counts.programs[cause as usize] += 1;
        self.count_program_unit(to, 1);
        Ok(())
    }

    fn pad(&mut self, from: Ppn, pages: u32, _: &mut Chain) -> Result<(), Infallible> {
        self.counts.programs[Cause::Pad as usize] += u64::from(pages);
        self.count_program_unit(Ppn::new(from.get() + pages - 1), pages);
        Ok(())
    }

    #[inline(always)]
    fn copy(&mut self, moves: impl Moves, cause: Cause, _: &mut Chain) -> Result<(), Infallible> {
        let pages = moves.len() as u64;
        self.counts.reads[cause as usize] += pages;
        self.counts.programs[cause as usize] += pages;
        self.counts.senses += pages;
        if self.modes.is_some() {
            for step in moves {
                self.counts.senses -= u64::from(step.joins_read);
                self.count_program_unit(step.to, 1);
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn takes_rows(&self) -> bool {
        self.modes.is_none()
    }

    fn state(&mut self) -> Option<&mut dyn State> {
        Some(self)
    }

    fn set_mode(&mut self, unit: Unit, mode: Mode) {
        if let Some(modes) = &mut self.modes {
            modes.set(unit, mode);
        }
    }

    fn close_stripe(&mut self, last: Ppn) {
        let stripe = |modes: &Modes| modes.geometry_of(modes.unit(last)).stripe_of(last);
        if self.modes.as_deref().and_then(stripe).is_some_and(|(_, left)| left > 1) {
            self.count_parity(last);
        }
    }

    fn erase(&mut self, _: Unit, cause: Cause, _: &mut Chain) -> Result<(), Infallible> {
        self.counts.erases[cause as usize] += 1;
        Ok(())
    }

    fn report(&self, counters: &mut Counters) {
        counters.flash = self.counts;
        if self.modes.is_none() {
            counters.flash.program_units = self.counts.programs.iter().sum();
        }
    }

    /// Drops completions that were never reported.
    fn reset_counters(&mut self) {
        self.counts = FlashCounts::default();
        self.clock = NoClock::default();
    }
}
