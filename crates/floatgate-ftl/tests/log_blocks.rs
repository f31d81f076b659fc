//! Drives with log blocks: the worked examples, and random requests compared with a shadow, with
//! every set of options on every geometry.

use crate::common::laws::Laws;
use crate::common::log_rig::LogRig;
use crate::common::workload::{ANYTHING, Mix, Workload};
use crate::common::{GEOMETRIES, Rig, SERIAL, TIMING};
use floatgate_ftl::device::{Counters, Device};
use floatgate_ftl::ftl::MergeCounts;
use floatgate_ftl::geometry::Shape;
use floatgate_ftl::log_block::{
    BastConfig, FastConfig, LOG_BLOCKS, MergeWhenFull, OutOfOrder, logs_min,
};
use floatgate_ftl::nand::{Cause, Component};
use floatgate_ftl::parameters::names;
use floatgate_ftl::queue::Arrivals;
use floatgate_ftl::request::Op;
use floatgate_ftl::unit_table::FreeOrder;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Blocks of 4 pages, 8 logical blocks.
const FOURS: Shape = Shape { pages_per_block: 4, logical_pages: 32, ..SERIAL };

/// Work of some writes: merges, pages copied, units erased.
#[derive(PartialEq, Eq, Debug, Default)]
struct Work {
    merges: MergeCounts,
    copies: u64,
    erases: u64,
}

struct Drive(Box<dyn Device>);

impl Drive {
    /// Returns a drive on which every page is written once, in order.
    fn full(rig: LogRig) -> Self {
        let mut drive = Self(rig.build().0);
        drive.write(&(0..rig.shape.logical_pages).collect::<Vec<_>>());
        drive
    }

    /// Writes single pages and returns the work. Resets the counters first.
    fn write(&mut self, lpns: &[u32]) -> Work {
        self.0.reset_counters();
        for &lpn in lpns {
            self.0.run(&[Workload::pages(Op::Write, u64::from(lpn), 1, 64)], &mut vec![]);
            self.0.check();
        }
        let Counters { flash, merges, .. } = self.0.counters();
        let merge = Cause::Merge as usize;
        assert_eq!(flash.reads[merge], flash.programs[merge], "a copy is a read and a program");
        assert_eq!(flash.erases.iter().sum::<u64>(), flash.erases[merge], "only merges erase");
        Work { merges, copies: flash.programs[merge], erases: flash.erases[merge] }
    }
}

fn switches(switch: u64) -> MergeCounts {
    MergeCounts { switch, ..MergeCounts::default() }
}

fn full(full: u64) -> MergeCounts {
    MergeCounts { full, ..MergeCounts::default() }
}

const PARTIAL: MergeCounts = MergeCounts { partial: 1, ..NONE };
const NONE: MergeCounts = MergeCounts {
    switch: 0,
    partial: 0,
    full: 0,
    shared_logs: 0,
    shared_merges: 0,
    shared_most: 0,
    dropped_logs: 0,
};

#[test]
fn the_merges_of_bast_are_those_of_the_text() {
    let mut drive = Drive(LogRig::new(FOURS, "bast", 1).build().0);
    // There is no data block yet, so none is erased.
    assert_eq!(drive.write(&[0, 1, 2, 3]), Work { merges: switches(1), copies: 0, erases: 0 });
    assert_eq!(drive.write(&[0, 1, 2, 3]), Work { merges: switches(1), copies: 0, erases: 1 });
    assert_eq!(drive.write(&[1, 0, 2, 3]), Work { merges: full(1), copies: 4, erases: 2 });
    assert_eq!(drive.write(&[0, 0, 1, 2]), Work { merges: full(1), copies: 4, erases: 2 });
    // The write to another block forces the merge.
    assert_eq!(drive.write(&[0, 1, 4]), Work { merges: PARTIAL, copies: 2, erases: 1 });
    // If a block has no data block, the merge copies only the pages that exist.
    assert_eq!(drive.write(&[6, 8]), Work { merges: full(1), copies: 2, erases: 1 });
    assert_eq!(drive.write(&[0]), Work { merges: PARTIAL, copies: 0, erases: 0 });
}

#[test]
fn a_lazy_log_is_merged_before_the_next_write() {
    let bast = BastConfig { merge_when_full: MergeWhenFull::Lazy, ..BastConfig::default() };
    let mut drive = Drive(LogRig { bast, ..LogRig::new(FOURS, "bast", 2) }.build().0);
    assert_eq!(drive.write(&[0, 1, 2, 3]), Work::default());
    assert_eq!(drive.write(&[3]), Work { merges: switches(1), copies: 0, erases: 0 });
}

