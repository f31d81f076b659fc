//! Plays the graph in the order of time.
//!
//! At each instant, all work that ends then has ended before any work begins, and dies begin before
//! channels do. A die is never idle while an operation waits in its queues; the channel takes the
//! transfer that was ready first. Equal times are decided by age: the node that was made first goes
//! first.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::core::Core;
use super::events::{Event, Events, NEVER};
use super::graph::Graph;
use super::lanes::{CHANGES, Channel, Die, ERASE, READS, URGENT};
use super::line::{Line, Waiting};
use super::memory::WriteMemory;
use super::node::{Kind, Operation, Work};
use super::pool::Pool;
use super::recorder::Recorder;
use super::schedule::Schedule;
use super::{Geometry, Timing};
use crate::addr::Unit;
use crate::clock::{Chain, Ended, NO_CORE, NONE, Part, Server, Share};
use crate::counters::{Counters, DieUse, Occupation};

/// Condition at which the clock stops.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stop {
    /// A watched chain has ended.
    Ended,
    /// This chain has ended.
    Complete(Chain),
}

/// Duration of a service whose server stays occupied until it is given back.
pub(super) const HELD: u64 = u64::MAX;

/// Durations of one service: the chain continues after `pass_ns`, and the server takes the next
/// chain after `hold_ns`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Service {
    pub(super) pass_ns: u64,
    pub(super) hold_ns: u64,
}

/// Server that serves one chain after the other.
#[derive(Clone, Debug)]
pub(super) struct Desk {
    free: u32,
    pub(super) part: Part,
    queue: Line,
}

/// Outstanding reads of a unit, and the node that lets its erases wait for them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Readers {
    pub(super) unit: Unit,
    pub(super) count: u32,
    pub(super) erase: u32,
}

/// Dies, channels, servers, and their outstanding work.
#[derive(Clone, Debug)]
pub struct Scheduler {
    pub(super) core: Core,
    pub(super) dies: Vec<Die>,
    pub(super) channels: Vec<Channel>,
    pub(super) desks: [Desk; 4],
    pub(super) services: Pool<Service>,
    /// Cores that wait for the flash, by the numbers that chains have for them; and the last such
    /// number.
    cores_held: Vec<u32>,
    pub(super) cores_asked: u32,
    /// Nodes that wait for nothing any more.
    pub(super) ready: Vec<u32>,
    /// Operations that a hazard blocks, and whose chains hold cores.
    held: Vec<u32>,
    desks_dirty: bool,
    pub(super) ended: VecDeque<Ended>,
    /// When the last operation so far ended.
    pub(super) end: u64,
    /// By unit and die: the last program or erase that is not complete.
    pub(super) changes: Vec<u32>,
    /// By unit: an entry of `readers`.
    pub(super) unit_readers: Vec<u32>,
    pub(super) readers: Pool<Readers>,
    pub(super) recorder: Option<Box<Recorder>>,
    pub(super) memory: Option<WriteMemory>,
    /// Share of a page that reads transfer now; `None` for the whole page.
    pub(super) share: Option<Share>,
    /// Whether operations take no time.
    pub(super) stands_still: bool,
}

impl Scheduler {
    pub(super) fn new(geometry: &Geometry, timing: Timing, schedule: Schedule) -> Self {
        let shape = geometry.shape();
        let dies = (shape.channels * shape.dies) as usize;
        let units = geometry.units() as usize;
        let desk = |part, free| Desk { free, part, queue: Line::default() };
        let cores = schedule.controller.cores;
        Self {
            core: Core {
                timing,
                schedule,
                planes: if geometry.has_program_units() { 1 } else { shape.planes },
                unit_transfers: geometry.transfers_of_program_unit(),
                levels: geometry.levels(),
                graph: Graph::default(),
                events: Events::new(schedule.page_types()),
                now: 0,
                completed: Vec::new(),
                dirty_dies: Vec::new(),
                dirty_channels: Vec::new(),
                spared: Vec::new(),
            },
            dies: (0..dies).map(|die| Die::new(die, die / shape.dies as usize)).collect(),
            channels: (0..shape.channels).map(Channel::new).collect(),
            desks: [
                desk(Part::Queue, 1),
                desk(Part::Controller, cores),
                desk(Part::Link, 1),
                desk(Part::Link, 1),
            ],
            services: Pool::default(),
            cores_held: Vec::new(),
            cores_asked: NO_CORE,
            ready: Vec::new(),
            held: Vec::new(),
            desks_dirty: false,
            ended: VecDeque::new(),
            end: 0,
            changes: alloc::vec![NONE; units * dies_of_unit(shape) as usize],
            unit_readers: alloc::vec![NONE; units],
            readers: Pool::default(),
            recorder: None,
            memory: schedule.controller.write_pages.map(WriteMemory::new),
            share: None,
            stands_still: false,
        }
    }

