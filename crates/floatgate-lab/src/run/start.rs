//! The start state: writes to a drive before the measurement.

use floatgate_ftl::device::Device;
use floatgate_ftl::queue::Dispatch;
use floatgate_ftl::request::{Completion, Op, Request};
use floatgate_ftl::rng::Rng;

use super::{BATCH, Control, RunError, sampled};
use crate::config::{Config, ConfigError, Fill};
use crate::drive::Plan;
use crate::metrics::{programs, ratio};
use crate::result::StartResult;
use crate::workload::scatter::Scatter;
use crate::workload::{Workload, generator};

/// Writes pages before the measurement, as fast as the drive takes them.
pub(super) struct Filler<'a> {
    pub device: &'a mut dyn Device,
    pub control: &'a Control,
    page_bytes: u64,
    pub pages: u64,
    done: Vec<Completion>,
    batch: Vec<Request>,
}

impl<'a> Filler<'a> {
    pub fn new(plan: &Plan, device: &'a mut dyn Device, control: &'a Control) -> Self {
        let (pages, page_bytes) =
            (plan.user_pages().into(), plan.geometry.shape().page_bytes.into());
        let (done, batch) = (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH));
        Self { device, control, page_bytes, pages, done, batch }
    }

    /// Writes `count` pages. `page` gives the logical page of each write.
    pub fn write(&mut self, count: u64, mut page: impl FnMut(u64) -> u64) -> Result<(), RunError> {
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
                stream: 0,
            }));
            self.device.run(&self.batch, &mut self.done);
            self.control.advance(self.batch.len())?;
            written = end;
        }
        Ok(())
    }

    /// Writes every page once, in order. A host layer with a log takes small writes for random
    /// writes and packs them. It gets requests that are too large for this.
    fn write_in_order(&mut self, config: &Config) -> Result<(), RunError> {
        if config.log_slots() == 0 {
            return self.write(self.pages, |n| n);
        }
        let most = (config.host.threshold.0 / self.page_bytes + 1).max(64);
        for first in (0..self.pages).step_by(most as usize) {
            let (offset, pages) = (first * self.page_bytes, most.min(self.pages - first));
            let length = pages * self.page_bytes;
            self.done.clear();
            self.device.run(
                &[Request { at_ns: 0, op: Op::Write, offset, length, stream: 0 }],
                &mut self.done,
            );
            self.control.advance(pages as usize)?;
        }
        Ok(())
    }

    /// Writes as `start.fill` requires. A sampled fill of a drive that is its own model is steady.
    pub fn fill(&mut self, config: &Config, seed: u64) -> Result<StartResult, RunError> {
        let start = &config.start;
        let mut rng = Rng::new(seed ^ 0x5747_4152_5400);
        let overwrites = (start.overwrites * self.pages as f64) as u64;
        let total = match start.fill {
            Fill::None => return Ok(StartResult::new(Fill::None)),
            Fill::Sequential | Fill::Shuffled => self.pages,
            Fill::Random => self.pages + overwrites,
            Fill::Steady | Fill::Sampled => 0,
        };
        self.control.begin("fill", total);
        if start.fill == Fill::Shuffled {
            let order = Scatter::new(self.pages, &mut rng);
            self.write(self.pages, |n| order.place(n))?;
            return Ok(StartResult::new(Fill::Shuffled));
        }
        self.write_in_order(config)?;
        match start.fill {
            Fill::Random => {
                let before = programs(&self.device.counters());
                let pages = self.pages;
                self.write(overwrites, |_| rng.below(pages))?;
                let after = programs(&self.device.counters());
                Ok(StartResult {
                    volumes: start.overwrites,
                    write_amplification: ratio(after - before, overwrites),
                    ..StartResult::new(Fill::Random)
                })
            }
            Fill::Steady | Fill::Sampled => self.run_to_steady(config, &mut rng),
            fill => Ok(StartResult::new(fill)),
        }
    }

    /// Plays a workload and ignores the times of its requests. Returns the written bytes as a
    /// multiple of the drive's logical bytes.
    fn play(&mut self, workload: &mut dyn Workload) -> Result<f64, RunError> {
        let before = self.device.counters().host.write_bytes;
        self.control.begin("fill", workload.requests());
        loop {
            self.batch.clear();
            self.done.clear();
            workload.next_batch(&mut self.batch, BATCH)?;
            if self.batch.is_empty() {
                break;
            }
            self.batch.iter_mut().for_each(|request| request.at_ns = 0);
            self.device.run(&self.batch, &mut self.done);
            self.control.advance(self.batch.len())?;
        }
        let written = self.device.counters().host.write_bytes - before;
        Ok(written as f64 / (self.pages * self.page_bytes) as f64)
    }

    /// Writes as many random pages as the drive has (a volume). Returns their write amplification.
    fn random_volume(&mut self, rng: &mut Rng) -> Result<f64, RunError> {
        let before = programs(&self.device.counters());
        let pages = self.pages;
        self.write(pages, |_| rng.below(pages))?;
        Ok((programs(&self.device.counters()) - before) as f64 / pages as f64)
    }

    /// Writes random volumes until write amplification is steady: two changes in a row are within
    /// the tolerance.
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
        Ok(StartResult { volumes, settled, write_amplification, ..StartResult::new(start.fill) })
    }
}

