use super::super::tests::*;
use super::*;
use alloc::vec;

const AMPLE: u64 = 1 << 20;

fn config() -> TlllpConfig {
    TlllpConfig::default()
}

fn prev() -> TlllpConfig {
    TlllpConfig { fetch_mode: FetchMode::Prev, ..config() }
}

fn extra(tlllp: TlllpConfig) -> TlllpConfig {
    TlllpConfig { prefetch: PrefetchCount::Extra, ..tlllp }
}

/// 512 entries in a translation page, and room for all entries.
fn ample(tlllp: TlllpConfig) -> Tlllp {
    Tlllp::new(&MapConfig { tlllp, ..MapConfig::new(geometry(512), AMPLE) })
}

/// A cache with room for these nodes and entries, and its bytes. A translation page has 16 entries.
fn small(nodes: u64, entries: u64, tlllp: TlllpConfig) -> (Tlllp, u64) {
    let node_bytes = nodes * u64::from(tlllp.bytes_per_node);
    let bytes = node_bytes + entries * u64::from(tlllp.bytes_per_entry);
    (Tlllp::new(&MapConfig { tlllp, ..MapConfig::new(geometry(16), bytes) }), bytes)
}

#[test]
fn one_request_of_eight_pages() {
    // The number of misses, and the end of the cached entries after each page of the request.
    for (config, fetches, ends) in [
        (config(), 4, [1, 3, 3, 7, 7, 7, 7, 11]),
        (prev(), 4, [1, 3, 3, 6, 6, 6, 10, 10]),
        (extra(config()), 3, [2, 2, 6, 6, 6, 6, 14, 14]),
        (extra(prev()), 3, [2, 2, 5, 5, 5, 9, 9, 9]),
    ] {
        let mut map = ample(config);
        let mut io = vec![];
        for page in 0..8 {
            let (lpn, remaining, first) = (Lpn::new(page), 8 - page, page == 0);
            map.access(
                Access { lpn, kind: AccessKind::Read, remaining, first, mapped: true },
                &mut io,
            );
            assert_eq!(cached(&map).len() as u32, ends[page as usize], "page {page}, {config:?}");
        }
        assert_eq!(io, vec![fetch(0); fetches as usize]);
        let MapStats { hits, misses, prefetched, prefetch_used, .. } = map.counters().map;
        assert_eq!((hits, misses, prefetch_used), (8 - fetches, fetches, 8 - fetches));
        assert_eq!(prefetched, u64::from(ends[7]) - fetches);
    }
}

#[test]
fn a_request_across_translation_pages_prefetches_up_to_the_boundary() {
    let mut map = ample(config());
    let io = run(&mut map, AMPLE, "r508+8");
    // {508}, {509, 510}, {511}; {512..516}: the run of four pages continues across the boundary.
    assert_eq!(io[0], [fetch(0), fetch(0), fetch(0), fetch(1)]);
    assert_eq!(cached(&map), (508..517).collect::<Vec<_>>());
    let mut map = ample(config());
    run(&mut map, AMPLE, "r2040+8");
    assert_eq!(cached(&map), (2040..2048).collect::<Vec<_>>(), "the drive ends");
}

#[test]
fn an_endless_stream_of_single_pages() {
    for (rule2_first, hits_of_1024, first) in [(false, 512, 3), (true, 768, 7)] {
        for config in [config(), prev()] {
            let mut map = ample(TlllpConfig { rule2_first, ..config });
            let script = |from: u32, to: u32| {
                (from..to).map(|lpn| alloc::format!("r{lpn} ")).collect::<alloc::string::String>()
            };
            // The first load of a translation page has a window of 2, or is the very first load.
            run(&mut map, AMPLE, &script(0, first));
            map.reset_counters();
            run(&mut map, AMPLE, &script(first, first + 1024));
            let MapStats { hits, misses, .. } = map.counters().map;
            assert_eq!(hits + misses, 1024);
            assert!(hits.abs_diff(hits_of_1024) <= 4, "{hits} hits, {config:?} {rule2_first}");
        }
    }
}

