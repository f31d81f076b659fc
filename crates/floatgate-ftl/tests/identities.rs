//! The cost model of DFTL as exact identities. The naive cache follows the requests and computes
//! the cost of each; the log of the medium has the actual cost.

use std::collections::BTreeSet;

use crate::common::log::{Event, Kind, Log};
use crate::common::naive::NaiveDftl;
use crate::common::workload::Workload;
use crate::common::{DFTL, Probe, Rig, SERIAL};
use floatgate_ftl::addr::{Lpn, Owner};
use floatgate_ftl::geometry::Shape;
use floatgate_ftl::mapping::{
    Access, AccessKind, Dftl, DftlConfig, MapOp, Mapping, Replacement, Residency,
};
use floatgate_ftl::nand::Cause;
use floatgate_ftl::policy::Policy;
use floatgate_ftl::request::{Op, Request};
use floatgate_ftl::rng::Rng;

const REPLACEMENTS: [Replacement; 3] = [Replacement::Slru, Replacement::Lru, Replacement::FlashSim];

/// Effects of cleaning one unit of data: pages moved, and translation pages updated.
#[derive(Debug, Default)]
struct Cleaned {
    moved: Vec<u32>,
    updated: Vec<u32>,
}

/// Effects of a one-page request: its own map traffic, and the units that it cleaned.
#[derive(Debug, Default)]
struct Done {
    map: Vec<MapOp>,
    map_reads: u32,
    map_programs: u32,
    cleaned: Vec<Cleaned>,
    /// A clean came between the read and the program of a write-back.
    inside_eviction: bool,
}

fn digest(events: &[Event]) -> Done {
    let (mut done, mut unit) = (Done::default(), Cleaned::default());
    for event in events {
        match (event.cause, event.kind) {
            (Cause::Map, Kind::Read(_, Owner::Translation(tpn))) => {
                done.map_reads += 1;
                done.map.push(MapOp::Fetch(tpn));
            }
            (Cause::Map, Kind::Program(_, Owner::Translation(tpn))) => {
                done.map_programs += 1;
                if done.map.last() == Some(&MapOp::Fetch(tpn)) {
                    done.map.pop();
                    done.map.push(MapOp::Update(tpn));
                    done.inside_eviction |= !done.cleaned.is_empty();
                } else {
                    done.map.push(MapOp::Rewrite(tpn));
                }
            }
            (Cause::Gc, Kind::Copy(_, _, Owner::Data(lpn))) => unit.moved.push(lpn.get()),
            (Cause::GcMap, Kind::Program(_, Owner::Translation(tpn))) => {
                unit.updated.push(tpn.get());
            }
            (Cause::Gc, Kind::Erase(_)) => done.cleaned.push(std::mem::take(&mut unit)),
            _ => {}
        }
    }
    done
}

/// A drive with its log and the naive cache.
struct Pair {
    drive: Box<dyn Probe>,
    log: Log,
    naive: NaiveDftl,
    page_bytes: u64,
}

impl Pair {
    fn new(rig: Rig) -> Self {
        let (drive, log) = rig.build();
        log.take();
        let geometry = rig.geometry();
        let capacity = (rig.cache_bytes / 8).clamp(1, u64::from(geometry.logical_pages()));
        let naive = NaiveDftl::new(capacity as usize, geometry.entries_per_page(), rig.dftl);
        Self { drive, log, naive, page_bytes: u64::from(rig.shape.page_bytes) }
    }

    /// Accesses one page, and compares each operation with the naive cache.
    fn step(&mut self, op: Op, lpn: u32) -> Done {
        let request = Workload::pages(op, u64::from(lpn), 1, self.page_bytes);
        let done = self.run(request);
        let expected = self.naive.access(lpn, op == Op::Write, true);
        assert_eq!(done.map, expected, "{op:?} {lpn}");
        assert!(done.map_reads <= 2 && done.map_programs <= 1, "the worst case of one access");
        for unit in &done.cleaned {
            let updates: BTreeSet<_> = unit
                .updated
                .iter()
                .map(|&t| MapOp::Update(floatgate_ftl::addr::Tpn::new(t)))
                .map(key)
                .collect();
            assert_eq!(updates.len(), unit.updated.len(), "each translation page once");
            let expected = self.naive.relocated(&unit.moved);
            assert_eq!(updates, expected.into_iter().map(key).collect());
        }
        done
    }

