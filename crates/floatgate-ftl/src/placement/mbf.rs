//! MBF: multiple Bloom filters (Park and Du, "Hot Data Identification for Flash-based Storage
//! Systems Using Multiple Bloom Filters", MSST 2011).
//!
//! There are V Bloom filters of M bits, with two hash functions. A page write enters the page into
//! one filter that does not have it yet. The search for this filter starts at another filter with
//! every write. If all filters have the page, nothing happens. Once in a period the oldest filter
//! is cleared, and becomes the newest. Filters have weights from 2/V for the oldest to 2 for the
//! newest, in equal steps. A page is hot if the weights of the filters that have it sum to the
//! threshold or more. With V = 4 and a threshold of 4 these must be the two newest filters and one
//! more.
//!
//! The defaults are from the ETI paper, Table 2: one filter is cleared every 4096 page writes. The
//! original clears one every 512. In the ETI paper's description the filters are tried from the
//! newest to the oldest, which is `NewestFirst`. Decided here: at first the filters age in order of
//! their numbers, and the search begins at the oldest. A page is judged after its write is entered,
//! and before a clearing that this write makes due. The cost per page is two CRCs by table and two
//! bits of each filter. The memory is V x M bits.

use alloc::vec;
use alloc::vec::Vec;

use super::crc::{Hasher, Hashes};
use super::{HostWrite, Placement, PlacementConfig, PlacementDemands, Relocation};
use crate::addr::Lpn;
use crate::parameters::permille;
use crate::policy::Policy;

crate::parameters! {
    /// Parameters of MBF.
    pub struct MbfConfig {
        /// Number of Bloom filters.
        filters: u32 = 4, from 1 to 16;
        /// Bits of a filter.
        bits: u32 = 2048, from 1 to 16_777_216;
        /// The two hash functions.
        hashes: Hashes = Hashes::Crc32;
        /// Which of the filters without the page records its write.
        insert: Insert = Insert::RoundRobin;
        /// Page writes between two clearings of the oldest filter.
        clear_every: u32 = 4096, from 1 to 1_000_000_000;
        /// A page is hot if the weights of its filters sum to this or more. The newest filter
        /// weighs 2, the oldest 2 / `filters`, the others in equal steps. Counts in thousandths.
        hot_threshold: f64 = 4.0, above 0 to 17;
    }
}

crate::choice! {
    /// Which of the filters without the page records its write.
    pub enum Insert {
        /// The first one in cyclic order. Each write starts the search one filter further.
        RoundRobin = "round_robin",
        /// The newest one.
        NewestFirst = "newest_first",
    }
}

/// MBF: the Bloom filters and their ages.
#[derive(Clone, Debug)]
pub struct Mbf {
    config: MbfConfig,
    /// Sum of weights at which a page is hot, in thousandths.
    threshold: u64,
    hasher: Hasher,
    /// The bits, filter by filter.
    bits: Vec<u64>,
    words_per_filter: usize,
    /// The filter that is cleared next.
    oldest: u32,
    /// The filter at which the next search begins.
    turn: u32,
    /// Page writes since the last clearing.
    writes: u32,
}

crate::state!(
    Mbf { bits, oldest, turn, writes }
    fixed { config, threshold, hasher, words_per_filter }
);

impl Mbf {
    /// Starts with empty filters.
    pub fn new(config: &PlacementConfig) -> Self {
        let config = config.mbf;
        assert!((1..=16).contains(&config.filters) && config.clear_every > 0, "{config:?}");
        let words_per_filter = config.bits.div_ceil(u64::BITS) as usize;
        Self {
            config,
            threshold: permille(config.hot_threshold).into(),
            hasher: Hasher::new(config.hashes, config.bits),
            bits: vec![0; config.filters as usize * words_per_filter],
            words_per_filter,
            oldest: 0,
            turn: 0,
            writes: 0,
        }
    }

    /// Returns the filters that have both bits of a page: one bit each, the oldest filter lowest.
    #[inline(always)]
    fn having(&self, slots: [usize; 2]) -> u32 {
        let [(a, a_bit), (b, b_bit)] = slots.map(|slot| (slot / 64, slot % 64));
        let filters = self.bits.chunks_exact(self.words_per_filter).enumerate();
        let by_number = filters.fold(0, |having, (number, filter)| {
            let both = filter[a] >> a_bit & filter[b] >> b_bit & 1;
            having | (both as u32) << number
        });
        self.rotated(by_number, self.oldest)
    }

    /// Rotates a bit per filter so that filter `first` has the lowest bit.
    #[inline(always)]
    fn rotated(&self, filters: u32, first: u32) -> u32 {
        let all = (1 << self.config.filters) - 1;
        (filters >> first | filters << (self.config.filters - first)) & all
    }

    /// Returns the number of the filter that is `newer` steps newer than the oldest.
    #[inline(always)]
    fn number(&self, newer: u32) -> u32 {
        let number = self.oldest + newer;
        if number < self.config.filters { number } else { number - self.config.filters }
    }

