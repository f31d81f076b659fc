//! Account of a chain's time, by component.
//!
//! A chain whose time is reported takes one account with it from node to node. Other chains have no
//! account: most of the work of a cleaning drive belongs to such chains.

use crate::clock::{Blame, Component};

/// Time since a chain began, by component.
#[derive(Clone, Copy, Debug)]
pub struct Account {
    /// The time so far. While the chain waits for a die or a channel, the account of that die or
    /// channel at the start of the wait is subtracted here. Its account at the end of the wait is
    /// added, so the difference remains.
    pub blame: Blame,
    /// When the chain came to its present node, or began to wait there.
    pub time: u64,
    /// Total of the die's account when a hazard began to block the node.
    total: u64,
    /// The component that the node waited for last before it was ready, and the component of its
    /// wait while a hazard blocks it and the die is idle.
    pub last_blocker: Component,
    pub blocked_by: Component,
}

impl Account {
    /// Creates the account of a chain that begins now.
    #[inline(always)]
    pub fn new(now: u64, component: Component) -> Self {
        Self {
            blame: Blame::default(),
            time: now,
            total: 0,
            last_blocker: component,
            blocked_by: component,
        }
    }

    #[inline(always)]
    pub fn begin_wait(&mut self, now: u64, of: &Blame) {
        (self.time, self.total) = (now, of.total());
        self.blame.take_all(of);
    }

    /// Ends the time for which a hazard blocked the node. While the die was idle, the wait counts
    /// as the component that blocked the node.
    pub fn was_blocked(&mut self, now: u64, die: &Blame) {
        let waited = now - self.time;
        if waited > 0 {
            self.last_blocker = self.blocked_by;
            self.blame.add(self.last_blocker, waited - (die.total() - self.total));
        }
    }

    /// Adds a wait for work as a whole, which has ended. For `of_host` nanoseconds the work itself
    /// waited for host operations. That time counts as [`Component::Die`], because it would have
    /// passed without the work, too. The rest counts as `component`.
    pub fn waited_for_work(&mut self, now: u64, component: Component, of_host: u64) {
        if now > self.time {
            let waited = now - self.time;
            let of_host = of_host.min(waited);
            self.blame.add(Component::Die, of_host);
            self.blame.add(component, waited - of_host);
            (self.time, self.last_blocker) = (now, component);
        }
    }
}
