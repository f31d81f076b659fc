use super::*;
use crate::geometry::Shape;
use alloc::vec;

fn config(entries: u64, replacement: Replacement, evict_batch: bool) -> MapConfig {
    with_protected(entries, replacement, 0.8, evict_batch)
}

fn with_protected(
    entries: u64,
    replacement: Replacement,
    protected_share: f64,
    evict_batch: bool,
) -> MapConfig {
    let geometry = Geometry::new(Shape {
        page_bytes: 64,
        pages_per_block: 4,
        superblock: 1,
        units: 200,
        channels: 1,
        dies: 1,
        planes: 1,
        logical_pages: 512,
        entry_bytes: 4,
        program_unit: None,
    });
    let dftl = DftlConfig { replacement, protected_share, evict_batch, ..DftlConfig::default() };
    MapConfig { dftl, ..MapConfig::new(geometry.unwrap(), entries * 8) }
}

/// Runs accesses, written `r5` or `w5`. Returns the flash work of each.
fn run(map: &mut Dftl, script: &str) -> Vec<Vec<MapOp>> {
    let accesses = script.split_whitespace().map(|word| {
        let kind = if word.starts_with('w') { AccessKind::Write } else { AccessKind::Read };
        let lpn = Lpn::new(word[1..].parse().unwrap());
        let mut io = vec![];
        map.access(Access { lpn, kind, remaining: 1, first: true, mapped: true }, &mut io);
        map.check();
        io
    });
    accesses.collect()
}

fn fetch(tpn: u32) -> MapOp {
    MapOp::Fetch(Tpn::new(tpn))
}

fn moved_to(lpn: u32) -> (Lpn, Ppn) {
    (Lpn::new(lpn), Ppn::new(700))
}

fn update(tpn: u32) -> MapOp {
    MapOp::Update(Tpn::new(tpn))
}

#[test]
fn a_dirty_victim_is_written_back_before_the_load() {
    let mut map = Dftl::new(&config(1, Replacement::Lru, false));
    let io = run(&mut map, "w0 r0 r16 r32");
    assert_eq!(io, [vec![fetch(0)], vec![], vec![update(0), fetch(1)], vec![fetch(2)]]);
    let MapStats { hits, misses, evictions, dirty_evictions, .. } = map.counters().map;
    assert_eq!((hits, misses, evictions, dirty_evictions), (1, 3, 2, 1));
}

#[test]
fn the_loaded_page_may_be_the_victims() {
    let mut map = Dftl::new(&config(1, Replacement::Lru, false));
    assert_eq!(run(&mut map, "w0 r1")[1], [update(0), fetch(0)]);
}

#[test]
fn a_batch_write_back_cleans_the_other_entries_of_the_page() {
    for (evict_batch, last) in [(false, vec![update(0), fetch(3)]), (true, vec![fetch(3)])] {
        let mut map = Dftl::new(&config(2, Replacement::Lru, evict_batch));
        let io = run(&mut map, "w0 w1 r32 r48");
        assert_eq!(io[2], [update(0), fetch(2)]);
        assert_eq!(io[3], last);
    }
}

#[test]
fn slru_protects_hit_entries() {
    let mut map = Dftl::new(&with_protected(4, Replacement::Slru, 0.5, false));
    // 0 and 1 are protected. 2, 3 and 4 pass through the two slots on probation.
    run(&mut map, "r0 r0 r1 r1 r2 r3 r4");
    let cached = |map: &Dftl| -> Vec<u32> {
        (0..9).filter(|&l| map.residency(Lpn::new(l)) != Residency::Absent).collect()
    };
    assert_eq!(cached(&map), [0, 1, 3, 4]);
    // A third protected entry pushes 0 back to probation, in front of 4.
    run(&mut map, "r3 r5 r6");
    assert_eq!(cached(&map), [1, 3, 5, 6]);
}

#[test]
fn flashsim_keeps_the_higher_age() {
    let mut map = Dftl::new(&with_protected(3, Replacement::FlashSim, 0.667, false));
    // Ages: 0 has 1, 1 has 2. Then 2 (age 3) pushes 0 to probation, 3 pushes 1 there, and 0 leaves.
    run(&mut map, "r0 r1 r2 r3");
    let has = |map: &Dftl, l| map.residency(Lpn::new(l)) != Residency::Absent;
    assert_eq!((0..4).map(|l| has(&map, l)).collect::<Vec<_>>(), [false, true, true, true]);
    // A hit raises the age of 1 to 3, the age of 2. 2 is the protected minimum, so 1 takes its
    // place.
    run(&mut map, "r1 r4");
    assert_eq!((1..5).map(|l| has(&map, l)).collect::<Vec<_>>(), [true, false, true, true]);
}

#[test]
fn cleaning_updates_cached_entries_in_place_and_others_by_page() {
    let mut map = Dftl::new(&config(4, Replacement::Lru, false));
    run(&mut map, "r0 r1 r16");
    let mut io = vec![];
    map.relocated(&[0, 1].map(moved_to), &mut io);
    assert_eq!(io, [], "every moved page is cached: no traffic");
    assert_eq!(map.residency(Lpn::new(1)), Residency::Dirty, "a lazily copied entry is dirty");
    let moved = [2, 3, 16, 33, 40].map(moved_to);
    map.relocated(&moved, &mut io);
    assert_eq!(io, [update(0), update(2)], "one rewrite per page with uncached entries");
}

#[test]
fn a_flush_rewrites_each_dirty_page_once() {
    let mut map = Dftl::new(&config(4, Replacement::Lru, false));
    run(&mut map, "w33 w1 w0 r16");
    let mut io = vec![];
    map.flush(&mut io);
    assert_eq!(io, [update(0), update(2)]);
    assert_eq!(map.residency(Lpn::new(33)), Residency::Clean);
    io.clear();
    map.flush(&mut io);
    assert_eq!(io, []);
}

#[test]
fn trims_cost_their_lookups() {
    let mut map = Dftl::new(&config(4, Replacement::Lru, false));
    run(&mut map, "r0");
    let mut trim = |lpns: &[u32]| {
        let mut io = vec![];
        map.trim(Tpn::new(0), &lpns.iter().map(|&l| Lpn::new(l)).collect::<Vec<_>>(), &mut io);
        io
    };
    assert_eq!(trim(&[0]), [], "a cached entry becomes dirty");
    assert_eq!(trim(&[1]), [fetch(0)], "an uncached one is loaded");
    assert_eq!(trim(&[2, 3, 4]), [update(0)], "several are cleared in their page");
    assert_eq!(trim(&[]), [fetch(0)], "to find nothing the drive has to look");
}

#[test]
fn an_entry_that_was_never_set_can_be_known_without_a_read() {
    let mut config = config(4, Replacement::Lru, false);
    config.dftl.gtd_unmapped_shortcut = true;
    let mut map = Dftl::new(&config);
    let lpn = Lpn::new(9);
    for (mapped, cost) in [(false, vec![]), (true, vec![fetch(1)])] {
        let mut io = vec![];
        let lpn = if mapped { Lpn::new(17) } else { lpn };
        map.access(
            Access { lpn, kind: AccessKind::Read, remaining: 1, first: true, mapped },
            &mut io,
        );
        assert_eq!(io, cost);
    }
}
