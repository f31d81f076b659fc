//! The medium that counts, and does nothing else.

use core::convert::Infallible;

use super::{Cause, Chain, FlashCounts, Move, Nand, NoClock, Source};
use crate::addr::{Owner, Ppn, Tag, Unit};
use crate::counters::Counters;
use crate::geometry::Geometry;

/// Counts operations by cause.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    counts: FlashCounts,
    clock: NoClock,
    /// Pages in a program unit; 0 if every page is programmed by itself.
    program_unit: u32,
}

impl Counted {
    /// For a drive of this geometry. The default is one where every page is programmed by itself.
    pub fn new(geometry: &Geometry) -> Self {
        let is_page = !geometry.has_program_units();
        Self { program_unit: if is_page { 0 } else { geometry.program_unit() }, ..Self::default() }
    }

    /// A page was programmed: it may have been the last of its program unit.
    #[inline(always)]
    fn count_program_unit(&mut self, to: Ppn) {
        let unit = self.program_unit;
        self.counts.program_units += u64::from(unit > 0 && (to.get() + 1).is_multiple_of(unit));
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
        source: Source,
        cause: Cause,
        _: &mut Chain,
    ) -> Result<(), Infallible> {
        match source {
            Source::Cells => self.counts.senses += 1,
            Source::Register => {}
            Source::Memory => {
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
        self.count_program_unit(to);
        Ok(())
    }

    fn pad(&mut self, from: Ppn, pages: u32, _: &mut Chain) -> Result<(), Infallible> {
        self.counts.programs[Cause::Pad as usize] += u64::from(pages);
        self.count_program_unit(Ppn::new(from.get() + pages - 1));
        Ok(())
    }

    #[inline(always)]
    fn copy(&mut self, moves: &[Move], cause: Cause, _: &mut Chain) -> Result<(), Infallible> {
        let pages = moves.len() as u64;
        self.counts.reads[cause as usize] += pages;
        self.counts.programs[cause as usize] += pages;
        self.counts.senses += pages;
        if self.program_unit > 0 {
            for step in moves {
                self.counts.senses -= u64::from(step.beside);
                self.count_program_unit(step.to);
            }
        }
        Ok(())
    }

    fn erase(&mut self, _: Unit, cause: Cause, _: &mut Chain) -> Result<(), Infallible> {
        self.counts.erases[cause as usize] += 1;
        Ok(())
    }

    fn report(&self, counters: &mut Counters) {
        counters.flash = self.counts;
        if self.program_unit == 0 {
            counters.flash.program_units = self.counts.programs.iter().sum();
        }
    }

    fn reset_counters(&mut self) {
        self.counts = FlashCounts::default();
    }
}
