//! The SLC cache: pages written to it and folded out of it, and their times. A unit of 192 map
//! units holds 64 in SLC mode, in program units of 8.

use super::*;

const CACHED: &str = "/slc/cached_pages";
const DIRECT: &str = "/slc/direct_pages";
const FOLDED: &str = "/flash/programs/fold";

/// Returns the settings of a cache of four units, over an empty drive.
fn cache<'a>(sets: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let cache = [("start.fill", "none"), ("slc.static", "1MiB"), ("slc.program", "200us")];
    cache.iter().chain(sets).copied().collect()
}

#[test]
fn writes_without_room_bypass_the_cache() {
    let result = result("sequential:span=4MiB,writes=300", &cache(&[]));
    assert_eq!(number(&result, CACHED), 256);
    assert_eq!(number(&result, DIRECT), 44);
    assert_eq!(number(&result, "/slc/programs"), 256);
    assert_eq!(number(&result, "/slc/program_operations"), 32);
    assert_eq!(number(&result, "/slc/units"), 4);
    assert_eq!(number(&result, "/slc/valid_pages"), 256);
    assert_eq!(number(&result, "/slc/folds"), 0);
    // One row of the 44 is full.
    assert_eq!(number(&result, "/flash/program_operations"), 32 + 1);
}

/// A row of 8 pages takes two transfers of 16 us and a program of 200 us. A row of 24 pages takes
/// six transfers and 1,200 us. The last write is accepted when all but 48 pages, the size of the
/// memory, are programmed.
#[test]
fn slc_mode_is_faster_by_the_configured_times() {
    let seconds = |writes, sets: &[(&str, &str)]| {
        let sets = [&[("controller.write_memory", "192KiB")], sets].concat();
        let result = result(&format!("sequential:span=4MiB,writes={writes}"), &cache(&sets));
        result["throughput"]["device_seconds"].as_f64().expect("a time")
    };
    let cached = seconds(240, &[]);
    assert!((cached - 24.0 * 232e-6).abs() < 1e-9, "{cached}");
    let native = seconds(240, &[("slc.static", "0B")]);
    assert!((native - 8.0 * 1296e-6).abs() < 1e-9, "{native}");
}

#[test]
fn a_read_of_a_cached_page_takes_the_time_of_slc_mode() {
    let reads = |sets: &[(&str, &str)]| {
        let sets = cache(&[&[("start.fill", "sequential"), ("slc.read", "20us")], sets].concat());
        let result = result("uniform:span=512KiB,requests=100,reads=1", &sets);
        result["latency"]["read"]["mean_us"].as_f64()
    };
    // Transferring the whole flash page would take 16 us. The requested page takes 4 us.
    assert_eq!(reads(&[]), Some(24.0));
    assert_eq!(reads(&[("slc.static", "0B")]), Some(54.0));
}

/// 16 units are opened, and 4 of them remain.
#[test]
fn a_full_cache_is_folded_before_it_is_written() {
    // Without protection, units are erased only when they are opened again.
    let protected = ("controller.power_protected", "true");
    let sets = cache(&[("slc.when_full", "fold"), protected]);
    let result = result("sequential:span=4MiB,writes=1024", &sets);
    assert_eq!(number(&result, CACHED), 1024);
    assert_eq!(number(&result, DIRECT), 0);
    assert_eq!(number(&result, "/slc/folds"), 12);
    assert_eq!(number(&result, "/slc/idle_folds"), 0);
    assert_eq!(number(&result, FOLDED), 12 * 64);
    assert_eq!(number(&result, "/flash/reads/fold"), 12 * 64);
    assert_eq!(number(&result, "/flash/erases/fold"), 12);
    assert_eq!(result["write_amplification"], (1024 + 768) as f64 / 1024.0);
    assert!(
        result["latency"]["blame_us"]["buffer"].as_f64() > Some(0.0),
        "memory is full meanwhile"
    );
}

#[test]
fn overwritten_pages_of_the_cache_are_not_folded() {
    let sets = cache(&[("slc.when_full", "fold")]);
    let result = result("uniform:span=256KiB,writes=20k", &sets);
    assert_eq!(number(&result, CACHED), 20_000);
    assert_eq!(number(&result, "/slc/folds"), 20_000_u64.div_ceil(64) - 4);
    // A page survives the time of three units with a probability of (1 - 1/64)^192 = 0.05.
    let survive = number(&result, FOLDED) as f64 / 20_000.0;
    assert!((0.02..0.06).contains(&survive), "{survive}");
}

