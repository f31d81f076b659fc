//! Every row of the tables must read the data written last and keep the conservation laws. The
//! drives are so small and tight that cleaning is always at work under the random requests.

use crate::common::laws::Seen;
use crate::common::shadow::{run, run_on};
use crate::common::workload::{ANYTHING, Mix, WRITES};
use crate::common::{GEOMETRIES, MapPages, ODD, Rig, SERIAL};
use floatgate_ftl::device::Dispatching;
use floatgate_ftl::geometry::Shape;
use floatgate_ftl::host::ShrdConfig;
use floatgate_ftl::mapping::{DftlConfig, MAPPINGS, Replacement};
use floatgate_ftl::parameters::names;
use floatgate_ftl::queue::Arrivals;
use floatgate_ftl::request::{Op, Request};
use floatgate_ftl::unit_table::FreeOrder;
use floatgate_ftl::victim::VICTIMS;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Returns every mapping x victim x geometry, with room for `entries` map entries.
fn rigs(entries: u64) -> Vec<Rig> {
    let mut rigs = vec![];
    for (_, shape) in GEOMETRIES {
        for mapping in names(MAPPINGS) {
            for victim in names(VICTIMS) {
                let cache_bytes = entries * 8;
                rigs.push(Rig { cache_bytes, ..Rig::new(shape, mapping, victim) }.spare(2));
            }
        }
    }
    rigs
}

/// Room for one entry, for the entries of a translation page, for everything.
const CACHES: [u64; 3] = [1, 16, 1 << 20];

#[test]
fn every_row_reads_the_written_data() {
    for entries in CACHES {
        for (seed, rig) in rigs(entries).iter().enumerate() {
            let seen = run(rig, seed as u64, ANYTHING, 1500, 16);
            assert_eq!(seen.clean_maps, 1, "the cache can be written back: {rig:?}");
            assert!(seen.cleans > 50 && seen.copies > 50, "cleaning works: {seen:?} {rig:?}");
            assert!(
                seen.trimmed > 0 && seen.partial_page_reads > 0 && seen.empty_reads > 0,
                "{seen:?}"
            );
            if rig.map_on_flash() && entries < 1 << 20 {
                assert!(seen.map_cleans > 0, "units of the map are cleaned: {seen:?} {rig:?}");
            }
        }
    }
}

#[test]
fn every_row_is_consistent_after_every_request() {
    for entries in CACHES {
        for (seed, rig) in rigs(entries).iter().enumerate() {
            run(rig, 100 + seed as u64, ANYTHING, 250, 1);
        }
    }
}

#[test]
fn evictions_clean_and_cleaning_collects_the_map() {
    for replacement in [Replacement::Slru, Replacement::Lru, Replacement::FlashSim] {
        for (evict_batch, gtd_unmapped_shortcut) in [(false, false), (true, false), (false, true)] {
            let mut seen = Seen::default();
            for (number, rig) in rigs(8).iter().enumerate().filter(|(_, rig)| rig.mapping == "dftl")
            {
                let dftl =
                    DftlConfig { replacement, evict_batch, gtd_unmapped_shortcut, ..rig.dftl };
                seen += run(&Rig { dftl, ..*rig }, number as u64, ANYTHING, 600, 8);
            }
            assert!(seen.cleans_inside_evictions > 50, "{seen:?}");
            assert!(seen.map_cleans > 50 && seen.dirty_evictions > 500, "{seen:?}");
        }
    }
}

#[test]
fn the_smallest_reserve_is_enough() {
    // The constructor requires one unit more than there are open units.
    for (seed, rig) in rigs(4).iter().enumerate() {
        let low_water = 2 + u32::from(rig.map_on_flash());
        for spare in [1, 2, 4] {
            let rig = Rig { low_water, ..*rig }.spare(spare);
            run(&rig, seed as u64, ANYTHING, 1200, 16);
        }
    }
}

/// Two drives that property testing found. With 2 pages in a unit and no cache, emptying a full
/// unit of data takes as many map pages as it frees.
fn tight(units: u32, logical_pages: u32) -> Rig {
    let shape = Shape { pages_per_block: 2, units, logical_pages, ..ODD };
    let free_order = FreeOrder::First;
    Rig { low_water: 3, free_order, depth: 1, ..Rig::new(shape, "none", "fifo") }
}

#[test]
fn cleaning_in_a_circle_comes_to_an_end() {
    let seen = run(&tight(16, 20), 0, Mix { writes: 3, ..ANYTHING }, 400, 8);
    assert!(seen.emergencies > 0, "{seen:?}");
}

#[test]
fn a_victim_needs_no_more_units_than_are_free() {
    let seed = 11_025_311_662_821_242_303;
    let seen = run(&tight(85, 146), seed, Mix { writes: 25, ..ANYTHING }, 400, 8);
    assert!(seen.emergencies > 0, "{seen:?}");
}

