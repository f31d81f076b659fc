//! Whole drives against the specification of the clock, docs/time.md: the same layers serve the
//! same requests over the scheduler and over the brute-force drive of `clock_graphs`. Requests
//! arrive, are admitted and end at the same nanoseconds, and their time went into the same.

#![allow(clippy::unwrap_used)] // In a test a panic is the report.

#[path = "clock_graphs/brute.rs"]
mod brute;
#[path = "clock_drives/case.rs"]
mod case;
mod common;
#[path = "clock_graphs/dies.rs"]
mod dies;
#[path = "clock_graphs/medium.rs"]
mod medium;
#[path = "clock_graphs/random.rs"]
mod random;

use brute::{Brute, Seen};
use case::Case;
use floatgate_ftl::counters::Counters;
use floatgate_ftl::device::Device;
use floatgate_ftl::nand::{Counted, Timed};
use floatgate_ftl::request::Completion;
use floatgate_ftl::rng::Rng;
use random::comparable;
use std::collections::BTreeMap;
use std::ops::Range;

/// Requests come in batches, and the drive sees as many of the next as it asks for.
fn run(case: &Case, seed: u64, mut drive: Box<dyn Device>) -> (Vec<Completion>, Counters) {
    let (mut done, mut rng) = (vec![], Rng::new(seed));
    let mut rest = &case.requests[..];
    while !rest.is_empty() {
        let count = rest.len().min(1 + rng.below(20) as usize);
        let ahead = rest.len().min(count + drive.sees_ahead());
        drive.run_ahead(&rest[..ahead], count, &mut done);
        rest = &rest[count..];
        if rest.is_empty() || rng.below(8) == 0 {
            drive.run_ahead(&[], 0, &mut done);
        }
    }
    drive.write_back();
    drive.check();
    (done, drive.counters())
}

/// What happened on a drive, how often.
fn agrees(seed: u64) -> BTreeMap<&'static str, u64> {
    let case = Case::new(seed);
    let seen = Seen::default();
    let (geometry, timing, schedule) = (case.medium(), case.timing, case.schedule);
    let specified = Brute::new(geometry, timing, schedule, seen.clone());
    let (expected, specified) = run(&case, seed, case.drive(specified));
    let scheduled = Timed::with_schedule(Counted::default(), geometry, timing, schedule);
    let (found, scheduled) = run(&case, seed, case.drive(scheduled));
    let Case { layer, requests, .. } = &case;
    let case = format!("seed {seed}: {layer:?}\n{timing:?}\n{schedule:?}");
    for (number, (expected, found)) in expected.iter().zip(&found).enumerate() {
        let request = requests[number];
        assert_eq!(expected, found, "specified, and found: request {number}, {request:?}, {case}");
    }
    assert_eq!((expected.len(), found.len()), (requests.len(), requests.len()), "{case}");
    let counters = comparable(&specified);
    assert_eq!(counters, comparable(&scheduled), "specified, and found: {case}");
    let mut seen = std::mem::take(&mut *seen.lock().unwrap());
    seen.extend(counted(&counters));
    seen
}

/// What layers have counted.
fn counted(counters: &Counters) -> [(&'static str, u64); 14] {
    let (cleans, merges) = (counters.cleans, counters.merges);
    let (buffer, shrd) = (counters.buffer.unwrap_or_default(), counters.layer.unwrap_or_default());
    let busiest = u64::from(counters.occupation.busiest_ns == counters.occupation.end_ns);
    [
        ("foreground cleaning", cleans.foreground),
        ("emergency cleaning", cleans.emergency),
        ("cleaning with writes", cleans.incremental),
        ("idle cleaning", cleans.idle),
        ("wear levelling", cleans.wear),
        ("entries evicted", counters.map.dirty_evictions),
        ("full merges", merges.full),
        ("switch and partial merges", merges.switch + merges.partial),
        ("pages flushed from a buffer", buffer.flushed),
        ("pages read to complete a write", counters.host.partial_page_reads),
        ("windows remapped", shrd.shrd.windows),
        ("redirected reads", shrd.shrd.redirected_reads),
        ("pages trimmed", counters.host.trimmed_pages),
        ("a die that was never idle", busiest),
    ]
}

/// What happened in all of these.
fn all_agree(seeds: Range<u64>) -> BTreeMap<&'static str, u64> {
    let mut seen = BTreeMap::new();
    for (what, times) in seeds.flat_map(agrees) {
        *seen.entry(what).or_default() += times;
    }
    seen
}

#[test]
fn random_drives_take_the_time_that_is_specified() {
    let seen = all_agree(0..1_000);
    let rare: Vec<_> = seen.iter().filter(|&(_, &times)| times < 50).collect();
    assert!(rare.is_empty() && seen.len() == 25, "{rare:?} of {} {seen:?}", seen.len());
}

#[test]
#[ignore = "long: make test-long"]
fn many_random_drives_take_the_time_that_is_specified() {
    all_agree(1_000..30_000);
}
