//! Servers other than the flash: command handling, the controller's cores, the host's link; and the
//! controller's memory.

mod memory;

use alloc::vec::Vec;

pub use memory::WriteMemory;

use super::events::{Event, Events};
use super::graph::{HAS_ENTERED, Nodes, Work};
use super::pool::Pool;
use super::schedule::Controller;
use super::wait_queue::{WaitQueue, Waiting};
use crate::clock::{Component, NO_CORE, Server, Task};

/// Duration of a service whose server stays occupied until it is given back.
pub const UNTIL_RETURNED: u64 = u64::MAX;

/// Durations of one service: the chain continues after `pass_ns`, and the server takes the next
/// chain after `hold_ns`.
#[derive(Clone, Copy, Debug)]
struct ServiceTimes {
    pass_ns: u64,
    hold_ns: u64,
}

/// Server that serves one chain after the other.
#[derive(Clone, Debug)]
struct Service {
    free: u32,
    component: Component,
    queue: WaitQueue,
}

/// The servers, and the memory for host writes.
#[derive(Clone, Debug)]
pub struct Services {
    controller: Controller,
    servers: [Service; 4],
    times: Pool<ServiceTimes>,
    /// Servers that may be able to begin something: one bit each.
    dirty: u8,
    /// Numbers of the cores that chains hold while they wait for the flash, and the last number
    /// that a chain got.
    cores_taken: Vec<u32>,
    cores_asked: u32,
    /// Operations that a hazard blocks, and whose chains hold cores.
    blocked: Vec<u32>,
    memory: Option<WriteMemory>,
}

impl Services {
    /// Creates idle servers.
    pub fn new(controller: Controller) -> Self {
        let server = |component, free| Service { free, component, queue: WaitQueue::default() };
        Self {
            controller,
            servers: [
                server(Component::Queue, 1),
                server(Component::Controller, controller.cores),
                server(Component::Link, 1),
                server(Component::Link, 1),
            ],
            dirty: 0,
            times: Pool::default(),
            cores_taken: Vec::new(),
            cores_asked: NO_CORE,
            blocked: Vec::new(),
            memory: controller.write_pages.map(WriteMemory::new),
        }
    }

    /// Returns the options of the controller.
    pub fn controller(&self) -> &Controller {
        &self.controller
    }

    /// Returns the number for a core that a task holds while it waits for the flash; `None` if the
    /// task holds no core.
    pub fn ask_core(&mut self, task: Task) -> Option<u32> {
        let holds = self.controller.blocking && matches!(task, Task::Translate | Task::RemapEntry);
        holds.then(|| {
            self.cores_asked = self.cores_asked.wrapping_add(1).max(1);
            self.cores_asked
        })
    }

    /// Returns the work of a service, and the component that it counts as.
    pub fn work(&mut self, server: Server, pass_ns: u64, hold_ns: u64) -> (Work, Component) {
        let times = self.times.put(|| ServiceTimes { pass_ns, hold_ns });
        (Work::Serve { server, times }, self.servers[server as usize].component)
    }

    /// Enters a node into the queue of its server.
    pub fn enter(&mut self, server: Server, node: Waiting) {
        self.servers[server as usize].queue.push(node);
        self.dirty |= 1 << server as u8;
    }

    /// Returns whether servers may be able to begin something.
    #[inline(always)]
    pub fn is_dirty(&self) -> bool {
        self.dirty != 0
    }

    /// Lets servers begin all that they can.
    #[inline(always)]
    pub fn begin_all(&mut self, nodes: &Nodes, events: &mut Events, now: u64) {
        while self.dirty != 0 {
            let server = self.dirty.trailing_zeros() as usize;
            self.dirty &= self.dirty - 1;
            self.begin(server, nodes, events, now);
        }
    }

    fn begin(&mut self, server: usize, nodes: &Nodes, events: &mut Events, now: u64) {
        while self.servers[server].free > 0
            && let Some(Waiting { entry: at, .. }) = self.servers[server].queue.pop()
        {
            let Work::Serve { times, .. } = nodes.node(at).work else {
                unreachable!("every node in the queue of a server is to be served")
            };
            let ServiceTimes { pass_ns, hold_ns } = self.times[times];
            self.servers[server].free -= 1;
            // The whole time since the chain arrived is accounted for when the service ends.
            events.push(now + pass_ns, Event::Complete(at));
            if hold_ns == UNTIL_RETURNED {
                self.cores_taken.push(nodes.core(at));
            } else if hold_ns != pass_ns {
                events.push(now + hold_ns, Event::Free(server as u32));
            }
        }
    }

    /// Ends a service: its chain continues. Most servers are free for the next chain at the same
    /// time, without an event of their own.
    pub fn end(&mut self, server: Server, times: u32) {
        let ServiceTimes { pass_ns, hold_ns } = self.times[times];
        self.times.give_back(times);
        if hold_ns == pass_ns {
            self.free(server as usize);
        }
    }

    /// Frees a server for the next chain.
    pub fn free(&mut self, server: usize) {
        self.servers[server].free += 1;
        self.dirty |= 1 << server;
    }

    /// Frees a core for other chains, if a chain holds it.
    pub fn give_back(&mut self, core: u32) {
        if let Some(taken) = self.cores_taken.iter().position(|&taken| taken == core) {
            self.cores_taken.swap_remove(taken);
            self.free(Server::Cores as usize);
        }
    }

    /// Notes an operation that a hazard blocks.
    pub fn block(&mut self, at: u32, nodes: &Nodes) {
        if nodes.core(at) != NO_CORE {
            self.blocked.push(at);
        }
    }

    /// Returns whether hazards have blocked operations whose chains hold cores.
    #[inline(always)]
    pub fn is_any_blocked(&self) -> bool {
        !self.blocked.is_empty()
    }

    /// Gives back the cores of blocked operations, because the operations that block them may need
    /// these cores. An operation that has entered its queue by now was blocked for no time at all,
    /// and keeps its core.
    #[cold]
    pub fn give_back_blocked(&mut self, nodes: &Nodes) {
        while let Some(at) = self.blocked.pop() {
            if !nodes.node(at).has(HAS_ENTERED) {
                self.give_back(nodes.core(at));
            }
        }
    }

    /// Returns the memory for host writes; `None` if the controller has none.
    #[inline(always)]
    pub fn memory(&mut self) -> Option<&mut WriteMemory> {
        self.memory.as_mut()
    }
}
