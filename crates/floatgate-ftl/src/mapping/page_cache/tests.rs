use super::*;
use crate::mapping::drive_tests::{Drive, anything};
use crate::mapping::tests::{PAGES, geometry};
use crate::rng::Rng;
use alloc::vec;

/// Pages of 16 entries, 64 bytes.
fn drive(pages: u64) -> Drive<PageCache> {
    let config = MapConfig::new(geometry(16), pages * 64);
    Drive::new(PageCache::new(&config), geometry(16), pages.max(1) * 64)
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
