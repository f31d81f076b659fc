//! How an operation joins the graph, and what it has to wait for beside its chain.
//!
//! A page is read after it was programmed. A unit is erased after what was to be read from it.
//! Programs and erases of a unit come to stand before a die in the order in which they were issued.

use super::graph::{Edge, Kind, Site, Work};
use super::scheduler::{Readers, Scheduler};
use crate::clock::{Chain, NONE, Part};

impl Scheduler {
    /// An operation is issued.
    #[inline(always)]
    pub(super) fn issue(&mut self, kind: Kind, site: Site, part: Part, chain: &mut Chain) {
        self.record_issue(site.die, *chain);
        let ns = self.cells_ns(kind, site.row);
        let at = self.graph.add(Work::Flash(kind), part, ns, *chain, self.now);
        self.graph.node_mut(at).site = site;
        match kind {
            Kind::Read => self.read_after_program(at, site.slot),
            Kind::Program | Kind::Erase => self.keep_order(at, site.slot),
        }
        if kind == Kind::Erase {
            self.erase_after_reads(at);
        }
        *chain = self.graph.chain(at, *chain);
        self.begin_if_ready(at);
    }

    #[inline(always)]
    fn read_after_program(&mut self, at: u32, slot: u32) {
        let Site { unit, page, .. } = self.graph.node(at).site;
        let mut change = self.changes[slot as usize];
        while change != NONE {
            let node = self.graph.node(change);
            if node.site.page == page && node.work == Work::Flash(Kind::Program) {
                self.graph.link(change, at, Edge::Hazard);
                break;
            }
            change = node.before;
        }
        let readers = &mut self.unit_readers[unit as usize];
        if *readers == NONE {
            let none = Readers { count: 0, erase: NONE };
            *readers = self.free_readers.pop().unwrap_or(self.readers.len() as u32);
            match self.readers.get_mut(*readers as usize) {
                Some(entry) => *entry = none,
                None => self.readers.push(none),
            }
        }
        self.readers[*readers as usize].count += 1;
        self.graph.node_mut(at).readers = *readers;
    }

    #[inline(always)]
    fn keep_order(&mut self, at: u32, slot: u32) {
        let last = core::mem::replace(&mut self.changes[slot as usize], at);
        self.graph.node_mut(at).before = last;
        if last == NONE {
            return;
        }
        let node = self.graph.node_mut(last);
        node.after = at;
        if !node.has_entered {
            self.graph.node_mut(at).pending += 1;
        }
    }

    /// All erases of a unit wait for all who read it: they share a node that does.
    fn erase_after_reads(&mut self, at: u32) {
        let unit = self.graph.node(at).site.unit as usize;
        let readers = self.unit_readers[unit];
        if readers == NONE {
            return;
        }
        let entry = self.readers[readers as usize];
        let gate = match entry.erase {
            NONE => {
                let gate =
                    self.graph.add(Work::Nothing, Part::Die, 0, Chain::START.work(), self.now);
                let node = self.graph.node_mut(gate);
                (node.pending, node.follows) = (1, 1);
                self.readers[readers as usize].erase = gate;
                gate
            }
            gate => gate,
        };
        self.graph.link(gate, at, Edge::Hazard);
    }

    /// What is read of a unit from now on is read after its erase.
    pub(super) fn end_reading(&mut self, unit: usize) {
        self.unit_readers[unit] = NONE;
    }

    /// An operation is complete.
    #[inline(always)]
    pub(super) fn complete_flash(&mut self, at: u32) {
        self.end = self.now;
        let node = self.graph.node(at);
        let (readers, slot, after) = (node.readers, node.site.slot, node.after);
        if readers != NONE {
            self.end_read(node.site.unit as usize, readers);
        } else if after != NONE {
            self.graph.node_mut(after).before = NONE;
        } else {
            self.changes[slot as usize] = NONE;
        }
        self.complete(at);
    }

    #[inline(always)]
    fn end_read(&mut self, unit: usize, readers: u32) {
        let entry = &mut self.readers[readers as usize];
        entry.count -= 1;
        if entry.count > 0 {
            return;
        }
        let gate = entry.erase;
        self.free_readers.push(readers);
        if self.unit_readers[unit] == readers {
            self.unit_readers[unit] = NONE;
        }
        if gate != NONE {
            let node = self.graph.node_mut(gate);
            (node.pending, node.follows) = (0, 0);
            self.ready.push(gate);
        }
    }
}
