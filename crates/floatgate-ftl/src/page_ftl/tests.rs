//! Self-checks of the engine, and parts of it that are small enough to work out by hand.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::string::String;
use std::vec;
use std::vec::Vec;

use super::levelling::Levelling;
use super::verify::FlashMap;
use super::*;
use crate::addr::Unit;
use crate::future::{FutureKnowledge, NextUseBuilder};
use crate::geometry::Shape;
use crate::mapping::{AccessKind, Dftl, Ideal, MapConfig, MapOp, NoCache, Prefetch, Residency};
use crate::nand::Counted;
use crate::placement::{Isolation, PlacementConfig};
use crate::policy::Policy;
use crate::unit_table::Pool;
use crate::victim::{VictimConfig, victim};

/// Units of 8 pages, 16 entries in a translation page, and four translation pages.
fn geometry() -> Geometry {
    let shape = Shape { pages_per_block: 8, units: 20, logical_pages: 64, ..Shape::SMALL };
    Geometry::new(shape).expect("the shape is a drive")
}

type Drive<M = NoCache> = PageFtl<Counted, M>;

/// A drive with pages 0 to 31 written.
fn drive() -> Drive {
    let geometry = geometry();
    let mut drive = format(geometry, NoCache::new(&MapConfig::new(geometry, 0)));
    (0..32).for_each(|lpn| write(&mut drive, lpn));
    drive.check();
    drive
}

fn write(drive: &mut Drive<impl Mapping>, lpn: u32) {
    let (lpn, kind) = (Lpn::new(lpn), AccessKind::Write);
    let access = Access { lpn, kind, remaining: 1, first: true, mapped: false };
    let Ok(()) = drive.translate(access, &mut Chain::default());
    let Ok(()) = drive.write(lpn, 1, &mut Chain::default());
}

/// A drive with only the map written.
fn format<M: Mapping>(geometry: Geometry, map: M) -> Drive<M> {
    formatted(geometry, map, Cleaning::new(4), 1)
}

/// A drive with reclaim units of this number of erase units.
fn formatted<M: Mapping>(
    geometry: Geometry,
    map: M,
    cleaning: Cleaning,
    reclaim_unit: u32,
) -> Drive<M> {
    let placement = AnyPlacement::new("single", &PlacementConfig::new(geometry));
    let config = PageConfig {
        geometry,
        placement: placement.expect("a row of the table"),
        victim: victim("greedy", &VictimConfig::new(20, 2)).expect("a row of the table"),
        cleaning,
        free_order: FreeOrder::First,
        verify: true,
        pages_per_map_page: 1,
        journal: None,
        reclaim_units: vec![reclaim_unit],
        flush_after_ns: None,
    };
    let Ok(drive) = PageFtl::new(Counted::default(), map, config);
    drive
}

/// Message of the self-check after some damage to the drive.
fn objection(damage: impl FnOnce(&mut Drive)) -> String {
    let mut drive = drive();
    damage(&mut drive);
    let found = catch_unwind(AssertUnwindSafe(|| drive.check()));
    let panic = found.expect_err("the damage is found");
    panic.downcast_ref::<String>().expect("an assertion").clone()
}

#[test]
fn a_check_finds_inconsistencies() {
    let swapped = objection(|drive| drive.store.table.swap(3, 4));
    assert!(swapped.contains("the page of Lpn(3)"), "{swapped}");
    let lost = objection(|drive| drive.store.table[31] = None);
    assert!(lost.contains("left == right"), "a valid page is nobody's: {lost}");
    let map = objection(|drive| drive.map.directory.swap(0, 1));
    assert!(map.contains("the page of Tpn(0)"), "{map}");
    // The map on flash differs from the table.
    let stale = objection(|drive| {
        let flash_map = drive.map.flash.as_mut().expect("it is kept");
        flash_map.written(Tpn::new(0), &drive.store.geometry, &[None; 64], &drive.map.cache);
    });
    assert!(stale.contains("out of date for Lpn(0)"), "{stale}");
}

