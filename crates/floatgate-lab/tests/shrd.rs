//! SHRD from a config: valid settings, invalid settings, and its numbers in a result.

use floatgate_ftl::parameters::names;
use floatgate_ftl::placement::PLACEMENTS;
use floatgate_lab::config::Config;
use floatgate_lab::drive::Plan;
use floatgate_lab::result::Facts;
use floatgate_lab::run::{Control, Options, run};
use floatgate_lab::workload::generator;
use serde_json::Value;

fn load(pairs: &[(&str, &str)]) -> Result<Config, String> {
    let sets: Vec<_> = pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Config::load(Some("shrd17"), None, &sets).map_err(|error| error.to_string())
}

/// Small drive with a log of 4 MiB.
const SMALL: &[(&str, &str)] = &[
    ("host.log", "4MiB"),
    ("flash.superblock", "8"),
    ("flash.pages_per_block", "16"),
    ("shrd.exclude_below", "0B"),
    ("capacity.spare_factor", "0.3"),
];

fn simulate(text: &str, pairs: &[(&str, &str)]) -> Value {
    let config = load(&[SMALL, pairs].concat()).unwrap();
    let mut workload = generator(text, 1).unwrap();
    let options =
        Options { span_bytes: workload.span_bytes(), seed: 1, verify: true, start_cache: None };
    let facts = Facts::default();
    let result = run(&config, &mut *workload, facts, options, &Control::default()).unwrap();
    serde_json::to_value(result).unwrap()
}

#[test]
fn shrd_refuses_options_that_it_excludes() {
    for (key, value, expected) in [
        ("buffer.scheme", "lru", "buffer.scheme = \"lru\": expected \"none\""),
        ("queue.dispatch", "serial", "queue.dispatch = \"serial\": expected \"parallel\""),
        ("queue.queues", "2", "queue.queues = 2: expected 1"),
        ("placement.scheme", "oracle", "expected another with host.scheme = \"shrd\""),
        ("host.log", "64KiB", "host.log = \"64KiB\": expected at least twice shrd.contiguous"),
        ("page_cache.entries", "1500", "expected a multiple of the 1024 entries"),
        (
            "mapping.cache",
            "16KiB",
            "expected room for at least one map page of page_cache.entries (32768)",
        ),
    ] {
        let error = load(&[(key, value)]).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn the_spare_covers_the_log() {
    let given = |blocks: &str, spare: &str| {
        let config = load(&[("flash.blocks", blocks), ("capacity.spare_factor", spare)]).unwrap();
        Plan::new(&config, 1 << 30)
    };
    // 64 MiB are 2 units of 32 MiB. With the streams and two more units, the spare space must be 8
    // units and the map.
    let error = given("6400", "0.05").unwrap_err().to_string();
    assert!(error.contains("no room to clean") && error.contains("the host's log"), "{error}");
    let plan = given("6400", "0.2").unwrap();
    assert_eq!(plan.log_pages, 16_384);
    assert_eq!(plan.logical_bytes(), 80 * (32 << 20));
    let config = load(&[("capacity.spare_factor", "0.01")]).unwrap();
    assert!(Plan::new(&config, 1 << 30).unwrap().units_added > 0, "else the drive grows");
}

#[test]
fn a_result_counts_host_commands() {
    let text = "uniform:span=64MiB,size=4KiB,requests=30k,reads=0.2,flush=0.01,trim=0.005";
    let result = simulate(text, &[("mapping.cache", "32KiB")]);
    let host = &result["host"];
    for key in ["remaps", "remapped_pages", "redirected_reads", "windows", "twrites"] {
        assert!(host[key].as_u64().unwrap() > 0, "{key}: {host}");
    }
    assert!(host["commands"].as_u64() < result["workload"]["requests"].as_u64());
    assert!(result["flash"]["reads"]["remap"].as_u64().unwrap() > 0);
    assert!(result["latency"]["blame_us"]["remap"].as_f64().unwrap() > 0.0);
    assert_eq!(result["drive"]["log_pages"], 1024);
    let plain = simulate(text, &[("host.scheme", "plain")]);
    assert_eq!(plain["host"]["commands"], plain["workload"]["requests"]);
    assert_eq!(plain["host"]["remaps"], 0);
}

#[test]
fn every_option_runs_and_is_verified() {
    let text = "hotcold:span=32MiB,r=0.9,f=0.1,size=8KiB,requests=8k,reads=0.3,aligned=false";
    for pairs in [
        &[("shrd.lazy_stale", "true"), ("shrd.block_during_remap", "false")][..],
        &[("shrd.parity_align", "true"), ("shrd.join_reads", "true")],
        &[("shrd.low_packing_retries", "4"), ("shrd.idle_after", "1ms")],
        &[("mapping.scheme", "dftl"), ("placement.scheme", "eti"), ("start.fill", "random")],
        &[("page_cache.cleaning", "update"), ("cleaning.wear_leveling", "static")],
        &[("mapping.scheme", "ideal"), ("cleaning.copies_per_write", "8")],
    ] {
        let result = simulate(text, pairs);
        assert!(result["host"]["twrites"].as_u64().unwrap() > 0, "{pairs:?}");
    }
}

/// A packed write with at most `low_packing` requests waits for the next request, as often as
/// `low_packing_retries` allows. Requests arrive one by one here, so each of them is waited for.
#[test]
fn a_write_of_few_requests_waits_for_more() {
    let twrites = |few: u32, retries: u32| {
        let text = "uniform:span=16MiB,writes=240,size=4KiB,interarrival=1ms,arrivals=fixed";
        let [few, retries] = [few, retries].map(|number| number.to_string());
        let sets = [("shrd.low_packing", &*few), ("shrd.low_packing_retries", &*retries)];
        let result = simulate(text, &sets);
        assert_eq!(result["host"]["packed_requests"], 240);
        result["host"]["twrites"].as_u64().unwrap()
    };
    for (few, retries) in [(0, 0), (1, 1), (1, 5), (2, 1), (2, 5), (5, 3), (5, 100), (7, 7)] {
        let packed = 1 + retries.min(few);
        assert_eq!(twrites(few, retries), 240 / u64::from(packed), "{few}, {retries} times");
    }
}

#[test]
fn commands_cost_the_configured_times() {
    let mean = |pairs: &[(&str, &str)]| {
        let text = "uniform:span=64MiB,size=4KiB,writes=5k";
        simulate(text, pairs)["throughput"]["iops"].as_f64().unwrap()
    };
    let fast = ("flash.program", "10us");
    let ideal = [("host.scheme", "plain"), ("mapping.scheme", "ideal"), fast];
    let slow = [("host.command", "50us"), ("host.interrupt", "50us")];
    let free = [("host.command", "0us"), ("host.interrupt", "0us")];
    assert!(mean(&[&ideal[..], &slow].concat()) <= 10_000.0, "one command each 100 us");
    assert!(mean(&[&ideal[..], &free].concat()) > 15_000.0);
}

/// A placement's clock does not advance with the first write of a page to the log.
#[test]
fn every_placement_without_foresight_works_behind_shrd() {
    for placement in names(PLACEMENTS).filter(|&name| name != "oracle") {
        let sets = [("placement.scheme", placement)];
        let result = simulate("uniform:span=16MiB,writes=20000,size=4KiB", &sets);
        assert_eq!(result["workload"]["writes"], 20_000, "{placement}");
        assert!(result["host"]["remaps"].as_u64().unwrap() > 10, "{placement}");
    }
}
