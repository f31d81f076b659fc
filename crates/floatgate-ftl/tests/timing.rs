//! The clock under whole drives. On the serial drive durations must add up, whatever the layers. A
//! queue must admit when a place is free. A flush must wait for all requests before it, and copies
//! of a row must begin together. `tests/clock_graphs.rs` compares the clock itself with a naive
//! one.

use crate::common::buffer_rig::BufferRig;
use crate::common::log::{Event, Kind, Log};
use crate::common::log_rig::LogRig;
use crate::common::workload::{ANYTHING, Workload};
use crate::common::{Rig, SERIAL, STRIPED, TIMING};
use floatgate_ftl::device::{Acknowledge, Device};
use floatgate_ftl::log_block::LOG_BLOCKS;
use floatgate_ftl::mapping::MAPPINGS;
use floatgate_ftl::nand::Component;
use floatgate_ftl::parameters::names;
use floatgate_ftl::queue::Arrivals;
use floatgate_ftl::request::Op;

const READ: u64 = TIMING.command_ns + TIMING.read_ns + TIMING.transfer_ns;
const PROGRAM: u64 = TIMING.command_ns + TIMING.transfer_ns + TIMING.program_ns;
const ERASE: u64 = TIMING.command_ns + TIMING.erase_ns;

fn duration(event: &Event) -> u64 {
    match event.kind {
        Kind::Read(..) => READ,
        Kind::Program(..) => PROGRAM,
        Kind::Copy(..) => READ + PROGRAM,
        Kind::Erase(_) => ERASE,
    }
}

/// Returns the total duration of the operations since the log was last taken.
fn durations(log: &Log) -> u64 {
    log.take().iter().map(duration).sum()
}

/// Runs requests one by one on a drive with one die, at depth 1. Each must take the time of its
/// operations, from its arrival or from the end of the request before it.
fn add_up((drive, log): (&mut dyn Device, &Log), arrivals: Arrivals, seed: u64) {
    log.take();
    let mut workload = Workload::new(seed, ANYTHING, SERIAL.logical_pages, SERIAL.page_bytes);
    let (mut done, mut free, mut busy) = (vec![], 0, 0);
    for number in 0..1000 {
        let mut request = workload.next();
        request.at_ns *= 8;
        drive.run(&[request], &mut done);
        let latency = durations(log);
        let arrival = if arrivals == Arrivals::Open { request.at_ns } else { free };
        let begin = free.max(arrival);
        let completion = done[number];
        let expected = (arrival, begin + latency);
        assert_eq!((completion.arrival_ns, completion.done_ns), expected, "{request:?}");
        assert_eq!(completion.blame.total(), begin + latency - arrival);
        assert_eq!(
            completion.blame.0[Component::Queue as usize],
            begin - arrival,
            "alone in the drive"
        );
        (free, busy) = (begin + latency, busy + latency);
    }
    let occupation = drive.counters().occupation;
    assert_eq!((occupation.busy_ns, occupation.busiest_ns), (busy, busy));
    assert!(arrivals == Arrivals::Open || occupation.end_ns == busy, "never idle");
}

#[test]
fn one_at_a_time_on_the_serial_drive_is_the_sum_of_its_operations() {
    for arrivals in [Arrivals::Open, Arrivals::Closed] {
        for (mapping, seed) in names(MAPPINGS).zip(1..) {
            let rig = Rig { depth: 1, arrivals, ..Rig::new(SERIAL, mapping, "greedy") }.spare(3);
            let (mut drive, log) = rig.build();
            add_up((drive.device(), &log), arrivals, seed);
        }
        for (scheme, seed) in names(LOG_BLOCKS).zip(1..) {
            let (mut drive, log) =
                LogRig { depth: 1, arrivals, ..LogRig::new(SERIAL, scheme, 4) }.build();
            add_up((&mut *drive, &log), arrivals, seed);
        }
    }
}

/// The host waits for a remap, so the remap lies between the arrival of a request and its end.
#[test]
fn one_at_a_time_behind_shrd_is_the_sum_of_its_operations() {
    for (mapping, seed) in [("dftl", 1), ("page_cache", 2), ("none", 3)] {
        let base = Rig { log: 48, depth: 1, low_water: 5, ..Rig::new(SERIAL, mapping, "greedy") };
        let (mut drive, log) = base.spare(4).build_behind_shrd();
        add_up((drive.device(), &log), Arrivals::Closed, seed);
        let counters = drive.counters();
        assert!(counters.layer.unwrap().shrd.windows > 5, "{mapping}");
    }
}