#[test]
fn a_translation_page_has_the_entries_that_are_not_dirty_in_the_cache() {
    let (geometry, table) = (geometry(), [Some(Ppn::new(7)); 64]);
    let config = MapConfig::new(geometry, 0);
    let objects = |flash: &FlashMap, table: &[Option<Ppn>]| {
        catch_unwind(|| flash.check(table, &NoCache::new(&config))).is_err()
    };
    let mut flash = FlashMap::new(64);
    assert!(!objects(&flash, &[None; 64]) && objects(&flash, &table));
    // In `Ideal` every entry is dirty, so nothing is written and nothing is compared.
    let ideal = Ideal::new(&config);
    (0..4).for_each(|tpn| flash.written(Tpn::new(tpn), &geometry, &table, &ideal));
    assert!(!objects(&flash, &[None; 64]));
    flash.check(&table, &ideal);
    // The second translation page has exactly the second sixteen entries.
    flash.written(Tpn::new(1), &geometry, &table, &NoCache::new(&config));
    let mut expected = [None; 64];
    expected[16..32].fill(Some(Ppn::new(7)));
    assert!(!objects(&flash, &expected));
}

/// Five units, erased 0, 1, 3, 3 and 4 times.
fn worn(gap: u32) -> Levelling {
    let mut levelling = Levelling::new(gap, 5);
    for (unit, erases) in [(1, 1), (2, 3), (3, 3), (4, 4)] {
        (1..=erases).for_each(|erases| levelling.erased(Unit(unit), erases));
    }
    levelling
}

#[test]
fn the_least_worn_unit_that_lags_by_more_than_the_gap_is_moved() {
    let laggard = |gap, movable: &[u32]| {
        worn(gap).laggard(|unit| movable.contains(&unit.0)).map(|unit| unit.0)
    };
    let all = [0, 1, 2, 3, 4];
    assert_eq!(laggard(3, &all), Some(0), "four behind");
    assert_eq!(laggard(4, &all), None, "four are not more than four");
    assert_eq!(laggard(0, &all), Some(0), "the least worn of all");
    assert_eq!(laggard(0, &[4, 3, 2]), Some(2), "of those that can be moved; the lower of equals");
    assert_eq!(laggard(2, &[4, 3, 2, 1]), Some(1), "three behind");
    assert_eq!(laggard(3, &[4, 3, 2, 1]), None);
    assert_eq!(laggard(0, &[4]), None, "the most worn one does not lag");
    assert_eq!(worn(7).gap(), 7);
}

#[test]
fn wear_counts_from_the_reset_on() {
    let mut drive = drive();
    drive.cleaner.levelling = Some(worn(1));
    drive.reset_counters();
    let levelling = drive.cleaner.levelling.expect("levelling is under way");
    assert_eq!((levelling.gap(), levelling.laggard(|_| true)), (1, None));
}

#[test]
fn the_reserve_is_a_unit_per_stream_and_one_more() {
    let foreground = Cleaning::new(9);
    assert_eq!([1, 2, 5].map(|streams| foreground.least_low_water(streams, 1)), [2, 3, 6]);
    assert_eq!([1, 2, 5].map(|streams| foreground.least_low_water(streams, 2)), [3, 4, 7]);
    // A victim that is being emptied may take a second unit of each stream.
    let (pace, idle) = (Some(Pace::Fixed(1)), Some(7));
    for (pace, idle_after_ns) in [(pace, None), (None, idle), (pace, idle)] {
        let ahead = Cleaning { pace, idle_after_ns, ..foreground };
        assert_eq!([1, 2, 5].map(|streams| ahead.least_low_water(streams, 1)), [3, 5, 11]);
    }
    assert_eq!(foreground.high_water, 9);
}

#[test]
fn a_unit_is_open_for_each_stream_of_data_and_for_each_other_purpose() {
    let placement = AnyPlacement::new("dac", &PlacementConfig::new(geometry()));
    let placement = placement.expect("a row of the table");
    let streams = placement.streams();
    let open = |map, wear, log, slc| PageConfig::frontiers(streams, map, wear, log, slc) - streams;
    assert_eq!([open(false, false, 0, false), open(true, false, 0, false)], [0, 1]);
    assert_eq!([open(false, true, 0, false), open(false, false, 0, true)], [1, 1]);
    assert_eq!([open(false, false, 8, false), open(true, true, 1, false)], [1, 3]);
}

