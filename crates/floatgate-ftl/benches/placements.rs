//! Placement alone: the cost of host page writes in each placement of the table.
//!
//! `cargo bench --bench placements` prints page writes per second, in commands of one page and of
//! eight, uniformly random over 4 Mi pages.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput};
use floatgate_ftl::addr::Lpn;
use floatgate_ftl::geometry::{Geometry, Shape};
use floatgate_ftl::parameters::names;
use floatgate_ftl::placement::{
    AnyPlacement, HostWrite, PLACEMENTS, PlacementConfig, PlacementEvent,
};
use floatgate_ftl::rng::Rng;

const PAGES: u32 = 4 << 20;
const BATCH: usize = 8192;

fn config() -> PlacementConfig {
    let geometry = Geometry::new(Shape {
        page_bytes: 4096,
        pages_per_block: 256,
        superblock: 1,
        units: PAGES / 256 * 10 / 9,
        channels: 1,
        dies: 1,
        planes: 1,
        logical_pages: PAGES,
        entry_bytes: 4,
        program_unit: None,
    });
    PlacementConfig::new(geometry.expect("the shape is a drive"))
}

/// A placement, and commands of `command_pages` pages each.
struct Bench {
    placement: AnyPlacement,
    command_pages: u32,
    rng: Rng,
    clock: u64,
    firsts: Vec<u32>,
}

impl Bench {
    /// Creates a placement and writes until its memory is full.
    fn new(name: &str, command_pages: u32) -> Self {
        let placement = AnyPlacement::new(name, &config()).expect("a row of the table");
        let mut bench =
            Self { placement, command_pages, rng: Rng::new(1), clock: 0, firsts: vec![] };
        for _ in 0..64 {
            bench.batch();
        }
        bench
    }

    /// Places a batch of pages. Returns the time for placing.
    fn batch(&mut self) -> Duration {
        let (pages, last) = (self.command_pages, u64::from(PAGES - self.command_pages + 1));
        self.firsts.clear();
        self.firsts.extend((0..BATCH as u32 / pages).map(|_| self.rng.below(last) as u32));
        let (start, mut sum) = (Instant::now(), 0);
        for &first in &self.firsts {
            self.placement.observe(PlacementEvent::Command { first: Lpn::new(first), pages });
            for lpn in first..first + pages {
                let (clock, now_ns) = (self.clock, self.clock * 1000);
                let write = HostWrite { lpn: Lpn::new(lpn), request_pages: pages, clock, now_ns };
                sum += u64::from(self.placement.stream(write));
                self.clock += 1;
            }
        }
        black_box(sum);
        start.elapsed()
    }
}

/// Measures one placement, if it matches the filter on the command line. Returns millions of page
/// writes per second.
fn measure(criterion: &mut Criterion, name: &str, command_pages: u32) -> Option<f64> {
    let mut bench: Option<Bench> = None;
    let (mut seconds, mut pages) = (0.0, 0);
    let mut group = criterion.benchmark_group("placements");
    group.throughput(Throughput::Elements(BATCH as u64)).sample_size(10);
    group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    group.bench_function(BenchmarkId::new(name, command_pages), |bencher| {
        let bench = bench.get_or_insert_with(|| Bench::new(name, command_pages));
        bencher.iter_custom(|batches| {
            let elapsed = (0..batches).map(|_| bench.batch()).sum::<Duration>();
            seconds += elapsed.as_secs_f64();
            pages += batches * BATCH as u64;
            elapsed
        });
    });
    group.finish();
    if let Some(bench) = bench {
        bench.placement.policy().check();
    }
    (pages > 0).then(|| pages as f64 / seconds / 1e6)
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut rows = vec![];
    for name in names(PLACEMENTS) {
        if AnyPlacement::needs_future(name) {
            println!("{name} is left out: it needs the future writes");
            continue;
        }
        let placement = AnyPlacement::new(name, &config()).expect("a row of the table");
        let per_s = [1, 8].map(|pages| measure(&mut criterion, name, pages));
        rows.push((name, per_s, placement.policy().memory_bytes()));
    }
    println!("{:12}{:>24}{:>24}{:>12}", "placement", "M pages/s, singly", "by eight", "bytes");
    for (name, [one, eight], bytes) in rows {
        if let (Some(one), Some(eight)) = (one, eight) {
            println!("{name:12}{one:24.1}{eight:24.1}{bytes:12}");
        }
    }
    criterion.final_summary();
}
