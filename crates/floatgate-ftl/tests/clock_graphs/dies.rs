//! docs/time.md as a program: the work of dies and channels. An operation of a die is an erase, or
//! pages of one row on several planes. Its first page identifies it.

use super::brute::State::{Cells, Command, InCells, Moved, Moves, Ready};
use super::brute::State::{Queued, Resuming, Runs, Suspended, Suspending};
use super::brute::{Brute, Kind, State, Step};
use floatgate_ftl::nand::{Component, Order};

/// The queues of a die.
const URGENT: usize = 0;
const READS: usize = 1;
const CHANGES: usize = 2;

impl Brute {
    pub fn channel(&self, die: usize) -> usize {
        die / self.geometry.shape().dies as usize
    }

    /// Returns the steps that wait in a queue of a die, and since when.
    fn queue(&self, die: usize, queue: usize) -> Vec<(u64, usize)> {
        let queue_of = |step: &Step| match step.kind {
            Kind::Read => match self.schedule.order {
                Order::ReadFirst { .. } if step.is_urgent => URGENT,
                Order::AllReadsFirst { .. } => URGENT,
                _ => READS,
            },
            _ => CHANGES,
        };
        let stands = |&at: &usize| match self.steps[at].state {
            Queued(since) if queue_of(&self.steps[at]) == queue => Some((since, at)),
            _ => None,
        };
        let mut standing: Vec<_> = self.dies[die].iter().filter_map(stands).collect();
        standing.sort_unstable();
        standing
    }

    fn head(&self, die: usize, queue: usize) -> Option<(u64, usize)> {
        self.queue(die, queue).first().copied()
    }

    /// Returns the queue whose head is next.
    fn next(&self, die: usize) -> Option<usize> {
        let heads = [READS, CHANGES].map(|queue| (self.head(die, queue), queue));
        let other = heads.into_iter().filter(|(head, _)| head.is_some()).min();
        let other = other.map(|(head, queue)| (head.unwrap().0, queue));
        let Some((urgent, _)) = self.head(die, URGENT) else { return other.map(|other| other.1) };
        let starves = |&(since, _): &_| self.now - since >= self.starve() && since < urgent;
        Some(other.filter(starves).map_or(URGENT, |other| other.1))
    }

    fn next_is_program(&self, die: usize) -> bool {
        let head = self.next(die).and_then(|queue| self.head(die, queue));
        head.is_some_and(|(_, at)| self.steps[at].kind == Kind::Program)
    }

    /// Returns the operation of a die with a step that satisfies `is`.
    fn operation(&self, die: usize, is: impl Fn(&Step) -> bool) -> Option<usize> {
        self.dies[die].iter().map(|&at| &self.steps[at]).find(|step| is(step)).map(|step| step.head)
    }

    fn pages(&self, head: usize) -> Vec<usize> {
        let mut pages = self.dies[self.steps[head].location.die].clone();
        pages.retain(|&at| self.steps[at].head == head);
        pages
    }

    /// Returns the operation that uses the cells.
    fn cells(&self, die: usize) -> Option<usize> {
        self.operation(die, |step| match step.state {
            Command(_) => step.kind != Kind::Program,
            state => matches!(state, Cells(_) | InCells | Suspending(_) | Resuming(_)),
        })
    }

    /// Returns the operation that uses the register.
    pub fn register(&self, die: usize) -> Option<usize> {
        self.operation(die, |step| match step.state {
            Command(_) => step.kind == Kind::Program,
            state => matches!(state, Ready(_) | Moves(_) | Moved),
        })
    }

    /// Returns whether all pages of a program are in the register.
    pub fn is_full(&self, head: usize) -> bool {
        self.pages(head).iter().all(|&page| self.steps[page].state == Moved)
    }

    /// Begins an operation on a die, if the die can. Returns whether one began.
    pub fn begin_on(&mut self, die: usize) -> bool {
        let cache = self.schedule.cache_register;
        let has_urgent = self.head(die, URGENT).is_some();
        let suspended = self.operation(die, |step| step.state == Suspended);
        match (self.cells(die), suspended, self.register(die)) {
            (Some(head), _, None) if has_urgent && self.can_suspend(head) => self.suspend(head),
            (Some(head), _, None) => {
                let Step { kind, state, .. } = self.steps[head];
                let works = kind != Kind::Read && !matches!(state, Suspending(_));
                works && cache && self.next_is_program(die) && self.begin_head(die, Some(CHANGES))
            }
            (Some(_), _, Some(_)) => false,
            (None, Some(_), Some(_)) if !cache => false,
            (None, Some(head), _) => {
                match has_urgent && self.now - self.steps[head].since < self.starve() {
                    true => self.begin_head(die, Some(URGENT)),
                    false => self.resume(head, has_urgent),
                }
            }
            (None, None, Some(head)) if self.is_full(head) => {
                self.enter(head, Cells(self.now + self.steps[head].ns))
            }
            (None, None, Some(head)) => {
                let is_read = self.steps[head].kind == Kind::Read;
                let begins = cache && is_read && !self.next_is_program(die);
                begins && self.begin_head(die, self.next(die))
            }
            (None, None, None) => self.begin_head(die, self.next(die)),
        }
    }

    fn enter(&mut self, head: usize, state: State) -> bool {
        self.pages(head).into_iter().for_each(|page| self.steps[page].state = state);
        true
    }

