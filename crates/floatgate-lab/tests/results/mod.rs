//! Recomputes every number of a result from three sources: the requests, by a naive model of the
//! host; the completions of the same drive that serves the requests one by one; and identities.

mod case;
mod check;
mod cleaning;
mod distributions;
mod space;

use floatgate_ftl::request::{Op, Request};
use floatgate_lab::config::Config;
use floatgate_lab::workload::{Recorded, generator};
use serde_json::Value;

use case::{Case, config, result};

/// Map on flash, two streams, and a journal with occasional checkpoints.
const PAGE_MAPPED: &[(&str, &str)] = &[
    ("mapping.scheme", "dftl"),
    ("mapping.cache", "1KiB"),
    ("placement.scheme", "length"),
    ("ftl.journal", "true"),
    ("ftl.checkpoint_every", "500"),
];
/// Latencies at full resolution.
const FULL: (&str, &str) = ("latency.distribution", "full");
const MANY_DIES: &[(&str, &str)] = &[("flash.channels", "2"), ("flash.dies", "3")];

#[test]
fn every_number_of_a_page_mapped_drive() {
    let case = Case::new(PAGE_MAPPED);
    check::everywhere(&case);
    check::drive(&case, false);
    space::parts(&case);
    check::mapping(&case);
    cleaning::by_stream(&case);
    check::absent(&case.result, &["merges"]);
    assert_eq!(case.result["distributions"], serde_json::json!([]), "nobody asked for them");
    let programs = &case.result["flash"]["programs"];
    for cause in ["host", "map", "gc", "gc_map", "journal"] {
        assert!(check::count(programs, &[cause]) > 0, "{cause}");
    }
}

#[test]
fn every_number_of_many_dies() {
    let case = Case::new(&[PAGE_MAPPED, MANY_DIES, &[FULL]].concat());
    distributions::full(&case);
    check::everywhere(&case);
    check::drive(&case, false);
    space::parts(&case);
    check::mapping(&case);
    cleaning::by_stream(&case);
}

#[test]
fn every_number_of_log_blocks() {
    for scheme in ["bast", "fast"] {
        let case = Case::new(&[("ftl.scheme", scheme), FULL]);
        check::everywhere(&case);
        distributions::full(&case);
        check::drive(&case, true);
        space::parts(&case);
        check::merges(&case, scheme == "fast");
        check::absent(&case.result, &["placement"]);
    }
}

fn simulate(preset: Option<&str>, spec: &str, sets: &[(&str, &str)]) -> Value {
    let mut workload = generator(spec, 1).unwrap();
    let span_bytes = workload.span_bytes();
    result(&config(preset, sets), &mut *workload, span_bytes)
}

#[test]
fn write_amplification_is_all_programs() {
    let shrd = [
        ("host.log", "4MiB"),
        ("flash.superblock", "8"),
        ("flash.page", "4KiB"),
        ("shrd.exclude_below", "0B"),
        ("mapping.scheme", "dftl"),
        ("mapping.cache", "4KiB"),
        ("capacity.spare_factor", "0.3"),
    ];
    let spec = "hotcold:span=32MiB,r=0.9,f=0.1,requests=12k,size=4KiB,seed=2";
    let remapped = simulate(Some("shrd17"), spec, &shrd);
    let spec = "uniform:span=1MiB,requests=12k,size=512,seed=3";
    let level = [("cleaning.wear_leveling", "static"), ("cleaning.wear_gap", "2")];
    let hot = "hotcold:span=1MiB,r=0.95,f=0.05,requests=20k,size=512,seed=3";
    let levelled = simulate(None, hot, &level);
    let broken = simulate(None, spec, &[("faults.program", "1e-3"), ("faults.spare_units", "60")]);
    for (result, cause) in [(&remapped, "remap"), (&levelled, "wear"), (&broken, "retire")] {
        assert!(check::count(&result["flash"]["programs"], &[cause]) > 0, "{cause}");
        check::amplification(result);
    }
}

/// Drive with units of 64 KiB, erased at first. Each write programs one unit.
const LARGE: [(&str, &str); 6] = [
    ("flash.superblock", "4"),
    ("flash.pages_per_block", "64"),
    ("flash.channels", "1"),
    ("flash.dies", "1"),
    ("timing", "none"),
    ("flash.blocks", "4000"),
];

