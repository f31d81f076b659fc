//! Cleaning by each victim policy: uniform random writes of single pages, on a medium that only
//! counts.
//!
//! `cargo bench --bench victims` prints page programs per second on a small drive and on one of
//! sixteen times as many units, and how much longer a program takes there. A clean costs what its
//! pages cost, whatever the drive's size, so that this is a matter of the processor's caches: held
//! against greedy cleaning, whose lists are there anyway.

use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput};
use floatgate_ftl::blocks::FreeOrder;
use floatgate_ftl::device::{Device, Ssd};
use floatgate_ftl::geometry::{Geometry, Shape};
use floatgate_ftl::mapping::{Ideal, MapConfig};
use floatgate_ftl::nand::Counted;
use floatgate_ftl::page_ftl::{Cleaning, PageConfig, PageFtl};
use floatgate_ftl::placement::{AnyPlacement, PlacementConfig};
use floatgate_ftl::queue::{Arrivals, Queue};
use floatgate_ftl::request::{Completion, Op, Request};
use floatgate_ftl::rng::Rng;
use floatgate_ftl::victim::{VICTIMS, VictimConfig, victim};

const BATCH: usize = 1024;
const PAGE: u64 = 4096;
const PAGES_PER_BLOCK: u32 = 64;
const SIZES: [u32; 2] = [2048, 16 * 2048];
/// By how much the time of a program may grow.
const RATIO_MAX: f64 = 1.5;

fn geometry(units: u32) -> Geometry {
    Geometry::new(Shape {
        page_bytes: PAGE as u32,
        pages_per_block: PAGES_PER_BLOCK,
        superblock: 1,
        units,
        channels: 1,
        dies: 1,
        planes: 1,
        logical_pages: units / 10 * 9 * PAGES_PER_BLOCK,
        entry_bytes: 4,
    })
    .expect("the shape is a drive")
}

fn drive(policy: &str, geometry: Geometry) -> Box<dyn Device> {
    let placement = AnyPlacement::new("single", &PlacementConfig::new(geometry)).expect("a row");
    let config = PageConfig {
        geometry,
        placement,
        victim: victim(policy, &VictimConfig::new(geometry.units(), 2)).expect("a row"),
        cleaning: Cleaning::new(4),
        free_order: FreeOrder::First,
        verify: false,
        journal: None,
    };
    let Ok(ftl) =
        PageFtl::new(Counted::default(), Ideal::new(&MapConfig::new(geometry, 0)), config);
    Box::new(Ssd::new(ftl, (), Queue::new(32, Arrivals::Closed), &geometry))
}

/// A drive in its steady state.
struct Bench {
    device: Box<dyn Device>,
    pages: u64,
    rng: Rng,
    batch: Vec<Request>,
    done: Vec<Completion>,
}

impl Bench {
    fn new(policy: &str, units: u32) -> Self {
        let geometry = geometry(units);
        let (device, pages) = (drive(policy, geometry), u64::from(geometry.logical_pages()));
        let mut bench = Self { device, pages, rng: Rng::new(1), batch: vec![], done: vec![] };
        for first in (0..pages).step_by(BATCH) {
            bench.run(first..pages.min(first + BATCH as u64));
        }
        for _ in 0..2 * pages / BATCH as u64 {
            bench.random();
        }
        bench
    }

    fn run(&mut self, pages: impl IntoIterator<Item = u64>) -> Duration {
        let request = |page| Request { at_ns: 0, op: Op::Write, offset: page * PAGE, length: PAGE };
        self.batch.clear();
        self.batch.extend(pages.into_iter().map(request));
        self.done.clear();
        let start = Instant::now();
        self.device.run(&self.batch, &mut self.done);
        start.elapsed()
    }

    fn random(&mut self) -> Duration {
        let pages: [u64; BATCH] = std::array::from_fn(|_| self.rng.below(self.pages));
        self.run(pages)
    }

    fn programs(&self) -> u64 {
        self.device.counters().flash.programs.iter().sum()
    }
}

/// Nanoseconds per page program, if the filter on the command line lets it be measured: the tenth
/// percentile of all batches, which other processes disturb less than a mean.
fn measure(criterion: &mut Criterion, policy: &str, units: u32) -> Option<f64> {
    let (mut bench, mut each): (Option<Bench>, Vec<f64>) = (None, vec![]);
    let mut group = criterion.benchmark_group("victims");
    group.throughput(Throughput::Elements(BATCH as u64)).sample_size(10);
    group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    group.bench_function(BenchmarkId::new(policy, units), |bencher| {
        let bench = bench.get_or_insert_with(|| Bench::new(policy, units));
        bencher.iter_custom(|batches| {
            let mut batch = || {
                let programs = bench.programs();
                let elapsed = bench.random();
                let programs = (bench.programs() - programs).max(1);
                each.push(elapsed.as_secs_f64() * 1e9 / programs as f64);
                elapsed
            };
            (0..batches).map(|_| batch()).sum::<Duration>()
        });
    });
    group.finish();
    each.sort_unstable_by(f64::total_cmp);
    each.get(each.len() / 10).copied()
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let measured: Vec<_> = VICTIMS
        .iter()
        .map(|&(policy, ..)| (policy, SIZES.map(|units| measure(&mut criterion, policy, units))))
        .collect();
    let growth = |row: &[Option<f64>; 2]| Some(row[1]? / row[0]?);
    let greedy = measured.iter().find(|row| row.0 == "greedy").and_then(|row| growth(&row.1));
    let (small, large) = (format!("{} units", SIZES[0]), format!("{} units", SIZES[1]));
    println!("{:20}{small:>16}{large:>16}{:>10}{:>16}", "M programs/s", "slower", "than greedy");
    for (policy, row) in &measured {
        let ([Some(small), Some(large)], Some(growth)) = (*row, growth(row)) else { continue };
        let relative = greedy.map_or(f64::NAN, |greedy| growth / greedy);
        let verdict = if growth > RATIO_MAX { "  more than its pages" } else { "" };
        let speeds = format!("{:16.2}{:16.2}", 1e3 / small, 1e3 / large);
        println!("{policy:20}{speeds}{growth:10.2}{relative:16.2}{verdict}");
    }
    criterion.final_summary();
}
