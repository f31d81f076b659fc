//! Program units: pages that a die programs together.
//!
//! A page joins the program unit that its stream fills, in the controller's memory, and its chain
//! continues. Only an unreported chain that completes the unit waits for the program. The program
//! begins when all pages of the unit have come. A page that is not programmed yet is read from the
//! controller's memory.

use alloc::vec::Vec;
use core::mem;

use super::graph::{Edge, Kind, Operation};
use super::issuer::Issuer;
use super::scheduler::Scheduler;
use crate::addr::{Ppn, Unit};
use crate::clock::{Chain, Fork};
use crate::counters::FlashCounts;
use crate::nand::{Cause, Move, Moves, ReadSource};

/// A program that waits for data.
#[derive(Clone, Copy, Debug)]
struct OpenProgram {
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
struct OpenUnit {
    program: OpenProgram,
    /// Pages of the host in it.
    host_pages: u32,
    /// Whether a FLUSH waits for the unit: it has pages of the host, of the journal or of a retired
    /// unit, or padding.
    is_flushed: bool,
}

impl OpenProgram {
    fn new(issuer: &mut Issuer, first: Ppn, operation: Operation, cause: Cause) -> Self {
        let Scheduler { graph, now, .. } = &mut issuer.scheduler;
        let (data, end) = graph.issue_open(operation, cause.component(), *now);
        Self { first, data, end, last: Chain::START }
    }

    /// Makes the program wait for a chain that brings data.
    #[inline(always)]
    fn feed(&mut self, chain: Chain, scheduler: &mut Scheduler) {
        if !self.last.is_at(&chain) {
            scheduler.graph.nodes_mut().follow(self.data, chain, Edge::Chain);
            self.last = chain;
        }
    }
}

/// Program units and parity that wait for data, and the reads that further pages can join.
#[derive(Clone, Debug, Default)]
pub struct ProgramUnits {
    /// Program units that are being filled: at most one for each stream.
    units: Vec<OpenUnit>,
    /// Open parity of stripes that are being filled: at most one for each stream.
    stripes: Vec<OpenProgram>,
    /// By cause: the read that the next page can join if it is in the same flash page.
    reads: [Option<Chain>; Cause::ALL.len()],
    /// By cause: reads whose page was in the controller's memory, because its program was under
    /// way; and the number of flash pages that were therefore not read.
    memory_reads: [u64; Cause::ALL.len()],
    senses_saved: u64,
    /// Moves of one copy: scratch space.
    moves: Vec<Move>,
}

impl ProgramUnits {
    /// Adds `pages` pages, from `to` on, to their program unit: data, or padding to the end of the
    /// unit.
    pub fn fill(
        &mut self,
        issuer: &mut Issuer,
        to: Ppn,
        pages: u32,
        cause: Cause,
        chain: &mut Chain,
    ) {
        if issuer.is_free(cause) {
            return;
        }
        let in_mode = issuer.modes.geometry_of(issuer.geometry.unit(to));
        let (first, left) = in_mode.program_unit_at(to);
        if let Some(stripe) = in_mode.stripe_of(to) {
            self.fill_stripe(issuer, stripe, pages, *chain);
        }
        let at = self.units.iter().position(|open| open.program.first == first);
        let at = at.unwrap_or_else(|| self.open_unit(issuer, first, cause));
        let open = &mut self.units[at];
        open.program.feed(*chain, &mut issuer.scheduler);
        open.host_pages += pages * u32::from(cause == Cause::Host);
        open.is_flushed |=
            matches!(cause, Cause::Host | Cause::Journal | Cause::Pad | Cause::Retire);
        if left > pages {
            return;
        }
        let OpenUnit { program, host_pages, is_flushed } = self.units.swap_remove(at);
        issuer.scheduler.close(program.data);
        if is_flushed {
            issuer.scheduler.frees(program.end, host_pages);
        }
        if !chain.is_attributed {
            issuer.scheduler.give_back_early(*chain);
            *chain = Chain { node: program.end.node, serial: program.end.serial, ..*chain };
        }
    }

    /// Opens the program unit that begins with page `first`. Its program gets its place in the
    /// order of the die.
    fn open_unit(&mut self, issuer: &mut Issuer, first: Ppn, cause: Cause) -> usize {
        let operation = issuer.unit_operation(Kind::Program, first);
        let program = OpenProgram::new(issuer, first, operation, cause);
        self.units.push(OpenUnit { program, host_pages: 0, is_flushed: false });
        self.units.len() - 1
    }

    /// Adds pages to the parity stripe that begins with page `first` and lacks `left` pages. Its
    /// parity is programmed when all pages have come.
    fn fill_stripe(
        &mut self,
        issuer: &mut Issuer,
        (first, left): (Ppn, u32),
        pages: u32,
        chain: Chain,
    ) {
        if issuer.is_free(Cause::Parity) {
            return;
        }
        let at = self.stripes.iter().position(|open| open.first == first);
        let at = at.unwrap_or_else(|| self.open_stripe(issuer, first));
        self.stripes[at].feed(chain, &mut issuer.scheduler);
        if left == pages {
            self.close_parity(issuer, at);
        }
    }

