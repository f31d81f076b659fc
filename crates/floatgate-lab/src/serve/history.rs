//! What the drive did lately: a sample every second, and fewer of them the longer it runs.

use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use floatgate_ftl::device::Counters;
use serde::Serialize;

use super::state::State;
use super::{Served, lock};
use crate::metrics::{programs, ratio};

/// Samples that are kept; when there are more, every second one is left out.
const SAMPLES_MAX: usize = 512;

/// Columns with an entry per interval.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Samples {
    pub interval_s: f64,
    pub at_s: Vec<f64>,
    pub write_amplification: Vec<Option<f64>>,
    pub hit_ratio: Vec<Option<f64>>,
    pub host_mb_s: Vec<f64>,
    pub requests_s: Vec<f64>,
    pub free_units: Vec<u32>,
    pub p99_us: Vec<Option<f64>>,
}

/// The samples, and what they are differences from.
#[derive(Debug, Default)]
pub(super) struct History {
    samples: Samples,
    /// Seconds since the last sample, and since the counters were reset.
    waited: u32,
    seconds: u32,
    before: Counters,
}

impl History {
    pub fn samples(&self) -> Samples {
        Samples { interval_s: f64::from(self.interval()), ..self.samples.clone() }
    }

    /// Seconds between samples.
    fn interval(&self) -> u32 {
        self.seconds_per_sample().max(1)
    }

    fn seconds_per_sample(&self) -> u32 {
        match self.samples.at_s[..] {
            [first, second, ..] => (second - first) as u32,
            _ => 1,
        }
    }

    /// A second has passed. The answer is whether a sample is due.
    fn tick(&mut self) -> bool {
        (self.waited, self.seconds) = (self.waited + 1, self.seconds + 1);
        self.waited >= self.interval()
    }

    fn add(&mut self, now: Counters, free_units: u32, p99_us: Option<f64>, page_bytes: u32) {
        let (was, seconds) = (&self.before, f64::from(self.waited));
        let pages = now.host.write_pages - was.host.write_pages;
        let bytes = (pages + now.host.read_pages - was.host.read_pages) * u64::from(page_bytes);
        let hits = now.map.hits - was.map.hits;
        let requests = |counters: &Counters| counters.host.requests.iter().sum::<u64>();
        let samples = &mut self.samples;
        samples.at_s.push(self.seconds.into());
        samples.write_amplification.push(ratio(programs(&now) - programs(was), pages));
        samples.hit_ratio.push(ratio(hits, hits + now.map.misses - was.map.misses));
        samples.host_mb_s.push(bytes as f64 / 1e6 / seconds);
        samples.requests_s.push((requests(&now) - requests(was)) as f64 / seconds);
        samples.free_units.push(free_units);
        samples.p99_us.push(p99_us);
        (self.before, self.waited) = (now, 0);
        if self.samples.at_s.len() > SAMPLES_MAX {
            self.thin();
        }
    }

    /// Leaves out every second sample.
    fn thin(&mut self) {
        fn halve<T>(column: &mut Vec<T>) {
            let mut at = 0;
            column.retain(|_| {
                at += 1;
                at % 2 == 0
            });
        }
        let samples = &mut self.samples;
        halve(&mut samples.at_s);
        halve(&mut samples.write_amplification);
        halve(&mut samples.hit_ratio);
        halve(&mut samples.host_mb_s);
        halve(&mut samples.requests_s);
        halve(&mut samples.free_units);
        halve(&mut samples.p99_us);
    }
}

impl State {
    fn sample(&mut self, p99_us: impl FnOnce() -> Option<f64>, page_bytes: u32) {
        if let Some(recorder) = &mut self.recorder {
            recorder.flush();
        }
        if let Some(opened) = self.opened.as_ref().filter(|_| self.history.tick()) {
            let (now, free) = (opened.drive.counters(), opened.drive.device().free_units());
            self.history.add(now, free, p99_us(), page_bytes);
        }
    }
}

/// Looks at a drive every second until it is gone.
pub(super) fn watch(served: &Arc<Served>) {
    let served: Weak<Served> = Arc::downgrade(served);
    thread::spawn(move || {
        loop {
            thread::sleep(Duration::from_secs(1));
            let Some(served) = served.upgrade() else { break };
            let p99_us = || served.gauges.take_lately().quantile_us(0.99);
            lock(&served.state).sample(p99_us, served.page_bytes);
        }
    });
}
