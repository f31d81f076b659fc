//! A die: its activity, its queues, and the account of its time.

use super::channel::Channel;
use super::shared::Shared;
use crate::clock::{Blame, Component, Span, Use};
use crate::counters::DieUse;
use crate::nand::timed::events::{FixedDelay, NEVER};
use crate::nand::timed::graph::Kind;
use crate::nand::timed::schedule::Schedule;
use crate::nand::timed::wait_queue::WaitQueue;

/// Activity of a die. It determines the component of waits for the die.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Activity {
    /// The die does nothing.
    Idle,
    /// The die does something. Waits for the die count as this component.
    Busy(Use, Component),
    /// The die waits for the channel. Waits for the die count as the activity of the channel.
    Waiting,
}

/// Operation of a die: a page, the pages of a multi-plane operation, or an erase.
#[derive(Clone, Copy, Debug)]
pub(super) struct DieOp {
    /// When the cells began.
    pub(super) began: u64,
    /// When the cells end, or have ended. While the cells do not work on this operation: the time
    /// that they still need.
    pub(super) ends: u64,
    /// First node of the operation.
    pub(super) head: u32,
    /// Number of pages, or of transfers of a program unit.
    pub(super) pages: u32,
    /// Number of interruptions so far.
    pub(super) suspensions: u32,
    pub(super) kind: Kind,
    pub(super) component: Component,
    /// The delay of the operation while it is not interrupted.
    pub(super) delay: FixedDelay,
    /// Whether the time of any of its pages is reported.
    pub(super) is_attributed: bool,
}

impl DieOp {
    /// Returns whether the cells can be interrupted in this operation, and should be.
    #[inline(always)]
    fn may_suspend(&self, now: u64, schedule: &Schedule) -> bool {
        schedule.suspend.is_some_and(|suspend| {
            self.kind != Kind::Read
                && self.suspensions < suspend.most
                && self.began <= now
                && self.ends - now > suspend.suspend_ns
        })
    }
}

/// Next step of a die.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Next {
    /// Do nothing, for now.
    Nothing,
    /// Begin the first operation of a queue.
    Begin(usize),
    /// Program the transferred pages.
    Load,
    /// Interrupt the cells.
    Suspend,
    /// Resume the interrupted operation.
    Resume,
}

/// Queues of a die: reads that go first, other reads, programs and erases.
pub(super) const URGENT: usize = 0;
pub(super) const READS: usize = 1;
pub(super) const CHANGES: usize = 2;

