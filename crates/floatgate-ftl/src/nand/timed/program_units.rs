//! Pages that are programmed several at once.
//!
//! A page joins the program unit that its stream fills, in the controller's memory, and its chain
//! continues. Only an unreported chain that completes the unit waits for the program. The program
//! begins when all pages of the unit have come. A page that is not programmed yet is read from the
//! controller's memory.

use super::node::{Kind, Operation, slc_row};
use super::{Plane, Scheduler, Timed};
use crate::addr::{Ppn, Unit};
use crate::clock::Chain;
use crate::geometry::{Geometry, Mode};
use crate::nand::{Cause, Move, ReadSource};

/// A program that waits for data.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenProgram {
    /// First page of the data.
    first: Ppn,
    /// The node where the data comes together, and the chain that ends with the program.
    data: u32,
    end: Chain,
    /// The chain that was last added as a source of data.
    last: Chain,
}

/// A program unit that is being filled.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenUnit {
    program: OpenProgram,
    /// Pages of the host in it.
    host_pages: u32,
    /// Whether a FLUSH waits for the unit: it has pages of the host, of the journal or of a retired
    /// unit, or padding.
    is_flushed: bool,
}

impl OpenProgram {
    /// Makes the program wait for a chain that brings data.
    #[inline(always)]
    fn feed(&mut self, chain: Chain, scheduler: &mut Scheduler) {
        if !self.last.is_at(&chain) {
            scheduler.feed(self.data, chain);
            self.last = chain;
        }
    }
}

impl<N> Timed<N> {
    /// Returns the operation on the program unit of a page.
    fn unit_operation(&self, kind: Kind, ppn: Ppn) -> Operation {
        let unit = self.geometry.unit(ppn);
        self.operation_at(kind, unit, self.modes.geometry_of(unit).plane_and_row(ppn))
    }

    /// Returns the operation on the program unit at a plane and a row of an erase unit.
    fn operation_at(&self, kind: Kind, unit: Unit, (plane, row): (u32, u32)) -> Operation {
        let row = match self.modes.mode(unit) {
            Mode::Native => row,
            Mode::Slc => slc_row(row * self.geometry.levels()),
        };
        let Plane { die, die_of_unit, .. } = self.planes[plane as usize];
        Operation::new(kind, die, 1, self.slot(unit, die_of_unit), row)
    }

    /// Adds `pages` pages, from `to` on, to their program unit: one page of data, or padding to the
    /// end of the unit.
    pub(super) fn fill(&mut self, to: Ppn, pages: u32, cause: Cause, chain: &mut Chain) {
        if self.free[cause as usize] {
            return;
        }
        let in_mode = *self.modes.geometry_of(self.geometry.unit(to));
        self.fill_stripe(to, pages, &in_mode, *chain);
        let first = Ppn::new(in_mode.program_unit_of(to) * in_mode.program_unit());
        let at = self.open_units.iter().position(|open| open.program.first == first);
        let at = at.unwrap_or_else(|| self.open_unit(first, cause));
        let open = &mut self.open_units[at];
        open.program.feed(*chain, &mut self.scheduler);
        open.host_pages += u32::from(cause == Cause::Host);
        open.is_flushed |=
            matches!(cause, Cause::Host | Cause::Journal | Cause::Pad | Cause::Retire);
        if in_mode.left_in_program_unit(to) > pages {
            return;
        }
        let OpenUnit { program, host_pages, is_flushed } = self.open_units.swap_remove(at);
        self.scheduler.close(program.data);
        if is_flushed {
            self.scheduler.frees(program.end, host_pages);
        }
        if !chain.is_attributed {
            self.scheduler.give_back_early(*chain);
            *chain = Chain { node: program.end.node, serial: program.end.serial, ..*chain };
        }
    }

    /// Opens the program unit that begins with page `first`. Its program gets its place in the
    /// order of the die.
    fn open_unit(&mut self, first: Ppn, cause: Cause) -> usize {
        let operation = self.unit_operation(Kind::Program, first);
        let program = self.open_program(first, operation, cause);
        self.open_units.push(OpenUnit { program, host_pages: 0, is_flushed: false });
        self.open_units.len() - 1
    }

    fn open_program(&mut self, first: Ppn, operation: Operation, cause: Cause) -> OpenProgram {
        let (data, end) = self.scheduler.issue_open(operation, cause.component());
        OpenProgram { first, data, end, last: Chain::START }
    }

