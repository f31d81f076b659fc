//! Results of single jobs.

use floatgate_ftl::nand::COMPONENTS;
use floatgate_ftl::request::Op;
use schemars::JsonSchema;
use serde::Serialize;

use super::{BlameTimes, RunResult};
use crate::config::Resolution;
use crate::jobs::JobSet;
use crate::metrics::{JobMetrics, Latencies};

/// One job of a job file, or one clone of it, from the end of its `ramp_time` on.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct JobResult {
    /// Name of the job.
    pub name: String,
    /// Number among the clones of the job (`numjobs`), from 0.
    pub clone: u32,
    /// Read requests.
    pub reads: u64,
    /// Write requests.
    pub writes: u64,
    /// Trim requests.
    pub trims: u64,
    /// Flush requests.
    pub flushes: u64,
    /// Bytes of the reads.
    pub read_bytes: u64,
    /// Bytes of the writes.
    pub write_bytes: u64,
    /// Bytes of the trims.
    pub trim_bytes: u64,
    /// Seconds of simulated time from the start of the run to the first request. This and the
    /// following rates are absent if time is not simulated, or without a request.
    pub start_s: Option<f64>,
    /// Seconds of simulated time from the first request to the last completion.
    pub seconds: Option<f64>,
    /// Reads, writes and trims per second.
    pub iops: Option<f64>,
    /// Read data in 10^6 bytes per second.
    pub read_mb_s: Option<f64>,
    /// Written data in 10^6 bytes per second.
    pub write_mb_s: Option<f64>,
    /// Trimmed data in 10^6 bytes per second.
    pub trim_mb_s: Option<f64>,
    /// Completion latencies of the reads.
    pub read: JobLatency,
    /// Completion latencies of the writes.
    pub write: JobLatency,
    /// Completion latencies of the trims.
    pub trim: JobLatency,
    /// Components of the mean completion latency of the reads and writes.
    pub blame_us: BlameTimes,
    /// Placement handles of the writes, if the job has `fdp` or `dataplacement`.
    pub handles: Vec<JobHandle>,
}

/// Completion latencies (`clat` of fio) of one kind of request in microseconds: from when the job
/// sends a request to its completion. Sending takes no time, so `clat` and `lat` of fio are equal
/// here. Values are absent if time is not simulated, or without such a request.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct JobLatency {
    /// Mean, exact.
    pub mean_us: Option<f64>,
    /// Standard deviation, exact.
    pub stdev_us: Option<f64>,
    /// Median; this and the other percentiles are within 0.1 %.
    pub p50_us: Option<f64>,
    /// 95th percentile.
    pub p95_us: Option<f64>,
    /// 99th percentile.
    pub p99_us: Option<f64>,
    /// 99.9th percentile.
    pub p999_us: Option<f64>,
    /// 99.99th percentile.
    pub p9999_us: Option<f64>,
    /// Maximum.
    pub max_us: Option<f64>,
    /// The longest time in each bucket of the histogram in nanoseconds, rising, as in
    /// `distributions`. Empty unless `latency.distribution` is "full".
    pub ns: Vec<u64>,
    /// Number of requests in each bucket.
    pub counts: Vec<u64>,
}

/// Writes of a job with one placement handle.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct JobHandle {
    /// Number of the handle.
    pub handle: u32,
    /// Bytes that the job wrote with this handle.
    pub write_bytes: u64,
    /// Write amplification of the handle's pages over all jobs with this handle, as in
    /// `placement.owners`. Absent without a write, and for a handle that the drive does not have.
    pub write_amplification: Option<f64>,
}

impl JobLatency {
    fn new(latencies: Option<&Latencies>, is_full: bool) -> Self {
        let Some(latencies) = latencies else { return Self::default() };
        let summary = latencies.summary();
        let (ns, counts) = latencies.buckets().take_while(|_| is_full).unzip();
        Self {
            mean_us: summary.mean_us,
            stdev_us: summary.stdev_us,
            p50_us: summary.p50_us,
            p95_us: summary.p95_us,
            p99_us: summary.p99_us,
            p999_us: summary.p999_us,
            p9999_us: summary.p9999_us,
            max_us: summary.max_us,
            ns,
            counts,
        }
    }
}

impl JobResult {
    /// Returns the results of all jobs of a run, whose other results are `result`.
    pub(crate) fn all(set: &JobSet, by_job: &[JobMetrics], result: &RunResult) -> Vec<Self> {
        let jobs = by_job.iter().enumerate();
        let is_full = result.config.latency.distribution == Resolution::Full;
        let new = |(at, metrics): (usize, &JobMetrics)| {
            let handles = if set.names_handles(at) { handles(metrics, result) } else { vec![] };
            Self { handles, ..Self::new(set.name_of(at), metrics, is_full) }
        };
        jobs.map(new).collect()
    }

    fn new((name, clone): (&str, u32), metrics: &JobMetrics, is_full: bool) -> Self {
        let [reads, writes, trims, flushes] = metrics.requests;
        let [read_bytes, write_bytes, trim_bytes, _] = metrics.bytes;
        let seconds = metrics.span_ns.map(|(begin, end)| (end - begin) as f64 / 1e9);
        let time = seconds.filter(|&seconds| seconds > 0.0);
        let rate = |count: u64| time.map(|seconds| count as f64 / seconds);
        let mb_s = |bytes: u64| rate(bytes).map(|rate| rate / 1e6);
        let latency = |op| JobLatency::new(metrics.latencies(op), is_full);
        Self {
            name: name.to_owned(),
            clone,
            reads,
            writes,
            trims,
            flushes,
            read_bytes,
            write_bytes,
            trim_bytes,
            start_s: metrics.span_ns.map(|(begin, _)| begin as f64 / 1e9),
            seconds,
            iops: rate(reads + writes + trims),
            read_mb_s: mb_s(read_bytes),
            write_mb_s: mb_s(write_bytes),
            trim_mb_s: mb_s(trim_bytes),
            read: latency(Op::Read),
            write: latency(Op::Write),
            trim: latency(Op::Trim),
            blame_us: blame(metrics),
            handles: Vec::new(),
        }
    }
}

fn blame(metrics: &JobMetrics) -> BlameTimes {
    let [reads, writes, ..] = metrics.requests;
    match metrics.span_ns {
        Some(_) => BlameTimes::new(metrics.blame_ns, reads + writes),
        None => BlameTimes::new([0; COMPONENTS], 0),
    }
}

/// Returns the handles of a job with placement handles.
fn handles(metrics: &JobMetrics, result: &RunResult) -> Vec<JobHandle> {
    let of = |&(handle, write_bytes): &(u16, u64)| JobHandle {
        handle: handle.into(),
        write_bytes,
        write_amplification: amplification_of(handle, result),
    };
    metrics.handles.iter().map(of).collect()
}

/// Returns the write amplification of a placement handle, if the drive has the handle.
fn amplification_of(handle: u16, result: &RunResult) -> Option<f64> {
    let owners = (result.config.placement.scheme == "host").then_some(&result.placement.owners)?;
    owners.get(usize::from(handle))?.write_amplification
}
