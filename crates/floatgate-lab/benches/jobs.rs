//! Cost of jobs: eight jobs with 32 requests outstanding each, compared with a generator that makes
//! an equal number of requests in one stream of 256. As in `floatgate run`, a second thread makes
//! the requests, except for jobs on a clock: their order depends on the drive.
//!
//! `cargo bench -p floatgate-lab --bench jobs` fails if jobs take more than [`FACTOR_MAX`] times as
//! long. `FLOATGATE_BENCH_WRITES=10M` sets another number of requests.

use std::time::Instant;

use floatgate_lab::config::Config;
use floatgate_lab::jobs::JobSet;
use floatgate_lab::result::Facts;
use floatgate_lab::run::{Control, Options, run, run_jobs};
use floatgate_lab::units::parse_count;
use floatgate_lab::workload::{Feed, Workload, generator};
use serde_json::{Value, json};

const JOBS: u64 = 8;
const DEPTH: u64 = 32;
const PAGE: u64 = 4096;
const SPAN: u64 = 1 << 30;
/// Limit on the time of jobs relative to one stream.
const FACTOR_MAX: f64 = 1.3;
/// Number of turns of one run each; the medians count.
const TURNS: usize = 5;

fn main() {
    let writes = std::env::var("FLOATGATE_BENCH_WRITES").unwrap_or("2M".to_owned());
    let writes = parse_count(&writes).expect("FLOATGATE_BENCH_WRITES is a count such as 10M");
    for timing in ["none", "scheduled"] {
        // The clock costs ten times as much as the counting.
        let writes = if timing == "none" { 4 * writes } else { writes };
        let config = config(timing);
        let turns: Vec<_> =
            (0..TURNS).map(|_| (stream(&config, writes), jobs(&config, writes))).collect();
        let factor = median(turns.iter().map(|(stream, jobs)| jobs / stream));
        let each = |seconds: f64| seconds * 1e9 / writes as f64;
        println!(
            "timing {timing:9}  stream {:.0} ns a write, jobs {:.0} ns, factor {factor:.2}",
            each(median(turns.iter().map(|turn| turn.0))),
            each(median(turns.iter().map(|turn| turn.1)))
        );
        assert!(factor <= FACTOR_MAX, "jobs take {factor:.2} times as long as one stream");
    }
}

fn config(timing: &str) -> Config {
    let depth = (JOBS * DEPTH).to_string();
    let sets = [
        ("timing", timing),
        ("queue.depth", &depth),
        ("capacity.spare_factor", "0.2"),
        ("flash.pages_per_block", "256"),
    ];
    let sets: Vec<_> = sets.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Config::load(Some("small-nvme"), None, &sets).expect("these settings are right")
}

fn median(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = numbers.collect();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

fn options() -> Options<'static> {
    Options { span_bytes: SPAN, seed: 1, verify: false, start_cache: None }
}

fn stream(config: &Config, writes: u64) -> f64 {
    let spec = format!("uniform:span={SPAN},writes={writes}");
    let workload = generator(&spec, 1).expect("the text names a generator");
    let begin = Instant::now();
    let play = |requests: &mut dyn Workload| {
        run(config, requests, Facts::default(), options(), &Control::default())
    };
    Feed::ahead(workload, play).expect("the drive holds the span");
    begin.elapsed().as_secs_f64()
}

fn jobs(config: &Config, writes: u64) -> f64 {
    let jobs: Vec<Value> = (0..JOBS).map(|clone| job(clone, writes / JOBS)).collect();
    let text = json!({ "jobs": jobs }).to_string();
    let set = JobSet::new("jobs", &text, 1, None).expect("the description is right");
    let begin = Instant::now();
    let (facts, control) = (Facts::default(), Control::default());
    run_jobs(config, None, &set, facts, options(), &control).expect("the drive holds the span");
    begin.elapsed().as_secs_f64()
}

fn job(clone: u64, writes: u64) -> Value {
    json!({
        "name": "job", "clone": clone, "phase": 0, "group": 0, "waits_for": [],
        "offset": clone * (SPAN / JOBS), "size": SPAN / JOBS, "random": true,
        "directions": [{
            "op": "write", "sizes": {"low": PAGE, "high": PAGE, "split": [], "unaligned": false},
            "align": PAGE, "random_percent": 100, "rate": null, "zones": [],
        }],
        "read_percent": 50, "distribution": {"kind": "uniform", "shape": 0.0, "center": null},
        "each_once": false, "repeats": false, "seed": null, "depth": DEPTH,
        "refill_at": DEPTH - 1, "io_bytes": writes * PAGE, "continues": true, "loops": 1,
        "requests_max": null, "start_delay_ns": [0, 0], "ramp_ns": 0, "runtime_ns": null,
        "time_based": false, "ends_group": false, "poisson": false, "think_ns": 0,
        "think_requests": 1, "rate_ignores_think": false, "flush_every": [],
        "flushes_at_end": false, "handles": null,
    })
}
