//! Compares the engine with the naive one under every cleaning mode: the same flash operations in
//! the same order, with the same times and causes, and the same completions for the host.

use floatgate_ftl::device::{Counters, Device, Inspect, Ssd};
use floatgate_ftl::ftl::Cleans;
use floatgate_ftl::geometry::Shape;
use floatgate_ftl::mapping::Boxed;
use floatgate_ftl::nand::Cause;
use floatgate_ftl::page_ftl::{Cleaning, Destination, Pace, PageFtl, Scope};
use floatgate_ftl::parameters::Bytes;
use floatgate_ftl::placement::{AsaClock, PlacementConfig, SampleSource};
use floatgate_ftl::policy::Policy as _;
use floatgate_ftl::queue::{Arrivals, Queue};
use floatgate_ftl::unit_table::FreeOrder;

use super::clockwork::{Clockwork, Step};
use super::naive::{Naive, Policy};
use crate::common::log::{Kind, Log};
use crate::common::workload::{Mix, Workload};
use crate::common::{MapPages, ODD, Rig, SERIAL, STRIPED};

/// Only whole pages, at times that leave the drive busy or idle.
const MIX: Mix = Mix { reads: 4, writes: 24, trims: 1, flushes: 1, pages_max: 6, unaligned: false };

pub type Drive = Ssd<PageFtl<Clockwork, Boxed>, ()>;

pub fn drive(rig: &Rig) -> (Drive, Log<Step>) {
    let log = Log::default();
    let (nand, config) = (Clockwork::new(log.clone()), rig.page_config(true));
    let Ok(ftl) = PageFtl::new(nand, rig.mapping(), config);
    log.take();
    (Ssd::new(ftl, (), Queue::new(1, Arrivals::Open), &rig.geometry()), log)
}

/// Number of times that each case occurred.
#[derive(Clone, Copy, Debug, Default)]
struct Came {
    cleans: u64,
    emergencies: u64,
    incremental: u64,
    idle: u64,
    wear: u64,
    map_cleans: u64,
    relabelled: u64,
}

/// Runs random requests on both drives and compares them.
fn compare(rig: &Rig, (seed, requests): (u64, usize)) -> Came {
    let policy = if rig.victim == "fifo" { Policy::Fifo } else { Policy::Greedy };
    let (mut ours, log) = drive(rig);
    let mut naive = Naive::new(rig, policy);
    let (pages, page_bytes) = (rig.shape.logical_pages, rig.shape.page_bytes);
    let mut workload = Workload::new(seed, MIX, pages, page_bytes);
    let mut came = Came::default();
    for number in 0..requests {
        if number == requests / 4 {
            ours.reset_counters();
            naive.reset_counters();
        }
        let mut request = workload.next();
        // The drive is busy for a while, then has time to clean many units.
        request.at_ns = request.at_ns * 4 + (number as u64 / 100) * 100_000;
        let mut done = vec![];
        ours.run(&[request], &mut done);
        let expected = naive.serve(&request);
        let (steps, naive_steps) = (log.take(), std::mem::take(&mut naive.log));
        for (at, (ours, naive)) in steps.iter().zip(&naive_steps).enumerate() {
            assert_eq!(ours, naive, "request {number}, {at}, {rig:?}");
        }
        assert_eq!(steps.len(), naive_steps.len(), "request {number}, {rig:?}");
        assert_eq!(done, [expected], "request {number}, {rig:?}");
        came.map_cleans += erases(&steps, Cause::GcMap);
    }
    same_account(rig, &ours, &mut naive);
    let Cleans { foreground, emergency, incremental, idle, wear, relabelled } =
        ours.counters().cleans;
    let (cleans, emergencies) = (foreground, emergency);
    Came { cleans, emergencies, incremental, idle, wear, relabelled, ..came }
}

