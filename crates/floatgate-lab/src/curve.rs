//! The miss-ratio curve of the mapping cache: the hit ratio of an LRU cache of map entries, of
//! every size, from one pass over a workload.
//!
//! It answers how much memory for the map a workload needs, and says nothing about time or wear.
//! The accesses are those that a drive makes: every page that a read or write touches, in ascending
//! order, a page that is covered in part once. A flush makes none. For a workload without trims the
//! hits are exactly those of a drive with `mapping.scheme = "dftl"`, `dftl.replacement = "lru"` and
//! an empty start, at every size of the cache. What a trim accesses depends on what is cached, so
//! it belongs to no curve: trims are left out, and counted.
//!
//! Either all accesses are looked at (`exact`), or those to a share of the pages (`sampled`).

mod exact;
mod hits;
mod sampled;
mod stack;
mod table;

use std::ops::Range;

use floatgate_ftl::addr::PAGE_MAX;
use floatgate_ftl::request::{Op, Request};
use serde_json::{Value, json};

pub use sampled::Sample;

use crate::config::ConfigError;
use crate::run::{Control, RunError};
use crate::workload::Workload;
use exact::Exact;
use hits::Hits;
use sampled::Sampled;

/// Bytes of a cached entry: those of `dftl.entry_bytes`, a page's number and its place.
pub const ENTRY_BYTES: u64 = 8;
/// Percentages of the reachable hits for which the result says what is needed.
pub const PERCENTAGES: [u32; 5] = [50, 80, 90, 95, 99];

/// Requests that are looked at between two looks at the control.
const BATCH: usize = 1024;
/// Points that divide the sizes evenly, as ratios; powers of two come on top.
const POINTS: u32 = 160;

/// How a curve is made.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Bytes of a page: a power of two from 512.
    pub page_bytes: u64,
    /// Share of the pages to look at, above 0 and at most 1; none for the exact curve.
    pub sample: Option<f64>,
}

/// A curve, and what it is of.
#[derive(Clone, Debug)]
pub struct MapCurve {
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Pages touched by reads and writes, counted each time.
    pub accesses: u64,
    /// Different pages; estimated if there is a sample.
    pub distinct_pages: u64,
    /// Trims that the workload has and the curve has not.
    pub trims_ignored: u64,
    /// The sample; none if the curve is exact.
    pub sample: Option<Sample>,
    hits: Hits,
}

/// Where the accesses go.
trait Touched {
    /// Consecutive pages are accessed, one after the other.
    fn touch(&mut self, pages: Range<u32>);
}

/// What is counted on the way.
#[derive(Clone, Copy, Default)]
struct Counts {
    accesses: u64,
    trims: u64,
}

/// The curve of a workload.
///
/// # Errors
/// Options out of range, a span of more pages than a drive can have, a sample of hardly any pages;
/// or it was cancelled.
pub fn map_curve(
    workload: &mut dyn Workload,
    options: Options,
    control: &Control,
) -> Result<MapCurve, RunError> {
    let page_bytes = options.page_bytes;
    check(page_bytes, workload.span_bytes())?;
    let curve = |counts: Counts, distinct_pages, sample, hits| MapCurve {
        page_bytes,
        accesses: counts.accesses,
        distinct_pages,
        trims_ignored: counts.trims,
        sample,
        hits,
    };
    match options.sample {
        None => {
            let mut exact = Exact::new();
            let counts = pass(workload, page_bytes, control, &mut exact)?;
            let (hits, pages) = exact.finish();
            Ok(curve(counts, pages, None, hits))
        }
        Some(rate) => {
            let mut sampled = Sampled::new(rate)?;
            let counts = pass(workload, page_bytes, control, &mut sampled)?;
            let (hits, sample) = sampled.finish(counts.accesses)?;
            let pages = (sample.pages as f64 / sample.rate).round() as u64;
            Ok(curve(counts, pages, Some(sample), hits))
        }
    }
}

fn check(page_bytes: u64, span_bytes: u64) -> Result<(), ConfigError> {
    if page_bytes < 512 || !page_bytes.is_power_of_two() {
        return Err(ConfigError::new(format!(
            "page = {page_bytes} bytes: expected a power of two, at least 512"
        )));
    }
    let pages = span_bytes.div_ceil(page_bytes);
    if pages > u64::from(PAGE_MAX) + 1 {
        return Err(ConfigError::new(format!(
            "the workload spans {pages} pages of {page_bytes} bytes: expected at most {}",
            u64::from(PAGE_MAX) + 1
        )));
    }
    Ok(())
}

fn pass(
    workload: &mut dyn Workload,
    page_bytes: u64,
    control: &Control,
    touched: &mut impl Touched,
) -> Result<Counts, RunError> {
    let mut counts = Counts::default();
    let mut batch = Vec::with_capacity(BATCH);
    control.begin("curve", workload.requests());
    loop {
        batch.clear();
        workload.next_batch(&mut batch, BATCH)?;
        if batch.is_empty() {
            return Ok(counts);
        }
        for request in &batch {
            match request.op {
                Op::Read | Op::Write => {
                    let pages = pages(request, page_bytes.trailing_zeros());
                    counts.accesses += u64::from(pages.end - pages.start);
                    touched.touch(pages);
                }
                Op::Trim => counts.trims += 1,
                Op::Flush => {}
            }
        }
        control.advance(batch.len())?;
    }
}

