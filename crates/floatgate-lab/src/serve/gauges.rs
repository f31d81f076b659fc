//! Measurements of the server itself, in real time.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

use super::panics::lock;
use crate::metrics::ratio;

/// Summary of a distribution of times, in microseconds; none if nothing was measured.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Distributed {
    pub count: u64,
    pub mean: Option<f64>,
    pub p50: Option<f64>,
    pub p99: Option<f64>,
    pub p999: Option<f64>,
    pub max: Option<f64>,
}

/// Longest time that a histogram distinguishes: an hour. Longer times count as an hour.
const NS_MAX: u64 = 3_600_000_000_000;

/// Significant digits of a recorded time.
const DIGITS: u8 = 2;

/// Number of sets of times. Several sets keep threads from waiting for each other.
const SETS: usize = 16;

/// Histogram of times in nanoseconds, to two significant digits.
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

    pub fn clear(&mut self) {
        self.0.reset();
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Asked {
    Read,
    Write,
    Trim,
    Zero,
    Flush,
}

/// One set of times, by kind.
#[derive(Debug, Default)]
pub(super) struct Measured {
    pub read: Times,
    pub write: Times,
    /// Reads and writes since the last sample of the history.
    pub lately: Times,
    pub lock_wait: Times,
    pub lock_held: Times,
    pub holding: Holding,
}

/// Lateness of replies that the server held until they were due.
#[derive(Debug, Default)]
pub(super) struct Holding {
    error: Times,
    /// Replies that were late by more than a tenth of their due time.
    late: u64,
    /// Sum of the due times of all replies, and below the sum of their excess times.
    due: Duration,
    beyond: Duration,
}

/// Summary of [`Holding`].
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct HoldingSummary {
    pub error_us: Distributed,
    pub late_share: Option<f64>,
    /// Sum of the excess times as a share of the sum of the due times.
    pub mean_excess: Option<f64>,
}

impl Holding {
    /// Records a reply that was due after `due`, and took `beyond` longer.
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

    pub fn summary(&self) -> HoldingSummary {
        let error_us = self.error.distributed();
        let due = self.due.as_secs_f64();
        let mean_excess = (due > 0.0).then(|| self.beyond.as_secs_f64() / due);
        HoldingSummary { error_us, late_share: ratio(self.late, error_us.count), mean_excess }
    }
}

#[derive(Debug, Default)]
pub(super) struct Gauges {
    asked: [AtomicU64; 5],
    pub errors: AtomicU64,
    pub connections: AtomicU64,
    pub in_flight: AtomicU64,
    /// Number of reads whose bytes are being fetched now, and below its maximum.
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

    /// Records the response time of a request.
    pub fn answered(&self, asked: Asked, time: Duration) {
        let mut measured = self.mine();
        match asked {
            Asked::Read => measured.read.record(time),
            Asked::Write => measured.write.record(time),
            Asked::Trim | Asked::Zero | Asked::Flush => return,
        }
        measured.lately.record(time);
    }

    /// Returns the set of the calling thread. Other threads seldom use it.
    pub fn mine(&self) -> MutexGuard<'_, Measured> {
        static THREADS: AtomicUsize = AtomicUsize::new(0);
        thread_local! {
            static SET: usize = THREADS.fetch_add(1, Ordering::Relaxed) % SETS;
        }
        lock(&self.measured[SET.with(|&set| set)])
    }

    /// Returns the sum of all sets.
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

    /// Returns the times of reads and writes since the last call.
    pub fn take_lately(&self) -> Times {
        let mut total = Times::default();
        for set in &self.measured {
            let lately = &mut lock(set).lately;
            total.add(lately);
            lately.clear();
        }
        total
    }

    /// Counts a read while its bytes are being fetched.
    pub fn fetch(&self) -> Fetching<'_> {
        let now = self.fetching.fetch_add(1, Ordering::Relaxed) + 1;
        self.fetching_most.fetch_max(now, Ordering::Relaxed);
        Fetching(self)
    }

    /// Resets the counts to zero, except connections and requests in progress.
    pub fn reset(&self) {
        self.asked.iter().for_each(|asked| asked.store(0, Ordering::Relaxed));
        self.errors.store(0, Ordering::Relaxed);
        self.fetching_most.store(0, Ordering::Relaxed);
        for set in &self.measured {
            *lock(set) = Measured::default();
        }
    }
}

