//! The timestamp feature (Base 2.0, 5.27.1.11).

use std::time::Instant;

/// Milliseconds since 1970, or since the start if no host has set the clock.
#[derive(Debug)]
pub(super) struct Clock {
    /// Value that a host has set, or 0.
    base_ms: u64,
    /// Time at which the clock had this value.
    since: Instant,
    /// Whether a host has set the value.
    is_set: bool,
}

/// Bits of the milliseconds.
const MASK: u64 = (1 << 48) - 1;

/// Origin in bits 51:49: set by a host.
const SET: u64 = 1 << 49;

impl Clock {
    /// A clock that begins at 0.
    pub fn new() -> Self {
        Self { base_ms: 0, since: Instant::now(), is_set: false }
    }

    pub fn set(&mut self, timestamp: u64) {
        *self = Self { base_ms: timestamp & MASK, since: Instant::now(), is_set: true };
    }

    /// Returns the timestamp: milliseconds in bits 47:0, then their origin.
    pub fn timestamp(&self) -> u64 {
        let ms = (self.base_ms + self.since.elapsed().as_millis() as u64) & MASK;
        if self.is_set { ms | SET } else { ms }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_clock_runs_on_and_reports_its_origin() {
        let mut clock = Clock::new();
        assert!(clock.timestamp() < 10_000);
        clock.set(0xffff_0000_0000_1000);
        let set = clock.timestamp();
        assert!((1 << 49 | 0x1000..1 << 49 | 0x3000).contains(&set), "{set:#x}");
    }
}
