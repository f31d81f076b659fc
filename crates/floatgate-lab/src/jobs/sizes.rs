//! Sizes of requests.

use floatgate_ftl::rng::Rng;

use super::spec::SizesSpec;

/// Distribution of the sizes of one kind of requests.
#[derive(Clone, Debug)]
pub(super) enum Sizes {
    /// One size.
    One(u64),
    /// All multiples of the smallest size, as fio draws them: a byte count from 1 to the largest
    /// size is rounded up, so a largest size that is no multiple is less likely.
    Multiples { low: u64, high: u64 },
    /// All sizes.
    All { low: u64, high: u64 },
    /// Sizes in ascending order, each with the cumulative percentage up to and including it.
    Split(Vec<(u64, f64)>),
}

impl Sizes {
    pub(super) fn new(spec: &SizesSpec) -> Self {
        let &SizesSpec { low, high, ref split, unaligned } = spec;
        if low == high {
            return Self::One(low);
        }
        if split.is_empty() {
            return if unaligned { Self::All { low, high } } else { Self::Multiples { low, high } };
        }
        let mut sorted = split.clone();
        sorted.sort_unstable_by_key(|&(size, _)| size);
        let mut sum = 0.0;
        Self::Split(sorted.into_iter().map(|(size, share)| (size, add(&mut sum, share))).collect())
    }

    /// Draws a size of at most `room` bytes, as if larger ones were drawn again; `None` if even the
    /// smallest does not fit.
    #[inline]
    pub(super) fn draw(&self, room: u64, rng: &mut Rng) -> Option<u64> {
        match self {
            &Self::One(size) => (size <= room).then_some(size),
            &Self::Multiples { low, high } => {
                let most = if high <= room { high } else { room / low * low };
                let drawn = || (rng.below(most) / low + 1) * low;
                (most > 0).then(drawn).map(|size| size.min(high))
            }
            &Self::All { low, high } => {
                let most = high.min(room);
                (most >= low).then(|| low + rng.below(most - low + 1))
            }
            Self::Split(sizes) => {
                let fitting = sizes.partition_point(|&(size, _)| size <= room);
                let &(_, up_to) = sizes[..fitting].last()?;
                let drawn = rng.unit() * up_to;
                let at = sizes[..fitting].partition_point(|&(_, sum)| sum <= drawn);
                Some(sizes[at.min(fitting - 1)].0)
            }
        }
    }

    /// Returns the mean size.
    pub(super) fn mean(&self) -> f64 {
        match self {
            &Self::One(size) => size as f64,
            &Self::Multiples { low, high } | &Self::All { low, high } => (low + high) as f64 / 2.0,
            Self::Split(sizes) => {
                let mut before = 0.0;
                let parts = sizes.iter().map(|&(size, sum)| {
                    let share = sum - std::mem::replace(&mut before, sum);
                    size as f64 * share
                });
                parts.sum::<f64>() / sizes.last().map_or(1.0, |&(_, sum)| sum)
            }
        }
    }
}

/// Adds a share, and returns the sum.
fn add(sum: &mut f64, share: f64) -> f64 {
    *sum += share;
    *sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(sizes: &Sizes, room: u64) -> std::collections::BTreeMap<u64, u32> {
        let mut rng = Rng::new(3);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..100_000 {
            *counts.entry(sizes.draw(room, &mut rng).unwrap_or(0)).or_default() += 1;
        }
        counts
    }

    fn spec(low: u64, high: u64, split: &[(u64, f64)]) -> Sizes {
        Sizes::new(&SizesSpec { low, high, split: split.to_vec(), unaligned: false })
    }

    fn close(counts: &std::collections::BTreeMap<u64, u32>, shares: &[(u64, f64)]) {
        assert_eq!(counts.len(), shares.len(), "{counts:?}");
        for &(size, share) in shares {
            let got = f64::from(counts[&size]) / 100_000.0;
            assert!((got - share).abs() < 0.01, "{size}: {got} {share}");
        }
    }

    #[test]
    fn a_largest_size_that_is_no_multiple_is_less_likely() {
        close(&counts(&spec(4, 16, &[]), 99), &[(4, 0.25), (8, 0.25), (12, 0.25), (16, 0.25)]);
        close(&counts(&spec(4, 10, &[]), 99), &[(4, 0.4), (8, 0.4), (10, 0.2)]);
    }

    #[test]
    fn what_does_not_fit_is_drawn_again() {
        close(&counts(&spec(4, 16, &[]), 9), &[(4, 0.5), (8, 0.5)]);
        let split = spec(4, 16, &[(16, 80.0), (4, 10.0), (8, 10.0)]);
        close(&counts(&split, 16), &[(4, 0.1), (8, 0.1), (16, 0.8)]);
        close(&counts(&split, 15), &[(4, 0.5), (8, 0.5)]);
        close(&counts(&split, 3), &[(0, 1.0)]);
        close(&counts(&spec(4, 4, &[]), 3), &[(0, 1.0)]);
        assert_eq!(split.mean(), 14.0);
    }

    #[test]
    fn unaligned_sizes_are_all_sizes() {
        let sizes = Sizes::new(&SizesSpec { low: 3, high: 5, split: vec![], unaligned: true });
        close(&counts(&sizes, 9), &[(3, 1.0 / 3.0), (4, 1.0 / 3.0), (5, 1.0 / 3.0)]);
        close(&counts(&sizes, 2), &[(0, 1.0)]);
    }
}
