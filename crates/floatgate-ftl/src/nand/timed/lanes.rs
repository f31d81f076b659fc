//! Dies and channels: what they do, what waits for them, and the account of their time.

use alloc::vec::Vec;

use super::core::Core;
use super::events::{NEVER, Run};
use super::line::Line;
use super::node::Kind;
use super::schedule::Schedule;
use crate::clock::{Blame, NONE, Part, Use};
use crate::counters::DieUse;

/// What a die does, and what others are told that wait for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Activity {
    /// Nothing.
    Idle,
    /// Something, for a part.
    Busy(Use, Part),
    /// It waits for the channel, and passes on what that does.
    Waiting,
}

/// One operation of a die: a page, the pages of a multi-plane operation, or an erase.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batch {
    /// When the cells began.
    pub(super) began: u64,
    /// When the cells will end, or have ended; while they do not work on it, how long they still
    /// will.
    pub(super) ends: u64,
    /// The first of its nodes.
    pub(super) head: u32,
    /// How many pages it is of.
    pub(super) pages: u32,
    /// How often it was interrupted.
    pub(super) suspensions: u32,
    pub(super) kind: Kind,
    pub(super) part: Part,
    /// The run that it is of while it is not interrupted.
    pub(super) run: Run,
    /// Whether somebody will be told what the time of any of its pages went into.
    pub(super) is_told: bool,
}

/// What a die can do next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Next {
    /// Nothing, for now.
    Nothing,
    /// To begin with the first operation of a queue.
    Begin(usize),
    /// To program what was transferred.
    Load,
    /// To interrupt what the cells do.
    Suspend,
    /// To go on with what was interrupted.
    Resume,
}

/// The queues of a die: reads that go first, other reads, programs and erases.
pub(super) const URGENT: usize = 0;
pub(super) const READS: usize = 1;
pub(super) const CHANGES: usize = 2;

#[derive(Clone, Debug)]
pub(super) struct Die {
    pub(super) number: u32,
    pub(super) channel: usize,
    pub(super) queues: [Line; 3],
    /// What the cells do.
    pub(super) array: Option<Batch>,
    /// What is transferred, waits for that, or waits for the cells.
    pub(super) register: Option<Batch>,
    /// Pages in the register that are still to be transferred.
    pub(super) left: u32,
    pub(super) suspended: Option<Batch>,
    /// Whether what the cells do is being interrupted, and when an operation was interrupted last.
    pub(super) is_suspending: bool,
    pub(super) suspended_at: u64,
    /// Whether a page is on the channel, and whether a command is.
    pub(super) is_transferring: bool,
    pub(super) is_commanded: bool,
    is_dirty: bool,
    /// When the cells are done, or interrupted.
    pub(super) due: u64,
    activity: Activity,
    pub(super) since: u64,
    /// What the time so far went into, as others are told that wait for it.
    account: Blame,
    /// The account of the channel when the die began to wait for it.
    mark: Blame,
    /// What it went into, by [`Use`].
    used: [u64; 5],
}

impl Die {
    pub(super) fn new(number: usize, channel: usize) -> Self {
        Self {
            number: number as u32,
            channel,
            queues: Default::default(),
            array: None,
            register: None,
            left: 0,
            suspended: None,
            is_suspending: false,
            suspended_at: 0,
            is_transferring: false,
            is_commanded: false,
            is_dirty: false,
            due: NEVER,
            activity: Activity::Idle,
            since: 0,
            account: Blame::default(),
            mark: Blame::default(),
            used: [0; 5],
        }
    }

    /// It may be able to begin something.
    #[inline(always)]
    pub(super) fn mark(&mut self, dirty: &mut Vec<u32>) {
        if !self.is_dirty {
            self.is_dirty = true;
            dirty.push(self.number);
        }
    }

    /// The same, unless it is not free for anything.
    #[inline(always)]
    pub(super) fn mark_if_free(&mut self, core: &mut Core) {
        if self.may_begin(&core.schedule) {
            self.mark(&mut core.dirty_dies);
        }
    }

    /// It has begun what it can.
    #[inline(always)]
    pub(super) fn unmark(&mut self) {
        self.is_dirty = false;
    }

    /// How many operations stand before it.
    pub(super) fn standing(&self) -> usize {
        self.queues.iter().map(Line::len).sum()
    }

    /// It has done all of an operation of a part since it was accounted for last.
    #[inline(always)]
    pub(super) fn done(&mut self, part: Part, used: [(Use, u64); 3], now: u64) {
        for (doing, ns) in used {
            self.used[doing as usize] += ns;
        }
        self.account.add(part, now - self.since);
        self.since = now;
    }

