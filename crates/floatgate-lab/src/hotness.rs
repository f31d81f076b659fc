//! Layout of hot and cold data in a workload: Table 1 and Figures 1 and 2 of the ETI paper
//! (Shafaei, Desnoyers and Fitzpatrick, HotStorage 2016) for any workload, from one pass over its
//! requests.
//!
//! The workload is split into sequences of a GB of writes. Within a sequence a page is hot if it is
//! written four times or more. It is cold if it is written less often or never. Means are taken
//! over the sequences. Further results: the skew of the writes in the whole workload, the distance
//! between writes to the same page, and the number of requests that continue the previous request.
//!
//! Memory: 32 to 40 bytes for each written page.

mod distances;
mod pages;
mod runs;
mod sequence;

use floatgate_ftl::request::{Op, Request};
use serde_json::{Value, json};

use crate::config::ConfigError;
use crate::run::{Control, RunError};
use crate::workload::Workload;
use distances::Distances;
use pages::Pages;
use runs::Runs;
use sequence::{Sequence, means};

/// Bytes of a page, in the paper and here.
pub const PAGE_BYTES: u64 = 4096;
/// Extents with fewer cold pages than this between them are merged. These are the x values of both
/// figures.
pub const GAPS: [u64; 11] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/// Requests between two checks of the control.
const BATCH: usize = 1024;
/// Shares of the pages, most written first, for which the result has the share of the writes.
const TOP: [f64; 16] =
    [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];

/// How the write of part of a page counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rounding {
    /// A write counts for every page that it touches.
    Cover,
    /// A write counts for the number of whole pages in its length, from the page in which it
    /// begins; possibly none.
    Truncate,
}

impl Rounding {
    /// The names with their values.
    pub const NAMES: [(&'static str, Self); 2] =
        [("cover", Self::Cover), ("truncate", Self::Truncate)];

    fn name(self) -> &'static str {
        Self::NAMES.iter().find(|name| name.1 == self).map_or("", |name| name.0)
    }
}

/// Options of the measurement.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Bytes of writes in a sequence.
    pub gb_bytes: u64,
    /// Writes that make a page hot.
    pub hot_from: u32,
    /// How the write of part of a page counts.
    pub rounding: Rounding,
    /// Whether a last sequence of less than a GB counts along with complete sequences.
    pub partial: bool,
}

impl Options {
    /// The paper's options, as far as it states them.
    pub const PAPER: Self =
        Self { gb_bytes: 1_000_000_000, hot_from: 4, rounding: Rounding::Cover, partial: false };
}

