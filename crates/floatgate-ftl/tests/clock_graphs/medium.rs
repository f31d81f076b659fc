//! docs/time.md as a program: the interface of the drive, and the waits of each step.

use super::brute::{Brute, Kind, Location, Seen, State, Step};
use super::rows::Memory;
use floatgate_ftl::addr::{Owner, Ppn, Tag, Unit};
use floatgate_ftl::counters::{Counters, DieUse, Occupation};
use floatgate_ftl::geometry::{Geometry, Mode};
use floatgate_ftl::nand::{
    Blame, Cause, Chain, Clock, Component, Controller, Counted, Ended, Fork, Moves, Nand,
    ReadSource, Schedule, Server, Share, Task, Timing,
};
use floatgate_ftl::parameters::Choice;
use std::collections::VecDeque;
use std::convert::Infallible;

/// Returns the component for a wait for an operation with this cause.
pub fn component(cause: Cause) -> Component {
    match cause {
        Cause::Host | Cause::Pad | Cause::Parity => Component::Die,
        Cause::Map | Cause::Journal => Component::Map,
        Cause::Gc | Cause::GcMap | Cause::Wear | Cause::Retire | Cause::Fold => Component::Gc,
        Cause::Merge => Component::Merge,
        Cause::Remap => Component::Remap,
    }
}

impl Brute {
    /// Creates an idle drive, which records the events that it has seen.
    pub fn new(geometry: Geometry, timing: Timing, schedule: Schedule, seen: Seen) -> Self {
        let (channels, dies) = (geometry.shape().channels, geometry.shape().dies);
        Self {
            geometry,
            timing,
            schedule,
            counted: Counted::new(&geometry),
            steps: vec![],
            live: vec![],
            dies: vec![vec![]; (channels * dies) as usize],
            taken: vec![],
            busy: vec![0; (channels * dies) as usize],
            moved: vec![Blame::default(); channels as usize],
            ended: VecDeque::new(),
            memory: Memory::default(),
            share: None,
            now: 0,
            end: 0,
            seen,
        }
    }

    /// Appends a step to a chain.
    pub fn issue(
        &mut self,
        chain: &mut Chain,
        kind: Kind,
        component: Component,
        ns: u64,
    ) -> &mut Step {
        let at = self.steps.len();
        let before = chain.node().map(|(before, _)| before as usize);
        let step = Step {
            kind,
            component,
            ns,
            moves_ns: self.transfer_ns(kind),
            transfers: 1,
            is_open: false,
            is_row: false,
            server: 0,
            hold: 0,
            core: self.core(*chain),
            location: Location::default(),
            // Chains for which a host read waits, and separate work, differ in these two fields.
            is_urgent: chain.at_node(0, 0) == Chain::new(true).at_node(0, 0),
            is_attributed: *chain != chain.work(),
            ticket: None,
            follows: before.filter(|_| self.is_live(*chain)).into_iter().collect(),
            awaits: vec![],
            behind: None,
            state: State::Follows,
            head: at,
            left: 0,
            times: 0,
            since: 0,
            began: self.now,
            blame: Blame::default(),
            last_blocker: component,
            idle: 0,
            of_host: 0,
        };
        *chain = chain.at_node(at as u32, at as u64);
        self.live.push(at);
        self.steps.push(step);
        &mut self.steps[at]
    }

    /// Returns the core that a chain holds.
    pub fn core(&self, chain: Chain) -> Option<usize> {
        let (at, _) = chain.node()?;
        let step = &self.steps[at as usize];
        step.core.filter(|_| step.kind != Kind::GiveBack)
    }

    /// Returns the planes of a unit, in the order of its pages.
    pub fn planes(&self, unit: Unit) -> Vec<u32> {
        let shape = self.geometry.shape();
        let all = shape.channels * shape.dies * shape.planes;
        let first = unit.0 * shape.superblock % all;
        let number = |plane: u32, of: &str| match of {
            "plane" => plane % shape.planes,
            "die" => plane / shape.planes % shape.dies,
            _ => plane / shape.planes / shape.dies,
        };
        let mut planes: Vec<u32> = (first..first + shape.superblock).collect();
        for of in self.schedule.stripe.name().split('_') {
            planes.sort_by_key(|&plane| number(plane, of));
        }
        planes
    }

    fn location(&self, ppn: Ppn) -> Location {
        let (shape, (unit, page)) = (self.geometry.shape(), self.geometry.place(ppn));
        let plane = self.planes(unit)[(page % shape.superblock) as usize];
        let (die, row) = ((plane / shape.planes) as usize, page / shape.superblock);
        Location { die, unit: unit.0, row, plane: plane % shape.planes }
    }

