//! How an operation joins the graph, and what it has to wait for in addition to its chain.
//!
//! A page is read after it was programmed. A unit is erased after all reads of it that were issued
//! before. Programs and erases of a unit enter the queue of a die in the order in which they were
//! issued.

use super::node::{Edge, Kind, Operation, Work};
use super::scheduler::{Readers, Scheduler};
use crate::addr::Unit;
use crate::clock::{Chain, Clock, Component, NONE};

impl Scheduler {
    /// Issues an operation on a unit.
    #[inline(always)]
    pub(super) fn issue(
        &mut self,
        mut operation: Operation,
        unit: Unit,
        component: Component,
        chain: &mut Chain,
    ) {
        self.record_issue(operation.die, *chain);
        match operation.kind {
            Kind::Read => operation.before = self.reads(unit),
            Kind::Program | Kind::Erase => {
                operation.before = self.changes[operation.slot as usize];
            }
        }
        let at = self.state.graph.add(Work::Flash(operation), component, *chain, self.state.now);
        if let Some(share) = self.share.filter(|_| operation.kind == Kind::Read) {
            self.state.shorten_transfer(at, share);
        }
        match operation.kind {
            // With program units, pages not programmed yet are read from the controller's memory.
            Kind::Read if self.state.has_program_units() => {}
            Kind::Read => self.read_after_program(at, operation),
            Kind::Program => self.keep_order(at, operation),
            Kind::Erase => {
                self.keep_order(at, operation);
                self.erase_after_reads(at, unit);
            }
        }
        *chain = self.state.graph.chain(at, *chain);
        self.begin_if_ready(at);
    }

    /// Gives a program its place in the order of its die while its data is still to come. Returns
    /// the node where the data comes together, and the chain that ends with the program.
    pub(super) fn issue_open(&mut self, program: Operation, component: Component) -> (u32, Chain) {
        let before = self.changes[program.slot as usize];
        let program = Operation { before, ..program };
        let (work, now) = (Chain::START.work(), self.state.now);
        let data = self.state.graph.add(Work::Join { ended: now, last: 0 }, component, work, now);
        self.state.graph.node_mut(data).follows = 1;
        let all = self.state.graph.chain(data, work);
        let at = self.state.graph.add(Work::Flash(program), component, all, now);
        self.keep_order(at, program);
        (data, self.state.graph.chain(at, work))
    }

    /// Adds a chain that brings data to an open program.
    #[inline(always)]
    pub(super) fn feed(&mut self, data: u32, chain: Chain) {
        self.state.graph.follow(data, chain, Edge::Chain);
    }

    /// Closes an open program: it waits for no further chains.
    pub(super) fn close(&mut self, data: u32) {
        self.state.graph.node_mut(data).follows -= 1;
        self.begin_if_ready(data);
    }

    /// Cancels an open program. It must be the last change of its unit on its die.
    pub(super) fn cancel(&mut self, data: u32, end: Chain) {
        let &Operation { slot, before, .. } = self.state.graph.operation(end.node);
        self.changes[slot as usize] = before;
        if before != NONE {
            self.state.graph.operation_mut(before).after = NONE;
        }
        self.state.graph.node_mut(end.node).work = Work::Join { ended: self.state.now, last: 0 };
        self.close(data);
    }

    /// Returns whether the page of a read belongs to a program that is not complete.
    pub(super) fn is_programming(&self, read: &Operation, levels: u32) -> bool {
        let mut change = self.changes[read.slot as usize];
        while change != NONE {
            let before = self.state.graph.operation(change);
            if before.kind == Kind::Program && before.row / levels == read.row / levels {
                return true;
            }
            change = before.before;
        }
        false
    }

    /// Adds a page to a read that has not begun. The chain continues when the read is complete.
    pub(super) fn join_read(&mut self, read: Chain, chain: &mut Chain) {
        assert!(self.state.graph.is_live(read), "nothing begins amid a command");
        self.state.graph.operation_mut(read.node).add_page();
        if let Some(share) = self.share {
            self.state.shorten_transfer(read.node, share);
        }
        let read = Chain { node: read.node, serial: read.serial, ..*chain };
        *chain = match self.state.graph.is_live(*chain) && chain.node != read.node {
            true => self.join(read, *chain),
            false => read,
        };
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
        let mut change = self.changes[read.slot as usize];
        while change != NONE {
            let before = self.state.graph.operation(change);
            let is_page = (before.row, before.plane()) == (read.row, read.plane());
            if before.kind == Kind::Program && is_page {
                return self.state.graph.link(change, at, Edge::Hazard);
            }
            change = before.before;
        }
    }

    #[inline(always)]
    fn keep_order(&mut self, at: u32, operation: Operation) {
        self.changes[operation.slot as usize] = at;
        let last = operation.before;
        if last == NONE {
            return;
        }
        self.state.graph.operation_mut(last).after = at;
        if !self.state.graph.node(last).has_entered() {
            self.state.graph.node_mut(at).hazards += 1;
        }
    }

    /// Makes an erase wait for all reads of its unit. The erases of the unit share a node that
    /// waits for the reads.
    fn erase_after_reads(&mut self, at: u32, unit: Unit) {
        let readers = self.unit_readers[unit.index()];
        if readers == NONE {
            return;
        }
        let mut gate = self.readers[readers].erase;
        if gate == NONE {
            let join = Work::Join { ended: self.state.now, last: 0 };
            gate = self.state.graph.add(join, Component::Die, Chain::START.work(), self.state.now);
            self.state.graph.node_mut(gate).follows = 1;
            self.readers[readers].erase = gate;
        }
        self.state.graph.link(gate, at, Edge::Hazard);
    }

    /// Closes the set of reads that the erase of a unit waits for: later reads belong to a new set.
    pub(super) fn end_reading(&mut self, unit: Unit) {
        self.unit_readers[unit.index()] = NONE;
    }

    /// Completes an operation.
    #[inline(always)]
    pub(super) fn complete_flash(&mut self, at: u32) {
        self.end = self.state.now;
        let &Operation { kind, slot, before, after, .. } = self.state.graph.operation(at);
        if kind == Kind::Read {
            self.end_read(before);
        } else if after != NONE {
            self.state.graph.operation_mut(after).before = NONE;
        } else {
            self.changes[slot as usize] = NONE;
        }
        self.complete(at);
    }

    #[inline(always)]
    fn end_read(&mut self, readers: u32) {
        let entry = &mut self.readers[readers];
        entry.count -= 1;
        if entry.count > 0 {
            return;
        }
        let &mut Readers { unit, erase: gate, .. } = entry;
        self.readers.give_back(readers);
        if self.unit_readers[unit.index()] == readers {
            self.unit_readers[unit.index()] = NONE;
        }
        if gate != NONE {
            self.state.graph.node_mut(gate).follows = 0;
            self.ready.push(gate);
        }
    }
}
