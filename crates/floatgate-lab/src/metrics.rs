//! What is measured over a run: latencies, what they went into, and how things changed meanwhile.

use floatgate_ftl::device::Counters;
use floatgate_ftl::nand::Cause;
use floatgate_ftl::request::{Completion, Op, Request};
use hdrhistogram::Histogram;
use serde::Serialize;

/// Latencies of one kind of request. Percentiles are within 0.1 %; mean and deviation are exact.
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

/// The latency of one kind of request, in microseconds; absent where there was none.
#[derive(Clone, Debug, Serialize)]
pub struct LatencySummary {
    requests: u64,
    mean_us: Option<f64>,
    stdev_us: Option<f64>,
    p50_us: Option<f64>,
    p95_us: Option<f64>,
    p99_us: Option<f64>,
    p999_us: Option<f64>,
    max_us: Option<f64>,
    /// Latency, and the fraction of requests that took no longer.
    cdf: Vec<(f64, f64)>,
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

    /// How many.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Mean in nanoseconds.
    fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    fn deviation(&self) -> Option<f64> {
        let mean = self.mean()?;
        let mean_of_squares = self.sum_of_squares as f64 / self.count as f64;
        Some((mean_of_squares - mean * mean).max(0.0).sqrt())
    }

    /// All figures, and the distribution up to the 99.9th percentile.
    pub fn summary(&self) -> LatencySummary {
        let at = |quantile: f64| {
            (self.count > 0).then(|| us(self.histogram.value_at_quantile(quantile)))
        };
        let fractions = (1..=99).map(|p| f64::from(p) / 100.0);
        let tail = (991..=999).map(|p| f64::from(p) / 1000.0);
        LatencySummary {
            requests: self.count,
            mean_us: self.mean().map(|ns| ns / 1000.0),
            stdev_us: self.deviation().map(|ns| ns / 1000.0),
            p50_us: at(0.5),
            p95_us: at(0.95),
            p99_us: at(0.99),
            p999_us: at(0.999),
            max_us: (self.count > 0).then(|| us(self.histogram.max())),
            cdf: fractions.chain(tail).filter_map(|q| Some((at(q)?, q))).collect(),
        }
    }
}

/// One entry per stretch of the run; the stretches have equally many requests.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Timeline {
    /// Pages written by the host since the start of the measurement, at the end of the stretch.
    pub host_pages: Vec<u64>,
    /// The device's clock at the end of the stretch.
    pub seconds: Vec<f64>,
    /// Of the stretch.
    pub write_amplification: Vec<Option<f64>>,
    /// Of the mapping cache, in the stretch.
    pub hit_ratio: Vec<Option<f64>>,
    /// Mean latency of the stretch's reads and writes.
    pub mean_us: Vec<Option<f64>>,
    /// Pages programmed by cleaning in the stretch.
    pub gc_programs: Vec<u64>,
    /// Translation pages programmed in the stretch, those of cleaning included.
    pub map_programs: Vec<u64>,
    /// Pages programmed by merges of log blocks in the stretch.
    pub merge_programs: Vec<u64>,
}

/// Everything that is measured.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    /// Reads and writes together.
    pub all: Latencies,
    /// Reads.
    pub read: Latencies,
    /// Writes.
    pub write: Latencies,
    /// What the latencies of `all` went into, summed.
    pub blame_ns: [u128; 8],
    /// Bytes asked for by reads.
    pub read_bytes: u64,
    /// Bytes of writes.
    pub write_bytes: u64,
    /// First arrival and last completion, in nanoseconds of the device's clock.
    pub interval: Option<(u64, u64)>,
    /// How things changed over the run.
    pub timeline: Timeline,
    touched: Touched,
    before: Stretch,
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
        for page in first..past {
            self.bits[(page >> 6) as usize] |= 1 << (page & 63);
        }
    }
}

/// Totals at the end of the stretch before.
#[derive(Clone, Debug, Default)]
struct Stretch {
    counters: Counters,
    requests: u64,
    sum_ns: u128,
}

/// Ratio of two counts; absent where the second is none.
pub fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// All programs.
pub fn programs(counters: &Counters) -> u64 {
    counters.flash.programs.iter().sum()
}

