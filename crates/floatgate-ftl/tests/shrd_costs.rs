//! Costs of SHRD and of a cache of whole map pages, compared with closed forms (docs/algorithms.md,
//! 9.9).
//!
//! L map pages cover the user's space, and c of them are cached. Under uniformly random one-page
//! writes a plain drive loads 1 - c/L map pages per write, and programs as many. Behind SHRD a
//! window of w slots has L (1 - (1 - 1/L)^w) different map pages, and each is loaded once.

use std::collections::BTreeMap;

use crate::common::log::Kind;
use crate::common::workload::{Mix, WRITES, Workload};
use crate::common::{MapPages, Rig, SERIAL};
use floatgate_ftl::addr::Owner;
use floatgate_ftl::counters::CAUSES;
use floatgate_ftl::device::{Counters, Device, Dispatching, Inspect, Ssd};
use floatgate_ftl::geometry::Shape;
use floatgate_ftl::host::ShrdConfig;
use floatgate_ftl::nand::{Cause, Counted, Nand, Shadow, Timed, Timing};
use floatgate_ftl::page_ftl::PageFtl;
use floatgate_ftl::queue::{Arrivals, Queue};
use floatgate_ftl::request::{Op, Request};
use floatgate_ftl::rng::Rng;

fn close(measured: f64, expected: f64, tolerance: f64, what: &str) {
    let error = (measured / expected - 1.0).abs();
    assert!(error < tolerance, "{what}: {measured:.4}, expected {expected:.4}");
}

/// 32 GiB of 4 KiB pages, 1,024 entries of 4 bytes in each.
const LARGE: Shape =
    Shape { page_bytes: 4096, pages_per_block: 256, units: 1, logical_pages: 8 << 20, ..SERIAL };

/// Changes to SHRD's parameters.
type Tune = fn(&mut ShrdConfig, &mut Dispatching);

fn authors(host: &mut ShrdConfig, when: &mut Dispatching) {
    *host = ShrdConfig::new(host.log2_page, host.user_pages, host.slots);
    *when = Dispatching::default();
}

/// Returns the counters of the 32 GiB drive behind a log of four windows of `window` slots. A map
/// page has `pages_per_map_page` pages.
fn behind_shrd(window: u32, pages_per_map_page: u32) -> Counters {
    let slots = 4 * window;
    let tunes: [(u32, Tune); 3] = [
        (511, |host, when| {
            authors(host, when);
            (host.remap_threshold, host.remap_size) = (511, 511);
        }),
        (2048, |host, when| {
            authors(host, when);
            (host.remap_threshold, host.remap_size) = (2048, 2048);
        }),
        (16_384, |host, when| {
            authors(host, when);
            (host.remap_threshold, host.remap_size) = (16_384, 16_384);
        }),
    ];
    let tune_host = tunes.iter().find(|tune| tune.0 == window).unwrap().1;
    let page_cache = MapPages { pages_per_map_page, load_for_cleaning: false };
    let log_pages = u64::from(slots).div_ceil(u64::from(pages_per_map_page) * 1024) + 1;
    let cache_bytes = (1 + log_pages) * u64::from(pages_per_map_page) * 4096;
    let rig = Rig { page_cache, cache_bytes, log: slots, tune_host, ..large() };
    // Enough spare units that nothing is cleaned: the closed forms exclude cleaning.
    let rig = rig.spare(1000);
    let mut drive = rig.behind_shrd(Counted::default(), (), false);
    let writes = (5 * window as usize).max(40_000);
    drive.run(&uniform(17, &LARGE, writes), &mut vec![]);
    drive.check();
    drive.counters()
}

/// Returns random one-page writes, uniform over all pages.
fn uniform(seed: u64, shape: &Shape, writes: usize) -> Vec<Request> {
    let mut rng = Rng::new(seed);
    let page_bytes = u64::from(shape.page_bytes);
    let mut page = || rng.below(u64::from(shape.logical_pages));
    (0..writes).map(|_| Workload::pages(Op::Write, page(), 1, page_bytes)).collect()
}