    /// What it does from now on.
    #[inline(always)]
    fn activity(&self, now: u64) -> Activity {
        let working = match (&self.array, &self.register) {
            (None, None) => self.suspended.as_ref(),
            (array, _) => array.as_ref(),
        };
        if let Some(batch) = working {
            let doing = match batch.kind {
                Kind::Read if batch.ends <= now => Use::Wait,
                Kind::Read => Use::Read,
                Kind::Program => Use::Program,
                Kind::Erase => Use::Erase,
            };
            return Activity::Busy(doing, batch.part);
        }
        match &self.register {
            None => Activity::Idle,
            Some(batch) if self.is_transferring || self.is_commanded => {
                Activity::Busy(Use::Transfer, batch.part)
            }
            Some(_) => Activity::Waiting,
        }
    }

    /// Brings the account up to date. To be called before the die, or whether its page is on the
    /// channel, changes.
    #[inline(always)]
    pub(super) fn account_for(&mut self, now: u64, channel: &mut Channel) {
        let ns = now - self.since;
        if ns == 0 {
            return;
        }
        self.since = now;
        match self.activity {
            Activity::Idle => {}
            Activity::Busy(doing, part) => {
                self.used[doing as usize] += ns;
                self.account.add(part, ns);
            }
            Activity::Waiting => {
                self.used[Use::Wait as usize] += ns;
                channel.account_for(now);
                self.account.add_all(&channel.account);
                self.account.take_all(&self.mark);
                self.mark = channel.account;
            }
        }
    }

    /// To be called when it does something else from now on.
    #[inline(always)]
    pub(super) fn turn(&mut self, now: u64, channel: &mut Channel) {
        self.activity = self.activity(now);
        if self.activity == Activity::Waiting {
            channel.account_for(now);
            self.mark = channel.account;
        }
    }

    /// What its time went into until it was accounted for last.
    #[inline(always)]
    pub(super) fn account(&self) -> &Blame {
        &self.account
    }

    /// What it does, for whom.
    pub(super) fn doing(&self) -> Option<(Use, Part)> {
        match self.activity {
            Activity::Idle => None,
            Activity::Busy(doing, part) => Some((doing, part)),
            Activity::Waiting => self.register.as_ref().map(|batch| (Use::Wait, batch.part)),
        }
    }

    /// Whether it does anything.
    pub(super) fn is_busy(&self) -> bool {
        self.activity != Activity::Idle
    }

    /// What its time went into until now.
    pub(super) fn used(&self, now: u64) -> DieUse {
        let mut used = self.used;
        if let Some((doing, _)) = self.doing() {
            used[doing as usize] += now - self.since;
        }
        let [read_ns, program_ns, erase_ns, transfer_ns, wait_ns] = used;
        DieUse { read_ns, program_ns, erase_ns, transfer_ns, wait_ns }
    }

    /// The queue whose first operation is the next.
    #[inline(always)]
    pub(super) fn head(&self, now: u64, schedule: &Schedule) -> Option<usize> {
        let first =
            |queue: usize| self.queues[queue].first().map(|first| (first.since, first.serial));
        let other = match (first(READS), first(CHANGES)) {
            (Some(read), Some(change)) => Some(if read < change { READS } else { CHANGES }),
            (None, Some(_)) => Some(CHANGES),
            (Some(_), None) => Some(READS),
            (None, None) => None,
        };
        let Some(starve_ns) = schedule.order.starve_ns() else { return other };
        let Some((urgent, _)) = first(URGENT) else { return other };
        let starves =
            |queue: usize| first(queue).is_some_and(|(at, _)| now - at >= starve_ns && at < urgent);
        Some(other.filter(|&queue| starves(queue)).unwrap_or(URGENT))
    }

    /// Whether there may be something that it can do.
    #[inline(always)]
    pub(super) fn may_begin(&self, schedule: &Schedule) -> bool {
        let works = self.array.is_some() || (self.register.is_some() && self.left > 0);
        if works && !schedule.overlaps() {
            return false;
        }
        let [urgent, reads, changes] = &self.queues;
        let stands = !(urgent.is_empty() & reads.is_empty() & changes.is_empty());
        stands | self.register.is_some() | self.suspended.is_some()
    }

    /// What it can do.
    #[inline(always)]
    pub(super) fn next(&self, now: u64, schedule: &Schedule) -> Next {
        match (&self.array, &self.suspended) {
            (Some(batch), _) => self.beside(batch, now, schedule),
            (None, Some(_)) => self.amid(now, schedule),
            (None, None) => match &self.register {
                Some(Batch { kind: Kind::Program, .. }) if self.left == 0 => Next::Load,
                Some(Batch { kind: Kind::Read, .. }) if schedule.cache_register => {
                    let is_program = |&queue: &usize| queue == CHANGES && !self.erases_next();
                    let head = self.head(now, schedule).filter(|queue| !is_program(queue));
                    head.map_or(Next::Nothing, Next::Begin)
                }
                Some(_) => Next::Nothing,
                None => self.head(now, schedule).map_or(Next::Nothing, Next::Begin),
            },
        }
    }

