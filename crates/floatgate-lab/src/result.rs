//! The result of a run: every number with its unit, declared once.
//!
//! These structs are the document that `--json` prints. Its JSON Schema ([`schema()`]) comes from
//! them, and the classes of the Python front come from that schema: a field that is added here,
//! with a line that says its unit, is everywhere.
//!
//! Times are of the simulated clock if nothing else is said, pages are flash pages. A number is
//! absent (`null`) where it does not exist: the write amplification of a run that wrote nothing.

mod amplification;
mod distribution;
mod drive;
mod engine;
mod flash;
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
pub use lanes::{ChannelsResult, DiesResult};
pub use latency::{BlameTimes, LatencyResult, ThroughputResult};
pub use policies::{BufferResult, HostResult, MappingResult, PlacementResult, StreamPages};
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

/// What is known of a run beforehand, and is told in its result.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// What the config is called: a preset's name or a path.
    pub device: String,
    /// Name of the trace, or the generator's text.
    pub name: String,
    /// Digest of the requests. A run fills it in: it may be known at the end only.
    pub digest: String,
    /// Lines of the trace that could not be read.
    pub skipped: u64,
    /// What was guessed, left out or changed when the trace was read.
    pub notes: Vec<String>,
}

/// A drive that has run, and what it was asked to do.
pub struct Subject<'a> {
    /// Its config.
    pub config: &'a Config,
    /// Its size.
    pub plan: &'a Plan,
    /// The drive.
    pub device: &'a dyn Device,
    /// The workload, and what the drive is called.
    pub facts: Facts,
    /// The start state.
    pub start: StartResult,
}

/// One simulation: what was run, and what came of it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Result")]
pub struct RunResult {
    /// Version of Floatgate.
    pub floatgate: &'static str,
    /// The preset's name or the path that the config is from; "config" where it was a dict.
    pub device: String,
    /// The resolved config, defaults included, as nested tables; `floatgate schema` says what is
    /// in them.
    #[schemars(with = "Map<String, Value>")]
    pub config: Config,
    /// What all that is random came from.
    pub seed: u64,
    /// What the host asked for.
    pub workload: WorkloadResult,
    /// The drive that was simulated.
    pub drive: DriveResult,
    /// What its flash is used for.
    pub space: SpaceResult,
    /// The state of the drive before the workload, and how it was reached.
    pub start: StartResult,
    /// Bytes programmed to the flash per byte that the host wrote (JEDEC, NVMe, OCP); at least 1
    /// without a write buffer.
    pub write_amplification: Option<f64>,
    /// Write amplification of the last quarter of the bytes that the host wrote; absent if the run
    /// is too short for quarters. Where it differs from `write_amplification`, the drive was not in
    /// its steady state, and this is the nearer to it.
    pub write_amplification_last_quarter: Option<f64>,
    /// Write amplification by cause; the parts sum to it.
    pub amplification: AmplificationResult,
    /// Pages programmed per page that the host's writes touched, as papers count: pages of the map,
    /// of `drive.page_bytes`.
    pub page_write_amplification: Option<f64>,
    /// Pages programmed per page that the host's writes touched, without translation pages and
    /// parity, as closed forms count.
    pub data_write_amplification: Option<f64>,
    /// Operations of the flash.
    pub flash: FlashResult,
    /// The cache of the map.
    pub mapping: MappingResult,
    /// Merges of log blocks.
    pub merges: MergesResult,
    /// The write buffer.
    pub buffer: BufferResult,
    /// The SLC cache.
    pub slc: SlcResult,
    /// Which data shared erase units.
    pub placement: PlacementResult,
    /// The layer above the drive.
    pub host: HostResult,
    /// Response times.
    pub latency: LatencyResult,
    /// Response times and what they went into at full resolution, by kind of request and by cause;
    /// empty without `latency.distribution = "full"`.
    pub distributions: Vec<Distribution>,
    /// How fast the drive was.
    pub throughput: ThroughputResult,
    /// What the dies did.
    pub dies: DiesResult,
    /// What the channels did.
    pub channels: ChannelsResult,
    /// All that dies and channels did in a window of time, if one was asked for (`lanes.window`).
    pub lanes: LanesResult,
    /// Erase units cleaned, by occasion.
    pub cleaning: CleaningResult,
    /// Erases per erase unit.
    pub wear: WearResult,
    /// How long the flash lasts if the host goes on as in this run.
    pub lifetime: LifetimeResult,
    /// How things changed over the run, an entry per window.
    pub timeline: Timeline,
    /// Why the numbers might not mean what they seem to.
    pub warnings: Vec<String>,
    /// What was guessed, left out or changed on the way in, and how the numbers came about.
    pub notes: Vec<String>,
    /// What broke, on flash that breaks (`[faults]`).
    pub faults: FaultsResult,
    /// What the simulation itself took; the only part that differs when it is repeated.
    pub engine: EngineResult,
}

impl RunResult {
    /// Collects the numbers, and asserts the conservation laws on them. The notes are those on the
    /// workload, and there are no warnings: what is to be doubted is found in the result.
    pub fn new(subject: &Subject<'_>, metrics: &Metrics, seed: u64, wall_seconds: f64) -> Self {
        let readings = Readings::of(subject.device);
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
