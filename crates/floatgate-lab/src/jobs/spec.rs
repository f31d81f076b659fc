//! Description of jobs, with all numbers resolved.
//!
//! Python reads job files and writes this description as JSON. The lab checks only what would break
//! its own assumptions: the reader of a job file reports mistakes with file and line.

use serde::Deserialize;

use super::sizes::Sizes;
use crate::config::ConfigError;

/// Most jobs of a set.
const JOBS_MAX: usize = 4096;
/// Most requests that a job keeps outstanding.
const DEPTH_MAX: u32 = 65_536;

/// Kind of data requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    Read,
    Write,
    Trim,
}

/// All jobs.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SetSpec {
    pub jobs: Vec<JobSpec>,
}

/// One job: a closed loop of requests.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JobSpec {
    pub name: String,
    /// Number among the clones of the name.
    pub clone: u32,
    /// The jobs of a phase start when all jobs of the earlier phases have ended.
    pub phase: u32,
    /// Group of `ends_group`.
    pub group: u32,
    /// Indices of jobs that must have ended before.
    pub waits_for: Vec<usize>,
    /// First byte of the region.
    pub offset: u64,
    /// Bytes of the region.
    pub size: u64,
    pub random: bool,
    /// One kind of requests, or two.
    pub directions: Vec<DirectionSpec>,
    /// Percentage of the first of two kinds.
    pub read_percent: u64,
    pub distribution: DistributionSpec,
    /// Whether a pass has every block once.
    pub each_once: bool,
    /// Whether every pass has the same random numbers.
    pub repeats: bool,
    /// Number mixed with the seed of the run.
    pub seed: Option<u64>,
    /// Requests outstanding.
    pub depth: u32,
    /// Number of outstanding requests at which a job with a full queue sends again.
    pub refill_at: u32,
    /// Bytes of a loop.
    pub io_bytes: u64,
    /// Whether passes follow one another until `io_bytes` are sent.
    pub continues: bool,
    pub loops: u64,
    /// Most requests of a loop.
    pub requests_max: Option<u64>,
    /// Bounds of the time from the start of the run to the first request.
    pub start_delay_ns: (u64, u64),
    /// Time from the first request that the figures of the job leave out.
    pub ramp_ns: u64,
    /// The job sends no request after this time.
    pub runtime_ns: Option<u64>,
    /// Whether only `runtime_ns` ends the job.
    pub time_based: bool,
    /// Whether all jobs of the group end with this one.
    pub ends_group: bool,
    /// Whether rated requests are a Poisson process.
    pub poisson: bool,
    /// Pause after `think_requests` requests have completed.
    pub think_ns: u64,
    pub think_requests: u64,
    /// Whether a rate does not catch up after a pause.
    pub rate_ignores_think: bool,
    /// Writes from one flush to the next.
    pub flush_every: Vec<u64>,
    pub flushes_at_end: bool,
    pub handles: Option<HandlesSpec>,
}

/// Requests of one kind.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DirectionSpec {
    pub op: Kind,
    pub sizes: SizesSpec,
    /// Random offsets are multiples of this.
    pub align: u64,
    /// Bytes between a request and the next one of a job in order.
    #[serde(default)]
    pub skip: u64,
    /// Percentage of random offsets of a random job.
    pub random_percent: u64,
    /// Most bytes per second.
    pub rate: Option<u64>,
    /// Pairs of a percentage of the requests and the size of a zone.
    pub zones: Vec<(f64, f64)>,
}

/// Sizes of requests.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SizesSpec {
    pub low: u64,
    pub high: u64,
    /// Sizes with percentages; empty for all multiples of `low`.
    pub split: Vec<(u64, f64)>,
    /// Whether all sizes from `low` to `high` occur.
    pub unaligned: bool,
}

/// Names of distributions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Shape {
    Uniform,
    Zipf,
    Pareto,
    Normal,
    /// Zones in per cent of the region.
    Zoned,
    /// Zones in bytes.
    ZonedAbs,
}

/// Distribution of random offsets.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DistributionSpec {
    pub kind: Shape,
    pub shape: f64,
    /// Position of the most popular block, 0 to 1; at random if absent.
    pub center: Option<f64>,
}

/// Placement handles of writes.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HandlesSpec {
    /// Option that asks for handles, for errors.
    pub option: String,
    /// Handles; empty for all handles of the drive.
    pub numbers: Vec<u16>,
    /// Whether each write draws its handle; otherwise the handles take turns.
    pub random: bool,
}

