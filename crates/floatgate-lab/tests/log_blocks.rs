//! Whole runs on block-mapped drives: their sizes, their merges in the result, and refused
//! settings.

use floatgate_lab::config::{Config, ConfigError};
use floatgate_lab::result::Facts;
use floatgate_lab::run::{Control, Options, RunError, run};
use floatgate_lab::workload::generator;
use serde_json::Value;

const SMALL: [(&str, &str); 3] =
    [("flash.page", "512B"), ("flash.pages_per_block", "16"), ("start.fill", "sequential")];

fn config(sets: &[(&str, &str)]) -> Result<Config, ConfigError> {
    let sets: Vec<_> =
        [&SMALL, sets].concat().iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
    Config::load(None, None, &sets)
}

/// Returns the result of a verified run, or the text of the error.
fn result(spec: &str, sets: &[(&str, &str)]) -> Result<Value, String> {
    let mut workload = generator(spec, 1).unwrap();
    let config = config(sets).map_err(|error| error.to_string())?;
    let options =
        Options { span_bytes: workload.span_bytes(), seed: 5, verify: true, start_cache: None };
    let facts = Facts::default();
    match run(&config, &mut *workload, facts, options, &Control::default()) {
        Ok(result) => Ok(serde_json::to_value(&result).unwrap()),
        Err(RunError::Config(error)) => Err(error.to_string()),
        Err(error) => panic!("{error:?}"),
    }
}

const UNIFORM: &str = "uniform:span=1MiB,requests=4k,size=512,reads=0.2,seed=2";

#[test]
fn a_run_counts_its_merges() {
    for (scheme, victim) in [("bast", "fifo"), ("bast", "lru"), ("bast", "random"), ("fast", "")] {
        let mut sets = vec![("ftl.scheme", scheme), ("capacity.spare_factor", "0.1")];
        if scheme == "bast" {
            sets.push(("bast.victim", victim));
        }
        let result = result(UNIFORM, &sets).unwrap();
        let merges = &result["merges"];
        let count = |key: &str| merges[key].as_u64().unwrap();
        assert!(count("full") > 100 && count("partial") > 10, "{merges}");
        let copies = result["flash"]["programs"]["merge"].as_u64().unwrap();
        let host = result["flash"]["programs"]["host"].as_u64().unwrap();
        assert!(copies > 15 * count("full"), "{merges}");
        let amplification = result["write_amplification"].as_f64().unwrap();
        assert_eq!(amplification, (host + copies) as f64 / host as f64);
        assert_eq!(count("shared_logs") > 0, scheme == "fast", "{merges}");
        assert!(result["latency"]["blame_us"]["merge"].as_f64().unwrap() > 0.0);
        assert_eq!(result["latency"]["blame_us"]["gc"], 0.0);
        // T units in service, and one for a merge. The map has entries for blocks and for log
        // pages.
        let drive = &result["drive"];
        assert_eq!(drive["reserve_units"], 1);
        let units = drive["units"].as_u64().unwrap();
        let blocks = drive["logical_pages"].as_u64().unwrap().div_ceil(16);
        let map_bytes = 4 * (blocks + 16 * (units - blocks));
        assert_eq!(result["mapping"]["cache_bytes"], map_bytes, "all spare units are log blocks");
        assert_eq!(result["mapping"]["hit_ratio"], Value::Null);
    }
}

#[test]
fn overwriting_in_order_only_switches() {
    let spec = "sequential:span=256KiB,requests=2k,size=512,seed=4";
    for scheme in ["bast", "fast"] {
        let result = result(spec, &[("ftl.scheme", scheme)]).unwrap();
        assert_eq!(result["write_amplification"], 1.0, "{}", result["merges"]);
        assert!(result["merges"]["switch"].as_u64().unwrap() > 100);
    }
}

#[test]
fn the_timeline_has_the_merges() {
    let result = result(UNIFORM, &[("ftl.scheme", "bast")]).unwrap();
    let timeline = &result["timeline"];
    let counts = |key: &str| -> Vec<u64> {
        timeline[key].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect()
    };
    let merges = result["flash"]["programs"]["merge"].as_u64().unwrap();
    assert!(merges > 0);
    assert_eq!(counts("merge_programs").iter().sum::<u64>(), merges);
    assert_eq!(counts("merge_programs").len(), counts("host_pages").len());
    assert_eq!(counts("gc_programs").iter().sum::<u64>(), 0);
}

