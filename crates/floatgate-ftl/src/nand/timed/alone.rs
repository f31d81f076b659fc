//! An operation that nothing can come between.
//!
//! When one die is all that can begin something, and all else that goes on ends later than what it
//! begins, the ends of cells and transfers decide nothing: the operation is done in one step. So it
//! is wherever the drive does one thing after the other, as when it cleans a unit page by page.

use super::flash::Post;
use super::lanes::node_of;
use super::node::Kind;
use super::scheduler::Scheduler;
use crate::clock::{NONE, Part, Use};

/// What an operation will take, from its command to its end.
struct Times {
    cells_ns: u64,
    transfers_ns: u64,
    end: u64,
}

impl Scheduler {
    /// Does all of an operation that begins now and ends at `until` or before, if nothing can come
    /// between. The answer is whether there was such a one.
    #[inline(always)]
    pub(super) fn play_alone(&mut self, until: u64) -> bool {
        let [die] = self.core.dirty_dies[..] else { return false };
        if self.begins_others() || self.recorder.is_some() {
            return false;
        }
        let mut post = self.post(die as usize);
        let Some(at) = post.do_alone(until) else { return false };
        post.core.dirty_dies.clear();
        post.die.unmark();
        post.die.mark_if_free(post.core);
        self.complete_flash(at);
        self.release_ready();
        true
    }
}

impl Post<'_> {
    /// The next operation of the die, if nothing can come between: it ends now.
    #[inline(always)]
    fn do_alone(&mut self, until: u64) -> Option<u32> {
        if self.die.is_busy() || self.channel.current != NONE {
            return None;
        }
        let queue = self.die.head(self.core.now, &self.core.schedule)?;
        // Others that stand before the die may be done beside the first, or with it.
        let may_join = self.core.planes > 1 || self.core.schedule.overlaps();
        if may_join && self.die.standing() > 1 {
            return None;
        }
        let at = node_of(self.die.queues[queue].first()?.entry);
        let times = self.times(at);
        // Cells that take no time end in another round of an instant, which `until` may cut off.
        if times.cells_ns == 0 || times.end > until || times.end >= self.core.events.first() {
            return None;
        }
        self.account();
        self.die.queues[queue].pop();
        self.account_at_once(at, &times);
        self.core.now = times.end;
        Some(at)
    }

    /// What an operation takes that begins now.
    #[inline(always)]
    fn times(&self, at: u32) -> Times {
        let operation = self.core.graph.operation(at);
        let (_, cells_ns) = self.cells(operation.kind, operation.row);
        let transfers_ns = match operation.kind {
            Kind::Erase => 0,
            Kind::Read | Kind::Program => {
                let transfers = self.core.transfers(operation.kind, operation.row);
                let pages = transfers * self.core.pages_of_transfer(operation);
                self.core.timing.transfer_ns * u64::from(pages) - self.core.spared_ns(at)
            }
        };
        let end = self.core.now + self.core.timing.command_ns + cells_ns + transfers_ns;
        Times { cells_ns, transfers_ns, end }
    }

    /// All that an operation takes is told, to it and to those who wait for its die.
    #[inline(always)]
    fn account_at_once(&mut self, at: u32, times: &Times) {
        let &Times { cells_ns, transfers_ns, end } = times;
        let command_ns = self.core.timing.command_ns;
        let node = self.core.graph.begin(at, command_ns, self.die.account());
        let (kind, part) = (node.operation().kind, node.part);
        if let Some(account) = self.core.graph.account(at) {
            account.blame.add(part, cells_ns);
            account.blame.add(Part::Bus, transfers_ns);
        }
        self.channel.transferred(part, transfers_ns, end);
        let (cells, command) = match kind {
            Kind::Read => (Use::Read, Use::Read),
            Kind::Program => (Use::Program, Use::Transfer),
            Kind::Erase => (Use::Erase, Use::Erase),
        };
        let used = [(cells, cells_ns), (command, command_ns), (Use::Transfer, transfers_ns)];
        self.die.done(part, used, end);
    }
}
