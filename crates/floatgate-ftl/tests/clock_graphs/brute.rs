//! docs/time.md as a program: lists that are searched from end to end at every instant, and a
//! blame that is added up from one instant to the next.

use crate::dies::Phase::{Cells, Command, Full, Kept, Resuming, Suspended, Suspending, Transfer};
use crate::dies::{Channel, Die, Job};
use floatgate_ftl::nand::{Blame, Ended, Order, Part, Schedule, Timing};
use std::collections::BTreeMap;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Nothing,
    Delay,
    Serve,
    Read,
    Program,
    Erase,
}

/// Die, unit, row, plane.
pub type Place = (usize, u32, u32, u32);

/// A step of a chain. Steps are numbered as they are issued.
#[derive(Clone, Debug)]
pub struct Step {
    pub kind: Kind,
    pub part: Part,
    pub place: Place,
    /// Of a service: whose it is, and when the server takes the next.
    pub server: usize,
    pub hold: u64,
    /// How long the cells, the delay or the service take.
    pub ns: u64,
    pub is_urgent: bool,
    pub is_told: bool,
    pub ticket: Option<u64>,
    pub issued: u64,
    /// The ends of its chain; what else is to end; who is to stand before the die.
    pub follows: Vec<usize>,
    pub hazards: Vec<usize>,
    pub behind: Option<usize>,
    /// What it waited for last before it was ready.
    pub kept: Part,
    /// While a hazard held it back: what its die did, and how long that was idle.
    pub held: Blame,
    pub idle: u64,
    /// How long work that is not told has waited for operations of the host.
    pub of_host: u64,
    /// When it came to stand before its die or server, and when it ended.
    pub stood: Option<u64>,
    pub end: Option<u64>,
    pub blame: Blame,
}

impl Step {
    /// Nothing to be done, and nothing waited for.
    pub fn new(kind: Kind, part: Part) -> Self {
        let (follows, hazards, behind, kept) = (vec![], vec![], None, part);
        let (is_urgent, is_told, ticket, issued) = (false, true, None, 0);
        let (place, server, hold, ns) = ((0, 0, 0, 0), 0, 0, 0);
        let (stood, end, blame) = (None, None, Blame::default());
        let (held, idle, of_host) = (Blame::default(), 0, 0);
        #[rustfmt::skip]
        return Self {
            kind, part, place, server, hold, ns, is_urgent, is_told, ticket, issued,
            follows, hazards, behind, kept, held, idle, of_host, stood, end, blame,
        };
    }
}

pub struct Brute {
    pub timing: Timing,
    pub schedule: Schedule,
    pub steps: Vec<Step>,
    pub dies_per_channel: usize,
    pub dies: Vec<Die>,
    pub channels: Vec<Channel>,
    /// Who stands before each server, and when it takes the next.
    servers: [(Vec<usize>, Option<u64>); 4],
    /// Delays and services: when they end.
    running: Vec<(u64, usize)>,
    pub ended: Vec<Ended>,
    pub now: u64,
    pub end: u64,
    /// What has happened how often.
    pub seen: BTreeMap<&'static str, u64>,
}

impl Brute {
    pub fn new(channels: u32, dies_per_channel: u32, timing: Timing, schedule: Schedule) -> Self {
        let (channels, dies_per_channel) = (channels as usize, dies_per_channel as usize);
        Self {
            timing,
            schedule,
            steps: vec![],
            dies_per_channel,
            dies: vec![Die::default(); channels * dies_per_channel],
            channels: vec![Channel::default(); channels],
            servers: Default::default(),
            running: vec![],
            ended: vec![],
            now: 0,
            end: 0,
            seen: BTreeMap::new(),
        }
    }

    pub fn busy(&self) -> Vec<u64> {
        self.dies.iter().map(|die| die.busy).collect()
    }

    pub fn see(&mut self, what: &'static str) {
        *self.seen.entry(what).or_default() += 1;
    }

    /// Plays until `until`, or until the front may begin something.
    pub fn play(&mut self, until: u64, stops: impl Fn(&Self) -> bool) {
        loop {
            while self.end_something() {}
            if stops(self) || self.now >= until {
                return;
            }
            if self.begin_what_can() {
                continue;
            }
            match self.next_time() {
                Some(next) if next <= until => self.advance(next),
                _ if until == u64::MAX => return,
                _ => self.advance(until),
            }
        }
    }