/// A die with waiting work must never be idle, whatever the depth.
#[test]
fn on_the_serial_drive_durations_add_up() {
    for (mapping, seed) in names(MAPPINGS).zip(1..) {
        for depth in [1, 4, 32] {
            let rig = Rig { depth, ..Rig::new(SERIAL, mapping, "greedy") }.spare(3);
            let (mut drive, log) = rig.build();
            log.take();
            let mut workload = Workload::new(seed, ANYTHING, rig.shape.logical_pages, 64);
            let mut done = vec![];
            drive.run(&workload.batch(1000), &mut done);
            let (sum, occupation) = (durations(&log), drive.counters().occupation);
            assert_eq!((occupation.end_ns, occupation.busy_ns), (sum, sum), "{mapping}, {depth}");
            let last = done.iter().map(|completion| completion.done_ns).max();
            assert_eq!(last, Some(sum), "{mapping}, {depth}");
        }
    }
}

#[test]
fn the_queue_admits_when_a_place_is_free() {
    for depth in [1, 2, 5] {
        let arrivals = Arrivals::Open;
        let rig = Rig { depth, arrivals, ..Rig::new(STRIPED, "dftl", "greedy") }.spare(3);
        let (mut drive, _) = rig.build();
        let mut workload = Workload::new(3, ANYTHING, rig.shape.logical_pages, 64);
        let requests = workload.batch(1000);
        let mut done = vec![];
        drive.run(&requests, &mut done);
        let (mut ends, mut last) = (vec![], 0);
        for (number, (request, completion)) in requests.iter().zip(&done).enumerate() {
            // Fewer than `depth` earlier requests may still be in the drive.
            ends.sort_unstable();
            let place = if number < depth { 0 } else { ends[number - depth] };
            let admitted = request.at_ns.max(last).max(place);
            assert_eq!(completion.arrival_ns, request.at_ns);
            let queued = completion.blame.0[Component::Queue as usize];
            if request.op == Op::Flush {
                let drained = ends.last().copied().unwrap_or(0).max(admitted);
                assert_eq!(completion.done_ns, drained, "a flush waits for all before it");
                assert_eq!(queued, drained - request.at_ns, "and that is queueing");
            } else {
                assert_eq!(queued, admitted - request.at_ns);
            }
            last = admitted;
            ends.push(completion.done_ns);
        }
        let overtaken = done.windows(2).filter(|pair| pair[0].done_ns > pair[1].done_ns).count();
        assert_eq!(overtaken > 100, depth > 1, "{overtaken} end before the one before them");
    }
}

/// A host that waits for a place must send the next request when one is complete, even if the drive
/// then holds that request back: in an arbiter, or in a host layer.
#[test]
fn a_closed_queue_is_always_full() {
    let serial = BufferRig::new("lru", Acknowledge::WriteBack);
    for depth in [1, 2, 5, 16] {
        let rig = Rig { depth, ..Rig::new(STRIPED, "dftl", "greedy") };
        let plain = rig.spare(3).build();
        let buffered = Rig { buffer: Some(serial), ..rig }.spare(3).build();
        let behind_shrd = Rig { log: 64, ..rig }.spare(4).build_behind_shrd();
        for (mut drive, _) in [plain, buffered, behind_shrd] {
            let mut workload = Workload::new(6, ANYTHING, STRIPED.logical_pages, 64);
            let (mut done, ahead) = (vec![], drive.sees_ahead());
            let requests = workload.batch(1000);
            for number in 0..requests.len() {
                let end = requests.len().min(number + 1 + ahead);
                drive.run_ahead(&requests[number..end], 1, &mut done);
            }
            drive.run(&[], &mut done);
            let mut ends: Vec<u64> = vec![];
            for (number, completion) in done.iter().enumerate() {
                ends.sort_unstable();
                let place = if number < depth { 0 } else { ends[number - depth] };
                assert_eq!(completion.arrival_ns, place, "request {number}, depth {depth}");
                ends.push(completion.done_ns);
            }
        }
    }
}

#[test]
fn the_copies_of_a_row_begin_and_end_together() {
    let rig = Rig::new(STRIPED, "ideal", "greedy").spare(2);
    let (mut drive, log) = rig.build();
    log.take();
    let mut workload = Workload::new(4, ANYTHING, rig.shape.logical_pages, 64);
    drive.run(&workload.batch(2000), &mut vec![]);
    let is_copy = |event: &Event| matches!(event.kind, Kind::Copy(..));
    let copied: Vec<Event> = log.take().into_iter().filter(is_copy).collect();
    let mut rows = 0;
    for row in copied.chunk_by(|a, b| a.after == b.after) {
        assert!(row.iter().all(|event| event.before == row[0].before), "{row:?}");
        rows += 1;
    }
    let copies = copied.len();
    assert!(copies > 2000 && rows * 2 < copies, "{copies} copies in {rows} rows");
}
