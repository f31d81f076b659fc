//! How an operation joins the graph, and what it has to wait for beside its chain.
//!
//! A page is read after it was programmed. A unit is erased after what was to be read from it.
//! Programs and erases of a unit come to stand before a die in the order in which they were issued.

use super::node::{Edge, Kind, Operation, Work};
use super::scheduler::{Readers, Scheduler};
use crate::addr::Unit;
use crate::clock::{Chain, Clock, NONE, Part};

impl Scheduler {
    /// An operation on a unit is issued.
    #[inline(always)]
    pub(super) fn issue(
        &mut self,
        mut operation: Operation,
        unit: Unit,
        part: Part,
        chain: &mut Chain,
    ) {
        self.record_issue(operation.die, *chain);
        match operation.kind {
            Kind::Read => operation.before = self.reads(unit),
            Kind::Program | Kind::Erase => {
                operation.before = self.changes[operation.slot as usize];
            }
        }
        let at = self.core.graph.add(Work::Flash(operation), part, *chain, self.core.now);
        if let Some(share) = self.share.filter(|_| operation.kind == Kind::Read) {
            self.core.spare(at, share);
        }
        match operation.kind {
            // What is not programmed is read from the controller's memory there.
            Kind::Read if self.core.has_program_units() => {}
            Kind::Read => self.read_after_program(at, operation),
            Kind::Program => self.keep_order(at, operation),
            Kind::Erase => {
                self.keep_order(at, operation);
                self.erase_after_reads(at, unit);
            }
        }
        *chain = self.core.graph.chain(at, *chain);
        self.begin_if_ready(at);
    }

    /// A program takes its place among those of its die, but what is to be programmed has still to
    /// come. The answer is where that comes together, and the chain that ends with the program.
    pub(super) fn issue_open(&mut self, program: Operation, part: Part) -> (u32, Chain) {
        let before = self.changes[program.slot as usize];
        let program = Operation { before, ..program };
        let (work, now) = (Chain::START.work(), self.core.now);
        let data = self.core.graph.add(Work::Join { ended: now, last: 0 }, part, work, now);
        self.core.graph.node_mut(data).follows = 1;
        let all = self.core.graph.chain(data, work);
        let at = self.core.graph.add(Work::Flash(program), part, all, now);
        self.keep_order(at, program);
        (data, self.core.graph.chain(at, work))
    }

    /// Data of an open program comes with a chain.
    #[inline(always)]
    pub(super) fn feed(&mut self, data: u32, chain: Chain) {
        self.core.graph.follow(data, chain, Edge::Chain);
    }

    /// All that an open program waits for is known.
    pub(super) fn close(&mut self, data: u32) {
        self.core.graph.node_mut(data).follows -= 1;
        self.begin_if_ready(data);
    }

    /// An open program will not be: it is the last change of its unit on its die.
    pub(super) fn cancel(&mut self, data: u32, end: Chain) {
        let &Operation { slot, before, .. } = self.core.graph.operation(end.node);
        self.changes[slot as usize] = before;
        if before != NONE {
            self.core.graph.operation_mut(before).after = NONE;
        }
        self.core.graph.node_mut(end.node).work = Work::Join { ended: self.core.now, last: 0 };
        self.close(data);
    }

    /// Whether what is to be read is in a program that is not complete.
    pub(super) fn is_programming(&self, read: &Operation, levels: u32) -> bool {
        let mut change = self.changes[read.slot as usize];
        while change != NONE {
            let before = self.core.graph.operation(change);
            if before.kind == Kind::Program && before.row / levels == read.row / levels {
                return true;
            }
            change = before.before;
        }
        false
    }

    /// One page more is read by a read that has not begun, and the chain goes on when it is.
    pub(super) fn join_read(&mut self, read: Chain, chain: &mut Chain) {
        assert!(self.core.graph.is_live(read), "nothing begins amid a command");
        self.core.graph.operation_mut(read.node).add_page();
        if let Some(share) = self.share {
            self.core.spare(read.node, share);
        }
        let read = Chain { node: read.node, serial: read.serial, ..*chain };
        *chain = match self.core.graph.is_live(*chain) && chain.node != read.node {
            true => self.join(read, *chain),
            false => read,
        };
    }

    /// One more reads a unit: the entry of its readers.
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
            let before = self.core.graph.operation(change);
            let is_page = (before.row, before.plane()) == (read.row, read.plane());
            if before.kind == Kind::Program && is_page {
                return self.core.graph.link(change, at, Edge::Hazard);
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
        self.core.graph.operation_mut(last).after = at;
        if !self.core.graph.node(last).has_entered() {
            self.core.graph.node_mut(at).hazards += 1;
        }
    }

    /// All erases of a unit wait for all who read it: they share a node that does.
    fn erase_after_reads(&mut self, at: u32, unit: Unit) {
        let readers = self.unit_readers[unit.index()];
        if readers == NONE {
            return;
        }
        let mut gate = self.readers[readers].erase;
        if gate == NONE {
            let join = Work::Join { ended: self.core.now, last: 0 };
            gate = self.core.graph.add(join, Part::Die, Chain::START.work(), self.core.now);
            self.core.graph.node_mut(gate).follows = 1;
            self.readers[readers].erase = gate;
        }
        self.core.graph.link(gate, at, Edge::Hazard);
    }

    /// What is read of a unit from now on is read after its erase.
    pub(super) fn end_reading(&mut self, unit: Unit) {
        self.unit_readers[unit.index()] = NONE;
    }

    /// An operation is complete.
    #[inline(always)]
    pub(super) fn complete_flash(&mut self, at: u32) {
        self.end = self.core.now;
        let &Operation { kind, slot, before, after, .. } = self.core.graph.operation(at);
        if kind == Kind::Read {
            self.end_read(before);
        } else if after != NONE {
            self.core.graph.operation_mut(after).before = NONE;
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
            self.core.graph.node_mut(gate).follows = 0;
            self.ready.push(gate);
        }
    }
}