/// Builds a drive without SHRD.
fn plain<N>(rig: &Rig, nand: N) -> impl Device + use<N>
where
    N: Nand<Error = std::convert::Infallible> + Send,
{
    let Ok(ftl) = PageFtl::new(nand, rig.mapping(), rig.page_config(false));
    Ssd::new(ftl, (), Queue::new(rig.depth, rig.arrivals), &rig.geometry())
}

fn large() -> Rig {
    // Cleaning may rewrite eight translation pages for each page that it moves.
    let rig = Rig::new(LARGE, "page_cache", "greedy");
    Rig { depth: 128, arrivals: Arrivals::Closed, low_water: 12, ..rig }
}

#[test]
fn map_loads_of_shrd_follow_the_closed_form() {
    for (pages_per_map_page, map_pages) in [(1, 8192.0_f64), (8, 1024.0)] {
        for window in [511, 2048, 16_384] {
            let all = behind_shrd(window, pages_per_map_page);
            let layer = all.layer.unwrap().shrd;
            let pages = layer.remapped_pages as f64;
            assert!(layer.windows >= 3);
            let loads =
                all.flash.reads[Cause::Remap as usize] as f64 / f64::from(pages_per_map_page);
            let w = f64::from(window);
            let distinct = map_pages * (1.0 - (1.0 - 1.0 / map_pages).powf(w));
            close(loads / pages, distinct / w, 0.03, &format!("L {map_pages}, w {window}"));
            let programs =
                all.flash.programs[Cause::Remap as usize] as f64 / f64::from(pages_per_map_page);
            assert!(programs <= loads * 1.001, "each is programmed at most once");
            // Log writes find their few map pages in the cache.
            let host = all.flash.reads[Cause::Map as usize] as f64 / f64::from(pages_per_map_page);
            assert!(host / pages < 0.005, "{host} loads for log writes");
            assert_eq!(all.flash.programs[Cause::Host as usize], all.host.write_pages);
            assert_eq!(all.flash.erases, [0; CAUSES]);
        }
    }
}

/// 256 map pages of 16 entries, with cleaning.
#[test]
fn map_loads_without_shrd_follow_the_closed_form() {
    let shape = Shape { pages_per_block: 64, logical_pages: 4096, ..SERIAL };
    for cached in [1u64, 64, 192] {
        let rig = Rig { cache_bytes: cached * 64, ..Rig::new(shape, "page_cache", "greedy") };
        let mut drive = plain(&rig.spare(20), Counted::default());
        drive.run(&uniform(5, &shape, 40_000), &mut vec![]);
        drive.reset_counters();
        drive.run(&uniform(6, &shape, 100_000), &mut vec![]);
        let all = drive.counters();
        let per_write = |count: u64| count as f64 / all.host.write_pages as f64;
        let expected = 1.0 - cached as f64 / 256.0;
        let flash = &all.flash;
        close(per_write(flash.reads[Cause::Map as usize]), expected, 0.03, "loads");
        close(per_write(flash.programs[Cause::Map as usize]), expected, 0.03, "programs");
        let data = flash.programs[Cause::Host as usize] + flash.programs[Cause::Gc as usize];
        close(per_write(data), 1.0 + per_write(flash.programs[Cause::Gc as usize]), 1e-9, "data");
    }
}

