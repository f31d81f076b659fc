//! Skewed offsets as fio draws them, matched to its output; no code of fio is used.
//!
//! fio's zipf is the approximation of Gray et al., "Quickly Generating Billion-Record Synthetic
//! Databases", SIGMOD 1994, section 3.2: ranks 1 and 2 are exact, and the higher ranks are off
//! (rank 3 is 20 % too frequent). The sum of the probabilities stops at [`RANKS_SUMMED`] ranks.
//! Ranks of every skewed distribution are scattered by multiplicative hashing with the golden ratio
//! (Knuth, The Art of Computer Programming 3, section 6.4). If the number of blocks is a power of
//! two, the hash is a bijection; otherwise some blocks have several ranks, and others none.

use floatgate_ftl::rng::Rng;

use super::spec::{DistributionSpec, Shape};

/// Ranks in fio's sum of the probabilities of zipf.
const RANKS_SUMMED: u64 = 10_000_000;

/// 2^64 (1 - 1/φ), rounded to an odd number; φ is the golden ratio.
const GOLDEN: u64 = 0x61C8_8646_80B5_83EB;

/// Terms of a mean of uniform numbers that stands for a normal distribution.
const TERMS: u32 = 12;

/// Distribution of block numbers below `blocks`.
#[derive(Clone, Debug)]
pub(super) struct Skewed {
    blocks: u64,
    /// Block of rank 0.
    first: u64,
    ranks: Ranks,
}

#[derive(Clone, Debug)]
enum Ranks {
    Zipf {
        sum: f64,
        second: f64,
        alpha: f64,
        eta: f64,
    },
    /// Exponent of a uniform number.
    Pareto(f64),
    /// Width of a uniform number that is added to the mean of others, as a share of the blocks.
    Normal(f64),
}

impl Skewed {
    /// Creates a distribution over `blocks` blocks. `rng` gives the position of rank 0, unless it
    /// has a position.
    pub(super) fn new(spec: &DistributionSpec, blocks: u64, rng: &mut Rng) -> Self {
        let ranks = match spec.kind {
            Shape::Pareto => Ranks::Pareto(libm::log(spec.shape) / libm::log(1.0 - spec.shape)),
            Shape::Normal => Ranks::Normal((spec.shape / 100.0).min(0.5)),
            _ => zipf(spec.shape, blocks),
        };
        let at = |position: f64| (position * blocks as f64) as u64 % blocks;
        let first = match (spec.kind, spec.center) {
            (Shape::Normal, center) => at((center.unwrap_or(0.5) + 0.5) % 1.0),
            (_, Some(center)) => at(center),
            (_, None) => rng.below(blocks),
        };
        Self { blocks, first, ranks }
    }

    /// Draws a block.
    #[inline]
    pub(super) fn draw(&self, rng: &mut Rng) -> u64 {
        let rank = self.rank(rng);
        (rank.wrapping_mul(GOLDEN) % self.blocks + self.first) % self.blocks
    }

    /// Draws a rank, from 0.
    fn rank(&self, rng: &mut Rng) -> u64 {
        let n = self.blocks as f64;
        match self.ranks {
            Ranks::Zipf { sum, second, alpha, eta } => {
                let u = rng.unit();
                let area = u * sum;
                if area < 1.0 {
                    0
                } else if area < second {
                    1
                } else {
                    (n * libm::pow(eta * u - eta + 1.0, alpha)) as u64
                }
            }
            Ranks::Pareto(power) => ((n - 1.0) * libm::pow(rng.unit(), power)) as u64,
            Ranks::Normal(width) => {
                let mean = (0..TERMS).map(|_| rng.unit()).sum::<f64>() / f64::from(TERMS);
                let moved = mean + width * (rng.unit() - 0.5);
                ((moved - libm::floor(moved)) * n) as u64
            }
        }
    }
}

fn zipf(theta: f64, blocks: u64) -> Ranks {
    let sum = harmonic(theta, blocks.min(RANKS_SUMMED));
    let second = 1.0 + libm::pow(0.5, theta);
    let alpha = 1.0 / (1.0 - theta);
    let eta = (1.0 - libm::pow(2.0 / blocks as f64, 1.0 - theta)) / (1.0 - second / sum);
    Ranks::Zipf { sum, second, alpha, eta }
}