    /// Returns the dies of a unit; an erase covers all pages of the unit on a die.
    fn locations(&self, unit: Unit) -> Vec<Location> {
        let planes = self.planes(unit);
        let mut dies: Vec<_> = planes.iter().map(|p| p / self.geometry.shape().planes).collect();
        dies.sort_unstable();
        dies.dedup();
        let location = |die| Location { die: die as usize, unit: unit.0, ..Location::default() };
        dies.into_iter().map(location).collect()
    }

    fn cells_ns(&self, kind: Kind, row: u32) -> u64 {
        match (kind, &self.schedule.pages) {
            (Kind::Read, None) => self.timing.read_ns,
            (Kind::Read, Some(pages)) => pages.read_ns[(row % pages.types) as usize],
            (Kind::Program, None) => self.timing.program_ns,
            (Kind::Program, Some(pages)) => pages.program_ns[(row % pages.types) as usize],
            _ => self.timing.erase_ns,
        }
    }

    /// Returns the channel time of a page. A read transfers only the requested share.
    pub fn transfer_ns(&self, kind: Kind) -> u64 {
        match self.share.filter(|_| kind == Kind::Read) {
            Some(Share { sectors, of }) => {
                (self.timing.transfer_ns * u64::from(sectors)).div_ceil(of.into())
            }
            None => self.timing.transfer_ns,
        }
    }

    /// Begins flash operations together.
    pub fn begin(&mut self, kind: Kind, locations: &[Location], cause: Cause, chain: &mut Chain) {
        let mut fork = Fork::new(*chain);
        for &location in locations {
            let is_change = |step: &Step| matches!(step.kind, Kind::Program | Kind::Erase);
            let is_here = |step: &Step| {
                (step.location.die, step.location.unit) == (location.die, location.unit)
            };
            let is_hazard = |step: &Step| match kind {
                Kind::Read => step.kind == Kind::Program && step.location == location,
                Kind::Erase => step.kind == Kind::Read && step.location.unit == location.unit,
                _ => false,
            };
            let awaits = self.live(|step| step.is_live() && is_hazard(step));
            let last = self.live(|step| step.is_live() && is_change(step) && is_here(step)).pop();
            let ns = self.row_cells_ns(kind, location).unwrap_or(self.cells_ns(kind, location.row));
            let mut end = fork.branch();
            let step = self.issue(&mut end, kind, component(cause), ns);
            (step.location, step.awaits) = (location, awaits);
            step.behind = last.filter(|_| kind != Kind::Read);
            fork.join(end, self);
        }
        *chain = fork.end();
    }
}

impl Nand for Brute {
    type Error = Infallible;
    type Clock = Self;

    fn clock(&self) -> &Self {
        self
    }

    fn clock_mut(&mut self) -> &mut Self {
        self
    }

    fn read(
        &mut self,
        at: Ppn,
        of: Owner,
        source: ReadSource,
        why: Cause,
        on: &mut Chain,
    ) -> Result<(), Infallible> {
        match self.has_rows() {
            true => self.read_row(at, source, why, on),
            false => self.begin(Kind::Read, &[self.location(at)], why, on),
        }
        self.counted.read(at, of, source, why, on)
    }

    fn program(&mut self, at: Ppn, of: Tag, why: Cause, on: &mut Chain) -> Result<(), Infallible> {
        if self.has_rows() {
            self.fill(at, 1, why, on);
        } else {
            self.begin(Kind::Program, &[self.location(at)], why, on);
            if why == Cause::Host {
                self.frees(*on, 1);
            }
        }
        self.counted.program(at, of, why, on)
    }

    fn pad(&mut self, at: Ppn, pages: u32, on: &mut Chain) -> Result<(), Infallible> {
        self.fill(at, pages, Cause::Pad, on);
        self.counted.pad(at, pages, on)
    }

    fn copy(&mut self, moves: impl Moves, why: Cause, on: &mut Chain) -> Result<(), Infallible> {
        if self.has_rows() {
            let listed: Vec<_> = moves.clone().collect();
            self.copy_rows(&listed, why, on);
            return self.counted.copy(moves, why, on);
        }
        let from: Vec<_> = moves.clone().map(|step| self.location(step.from)).collect();
        let to: Vec<_> = moves.clone().map(|step| self.location(step.to)).collect();
        self.begin(Kind::Read, &from, why, on);
        self.begin(Kind::Program, &to, why, on);
        self.counted.copy(moves, why, on)
    }

    fn set_mode(&mut self, unit: Unit, mode: Mode) {
        self.set_unit_mode(unit, mode);
        self.counted.set_mode(unit, mode);
    }

    fn erase(&mut self, unit: Unit, why: Cause, on: &mut Chain) -> Result<(), Infallible> {
        self.drop_rows(unit);
        self.begin(Kind::Erase, &self.locations(unit), why, on);
        self.counted.erase(unit, why, on)
    }

