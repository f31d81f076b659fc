//! The medium with a clock: a graph of operations, and a scheduler that plays it.
//!
//! The medium below carries out each operation at once; its time is simulated afterwards. Each
//! operation becomes a node of a graph, after the chain that it belongs to, and dies and channels
//! play the graph in the order of time. An operation waits for its chain, for its die, and for its
//! channel.
//!
//! A read occupies its die until the page is transferred, and a program occupies its die from
//! before the transfer on, unless there is a cache register. Consecutive operations in a die's
//! queue form one multi-plane operation if their pages are in one row of a unit, on different
//! planes of the die. A copy goes through the controller, over the channel both ways, because that
//! is where the error correction is.
//!
//! The clock splits a request's time into components: the request's own operations by their cause,
//! and each wait by the activity of the die or the channel. A die that waits for its channel passes
//! on the activity of the channel.
//!
//! Two simplifications: command cycles delay an operation but leave the channel free, and an
//! operation that has begun can not be joined by a page that enters the queue later.

mod account;
mod alone;
mod chains;
mod events;
mod flash;
mod graph;
mod issue;
mod lanes;
mod memory;
mod node;
mod pool;
mod program_units;
mod recorder;
mod schedule;
mod scheduler;
mod state;
mod suspension;
mod tagged;
mod wait_queue;

use alloc::vec::Vec;

use node::{Kind, Operation};
use program_units::{OpenProgram, OpenUnit};
pub use schedule::{Controller, Order, PAGE_TYPES, PageTimes, Schedule, SlcTimes, Stripe, Suspend};
pub use scheduler::Scheduler;
use scheduler::dies_of_unit;
use state::SchedulerState;

use super::forward::forward;
use super::{Cause, Chain, Clock, Fork, Move, Moves, Nand, ReadSource};
use crate::addr::{Owner, Ppn, Tag, Unit};
use crate::counters::Counters;
use crate::geometry::{Geometry, Mode, Modes, Shape};
use crate::saved::{Carrier, State, carry};

/// Durations in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timing {
    /// Time from the cells to the register.
    pub read_ns: u64,
    /// Time from the register to the cells.
    pub program_ns: u64,
    /// Erase of a block, or of one block in every plane of a die.
    pub erase_ns: u64,
    /// Transfer of one page over the channel.
    pub transfer_ns: u64,
    /// Command cycles of one operation.
    pub command_ns: u64,
}

/// Adds a clock to another medium.
#[derive(Clone, Debug)]
pub struct Timed<N> {
    inner: N,
    geometry: Geometry,
    modes: Modes,
    scheduler: Scheduler,
    planes: Vec<Plane>,
    /// Largest number of dies that a unit lies on.
    dies_of_unit: u32,
    /// By cause: whether operations of the cause take no time.
    free: [bool; Cause::ALL.len()],
    /// Program units that are being filled: at most one for each stream.
    open_units: Vec<OpenUnit>,
    /// Open parity of stripes that are being filled: at most one for each stream.
    open_stripes: Vec<OpenProgram>,
    /// By cause: the read that the next page can join if it is in the same flash page.
    open_reads: [Option<Chain>; Cause::ALL.len()],
    /// By cause: reads whose page was in the controller's memory, because its program was under
    /// way; and the number of flash pages that were therefore not read.
    memory_reads: [u64; Cause::ALL.len()],
    senses_saved: u64,
}

/// Location of a plane. Kept in a table, so that no operation has to divide.
#[derive(Clone, Copy, Debug)]
struct Plane {
    die: u16,
    /// Number of the die, among the dies of the unit that lies on this plane.
    die_of_unit: u16,
    /// Number of the plane within its die.
    number: u8,
}

/// Returns the location of each column: first the columns of units on the first planes, and so on.
/// A unit lies on consecutive planes, and `stripe` orders its columns over these planes. A program
/// unit spans all planes of a die, so these planes stay together.
fn planes(shape: &Shape, stripe: Stripe) -> Vec<Plane> {
    let mut planes: Vec<u32> = (0..shape.channels * shape.dies * shape.planes).collect();
    let key = |&plane: &u32| {
        let die = plane / shape.planes;
        let plane = if shape.program_unit.is_some() { 0 } else { plane % shape.planes };
        stripe.key(die / shape.dies, die % shape.dies, plane)
    };
    let columns = |unit: &mut [u32]| {
        let first = unit[0] / shape.planes;
        unit.sort_by_key(key);
        let place = |&plane: &u32| Plane {
            die: (plane / shape.planes) as u16,
            die_of_unit: (plane / shape.planes - first) as u16,
            number: (plane % shape.planes).min(63) as u8,
        };
        unit.iter().map(place).collect::<Vec<_>>()
    };
    planes.chunks_mut(shape.superblock as usize).flat_map(columns).collect()
}