/// Returns the sum of k^-theta for k from 1 to `n`. Beyond the first terms the sum is its integral
/// with the corrections of Euler and Maclaurin; the error is below 10^-12.
fn harmonic(theta: f64, n: u64) -> f64 {
    const EXACT: u64 = 1000;
    let term = |k: f64| libm::pow(k, -theta);
    let exact: f64 = (1..=n.min(EXACT)).map(|k| term(k as f64)).sum();
    if n <= EXACT {
        return exact;
    }
    let (low, high) = (EXACT as f64, n as f64);
    let area = |x: f64| libm::pow(x, 1.0 - theta) / (1.0 - theta);
    let slope = |x: f64| -theta * libm::pow(x, -theta - 1.0);
    let edges = (term(high) - term(low)) / 2.0;
    exact + area(high) - area(low) + edges + (slope(high) - slope(low)) / 12.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skewed(kind: Shape, shape: f64, center: Option<f64>, blocks: u64) -> Skewed {
        Skewed::new(&DistributionSpec { kind, shape, center }, blocks, &mut Rng::new(1))
    }

    fn counts(skewed: &Skewed, draws: u32) -> Vec<u32> {
        let mut rng = Rng::new(2);
        let mut counts = vec![0; skewed.blocks as usize];
        (0..draws).for_each(|_| counts[skewed.draw(&mut rng) as usize] += 1);
        counts
    }

    #[test]
    fn the_sum_of_many_terms_is_exact() {
        for theta in [0.5, 0.99, 1.2, 3.0] {
            let all: f64 = (1..=200_000).map(|k| libm::pow(f64::from(k), -theta)).sum();
            let sum = harmonic(theta, 200_000);
            assert!((sum - all).abs() < 1e-9 * all, "{theta}: {sum} {all}");
        }
    }

    /// Shares that fio 3.33 gave for 4 GiB of requests of 4 KiB in 1 GiB.
    #[test]
    fn popular_blocks_have_the_shares_of_fio() {
        let blocks = 1 << 18;
        for (theta, shares) in [
            (1.2, [0.193, 0.0842, 0.0624, 0.0414, 0.0306, 0.0237]),
            (0.8, [0.0179, 0.0103, 0.0085, 0.00656, 0.00529, 0.0046]),
        ] {
            let mut counts = counts(&skewed(Shape::Zipf, theta, None, blocks), 1 << 20);
            counts.sort_unstable_by(|a, b| b.cmp(a));
            for (count, share) in counts.into_iter().zip(shares) {
                let got = f64::from(count) / f64::from(1 << 20);
                assert!((got / share - 1.0).abs() < 0.05, "{theta}: {got} {share}");
            }
        }
        let pareto = counts(&skewed(Shape::Pareto, 0.2, None, blocks), 1 << 20);
        let most = f64::from(*pareto.iter().max().expect("there are blocks"));
        assert!((most / f64::from(1 << 20) - 0.1773).abs() < 0.002, "{most}");
        let touched = pareto.iter().filter(|&&count| count > 0).count();
        assert!((176_000..178_500).contains(&touched), "{touched}");
    }

    #[test]
    fn the_center_is_the_most_popular_block() {
        for (center, block) in [(0.0, 0), (0.25, 256), (0.5, 512)] {
            let counts = counts(&skewed(Shape::Zipf, 1.2, Some(center), 1024), 10_000);
            let most = (0..1024).max_by_key(|&block| counts[block]).expect("there are blocks");
            assert_eq!(most, block);
        }
    }

    /// A hash onto a number of blocks that is no power of two gives some blocks several ranks.
    #[test]
    fn every_block_has_a_rank_only_if_their_number_is_a_power_of_two() {
        let reached = |blocks: u64| {
            let mut seen = vec![false; blocks as usize];
            (0..blocks).for_each(|rank| {
                seen[(rank.wrapping_mul(GOLDEN) % blocks) as usize] = true;
            });
            seen.iter().filter(|&&seen| seen).count() as u64
        };
        assert_eq!(reached(4096), 4096);
        assert!(reached(3000) < 3000);
    }

    /// Standard deviations that fio 3.33 gave, as shares of the blocks.
    #[test]
    fn a_normal_distribution_is_as_wide_as_that_of_fio() {
        for (deviation, wide) in [(5.0, 0.0846), (10.0, 0.0882), (30.0, 0.1203), (99.0, 0.1668)] {
            let normal = skewed(Shape::Normal, deviation, None, 1 << 16);
            let mut rng = Rng::new(5);
            let ranks: Vec<f64> =
                (0..200_000).map(|_| normal.rank(&mut rng) as f64 / f64::from(1 << 16)).collect();
            let mean = ranks.iter().sum::<f64>() / 200_000.0;
            let square = ranks.iter().map(|rank| (rank - mean) * (rank - mean)).sum::<f64>();
            let got = (square / 200_000.0).sqrt();
            assert!((mean - 0.5).abs() < 0.002 && (got - wide).abs() < 0.001, "{got} {wide}");
        }
    }
}
