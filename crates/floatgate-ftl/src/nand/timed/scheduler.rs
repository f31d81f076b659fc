//! Plays the graph in the order of time.
//!
//! At each instant, all work that ends then has ended before any work begins, and dies begin before
//! channels do. A die is never idle while an operation waits in its queues; the channel takes the
//! transfer that was ready first. Equal times are decided by age: the node that was made first goes
//! first.

use alloc::boxed::Box;
use alloc::collections::VecDeque;

use super::dies::{DieContext, Dies};
use super::events::{Event, Events, NEVER};
use super::graph::{Graph, Kind, Operation, Work};
use super::recorder::Recorder;
use super::schedule::{Schedule, Timing};
use super::services::Services;
use super::wait_queue::Waiting;
use crate::addr::Unit;
use crate::clock::{Chain, Component, Ended};
use crate::geometry::Geometry;

/// The owners of the outstanding work, and the present time.
#[derive(Clone, Debug)]
pub struct Scheduler {
    pub(super) graph: Graph,
    pub(super) dies: Dies,
    pub(super) services: Services,
    pub(super) events: Events,
    pub(super) now: u64,
    /// Nanoseconds that reads save now, because they transfer only a share of their pages.
    pub(super) saved_ns: u64,
    /// Watched chains that have ended, and are not reported yet.
    pub(super) ended: VecDeque<Ended>,
    pub(super) recorder: Option<Box<Recorder>>,
    /// Whether operations take no time.
    pub(super) is_frozen: bool,
    /// Whether some work takes no time. After it, a page may come to a channel at the same instant
    /// at which the channel took another page.
    pub(super) has_instants: bool,
}

/// Returns whether cells read, program or erase in no time.
fn takes_no_time(timing: &Timing, schedule: &Schedule) -> bool {
    let all = [timing.read_ns, timing.program_ns, timing.erase_ns];
    let of_types = schedule.pages.iter().flat_map(|pages| {
        let times = pages.read_ns.iter().zip(&pages.program_ns);
        times.take(pages.types as usize).map(|(&read_ns, &program_ns)| read_ns.min(program_ns))
    });
    all.into_iter().chain(of_types).any(|ns| ns == 0)
}

impl Scheduler {
    pub(super) fn new(geometry: &Geometry, timing: Timing, schedule: Schedule) -> Self {
        Self {
            graph: Graph::new(geometry),
            dies: Dies::new(geometry, timing, schedule),
            services: Services::new(schedule.controller),
            events: Events::new(schedule.page_types()),
            now: 0,
            saved_ns: 0,
            ended: VecDeque::new(),
            recorder: None,
            is_frozen: false,
            has_instants: takes_no_time(&timing, &schedule),
        }
    }

    /// Issues an operation on a unit.
    #[inline(always)]
    pub(super) fn issue(
        &mut self,
        operation: Operation,
        unit: Unit,
        component: Component,
        chain: &mut Chain,
    ) {
        if let Some(recorder) = &mut self.recorder
            && chain.is_attributed
        {
            recorder.issue(operation.die.into());
        }
        let at = self.graph.issue(operation, unit, component, chain, self.now);
        if operation.kind == Kind::Read && self.saved_ns > 0 {
            self.graph.nodes_mut().shorten(at, self.saved_ns);
        }
        self.begin_if_ready(at);
    }