#[test]
fn pages_are_one_after_the_other_as_they_were_written() {
    let drive = drive();
    // The map is programmed in another unit.
    let places = |lpns: Range<u32>| lpns.map(|lpn| drive.place(Lpn::new(lpn)));
    let first: Vec<_> =
        places(0..8).flatten().map(|ppn| drive.store.geometry.place(ppn).1).collect();
    assert_eq!(first, [0, 1, 2, 3, 4, 5, 6, 7]);
    assert!(places(32..64).all(|place| place.is_none()));
    assert_eq!((drive.placement().streams(), drive.mapping().counters().map.misses), (1, 32));
}

/// The first page is overwritten at once, the second one never.
#[test]
fn the_future_reaches_policies_that_need_it() {
    let mut drive = drive();
    let placement = AnyPlacement::new("oracle", &PlacementConfig::new(geometry()));
    drive.placement = placement.expect("a row of the table");
    let mut telling = NextUseBuilder::new(64);
    [1, 1, 2].into_iter().for_each(|lpn| telling.push(Lpn::new(lpn)).expect("a number"));
    drive.set_future(FutureKnowledge {
        writes: Some(telling.finish()),
        ..FutureKnowledge::default()
    });
    let page = |lpn| {
        let lpn = Lpn::new(lpn);
        HostWrite { lpn, request_pages: 1, clock: 0, now_ns: 0 }
    };
    let hottest = drive.placement.streams() - 1;
    assert_eq!(drive.placement.stream(page(1)), hottest);
    assert_eq!([1, 2].map(|lpn| drive.placement.stream(page(lpn))), [0, 0]);
}

/// Drive with four handles and units of eight pages. The last handle overwrites pages of the
/// others. Then
///
/// - handle 0 has ten units: one has lost six pages, two have lost one page each;
/// - handle 1 has a unit that has lost five pages;
/// - handle 2 has three units that have lost three pages each.
fn four_handles(scope: Scope) -> Drive<Ideal> {
    let shape = Shape { logical_pages: 128, units: 40, ..*geometry().shape() };
    let geometry = Geometry::new(shape).expect("the shape is a drive");
    let isolation = Isolation::Persistently;
    let placements = PlacementConfig { handles: 4, isolation, ..PlacementConfig::new(geometry) };
    let config = PageConfig {
        geometry,
        placement: AnyPlacement::new("host", &placements).expect("a row of the table"),
        victim: victim("greedy", &VictimConfig::new(40, 5)).expect("a row of the table"),
        cleaning: Cleaning { scope, ..Cleaning::new(6) },
        free_order: FreeOrder::First,
        verify: false,
        pages_per_map_page: 1,
        journal: None,
        reclaim_units: Vec::new(),
        flush_after_ns: None,
    };
    let map = Ideal::new(&MapConfig::new(geometry, 0));
    let Ok(mut drive) = PageFtl::new(Counted::default(), map, config);
    for (lpns, handle) in [(0..80, 0), (80..88, 1), (88..112, 2)] {
        put(&mut drive, lpns, handle);
    }
    for lpns in [0..6, 8..9, 16..17, 80..85, 88..91, 96..99, 104..107] {
        put(&mut drive, lpns, 3);
    }
    drive
}

fn put(drive: &mut Drive<Ideal>, lpns: Range<u32>, handle: u16) {
    drive.label(lpns.clone(), handle);
    lpns.for_each(|lpn| write(drive, lpn));
}

#[test]
fn the_scope_decides_whether_the_stream_is_chosen_first() {
    let picked = |scope, stream| {
        let mut drive = four_handles(scope);
        let (unit, _) = drive.pick(stream).expect("units are full");
        (drive.store.units.stream(unit), drive.store.units.valid(unit))
    };
    assert_eq!(picked(Scope::All, 2), (0, 2), "fewest valid pages");
    assert_eq!(picked(Scope::Stream, 2), (2, 5), "handle 2 needs a unit");
    assert_eq!(picked(Scope::Stream, 3), (0, 2), "the units of handle 3 give nothing back");
    assert_eq!(picked(Scope::MostInvalid, 3), (2, 5), "9 pages, handle 0 has 8");
    assert_eq!(picked(Scope::Pressure, 3), (1, 3), "5 of 8 pages");
}

