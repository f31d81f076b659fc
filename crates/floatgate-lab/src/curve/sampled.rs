//! A share of the pages stands for all: SHARDS (Waldspurger et al., FAST 2015).
//!
//! A page is in the sample if its hash is below a threshold, so that of a page all accesses are in
//! it or none. Stack distances between sampled pages are the share R of the true ones, on average.
//! If the sample has more or fewer accesses than R of all, that is because it has too many or too
//! few popular pages: SHARDS-adj adds the difference to the hits at the smallest distance. What is
//! estimated then are the misses, to which the most popular pages contribute little.
//!
//! The rate is fixed. The paper's other variant, which lowers it to keep the sample small, saves
//! memory that is no problem here: 1 % of 10^9 pages is half a gigabyte.
//!
//! The error is estimated from the sample itself, for each size c:
//!
//! * Page i is sampled with probability R and brings its m misses, so the sum over the sample has a
//!   variance of at most (1 - R) times the sum of their squares (Horvitz and Thompson, Journal of
//!   the American Statistical Association 47, 1952). Misses are counted for a few sizes, and the
//!   deviation is interpolated between them.
//! * A distance c is seen as R c, give or take the root of (1 - R) R c: the curve is known at c up
//!   to a shift of c by its share s = sqrt((1 - R) / (R c)).
//!
//! The stated error is two standard deviations. A curve begins where s is 1/3; below, a sample says
//! nothing. What a sample of few pages misses it cannot know either, so it is refused.

use std::ops::Range;

use super::Touched;
use super::hits::Hits;
use super::stack::Stack;
use super::table::Table;
use crate::config::ConfigError;

/// Pages that a sample must have.
const PAGES_MIN: usize = 100;
/// Sampled pages that a cache of the smallest size holds, if nearly all pages are left out.
const SMALLEST: f64 = 10.0;
/// Sizes for which the misses of each page are counted.
const LEVELS: usize = 10;
/// From one such size to the next.
const LEVEL_STEP: usize = 4;
/// Standard deviations of the stated error: 19 of 20 cases are within it.
const DEVIATIONS: f64 = 2.0;

/// The hashes that are in the sample.
#[derive(Clone, Copy, Debug)]
struct Threshold(u64);

impl Threshold {
    const ALL: u64 = 1 << 32;

    fn new(rate: f64) -> Result<Self, ConfigError> {
        if !(rate > 0.0 && rate <= 1.0) {
            let text = format!("sample = {rate}: expected a rate above 0 and at most 1");
            return Err(ConfigError::new(text));
        }
        Ok(Self(((rate * Self::ALL as f64).round() as u64).max(1)))
    }

    /// The finalizer of MurmurHash3 (Appleby, 2011): every bit depends on every bit of the page.
    #[inline(always)]
    fn holds(self, page: u32) -> bool {
        let mut hash = page;
        hash = (hash ^ hash >> 16).wrapping_mul(0x85EB_CA6B);
        hash = (hash ^ hash >> 13).wrapping_mul(0xC2B2_AE35);
        u64::from(hash ^ hash >> 16) < self.0
    }

    fn rate(self) -> f64 {
        self.0 as f64 / Self::ALL as f64
    }

    /// Share by which a distance of `entries` may be off, as one standard deviation.
    fn shift(self, entries: f64) -> f64 {
        ((1.0 - self.rate()) / (self.rate() * entries)).sqrt()
    }

    fn smallest_entries(self) -> f64 {
        (SMALLEST * (1.0 - self.rate()) / self.rate()).ceil().max(1.0)
    }
}

/// Distances of the accesses to sampled pages.
pub(super) struct Sampled {
    threshold: Threshold,
    stack: Stack,
    /// Sampled accesses by distance within the sample, from 1.
    distances: Vec<u64>,
    accesses: u64,
    /// Where the misses of each page stand in `misses`.
    numbers: Table,
    /// By page, the accesses beyond each of `sizes`, first accesses included.
    misses: Vec<[u32; LEVELS]>,
    /// Sizes within the sample, ascending.
    sizes: [usize; LEVELS],
}

impl Sampled {
    /// A sample of about `rate` of the pages.
    ///
    /// # Errors
    /// The rate is not above 0 and at most 1.
    pub fn new(rate: f64) -> Result<Self, ConfigError> {
        let threshold = Threshold::new(rate)?;
        let smallest = (threshold.smallest_entries() * threshold.rate()) as usize;
        Ok(Self {
            threshold,
            stack: Stack::new(),
            distances: Vec::new(),
            accesses: 0,
            numbers: Table::new(),
            misses: Vec::new(),
            sizes: std::array::from_fn(|level| smallest * LEVEL_STEP.pow(level as u32)),
        })
    }

