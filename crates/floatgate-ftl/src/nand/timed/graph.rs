//! The graph of outstanding work, and the hazards that an operation waits for besides its chain.
//!
//! A page is read after it was programmed. A unit is erased after all reads of it that were issued
//! before. Programs and erases of a unit enter the queue of a die in the order in which they were
//! issued.

mod account;
mod node;
mod nodes;
mod waits;

use alloc::vec::Vec;

pub use node::{
    Edge, HAS_ENTERED, IS_ATTRIBUTED, IS_READ, Kind, Node, Operation, Work, is_slc, planes, slc_row,
};
pub use nodes::Nodes;

use super::pool::Pool;
use crate::addr::Unit;
use crate::clock::{Chain, Component, Ended, NONE};
use crate::geometry::{Geometry, Shape};

/// Pages of a unit whose reads are outstanding, and the node through which the unit's erases wait
/// for them.
#[derive(Clone, Copy, Debug)]
struct Readers {
    unit: Unit,
    count: u32,
    erase: u32,
}

/// Nodes, and the operations that new operations may have to wait for.
#[derive(Clone, Debug)]
pub struct Graph {
    nodes: Nodes,
    /// By unit and die: the last program or erase that is not complete.
    changes: Vec<u32>,
    /// By unit: an entry of `readers`.
    unit_readers: Vec<u32>,
    readers: Pool<Readers>,
    /// Whether pages that are not programmed yet are read from the controller's memory.
    has_program_units: bool,
}

impl Graph {
    /// Creates an empty graph.
    pub fn new(geometry: &Geometry) -> Self {
        let units = geometry.units() as usize;
        Self {
            nodes: Nodes::default(),
            changes: alloc::vec![NONE; units * dies_of_unit(geometry.shape()) as usize],
            unit_readers: alloc::vec![NONE; units],
            readers: Pool::default(),
            has_program_units: geometry.has_program_units(),
        }
    }

    #[inline(always)]
    pub fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    #[inline(always)]
    pub fn nodes_mut(&mut self) -> &mut Nodes {
        &mut self.nodes
    }

    /// Adds an operation on a unit to a chain, and returns its node.
    #[inline(always)]
    pub fn issue(
        &mut self,
        mut operation: Operation,
        unit: Unit,
        component: Component,
        chain: &mut Chain,
        now: u64,
    ) -> u32 {
        operation.before = match operation.kind {
            Kind::Read => self.reads(unit),
            Kind::Program | Kind::Erase => self.changes[operation.slot as usize],
        };
        let at = self.nodes.extend(chain, Work::Flash(operation), component, now);
        match operation.kind {
            Kind::Read if self.has_program_units => {}
            Kind::Read => self.read_after_program(at, operation),
            Kind::Program => self.keep_order(at, operation),
            Kind::Erase => {
                self.keep_order(at, operation);
                self.erase_after_reads(at, unit, now);
            }
        }
        at
    }

    /// Gives a program its place in the order of its die before its data comes. Returns the node
    /// where the data comes together, and the chain that ends with the program.
    pub fn issue_open(
        &mut self,
        program: Operation,
        component: Component,
        now: u64,
    ) -> (u32, Chain) {
        let before = self.changes[program.slot as usize];
        let program = Operation { before, ..program };
        let data = self.nodes.add_held(component, now);
        let mut end = self.nodes.chain(data, Chain::START.work());
        let at = self.nodes.extend(&mut end, Work::Flash(program), component, now);
        self.keep_order(at, program);
        (data, end)
    }

    /// Cancels an open program. It must be the last program or erase of its unit on its die.
    pub fn cancel(&mut self, data: u32, end: Chain, now: u64) {
        let &Operation { slot, before, .. } = self.nodes.operation(end.node);
        self.changes[slot as usize] = before;
        if before != NONE {
            self.nodes.operation_mut(before).after = NONE;
        }
        self.nodes.node_mut(end.node).work = Work::join(now);
        self.nodes.followed(data);
    }

    /// Returns the last program or erase in a slot that meets a condition and is not complete, or
    /// [`NONE`].
    #[inline(always)]
    fn last_change(&self, slot: u32, meets: impl Fn(&Node, &Operation) -> bool) -> u32 {
        let mut change = self.changes[slot as usize];
        while change != NONE {
            let node = self.nodes.node(change);
            let operation = node.operation();
            if meets(node, operation) {
                break;
            }
            change = operation.before;
        }
        change
    }

    /// Returns whether the page of a read belongs to a program that is not complete.
    pub fn is_programming(&self, read: &Operation, levels: u32) -> bool {
        let is_of_page = |_: &Node, change: &Operation| {
            change.kind == Kind::Program && change.row / levels == read.row / levels
        };
        self.last_change(read.slot, is_of_page) != NONE
    }

