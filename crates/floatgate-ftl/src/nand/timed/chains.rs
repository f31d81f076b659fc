//! The [`Clock`] that the layers above use: chains join, wait, take time and are watched.

use alloc::boxed::Box;
use core::ops::Range;

use super::events::NEVER;
use super::graph::{Edge, Work};
use super::recorder::Recorder;
use super::scheduler::Scheduler;
use super::services::{UNTIL_RETURNED, WriteMemory};
use crate::clock::{
    Chain, Clock, Component, Ended, NO_CORE, Recorded, Recording, Served, Server, Share, Task,
};

impl Scheduler {
    /// Extends a chain by a node, and releases the node if it waits for nothing.
    fn extend(&mut self, chain: &mut Chain, work: Work, component: Component) {
        let at = self.graph.nodes_mut().extend(chain, work, component, self.now);
        self.begin_if_ready(at);
    }

    /// On a drive with program units, gives back the core of a chain that is about to wait for
    /// other chains: a chain that fills the same program unit may need the core to translate.
    pub(super) fn give_back_early(&mut self, chain: Chain) {
        if chain.core != NO_CORE && self.dies.has_program_units() {
            self.extend(&mut chain.work(), Work::Release, Component::Controller);
        }
    }

    /// Closes an open program: the program waits for no further chains.
    pub(super) fn close(&mut self, data: u32) {
        self.graph.nodes_mut().followed(data);
        self.release_ready();
    }

    /// Cancels an open program. It must be the last program or erase of its unit on its die.
    pub(super) fn cancel(&mut self, data: u32, end: Chain) {
        self.graph.cancel(data, end, self.now);
        self.release_ready();
    }

    /// Adds a page to a read that has not begun. The chain continues when the read is complete. If
    /// only the time of the chain is reported, its wait for the read counts as `component`.
    pub(super) fn join_read(&mut self, read: Chain, component: Component, chain: &mut Chain) {
        self.graph.add_page(read);
        if self.saved_ns > 0 {
            self.graph.nodes_mut().shorten(read.node, self.saved_ns);
        }
        if chain.is_attributed && !read.is_attributed {
            return self.wait(chain, read, component);
        }
        let read = Chain { node: read.node, serial: read.serial, ..*chain };
        *chain = match self.is_live(*chain) && chain.node != read.node {
            true => self.join(read, *chain),
            false => read,
        };
    }

    /// Notes a program: when it is complete, `pages` more host pages are on flash. A FLUSH waits
    /// for it.
    #[inline(always)]
    pub(super) fn frees(&mut self, program: Chain, pages: u32) {
        if let Some(memory) = self.services.memory() {
            memory.frees(program, pages);
        }
    }

    /// Makes a chain wait until the memory has room for `pages` pages.
    fn wait_for_memory(&mut self, chain: &mut Chain, pages: u64) {
        let in_order = self.services.controller().in_order;
        while let Some(memory) = self.services.memory()
            && let Some(program) = memory.store(pages, self.graph.nodes())
        {
            match in_order {
                true => self.add_to_gate(program),
                false => self.wait(chain, program, Component::Buffer),
            }
        }
        if in_order {
            self.wait_at_gate(chain, Component::Buffer);
        }
    }

    /// Makes all writes that follow wait for a program, too.
    fn add_to_gate(&mut self, program: Chain) {
        let Some(mut gate) = self.services.memory().map(|memory| memory.gate) else { return };
        gate.add(program, self);
        if let Some(memory) = self.services.memory() {
            memory.gate = gate;
        }
    }

    /// Makes a chain wait until all earlier writes have room in the memory.
    fn wait_at_gate(&mut self, chain: &mut Chain, component: Component) {
        if let Some(gate) = self.services.memory().map(|memory| memory.gate) {
            gate.wait(chain, component, self);
        }
    }
}

impl Clock for Scheduler {
    #[inline(always)]
    fn takes_time(&self) -> bool {
        !self.is_frozen
    }

    fn freeze(&mut self) {
        assert_eq!(self.graph.nodes().outstanding(), 0, "nothing is under way");
        self.is_frozen = true;
    }

    fn thaw(&mut self) {
        self.is_frozen = false;
    }

    #[inline(always)]
    fn now(&self) -> u64 {
        self.now
    }

    fn next(&self) -> Option<u64> {
        let next = if self.is_dirty() { self.now } else { self.events.first() };
        (next != NEVER).then_some(next)
    }

    #[inline(always)]
    fn is_live(&self, chain: Chain) -> bool {
        self.graph.nodes().is_live(chain)
    }

