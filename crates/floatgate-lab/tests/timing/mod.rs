//! The keys of the clock in whole runs. Each key has an expectation from its definition: a hand
//! calculation for a few requests, or a bound that is met exactly.

mod flash;
mod host;
mod lanes;
mod pacing;
mod schedule;
mod window;

use floatgate_ftl::request::{Op, Request};
use floatgate_lab::config::Config;
use floatgate_lab::result::{Facts, LatencySummary, RunResult};
use floatgate_lab::run::{Control, Options, run};
use floatgate_lab::workload::{Recorded, Workload, generator};

type Sets<'a> = &'a [(&'a str, &'a str)];

const PAGE: u64 = 4096;

/// Cells take 50 us and 200 us, transfers 10 us. The pages lie in order.
const DRIVE: Sets<'_> = &[
    ("flash.read", "50us"),
    ("flash.program", "200us"),
    ("flash.erase", "1ms"),
    ("flash.bus", "409600KB/s"),
    ("start.fill", "sequential"),
];
/// An empty drive: writes need no cleaning.
const EMPTY: (&str, &str) = ("start.fill", "none");
/// The queue is kept full.
const CLOSED: (&str, &str) = ("queue.arrivals", "closed");
const ALONE: Sets<'_> = &[CLOSED, ("queue.depth", "1")];

fn load(sets: Sets<'_>) -> Result<Config, String> {
    let sets: Vec<_> = [DRIVE, sets].concat();
    let sets: Vec<_> = sets.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
    Config::load(None, None, &sets).map_err(|error| error.to_string())
}

fn serve(workload: &mut dyn Workload, sets: Sets<'_>) -> RunResult {
    serve_on(4 << 20, workload, sets)
}

fn serve_on(span_bytes: u64, workload: &mut dyn Workload, sets: Sets<'_>) -> RunResult {
    let options = Options { span_bytes, seed: 1, verify: false, start_cache: None };
    let config = load(sets).unwrap();
    run(&config, workload, Facts::default(), options, &Control::default()).unwrap()
}

/// Runs a generator's requests.
fn generated(spec: &str, sets: Sets<'_>) -> RunResult {
    serve(&mut *generator(&format!("{spec},span=4MiB"), 1).unwrap(), sets)
}

/// Runs a generator's requests on a drive for a larger span, which the text names.
fn serve_over(span_bytes: u64, spec: &str, sets: Sets<'_>) -> RunResult {
    serve_on(span_bytes, &mut *generator(spec, 1).unwrap(), sets)
}

/// Runs these requests.
fn asked(requests: &[Request], sets: Sets<'_>) -> RunResult {
    let mut recorded = Recorded::new("requests", 1, 1.0).unwrap();
    recorded.push(requests).unwrap();
    serve(&mut recorded, sets)
}

/// Makes a request at a time in microseconds, for `pages` pages starting at `page`.
fn ask(op: Op, at_us: u64, page: u64, pages: u64) -> Request {
    Request { at_ns: 1000 * at_us, op, offset: page * PAGE, length: pages * PAGE, stream: 0 }
}

/// Makes `count` requests at once, each for the next page.
fn each(op: Op, count: u64) -> Vec<Request> {
    (0..count).map(|page| ask(op, 0, page, 1)).collect()
}

#[track_caller]
fn assert_close(given: f64, expected: f64) {
    assert!((given - expected).abs() <= 1e-9 * expected.abs(), "{given} is not {expected}");
}

/// Returns the sum of the latencies, in microseconds.
fn total_us(summary: &LatencySummary) -> f64 {
    summary.mean_us.unwrap() * summary.requests as f64
}

/// Returns the time from the first arrival to the last completion, in microseconds.
fn span_us(result: &RunResult) -> f64 {
    result.throughput.device_seconds.unwrap() * 1e6
}