#[test]
fn without_partial_merges_a_log_in_order_is_merged_in_full() {
    let bast = BastConfig { partial_merge: false, ..BastConfig::default() };
    let mut drive = Drive::full(LogRig { bast, ..LogRig::new(FOURS, "bast", 1) });
    assert_eq!(drive.write(&[0, 1, 4]), Work { merges: full(1), copies: 4, erases: 2 });
    let fast = FastConfig { partial_merge: false, ..FastConfig::default() };
    let mut drive = Drive::full(LogRig { fast, ..LogRig::new(FOURS, "fast", 2) });
    drive.write(&[0]);
    assert_eq!(drive.write(&[4]), Work { merges: full(1), copies: 4, erases: 2 });
}

#[test]
fn the_merges_of_fast_are_those_of_the_text() {
    let mut drive = Drive::full(LogRig::new(FOURS, "fast", 2));
    // The last block of the fill is still in the sequential log.
    assert_eq!(drive.write(&[0, 1]), Work { merges: switches(1), copies: 0, erases: 0 });
    assert_eq!(drive.write(&[4]), Work { merges: PARTIAL, copies: 2, erases: 1 });
    // Four blocks share the random log.
    assert_eq!(drive.write(&[9, 13, 17, 21]), Work::default());
    let shared = MergeCounts { shared_logs: 1, shared_merges: 4, shared_most: 4, ..full(4) };
    assert_eq!(drive.write(&[10]), Work { merges: shared, copies: 16, erases: 5 });
    // Writes to the block of the sequential log, out of order.
    assert_eq!(drive.write(&[6]), Work { merges: PARTIAL, copies: 3, erases: 1 });
    assert_eq!(drive.write(&[7]), Work::default());
    assert_eq!(drive.write(&[5]), Work { merges: full(1), copies: 4, erases: 2 });
}

#[test]
fn a_log_that_nothing_is_wanted_of_is_erased() {
    let mut drive = Drive::full(LogRig::new(FOURS, "fast", 3));
    drive.write(&[5, 5, 5, 5, 5, 6, 6, 6]);
    let dropped = MergeCounts { dropped_logs: 1, ..NONE };
    assert_eq!(drive.write(&[5]), Work { merges: dropped, copies: 0, erases: 1 });
    let mut drive = Drive::full(LogRig::new(FOURS, "bast", 1));
    drive.write(&[0, 1]);
    drive.0.run(&[Workload::pages(Op::Trim, 0, 4, 64)], &mut vec![]);
    assert_eq!(drive.write(&[4]), Work { merges: dropped, copies: 0, erases: 1 });
}

#[test]
fn a_full_merge_takes_the_sequential_log_along() {
    let fast = FastConfig { out_of_order: OutOfOrder::Random, ..FastConfig::default() };
    let mut drive = Drive::full(LogRig { fast, ..LogRig::new(FOURS, "fast", 2) });
    // The sequential log begins with page 0; the random log is full.
    drive.write(&[0, 3, 5, 6, 7]);
    let shared = MergeCounts { shared_logs: 1, shared_merges: 2, shared_most: 2, ..full(2) };
    // Two data blocks, the random log and the sequential log are erased.
    assert_eq!(drive.write(&[9]), Work { merges: shared, copies: 8, erases: 4 });
    assert_eq!(drive.write(&[1]), Work::default(), "page 1 goes to the random log now");
}

#[test]
fn a_write_waits_for_the_merge_that_it_needs() {
    let rig = LogRig { depth: 1, ..LogRig::new(FOURS, "bast", 1) };
    let mut drive = rig.timed(TIMING);
    let mut done = vec![];
    for lpn in [0, 1, 2, 3, 1, 0, 4] {
        drive.run(&[Workload::pages(Op::Write, lpn, 1, 64)], &mut done);
    }
    let last = done.last().unwrap();
    let (copy, erase, program) = (25 + 10 + 1 + 200 + 10 + 1, 1501, 211);
    assert_eq!(last.done_ns - last.arrival_ns, 4 * copy + 2 * erase + program);
    let blame = last.blame.0;
    assert_eq!(blame[Component::Merge as usize], 4 * copy + 2 * erase);
    assert_eq!(blame[Component::Gc as usize], 0);
}

/// Runs random requests. The drive checks itself after every `check_every` requests.
fn run(rig: &LogRig, seed: u64, mix: Mix, requests: usize, check_every: usize) -> Counters {
    let (mut drive, log) = rig.build();
    let mut laws = Laws::with(rig.geometry(), log, false);
    let (pages, page_bytes) = (rig.shape.logical_pages, rig.shape.page_bytes);
    let mut workload = Workload::new(seed, mix, pages, page_bytes);
    let mut done = vec![];
    for number in 0..requests {
        drive.run(&[workload.next()], &mut done);
        laws.account();
        laws.hold_completion(&done[number]);
        if number % check_every == 0 {
            drive.check();
            laws.hold(&*drive);
        }
    }
    let all = Workload::pages(Op::Read, 0, u64::from(pages), u64::from(page_bytes));
    drive.run(&[all], &mut done);
    drive.check();
    laws.account();
    laws.hold(&*drive)
}