    /// Adds a page to a read that has not begun, on a drive with program units.
    pub fn add_page(&mut self, read: Chain) {
        assert!(self.nodes.is_live(read), "nothing begins amid a command");
        let readers = self.nodes.operation(read.node).before;
        self.readers[readers].count += 1;
        self.nodes.widen(read.node);
    }

    /// Adds the page of an operation to the node `at`, if one multi-plane operation reads or
    /// programs both: the page is in the same row, on the next plane. The operation of the node was
    /// issued just before, and has not begun. Returns whether the page was added. A read of a page
    /// that may still be programmed needs a node of its own.
    #[inline(always)]
    pub fn adds_plane(&mut self, at: u32, page: &Operation) -> bool {
        let node = self.nodes.node(at);
        let first = node.operation();
        let is_next = (first.slot, first.row) == (page.slot, page.row)
            && first.plane + node.pages == page.plane;
        let readers = first.before;
        if page.kind == Kind::Read {
            if !is_next || self.changes[page.slot as usize] != NONE {
                return false;
            }
            self.readers[readers].count += 1;
        }
        if is_next {
            self.nodes.widen(at);
        }
        is_next
    }

    /// Counts another read of a unit, and returns the entry of the unit's readers.
    #[inline(always)]
    fn reads(&mut self, unit: Unit) -> u32 {
        let readers = &mut self.unit_readers[unit.index()];
        if *readers == NONE {
            *readers = self.readers.put(|| Readers { unit, count: 0, erase: NONE });
        }
        self.readers[*readers].count += 1;
        *readers
    }

    #[inline(always)]
    fn read_after_program(&mut self, at: u32, read: Operation) {
        let change = self.last_change(read.slot, |node, change| {
            change.row == read.row
                && change.kind == Kind::Program
                && planes(change.plane, node.pages) & 1 << read.plane != 0
        });
        if change != NONE {
            self.nodes.link(change, at, Edge::Hazard);
        }
    }

    #[inline(always)]
    fn keep_order(&mut self, at: u32, operation: Operation) {
        self.changes[operation.slot as usize] = at;
        let last = operation.before;
        if last == NONE {
            return;
        }
        self.nodes.operation_mut(last).after = at;
        if !self.nodes.node(last).has(HAS_ENTERED) {
            self.nodes.node_mut(at).hazards += 1;
        }
    }

    /// Makes an erase wait for all reads of its unit. The erases of the unit share a node that
    /// waits for the reads.
    fn erase_after_reads(&mut self, at: u32, unit: Unit, now: u64) {
        let readers = self.unit_readers[unit.index()];
        if readers == NONE {
            return;
        }
        let gate = &mut self.readers[readers].erase;
        if *gate == NONE {
            *gate = self.nodes.add_held(Component::Die, now);
        }
        self.nodes.link(*gate, at, Edge::Hazard);
    }

    /// Closes the set of reads that the erase of a unit waits for: later reads belong to a new set.
    pub fn end_reading(&mut self, unit: Unit) {
        self.unit_readers[unit.index()] = NONE;
    }

    /// Completes an operation now, as [`Nodes::complete`].
    #[inline(always)]
    pub fn complete_operation(&mut self, at: u32, now: u64) -> Option<Ended> {
        let node = self.nodes.node(at);
        let &Operation { kind, slot, before, after, .. } = node.operation();
        if kind == Kind::Read {
            self.end_read(before, node.pages);
        } else if after != NONE {
            self.nodes.operation_mut(after).before = NONE;
        } else {
            self.changes[slot as usize] = NONE;
        }
        self.nodes.complete(at, now)
    }

    #[inline(always)]
    fn end_read(&mut self, readers: u32, pages: u8) {
        let entry = &mut self.readers[readers];
        entry.count -= u32::from(pages);
        if entry.count > 0 {
            return;
        }
        let &mut Readers { unit, erase: gate, .. } = entry;
        self.readers.give_back(readers);
        if self.unit_readers[unit.index()] == readers {
            self.unit_readers[unit.index()] = NONE;
        }
        if gate != NONE {
            self.nodes.followed(gate);
        }
    }
}

/// Returns the largest number of dies that a unit lies on. A unit need not begin at the first plane
/// of a die.
pub fn dies_of_unit(shape: &Shape) -> u32 {
    let die = |plane| plane / shape.planes;
    let firsts = (0..shape.channels * shape.dies * shape.planes).step_by(shape.superblock as usize);
    let dies = firsts.map(|first| die(first + shape.superblock - 1) - die(first) + 1);
    dies.max().unwrap_or(1)
}
