//! Cost of cleaning, measured twice: the wait for cleaning that requests report, and the time that
//! the same requests save on a drive that cleans in no time.
//!
//! Policies see no clock, so both drives do the same operations. The host keeps the queue full.

use crate::common::{Rig, SERIAL};
use floatgate_ftl::counters::Counters;
use floatgate_ftl::geometry::Shape;
use floatgate_ftl::nand::{Cause, Component, Counted, Schedule, Stripe, Timed, Timing};
use floatgate_ftl::page_ftl::{Cleaning, Pace};
use floatgate_ftl::request::{Op, Request};
use floatgate_ftl::rng::Rng;

/// 4 KiB pages; a channel transfers a page in 10 us.
const SLOW: Timing = Timing {
    read_ns: 25_000,
    program_ns: 200_000,
    erase_ns: 1_500_000,
    transfer_ns: 10_000,
    command_ns: 0,
};

/// One die.
const ONE: Shape = Shape { page_bytes: 4096, pages_per_block: 64, ..SERIAL };

/// 32 dies; a unit lies on all of them.
const MANY: Shape = Shape { channels: 8, dies: 4, superblock: 32, ..ONE };

const REQUESTS: u64 = 40_000;

/// Returns writes: eight in ten go to two tenths of the pages.
fn writes(pages: u64) -> Vec<Request> {
    let mut rng = Rng::new(11);
    let mut page = || {
        let hot = pages / 5;
        if rng.below(10) < 8 { rng.below(hot) } else { hot + rng.below(pages - hot) }
    };
    let write = |page: u64| Request {
        at_ns: 0,
        op: Op::Write,
        offset: page * 4096,
        length: 4096,
        stream: 0,
    };
    (0..REQUESTS).map(|_| write(page())).collect()
}

/// How the drive cleans.
type Way = fn(&mut Cleaning);

const FOREGROUND: Way = |_| {};

/// In proportion to the writes, with a debt of two pages for each of 32 dies.
const PACED: Way = |cleaning| {
    cleaning.pace = Some(Pace::Proportional { debt: 64 });
    cleaning.high_water = cleaning.low_water + 3;
};

/// Returns the mean latency and its cleaning component, in nanoseconds, and the counters.
fn measure(shape: Shape, way: Way, depth: usize, free: &[Cause]) -> (f64, f64, Counters) {
    let base = Rig::new(shape, "ideal", "greedy");
    let rig = Rig { depth, low_water: 3, tune_cleaning: way, ..base };
    let geometry = rig.geometry();
    let schedule = Schedule { stripe: Stripe::ChannelDiePlane, ..Schedule::default() };
    let nand = Timed::with_schedule(Counted::default(), geometry, SLOW, schedule).with_free(free);
    let mut drive = rig.drive(nand, (), false);
    let pages = u64::from(shape.logical_pages);
    let (mut rng, mut done) = (Rng::new(5), vec![]);
    let fill = |page: u64| Request {
        at_ns: 0,
        op: Op::Write,
        offset: page * 4096,
        length: 4096,
        stream: 0,
    };
    drive.run(&(0..pages).map(fill).collect::<Vec<_>>(), &mut done);
    drive.run(&(0..2 * pages).map(|_| fill(rng.below(pages))).collect::<Vec<_>>(), &mut done);
    drive.reset_counters();
    done.clear();
    drive.run(&writes(pages), &mut done);
    let mean = |sum: u64| sum as f64 / done.len() as f64;
    let latency = mean(done.iter().map(|done| done.done_ns - done.arrival_ns).sum());
    let gc = mean(done.iter().map(|done| done.blame.0[Component::Gc as usize]).sum());
    (latency, gc, drive.counters())
}

/// Returns the shape of a drive with `units` units in service, 7 % of them spare.
fn drive(shape: Shape, units: u32) -> Shape {
    let pages = shape.pages_per_block * shape.superblock;
    let logical_pages = (0.93 * f64::from(units * pages)) as u32;
    Shape { units: units + 2, logical_pages, ..shape }
}

#[track_caller]
fn hold(shape: Shape, way: Way, depth: usize, tolerance: f64) {
    let (latency, blamed, counters) = measure(shape, way, depth, &[]);
    let (without, none, same) = measure(shape, way, depth, &[Cause::Gc, Cause::GcMap]);
    assert_eq!((counters.flash, counters.cleans), (same.flash, same.cleans));
    let cleans = counters.cleans.foreground + counters.cleans.incremental;
    assert!(cleans > 100 && blamed > 0.2 * latency, "{blamed} of {latency}");
    assert_eq!(none, 0.0, "what takes no time is waited for by nobody");
    let fell = latency - without;
    assert!((blamed / fell - 1.0).abs() < tolerance, "depth {depth}: {fell}, blamed {blamed}");
}

#[test]
fn on_one_die_latencies_fall_by_the_blame_of_cleaning() {
    for depth in [1, 8, 32] {
        hold(drive(ONE, 256), FOREGROUND, depth, 0.01);
    }
}

#[test]
fn on_many_dies_latencies_fall_by_the_blame_of_cleaning() {
    for depth in [32, 128] {
        hold(drive(MANY, 64), FOREGROUND, depth, 0.05);
    }
}

/// Copies of a paced drive stay in the queues of the dies, where host pages wait for them. On many
/// dies with many pages in the queue, a page that waits for copies would otherwise wait for other
/// pages: its blame is too high by a tenth.
#[test]
fn latencies_of_a_paced_drive_fall_by_the_blame_of_cleaning() {
    for depth in [1, 8, 32] {
        hold(with_reserve(drive(ONE, 256)), PACED, depth, 0.02);
    }
    for (depth, tolerance) in [(32, 0.05), (128, 0.12)] {
        hold(with_reserve(drive(MANY, 64)), PACED, depth, tolerance);
    }
}

/// Returns a drive with the three further units that a drive that cleans in proportion reserves.
fn with_reserve(shape: Shape) -> Shape {
    Shape { units: shape.units + 3, ..shape }
}