fn reported(drive: &Drive<Ideal>) -> Counters {
    let mut counters = Counters::default();
    drive.report(&mut counters);
    counters
}

/// Cleans for a write to a stream until one more unit is free.
fn free_a_unit(drive: &mut Drive<Ideal>, stream: u8) {
    let free = drive.store.units.free_units();
    let Ok(()) = drive.clean(stream, free + 1, &mut Chain::default());
    drive.check();
}

#[test]
fn copies_are_counted_by_owner_and_by_the_write_that_caused_them() {
    let mut drive = four_handles(Scope::All);
    free_a_unit(&mut drive, 3);
    let copied = |drive: &Drive<Ideal>| -> Vec<Vec<u64>> {
        let owners = reported(drive).owners.into_iter();
        owners.map(|owner| owner.gc_pages).collect()
    };
    // Each of the first four victims opens a unit and gives one back. The fifth fills an open one.
    let [none, first, second, third] = [0, 2, 3, 15].map(|pages| vec![0, 0, 0, pages, 0]);
    assert_eq!(copied(&drive), [first, second.clone(), third.clone(), none.clone()]);
    // The next victim has seven pages of handle 0. It is cleaned for no write.
    let (victim, to) = drive.pick(3).expect("units are full");
    let Ok(()) = drive.collect(victim, to, Cause::Gc, &mut Chain::default());
    assert_eq!(copied(&drive), [vec![0, 0, 0, 2, 7], second, third, none]);
    let host: Vec<u64> = reported(&drive).owners.iter().map(|owner| owner.host_pages).collect();
    assert_eq!(host, [80, 8, 24, 22]);
    drive.reset_counters();
    assert!(copied(&drive).into_iter().flatten().all(|pages| pages == 0));
}

/// Reclaim units of two erase units. The first one has lost the pages of its first erase unit, and
/// the third one has one full erase unit and room for another.
fn two_by_two(relabel: bool) -> Drive<Ideal> {
    let geometry = geometry();
    let map = Ideal::new(&MapConfig::new(geometry, 0));
    let mut drive = formatted(geometry, map, Cleaning { relabel, ..Cleaning::new(4) }, 2);
    (0..32).chain(0..8).for_each(|lpn| write(&mut drive, lpn));
    drive.check();
    drive
}

#[test]
fn the_erase_units_of_a_reclaim_unit_are_cleaned_together() {
    let mut drive = two_by_two(false);
    let (victim, to) = drive.pick(0).expect("two reclaim units are full");
    let first = drive.store.geometry.unit(drive.place(Lpn::new(8)).expect("written")).0 - 1;
    assert_eq!((victim, drive.store.units.reclaim_valid(victim)), (Unit(first), 8));
    let free = drive.store.units.free_units();
    let Ok(()) = drive.collect(victim, to, Cause::Gc, &mut Chain::default());
    drive.check();
    let flash = drive.nand().counters().flash;
    let of = |counts: [u64; crate::counters::CAUSES]| counts[Cause::Gc as usize];
    assert_eq!((of(flash.erases), of(flash.programs)), (2, 8));
    // Its pages have filled the second erase unit of the third reclaim unit.
    assert_eq!(drive.store.units.free_units(), free + 1);
    let traffic = reported(&drive).streams[0];
    assert_eq!((traffic.victims, traffic.victim_valid_pages, traffic.victim_pages), (1, 8, 16));
}