    fn can_suspend(&self, head: usize) -> bool {
        let Step { kind, state, times, .. } = self.steps[head];
        let (Some(suspend), Cells(until)) = (self.schedule.suspend, state) else { return false };
        let ends_later = until - self.now > suspend.suspend_ns;
        kind != Kind::Read && times < suspend.most && ends_later
    }

    fn suspend(&mut self, head: usize) -> bool {
        let (now, suspend_ns) = (self.now, self.schedule.suspend.unwrap().suspend_ns);
        let left = self.steps[head].until().unwrap() - now;
        self.pages(head).into_iter().for_each(|page| self.steps[page].left = left);
        let step = &mut self.steps[head];
        (step.times, step.since) = (step.times + 1, now);
        self.see(if self.steps[head].times > 1 { "interrupted again" } else { "interrupted" });
        self.enter(head, Suspending(now + suspend_ns))
    }

    fn resume(&mut self, head: usize, has_urgent: bool) -> bool {
        self.steps[head].times = if has_urgent { u32::MAX } else { self.steps[head].times };
        self.see(if has_urgent { "continues before urgent reads" } else { "continues" });
        self.enter(head, Resuming(self.now + self.schedule.suspend.unwrap().resume_ns));
        self.pass_at_once(head)
    }

    /// Begins the head of a queue, together with the steps behind it in the same row on other
    /// planes.
    fn begin_head(&mut self, die: usize, queue: Option<usize>) -> bool {
        let Some(queue) = queue.map(|queue| self.queue(die, queue)) else { return false };
        let head = queue[0].1;
        let Step { kind, location, .. } = self.steps[head];
        let mut pages: Vec<usize> = vec![];
        for (_, at) in queue {
            let other = &self.steps[at];
            let is_taken = pages.iter().any(|&page| self.steps[page].location == other.location);
            let is_row = (other.location.unit, other.location.row) == (location.unit, location.row);
            let joins = kind != Kind::Erase && other.kind == kind && is_row && !is_taken;
            if at != head && !joins {
                break;
            }
            pages.push(at);
        }
        self.see(if pages.len() > 1 { "multi-plane" } else { "one page or erase" });
        match (self.cells(die), self.register(die)) {
            (Some(_), _) => self.see("a program in the register during work of the cells"),
            (_, Some(_)) => self.see("work of the cells with a read in the register"),
            _ => {}
        }
        for page in pages {
            let step = &mut self.steps[page];
            (step.head, step.left) = (head, step.ns);
            step.state = Command(self.now + self.timing.command_ns);
        }
        self.pass_at_once(head)
    }

    /// Command cycles and a resumption of zero length are skipped.
    fn pass_at_once(&mut self, head: usize) -> bool {
        if self.steps[head].until() == Some(self.now) {
            self.pages(head).into_iter().for_each(|page| self.continue_step(page));
        }
        true
    }

    /// Ends the current activity of a step.
    pub fn continue_step(&mut self, at: usize) {
        let Step { kind, state, left, location, transfers, .. } = self.steps[at];
        self.steps[at].state = match (state, kind) {
            (Command(_), Kind::Program) | (InCells, _) if self.timing.transfer_ns > 0 => {
                Ready(self.now)
            }
            (Moves(_), Kind::Program) if transfers > 1 => {
                self.steps[at].transfers -= 1;
                Ready(self.now)
            }
            (Command(_) | Moves(_), Kind::Program) => Moved,
            (Command(_) | Resuming(_), _) => Cells(self.now + left),
            (Cells(_), Kind::Read) => {
                if self.register(location.die).is_some() {
                    self.see("a read that waits for the register");
                }
                InCells
            }
            (Suspending(_), _) => Suspended,
            (Runs(_) | Cells(_) | InCells | Moves(_), _) => return self.complete(at),
            _ => unreachable!("nothing else ends"),
        };
    }

    pub fn starve(&self) -> u64 {
        match self.schedule.order {
            Order::Fifo => u64::MAX,
            Order::ReadFirst { starve_ns } | Order::AllReadsFirst { starve_ns } => starve_ns,
        }
    }

    /// Returns the page on a channel.
    pub fn moving(&self, channel: usize) -> Option<usize> {
        let dies = self.geometry.shape().dies as usize;
        let mut pages = self.dies[channel * dies..][..dies].iter().flatten().copied();
        pages.find(|&at| matches!(self.steps[at].state, Moves(_)))
    }

    /// Returns the component for a wait for a channel.
    pub fn moves(&self, channel: usize) -> Option<Component> {
        let component = self.moving(channel).map(|at| self.steps[at].component);
        component
            .map(|component| if component == Component::Die { Component::Bus } else { component })
    }

    /// Returns the component for a wait for a die.
    pub fn does(&self, die: usize) -> Option<Component> {
        let head = self.cells(die).or(self.register(die))?;
        let states: Vec<_> = self.pages(head).iter().map(|&page| self.steps[page].state).collect();
        let waits = states.iter().any(|state| matches!(state, Ready(_)));
        let is_moving = states.iter().any(|state| matches!(state, Moves(_)));
        match waits && !is_moving {
            true => self.moves(self.channel(die)),
            false => Some(self.steps[head].component),
        }
    }
}
