//! Requests that begin where the previous request ended.

use floatgate_ftl::request::Request;
use hdrhistogram::Histogram;
use serde_json::{Value, json};

/// Decimal digits that quantiles keep.
const DIGITS: u8 = 3;

/// Runs of consecutive requests, within one kind of request.
#[derive(Debug)]
pub(super) struct Runs {
    requests: u64,
    bytes: u64,
    continuing_requests: u64,
    continuing_bytes: u64,
    /// Bytes of the completed runs.
    ended: Histogram<u64>,
    longest: u64,
    /// End address of the current run.
    end: u64,
    run_bytes: u64,
}

impl Runs {
    pub fn new() -> Self {
        Self {
            requests: 0,
            bytes: 0,
            continuing_requests: 0,
            continuing_bytes: 0,
            ended: Histogram::new(DIGITS).expect("three digits are possible"),
            longest: 0,
            end: 0,
            run_bytes: 0,
        }
    }

    pub fn take(&mut self, request: &Request) {
        if self.run_bytes > 0 && request.offset == self.end {
            self.continuing_requests += 1;
            self.continuing_bytes += request.length;
        } else {
            self.finish();
        }
        self.requests += 1;
        self.bytes += request.length;
        self.run_bytes += request.length;
        self.end = request.offset + request.length;
    }

    /// Ends the current run.
    pub fn finish(&mut self) {
        if self.run_bytes > 0 {
            self.longest = self.longest.max(self.run_bytes);
            self.ended.record(self.run_bytes).expect("it grows as needed");
        }
        self.run_bytes = 0;
    }

    pub fn document(&self) -> Value {
        let runs = self.ended.len();
        let ratio = |of: u64, whole: u64| (whole > 0).then(|| of as f64 / whole as f64);
        let bytes = |quantile| {
            let found = self.ended.value_at_quantile(quantile);
            (runs > 0).then(|| self.ended.lowest_equivalent(found))
        };
        json!({
            "requests": self.requests,
            "bytes": self.bytes,
            "continuing_requests_share": ratio(self.continuing_requests, self.requests),
            "continuing_bytes_share": ratio(self.continuing_bytes, self.bytes),
            "runs": runs,
            "run_requests_mean": ratio(self.requests, runs),
            "run_bytes_mean": ratio(self.bytes, runs),
            "run_bytes_p50": bytes(0.5),
            "run_bytes_p90": bytes(0.9),
            "run_bytes_p99": bytes(0.99),
            "run_bytes_max": (runs > 0).then_some(self.longest),
        })
    }
}