    /// Enters the times of dies and channels until now.
    pub(super) fn report(&self, counters: &mut Counters) {
        counters.dies = self.dies.iter().map(|die| die.used(self.core.now)).collect();
        counters.channels =
            self.channels.iter().map(|channel| channel.used(self.core.now)).collect();
        let is_busy = self.dies.iter().any(Die::is_busy);
        let busy = counters.dies.iter().map(DieUse::busy_ns);
        counters.occupation = Occupation {
            end_ns: if is_busy { self.core.now } else { self.end },
            busy_ns: busy.clone().sum(),
            busiest_ns: busy.max().unwrap_or(0),
        };
    }

    /// Releases the nodes that wait for nothing any more.
    #[inline(always)]
    pub(super) fn release_ready(&mut self) {
        while let Some(at) = self.ready.pop() {
            self.release(at);
        }
        if !self.held.is_empty() {
            self.give_back_held();
        }
    }

    /// Gives back the cores of blocked operations, because the operations that block them may need
    /// these cores. An operation that has entered its queue by now was blocked for no time at all,
    /// and keeps its core.
    #[cold]
    fn give_back_held(&mut self) {
        while let Some(at) = self.held.pop() {
            if !self.core.graph.node(at).has_entered() {
                self.give_back(self.core.graph.core(at));
            }
        }
    }

    /// Releases a node that waits for no chain any more.
    #[inline(always)]
    fn release(&mut self, at: u32) {
        let node = self.core.graph.node(at);
        let Work::Flash(Operation { die, .. }) = node.work else { return self.release_other(at) };
        match node.hazards {
            0 => self.enter(at, die),
            _ => self.hold(at),
        }
    }

    /// Releases a node that is not a flash operation.
    fn release_other(&mut self, at: u32) {
        let node = self.core.graph.node(at);
        match &node.work {
            Work::Flash(_) | Work::Join { .. } => self.complete(at),
            Work::Delay { ns } => {
                self.core.events.push(self.core.now + ns, Event::Complete(at));
            }
            &Work::Serve { server, .. } => {
                let waiting = Waiting { since: self.core.now, serial: node.serial, entry: at };
                self.desks[server as usize].queue.push(waiting);
                self.desks_dirty = true;
            }
            Work::Release => {
                self.give_back(self.core.graph.core(at));
                self.complete(at);
            }
        }
    }

    /// Enters an operation without hazards into the queue of its die.
    #[inline(always)]
    fn enter(&mut self, at: u32, number: u16) {
        let (now, number) = (self.core.now, usize::from(number));
        self.record_die(number);
        let die = &mut self.dies[number];
        die.account_for(now, &mut self.channels[die.channel]);
        let node = self.core.graph.enter(at, now, die.account());
        let &Operation { kind, after, .. } = node.operation();
        let (queue, entry) = match kind {
            Kind::Read if self.core.schedule.order.is_urgent(node.is_read()) => (URGENT, at),
            Kind::Read => (READS, at),
            Kind::Program => (CHANGES, at),
            Kind::Erase => (CHANGES, at | ERASE),
        };
        die.queues[queue].push(Waiting { since: now, serial: node.serial, entry });
        die.mark_if_free(&mut self.core);
        if after != NONE {
            let kept_by = self.core.graph.kept_by(at);
            self.core.graph.release_held(after, kept_by, &mut self.ready);
        }
    }

    /// Blocks an operation whose chain has ended, because a hazard remains.
    fn hold(&mut self, at: u32) {
        let die = usize::from(self.core.graph.operation(at).die);
        self.record_die(die);
        let die = &mut self.dies[die];
        die.account_for(self.core.now, &mut self.channels[die.channel]);
        self.core.graph.begin_wait(at, self.core.now, die.account());
        self.core.graph.node_mut(at).hold();
        if self.core.graph.core(at) != NO_CORE {
            self.held.push(at);
        }
    }

    /// Frees a core for other chains, if a chain holds it.
    fn give_back(&mut self, core: u32) {
        if let Some(held) = self.cores_held.iter().position(|&held| held == core) {
            self.cores_held.swap_remove(held);
            self.free_server(Server::Cores as usize);
        }
    }

    /// Completes a node now.
    #[inline(always)]
    pub(super) fn complete(&mut self, at: u32) {
        if let Some(ended) = self.core.graph.complete(at, self.core.now, &mut self.ready) {
            self.ended.push_back(ended);
        }
    }

    pub(super) fn mark_die(&mut self, die: usize) {
        self.dies[die].mark(&mut self.core.dirty_dies);
    }

    pub(super) fn is_dirty(&self) -> bool {
        !self.core.dirty_dies.is_empty() || self.begins_others()
    }