    /// Borrows a die, its channel, and everything that they act on. A recorder observes the die
    /// before it changes; without a recorder this costs one check.
    #[inline(always)]
    fn die(&mut self, die: usize) -> DieContext<'_> {
        if self.recorder.is_some() {
            self.observe(die);
        }
        self.dies.context(die, self.graph.nodes_mut(), &mut self.events, self.now)
    }

    /// Records the die's time until now, and brings its account up to date, so that no time is
    /// recorded twice.
    #[cold]
    fn observe(&mut self, die: usize) {
        let (Some(recorder), now) = (&mut self.recorder, self.now) else { return };
        recorder.close_if_due(self.dies.spans(now), now);
        self.dies.span(die, now).into_iter().for_each(|span| recorder.add(span));
        self.dies.context(die, self.graph.nodes_mut(), &mut self.events, now).account();
    }

    /// Releases the nodes that wait for nothing any more.
    #[inline(always)]
    pub(super) fn release_ready(&mut self) {
        while let Some(at) = self.graph.nodes_mut().pop_ready() {
            self.release(at);
        }
        if self.services.is_any_blocked() {
            self.services.give_back_blocked(self.graph.nodes());
        }
    }

    /// Releases a node that waits for no chain any more.
    #[inline(always)]
    fn release(&mut self, at: u32) {
        let node = self.graph.nodes().node(at);
        let Work::Flash(Operation { die, .. }) = node.work else { return self.release_other(at) };
        match node.hazards {
            0 => self.die(die.into()).enter(at),
            _ => self.block(at, die),
        }
    }

    /// Blocks an operation whose chain has ended, because a hazard remains.
    fn block(&mut self, at: u32, die: u16) {
        self.die(die.into()).block(at);
        self.services.block(at, self.graph.nodes());
    }

    /// Releases a node that is not a flash operation.
    fn release_other(&mut self, at: u32) {
        let node = self.graph.nodes().node(at);
        match node.work {
            Work::Flash(_) | Work::Join { .. } => self.complete(at),
            Work::Delay { ns } => self.events.push(self.now + ns, Event::Complete(at)),
            Work::Serve { server, .. } => {
                let waiting = Waiting { since: self.now, serial: node.serial, entry: at };
                self.services.enter(server, waiting);
            }
            Work::Release => {
                self.services.give_back(self.graph.nodes().core(at));
                self.complete(at);
            }
        }
    }

    /// Completes a node that is not a flash operation now.
    #[inline(always)]
    fn complete(&mut self, at: u32) {
        if let Some(ended) = self.graph.nodes_mut().complete(at, self.now) {
            self.ended.push_back(ended);
        }
    }

    /// Completes a flash operation now.
    #[inline(always)]
    fn complete_flash(&mut self, at: u32) {
        if let Some(ended) = self.graph.complete_operation(at, self.now) {
            self.ended.push_back(ended);
        }
    }

    /// Completes the pages that a die or a channel has just completed.
    #[inline(always)]
    fn complete_all(&mut self) {
        while let Some(at) = self.dies.pop_completed() {
            self.complete_flash(at);
        }
    }

    /// Returns whether anything may be able to begin.
    pub(super) fn is_dirty(&self) -> bool {
        self.dies.is_any_marked() || self.services.is_dirty()
    }

    /// Lets servers, then dies, then channels begin all that they can.
    #[inline(always)]
    fn begin_all(&mut self) {
        self.services.begin_all(self.graph.nodes(), &mut self.events, self.now);
        let mut next = 0;
        while let Some(die) = self.dies.marked(next) {
            self.die(die).begin_all();
            next += 1;
        }
        self.dies.clear_marked();
        while let Some(at) = self.dies.next_transfer() {
            let die = usize::from(self.graph.nodes().operation(at).die);
            self.die(die).begin_transfer(at);
            if let Some(recorder) = &mut self.recorder {
                recorder.add(self.dies.span_of_transfer(die, self.now));
            }
        }
    }

    #[inline(always)]
    fn fire(&mut self, event: Event) {
        match event {
            Event::Cells(die) => {
                self.die(die as usize).end_cells();
                self.complete_all();
            }
            Event::Transfer(die) => {
                self.die(die as usize).end_transfer();
                self.complete_all();
            }
            other => self.fire_other(other),
        }
    }

    /// Handles the events that are not ends of cells or transfers.
    fn fire_other(&mut self, event: Event) {
        match event {
            Event::Cells(_) | Event::Transfer(_) => unreachable!("events of the flash"),
            Event::Complete(at) => self.end_other(at),
            Event::Commanded(die) => self.die(die as usize).commanded(),
            Event::Wake(die) => self.dies.mark(die as usize),
            Event::Free(server) => self.services.free(server as usize),
        }
    }

    /// Ends a delay or a service.
    fn end_other(&mut self, at: u32) {
        let (nodes, now) = (self.graph.nodes_mut(), self.now);
        let node = nodes.node(at);
        let component = node.component;
        if let Work::Serve { server, times } = node.work {
            self.services.end(server, times);
        }
        if let Some(account) = nodes.account(at) {
            account.blame.add(component, now - account.time);
        }
        self.complete(at);
    }

    /// Ends all work that ends at this instant.
    #[inline(always)]
    fn end_all(&mut self) {
        while let Some(event) = self.events.pop_due(self.now) {
            self.fire(event);
        }
        self.release_ready();
    }

    /// Releases a new node if it waits for nothing.
    #[inline(always)]
    pub(super) fn begin_if_ready(&mut self, at: u32) {
        if self.graph.nodes().node(at).follows == 0 {
            self.begin_now(at);
        }
    }

    #[inline(never)]
    fn begin_now(&mut self, at: u32) {
        self.release(at);
        self.release_ready();
    }

    /// Does one operation in a single step, if it begins now, ends at `until` or before, and
    /// nothing can interrupt it. Returns whether there was such an operation. A recorder needs all
    /// steps of all operations.
    #[inline(always)]
    fn play_alone(&mut self, until: u64) -> bool {
        if self.services.is_dirty() || self.recorder.is_some() {
            return false;
        }
        let Some(die) = self.dies.only_marked() else { return false };
        let Some((at, end)) = self.die(die).do_alone(until) else { return false };
        self.now = end;
        self.complete_flash(at);
        self.release_ready();
        true
    }

    /// Plays until `until`, or until a chain has ended: this chain, or with `None` any watched
    /// chain. Servers, dies and channels begin nothing after its end.
    pub(super) fn play_until(&mut self, until: u64, chain: Option<Chain>) {
        loop {
            if self.events.first() <= self.now {
                self.end_all();
            }
            let stops = match chain {
                None => !self.ended.is_empty(),
                Some(chain) => !self.graph.nodes().is_live(chain),
            };
            if stops {
                return;
            }
            if self.is_dirty() {
                if self.now >= until {
                    return;
                }
                if self.play_alone(until) {
                    continue;
                }
                self.begin_all();
                if self.events.first() <= self.now {
                    continue;
                }
            }
            let next = self.events.first();
            if next > until || next == NEVER {
                if until != NEVER {
                    self.now = self.now.max(until);
                }
                return;
            }
            self.now = next;
        }
    }
}