    fn report(&self, counters: &mut Counters) {
        self.counted.report(counters);
        for (&cause, &pages) in &self.memory.reads {
            counters.flash.reads[cause] -= pages;
            counters.flash.memory_reads[cause] += pages;
        }
        counters.flash.senses -= self.memory.senses_saved;
        // The busy time of dies is not split by operation.
        let busy = |&read_ns: &u64| DieUse { read_ns, ..DieUse::default() };
        counters.dies = self.busy.iter().map(busy).collect();
        counters.channels.clone_from(&self.moved);
        let (busy_ns, busiest_ns) = (self.busy.iter().sum(), *self.busy.iter().max().unwrap());
        let is_busy = (0..self.dies.len()).any(|die| self.does(die).is_some());
        let end_ns = if is_busy { self.now } else { self.end };
        counters.occupation = Occupation { end_ns, busy_ns, busiest_ns };
    }

    fn reset_counters(&mut self) {
        let memory = std::mem::take(&mut self.memory).erased();
        let idle = Self::new(self.geometry, self.timing, self.schedule, self.seen.clone());
        *self = Self { memory, ..idle };
    }
}

impl Clock for Brute {
    fn now(&self) -> u64 {
        self.now
    }

    fn is_live(&self, chain: Chain) -> bool {
        chain.node().is_some_and(|(at, _)| self.steps[at as usize].is_live())
    }

    fn join(&mut self, first: Chain, second: Chain) -> Chain {
        let mut chain = first;
        self.issue(&mut chain, Kind::Join, Component::Queue, 0);
        self.join_more(chain, second)
    }

    fn join_more(&mut self, joined: Chain, more: Chain) -> Chain {
        let (Some((at, _)), Some((more, _))) = (joined.node(), more.node()) else { unreachable!() };
        self.steps[at as usize].follows.push(more as usize);
        joined
    }

    fn wait(&mut self, chain: &mut Chain, work: Chain, component: Component) {
        if self.is_live(work) && work.node() != chain.node() {
            self.give_back_early(*chain);
            let awaits = work.node().into_iter().map(|(at, _)| at as usize).collect();
            self.issue(chain, Kind::Join, component, 0).awaits = awaits;
        }
    }

    fn delay(&mut self, chain: &mut Chain, ns: u64, component: Component) {
        if ns > 0 {
            self.issue(chain, Kind::Delay, component, ns);
        }
    }

    fn serve(&mut self, chain: &mut Chain, server: Server, pass_ns: u64, hold_ns: u64) {
        let component = match server {
            Server::Commands => Component::Queue,
            Server::Cores => Component::Controller,
            Server::LinkIn | Server::LinkOut => Component::Link,
        };
        let step = self.issue(chain, Kind::Serve, component, pass_ns);
        (step.server, step.hold) = (server as usize, hold_ns);
    }

    fn begin_task(&mut self, chain: &mut Chain, task: Task) -> bool {
        let Controller { task_ns, blocking, .. } = self.schedule.controller;
        let ns = task_ns[task as usize];
        let holds = blocking && matches!(task, Task::Translate | Task::RemapEntry);
        match self.core(*chain) {
            Some(_) => self.delay(chain, ns, Component::Controller),
            None if holds => {
                self.serve(chain, Server::Cores, ns, u64::MAX);
                let at = self.steps.len() - 1;
                self.steps[at].core = Some(at);
                return true;
            }
            None if ns > 0 => self.serve(chain, Server::Cores, ns, ns),
            None => {}
        }
        false
    }

    fn end_task(&mut self, chain: &mut Chain, holds: bool) {
        if holds {
            self.issue(chain, Kind::GiveBack, Component::Controller, 0);
        }
    }

    fn take_memory(&mut self, chain: &mut Chain, pages: u64) -> bool {
        self.take_room(chain, pages)
    }

    fn wait_in_line(&mut self, chain: &mut Chain) {
        self.stand_in_line(chain);
    }

    fn wait_for_programs(&mut self, chain: &mut Chain) {
        while !self.schedule.controller.power_protected
            && let Some(program) = self.first_program()
        {
            self.wait(chain, program, Component::Buffer);
        }
    }

    fn read_share(&mut self, share: Option<Share>) {
        self.share = share;
    }

    fn watch(&mut self, chain: Chain, ticket: u64) {
        match chain.node().filter(|_| self.is_live(chain)) {
            Some((at, _)) => self.steps[at as usize].ticket = Some(ticket),
            None => {
                let (at_ns, blame) = (self.now, Blame::default());
                self.ended.push_back(Ended { ticket, at_ns, blame });
            }
        }
    }

    fn play(&mut self, until: u64) -> bool {
        self.play_until(until, |brute| !brute.ended.is_empty());
        !self.ended.is_empty()
    }

    fn play_chain(&mut self, chain: Chain, until: u64) {
        self.play_until(until, |brute| !brute.is_live(chain));
    }

    fn ended(&mut self) -> Option<Ended> {
        self.ended.pop_front()
    }
}
