//! WDAC: window-based direct address counting (Park and Du, "Hot Data Identification for
//! Flash-based Storage Systems Using Multiple Bloom Filters", MSST 2011, the baseline of MBF).
//!
//! The window has the last W page writes. The weight of a write falls linearly from 2 for the
//! newest to 0 when it leaves the window. A page is hot if the weights of its writes sum to the
//! threshold or more. The filters of MBF, whose weights fall in steps, approximate this.
//!
//! Decided here: W = 16,384, the time that four filters cover if one is cleared every 4096 writes.
//! The sum is kept as a number of writes and the sum of their times, so it is exact. A page is
//! judged after its write. The cost per page is two probes of a hash table, one for the new write
//! and one for the write that leaves. The memory is 24 bytes per write of W, and the hash table.

use alloc::vec;
use alloc::vec::Vec;

use super::{HostWrite, Placement, PlacementConfig, PlacementDemands, Relocation};
use crate::addr::Lpn;
use crate::intmap::IntMap;
use crate::parameters::permille;
use crate::policy::Policy;

crate::parameters! {
    /// Parameters of the window.
    pub struct WdacConfig {
        /// Length of the window in page writes.
        window: u32 = 16_384, from 1 to 16_777_216;
        /// A page is hot if the weights of its writes sum to this or more. Weights fall linearly
        /// with age, from 2 of the newest to 0. Counts in thousandths.
        hot_threshold: f64 = 4.0, above 0 to 1_000_000;
    }
}

/// The writes of one page in the window.
#[derive(Clone, Copy, Default, Debug)]
struct Writes {
    count: u64,
    /// Sum of their times, in page writes.
    times: u64,
}

crate::state!(blank Writes { count, times });

/// WDAC: the window and the counts of its pages.
#[derive(Clone, Debug)]
pub struct Wdac {
    config: WdacConfig,
    /// Sum of weights at which a page is hot, in thousandths.
    threshold: u64,
    /// The written page of each write, at the index time modulo W.
    window: Vec<u32>,
    slots: IntMap,
    writes: Vec<Writes>,
    unused: Vec<u32>,
    /// Page writes so far.
    now: u64,
}

crate::state!(Wdac { window, slots, writes, unused, now } fixed { config, threshold });

impl Wdac {
    /// Starts with an empty window.
    pub fn new(config: &PlacementConfig) -> Self {
        let config = config.wdac;
        assert!(config.window > 0, "{config:?}");
        let writes = config.window as usize;
        Self {
            config,
            threshold: permille(config.hot_threshold).into(),
            window: vec![0; writes],
            slots: IntMap::new(writes),
            writes: vec![Writes::default(); writes],
            unused: (0..config.window).rev().collect(),
            now: 0,
        }
    }

    /// Removes the write that leaves the window.
    fn forget(&mut self, lpn: u32) {
        let slot = self.slots.get(lpn).expect("what is in the window is counted");
        let writes = &mut self.writes[slot as usize];
        writes.count -= 1;
        writes.times -= self.now - u64::from(self.config.window);
        if writes.count == 0 {
            self.slots.remove(lpn);
            self.unused.push(slot);
        }
    }

    fn remember(&mut self, lpn: u32) -> Writes {
        let slot = self.slots.get(lpn).unwrap_or_else(|| {
            let slot = self.unused.pop().expect("a slot for every write of the window");
            self.slots.insert(lpn, slot);
            slot
        });
        let writes = &mut self.writes[slot as usize];
        writes.count += 1;
        writes.times += self.now;
        *writes
    }

    /// Returns the stream of a page with these writes. A write that is j writes before the last one
    /// has weight 2 (W - j) / W.
    #[inline(always)]
    fn stream_of(&self, Writes { count, times }: Writes) -> u8 {
        let window = u64::from(self.config.window);
        let sum = (count * window + times) - count * self.now.saturating_sub(1);
        u8::from(sum * 2 * 1000 >= self.threshold * window)
    }

    fn writes_of(&self, lpn: Lpn) -> Writes {
        let slot = self.slots.get(lpn.get());
        slot.map_or(Writes::default(), |slot| self.writes[slot as usize])
    }
}

impl Placement for Wdac {
    fn demands(_: &PlacementConfig) -> PlacementDemands {
        PlacementDemands::streams(2)
    }

    fn stream(&mut self, write: HostWrite) -> u8 {
        let (lpn, window) = (write.lpn.get(), u64::from(self.config.window));
        let at = (self.now % window) as usize;
        if self.now >= window {
            self.forget(self.window[at]);
        }
        self.window[at] = lpn;
        let writes = self.remember(lpn);
        self.now += 1;
        self.stream_of(writes)
    }

    fn classify(&self, relocation: Relocation) -> u8 {
        self.stream_of(self.writes_of(relocation.lpn))
    }
}

impl Policy for Wdac {
    fn memory_bytes(&self) -> u64 {
        let per_write = size_of::<u32>() * 2 + size_of::<Writes>();
        u64::from(self.config.window) * per_write as u64 + self.slots.bytes()
    }

    fn check(&self) {
        let in_window = self.now.min(self.config.window.into());
        assert_eq!(self.writes.iter().map(|writes| writes.count).sum::<u64>(), in_window);
        assert_eq!(self.slots.len() + self.unused.len(), self.window.len());
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::*;
    use super::*;
    use crate::rng::Rng;

    fn wdac(window: u32, permille: u32) -> Wdac {
        let wdac = WdacConfig { window, hot_threshold: f64::from(permille) / 1000.0 };
        Wdac::new(&PlacementConfig { wdac, ..config(10_000) })
    }

    #[test]
    fn weights_fall_from_2_to_nothing() {
        // With W = 4 the weights are 2, 1.5, 1 and 0.5. The third write in a row reaches 4.5.
        let mut wdac = wdac(4, 4000);
        assert_eq!([7; 3].map(|lpn| wdac.stream(write(lpn))), [0, 0, 1]);
        // The weights of 7 are now 1.5, 1 and 0.5. A write of 7 adds 2, and its first write leaves.
        assert_eq!((wdac.stream(write(8)), wdac.classify(relocation(7, 1))), (0, 0));
        assert_eq!([7, 7].map(|lpn| wdac.stream(write(lpn))), [0, 1], "3.5, then 4");
    }

    #[test]
    fn it_is_the_sum_over_the_window() {
        for (window, permille) in [(1, 2000), (7, 3100), (64, 4000), (100, 2001)] {
            let mut wdac = wdac(window, permille);
            let (mut history, mut rng) = (vec![], Rng::new(1));
            assert_eq!(wdac.classify(relocation(3, 0)), 0, "nothing was written");
            for _ in 0..20_000 {
                let lpn = (rng.below(6) * rng.below(6)) as u32;
                history.insert(0, lpn);
                history.truncate(window as usize);
                let hot = |lpn| {
                    let ages = (0..window).zip(&history).filter(|(_, written)| **written == lpn);
                    let sum: u32 = ages.map(|(age, _)| 2 * (window - age)).sum();
                    u8::from(sum * 1000 >= permille * window)
                };
                assert_eq!(wdac.stream(write(lpn)), hot(lpn));
                let probe = rng.below(30) as u32;
                assert_eq!(wdac.classify(relocation(probe, 0)), hot(probe));
            }
            wdac.check();
        }
    }

    #[test]
    fn it_takes_24_bytes_a_write_and_the_table() {
        let wdac = wdac(1000, 4000);
        assert_eq!(
            (Wdac::demands(&config(9)).streams, wdac.memory_bytes()),
            (2, 1000 * 24 + 2048 * 8)
        );
    }
}