impl<N> Timed<N> {
    /// Creates an idle drive whose dies do one thing after the other.
    pub fn new(inner: N, geometry: Geometry, timing: Timing) -> Self {
        Self::with_schedule(inner, geometry, timing, Schedule::default())
    }

    /// Creates an idle drive.
    pub fn with_schedule(inner: N, geometry: Geometry, timing: Timing, schedule: Schedule) -> Self {
        let shape = geometry.shape();
        Self {
            inner,
            scheduler: Scheduler::new(&geometry, timing, schedule),
            planes: planes(shape, schedule.stripe),
            dies_of_unit: dies_of_unit(shape),
            free: [false; Cause::ALL.len()],
            open_units: Vec::new(),
            open_stripes: Vec::new(),
            open_reads: [None; Cause::ALL.len()],
            memory_reads: [0; Cause::ALL.len()],
            senses_saved: 0,
            modes: Modes::new(geometry),
            geometry,
        }
    }

    /// Returns the medium below.
    pub fn inner(&self) -> &N {
        &self.inner
    }

    /// Returns the medium below.
    pub fn inner_mut(&mut self) -> &mut N {
        &mut self.inner
    }

    /// Makes operations of some causes take no time, to answer questions such as: what if there
    /// were no cleaning?
    pub fn with_free(mut self, causes: &[Cause]) -> Self {
        causes.iter().for_each(|&cause| self.free[cause as usize] = true);
        self
    }

    /// Returns the index of a unit and one of its dies.
    #[inline(always)]
    fn slot(&self, unit: Unit, die_of_unit: u16) -> u32 {
        unit.0 * self.dies_of_unit + u32::from(die_of_unit)
    }

    #[inline(always)]
    fn issue_page(&mut self, kind: Kind, ppn: Ppn, cause: Cause, chain: &mut Chain) {
        if self.free[cause as usize] {
            return;
        }
        let unit = self.geometry.unit(ppn);
        let (plane, row) = self.geometry.plane_and_row(ppn);
        let Plane { die, die_of_unit, number } = self.planes[plane as usize];
        let operation = Operation::new(kind, die, number, self.slot(unit, die_of_unit), row);
        self.scheduler.issue(operation, unit, cause.component(), chain);
    }

    /// Issues independent operations, which all begin now. The chain continues after the operation
    /// that ends last.
    #[inline(always)]
    fn issue_all<T>(
        &mut self,
        all: impl Iterator<Item = T>,
        chain: &mut Chain,
        issue: impl Fn(&mut Self, T, &mut Chain),
    ) {
        let mut fork = Fork::new(*chain);
        for each in all {
            let mut branch = fork.branch();
            issue(self, each, &mut branch);
            fork.join(branch, &mut self.scheduler);
        }
        *chain = fork.end();
    }

    /// Issues all reads of a copy, and then all its programs.
    #[inline(always)]
    fn issue_copy(&mut self, moves: impl Moves, cause: Cause, chain: &mut Chain) {
        if moves.len() == 1 {
            return moves.for_each(|step| self.issue_move(step, cause, chain));
        }
        self.issue_all(moves.clone(), chain, |timed, step, branch| {
            timed.issue_page(Kind::Read, step.from, cause, branch);
        });
        self.issue_all(moves, chain, |timed, step, branch| {
            timed.issue_page(Kind::Program, step.to, cause, branch);
        });
    }

    /// Issues a copy row by row.
    #[inline(always)]
    fn issue_rows(&mut self, mut moves: impl Moves, cause: Cause, chain: &mut Chain) {
        let width = self.geometry.row_pages();
        if width == 1 {
            return moves.for_each(|step| self.issue_move(step, cause, chain));
        }
        while let Some(Move { to, .. }) = moves.clone().next() {
            let left = (width - self.geometry.place(to).1 % width) as usize;
            self.issue_copy(moves.clone().take(left), cause, chain);
            moves.nth(left - 1);
        }
    }

    #[inline(always)]
    fn issue_move(&mut self, step: Move, cause: Cause, chain: &mut Chain) {
        self.issue_page(Kind::Read, step.from, cause, chain);
        self.issue_page(Kind::Program, step.to, cause, chain);
    }

    /// Issues one erase per die of the unit, on all dies at once.
    fn issue_erase(&mut self, unit: Unit, cause: Cause, chain: &mut Chain) {
        self.drop_open(unit);
        if self.free[cause as usize] {
            return;
        }
        let first = self.geometry.first_plane(unit);
        let last = first + self.geometry.shape().superblock - 1;
        let planes = self.geometry.shape().planes;
        let [first, last] = [first, last].map(|plane| (plane / planes) as u16);
        let mut fork = Fork::new(*chain);
        for die in first..=last {
            let mut branch = fork.branch();
            let erase = Operation::new(Kind::Erase, die, 0, self.slot(unit, die - first), u32::MAX);
            self.scheduler.issue(erase, unit, cause.component(), &mut branch);
            fork.join(branch, &mut self.scheduler);
        }
        self.scheduler.end_reading(unit);
        *chain = fork.end();
    }