    #[inline(always)]
    fn join(&mut self, first: Chain, second: Chain) -> Chain {
        let (join, nodes) = (Work::join(self.now), self.graph.nodes_mut());
        let mut joined = first;
        let at = nodes.extend(&mut joined, join, Component::Queue, self.now);
        nodes.follow(at, second, Edge::Chain);
        joined
    }

    #[inline(always)]
    fn join_more(&mut self, joined: Chain, more: Chain) -> Chain {
        self.graph.nodes_mut().follow(joined.node, more, Edge::Chain);
        joined
    }

    fn wait(&mut self, chain: &mut Chain, work: Chain, component: Component) {
        if !work.is_at(chain) && self.is_live(work) {
            self.give_back_early(*chain);
            let nodes = self.graph.nodes_mut();
            let at = nodes.extend(chain, Work::join(self.now), component, self.now);
            nodes.follow(at, work, Edge::Work);
        }
    }

    fn delay(&mut self, chain: &mut Chain, ns: u64, component: Component) {
        if ns > 0 && self.takes_time() {
            self.extend(chain, Work::Delay { ns }, component);
        }
    }

    fn serve(&mut self, chain: &mut Chain, server: Server, pass_ns: u64, hold_ns: u64) {
        if self.takes_time() {
            self.has_instants |= pass_ns == 0;
            let (work, component) = self.services.work(server, pass_ns, hold_ns);
            self.extend(chain, work, component);
        }
    }

    fn begin_task(&mut self, chain: &mut Chain, task: Task) -> bool {
        if self.is_frozen {
            return false;
        }
        let ns = self.services.controller().task_ns[task as usize];
        if chain.core != NO_CORE {
            self.delay(chain, ns, Component::Controller);
        } else if let Some(core) = self.services.ask_core(task) {
            chain.core = core;
            self.serve(chain, Server::Cores, ns, UNTIL_RETURNED);
            return true;
        } else if ns > 0 {
            self.serve(chain, Server::Cores, ns, ns);
        }
        false
    }

    fn end_task(&mut self, chain: &mut Chain, holds: bool) {
        if holds {
            self.extend(chain, Work::Release, Component::Controller);
            chain.core = NO_CORE;
        }
    }

    #[inline(always)]
    fn take_memory(&mut self, chain: &mut Chain, pages: u64) -> bool {
        let takes = self.services.memory().is_some() && self.takes_time();
        if takes {
            self.wait_for_memory(chain, pages);
        }
        takes
    }

    #[inline(always)]
    fn wait_in_line(&mut self, chain: &mut Chain) {
        if self.services.controller().head_of_line {
            self.wait_at_gate(chain, Component::Queue);
        }
    }

    fn wait_for_programs(&mut self, chain: &mut Chain) {
        while !self.services.controller().power_protected
            && let Some(program) = self.services.memory().and_then(WriteMemory::pop)
        {
            if self.services.controller().in_order {
                self.add_to_gate(program);
            }
            self.wait(chain, program, Component::Buffer);
        }
    }

    #[inline(always)]
    fn read_share(&mut self, share: Option<Share>) {
        self.saved_ns = share.map_or(0, |share| self.dies.saved_ns(share));
    }

    fn watch(&mut self, chain: Chain, ticket: u64) {
        self.begin_requests(0..0);
        if self.is_live(chain) {
            self.graph.nodes_mut().watch(chain.node, ticket);
        } else {
            let (at_ns, blame) = (self.now, Default::default());
            self.ended.push_back(Ended { ticket, at_ns, blame });
        }
    }

    fn play(&mut self, until: u64) -> bool {
        self.play_until(until, None);
        !self.ended.is_empty()
    }

    fn play_chain(&mut self, chain: Chain, until: u64) {
        self.play_until(until, Some(chain));
    }

    fn ended(&mut self) -> Option<Ended> {
        self.ended.pop_front()
    }

    fn record(&mut self, recording: Recording) {
        self.recorder = Some(Box::new(Recorder::new(recording, self.dies.lanes())));
    }

    #[inline(always)]
    fn begin_requests(&mut self, numbers: Range<u64>) {
        if let Some(recorder) = &mut self.recorder {
            recorder.begin_requests(numbers);
        }
    }

    #[inline(always)]
    fn end_request(&mut self, served: &Served) -> bool {
        self.recorder.as_mut().is_some_and(|recorder| recorder.end_request(served))
    }

    fn recorded(&self) -> Option<Recorded> {
        self.recorder.as_ref()?.recorded(self.dies.spans(self.now), self.now)
    }
}
