//! docs/time.md as a program, one instant after the other. At every instant it searches lists from
//! end to end, and it adds up blame from one instant to the next. `medium.rs` has the interface of
//! the drive, `dies.rs` the work of its dies.

use super::rows::Memory;
use floatgate_ftl::geometry::Geometry;
use floatgate_ftl::nand::{Blame, Component, Counted, Ended, Schedule, Server, Share, Timing};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Continues when several chains, or a chain and separate work, have ended.
    Join,
    Delay,
    Serve,
    /// Gives back the core that its chain holds.
    GiveBack,
    Read,
    Program,
    Erase,
}

/// State of a step, with its begin or end. States before `Queued` are not ready.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum State {
    /// Waits for its chain.
    Follows,
    /// Waits for separate work or a hazard since then; its chain has ended.
    Blocked(u64),
    /// Waits in front of its die or server since then.
    Queued(u64),
    /// Is delayed or served until then.
    Runs(u64),
    /// Its die is busy with it until then: first the command cycles, then the cells.
    Command(u64),
    Cells(u64),
    /// The cells keep the page that they have read, because the register is taken.
    InCells,
    /// Waits for the channel since then; is on the channel until then; has been transferred.
    Ready(u64),
    Moves(u64),
    Moved,
    Suspending(u64),
    Suspended,
    Resuming(u64),
    Ended(u64),
}
use State::{Blocked, Cells, Command, Ended as Done, Follows, InCells, Moved, Moves, Ready};
use State::{Queued, Resuming, Runs, Suspended, Suspending};

/// Location of a page or of an erase; an erase has no row and no plane.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Location {
    pub die: usize,
    pub unit: u32,
    pub row: u32,
    pub plane: u32,
}

/// Step of a chain. Steps are numbered in the order of issue.
#[derive(Clone, Debug)]
pub struct Step {
    pub kind: Kind,
    pub component: Component,
    /// Duration of the cells, the delay or the service.
    pub ns: u64,
    /// Channel time of one transfer, and the number of transfers; a row takes several.
    pub moves_ns: u64,
    pub transfers: u32,
    /// Whether some of its pages are still to come.
    pub is_open: bool,
    pub is_row: bool,
    /// For a service: its server, and the time after which the server takes the next chain.
    pub server: usize,
    pub hold: u64,
    /// Core that its chain holds, as the step that took the core.
    pub core: Option<usize>,
    pub location: Location,
    pub is_urgent: bool,
    pub is_attributed: bool,
    pub ticket: Option<u64>,
    /// Ends of its chain; other work that must end; the step that must reach the die first.
    pub follows: Vec<usize>,
    pub awaits: Vec<usize>,
    pub behind: Option<usize>,
    pub state: State,
    /// First page of its operation. That page has three more values of the operation: the remaining
    /// cell time, the number of interruptions, and the time of the last one.
    pub head: usize,
    pub left: u64,
    pub times: u32,
    pub since: u64,
    /// Begin of its chain, and the blame since then.
    pub began: u64,
    pub blame: Blame,
    /// Component for which the step waited last before it was ready, and the time for which a
    /// hazard delayed it while its die was idle.
    pub last_blocker: Component,
    pub idle: u64,
    /// Time on the longest path for which it waited while dies did host operations.
    pub of_host: u64,
}

impl Step {
    pub fn is_flash(&self) -> bool {
        matches!(self.kind, Kind::Read | Kind::Program | Kind::Erase)
    }

    pub fn is_live(&self) -> bool {
        !matches!(self.state, Done(_))
    }

    /// Returns the end of the step's current activity.
    pub fn until(&self) -> Option<u64> {
        match self.state {
            Runs(until) | Command(until) | Cells(until) | Moves(until) => Some(until),
            Suspending(until) | Resuming(until) => Some(until),
            _ => None,
        }
    }
}

/// How often each event has happened.
pub type Seen = Arc<Mutex<BTreeMap<&'static str, u64>>>;

/// The drive as specified.
pub struct Brute {
    pub geometry: Geometry,
    pub timing: Timing,
    pub schedule: Schedule,
    pub counted: Counted,
    pub steps: Vec<Step>,
    /// Steps that have not ended. `dies` has the ones at each die, waiting or in progress.
    pub live: Vec<usize>,
    pub dies: Vec<Vec<usize>>,
    /// Servers in use: the server, the end of the use, and the step.
    pub taken: Vec<(usize, u64, usize)>,
    /// Busy time of each die, and transfer time of each channel.
    pub busy: Vec<u64>,
    pub moved: Vec<Blame>,
    pub ended: VecDeque<Ended>,
    pub memory: Memory,
    /// Requested share of the pages that are read.
    pub share: Option<Share>,
    pub now: u64,
    pub end: u64,
    pub seen: Seen,
}

