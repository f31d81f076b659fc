//! Direct: a counter for every page, the ideal that Hsieh, Kuo and Chang approximate (ACM
//! Transactions on Storage 2, 2006).
//!
//! A page write adds 1 to the page's counter. Once in a period all counters are halved. So a
//! counter is an average that decays exponentially. A page is hot if its counter has reached a
//! threshold.
//!
//! Decided here: counters saturate at 15, as with four bits, or are unlimited. A page is judged
//! after its write is counted, and before a halving that this write makes due. The halving of a
//! counter is computed at its next use, with the same result. The cost is one table access per
//! page. A drive would keep 4 bits per page (32 if unlimited), which is the reported size, and walk
//! through them once in a period. The simulator keeps 8 bytes per page.

use alloc::vec;
use alloc::vec::Vec;

use super::{HostWrite, Placement, PlacementConfig, PlacementDemands, Relocation};
use crate::addr::Lpn;
use crate::policy::Policy;

/// The value at which counters of four bits saturate.
const SATURATED: u32 = 15;

crate::parameters! {
    /// Parameters of the counters.
    pub struct DirectConfig {
        /// A page is hot if its counter is at least this.
        hot_threshold: u32 = 4, from 1 to 1_000_000_000;
        /// Page writes between two halvings of all counters.
        decay_period: u32 = 4096, from 1 to 1_000_000_000;
        /// Whether counters saturate at 15, as counters of four bits do.
        saturating: bool = true;
    }
}

/// A page's counter, and the period of its last update.
#[derive(Clone, Copy, Debug)]
struct Counter {
    value: u32,
    period: u32,
}

crate::state!(blank Counter { value, period });

impl Counter {
    #[inline(always)]
    fn at(self, period: u32) -> u32 {
        self.value.checked_shr(period - self.period).unwrap_or(0)
    }
}

/// Direct: a counter for every page.
#[derive(Clone, Debug)]
pub struct Direct {
    config: DirectConfig,
    counters: Vec<Counter>,
    /// Periods that have ended.
    period: u32,
    /// Page writes in the current period.
    writes: u32,
}

crate::state!(Direct { counters, period, writes } fixed { config });

impl Direct {
    /// Starts with all counters zero.
    pub fn new(config: &PlacementConfig) -> Self {
        let (pages, config) = (config.geometry.logical_pages(), config.direct);
        assert!(config.decay_period > 0, "{config:?}");
        let counters = vec![Counter { value: 0, period: 0 }; pages as usize];
        Self { config, counters, period: 0, writes: 0 }
    }

    /// Returns the counter of a page.
    #[inline(always)]
    pub fn counter(&self, lpn: Lpn) -> u32 {
        self.counters[lpn.index()].at(self.period)
    }
}

impl Placement for Direct {
    fn demands(_: &PlacementConfig) -> PlacementDemands {
        PlacementDemands::streams(2)
    }

    #[inline]
    fn stream(&mut self, write: HostWrite) -> u8 {
        let last = if self.config.saturating { SATURATED } else { u32::MAX };
        let value = self.counter(write.lpn).saturating_add(1).min(last);
        self.counters[write.lpn.index()] = Counter { value, period: self.period };
        self.writes += 1;
        if self.writes == self.config.decay_period {
            (self.writes, self.period) = (0, self.period + 1);
        }
        u8::from(value >= self.config.hot_threshold)
    }

    fn classify(&self, relocation: Relocation) -> u8 {
        u8::from(self.counter(relocation.lpn) >= self.config.hot_threshold)
    }
}

impl Policy for Direct {
    fn memory_bytes(&self) -> u64 {
        let pages = self.counters.len() as u64;
        if self.config.saturating { pages.div_ceil(2) } else { pages * 4 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::*;
    use super::*;
    use crate::rng::Rng;

    fn direct(direct: DirectConfig) -> Direct {
        Direct::new(&PlacementConfig { direct, ..config(100) })
    }

    #[test]
    fn counters_are_halved_once_in_a_period() {
        for (saturating, ends) in [(true, 15), (false, 20)] {
            let config = DirectConfig { decay_period: 20, saturating, ..DirectConfig::default() };
            let mut direct = direct(config);
            let streams = [7; 20].map(|lpn| direct.stream(write(lpn)));
            assert!(streams[..3] == [0; 3] && streams[3..] == [1; 17], "hot from the fourth on");
            assert_eq!(direct.counter(Lpn::new(7)), ends / 2);
            for left in [ends / 4, ends / 8, ends / 16, 0] {
                (0..20).for_each(|lpn| assert_eq!(direct.stream(write(20 + lpn)), 0));
                assert_eq!(direct.counter(Lpn::new(7)), left);
                assert_eq!(direct.classify(relocation(7, 0)), u8::from(left >= 4));
            }
        }
    }

    #[test]
    fn lazy_decay_equals_halving_all_counters() {
        for saturating in [false, true] {
            let config = DirectConfig { decay_period: 37, saturating, hot_threshold: 3 };
            let (mut direct, mut model) = (direct(config), [0; 100]);
            let mut rng = Rng::new(1);
            for number in 1..=100_000 {
                let lpn = (rng.below(10) * rng.below(10)) as u32;
                let value = &mut model[lpn as usize];
                *value = if saturating { (*value + 1).min(15) } else { *value + 1 };
                let stream = u8::from(*value >= 3);
                assert_eq!(direct.stream(write(lpn)), stream);
                if number % 37 == 0 {
                    model.iter_mut().for_each(|value| *value /= 2);
                }
                let probe = rng.below(100) as u32;
                assert_eq!(direct.counter(Lpn::new(probe)), model[probe as usize]);
            }
        }
    }

    #[test]
    fn a_drive_would_take_half_a_byte_or_four_bytes_per_page() {
        assert_eq!(direct(DirectConfig::default()).memory_bytes(), 50);
        let unbounded = DirectConfig { saturating: false, ..DirectConfig::default() };
        assert_eq!(direct(unbounded).memory_bytes(), 400);
    }
}