/// Compares the counters of both drives, and the map after it is written back.
fn same_account(rig: &Rig, ours: &Drive, naive: &mut Naive) {
    ours.check();
    let Counters { cleans, map, sample_reads, streams, .. } = ours.counters();
    let expected = (naive.cleans, naive.mapping.counters().map, naive.sample_reads);
    assert_eq!((cleans, map, sample_reads), expected, "{rig:?}");
    let wear = ours.units().wear().collect();
    assert_eq!((streams, wear), (naive.streams.clone(), naive.wear()));
    let Counters { cache_bytes, placement_bytes, extents, .. } = ours.counters();
    assert_eq!((ours.units().free_units(), cache_bytes), naive.memory());
    let placement = naive.placement.policy();
    let expected = (placement.memory_bytes(), placement.counters().extents);
    assert_eq!((placement_bytes, extents), expected);
}

fn erases(steps: &[Step], cause: Cause) -> u64 {
    let is_erase = |step: &&Step| matches!(step.kind, Kind::Erase(_)) && step.cause == cause;
    steps.iter().filter(is_erase).count() as u64
}

/// Cleaning modes in which every setting occurs once, alone and together with another setting.
const WAYS: [fn(&mut Cleaning); 23] = [
    |_| {},
    |cleaning| cleaning.destination = Destination::Same,
    |cleaning| cleaning.destination = Destination::Cold,
    |cleaning| cleaning.destination = Destination::Reclassify,
    |cleaning| cleaning.scope = Scope::Stream,
    |cleaning| {
        (cleaning.scope, cleaning.destination) = (Scope::Stream, Destination::Reclassify);
    },
    |cleaning| cleaning.scope = Scope::MostInvalid,
    |cleaning| cleaning.scope = Scope::Pressure,
    |cleaning| {
        (cleaning.scope, cleaning.destination) = (Scope::MostInvalid, Destination::Cold);
        (cleaning.pace, cleaning.high_water) = (Some(Pace::Fixed(2)), cleaning.low_water + 2);
    },
    |cleaning| (cleaning.relabel, cleaning.destination) = (true, Destination::Same),
    |cleaning| {
        (cleaning.relabel, cleaning.lazy) = (true, Some(800_000));
        (cleaning.pace, cleaning.high_water) = (Some(Pace::Fixed(2)), cleaning.low_water + 3);
        cleaning.destination = Destination::Cold;
    },
    |cleaning| {
        (cleaning.relabel, cleaning.lazy) = (true, Some(500_000));
        (cleaning.idle_after_ns, cleaning.high_water) = (Some(500), cleaning.low_water + 3);
    },
    |cleaning| {
        (cleaning.pace, cleaning.high_water) = (Some(Pace::Fixed(1)), cleaning.low_water + 2)
    },
    |cleaning| {
        (cleaning.pace, cleaning.high_water) = (Some(Pace::Fixed(3)), cleaning.low_water + 1);
        cleaning.destination = Destination::Cold;
    },
    |cleaning| {
        (cleaning.idle_after_ns, cleaning.high_water) = (Some(500), cleaning.low_water + 2);
    },
    |cleaning| {
        (cleaning.idle_after_ns, cleaning.high_water) = (Some(90_000), cleaning.low_water + 3);
        (cleaning.scope, cleaning.destination) = (Scope::Stream, Destination::Same);
    },
    |cleaning| {
        cleaning.pace = Some(Pace::Proportional { debt: 1 });
        cleaning.high_water = cleaning.low_water + 2;
    },
    |cleaning| {
        cleaning.pace = Some(Pace::Proportional { debt: 5 });
        (cleaning.high_water, cleaning.lazy) = (cleaning.low_water + 3, Some(700_000));
        (cleaning.relabel, cleaning.destination) = (true, Destination::Same);
    },
    |cleaning| {
        cleaning.pace = Some(Pace::Proportional { debt: 2 });
        (cleaning.idle_after_ns, cleaning.high_water) = (Some(500), cleaning.low_water + 4);
    },
    |cleaning| cleaning.wear_gap = Some(1),
    |cleaning| (cleaning.wear_gap, cleaning.destination) = (Some(0), Destination::Reclassify),
    |cleaning| (cleaning.wear_gap, cleaning.pace) = (Some(3), Some(Pace::Fixed(2))),
    |cleaning| {
        (cleaning.scope, cleaning.destination) = (Scope::Stream, Destination::Reclassify);
        (cleaning.pace, cleaning.high_water) = (Some(Pace::Fixed(2)), cleaning.low_water + 2);
        (cleaning.idle_after_ns, cleaning.wear_gap) = (Some(50), Some(1));
    },
];