#[test]
fn random_pages_are_never_prefetched() {
    for fetch_mode in [FetchMode::Run, FetchMode::Prev] {
        for rule2_first in [false, true] {
            let tlllp = TlllpConfig { fetch_mode, rule2_first, ..config() };
            let (mut map, bytes) = small(10, 60, tlllp);
            let mut rng = crate::rng::Rng::new(3);
            let mut last = 0;
            for _ in 0..2000 {
                let lpn = rng.below(2048) as u32;
                if lpn != last + 1 {
                    run(&mut map, bytes, &alloc::format!("w{lpn}"));
                    last = lpn;
                }
            }
            assert_eq!(map.counters().map.prefetched, 0);
            assert!(map.counters().map.hits > 0 && map.counters().map.dirty_evictions > 0);
        }
    }
}

#[test]
fn without_prefetching_a_miss_loads_the_one_entry_asked_for() {
    for (rule2_first, of) in [(false, config()), (true, config()), (true, extra(config()))] {
        let tlllp = TlllpConfig { fetch_mode: FetchMode::None, rule2_first, ..of };
        let mut map = ample(tlllp);
        // A run within a request, from one request to the next, and over the end of a translation
        // page.
        let io = run(&mut map, AMPLE, "r504+4 w508+2 r510+4 r504+12");
        assert_eq!(io[0], [fetch(0); 4]);
        assert_eq!(io[1], [fetch(0); 2]);
        assert_eq!(io[2], [fetch(0), fetch(0), fetch(1), fetch(1)]);
        assert_eq!(io[3], [fetch(1); 2], "what was asked for stays");
        assert_eq!(cached(&map), (504..516).collect::<Vec<_>>());
        let MapStats { hits, misses, prefetched, prefetch_used, prefetch_unused, .. } =
            map.counters().map;
        assert_eq!((hits, misses), (10, 12));
        assert_eq!((prefetched, prefetch_used, prefetch_unused), (0, 0, 0));
    }
}

#[test]
fn the_rarely_accessed_node_leaves_as_a_whole() {
    // Figure 1: TP7 has Entry2 and Entry4, which are rarely accessed. The accessed page belongs to
    // TP3.
    let (mut map, bytes) = small(3, 6, config());
    let often = "r16 r18 r16 r18 r16 r32 r35 r35 r32 r32";
    run(&mut map, bytes, "w114 r116");
    run(&mut map, bytes, often);
    assert_eq!(cached(&map), [16, 18, 32, 35, 114, 116]);
    let io = run(&mut map, bytes, "r50 r52");
    assert_eq!(io[0], [update(7), fetch(3)], "one rewrite for the whole node");
    assert_eq!(io[1], [fetch(3)], "it has left a node and two entries");
    assert_eq!(cached(&map), [16, 18, 32, 35, 50, 52]);
    assert_eq!((map.counters().map.evictions, map.counters().map.dirty_evictions), (2, 1));
}

#[test]
fn the_literal_reading_evicts_the_most_visited_node() {
    let victims = [(NodeVictim::Min, 16), (NodeVictim::Max, 0), (NodeVictim::LeastRecent, 16)];
    for (victim, left) in victims {
        let (mut map, bytes) = small(2, 2, TlllpConfig { victim, ..config() });
        run(&mut map, bytes, "r0 r16 r16 r32");
        assert_eq!(cached(&map), [left, 32]);
    }
}

#[test]
fn visits_that_never_age_keep_a_node_that_nobody_accesses() {
    for (victim, hits, left) in
        [(NodeVictim::Min, 1, [0, 32]), (NodeVictim::LeastRecent, 5, [16, 32])]
    {
        let (mut map, bytes) = small(2, 2, TlllpConfig { victim, ..config() });
        run(&mut map, bytes, "r0 r0 r16 r32 r16 r32 r16 r32");
        assert_eq!((map.counters().map.hits, cached(&map)), (hits, left.to_vec()));
    }
}

