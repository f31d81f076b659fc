//! Cleaning by each victim policy: uniform random one-page writes, on a medium that only counts.
//!
//! `cargo bench --bench victims` prints page programs per second on a small drive and on a drive
//! with sixteen times the units, and the growth of the time per program. A clean costs as much as
//! its pages cost, whatever the size of the drive. The remaining growth comes from the processor's
//! caches: neither the map nor the units of the large drive fit. So the benchmark compares the
//! growth with greedy cleaning, whose lists exist in any case.

use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput};
use floatgate_ftl::device::{Device, Ssd};
use floatgate_ftl::geometry::{Geometry, Shape};
use floatgate_ftl::mapping::{Ideal, MapConfig};
use floatgate_ftl::nand::Counted;
use floatgate_ftl::page_ftl::{Cleaning, PageConfig, PageFtl};
use floatgate_ftl::parameters::names;
use floatgate_ftl::placement::{AnyPlacement, PlacementConfig};
use floatgate_ftl::queue::{Arrivals, Queue};
use floatgate_ftl::request::{Completion, Op, Request};
use floatgate_ftl::rng::Rng;
use floatgate_ftl::unit_table::FreeOrder;
use floatgate_ftl::victim::{VICTIMS, VictimConfig, victim};

const BATCH: usize = 1024;
/// Batches of one drive before the other drive's turn: the processor's caches are warm for most of
/// them.
const TURN: usize = 64;
const PAGE: u64 = 4096;
const PAGES_PER_BLOCK: u32 = 64;
const SIZES: [u32; 2] = [2048, 16 * 2048];
/// Maximum growth of the time per program, relative to the growth of greedy.
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
        program_unit: None,
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
        pages_per_map_page: 1,
        journal: None,
        reclaim_units: Vec::new(),
        flush_after_ns: None,
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
        let request = |page| Request {
            at_ns: 0,
            op: Op::Write,
            offset: page * PAGE,
            length: PAGE,
            stream: 0,
        };
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

    /// Runs one turn, and records the time per program.
    fn turn(&mut self, each: &mut Vec<f64>) -> Duration {
        let before = self.programs();
        let elapsed = (0..TURN).map(|_| self.random()).sum::<Duration>();
        each.push(elapsed.as_secs_f64() * 1e9 / (self.programs() - before).max(1) as f64);
        elapsed
    }

    fn programs(&self) -> u64 {
        self.device.counters().flash.programs.iter().sum()
    }
}

/// Measures nanoseconds per page program on a drive of each size, if the policy matches the filter
/// on the command line. The two drives take turns, and the tenth percentile of all turns counts: a
/// shared machine is sometimes slower, for both.
fn measure(criterion: &mut Criterion, policy: &str) -> Option<[f64; 2]> {
    let mut benches: Option<[Bench; 2]> = None;
    let mut each = [vec![], vec![]];
    let mut group = criterion.benchmark_group("victims");
    group.throughput(Throughput::Elements((2 * TURN * BATCH) as u64)).sample_size(10);
    group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(4));
    group.bench_function(BenchmarkId::from_parameter(policy), |bencher| {
        let benches = benches.get_or_insert_with(|| SIZES.map(|units| Bench::new(policy, units)));
        bencher.iter_custom(|batches| {
            let turns = (0..batches).flat_map(|_| [0, 1]);
            turns.map(|at| benches[at].turn(&mut each[at])).sum::<Duration>()
        });
    });
    group.finish();
    each.iter_mut().for_each(|each| each.sort_unstable_by(f64::total_cmp));
    let [small, large] = each.map(|each| each.get(each.len() / 10).copied());
    Some([small?, large?])
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let measured: Vec<_> = names(VICTIMS)
        .filter_map(|policy| Some((policy, measure(&mut criterion, policy)?)))
        .collect();
    let growth = |[small, large]: [f64; 2]| large / small;
    let greedy = measured.iter().find(|row| row.0 == "greedy").map(|row| growth(row.1));
    let (small, large) = (format!("{} units", SIZES[0]), format!("{} units", SIZES[1]));
    println!("{:20}{small:>16}{large:>16}{:>10}{:>16}", "M programs/s", "slower", "than greedy");
    for (policy, row) in measured {
        let ([small, large], growth) = (row, growth(row));
        let relative = greedy.map_or(f64::NAN, |greedy| growth / greedy);
        let verdict = if relative > RATIO_MAX { "  more than its pages" } else { "" };
        let speeds = format!("{:16.2}{:16.2}", 1e3 / small, 1e3 / large);
        println!("{policy:20}{speeds}{growth:10.2}{relative:16.2}{verdict}");
    }
    criterion.final_summary();
}
