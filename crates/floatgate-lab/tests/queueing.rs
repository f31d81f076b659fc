//! Waiting times compared with queueing theory: one die that serves reads in a constant time.

use floatgate_lab::config::Config;
use floatgate_lab::result::Facts;
use floatgate_lab::run::{Control, Options, RunError, run};
use floatgate_lab::workload::generator;
use serde_json::Value;

/// Microseconds of a page read: the service time.
const SERVICE_US: f64 = 50.0;

fn result(workload: &str, sets: &[(&str, &str)]) -> Value {
    let serial = [
        ("flash.read", "50us"),
        ("flash.bus", "none"),
        ("flash.channels", "1"),
        ("flash.dies", "1"),
        ("start.fill", "sequential"),
    ];
    let sets: Vec<(String, String)> =
        serial.iter().chain(sets).map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let config = Config::load(None, None, &sets).expect("these settings are right");
    let mut workload = generator(workload, 11).expect("a generator");
    let options =
        Options { span_bytes: workload.span_bytes(), seed: 5, verify: false, start_cache: None };
    let facts = Facts::default();
    match run(&config, &mut *workload, facts, options, &Control::default()) {
        Ok(result) => serde_json::to_value(&result).expect("a result can be printed"),
        Err(RunError::Config(error)) => panic!("{error}"),
        Err(error) => panic!("{error:?}"),
    }
}

fn mean_us(result: &Value) -> f64 {
    result["latency"]["all"]["mean_us"].as_f64().expect("requests were served")
}

/// Pollaczek and Khinchine for constant service: mean wait = load x service / 2 (1 - load).
#[test]
fn poisson_arrivals_wait_as_in_an_m_d_1_queue() {
    for (load, interarrival) in [(0.3, "166667ns"), (0.6, "83333ns"), (0.9, "55556ns")] {
        let workload = format!(
            "uniform:span=16MiB,reads=1,requests=6M,arrivals=exponential,\
             interarrival={interarrival}"
        );
        let result = result(&workload, &[("queue.depth", "65536")]);
        let wait = mean_us(&result) - SERVICE_US;
        let expected = load * SERVICE_US / (2.0 * (1.0 - load));
        let off = (wait / expected - 1.0).abs();
        assert!(off < 0.02, "load {load}: waited {wait:.3} us, expected {expected:.3}");
    }
}

#[test]
fn one_outstanding_request_never_waits() {
    let workload = "uniform:span=16MiB,reads=1,requests=10k";
    let result = result(workload, &[("queue.depth", "1"), ("queue.arrivals", "closed")]);
    assert_eq!(mean_us(&result), SERVICE_US);
    assert_eq!(result["latency"]["blame_us"]["queue"], 0.0);
}

#[test]
fn a_full_queue_is_waited_for_outside() {
    // Depth 4, one at a time: each request waits for the three before it in the device, and none
    // outside.
    let workload = "uniform:span=16MiB,reads=1,requests=10k";
    let result = result(workload, &[("queue.depth", "4"), ("queue.arrivals", "closed")]);
    assert!((mean_us(&result) - 4.0 * SERVICE_US).abs() < 0.1);
}
