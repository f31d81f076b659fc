//! One simulation: the start state, then the workload, then the result.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use floatgate_ftl::addr::Lpn;
use floatgate_ftl::buffer::{Buffer, parts};
use floatgate_ftl::device::{Device, pages, whole_pages};
use floatgate_ftl::future::{Foreknowledge, Foretelling, Future, TooLong};
use floatgate_ftl::placement::AnyPlacement;
use floatgate_ftl::request::{Completion, Op, Request};
use floatgate_ftl::rng::Rng;

use crate::config::{Arrivals, Config, ConfigError, Fill};
use crate::drive::{Plan, block_pages, build, needs_future};
use crate::metrics::{Metrics, programs, ratio};
use crate::result::{RunResult, Started, Subject, WorkloadFacts};
use crate::workload::Workload;

/// Requests that are handed to the drive at once: enough to look ahead in.
const BATCH: usize = 1024;
/// Stretches of the timeline.
const STRETCHES: u64 = 256;

/// How a run that is under way is watched and stopped, from another thread.
#[derive(Debug, Default)]
pub struct Control {
    cancelled: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
    phase: Mutex<&'static str>,
}

impl Control {
    /// Asks the run to end.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// The phase ("foretell", "fill", "run", "curve" or "hotness"), and requests done of how many;
    /// 0 if that is not known.
    pub fn progress(&self) -> (&'static str, u64, u64) {
        let phase = self.phase.lock().map_or("", |phase| *phase);
        (phase, self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }

    pub(crate) fn begin(&self, phase: &'static str, total: u64) {
        if let Ok(mut current) = self.phase.lock() {
            *current = phase;
        }
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    pub(crate) fn advance(&self, requests: usize) -> Result<(), RunError> {
        self.done.fetch_add(requests as u64, Ordering::Relaxed);
        if self.cancelled.load(Ordering::Relaxed) { Err(RunError::Cancelled) } else { Ok(()) }
    }
}

/// Why there is no result.
#[derive(Debug)]
pub enum RunError {
    /// The config or the workload is wrong.
    Config(ConfigError),
    /// It was asked to end.
    Cancelled,
}

impl From<ConfigError> for RunError {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

/// Runs a workload on a drive. If its requests have no times, the queue is closed whatever the
/// config says; the result has the config as it was in force.
///
/// # Errors
/// A config that gives no drive for this workload, or a cancelled run.
pub fn run(
    config: &Config,
    workload: &mut dyn Workload,
    facts: WorkloadFacts,
    options: Options,
    control: &Control,
) -> Result<RunResult, RunError> {
    config.check()?;
    let mut config = config.clone();
    if workload.summary().closed {
        config.queue.arrivals = Arrivals::Closed;
    }
    let config = &config;
    let plan = Plan::new(config, options.span_bytes)?;
    let known = foreknow(config, &plan, workload, control)?;
    let mut device = build(config, &plan, options.seed, options.verify)?;
    let started = prepare(config, &plan, device.as_mut(), known, options.seed, control)?;
    let (metrics, wall_seconds) = measure(&plan, device.as_mut(), workload, control)?;
    let subject = Subject { config, plan: &plan, device: device.as_ref(), facts, started };
    Ok(RunResult::new(&subject, &metrics, options.seed, wall_seconds))
}

/// What policies are told of the workload that want to know the future.
fn foreknow(
    config: &Config,
    plan: &Plan,
    workload: &dyn Workload,
    control: &Control,
) -> Result<Foreknowledge, RunError> {
    let block = block_pages(config, &plan.geometry);
    let tell_parts = |telling: &mut Foretelling, request: &Request, log2: u32| {
        tell_parts(telling, request, log2, block)
    };
    let mut known = Foreknowledge::default();
    if needs_future(&config.mapping.scheme) {
        known.accesses = Some(foretell(plan, workload, tell_accesses, control)?);
    }
    if AnyPlacement::needs_future(&config.placement.scheme) {
        known.writes = Some(foretell(plan, workload, tell_writes, control)?);
    }
    if Buffer::needs_future(&config.buffer.scheme) {
        known.blocks = Some(foretell(plan, workload, tell_parts, control)?);
    }
    Ok(known)
}

/// Brings a drive to its start state, of which nothing is counted.
fn prepare(
    config: &Config,
    plan: &Plan,
    device: &mut dyn Device,
    known: Foreknowledge,
    seed: u64,
    control: &Control,
) -> Result<Started, RunError> {
    let started = start(config, plan, device, seed, control)?;
    // A dirty cache would be paid for by the workload, and a larger cache would look worse.
    device.settle();
    device.foresee(known);
    device.restart();
    Ok(started)
}

/// How a run is done, beside the config.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Bytes that the workload spans.
    pub span_bytes: u64,
    /// Seed of the start state.
    pub seed: u64,
    /// Whether every operation is held against a model of the drive.
    pub verify: bool,
}

fn tell_accesses(telling: &mut Foretelling, request: &Request, log2: u32) -> Result<(), TooLong> {
    match request.op {
        Op::Read | Op::Write => {
            pages(request, log2).try_for_each(|page| telling.push(Lpn::new(page as u32)))
        }
        Op::Trim | Op::Flush => Ok(()),
    }
}

/// A buffer of blocks is served part by part, a part being what lies in one block.
fn tell_parts(
    telling: &mut Foretelling,
    request: &Request,
    log2: u32,
    block: u32,
) -> Result<(), TooLong> {
    let pages = pages(request, log2);
    match request.op {
        Op::Read | Op::Write => {
            let (first, count) = (Lpn::new(pages.start as u32), pages.end - pages.start);
            let mut parts = parts(first, count as u32, block);
            parts.try_for_each(|(lpn, _)| telling.push(Lpn::new(lpn.get() / block)))
        }
        Op::Trim | Op::Flush => Ok(()),
    }
}

fn tell_writes(telling: &mut Foretelling, request: &Request, log2: u32) -> Result<(), TooLong> {
    match request.op {
        Op::Write => pages(request, log2).try_for_each(|page| telling.push(Lpn::new(page as u32))),
        Op::Trim => {
            whole_pages(request, log2).for_each(|page| telling.end(Lpn::new(page as u32)));
            Ok(())
        }
        Op::Read | Op::Flush => Ok(()),
    }
}

/// What the workload will do: one pass over it, ahead of the run.
fn foretell(
    plan: &Plan,
    workload: &dyn Workload,
    tell: impl Fn(&mut Foretelling, &Request, u32) -> Result<(), TooLong>,
    control: &Control,
) -> Result<Future, RunError> {
    let geometry = &plan.geometry;
    let (mut requests, mut batch) = (workload.fork(), Vec::with_capacity(BATCH));
    let mut telling = Foretelling::new(geometry.logical_pages());
    control.begin("foretell", workload.requests());
    loop {
        batch.clear();
        requests.next_batch(&mut batch, BATCH);
        if batch.is_empty() {
            return Ok(telling.finish());
        }
        for request in &batch {
            tell(&mut telling, request, geometry.log2_page_bytes()).map_err(|TooLong| {
                ConfigError::new(
                    "the workload accesses 2^32 pages or more: a bound that is told the future \
                     (belady, oracle) needs fewer",
                )
            })?;
        }
        control.advance(batch.len())?;
    }
}

/// Serves the workload; the answer is what was measured, and the seconds of real time that it took.
fn measure(
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
    let stretch = workload.requests().div_ceil(STRETCHES).max(1);
    let mut left = stretch;
    loop {
        let wanted = BATCH.min(left as usize);
        let visible = wanted + device.sees_ahead();
        if requests.len() < visible {
            let missing = visible - requests.len();
            workload.next_batch(&mut requests, missing);
        }
        let batch = &requests[..wanted.min(requests.len())];
        if batch.is_empty() {
            break;
        }
        done.clear();
        device.run_ahead(&requests, batch.len(), &mut done);
        metrics.record(batch, &done);
        left -= batch.len() as u64;
        if left == 0 {
            metrics.end_stretch(device.counters());
            left = stretch;
        }
        control.advance(batch.len())?;
        requests.drain(..done.len());
    }
    if left < stretch {
        metrics.end_stretch(device.counters());
    }
    let wall_seconds = begin.elapsed().as_secs_f64();
    device.check();
    Ok((metrics, wall_seconds))
}

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
    fn settle(&mut self, config: &Config, rng: &mut Rng) -> Result<Started, RunError> {
        let start = &config.start;
        let (mut last, mut calm, mut volumes) = (self.random_volume(rng)?, 0, 1);
        while calm < 2 && volumes < start.volumes_max {
            let next = self.random_volume(rng)?;
            let change = (next - last).abs() / next;
            calm = if change <= start.tolerance { calm + 1 } else { 0 };
            (last, volumes) = (next, volumes + 1);
        }
        let volumes = f64::from(volumes);
        Ok(Started { volumes, settled: Some(calm == 2), write_amplification: Some(last) })
    }
}

pub(crate) fn start(
    config: &Config,
    plan: &Plan,
    device: &mut dyn Device,
    seed: u64,
    control: &Control,
) -> Result<Started, RunError> {
    let pages = u64::from(plan.user_pages());
    let page_bytes = u64::from(plan.geometry.shape().page_bytes);
    let mut rng = Rng::new(seed ^ 0x5747_4152_5400);
    let overwrites = (config.start.overwrites * pages as f64) as u64;
    let total = match config.start.fill {
        Fill::None => return Ok(Started::default()),
        Fill::Sequential => pages,
        Fill::Random => pages + overwrites,
        Fill::Steady => 0,
    };
    control.begin("fill", total);
    let (done, batch) = (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH));
    let mut filler = Filler { device, control, page_bytes, pages, done, batch };
    filler.write_in_order(config)?;
    match config.start.fill {
        Fill::Random => {
            let before = programs(&filler.device.counters());
            filler.write(overwrites, |_| rng.below(pages))?;
            let after = programs(&filler.device.counters());
            Ok(Started {
                volumes: config.start.overwrites,
                settled: None,
                write_amplification: ratio(after - before, overwrites),
            })
        }
        Fill::Steady => filler.settle(config, &mut rng),
        Fill::Sequential | Fill::None => Ok(Started::default()),
    }
}

#[cfg(test)]
mod tests;
