//! docs/time.md as a program: what a die does.

use crate::brute::{Brute, Kind, State, Step};
use floatgate_ftl::nand::{Order, Part};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    Command,
    Cells,
    /// The cells keep what they have read: the register is taken.
    Kept,
    /// Pages wait for the channel, or are on it.
    Transfer,
    /// All pages are in the register, and wait for the cells.
    Full,
    Suspending,
    Suspended,
    Resuming,
}
use Phase::{Cells, Command, Full, Kept, Resuming, Suspended, Suspending, Transfer};

/// An operation that a die has begun: an erase, or pages of one row on several planes.
#[derive(Clone, Debug)]
pub struct Job {
    pub die: usize,
    pub pages: Vec<usize>,
    /// Those of the first page.
    pub kind: Kind,
    pub part: Part,
    pub phase: Phase,
    /// When the phase ends, if that is known, and what is left to the cells then.
    pub until: u64,
    pub left: u64,
    /// How often it was interrupted, and when the last time.
    pub times: u32,
    pub since: u64,
}

const NEVER: u64 = u64::MAX;

/// The queues of a die.
const URGENT: usize = 0;
const READS: usize = 1;
const CHANGES: usize = 2;

impl Brute {
    /// Who stands before a die in one of its queues, and since when.
    fn queue(&self, die: usize, queue: usize) -> Vec<(u64, usize)> {
        let queue_of = |step: &Step| match step.kind {
            Kind::Read if step.is_urgent && self.schedule.order != Order::Fifo => URGENT,
            Kind::Read => READS,
            _ => CHANGES,
        };
        let mut all = self.standing[die].clone();
        all.retain(|&(_, at)| queue_of(&self.steps[at]) == queue);
        all.sort_unstable();
        all
    }

    fn head(&self, die: usize, queue: usize) -> Option<(u64, usize)> {
        self.queue(die, queue).first().copied()
    }

    /// The queue whose head is the next in line.
    fn next(&self, die: usize) -> Option<usize> {
        let others = [READS, CHANGES].into_iter().filter(|&queue| self.head(die, queue).is_some());
        let other = others.min_by_key(|&queue| self.head(die, queue));
        let Order::ReadFirst { starve_ns } = self.schedule.order else { return other };
        let Some((urgent, _)) = self.head(die, URGENT) else { return other };
        let starves = |&queue: &usize| {
            let (since, _) = self.head(die, queue).unwrap();
            self.now - since >= starve_ns && since < urgent
        };
        other.filter(starves).or(Some(URGENT))
    }

    fn next_is_program(&self, die: usize) -> bool {
        let head = self.next(die).and_then(|queue| self.head(die, queue));
        head.is_some_and(|(_, at)| self.steps[at].kind == Kind::Program)
    }

    fn job(&self, die: usize, is: impl Fn(&Job) -> bool) -> Option<usize> {
        self.jobs.iter().position(|job| job.die == die && is(job))
    }

    /// Who has the cells of a die.
    pub fn cells(&self, die: usize) -> Option<usize> {
        self.job(die, |job| match job.phase {
            Command => job.kind != Kind::Program,
            phase => matches!(phase, Cells | Kept | Suspending | Resuming),
        })
    }

    /// Who has its register.
    pub fn register(&self, die: usize) -> Option<usize> {
        self.job(die, |job| match job.phase {
            Command => job.kind == Kind::Program,
            phase => matches!(phase, Transfer | Full),
        })
    }

    fn suspended(&self, die: usize) -> Option<usize> {
        self.job(die, |job| job.phase == Suspended)
    }

    /// A die begins something, if it can.
    pub fn begin_on(&mut self, die: usize) -> bool {
        let cache = self.schedule.cache_register;
        let has_urgent = self.head(die, URGENT).is_some();
        match (self.cells(die), self.suspended(die), self.register(die)) {
            (Some(at), _, None) if self.can_suspend(&self.jobs[at]) => self.suspend(at),
            (Some(at), _, None) => {
                let Job { kind, phase, .. } = self.jobs[at];
                let works = kind != Kind::Read && phase != Suspending;
                works && cache && self.next_is_program(die) && self.begin(die, Some(CHANGES))
            }
            (Some(_), _, Some(_)) => false,
            (None, Some(_), Some(_)) if !cache => false,
            (None, Some(at), _) => {
                let Order::ReadFirst { starve_ns } = self.schedule.order else { unreachable!() };
                match has_urgent && self.now - self.jobs[at].since < starve_ns {
                    true => self.begin(die, Some(URGENT)),
                    false => self.resume(at, has_urgent),
                }
            }
            (None, None, Some(at)) if self.jobs[at].phase == Full => {
                let left = self.jobs[at].left;
                self.enter(at, Cells, self.now + left)
            }
            (None, None, Some(at)) => {
                let begins =
                    cache && self.jobs[at].kind == Kind::Read && !self.next_is_program(die);
                begins && self.begin(die, self.next(die))
            }
            (None, None, None) => self.begin(die, self.next(die)),
        }
    }

    fn enter(&mut self, at: usize, phase: Phase, until: u64) -> bool {
        (self.jobs[at].phase, self.jobs[at].until) = (phase, until);
        true
    }

    fn can_suspend(&self, job: &Job) -> bool {
        self.schedule.suspend.is_some_and(|suspend| {
            job.kind != Kind::Read
                && job.phase == Cells
                && job.times < suspend.most
                && job.until - self.now > suspend.suspend_ns
                && self.head(job.die, URGENT).is_some()
        })
    }