/// Runs a workload on a drive with these units.
fn on_large_units(spec: &str, sets: &[(&str, &str)]) -> Value {
    let sets = LARGE.iter().chain(sets).map(|&(key, value)| (key.to_owned(), value.to_owned()));
    let sets: Vec<_> = sets.collect();
    let config = Config::load(Some("qlc-capacity"), None, &sets).unwrap();
    let mut workload = generator(spec, 1).unwrap();
    let span_bytes = workload.span_bytes();
    result(&config, &mut *workload, span_bytes)
}

/// Small writes to a drive with large map units make the flash program the rest of each unit, too.
/// Write amplification in bytes, as in JEDEC and NVMe, shows this cost. In pages the two loads are
/// alike.
#[test]
fn a_write_smaller_than_a_map_page_is_amplified_by_the_rest_of_it() {
    let of = |size: &str| {
        let spec = format!("uniform:span=256MiB,writes=2k,size={size},seed=1");
        on_large_units(&spec, &[])
    };
    for (size, factor) in [("4KiB", 16.0), ("64KiB", 1.0), ("16KiB", 4.0)] {
        let result = of(size);
        check::amplification(&result);
        assert_eq!(result["write_amplification"], factor, "{size}");
        assert_eq!(result["amplification"]["host"], 1.0, "{size}");
        assert_eq!(result["amplification"]["partial"], factor - 1.0, "{size}");
        assert_eq!(result["page_write_amplification"], 1.0, "{size}");
        let volumes = check::number(&result["workload"]["write_bytes"])
            / check::number(&result["drive"]["logical_bytes"]);
        check::assert_close(&result["workload"]["volumes_written"], volumes);
    }
}

/// A buffer that joins sixteen writes of 4 KiB into one map unit leaves no partly covered unit.
#[test]
fn a_buffer_that_joins_small_writes_leaves_no_partial_page() {
    let buffer = [("buffer.scheme", "lru"), ("buffer.capacity", "1MiB")];
    let spec = "sequential:span=64MiB,writes=16k,size=4KiB";
    let result = on_large_units(spec, &buffer);
    check::amplification(&result);
    assert_eq!(result["amplification"]["partial"], 0.0);
    let held = check::number(&result["buffer"]["held_pages"]);
    let pages = check::number(&result["workload"]["write_bytes"]) / 65_536.0;
    check::assert_close(&result["write_amplification"], (pages - held) / pages);
}

#[test]
fn pages_of_a_buffer_are_accounted_for() {
    let spec = "hotcold:span=1MiB,r=0.9,f=0.1,requests=6k,size=512,reads=0.3,seed=2";
    let sets = [("buffer.scheme", "page_lru"), ("buffer.capacity", "32KiB")];
    let result = simulate(None, spec, &sets);
    let (buffer, work) = (&result["buffer"], &result["workload"]);
    let count = |key: &str| check::count(buffer, &[key]);
    let (hits, misses) = (count("hits"), count("misses"));
    assert_eq!(count("read_hits") + count("write_hits"), hits);
    assert_eq!(hits + misses, check::count(work, &["read_pages", "write_pages"]));
    check::assert_close(&buffer["hit_ratio"], hits as f64 / (hits + misses) as f64);
    // A page written for the first time stays in the buffer, or leaves it for the flash.
    let new = check::count(work, &["write_pages"]) - count("write_hits");
    assert_eq!(new, count("flushed_pages") + count("held_pages"));
    assert_eq!(check::count(&result["flash"]["programs"], &["host"]), count("flushed_pages"));
    assert_eq!([count("padded_pages"), count("trimmed_pages")], [0, 0]);
    assert!(count("held_pages") == 64 && count("memory_bytes") > 0);
    check::amplification(&result);
}

