//! MHF: multiple hash functions (Hsieh, Kuo and Chang, "Efficient Identification of Hot Data for
//! Flash Memory Storage Systems", ACM Transactions on Storage 2, 2006).
//!
//! This is a counting Bloom filter: a table of counters of four bits. Two hash functions give each
//! page two counters. A page write adds 1 to both. A page is hot if both have reached the
//! threshold. Once in a period all counters are halved. The counters of a page are never lower than
//! a separate counter for this page would be. So a hot page is never classified as cold, but pages
//! that share counters with it may be classified as hot.
//!
//! The defaults are from the ETI paper, Table 2; the original has 4096 counters and 5117 writes per
//! period. With `conservative`, the paper's enhancement, a write adds 1 only to the lower of its
//! counters. Decided here: a page with two equal hashes has one counter. A page is judged after its
//! write is counted, and before an ageing that this write makes due. The cost per page is two CRCs
//! by table and two counters. The memory is half a byte per counter.

use super::crc::{Hasher, Hashes};
use super::nibbles::Nibbles;
use super::{HostWrite, Placement, PlacementConfig, PlacementDemands, Relocation};
use crate::addr::Lpn;
use crate::policy::Policy;

crate::parameters! {
    /// Parameters of the multihash framework.
    pub struct MhfConfig {
        /// Number of counters, of four bits each.
        counters: u32 = 2048, from 1 to 16_777_216;
        /// A page is hot if both its counters are at least this.
        hot_threshold: u8 = 4, from 1 to 15;
        /// Page writes between two halvings of all counters.
        decay_period: u32 = 4096, from 1 to 1_000_000_000;
        /// The two hash functions.
        hashes: Hashes = Hashes::Crc32;
        /// Whether a write increments only the lower of its page's two counters.
        conservative: bool = false;
    }
}

/// MHF: the table of counters.
#[derive(Clone, Debug)]
pub struct Mhf {
    config: MhfConfig,
    hasher: Hasher,
    counters: Nibbles,
    /// Page writes since the last halving.
    writes: u32,
}

crate::state!(Mhf { counters, writes } fixed { config, hasher });

impl Mhf {
    /// Starts with all counters zero.
    pub fn new(config: &PlacementConfig) -> Self {
        let config = config.mhf;
        assert!(config.decay_period > 0, "{config:?}");
        Self {
            config,
            hasher: Hasher::new(config.hashes, config.counters),
            counters: Nibbles::new(config.counters as usize),
            writes: 0,
        }
    }

    /// Returns the lower of a page's two counters.
    #[inline(always)]
    pub fn counter(&self, lpn: Lpn) -> u8 {
        let [a, b] = self.hasher.slots(lpn);
        self.counters.get(a).min(self.counters.get(b))
    }
}

impl Placement for Mhf {
    fn demands(_: &PlacementConfig) -> PlacementDemands {
        PlacementDemands::streams(2)
    }

    #[inline]
    fn stream(&mut self, write: HostWrite) -> u8 {
        let slots = self.hasher.slots(write.lpn);
        let [a, b] = slots.map(|slot| self.counters.get(slot));
        let lower = a.min(b);
        let counted = |counter| !self.config.conservative || counter == lower;
        let after = |counter: u8| (counter + u8::from(counted(counter))).min(Nibbles::MAX);
        let (a, b) = (after(a), after(b));
        // If the slots are equal, so are the new values.
        self.counters.set(slots[0], a);
        self.counters.set(slots[1], b);
        self.writes += 1;
        if self.writes == self.config.decay_period {
            self.writes = 0;
            self.counters.halve();
        }
        u8::from(a.min(b) >= self.config.hot_threshold)
    }

    fn classify(&self, relocation: Relocation) -> u8 {
        u8::from(self.counter(relocation.lpn) >= self.config.hot_threshold)
    }
}

