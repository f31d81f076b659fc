//! The result of a run: every number with its unit, declared once.
//!
//! `--json` prints these structs. Their JSON Schema ([`schema()`]) is generated from them, and the
//! Python classes from that schema. A new field with a line that states its unit is therefore
//! available everywhere.
//!
//! Times are on the simulated clock unless stated otherwise; pages are flash pages. A number that
//! does not exist is absent (`null`), such as the write amplification of a run that wrote nothing.

mod amplification;
mod distribution;
mod drive;
mod engine;
mod flash;
mod jobs;
mod lanes;
mod latency;
mod laws;
mod policies;
mod quarters;
mod readings;
mod schema;
mod slc;
mod space;
mod wear;
mod window;

use floatgate_ftl::device::{Counters, Device};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

pub use crate::metrics::{LatencySummary, Timeline};
pub use amplification::AmplificationResult;
pub use distribution::Distribution;
pub use drive::{DriveResult, StartResult, WorkloadResult};
pub use engine::EngineResult;
pub use flash::{CauseCounts, CleaningResult, FaultsResult, FlashResult, MergesResult};
pub use jobs::{JobHandle, JobLatency, JobResult};
pub use lanes::{ChannelsResult, DiesResult};
pub use latency::{BlameTimes, LatencyResult, ThroughputResult};
pub use policies::{
    BufferResult, HostResult, MappingResult, OwnerPages, PlacementResult, StreamPages,
};
pub use quarters::quarters;
pub use schema::schema;
pub use slc::SlcResult;
pub use space::SpaceResult;
pub use wear::{LifetimeResult, WearMap, WearResult};
pub use window::{LanesResult, LookedAtResult, SpansResult};

use crate::config::Config;
use crate::drive::Plan;
use crate::metrics::{Metrics, amplification, ratio};
use laws::assert_conserved;
use readings::Readings;

/// Facts about a run that are known beforehand and appear in its result.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Name of the config: a preset's name or a path.
    pub device: String,
    /// Name of the trace, or the generator's text.
    pub name: String,
    /// Digest of the requests. The run fills it in, because it may be known only at the end.
    pub digest: String,
    /// Lines of the trace that could not be read.
    pub skipped: u64,
    /// Guesses, omissions and changes made while the trace was read.
    pub notes: Vec<String>,
    /// Whether the caller could make the erase units smaller.
    pub can_shrink: bool,
}

/// A drive that has run, with its config and its workload.
pub struct Subject<'a> {
    /// Its config.
    pub config: &'a Config,
    /// Its size.
    pub plan: &'a Plan,
    /// The drive.
    pub device: &'a dyn Device,
    /// Names of the workload and of the drive, and notes on the trace.
    pub facts: Facts,
    /// The start state.
    pub start: StartResult,
}