    /// Adds pages to their parity stripe, whose parity is programmed when all pages have come.
    fn fill_stripe(&mut self, to: Ppn, pages: u32, in_mode: &Geometry, chain: Chain) {
        let Some((first, left)) = in_mode.stripe_of(to) else { return };
        if self.free[Cause::Parity as usize] {
            return;
        }
        let at = self.open_stripes.iter().position(|open| open.first == first);
        let at = at.unwrap_or_else(|| self.open_stripe(first, in_mode));
        self.open_stripes[at].feed(chain, &mut self.scheduler);
        if left == pages {
            self.close_parity(at);
        }
    }

    /// Drops the open program units of a unit that is erased. Their pages in memory are of no use
    /// any more, like the end of a journal that a checkpoint follows.
    pub(super) fn drop_open(&mut self, unit: Unit) {
        let (geometry, scheduler) = (&self.geometry, &mut self.scheduler);
        let mut is_kept = |open: &OpenProgram| {
            let is_kept = geometry.unit(open.first) != unit;
            if !is_kept {
                scheduler.cancel(open.data, open.end);
            }
            is_kept
        };
        self.open_units.retain(|open| is_kept(&open.program));
        self.open_stripes.retain(is_kept);
    }

    fn close_parity(&mut self, at: usize) {
        let parity = self.open_stripes.swap_remove(at);
        self.scheduler.close(parity.data);
    }

    /// Programs the parity of a page's stripe, which gets no more pages.
    pub(super) fn program_parity_early(&mut self, last: Ppn) {
        let stripe = self.modes.geometry_of(self.geometry.unit(last)).stripe_of(last);
        let is_it = |open: &OpenProgram| stripe.is_some_and(|(first, _)| open.first == first);
        if let Some(at) = self.open_stripes.iter().position(is_it) {
            self.close_parity(at);
        }
    }

    fn open_stripe(&mut self, first: Ppn, in_mode: &Geometry) -> usize {
        let place = in_mode.parity_plane_and_row(first).expect("the stripe has parity");
        let operation = self.operation_at(Kind::Program, self.geometry.unit(first), place);
        let parity = self.open_program(first, operation, Cause::Parity);
        self.open_stripes.push(parity);
        self.open_stripes.len() - 1
    }

    /// Reads a page from its source.
    pub(super) fn read_from(
        &mut self,
        from: Ppn,
        source: ReadSource,
        cause: Cause,
        chain: &mut Chain,
    ) {
        if source == ReadSource::Memory || self.free[cause as usize] {
            return;
        }
        let operation = self.unit_operation(Kind::Read, from);
        if self.is_programming(&operation, source, cause) {
            return;
        }
        match self.open_reads[cause as usize] {
            Some(read) if source == ReadSource::Register => self.scheduler.join_read(read, chain),
            _ => {
                let unit = self.geometry.unit(from);
                self.scheduler.issue(operation, unit, cause.component(), chain);
                self.open_reads[cause as usize] = Some(*chain);
            }
        }
    }

    /// Returns whether the page of a read is being programmed, or will be. The controller's memory
    /// still has the page then, so the flash is not read.
    pub(super) fn is_programming(
        &mut self,
        read: &Operation,
        source: ReadSource,
        cause: Cause,
    ) -> bool {
        let is_programming = self.scheduler.is_programming(read, self.geometry.levels());
        if is_programming {
            self.memory_reads[cause as usize] += 1;
            self.senses_saved += u64::from(source == ReadSource::Cells);
            self.open_reads[cause as usize] = None;
        }
        is_programming
    }

    /// Moves pages: reads each flash page once, and adds the pages to program units when all have
    /// been read.
    pub(super) fn copy_in_units(&mut self, moves: &[Move], cause: Cause, chain: &mut Chain) {
        self.issue_all(moves.chunk_by(|_, next| next.joins_read), chain, |timed, group, branch| {
            group.iter().enumerate().for_each(|(at, step)| {
                let source = if at == 0 { ReadSource::Cells } else { ReadSource::Register };
                timed.read_from(step.from, source, cause, branch);
            });
        });
        self.issue_all(moves.iter(), chain, |timed, step, branch| {
            timed.fill(step.to, 1, cause, branch);
        });
    }
}