/// Guard of a read whose bytes are being fetched.
pub(super) struct Fetching<'a>(&'a Gauges);

impl Drop for Fetching<'_> {
    fn drop(&mut self) {
        self.0.fetching.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn us(us: u64) -> Duration {
        Duration::from_micros(us)
    }

    fn times(all: impl IntoIterator<Item = u64>) -> Times {
        let mut times = Times::default();
        all.into_iter().for_each(|time| times.record(us(time)));
        times
    }

    /// Asserts equality to two significant digits, the precision of the histogram.
    fn about(found: Option<f64>, expected: f64) {
        let found = found.unwrap();
        assert!((found / expected - 1.0).abs() < 0.01, "{found} for {expected}");
    }

    #[test]
    fn no_times_have_no_numbers() {
        let none = times([]);
        let Distributed { count, mean, p50, p99, p999, max } = none.distributed();
        assert_eq!((count, mean, p50, p99, p999, max), (0, None, None, None, None, None));
    }

    #[test]
    fn times_are_in_microseconds_each_at_its_share() {
        let mut all = times(1..=10_000);
        let Distributed { count, mean, p50, p99, p999, max } = all.distributed();
        assert_eq!(count, 10_000);
        about(mean, 5000.5);
        about(p50, 5000.0);
        about(p99, 9900.0);
        about(p999, 9990.0);
        about(max, 10_000.0);
        all.clear();
        assert_eq!(all.distributed().max, None);
        // A time of more than an hour counts as an hour.
        about(times([u64::MAX / 10_000]).distributed().max, 3.6e9);
    }

    #[test]
    fn a_reply_is_late_by_more_than_a_tenth() {
        let mut holding = Holding::default();
        let held = holding.summary();
        assert_eq!((held.error_us.count, held.late_share, held.mean_excess), (0, None, None));
        for (due, beyond) in [(1000, 100), (1000, 101), (500, 0), (0, 1)] {
            holding.record(us(due), us(beyond));
        }
        let held = holding.summary();
        assert_eq!((held.error_us.count, held.late_share), (4, Some(0.5)));
        about(held.error_us.max, 101.0);
        about(held.mean_excess, 202.0 / 2500.0);
        // If no time was due, there is no relative excess.
        let mut nothing = Holding::default();
        nothing.record(us(0), us(5));
        assert_eq!(
            (nothing.summary().late_share, nothing.summary().mean_excess),
            (Some(1.0), None)
        );
    }

    /// The total is the sum over all sets, whichever set a thread uses.
    #[test]
    fn the_numbers_of_all_threads_are_added() {
        let gauges = Gauges::default();
        let last = SETS - 1;
        for (set, time) in [(0, 100), (1, 200), (last, 300)] {
            let mut measured = lock(&gauges.measured[set]);
            measured.read.record(us(time));
            measured.write.record(us(10 * time));
            measured.write.record(us(10 * time));
            for _ in 0..3 {
                measured.lock_wait.record(us(20 * time));
            }
            for _ in 0..4 {
                measured.lock_held.record(us(30 * time));
            }
            // On time in the first set, late in the second, very late in the last.
            measured.holding.record(us(1000), us(time - 50));
        }
        let Measured { read, write, lock_wait, lock_held, holding, .. } = gauges.total();
        let [read, write, lock_wait, lock_held] =
            [read, write, lock_wait, lock_held].map(|times| times.distributed());
        assert_eq!([read.count, write.count, lock_wait.count, lock_held.count], [3, 6, 9, 12]);
        about(read.max, 300.0);
        about(write.mean, 2000.0);
        about(lock_wait.max, 6000.0);
        about(lock_held.max, 9000.0);
        let held = holding.summary();
        assert_eq!((held.error_us.count, held.late_share), (3, Some(2.0 / 3.0)));
        about(held.mean_excess, (50.0 + 150.0 + 250.0) / 3000.0);
        about(held.error_us.max, 250.0);
        // A second call returns the same total.
        assert_eq!(gauges.total().read.distributed().count, 3);
    }

    #[test]
    fn recent_measurements_are_taken_once() {
        let gauges = Gauges::default();
        for (set, time) in [(0, 100), (3, 400), (SETS - 1, 200)] {
            lock(&gauges.measured[set]).lately.record(us(time));
        }
        let taken = gauges.take_lately();
        assert_eq!(taken.distributed().count, 3);
        about(taken.distributed().max, 400.0);
        assert_eq!(gauges.take_lately().distributed().count, 0, "it was taken");
        lock(&gauges.measured[3]).lately.record(us(7));
        about(gauges.take_lately().distributed().max, 7.0);
    }

    #[test]
    fn only_reads_and_writes_have_times() {
        let gauges = Gauges::default();
        for (asked, time) in [
            (Asked::Read, 10),
            (Asked::Write, 20),
            (Asked::Write, 40),
            (Asked::Trim, 1000),
            (Asked::Zero, 1000),
            (Asked::Flush, 1000),
        ] {
            gauges.count(asked);
            gauges.answered(asked, us(time));
        }
        let all = [Asked::Read, Asked::Write, Asked::Trim, Asked::Zero, Asked::Flush];
        assert_eq!(all.map(|asked| gauges.asked(asked)), [1, 2, 1, 1, 1]);
        let Measured { read, write, .. } = gauges.total();
        assert_eq!((read.distributed().count, write.distributed().count), (1, 2));
        about(read.distributed().max, 10.0);
        about(write.distributed().max, 40.0);
        let lately = gauges.take_lately().distributed();
        assert_eq!(lately.count, 3);
        about(lately.max, 40.0);
    }

    #[test]
    fn the_most_reads_at_a_time_are_kept() {
        let gauges = Gauges::default();
        let now = || gauges.fetching.load(Ordering::Relaxed);
        let most = || gauges.fetching_most.load(Ordering::Relaxed);
        let first = gauges.fetch();
        let second = gauges.fetch();
        assert_eq!((now(), most()), (2, 2));
        drop(first);
        assert_eq!((now(), most()), (1, 2));
        let third = gauges.fetch();
        assert_eq!((now(), most()), (2, 2));
        drop((second, third));
        assert_eq!((now(), most()), (0, 2));
    }

    #[test]
    fn a_reset_keeps_only_present_clients() {
        let gauges = Gauges::default();
        let fetching = gauges.fetch();
        for (set, asked) in [Asked::Read, Asked::Write, Asked::Trim, Asked::Zero, Asked::Flush]
            .into_iter()
            .enumerate()
        {
            gauges.count(asked);
            let mut measured = lock(&gauges.measured[set * 3]);
            let Measured { read, write, lately, lock_wait, lock_held, holding } = &mut *measured;
            for times in [read, write, lately, lock_wait, lock_held] {
                times.record(us(5));
            }
            holding.record(us(5), us(5));
        }
        gauges.errors.store(3, Ordering::Relaxed);
        gauges.connections.store(2, Ordering::Relaxed);
        gauges.in_flight.store(1, Ordering::Relaxed);
        gauges.reset();
        let all = [Asked::Read, Asked::Write, Asked::Trim, Asked::Zero, Asked::Flush];
        assert_eq!(all.map(|asked| gauges.asked(asked)), [0; 5]);
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        assert_eq!((of(&gauges.errors), of(&gauges.fetching_most)), (0, 0));
        assert_eq!((of(&gauges.connections), of(&gauges.in_flight)), (2, 1));
        assert_eq!(of(&gauges.fetching), 1);
        drop(fetching);
        assert_eq!(gauges.take_lately().distributed().count, 0);
        let Measured { read, write, lock_wait, lock_held, holding, .. } = gauges.total();
        let counts = [read, write, lock_wait, lock_held].map(|times| times.distributed().count);
        assert_eq!((counts, holding.summary().error_us.count), ([0; 4], 0));
        assert_eq!(holding.summary().late_share, None);
    }

    /// The threads of a busy server use several sets.
    #[test]
    fn threads_have_sets_of_their_own() {
        let gauges = Gauges::default();
        std::thread::scope(|scope| {
            for _ in 0..SETS {
                scope.spawn(|| gauges.mine().read.record(us(1)));
            }
        });
        let used = gauges.measured.iter().filter(|set| !lock(set).read.0.is_empty());
        assert!(used.count() > 1);
        assert_eq!(gauges.total().read.distributed().count, SETS as u64);
    }
}
