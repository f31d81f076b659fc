//! What the time of a chain went into.
//!
//! A chain that somebody will be told of takes one account with it from node to node. The others
//! have none: most of the work of a drive that cleans is of that kind.

use crate::clock::{Blame, Part};

/// What the time since a chain began went into.
#[derive(Clone, Copy, Debug)]
pub(super) struct Account {
    /// While the chain waits for what a lane does, the account of that is taken off here, to be
    /// added when it waits no more.
    pub(super) blame: Blame,
    /// When the chain came to the node where it is; when it began to wait there.
    pub(super) time: u64,
    /// All of the account of the die when the node was held back.
    total: u64,
    /// What the node waited for last before it was ready, and what that would be if it was held
    /// back.
    pub(super) kept_by: Part,
    pub(super) held_by: Part,
}

impl Account {
    /// A chain begins.
    #[inline(always)]
    pub(super) fn new(now: u64, part: Part) -> Self {
        Self { blame: Blame::default(), time: now, total: 0, kept_by: part, held_by: part }
    }

    #[inline(always)]
    pub(super) fn begin_wait(&mut self, now: u64, of: &Blame) {
        (self.time, self.total) = (now, of.total());
        self.blame.take_all(of);
    }

    /// The node is held back no more. While its die was idle it waited for what held it back.
    pub(super) fn was_held(&mut self, now: u64, die: &Blame) {
        let waited = now - self.time;
        if waited > 0 {
            self.kept_by = self.held_by;
            self.blame.add(self.kept_by, waited - (die.total() - self.total));
        }
    }

    /// Work as a whole has ended that the node waits for. For some of that time the work itself
    /// waited for operations of the host, and is told as such: it would have passed without the
    /// work, too.
    pub(super) fn waited_for_work(&mut self, now: u64, part: Part, of_host: u64) {
        if now > self.time {
            let waited = now - self.time;
            let of_host = of_host.min(waited);
            self.blame.add(Part::Die, of_host);
            self.blame.add(part, waited - of_host);
            (self.time, self.kept_by) = (now, part);
        }
    }
}