/// Returns the generators of `start.play`, each with its own seed.
fn played(
    config: &Config,
    seed: u64,
    drive_bytes: u64,
) -> Result<Vec<Box<dyn Workload + Send>>, RunError> {
    let mut rng = Rng::new(seed ^ 0x504c_4159);
    let texts = config.start.play.iter().flat_map(|texts| texts.split([';', '\n'])).map(str::trim);
    let mut found = Vec::new();
    for text in texts.filter(|text| !text.is_empty()) {
        let wrong = |why: &dyn std::fmt::Display| ConfigError::new(format!("start.play: {why}"));
        let workload = generator(text, rng.bits()).map_err(|error| wrong(&error))?;
        let span = workload.span_bytes();
        if span > drive_bytes {
            let why = format!("{text} spans {span} bytes: expected at most {drive_bytes}");
            return Err(wrong(&why).into());
        }
        found.push(workload);
    }
    Ok(found)
}

/// Returns whether the start state depends on time, so that the clock has to run during the fill.
/// All requests of the fill are available from the beginning, and after it the clock starts anew,
/// with idle dies and an empty queue.
///
/// Idle-time work (cleaning, folding) does not matter here: the host is never idle.
pub(super) fn depends_on_time(config: &Config) -> Result<bool, ConfigError> {
    let queue = &config.queue;
    // The room in the queue limits the size of a packed write, and remapping waits for reads.
    let packs = config.host.keeps_log();
    // The next request comes from the queue in which a command completes first.
    let overtakes = queue.queues > 1 && queue.dispatch.0 == Dispatch::Parallel;
    // A row that is not full is programmed after a time.
    let flushes = config.controller.flush_after.is_some();
    Ok(packs || overtakes || flushes || config.placement_reads_time()?)
}

/// Fills and ages the drive according to the config.
pub(crate) fn start(
    config: &Config,
    plan: &Plan,
    device: &mut dyn Device,
    seed: u64,
    control: &Control,
) -> Result<StartResult, RunError> {
    let mut filler = Filler::new(plan, device, control);
    let generators = played(config, seed, plan.logical_bytes())?;
    let mut result = match config.start.fill {
        Fill::Sampled => sampled::fill(&mut filler, config, plan, seed)?,
        _ => filler.fill(config, seed)?,
    };
    for mut workload in generators {
        result.played_volumes += filler.play(workload.as_mut())?;
    }
    Ok(result)
}

/// Brings the drive to its start state, without a clock where none is needed. Writes the caches
/// back and sets the counters to zero.
pub(crate) fn reach(
    config: &Config,
    plan: &Plan,
    device: &mut dyn Device,
    seed: u64,
    control: &Control,
) -> Result<StartResult, RunError> {
    if !depends_on_time(config)? {
        device.freeze();
    }
    let started = start(config, plan, device, seed, control)?;
    // Otherwise the workload would pay for a dirty cache, and a larger cache would look worse.
    device.write_back();
    device.reset_counters();
    device.thaw();
    Ok(started)
}