/// Results of the measurement.
#[derive(Debug)]
pub struct Hotness {
    options: Options,
    /// Sequences that count.
    sequences: Vec<Sequence>,
    /// Bytes of the last sequence if it is incomplete, and whether it counts.
    partial: Option<(u64, bool)>,
    write_requests: u64,
    written_bytes: u64,
    page_writes: u64,
    pages: Pages,
    distances: Distances,
    runs: [(&'static str, Runs); 3],
}

/// Measures a workload.
///
/// # Errors
/// Options out of range, a workload that cannot be read, or a cancelled run.
pub fn hotness(
    workload: &mut dyn Workload,
    options: Options,
    control: &Control,
) -> Result<Hotness, RunError> {
    if options.gb_bytes == 0 || options.hot_from == 0 {
        let what = if options.gb_bytes == 0 { "gb" } else { "hot_from" };
        return Err(ConfigError::new(format!("{what} = 0: expected at least 1")).into());
    }
    let mut found = Hotness::new(options);
    let mut batch = Vec::with_capacity(BATCH);
    control.begin("hotness", workload.requests());
    loop {
        batch.clear();
        workload.next_batch(&mut batch, BATCH)?;
        if batch.is_empty() {
            found.finish();
            return Ok(found);
        }
        for request in batch.iter().filter(|request| request.length > 0) {
            found.take(request);
        }
        control.advance(batch.len())?;
    }
}

impl Hotness {
    fn new(options: Options) -> Self {
        Self {
            options,
            sequences: Vec::new(),
            partial: None,
            write_requests: 0,
            written_bytes: 0,
            page_writes: 0,
            pages: Pages::new(),
            distances: Distances::new(),
            runs: ["all", "reads", "writes"].map(|kind| (kind, Runs::new())),
        }
    }

    fn take(&mut self, request: &Request) {
        let [all, reads, writes] = &mut self.runs;
        match request.op {
            Op::Trim | Op::Flush => return,
            Op::Read => [all, reads].map(|kind| kind.1.take(request)),
            Op::Write => [all, writes].map(|kind| kind.1.take(request)),
        };
        if request.op == Op::Write {
            self.write(request);
        }
    }

    fn write(&mut self, request: &Request) {
        let first = request.offset / PAGE_BYTES;
        let pages = match self.options.rounding {
            Rounding::Cover => (request.offset + request.length).div_ceil(PAGE_BYTES) - first,
            Rounding::Truncate => request.length / PAGE_BYTES,
        };
        for page in first..first + pages {
            self.page_writes += 1;
            match self.pages.write(page, self.page_writes) {
                Some(before) => self.distances.take(self.page_writes - before),
                None => self.distances.first(),
            }
        }
        self.write_requests += 1;
        self.written_bytes += request.length;
        let sequence = self.pages.sequence_mut();
        sequence.requests += 1;
        sequence.bytes += request.length;
        if sequence.bytes >= self.options.gb_bytes {
            let complete = self.pages.end_sequence(self.options.hot_from);
            self.sequences.push(complete);
        }
    }

    fn finish(&mut self) {
        let last = self.pages.end_sequence(self.options.hot_from);
        if last.requests > 0 {
            let counts = self.options.partial || self.sequences.is_empty();
            self.partial = Some((last.bytes, counts));
            if counts {
                self.sequences.push(last);
            }
        }
        self.runs.iter_mut().for_each(|kind| kind.1.finish());
    }

    /// Returns the sequences that count.
    pub fn sequences(&self) -> &[Sequence] {
        &self.sequences
    }

    /// Returns all results as JSON. A mean or share of an empty set is null.
    pub fn document(&self) -> Value {
        let gaps = GAPS.iter().enumerate().map(|(k, gap)| {
            json!({
                "gap_pages": gap,
                "extents": means(&self.sequences, |sequence| Some(sequence.extents[k] as f64)),
                "cold_writes_share": means(&self.sequences, |sequence| sequence.merged_share(k)),
            })
        });
        let counts = self.pages.counts();
        let mean = |of: fn(&Sequence) -> u64| means(&self.sequences, |one| Some(of(one) as f64));
        let runs = self.runs.iter().map(|(kind, runs)| ((*kind).to_owned(), runs.document()));
        json!({
            "page_bytes": PAGE_BYTES,
            "gb_bytes": self.options.gb_bytes,
            "hot_from": self.options.hot_from,
            "rounding": self.options.rounding.name(),
            "write_requests": self.write_requests,
            "written_bytes": self.written_bytes,
            "page_writes": self.page_writes,
            "written_pages": self.pages.len(),
            "sequences": self.sequences.len(),
            "partial_bytes": self.partial.map_or(0, |partial| partial.0),
            "partial_counted": self.partial.is_some_and(|partial| partial.1),
            "means": {
                "hot_pages": mean(|one| one.hot_pages),
                "cold_pages": mean(|one| one.cold_pages),
                "hot_writes": mean(|one| one.hot_writes),
                "cold_writes": mean(|one| one.cold_writes),
                "length_pages": means(&self.sequences, Sequence::length),
            },
            "extents": gaps.collect::<Vec<_>>(),
            "skew": {
                "gini": counts.gini(),
                "top": TOP.map(|share| json!({
                    "pages_share": share,
                    "writes_share": counts.top(share),
                })),
            },
            "overwrites": self.distances.document(),
            "sequentiality": Value::Object(runs.collect()),
            "each": self.sequences.iter().map(Sequence::document).collect::<Vec<_>>(),
        })
    }
}