fn rigs(logs: u32) -> Vec<LogRig> {
    let shapes =
        GEOMETRIES.iter().flat_map(|&(_, shape)| names(LOG_BLOCKS).map(move |name| (shape, name)));
    let least = |name: &str| logs.max(logs_min(name).unwrap());
    shapes.flat_map(|(shape, name)| LogRig::new(shape, name, least(name)).options()).collect()
}

#[test]
fn every_option_reads_the_written_data() {
    for logs in [1, 3, 7, 40] {
        for (seed, rig) in rigs(logs).iter().enumerate() {
            let counters = run(rig, seed as u64, ANYTHING, 1200, 16);
            let merges = counters.merges;
            let partial = match rig.scheme {
                "bast" => rig.bast.partial_merge,
                _ => rig.fast.partial_merge,
            };
            assert!(merges.full > if logs > 20 { 0 } else { 10 }, "{merges:?} {rig:?}");
            assert!(!partial || logs > 20 || merges.partial > 10, "{merges:?} {rig:?}");
            assert!(partial || merges.partial == 0, "{merges:?} {rig:?}");
            assert!(rig.scheme == "bast" || merges.shared_merges > 0, "{merges:?} {rig:?}");
            let host = counters.host;
            assert!(host.trimmed_pages > 0 && host.partial_page_reads > 0 && host.empty_reads > 0);
        }
    }
}

#[test]
fn every_option_is_consistent_after_every_request() {
    for logs in [1, 4] {
        for (seed, rig) in rigs(logs).iter().enumerate() {
            let mix = Mix { pages_max: 20, ..ANYTHING };
            run(rig, 100 + seed as u64, mix, 250, 1);
        }
    }
}

#[test]
fn every_scheme_holds_the_content_of_a_page_mapped_drive() {
    for (seed, rig) in rigs(3).iter().enumerate() {
        let requests =
            |pages| Workload::new(seed as u64, ANYTHING, pages, rig.shape.page_bytes).batch(1500);
        let (mut ours, _) = rig.build();
        let page_mapped = Rig::new(Shape { units: 99, ..rig.shape }, "ideal", "greedy");
        let (mut other, _) = page_mapped.build();
        let requests = requests(rig.shape.logical_pages);
        ours.run(&requests, &mut vec![]);
        other.run(&requests, &mut vec![]);
        assert_eq!(ours.counters().host, other.counters().host, "{rig:?}");
        assert!(ours.counters().host.trimmed_pages > 0);
    }
}

#[test]
fn the_least_worn_free_unit_is_opened_next() {
    let spread = |free_order| {
        let mut rig = LogRig { free_order, ..LogRig::new(FOURS, "bast", 2) };
        rig.shape.units += 12;
        let mut drive = rig.counted();
        for round in 0..400 {
            for lpn in [0, 2, 5, 4, 1] {
                let lpn = lpn + 4 * (round % 2);
                drive.run(&[Workload::pages(Op::Write, lpn, 1, 64)], &mut vec![]);
            }
        }
        let wear = || drive.units().wear();
        wear().max().unwrap() - wear().min().unwrap()
    };
    assert!(spread(FreeOrder::LeastWorn) <= 2, "{}", spread(FreeOrder::LeastWorn));
}

fn any_rig() -> impl Strategy<Value = LogRig> {
    let sizes = (0..GEOMETRIES.len(), 2u32..10, 20u32..300, 0u32..9, 0u32..4);
    let queue = (1usize..9, any::<bool>(), any::<bool>());
    let options = (0..LOG_BLOCKS.len(), 0usize..12, any::<u64>());
    (sizes, queue, options).prop_map(|(sizes, queue, options)| {
        let (shape, pages_per_block, logical_pages, logs, more_units) = sizes;
        let (name, option, seed) = options;
        let shape = Shape { pages_per_block, logical_pages, ..GEOMETRIES[shape].1 };
        let name = LOG_BLOCKS[name].name;
        let rig = LogRig::new(shape, name, logs + logs_min(name).unwrap());
        let rigs = rig.options();
        let mut rig = LogRig { seed, ..rigs[option % rigs.len()] };
        rig.shape.units += more_units;
        let (depth, open, worn) = queue;
        rig.depth = depth;
        rig.arrivals = if open { Arrivals::Open } else { Arrivals::Closed };
        rig.free_order = if worn { FreeOrder::LeastWorn } else { FreeOrder::First };
        rig
    })
}

/// Runs the same cases every time, unless `PROPTEST_RNG_SEED` or `PROPTEST_CASES` is set.
fn property() -> ProptestConfig {
    let mut config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = 128;
    }
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        config.rng_seed = RngSeed::Fixed(2002);
    }
    config
}

proptest! {
    #![proptest_config(property())]

    #[test]
    fn any_small_drive_reads_the_written_data(rig in any_rig(), seed: u64, pages_max in 1u64..30) {
        run(&rig, seed, Mix { pages_max, ..ANYTHING }, 400, 8);
    }
}
