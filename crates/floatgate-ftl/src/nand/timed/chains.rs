//! The [`Clock`] that the layers above use: chains join, wait, take time and are watched.

use alloc::boxed::Box;
use core::ops::Range;

use super::events::NEVER;
use super::node::{Edge, Work};
use super::recorder::Recorder;
use super::schedule::Controller;
use super::scheduler::{HELD, Scheduler, Service, Stop};
use crate::clock::{
    Chain, Clock, Ended, NO_CORE, Part, Recorded, Recording, Served, Server, Share, Task,
};

impl Scheduler {
    /// Extends a chain by a node.
    fn extend(&mut self, chain: &mut Chain, work: Work, part: Part) -> u32 {
        let at = self.core.graph.add(work, part, *chain, self.core.now);
        *chain = self.core.graph.chain(at, *chain);
        at
    }

    /// Gives back the core of a chain that is about to wait for other chains, because these may
    /// need the core: with program units, another chain that fills the unit may still have to
    /// translate.
    pub(super) fn give_back_early(&mut self, chain: Chain) {
        if chain.core != NO_CORE && self.core.has_program_units() {
            let at = self.extend(&mut chain.work(), Work::Release, Part::Controller);
            self.begin_if_ready(at);
        }
    }
}

impl Clock for Scheduler {
    #[inline(always)]
    fn takes_time(&self) -> bool {
        !self.stands_still
    }

    fn stand_still(&mut self) {
        assert_eq!(self.core.graph.outstanding(), 0, "nothing is under way");
        self.stands_still = true;
    }

    fn go_on(&mut self) {
        self.stands_still = false;
    }

    #[inline(always)]
    fn now(&self) -> u64 {
        self.core.now
    }

    fn next(&self) -> Option<u64> {
        let next = if self.is_dirty() { self.core.now } else { self.core.events.first() };
        (next != NEVER).then_some(next)
    }

    #[inline(always)]
    fn is_live(&self, chain: Chain) -> bool {
        self.core.graph.is_live(chain)
    }

    #[inline(always)]
    fn join(&mut self, first: Chain, second: Chain) -> Chain {
        let join = Work::Join { ended: self.core.now, last: 0 };
        let at = self.core.graph.add(join, Part::Queue, first, self.core.now);
        self.core.graph.follow(at, second, Edge::Chain);
        self.core.graph.chain(at, first)
    }

    #[inline(always)]
    fn join_more(&mut self, joined: Chain, more: Chain) -> Chain {
        self.core.graph.follow(joined.node, more, Edge::Chain);
        joined
    }

    fn wait(&mut self, chain: &mut Chain, work: Chain, part: Part) {
        let is_other = (work.node, work.serial) != (chain.node, chain.serial);
        if is_other && self.core.graph.is_live(work) {
            self.give_back_early(*chain);
            let at = self.extend(chain, Work::Join { ended: self.core.now, last: 0 }, part);
            self.core.graph.follow(at, work, Edge::Work);
        }
    }

    fn delay(&mut self, chain: &mut Chain, ns: u64, part: Part) {
        if ns > 0 && self.takes_time() {
            let at = self.extend(chain, Work::Delay { ns }, part);
            self.begin_if_ready(at);
        }
    }

    fn serve(&mut self, chain: &mut Chain, server: Server, pass_ns: u64, hold_ns: u64) {
        if self.stands_still {
            return;
        }
        let part = self.desks[server as usize].part;
        let service = self.services.put(|| Service { pass_ns, hold_ns });
        let at = self.extend(chain, Work::Serve { server, service }, part);
        self.begin_if_ready(at);
    }

    fn begin_task(&mut self, chain: &mut Chain, task: Task) -> bool {
        if self.stands_still {
            return false;
        }
        let Controller { task_ns, blocking, .. } = self.core.schedule.controller;
        let ns = task_ns[task as usize];
        if chain.core != NO_CORE {
            self.delay(chain, ns, Part::Controller);
        } else if blocking && matches!(task, Task::Translate | Task::RemapEntry) {
            self.cores_asked = self.cores_asked.wrapping_add(1).max(1);
            chain.core = self.cores_asked;
            self.serve(chain, Server::Cores, ns, HELD);
            return true;
        } else if ns > 0 {
            self.serve(chain, Server::Cores, ns, ns);
        }
        false
    }

    fn end_task(&mut self, chain: &mut Chain, holds: bool) {
        if holds {
            let at = self.extend(chain, Work::Release, Part::Controller);
            chain.core = NO_CORE;
            self.begin_if_ready(at);
        }
    }

    #[inline(always)]
    fn take_memory(&mut self, chain: &mut Chain, pages: u64) -> bool {
        self.memory.is_some() && self.takes_time() && self.take_write_memory(chain, pages)
    }

    fn wait_for_programs(&mut self, chain: &mut Chain) {
        if !self.core.schedule.controller.power_protected {
            self.wait_for_all_programs(chain);
        }
    }

    #[inline(always)]
    fn read_share(&mut self, share: Option<Share>) {
        self.share = share;
    }

    fn watch(&mut self, chain: Chain, ticket: u64) {
        self.begin_requests(0..0);
        if self.core.graph.is_live(chain) {
            self.core.graph.watch(chain.node, ticket);
        } else {
            let (at_ns, blame) = (self.core.now, Default::default());
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
        self.recorder.as_ref()?.recorded(&self.dies, self.core.now)
    }
}
