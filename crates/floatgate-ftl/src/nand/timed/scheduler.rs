//! Plays the graph in the order of time.
//!
//! At each instant all that ends then has ended before anything begins, and dies begin before
//! channels do. A die that something waits for is never idle; the channel takes the transfer that
//! was ready first. Equal times are decided by age: the node that was made first goes first.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::events::{Event, Events, NEVER};
use super::graph::{Graph, Kind, UNWATCHED, Work};
use super::lanes::{CHANGES, Channel, Die, ERASE, READS, URGENT, enqueue};
use super::recorder::Recorder;
use super::schedule::{Order, Schedule};
use super::{Geometry, Timing};
use crate::clock::{Ended, NO_CORE, NONE, Part, Server};
use crate::counters::{Counters, DieUse, Occupation};

/// A server is held until it is given back.
pub(super) const HELD: u64 = u64::MAX;

/// What serves one chain after the other.
#[derive(Clone, Debug)]
pub(super) struct Desk {
    free: u32,
    pub(super) part: Part,
    queue: VecDeque<super::lanes::Waiting>,
}

/// The unit's readers, as far as they are outstanding, and the erase that waits for them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Readers {
    pub(super) count: u32,
    pub(super) erase: u32,
}

/// Dies, channels, servers, and what they are to do.
#[derive(Clone, Debug)]
pub struct Scheduler {
    pub(super) timing: Timing,
    pub(super) schedule: Schedule,
    pub(super) graph: Graph,
    pub(super) dies: Vec<Die>,
    pub(super) channels: Vec<Channel>,
    pub(super) desks: [Desk; 4],
    /// Cores that wait for the flash, by the names that chains have for them; and the last name.
    cores_held: Vec<u32>,
    pub(super) cores_asked: u32,
    pub(super) events: Events,
    /// Nodes that wait for nothing any more.
    pub(super) ready: Vec<u32>,
    /// Operations that were found held back, and whose chains hold cores.
    held: Vec<u32>,
    dirty_dies: Vec<u32>,
    dirty_channels: Vec<u32>,
    desks_dirty: bool,
    pub(super) ended: VecDeque<Ended>,
    pub(super) now: u64,
    /// When the last operation so far has ended.
    pub(super) end: u64,
    /// Per unit and die: the last change that is not complete.
    pub(super) changes: Vec<u32>,
    /// Per unit: an entry of `readers`.
    pub(super) unit_readers: Vec<u32>,
    pub(super) readers: Vec<Readers>,
    pub(super) free_readers: Vec<u32>,
    pub(super) recorder: Option<Box<Recorder>>,
}

impl Scheduler {
    pub(super) fn new(geometry: &Geometry, timing: Timing, schedule: Schedule) -> Self {
        let shape = geometry.shape();
        let dies = (shape.channels * shape.dies) as usize;
        let channels = shape.channels as usize;
        let units = geometry.units() as usize;
        let desk = |part, free| Desk { free, part, queue: VecDeque::new() };
        let cores = schedule.controller.cores;
        Self {
            timing,
            schedule,
            graph: Graph::default(),
            dies: (0..dies).map(|die| Die::new(die / shape.dies as usize)).collect(),
            channels: alloc::vec![Channel::new(); channels],
            desks: [
                desk(Part::Queue, 1),
                desk(Part::Controller, cores),
                desk(Part::Link, 1),
                desk(Part::Link, 1),
            ],
            cores_held: Vec::new(),
            cores_asked: NO_CORE,
            events: Events::default(),
            ready: Vec::new(),
            held: Vec::new(),
            dirty_dies: Vec::new(),
            dirty_channels: Vec::new(),
            desks_dirty: false,
            ended: VecDeque::new(),
            now: 0,
            end: 0,
            changes: alloc::vec![NONE; units * dies_of_unit(shape) as usize],
            unit_readers: alloc::vec![NONE; units],
            readers: Vec::new(),
            free_readers: Vec::new(),
            recorder: None,
        }
    }

    /// How long the cells take for an operation.
    #[inline(always)]
    pub(super) fn cells_ns(&self, kind: Kind, row: u32) -> u64 {
        match (kind, &self.schedule.pages) {
            (Kind::Erase, _) => self.timing.erase_ns,
            (Kind::Read, None) => self.timing.read_ns,
            (Kind::Program, None) => self.timing.program_ns,
            (Kind::Read, Some(pages)) => pages.read_ns[(row % pages.types) as usize],
            (Kind::Program, Some(pages)) => pages.program_ns[(row % pages.types) as usize],
        }
    }