/// One simulation: the run and its numbers.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Result")]
pub struct RunResult {
    /// Version of Floatgate.
    pub floatgate: &'static str,
    /// The preset's name, or the path of the config; "config" for a config from a dict.
    pub device: String,
    /// The resolved config, defaults included, as nested tables; `floatgate schema` describes its
    /// keys.
    #[schemars(with = "Map<String, Value>")]
    pub config: Config,
    /// Seed of all random choices of the run.
    pub seed: u64,
    /// Requests of the host.
    pub workload: WorkloadResult,
    /// The simulated drive.
    pub drive: DriveResult,
    /// Use of the drive's flash.
    pub space: SpaceResult,
    /// The state of the drive before the workload, and how it was reached.
    pub start: StartResult,
    /// Bytes programmed to the flash per byte that the host wrote (JEDEC, NVMe, OCP); at least 1
    /// without a write buffer.
    pub write_amplification: Option<f64>,
    /// Write amplification of the last quarter of the bytes that the host wrote; absent if the run
    /// is too short for quarters. If it differs from `write_amplification`, the drive was not in
    /// its steady state, and this value is closer to the steady state.
    pub write_amplification_last_quarter: Option<f64>,
    /// Write amplification by cause; the components sum to the whole.
    pub amplification: AmplificationResult,
    /// Pages programmed per page that the host's writes touched, as papers count. Pages are map
    /// units, of `drive.page_bytes`.
    pub page_write_amplification: Option<f64>,
    /// Pages programmed per page that the host's writes touched, without translation pages, journal
    /// and parity, as closed forms count.
    pub data_write_amplification: Option<f64>,
    /// Flash operations.
    pub flash: FlashResult,
    /// The cache of the map.
    pub mapping: MappingResult,
    /// Merges of log blocks.
    pub merges: MergesResult,
    /// The write buffer.
    pub buffer: BufferResult,
    /// The SLC cache.
    pub slc: SlcResult,
    /// Placement: which data shared erase units.
    pub placement: PlacementResult,
    /// The host layer above the drive.
    pub host: HostResult,
    /// The jobs of a job file, in its order; empty for other workloads.
    pub jobs: Vec<JobResult>,
    /// Response times.
    pub latency: LatencyResult,
    /// Distributions of response times and of their components at full resolution, by kind of
    /// request and by cause; empty without `latency.distribution = "full"`.
    pub distributions: Vec<Distribution>,
    /// Speed of the drive.
    pub throughput: ThroughputResult,
    /// Use of the dies' time.
    pub dies: DiesResult,
    /// Use of the channels' time.
    pub channels: ChannelsResult,
    /// All activity of dies and channels in one window of time, if `lanes.window` asks for one.
    pub lanes: LanesResult,
    /// Victims cleaned, by occasion.
    pub cleaning: CleaningResult,
    /// Erases per erase unit.
    pub wear: WearResult,
    /// How long the flash lasts if the host continues as in this run.
    pub lifetime: LifetimeResult,
    /// Changes over the run, one entry per interval.
    pub timeline: Timeline,
    /// Reasons to doubt a number.
    pub warnings: Vec<String>,
    /// Guesses, omissions and changes made while the input was read, and notes on how the numbers
    /// were obtained.
    pub notes: Vec<String>,
    /// Failures of the flash, if it has faults (`[faults]`).
    pub faults: FaultsResult,
    /// Cost of the simulation itself; the only section that differs when the run is repeated.
    pub engine: EngineResult,
}

impl RunResult {
    /// Collects the numbers, and asserts the conservation laws on them. The notes are those on the
    /// workload. There are no warnings yet: a later step derives them from the result.
    pub fn new(subject: &Subject<'_>, metrics: &Metrics, seed: u64, wall_seconds: f64) -> Self {
        let readings = Readings::read(subject.device);
        let (counters, plan) = (&readings.counters, subject.plan);
        assert_conserved(counters, &readings.wear, plan);
        let (flash, host_pages) = (FlashResult::new(counters), counters.host.write_pages);
        let page_bytes = plan.geometry.shape().page_bytes;
        let programs = flash.programs.total();
        let data_programs = programs - flash.programs.of_map() - flash.programs.parity;
        Self {
            floatgate: env!("CARGO_PKG_VERSION"),
            device: subject.facts.device.clone(),
            config: subject.config.clone(),
            seed,
            workload: WorkloadResult::new(subject, metrics, counters),
            drive: DriveResult::new(plan),
            space: SpaceResult::new(plan),
            start: subject.start,
            write_amplification: amplification(&Counters::default(), counters, page_bytes),
            write_amplification_last_quarter: quarters(&metrics.timeline).map(|each| each[3]),
            amplification: AmplificationResult::new(&flash.programs, counters, page_bytes),
            page_write_amplification: ratio(programs, host_pages),
            data_write_amplification: ratio(data_programs, host_pages),
            flash,
            mapping: MappingResult::new(&readings),
            merges: MergesResult::new(counters),
            buffer: BufferResult::new(counters),
            slc: SlcResult::new(counters),
            placement: PlacementResult::new(&readings),
            host: HostResult::new(counters),
            jobs: Vec::new(),
            latency: LatencyResult::new(metrics),
            distributions: metrics.distributions.as_deref().map_or(vec![], Distribution::all),
            throughput: ThroughputResult::new(metrics, counters, plan),
            dies: DiesResult::new(counters),
            channels: ChannelsResult::new(counters),
            lanes: LanesResult::new(readings.recorded.as_ref()),
            cleaning: CleaningResult::new(counters, plan.geometry.pages_per_unit()),
            wear: WearResult::new(&readings, plan.geometry.pages_per_unit()),
            lifetime: LifetimeResult::new(subject, metrics, &readings),
            timeline: metrics.timeline.clone(),
            warnings: Vec::new(),
            notes: subject.facts.notes.clone(),
            faults: FaultsResult::new(counters),
            engine: EngineResult::new(counters, wall_seconds),
        }
    }
}

#[cfg(test)]
mod tests;