    fn run(&mut self, request: Request) -> Done {
        self.drive.run(&[request], &mut vec![]);
        digest(&self.log.take())
    }
}

fn key(op: MapOp) -> u32 {
    match op {
        MapOp::Fetch(tpn) | MapOp::Update(tpn) | MapOp::Rewrite(tpn) => tpn.get(),
    }
}

fn dftl(entries: u64, replacement: Replacement) -> Rig {
    let config = DftlConfig { replacement, ..DFTL };
    let rig = Rig { cache_bytes: entries * 8, dftl: config, ..Rig::new(SERIAL, "dftl", "greedy") };
    rig.spare(3)
}

#[test]
fn every_operation_of_dftl_is_the_text_s() {
    for replacement in REPLACEMENTS {
        for entries in [1, 7, 40, 160] {
            let mut pair = Pair::new(dftl(entries, replacement));
            let (mut rng, mut inside, mut cleaned) = (Rng::new(entries), 0, 0);
            for _ in 0..6000 {
                let op = if rng.below(3) == 0 { Op::Read } else { Op::Write };
                let done = pair.step(op, rng.below(160) as u32);
                inside += u32::from(done.inside_eviction);
                cleaned += done.cleaned.len();
            }
            pair.drive.check();
            let counters = pair.drive.counters();
            let (map, flash) = (counters.map, counters.flash);
            assert_eq!(map.hits + map.misses, counters.host.read_pages + counters.host.write_pages);
            assert_eq!(flash.reads[Cause::Map as usize], map.misses + map.dirty_evictions);
            assert_eq!(flash.programs[Cause::Map as usize], map.dirty_evictions);
            assert_eq!(flash.reads[Cause::GcMap as usize], flash.programs[Cause::GcMap as usize]);
            assert_eq!((map.hits, map.misses), (pair.naive.hits, pair.naive.misses));
            assert!(cleaned > 100, "cleaning was at work");
            assert!(inside > 10 || entries == 160, "evictions cleaned: {inside}");
        }
    }
}

#[test]
fn uniform_accesses_hit_in_proportion_to_the_cache() {
    let (pages, entries, accesses) = (4096u32, 512, 200_000u32);
    let shape = Shape { logical_pages: pages, units: 1000, ..SERIAL };
    for replacement in REPLACEMENTS {
        let config = DftlConfig { replacement, ..DFTL };
        let rig =
            Rig { cache_bytes: entries * 8, dftl: config, ..Rig::new(shape, "dftl", "greedy") };
        let mut map = Dftl::new(&rig.map_config());
        let (mut rng, mut io) = (Rng::new(1), vec![]);
        let mut writes = |map: &mut Dftl, count: u32| {
            for _ in 0..count {
                let lpn = Lpn::new(rng.below(u64::from(pages)) as u32);
                let kind = AccessKind::Write;
                map.access(Access { lpn, kind, remaining: 1, first: true, mapped: true }, &mut io);
            }
        };
        writes(&mut map, 10_000);
        map.reset_counters();
        writes(&mut map, accesses);
        let (stats, expected) = (map.counters().map, entries as f64 / f64::from(pages));
        let hit_ratio = stats.hits as f64 / f64::from(accesses);
        let sigma = (expected * (1.0 - expected) / f64::from(accesses)).sqrt();
        assert!((hit_ratio - expected).abs() < 5.0 * sigma, "{replacement:?}: {hit_ratio}");
        assert_eq!(stats.dirty_evictions, stats.misses, "all writes: every victim is dirty");
    }
}

#[test]
fn a_cold_scan_misses_once_per_page() {
    for replacement in REPLACEMENTS {
        let mut pair = Pair::new(dftl(40, replacement));
        (0..160).for_each(|lpn| drop(pair.step(Op::Read, lpn)));
        let counters = pair.drive.counters();
        assert_eq!((counters.map.hits, counters.map.misses), (0, 160));
        assert_eq!(counters.flash.reads[Cause::Map as usize], 160);
    }
}

