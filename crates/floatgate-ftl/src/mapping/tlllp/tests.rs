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
