//! Drives whose mapping cache prefetches must read the data written last, and must have a correct
//! map on flash, with every option. Random requests run on drives where cleaning is always at work.

use crate::common::workload::{ANYTHING, Mix, Workload};
use crate::common::{ODD, Rig, SERIAL, TIMING};
use crate::naive_tlllp::options;
use floatgate_ftl::device::{Device, Inspect, Ssd};
use floatgate_ftl::mapping::{Boxed, MapConfig, TpftlConfig};
use floatgate_ftl::nand::{Checked, Counted, Shadow, Stamped, Timed};
use floatgate_ftl::page_ftl::PageFtl;
use floatgate_ftl::queue::Queue;

/// Runs requests of up to 24 pages, and checks every flash rule, every read and the map.
fn run(mapping: &str, rig: &Rig, map: &MapConfig, seed: u64) {
    let geometry = rig.geometry();
    let nand = Checked::new(Timed::new(Counted::default(), geometry, TIMING), geometry);
    let nand = Stamped::new(nand, geometry.physical_pages());
    let Ok(ftl) = PageFtl::new(nand, Boxed::by_name(mapping, map).unwrap(), rig.page_config(true));
    let shadow = Shadow::new(geometry.logical_pages());
    let mut drive = Ssd::new(ftl, shadow, Queue::new(rig.depth, rig.arrivals), &geometry);
    let mix = Mix { pages_max: 24, ..ANYTHING };
    let mut workload = Workload::new(seed, mix, rig.shape.logical_pages, rig.shape.page_bytes);
    let node_and_entry = 16;
    for number in 0..600 {
        drive.run(&[workload.next()], &mut vec![]);
        assert!(drive.counters().cache_bytes <= map.cache_bytes.max(node_and_entry));
        if number % 8 == 0 {
            drive.check();
        }
        if number % 100 == 99 {
            drive.write_back();
            drive.check();
        }
    }
    let stats = drive.counters();
    assert!(stats.flash.erases.iter().sum::<u64>() > 20, "{stats:?}");
}

fn every_rig(mut each: impl FnMut(&Rig, MapConfig)) {
    for shape in [SERIAL, ODD] {
        for cache_bytes in [0, 60, 200, 700] {
            let rig = Rig::new(shape, "tlllp", "greedy");
            each(&rig, MapConfig::new(rig.geometry(), cache_bytes));
        }
    }
}

#[test]
fn tlllp_reads_the_written_data() {
    every_rig(|rig, map| {
        for (seed, tlllp) in (0..).zip(options()) {
            run("tlllp", rig, &MapConfig { tlllp, ..map }, seed);
        }
    });
}

#[test]
fn tpftl_reads_the_written_data() {
    every_rig(|rig, map| {
        for bits in 0..16 {
            let tpftl = TpftlConfig {
                request_prefetch: bits & 1 != 0,
                selective_prefetch: bits & 2 != 0,
                clean_first: bits & 4 != 0,
                batch_update: bits & 8 != 0,
                ..TpftlConfig::default()
            };
            run("tpftl", rig, &MapConfig { tpftl, ..map }, bits);
        }
    });
}
