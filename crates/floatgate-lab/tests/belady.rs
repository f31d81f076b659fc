//! The Belady bound on map caches in whole runs, on drives that verify every operation. With the
//! workload's future, it has at least as many hits as every mapping that loads one entry at a time.

use floatgate_lab::config::{Config, ConfigError};
use floatgate_lab::result::Facts;
use floatgate_lab::run::{Control, Options, RunError, run};
use floatgate_lab::workload::{Recorded, Workload, generator};
use serde_json::Value;

fn config(sets: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let sets: Vec<_> = sets.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Config::load(None, None, &sets)
}

/// Returns the hits of a mapping with these settings, and the whole result.
fn result(workload: &mut dyn Workload, sets: &[(&str, &str)]) -> (u64, Value) {
    let small =
        [("flash.page", "512B"), ("flash.pages_per_block", "16"), ("mapping.cache", "4KiB")];
    let config = config(&[&small, sets].concat()).expect("these settings are right");
    let options =
        Options { span_bytes: workload.span_bytes(), seed: 5, verify: true, start_cache: None };
    let facts = Facts::default();
    let result = match run(&config, workload, facts, options, &Control::default()) {
        Ok(result) => serde_json::to_value(&result).expect("a result can be printed"),
        Err(RunError::Config(error)) => panic!("{error}"),
        Err(error) => panic!("{error:?}"),
    };
    (result["mapping"]["hits"].as_u64().expect("a count"), result)
}

const WORKLOADS: [&str; 4] = [
    "zipf:span=2MiB,theta=0.9,requests=20k,size=512,reads=0.4,seed=1",
    "uniform:span=2MiB,requests=8k,size=2KiB,reads=0.5,aligned=false,seed=2",
    "hotcold:span=2MiB,r=0.9,f=0.1,requests=20k,size=512,reads=0.3,flush=0.01,seed=3",
    "sequential:span=1MiB,requests=8k,size=1536,seed=4",
];

#[test]
fn no_mapping_that_loads_one_entry_has_more_hits() {
    for spec in WORKLOADS {
        for fill in ["none", "sequential", "random"] {
            let hits = |sets: &[(&str, &str)]| {
                let mut workload = generator(spec, 1).expect(spec);
                result(&mut *workload, &[&[("start.fill", fill)], sets].concat()).0
            };
            let bound = hits(&[("mapping.scheme", "belady")]);
            for replacement in ["slru", "lru", "flashsim"] {
                let theirs = hits(&[("mapping.scheme", "dftl"), ("dftl.replacement", replacement)]);
                assert!(bound >= theirs, "{spec} {fill} {replacement}: {bound} {theirs}");
            }
            let theirs = hits(&[("mapping.scheme", "none")]);
            assert_eq!(theirs, 0);
        }
    }
}

#[test]
fn with_room_for_all_it_misses_only_new_entries() {
    let sets = |scheme| [("mapping.scheme", scheme), ("mapping.cache", "1MiB")];
    for (fill, misses) in [("none", true), ("sequential", false)] {
        let mut workload = generator(WORKLOADS[0], 1).expect("a generator");
        let sets = [&sets("belady")[..], &[("start.fill", fill)]].concat();
        let (_, result) = result(&mut *workload, &sets);
        let new = result["workload"]["footprint_pages"].as_u64().filter(|_| misses).unwrap_or(0);
        assert_eq!(result["mapping"]["misses"].as_u64(), Some(new), "{fill}");
        assert_eq!(result["flash"]["programs"]["map"], 0);
    }
}

#[test]
fn a_recording_with_trims_gives_a_future_too() {
    let mut requests = Vec::new();
    let spec = "zipf:span=1MiB,requests=5k,size=1KiB,reads=0.4,trim=0.1,flush=0.02,\
                aligned=false,interarrival=100us";
    generator(spec, 9).expect(spec).next_batch(&mut requests, 5000).expect(spec);
    let mut recorded = Recorded::new("trims", 3, 1.0).expect("three repeats");
    recorded.push(&requests).expect("requests in order");
    for scheme in ["belady", "dftl", "page_cache", "sftl", "cdftl"] {
        let sets = [("mapping.scheme", scheme), ("start.fill", "random")];
        let (hits, result) = result(&mut recorded.clone(), &sets);
        assert!(hits > 0, "{scheme}");
        let bytes = result["mapping"]["cache_bytes"].as_u64().expect("a count");
        assert!((2048..=4096).contains(&bytes), "{scheme}: {bytes}");
    }
}

#[test]
fn a_cache_that_holds_nothing_is_refused() {
    let check = |scheme: &str, bytes: u32, expected: &str| {
        let with = |bytes: u32| {
            config(&[("mapping.scheme", scheme), ("mapping.cache", &format!("{bytes}"))])
        };
        assert_eq!(with(bytes).err(), None, "{scheme}");
        let error = with(bytes - 1).expect_err("a byte less is too little").to_string();
        assert!(error.ends_with(&format!("expected room for at least {expected}")), "{error}");
    };
    check("page_cache", 4096, "one translation page of flash.page (4096)");
    check("cdftl", 4104, "one translation page and one entry of cdftl.entry_bytes (4104)");
    check("sftl", 4694, "an incompressible page and the sftl buffer (4694)");
    check("belady", 8, "one entry of dftl.entry_bytes (8)");
}
