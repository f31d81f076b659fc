//! Response times, their components, and throughput.

use floatgate_ftl::device::Counters;
use floatgate_ftl::nand::{COMPONENTS, Component};
use schemars::JsonSchema;
use serde::Serialize;

use crate::drive::Plan;
use crate::metrics::{LatencySummary, Metrics};

/// Response times in microseconds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LatencyResult {
    /// Reads and writes together.
    pub all: LatencySummary,
    /// Reads.
    pub read: LatencySummary,
    /// Writes.
    pub write: LatencySummary,
    /// Components of the mean response time of all requests.
    pub blame_us: BlameTimes,
}

impl LatencyResult {
    pub(super) fn new(metrics: &Metrics) -> Self {
        Self {
            all: metrics.all.summary(),
            read: metrics.read.summary(),
            write: metrics.write.summary(),
            blame_us: BlameTimes::new(metrics.blame_ns, metrics.all.timed()),
        }
    }
}

/// Mean microseconds of a request by cause of the wait; the components sum to the mean latency.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BlameTimes {
    /// Waiting for the command queue.
    pub queue: Option<f64>,
    /// Reading and writing translation pages.
    pub map: Option<f64>,
    /// Waiting for flash busy with cleaning.
    pub gc: Option<f64>,
    /// Transfers of the request itself, and waiting for transfers of other requests.
    pub bus: Option<f64>,
    /// Flash operations of the request itself and of other host requests.
    pub die: Option<f64>,
    /// Merges of log blocks.
    pub merge: Option<f64>,
    /// Waiting for the write buffer, and copying to and from it.
    pub buffer: Option<f64>,
    /// Remapping commanded by the host.
    pub remap: Option<f64>,
    /// Waiting for the controller's cores, and their work.
    pub controller: Option<f64>,
    /// Waiting for the host's link, and transfers on it.
    pub link: Option<f64>,
}

impl BlameTimes {
    /// Returns the mean of each component over `count` requests, from sums by [`Component`].
    pub(super) fn new(blame_ns: [u128; COMPONENTS], count: u64) -> Self {
        let mean = |component: Component| {
            (count > 0).then(|| blame_ns[component as usize] as f64 / count as f64 / 1000.0)
        };
        Self {
            queue: mean(Component::Queue),
            map: mean(Component::Map),
            gc: mean(Component::Gc),
            bus: mean(Component::Bus),
            die: mean(Component::Die),
            merge: mean(Component::Merge),
            buffer: mean(Component::Buffer),
            remap: mean(Component::Remap),
            controller: mean(Component::Controller),
            link: mean(Component::Link),
        }
    }
}

/// Speed of the drive.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ThroughputResult {
    /// Reads and writes per second of simulated time.
    pub iops: Option<f64>,
    /// Megabytes (10^6 bytes) read per second of simulated time.
    pub read_mb_s: Option<f64>,
    /// Megabytes (10^6 bytes) written per second of simulated time.
    pub write_mb_s: Option<f64>,
    /// Simulated seconds, from the first arrival to the last completion; absent if time is not
    /// simulated.
    pub device_seconds: Option<f64>,
    /// Share of the time in which a die was busy, 0 to 1, as a mean over the dies.
    pub utilization: Option<f64>,
}

impl ThroughputResult {
    pub(super) fn new(metrics: &Metrics, counters: &Counters, plan: &Plan) -> Self {
        let seconds = metrics.seconds();
        let per_second =
            |n: f64| seconds.filter(|&seconds| seconds > 0.0).map(|seconds| n / seconds);
        let shape = plan.geometry.shape();
        let dies = f64::from(shape.channels * shape.dies);
        Self {
            iops: per_second(metrics.all.count() as f64),
            read_mb_s: per_second(counters.host.read_bytes as f64 / 1e6),
            write_mb_s: per_second(counters.host.write_bytes as f64 / 1e6),
            device_seconds: seconds,
            utilization: per_second(counters.occupation.busy_ns as f64 / 1e9 / dies),
        }
    }
}
