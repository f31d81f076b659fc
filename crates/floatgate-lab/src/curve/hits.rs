//! Hits by cache size: a table of cumulative sums, interpolated between its rows.

/// Hits of LRU caches of every size, in accesses; estimates if they come from a sample.
#[derive(Clone, Debug)]
pub(super) struct Hits {
    /// Row n: hits of the sample in a cache that holds n sampled pages, from 0.
    sums: Vec<f64>,
    /// Share of the pages in the sample.
    rate: f64,
}

impl Hits {
    /// Makes the table from the number of accesses at each distance, from distance 1, within a
    /// sample of `rate` of the pages. Sums of whole numbers are exact, as there are fewer than 2^53
    /// accesses.
    pub fn new(distances: impl IntoIterator<Item = f64>, rate: f64) -> Self {
        let sum = distances.into_iter().scan(0.0, |sum, count| {
            *sum += count;
            // The correction of a sample may subtract more from the first distance than its count.
            Some(f64::max(*sum, 0.0))
        });
        Self { sums: std::iter::once(0.0).chain(sum).collect(), rate }
    }

    /// Returns the hits of a cache of `entries`, which need not be a whole number.
    pub fn at(&self, entries: f64) -> f64 {
        let place = entries * self.rate;
        let below = place.floor();
        let at = |row: f64| self.sums[(row as usize).min(self.sums.len() - 1)];
        let (low, high) = (at(below), at(below + 1.0));
        (low + (high - low) * (place - below)) / self.rate
    }

    /// Hits of a cache that holds every entry.
    pub fn reachable(&self) -> f64 {
        self.sums[self.sums.len() - 1] / self.rate
    }

    /// Returns the smallest number of entries in `from..=to` with at least `percent` of the
    /// reachable hits; `to` must have that many hits.
    pub fn entries_for(&self, percent: u32, from: u64, to: u64) -> u64 {
        // Multiplying instead of dividing by 100 compares whole numbers exactly.
        let target = self.reachable() * f64::from(percent);
        let (mut from, mut to) = (from, to);
        while from < to {
            let middle = from + (to - from) / 2;
            if self.at(middle as f64) * 100.0 >= target {
                to = middle;
            } else {
                from = middle + 1;
            }
        }
        to
    }
}
