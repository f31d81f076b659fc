//! The [`Clock`] that the layers above use: chains join, wait, take time and are watched.

use alloc::boxed::Box;
use core::ops::Range;

use super::events::NEVER;
use super::node::{Edge, Work};
use super::recorder::Recorder;
use super::schedule::Controller;
use super::scheduler::{Scheduler, ServiceTimes, Stop, UNTIL_RETURNED};
use crate::clock::{
    Chain, Clock, Component, Ended, NO_CORE, Recorded, Recording, Served, Server, Share, Task,
};

impl Scheduler {
    /// Extends a chain by a node.
    fn extend(&mut self, chain: &mut Chain, work: Work, component: Component) -> u32 {
        let at = self.state.graph.add(work, component, *chain, self.state.now);
        *chain = self.state.graph.chain(at, *chain);
        at
    }

    /// Gives back the core of a chain that is about to wait for other chains, because these may
    /// need the core: with program units, another chain that fills the unit may still have to
    /// translate.
    pub(super) fn give_back_early(&mut self, chain: Chain) {
        if chain.core != NO_CORE && self.state.has_program_units() {
            let at = self.extend(&mut chain.work(), Work::Release, Component::Controller);
            self.begin_if_ready(at);
        }
    }
}

impl Clock for Scheduler {
    #[inline(always)]
    fn takes_time(&self) -> bool {
        !self.is_frozen
    }

    fn freeze(&mut self) {
        assert_eq!(self.state.graph.outstanding(), 0, "nothing is under way");
        self.is_frozen = true;
    }

    fn thaw(&mut self) {
        self.is_frozen = false;
    }

    #[inline(always)]
    fn now(&self) -> u64 {
        self.state.now
    }

    fn next(&self) -> Option<u64> {
        let next = if self.is_dirty() { self.state.now } else { self.state.events.first() };
        (next != NEVER).then_some(next)
    }

    #[inline(always)]
    fn is_live(&self, chain: Chain) -> bool {
        self.state.graph.is_live(chain)
    }

    #[inline(always)]
    fn join(&mut self, first: Chain, second: Chain) -> Chain {
        let join = Work::Join { ended: self.state.now, last: 0 };
        let at = self.state.graph.add(join, Component::Queue, first, self.state.now);
        self.state.graph.follow(at, second, Edge::Chain);
        self.state.graph.chain(at, first)
    }

    #[inline(always)]
    fn join_more(&mut self, joined: Chain, more: Chain) -> Chain {
        self.state.graph.follow(joined.node, more, Edge::Chain);
        joined
    }

    fn wait(&mut self, chain: &mut Chain, work: Chain, component: Component) {
        let is_other = (work.node, work.serial) != (chain.node, chain.serial);
        if is_other && self.state.graph.is_live(work) {
            self.give_back_early(*chain);
            let at = self.extend(chain, Work::Join { ended: self.state.now, last: 0 }, component);
            self.state.graph.follow(at, work, Edge::Work);
        }
    }

    fn delay(&mut self, chain: &mut Chain, ns: u64, component: Component) {
        if ns > 0 && self.takes_time() {
            let at = self.extend(chain, Work::Delay { ns }, component);
            self.begin_if_ready(at);
        }
    }

    fn serve(&mut self, chain: &mut Chain, server: Server, pass_ns: u64, hold_ns: u64) {
        if self.is_frozen {
            return;
        }
        let component = self.services[server as usize].component;
        let times = self.service_times.put(|| ServiceTimes { pass_ns, hold_ns });
        let at = self.extend(chain, Work::Serve { server, times }, component);
        self.begin_if_ready(at);
    }

    fn begin_task(&mut self, chain: &mut Chain, task: Task) -> bool {
        if self.is_frozen {
            return false;
        }
        let Controller { task_ns, blocking, .. } = self.state.schedule.controller;
        let ns = task_ns[task as usize];
        if chain.core != NO_CORE {
            self.delay(chain, ns, Component::Controller);
        } else if blocking && matches!(task, Task::Translate | Task::RemapEntry) {
            self.cores_asked = self.cores_asked.wrapping_add(1).max(1);
            chain.core = self.cores_asked;
            self.serve(chain, Server::Cores, ns, UNTIL_RETURNED);
            return true;
        } else if ns > 0 {
            self.serve(chain, Server::Cores, ns, ns);
        }
        false
    }

    fn end_task(&mut self, chain: &mut Chain, holds: bool) {
        if holds {
            let at = self.extend(chain, Work::Release, Component::Controller);
            chain.core = NO_CORE;
            self.begin_if_ready(at);
        }
    }

    #[inline(always)]
    fn take_memory(&mut self, chain: &mut Chain, pages: u64) -> bool {
        self.memory.is_some() && self.takes_time() && self.take_write_memory(chain, pages)
    }

    fn wait_for_programs(&mut self, chain: &mut Chain) {
        if !self.state.schedule.controller.power_protected {
            self.wait_for_all_programs(chain);
        }
    }

    #[inline(always)]
    fn read_share(&mut self, share: Option<Share>) {
        self.share = share;
    }

    fn watch(&mut self, chain: Chain, ticket: u64) {
        self.begin_requests(0..0);
        if self.state.graph.is_live(chain) {
            self.state.graph.watch(chain.node, ticket);
        } else {
            let (at_ns, blame) = (self.state.now, Default::default());
            self.ended.push_back(Ended { ticket, at_ns, blame });
        }
    }

    fn play(&mut self, until: u64) -> bool {
        self.play_until(until, Stop::Ended);
        !self.ended.is_empty()
    }

    fn play_chain(&mut self, chain: Chain, until: u64) {
        self.play_until(until, Stop::Complete(chain));
    }

    fn ended(&mut self) -> Option<Ended> {
        self.ended.pop_front()
    }

    fn record(&mut self, recording: Recording) {
        let lanes = self.dies.len() + self.channels.len();
        self.recorder = Some(Box::new(Recorder::new(recording, lanes)));
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
        self.recorder.as_ref()?.recorded(&self.dies, self.state.now)
    }
}