/// With room for the log's map pages and one more, a window must load each map page at most once.
#[test]
fn a_window_loads_each_map_page_once() {
    let shape = Shape { logical_pages: 2048, units: 1, ..SERIAL };
    let tune_host = |host: &mut ShrdConfig, _: &mut Dispatching| {
        (host.remap_threshold, host.remap_size, host.remap_entries) = (100, 100, 7);
    };
    let rig = Rig { log: 256, tune_host, cache_bytes: 18 * 64, depth: 16, ..large() };
    let rig = Rig { shape, low_water: 5, ..rig }.spare(400);
    let (nand, log) = rig.medium();
    let data = Shadow::new(shape.logical_pages);
    let mut drive = rig.behind_shrd(nand, data, true);
    log.take();
    let mix = Mix { pages_max: 2, ..WRITES };
    let mut workload = Workload::new(6, mix, shape.logical_pages, 64);
    let (mut windows, mut loads) = (0, BTreeMap::new());
    for _ in 0..300 {
        drive.run(&workload.batch(8), &mut vec![]);
        let now = drive.counters().layer.unwrap().shrd.windows;
        assert!(now <= windows + 1, "one window at a time");
        for event in log.take().iter().filter(|event| event.cause == Cause::Remap) {
            if let Kind::Read(_, Owner::Translation(tpn)) = event.kind {
                // The map pages of the log itself may leave the cache and return.
                if tpn.get() < shape.logical_pages / 16 {
                    *loads.entry((now, tpn)).or_insert(0) += 1;
                }
            }
        }
        windows = now;
    }
    assert!(windows > 10 && loads.len() > 500, "{windows} windows, {} loads", loads.len());
    assert!(loads.values().all(|&count| count == 1), "a map page was loaded twice in a window");
}

/// Shape of the SHRD prototype: 4 channels, 2 banks, 4 planes of 8 KiB pages, modelled as 8 planes
/// of 4 KiB pages.
const PROTOTYPE: Shape = Shape {
    page_bytes: 4096,
    pages_per_block: 128,
    superblock: 64,
    units: 1,
    channels: 4,
    dies: 2,
    planes: 8,
    logical_pages: 1 << 18,
    entry_bytes: 4,
    program_unit: None,
};

/// Returns page writes per second of a 1 GiB drive with 32 map pages of 32 KiB. The cache has room
/// for `cached` of them.
fn throughput(log: u32, cached: u64) -> f64 {
    let timing = Timing {
        read_ns: 60_000,
        program_ns: 1_300_000,
        erase_ns: 3_000_000,
        transfer_ns: 10_000,
        command_ns: 0,
    };
    let tune_host = |host: &mut ShrdConfig, when: &mut Dispatching| {
        authors(host, when);
        (host.remap_threshold, host.remap_size) = (3 * host.slots / 4, host.slots / 2);
    };
    let page_cache = MapPages { pages_per_map_page: 8, load_for_cleaning: true };
    let rig = Rig { shape: PROTOTYPE, log, tune_host, page_cache, low_water: 6, ..large() };
    let rig = Rig { cache_bytes: cached * 32 * 1024, ..rig }.spare(130);
    let nand = Timed::new(Counted::default(), rig.geometry(), timing);
    let mut drive: Box<dyn Device> = match log {
        0 => Box::new(plain(&rig, nand)),
        _ => Box::new(rig.behind_shrd(nand, (), false)),
    };
    drive.run(&uniform(2, &PROTOTYPE, 30_000), &mut vec![]);
    drive.reset_counters();
    let mut done = vec![];
    drive.run(&uniform(3, &PROTOTYPE, 100_000), &mut done);
    let end = done.iter().map(|completion| completion.done_ns).max().unwrap();
    done.len() as f64 / (end as f64 / 1e9)
}

/// A window has 256 times as many slots as there are map pages; a smaller window gains less.
#[test]
fn shrd_hardly_needs_a_map_cache() {
    let (small, whole) = (4, 256);
    let [shrd_small, shrd_whole] = [small, whole].map(|cached| throughput(16_384, cached));
    let [plain_small, plain_whole] = [small, whole].map(|cached| throughput(0, cached));
    let text = format!("{shrd_small:.0} {shrd_whole:.0} {plain_small:.0} {plain_whole:.0}");
    assert!(shrd_small > 0.8 * shrd_whole, "{text}");
    assert!(plain_small < 0.2 * plain_whole, "{text}");
    assert!(shrd_small > 5.0 * plain_small, "{text}");
}