/// A placement and its parameters.
type Tuned = (&'static str, fn(&mut PlacementConfig));

/// Placements that depend on different inputs: demotion at cleaning, write counts, cleaned units,
/// commands, request lengths, and, for two of them, samples.
const PLACEMENTS: [Tuned; 8] = [
    ("single", |_| {}),
    ("dac", |_| {}),
    ("direct", |config| config.direct.hot_threshold = 2),
    ("sepbit", |_| {}),
    ("autostream", |config| config.autostream.chunk = Bytes(4 * 64)),
    ("length", |config| config.length.threshold_pages = 2),
    ("asa", |config| {
        (config.asa.update_period, config.asa.samples) = (100, 30);
        config.asa.sample_source = SampleSource::Written;
    }),
    ("asa", |config| {
        (config.asa.update_period, config.asa.samples) = (150, 20);
        (config.asa.relabel_on_gc, config.asa.clock) = (true, AsaClock::Time);
    }),
];

/// Erase units in a reclaim unit, by stream: one, several, and numbers that differ.
const SIZES: [fn(u8) -> u32; 3] = [|_| 1, |_| 3, |stream| [2, 1, 4][usize::from(stream) % 3]];

/// Mappings that together cause every kind of map work: none, reads and rewrites, updates, and
/// groups of pages that start together.
const MAPPINGS: [&str; 5] = ["ideal", "none", "dftl", "tpftl", "page_cache"];

/// Returns a rig with as many units as the drive needs, and `spare` more.
fn rig(
    shape: Shape,
    (placement, tune_placement): Tuned,
    way: fn(&mut Cleaning),
    reclaim_unit: fn(u8) -> u32,
    spare: u32,
) -> Rig {
    let base = Rig::new(shape, "dftl", "greedy");
    let mut rig = Rig { placement, tune_placement, tune_cleaning: way, low_water: 0, ..base };
    rig.reclaim_unit = reclaim_unit;
    rig.page_cache = MapPages { pages_per_map_page: 2, load_for_cleaning: true };
    rig.dftl.gtd_unmapped_shortcut = true;
    // One more, for map pages of two translation pages.
    let erase_units = rig.reclaim_units().into_iter().max().unwrap_or(1);
    rig.low_water = rig.cleaning().least_low_water(rig.frontiers(), erase_units) + 1;
    rig.spare(spare)
}

#[test]
fn every_operation_is_that_of_the_naive_engine() {
    let (mut came, mut number) = (Came::default(), 0);
    for placement in PLACEMENTS {
        for way in WAYS {
            for mapping in MAPPINGS {
                number += 1;
                let shape = [SERIAL, STRIPED, ODD][number % 3];
                let size = SIZES[number / 4 % 3];
                let mut rig = rig(shape, placement, way, size, [6, 1, 3, 0][number % 4]);
                rig.victim = ["greedy", "fifo"][number / 3 % 2];
                rig.free_order = [FreeOrder::LeastWorn, FreeOrder::First][number / 2 % 2];
                let more = compare(&Rig { mapping, ..rig }, (number as u64, 400));
                came.cleans += more.cleans;
                came.emergencies += more.emergencies;
                came.incremental += more.incremental;
                came.idle += more.idle;
                came.wear += more.wear;
                came.map_cleans += more.map_cleans;
                came.relabelled += more.relabelled;
            }
        }
    }
    let all = [came.cleans, came.incremental, came.idle, came.wear, came.map_cleans];
    assert!(all.into_iter().all(|cases| cases > 500) && came.emergencies > 50, "{came:?}");
    assert!(came.relabelled > 50, "{came:?}");
}