#[test]
fn a_whole_erase_unit_joins_another_reclaim_unit() {
    let mut drive = two_by_two(true);
    let before: Vec<_> = (8..16).map(|lpn| drive.place(Lpn::new(lpn))).collect();
    let (victim, to) = drive.pick(0).expect("two reclaim units are full");
    let Ok(()) = drive.collect(victim, to, Cause::Gc, &mut Chain::default());
    drive.check();
    let flash = drive.nand().counters().flash;
    let of = |counts: [u64; crate::counters::CAUSES]| counts[Cause::Gc as usize];
    assert_eq!((of(flash.erases), of(flash.programs)), (1, 0), "the other is not touched");
    assert!((8..16).map(|lpn| drive.place(Lpn::new(lpn))).eq(before));
    let counters = reported(&drive);
    assert_eq!((counters.cleans.relabelled, counters.owners[0].relabelled_pages), (1, 8));
    // The third reclaim unit is full: all 16 pages are valid.
    assert_eq!(drive.store.units.sealed_units(Pool::Stream(0)), 2);
    assert!(drive.store.units.sealed(Pool::Stream(0)).all(|unit| !drive.gains(unit)));
}

/// Every map entry is cached, so only formatting programs the map: eight translation pages, which
/// fill a unit. Cleaning that unit costs eight pages. Cleaning a data unit costs twice its valid
/// pages.
#[test]
fn in_an_emergency_a_unit_that_gives_nothing_back_is_the_last_choice() {
    let shape = Shape { logical_pages: 128, units: 40, ..*geometry().shape() };
    let geometry = Geometry::new(shape).expect("the shape is a drive");
    let mut drive = format(geometry, Dftl::new(&MapConfig::new(geometry, 1 << 16)));
    let choose = |drive: &mut Drive<Dftl>| {
        // After more rounds than units the policy is no longer asked.
        let (unit, _) = drive.choose(0, geometry.units() + 1);
        (drive.is_map(unit), drive.store.units.valid(unit))
    };
    (0..8).for_each(|lpn| write(&mut drive, lpn));
    assert_eq!(choose(&mut drive), (true, 8), "all are full: the cheapest");
    write(&mut drive, 0);
    assert_eq!(choose(&mut drive), (false, 7), "dearer, but it gives a page back");
    (1..7).for_each(|lpn| write(&mut drive, lpn));
    assert_eq!(choose(&mut drive), (false, 1));
    assert_eq!(drive.cleaner.counts.emergency, 3);
    // Up to this number of rounds the policy chooses: greedy, whether or not a clean gains
    // anything.
    let (unit, _) = drive.choose(0, geometry.units());
    assert_eq!((drive.store.units.valid(unit), drive.cleaner.counts.emergency), (1, 3));
}

/// One program of a translation page writes back two of its entries, which are then clean.
#[test]
fn the_map_is_written_back_once() {
    let geometry = geometry();
    let mut drive = format(geometry, Dftl::new(&MapConfig::new(geometry, 1 << 16)));
    [3, 4].into_iter().for_each(|lpn| write(&mut drive, lpn));
    let programs =
        |drive: &Drive<Dftl>| drive.nand().counters().flash.programs[Cause::Map as usize];
    let before = programs(&drive);
    for _ in 0..2 {
        let Ok(()) = drive.flush_map(&mut Chain::default());
        assert_eq!(programs(&drive), before + 1);
    }
}

/// A mapping that only records whether it received the future.
struct FutureReceiver(bool);

impl Prefetch for FutureReceiver {}

impl Mapping for FutureReceiver {
    fn is_on_flash(&self) -> bool {
        false
    }

    fn access(&mut self, _: Access, _: &mut Vec<MapOp>) {}
    fn relocated(&mut self, _: &[(Lpn, Ppn)], _: &mut Vec<MapOp>) {}
    fn residency(&self, _: Lpn) -> Residency {
        Residency::Absent
    }
}

impl Policy for FutureReceiver {
    fn set_future(&mut self, _: crate::future::NextUses) {
        self.0 = true;
    }
}

crate::state!(FutureReceiver unsaved);

#[test]
fn the_future_reaches_the_mapping() {
    let mut drive = format(geometry(), FutureReceiver(false));
    let accesses = Some(NextUseBuilder::new(64).finish());
    drive.set_future(FutureKnowledge { accesses, ..FutureKnowledge::default() });
    assert!(drive.mapping().0);
}