impl SetSpec {
    /// Parses a description.
    pub(super) fn parse(text: &str) -> Result<Self, ConfigError> {
        let parsed: Result<Self, _> = serde_json::from_str(text);
        let set = parsed.map_err(|error| ConfigError::new(format!("jobs: {error}")))?;
        if !(1..=JOBS_MAX).contains(&set.jobs.len()) {
            let text = format!("{} jobs: expected 1 to {JOBS_MAX}", set.jobs.len());
            return Err(ConfigError::new(text));
        }
        for (at, job) in set.jobs.iter().enumerate() {
            job.check(at, &set).map_err(|why| job.error(why))?;
        }
        Ok(set)
    }
}

impl JobSpec {
    /// Returns the number of requests, if it is known in advance. It is exact for a job without
    /// flushes whose requests have one size and all fit.
    pub(super) fn requests(&self) -> Option<u64> {
        let [first, rest @ ..] = &self.directions[..] else { return None };
        let mean = |direction: &DirectionSpec| Sizes::new(&direction.sizes).mean();
        let mean = rest.iter().fold(mean(first), |first, other| {
            let share = self.read_percent as f64 / 100.0;
            first * share + mean(other) * (1.0 - share)
        });
        let data = (self.io_bytes as f64 * self.loops as f64 / mean).ceil() as u64;
        let most = self.requests_max.map_or(u64::MAX, |most| most.saturating_mul(self.loops));
        let data = data.min(most);
        let flushes: u64 = self.flush_every.iter().map(|every| data / every).sum();
        (!self.time_based).then_some(data + flushes)
    }

    /// Returns how long the job sends at most, as far as its options bound it.
    pub(super) fn longest_ns(&self) -> u64 {
        let runtime = self.runtime_ns.unwrap_or(0);
        self.start_delay_ns.1.saturating_add(self.ramp_ns).saturating_add(runtime)
    }

    /// Returns the option that only a clock gives a meaning, if the job has one.
    pub(super) fn timed_option(&self) -> Option<&'static str> {
        let is_rated = self.directions.iter().any(|direction| direction.rate.is_some());
        let options = [
            (self.runtime_ns.is_some(), "runtime"),
            (self.start_delay_ns.1 > 0, "startdelay"),
            (self.ramp_ns > 0, "ramp_time"),
            (is_rated, "rate or rate_iops"),
            (self.think_ns > 0, "thinktime"),
        ];
        options.into_iter().find(|(holds, _)| *holds).map(|(_, option)| option)
    }

    /// Returns an error about this job.
    pub(super) fn error(&self, text: &str) -> ConfigError {
        ConfigError::new(format!("[{}] {text}", self.name))
    }

    fn check(&self, at: usize, set: &SetSpec) -> Result<(), &'static str> {
        let rules = [
            ((1..=2).contains(&self.directions.len()), "directions: expected one or two"),
            ((1..=DEPTH_MAX).contains(&self.depth), "depth: expected 1 to 65536"),
            (self.refill_at < self.depth, "refill_at: expected less than the depth"),
            (self.loops > 0 && self.io_bytes > 0, "loops and io_bytes: expected at least 1"),
            (self.requests_max != Some(0), "requests_max: expected at least 1"),
            (self.read_percent <= 100, "read_percent: expected at most 100"),
            (self.think_requests > 0, "think_requests: expected at least 1"),
            (self.flush_every.iter().all(|&every| every > 0), "flush_every: expected at least 1"),
            (self.offset.checked_add(self.size).is_some(), "offset + size: expected below 2^64"),
            (self.start_delay_ns.0 <= self.start_delay_ns.1, "start_delay_ns: expected a range"),
            (!self.time_based || self.runtime_ns.is_some(), "time_based: expected a runtime"),
            (self.waits_for.iter().all(|&other| other < at), "waits_for: expected earlier jobs"),
            (at == 0 || set.jobs[at - 1].phase <= self.phase, "phase: expected ascending phases"),
        ];
        if let Some((_, why)) = rules.iter().find(|(holds, _)| !holds) {
            return Err(why);
        }
        self.directions.iter().try_for_each(|direction| direction.check(self.size))
    }
}

impl DirectionSpec {
    fn check(&self, region: u64) -> Result<(), &'static str> {
        let SizesSpec { low, high, split, .. } = &self.sizes;
        let known = |&(size, share): &(u64, f64)| (*low..=*high).contains(&size) && share > 0.0;
        let zones = self.zones.iter().all(|&(share, size)| share >= 0.0 && size >= 0.0);
        let rules = [
            (*low > 0 && low <= high, "sizes: expected at least 1 byte, and the smallest first"),
            (*low <= region, "sizes: expected a region of at least one request"),
            (split.iter().all(known), "split: expected sizes of the range, with percentages"),
            (self.align > 0, "align: expected at least 1"),
            (self.random_percent <= 100, "random_percent: expected at most 100"),
            (self.rate != Some(0), "rate: expected at least 1"),
            (zones, "zones: expected percentages and sizes"),
        ];
        rules.iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, why)| Err(*why))
    }
}