impl Brute {
    pub fn see(&self, what: &'static str) {
        *self.seen.lock().unwrap().entry(what).or_default() += 1;
    }

    /// Returns the steps in progress that satisfy `is`.
    pub fn live(&self, is: impl Fn(&Step) -> bool) -> Vec<usize> {
        self.live.iter().copied().filter(|&at| is(&self.steps[at])).collect()
    }

    /// Advances time to `until`, or until the front may begin something.
    pub fn play_until(&mut self, until: u64, stops: impl Fn(&Self) -> bool) {
        loop {
            self.end_all();
            if stops(self) || self.now >= until {
                return;
            }
            if self.begin_all() {
                continue;
            }
            match self.next_time() {
                Some(next) if next <= until => self.pass(next),
                _ if until == u64::MAX => return,
                _ => self.pass(until),
            }
        }
    }

    // First everything that ends.

    fn end_all(&mut self) {
        while self.end_steps() {}
        let now = self.now;
        self.taken.retain(|&(_, until, _)| until > now);
        // The obstacle of an operation may need the core that waits for the operation.
        for at in self.live(|step| step.is_flash() && matches!(step.state, Blocked(_))) {
            if self.give_back(self.steps[at].core) {
                self.see("core given back early");
            }
        }
    }

    fn end_steps(&mut self) -> bool {
        let mut has_ended = false;
        self.live = self.live(Step::is_live);
        for at in self.live.clone() {
            let step = &self.steps[at];
            let is_done = |&at: &usize| !self.steps[at].is_live();
            let may_stand = |at: usize| self.steps[at].state >= Queued(0);
            match step.state {
                Follows if !step.is_open && step.follows.iter().all(is_done) => self.reach(at),
                Blocked(since)
                    if step.awaits.iter().all(is_done) && step.behind.is_none_or(may_stand) =>
                {
                    self.stand(at, self.now - since);
                }
                InCells
                    if self.register(step.location.die).is_none_or(|head| head == step.head) =>
                {
                    self.continue_step(at);
                }
                _ if step.until().is_some_and(|until| until <= self.now) => self.continue_step(at),
                _ => continue,
            }
            has_ended = true;
        }
        has_ended
    }

    /// Handles the end of the chain before a step. The step takes over the blame of the predecessor
    /// that ended last.
    fn reach(&mut self, at: usize) {
        let follows = self.steps[at].follows.iter();
        if let Some(&last) = follows.max_by_key(|&&at| (self.steps[at].state, at)) {
            let &Step {
                kind, component, last_blocker, began, blame, is_attributed, of_host, ..
            } = &self.steps[last];
            let step = &mut self.steps[at];
            (step.began, step.blame) = (began, blame);
            step.last_blocker = if kind == Kind::Join { last_blocker } else { component };
            step.of_host = if is_attributed { 0 } else { of_host };
        }
        if self.steps[at].is_row {
            // A row belongs to several chains, so it inherits no waiting time from any of them.
            (self.steps[at].began, self.steps[at].blame) = (self.now, Blame::default());
        }
        self.steps[at].state = Blocked(self.now);
    }

    /// Handles the end of all waits of a step.
    fn stand(&mut self, at: usize, waited: u64) {
        let &Step { kind, component, mut last_blocker, behind, ref awaits, location, ns, .. } =
            &self.steps[at];
        let awaited = behind.or(awaits.last().copied()).map(|at| &self.steps[at]);
        if let (Some(awaited), 1..) = (awaited, waited) {
            last_blocker = match kind {
                Kind::Join => component,
                Kind::Erase => Component::Die,
                _ if awaited.is_attributed => awaited.last_blocker,
                _ => awaited.component,
            };
        }
        let of_host = awaited.map_or(0, |work| if work.is_attributed { 0 } else { work.of_host });
        let step = &mut self.steps[at];
        step.last_blocker = last_blocker;
        step.blame.add(last_blocker, step.idle);
        step.state = Queued(self.now);
        match kind {
            Kind::Join => {
                step.blame.add(Component::Die, of_host.min(waited));
                step.blame.add(component, waited - of_host.min(waited));
                self.complete(at);
            }
            Kind::GiveBack => self.complete(at),
            Kind::Delay => step.state = Runs(self.now + ns),
            Kind::Serve => {}
            Kind::Read | Kind::Program | Kind::Erase => self.dies[location.die].push(at),
        }
    }

