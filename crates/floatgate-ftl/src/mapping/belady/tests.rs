use super::*;
use crate::future::NextUseBuilder;
use crate::mapping::drive_tests::{Drive, anything};
use crate::mapping::tests::{fetch, geometry, update};
use crate::mapping::{Dftl, DftlConfig, Ideal, Replacement};
use crate::rng::Rng;
use alloc::collections::BTreeMap;
use alloc::vec;

fn config(entries: u64) -> MapConfig {
    MapConfig::new(geometry(16), entries * 8)
}

fn next_uses(accesses: &[u32]) -> NextUses {
    let mut telling = NextUseBuilder::new(geometry(16).logical_pages());
    accesses.iter().for_each(|&lpn| telling.push(Lpn::new(lpn)).unwrap());
    telling.finish()
}

/// Hits of these reads, which the mapping knows in advance.
fn hits(map: &mut impl Mapping, accesses: &[u32], bytes_max: u64) -> u64 {
    map.set_future(next_uses(accesses));
    map.reset_counters();
    let mut io = vec![];
    for &lpn in accesses {
        let (lpn, kind) = (Lpn::new(lpn), AccessKind::Read);
        map.access(Access { lpn, kind, remaining: 1, first: true, mapped: true }, &mut io);
        assert!(map.memory_bytes() <= bytes_max);
    }
    map.check();
    assert_eq!(map.counters().map.hits + map.counters().map.misses, accesses.len() as u64);
    map.counters().map.hits
}

#[test]
fn the_farthest_next_use_leaves() {
    let mut drive = Drive::new(Belady::new(&config(2)), geometry(16), 16);
    drive.map.set_future(next_uses(&[0, 16, 32, 0, 16, 32]));
    // 32 replaces 16, because 16 is used later than 0. Then 16 replaces 0, which is never used
    // again.
    let io = drive.run("w0 w16 r32 r0 r16 r32");
    let expected = [
        vec![fetch(0)],
        vec![fetch(1)],
        vec![update(1), fetch(2)],
        vec![],
        vec![update(0), fetch(1)],
        vec![],
    ];
    assert_eq!(io, expected);
    let MapStats { hits, misses, evictions, dirty_evictions, .. } = drive.map.counters().map;
    assert_eq!((hits, misses, evictions, dirty_evictions), (2, 4, 2, 2));
}

/// Most hits that any choice of victims can have. Tries every choice.
fn most_hits(accesses: &[u32], capacity: u32) -> u64 {
    let mut best = BTreeMap::from([(0u32, 0u64)]);
    for &lpn in accesses {
        let mut next: BTreeMap<u32, u64> = BTreeMap::new();
        let mut reach = |cached: u32, hits: u64| {
            let most = next.entry(cached).or_default();
            *most = hits.max(*most);
        };
        for (&cached, &hits) in &best {
            if cached & 1 << lpn != 0 {
                reach(cached, hits + 1);
            } else if cached.count_ones() < capacity {
                reach(cached | 1 << lpn, hits);
            } else {
                let victims = (0..32).filter(|victim| cached & 1 << victim != 0);
                victims.for_each(|victim| reach(cached & !(1 << victim) | 1 << lpn, hits));
            }
        }
        best = next;
    }
    best.into_values().max().unwrap_or(0)
}

#[test]
fn no_choice_of_victims_has_more_hits() {
    let mut rng = Rng::new(1966);
    for capacity in 1..5 {
        for pages in [3, 6, 9] {
            for length in [0, 1, 5, 40] {
                let accesses: Vec<u32> = (0..length).map(|_| rng.below(pages) as u32).collect();
                let mut map = Belady::new(&config(capacity));
                let ours = hits(&mut map, &accesses, capacity * 8);
                assert_eq!(ours, most_hits(&accesses, capacity as u32), "{accesses:?} {capacity}");
            }
        }
    }
}

/// Accesses: uniform, skewed, in a loop, and with scans in between.
fn sequences(length: u32) -> Vec<(&'static str, Vec<u32>)> {
    let mut rng = Rng::new(7);
    let mut make = |f: &dyn Fn(u32, f64) -> u32| (0..length).map(|n| f(n, rng.unit())).collect();
    vec![
        ("uniform", make(&|_, x| (x * 2000.0) as u32)),
        ("skewed", make(&|_, x| (x.powi(4) * 2000.0) as u32)),
        ("loop", make(&|n, _| n % 300)),
        ("scans", make(&|n, x| if n % 2 == 0 { n / 2 % 1500 } else { (x * x * 300.0) as u32 })),
    ]
}

