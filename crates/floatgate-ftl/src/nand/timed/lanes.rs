//! Dies and channels: what they do, what waits for them, and the account of their time.

use alloc::collections::VecDeque;

use super::events::NEVER;
use super::graph::Kind;
use super::schedule::{Order, Schedule};
use crate::clock::{Blame, NONE, Part, Use};
use crate::counters::DieUse;

/// A node that waits, since when, and its serial.
pub(super) type Waiting = (u64, u64, u32);

/// Puts a node behind those that have waited for longer; of those that came at the same time the
/// older one goes first.
#[inline(always)]
pub(super) fn enqueue(queue: &mut VecDeque<Waiting>, waiting: Waiting) {
    queue.push_back(waiting);
    let mut at = queue.len() - 1;
    while at > 0 && (queue[at - 1].0, queue[at - 1].1) > (waiting.0, waiting.1) {
        queue.swap(at - 1, at);
        at -= 1;
    }
}

impl DieUse {
    #[inline(always)]
    fn add(&mut self, doing: Use, ns: u64) {
        *match doing {
            Use::Read => &mut self.read_ns,
            Use::Program => &mut self.program_ns,
            Use::Erase => &mut self.erase_ns,
            Use::Transfer => &mut self.transfer_ns,
            Use::Wait => &mut self.wait_ns,
        } += ns;
    }
}

/// One operation of a die: a page, the pages of a multi-plane operation, or an erase.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batch {
    /// The first of its nodes.
    pub(super) head: u32,
    pub(super) kind: Kind,
    pub(super) part: Part,
    /// Pages that are still to be transferred.
    pub(super) left: u32,
    /// When the cells began and will end; after the end a read may wait for the register.
    pub(super) began: u64,
    pub(super) ends: u64,
    pub(super) suspensions: u32,
    pub(super) is_suspending: bool,
    /// When it was suspended last.
    pub(super) suspended: u64,
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

/// What the time of a die or a channel went into, as others are told that wait for it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lane {
    pub(super) blame: Blame,
    /// All of it.
    pub(super) total: u64,
}

impl Lane {
    #[inline(always)]
    fn add(&mut self, part: Part, ns: u64) {
        self.blame.add(part, ns);
        self.total += ns;
    }
}

#[derive(Clone, Debug)]
pub(super) struct Die {
    pub(super) channel: usize,
    pub(super) queues: [VecDeque<Waiting>; 3],
    /// What the cells do.
    pub(super) array: Option<Batch>,
    /// What is transferred, waits for that, or waits for the cells.
    pub(super) register: Option<Batch>,
    pub(super) suspended: Option<Batch>,
    /// When the cells are done, or interrupted.
    pub(super) due: u64,
    /// Whether a page is on the channel, and whether a command is.
    pub(super) is_transferring: bool,
    pub(super) is_commanded: bool,
    pub(super) is_dirty: bool,
    pub(super) since: u64,
    /// What the time so far went into.
    account: Lane,
    /// The account of the channel when the die began to wait for it.
    mark: Blame,
    used: DieUse,
}

impl Die {
    pub(super) fn new(channel: usize) -> Self {
        Self {
            channel,
            queues: Default::default(),
            array: None,
            register: None,
            suspended: None,
            due: NEVER,
            is_transferring: false,
            is_commanded: false,
            is_dirty: false,
            since: 0,
            account: Lane::default(),
            mark: Blame::default(),
            used: DieUse::default(),
        }
    }

    /// What it does, for whom.
    pub(super) fn doing(&self) -> Option<(Use, Part)> {
        let cells = |batch: &Batch| match batch.kind {
            Kind::Read if batch.ends <= self.since => Use::Wait,
            Kind::Read => Use::Read,
            Kind::Program => Use::Program,
            Kind::Erase => Use::Erase,
        };
        if let Some(batch) = self.array.as_ref().or(self.suspended.as_ref())
            && (self.array.is_some() || self.register.is_none())
        {
            return Some((cells(batch), batch.part));
        }
        let moves = self.is_transferring || self.is_commanded;
        self.register.as_ref().map(|batch| match moves {
            true => (Use::Transfer, batch.part),
            false => (Use::Wait, batch.part),
        })
    }

    /// Brings the account up to date. To be called before the die, or whether its page is on the
    /// channel, changes, and after the channel's account was brought up to date.
    #[inline(always)]
    pub(super) fn account_for(&mut self, now: u64, channel: &Channel) {
        let ns = now - self.since;
        if ns == 0 {
            return;
        }
        if let Some((used, part)) = self.doing() {
            self.used.add(used, ns);
            if self.waits_for_channel() {
                self.account.blame.add_all(&channel.account.blame);
                self.account.blame.take_all(&self.mark);
                self.account.total += ns;
                self.mark = channel.account.blame;
            } else {
                self.account.add(part, ns);
            }
        }
        self.since = now;
    }

