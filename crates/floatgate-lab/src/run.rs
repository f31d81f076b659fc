//! One simulation: the start state, then the workload, then the result.

#[cfg(unix)]
mod aged;
mod control;
mod kept;
mod lookahead;
mod measure;
mod start;

use floatgate_ftl::device::Device;
use floatgate_ftl::future::FutureKnowledge;
use floatgate_ftl::queue::Arrivals;

use crate::config::{Config, Resolution};
use crate::drive::{Guests, Plan, build, build_guided};
use crate::metrics::Metrics;
use crate::result::{Facts, RunResult, StartResult, Subject};
use crate::warnings::{Of, notes, warnings};
use crate::workload::Workload;

#[cfg(unix)]
pub use aged::{AgedError, New, aged, create_aged};
pub use control::{Control, RunError};
pub use kept::StartCache;
use lookahead::future_knowledge;
pub(crate) use measure::Measured;
use measure::measure;
pub(crate) use start::reach;
pub(crate) use start::start;

/// Requests that are handed to the drive at once: enough to look ahead in.
const BATCH: usize = 1024;

/// How a run is done, beside the config.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Bytes that the workload spans.
    pub span_bytes: u64,
    /// Seed of the start state.
    pub seed: u64,
    /// Whether every operation is held against a model of the drive.
    pub verify: bool,
    /// Where start states are kept, and taken from; none if they are to be reached anew.
    pub start_cache: Option<StartCache<'a>>,
}

/// Runs a workload on a drive. If its requests have no times, the queue is closed whatever the
/// config says; the result has the config as it was in force.
///
/// # Errors
/// A config that gives no drive for this workload, a cancelled run, or a workload that cannot be
/// read.
pub fn run(
    config: &Config,
    workload: &mut dyn Workload,
    facts: Facts,
    options: Options<'_>,
    control: &Control,
) -> Result<RunResult, RunError> {
    run_with(config, None, workload, facts, options, control)
}

/// The same with policies that are in no table, if there are any. What they do wrong is theirs to
/// tell: they end the run by its control.
///
/// # Errors
/// As [`run`].
pub fn run_with(
    config: &Config,
    guests: Option<Box<dyn Guests>>,
    workload: &mut dyn Workload,
    facts: Facts,
    options: Options<'_>,
    control: &Control,
) -> Result<RunResult, RunError> {
    config.check()?;
    let mut config = config.clone();
    if workload.summary().closed {
        config.queue.arrivals.0 = Arrivals::Closed;
    }
    let config = &config;
    let plan = Plan::new(config, options.span_bytes)?;
    let known = future_knowledge(config, &plan, workload, control)?;
    let mut device = match guests {
        None => build(config, &plan, options.seed, options.verify)?,
        Some(guests) => build_guided(config, &plan, options.seed, options.verify, guests)?,
    };
    let (start, note) = prepare(config, &plan, device.as_mut(), known, &options, control)?;
    let (measured, wall_seconds) =
        measure(metrics(config, &plan), device.as_mut(), workload, control)?;
    // Of a recording that is read as it is played, it is known only now.
    let facts = Facts { digest: format!("{:016x}", workload.summary().digest), ..facts };
    let subject = Subject { config, plan: &plan, device: device.as_ref(), facts, start };
    let mut result = RunResult::new(&subject, &measured, options.seed, wall_seconds);
    result.warnings = warnings(&result, Of::Run);
    result.notes.extend(notes(&result, Of::Run));
    result.notes.extend(note);
    Ok(result)
}

/// What is to be measured on a drive.
pub(crate) fn metrics(config: &Config, plan: &Plan) -> Metrics {
    let (pages, log2_page) = (plan.geometry.logical_pages(), plan.geometry.log2_page_bytes());
    let mut metrics = Metrics::new(pages, log2_page, plan.is_timed);
    let is_full = config.latency.distribution == Resolution::Full;
    metrics.distributions = is_full.then(Box::default);
    metrics
}

/// Brings a drive to its start state, of which nothing is counted; with a cache, what became of it.
fn prepare(
    config: &Config,
    plan: &Plan,
    device: &mut dyn Device,
    known: FutureKnowledge,
    options: &Options<'_>,
    control: &Control,
) -> Result<(StartResult, Option<String>), RunError> {
    let reached = match options.start_cache {
        Some(cache) => cache.reach(config, plan, device, options.seed, control)?,
        None => (reach(config, plan, device, options.seed, control)?, None),
    };
    device.set_future(known);
    config.recording().into_iter().for_each(|recording| device.record(recording));
    Ok(reached)
}

#[cfg(test)]
mod tests;
