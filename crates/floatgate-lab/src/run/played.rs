//! The input of a run: a stream of requests, or jobs.

use floatgate_ftl::device::Paced;
use floatgate_ftl::future::FutureKnowledge;
use floatgate_ftl::queue::Arrivals;

use super::lookahead::{future_knowledge, needs_future};
use super::measure::{measure, measure_in_turns, measure_on_clock};
use super::{Control, RunError};
use crate::config::{Config, ConfigError};
use crate::drive::Plan;
use crate::jobs::{JobSet, Turns};
use crate::metrics::{JobMetrics, Metrics};
use crate::workload::{Summary, Workload};

/// Requests of a run.
pub(super) enum Played<'a> {
    /// Requests in a fixed order.
    Stream(&'a mut dyn Workload),
    /// Closed loops, whose order depends on the drive if it has a clock.
    Jobs(&'a JobSet),
}

impl Played<'_> {
    /// Returns the facts on the requests.
    pub(super) fn summary(&self) -> Summary {
        match self {
            Self::Stream(workload) => workload.summary(),
            Self::Jobs(set) => set.summary(),
        }
    }

    /// Returns the config from which the drive is built. Jobs send each request at its time, so
    /// their drive takes requests at the times of the requests.
    pub(super) fn drive_config(&self, config: &Config, plan: &Plan) -> Config {
        let mut built = config.clone();
        if matches!(self, Self::Jobs(_)) && plan.is_timed {
            built.queue.arrivals.0 = Arrivals::Open;
        }
        built
    }

    /// Collects the knowledge of the future that the policies of a config need. Checks that the
    /// drive can play the requests.
    pub(super) fn future_knowledge(
        &self,
        config: &Config,
        plan: &Plan,
        control: &Control,
    ) -> Result<FutureKnowledge, RunError> {
        let set = match self {
            Self::Stream(workload) => return future_knowledge(config, plan, *workload, control),
            Self::Jobs(set) => set,
        };
        let handles = set.handles_of(config)?;
        if !plan.is_timed {
            set.check_untimed()?;
            return future_knowledge(config, plan, &Turns::new(set, handles)?, control);
        }
        match set.fixed_order(handles) {
            Some(order) => future_knowledge(config, plan, &order, control),
            None if needs_future(config) => Err(unordered(config).into()),
            None => Ok(FutureKnowledge::default()),
        }
    }

    /// Plays the requests. Returns the measurements of the run and of each job.
    pub(super) fn measure(
        &mut self,
        metrics: Metrics,
        device: &mut dyn Paced,
        (config, plan): (&Config, &Plan),
        control: &Control,
    ) -> Result<(Metrics, Vec<JobMetrics>), RunError> {
        let set = match self {
            Self::Stream(workload) => {
                let measured = measure(metrics, device, *workload, control)?;
                return Ok((measured, Vec::new()));
            }
            Self::Jobs(set) => set,
        };
        let handles = set.handles_of(config)?;
        match plan.is_timed {
            true => measure_on_clock(metrics, device, (set, handles), control),
            false => measure_in_turns(metrics, device, Turns::new(set, handles)?, control),
        }
    }

    /// Returns notes on the jobs and the queue of the drive.
    pub(super) fn notes(&self, config: &Config, plan: &Plan) -> Vec<String> {
        let Self::Jobs(set) = self else { return Vec::new() };
        let (depth, places) = (set.depth(), config.queue.depth * config.queue.queues);
        if !plan.is_timed {
            let text = "the drive has no clock: outstanding requests of the jobs take turns";
            return vec![text.to_owned()];
        }
        let text = format!(
            "the jobs keep up to {depth} requests outstanding, and the drive takes {places} at a \
             time (queue.depth): the others wait, as the component `queue` of the latency"
        );
        if depth > u64::from(places) { vec![text] } else { Vec::new() }
    }
}

fn unordered(config: &Config) -> ConfigError {
    let policies = config.offline_policies().map(|(key, name)| format!("{key} = \"{name}\""));
    let policies: Vec<String> = policies.collect();
    ConfigError::new(format!(
        "{}: the order of the requests of these jobs depends on the drive; expected another \
         policy, timing = \"none\", or one job that only its size ends",
        policies.join(", ")
    ))
}