    pub fn complete(&mut self, at: usize) {
        let (at_ns, step) = (self.now, &mut self.steps[at]);
        assert_eq!(step.blame.total(), at_ns - step.began, "the components sum to it: {step:?}");
        step.state = Done(at_ns);
        let blame = if step.is_attributed { step.blame } else { Blame::default() };
        self.ended.extend(step.ticket.map(|ticket| Ended { ticket, at_ns, blame }));
        if step.is_flash() {
            self.end = at_ns;
            self.dies[step.location.die].retain(|&other| other != at);
        }
        let Step { kind, core, .. } = *step;
        if kind == Kind::GiveBack && self.give_back(core) {
            self.see("core held over the flash");
        }
    }

    /// Gives back a core. Returns whether a chain held it until now.
    fn give_back(&mut self, core: Option<usize>) -> bool {
        let taken = self.taken.len();
        self.taken.retain(|&(_, _, by)| Some(by) != core);
        self.taken.len() < taken
    }

    // Then everything that begins: servers, dies, channels.

    fn begin_all(&mut self) -> bool {
        let mut has_begun = false;
        let stands = |step: &Step| matches!(step.state, Queued(_));
        for at in self.in_turn(|step| step.kind == Kind::Serve && stands(step)) {
            let Step { server, ns, hold, .. } = self.steps[at];
            let is_cores = server == Server::Cores as usize;
            let locations = if is_cores { self.schedule.controller.cores as usize } else { 1 };
            if self.taken.iter().filter(|taken| taken.0 == server).count() < locations {
                self.steps[at].state = Runs(self.now + ns);
                self.taken.push((server, self.now.saturating_add(hold), at));
                has_begun = true;
            }
        }
        for die in 0..self.dies.len() {
            while self.begin_on(die) {
                has_begun = true;
            }
        }
        for at in self.in_turn(|step| matches!(step.state, Ready(_))) {
            if self.moving(self.channel(self.steps[at].location.die)).is_none() {
                self.steps[at].state = Moves(self.now + self.steps[at].moves_ns);
                has_begun = true;
            }
        }
        has_begun
    }

    /// Returns the steps that satisfy `is`, the longest waiting first, and among equals the oldest
    /// first.
    fn in_turn(&self, is: impl Fn(&Step) -> bool) -> Vec<usize> {
        let mut steps = self.live(is);
        steps.sort_by_key(|&at| (self.steps[at].state, at));
        steps
    }

    // Then time advances.

    fn next_time(&self) -> Option<u64> {
        let steps = self.live.iter().filter_map(|&at| match self.steps[at].state {
            Queued(since) => Some(since.saturating_add(self.starve())),
            _ => self.steps[at].until(),
        });
        let times = steps.chain(self.taken.iter().map(|taken| taken.1));
        times.filter(|&time| time > self.now && time < u64::MAX).min()
    }

    /// Returns the component for the time of a step until the next instant, and whether the step
    /// waits for its die.
    fn attribution(
        &self,
        at: usize,
        does: Option<Component>,
        moves: Option<Component>,
    ) -> (Option<Component>, bool) {
        let step = &self.steps[at];
        match step.state {
            Blocked(_) | Queued(_) if step.is_flash() => (does, true),
            Queued(_) | Runs(_) => (Some(step.component), false),
            Command(_) | InCells | Moves(_) => (Some(Component::Bus), false),
            Cells(_) | Resuming(_) => (Some(self.steps[step.head].component), false),
            Suspending(_) => (Some(self.steps[step.head].component), true),
            Suspended => (does, true),
            Ready(_) => (moves, false),
            Moved if self.is_full(step.head) => (does, true),
            Moved => (Some(Component::Bus), false),
            Follows | Blocked(_) | Done(_) => (None, false),
        }
    }

    fn pass(&mut self, to: u64) {
        let ns = to - self.now;
        let does: Vec<_> = (0..self.dies.len()).map(|die| self.does(die)).collect();
        let moves: Vec<_> = (0..self.moved.len()).map(|channel| self.moves(channel)).collect();
        for at in self.live.clone() {
            let die = self.steps[at].location.die;
            let (attribution, waits) = self.attribution(at, does[die], moves[self.channel(die)]);
            let step = &mut self.steps[at];
            match attribution {
                Some(component) => step.blame.add(component, ns),
                None => step.idle += if waits { ns } else { 0 },
            }
            step.of_host += if waits && does[die] == Some(Component::Die) { ns } else { 0 };
        }
        for (busy, does) in self.busy.iter_mut().zip(does) {
            *busy += if does.is_some() { ns } else { 0 };
        }
        for (moved, moves) in self.moved.iter_mut().zip(moves) {
            moves.into_iter().for_each(|component| moved.add(component, ns));
        }
        self.now = to;
    }
}
