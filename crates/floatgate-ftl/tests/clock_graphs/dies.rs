//! docs/time.md as a program: what a die does.

use crate::brute::{Brute, Kind, Step};
use floatgate_ftl::nand::{Order, Part};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    Command,
    Cells,
    /// The cells keep what they have read: the register is taken.
    Kept,
    /// Pages wait for the channel, or are on it.
    Transfer,
    /// All pages are in the register.
    Full,
    Suspending,
    Suspended,
    Resuming,
}
use Phase::{Cells, Command, Full, Kept, Resuming, Suspended, Suspending, Transfer};

/// An operation: an erase, or pages of one row on several planes.
#[derive(Clone, Debug)]
pub struct Job {
    pub pages: Vec<usize>,
    /// Those of the first page.
    pub kind: Kind,
    pub part: Part,
    pub phase: Phase,
    /// When the phase ends, and what is left to the cells then.
    pub until: u64,
    pub left: u64,
    /// How often it was interrupted, and when the last time.
    pub times: u32,
    pub since: u64,
}

#[derive(Clone, Debug, Default)]
pub struct Die {
    pub queue: Vec<usize>,
    pub cells: Option<Job>,
    pub register: Option<Job>,
    pub suspended: Option<Job>,
    pub busy: u64,
}

#[derive(Clone, Debug, Default)]
pub struct Channel {
    /// Pages, and since when they are ready.
    pub queue: Vec<(u64, usize)>,
    pub page: Option<(u64, usize)>,
}

impl Brute {
    /// Who stands before a die: urgent reads, other reads, programs and erases.
    fn queue(&self, die: usize, name: usize) -> Vec<usize> {
        let name_of = |at: &usize| match self.steps[*at].kind {
            Kind::Read if self.steps[*at].is_urgent && self.schedule.order != Order::Fifo => 0,
            Kind::Read => 1,
            _ => 2,
        };
        let mut queue = self.dies[die].queue.clone();
        queue.retain(|at| name_of(at) == name);
        queue.sort_by_key(|&at| (self.steps[at].stood, at));
        queue
    }

    /// The queue whose head is the next in line.
    fn next(&self, die: usize) -> Option<usize> {
        let stood = |name| self.queue(die, name).first().map(|&at| (self.steps[at].stood, at));
        let others = [1, 2].into_iter().filter(|&name| stood(name).is_some());
        let other = others.min_by_key(|&name| stood(name));
        let Order::ReadFirst { starve_ns } = self.schedule.order else { return other };
        let Some((Some(urgent), _)) = stood(0) else { return other };
        let starves = |&name: &usize| {
            let since = stood(name).unwrap().0.unwrap();
            self.now - since >= starve_ns && since < urgent
        };
        other.filter(starves).or(Some(0))
    }

    fn next_kind(&self, die: usize) -> Option<Kind> {
        self.next(die).map(|name| self.steps[self.queue(die, name)[0]].kind)
    }

    /// A die begins something, if it can.
    pub fn begin_on(&mut self, at: usize) -> bool {
        let (cache, die) = (self.schedule.cache_register, &self.dies[at]);
        if let Some(job) = &die.cells {
            return if job.kind == Kind::Read || die.register.is_some() || job.phase == Suspending {
                false
            } else if self.can_suspend(at, job) {
                self.suspend(at)
            } else {
                cache && self.next_kind(at) == Some(Kind::Program) && self.begin(at, 2)
            };
        }
        if let Some(job) = &die.suspended {
            let Order::ReadFirst { starve_ns } = self.schedule.order else { unreachable!() };
            let is_starving = self.now - job.since >= starve_ns;
            let has_urgent = !self.queue(at, 0).is_empty();
            return if die.register.is_some() && !cache {
                false
            } else if has_urgent && !is_starving {
                self.begin(at, 0)
            } else {
                self.resume(at, has_urgent)
            };
        }
        match &die.register {
            Some(job) if job.phase == Full => {
                let mut job = self.dies[at].register.take().unwrap();
                (job.phase, job.until) = (Cells, self.now + job.left);
                self.dies[at].cells = Some(job);
                return true;
            }
            Some(job) => {
                if !cache || job.kind != Kind::Read || self.next_kind(at) == Some(Kind::Program) {
                    return false;
                }
                self.see("cells that work beside a read in the register");
            }
            None => {}
        }
        self.next(at).is_some_and(|name| self.begin(at, name))
    }

    fn can_suspend(&self, die: usize, job: &Job) -> bool {
        self.schedule.suspend.is_some_and(|suspend| {
            !self.queue(die, 0).is_empty()
                && job.phase == Cells
                && job.times < suspend.most
                && job.until - self.now > suspend.suspend_ns
        })
    }

