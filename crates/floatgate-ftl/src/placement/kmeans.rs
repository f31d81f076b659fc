//! Three clusters on a line, and the borders between them: k-means in one dimension.
//!
//! The result is deterministic and exact. A centroid is a fraction, a sum over a count, and
//! fractions are compared by cross multiplication. Lloyd's rounds start from the samples at the
//! quantiles 1/6, 3/6 and 5/6. They end when nothing changes, or after [`ROUNDS`]. A sample with
//! equal distance to two centroids belongs to the lower one. If two of the three start samples are
//! equal, the quantiles of the distinct values are used, so that no two clusters start at the same
//! value. A cluster that has lost all its samples keeps its centroid.

use alloc::vec::Vec;

/// Rounds after which the search ends, settled or not.
const ROUNDS: u32 = 100;

/// A fraction that is not negative.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fraction {
    over: u128,
    under: u128,
}

impl Fraction {
    fn from_integer(number: u64) -> Self {
        Self { over: number.into(), under: 1 }
    }

    fn mean(samples: &[u64]) -> Option<Self> {
        let over = samples.iter().copied().map(u128::from).sum();
        (!samples.is_empty()).then_some(Self { over, under: samples.len() as u128 })
    }

    fn between(a: Self, b: Self) -> Self {
        let over = a.over * b.under + b.over * a.under;
        Self { over, under: 2 * a.under * b.under }
    }

    /// Returns the largest whole number that is not above the fraction.
    pub(super) fn floor(self) -> u64 {
        (self.over / self.under) as u64
    }
}

impl PartialEq for Fraction {
    fn eq(&self, other: &Self) -> bool {
        self.over * other.under == other.over * self.under
    }
}

/// Returns the centroids of three clusters of samples, in ascending order. None if the samples have
/// fewer than three values. Sorts the samples, at most 2^20 of them.
pub(super) fn centroids(samples: &mut [u64]) -> Option<[Fraction; 3]> {
    assert!(samples.len() <= 1 << 20, "a centroid is a sum in 128 bits");
    samples.sort_unstable();
    let mut centroids = start(samples)?;
    for _ in 0..ROUNDS {
        let [first, second] = borders(&centroids);
        let (low, rest) = samples.split_at(samples.partition_point(|&x| x <= first));
        let (middle, high) = rest.split_at(rest.partition_point(|&x| x <= second));
        let mut moved = centroids;
        for (centroid, cluster) in moved.iter_mut().zip([low, middle, high]) {
            *centroid = Fraction::mean(cluster).unwrap_or(*centroid);
        }
        if moved == centroids {
            break;
        }
        centroids = moved;
    }
    Some(centroids)
}

/// Returns the middles between neighbouring centroids.
pub(super) fn thresholds(centroids: &[Fraction; 3]) -> [Fraction; 2] {
    let [low, middle, high] = *centroids;
    [Fraction::between(low, middle), Fraction::between(middle, high)]
}

/// Returns the highest value that belongs to each of the lower two clusters.
fn borders(centroids: &[Fraction; 3]) -> [u64; 2] {
    thresholds(centroids).map(Fraction::floor)
}