#[derive(Clone, Debug)]
pub(super) struct Die {
    pub(super) number: u32,
    pub(super) channel: usize,
    pub(super) queues: [WaitQueue; 3],
    /// Operation in the cells.
    pub(super) array: Option<DieOp>,
    /// Operation that is in transfer, waits for the channel, or waits for the cells.
    pub(super) register: Option<DieOp>,
    /// Pages in the register that are still to be transferred.
    pub(super) left: u32,
    pub(super) suspended: Option<DieOp>,
    /// Whether the operation in the cells is being interrupted, and the time of the last
    /// interruption.
    pub(super) is_suspending: bool,
    pub(super) suspended_at: u64,
    /// Whether a page is on the channel, and whether a command is.
    pub(super) is_transferring: bool,
    pub(super) is_commanded: bool,
    /// Whether the die may be able to begin something.
    pub(super) is_dirty: bool,
    /// When the cells are done, or interrupted.
    pub(super) due: u64,
    activity: Activity,
    since: u64,
    /// Account of the die's time, by the component of waits for the die.
    account: Blame,
    /// Account of the channel when the die's wait for it began, or was last accounted for.
    channel_at_wait: Blame,
    /// Time of the die, by [`Use`].
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
            channel_at_wait: Blame::default(),
            used: [0; 5],
        }
    }

    /// Marks the die: it may be able to begin something.
    #[inline(always)]
    pub(super) fn set_dirty(&mut self, shared: &mut Shared) {
        if !self.is_dirty {
            self.is_dirty = true;
            shared.dirty_dies.push(self.number);
        }
    }

    /// Returns the number of operations in the queues of the die.
    pub(super) fn queued(&self) -> usize {
        self.queues.iter().map(WaitQueue::len).sum()
    }

    /// Accounts for a whole operation of a component, done since the account was last brought up to
    /// date.
    #[inline(always)]
    pub(super) fn done(&mut self, component: Component, used: [(Use, u64); 3], now: u64) {
        for (doing, ns) in used {
            self.used[doing as usize] += ns;
        }
        self.account.add(component, now - self.since);
        self.since = now;
    }

    /// Returns the activity of the die from now on.
    #[inline(always)]
    fn activity(&self, now: u64) -> Activity {
        let working = match (&self.array, &self.register) {
            (None, None) => self.suspended.as_ref(),
            (array, _) => array.as_ref(),
        };
        if let Some(op) = working {
            let doing = match op.kind {
                Kind::Read if op.ends <= now => Use::Wait,
                Kind::Read => Use::Read,
                Kind::Program => Use::Program,
                Kind::Erase => Use::Erase,
            };
            return Activity::Busy(doing, op.component);
        }
        match &self.register {
            None => Activity::Idle,
            Some(op) if self.is_transferring || self.is_commanded => {
                Activity::Busy(Use::Transfer, op.component)
            }
            Some(_) => Activity::Waiting,
        }
    }

    /// Brings the account up to date. Call it before the die changes, and before its page enters or
    /// leaves the channel.
    #[inline(always)]
    pub(super) fn account_for(&mut self, now: u64, channel: &mut Channel) {
        let ns = now - self.since;
        if ns == 0 {
            return;
        }
        self.since = now;
        match self.activity {
            Activity::Idle => {}
            Activity::Busy(doing, component) => {
                self.used[doing as usize] += ns;
                self.account.add(component, ns);
            }
            Activity::Waiting => {
                self.used[Use::Wait as usize] += ns;
                channel.account_for(now);
                self.account.add_all(channel.account());
                self.account.take_all(&self.channel_at_wait);
                self.channel_at_wait = *channel.account();
            }
        }
    }

    /// Sets the activity of the die. Call it after the die has changed.
    #[inline(always)]
    pub(super) fn update_activity(&mut self, now: u64, channel: &mut Channel) {
        self.activity = self.activity(now);
        if self.activity == Activity::Waiting {
            channel.account_for(now);
            self.channel_at_wait = *channel.account();
        }
    }

    /// Returns the account of the die's time, as it was last brought up to date.
    #[inline(always)]
    pub(super) fn account(&self) -> &Blame {
        &self.account
    }

    /// Returns the span of the die since its account was last brought up to date.
    pub(super) fn span(&self, now: u64) -> Option<Span> {
        let (doing, component) = self.doing()?;
        let span = Span { lane: self.number, doing, component, from_ns: self.since, to_ns: now };
        (self.since < now).then_some(span)
    }

    /// Returns the use of the die's time, and the component of its operation.
    fn doing(&self) -> Option<(Use, Component)> {
        match self.activity {
            Activity::Idle => None,
            Activity::Busy(doing, component) => Some((doing, component)),
            Activity::Waiting => self.register.as_ref().map(|op| (Use::Wait, op.component)),
        }
    }

    /// Returns whether the die does anything.
    pub(super) fn is_busy(&self) -> bool {
        self.activity != Activity::Idle
    }

    /// Returns the uses of the die's time until now.
    pub(super) fn used(&self, now: u64) -> DieUse {
        let mut used = self.used;
        if let Some((doing, _)) = self.doing() {
            used[doing as usize] += now - self.since;
        }
        let [read_ns, program_ns, erase_ns, transfer_ns, wait_ns] = used;
        DieUse { read_ns, program_ns, erase_ns, transfer_ns, wait_ns }
    }

    /// Returns the queue whose first operation is next.
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

    /// Returns whether the die may be able to begin something: whether [`Die::next`] needs a look.
    #[inline(always)]
    pub(super) fn may_begin(&self, schedule: &Schedule) -> bool {
        let [urgent, reads, changes] = &self.queues;
        let has_queued = !(urgent.is_empty() & reads.is_empty() & changes.is_empty());
        match (&self.array, &self.register) {
            (Some(op), None) => {
                has_queued && schedule.overlaps() && op.kind != Kind::Read && !self.is_suspending
            }
            (Some(_), Some(_)) => false,
            (None, _) if self.suspended.is_some() => true,
            (None, Some(DieOp { kind: Kind::Program, .. })) => self.left == 0,
            (None, Some(_)) => has_queued && schedule.cache_register,
            (None, None) => has_queued,
        }
    }

    /// Returns the next step of the die.
    #[inline(always)]
    pub(super) fn next(&self, now: u64, schedule: &Schedule) -> Next {
        match (&self.array, &self.suspended) {
            (Some(op), _) => self.next_while_busy(op, now, schedule),
            (None, Some(_)) => self.next_while_suspended(now, schedule),
            (None, None) => match &self.register {
                Some(DieOp { kind: Kind::Program, .. }) if self.left == 0 => Next::Load,
                Some(DieOp { kind: Kind::Read, .. }) if schedule.cache_register => {
                    let is_program = |&queue: &usize| queue == CHANGES && !self.erases_next();
                    let head = self.head(now, schedule).filter(|queue| !is_program(queue));
                    head.map_or(Next::Nothing, Next::Begin)
                }
                Some(_) => Next::Nothing,
                None => self.head(now, schedule).map_or(Next::Nothing, Next::Begin),
            },
        }
    }

    /// Returns whether the first program or erase is an erase, which needs no register.
    fn erases_next(&self) -> bool {
        self.queues[CHANGES].first().is_some_and(|first| first.entry & ERASE != 0)
    }

    /// Returns the next step of the die while the cells are busy.
    #[inline(always)]
    fn next_while_busy(&self, op: &DieOp, now: u64, schedule: &Schedule) -> Next {
        if self.register.is_some() || self.is_suspending || op.kind == Kind::Read {
            return Next::Nothing;
        }
        let urgent = !self.queues[URGENT].is_empty();
        if urgent && op.may_suspend(now, schedule) {
            return Next::Suspend;
        }
        let next = self.head(now, schedule).filter(|_| schedule.cache_register);
        match next {
            Some(CHANGES) if !self.erases_next() => Next::Begin(CHANGES),
            _ => Next::Nothing,
        }
    }

    /// Returns when a program may be transferred while the cells work, although urgent reads wait;
    /// `None` if the cells end before.
    #[inline(always)]
    pub(super) fn starves_at(&self, schedule: &Schedule) -> Option<u64> {
        let starve_ns = schedule.order.starve_ns()?;
        let ends = self.array.as_ref().filter(|op| op.kind != Kind::Read)?.ends;
        let waits =
            schedule.cache_register && self.register.is_none() && !self.queues[URGENT].is_empty();
        let since = self.queues[CHANGES].first().filter(|_| waits)?.since;
        since.checked_add(starve_ns).filter(|&time| time < ends)
    }

    /// Returns the next step of the die while an operation is interrupted: reads continue, but not
    /// for ever.
    fn next_while_suspended(&self, now: u64, schedule: &Schedule) -> Next {
        if self.register.is_some() && !schedule.cache_register {
            return Next::Nothing;
        }
        let Some(starve_ns) = schedule.order.starve_ns() else { return Next::Resume };
        let continues = now - self.suspended_at < starve_ns && !self.queues[URGENT].is_empty();
        if continues { Next::Begin(URGENT) } else { Next::Resume }
    }
}

/// Flag of an entry in the queue of changes: the node erases.
pub(super) const ERASE: u32 = 1 << 31;

/// Returns the node of an entry.
#[inline(always)]
pub(super) fn node_of(entry: u32) -> u32 {
    entry & !ERASE
}
