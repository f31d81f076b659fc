//! A channel: its queue, its transfer, and the account of its time.

use alloc::vec::Vec;

use crate::clock::{Blame, Component, NONE, Span, Use};
use crate::nand::timed::wait_queue::{WaitQueue, Waiting};

#[derive(Clone, Debug)]
pub(super) struct Channel {
    number: u32,
    queue: WaitQueue,
    /// The page in transfer, or [`NONE`]; and the component of waits for the channel.
    pub(super) current: u32,
    component: Component,
    /// Duration of the transfer.
    transfer_ns: u64,
    is_dirty: bool,
    since: u64,
    account: Blame,
}

impl Channel {
    pub(super) fn new(number: u32) -> Self {
        Self {
            number,
            queue: WaitQueue::default(),
            current: NONE,
            component: Component::Bus,
            transfer_ns: 0,
            is_dirty: false,
            since: 0,
            account: Blame::default(),
        }
    }

    /// Adds a page to the queue.
    #[inline(always)]
    pub(super) fn push(&mut self, page: Waiting, dirty: &mut Vec<u32>) {
        self.queue.push(page);
        self.set_dirty_if_free(dirty);
    }

    /// Removes and returns the page that was ready first, and removes the mark of the channel.
    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<u32> {
        self.is_dirty = false;
        self.queue.pop().map(|first| first.entry)
    }

    /// Begins the transfer of a page of `component`, which takes `ns`. The account must be up to
    /// date.
    #[inline(always)]
    pub(super) fn begin(&mut self, at: u32, component: Component, ns: u64) {
        self.current = at;
        self.component = component_of_wait(component);
        self.transfer_ns = ns;
    }

    /// Ends the transfer, and returns its duration.
    #[inline(always)]
    pub(super) fn end(&mut self, now: u64, dirty: &mut Vec<u32>) -> u64 {
        self.account_for(now);
        self.current = NONE;
        self.set_dirty_if_free(dirty);
        self.transfer_ns
    }

    /// Marks the channel if it is free and a page waits for it: it may be able to begin something.
    #[inline(always)]
    fn set_dirty_if_free(&mut self, dirty: &mut Vec<u32>) {
        if self.current == NONE && !self.queue.is_empty() && !self.is_dirty {
            self.is_dirty = true;
            dirty.push(self.number);
        }
    }

    /// Brings the account up to date. Call it before the channel changes.
    #[inline(always)]
    pub(super) fn account_for(&mut self, now: u64) {
        if self.current != NONE {
            self.account.add(self.component, now - self.since);
        }
        self.since = now;
    }

    /// Accounts for a transfer of `ns` that the channel did while it was otherwise free.
    #[inline(always)]
    pub(super) fn transferred(&mut self, component: Component, ns: u64, now: u64) {
        self.account.add(component_of_wait(component), ns);
        self.since = now;
    }

    /// Returns the account of the channel's time, as it was last brought up to date.
    #[inline(always)]
    pub(super) fn account(&self) -> &Blame {
        &self.account
    }

    /// Returns the account of the channel's time until now.
    pub(super) fn used(&self, now: u64) -> Blame {
        let mut used = self.account;
        if self.current != NONE {
            used.add(self.component, now - self.since);
        }
        used
    }

    /// Returns the span of the transfer, which begins now.
    pub(super) fn span(&self, lane: u32, now: u64) -> Span {
        let (component, to_ns) = (self.component, now + self.transfer_ns);
        Span { lane, doing: Use::Transfer, component, from_ns: now, to_ns }
    }
}

/// Returns the component of waits for the channel, while it transfers a page of `component`. For
/// pages of the host that is [`Component::Bus`].
#[inline(always)]
fn component_of_wait(component: Component) -> Component {
    if component == Component::Die { Component::Bus } else { component }
}