    /// The curve of `accesses` page accesses, of which the sampled ones have been touched.
    ///
    /// # Errors
    /// There were accesses, but hardly any page was in the sample.
    pub fn finish(mut self, accesses: u64) -> Result<(Hits, Sample), ConfigError> {
        let pages = self.stack.pages();
        let rate = self.threshold.rate();
        if accesses > 0 && pages < PAGES_MIN {
            return Err(ConfigError::new(format!(
                "sample = {}: {pages} of the pages were in the sample: expected at least \
                 {PAGES_MIN}; take a higher rate, or the exact curve",
                (rate * 1e9).round() / 1e9
            )));
        }
        let expected = accesses as f64 * rate;
        let mut counts: Vec<f64> = self.distances.drain(..).map(|count| count as f64).collect();
        if let Some(first) = counts.first_mut() {
            *first += expected - self.accesses as f64;
        }
        let squares = |level: usize| -> f64 {
            self.misses.iter().map(|misses| f64::from(misses[level]).powi(2)).sum()
        };
        let deviation = |level| ((1.0 - rate) * squares(level)).sqrt() / expected;
        let sample = Sample {
            rate,
            pages: pages as u64,
            accesses: self.accesses,
            smallest_entries: self.threshold.smallest_entries() as u64,
            threshold: self.threshold,
            sizes: self.sizes.map(|size| size as f64 / rate),
            deviations: std::array::from_fn(deviation),
        };
        Ok((Hits::new(counts, rate), sample))
    }
}

impl Touched for Sampled {
    #[inline]
    fn touch(&mut self, pages: Range<u32>) {
        for page in pages {
            if self.threshold.holds(page) {
                self.access(page);
            }
        }
    }
}

impl Sampled {
    fn access(&mut self, page: u32) {
        self.accesses += 1;
        let distance = self.stack.access(page);
        match distance {
            Some(distance) => self.distances[distance - 1] += 1,
            // A distance is at most the number of pages.
            None => self.distances.push(0),
        }
        let distance = distance.unwrap_or(usize::MAX);
        if distance <= self.sizes[0] {
            return;
        }
        let number = self.numbers.entry(page);
        if *number == Table::NEW {
            *number = self.misses.len() as u32;
            self.misses.push([0; LEVELS]);
        }
        let misses = &mut self.misses[*number as usize];
        for (misses, _) in
            misses.iter_mut().zip(self.sizes).take_while(|&(_, size)| distance > size)
        {
            *misses = misses.saturating_add(1);
        }
    }
}

/// What a sampled curve was made from.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Share of the pages that were to be sampled.
    pub rate: f64,
    /// Pages in the sample.
    pub pages: u64,
    /// Accesses to them.
    pub accesses: u64,
    /// The smallest size about which the sample says something.
    pub smallest_entries: u64,
    threshold: Threshold,
    /// Cache sizes, and the standard deviation that the choice of pages leaves the miss ratio at
    /// each of them.
    sizes: [f64; LEVELS],
    deviations: [f64; LEVELS],
}

impl Sample {
    /// How far off the hit ratio at `entries` may be, in 19 of 20 cases.
    pub(super) fn error_at(&self, entries: u64, hits: &Hits, accesses: u64) -> f64 {
        let entries = entries as f64;
        let shift = self.threshold.shift(entries);
        let [low, high] = [1.0 - shift, 1.0 + shift].map(|by| hits.at(entries * by));
        let shifted = (high - low) / 2.0 / accesses as f64;
        (DEVIATIONS * self.deviation_at(entries).hypot(shifted)).min(1.0)
    }

    /// Between two of the sizes, what lies on the line between theirs, over the logarithm.
    fn deviation_at(&self, entries: f64) -> f64 {
        let place = libm::log(entries / self.sizes[0]) / libm::log(LEVEL_STEP as f64);
        let place = place.clamp(0.0, (LEVELS - 1) as f64);
        let below = (place as usize).min(LEVELS - 2);
        let [low, high] = [self.deviations[below], self.deviations[below + 1]];
        low + (high - low) * (place - below as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Loops over as many sampled pages as a size, and one more, give distances at each border.
    #[test]
    fn deviations_are_from_the_misses_of_each_page() {
        let mut sampled = Sampled::new(0.5).unwrap();
        assert_eq!(sampled.sizes[..4], [5, 20, 80, 320]);
        let in_sample: Vec<u32> = (0..).filter(|&p| sampled.threshold.holds(p)).take(400).collect();
        let loops = [5, 6, 20, 21, 80, 81, 320, 321, 400];
        let accesses = loops.iter().flat_map(|&pages| in_sample[..pages].repeat(3));
        let (mut naive, mut misses) = (Vec::new(), vec![[0u32; LEVELS]; 400]);
        for page in accesses.clone() {
            let place = naive.iter().position(|&other| other == page);
            let misses = &mut misses[in_sample.iter().position(|&other| other == page).unwrap()];
            for (misses, size) in misses.iter_mut().zip(sampled.sizes) {
                // A cache of so many pages has those before that place.
                *misses += u32::from(place.is_none_or(|place| place >= size));
            }
            place.map(|place| naive.remove(place));
            naive.insert(0, page);
        }
        accesses.clone().for_each(|page| sampled.touch(page..page + 1));
        let total = 2 * accesses.count() as u64;
        let (_, sample) = sampled.finish(total).unwrap();
        for (level, deviation) in sample.deviations.into_iter().enumerate() {
            let squares: f64 = misses.iter().map(|of| f64::from(of[level]).powi(2)).sum();
            let expected = (0.5 * squares).sqrt() / (0.5 * total as f64);
            assert!((deviation - expected).abs() < 1e-12, "{level}: {deviation} {expected}");
        }
    }
}
