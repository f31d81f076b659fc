//! Recent history of the drive: at first one sample a second. Whenever there are too many samples,
//! pairs are merged and the interval doubles.

use floatgate_ftl::device::Counters;
use serde::Serialize;

use crate::metrics::{programs, ratio};

/// Maximum number of samples. When it is reached, pairs of neighbours are merged.
const SAMPLES_MAX: usize = 512;

/// Columns with an entry per interval. A column ending in `_max` or `_min` has the extreme over the
/// original samples, so that peaks survive when samples are merged.
#[derive(Debug, Default, Serialize)]
pub(super) struct Samples {
    pub interval_s: f64,
    pub at_s: Vec<f64>,
    pub write_amplification: Vec<Option<f64>>,
    pub write_amplification_max: Vec<Option<f64>>,
    pub hit_ratio: Vec<Option<f64>>,
    pub hit_ratio_min: Vec<Option<f64>>,
    pub host_mb_s: Vec<f64>,
    pub host_mb_s_max: Vec<f64>,
    pub requests_s: Vec<f64>,
    pub requests_s_max: Vec<f64>,
    /// Smallest number of free units.
    pub free_units: Vec<u32>,
    /// Largest 99th percentile of the response times.
    pub p99_us: Vec<Option<f64>>,
}

/// Counts of an interval, with its extremes.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    at_s: u32,
    seconds: u32,
    media_bytes: u64,
    written_bytes: u64,
    host_bytes: u64,
    requests: u64,
    hits: u64,
    misses: u64,
    free_units: u32,
    p99_us: Option<f64>,
    write_amplification_max: Option<f64>,
    hit_ratio_min: Option<f64>,
    host_mb_s_max: f64,
    requests_s_max: f64,
}

impl Sample {
    /// Returns the difference of two readings of the counters.
    fn between(was: &Counters, now: &Counters, page_bytes: u32) -> Self {
        let requests = |counters: &Counters| counters.host.requests.iter().sum::<u64>();
        let written_bytes = now.host.write_bytes - was.host.write_bytes;
        let read_bytes = now.host.read_bytes - was.host.read_bytes;
        Self {
            media_bytes: (programs(now) - programs(was)) * u64::from(page_bytes),
            written_bytes,
            host_bytes: written_bytes + read_bytes,
            requests: requests(now) - requests(was),
            hits: now.map.hits - was.map.hits,
            misses: now.map.misses - was.map.misses,
            ..Self::default()
        }
    }

    /// A fresh sample: its minimum and maximum equal its value.
    fn into_fresh(self) -> Self {
        Self {
            write_amplification_max: self.write_amplification(),
            hit_ratio_min: self.hit_ratio(),
            host_mb_s_max: self.host_mb_s(),
            requests_s_max: self.requests_s(),
            ..self
        }
    }

    /// Merges this sample with the next.
    fn merge(self, next: Self) -> Self {
        let of = |pick: fn(f64, f64) -> f64, one: Option<f64>, other: Option<f64>| {
            one.zip(other).map(|(one, other)| pick(one, other)).or(one).or(other)
        };
        let (wa, next_wa) = (self.write_amplification_max, next.write_amplification_max);
        Self {
            at_s: next.at_s,
            seconds: self.seconds + next.seconds,
            media_bytes: self.media_bytes + next.media_bytes,
            written_bytes: self.written_bytes + next.written_bytes,
            host_bytes: self.host_bytes + next.host_bytes,
            requests: self.requests + next.requests,
            hits: self.hits + next.hits,
            misses: self.misses + next.misses,
            free_units: self.free_units.min(next.free_units),
            p99_us: of(f64::max, self.p99_us, next.p99_us),
            write_amplification_max: of(f64::max, wa, next_wa),
            hit_ratio_min: of(f64::min, self.hit_ratio_min, next.hit_ratio_min),
            host_mb_s_max: self.host_mb_s_max.max(next.host_mb_s_max),
            requests_s_max: self.requests_s_max.max(next.requests_s_max),
        }
    }

    fn write_amplification(&self) -> Option<f64> {
        ratio(self.media_bytes, self.written_bytes)
    }

    fn hit_ratio(&self) -> Option<f64> {
        ratio(self.hits, self.hits + self.misses)
    }

    fn host_mb_s(&self) -> f64 {
        self.host_bytes as f64 / 1e6 / f64::from(self.seconds)
    }

    fn requests_s(&self) -> f64 {
        self.requests as f64 / f64::from(self.seconds)
    }
}

/// The samples, and the counters at the last sample.
#[derive(Debug)]
pub(super) struct History {
    samples: Vec<Sample>,
    /// Seconds of an interval, then seconds since the last sample, then seconds since the counters
    /// were reset.
    interval: u32,
    waited: u32,
    seconds: u32,
    before: Counters,
}