    fn suspend(&mut self, at: usize) -> bool {
        let (now, suspend_ns) = (self.now, self.schedule.suspend.unwrap().suspend_ns);
        let job = &mut self.jobs[at];
        (job.left, job.times, job.since) = (job.until - now, job.times + 1, now);
        let again = job.times > 1;
        self.see(if again { "interrupted again" } else { "interrupted" });
        self.enter(at, Suspending, now + suspend_ns)
    }

    fn resume(&mut self, at: usize, has_urgent: bool) -> bool {
        if has_urgent {
            self.jobs[at].times = u32::MAX;
        }
        self.see(if has_urgent { "goes on before urgent reads" } else { "goes on" });
        self.enter(at, Resuming, self.now + self.schedule.suspend.unwrap().resume_ns);
        self.pass_phase(at)
    }

    /// The head of a queue begins, and those behind it that are of the same row and other planes.
    fn begin(&mut self, die: usize, queue: Option<usize>) -> bool {
        let Some(queue) = queue.map(|queue| self.queue(die, queue)) else { return false };
        let Step { kind, part, ns: left, place, .. } = self.steps[queue[0].1].clone();
        let mut pages: Vec<usize> = vec![];
        for (_, at) in queue {
            let other = &self.steps[at];
            let is_taken = pages.iter().any(|&page| self.steps[page].place == other.place);
            let is_row = (other.place.unit, other.place.row) == (place.unit, place.row);
            let joins = kind != Kind::Erase && other.kind == kind && is_row && !is_taken;
            if !pages.is_empty() && !joins {
                break;
            }
            pages.push(at);
        }
        self.see(if pages.len() > 1 { "multi-plane" } else { "one page or erase" });
        match (self.cells(die), self.register(die)) {
            (Some(_), _) => self.see("a program in the register beside working cells"),
            (_, Some(_)) => self.see("cells that work beside a read in the register"),
            _ => {}
        }
        pages.iter().for_each(|&page| self.steps[page].state = State::Begun);
        self.standing[die].retain(|(_, at)| !pages.contains(at));
        let (phase, until, times, since) = (Command, self.now + self.timing.command_ns, 0, 0);
        self.jobs.push(Job { die, pages, kind, part, phase, until, left, times, since });
        self.pass_phase(self.jobs.len() - 1)
    }

    /// Command cycles and a resumption of no time are no step at all.
    fn pass_phase(&mut self, at: usize) -> bool {
        if self.jobs[at].until == self.now {
            self.end_phase(at);
        }
        true
    }

    // What ends.

    pub fn end_phases(&mut self) -> bool {
        let is_due = |job: &Job| match job.phase {
            Kept => self.register(job.die).is_none(),
            _ => job.until <= self.now,
        };
        let due = self.jobs.iter().position(is_due);
        due.is_some_and(|at| self.end_phase(at))
    }

    fn end_phase(&mut self, at: usize) -> bool {
        let Job { kind, phase, left, die, .. } = self.jobs[at];
        match (phase, kind) {
            (Command, Kind::Program) | (Kept, _) => self.transfer(at),
            (Command | Resuming, _) => self.enter(at, Cells, self.now + left),
            (Suspending, _) => self.enter(at, Suspended, NEVER),
            (_, Kind::Read) => {
                if self.register(die).is_some() {
                    self.see("a read that waits for the register");
                }
                self.enter(at, Kept, NEVER)
            }
            _ => {
                let pages = self.jobs.remove(at).pages;
                pages.into_iter().for_each(|page| self.complete(page));
                true
            }
        }
    }

    /// The pages in the register come to stand before the channel.
    fn transfer(&mut self, at: usize) -> bool {
        self.enter(at, Transfer, NEVER);
        for page in self.jobs[at].pages.clone() {
            self.steps[page].state = State::Ready(self.now);
        }
        if self.timing.transfer_ns == 0 {
            self.jobs[at].pages.clone().into_iter().for_each(|page| self.transferred(page));
        }
        true
    }

    /// A page has been transferred.
    pub fn transferred(&mut self, page: usize) {
        let die = self.steps[page].place.die;
        let (at, channel) = (self.register(die).unwrap(), self.channel(die));
        self.moving[channel].take_if(|moving| *moving == page);
        self.steps[page].state = State::Moved;
        if self.jobs[at].kind == Kind::Read {
            self.complete(page);
            self.jobs[at].pages.retain(|&other| other != page);
            if self.jobs[at].pages.is_empty() {
                self.jobs.remove(at);
            }
        } else if self.jobs[at].pages.iter().all(|&at| self.steps[at].state == State::Moved) {
            self.jobs[at].pages.iter().for_each(|&page| self.steps[page].state = State::Begun);
            self.enter(at, Full, NEVER);
        }
    }

    /// What the time of a page that its die has begun is told as, and whether it waits for the die.
    pub fn told_by_job(&self, page: usize, does: Option<Part>) -> (Option<Part>, bool) {
        let job = self.jobs.iter().find(|job| job.pages.contains(&page)).unwrap();
        match job.phase {
            Command | Kept | Transfer => (Some(Part::Bus), false),
            Cells | Resuming => (Some(job.part), false),
            Suspending => (Some(job.part), true),
            Suspended | Full => (does, true),
        }
    }
}
