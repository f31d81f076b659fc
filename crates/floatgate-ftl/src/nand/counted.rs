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

    /// Counts the program units, and the parity of the stripes, that consecutive pages of a unit
    /// complete.
    #[inline(always)]
    fn count_program_units(&mut self, first: Ppn, pages: u32) {
        let Self { counts, modes: Some(modes), .. } = self else { return };
        let unit = modes.unit(first);
        let in_mode = modes.geometry_of(unit);
        let end = first.after(pages);
        let program_units = in_mode.program_unit_of(end) - in_mode.program_unit_of(first);
        if modes.mode(unit) == Mode::Slc {
            counts.slc_programs += u64::from(pages);
            counts.slc_program_units += u64::from(program_units);
        }
        if program_units == 0 {
            return;
        }
        counts.program_units += u64::from(program_units);
        let stripes = in_mode.stripes_before(end) - in_mode.stripes_before(first);
        if stripes > 0 {
            self.count_parity(unit, stripes);
        }
    }

    /// Counts the parity of some stripes of a unit.
    fn count_parity(&mut self, unit: Unit, stripes: u32) {
        let Self { counts, modes: Some(modes), .. } = self else { return };
        let parity = u64::from(stripes * modes.geometry_of(unit).program_unit());
        counts.program_units += u64::from(stripes);
        counts.programs[Cause::Parity as usize] += parity;
        if modes.mode(unit) == Mode::Slc {
            counts.slc_program_units += u64::from(stripes);
            counts.slc_programs += parity;
        }
    }
}

/// Returns how many of the pages that move to `to` and after come with the read of the page before.
/// A flash page whose pages go to two rows is read twice.
#[inline(always)]
fn joined_reads(modes: &Modes, to: Ppn, mut moves: impl Moves) -> u64 {
    let mut joined = 0;
    if modes.pages_per_read() > 1 {
        let (mut left, width) = modes.left_in_row(to);
        while moves.next().is_some() {
            let others = moves.by_ref().take(left as usize - 1);
            joined += others.filter(|step| step.joins_read).count();
            left = width;
        }
    }
    joined as u64
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
        self.count_program_units(to, 1);
        Ok(())
    }

    fn pad(&mut self, from: Ppn, pages: u32, _: &mut Chain) -> Result<(), Infallible> {
        self.counts.programs[Cause::Pad as usize] += u64::from(pages);
        self.count_program_units(from, pages);
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
                self.count_program_units(step.to, 1);
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn copy_rows(
        &mut self,
        moves: impl Moves,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), Infallible> {
        let Some(modes) = &self.modes else { return self.copy(moves, cause, chain) };
        let Some(first) = moves.clone().next() else { return Ok(()) };
        let pages = moves.len() as u64;
        self.counts.reads[cause as usize] += pages;
        self.counts.programs[cause as usize] += pages;
        self.counts.senses += pages - joined_reads(modes, first.to, moves);
        self.count_program_units(first.to, pages as u32);
        Ok(())
    }

    #[inline(always)]
    fn takes_rows(&self) -> bool {
        true
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
        let Some(modes) = &self.modes else { return };
        let unit = modes.unit(last);
        if modes.geometry_of(unit).stripe_of(last).is_some_and(|(_, left)| left > 1) {
            self.count_parity(unit, 1);
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

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::addr::Lpn;
    use crate::geometry::rows_with_parity;
    use crate::nand::Move;

    /// A flash page whose two pages go to two rows is read twice.
    #[test]
    fn rows_at_once_count_like_one_row_after_the_other() {
        let geometry = rows_with_parity(Some(4)).unwrap();
        let unit_1 = geometry.unit_capacity();
        for first in [0, 1, 70, 71, 72, 100] {
            let step = |at: u32| (Ppn::new(first + at), Ppn::new(unit_1 + at), at);
            let steps: Vec<_> = (0..200).map(step).collect();
            let moves = |steps: &[(Ppn, Ppn, u32)]| -> Vec<Move> {
                let of = |(at, &(from, to, serial)): (usize, &(Ppn, Ppn, u32))| {
                    let before = at.checked_sub(1).map(|before| steps[before].0);
                    let joins_read = before.is_some_and(|one| geometry.is_read_with(one, from));
                    let (owner, serial) = (Owner::Data(Lpn::new(serial)), serial.into());
                    Move { from, to, owner, serial, joins_read }
                };
                steps.iter().enumerate().map(of).collect()
            };
            let (mut at_once, mut by_row) = (Counted::new(&geometry), Counted::new(&geometry));
            let mut chain = Chain::START;
            at_once.copy_rows(moves(&steps).into_iter(), Cause::Gc, &mut chain).unwrap();
            for row in steps.chunks(geometry.row_pages() as usize) {
                by_row.copy(moves(row).into_iter(), Cause::Gc, &mut chain).unwrap();
            }
            assert_eq!(at_once.counts, by_row.counts);
            assert!(at_once.counts.senses < 200 && at_once.counts.program_units > 200 / 12);
        }
    }
}
