//! Plays the graph in the order of time.
//!
//! At each instant, all work that ends then has ended before any work begins, and dies begin before
//! channels do. A die is never idle while an operation waits in its queues; the channel takes the
//! transfer that was ready first. Equal times are decided by age: the node that was made first goes
//! first.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::events::{Event, Events, NEVER};
use super::graph::Graph;
use super::lanes::{CHANGES, Channel, Die, ERASE, READS, URGENT};
use super::memory::WriteMemory;
use super::node::{Kind, Operation, Work};
use super::pool::Pool;
use super::recorder::Recorder;
use super::schedule::Schedule;
use super::state::SchedulerState;
use super::wait_queue::{WaitQueue, Waiting};
use super::{Geometry, Timing};
use crate::addr::Unit;
use crate::clock::{Chain, Component, Ended, NO_CORE, NONE, Server, Share};
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
pub(super) const UNTIL_RETURNED: u64 = u64::MAX;

/// Durations of one service: the chain continues after `pass_ns`, and the server takes the next
/// chain after `hold_ns`.
#[derive(Clone, Copy, Debug)]
pub(super) struct ServiceTimes {
    pub(super) pass_ns: u64,
    pub(super) hold_ns: u64,
}

/// Server that serves one chain after the other.
#[derive(Clone, Debug)]
pub(super) struct Service {
    free: u32,
    pub(super) component: Component,
    queue: WaitQueue,
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
    pub(super) state: SchedulerState,
    pub(super) dies: Vec<Die>,
    pub(super) channels: Vec<Channel>,
    pub(super) services: [Service; 4],
    pub(super) service_times: Pool<ServiceTimes>,
    /// Cores that wait for the flash, by the numbers that chains have for them; and the last such
    /// number.
    cores_taken: Vec<u32>,
    pub(super) cores_asked: u32,
    /// Nodes that wait for nothing any more.
    pub(super) ready: Vec<u32>,
    /// Operations that a hazard blocks, and whose chains hold cores.
    blocked: Vec<u32>,
    services_dirty: bool,
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
    pub(super) is_frozen: bool,
}

impl Scheduler {
    pub(super) fn new(geometry: &Geometry, timing: Timing, schedule: Schedule) -> Self {
        let shape = geometry.shape();
        let dies = (shape.channels * shape.dies) as usize;
        let units = geometry.units() as usize;
        let service = |component, free| Service { free, component, queue: WaitQueue::default() };
        let cores = schedule.controller.cores;
        Self {
            state: SchedulerState {
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
                saved_ns: Vec::new(),
            },
            dies: (0..dies).map(|die| Die::new(die, die / shape.dies as usize)).collect(),
            channels: (0..shape.channels).map(Channel::new).collect(),
            services: [
                service(Component::Queue, 1),
                service(Component::Controller, cores),
                service(Component::Link, 1),
                service(Component::Link, 1),
            ],
            service_times: Pool::default(),
            cores_taken: Vec::new(),
            cores_asked: NO_CORE,
            ready: Vec::new(),
            blocked: Vec::new(),
            services_dirty: false,
            ended: VecDeque::new(),
            end: 0,
            changes: alloc::vec![NONE; units * dies_of_unit(shape) as usize],
            unit_readers: alloc::vec![NONE; units],
            readers: Pool::default(),
            recorder: None,
            memory: schedule.controller.write_pages.map(WriteMemory::new),
            share: None,
            is_frozen: false,
        }
    }