    /// Whether the first of the changes is an erase, which needs no register.
    fn erases_next(&self) -> bool {
        self.queues[CHANGES].first().is_some_and(|first| first.entry & ERASE != 0)
    }

    /// What it can do while the cells are busy.
    #[inline(always)]
    fn beside(&self, batch: &Batch, now: u64, schedule: &Schedule) -> Next {
        if self.register.is_some() || self.is_suspending || batch.kind == Kind::Read {
            return Next::Nothing;
        }
        let urgent = !self.queues[URGENT].is_empty();
        if urgent && schedule.may_suspend(batch, now) {
            return Next::Suspend;
        }
        let next = self.head(now, schedule).filter(|_| schedule.cache_register);
        match next {
            Some(CHANGES) if !self.erases_next() => Next::Begin(CHANGES),
            _ => Next::Nothing,
        }
    }

    /// When a program may be transferred beside what the cells do, although urgent reads stand
    /// there, if that is before the cells have ended.
    #[inline(always)]
    pub(super) fn starves_at(&self, schedule: &Schedule) -> Option<u64> {
        let starve_ns = schedule.order.starve_ns()?;
        let ends = self.array.as_ref().filter(|batch| batch.kind != Kind::Read)?.ends;
        let waits =
            schedule.cache_register && self.register.is_none() && !self.queues[URGENT].is_empty();
        let since = self.queues[CHANGES].first().filter(|_| waits)?.since;
        since.checked_add(starve_ns).filter(|&time| time < ends)
    }

    /// What it can do while an operation is interrupted: reads go on, but not for ever.
    fn amid(&self, now: u64, schedule: &Schedule) -> Next {
        if self.register.is_some() && !schedule.cache_register {
            return Next::Nothing;
        }
        let Some(starve_ns) = schedule.order.starve_ns() else { return Next::Resume };
        let goes_on = now - self.suspended_at < starve_ns && !self.queues[URGENT].is_empty();
        if goes_on { Next::Begin(URGENT) } else { Next::Resume }
    }
}

/// In the queue of changes: marks a node that erases.
pub(super) const ERASE: u32 = 1 << 31;

/// The node of an entry.
#[inline(always)]
pub(super) fn node_of(entry: u32) -> u32 {
    entry & !ERASE
}

#[derive(Clone, Debug)]
pub(super) struct Channel {
    pub(super) number: u32,
    pub(super) queue: Line,
    /// The page that is transferred, and what others are told that wait for it.
    pub(super) current: u32,
    pub(super) part: Part,
    /// How long that takes.
    pub(super) transfer_ns: u64,
    is_dirty: bool,
    since: u64,
    account: Blame,
}

impl Channel {
    pub(super) fn new(number: u32) -> Self {
        Self {
            number,
            queue: Line::default(),
            current: NONE,
            part: Part::Bus,
            transfer_ns: 0,
            is_dirty: false,
            since: 0,
            account: Blame::default(),
        }
    }

    /// It may be able to begin something, if it is free and a page waits for it.
    #[inline(always)]
    pub(super) fn mark_if_free(&mut self, dirty: &mut Vec<u32>) {
        if self.current == NONE && !self.queue.is_empty() && !self.is_dirty {
            self.is_dirty = true;
            dirty.push(self.number);
        }
    }

    /// It has begun what it can.
    #[inline(always)]
    pub(super) fn unmark(&mut self) {
        self.is_dirty = false;
    }

    /// Brings the account up to date. To be called before the channel changes.
    #[inline(always)]
    pub(super) fn account_for(&mut self, now: u64) {
        if self.current != NONE {
            self.account.add(self.part, now - self.since);
        }
        self.since = now;
    }

    /// What others are told who wait for a page of a part: that it is the host's does not matter.
    #[inline(always)]
    pub(super) fn part_of(part: Part) -> Part {
        if part == Part::Die { Part::Bus } else { part }
    }

    /// It was free, and has transferred for so long meanwhile.
    #[inline(always)]
    pub(super) fn transferred(&mut self, part: Part, ns: u64, now: u64) {
        self.account.add(Self::part_of(part), ns);
        self.since = now;
    }

    /// What its time went into until it was accounted for last.
    #[inline(always)]
    pub(super) fn account(&self) -> &Blame {
        &self.account
    }

    /// What its time went into until now.
    pub(super) fn used(&self, now: u64) -> Blame {
        let mut used = self.account;
        if self.current != NONE {
            used.add(self.part, now - self.since);
        }
        used
    }
}