    /// To be called after the die has changed.
    #[inline(always)]
    pub(super) fn changed(&mut self, channel: &Channel) {
        if self.waits_for_channel() {
            self.mark = channel.account.blame;
        }
    }

    #[inline(always)]
    fn waits_for_channel(&self) -> bool {
        self.array.is_none()
            && self.register.is_some()
            && !self.is_transferring
            && !self.is_commanded
    }

    /// What its time went into until it was accounted for last.
    #[inline(always)]
    pub(super) fn account(&self) -> &Lane {
        &self.account
    }

    /// Whether it does anything.
    pub(super) fn is_busy(&self) -> bool {
        self.doing().is_some()
    }

    /// What its time went into until now.
    pub(super) fn used(&self, now: u64) -> DieUse {
        let mut used = self.used;
        if let Some((doing, _)) = self.doing() {
            used.add(doing, now - self.since);
        }
        used
    }

    /// The queue whose first operation is the next.
    #[inline(always)]
    fn head(&self, now: u64, schedule: &Schedule) -> Option<usize> {
        let first = |queue: usize| self.queues[queue].front().map(|&(at, serial, _)| (at, serial));
        let other = match (first(READS), first(CHANGES)) {
            (Some(read), Some(change)) => Some(if read < change { READS } else { CHANGES }),
            (None, Some(_)) => Some(CHANGES),
            (Some(_), None) => Some(READS),
            (None, None) => None,
        };
        let Order::ReadFirst { starve_ns } = schedule.order else { return other };
        let Some((urgent, _)) = first(URGENT) else { return other };
        let starves =
            |queue: usize| first(queue).is_some_and(|(at, _)| now - at >= starve_ns && at < urgent);
        Some(other.filter(|&queue| starves(queue)).unwrap_or(URGENT))
    }

    /// What it can do.
    #[inline(always)]
    pub(super) fn next(&self, now: u64, schedule: &Schedule) -> Next {
        match (&self.array, &self.suspended) {
            (Some(batch), _) => self.beside(batch, now, schedule),
            (None, Some(suspended)) => self.amid(suspended, now, schedule),
            (None, None) => match &self.register {
                Some(Batch { kind: Kind::Program, left: 0, .. }) => Next::Load,
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
        self.queues[CHANGES].front().is_some_and(|&(_, _, node)| node & ERASE != 0)
    }

    /// What it can do while the cells are busy.
    #[inline(always)]
    fn beside(&self, batch: &Batch, now: u64, schedule: &Schedule) -> Next {
        if self.register.is_some() || batch.is_suspending || batch.kind == Kind::Read {
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
        let Order::ReadFirst { starve_ns } = schedule.order else { return None };
        let ends = self.array.as_ref().filter(|batch| batch.kind != Kind::Read)?.ends;
        let waits =
            schedule.cache_register && self.register.is_none() && !self.queues[URGENT].is_empty();
        let since = self.queues[CHANGES].front().filter(|_| waits)?.0;
        since.checked_add(starve_ns).filter(|&time| time < ends)
    }

    /// What it can do while an operation is interrupted: reads go on, but not for ever.
    fn amid(&self, suspended: &Batch, now: u64, schedule: &Schedule) -> Next {
        if self.register.is_some() && !schedule.cache_register {
            return Next::Nothing;
        }
        let Order::ReadFirst { starve_ns } = schedule.order else { return Next::Resume };
        let goes_on = now - suspended.suspended < starve_ns && !self.queues[URGENT].is_empty();
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
    pub(super) queue: VecDeque<Waiting>,
    /// The page that is transferred, and what others are told that wait for it.
    pub(super) current: u32,
    pub(super) part: Part,
    pub(super) is_dirty: bool,
    since: u64,
    account: Lane,
}

impl Channel {
    pub(super) fn new() -> Self {
        Self {
            queue: VecDeque::new(),
            current: NONE,
            part: Part::Bus,
            is_dirty: false,
            since: 0,
            account: Lane::default(),
        }
    }

    /// Brings the account up to date. To be called before the channel changes.
    #[inline(always)]
    pub(super) fn account_for(&mut self, now: u64) {
        if self.current != NONE {
            self.account.add(self.part, now - self.since);
        }
        self.since = now;
    }

    /// What its time went into until it was accounted for last.
    #[inline(always)]
    pub(super) fn account(&self) -> &Lane {
        &self.account
    }

    /// What its time went into until now.
    pub(super) fn used(&self, now: u64) -> Blame {
        let mut used = self.account.blame;
        if self.current != NONE {
            used.add(self.part, now - self.since);
        }
        used
    }
}
