//! The medium that counts, and does nothing else.

use core::convert::Infallible;

use super::{Cause, Chain, FlashCounts, Move, Nand, NoClock};
use crate::addr::{Owner, Ppn, Tag, Unit};
use crate::counters::Counters;

/// Counts operations by cause.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    counts: FlashCounts,
    clock: NoClock,
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
    fn read(&mut self, _: Ppn, _: Owner, cause: Cause, _: &mut Chain) -> Result<(), Infallible> {
        self.counts.reads[cause as usize] += 1;
        Ok(())
    }

    #[inline(always)]
    fn program(&mut self, _: Ppn, _: Tag, cause: Cause, _: &mut Chain) -> Result<(), Infallible> {
        self.counts.programs[cause as usize] += 1;
        Ok(())
    }

    #[inline(always)]
    fn copy(&mut self, moves: &[Move], cause: Cause, _: &mut Chain) -> Result<(), Infallible> {
        self.counts.reads[cause as usize] += moves.len() as u64;
        self.counts.programs[cause as usize] += moves.len() as u64;
        Ok(())
    }

    fn erase(&mut self, _: Unit, cause: Cause, _: &mut Chain) -> Result<(), Infallible> {
        self.counts.erases[cause as usize] += 1;
        Ok(())
    }

    fn report(&self, counters: &mut Counters) {
        counters.flash = self.counts;
    }

    fn reset_counters(&mut self) {
        *self = Self::default();
    }
}