    /// Enters a page into a filter that does not have it, if there is one. Returns the filters that
    /// then have the page.
    #[inline(always)]
    fn enter(&mut self, slots: [usize; 2], having: u32) -> u32 {
        let filters = self.config.filters;
        let missing = !having & ((1 << filters) - 1);
        let turn = self.turn;
        self.turn = if turn + 1 < filters { turn + 1 } else { 0 };
        if missing == 0 {
            return having;
        }
        let newer = match self.config.insert {
            Insert::NewestFirst => missing.ilog2(),
            Insert::RoundRobin => {
                // `turn` is a filter number, and the bits here begin with the oldest filter.
                let from = (turn + filters - self.oldest) % filters;
                let ahead = missing >> from;
                if ahead == 0 { missing.trailing_zeros() } else { from + ahead.trailing_zeros() }
            }
        };
        let first = self.number(newer) as usize * self.words_per_filter;
        for slot in slots {
            self.bits[first + slot / 64] |= 1 << (slot % 64);
        }
        having | 1 << newer
    }

    /// Returns the stream of a page that these filters have. Weights are multiples of 2/V.
    #[inline(always)]
    fn stream_of(&self, mut having: u32) -> u8 {
        let mut sum = 0;
        while having != 0 {
            sum += u64::from(having.trailing_zeros() + 1);
            having &= having - 1;
        }
        u8::from(sum * 2 * 1000 >= self.threshold * u64::from(self.config.filters))
    }

    fn clear_oldest(&mut self) {
        let first = self.oldest as usize * self.words_per_filter;
        self.bits[first..first + self.words_per_filter].fill(0);
        self.oldest = self.number(1);
    }

    /// Returns the weights of the filters that have a page, oldest first, in units of 2/V.
    pub fn weights(&self, lpn: Lpn) -> impl Iterator<Item = u32> {
        let having = self.having(self.hasher.slots(lpn));
        (0..self.config.filters).filter(move |newer| having >> newer & 1 != 0).map(|n| n + 1)
    }
}

impl Placement for Mbf {
    fn demands(_: &PlacementConfig) -> PlacementDemands {
        PlacementDemands::streams(2)
    }

    #[inline]
    fn stream(&mut self, write: HostWrite) -> u8 {
        let slots = self.hasher.slots(write.lpn);
        let having = self.having(slots);
        let having = self.enter(slots, having);
        self.writes += 1;
        if self.writes == self.config.clear_every {
            self.writes = 0;
            self.clear_oldest();
        }
        self.stream_of(having)
    }

    fn classify(&self, relocation: Relocation) -> u8 {
        self.stream_of(self.having(self.hasher.slots(relocation.lpn)))
    }
}

