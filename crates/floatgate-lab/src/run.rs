//! A simulation: the start state, then the workload, then the result.

#[cfg(unix)]
mod aged;
mod control;
mod lookahead;
mod measure;
mod played;
mod sampled;
mod start;
mod start_cache;

use std::time::Instant;

use floatgate_ftl::device::Device;
use floatgate_ftl::future::FutureKnowledge;
use floatgate_ftl::queue::Arrivals;

use crate::config::{Config, Resolution};
use crate::drive::{ExternalPolicies, Plan, build, build_guided};
use crate::jobs::JobSet;
use crate::metrics::Metrics;
use crate::result::{Facts, JobResult, RunResult, StartResult, Subject};
use crate::warnings::{DriveKind, notes, warnings};
use crate::workload::Workload;

#[cfg(unix)]
pub use aged::{AgedError, New, aged, create_aged};
pub use control::{Control, RunError};
pub(crate) use measure::Measured;
use played::Played;
pub(crate) use start::reach;
pub(crate) use start::start;
pub use start_cache::StartCache;

/// Maximum requests in a batch. After each batch the run counts its progress and can be cancelled.
const BATCH: usize = 1024;

/// Options of a run, in addition to the config.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Bytes that the workload spans.
    pub span_bytes: u64,
    /// Seed of the start state.
    pub seed: u64,
    /// Whether every operation is compared with a model of the drive.
    pub verify: bool,
    /// Cache of start states; none if each run reaches its start state anew.
    pub start_cache: Option<StartCache<'a>>,
}

/// Runs a workload on a drive. If the requests have no times, their arrivals are closed, whatever
/// the config states. The result has the config with this change.
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

/// Runs a workload with external policies, if there are any. An external policy reports its errors
/// itself, and ends the run through `control`.
///
/// # Errors
/// As [`run`].
pub fn run_with(
    config: &Config,
    policies: Option<Box<dyn ExternalPolicies>>,
    workload: &mut dyn Workload,
    facts: Facts,
    options: Options<'_>,
    control: &Control,
) -> Result<RunResult, RunError> {
    simulate(config, policies, Played::Stream(workload), facts, options, control)
}

/// Runs jobs, which are closed loops, with external policies if there are any.
///
/// # Errors
/// The same as [`run`]; also placement handles that the drive does not have, options that need a
/// clock on a drive without one, and a policy that needs future requests whose order depends on the
/// drive.
pub fn run_jobs(
    config: &Config,
    policies: Option<Box<dyn ExternalPolicies>>,
    set: &JobSet,
    facts: Facts,
    options: Options<'_>,
    control: &Control,
) -> Result<RunResult, RunError> {
    simulate(config, policies, Played::Jobs(set), facts, options, control)
}

fn simulate(
    config: &Config,
    policies: Option<Box<dyn ExternalPolicies>>,
    mut played: Played<'_>,
    facts: Facts,
    options: Options<'_>,
    control: &Control,
) -> Result<RunResult, RunError> {
    config.check()?;
    let mut config = config.clone();
    if played.summary().closed {
        config.queue.arrivals.0 = Arrivals::Closed;
    }
    let config = &config;
    let plan = Plan::new(config, options.span_bytes)?;
    let known = played.future_knowledge(config, &plan, control)?;
    let built = &played.drive_config(config, &plan);
    let mut device = match policies {
        None => build(built, &plan, options.seed, options.verify)?,
        Some(policies) => build_guided(built, &plan, options.seed, options.verify, policies)?,
    };
    let (start, note) = prepare(config, &plan, device.as_mut(), known, &options, control)?;
    let begin = Instant::now();
    let empty = metrics(config, &plan);
    let (measured, by_job) = played.measure(empty, device.as_mut(), (config, &plan), control)?;
    let wall_seconds = begin.elapsed().as_secs_f64();
    // The digest of a recording that is read during the run is complete only now.
    let kind = DriveKind::Run { can_shrink: facts.can_shrink };
    let facts = Facts { digest: format!("{:016x}", played.summary().digest), ..facts };
    let subject = Subject { config, plan: &plan, device: device.as_ref(), facts, start };
    let mut result = RunResult::new(&subject, &measured, options.seed, wall_seconds);
    if let Played::Jobs(set) = played {
        result.jobs = JobResult::all(set, &by_job, &result);
    }
    result.warnings = warnings(&result, kind);
    result.notes.extend(played.notes(config, &plan));
    result.notes.extend(notes(&result));
    result.notes.extend(note);
    Ok(result)
}

pub(crate) fn metrics(config: &Config, plan: &Plan) -> Metrics {
    let (pages, log2_page) = (plan.geometry.logical_pages(), plan.geometry.log2_page_bytes());
    let mut metrics = Metrics::new(pages, log2_page, plan.is_timed);
    let is_full = config.latency.distribution == Resolution::Full;
    metrics.distributions = is_full.then(Box::default);
    metrics
}

/// Brings a drive to its start state with all counters at zero. With a cache, also returns a note
/// on its use.
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