impl Metrics {
    /// For a drive of so many pages of 2^`log2_page` bytes.
    pub fn new(logical_pages: u32, log2_page: u32) -> Self {
        let bits = vec![0; logical_pages.div_ceil(64) as usize];
        Self { touched: Touched { bits, log2_page }, ..Self::default() }
    }

    /// Takes in what became of a batch.
    pub fn record(&mut self, batch: &[Request], done: &[Completion]) {
        assert_eq!(batch.len(), done.len(), "every request completes");
        for (request, completion) in batch.iter().zip(done) {
            let latency = completion.done_ns - completion.arrival_ns;
            assert_eq!(completion.blame.total(), latency, "blame explains the latency");
            let (begin, end) = self.interval.get_or_insert((completion.arrival_ns, 0));
            *begin = (*begin).min(completion.arrival_ns);
            *end = (*end).max(completion.done_ns);
            let kind = match request.op {
                Op::Read => {
                    self.read_bytes += request.length;
                    &mut self.read
                }
                Op::Write => {
                    self.write_bytes += request.length;
                    &mut self.write
                }
                Op::Trim | Op::Flush => continue,
            };
            kind.record(latency);
            self.all.record(latency);
            for (sum, part) in self.blame_ns.iter_mut().zip(completion.blame.0) {
                *sum += u128::from(part);
            }
            self.touched.add(request);
        }
    }

    /// Pages touched by a read or a write.
    pub fn footprint_pages(&self) -> u64 {
        self.touched.bits.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Ends a stretch of the timeline.
    pub fn end_stretch(&mut self, now: Counters) {
        let was = &self.before.counters;
        let host = now.host.write_pages - was.host.write_pages;
        let (hits, misses) = (now.map.hits - was.map.hits, now.map.misses - was.map.misses);
        let requests = self.all.count - self.before.requests;
        let latency = (self.all.sum - self.before.sum_ns) as f64 / 1000.0;
        let of = |causes: &[Cause]| -> u64 {
            let by = |counters: &Counters, cause| counters.flash.programs[cause as usize];
            causes.iter().map(|&cause| by(&now, cause) - by(was, cause)).sum()
        };
        let timeline = &mut self.timeline;
        timeline.host_pages.push(now.host.write_pages);
        timeline.seconds.push(self.interval.map_or(0.0, |(_, end)| end as f64 / 1e9));
        timeline.write_amplification.push(ratio(programs(&now) - programs(was), host));
        timeline.hit_ratio.push(ratio(hits, hits + misses));
        timeline.mean_us.push((requests > 0).then(|| latency / requests as f64));
        timeline.gc_programs.push(of(&[Cause::Gc]));
        timeline.map_programs.push(of(&[Cause::Map, Cause::GcMap, Cause::Remap, Cause::Journal]));
        timeline.merge_programs.push(of(&[Cause::Merge]));
        self.before = Stretch { counters: now, requests: self.all.count, sum_ns: self.all.sum };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_reach_as_far_as_the_latencies() {
        let mut latencies = Latencies::default();
        (1..=1000).for_each(|s| latencies.record(s * 1_000_000_000));
        let summary = latencies.summary();
        let near = |us: Option<f64>, s: f64| (us.unwrap() / 1e6 / s - 1.0).abs() < 0.002;
        assert!(near(summary.p50_us, 500.0) && near(summary.p99_us, 990.0), "{summary:?}");
        assert_eq!(summary.requests, 1000);
    }

    #[test]
    fn mean_and_deviation_are_exact() {
        let mut latencies = Latencies::default();
        [1000, 2000, 3000, 6000].into_iter().for_each(|ns| latencies.record(ns));
        let summary = latencies.summary();
        assert_eq!(summary.mean_us, Some(3.0));
        assert_eq!(summary.stdev_us, Some(3.5f64.sqrt()));
        assert_eq!(summary.max_us.map(f64::round), Some(6.0));
        assert!(summary.cdf.is_sorted());
        assert_eq!(Latencies::default().summary().p99_us, None);
    }
}
