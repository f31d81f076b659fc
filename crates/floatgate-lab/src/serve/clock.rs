//! Real time as time on the drive's clock.

use std::time::{Duration, Instant};

use crate::drive::live::Timekeeping;

/// The drive's clock, which follows real time.
#[derive(Debug)]
pub(super) struct Clock {
    pub time: Timekeeping,
    /// Time that a request and its reply take between client and server. The server sends the reply
    /// this much before the simulated drive answers.
    pub transport: Duration,
    /// Real time at which the simulated time was zero.
    epoch: Instant,
    /// Arrival of the last request.
    last_ns: u64,
}

impl Clock {
    pub fn new(time: Timekeeping, transport: Duration) -> Self {
        Self { time, transport, epoch: Instant::now(), last_ns: 0 }
    }

    pub fn is_simulated(&self) -> bool {
        self.time == Timekeeping::Simulated
    }

    pub fn reset(&mut self) {
        *self = Self::new(self.time, self.transport);
    }

    /// Time up to which to simulate the drive. It is ahead of real time by the transport time, so
    /// that replies reach their clients in time.
    pub fn now_ns(&self) -> u64 {
        (self.epoch.elapsed() + self.transport).as_nanos() as u64
    }

    /// Returns the arrival time of a request: later than the arrivals before it, and later than
    /// `played_ns`, up to which the drive is simulated.
    pub fn stamp(&mut self, arrived: Instant, played_ns: u64) -> u64 {
        let at = arrived.saturating_duration_since(self.epoch).as_nanos() as u64;
        self.last_ns = self.last_ns.max(played_ns).max(at.saturating_sub(1)) + 1;
        self.last_ns
    }

    /// Returns how long ago a time was; zero for a future time.
    pub fn late_by(&self, at_ns: u64) -> Duration {
        Duration::from_nanos(self.now_ns().saturating_sub(at_ns))
    }
}
