//! What commands cost beside their work: sending them and acknowledging them.
//!
//! Host and controller handle one command at a time. A command waits for its turn and takes it for
//! a while before the drive begins; its interrupt comes when the drive is done. Interrupts are not
//! held apart from each other, but the time that they take is taken of what comes next: no more
//! commands than one per `command + interrupt` get through.

use crate::nand::{Chain, Part};

/// The handling of commands, one at a time. Costs nothing by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostLink {
    command_ns: u64,
    interrupt_ns: u64,
    free: u64,
}

impl HostLink {
    /// A command takes so long to be sent, and so long to be acknowledged.
    pub fn new(command_ns: u64, interrupt_ns: u64) -> Self {
        Self { command_ns, interrupt_ns, free: 0 }
    }

    /// A command is sent.
    #[inline(always)]
    pub(super) fn send(&mut self, chain: &mut Chain) {
        if self.command_ns + self.interrupt_ns > 0 {
            let begin = self.free.max(chain.now);
            self.free = begin + self.command_ns + self.interrupt_ns;
            chain.wait(begin + self.command_ns, Part::Queue);
        }
    }

    /// A command is acknowledged.
    #[inline(always)]
    pub(super) fn acknowledge(&self, chain: &mut Chain) {
        chain.wait(chain.now + self.interrupt_ns, Part::Queue);
    }

    pub(super) fn reset_counters(&mut self) {
        self.free = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_handled_one_at_a_time() {
        let mut link = HostLink::new(3, 2);
        let mut ends = alloc::vec![];
        for at in [0, 0, 0, 100] {
            let mut chain = Chain::at(at);
            link.send(&mut chain);
            link.acknowledge(&mut chain);
            ends.push(chain.now);
        }
        assert_eq!(ends, [5, 10, 15, 105]);
    }

    #[test]
    fn by_default_they_cost_nothing() {
        let (mut link, mut chain) = (HostLink::default(), Chain::at(7));
        link.send(&mut chain);
        link.acknowledge(&mut chain);
        assert_eq!(chain, Chain::at(7));
    }
}
