use super::super::tests::*;
use super::*;
use alloc::vec;

const AMPLE: u64 = 1 << 20;

fn config() -> TpftlConfig {
    TpftlConfig { selective_prefetch: false, ..TpftlConfig::default() }
}

/// All techniques off.
const OFF: TpftlConfig = TpftlConfig {
    request_prefetch: false,
    selective_prefetch: false,
    selective_threshold: 3,
    clean_first: false,
    batch_update: false,
    bytes_per_entry: 6,
    bytes_per_node: 8,
};

fn map(entries_per_page: u32, bytes: u64, tpftl: TpftlConfig) -> Tpftl {
    Tpftl::new(&MapConfig { tpftl, ..MapConfig::new(geometry(entries_per_page), bytes) })
}

/// A cache with room for these nodes and entries, and its bytes. A translation page has 16 entries.
fn small(nodes: u64, entries: u64, tpftl: TpftlConfig) -> (Tpftl, u64) {
    let bytes = nodes * 8 + entries * 6;
    (map(16, bytes, tpftl), bytes)
}

#[test]
fn a_cold_request_is_one_map_read() {
    let mut map = map(512, AMPLE, config());
    assert_eq!(run(&mut map, AMPLE, "r0+8"), [[fetch(0)]]);
    let MapStats { hits, misses, prefetched, prefetch_used, .. } = map.counters().map;
    assert_eq!((hits, misses, prefetched, prefetch_used), (7, 1, 7, 7));
    assert_eq!(map.memory_bytes(), 8 + 8 * 6);
    // Across a boundary: one read for each translation page.
    assert_eq!(run(&mut map, AMPLE, "r508+8"), [[fetch(0), fetch(1)]]);
    assert_eq!(map.counters().map.misses, 3);
}

#[test]
fn a_miss_within_a_request_loads_its_rest() {
    let mut map = map(512, AMPLE, config());
    run(&mut map, AMPLE, "r0+2 w4");
    assert_eq!(run(&mut map, AMPLE, "r0+8"), [[fetch(0)]]);
    assert_eq!(cached(&map), (0..8).collect::<Vec<_>>());
    assert_eq!(map.residency(Lpn::new(4)), Residency::Dirty, "what is cached stays as it is");
    assert_eq!(map.counters().map.prefetched, 1 + 4);
}

#[test]
fn the_coldest_node_gives_room_by_the_mean_of_its_times() {
    let (mut map, bytes) = small(2, 4, OFF);
    // Times 1 and 6, 2 and 3: TP0 has the higher mean, although it has the oldest entry.
    run(&mut map, bytes, "r0 r16 r18 r16 r18 r2");
    let (mut second, _) = small(2, 4, OFF);
    run(&mut second, bytes, "r0 r16 r18 r2 r32");
    assert_eq!(cached(&second), [0, 2, 32], "2.5 = 2.5: the least recently accessed one");
    run(&mut map, bytes, "r20");
    assert_eq!(cached(&map), [2, 16, 18, 20], "the oldest entry of the coldest node");
}

#[test]
fn clean_entries_leave_first_and_dirty_ones_are_written_back_together() {
    let script = "w0 r2 w4 r16";
    for (clean_first, batch_update, io, left) in [
        (false, false, vec![update(0), fetch(1)], vec![2, 4, 16, 18]),
        (true, false, vec![fetch(1)], vec![0, 4, 16, 18]),
        (false, true, vec![update(0), fetch(1)], vec![2, 4, 16, 18]),
    ] {
        let (mut map, bytes) = small(2, 4, TpftlConfig { clean_first, batch_update, ..OFF });
        run(&mut map, bytes, script);
        assert_eq!(run(&mut map, bytes, "r18")[0], io);
        assert_eq!(cached(&map), left);
        let dirty = map.residency(Lpn::new(4)) == Residency::Dirty;
        assert_eq!(dirty, !batch_update, "4 stays, written back or not");
    }
}

#[test]
fn a_miss_writes_back_one_page_once() {
    let (mut map, bytes) = small(2, 8, config());
    run(&mut map, bytes, "w0+8");
    // 8 bytes are free, 44 are needed: six entries leave. The first is dirty, and its write-back
    // cleans the rest.
    assert_eq!(run(&mut map, bytes, "r16+6"), [[update(0), fetch(1)]]);
    assert_eq!((map.counters().map.evictions, map.counters().map.dirty_evictions), (6, 1));
    let (mut map, _) = small(2, 8, TpftlConfig { batch_update: false, ..config() });
    run(&mut map, bytes, "w0+8");
    assert_eq!(run(&mut map, bytes, "r16+6")[0].len(), 6 + 1, "each for itself");
}

