//! Jobs of job files as closed loops on a drive.

mod clock;
mod equal;

use floatgate_lab::config::Config;
use floatgate_lab::jobs::JobSet;
use floatgate_lab::result::{Facts, RunResult};
use floatgate_lab::run::{Control, Options, RunError, run, run_jobs};
use floatgate_lab::workload::generator;
use serde_json::{Value, json};

const PAGE: u64 = 4096;
const SEED: u64 = 7;

/// Returns a job that writes 1,024 pages in order, with changes.
fn job(changes: Value) -> Value {
    let size = 1024 * PAGE;
    let mut job = json!({
        "name": "job", "clone": 0, "phase": 0, "group": 0, "waits_for": [], "offset": 0,
        "size": size, "random": false, "directions": [direction("write", json!({}))],
        "read_percent": 50, "distribution": {"kind": "uniform", "shape": 0.0, "center": null},
        "each_once": false, "repeats": false, "seed": null, "depth": 8, "refill_at": 7,
        "io_bytes": size, "continues": false, "loops": 1, "requests_max": null,
        "start_delay_ns": [0, 0], "ramp_ns": 0, "runtime_ns": null, "time_based": false,
        "ends_group": false, "poisson": false, "think_ns": 0, "think_requests": 1,
        "rate_ignores_think": false, "flush_every": [], "flushes_at_end": false, "handles": null,
    });
    merge(&mut job, changes);
    job
}

fn direction(op: &str, changes: Value) -> Value {
    let mut direction = json!({
        "op": op, "sizes": {"low": PAGE, "high": PAGE, "split": [], "unaligned": false},
        "align": PAGE, "random_percent": 100, "rate": null, "zones": [],
    });
    merge(&mut direction, changes);
    direction
}

fn merge(into: &mut Value, changes: Value) {
    if let (Some(into), Value::Object(changes)) = (into.as_object_mut(), changes) {
        into.extend(changes);
    }
}

/// Settings of a drive for a span of 4 MiB, small enough to clean.
const SMALL: [(&str, &str); 2] =
    [("flash.pages_per_block", "16"), ("capacity.spare_factor", "0.2")];

fn config(device: &str, sets: &[(&str, &str)]) -> Config {
    let sets: Vec<_> = sets.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Config::load(Some(device), None, &sets).expect("these settings are right")
}

fn options(span_bytes: u64) -> Options<'static> {
    Options { span_bytes, seed: SEED, verify: false, start_cache: None }
}

fn tried(config: &Config, jobs: &[Value], limit: Option<u64>) -> Result<RunResult, String> {
    let text = json!({ "jobs": jobs }).to_string();
    let set = JobSet::new("jobs", &text, SEED, limit).map_err(|error| error.to_string())?;
    let options = options(set.summary().span_bytes);
    let result = run_jobs(config, None, &set, Facts::default(), options, &Control::default());
    result.map_err(|error: RunError| error.to_string())
}

fn played(config: &Config, jobs: &[Value]) -> RunResult {
    tried(config, jobs, None).expect("these jobs are right")
}

fn generated(config: &Config, spec: &str) -> RunResult {
    let mut workload = generator(spec, SEED).expect(spec);
    let options = options(workload.span_bytes());
    match run(config, workload.as_mut(), Facts::default(), options, &Control::default()) {
        Ok(result) => result,
        Err(error) => panic!("{error}"),
    }
}