#[test]
fn nothing_of_the_start_state_is_counted() {
    let spec = "uniform:span=1MiB,requests=3k,size=512,reads=1,seed=2";
    for sets in [
        &[("mapping.scheme", "dftl"), ("mapping.cache", "1KiB"), ("start.fill", "random")][..],
        &[("buffer.scheme", "lru"), ("buffer.capacity", "32KiB"), ("start.fill", "steady")],
        &[("ftl.scheme", "fast"), ("start.fill", "random")],
    ] {
        let result = simulate(None, spec, sets);
        assert_eq!(check::total(&result["flash"]["programs"]), 0, "a cache was left dirty");
        assert_eq!(check::total(&result["flash"]["erases"]), 0);
        assert_eq!(result["wear"]["erases_max"], 0);
        assert_eq!(result["workload"]["requests"], 3000);
        assert_eq!(result["workload"]["volumes_written"], 0.0);
        assert_eq!(result["buffer"]["held_pages"], 0);
        assert!(result["start"]["write_amplification"].as_f64() > Some(1.0));
        for absent in ["write_amplification", "data_write_amplification"] {
            assert!(result[absent].is_null(), "{absent}");
        }
        let lifetime = &result["lifetime"];
        assert!(
            ["host_bytes", "host_bytes_first_unit", "years"].iter().all(|k| lifetime[k].is_null())
        );
        assert!(result["cleaning"]["victim_valid_mean"].is_null());
    }
}

/// Returns the start state in the result and the settings, after at most `volumes_max` random
/// volumes.
fn started(volumes_max: usize, tolerance: f64) -> Value {
    let (most, tolerance) = (volumes_max.to_string(), tolerance.to_string());
    let sets = [
        ("start.fill", "steady"),
        ("start.volumes_max", &*most),
        ("start.tolerance", &*tolerance),
        ("cleaning.victim", "random"),
    ];
    simulate(None, "uniform:span=128KiB,requests=1,size=512", &sets)["start"].clone()
}

/// With a tolerance near zero the drive never settles, and each number of volumes gives one write
/// amplification. The test applies the rule to these by hand.
#[test]
fn steady_takes_two_calm_volumes_in_a_row() {
    const MOST: usize = 30;
    let of = |volumes| started(volumes, 1e-12)["write_amplification"].as_f64().unwrap();
    let factors: Vec<f64> = (1..=MOST).map(of).collect();
    let (mut single, mut settled) = (0, 0);
    for tolerance in [0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5] {
        let calm: Vec<bool> =
            factors.windows(2).map(|two| (two[1] - two[0]).abs() / two[1] <= tolerance).collect();
        // Change number n is visible after n + 2 volumes.
        let found = (1..calm.len()).find(|&n| calm[n] && calm[n - 1]).map(|n| n + 2);
        let first = calm.iter().position(|&calm| calm).map(|n| n + 2);
        single += u32::from(first.is_some_and(|first| found.is_none_or(|found| first + 1 < found)));
        settled += u32::from(found.is_some());
        let volumes = found.unwrap_or(MOST);
        let expected = serde_json::json!({
            "fill": "steady",
            "volumes": volumes as f64,
            "played_volumes": 0.0,
            "settled": found.is_some(),
            "write_amplification": factors[volumes - 1],
            "model_units": null,
            "model_pages_per_unit": null,
        });
        assert_eq!(started(MOST, tolerance), expected, "{tolerance}");
    }
    assert!(single > 0, "one calm volume alone was seen, and not enough");
    assert!((1..9).contains(&settled), "{settled} of 9 tolerances were met");
}

/// Every page is written once, and trimmed at once. A policy that sees the trims knows that the
/// page dies before the next write. Without them the page lives for ever, as it does after a trim
/// of only a part of it.
#[test]
fn a_bound_on_placements_sees_trims() {
    for (trimmed, stream) in [(512, 15), (511, 0)] {
        let mut recorded = Recorded::new("brief", 1, 1.0).unwrap();
        for page in 0..2000 {
            let request =
                |op, length| Request { at_ns: 0, op, offset: page * 512, length, stream: 0 };
            recorded.push(&[request(Op::Write, 512), request(Op::Trim, trimmed)]).unwrap();
        }
        let config = config(None, &[("placement.scheme", "oracle")]);
        let result = result(&config, &mut recorded, 1 << 20);
        let streams = result["placement"]["streams"].as_array().unwrap();
        let written = streams.iter().map(|stream| check::count(stream, &["host_pages"]));
        let expected = (0..16).map(|number| if number == stream { 2000 } else { 0 });
        assert!(written.eq(expected), "{streams:?}");
    }
}

