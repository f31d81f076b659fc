//! Costs of commands in addition to their work: submission and acknowledgement.
//!
//! Host and controller handle one command at a time. A command waits for its slot and occupies it
//! for a while before the drive begins. Its interrupt comes when the drive is done. Interrupts do
//! not wait for each other; instead, each command also occupies its slot for the time of an
//! interrupt. At most one command gets through per `command + interrupt` time.

use crate::nand::{Chain, Clock, Component, Server, Task};

/// Command handling, one command at a time, and the host link. Costs nothing by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostLink {
    command_ns: u64,
    interrupt_ns: u64,
    latency_ns: u64,
    /// Bytes per second in each direction. `None`: transfers take no time.
    bandwidth: Option<u64>,
}

impl HostLink {
    /// Creates a link with these times to submit and to acknowledge a command.
    pub fn new(command_ns: u64, interrupt_ns: u64) -> Self {
        Self { command_ns, interrupt_ns, ..Self::default() }
    }

    /// Adds a bandwidth in bytes per second in each direction, and a latency for each submission
    /// and each acknowledgement.
    pub fn over(self, bandwidth: Option<u64>, latency_ns: u64) -> Self {
        Self { bandwidth, latency_ns, ..self }
    }

    /// Submits a command.
    #[inline(always)]
    pub(super) fn send(&self, chain: &mut Chain, clock: &mut impl Clock) {
        let hold = self.command_ns + self.interrupt_ns;
        if hold > 0 {
            clock.serve(chain, Server::Commands, self.command_ns, hold);
        }
        clock.delay(chain, self.latency_ns, Component::Link);
        clock.begin_task(chain, Task::Command);
    }

    /// Transfers host data over the link, one transfer at a time in each direction.
    #[inline(always)]
    pub(super) fn transfer(
        &self,
        chain: &mut Chain,
        way: Server,
        bytes: u64,
        clock: &mut impl Clock,
    ) {
        if let Some(bandwidth) = self.bandwidth {
            let ns = (u128::from(bytes) * 1_000_000_000).div_ceil(bandwidth.into()) as u64;
            clock.serve(chain, way, ns, ns);
        }
    }

    /// Acknowledges a command.
    #[inline(always)]
    pub(super) fn acknowledge(&self, chain: &mut Chain, clock: &mut impl Clock) {
        clock.delay(chain, self.latency_ns, Component::Link);
        clock.delay(chain, self.interrupt_ns, Component::Queue);
    }
}
