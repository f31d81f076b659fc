//! Compares whole drives with the specification of the clock, docs/time.md: layers of one
//! kind serve the same requests over the scheduler and over the brute-force drive of
//! `clock_graphs`. Requests must arrive, be admitted and end at the same nanoseconds, with the same
//! blame.

mod case;

use crate::clock_graphs::brute::{Brute, Seen};
use crate::clock_graphs::random::comparable;
use case::{Case, Layers};
use floatgate_ftl::counters::Counters;
use floatgate_ftl::device::Device;
use floatgate_ftl::nand::{Cause, Counted, Timed};
use floatgate_ftl::queue::Arrivals;
use floatgate_ftl::request::{Completion, Op};
use floatgate_ftl::rng::Rng;
use std::collections::BTreeMap;
use std::ops::Range;

/// Runs the requests in batches. The drive sees as many later requests as it wants.
fn run(case: &Case, seed: u64, mut drive: Box<dyn Device>) -> (Vec<Completion>, Counters) {
    let (mut done, mut rng) = (vec![], Rng::new(seed));
    let mut rest = &case.requests[..];
    while !rest.is_empty() {
        let count = rest.len().min(1 + rng.below(20) as usize);
        let ahead = rest.len().min(count + drive.sees_ahead());
        drive.run_ahead(&rest[..ahead], count, &mut done);
        rest = &rest[count..];
    }
    drive.run_ahead(&[], 0, &mut done);
    drive.write_back();
    drive.check();
    (done, drive.counters())
}

/// Checks arrivals, queue depths and flushes without the medium. Both drives share this code, so
/// both could be wrong in the same way.
fn arrive(case: &Case, done: &[Completion]) {
    let (arrivals, depth, queues) = case.host();
    let share = case.bytes().div_ceil(queues as u64);
    // By queue: the completion times of the requests so far.
    let mut ends = vec![vec![]; queues];
    for (number, (request, completion)) in case.requests.iter().zip(done).enumerate() {
        let ends: &mut Vec<u64> = &mut ends[((request.offset / share) as usize).min(queues - 1)];
        ends.sort_unstable();
        let place = if ends.len() < depth { 0 } else { ends[ends.len() - depth] };
        let Completion { arrival_ns, done_ns, blame } = *completion;
        let expected = match arrivals {
            Arrivals::Open => request.at_ns,
            Arrivals::Closed => place,
            Arrivals::Immediate => 0,
        };
        assert_eq!(arrival_ns, expected, "request {number} arrives: {case:?}");
        assert!(done_ns >= place, "request {number} has no place: {case:?}");
        let all = if queues == 1 && request.op == Op::Flush { ends.last().copied() } else { None };
        assert!(Some(done_ns) >= all, "request {number} waits for all before it: {case:?}");
        assert_eq!(blame.total(), done_ns - arrival_ns, "request {number}: {case:?}");
        ends.push(done_ns);
    }
}

/// Returns how often each event happened on a drive.
fn agrees(layers: Layers, seed: u64) -> BTreeMap<&'static str, u64> {
    let case = Case::new(layers, seed);
    let seen = Seen::default();
    let (geometry, timing, schedule) = (case.medium(), case.timing, case.schedule);
    let specified = Brute::new(geometry, timing, schedule, seen.clone());
    let (expected, specified) = run(&case, seed, case.drive(specified));
    let scheduled = Timed::with_schedule(Counted::new(&geometry), geometry, timing, schedule);
    let (found, scheduled) = run(&case, seed, case.drive(scheduled));
    arrive(&case, &found);
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

/// Returns the counts of the layers.
fn counted(counters: &Counters) -> [(&'static str, u64); 15] {
    let (cleans, merges) = (counters.cleans, counters.merges);
    let (buffer, shrd) = (counters.buffer.unwrap_or_default(), counters.layer.unwrap_or_default());
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
        ("padding", counters.flash.programs[Cause::Pad as usize]),
        ("pages of parity", counters.flash.programs[Cause::Parity as usize]),
    ]
}

/// Returns how often each event happened in all cases.
fn all_agree(layer: Layers, seeds: Range<u64>) -> BTreeMap<&'static str, u64> {
    let mut seen = BTreeMap::new();
    for (what, times) in seeds.flat_map(|seed| agrees(layer, seed)) {
        *seen.entry(what).or_default() += times;
    }
    seen
}

/// Events that happen with any layers.
const ANY: [&str; 10] = [
    "a program in the register during work of the cells",
    "a read that waits for the register",
    "work of the cells with a read in the register",
    "core held over the flash",
    "continues",
    "continues before urgent reads",
    "interrupted",
    "interrupted again",
    "pages read to complete a write",
    "pages trimmed",
];

/// Asserts that all cases agree, and that no possible event is rare.
fn often(layers: Layers, seeds: Range<u64>, of_layers: &[&str]) {
    let seen = all_agree(layers, seeds);
    for what in ANY.iter().chain(of_layers) {
        assert!(seen.get(what).is_some_and(|&times| times >= 10), "{what} is rare in {seen:?}");
    }
}

#[test]
fn drives_with_a_map_of_pages_take_the_time_that_is_specified() {
    let of_layers = [
        "core given back early",
        "multi-plane",
        "foreground cleaning",
        "emergency cleaning",
        "cleaning with writes",
        "idle cleaning",
        "wear levelling",
        "entries evicted",
        "pages flushed from a buffer",
    ];
    often(Layers::Pages, 0..1_000, &of_layers);
}

#[test]
fn drives_that_program_rows_take_the_time_that_is_specified() {
    let of_layers = [
        "a page read with another",
        "a page in memory",
        "a wait for memory",
        "a read behind writes",
        "foreground cleaning",
        "idle cleaning",
        "entries evicted",
        "pages flushed from a buffer",
        "pages of parity",
        "padding",
        "a row that is dropped",
    ];
    often(Layers::Rows, 0..1_000, &of_layers);
    // The host waits for a flash page that is being read for the write buffer.
    all_agree(Layers::Rows, 7_477..7_478);
}

#[test]
fn drives_behind_shrd_take_the_time_that_is_specified() {
    let of_layers = [
        "core given back early",
        "multi-plane",
        "foreground cleaning",
        "idle cleaning",
        "windows remapped",
        "redirected reads",
    ];
    often(Layers::Shrd, 0..500, &of_layers);
}

#[test]
fn drives_with_log_blocks_take_the_time_that_is_specified() {
    let of_layers =
        ["multi-plane", "full merges", "switch and partial merges", "pages flushed from a buffer"];
    often(Layers::Logs, 0..500, &of_layers);
}

#[test]
#[ignore = "long: make test-long"]
fn many_drives_take_the_time_that_is_specified() {
    for layers in [Layers::Pages, Layers::Rows, Layers::Shrd, Layers::Logs] {
        all_agree(layers, 1_000..11_000);
    }
}
