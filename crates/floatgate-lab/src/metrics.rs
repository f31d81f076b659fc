//! Measurements of a run: latencies, their components, and changes over time.

mod by_job;
mod distributions;

use std::collections::VecDeque;

use floatgate_ftl::device::Counters;
use floatgate_ftl::nand::{COMPONENTS, Cause};
use floatgate_ftl::request::{Completion, Op, Request};
use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::Serialize;

pub use by_job::JobMetrics;
pub use distributions::{Distributions, Times};

/// Latencies of one kind of request. Percentiles are within 0.1 %. Mean and deviation are exact.
#[derive(Clone, Debug)]
pub struct Latencies {
    histogram: Histogram<u64>,
    count: u64,
    sum: u128,
    sum_of_squares: u128,
}

impl Default for Latencies {
    fn default() -> Self {
        let histogram = Histogram::new(3).expect("three digits are a precision that it has");
        Self { histogram, count: 0, sum: 0, sum_of_squares: 0 }
    }
}

/// Response times of one kind of request in microseconds, from arrival to completion. Values are
/// absent if there was no such request.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LatencySummary {
    /// Number of requests.
    pub requests: u64,
    /// Mean, exact.
    pub mean_us: Option<f64>,
    /// Standard deviation, exact.
    pub stdev_us: Option<f64>,
    /// Median; this and the other percentiles are within 0.1 %.
    pub p50_us: Option<f64>,
    /// 95th percentile.
    pub p95_us: Option<f64>,
    /// 99th percentile.
    pub p99_us: Option<f64>,
    /// 99.9th percentile.
    pub p999_us: Option<f64>,
    /// 99.99th percentile.
    pub p9999_us: Option<f64>,
    /// Maximum.
    pub max_us: Option<f64>,
    /// Pairs of a response time in microseconds and the share of requests (0 to 1) that took no
    /// longer, in ascending order. The shares are every 1 % up to 99 %, every 0.1 % up to 99.9 %,
    /// then as fine as the number of requests allows, and 1 for the maximum.
    pub cdf: Vec<(f64, f64)>,
}

fn us(ns: u64) -> f64 {
    ns as f64 / 1000.0
}

impl Latencies {
    #[inline]
    fn record(&mut self, ns: u64) {
        self.histogram.record(ns).expect("a histogram of 64-bit numbers grows to any");
        self.count += 1;
        self.sum += u128::from(ns);
        self.sum_of_squares += u128::from(ns) * u128::from(ns);
    }

    /// Returns the number of requests.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the number of requests with a measured latency.
    pub fn timed(&self) -> u64 {
        self.histogram.len()
    }

    /// Returns whether there are requests, and their latencies were measured.
    fn is_timed(&self) -> bool {
        self.timed() > 0
    }

    fn add(&mut self, other: &Self) {
        self.histogram.add(&other.histogram).expect("a histogram grows to what is added");
        self.count += other.count;
        self.sum += other.sum;
        self.sum_of_squares += other.sum_of_squares;
    }

    /// Returns the mean in nanoseconds.
    fn mean(&self) -> Option<f64> {
        self.is_timed().then(|| self.sum as f64 / self.count as f64)
    }

    /// Returns the latency in microseconds that `part` of `whole` requests did not exceed. Ranks
    /// are whole numbers, so that rounding errors in a fraction cannot select the next request.
    fn at(&self, part: u64, whole: u64) -> Option<f64> {
        let rank = (part * self.count).div_ceil(whole);
        let fraction = (rank as f64 - 0.5) / self.count as f64;
        self.is_timed().then(|| us(self.histogram.value_at_quantile(fraction)))
    }

    fn longest(&self) -> Option<f64> {
        self.is_timed().then(|| us(self.histogram.max()))
    }

    /// Returns the fractions (numerator, denominator) at which the distribution is given. From 99.9
    /// % on, a fraction with less than one request above it would repeat the maximum, and is left
    /// out.
    fn fractions(&self) -> impl Iterator<Item = (u64, u64)> {
        let body = (1..=99).map(|p| (p, 100));
        let tail = (991..=999).map(|p| (p, 1000));
        let fine = (9991..=9999).map(|p| (p, 10_000));
        let finest = (99_991..=99_999).map(|p| (p, 100_000));
        let is_resolved = |&(part, whole): &(u64, u64)| whole <= self.count * (whole - part);
        body.chain(tail).chain(fine.chain(finest).filter(is_resolved))
    }

    fn deviation(&self) -> Option<f64> {
        let mean = self.mean()?;
        let mean_of_squares = self.sum_of_squares as f64 / self.count as f64;
        Some((mean_of_squares - mean * mean).max(0.0).sqrt())
    }