    fn suspend(&mut self, die: usize) -> bool {
        let (now, suspend_ns) = (self.now, self.schedule.suspend.unwrap().suspend_ns);
        let job = self.dies[die].cells.as_mut().unwrap();
        (job.left, job.until) = (job.until - now, now + suspend_ns);
        (job.phase, job.times, job.since) = (Suspending, job.times + 1, now);
        let again = if job.times > 1 { "interrupted again" } else { "interrupted" };
        self.see(again);
        true
    }

    fn resume(&mut self, die: usize, is_starving: bool) -> bool {
        let mut job = self.dies[die].suspended.take().unwrap();
        let resume_ns = self.schedule.suspend.unwrap().resume_ns;
        (job.phase, job.until) = (Resuming, self.now + resume_ns);
        job.times = if is_starving { u32::MAX } else { job.times };
        self.dies[die].cells = Some(job);
        self.pass_phase(die);
        self.see(if is_starving { "goes on before urgent reads" } else { "goes on" });
        true
    }

    /// The head of a queue begins, and those behind it that are of the same row and other planes.
    fn begin(&mut self, die: usize, name: usize) -> bool {
        let queue = self.queue(die, name);
        let Step { kind, part, ns: left, place: (_, unit, row, _), .. } = self.steps[queue[0]];
        let mut pages: Vec<usize> = vec![];
        for at in queue {
            let step = &self.steps[at];
            let is_taken = pages.iter().any(|&page| self.steps[page].place.3 == step.place.3);
            let joins = step.kind == kind && (step.place.1, step.place.2) == (unit, row);
            if !pages.is_empty() && (kind == Kind::Erase || !joins || is_taken) {
                break;
            }
            pages.push(at);
        }
        self.see(if pages.len() > 1 { "multi-plane" } else { "one page or erase" });
        let die_queue = &mut self.dies[die].queue;
        die_queue.retain(|at| !pages.contains(at));
        let has_cells = self.dies[die].cells.is_some();
        let until = self.now + self.timing.command_ns;
        let job = Job { pages, kind, part, phase: Command, until, left, times: 0, since: 0 };
        match kind {
            Kind::Program => self.dies[die].register = Some(job),
            _ => self.dies[die].cells = Some(job),
        }
        self.pass_phase(die);
        if has_cells {
            self.see("a program in the register beside working cells");
        }
        true
    }

    /// Command cycles and resumptions of no time are no step at all.
    fn pass_phase(&mut self, die: usize) {
        let Die { cells, register, .. } = &self.dies[die];
        let passes = |job: &Job| [Command, Resuming].contains(&job.phase) && job.until <= self.now;
        if cells.iter().chain(register).any(passes) {
            self.end_phase(die);
        }
    }

    // What ends.

    /// A page has been transferred.
    pub fn transferred(&mut self, at: usize) {
        let die = &mut self.dies[self.steps[at].place.0];
        let channel = &self.channels[self.steps[at].place.0 / self.dies_per_channel];
        let job = die.register.as_mut().unwrap();
        if job.kind == Kind::Read {
            job.pages.retain(|&page| page != at);
            if job.pages.is_empty() {
                die.register = None;
            }
            self.complete(at);
        } else if !channel.queue.iter().any(|(_, page)| job.pages.contains(page)) {
            job.phase = Full;
        }
    }

    /// The pages in the register come to stand before the channel.
    fn transfer(&mut self, die: usize) {
        let job = self.dies[die].register.as_mut().unwrap();
        job.phase = Transfer;
        for at in job.pages.clone() {
            match self.timing.transfer_ns {
                0 => self.transferred(at),
                _ => self.channels[die / self.dies_per_channel].queue.push((self.now, at)),
            }
        }
    }

    pub fn end_phase(&mut self, at: usize) -> bool {
        let (now, die) = (self.now, &mut self.dies[at]);
        if die.register.as_ref().is_some_and(|job| job.phase == Command && job.until <= now) {
            self.transfer(at);
            return true;
        }
        let Some(job) = &mut die.cells else { return false };
        match job.phase {
            Kept if die.register.is_none() => {
                die.register = die.cells.take();
                self.transfer(at);
            }
            Kept => return false,
            _ if job.until > now => return false,
            Command | Resuming => (job.phase, job.until) = (Cells, now + job.left),
            Suspending => {
                job.phase = Suspended;
                die.suspended = die.cells.take();
            }
            _ if job.kind == Kind::Read => {
                job.phase = Kept;
                if die.register.is_some() {
                    self.see("a read that waits for the register");
                }
            }
            _ => die.cells.take().unwrap().pages.into_iter().for_each(|page| self.complete(page)),
        }
        true
    }
}