#[test]
fn an_idle_host_finds_the_cache_empty() {
    let text = "sequential:span=4MiB,writes=1024,arrivals=fixed,interarrival=2ms";
    let idle = [("queue.arrivals", "open"), ("slc.idle_after", "100us")];
    let folding = result(text, &cache(&idle));
    assert_eq!(number(&folding, DIRECT), 0);
    assert_eq!(number(&folding, "/slc/idle_folds"), number(&folding, "/slc/folds"));
    assert!(number(&folding, "/slc/folds") >= 14, "all but the last and the one that is open");
    assert_eq!(number(&folding, "/cleaning/idle"), 0);
    let lazy = result(text, &cache(&idle[..1]));
    assert_eq!(number(&lazy, DIRECT), 1024 - 256);
    // After this idle time the cache holds nothing of the start state.
    let started = cache(&[&idle[..], &[("start.fill", "sequential")]].concat());
    assert_eq!(number(&result("sequential:span=4MiB,writes=128", &started), DIRECT), 0);
}

/// An empty drive lends many free units to the cache, and a full drive few.
#[test]
fn a_dynamic_cache_shrinks_as_the_drive_fills() {
    let drive = [("flash.blocks", "116"), ("capacity.spare_factor", "0.1")];
    let dynamic = [("start.fill", "none"), ("slc.dynamic", "4MiB")];
    let sets = [&drive[..], &dynamic].concat();
    let units = |writes: u32| {
        let result = result(&format!("sequential:span=38MiB,writes={writes}"), &sets);
        (number(&result, "/slc/units"), number(&result, DIRECT), number(&result, FOLDED))
    };
    assert_eq!(units(1024), (16, 0, 0));
    assert_eq!(units(1500), (16, 1500 - 1024, 0));
    let (left, _, folded) = units(9728);
    assert!(left < 16, "{left} units are left in a full drive");
    assert_eq!(folded, (16 - left) * 64, "nothing was overwritten");
}

#[test]
fn nothing_is_lost_between_cache_and_flash() {
    let loads = [
        "uniform:span=6MiB,requests=30k,reads=0.3,trim=0.03,flush=0.01",
        "hotcold:span=6MiB,r=0.9,f=0.1,requests=30k,reads=0.2,flush=0.01",
    ];
    for (at, placement) in ["single", "dac", "sepbit", "eti"].into_iter().enumerate() {
        for when_full in ["direct", "fold"] {
            let protected = if at % 2 == 0 { "true" } else { "false" };
            let sets = [
                ("slc.static", if at < 2 { "1MiB" } else { "0B" }),
                ("slc.dynamic", "768KiB"),
                ("slc.when_full", when_full),
                ("placement.scheme", placement),
                ("controller.power_protected", protected),
                ("capacity.spare_factor", "0.3"),
                ("mapping.scheme", if at % 2 == 0 { "dftl" } else { "ideal" }),
                ("mapping.cache", "64KiB"),
                ("cleaning.copies_per_write", "2"),
            ];
            let result = result(loads[at % 2], &sets);
            // Writes that bypass a full cache fold nothing: the start state has filled it.
            let is_folded = number(&result, FOLDED) > 0 && number(&result, CACHED) > 0;
            assert_eq!(is_folded, when_full == "fold", "{placement}");
        }
    }
}

/// A row that is padded for a FLUSH has a third of the size.
#[test]
fn a_flush_pads_less_in_slc_mode() {
    let text = "sequential:span=512KiB,writes=32,flush=0.5";
    let padded = |sets: &[(&str, &str)]| number(&result(text, &cache(sets)), "/flash/programs/pad");
    let (slc, native) = (padded(&[]), padded(&[("slc.static", "0B")]));
    assert!(slc > 0 && slc * 2 < native, "{slc} and {native}");
}

#[test]
fn an_impossible_cache_is_named() {
    let error = |sets: &[(&str, &str)]| {
        try_run("uniform:span=4MiB,writes=10", &cache(sets), false).expect_err("no such drive")
    };
    let levels = error(&[("flash.program_pages", "1")]);
    assert!(levels.contains("flash.program_pages = 1: expected at least 2"), "{levels}");
    let unit =
        error(&[("mapping.unit", "96KiB"), ("flash.planes", "4"), ("flash.superblock", "4")]);
    assert!(unit.contains("mapping.unit"), "{unit}");
}
