//! Serving the workload, batch by batch.

use std::time::Instant;

use floatgate_ftl::device::Device;

use super::{BATCH, Control, RunError};
use crate::drive::Plan;
use crate::metrics::Metrics;
use crate::workload::Workload;

/// Intervals of the timeline.
const INTERVALS: u64 = 256;

/// Serves the workload; the answer is what was measured, and the seconds of real time that it took.
pub(super) fn measure(
    plan: &Plan,
    device: &mut dyn Device,
    workload: &mut dyn Workload,
    control: &Control,
) -> Result<(Metrics, f64), RunError> {
    let begin = Instant::now();
    let geometry = &plan.geometry;
    let mut metrics = Metrics::new(geometry.logical_pages(), geometry.log2_page_bytes());
    let (mut requests, mut done) = (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH));
    control.begin("run", workload.requests());
    let interval = workload.requests().div_ceil(INTERVALS).max(1);
    let mut left = interval;
    loop {
        let count = BATCH.min(left as usize);
        let visible = count + device.sees_ahead();
        if requests.len() < visible {
            let missing = visible - requests.len();
            workload.next_batch(&mut requests, missing);
        }
        let batch = &requests[..count.min(requests.len())];
        if batch.is_empty() {
            break;
        }
        done.clear();
        device.run_ahead(&requests, batch.len(), &mut done);
        metrics.record(batch, &done);
        left -= batch.len() as u64;
        if left == 0 {
            metrics.end_interval(device.counters());
            left = interval;
        }
        control.advance(batch.len())?;
        requests.drain(..done.len());
    }
    if left < interval {
        metrics.end_interval(device.counters());
    }
    let wall_seconds = begin.elapsed().as_secs_f64();
    device.check();
    Ok((metrics, wall_seconds))
}