    /// Returns all figures, and the distribution.
    pub fn summary(&self) -> LatencySummary {
        let last = self.longest().map(|longest| (longest, 1.0));
        let point = |(part, whole)| Some((self.at(part, whole)?, part as f64 / whole as f64));
        LatencySummary {
            requests: self.count,
            mean_us: self.mean_us(),
            stdev_us: self.deviation().map(|ns| ns / 1000.0),
            p50_us: self.at(1, 2),
            p95_us: self.at(95, 100),
            p99_us: self.at(99, 100),
            p999_us: self.at(999, 1000),
            p9999_us: self.at(9999, 10_000),
            max_us: self.longest(),
            cdf: self.fractions().filter_map(point).chain(last).collect(),
        }
    }
}

/// Changes over the run: columns with an entry per window. All windows have the same number of
/// requests.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Timeline {
    /// Pages written by the host since the start of the measurement, at the end of the window.
    pub host_pages: Vec<u64>,
    /// Bytes written by the host since the start of the measurement, at the end of the window.
    pub host_bytes: Vec<u64>,
    /// Seconds of simulated time at the end of the window; absent if time is not simulated.
    pub seconds: Vec<Option<f64>>,
    /// Bytes programmed to the flash per byte that the host wrote in the window.
    pub write_amplification: Vec<Option<f64>>,
    /// Pages programmed per page that the host wrote in the window.
    pub page_write_amplification: Vec<Option<f64>>,
    /// Hits per look-up of the map cache in the window, 0 to 1.
    pub hit_ratio: Vec<Option<f64>>,
    /// Bytes that the host wrote in the window per unit of its time, in 10^6 bytes per second.
    /// Absent if time is not simulated or no time has passed.
    pub write_mb_s: Vec<Option<f64>>,
    /// Mean response time of the window's reads and writes in microseconds. This and the following
    /// columns are absent if the window has none.
    pub mean_us: Vec<Option<f64>>,
    /// Median of these response times in microseconds.
    pub p50_us: Vec<Option<f64>>,
    /// 99th percentile of these response times in microseconds.
    pub p99_us: Vec<Option<f64>>,
    /// 99.9th percentile of these response times in microseconds.
    pub p999_us: Vec<Option<f64>>,
    /// Maximum of these response times in microseconds.
    pub max_us: Vec<Option<f64>>,
    /// Pages programmed by cleaning in the window.
    pub gc_programs: Vec<u64>,
    /// Translation pages programmed in the window, including programs of cleaning.
    pub map_programs: Vec<u64>,
    /// Pages programmed by merges of log blocks in the window.
    pub merge_programs: Vec<u64>,
    /// Pages programmed in the window by folding the SLC cache.
    pub fold_programs: Vec<u64>,
}

/// All measurements of a run.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    /// Latencies of reads and writes together, in the intervals that have ended.
    pub all: Latencies,
    /// Latencies of reads.
    pub read: Latencies,
    /// Latencies of writes.
    pub write: Latencies,
    /// Sum of each latency component over the requests of `all`.
    pub blame_ns: [u128; COMPONENTS],
    /// Latencies by operation and component at full resolution, if the config asks for them.
    pub distributions: Option<Box<Distributions>>,
    /// First arrival and last completion, in nanoseconds of the device's clock.
    pub span_ns: Option<(u64, u64)>,
    /// Changes over the run.
    pub timeline: Timeline,
    touched: Touched,
    is_timed: bool,
    /// Latencies of reads and writes in the current interval.
    interval: Latencies,
    /// Number of recorded requests.
    recorded: u64,
    /// Intervals whose last request has begun and is not complete: the number of that request, and
    /// the counters when it began.
    ends: VecDeque<(u64, Counters)>,
    /// Counters at the end of the previous interval.
    before: Counters,
}

/// Pages touched by a read or a write, one bit each.
#[derive(Clone, Debug, Default)]
struct Touched {
    bits: Vec<u64>,
    log2_page: u32,
}

impl Touched {
    #[inline]
    fn add(&mut self, request: &Request) {
        let first = request.offset >> self.log2_page;
        let past = (request.offset + request.length).div_ceil(1 << self.log2_page);
        let mut page = first;
        while page < past {
            let end = past.min((page | 63) + 1);
            self.bits[(page >> 6) as usize] |= (u64::MAX >> (64 - (end - page))) << (page & 63);
            page = end;
        }
    }
}

/// Returns the ratio of two counts, or None if `whole` is 0.
pub fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Returns the number of page programs of all causes.
pub fn programs(counters: &Counters) -> u64 {
    counters.flash.programs.iter().sum()
}

/// Returns the bytes programmed to the flash per byte that the host wrote between two readings of
/// the counters, or None if the host wrote nothing.
pub fn amplification(was: &Counters, now: &Counters, page_bytes: u32) -> Option<f64> {
    let media = (programs(now) - programs(was)) as f64 * f64::from(page_bytes);
    let host = now.host.write_bytes - was.host.write_bytes;
    (host > 0).then(|| media / host as f64)
}

