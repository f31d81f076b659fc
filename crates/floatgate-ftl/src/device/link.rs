//! What commands cost beside their work: sending them and acknowledging them.
//!
//! Host and controller handle one command at a time. A command waits for its turn and takes it for
//! a while before the drive begins; its interrupt comes when the drive is done. Interrupts are not
//! held apart from each other, but the time that they take is taken of what comes next: no more
//! commands than one per `command + interrupt` get through.

use crate::nand::{Chain, Clock, Part, Server, Task};

/// The handling of commands, one at a time, and the link. Costs nothing by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostLink {
    command_ns: u64,
    interrupt_ns: u64,
    latency_ns: u64,
    /// Bytes a second, each way; none: transfers take no time.
    bandwidth: Option<u64>,
}

impl HostLink {
    /// A command takes so long to be sent, and so long to be acknowledged.
    pub fn new(command_ns: u64, interrupt_ns: u64) -> Self {
        Self { command_ns, interrupt_ns, ..Self::default() }
    }

    /// The same over a link of so many bytes a second each way, on which everything takes
    /// `latency_ns`.
    pub fn over(self, bandwidth: Option<u64>, latency_ns: u64) -> Self {
        Self { bandwidth, latency_ns, ..self }
    }

    /// A command is sent.
    #[inline(always)]
    pub(super) fn send(&self, chain: &mut Chain, clock: &mut impl Clock) {
        let hold = self.command_ns + self.interrupt_ns;
        if hold > 0 {
            clock.serve(chain, Server::Commands, self.command_ns, hold);
        }
        clock.delay(chain, self.latency_ns, Part::Link);
        clock.begin_task(chain, Task::Command);
    }

    /// Data of the host go over the link, one transfer at a time each way.
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

    /// A command is acknowledged.
    #[inline(always)]
    pub(super) fn acknowledge(&self, chain: &mut Chain, clock: &mut impl Clock) {
        clock.delay(chain, self.latency_ns, Part::Link);
        clock.delay(chain, self.interrupt_ns, Part::Queue);
    }
}
