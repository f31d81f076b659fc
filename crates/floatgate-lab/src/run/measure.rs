//! Serving the workload, batch by batch.

use std::collections::VecDeque;
use std::time::Instant;

use floatgate_ftl::device::Device;
use floatgate_ftl::request::{Completion, Request};

use super::{BATCH, Control, RunError};
use crate::metrics::Metrics;
use crate::workload::Workload;

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

/// Serves the workload. Returns `metrics` with the measurements, and the elapsed real time in
/// seconds.
pub(super) fn measure(
    metrics: Metrics,
    device: &mut dyn Device,
    workload: &mut dyn Workload,
    control: &Control,
) -> Result<(Metrics, f64), RunError> {
    let begin = Instant::now();
    let mut measured = Measured::new(metrics);
    let mut requests = Vec::with_capacity(BATCH);
    control.begin("run", workload.requests());
    let interval = workload.requests().div_ceil(INTERVALS).max(1);
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
    let Measured { metrics, .. } = measured;
    let wall_seconds = begin.elapsed().as_secs_f64();
    device.check();
    Ok((metrics, wall_seconds))
}