    /// Returns whether servers or channels may be able to begin something.
    #[inline(always)]
    pub(super) fn begins_others(&self) -> bool {
        self.desks_dirty || !self.core.dirty_channels.is_empty()
    }

    /// Lets servers, then dies, then channels begin all that they can.
    #[inline(always)]
    fn begin_all(&mut self) {
        if self.desks_dirty {
            self.desks_dirty = false;
            (0..self.desks.len()).for_each(|desk| self.begin_services(desk));
        }
        // Dies begin in the order in which they were marked, which is mostly the order of age. So
        // their pages join the queue of the channel in the order of age.
        let mut next = 0;
        while let Some(&die) = self.core.dirty_dies.get(next) {
            self.begin_die(die as usize);
            next += 1;
        }
        self.core.dirty_dies.clear();
        while let Some(channel) = self.core.dirty_channels.pop() {
            self.begin_transfer(channel as usize);
        }
    }

    fn begin_services(&mut self, desk: usize) {
        while self.desks[desk].free > 0
            && let Some(Waiting { entry: at, .. }) = self.desks[desk].queue.pop()
        {
            let Work::Serve { service, .. } = self.core.graph.node(at).work else {
                unreachable!("what stands before a server is to be served")
            };
            let Service { pass_ns, hold_ns } = self.services[service];
            self.services.give_back(service);
            self.desks[desk].free -= 1;
            // The whole time since the chain arrived is accounted for when the service ends.
            self.core.events.push(self.core.now + pass_ns, Event::Complete(at));
            if hold_ns == HELD {
                self.cores_held.push(self.core.graph.core(at));
            } else {
                self.core.events.push(self.core.now + hold_ns, Event::Free(desk as u32));
            }
        }
    }

    /// Frees a server for the next chain.
    fn free_server(&mut self, desk: usize) {
        self.desks[desk].free += 1;
        self.desks_dirty = true;
    }

    #[inline(always)]
    fn fire(&mut self, event: Event) {
        match event {
            Event::Cells(die) => self.end_cells(die as usize),
            Event::Transfer(channel) => self.end_transfer(channel as usize),
            other => self.fire_other(other),
        }
    }

    /// Handles the events that are not ends of cells or transfers.
    fn fire_other(&mut self, event: Event) {
        match event {
            Event::Cells(_) | Event::Transfer(_) => unreachable!("events of the flash"),
            Event::Complete(at) => {
                let (now, part) = (self.core.now, self.core.graph.node(at).part);
                if let Some(account) = self.core.graph.account(at) {
                    account.blame.add(part, now - account.time);
                }
                self.complete(at);
            }
            Event::Commanded(die) => self.commanded(die as usize),
            Event::Wake(die) => self.mark_die(die as usize),
            Event::Free(server) => self.free_server(server as usize),
        }
    }

    /// Ends all work that ends at this instant.
    #[inline(always)]
    fn end_all(&mut self) {
        while let Some(event) = self.core.events.pop_due(self.core.now) {
            self.fire(event);
        }
        self.release_ready();
    }

    /// Releases a new node if it waits for nothing.
    #[inline(always)]
    pub(super) fn begin_if_ready(&mut self, at: u32) {
        if self.core.graph.node(at).follows == 0 {
            self.begin_now(at);
        }
    }

    #[inline(never)]
    fn begin_now(&mut self, at: u32) {
        self.release(at);
        self.release_ready();
    }
}

/// Returns the largest number of dies that a unit lies on. A unit need not begin at the first plane
/// of a die.
pub(super) fn dies_of_unit(shape: &crate::geometry::Shape) -> u32 {
    let die = |plane| plane / shape.planes;
    let firsts = (0..shape.channels * shape.dies * shape.planes).step_by(shape.superblock as usize);
    let dies = firsts.map(|first| die(first + shape.superblock - 1) - die(first) + 1);
    dies.max().unwrap_or(1)
}

impl Scheduler {
    /// Plays until `until`, or until the end of an instant at which `stop` holds.
    pub(super) fn play_until(&mut self, until: u64, stop: Stop) {
        loop {
            if self.core.events.first() <= self.core.now {
                self.end_all();
            }
            let stops = match stop {
                Stop::Ended => !self.ended.is_empty(),
                Stop::Complete(chain) => !self.core.graph.is_live(chain),
            };
            if stops {
                return;
            }
            if self.is_dirty() {
                if self.core.now >= until {
                    return;
                }
                if self.play_alone(until) {
                    continue;
                }
                self.begin_all();
                if self.core.events.first() <= self.core.now {
                    continue;
                }
            }
            let next = self.core.events.first();
            if next > until || next == NEVER {
                if until != NEVER {
                    self.core.now = self.core.now.max(until);
                }
                return;
            }
            self.core.now = next;
        }
    }
}