/// The pages that a request touches, whole or in part. No bytes are no pages.
#[inline(always)]
fn pages(request: &Request, log2_page_bytes: u32) -> Range<u32> {
    if request.length == 0 {
        return 0..0;
    }
    // Page numbers fit: the span has been checked.
    let first = request.offset >> log2_page_bytes;
    let last = (request.offset + request.length - 1) >> log2_page_bytes;
    first as u32..last as u32 + 1
}

impl MapCurve {
    /// Accesses that find their entry in a cache of `entries`: a whole number if the curve is
    /// exact. None for a size that is too small for the sample.
    pub fn hits_at(&self, entries: u64) -> Option<f64> {
        (entries >= self.smallest_entries()).then(|| self.hits.at(entries as f64))
    }

    /// [`MapCurve::hits_at`] as a share of the accesses; none either if there were no accesses.
    pub fn hit_ratio_at(&self, entries: u64) -> Option<f64> {
        let hits = self.hits_at(entries)?;
        (self.accesses > 0).then(|| hits / self.accesses as f64)
    }

    /// Share of the accesses that a cache of everything has: all but the first to each page.
    pub fn hit_ratio_max(&self) -> Option<f64> {
        (self.accesses > 0).then(|| self.hits.reachable() / self.accesses as f64)
    }

    /// Entries of the smallest cache that has `percent` (0 to 100) of the hits that can be had. Of
    /// a sampled curve not less than its first point.
    pub fn entries_for(&self, percent: u32) -> u64 {
        self.hits.entries_for(percent, self.smallest_entries(), self.largest_entries())
    }

    /// The hit ratio at `entries` is less than this away from the exact one, in 19 of 20 cases. 0
    /// if it is exact itself.
    pub fn error_at(&self, entries: u64) -> f64 {
        let error = |sample: &Sample| sample.error_at(entries, &self.hits, self.accesses);
        self.sample.as_ref().map_or(0.0, error)
    }

    /// The mean of [`MapCurve::error_at`] over the points, which in 19 of 20 cases is more than
    /// the mean absolute error.
    pub fn expected_error(&self) -> f64 {
        let points = self.points();
        let sum: f64 = points.iter().map(|&entries| self.error_at(entries)).sum();
        sum / points.len().max(1) as f64
    }

    /// Sizes that show the curve: some 200 in even ratios, powers of two among them, ascending.
    /// From the smallest about which something is known, to one that holds every page.
    pub fn points(&self) -> Vec<u64> {
        if self.accesses == 0 {
            return Vec::new();
        }
        let (from, to) = (self.smallest_entries(), self.largest_entries());
        let growth = libm::log(to as f64 / from as f64) / f64::from(POINTS);
        let even = (0..=POINTS).map(|n| from as f64 * libm::exp(growth * f64::from(n)));
        let even = even.map(|entries| (entries.round() as u64).clamp(from, to));
        let powers = (0..32).map(|n| 1u64 << n).filter(|power| (from..=to).contains(power));
        let mut points: Vec<u64> = even.chain(powers).chain([to]).collect();
        points.sort_unstable();
        points.dedup();
        points
    }

    /// Everything as JSON, sizes in entries and in bytes of [`ENTRY_BYTES`] each. A ratio of
    /// nothing is null.
    pub fn document(&self) -> Value {
        let point = |entries: u64| {
            json!({
                "entries": entries,
                "bytes": entries * ENTRY_BYTES,
                "hit_ratio": self.hit_ratio_at(entries),
                "error": self.error_at(entries),
            })
        };
        let needed = PERCENTAGES.map(|percent| {
            let mut row = point(self.entries_for(percent));
            row["percent"] = json!(percent);
            row
        });
        json!({
            "page_bytes": self.page_bytes,
            "entry_bytes": ENTRY_BYTES,
            "accesses": self.accesses,
            "distinct_pages": self.distinct_pages,
            "trims_ignored": self.trims_ignored,
            "hit_ratio_max": self.hit_ratio_max(),
            "sample": self.sample.as_ref().map(|sample| json!({
                "rate": sample.rate,
                "pages": sample.pages,
                "accesses": sample.accesses,
            })),
            "expected_error": self.expected_error(),
            "points": self.points().into_iter().map(point).collect::<Vec<_>>(),
            "needed": if self.accesses > 0 { json!(needed) } else { json!([]) },
        })
    }

    fn smallest_entries(&self) -> u64 {
        self.sample.as_ref().map_or(1, |sample| sample.smallest_entries)
    }

    /// Enough for every page; a sample's own pages take up to one more of its steps.
    fn largest_entries(&self) -> u64 {
        self.distinct_pages.max(self.smallest_entries())
    }
}