    fn next_time(&self) -> Option<u64> {
        let timed = |job: &&Job| [Command, Cells, Suspending, Resuming].contains(&job.phase);
        let jobs = self.dies.iter().flat_map(|die| [&die.cells, &die.register]).flatten();
        let jobs = jobs.filter(timed).map(|job| job.until);
        let running = self.running.iter().map(|running| running.0);
        let servers = self.servers.iter().filter_map(|server| server.1);
        let pages = self.channels.iter().filter_map(|channel| channel.page.map(|page| page.0));
        let standing = self.dies.iter().flat_map(|die| &die.queue);
        let starving = standing.filter_map(|&at| match self.schedule.order {
            Order::Fifo => None,
            Order::ReadFirst { starve_ns } => self.steps[at].stood.map(|time| time + starve_ns),
        });
        let starving = starving.filter(|&time| time > self.now);
        jobs.chain(running).chain(servers).chain(pages).chain(starving).min()
    }

    // First what ends.

    fn end_something(&mut self) -> bool {
        let now = self.now;
        let is_due = |due: &Option<u64>| due.is_some_and(|time| time <= now);
        if let Some(at) = (0..self.steps.len()).find(|&at| self.can_stand(&self.steps[at])) {
            self.stand(at);
        } else if let Some(at) = self.running.iter().position(|running| running.0 <= now) {
            let (_, at) = self.running.remove(at);
            let Step { part, stood, .. } = self.steps[at];
            self.steps[at].blame.add(part, now - stood.unwrap());
            self.complete(at);
        } else if let Some(server) = self.servers.iter_mut().find(|server| is_due(&server.1)) {
            server.1 = None;
        } else if let Some(channel) =
            self.channels.iter_mut().find(|channel| is_due(&channel.page.map(|page| page.0)))
        {
            let (_, at) = channel.page.take().unwrap();
            self.transferred(at);
        } else {
            return (0..self.dies.len()).any(|die| self.end_phase(die));
        }
        true
    }

    fn can_stand(&self, step: &Step) -> bool {
        let has_ended = |&at: &usize| self.steps[at].end.is_some();
        step.stood.is_none()
            && step.follows.iter().chain(&step.hazards).all(has_ended)
            && step.behind.is_none_or(|at| self.steps[at].stood.is_some())
    }

    /// What others are told who wait for what this step waited for.
    fn kept(&self, at: usize) -> Part {
        let step = &self.steps[at];
        if step.is_told { step.kept } else { step.part }
    }

    /// Nothing is waited for any more. The account is that of what ended last.
    fn stand(&mut self, at: usize) {
        let (now, mut step) = (self.now, self.steps[at].clone());
        let mut since = step.issued;
        if let Some(&last) = step.follows.iter().max_by_key(|&&at| (self.steps[at].end, at)) {
            let before = &self.steps[last];
            (step.blame, since) = (before.blame, before.end.unwrap());
            step.of_host += if before.is_told { 0 } else { before.of_host };
            step.kept = if before.kind == Kind::Nothing { before.kept } else { before.part };
        }
        if now > since {
            step.kept = match (step.kind, step.behind.or(step.hazards.last().copied())) {
                (Kind::Nothing, _) => step.part,
                (Kind::Erase, _) | (_, None) => Part::Die,
                (_, Some(hazard)) => self.kept(hazard),
            };
        }
        if let (Kind::Nothing, Some(&work)) = (step.kind, step.hazards.last()) {
            let work = &self.steps[work];
            let of_host = if work.is_told { 0 } else { work.of_host.min(now - since) };
            step.blame.add(Part::Die, of_host);
            step.blame.add(step.part, now - since - of_host);
        } else {
            step.blame.add(step.kept, step.idle);
            for (part, ns) in step.held.0.into_iter().enumerate() {
                step.blame.0[part] += ns;
            }
        }
        match step.kind {
            Kind::Nothing => {}
            Kind::Delay => self.running.push((now + step.ns, at)),
            Kind::Serve => self.servers[step.server].0.push(at),
            _ => self.dies[step.place.0].queue.push(at),
        }
        let is_nothing = step.kind == Kind::Nothing;
        self.steps[at] = Step { stood: Some(now), ..step };
        if is_nothing {
            self.complete(at);
        }
    }

