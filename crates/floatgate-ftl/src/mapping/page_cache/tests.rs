use super::*;
use crate::mapping::drive_tests::{Drive, anything};
use crate::mapping::tests::{PAGES, fetch, geometry, rewrite, update};
use crate::rng::Rng;
use alloc::vec;

/// Pages of 16 entries, 64 bytes.
fn drive(pages: u64) -> Drive<PageCache> {
    let config = MapConfig::new(geometry(16), pages * 64);
    Drive::new(PageCache::new(&config), geometry(16), pages.max(1) * 64)
}

#[test]
fn pages_come_and_go_whole() {
    let mut drive = drive(2);
    let io = drive.run("r0 r15 w16 r0 r32 w1 r48 r2");
    let expected = [
        vec![fetch(0)],
        vec![],
        vec![fetch(1)],
        vec![],
        vec![rewrite(1), fetch(2)],
        vec![],
        vec![fetch(3)],
        vec![],
    ];
    assert_eq!(io, expected);
    let MapStats { hits, misses, evictions, dirty_evictions, .. } = drive.map.counters().map;
    assert_eq!((hits, misses, evictions, dirty_evictions), (4, 4, 2, 1));
    assert_eq!(drive.map.memory_bytes(), 128);
}

#[test]
fn cleaning_changes_cached_pages_in_place_and_is_no_use_of_them() {
    let mut drive = drive(2);
    drive.run("w0 w16 w32 w48 f");
    assert_eq!(drive.run("g0+64"), [[update(0), update(1)]]);
    // 2 was used before 3.
    assert_eq!(drive.run("r0 r16"), [[rewrite(2), fetch(0)], [rewrite(3), fetch(1)]]);
}

#[test]
fn a_flush_writes_changed_pages() {
    assert_eq!(drive(3).run("w16 r32 w0 f f")[3..], [vec![rewrite(0), rewrite(1)], vec![]]);
}

#[test]
fn a_trim_is_an_access_of_each_page() {
    let io = drive(1).run("w0+3 t0+3 t0+3 r16 t0 r16");
    let expected = [
        vec![fetch(0)],
        vec![],
        vec![],
        vec![rewrite(0), fetch(1)],
        vec![fetch(0)],
        vec![fetch(1)],
    ];
    assert_eq!(io, expected, "what was not set does not change the page");
}

#[test]
fn anything_keeps_the_map() {
    for (seed, pages) in [0, 1, 2, 5, 128, 1000].into_iter().enumerate() {
        anything(&mut drive(pages), seed as u64, 3000);
    }
}

#[test]
fn a_random_write_costs_as_in_the_formula() {
    for cached in [1, 32, 96, 128] {
        let mut map = PageCache::new(&MapConfig::new(geometry(16), cached * 64));
        let (mut rng, mut io, writes) = (Rng::new(cached), vec![], 100_000u32);
        for _ in 0..writes / 10 {
            io.clear();
            write(&mut map, rng.below(u64::from(PAGES)) as u32, &mut io);
        }
        let (mut reads, mut programs) = (0, 0);
        for _ in 0..writes {
            io.clear();
            write(&mut map, rng.below(u64::from(PAGES)) as u32, &mut io);
            reads += io.iter().filter(|op| matches!(op, MapOp::Fetch(_))).count();
            programs += io.iter().filter(|op| matches!(op, MapOp::Rewrite(_))).count();
        }
        assert_eq!(reads, programs, "every victim is dirty");
        // Each access misses with the same probability, independent of earlier accesses.
        let miss = 1.0 - cached as f64 / 128.0;
        let deviation = (miss * (1.0 - miss) / f64::from(writes)).sqrt();
        let measured = reads as f64 / f64::from(writes);
        assert!((measured - miss).abs() <= 4.0 * deviation, "{measured} {miss}");
    }
}

fn write(map: &mut PageCache, lpn: u32, io: &mut Vec<MapOp>) {
    let (lpn, kind) = (Lpn::new(lpn), AccessKind::Write);
    map.access(Access { lpn, kind, remaining: 1, first: true, mapped: true }, io);
}
