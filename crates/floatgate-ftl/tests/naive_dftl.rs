//! Compares the cached mapping table with the naive one: every access of long random sequences must
//! cause the same flash work, in the same order.

use crate::common::naive::NaiveDftl;
use crate::common::{DFTL, Rig, SERIAL};
use floatgate_ftl::addr::{Lpn, Ppn, Tpn};
use floatgate_ftl::geometry::Shape;
use floatgate_ftl::mapping::{
    Access, AccessKind, Dftl, DftlConfig, Mapping, Replacement, Residency,
};
use floatgate_ftl::policy::Policy;
use floatgate_ftl::rng::Rng;

const PAGES: u32 = 600;

/// Replacement policies, each with its protected share.
const REPLACEMENTS: [(Replacement, f64); 7] = [
    (Replacement::Lru, 0.8),
    (Replacement::Slru, 0.8),
    (Replacement::Slru, 0.5),
    (Replacement::Slru, 1.0),
    (Replacement::FlashSim, 0.8),
    (Replacement::FlashSim, 0.0),
    (Replacement::FlashSim, 1.0),
];

/// Returns a hot or a cold page, so that hits, promotions and evictions are all frequent.
fn any_lpn(rng: &mut Rng) -> u32 {
    let span = if rng.below(2) == 0 { 40 } else { u64::from(PAGES) };
    rng.below(span) as u32
}

/// Returns a cleaned unit: a few pages of two or three translation pages, in ascending order.
fn any_victim(rng: &mut Rng) -> Vec<u32> {
    let mut moved: Vec<u32> = (0..1 + rng.below(8)).map(|_| any_lpn(rng)).collect();
    moved.sort_unstable();
    moved.dedup();
    moved
}

/// Returns a translation page and a few of its entries in ascending order, or none of them.
fn any_trim(rng: &mut Rng, entries: u32) -> (u32, Vec<u32>) {
    let near = any_lpn(rng);
    let tpn = near / entries;
    let end = PAGES.min((tpn + 1) * entries).min(near + 6);
    (tpn, (near..end).filter(|_| rng.below(2) == 0).collect())
}

fn compare(capacity: u64, config: DftlConfig, accesses: u32) {
    let shape = Shape { logical_pages: PAGES, units: 200, ..SERIAL };
    let rig = Rig { cache_bytes: capacity * 8, dftl: config, ..Rig::new(shape, "dftl", "greedy") };
    let mut ours = Dftl::new(&rig.map_config());
    let entries = rig.geometry().entries_per_page();
    let mut naive = NaiveDftl::new(capacity as usize, entries, config);
    let mut rng = Rng::new(capacity);
    for number in 0..accesses {
        let mut io = vec![];
        if rng.below(200) == 0 {
            ours.flush(&mut io);
            assert_eq!(io, naive.flush(), "flush, step {number}, {config:?}");
            continue;
        }
        if rng.below(20) == 0 {
            let (tpn, mapped) = any_trim(&mut rng, entries);
            let lpns: Vec<_> = mapped.iter().map(|&lpn| Lpn::new(lpn)).collect();
            ours.trim(Tpn::new(tpn), &lpns, &mut io);
            assert_eq!(io, naive.trim(tpn, &mapped), "trim {mapped:?}, step {number}, {config:?}");
            continue;
        }
        if rng.below(10) == 0 {
            let moved = any_victim(&mut rng);
            let places = moved.iter().map(|&lpn| (Lpn::new(lpn), Ppn::new(lpn)));
            ours.relocated(&places.collect::<Vec<_>>(), &mut io);
            assert_eq!(io, naive.relocated(&moved), "cleaning, step {number}, {config:?}");
            continue;
        }
        let (lpn, mapped) = (any_lpn(&mut rng), rng.below(4) > 0);
        let kind = [AccessKind::Read, AccessKind::Write, AccessKind::Trim][rng.below(3) as usize];
        let access = Access { lpn: Lpn::new(lpn), kind, remaining: 1, first: true, mapped };
        ours.access(access, &mut io);
        let expected = naive.access(lpn, kind != AccessKind::Read, mapped);
        assert_eq!(io, expected, "access {number} of {lpn}, {capacity} entries, {config:?}");
        if number % 512 == 0 {
            ours.check();
            same_content(&ours, &naive);
        }
    }
    let stats = ours.counters().map;
    assert_eq!((stats.hits, stats.misses), (naive.hits, naive.misses));
    assert_eq!(stats.dirty_evictions, naive.dirty_evictions);
    assert!(stats.hits > 0 && stats.dirty_evictions > 0, "{stats:?}");
}

fn same_content(ours: &Dftl, naive: &NaiveDftl) {
    for lpn in 0..PAGES {
        let expected = match naive.find(lpn) {
            None => Residency::Absent,
            Some(_) if naive.is_dirty(lpn) => Residency::Dirty,
            Some(_) => Residency::Clean,
        };
        assert_eq!(ours.residency(Lpn::new(lpn)), expected, "entry {lpn}");
    }
}

fn options() -> impl Iterator<Item = DftlConfig> {
    REPLACEMENTS.into_iter().flat_map(|(replacement, protected_share)| {
        [(false, false), (true, false), (false, true), (true, true)].map(|options| {
            let (evict_batch, gtd_unmapped_shortcut) = options;
            let config = DftlConfig { replacement, protected_share, ..DFTL };
            DftlConfig { evict_batch, gtd_unmapped_shortcut, ..config }
        })
    })
}

#[test]
fn every_variant_asks_for_the_flash_work_of_the_text() {
    for config in options() {
        compare(64, config, 100_000);
    }
}

#[test]
fn tiny_caches_ask_for_the_flash_work_of_the_text() {
    for config in options() {
        for capacity in [1, 2, 3, 5] {
            compare(capacity, config, 10_000);
        }
    }
}