    /// Enters what dies and channels did until now.
    pub(super) fn report(&self, counters: &mut Counters) {
        counters.dies = self.dies.iter().map(|die| die.used(self.now)).collect();
        counters.channels = self.channels.iter().map(|channel| channel.used(self.now)).collect();
        let is_busy = self.dies.iter().any(Die::is_busy);
        let busy = counters.dies.iter().map(DieUse::busy_ns);
        counters.occupation = Occupation {
            end_ns: if is_busy { self.now } else { self.end },
            busy_ns: busy.clone().sum(),
            busiest_ns: busy.max().unwrap_or(0),
        };
    }

    /// Does what comes of nodes that wait for nothing any more.
    pub(super) fn release_ready(&mut self) {
        while let Some(at) = self.ready.pop() {
            let node = self.graph.node(at);
            if node.pending > 0 {
                self.hold(at);
                continue;
            }
            match node.work {
                Work::Nothing => self.complete(at),
                Work::Delay => {
                    self.events.push(self.now + node.ns, Event::Complete(at));
                }
                Work::Release => {
                    self.give_back(node.core);
                    self.complete(at);
                }
                Work::Serve(server) => {
                    let waiting = (self.now, node.serial, at);
                    enqueue(&mut self.desks[server as usize].queue, waiting);
                    self.desks_dirty = true;
                }
                Work::Flash(kind) => self.enter(at, kind),
            }
        }
        // What holds an operation back may need the core that waits here; unless it was held back
        // for no time at all.
        while let Some(at) = self.held.pop() {
            let node = self.graph.node(at);
            if !node.has_entered {
                self.give_back(node.core);
            }
        }
    }

    /// An operation that nothing holds back comes to stand before its die.
    #[inline(always)]
    fn enter(&mut self, at: u32, kind: Kind) {
        let now = self.now;
        let die = self.graph.node(at).site.die as usize;
        self.settle_die(die);
        if self.graph.node(at).is_held {
            self.graph.was_held(at, now, self.dies[die].account());
        } else {
            self.graph.begin_wait(at, now, self.dies[die].account());
        }
        let node = self.graph.node_mut(at);
        node.has_entered = true;
        let (serial, after) = (node.serial, node.after);
        let (queue, entry) = match kind {
            Kind::Read if node.is_read && self.schedule.order != Order::Fifo => (URGENT, at),
            Kind::Read => (READS, at),
            Kind::Program => (CHANGES, at),
            Kind::Erase => (CHANGES, at | ERASE),
        };
        enqueue(&mut self.dies[die].queues[queue], (now, serial, entry));
        self.mark_die(die);
        if after != NONE {
            let kept_by = self.graph.kept_by(at);
            self.graph.release_held(after, kept_by, &mut self.ready);
        }
    }

    /// The chain before an operation has ended, but something holds it back from its die.
    pub(super) fn hold(&mut self, at: u32) {
        let die = self.graph.node(at).site.die as usize;
        self.settle_die(die);
        self.graph.node_mut(at).is_held = true;
        self.graph.begin_wait(at, self.now, self.dies[die].account());
        if self.graph.node(at).core != NO_CORE {
            self.held.push(at);
        }
    }

    /// A core is free for others, if it is held.
    fn give_back(&mut self, core: u32) {
        if let Some(held) = self.cores_held.iter().position(|&held| held == core) {
            self.cores_held.swap_remove(held);
            self.fire(Event::Free(Server::Cores as u32));
        }
    }

    /// A node is complete now.
    #[inline(always)]
    pub(super) fn complete(&mut self, at: u32) {
        let ticket = self.graph.node(at).ticket;
        if ticket != UNWATCHED {
            let blame = self.graph.account(at).map(|account| account.blame).unwrap_or_default();
            self.ended.push_back(Ended { ticket, at_ns: self.now, blame });
        }
        self.graph.complete(at, self.now, &mut self.ready);
    }

