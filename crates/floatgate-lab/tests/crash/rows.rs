//! Power failures on drives that program rows of pages at once, and on drives with an SLC cache of
//! such rows.

use super::*;

/// Drives that program rows of 2 levels on 2 planes, with half pages: 8 map units at once.
fn with_rows(is_protected: bool, mapping: &str, placement: &str) -> Sets {
    vec![
        set("flash.page", "2KiB"),
        set("mapping.unit", "1KiB"),
        set("flash.program_pages", "2"),
        set("flash.planes", "2"),
        set("flash.superblock", "2"),
        set("controller.power_protected", if is_protected { "true" } else { "false" }),
        set("mapping.scheme", mapping),
        set("placement.scheme", placement),
    ]
}

/// Acknowledged data is durable if the controller's memory is protected, and flushed data
/// otherwise. A flush may have to program padding. No page is lost.
#[test]
fn rows_that_are_programmed_at_once_lose_nothing() {
    for (at, placement) in names(PLACEMENTS).filter(|name| needs_no_future(name)).enumerate() {
        for is_protected in [false, true] {
            let mapping = ["ideal", "dftl"][at % 2];
            let report = run(&with_rows(is_protected, mapping, placement), 250, at as u64, 25);
            assert!(report.points > 1000 && report.torn_seen > 100, "{report:?}");
        }
    }
}

/// Drives with rows over three dies. One die holds the parity of the others.
fn with_parity(is_protected: bool, mapping: &str, placement: &str) -> Sets {
    let mut sets = with_rows(is_protected, mapping, placement);
    let shape = [("flash.channels", "3"), ("flash.superblock", "6"), ("flash.parity", "3")];
    sets.extend(shape.map(|(key, value)| set(key, value)));
    sets
}

#[test]
fn parity_over_dies_loses_nothing() {
    for (at, placement) in ["single", "dac", "eti"].into_iter().enumerate() {
        for is_protected in [false, true] {
            let mapping = ["ideal", "dftl"][at % 2];
            let report = run(&with_parity(is_protected, mapping, placement), 250, at as u64, 25);
            assert!(report.points > 1000 && report.torn_seen > 100, "{report:?}");
        }
    }
}

/// Drives with rows and an SLC cache of four units of 8 pages and up to four more. The cache is
/// folded when it is full, or when units are short.
fn with_cache(is_protected: bool, at: usize, when_full: &str) -> Sets {
    let placement = ["single", "dac", "sepbit", "mbf", "eti"][at % 5];
    let cache = [("slc.static", "32KiB"), ("slc.dynamic", "32KiB"), ("slc.when_full", when_full)];
    let mut sets = with_rows(is_protected, ["ideal", "dftl"][at % 2], placement);
    sets.extend(cache.map(|(key, value)| set(key, value)));
    sets
}

const CACHES: [(bool, &str); 4] =
    [(false, "fold"), (true, "fold"), (false, "direct"), (true, "direct")];

#[test]
fn an_slc_cache_loses_nothing() {
    for at in 0..5 {
        for (is_protected, when_full) in CACHES {
            let report = run(&with_cache(is_protected, at, when_full), 250, at as u64, 25);
            assert!(report.points > 1000 && report.torn_seen > 100, "{report:?}");
        }
    }
}

/// A million explored moments and more for each: padding, folding, and parity.
#[test]
#[ignore = "long: make test-long"]
fn rows_and_caches_lose_nothing_in_millions_of_places() {
    let placements: Vec<&str> = names(PLACEMENTS).filter(|name| needs_no_future(name)).collect();
    for what in ["padding", "folding", "parity"] {
        let mut all = CrashReport::default();
        for seed in 0..200 {
            let at = seed as usize;
            for (is_protected, when_full) in CACHES {
                let (mapping, placement) =
                    (["ideal", "dftl"][at % 2], placements[at % placements.len()]);
                let sets = match what {
                    "folding" => with_cache(is_protected, at, when_full),
                    "parity" => with_parity(is_protected, mapping, placement),
                    _ => with_rows(is_protected, mapping, placement),
                };
                all.add(&run(&sets, 250, seed, 25));
            }
            if all.points > 1_100_000 {
                break;
            }
        }
        println!("{what}: {all:?}");
        assert!(all.points >= 1_000_000, "{what}: {all:?}");
    }
}

/// Finds a drive that acknowledges before it programs, and whose FLUSH does not wait.
#[test]
fn a_flush_that_leaves_rows_unprogrammed_is_found() {
    let bug = Some(Bug::EarlyAcknowledge);
    let (_, report) =
        report(&with_rows(false, "ideal", "single"), 250, Options { bug, ..options(1) });
    assert!(report.lost > 0, "what was acknowledged and not flushed was in the memory only");
}
