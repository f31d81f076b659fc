//! The sampled curve: a share of the pages represents all pages, as in SHARDS (Waldspurger et al.,
//! FAST 2015).
//!
//! A page is in the sample if its hash is below a threshold, so the sample has either all accesses
//! to a page or none. The share of the sampled pages is R. A stack distance between sampled pages
//! is, on average, R times the true distance. If the sample has more or less than a share R of all
//! accesses, it has too many or too few popular pages: SHARDS-adj adds the difference to the hits
//! at the smallest distance. The estimate is thus an estimate of the misses, to which the most
//! popular pages contribute little.
//!
//! The rate is fixed. The paper's other variant lowers the rate to keep the sample small. It saves
//! memory that is no problem here: 1 % of 10^9 pages is half a gigabyte.
//!
//! The sample itself gives an estimate of the error, for each size c:
//!
//! * Page i is sampled with probability R and contributes its m misses. The sum over the sample
//!   therefore has a variance of at most (1 - R) times the sum of the squared misses (Horvitz and
//!   Thompson, Journal of the American Statistical Association 47, 1952). The pass counts misses at
//!   a few sizes, and interpolates the deviation between them.
//! * A distance c appears in the sample as R c, give or take the root of (1 - R) R c. The estimated
//!   curve at c may thus be shifted by the share s = sqrt((1 - R) / (R c)) of c.
//!
//! The stated error is two standard deviations. A curve begins where s is 1/3; below that size the
//! sample allows no estimate. The error does not cover pages that a small sample misses altogether,
//! so a sample of few pages is refused.

use std::ops::Range;

use super::Touched;
use super::hits::Hits;
use super::stack::Stack;
use super::table::Table;
use crate::config::ConfigError;

/// Minimum number of pages in a sample.
const PAGES_MIN: usize = 100;
/// Sampled pages in a cache of the smallest size, at a rate close to 0.
const SMALLEST: f64 = 10.0;
/// Number of cache sizes at which the misses of each page are counted.
const LEVELS: usize = 10;
/// Ratio of one such size to the previous one.
const LEVEL_STEP: usize = 4;
/// Standard deviations in the stated error, which covers 19 of 20 cases.
const DEVIATIONS: f64 = 2.0;

/// Upper bound of the hashes in the sample.
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

    /// Returns whether a page is in the sample. The hash is the finalizer of MurmurHash3 (Appleby,
    /// 2011): every bit depends on every bit of the page number.
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

    /// Standard deviation of a distance of `entries`, as a share of the distance.
    fn shift(self, entries: f64) -> f64 {
        ((1.0 - self.rate()) / (self.rate() * entries)).sqrt()
    }

    fn smallest_entries(self) -> f64 {
        (SMALLEST * (1.0 - self.rate()) / self.rate()).ceil().max(1.0)
    }
}

/// Stack distances of the accesses to sampled pages.
pub(super) struct Sampled {
    threshold: Threshold,
    stack: Stack,
    /// Number of sampled accesses at each distance within the sample, from distance 1.
    distances: Vec<u64>,
    accesses: u64,
    /// Index of each page in `misses`.
    numbers: Table,
    /// For each page, the accesses at a distance beyond each of `sizes`, first accesses included.
    misses: Vec<[u32; LEVELS]>,
    /// Cache sizes in sampled pages, ascending.
    sizes: [usize; LEVELS],
}

impl Sampled {
    /// Makes an empty sample of about `rate` of the pages.
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

    /// Returns the curve of `accesses` page accesses, after the sampled ones were touched.
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

/// Sample behind a sampled curve.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Share of the pages that the sample aims for.
    pub rate: f64,
    /// Pages in the sample.
    pub pages: u64,
    /// Accesses to the sampled pages.
    pub accesses: u64,
    /// The smallest cache size that the sample can estimate.
    pub smallest_entries: u64,
    threshold: Threshold,
    /// Cache sizes, and below the standard deviation of the miss ratio that the choice of pages
    /// causes at each size.
    sizes: [f64; LEVELS],
    deviations: [f64; LEVELS],
}

impl Sample {
    /// Returns the possible error of the hit ratio at `entries`: it is smaller in 19 of 20 cases.
    pub(super) fn error_at(&self, entries: u64, hits: &Hits, accesses: u64) -> f64 {
        let entries = entries as f64;
        let shift = self.threshold.shift(entries);
        let [low, high] = [1.0 - shift, 1.0 + shift].map(|by| hits.at(entries * by));
        let shifted = (high - low) / 2.0 / accesses as f64;
        (DEVIATIONS * self.deviation_at(entries).hypot(shifted)).min(1.0)
    }

    /// Interpolates the deviation between two of the sizes, linearly over the logarithm of the
    /// size.
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

    /// Loops over exactly as many sampled pages as a size has, and over one more, give distances on
    /// both sides of each size.
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
                // A cache of `size` pages has the `size` pages at the front of the stack.
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
