//! Distributions of latencies at full resolution, by kind of request and by cause.

use floatgate_ftl::nand::Part;
use schemars::JsonSchema;
use serde::Serialize;

use crate::metrics::{Distributions, Latencies, Times};

/// How long requests of one kind took, or how much of that one cause took, at full resolution: a
/// histogram of three significant digits with every bucket that counts any.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Distribution {
    /// Which requests: "read", "write", or "all" of these.
    pub operation: &'static str,
    /// What took the time: an entry of `latency.blame_us` such as "gc", or "response", all of it.
    pub cause: &'static str,
    /// How many requests there were.
    pub requests: u64,
    /// How many of them spent no time on it; they are in no bucket.
    pub none: u64,
    /// Mean over all of the requests in microseconds, exact.
    pub mean_us: Option<f64>,
    /// The longest time that each bucket counts in nanoseconds, rising; what it counts is longer
    /// than the entry before, and shorter than its own by at most 0.1 %.
    pub ns: Vec<u64>,
    /// How many requests each bucket counts.
    pub counts: Vec<u64>,
}

impl Distribution {
    /// All of them: for each kind of request the response times, then each cause.
    pub(super) fn all(kept: &Distributions) -> Vec<Self> {
        let of = |(operation, times): (_, Times)| {
            let parts = Part::NAMES.into_iter().zip(&times.parts);
            let every = [("response", &times.response)].into_iter().chain(parts);
            every.map(|(cause, times)| Self::new(operation, cause, times)).collect::<Vec<_>>()
        };
        kept.by_operation().into_iter().flat_map(of).collect()
    }

    fn new(operation: &'static str, cause: &'static str, times: &Latencies) -> Self {
        let (none, spent): (Vec<_>, Vec<_>) = times.buckets().partition(|&(ns, _)| ns == 0);
        let (ns, counts) = spent.into_iter().unzip();
        Self {
            operation,
            cause,
            requests: times.count(),
            none: none.iter().map(|&(_, count)| count).sum(),
            mean_us: times.mean_us(),
            ns,
            counts,
        }
    }
}