#[test]
fn a_prefetch_shrinks_to_the_room_of_the_coldest_node() {
    let (mut map, bytes) = small(3, 9, config());
    run(&mut map, bytes, "r0+3 r16+6");
    assert_eq!(map.cache.free_bytes(), 8);
    // The node of 0 takes 26 bytes, which is room for a node and four entries. Evicting the node of
    // 16 then gives room for the other four.
    assert_eq!(run(&mut map, bytes, "r32+8"), [[fetch(2), fetch(2)]]);
    assert_eq!(map.counters().map.evictions, 3 + 4);
}

#[test]
fn the_node_that_is_filled_gives_room_only_when_it_is_alone() {
    let (mut map, bytes) = small(1, 3, config());
    run(&mut map, bytes, "w0 r2 w4");
    assert_eq!(run(&mut map, bytes, "r6"), [[fetch(0)]]);
    assert_eq!(cached(&map), [0, 4, 6], "a clean one");
    assert_eq!(run(&mut map, bytes, "w6 r8")[1], [update(0), fetch(0)]);
    assert_eq!(cached(&map), [4, 6, 8]);
    assert_eq!(map.residency(Lpn::new(6)), Residency::Clean);
    let (mut map, bytes) = small(2, 4, config());
    run(&mut map, bytes, "r0 r16+3 r16+3 r2");
    assert!(cached(&map).starts_with(&[0, 2]), "the node of 0 is the colder one");
}

#[test]
fn fewer_nodes_switch_the_selective_prefetch_on_and_one_use_off() {
    let selective = TpftlConfig { request_prefetch: false, ..TpftlConfig::default() };
    let (mut map, bytes) = small(6, 6, selective);
    run(&mut map, bytes, "r0 r16 r32 r48 r64 r80");
    assert!(!map.phase.sequential, "the number of nodes grows: access is random");
    run(&mut map, bytes, "r96 r97 r98 r99 r100 r101");
    assert!(map.phase.sequential, "three nodes left for a row in one page");
    assert_eq!(map.counters().map.prefetched, 0);
    // Six entries in a row, so 7 would be loaded. There is room for 2, and for 2 more from the
    // coldest node.
    run(&mut map, bytes, "r102");
    assert_eq!(cached(&map)[1..], [96, 97, 98, 99, 100, 101, 102, 103, 104, 105]);
    assert!(!map.phase.sequential && map.counters().map.prefetched == 3);
}

#[test]
fn random_pages_are_never_prefetched() {
    let mut map = map(16, 600, TpftlConfig::default());
    let mut rng = crate::rng::Rng::new(3);
    for _ in 0..3000 {
        // Only even pages, so no page has a cached predecessor.
        run(&mut map, 600, &alloc::format!("w{}", rng.below(1024) * 2));
    }
    assert_eq!(map.counters().map.prefetched, 0);
    assert!(map.counters().map.hits > 0 && map.counters().map.dirty_evictions > 0);
}

#[test]
fn cleaning_that_rewrites_a_page_takes_its_dirty_entries_along() {
    for batch_update in [false, true] {
        let mut map = map(512, AMPLE, TpftlConfig { batch_update, ..config() });
        run(&mut map, AMPLE, "w0 r2 w600");
        let mut io = vec![];
        map.relocated(&moved(&[2, 600]), &mut io);
        assert_eq!(io, []);
        map.relocated(&moved(&[3, 4]), &mut io);
        assert_eq!(io, [update(0)]);
        let dirty = |lpn| map.residency(Lpn::new(lpn)) == Residency::Dirty;
        assert_eq!([dirty(0), dirty(2), dirty(600)], [!batch_update, !batch_update, true]);
        // The host write of 0 that triggered this cleaning is programmed only now.
        map.assigned(Lpn::new(0), Ppn::new(9), &mut io);
        assert_eq!(map.residency(Lpn::new(0)), Residency::Dirty);
        io.clear();
        map.flush(&mut io);
        assert_eq!(io, [update(0), update(1)]);
    }
}

#[test]
fn trims_prefetch_nothing() {
    let mut map = map(512, AMPLE, TpftlConfig::default());
    run(&mut map, AMPLE, "t0+3");
    assert_eq!((map.counters().map.misses, map.counters().map.prefetched), (3, 0));
    assert_eq!(map.residency(Lpn::new(2)), Residency::Dirty);
}

#[test]
fn any_budget_caches_one_entry() {
    let mut map = map(16, 0, TpftlConfig::default());
    let io = run(&mut map, 14, "w0 r1+2 w16");
    assert_eq!(io[1], [update(0), fetch(0), fetch(0)]);
    assert_eq!(cached(&map), [16]);
}
