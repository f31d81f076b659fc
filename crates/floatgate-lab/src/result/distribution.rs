//! Distributions of latencies at full resolution, by kind of request and by cause.

use floatgate_ftl::nand::Component;
use schemars::JsonSchema;
use serde::Serialize;

use crate::metrics::{Distributions, Latencies, Times};

/// Distribution of the response times of one kind of request, or of the time that they spent on one
/// cause, at full resolution: a histogram of three significant digits with every bucket that is not
/// empty.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Distribution {
    /// Kind of requests: "read", "write", or "all" for both.
    pub operation: &'static str,
    /// Cause of the time: an entry of `latency.blame_us` such as "gc", or "response" for the whole
    /// response time.
    pub cause: &'static str,
    /// Number of requests.
    pub requests: u64,
    /// Requests that spent no time on the cause; no bucket counts them.
    pub none: u64,
    /// Mean over all of the requests in microseconds, exact.
    pub mean_us: Option<f64>,
    /// The longest time in each bucket in nanoseconds, rising. Times in a bucket are longer than
    /// the previous entry, and shorter than the bucket's own entry by at most 0.1 %.
    pub ns: Vec<u64>,
    /// Number of requests in each bucket.
    pub counts: Vec<u64>,
}

impl Distribution {
    /// Returns all distributions: for each kind of request the response times, then each cause.
    pub(super) fn all(kept: &Distributions) -> Vec<Self> {
        let of = |(operation, times): (_, Times)| {
            let components = Component::NAMES.into_iter().zip(&times.components);
            let every = [("response", &times.response)].into_iter().chain(components);
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
