//! Cost of the simulation itself.

use floatgate_ftl::device::Counters;
use schemars::JsonSchema;
use serde::Serialize;

use crate::metrics::programs;

/// Cost of the simulation itself; the only section that differs when the run is repeated.
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
    /// Flash programs of all causes per second of real time.
    pub page_programs_per_second: f64,
    /// Peak memory of the process in bytes; absent if the operating system does not report it.
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

/// Peak resident set of the process so far in bytes; absent if the system does not report it.
fn peak_rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}
