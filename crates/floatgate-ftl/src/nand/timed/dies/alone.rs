//! Operations that nothing can interrupt.
//!
//! Often only one die can begin something, and all other work under way ends later than the
//! operation that this die begins. The ends of cells and transfers then decide nothing, and the
//! scheduler does the operation in one step. This holds wherever the drive does one thing after
//! another, as when it cleans a unit page by page.

use super::context::DieContext;
use super::die::node_of;
use crate::clock::{Component, NONE, Use};
use crate::nand::timed::graph::Kind;

/// Durations of an operation, and its end.
struct Times {
    cells_ns: u64,
    transfers_ns: u64,
    end: u64,
}

impl DieContext<'_> {
    /// Does the next operation of the only marked die in one step, if the operation begins now,
    /// ends at `until` or before, and nothing can interrupt it. Returns its node and its end.
    #[inline(always)]
    pub fn do_alone(&mut self, until: u64) -> Option<(u32, u64)> {
        if self.die.is_busy() || self.channel.current != NONE {
            return None;
        }
        let queue = self.die.head(self.now, &self.shared.schedule)?;
        // Other operations in the die's queues may overlap the first one, or join it.
        let may_join = self.shared.planes > 1 || self.shared.schedule.overlaps();
        if may_join && self.die.queued() > 1 {
            return None;
        }
        let at = node_of(self.die.queues[queue].first()?.entry);
        let times = self.times(at);
        // Cells that take no time end in a later round of the same instant, and `until` may fall
        // between the rounds.
        if times.cells_ns == 0 || times.end > until || times.end >= self.events.first() {
            return None;
        }
        self.account();
        self.die.queues[queue].pop();
        self.account_at_once(at, &times);
        self.shared.end = times.end;
        self.shared.dirty_dies.clear();
        self.die.is_dirty = false;
        self.set_dirty_if_free();
        Some((at, times.end))
    }

    /// Returns the times of an operation that begins now.
    #[inline(always)]
    fn times(&self, at: u32) -> Times {
        let node = self.nodes.node(at);
        let operation = node.operation();
        let (_, cells_ns) = self.shared.cells(operation.kind, operation.row);
        let transfers_ns = match operation.kind {
            Kind::Erase => 0,
            Kind::Read | Kind::Program => {
                let transfers = self.shared.transfers(operation.kind, operation.row);
                let pages = transfers * self.shared.pages_of_transfer(operation.kind, node);
                self.shared.timing.transfer_ns * u64::from(pages) - self.nodes.saved_ns(at)
            }
        };
        let end = self.now + self.shared.timing.command_ns + cells_ns + transfers_ns;
        Times { cells_ns, transfers_ns, end }
    }

    /// Enters the whole operation into its own account, and into the accounts of its channel and
    /// its die.
    #[inline(always)]
    fn account_at_once(&mut self, at: u32, times: &Times) {
        let &Times { cells_ns, transfers_ns, end } = times;
        let command_ns = self.shared.timing.command_ns;
        let node = self.nodes.begin(at, command_ns, self.die.account());
        let (kind, component) = (node.operation().kind, node.component);
        if let Some(account) = self.nodes.account(at) {
            account.blame.add(component, cells_ns);
            account.blame.add(Component::Bus, transfers_ns);
        }
        self.channel.transferred(component, transfers_ns, end);
        let (cells, command) = match kind {
            Kind::Read => (Use::Read, Use::Read),
            Kind::Program => (Use::Program, Use::Transfer),
            Kind::Erase => (Use::Erase, Use::Erase),
        };
        let used = [(cells, cells_ns), (command, command_ns), (Use::Transfer, transfers_ns)];
        self.die.done(component, used, end);
    }
}