fn start(sorted: &[u64]) -> Option<[Fraction; 3]> {
    let mut values = Vec::from(sorted);
    values.dedup();
    if values.len() < 3 {
        return None;
    }
    let quantiles = |of: &[u64]| [1, 3, 5].map(|sixth| of[of.len() * sixth / 6]);
    let [low, middle, high] = quantiles(sorted);
    let distinct = low < middle && middle < high;
    let start = if distinct { [low, middle, high] } else { quantiles(&values) };
    Some(start.map(Fraction::from_integer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use alloc::vec;

    fn fraction(over: u64, under: u64) -> Fraction {
        Fraction { over: over.into(), under: under.into() }
    }

    /// A cluster can lose all its samples to its neighbours. It then keeps its centroid, so that
    /// centroids stay in order.
    #[test]
    fn a_cluster_without_samples_keeps_its_centroid() {
        let heaps = [(99, 20), (100, 15), (150, 5), (151, 10), (201, 10)];
        let mut samples: Vec<u64> =
            heaps.iter().flat_map(|&(value, count)| vec![value; count]).collect();
        // At first the middle cluster has 15 samples of 100 and 5 of 150, with the centroid 112.5.
        // Then 100 is nearer to the lower centroid and 150 to the upper one.
        let expected = [(20 * 99 + 15 * 100, 35), (15 * 100 + 5 * 150, 20), (4270, 25)];
        let found = centroids(&mut samples).unwrap();
        assert_eq!(found, expected.map(|(over, under)| fraction(over, under)));
    }

    #[test]
    fn three_heaps() {
        let mut samples = [1002, 1, 101, 2, 3, 100, 102, 1000, 1001];
        let centroids = centroids(&mut samples).unwrap();
        assert_eq!(centroids, [2, 101, 1001].map(Fraction::from_integer));
        assert_eq!(thresholds(&centroids), [fraction(103, 2), Fraction::from_integer(551)]);
        assert_eq!(borders(&centroids), [51, 551]);
    }

    #[test]
    fn few_values_are_no_clusters() {
        for samples in [vec![], vec![5], vec![5, 9], vec![7; 100], vec![1, 2, 1, 2, 2]] {
            assert!(centroids(&mut samples.clone()).is_none(), "{samples:?}");
        }
        assert_eq!(centroids(&mut [3, 1, 2]).unwrap(), [1, 2, 3].map(Fraction::from_integer));
    }

    #[test]
    fn a_tie_belongs_to_the_lower() {
        // From 0, 4 and 100: 2 has the same distance to 0 and to 4.
        let centroids = centroids(&mut [0, 0, 2, 4, 100, 100]).unwrap();
        assert_eq!(
            centroids,
            [fraction(2, 3), Fraction::from_integer(4), Fraction::from_integer(100)]
        );
    }

    #[test]
    fn equal_quantiles_start_from_the_values() {
        let mut samples = vec![5; 100];
        samples.extend([6, 1000, 2000]);
        let centroids = centroids(&mut samples).unwrap();
        assert_eq!(centroids[0].floor(), 5);
        assert_eq!(centroids[1..], [1000, 2000].map(Fraction::from_integer));
    }

    /// Lloyd's rounds, sample by sample, in floating point.
    fn naive(samples: &[u64], start: [f64; 3]) -> [f64; 3] {
        let mut centroids = start;
        for _ in 0..ROUNDS {
            let mut clusters = [(0.0, 0.0); 3];
            for &x in samples {
                let distance = |c: f64| (x as f64 - c).abs();
                let nearest = (0..3)
                    .min_by(|&a, &b| distance(centroids[a]).total_cmp(&distance(centroids[b])));
                let cluster = &mut clusters[nearest.unwrap()];
                *cluster = (cluster.0 + x as f64, cluster.1 + 1.0);
            }
            for (centroid, (sum, count)) in centroids.iter_mut().zip(clusters) {
                *centroid = if count > 0.0 { sum / count } else { *centroid };
            }
        }
        centroids
    }

    #[test]
    fn agrees_with_floating_point() {
        let mut rng = Rng::new(1957);
        for round in 0..200 {
            let heavy = |x: f64| (1.0 / (1.0 - x)).powi(3) as u64;
            let even = |x: f64| (x * 1e6) as u64;
            let count = 3 + rng.below(300);
            let mut samples: Vec<u64> = (0..count)
                .map(|_| if round % 2 == 0 { heavy(rng.unit()) } else { even(rng.unit()) })
                .collect();
            let Some(ours) = centroids(&mut samples) else { continue };
            let start = start(&samples).unwrap().map(|f| f.floor() as f64);
            let theirs = naive(&samples, start);
            for (ours, theirs) in ours.iter().zip(theirs) {
                let ours = ours.over as f64 / ours.under as f64;
                assert!((ours - theirs).abs() <= 1e-6 * theirs.max(1.0), "{ours} {theirs}");
            }
            let [first, second] = borders(&ours);
            assert!(first <= second);
        }
    }

    #[test]
    fn large_ages_do_not_overflow() {
        let mut samples = vec![u64::MAX; 1 << 18];
        samples.extend([0, 1 << 62]);
        assert_eq!(centroids(&mut samples).unwrap()[2].floor(), u64::MAX);
    }
}
