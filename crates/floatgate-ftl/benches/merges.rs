//! Write path of drives with log blocks: single pages in batches of 1,024 on a timed medium, at
//! random places and in order.
//!
//! `cargo bench --bench merges` prints host page writes per second, page programs per second
//! (including merges) and programs per page written. A drive has 1 Mi pages in blocks of 64, and
//! one log block for every ten blocks.

use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput};
use floatgate_ftl::device::{Device, Ssd};
use floatgate_ftl::geometry::{Geometry, Shape};
use floatgate_ftl::log_block::*;
use floatgate_ftl::log_ftl::{LogFtl, LogFtlConfig, MERGE_RESERVE};
use floatgate_ftl::nand::{Counted, Timed, Timing};
use floatgate_ftl::parameters::names;
use floatgate_ftl::queue::{Arrivals, Queue};
use floatgate_ftl::request::{Completion, Op, Request};
use floatgate_ftl::rng::Rng;
use floatgate_ftl::unit_table::FreeOrder;

const BATCH: usize = 1024;
const PAGE: u64 = 4096;
const PAGES: u32 = 1 << 20;
const PAGES_PER_BLOCK: u32 = 64;
const BLOCKS: u32 = PAGES / PAGES_PER_BLOCK;
const LOGS: u32 = BLOCKS / 10;
const TIMING: Timing = Timing {
    read_ns: 25_000,
    program_ns: 200_000,
    erase_ns: 1_500_000,
    transfer_ns: 10_000,
    command_ns: 200,
};

fn drive(name: &str) -> Box<dyn Device> {
    let geometry = Geometry::new(Shape {
        page_bytes: PAGE as u32,
        pages_per_block: PAGES_PER_BLOCK,
        superblock: 1,
        units: BLOCKS + LOGS + MERGE_RESERVE,
        channels: 4,
        dies: 2,
        planes: 1,
        logical_pages: PAGES,
        entry_bytes: 4,
        program_unit: None,
    })
    .expect("the shape is a drive");
    let (bast, fast) = (BastConfig::default(), FastConfig::default());
    let config = LogConfig { geometry, logs: LOGS, seed: 1, bast, fast };
    let nand = Timed::new(Counted::default(), geometry, TIMING);
    let scheme = scheme(name, &config).expect("a row");
    let free_order = FreeOrder::LeastWorn;
    let config = LogFtlConfig { geometry, logs: LOGS, free_order, journal: None };
    let Ok(ftl) = LogFtl::new(nand, scheme, config);
    Box::new(Ssd::new(ftl, (), Queue::new(32, Arrivals::Closed), &geometry))
}

/// A drive under load.
struct Bench {
    device: Box<dyn Device>,
    rng: Option<Rng>,
    next: u64,
    batch: Vec<Request>,
    done: Vec<Completion>,
}

impl Bench {
    /// Fills the drive, and continues to write until all log blocks are in use.
    fn new(scheme: &str, random: bool) -> Self {
        let (batch, done) = (vec![], vec![]);
        let mut bench = Self { device: drive(scheme), rng: None, next: 0, batch, done };
        (0..u64::from(PAGES) / BATCH as u64).for_each(|_| _ = bench.run());
        bench.rng = random.then(|| Rng::new(1));
        (0..u64::from(PAGES) / 4 / BATCH as u64).for_each(|_| _ = bench.run());
        bench.device.reset_counters();
        bench
    }

    /// Serves a batch. Returns the time for serving.
    fn run(&mut self) -> Duration {
        self.batch.clear();
        for _ in 0..BATCH {
            let page = match &mut self.rng {
                Some(rng) => rng.below(PAGES.into()),
                None => self.next % u64::from(PAGES),
            };
            self.next += 1;
            let (at_ns, op, offset, length) = (0, Op::Write, page * PAGE, PAGE);
            self.batch.push(Request { at_ns, op, offset, length, stream: 0 });
        }
        self.done.clear();
        let start = Instant::now();
        self.device.run(&self.batch, &mut self.done);
        start.elapsed()
    }

    fn programs(&self) -> u64 {
        self.device.counters().flash.programs.iter().sum()
    }
}

/// Measures one drive, if it matches the filter on the command line. Returns seconds, page writes
/// and page programs.
fn measure(criterion: &mut Criterion, scheme: &str, load: &str) -> (f64, u64, u64) {
    let mut bench: Option<Bench> = None;
    let (mut seconds, mut writes, mut programs) = (0.0, 0, 0);
    let mut group = criterion.benchmark_group("merges");
    group.throughput(Throughput::Elements(BATCH as u64)).sample_size(10);
    group.bench_function(BenchmarkId::new(scheme, load), |bencher| {
        let bench = bench.get_or_insert_with(|| Bench::new(scheme, load == "random"));
        bencher.iter_custom(|batches| {
            let before = bench.programs();
            let elapsed = (0..batches).map(|_| bench.run()).sum::<Duration>();
            seconds += elapsed.as_secs_f64();
            writes += batches * BATCH as u64;
            programs += bench.programs() - before;
            elapsed
        });
    });
    group.finish();
    if let Some(bench) = bench {
        bench.device.check();
    }
    (seconds, writes, programs)
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut rows = vec![];
    for scheme in names(LOG_BLOCKS) {
        for load in ["random", "sequential"] {
            rows.push((format!("{scheme}/{load}"), measure(&mut criterion, scheme, load)));
        }
    }
    println!("{:20}{:>20}{:>16}{:>8}", "drive", "M page writes/s", "M programs/s", "WA");
    for (name, (seconds, writes, programs)) in rows.iter().filter(|(_, row)| row.1 > 0) {
        let per_second = |count: u64| count as f64 / seconds / 1e6;
        let (written, programmed) = (per_second(*writes), per_second(*programs));
        let amplification = *programs as f64 / *writes as f64;
        println!("{name:20}{written:20.3}{programmed:16.2}{amplification:8.2}");
    }
    criterion.final_summary();
}