impl Metrics {
    /// Returns empty metrics for a drive of `logical_pages` pages of 2^`log2_page` bytes.
    /// `is_timed` states whether time is simulated.
    pub fn new(logical_pages: u32, log2_page: u32, is_timed: bool) -> Self {
        let bits = vec![0; logical_pages.div_ceil(64) as usize];
        Self { touched: Touched { bits, log2_page }, is_timed, ..Self::default() }
    }

    /// Records the completion of the next request.
    pub fn record(&mut self, request: &Request, completion: &Completion) {
        self.recorded += 1;
        self.record_times(request, completion);
        if let Some(&(end, _)) = self.ends.front()
            && end == self.recorded
            && let Some((_, counters)) = self.ends.pop_front()
        {
            self.end_interval(counters);
        }
    }

    fn record_times(&mut self, request: &Request, completion: &Completion) {
        let latency = completion.done_ns - completion.arrival_ns;
        if self.is_timed {
            assert_eq!(completion.blame.total(), latency, "blame explains the latency");
            let (begin, end) = self.span_ns.get_or_insert((completion.arrival_ns, 0));
            *begin = (*begin).min(completion.arrival_ns);
            *end = (*end).max(completion.done_ns);
        }
        let kind = match request.op {
            Op::Read => &mut self.read,
            Op::Write => &mut self.write,
            Op::Trim | Op::Flush => return,
        };
        self.touched.add(request);
        if !self.is_timed {
            kind.count += 1;
            self.interval.count += 1;
            return;
        }
        kind.record(latency);
        self.interval.record(latency);
        if let Some(distributions) = &mut self.distributions {
            distributions.record(request.op, &completion.blame);
        }
        for (sum, ns) in self.blame_ns.iter_mut().zip(completion.blame.0) {
            *sum += u128::from(ns);
        }
    }

    /// Ends an interval of the timeline with request number `requests`, counted from 1. This
    /// request has begun and may be incomplete. `now` has the counters when it began.
    pub fn end_interval_at(&mut self, requests: u64, now: Counters) {
        match self.recorded == requests {
            true => self.end_interval(now),
            false => self.ends.push_back((requests, now)),
        }
    }

    /// Returns a copy in which the current interval ends now. `now` has the current counters.
    pub fn so_far(&self, now: Counters) -> Self {
        let mut metrics = self.clone();
        if metrics.interval.count() > 0 {
            metrics.end_interval(now);
        }
        metrics
    }

    /// Returns the number of pages touched by a read or a write.
    pub fn footprint_pages(&self) -> u64 {
        self.touched.bits.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Returns the seconds from the first arrival to the last completion, if time is simulated.
    pub fn seconds(&self) -> Option<f64> {
        self.span_ns.map(|(begin, end)| (end - begin) as f64 / 1e9)
    }

    fn end_interval(&mut self, now: Counters) {
        let was = &self.before;
        let host = now.host.write_pages - was.host.write_pages;
        let bytes = now.host.write_bytes - was.host.write_bytes;
        let amplification = amplification(was, &now, 1 << self.touched.log2_page);
        let (hits, misses) = (now.map.hits - was.map.hits, now.map.misses - was.map.misses);
        let latencies = std::mem::take(&mut self.interval);
        let of = |causes: &[Cause]| -> u64 {
            let by = |counters: &Counters, cause| counters.flash.programs[cause as usize];
            causes.iter().map(|&cause| by(&now, cause) - by(was, cause)).sum()
        };
        let timeline = &mut self.timeline;
        let end = self.span_ns.map(|(_, end)| end as f64 / 1e9);
        let before = timeline.seconds.last().copied().flatten();
        let begin = before.or(self.span_ns.map(|(begin, _)| begin as f64 / 1e9));
        let seconds = end.zip(begin).map(|(end, begin)| end - begin);
        let rate = seconds.filter(|&seconds| seconds > 0.0).map(|it| bytes as f64 / it / 1e6);
        timeline.write_mb_s.push(rate);
        timeline.host_pages.push(now.host.write_pages);
        timeline.host_bytes.push(now.host.write_bytes);
        timeline.seconds.push(end);
        timeline.write_amplification.push(amplification);
        timeline.page_write_amplification.push(ratio(programs(&now) - programs(was), host));
        timeline.hit_ratio.push(ratio(hits, hits + misses));
        timeline.mean_us.push(latencies.mean_us());
        timeline.p50_us.push(latencies.at(1, 2));
        timeline.p99_us.push(latencies.at(99, 100));
        timeline.p999_us.push(latencies.at(999, 1000));
        timeline.max_us.push(latencies.longest());
        timeline.gc_programs.push(of(&[Cause::Gc]));
        timeline.map_programs.push(of(&[Cause::Map, Cause::GcMap, Cause::Remap, Cause::Journal]));
        timeline.merge_programs.push(of(&[Cause::Merge]));
        timeline.fold_programs.push(of(&[Cause::Fold]));
        self.all.add(&latencies);
        self.before = now;
    }
}

#[cfg(test)]
mod tests;
