//! Equal requests must leave equal content with every mapping, victim policy and cache.

use crate::common::workload::{ANYTHING, Workload};
use crate::common::{GEOMETRIES, Rig};
use floatgate_ftl::counters::{Counters, HostCounts, OwnerCounts, StreamCounts};
use floatgate_ftl::geometry::Shape;
use floatgate_ftl::mapping::MAPPINGS;
use floatgate_ftl::parameters::names;
use floatgate_ftl::victim::VICTIMS;

/// Returns the state of a drive that the host can see after 2,000 requests.
fn content(rig: &Rig, seed: u64) -> (HostCounts, Vec<bool>) {
    let (mut drive, _) = rig.build();
    let (pages, page_bytes) = (rig.shape.logical_pages, rig.shape.page_bytes);
    let requests = Workload::new(seed, ANYTHING, pages, page_bytes).batch(2000);
    let mut done = vec![];
    drive.run(&requests, &mut done);
    drive.check();
    assert_eq!(done.len(), requests.len());
    (drive.counters().host, drive.mapped(pages))
}

fn every_row_agrees(shape: Shape, seed: u64) {
    let expected = content(&Rig::new(shape, "ideal", "greedy").spare(3), seed);
    assert!(expected.0.trimmed_pages > 0 && expected.1.contains(&false));
    for mapping in names(MAPPINGS) {
        for victim in names(VICTIMS) {
            for cache_bytes in [8, 300, 1 << 20] {
                let rig = Rig { cache_bytes, ..Rig::new(shape, mapping, victim) }.spare(3);
                assert_eq!(content(&rig, seed), expected, "{rig:?}");
            }
        }
    }
}

#[test]
fn every_row_holds_the_same_content() {
    for (_, shape) in GEOMETRIES {
        for seed in 0..3 {
            every_row_agrees(shape, seed);
        }
    }
}

#[test]
fn batches_change_nothing_but_speed() {
    for mapping in names(MAPPINGS) {
        let rig = Rig::new(GEOMETRIES[1].1, mapping, "greedy").spare(3);
        let pages = rig.shape.logical_pages;
        let requests = Workload::new(5, ANYTHING, pages, rig.shape.page_bytes).batch(2000);
        let run = |batch: usize| {
            let (mut drive, _) = rig.build();
            let mut done = vec![];
            for chunk in requests.chunks(batch) {
                drive.run_ahead(chunk, chunk.len(), &mut done);
            }
            drive.run(&[], &mut done);
            (done, drive.counters(), drive.units().wear().collect::<Vec<_>>())
        };
        assert_eq!(run(1), run(2000));
    }
}

#[test]
fn a_reset_clears_the_counters_and_keeps_the_data() {
    for mapping in names(MAPPINGS) {
        let rig = Rig::new(GEOMETRIES[0].1, mapping, "greedy").spare(3);
        let pages = rig.shape.logical_pages;
        let mut workload = Workload::new(6, ANYTHING, pages, rig.shape.page_bytes);
        let (mut drive, _) = rig.build();
        drive.run(&workload.batch(1000), &mut vec![]);
        let before = drive.mapped(pages);
        drive.reset_counters();
        let now = drive.counters();
        let streams = vec![StreamCounts::default(); 1];
        let owners = vec![OwnerCounts { gc_pages: vec![0; 2], ..Default::default() }];
        let (cache_bytes, placement_bytes) = (now.cache_bytes, now.placement_bytes);
        let (dies, channels) = (vec![], vec![]);
        assert!(now.dies.iter().all(|die| die.busy_ns() == 0));
        assert!(now.channels.iter().all(|channel| channel.total() == 0));
        let now = Counters { dies, channels, ..now };
        let none =
            Counters { cache_bytes, placement_bytes, streams, owners, ..Counters::default() };
        assert_eq!(now, none);
        assert!(drive.units().wear().all(|erases| erases == 0));
        assert_eq!(drive.mapped(pages), before);
        drive.run(&workload.batch(1000), &mut vec![]);
        drive.check();
    }
}