/// Tests every mapping and shape behind SHRD. The logs have any fill, and wrap.
#[test]
fn every_row_reads_the_written_data_behind_shrd() {
    for (seed, rig) in rigs(16).iter().enumerate().filter(|(at, _)| at % 3 == 0) {
        let tunes: [fn(&mut ShrdConfig, &mut Dispatching); 4] = [
            |_, _| {},
            |host, when| (host.lazy_stale, when.block_during_remap) = (true, false),
            |host, _| (host.parity_align, host.join_reads) = (true, true),
            |_, when| (when.low_packing, when.idle_after_ns) = ((3, 2), Some(100)),
        ];
        let tune_host = tunes[seed / 3 % tunes.len()];
        let page_cache = MapPages { pages_per_map_page: 2, load_for_cleaning: true };
        let low_water = rig.low_water + 1;
        let rig = Rig { log: 48, tune_host, page_cache, low_water, depth: 16, ..*rig }.spare(4);
        let run = |seed, rounds| run_on(rig.build_behind_shrd(), &rig, seed, ANYTHING, rounds);
        let seen = run(seed as u64, (1504, 16));
        assert!(
            seen.cleans > 50 && seen.trimmed > 0 && seen.partial_page_reads > 0,
            "{seen:?} {rig:?}"
        );
        assert!(seen.windows > 5 && seen.redirected > 20 && seen.dropped > 20, "{seen:?} {rig:?}");
        run(100 + seed as u64, (256, 1));
    }
}

#[test]
fn a_request_of_no_bytes_touches_nothing() {
    let (mut drive, log) = Rig::new(SERIAL, "dftl", "greedy").build();
    log.take();
    for op in [Op::Read, Op::Write, Op::Trim] {
        for offset in [0, 1, 100, 160 * 64 - 1, 160 * 64] {
            drive.run(&[Request { at_ns: 0, op, offset, length: 0, stream: 0 }], &mut vec![]);
        }
    }
    assert!(log.take().is_empty());
    assert_eq!(drive.counters().host.read_pages + drive.counters().host.write_pages, 0);
}

#[test]
#[should_panic(expected = "cleaning frees no units")]
fn a_drive_without_spare_says_so() {
    let rig = Rig { low_water: 3, ..Rig::new(SERIAL, "ideal", "greedy") };
    let shape = Shape { units: rig.shape.logical_pages / 8 + 1, ..SERIAL };
    run(&Rig { shape, ..rig }, 1, WRITES, 1000, 1000);
}

fn any_rig() -> impl Strategy<Value = Rig> {
    let tables = (0..MAPPINGS.len(), 0..VICTIMS.len(), 0..GEOMETRIES.len());
    let sizes = (2u32..10, 20u32..300, 1u32..6, 1u32..3, 0u64..400);
    let queue = (1usize..9, any::<bool>(), any::<bool>());
    let dftl = (0usize..3, any::<bool>(), any::<bool>(), 0u32..1001);
    (tables, sizes, queue, dftl).prop_map(|(tables, sizes, queue, dftl)| {
        let (mapping, victim, shape) = tables;
        let (pages_per_block, logical_pages, spare, reserve, cache_bytes) = sizes;
        let (depth, open, worn) = queue;
        let shape = Shape { pages_per_block, logical_pages, ..GEOMETRIES[shape].1 };
        let mut rig = Rig::new(shape, MAPPINGS[mapping].name, VICTIMS[victim].name);
        rig.cache_bytes = cache_bytes;
        rig.low_water = 1 + reserve + u32::from(rig.map_on_flash());
        rig.depth = depth;
        rig.arrivals = if open { Arrivals::Open } else { Arrivals::Closed };
        rig.free_order = if worn { FreeOrder::LeastWorn } else { FreeOrder::First };
        let (policy, evict_batch, gtd_unmapped_shortcut, protected_permille) = dftl;
        let replacement = match policy {
            0 => Replacement::Slru,
            1 => Replacement::Lru,
            _ => Replacement::FlashSim,
        };
        let protected_share = f64::from(protected_permille) / 1000.0;
        let dftl = DftlConfig { replacement, protected_share, ..rig.dftl };
        rig.dftl = DftlConfig { evict_batch, gtd_unmapped_shortcut, ..dftl };
        rig.spare(spare)
    })
}

/// Runs the same cases every time, unless `PROPTEST_RNG_SEED` or `PROPTEST_CASES` is set.
fn property() -> ProptestConfig {
    let mut config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = 128;
    }
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        config.rng_seed = RngSeed::Fixed(2009);
    }
    config
}

proptest! {
    #![proptest_config(property())]

    #[test]
    fn any_small_drive_reads_the_written_data(rig in any_rig(), seed: u64, writes in 1u64..30) {
        let mix = Mix { writes, ..ANYTHING };
        run(&rig, seed, mix, 400, 8);
    }
}
