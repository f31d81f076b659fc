//! Mapping caches alone: page accesses on 4 Mi pages with a cache of 1 % of the map, without flash.
//!
//! `cargo bench --bench map_access` prints page accesses per second. Requests have one page or
//! eight, at random places. Half of them write, and each page written is assigned.

use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput};
use floatgate_ftl::addr::{Lpn, Ppn};
use floatgate_ftl::geometry::{Geometry, Shape};
use floatgate_ftl::mapping::*;
use floatgate_ftl::rng::Rng;

const LOGICAL_PAGES: u32 = 4 << 20;
const CACHE_BYTES: u64 = LOGICAL_PAGES as u64 / 100 * 8;
/// Page accesses per measurement.
const BATCH: u32 = 4096;
/// Accesses before the first measurement: every entry of the cache is replaced many times.
const WARM_UP: u32 = LOGICAL_PAGES;

fn geometry() -> Geometry {
    Geometry::new(Shape {
        page_bytes: 4096,
        pages_per_block: 256,
        superblock: 1,
        units: LOGICAL_PAGES / 256 * 10 / 9,
        channels: 4,
        dies: 2,
        planes: 1,
        logical_pages: LOGICAL_PAGES,
        entry_bytes: 4,
        program_unit: None,
    })
    .expect("the shape is a drive")
}

/// A mapping under load.
struct Bench<M> {
    mapping: M,
    /// Pages of a request.
    pages: u32,
    rng: Rng,
    batch: Vec<Access>,
    io: Vec<MapOp>,
}

impl<M: Mapping> Bench<M> {
    /// Creates a mapping and accesses pages until its cache is full.
    fn new(mapping: M, pages: u32) -> Self {
        let mut bench = Self { mapping, pages, rng: Rng::new(1), batch: vec![], io: vec![] };
        for _ in 0..WARM_UP / BATCH {
            bench.run();
        }
        bench.mapping.reset_counters();
        bench
    }

    /// Creates a batch of requests and serves it. Returns the time for serving.
    fn run(&mut self) -> Duration {
        self.batch.clear();
        for _ in 0..BATCH / self.pages {
            let first = self.rng.below(u64::from(LOGICAL_PAGES / self.pages)) as u32 * self.pages;
            let kind = if self.rng.below(2) == 0 { AccessKind::Read } else { AccessKind::Write };
            self.batch.extend((0..self.pages).map(|number| Access {
                lpn: Lpn::new(first + number),
                kind,
                remaining: self.pages - number,
                first: number == 0,
                mapped: true,
            }));
        }
        let start = Instant::now();
        for access in &self.batch {
            self.io.clear();
            self.mapping.access(*access, &mut self.io);
            if access.kind == AccessKind::Write {
                self.mapping.assigned(access.lpn, Ppn::new(access.lpn.get()), &mut self.io);
            }
        }
        start.elapsed()
    }
}

/// Measures one mapping, if it matches the filter on the command line. Returns a line of output.
fn measure<M: Mapping>(
    criterion: &mut Criterion,
    name: &str,
    new: impl Fn(&MapConfig) -> M,
    pages: u32,
) -> Option<String> {
    let id = format!("{name}/{pages}");
    let (mut accesses, mut elapsed) = (0, Duration::ZERO);
    let mut bench: Option<Bench<M>> = None;
    let mut group = criterion.benchmark_group("map_access");
    group.throughput(Throughput::Elements(u64::from(BATCH))).sample_size(10);
    group.warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(2));
    group.bench_function(BenchmarkId::from_parameter(&id), |bencher| {
        let bench = bench.get_or_insert_with(|| {
            let config = MapConfig::new(geometry(), CACHE_BYTES);
            Bench::new(new(&config), pages)
        });
        bencher.iter_custom(|batches| {
            let time = (0..batches).map(|_| bench.run()).sum::<Duration>();
            accesses += batches * u64::from(BATCH);
            elapsed += time;
            time
        });
    });
    group.finish();
    let mapping = bench?.mapping;
    mapping.check();
    let MapStats { hits, misses, .. } = mapping.counters().map;
    let hit_ratio = hits as f64 / (hits + misses) as f64;
    let per_s = accesses as f64 / elapsed.as_secs_f64() / 1e6;
    Some(format!("{name:12}{pages:>16}{per_s:>20.2}{hit_ratio:>12.3}"))
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut lines = vec![];
    for pages in [1, 8] {
        lines.push(measure(&mut criterion, "dftl", Dftl::new, pages));
        lines.push(measure(&mut criterion, "tlllp", Tlllp::new, pages));
        lines.push(measure(&mut criterion, "tpftl", Tpftl::new, pages));
    }
    println!(
        "{:12}{:>16}{:>20}{:>12}",
        "mapping", "pages/request", "M page accesses/s", "hit ratio"
    );
    lines.iter().flatten().for_each(|line| println!("{line}"));
    criterion.final_summary();
}