/// The warning about a fresh drive predicts the engine's write amplification under uniform random
/// writes.
#[test]
fn a_fresh_drive_states_its_steady_write_amplification() {
    for victim in ["greedy", "fifo"] {
        let with = |fill, spec| {
            let sets = [("start.fill", fill), ("cleaning.victim", victim), ("flash.page", "4KiB")];
            simulate(None, spec, &sets)
        };
        let fresh = with("sequential", "uniform:span=64MiB,requests=5k,size=4KiB");
        let warnings = fresh["warnings"].to_string();
        let said = warnings.split("writes give ").nth(1).and_then(|rest| rest.split(' ').next());
        let said: f64 = said.unwrap().parse().unwrap();
        let steady = with("steady", "uniform:span=64MiB,requests=20k,size=4KiB");
        let found = steady["write_amplification"].as_f64().unwrap();
        assert!((found / said - 1.0).abs() < 0.03, "{victim}: {found}, said was {said}");
        assert!(fresh["write_amplification"].as_f64().unwrap() < 0.9 * found);
        assert_eq!(steady["warnings"], serde_json::json!([]));
        let at_start = steady["start"]["write_amplification"].as_f64().unwrap();
        assert!((found / at_start - 1.0).abs() < 0.03, "{victim}: {found} after {at_start}");
    }
}

#[test]
fn every_page_is_looked_up_once() {
    let spec = "uniform:span=1MiB,requests=3k,size=1KiB,aligned=false,reads=0.4,seed=2";
    for (scheme, all_hit) in [("dftl", false), ("ideal", true), ("none", false)] {
        let result = simulate(None, spec, &[("mapping.scheme", scheme), ("mapping.cache", "1KiB")]);
        let (map, work) = (&result["mapping"], &result["workload"]);
        let (hits, misses) = (check::count(map, &["hits"]), check::count(map, &["misses"]));
        assert_eq!(hits + misses, check::count(work, &["read_pages", "write_pages"]), "{scheme}");
        check::assert_close(&map["hit_ratio"], hits as f64 / (hits + misses) as f64);
        assert_eq!([misses == 0, hits == 0], [all_hit, scheme == "none"], "{scheme}");
    }
}

/// Random writes have the same cost before the run and in the run.
#[test]
fn the_cost_of_a_random_fill_is_reported() {
    let page = ("flash.page", "4KiB");
    let work = |volumes: u64| format!("uniform:span=16MiB,requests={},size=4KiB", volumes * 4096);
    let sets = [page, ("start.fill", "random"), ("start.overwrites", "3")];
    let aged = simulate(None, &work(1), &sets);
    let written = simulate(None, &work(3), &[page]);
    let [before, within] = [&aged["start"], &written].map(|of| of["write_amplification"].as_f64());
    let (before, within) = (before.unwrap(), within.unwrap());
    assert!((before / within - 1.0).abs() < 0.03, "{before} {within}");
    assert_eq!((&aged["start"]["volumes"], &aged["start"]["settled"]), (&3.0.into(), &Value::Null));
}

#[test]
fn a_fill_is_of_every_page_and_in_order() {
    let shrd = [
        ("host.log", "4MiB"),
        ("flash.superblock", "8"),
        ("flash.page", "4KiB"),
        ("shrd.exclude_below", "0B"),
        ("capacity.spare_factor", "0.3"),
    ];
    for (preset, sets) in [(None, &[("flash.page", "4KiB")][..]), (Some("shrd17"), &shrd)] {
        for (fill, unwritten) in [("none", 4096), ("sequential", 0), ("random", 0)] {
            let sets = [sets, &[("start.fill", fill)]].concat();
            let spec = "sequential:span=16MiB,requests=4096,size=4KiB,reads=1";
            let result = simulate(preset, spec, &sets);
            assert_eq!(result["workload"]["footprint_pages"], 4096);
            assert_eq!(result["workload"]["unwritten_pages_read"], unwritten, "{fill}");
            // The fill leaves no pages in the host layer's log: no read is redirected.
            assert_eq!(result["host"]["redirected_reads"], 0);
        }
    }
}
