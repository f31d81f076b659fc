//! The start state: what is written to a drive before anything is measured.

use floatgate_ftl::device::Device;
use floatgate_ftl::request::{Completion, Op, Request};
use floatgate_ftl::rng::Rng;

use super::{BATCH, Control, RunError};
use crate::config::{Config, Fill};
use crate::drive::Plan;
use crate::metrics::{programs, ratio};
use crate::result::StartResult;
use crate::workload::scatter::Scatter;

/// Writes pages before the measurement, as fast as the drive takes them.
struct Filler<'a> {
    device: &'a mut dyn Device,
    control: &'a Control,
    page_bytes: u64,
    pages: u64,
    done: Vec<Completion>,
    batch: Vec<Request>,
}

impl Filler<'_> {
    /// Writes `count` pages, each one named by `page`.
    fn write(&mut self, count: u64, mut page: impl FnMut(u64) -> u64) -> Result<(), RunError> {
        let mut written = 0;
        while written < count {
            self.batch.clear();
            self.done.clear();
            let end = count.min(written + BATCH as u64);
            self.batch.extend((written..end).map(|n| Request {
                at_ns: 0,
                op: Op::Write,
                offset: page(n) * self.page_bytes,
                length: self.page_bytes,
            }));
            self.device.run(&self.batch, &mut self.done);
            self.control.advance(self.batch.len())?;
            written = end;
        }
        Ok(())
    }

    /// Every page once, in order. A host layer that packs small writes gets larger ones: a file
    /// that is laid out is not random.
    fn write_in_order(&mut self, config: &Config) -> Result<(), RunError> {
        if config.log_slots() == 0 {
            return self.write(self.pages, |n| n);
        }
        let most = (config.host.threshold.0 / self.page_bytes + 1).max(64);
        for first in (0..self.pages).step_by(most as usize) {
            let (offset, pages) = (first * self.page_bytes, most.min(self.pages - first));
            let length = pages * self.page_bytes;
            self.done.clear();
            self.device.run(&[Request { at_ns: 0, op: Op::Write, offset, length }], &mut self.done);
            self.control.advance(pages as usize)?;
        }
        Ok(())
    }

    /// Write amplification of the next volume of random page writes.
    fn random_volume(&mut self, rng: &mut Rng) -> Result<f64, RunError> {
        let before = programs(&self.device.counters());
        let pages = self.pages;
        self.write(pages, |_| rng.below(pages))?;
        Ok((programs(&self.device.counters()) - before) as f64 / pages as f64)
    }

    /// Random volumes until write amplification has settled: two changes in a row within the
    /// tolerance.
    fn run_to_steady(&mut self, config: &Config, rng: &mut Rng) -> Result<StartResult, RunError> {
        let start = &config.start;
        let (mut last, mut calm, mut volumes) = (self.random_volume(rng)?, 0, 1);
        while calm < 2 && volumes < start.volumes_max {
            let next = self.random_volume(rng)?;
            let change = (next - last).abs() / next;
            calm = if change <= start.tolerance { calm + 1 } else { 0 };
            (last, volumes) = (next, volumes + 1);
        }
        let volumes = f64::from(volumes);
        let (settled, write_amplification) = (Some(calm == 2), Some(last));
        Ok(StartResult { fill: Fill::Steady, volumes, settled, write_amplification })
    }
}

/// Fills and ages the drive as the config says; how that went.
pub(crate) fn start(
    config: &Config,
    plan: &Plan,
    device: &mut dyn Device,
    seed: u64,
    control: &Control,
) -> Result<StartResult, RunError> {
    let pages = u64::from(plan.user_pages());
    let page_bytes = u64::from(plan.geometry.shape().page_bytes);
    let mut rng = Rng::new(seed ^ 0x5747_4152_5400);
    let overwrites = (config.start.overwrites * pages as f64) as u64;
    let total = match config.start.fill {
        Fill::None => return Ok(StartResult::new(Fill::None)),
        Fill::Sequential | Fill::Shuffled => pages,
        Fill::Random => pages + overwrites,
        Fill::Steady => 0,
    };
    control.begin("fill", total);
    let (done, batch) = (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH));
    let mut filler = Filler { device, control, page_bytes, pages, done, batch };
    if config.start.fill == Fill::Shuffled {
        let order = Scatter::new(pages, &mut rng);
        filler.write(pages, |n| order.place(n))?;
        return Ok(StartResult::new(Fill::Shuffled));
    }
    filler.write_in_order(config)?;
    match config.start.fill {
        Fill::Random => {
            let before = programs(&filler.device.counters());
            filler.write(overwrites, |_| rng.below(pages))?;
            let after = programs(&filler.device.counters());
            Ok(StartResult {
                fill: Fill::Random,
                volumes: config.start.overwrites,
                settled: None,
                write_amplification: ratio(after - before, overwrites),
            })
        }
        Fill::Steady => filler.run_to_steady(config, &mut rng),
        fill => Ok(StartResult::new(fill)),
    }
}
