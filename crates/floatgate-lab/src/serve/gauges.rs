//! What the server measures of itself, in real time.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

use super::lock;
use crate::metrics::ratio;

/// How times are distributed, in microseconds; none where nothing was measured.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Distributed {
    pub count: u64,
    pub mean: Option<f64>,
    pub p50: Option<f64>,
    pub p99: Option<f64>,
    pub p999: Option<f64>,
    pub max: Option<f64>,
}

/// Times that are longer count as so long: an hour.
const NS_MAX: u64 = 3_600_000_000_000;

/// Digits that are kept of a time.
const DIGITS: u8 = 2;

/// How many sets of times there are, so that threads do not wait for each other.
const SETS: usize = 16;

/// Times to two digits, in nanoseconds.
#[derive(Debug)]
pub(super) struct Times(Histogram<u64>);

impl Default for Times {
    fn default() -> Self {
        let times = Histogram::new_with_bounds(1, NS_MAX, DIGITS);
        Self(times.unwrap_or_else(|_| unreachable!("these bounds can be had")))
    }
}

impl Times {
    pub fn record(&mut self, time: Duration) {
        self.0.saturating_record(time.as_nanos() as u64);
    }

    fn add(&mut self, other: &Self) {
        let added = self.0.add(&other.0);
        added.unwrap_or_else(|_| unreachable!("all have the same bounds"));
    }

    pub fn distributed(&self) -> Distributed {
        let times = &self.0;
        if times.is_empty() {
            return Distributed::default();
        }
        let at = |quantile| Some(times.value_at_quantile(quantile) as f64 / 1e3);
        Distributed {
            count: times.len(),
            mean: Some(times.mean() / 1e3),
            p50: at(0.5),
            p99: at(0.99),
            p999: at(0.999),
            max: Some(times.max() as f64 / 1e3),
        }
    }

    /// The time that this share of all does not exceed, in microseconds.
    pub fn quantile_us(&self, quantile: f64) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.0.value_at_quantile(quantile) as f64 / 1e3)
    }

    pub fn clear(&mut self) {
        self.0.reset();
    }
}

/// What clients ask for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Asked {
    Read,
    Write,
    Trim,
    Zero,
    Flush,
}

/// Times that are kept apart.
#[derive(Debug, Default)]
pub(super) struct Measured {
    pub read: Times,
    pub write: Times,
    /// Reads and writes since the history was told of last.
    pub lately: Times,
    pub lock_wait: Times,
    pub lock_held: Times,
    pub holding: Holding,
}

/// How far replies that were held missed their time.
#[derive(Debug, Default)]
pub(super) struct Holding {
    error: Times,
    /// Replies that came later by more than a tenth of what they should have taken.
    late: u64,
    /// The sums of what they should have taken, and of what they took beyond that.
    due: Duration,
    beyond: Duration,
}

/// What is told of it.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Held {
    pub error_us: Distributed,
    pub late_share: Option<f64>,
    /// How much longer replies took on average than they should have, as a share of that.
    pub mean_excess: Option<f64>,
}

impl Holding {
    /// A reply should have taken so long, and took so much longer.
    pub fn record(&mut self, due: Duration, beyond: Duration) {
        self.error.record(beyond);
        self.late += u64::from(beyond > due / 10);
        (self.due, self.beyond) = (self.due + due, self.beyond + beyond);
    }

    fn add(&mut self, other: &Self) {
        self.error.add(&other.error);
        self.late += other.late;
        (self.due, self.beyond) = (self.due + other.due, self.beyond + other.beyond);
    }

    pub fn held(&self) -> Held {
        let error_us = self.error.distributed();
        let due = self.due.as_secs_f64();
        let mean_excess = (due > 0.0).then(|| self.beyond.as_secs_f64() / due);
        Held { error_us, late_share: ratio(self.late, error_us.count), mean_excess }
    }
}

/// All that is counted and measured.
#[derive(Debug, Default)]
pub(super) struct Gauges {
    asked: [AtomicU64; 5],
    pub errors: AtomicU64,
    pub connections: AtomicU64,
    pub in_flight: AtomicU64,
    /// Reads whose bytes are being fetched, and the most there ever were.
    pub fetching: AtomicU64,
    pub fetching_most: AtomicU64,
    measured: [Mutex<Measured>; SETS],
}

impl Gauges {
    pub fn count(&self, asked: Asked) {
        self.asked[asked as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub fn asked(&self, asked: Asked) -> u64 {
        self.asked[asked as usize].load(Ordering::Relaxed)
    }

    /// A request was answered after that time.
    pub fn answered(&self, asked: Asked, time: Duration) {
        let mut measured = self.mine();
        match asked {
            Asked::Read => measured.read.record(time),
            Asked::Write => measured.write.record(time),
            Asked::Trim | Asked::Zero | Asked::Flush => return,
        }
        measured.lately.record(time);
    }

    /// Where the calling thread notes its times: seldom anybody else does.
    pub fn mine(&self) -> MutexGuard<'_, Measured> {
        static THREADS: AtomicUsize = AtomicUsize::new(0);
        thread_local! {
            static SET: usize = THREADS.fetch_add(1, Ordering::Relaxed) % SETS;
        }
        lock(&self.measured[SET.with(|&set| set)])
    }

    /// The times of all threads.
    pub fn total(&self) -> Measured {
        let mut total = Measured::default();
        for set in &self.measured {
            let Measured { read, write, lock_wait, lock_held, holding, .. } = &*lock(set);
            total.read.add(read);
            total.write.add(write);
            total.lock_wait.add(lock_wait);
            total.lock_held.add(lock_held);
            total.holding.add(holding);
        }
        total
    }

    /// The times of reads and writes since this was asked last.
    pub fn take_lately(&self) -> Times {
        let mut total = Times::default();
        for set in &self.measured {
            let lately = &mut lock(set).lately;
            total.add(lately);
            lately.clear();
        }
        total
    }

    /// Bytes of a read begin to be fetched.
    pub fn fetch(&self) -> Fetching<'_> {
        let now = self.fetching.fetch_add(1, Ordering::Relaxed) + 1;
        self.fetching_most.fetch_max(now, Ordering::Relaxed);
        Fetching(self)
    }

    /// Counts from zero; who is connected stays.
    pub fn reset(&self) {
        self.asked.iter().for_each(|asked| asked.store(0, Ordering::Relaxed));
        self.errors.store(0, Ordering::Relaxed);
        self.fetching_most.store(0, Ordering::Relaxed);
        for set in &self.measured {
            *lock(set) = Measured::default();
        }
    }
}

/// Until the bytes are there.
pub(super) struct Fetching<'a>(&'a Gauges);

impl Drop for Fetching<'_> {
    fn drop(&mut self) {
        self.0.fetching.fetch_sub(1, Ordering::Relaxed);
    }
}
