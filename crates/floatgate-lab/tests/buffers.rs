//! Write buffers and kinds of queue in whole, verified runs over every translation layer: each read
//! returns the last written data, and the counts agree.

use floatgate_lab::config::{Config, ConfigError};
use floatgate_lab::result::Facts;
use floatgate_lab::run::{Control, Options, RunError, run};
use floatgate_lab::workload::generator;
use serde_json::Value;

type Sets<'a> = &'a [(&'a str, &'a str)];

fn config(sets: Sets<'_>) -> Result<Config, ConfigError> {
    let sets: Vec<_> = sets.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Config::load(None, None, &sets)
}

fn result(workload: &str, sets: Sets<'_>) -> Value {
    let small = [("flash.page", "512B"), ("flash.pages_per_block", "16"), ("flash.channels", "2")];
    let config = config(&[&small, sets].concat()).expect("these settings are right");
    let mut workload = generator(workload, 1).expect("a generator");
    let options =
        Options { span_bytes: workload.span_bytes(), seed: 5, verify: true, start_cache: None };
    let facts = Facts::default();
    match run(&config, &mut *workload, facts, options, &Control::default()) {
        Ok(result) => serde_json::to_value(&result).expect("a result can be printed"),
        Err(RunError::Config(error)) => panic!("{error}"),
        Err(error) => panic!("{error:?}"),
    }
}

fn count(result: &Value, section: &str, key: &str) -> u64 {
    result[section][key].as_u64().expect("a count")
}

const BUFFERS: [&str; 7] = ["page_lru", "lru", "ncq_lru", "fab", "bplru", "clc", "belady"];
const LAYERS: [&[(&str, &str)]; 4] = [
    &[("ftl.scheme", "page")],
    &[("mapping.scheme", "dftl"), ("mapping.cache", "512B"), ("placement.scheme", "eti")],
    &[("ftl.scheme", "bast")],
    &[("ftl.scheme", "fast")],
];
/// Reads, trims, flushes, and writes of partial pages.
const ANYTHING: &str = "hotcold:span=512KiB,r=0.8,f=0.2,requests=3k,size=1536,aligned=false,\
                        reads=0.3,trim=0.02,flush=0.01";

#[test]
fn every_buffer_works_over_every_layer() {
    for scheme in BUFFERS {
        for layer in LAYERS {
            for acknowledge in ["write_back", "write_through"] {
                let buffer = [
                    ("buffer.scheme", scheme),
                    ("buffer.capacity", "16KiB"),
                    ("buffer.acknowledge", acknowledge),
                ];
                let result = result(ANYTHING, &[layer, &buffer].concat());
                assert!(count(&result, "buffer", "write_hits") > 0, "{scheme} {layer:?}");
                assert!(count(&result, "buffer", "read_hits") > 0, "{scheme} {layer:?}");
                let flushed = count(&result, "buffer", "flushed_pages") > 0;
                assert_eq!(flushed, acknowledge == "write_back", "{scheme} {layer:?}");
            }
        }
    }
}

#[test]
fn every_form_of_the_queue_serves_every_request() {
    for dispatch in ["parallel", "serial"] {
        for (queues, arrivals) in
            [("1", "open"), ("1", "immediate"), ("3", "closed"), ("8", "open")]
        {
            for depth in ["1", "7"] {
                let sets = [
                    ("queue.dispatch", dispatch),
                    ("queue.queues", queues),
                    ("queue.arrivals", arrivals),
                    ("queue.depth", depth),
                    ("buffer.scheme", "ncq_lru"),
                    ("buffer.capacity", "16KiB"),
                ];
                let workload = format!("{ANYTHING},interarrival=200us");
                let result = result(&workload, &sets);
                assert_eq!(count(&result, "workload", "requests"), 3000);
            }
        }
    }
}

#[test]
fn pins_help_only_if_the_drive_sees_its_queue() {
    for scheme in ["ncq_lru", "fab", "clc"] {
        let hits = |pin, dispatch| {
            let sets = [
                ("buffer.scheme", scheme),
                (&*format!("{scheme}.pin"), pin),
                ("buffer.capacity", "64KiB"),
                ("queue.dispatch", dispatch),
                ("queue.arrivals", "closed"),
                ("queue.depth", "32"),
            ];
            let result = result("uniform:span=1MiB,writes=20k,size=8KiB", &sets);
            result["buffer"]["hit_ratio"].as_f64().expect("pages were written")
        };
        let (plain, pinned) = (hits("none", "serial"), hits("counted", "serial"));
        assert!((plain - 0.0625).abs() < 0.01, "{scheme} hits buffer / span: {plain}");
        assert!(pinned > plain + 0.01, "{scheme}: {pinned} with pins, {plain} without");
        assert!((hits("counted", "parallel") - plain).abs() < 0.003, "{scheme}: nothing waits");
    }
}

#[test]
fn a_write_back_buffer_answers_at_the_speed_of_memory() {
    let sets = [("buffer.scheme", "lru"), ("buffer.capacity", "1MiB"), ("buffer.ram_page", "2us")];
    let workload = "uniform:span=512KiB,writes=2k,size=512,interarrival=1ms,arrivals=fixed";
    let result = result(workload, &sets);
    assert_eq!(result["latency"]["write"]["max_us"], 2.0);
    assert_eq!(result["latency"]["blame_us"]["buffer"], 2.0);
    assert_eq!(count(&result, "buffer", "flushed_pages"), 0, "everything fits");
    assert_eq!(result["write_amplification"], 0.0);
}

#[test]
fn an_oracle_of_writes_is_refused_with_a_buffer() {
    let sets = [("placement.scheme", "oracle"), ("buffer.scheme", "lru")];
    let error = config(&sets).expect_err("the future would list other writes").to_string();
    assert!(error.starts_with("placement.scheme = \"oracle\": expected another"), "{error}");
}
