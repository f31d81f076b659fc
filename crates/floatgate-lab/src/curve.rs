//! The miss-ratio curve of the mapping cache: the hit ratio of an LRU cache of map entries, at
//! every size, from one pass over a workload.
//!
//! The curve answers how much memory for the map a workload needs. It says nothing about time or
//! wear. A read or write makes one access to each page that it covers in full or in part, in
//! ascending order, as a drive does. A flush makes no access. For a workload without trims the hits
//! equal, at every cache size, the hits of a drive with `mapping.scheme = "dftl"`,
//! `dftl.replacement = "lru"` and an empty start. The accesses of a trim depend on the cached
//! entries, so no curve can include them: the pass leaves trims out, and counts them.
//!
//! The pass looks either at all accesses (`exact`), or at the accesses to a share of the pages
//! (`sampled`).

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

/// Bytes of a cached entry: a page number and its physical address, as in `dftl.entry_bytes`.
pub const ENTRY_BYTES: u64 = 8;
/// Percentages of the reachable hits for which the result states the cache size needed.
pub const PERCENTAGES: [u32; 5] = [50, 80, 90, 95, 99];

/// Requests that the pass handles between two checks of its control.
const BATCH: usize = 1024;
/// Points at equal ratios from the smallest size to the largest; the powers of two are added to
/// them.
const POINTS: u32 = 160;

/// Settings of a curve.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Bytes of a page: a power of two from 512.
    pub page_bytes: u64,
    /// Share of the pages to sample, above 0 and at most 1; none for the exact curve.
    pub sample: Option<f64>,
}

/// A curve, with the counts of its workload.
#[derive(Clone, Debug)]
pub struct MapCurve {
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Pages touched by reads and writes, counted each time.
    pub accesses: u64,
    /// Distinct pages; an estimate if the curve is sampled.
    pub distinct_pages: u64,
    /// Trims of the workload, which the curve ignores.
    pub trims_ignored: u64,
    /// The sample; none if the curve is exact.
    pub sample: Option<Sample>,
    hits: Hits,
}

/// Consumer of the page accesses of a workload.
trait Touched {
    /// Accesses consecutive pages, one after the other.
    fn touch(&mut self, pages: Range<u32>);
}

/// Counts of one pass over a workload.
#[derive(Clone, Copy, Default)]
struct Counts {
    accesses: u64,
    trims: u64,
}

/// Computes the curve of a workload.
///
/// # Errors
/// Options out of range, a span of more pages than a drive can have, a sample of hardly any pages;
/// or the caller cancelled the pass.
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

/// Returns the pages that a request touches, whole or in part. A request of no bytes touches no
/// page.
#[inline(always)]
fn pages(request: &Request, log2_page_bytes: u32) -> Range<u32> {
    if request.length == 0 {
        return 0..0;
    }
    // Page numbers fit: `check` has limited the span.
    let first = request.offset >> log2_page_bytes;
    let last = (request.offset + request.length - 1) >> log2_page_bytes;
    first as u32..last as u32 + 1
}

impl MapCurve {
    /// Returns the accesses that find their entry in a cache of `entries`: a whole number if the
    /// curve is exact. None for a size that is too small for the sample.
    pub fn hits_at(&self, entries: u64) -> Option<f64> {
        (entries >= self.smallest_entries()).then(|| self.hits.at(entries as f64))
    }

    /// [`MapCurve::hits_at`] as a share of the accesses; none as well if there were no accesses.
    pub fn hit_ratio_at(&self, entries: u64) -> Option<f64> {
        let hits = self.hits_at(entries)?;
        (self.accesses > 0).then(|| hits / self.accesses as f64)
    }

    /// Hit ratio of a cache that holds every entry: every access hits, except the first to each
    /// page.
    pub fn hit_ratio_max(&self) -> Option<f64> {
        (self.accesses > 0).then(|| self.hits.reachable() / self.accesses as f64)
    }

    /// Returns the entries of the smallest cache that has `percent` (0 to 100) of the reachable
    /// hits. For a sampled curve the answer is at least the first point of the curve.
    pub fn entries_for(&self, percent: u32) -> u64 {
        self.hits.entries_for(percent, self.smallest_entries(), self.largest_entries())
    }

    /// Error bound of the hit ratio at `entries`: the exact ratio differs by less than this in 19
    /// of 20 cases. 0 if the curve is exact.
    pub fn error_at(&self, entries: u64) -> f64 {
        let error = |sample: &Sample| sample.error_at(entries, &self.hits, self.accesses);
        self.sample.as_ref().map_or(0.0, error)
    }

    /// The mean of [`MapCurve::error_at`] over the points. In 19 of 20 cases it is larger than the
    /// mean absolute error.
    pub fn expected_error(&self) -> f64 {
        let points = self.points();
        let sum: f64 = points.iter().map(|&entries| self.error_at(entries)).sum();
        sum / points.len().max(1) as f64
    }

    /// Cache sizes at which to plot the curve, ascending: some 200 at equal ratios, with powers of
    /// two among them. They run from the smallest size that the curve covers to one that holds
    /// every page.
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

    /// Returns the curve as JSON, with sizes in entries and in bytes of [`ENTRY_BYTES`] each. A
    /// ratio without accesses is null.
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

    /// Entries that are enough for every page. The pages of a sample may need up to one more step
    /// of the sample.
    fn largest_entries(&self) -> u64 {
        self.distinct_pages.max(self.smallest_entries())
    }
}
