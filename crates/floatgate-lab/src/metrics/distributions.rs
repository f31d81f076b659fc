//! Times at full resolution: of whole requests, and of each latency component.

use floatgate_ftl::nand::{Blame, COMPONENTS};
use floatgate_ftl::request::Op;

use super::Latencies;

/// Response times of reads and of writes. They take at most 15 MiB when the result is made, for any
/// number of requests: 33 histograms of at most 56,320 counts of 8 bytes.
#[derive(Clone, Debug, Default)]
pub struct Distributions {
    read: Times,
    write: Times,
}

/// Times of one kind of request.
#[derive(Clone, Debug, Default)]
pub struct Times {
    /// From arrival to completion.
    pub response: Latencies,
    /// Time of each latency component, in the order of [`Blame`].
    pub components: [Latencies; COMPONENTS],
}

impl Distributions {
    /// Records a request. Trims and flushes have no latencies.
    pub(super) fn record(&mut self, op: Op, blame: &Blame) {
        match op {
            Op::Read => self.read.record(blame),
            Op::Write => self.write.record(blame),
            Op::Trim | Op::Flush => {}
        }
    }

    /// Returns the times of each kind of request with its name. "all" has reads and writes
    /// together.
    pub fn by_operation(&self) -> [(&'static str, Times); 3] {
        let mut all = self.read.clone();
        all.add(&self.write);
        [("all", all), ("read", self.read.clone()), ("write", self.write.clone())]
    }
}

impl Times {
    fn record(&mut self, blame: &Blame) {
        self.response.record(blame.total());
        for (times, ns) in self.components.iter_mut().zip(blame.0) {
            times.record(ns);
        }
    }

    fn add(&mut self, other: &Self) {
        self.response.add(&other.response);
        for (times, others) in self.components.iter_mut().zip(&other.components) {
            times.add(others);
        }
    }
}

impl Latencies {
    /// Returns the mean in microseconds, exact.
    pub fn mean_us(&self) -> Option<f64> {
        self.mean().map(|ns| ns / 1000.0)
    }

    /// Returns every non-empty bucket: its longest time in nanoseconds, and its count.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> {
        let recorded = self.histogram.iter_recorded();
        recorded.map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value()))
    }
}