    /// Drops the open program units of a unit that is erased. Their pages in memory are of no use
    /// any more, like the end of a journal that a checkpoint follows.
    pub fn drop_open(&mut self, issuer: &mut Issuer, unit: Unit) {
        let Issuer { geometry, scheduler, .. } = issuer;
        let mut is_kept = |open: &OpenProgram| {
            let is_kept = geometry.unit(open.first) != unit;
            if !is_kept {
                scheduler.cancel(open.data, open.end);
            }
            is_kept
        };
        self.units.retain(|open| is_kept(&open.program));
        self.stripes.retain(is_kept);
    }

    fn close_parity(&mut self, issuer: &mut Issuer, at: usize) {
        let parity = self.stripes.swap_remove(at);
        issuer.scheduler.close(parity.data);
    }

    /// Programs the parity of a page's stripe, which gets no more pages.
    pub fn program_parity_early(&mut self, issuer: &mut Issuer, last: Ppn) {
        let stripe = issuer.modes.geometry_of(issuer.geometry.unit(last)).stripe_of(last);
        let is_it = |open: &OpenProgram| stripe.is_some_and(|(first, _)| open.first == first);
        if let Some(at) = self.stripes.iter().position(is_it) {
            self.close_parity(issuer, at);
        }
    }

    fn open_stripe(&mut self, issuer: &mut Issuer, first: Ppn) -> usize {
        let unit = issuer.geometry.unit(first);
        let place = issuer.modes.geometry_of(unit).parity_plane_and_row(first);
        let place = place.expect("the stripe has parity");
        let operation = issuer.operation_at(Kind::Program, unit, place);
        self.stripes.push(OpenProgram::new(issuer, first, operation, Cause::Parity));
        self.stripes.len() - 1
    }

    /// Reads `pages` pages of a flash page, the first one from its source and the others from the
    /// register.
    pub fn read(
        &mut self,
        issuer: &mut Issuer,
        (from, pages): (Ppn, u32),
        source: ReadSource,
        cause: Cause,
        chain: &mut Chain,
    ) {
        if source == ReadSource::Memory || issuer.is_free(cause) {
            return;
        }
        let operation = issuer.unit_operation(Kind::Read, from);
        let open = &mut self.reads[cause as usize];
        if issuer.scheduler.graph.is_programming(&operation, issuer.geometry.levels()) {
            // The controller's memory still has the pages, so the flash is not read.
            self.memory_reads[cause as usize] += u64::from(pages);
            self.senses_saved += u64::from(source == ReadSource::Cells);
            *open = None;
            return;
        }
        let (read, joining) = match *open {
            Some(read) if source == ReadSource::Register => (read, pages),
            _ => {
                let unit = issuer.geometry.unit(from);
                issuer.scheduler.issue(operation, unit, cause.component(), chain);
                *open = Some(*chain);
                (*chain, pages - 1)
            }
        };
        for _ in 0..joining {
            issuer.scheduler.join_read(read, cause.component(), chain);
        }
    }

    /// Moves pages: reads each flash page once, and adds the pages to program units when all have
    /// been read.
    pub fn copy(
        &mut self,
        issuer: &mut Issuer,
        moves: impl Moves,
        cause: Cause,
        chain: &mut Chain,
    ) {
        self.moves.clear();
        self.moves.extend(moves);
        let moves = mem::take(&mut self.moves);
        self.copy_all(issuer, &moves, cause, chain);
        self.moves = moves;
    }

    fn copy_all(&mut self, issuer: &mut Issuer, moves: &[Move], cause: Cause, chain: &mut Chain) {
        let flash_pages = moves.chunk_by(|_, next| next.joins_read);
        issuer.issue_all(flash_pages, chain, |issuer, group, branch| {
            let pages = (group[0].from, group.len() as u32);
            self.read(issuer, pages, ReadSource::Cells, cause, branch);
        });
        let mut fork = Fork::new(*chain);
        let mut left = moves;
        while let Some(&Move { to, .. }) = left.first() {
            let pages = consecutive(left, issuer.left_in_program_unit(to));
            let mut branch = fork.branch();
            self.fill(issuer, to, pages as u32, cause, &mut branch);
            fork.join(branch, &mut issuer.scheduler);
            left = &left[pages..];
        }
        *chain = fork.end();
    }

    /// Moves the reads from the controller's memory to a counter of their own.
    pub fn report(&self, flash: &mut FlashCounts) {
        for (cause, pages) in self.memory_reads.into_iter().enumerate() {
            flash.reads[cause] -= pages;
            flash.memory_reads[cause] += pages;
        }
        flash.senses -= self.senses_saved;
    }
}

/// Returns how many of the first moves, at most `most`, go to consecutive pages.
fn consecutive(moves: &[Move], most: u32) -> usize {
    let first = moves[0].to;
    (0..most).zip(moves).take_while(|&(at, step)| step.to == first.after(at)).count()
}
