//! Distances between two writes of the same page, in page writes.

use hdrhistogram::Histogram;
use serde_json::{Value, json};

/// Decimal digits that quantiles keep.
const DIGITS: u8 = 3;
const QUANTILES: [f64; 6] = [0.1, 0.25, 0.5, 0.75, 0.9, 0.99];

/// Distances in page writes. The distance is 1 if the very next page write is to the same page.
#[derive(Debug)]
pub(super) struct Distances {
    histogram: Histogram<u64>,
    /// Distances from 2^n to 2^(n+1) - 1, at index n.
    by_power: [u64; 64],
    sum: u128,
    /// Page writes to pages not written before.
    firsts: u64,
}

impl Distances {
    pub fn new() -> Self {
        let histogram = Histogram::new(DIGITS).expect("three digits are possible");
        Self { histogram, by_power: [0; 64], sum: 0, firsts: 0 }
    }

    pub fn first(&mut self) {
        self.firsts += 1;
    }

    #[inline]
    pub fn take(&mut self, distance: u64) {
        self.histogram.record(distance).expect("it grows as needed");
        self.by_power[distance.ilog2() as usize] += 1;
        self.sum += u128::from(distance);
    }

    pub fn document(&self) -> Value {
        let count = self.histogram.len();
        let all = count + self.firsts;
        let ratio = |of: f64, whole: u64| (whole > 0).then(|| of / whole as f64);
        let quantile = |share: f64| {
            let found = self.histogram.value_at_quantile(share);
            let pages = (count > 0).then(|| self.histogram.lowest_equivalent(found));
            json!({ "quantile": share, "pages": pages })
        };
        let powers = self.by_power.iter().rposition(|&n| n > 0).map_or(0, |last| last + 1);
        let bars = self.by_power[..powers].iter().enumerate().map(|(power, n)| {
            json!({ "from_pages": 1u64 << power, "below_pages": 2u64 << power, "overwrites": n })
        });
        json!({
            "overwrites": count,
            "overwrites_share": ratio(count as f64, all),
            "mean_pages": ratio(self.sum as f64, count),
            "quantiles": QUANTILES.map(quantile),
            "histogram": bars.collect::<Vec<_>>(),
        })
    }
}