impl Policy for Mhf {
    fn memory_bytes(&self) -> u64 {
        self.counters.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::*;
    use super::super::{Direct, DirectConfig};
    use super::*;
    use crate::rng::Rng;
    use alloc::vec::Vec;

    const PAGES: u32 = 100_000;

    fn mhf(mhf: MhfConfig) -> Mhf {
        Mhf::new(&PlacementConfig { mhf, ..config(PAGES) })
    }

    #[test]
    fn the_fourth_write_is_hot_and_a_period_later_it_is_not() {
        let mut mhf = mhf(MhfConfig { decay_period: 8, ..MhfConfig::default() });
        assert_eq!([7; 6].map(|lpn| mhf.stream(write(lpn))), [0, 0, 0, 1, 1, 1]);
        assert_eq!(mhf.classify(relocation(7, 0)), 1);
        assert_eq!([8, 9].map(|lpn| mhf.stream(write(lpn))), [0, 0]);
        assert_eq!((mhf.counter(Lpn::new(7)), mhf.classify(relocation(7, 1))), (3, 0));
        assert_eq!([7; 9].map(|lpn| mhf.stream(write(lpn))), [1; 9], "the eighth halves");
        assert_eq!(mhf.counter(Lpn::new(7)), (3 + 8) / 2 + 1);
    }

    #[test]
    fn counters_end_at_15() {
        let mut mhf = mhf(MhfConfig::default());
        (0..40).for_each(|_| assert!(mhf.stream(write(7)) <= 1));
        assert_eq!(mhf.counter(Lpn::new(7)), 15);
        assert_eq!((Mhf::demands(&config(9)).streams, mhf.memory_bytes()), (2, 1024));
    }

    /// Two pages with one common counter, and a page with two equal hashes.
    fn colliding(mhf: &Mhf) -> ([u32; 2], u32) {
        let slots = |lpn: u32| mhf.hasher.slots(Lpn::new(lpn));
        let ([a, b], mut lpns) = (slots(0), 1..PAGES);
        assert_ne!(a, b);
        let one = lpns.find(|&lpn| slots(lpn)[0] == a && slots(lpn)[1] != b);
        let same = (1..PAGES).find(|&lpn| slots(lpn)[0] == slots(lpn)[1]);
        ([0, one.expect("of so many")], same.expect("of so many"))
    }

    #[test]
    fn a_shared_counter_counts_for_both_pages() {
        for conservative in [false, true] {
            let mut mhf = mhf(MhfConfig { conservative, ..MhfConfig::default() });
            let ([a, b], same) = colliding(&mhf);
            for _ in 0..3 {
                mhf.stream(write(a));
            }
            assert_eq!(mhf.counter(Lpn::new(b)), 0);
            mhf.stream(write(b));
            // Now the shared counter is at 3, and the other counter of b at 0.
            let shared = mhf.hasher.slots(Lpn::new(b))[0];
            assert_eq!(mhf.counters.get(shared), if conservative { 3 } else { 4 });
            assert_eq!(mhf.counter(Lpn::new(b)), 1);
            mhf.stream(write(same));
            assert_eq!(mhf.counter(Lpn::new(same)), 1, "one counter, so 1 and not 2");
        }
    }

    #[test]
    fn no_page_has_less_than_with_a_counter_of_its_own() {
        for hashes in [Hashes::Crc32, Hashes::Crc32Halves, Hashes::Crc16] {
            for conservative in [false, true] {
                let period = 500;
                let options = MhfConfig { conservative, hashes, ..MhfConfig::default() };
                let mut mhf = mhf(MhfConfig { counters: 1000, decay_period: period, ..options });
                let direct = DirectConfig { decay_period: period, ..DirectConfig::default() };
                let mut direct = Direct::new(&PlacementConfig { direct, ..config(PAGES) });
                let mut rng = Rng::new(1);
                for _ in 0..50_000 {
                    let lpn = (rng.below(40) * rng.below(40)) as u32;
                    assert!(mhf.stream(write(lpn)) >= direct.stream(write(lpn)));
                    let probe = Lpn::new(rng.below(1600) as u32);
                    assert!(u32::from(mhf.counter(probe)) >= direct.counter(probe));
                }
            }
        }
    }

    #[test]
    fn any_number_of_counters_will_do() {
        for counters in [1, 3, 2047, 65_536] {
            let mut mhf = mhf(MhfConfig { counters, ..MhfConfig::default() });
            let streams: Vec<u8> = (0..PAGES).map(|lpn| mhf.stream(write(lpn))).collect();
            let hot = streams.iter().filter(|&&stream| stream == 1).count();
            assert_eq!(hot > 0, counters < 65_536, "{counters} counters: {hot} hot");
        }
    }
}