    pub fn complete(&mut self, at: usize) {
        let (at_ns, step) = (self.now, &mut self.steps[at]);
        step.end = Some(at_ns);
        if [Kind::Read, Kind::Program, Kind::Erase].contains(&step.kind) {
            self.end = at_ns;
        }
        let blame = if step.is_told { step.blame } else { Blame::default() };
        self.ended.extend(step.ticket.map(|ticket| Ended { ticket, at_ns, blame }));
    }

    // Then what begins: servers, dies, channels.

    fn begin_what_can(&mut self) -> bool {
        let mut has_begun = false;
        for (queue, until) in &mut self.servers {
            let first = queue.iter().copied().min_by_key(|&at| (self.steps[at].stood, at));
            if let (None, Some(at)) = (&until, first) {
                queue.retain(|&other| other != at);
                *until = Some(self.now + self.steps[at].hold);
                self.running.push((self.now + self.steps[at].ns, at));
                has_begun = true;
            }
        }
        for die in 0..self.dies.len() {
            while self.begin_on(die) {
                has_begun = true;
            }
        }
        for channel in &mut self.channels {
            let first = channel.queue.iter().min().copied();
            if let (None, Some(first)) = (channel.page, first) {
                channel.queue.retain(|&page| page != first);
                channel.page = Some((self.now + self.timing.transfer_ns, first.1));
                has_begun = true;
            }
        }
        has_begun
    }

    // Then time passes.

    /// What a wait for the channel is told as.
    fn moves(&self, channel: usize) -> Option<Part> {
        let part = self.channels[channel].page.map(|(_, at)| self.steps[at].part);
        part.map(|part| if part == Part::Die { Part::Bus } else { part })
    }

    /// What a wait for the die is told as.
    fn does(&self, at: usize) -> Option<Part> {
        let channel = at / self.dies_per_channel;
        let job = self.dies[at].cells.as_ref().or(self.dies[at].register.as_ref())?;
        let moved = self.channels[channel].page.map(|(_, page)| page);
        let waits = job.phase == Transfer && !job.pages.iter().any(|&page| moved == Some(page));
        if waits { self.moves(channel) } else { Some(job.part) }
    }

    /// Operations whose chain has ended, but that a hazard holds back from their dies.
    fn hold(&mut self, ns: u64) {
        let has_ended = |&at: &usize| self.steps[at].end.is_some();
        let is_held = |step: &Step| {
            matches!(step.kind, Kind::Read | Kind::Program | Kind::Erase)
                && step.stood.is_none()
                && step.follows.iter().all(has_ended)
        };
        let held: Vec<_> = (0..self.steps.len()).filter(|&at| is_held(&self.steps[at])).collect();
        for at in held {
            let does = self.does(self.steps[at].place.0);
            let step = &mut self.steps[at];
            match does {
                Some(part) => step.held.add(part, ns),
                None => step.idle += ns,
            }
            step.of_host += if does == Some(Part::Die) { ns } else { 0 };
        }
    }

    fn advance(&mut self, to: u64) {
        let ns = to - self.now;
        self.hold(ns);
        for at in 0..self.dies.len() {
            let (die, channel) = (&self.dies[at], at / self.dies_per_channel);
            let (does, moves) = (self.does(at), self.moves(channel));
            // A die that something stands before does something.
            let mut blamed: Vec<_> = die.queue.iter().map(|&at| (at, does.unwrap())).collect();
            for job in [&die.cells, &die.register, &die.suspended].into_iter().flatten() {
                blamed.extend(job.pages.iter().map(|&page| {
                    let waits = self.channels[channel].queue.iter().any(|&(_, at)| at == page);
                    let part = match job.phase {
                        Cells | Suspending | Resuming => job.part,
                        Full | Suspended => does.unwrap(),
                        Transfer if waits => moves.unwrap(),
                        Command | Transfer | Kept => Part::Bus,
                    };
                    (page, part)
                }));
            }
            let waits = |job: &&Job| [Full, Suspended, Suspending].contains(&job.phase);
            let jobs = [&die.cells, &die.register, &die.suspended].into_iter().flatten();
            let waiting = jobs.filter(waits).flat_map(|job| &job.pages).chain(&die.queue);
            let waiting: Vec<usize> = waiting.copied().collect();
            if does == Some(Part::Die) {
                waiting.into_iter().for_each(|at| self.steps[at].of_host += ns);
            }
            self.dies[at].busy += if does.is_some() { ns } else { 0 };
            blamed.into_iter().for_each(|(at, part)| self.steps[at].blame.add(part, ns));
        }
        self.now = to;
    }
}