#[test]
fn one_entry_leaves_and_all_dirty_entries_of_its_page_are_written() {
    for (evict, left) in [(Evicted::Page, vec![16, 18]), (Evicted::Entry, vec![2, 4, 16, 18])] {
        let (mut map, bytes) = small(2, 4, TlllpConfig { evict, ..config() });
        // 0 and 4 were visited once; 0 is the least recently accessed.
        let io = run(&mut map, bytes, "w0 r2 r2 w4 r16 r16 r18");
        assert_eq!((&io[6], cached(&map)), (&vec![update(0), fetch(1)], left));
    }
    let (mut map, bytes) = small(2, 4, TlllpConfig { evict: Evicted::Entry, ..config() });
    let io = run(&mut map, bytes, "w0 r2 r2 w4 r16 r16 r18 r20 r22");
    assert_eq!(io[7..], [[fetch(1)], [fetch(1)]], "4 leaves clean, as it was written with 0");
    assert_eq!(cached(&map), [16, 18, 20, 22], "2 has left with its node");
    assert_eq!((map.counters().map.evictions, map.counters().map.dirty_evictions), (3, 1));
}

#[test]
fn among_equal_means_the_least_recently_accessed_node_leaves() {
    let (mut map, bytes) = small(3, 5, config());
    // Means 2, 4/2 and 2: the first node was accessed last.
    run(&mut map, bytes, "r0 r16 r18 r18 r18 r32 r32 r0 r48");
    assert_eq!(cached(&map), [0, 32, 48]);
}

#[test]
fn a_dirty_node_costs_one_rewrite_and_no_read_if_it_is_whole() {
    for (script, entries, cost) in [
        ("r0 r2 r4", 3, vec![fetch(1)]),
        ("w0 r2 w4", 3, vec![update(0), fetch(1)]),
        ("r0+15 r15", 16, vec![fetch(1)]),
        ("r0+15 w15", 16, vec![rewrite(0), fetch(1)]),
    ] {
        let (mut map, bytes) = small(1, entries, config());
        run(&mut map, bytes, script);
        assert_eq!(run(&mut map, bytes, "r16")[0], cost, "{script}");
        assert_eq!(map.counters().map.evictions, entries);
    }
}

#[test]
fn the_last_translation_page_is_whole_with_fewer_entries() {
    let shape = crate::geometry::Shape { logical_pages: 2036, ..*geometry(16).shape() };
    let geometry = Geometry::new(shape).unwrap();
    let mut map = Tlllp::new(&MapConfig::new(geometry, 8 * 5));
    run(&mut map, 40, "r2032+3 w2035");
    assert_eq!(run(&mut map, 40, "r0")[0], [rewrite(127), fetch(0)]);
}

#[test]
fn the_node_that_is_asked_for_leaves_an_entry_only_when_it_is_alone() {
    let (mut map, bytes) = small(2, 4, config());
    run(&mut map, bytes, "r0 r16 r16 r18 r18");
    // The node of 0 has the smallest mean, but it is the node of the access, so the other one
    // leaves.
    run(&mut map, bytes, "r2 r4");
    assert_eq!(cached(&map), [0, 2, 4]);
    let (mut map, bytes) = small(1, 3, config());
    run(&mut map, bytes, "r0 w2 r4 r4 r0");
    assert_eq!(run(&mut map, bytes, "r6")[0], [update(0), fetch(0)], "2 was visited once");
    assert_eq!(cached(&map), [0, 4, 6]);
    // All entries were visited twice; 4 is the least recently accessed.
    run(&mut map, bytes, "r6 r8");
    assert_eq!(cached(&map), [0, 6, 8]);
}

