//! Small drives whose cleaning can be computed by hand. Units have eight pages. The map is in
//! memory, and only erasing takes time where nothing is copied.

use floatgate_ftl::device::{Device, Inspect};
use floatgate_ftl::ftl::Cleans;
use floatgate_ftl::page_ftl::{Cleaning, Destination, Pace};
use floatgate_ftl::placement::PlacementConfig;
use floatgate_ftl::request::{Op, Request};

use super::clockwork::ERASE_NS;
use super::engine::{Drive, drive};
use crate::common::workload::Workload;
use crate::common::{Rig, SERIAL};

const UNITS: u32 = SERIAL.units;
const PAGE_BYTES: u64 = SERIAL.page_bytes as u64;

fn small(placement: &'static str, tune_cleaning: fn(&mut Cleaning)) -> Rig {
    Rig { placement, tune_cleaning, low_water: 9, ..Rig::new(SERIAL, "ideal", "greedy") }
}

fn build(rig: &Rig) -> Drive {
    drive(rig).0
}

/// Runs one request of `pages` pages that arrives at `at_ns`. Returns its completion time.
fn request(drive: &mut Drive, at_ns: u64, op: Op, first: u64, pages: u64) -> u64 {
    let mut done = vec![];
    let request = Workload::pages(op, first, pages, PAGE_BYTES);
    drive.run(&[Request { at_ns, ..request }], &mut done);
    done[0].done_ns
}

/// Writes the first eight pages `times` times, all at once; each time fills a unit. Returns the
/// time of the last completion.
fn fill(drive: &mut Drive, times: u32) -> u64 {
    (0..times).map(|_| request(drive, 0, Op::Write, 0, 8)).max().unwrap()
}

/// Returns the pages that cleaning put in each stream. Before that, writes eight pages `times`
/// times, trims the first, and cleans every unit with a page to gain.
fn copies(
    placement: &'static str,
    tune_placement: fn(&mut PlacementConfig),
    times: u32,
    destination: fn(&mut Cleaning),
) -> Vec<u64> {
    let rig = Rig { tune_placement, ..small(placement, destination) };
    let mut drive = build(&rig);
    fill(&mut drive, times);
    let now = request(&mut drive, 0, Op::Trim, 0, 1);
    request(&mut drive, now + 1_000_000, Op::Read, 0, 1);
    assert_eq!(drive.counters().cleans.idle, u64::from(times), "every unit was cleaned");
    drive.check();
    drive.counters().streams.iter().map(|stream| stream.gc_pages).collect()
}

/// Cleans as `copies` needs it; the destination is the placement's choice.
const EMPTYING: fn(&mut Cleaning) = |cleaning| {
    (cleaning.idle_after_ns, cleaning.high_water) = (Some(0), UNITS);
};

/// After four writes, a page of DAC is in the hottest of four regions, and its old versions are in
/// the others. The last unit has seven pages to copy, the others none.
#[test]
fn copies_go_where_the_config_says() {
    let regions: fn(&mut PlacementConfig) = |config| config.dac.regions = 4;
    let go = |destination| copies("dac", regions, 4, destination);
    assert_eq!(go(EMPTYING), [0, 0, 7, 0], "the scheme demotes what is cleaned");
    let same: fn(&mut Cleaning) = |cleaning| {
        EMPTYING(cleaning);
        cleaning.destination = Destination::Same;
    };
    assert_eq!(go(same), [0, 0, 0, 7]);
    let cold: fn(&mut Cleaning) = |cleaning| {
        EMPTYING(cleaning);
        cleaning.destination = Destination::Cold;
    };
    assert_eq!(go(cold), [7, 0, 0, 0]);
    let reclassify: fn(&mut Cleaning) = |cleaning| {
        EMPTYING(cleaning);
        cleaning.destination = Destination::Reclassify;
    };
    assert_eq!(go(reclassify), [0, 0, 0, 7], "its word is where a page is");
    // Counters of 2 are hot. The sixteenth write halves them, so the pages would now be cold.
    let halved: fn(&mut PlacementConfig) = |config| {
        (config.direct.hot_threshold, config.direct.decay_period) = (2, 16);
    };
    let go = |destination| copies("direct", halved, 2, destination);
    let all = [EMPTYING, same, reclassify, cold].map(go);
    assert_eq!(all, [[0, 7], [0, 7], [7, 0], [7, 0]]);
}

/// Returns the idle cleans when a request arrives `gap` after the last completion, and the free
/// units. Four units have no valid page, the fifth is full.
fn idle(gap: u64, tune: fn(&mut Cleaning)) -> (u64, u32) {
    let mut drive = build(&small("single", tune));
    let now = fill(&mut drive, 5);
    request(&mut drive, now + gap, Op::Read, 0, 1);
    let Cleans { idle, foreground, incremental, .. } = drive.counters().cleans;
    assert_eq!((foreground, incremental), (0, 0));
    (idle, drive.units().free_units())
}

#[test]
fn a_drive_that_is_idle_for_long_enough_cleans_until_the_host_comes() {
    let after: fn(&mut Cleaning) = |cleaning| {
        (cleaning.idle_after_ns, cleaning.high_water) = (Some(500), UNITS);
    };
    // A clean begins 500 ns after the last request, and takes as long as an erase.
    for (gap, cleans) in [
        (0, 0),
        (499, 0),
        (500, 0),
        (501, 1),
        (500 + ERASE_NS, 1),
        (500 + ERASE_NS + 1, 2),
        (500 + 3 * ERASE_NS, 3),
        (500 + 3 * ERASE_NS + 1, 4),
        (1_000_000_000, 4),
    ] {
        assert_eq!(idle(gap, after), (cleans, UNITS - 5 + cleans as u32), "{gap} ns");
    }
    assert_eq!(idle(1_000_000_000, |_| {}), (0, UNITS - 5), "nobody asked for it");
}

#[test]
fn idle_cleaning_stops_at_high_water() {
    let at: [fn(&mut Cleaning); 4] = [
        |cleaning| (cleaning.idle_after_ns, cleaning.high_water) = (Some(0), UNITS - 5),
        |cleaning| (cleaning.idle_after_ns, cleaning.high_water) = (Some(0), UNITS - 4),
        |cleaning| (cleaning.idle_after_ns, cleaning.high_water) = (Some(0), UNITS - 3),
        // Only four units have pages to gain.
        |cleaning| (cleaning.idle_after_ns, cleaning.high_water) = (Some(0), UNITS),
    ];
    let cleans = at.map(|tune| idle(1_000_000_000, tune).0);
    assert_eq!(cleans, [0, 1, 2, 4]);
}

/// If fewer units are free than the high-water mark, the first write erases a unit without a valid
/// page. No request waits for that.
#[test]
fn cleaning_ahead_stops_at_high_water() {
    let at: [fn(&mut Cleaning); 3] = [
        |cleaning| (cleaning.pace, cleaning.high_water) = (Some(Pace::Fixed(1)), UNITS - 1),
        |cleaning| (cleaning.pace, cleaning.high_water) = (Some(Pace::Fixed(1)), UNITS),
        |cleaning| cleaning.high_water = UNITS,
    ];
    let cleans = at.map(|tune| {
        let mut drive = build(&small("single", tune));
        fill(&mut drive, 1);
        let begin = request(&mut drive, 0, Op::Trim, 0, 8);
        let erased = drive.counters().cleans.incremental;
        let done = request(&mut drive, begin, Op::Write, 0, 1);
        assert!(erased == 0 && done - begin < ERASE_NS);
        drive.counters().cleans.incremental
    });
    assert_eq!(cleans, [0, 1, 0]);
}
