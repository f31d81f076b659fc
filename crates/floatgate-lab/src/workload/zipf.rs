//! Zipf: the k-th most popular of n places has a probability proportional to k^-theta.
//!
//! Ranks are drawn by rejection-inversion (Hormann and Derflinger, ACM TOMACS 6, 1996): exact, in
//! constant time, without a table. A point of the area under x^-theta is drawn, and its abscissa is
//! rounded to a rank k. The column of k is at least as large as its probability k^-theta, and
//! points in the excess are rejected. Ranks are scattered over the span, so that popular places are
//! not neighbours, or they lie in their order.

use floatgate_ftl::rng::Rng;

use super::keys::{KeyRow, Keys};
use super::scatter::Scatter;
use super::{Pattern, Space};
use crate::config::ConfigError;

#[derive(Clone)]
pub(super) struct Zipf {
    ranks: Ranks,
    /// Maps ranks to places; without it, places follow the ranks from the start of the span.
    scatter: Option<Scatter>,
}

impl Pattern for Zipf {
    const KEYS: &'static [KeyRow] = &[
        KeyRow { name: "theta", default: "0.99", doc: "How skewed, 0 to 10; 0 is uniform." },
        KeyRow {
            name: "scatter",
            default: "true",
            doc: "Popular places lie anywhere; false: at the start, the most popular one first.",
        },
    ];

    fn new(keys: &mut Keys, space: Space, first: &mut Rng) -> Result<Self, ConfigError> {
        let theta = keys.number("theta", 0.99, (0.0, 10.0))?;
        let ranks = Ranks::new(theta, space.places);
        let anywhere = keys.choice("scatter", &[("true", true), ("false", false)])?;
        let scatter = anywhere.then(|| Scatter::new(space.places, first));
        Ok(Self { ranks, scatter })
    }

    fn offset(&mut self, space: Space, rng: &mut Rng) -> u64 {
        let rank = self.ranks.draw(rng) - 1;
        self.scatter.as_ref().map_or(rank, |scatter| scatter.place(rank)) * space.step
    }
}

/// Draws ranks from 1 to n.
#[derive(Clone)]
pub(super) struct Ranks {
    theta: f64,
    n: f64,
    /// Area up to the right edge of the first column, minus the bar of the first rank. The first
    /// rank is thus never rejected.
    low: f64,
    /// Area up to the right edge of the last column.
    high: f64,
    /// A point at most this far left of its rank is accepted without evaluating the curve.
    squeeze: f64,
}

impl Ranks {
    pub(super) fn new(theta: f64, n: u64) -> Self {
        let n = n as f64;
        let mut ranks = Self { theta, n, low: 0.0, high: 0.0, squeeze: 0.0 };
        ranks.low = ranks.area(1.5) - 1.0;
        ranks.high = ranks.area(n + 0.5);
        ranks.squeeze = 2.0 - ranks.abscissa(ranks.area(2.5) - ranks.bar(2.0));
        ranks
    }

    pub(super) fn draw(&self, rng: &mut Rng) -> u64 {
        loop {
            let area = self.high + rng.unit() * (self.low - self.high);
            let x = self.abscissa(area);
            let rank = x.round().clamp(1.0, self.n);
            if rank - x <= self.squeeze || area >= self.area(rank + 0.5) - self.bar(rank) {
                return rank as u64;
            }
        }
    }

    /// Returns k^-theta.
    fn bar(&self, k: f64) -> f64 {
        libm::exp(-self.theta * libm::log(k))
    }

    /// Returns the integral of x^-theta from 1 to x: (x^(1-theta) - 1) / (1 - theta), or ln x for
    /// theta 1.
    fn area(&self, x: f64) -> f64 {
        let log = libm::log(x);
        expm1_ratio((1.0 - self.theta) * log) * log
    }

    /// Returns the inverse of `area`.
    fn abscissa(&self, area: f64) -> f64 {
        // Rounding may move the point below the pole of the logarithm.
        let t = (area * (1.0 - self.theta)).max(-1.0);
        libm::exp(log1p_ratio(t) * area)
    }
}

/// Returns (e^t - 1) / t, or its limit at 0.
fn expm1_ratio(t: f64) -> f64 {
    if t == 0.0 { 1.0 } else { libm::expm1(t) / t }
}

/// Returns ln(1 + t) / t, or its limit at 0.
fn log1p_ratio(t: f64) -> f64 {
    if t == 0.0 { 1.0 } else { libm::log1p(t) / t }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn area_and_abscissa_are_inverse() {
        for theta in [0.0, 0.5, 0.99, 1.0, 1.2, 3.0] {
            let ranks = Ranks::new(theta, 1000);
            for x in [0.5, 1.0, 1.5, 10.0, 1000.5] {
                let back = ranks.abscissa(ranks.area(x));
                assert!((back - x).abs() < 1e-9 * x.max(1.0), "{theta} {x} {back}");
            }
        }
    }
}
