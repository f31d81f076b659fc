//! Tests of every placement under every cleaning mode. Reads must return the data written last, and
//! each cleaning mode must keep its promise. Also compares the engine with a naive one, and with
//! drives computed by hand.

mod by_hand;
mod clockwork;
mod engine;
mod naive;

use crate::common::laws::Seen;
use crate::common::shadow::run;
use crate::common::workload::{ANYTHING, WRITES, Workload};
use crate::common::{GEOMETRIES, Probe, Rig, SERIAL};
use floatgate_ftl::nand::{Cause, Counted};
use floatgate_ftl::page_ftl::{Cleaning, Destination, Pace, Scope};
use floatgate_ftl::parameters::names;
use floatgate_ftl::placement::PLACEMENTS;
use floatgate_ftl::queue::Arrivals;
use floatgate_ftl::request::Op;
use floatgate_ftl::victim::VICTIMS;

/// Name and settings of a cleaning mode.
type Way = (&'static str, fn(&mut Cleaning));

const WAYS: &[Way] = &[
    ("foreground", |_| {}),
    ("same", |cleaning| cleaning.destination = Destination::Same),
    ("cold", |cleaning| cleaning.destination = Destination::Cold),
    ("reclassify", |cleaning| cleaning.destination = Destination::Reclassify),
    ("by stream", |cleaning| cleaning.scope = Scope::Stream),
    ("most invalid", |cleaning| cleaning.scope = Scope::MostInvalid),
    ("pressure", |cleaning| cleaning.scope = Scope::Pressure),
    ("one copy a write", |cleaning| {
        (cleaning.pace, cleaning.high_water) = (Some(Pace::Fixed(1)), 25)
    }),
    ("many copies a write", |cleaning| {
        (cleaning.pace, cleaning.high_water) = (Some(Pace::Fixed(9)), 25)
    }),
    ("in proportion", |cleaning| {
        (cleaning.pace, cleaning.high_water) = (Some(Pace::Proportional { debt: 3 }), 25);
    }),
    ("idle", |cleaning| (cleaning.idle_after_ns, cleaning.high_water) = (Some(100), 25)),
    ("levelled", |cleaning| cleaning.wear_gap = Some(2)),
    ("everything", |cleaning| {
        cleaning.destination = Destination::Reclassify;
        cleaning.scope = Scope::Stream;
        (cleaning.pace, cleaning.high_water) = (Some(Pace::Fixed(2)), 25);
        (cleaning.idle_after_ns, cleaning.wear_gap) = (Some(50), Some(1));
    }),
];

/// Returns a rig with the units that a placement needs, and three more.
fn rig(base: Rig, placement: &'static str, tune_cleaning: fn(&mut Cleaning)) -> Rig {
    let rig = Rig { placement, tune_cleaning, low_water: 0, ..base };
    let low_water = rig.cleaning().least_low_water(rig.frontiers(), 1);
    Rig { low_water, arrivals: Arrivals::Open, ..rig }.spare(3)
}

fn every(ways: &[Way], victims: &[&'static str], requests: usize, check_every: usize) -> Seen {
    let mut seen = Seen::default();
    for (seed, placement) in names(PLACEMENTS).enumerate() {
        for (_, shape) in GEOMETRIES {
            for (mapping, victim) in [("ideal", 0), ("dftl", 1), ("asa", 2), ("tpftl", 3)] {
                let base = Rig::new(shape, mapping, victims[victim % victims.len()]);
                for &(_, way) in ways {
                    let rig = rig(base, placement, way);
                    seen += run(&rig, seed as u64, ANYTHING, requests, check_every);
                }
            }
        }
    }
    seen
}

#[test]
fn every_placement_reads_the_written_data() {
    let seen = every(WAYS, &["greedy", "cost_benefit", "random", "fifo"], 500, 16);
    assert!(seen.cleans > 10_000 && seen.copies > 10_000 && seen.map_cleans > 1000, "{seen:?}");
}

#[test]
fn every_placement_is_consistent_after_every_request() {
    every(&WAYS[WAYS.len() - 1..], &["cat", "windowed", "d_choices", "fifo"], 150, 1);
}

#[test]
fn every_victim_works_under_every_way_of_cleaning() {
    for victim in names(VICTIMS) {
        for &(_, way) in WAYS {
            for placement in ["eti", "sepbit"] {
                let rig = rig(Rig::new(SERIAL, "dftl", victim), placement, way);
                run(&rig, 3, ANYTHING, 600, 16);
            }
        }
    }
}

/// Runs a drive of 130 units of 16 pages with data for 80 units. A tenth of the data is overwritten
/// all the time, the rest never. Returns the drive and its erases by unit.
fn skewed(way: fn(&mut Cleaning), gap_ns: u64) -> (Box<dyn Probe>, Vec<u32>) {
    let shape = floatgate_ftl::geometry::Shape {
        pages_per_block: 16,
        units: 130,
        logical_pages: 80 * 16,
        ..SERIAL
    };
    let base = Rig::new(shape, "ideal", "greedy");
    let rig = Rig { placement: "single", tune_cleaning: way, low_water: 12, ..base };
    let rig = Rig { arrivals: Arrivals::Open, ..rig };
    let mut drive = rig.drive(Counted::default(), (), false);
    let page_bytes = u64::from(shape.page_bytes);
    let mut hot = Workload::new(5, WRITES, shape.logical_pages / 10, shape.page_bytes);
    let all = (0..u64::from(shape.logical_pages))
        .map(|page| Workload::pages(Op::Write, page, 1, page_bytes));
    drive.run(&all.collect::<Vec<_>>(), &mut vec![]);
    drive.reset_counters();
    for number in 0..40_000 {
        let mut request = hot.next();
        request.at_ns = number * gap_ns;
        drive.run(&[request], &mut vec![]);
    }
    drive.check();
    let wear = drive.units().wear().collect();
    (drive, wear)
}

fn spread(wear: &[u32]) -> u32 {
    wear.iter().max().unwrap_or(&0) - wear.iter().min().unwrap_or(&0)
}

/// A map unit with no page to gain may be the cheapest victim, because moving data updates the map.
#[test]
fn the_tightest_drives_are_cleaned_to_an_end() {
    for (mapping, placement) in [("asa", "asa"), ("dftl", "single"), ("dftl", "dac")] {
        for victim in ["cat", "fifo", "cost_benefit"] {
            let base = Rig::new(SERIAL, mapping, victim);
            let tight = |spare| rig(base, placement, |_| {}).spare(spare);
            (0..4).for_each(|spare| _ = run(&tight(spare), 1, WRITES, 3000, 500));
        }
    }
}

#[test]
fn levelling_keeps_every_unit_in_use() {
    let (_, without) = skewed(|_| {}, 1);
    assert!(without.contains(&0) && spread(&without) > 30, "cold data keeps its units young");
    let (drive, with) = skewed(|cleaning| cleaning.wear_gap = Some(5), 1);
    assert!(spread(&with) <= 5 + 3, "{with:?}");
    let counters = drive.counters();
    assert!(counters.cleans.wear > 100);
    assert_eq!(counters.flash.erases[Cause::Wear as usize], counters.cleans.wear);
    assert!(counters.flash.programs[Cause::Wear as usize] > 0, "it has its price, and its cause");
}

#[test]
fn cleaning_while_idle_leaves_nothing_to_wait_for() {
    let idle: fn(&mut Cleaning) = |cleaning| {
        (cleaning.idle_after_ns, cleaning.high_water) = (Some(10), 20);
    };
    let (drive, _) = skewed(idle, 1_000_000);
    let cleans = drive.counters().cleans;
    assert!(cleans.idle > 1000 && cleans.foreground == 0, "{cleans:?}");
    // Requests that arrive together leave no idle time.
    let (drive, _) = skewed(idle, 0);
    let cleans = drive.counters().cleans;
    assert!(cleans.idle == 0 && cleans.foreground > 1000, "{cleans:?}");
}

#[test]
fn cleaning_bit_by_bit_keeps_ahead_of_writes() {
    let (drive, _) = skewed(|c| (c.pace, c.high_water) = (Some(Pace::Fixed(4)), 20), 0);
    let cleans = drive.counters().cleans;
    assert!(cleans.incremental > 1000 && cleans.foreground == 0, "{cleans:?}");
    let gained = drive.counters().flash.programs[Cause::Gc as usize];
    let (drive, _) = skewed(|_| {}, 0);
    let without = drive.counters().flash.programs[Cause::Gc as usize];
    assert!(gained.abs_diff(without) < 40_000 / 20, "{gained} copies, without {without}");
}