#[test]
fn demand_loading_has_no_more_hits() {
    for replacement in [Replacement::Slru, Replacement::Lru, Replacement::FlashSim] {
        for (name, accesses) in sequences(20_000) {
            // Counted from the first access, and after a start that fills the cache.
            for start in [0, 5000] {
                for entries in [1, 16, 256, 1024] {
                    let (begin, rest) = accesses.split_at(start);
                    let config = config(entries);
                    let dftl = DftlConfig { replacement, ..config.dftl };
                    let (mut ours, mut theirs) =
                        (Belady::new(&config), Dftl::new(&MapConfig { dftl, ..config }));
                    hits(&mut theirs, begin, entries * 8);
                    let mut fill = Belady::new(&config);
                    let mut io = vec![];
                    for &lpn in begin {
                        let (lpn, kind) = (Lpn::new(lpn), AccessKind::Write);
                        fill.access(
                            Access { lpn, kind, remaining: 1, first: true, mapped: true },
                            &mut io,
                        );
                    }
                    fill.flush(&mut io);
                    core::mem::swap(&mut ours, &mut fill);
                    let ours = hits(&mut ours, rest, entries * 8);
                    let theirs = hits(&mut theirs, rest, entries * 8);
                    assert!(ours >= theirs, "{name} {replacement:?} {entries}: {ours} {theirs}");
                }
            }
        }
    }
}

#[test]
fn with_room_for_all_only_the_first_access_of_a_page_misses() {
    for (name, accesses) in sequences(5000) {
        let mut pages = accesses.clone();
        pages.sort_unstable();
        pages.dedup();
        let config = config(2048);
        let ideal = hits(&mut Ideal::new(&config), &accesses, u64::MAX);
        let mut map = Belady::new(&config);
        let ours = hits(&mut map, &accesses, 2048 * 8);
        assert_eq!(ours, ideal - pages.len() as u64, "{name}");
        assert_eq!(map.counters().map.evictions, 0);
        // With the future set a second time, every entry is cached from the start.
        assert_eq!(hits(&mut map, &accesses, 2048 * 8), ideal, "{name}");
    }
}

#[test]
fn without_a_future_it_is_lru() {
    let lru = DftlConfig { replacement: Replacement::Lru, ..DftlConfig::default() };
    for (name, accesses) in sequences(5000) {
        let (mut ours, mut theirs) =
            (Belady::new(&config(100)), Dftl::new(&MapConfig { dftl: lru, ..config(100) }));
        for (number, &lpn) in accesses.iter().enumerate() {
            let kind = if number % 3 == 0 { AccessKind::Write } else { AccessKind::Read };
            let access =
                Access { lpn: Lpn::new(lpn), kind, remaining: 1, first: true, mapped: true };
            let (mut our_io, mut their_io) = (vec![], vec![]);
            ours.access(access, &mut our_io);
            theirs.access(access, &mut their_io);
            assert_eq!(our_io, their_io, "{name}");
        }
        assert_eq!(ours.counters().map, theirs.counters().map);
    }
}

#[test]
fn the_cache_starts_with_the_entries_used_soonest_and_dirty_entries() {
    let mut drive = Drive::new(Belady::new(&config(3)), geometry(16), 24);
    drive.run("w0 w1 w2 w5 w6 f g2");
    // Cached are 2, 5, 6. Only 2 was changed again, by cleaning.
    drive.map.set_future(next_uses(&[9, 0, 9, 1]));
    let cached = |drive: &Drive<Belady>| -> Vec<u32> {
        (0..16).filter(|&lpn| drive.residency(lpn) != Residency::Absent).collect()
    };
    assert_eq!(cached(&drive), [0, 2, 9]);
    assert_eq!(drive.run("r9 r0 r9"), [[], [], []]);
    // Of the entries without a next use, 2 leaves. It is still dirty, so it is written back.
    assert_eq!(drive.run("r1 f"), [vec![update(0), fetch(0)], vec![]]);
}

#[test]
fn trims_are_not_part_of_the_future() {
    let mut drive = Drive::new(Belady::new(&config(3)), geometry(16), 24);
    drive.run("w0+8 f");
    drive.map.set_future(next_uses(&[5, 6, 7, 5, 3]));
    let io = drive.run("r5 t6 t0+2 t2 t2 r6 r7 t5+3 w5 r3");
    let expected = [
        vec![],
        vec![],
        vec![update(0)],
        vec![update(0)],
        vec![fetch(0)],
        vec![],
        vec![],
        vec![],
        vec![],
        vec![update(0), fetch(0)],
    ];
    assert_eq!(io, expected);
}

#[test]
#[should_panic(expected = "the future was of another workload")]
fn a_wrong_future_is_a_bug() {
    let mut map = Belady::new(&config(3));
    map.set_future(next_uses(&[1, 2, 3, 1, 2, 3]));
    let mut io = vec![];
    for lpn in [1, 2, 2] {
        let (lpn, kind) = (Lpn::new(lpn), AccessKind::Read);
        map.access(Access { lpn, kind, remaining: 1, first: true, mapped: true }, &mut io);
    }
}

#[test]
fn anything_keeps_the_map() {
    for (seed, entries) in [1, 2, 16, 64, 2048].into_iter().enumerate() {
        let map = Belady::new(&config(entries));
        anything(&mut Drive::new(map, geometry(16), entries * 8), seed as u64, 3000);
    }
}
