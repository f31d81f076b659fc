//! Serving the workload, batch by batch.

use std::collections::VecDeque;
use std::sync::PoisonError;

use floatgate_ftl::device::{Device, Paced};
use floatgate_ftl::request::{Completion, Request};

use super::{BATCH, Control, RunError};
use crate::jobs::clocked::Playing;
use crate::jobs::{JobSet, Turns};
use crate::metrics::{JobMetrics, Metrics};
use crate::workload::{Feed, Workload};

/// Intervals of the timeline.
const INTERVALS: u64 = 256;

/// Measurements, and the requests that have begun but whose completion is not recorded yet.
pub(crate) struct Measured {
    metrics: Metrics,
    running: VecDeque<Request>,
    done: Vec<Completion>,
}

impl Measured {
    pub(crate) fn new(metrics: Metrics) -> Self {
        Self { metrics, running: VecDeque::new(), done: Vec::with_capacity(BATCH) }
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Begins the first `count` requests, and records the completed ones.
    pub(crate) fn run(&mut self, device: &mut dyn Device, requests: &[Request], count: usize) {
        self.running.extend(&requests[..count]);
        self.done.clear();
        device.run_ahead(requests, count, &mut self.done);
        for (request, completion) in self.running.drain(..self.done.len()).zip(&self.done) {
            self.metrics.record(&request, completion);
        }
    }
}

/// Serves jobs on a drive without a clock. Another thread makes the requests ahead of the drive.
/// Returns `metrics` with the measurements, and the metrics of each job.
pub(super) fn measure_in_turns(
    metrics: Metrics,
    device: &mut dyn Device,
    turns: Turns,
    control: &Control,
) -> Result<(Metrics, Vec<JobMetrics>), RunError> {
    let (counted, by_job) = turns.counted();
    let play = |requests: &mut dyn Workload| measure(metrics, device, requests, control);
    let metrics = Feed::ahead(Box::new(counted), play)?;
    let by_job = std::mem::take(&mut *by_job.lock().unwrap_or_else(PoisonError::into_inner));
    Ok((metrics, by_job))
}

/// Plays jobs on a drive with a clock. Returns `metrics` with the measurements, and the metrics of
/// each job.
pub(super) fn measure_on_clock(
    metrics: Metrics,
    device: &mut dyn Paced,
    (set, handles): (&JobSet, u16),
    control: &Control,
) -> Result<(Metrics, Vec<JobMetrics>), RunError> {
    control.begin("run", set.summary().requests);
    let measured =
        Playing::new(set, handles, metrics).play(device, |count| control.advance(count))?;
    device.check();
    Ok(measured)
}

/// Serves the workload. Returns `metrics` with the measurements.
pub(super) fn measure(
    metrics: Metrics,
    device: &mut dyn Device,
    workload: &mut dyn Workload,
    control: &Control,
) -> Result<Metrics, RunError> {
    let total = workload.requests();
    let mut measured = Measured::new(metrics);
    let mut requests = Vec::with_capacity(BATCH);
    control.begin("run", total);
    let interval = total.div_ceil(INTERVALS).max(1);
    let mut begun = 0;
    loop {
        let count = BATCH.min((interval - begun % interval) as usize);
        let visible = count + device.sees_ahead();
        if requests.len() < visible {
            let missing = visible - requests.len();
            workload.next_batch(&mut requests, missing)?;
        }
        let count = count.min(requests.len());
        if count == 0 {
            break;
        }
        measured.run(device, &requests, count);
        begun += count as u64;
        if begun % interval == 0 {
            measured.metrics.end_interval_at(begun, device.counters());
        }
        control.advance(count)?;
        requests.drain(..count);
    }
    measured.run(device, &[], 0);
    if begun % interval > 0 {
        measured.metrics.end_interval_at(begun, device.counters());
    }
    device.check();
    Ok(measured.metrics)
}