    /// Enters the times of dies and channels until now.
    pub(super) fn report(&self, counters: &mut Counters) {
        counters.dies = self.dies.iter().map(|die| die.used(self.state.now)).collect();
        counters.channels =
            self.channels.iter().map(|channel| channel.used(self.state.now)).collect();
        let is_busy = self.dies.iter().any(Die::is_busy);
        let busy = counters.dies.iter().map(DieUse::busy_ns);
        counters.occupation = Occupation {
            end_ns: if is_busy { self.state.now } else { self.end },
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
        if !self.blocked.is_empty() {
            self.give_back_blocked();
        }
    }

    /// Gives back the cores of blocked operations, because the operations that block them may need
    /// these cores. An operation that has entered its queue by now was blocked for no time at all,
    /// and keeps its core.
    #[cold]
    fn give_back_blocked(&mut self) {
        while let Some(at) = self.blocked.pop() {
            if !self.state.graph.node(at).has_entered() {
                self.give_back(self.state.graph.core(at));
            }
        }
    }

    /// Releases a node that waits for no chain any more.
    #[inline(always)]
    fn release(&mut self, at: u32) {
        let node = self.state.graph.node(at);
        let Work::Flash(Operation { die, .. }) = node.work else { return self.release_other(at) };
        match node.hazards {
            0 => self.enter(at, die),
            _ => self.block(at),
        }
    }

    /// Releases a node that is not a flash operation.
    fn release_other(&mut self, at: u32) {
        let node = self.state.graph.node(at);
        match &node.work {
            Work::Flash(_) | Work::Join { .. } => self.complete(at),
            Work::Delay { ns } => {
                self.state.events.push(self.state.now + ns, Event::Complete(at));
            }
            &Work::Serve { server, .. } => {
                let waiting = Waiting { since: self.state.now, serial: node.serial, entry: at };
                self.services[server as usize].queue.push(waiting);
                self.services_dirty = true;
            }
            Work::Release => {
                self.give_back(self.state.graph.core(at));
                self.complete(at);
            }
        }
    }

    /// Enters an operation without hazards into the queue of its die.
    #[inline(always)]
    fn enter(&mut self, at: u32, number: u16) {
        let (now, number) = (self.state.now, usize::from(number));
        self.record_die(number);
        let die = &mut self.dies[number];
        die.account_for(now, &mut self.channels[die.channel]);
        let node = self.state.graph.enter(at, now, die.account());
        let &Operation { kind, after, .. } = node.operation();
        let (queue, entry) = match kind {
            Kind::Read if self.state.schedule.order.is_urgent(node.is_read()) => (URGENT, at),
            Kind::Read => (READS, at),
            Kind::Program => (CHANGES, at),
            Kind::Erase => (CHANGES, at | ERASE),
        };
        die.queues[queue].push(Waiting { since: now, serial: node.serial, entry });
        die.set_dirty_if_free(&mut self.state);
        if after != NONE {
            let last_blocker = self.state.graph.last_blocker(at);
            self.state.graph.release_blocked(after, last_blocker, &mut self.ready);
        }
    }

    /// Blocks an operation whose chain has ended, because a hazard remains.
    fn block(&mut self, at: u32) {
        let die = usize::from(self.state.graph.operation(at).die);
        self.record_die(die);
        let die = &mut self.dies[die];
        die.account_for(self.state.now, &mut self.channels[die.channel]);
        self.state.graph.begin_wait(at, self.state.now, die.account());
        self.state.graph.node_mut(at).block();
        if self.state.graph.core(at) != NO_CORE {
            self.blocked.push(at);
        }
    }

    /// Frees a core for other chains, if a chain holds it.
    fn give_back(&mut self, core: u32) {
        if let Some(blocked) = self.cores_taken.iter().position(|&blocked| blocked == core) {
            self.cores_taken.swap_remove(blocked);
            self.free_server(Server::Cores as usize);
        }
    }

    /// Completes a node now.
    #[inline(always)]
    pub(super) fn complete(&mut self, at: u32) {
        if let Some(ended) = self.state.graph.complete(at, self.state.now, &mut self.ready) {
            self.ended.push_back(ended);
        }
    }

    pub(super) fn set_die_dirty(&mut self, die: usize) {
        self.dies[die].set_dirty(&mut self.state.dirty_dies);
    }

    pub(super) fn is_dirty(&self) -> bool {
        !self.state.dirty_dies.is_empty() || self.begins_others()
    }

    /// Returns whether servers or channels may be able to begin something.
    #[inline(always)]
    pub(super) fn begins_others(&self) -> bool {
        self.services_dirty || !self.state.dirty_channels.is_empty()
    }

    /// Lets servers, then dies, then channels begin all that they can.
    #[inline(always)]
    fn begin_all(&mut self) {
        if self.services_dirty {
            self.services_dirty = false;
            (0..self.services.len()).for_each(|service| self.begin_services(service));
        }
        // Dies begin in the order in which they were marked, which is mostly the order of age. So
        // their pages join the queue of the channel in the order of age.
        let mut next = 0;
        while let Some(&die) = self.state.dirty_dies.get(next) {
            self.begin_die(die as usize);
            next += 1;
        }
        self.state.dirty_dies.clear();
        while let Some(channel) = self.state.dirty_channels.pop() {
            self.begin_transfer(channel as usize);
        }
    }

    fn begin_services(&mut self, service: usize) {
        while self.services[service].free > 0
            && let Some(Waiting { entry: at, .. }) = self.services[service].queue.pop()
        {
            let Work::Serve { times, .. } = self.state.graph.node(at).work else {
                unreachable!("every node in the queue of a service is to be served")
            };
            let ServiceTimes { pass_ns, hold_ns } = self.service_times[times];
            self.service_times.give_back(times);
            self.services[service].free -= 1;
            // The whole time since the chain arrived is accounted for when the service ends.
            self.state.events.push(self.state.now + pass_ns, Event::Complete(at));
            if hold_ns == UNTIL_RETURNED {
                self.cores_taken.push(self.state.graph.core(at));
            } else {
                self.state.events.push(self.state.now + hold_ns, Event::Free(service as u32));
            }
        }
    }

    /// Frees a server for the next chain.
    fn free_server(&mut self, service: usize) {
        self.services[service].free += 1;
        self.services_dirty = true;
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
                let (now, component) = (self.state.now, self.state.graph.node(at).component);
                if let Some(account) = self.state.graph.account(at) {
                    account.blame.add(component, now - account.time);
                }
                self.complete(at);
            }
            Event::Commanded(die) => self.commanded(die as usize),
            Event::Wake(die) => self.set_die_dirty(die as usize),
            Event::Free(server) => self.free_server(server as usize),
        }
    }

    /// Ends all work that ends at this instant.
    #[inline(always)]
    fn end_all(&mut self) {
        while let Some(event) = self.state.events.pop_due(self.state.now) {
            self.fire(event);
        }
        self.release_ready();
    }

    /// Releases a new node if it waits for nothing.
    #[inline(always)]
    pub(super) fn begin_if_ready(&mut self, at: u32) {
        if self.state.graph.node(at).follows == 0 {
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
            if self.state.events.first() <= self.state.now {
                self.end_all();
            }
            let stops = match stop {
                Stop::Ended => !self.ended.is_empty(),
                Stop::Complete(chain) => !self.state.graph.is_live(chain),
            };
            if stops {
                return;
            }
            if self.is_dirty() {
                if self.state.now >= until {
                    return;
                }
                if self.play_alone(until) {
                    continue;
                }
                self.begin_all();
                if self.state.events.first() <= self.state.now {
                    continue;
                }
            }
            let next = self.state.events.first();
            if next > until || next == NEVER {
                if until != NEVER {
                    self.state.now = self.state.now.max(until);
                }
                return;
            }
            self.state.now = next;
        }
    }
}