    #[inline(always)]
    pub(super) fn settle_die(&mut self, die: usize) {
        self.record_die(die);
        let channel = &mut self.channels[self.dies[die].channel];
        channel.account_for(self.now);
        self.dies[die].account_for(self.now, channel);
    }

    /// A die has changed.
    #[inline(always)]
    pub(super) fn die_changed(&mut self, die: usize) {
        let channel = &self.channels[self.dies[die].channel];
        self.dies[die].changed(channel);
        self.mark_die(die);
    }

    #[inline(always)]
    pub(super) fn mark_die(&mut self, die: usize) {
        if !self.dies[die].is_dirty {
            self.dies[die].is_dirty = true;
            self.dirty_dies.push(die as u32);
        }
    }

    #[inline(always)]
    pub(super) fn mark_channel(&mut self, channel: usize) {
        if !self.channels[channel].is_dirty {
            self.channels[channel].is_dirty = true;
            self.dirty_channels.push(channel as u32);
        }
    }

    fn is_dirty(&self) -> bool {
        self.desks_dirty || !self.dirty_dies.is_empty() || !self.dirty_channels.is_empty()
    }

    /// Whoever can begin something does: servers, dies, then channels.
    fn begin_all(&mut self) {
        if self.desks_dirty {
            self.desks_dirty = false;
            (0..self.desks.len()).for_each(|desk| self.begin_services(desk));
        }
        while let Some(die) = self.dirty_dies.pop() {
            self.dies[die as usize].is_dirty = false;
            self.begin_die(die as usize);
        }
        while let Some(channel) = self.dirty_channels.pop() {
            self.channels[channel as usize].is_dirty = false;
            self.begin_transfer(channel as usize);
        }
    }

    fn begin_services(&mut self, desk: usize) {
        while self.desks[desk].free > 0
            && let Some((_, _, at)) = self.desks[desk].queue.pop_front()
        {
            // All of it, from when it came, is added when the service is done.
            let node = self.graph.node(at);
            self.desks[desk].free -= 1;
            self.events.push(self.now + node.ns, Event::Complete(at));
            if node.hold == HELD {
                self.cores_held.push(node.core);
            } else {
                self.events.push(self.now + node.hold, Event::Free(desk as u32));
            }
        }
    }

    fn fire(&mut self, event: Event) {
        match event {
            Event::Cells(die) => self.end_cells(die as usize),
            Event::Transfer(channel) => self.end_transfer(channel as usize),
            Event::Complete(at) => {
                let (now, part) = (self.now, self.graph.node(at).part);
                if let Some(account) = self.graph.account(at) {
                    account.blame.add(part, now - account.time);
                }
                self.complete(at);
            }
            Event::Commanded(die) => self.commanded(die as usize),
            Event::Wake(die) => self.mark_die(die as usize),
            Event::Free(desk) => {
                self.desks[desk as usize].free += 1;
                self.desks_dirty = true;
            }
        }
    }

    /// All that ends at this instant ends.
    fn end_all(&mut self) {
        while let Some(event) = self.events.pop_due(self.now) {
            self.fire(event);
        }
        self.release_ready();
    }

    /// A node has been made: it may wait for nothing.
    pub(super) fn begin_if_ready(&mut self, at: u32) {
        if self.graph.node(at).follows == 0 {
            self.ready.push(at);
            self.release_ready();
        }
    }
}

/// The most dies that a unit lies on: units need not begin where a die does.
pub(super) fn dies_of_unit(shape: &crate::geometry::Shape) -> u32 {
    let die = |plane| plane / shape.planes;
    let firsts = (0..shape.channels * shape.dies * shape.planes).step_by(shape.superblock as usize);
    let dies = firsts.map(|first| die(first + shape.superblock - 1) - die(first) + 1);
    dies.max().unwrap_or(1)
}

impl Scheduler {
    /// Plays until `until`, or until the end of an instant at which it is to stop.
    pub(super) fn play_until(&mut self, until: u64, stops: impl Fn(&Self) -> bool) {
        loop {
            let next = self.events.first();
            if next <= self.now {
                self.end_all();
            } else if stops(self) {
                return;
            } else if self.is_dirty() {
                if self.now >= until {
                    return;
                }
                self.begin_all();
            } else if next > until || next == NEVER {
                if until != NEVER {
                    self.now = self.now.max(until);
                }
                return;
            } else {
                self.now = next;
            }
        }
    }
}
