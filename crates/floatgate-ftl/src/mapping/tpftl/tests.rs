use super::super::tests::*;
use super::*;
use alloc::vec;

const AMPLE: u64 = 1 << 20;

fn config() -> TpftlConfig {
    TpftlConfig { selective_prefetch: false, ..TpftlConfig::default() }
}

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