#[test]
fn without_a_cache_every_cost_is_exact() {
    let rig = Rig::new(SERIAL, "none", "greedy").spare(3);
    let (mut drive, log) = rig.build();
    log.take();
    let mut rng = Rng::new(3);
    let mut updates = 0;
    for _ in 0..3000 {
        let op = if rng.below(3) == 0 { Op::Read } else { Op::Write };
        drive.run(&[Workload::pages(op, rng.below(160), 1, 64)], &mut vec![]);
        let done = digest(&log.take());
        let writes = u32::from(op == Op::Write);
        assert_eq!((done.map_reads, done.map_programs), (1, writes), "{op:?}");
        for unit in &done.cleaned {
            let pages: BTreeSet<u32> = unit.moved.iter().map(|lpn| lpn / 16).collect();
            assert_eq!(unit.updated, pages.into_iter().collect::<Vec<_>>());
            updates += unit.updated.len();
        }
    }
    assert!(updates > 300, "cleaning was at work: {updates}");
}

#[test]
fn one_entry_is_enough_to_work() {
    let mut pair = Pair::new(dftl(1, Replacement::Lru));
    assert_eq!(pair.step(Op::Write, 0).map, [fetch(0)]);
    // The victim's translation page is also the one to load: the write-back must come first.
    assert_eq!(pair.step(Op::Write, 1).map, [update(0), fetch(0)]);
    assert_eq!(pair.step(Op::Read, 16).map, [update(0), fetch(1)]);
    assert_eq!(pair.step(Op::Read, 1).map, [fetch(0)]);
    pair.drive.check();
}

fn fetch(tpn: u32) -> MapOp {
    MapOp::Fetch(floatgate_ftl::addr::Tpn::new(tpn))
}

fn update(tpn: u32) -> MapOp {
    MapOp::Update(floatgate_ftl::addr::Tpn::new(tpn))
}

#[test]
fn a_clean_inside_an_eviction_keeps_the_map() {
    let mut pair = Pair::new(dftl(6, Replacement::Lru));
    let (mut rng, mut found) = (Rng::new(9), 0);
    for _ in 0..3000 {
        if pair.step(Op::Write, rng.below(160) as u32).inside_eviction {
            pair.drive.check();
            found += 1;
        }
    }
    assert!(found > 20, "{found} evictions cleaned");
}

#[test]
fn a_victim_of_one_translation_page_is_one_update() {
    // Runs of eight pages fill units of eight pages, so a unit's pages share a translation page.
    let mut pair = Pair::new(dftl(1, Replacement::Lru));
    let (mut rng, mut found) = (Rng::new(4), 0);
    for _ in 0..800 {
        let run = 8 * rng.below(20) as u32;
        let pages = if rng.below(4) == 0 { run..run + 3 } else { run..run + 8 };
        for lpn in pages {
            for unit in pair.step(Op::Write, lpn).cleaned {
                let pages: BTreeSet<u32> = unit.moved.iter().map(|lpn| lpn / 16).collect();
                if pages.len() == 1 && unit.moved.len() > 1 && unit.updated.len() == 1 {
                    found += 1;
                }
            }
        }
    }
    assert!(found > 20, "{found} victims of one translation page");
}

#[test]
fn a_cache_of_everything_costs_nothing() {
    let mut pair = Pair::new(dftl(160, Replacement::Slru));
    (0..160).for_each(|lpn| drop(pair.step(Op::Write, lpn)));
    pair.drive.reset_counters();
    let mut rng = Rng::new(5);
    for _ in 0..2000 {
        pair.step(Op::Write, rng.below(160) as u32);
    }
    let flash = pair.drive.counters().flash;
    assert!(flash.programs[Cause::Gc as usize] > 500, "pages were moved");
    assert_eq!(flash.programs[Cause::Map as usize] + flash.programs[Cause::GcMap as usize], 0);
    assert_eq!(flash.reads[Cause::Map as usize] + flash.reads[Cause::GcMap as usize], 0);
}

#[test]
fn a_trim_costs_the_lookups_of_its_entries() {
    let mut pair = Pair::new(dftl(4, Replacement::Lru));
    (0..8).for_each(|lpn| drop(pair.step(Op::Write, lpn)));
    let mut trim = |lpn| {
        let done = pair.run(Workload::pages(Op::Trim, lpn, 1, 64));
        pair.drive.check();
        (done.map, pair.drive.residency(lpn as u32), pair.drive.mapped(8)[lpn as usize])
    };
    assert_eq!(trim(7), (vec![], Residency::Dirty, false), "a cached entry is only marked");
    let (map, residency, mapped) = trim(0);
    assert_eq!(map, [update(0), fetch(0)], "an uncached one is loaded, which evicts a dirty one");
    assert_eq!((residency, mapped), (Residency::Dirty, false));
}
