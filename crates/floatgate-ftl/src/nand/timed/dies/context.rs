//! A die at work: its accounts, its waits, and the interruption of its cells.

use super::channel::Channel;
use super::die::{Die, DieOp, URGENT};
use super::shared::Shared;
use crate::clock::{Component, NONE};
use crate::nand::timed::events::{Event, Events};
use crate::nand::timed::graph::Nodes;

/// A die, its channel, and everything that they act on.
pub struct DieContext<'a> {
    pub(super) die: &'a mut Die,
    pub(super) channel: &'a mut Channel,
    pub(super) shared: &'a mut Shared,
    pub(super) nodes: &'a mut Nodes,
    pub(super) events: &'a mut Events,
    pub(super) now: u64,
}

impl DieContext<'_> {
    /// Brings the account of the die up to date. Call it before the die changes.
    #[inline(always)]
    pub fn account(&mut self) {
        self.die.account_for(self.now, self.channel);
    }

    /// Updates the activity of the die. Call it after the die has changed.
    #[inline(always)]
    pub(super) fn update_activity(&mut self) {
        self.die.update_activity(self.now, self.channel);
    }

    /// Marks the die, unless it can certainly begin nothing.
    #[inline(always)]
    pub(super) fn set_dirty_if_free(&mut self) {
        if self.die.may_begin(&self.shared.schedule) {
            self.die.set_dirty(self.shared);
        }
    }

    /// Visits the pages of an operation, one after the other.
    #[inline(always)]
    pub(super) fn pages(&mut self, head: u32, mut each: impl FnMut(&mut Self, u32)) {
        let mut at = head;
        while at != NONE {
            let next = self.nodes.operation(at).next;
            each(self, at);
            at = next;
        }
    }

    /// Adds time to the accounts of all pages of an operation.
    #[inline(always)]
    pub(super) fn charge(&mut self, op: &DieOp, component: Component, ns: u64) {
        if op.is_attributed {
            self.pages(op.head, |context, at| context.nodes.charge(at, component, ns));
        }
    }

    /// Begins the wait of an operation's pages for their die.
    #[inline(always)]
    pub(super) fn wait_for_die(&mut self, head: u32) {
        self.pages(head, |context, at| {
            context.nodes.begin_wait(at, context.now, context.die.account());
        });
    }

    /// Ends the wait of an operation's pages for their die.
    #[inline(always)]
    pub(super) fn waited_for_die(&mut self, head: u32) {
        self.pages(head, |context, at| context.nodes.end_wait(at, context.die.account()));
    }

    /// Interrupts the cells for reads.
    pub(super) fn suspend(&mut self) {
        self.account();
        let Some(suspend) = self.shared.schedule.suspend else { return };
        let now = self.now;
        let Some(op) = &mut self.die.array else { return };
        op.suspensions += 1;
        op.ends -= now;
        let op = *op;
        (self.die.is_suspending, self.die.suspended_at) = (true, now);
        self.charge(&op, op.component, now - op.began);
        self.wait_for_die(op.head);
        self.work_until(now + suspend.suspend_ns);
        self.update_activity();
    }

    /// Resumes the interrupted operation.
    pub(super) fn resume(&mut self) {
        self.account();
        let Some(mut op) = self.die.suspended.take() else { return };
        let resume_ns = self.shared.schedule.suspend.map_or(0, |suspend| suspend.resume_ns);
        // An operation that resumes although urgent reads wait has starved: it is not interrupted
        // again.
        if !self.die.queues[URGENT].is_empty() {
            op.suspensions = u32::MAX;
        }
        op.began = self.now + resume_ns;
        op.ends += op.began;
        self.waited_for_die(op.head);
        self.charge(&op, op.component, resume_ns);
        self.die.array = Some(op);
        self.work_until(op.ends);
        self.work_from(op.began);
        self.update_activity();
    }

    /// Wakes the die when the cells begin to program or erase: from then on, waiting reads may
    /// interrupt them.
    #[inline(always)]
    pub(super) fn work_from(&mut self, began: u64) {
        if self.shared.schedule.suspend.is_some() && began > self.now {
            self.events.push(began, Event::Wake(self.die.number));
        }
    }

    /// Sets the time at which the cells are done, or interrupted, if it differs from the usual
    /// time.
    fn work_until(&mut self, time: u64) {
        self.die.due = time;
        self.events.push(time, Event::Cells(self.die.number));
    }
}