#[test]
fn entries_leave_until_the_missed_entry_or_the_prefetch_fits() {
    // 3 would be loaded with 4, 5 and 6, and there is room for one.
    for (evict, evict_until_fit, left) in [
        (Evicted::Entry, false, vec![0, 1, 2, 3, 4, 18, 32]),
        (Evicted::Entry, true, vec![0, 1, 2, 3, 4, 5, 6, 32]),
        (Evicted::Page, false, vec![0, 1, 2, 3, 4, 5, 6, 32]),
    ] {
        let (mut map, bytes) = small(3, 7, TlllpConfig { evict, evict_until_fit, ..config() });
        let io = run(&mut map, bytes, "w16 w18 w32 r32 r0+4");
        assert_eq!(cached(&map), left);
        assert_eq!(io[4].iter().filter(|op| **op == update(1)).count(), 1);
    }
    // A new node needs more than the entry that leaves first: the next one leaves, too.
    let (mut map, bytes) = small(1, 3, TlllpConfig { evict: Evicted::Entry, ..config() });
    run(&mut map, bytes, "r0 r2 r2 w4 r16");
    assert_eq!(cached(&map), [2, 16]);
}

#[test]
fn a_prefetch_shrinks_to_the_room_of_one_node() {
    // 3 would be loaded with 4, 5 and 6. There is room for one; evicting the node of 16 gives room
    // for two more.
    for (evict_until_fit, left) in
        [(false, vec![0, 1, 2, 3, 4, 5, 32]), (true, vec![0, 1, 2, 3, 4, 5, 6])]
    {
        let (mut map, bytes) = small(3, 6, TlllpConfig { evict_until_fit, ..config() });
        let io = run(&mut map, bytes, "w16 w32 r32 r0+4");
        assert_eq!(cached(&map), left);
        let write_backs = io[3].iter().filter(|op| **op != fetch(0)).count();
        assert_eq!(write_backs, if evict_until_fit { 2 } else { 1 });
    }
}

#[test]
fn prefetched_entries_do_not_replace_cached_entries() {
    let mut map = ample(config());
    run(&mut map, AMPLE, "w4 r0+4");
    assert_eq!(map.residency(Lpn::new(4)), Residency::Dirty);
    assert_eq!(cached(&map), (0..7).collect::<Vec<_>>(), "4 took its place in 3..7");
    assert_eq!(map.cache.entry(map.cache.find(Lpn::new(4)).unwrap()).weight, 1);
    assert_eq!(map.counters().map.prefetched, 3);
}

#[test]
fn trims_prefetch_nothing_and_do_not_break_a_run() {
    let mut map = ample(config());
    run(&mut map, AMPLE, "r0+2 t600 t601");
    assert_eq!(cached(&map), [0, 1, 2, 600, 601]);
    run(&mut map, AMPLE, "r2 r3+2");
    assert_eq!(cached(&map), [0, 1, 2, 3, 4, 5, 6, 600, 601]);
    assert_eq!(map.residency(Lpn::new(600)), Residency::Dirty);
}

#[test]
fn any_budget_caches_one_entry() {
    let mut map = Tlllp::new(&MapConfig::new(geometry(16), 0));
    let io = run(&mut map, 16, "w0 w1 w2 w16");
    assert_eq!(io[1], [update(0), fetch(0)]);
    assert_eq!(cached(&map), [16]);
}

#[test]
fn entries_of_six_bytes_leave_room_for_more() {
    let tlllp = TlllpConfig { bytes_per_entry: 6, ..config() };
    let mut map = Tlllp::new(&MapConfig { tlllp, ..MapConfig::new(geometry(16), 32) });
    run(&mut map, 32, "r0 r2 r4 r6");
    assert_eq!((cached(&map).len(), map.memory_bytes()), (4, 32));
}

#[test]
fn cleaning_updates_cached_entries_in_place_and_others_by_page() {
    let mut map = ample(config());
    run(&mut map, AMPLE, "r0 r2 r600");
    let mut io = vec![];
    map.relocated(&moved(&[0, 2]), &mut io);
    assert_eq!(io, []);
    map.relocated(&moved(&[2, 3, 4, 600, 1100]), &mut io);
    assert_eq!(io, [update(0), update(2)]);
    let dirty = |lpn| map.residency(Lpn::new(lpn)) == Residency::Dirty;
    assert!(dirty(0) && dirty(2) && dirty(600));
    io.clear();
    map.flush(&mut io);
    assert_eq!(io, [update(0), update(1)]);
    io.clear();
    map.flush(&mut io);
    assert_eq!(io, []);
}