#[test]
fn warnings_fit_the_kind_of_drive() {
    let warnings =
        |spec, scheme| result(spec, &[("ftl.scheme", scheme)]).unwrap()["warnings"].to_string();
    let few = "uniform:span=256KiB,requests=4k,size=512,seed=2";
    assert!(warnings(few, "bast").contains("with fewer than 128 results depend on single"));
    assert!(warnings(few, "page").contains("with fewer than 128 cleaning has few victims"));
    let short = "uniform:span=1MiB,requests=2,size=512,seed=2";
    assert!(warnings(short, "fast").contains("merging never ran"));
    assert!(warnings(short, "page").contains("cleaning never ran"));
}

#[test]
fn a_page_mapped_drive_merges_nothing() {
    let result = result(UNIFORM, &[]).unwrap();
    let merges = result["merges"].as_object().unwrap();
    assert!(merges.values().all(|value| value.is_null() || value == 0), "{merges:?}");
}

#[test]
fn the_drive_has_the_requested_log_blocks_or_warns() {
    // 2,048 pages fill 128 units. 7 % more units are in service, and the other log blocks are
    // added.
    let asked = [("ftl.scheme", "bast"), ("bast.log_blocks", "20")];
    let result_of = |sets: &[(&str, &str)]| result(UNIFORM, sets);
    let roomy = result_of(&asked).unwrap();
    let pages = roomy["drive"]["logical_pages"].as_u64().unwrap();
    assert_eq!(roomy["drive"]["units"], pages.div_ceil(16) + 20);
    let warnings = roomy["warnings"].to_string();
    assert!(warnings.contains("erase units beyond its spare"), "{warnings}");
    let error = result_of(&[&asked[..], &[("flash.blocks", "140")]].concat()).unwrap_err();
    assert!(error.contains("20 units that are open or log blocks"), "{error}");
    let few = result_of(&[&asked[..1], &[("bast.log_blocks", "2")]].concat()).unwrap();
    assert!(few["write_amplification"].as_f64() > roomy["write_amplification"].as_f64());
}

#[test]
fn options_without_effect_are_refused() {
    for (key, value, expected) in [
        ("mapping.scheme", "dftl", "mapping.scheme = \"dftl\": expected \"ideal\""),
        ("placement.scheme", "eti", "placement.scheme = \"eti\": expected \"single\""),
        ("placement.gc_destination", "cold", "= \"cold\": expected \"scheme\" with ftl.scheme"),
        ("cleaning.victim", "cat", "cleaning.victim = \"cat\": expected \"greedy\""),
        ("cleaning.tie", "hot", "cleaning.tie = \"hot\": expected \"cold\""),
        ("cleaning.scope", "stream", "cleaning.scope = \"stream\": expected \"all\""),
        ("cleaning.wear_leveling", "static", "\"static\": expected \"dynamic\""),
        ("cleaning.low_water", "5", "cleaning.low_water = 5: expected no value"),
        ("cleaning.high_water", "9", "cleaning.high_water = 9: expected no value"),
        ("cleaning.pacing", "proportional", "\"proportional\": expected \"none\""),
        ("cleaning.copies_per_write", "2", "copies_per_write = 2: expected no value"),
        ("cleaning.idle_after", "1ms", "idle_after = \"1ms\": expected no value"),
        ("fast.log_blocks", "1", "an integer from 2"),
        ("bast.victim", "greedy", "one of fifo, lru, random"),
        ("bast.merge_when_full", "never", "one of immediately, lazy"),
        ("fast.out_of_order", "x", "one of restart, random"),
    ] {
        let error = config(&[("ftl.scheme", "fast"), (key, value)]).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert!(config(&[("ftl.scheme", "page"), ("mapping.scheme", "dftl")]).is_ok());
    assert!(config(&[("ftl.scheme", "bast"), ("cleaning.wear_leveling", "none")]).is_ok());
}

#[test]
fn the_schemes_stand_in_the_table_of_policies() {
    let policies = floatgate_lab::config::policies();
    let rows = policies["ftl"].as_array().unwrap();
    let names: Vec<_> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["page", "bast", "fast"]);
    let parameters = rows[1]["parameters"].as_array().unwrap();
    let victim = parameters.iter().find(|row| row["name"] == "bast.victim").unwrap();
    assert_eq!(victim["default"], "fifo");
}