impl Policy for Mbf {
    fn memory_bytes(&self) -> u64 {
        size_of_val(self.bits.as_slice()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::*;
    use super::*;
    use crate::rng::Rng;

    const PAGES: u32 = 100_000;

    fn mbf(mbf: MbfConfig) -> Mbf {
        Mbf::new(&PlacementConfig { mbf, ..config(PAGES) })
    }

    fn weights(mbf: &Mbf, lpn: u32) -> Vec<u32> {
        mbf.weights(Lpn::new(lpn)).collect()
    }

    #[test]
    fn a_write_enters_the_next_filter_in_turn() {
        let mut mbf = mbf(MbfConfig::default());
        // Weights are halves: 0.5, 1.5, 3.0 and 5.0 in sum.
        for (stream, expected) in [(0, 1..=1), (0, 1..=2), (0, 1..=3), (1, 1..=4), (1, 1..=4)] {
            assert_eq!(mbf.stream(write(7)), stream);
            assert_eq!(weights(&mbf, 7), expected.collect::<Vec<_>>());
        }
        // After five writes, the next search starts at filter 1.
        mbf.stream(write(8));
        assert_eq!(weights(&mbf, 8), [2]);
        mbf.stream(write(9));
        assert_eq!(weights(&mbf, 9), [3]);
        mbf.stream(write(8));
        assert_eq!(weights(&mbf, 8), [2, 4]);
        mbf.stream(write(8));
        assert_eq!(weights(&mbf, 8), [1, 2, 4]);
        // The search starts at filter 1, which has the page; the next filter does not.
        mbf.stream(write(8));
        assert_eq!(weights(&mbf, 8), [1, 2, 3, 4]);
    }

    #[test]
    fn or_the_newest_that_does_not_have_it() {
        let insert = Insert::NewestFirst;
        let mut mbf = mbf(MbfConfig { insert, ..MbfConfig::default() });
        for (stream, expected) in [(0, 4..=4), (0, 3..=4), (1, 2..=4), (1, 1..=4), (1, 1..=4)] {
            assert_eq!(mbf.stream(write(7)), stream);
            assert_eq!(weights(&mbf, 7), expected.collect::<Vec<_>>());
            assert_eq!(mbf.classify(relocation(7, 0)), stream);
        }
    }

    #[test]
    fn hot_are_the_two_newest_and_one_more() {
        let mbf = mbf(MbfConfig::default());
        for having in 0..16u32 {
            let hot = having >= 0b1101;
            assert_eq!(mbf.stream_of(having), u8::from(hot), "{having:04b}");
        }
        let eight = self::mbf(MbfConfig { filters: 8, ..MbfConfig::default() });
        // 2 + 1.75 + 0.25, and then 0.25 less.
        assert_eq!((eight.stream_of(0b1100_0001), eight.stream_of(0b1100_0000)), (1, 0));
        let one = self::mbf(MbfConfig { filters: 1, ..MbfConfig::default() });
        assert_eq!(one.stream_of(1), 0, "2 at most");
    }

    #[test]
    fn the_oldest_filter_is_cleared_once_in_a_period() {
        let options = MbfConfig { clear_every: 4, ..MbfConfig::default() };
        let mut mbf = mbf(options);
        (0..3).for_each(|_| assert_eq!(mbf.stream(write(7)), 0));
        assert_eq!(mbf.stream(write(7)), 1, "judged before the filter is cleared");
        assert_eq!(weights(&mbf, 7), [1, 2, 3], "all are a step older, one is gone");
        for (first, left) in [(100, vec![1, 2]), (200, vec![1]), (300, vec![])] {
            (first..first + 4).for_each(|lpn| assert_eq!(mbf.stream(write(lpn)), 0));
            assert_eq!(weights(&mbf, 7), left);
            assert_eq!(mbf.classify(relocation(7, 1)), 0);
        }
    }

    /// MBF without shared bits: filters as sets of pages, with their ages.
    struct Exact {
        filters: Vec<Vec<u32>>,
        /// The weight of each filter, in units of 2/V.
        weights: Vec<u32>,
        turn: usize,
    }

    impl Exact {
        fn write(&mut self, lpn: u32, insert: Insert) {
            let count = self.filters.len();
            let mut order: Vec<usize> = (0..count).map(|n| (self.turn + n) % count).collect();
            if insert == Insert::NewestFirst {
                order.sort_by_key(|&filter| core::cmp::Reverse(self.weights[filter]));
            }
            self.turn = (self.turn + 1) % count;
            if let Some(filter) = order.into_iter().find(|&f| !self.filters[f].contains(&lpn)) {
                self.filters[filter].push(lpn);
            }
        }

        fn age(&mut self) {
            let newest = self.filters.len() as u32;
            for (filter, weight) in self.filters.iter_mut().zip(&mut self.weights) {
                *weight -= 1;
                if *weight == 0 {
                    *weight = newest;
                    filter.clear();
                }
            }
        }

        fn having(&self, lpn: u32) -> Vec<u32> {
            let having = self.filters.iter().zip(&self.weights);
            let mut weights: Vec<u32> =
                having.filter(|(filter, _)| filter.contains(&lpn)).map(|(_, &w)| w).collect();
            weights.sort_unstable();
            weights
        }
    }

    #[test]
    fn it_is_filters_without_false_positives_while_no_bits_are_shared() {
        for (filters, clear_every) in [(4, 50), (1, 9), (3, 31), (16, 20)] {
            for insert in [Insert::RoundRobin, Insert::NewestFirst] {
                let options = MbfConfig { filters, clear_every, insert, ..MbfConfig::default() };
                let mut mbf = mbf(MbfConfig { bits: 65_536, ..options });
                let count = filters as usize;
                let mut exact = Exact {
                    filters: vec![vec![]; count],
                    weights: (1..=filters).collect(),
                    turn: 0,
                };
                let mut rng = Rng::new(1);
                for number in 1..=20_000 {
                    let lpn = rng.below(12) as u32;
                    exact.write(lpn, insert);
                    let sum: u32 = exact.having(lpn).iter().sum();
                    assert_eq!(mbf.stream(write(lpn)), u8::from(sum * 2 >= 4 * filters));
                    if number % clear_every == 0 {
                        exact.age();
                    }
                    let probe = rng.below(12) as u32;
                    assert_eq!(weights(&mbf, probe), exact.having(probe));
                }
            }
        }
    }

    #[test]
    fn between_clearings_no_page_leaves_a_filter() {
        let mut mbf = mbf(MbfConfig { bits: 100, clear_every: 64, ..MbfConfig::default() });
        let mut rng = Rng::new(1);
        for number in 1..=10_000 {
            let (lpn, probe) = (rng.below(1000) as u32, rng.below(1000) as u32);
            let before = weights(&mbf, probe);
            mbf.stream(write(lpn));
            if number % 64 == 0 {
                let step_older = before.iter().filter(|&&w| w > 1).map(|w| w - 1);
                assert!(step_older.clone().all(|w| weights(&mbf, probe).contains(&w)));
                assert!(!weights(&mbf, probe).contains(&4), "one filter is empty");
            } else {
                assert!(before.iter().all(|w| weights(&mbf, probe).contains(w)));
            }
        }
    }

    #[test]
    fn it_takes_its_bits() {
        let mbf = mbf(MbfConfig::default());
        assert_eq!((Mbf::demands(&config(9)).streams, mbf.memory_bytes()), (2, 1024));
    }
}