    /// Returns the number of operations and delays that are not complete.
    pub fn outstanding(&self) -> usize {
        self.scheduler.state.graph.outstanding()
    }
}

/// Saves no outstanding work: when the counters have just been reset, no work is outstanding.
impl<N: Nand> State for Timed<N> {
    fn carry(&mut self, by: &mut Carrier<'_>) {
        carry(self.inner.state(), by);
        self.modes.carry(by);
    }
}

#[deny(clippy::missing_trait_methods)]
impl<N: Nand> Nand for Timed<N> {
    type Error = N::Error;
    type Clock = Scheduler;

    forward!(takes_rows load_payload read_failed is_read_only counters);

    #[inline(always)]
    fn clock(&self) -> &Scheduler {
        &self.scheduler
    }

    #[inline(always)]
    fn clock_mut(&mut self) -> &mut Scheduler {
        &mut self.scheduler
    }

    #[inline(always)]
    fn read(
        &mut self,
        from: Ppn,
        owner: Owner,
        source: ReadSource,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        match self.geometry.has_program_units() {
            _ if self.scheduler.is_frozen => {}
            true => self.read_from(from, source, cause, chain),
            false => self.issue_page(Kind::Read, from, cause, chain),
        }
        self.inner.read(from, owner, source, cause, chain)
    }

    #[inline(always)]
    fn program(
        &mut self,
        to: Ppn,
        tag: Tag,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        match self.geometry.has_program_units() {
            _ if self.scheduler.is_frozen => {}
            true => self.fill(to, 1, cause, chain),
            false => {
                self.issue_page(Kind::Program, to, cause, chain);
                if cause == Cause::Host {
                    self.scheduler.frees(*chain, 1);
                }
            }
        }
        self.inner.program(to, tag, cause, chain)
    }

    fn pad(&mut self, from: Ppn, pages: u32, chain: &mut Chain) -> Result<(), N::Error> {
        if self.scheduler.takes_time() {
            self.fill(from, pages, Cause::Pad, chain);
        }
        self.inner.pad(from, pages, chain)
    }

    #[inline(always)]
    fn copy(&mut self, moves: impl Moves, cause: Cause, chain: &mut Chain) -> Result<(), N::Error> {
        if self.scheduler.is_frozen {
            // A frozen clock only counts.
        } else if self.geometry.has_program_units() {
            self.copy_in_units(&moves.clone().collect::<Vec<_>>(), cause, chain);
        } else {
            self.issue_copy(moves.clone(), cause, chain);
        }
        self.inner.copy(moves, cause, chain)
    }

    #[inline(always)]
    fn copy_rows(
        &mut self,
        moves: impl Moves,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        if self.geometry.has_program_units() {
            return self.copy(moves, cause, chain);
        }
        if self.scheduler.takes_time() {
            self.issue_rows(moves.clone(), cause, chain);
        }
        self.inner.copy_rows(moves, cause, chain)
    }

    fn set_mode(&mut self, unit: Unit, mode: Mode) {
        self.modes.set(unit, mode);
        self.inner.set_mode(unit, mode);
    }

    fn state(&mut self) -> Option<&mut dyn State> {
        self.inner.state()?;
        Some(self)
    }

    fn close_stripe(&mut self, last: Ppn) {
        if self.scheduler.takes_time() {
            self.program_parity_early(last);
        }
        self.inner.close_stripe(last);
    }

    fn erase(&mut self, unit: Unit, cause: Cause, chain: &mut Chain) -> Result<(), N::Error> {
        if self.scheduler.takes_time() {
            self.issue_erase(unit, cause, chain);
        }
        self.inner.erase(unit, cause, chain)
    }

    fn report(&self, counters: &mut Counters) {
        self.inner.report(counters);
        self.scheduler.report(counters);
        let flash = &mut counters.flash;
        for (cause, pages) in self.memory_reads.into_iter().enumerate() {
            flash.reads[cause] -= pages;
            flash.memory_reads[cause] += pages;
        }
        flash.senses -= self.senses_saved;
    }

    /// Drops outstanding work. A frozen clock stays frozen.
    fn reset_counters(&mut self) {
        self.inner.reset_counters();
        let Scheduler { state: SchedulerState { timing, schedule, .. }, is_frozen, .. } =
            self.scheduler;
        self.scheduler = Scheduler::new(&self.geometry, timing, schedule);
        self.scheduler.is_frozen = is_frozen;
        (self.memory_reads, self.senses_saved) = ([0; Cause::ALL.len()], 0);
        self.open_units.clear();
        self.open_stripes.clear();
        self.open_reads = [None; Cause::ALL.len()];
    }
}

#[cfg(test)]
mod tests;
