//! How pages become operations of dies.

use alloc::vec::Vec;

use super::graph::{Kind, Operation, dies_of_unit, slc_row};
use super::schedule::{Schedule, Stripe, Timing};
use super::scheduler::Scheduler;
use crate::addr::{Ppn, Unit};
use crate::clock::{Chain, Fork, NO_CORE};
use crate::geometry::{Geometry, Mode, Modes, Shape};
use crate::nand::{Cause, Move, Moves};

/// Location of a plane. Kept in a table, so that no operation has to divide.
#[derive(Clone, Copy, Debug)]
struct Plane {
    die: u16,
    /// Number of the die, among the dies of the unit that lies on this plane.
    die_of_unit: u16,
    /// Number of the plane within its die.
    number: u8,
}

/// Returns the planes in the order in which pages go over them. A unit lies on consecutive planes,
/// and `stripe` orders the pages of each row over these planes. A program unit spans all planes of
/// a die, so these planes stay together.
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

/// The locations of pages, and the scheduler that their operations go to.
#[derive(Clone, Debug)]
pub struct Issuer {
    pub geometry: Geometry,
    pub modes: Modes,
    pub scheduler: Scheduler,
    timing: Timing,
    schedule: Schedule,
    planes: Vec<Plane>,
    /// Largest number of dies that a unit lies on.
    dies_of_unit: u32,
    /// By cause: whether operations of the cause take no time.
    free: [bool; Cause::ALL.len()],
}

impl Issuer {
    /// Creates an idle drive.
    pub fn new(geometry: Geometry, timing: Timing, schedule: Schedule) -> Self {
        let shape = geometry.shape();
        Self {
            scheduler: Scheduler::new(&geometry, timing, schedule),
            timing,
            schedule,
            planes: planes(shape, schedule.stripe),
            dies_of_unit: dies_of_unit(shape),
            free: [false; Cause::ALL.len()],
            modes: Modes::new(geometry),
            geometry,
        }
    }

    /// Drops outstanding work, and sets the time to 0. A frozen clock stays frozen.
    pub fn reset(&mut self) {
        let is_frozen = self.scheduler.is_frozen;
        let idle = Scheduler::new(&self.geometry, self.timing, self.schedule);
        self.scheduler = Scheduler { is_frozen, ..idle };
    }

    /// Makes operations of some causes take no time.
    pub fn set_free(&mut self, causes: &[Cause]) {
        causes.iter().for_each(|&cause| self.free[cause as usize] = true);
    }

    /// Returns whether operations of a cause take no time.
    #[inline(always)]
    pub fn is_free(&self, cause: Cause) -> bool {
        self.free[cause as usize]
    }

    /// Returns the index of a unit and one of its dies.
    #[inline(always)]
    fn slot(&self, unit: Unit, die_of_unit: u16) -> u32 {
        unit.0 * self.dies_of_unit + u32::from(die_of_unit)
    }

    /// Returns the operation on the program unit of a page.
    pub fn unit_operation(&self, kind: Kind, ppn: Ppn) -> Operation {
        let unit = self.geometry.unit(ppn);
        self.operation_at(kind, unit, self.modes.geometry_of(unit).plane_and_row(ppn))
    }

    /// Returns the operation on the program unit at a plane and a row of an erase unit.
    pub fn operation_at(&self, kind: Kind, unit: Unit, (plane, row): (u32, u32)) -> Operation {
        let row = match self.modes.mode(unit) {
            Mode::Native => row,
            Mode::Slc => slc_row(row * self.geometry.levels()),
        };
        let Plane { die, die_of_unit, .. } = self.planes[plane as usize];
        Operation::new(kind, die, 0, self.slot(unit, die_of_unit), row)
    }

    /// Returns the number of pages from this page to the end of its program unit, this page
    /// included.
    pub fn left_in_program_unit(&self, ppn: Ppn) -> u32 {
        self.modes.geometry_of(self.geometry.unit(ppn)).left_in_program_unit(ppn)
    }

    /// Issues the read or the program of a page.
    #[inline(always)]
    pub fn issue_page(&mut self, kind: Kind, ppn: Ppn, cause: Cause, chain: &mut Chain) {
        if self.is_free(cause) {
            return;
        }
        let (operation, unit) = self.page_operation(kind, ppn);
        self.scheduler.issue(operation, unit, cause.component(), chain);
    }

    /// Returns the operation on a page, and the page's unit.
    #[inline(always)]
    fn page_operation(&self, kind: Kind, ppn: Ppn) -> (Operation, Unit) {
        let unit = self.geometry.unit(ppn);
        let (plane, row) = self.geometry.plane_and_row(ppn);
        let Plane { die, die_of_unit, number } = self.planes[plane as usize];
        (Operation::new(kind, die, number, self.slot(unit, die_of_unit), row), unit)
    }

    /// Issues independent operations, which all begin now. The chain continues after the operation
    /// that ends last.
    #[inline(always)]
    pub fn issue_all<T>(
        &mut self,
        all: impl Iterator<Item = T>,
        chain: &mut Chain,
        mut issue: impl FnMut(&mut Self, T, &mut Chain),
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
    pub fn issue_copy(&mut self, moves: impl Moves, cause: Cause, chain: &mut Chain) {
        if moves.len() == 1 {
            return moves.for_each(|step| self.issue_move(step, cause, chain));
        }
        self.issue_pages(Kind::Read, moves.clone().map(|step| step.from), cause, chain);
        self.issue_pages(Kind::Program, moves.map(|step| step.to), cause, chain);
    }

    /// Issues the reads or the programs of pages, which all begin now. Pages that a multi-plane
    /// operation of a die reads or programs together are one operation. They are several operations
    /// if the time of each is reported, or if another page can go over the channel between them.
    #[inline(always)]
    fn issue_pages(
        &mut self,
        kind: Kind,
        pages: impl Iterator<Item = Ppn>,
        cause: Cause,
        chain: &mut Chain,
    ) {
        if self.is_free(cause) {
            return;
        }
        let joins_planes = self.geometry.shape().planes > 1
            && !chain.is_attributed
            && chain.core == NO_CORE
            && !self.scheduler.has_instants
            && self.scheduler.saved_ns == 0;
        let mut fork = Fork::new(*chain);
        let mut last = None;
        for ppn in pages {
            let (operation, unit) = self.page_operation(kind, ppn);
            if let Some(last) = last
                && joins_planes
                && self.scheduler.graph.adds_plane(last, &operation)
            {
                continue;
            }
            let mut branch = fork.branch();
            self.scheduler.issue(operation, unit, cause.component(), &mut branch);
            last = Some(branch.node);
            fork.join(branch, &mut self.scheduler);
        }
        *chain = fork.end();
    }

    /// Issues a copy row by row.
    #[inline(always)]
    pub fn issue_rows(&mut self, mut moves: impl Moves, cause: Cause, chain: &mut Chain) {
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
    pub fn issue_erase(&mut self, unit: Unit, cause: Cause, chain: &mut Chain) {
        if self.is_free(cause) {
            return;
        }
        let Shape { superblock, planes, .. } = *self.geometry.shape();
        let first = self.geometry.first_plane(unit);
        let [first, last] = [first, first + superblock - 1].map(|plane| (plane / planes) as u16);
        self.issue_all(first..=last, chain, |issuer, die, branch| {
            let slot = issuer.slot(unit, die - first);
            let erase = Operation::new(Kind::Erase, die, 0, slot, u32::MAX);
            issuer.scheduler.issue(erase, unit, cause.component(), branch);
        });
        self.scheduler.graph.end_reading(unit);
    }
}