impl Default for History {
    fn default() -> Self {
        let before = Counters::default();
        Self { samples: vec![], interval: 1, waited: 0, seconds: 0, before }
    }
}

impl History {
    pub fn samples(&self) -> Samples {
        fn column<T>(samples: &[Sample], of: impl Fn(&Sample) -> T) -> Vec<T> {
            samples.iter().map(of).collect()
        }
        let all = &self.samples;
        Samples {
            interval_s: self.interval.into(),
            at_s: column(all, |sample| sample.at_s.into()),
            write_amplification: column(all, Sample::write_amplification),
            write_amplification_max: column(all, |sample| sample.write_amplification_max),
            hit_ratio: column(all, Sample::hit_ratio),
            hit_ratio_min: column(all, |sample| sample.hit_ratio_min),
            host_mb_s: column(all, Sample::host_mb_s),
            host_mb_s_max: column(all, |sample| sample.host_mb_s_max),
            requests_s: column(all, Sample::requests_s),
            requests_s_max: column(all, |sample| sample.requests_s_max),
            free_units: column(all, |sample| sample.free_units),
            p99_us: column(all, |sample| sample.p99_us),
        }
    }

    /// Counts one second, and returns whether a sample is due.
    pub fn tick(&mut self) -> bool {
        (self.waited, self.seconds) = (self.waited + 1, self.seconds + 1);
        self.waited >= self.interval
    }

    pub fn add(&mut self, now: Counters, free_units: u32, p99_us: Option<f64>, page_bytes: u32) {
        let (at_s, seconds) = (self.seconds, self.waited);
        let counted = Sample::between(&self.before, &now, page_bytes);
        self.samples.push(Sample { at_s, seconds, free_units, p99_us, ..counted }.into_fresh());
        (self.before, self.waited) = (now, 0);
        if self.samples.len() == SAMPLES_MAX {
            self.samples = self.samples.chunks_exact(2).map(|two| two[0].merge(two[1])).collect();
            self.interval *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the history of a drive, given the pages written, the hits and the misses of each
    /// second.
    fn history(seconds: impl Iterator<Item = (u64, u64, u64)>) -> History {
        let (mut history, mut now) = (History::default(), Counters::default());
        for (second, (pages, hits, misses)) in seconds.enumerate() {
            now.host.write_bytes += pages * 1_000_000;
            now.flash.programs[0] += 2 * pages;
            now.host.requests[0] += pages;
            now.map.hits += hits;
            now.map.misses += misses;
            if history.tick() {
                history.add(now.clone(), 100 - second as u32 % 7, Some(pages as f64), 1_000_000);
            }
        }
        history
    }

    /// One second in 2,000 has a hundred times the usual load.
    #[test]
    fn a_peak_stays_however_long_the_drive_runs() {
        let (peak, all) = (101, 2000);
        let busy = |second| if second == peak { (400, 0, 9) } else { (4, 3, 1) };
        let samples = history((0..all).map(busy)).samples();
        assert!(samples.at_s.len() < SAMPLES_MAX, "{}", samples.at_s.len());
        let interval = samples.interval_s;
        assert!(samples.at_s.windows(2).all(|two| two[1] - two[0] == interval));
        let sums = |column: &[f64]| column.iter().sum::<f64>() * interval;
        let end_s = samples.at_s.last().unwrap();
        assert_eq!(sums(&samples.requests_s), 4.0 * end_s + 396.0, "nothing is left out");
        assert_eq!(sums(&samples.host_mb_s), 4.0 * end_s + 396.0);
        let at = peak / interval as usize;
        assert_eq!(samples.requests_s[at], 4.0 + 396.0 / interval);
        assert_eq!(samples.write_amplification[at], Some(2.0), "bytes programmed per byte written");
        let most = |column: &[f64]| column.iter().copied().fold(0.0, f64::max);
        // The busy second was one sample at first; later samples cover several seconds from the
        // start.
        assert_eq!((samples.requests_s_max[at], most(&samples.requests_s_max)), (400.0, 400.0));
        assert_eq!(most(&samples.host_mb_s_max), 400.0);
        assert_eq!(samples.p99_us[at], Some(400.0));
        assert_eq!(
            (samples.hit_ratio_min[at], samples.hit_ratio_min[at + 1]),
            (Some(0.0), Some(0.75))
        );
        let hits = 3.0 * (interval - 1.0);
        assert_eq!(samples.hit_ratio[at], Some(hits / (hits + 9.0 + interval - 1.0)));
        assert_eq!(samples.free_units[at], 95);
    }
}
