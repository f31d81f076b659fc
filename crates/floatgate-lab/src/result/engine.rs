//! What the simulation itself took.

use floatgate_ftl::device::Counters;
use schemars::JsonSchema;
use serde::Serialize;

use crate::metrics::programs;

/// What the simulation itself took; the only part that differs when it is repeated.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct EngineResult {
    /// Version of the engine.
    pub version: &'static str,
    /// Seconds of real time.
    pub wall_seconds: f64,
    /// Requests per second of real time.
    pub host_requests_per_second: f64,
    /// Host page writes per second of real time.
    pub page_writes_per_second: f64,
    /// Flash programs, whatever the cause, per second of real time.
    pub page_programs_per_second: f64,
    /// Most memory that the process has had, in bytes; absent where the system does not say.
    pub peak_rss_bytes: Option<u64>,
}

impl EngineResult {
    pub(super) fn new(counters: &Counters, wall_seconds: f64) -> Self {
        let per_second = |n: u64| n as f64 / wall_seconds.max(1e-9);
        Self {
            version: env!("CARGO_PKG_VERSION"),
            wall_seconds,
            host_requests_per_second: per_second(counters.host.requests.iter().sum()),
            page_writes_per_second: per_second(counters.host.write_pages),
            page_programs_per_second: per_second(programs(counters)),
            peak_rss_bytes: peak_rss_bytes(),
        }
    }
}

/// The process's largest resident set so far; absent where the system does not say.
fn peak_rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}
