//! Write path: uniform random one-page writes, in batches of 1,024, on a timed medium.
//!
//! `cargo bench --bench write_path` prints page programs per second (including cleaning and the
//! map), host requests per second and bytes of memory per physical page. `FLOATGATE_BENCH_LARGE=1`
//! adds a drive of 64 Mi pages.

use std::alloc::{GlobalAlloc, Layout, System};
use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput};
use floatgate_ftl::device::{Device, Ssd};
use floatgate_ftl::geometry::{Geometry, Shape};
use floatgate_ftl::mapping::*;
use floatgate_ftl::nand::{Counted, Nand, Timed, Timing};
use floatgate_ftl::page_ftl::{Cleaning, PageConfig, PageFtl};
use floatgate_ftl::parameters::names;
use floatgate_ftl::placement::{AnyPlacement, PlacementConfig};
use floatgate_ftl::queue::{Arrivals, Queue};
use floatgate_ftl::request::{Completion, Op, Request};
use floatgate_ftl::rng::Rng;
use floatgate_ftl::unit_table::FreeOrder;
use floatgate_ftl::victim::{VictimConfig, victim};

const BATCH: usize = 1024;
const PAGE: u64 = 4096;
const PAGES_PER_BLOCK: u32 = 256;
const TIMING: Timing = Timing {
    read_ns: 25_000,
    program_ns: 200_000,
    erase_ns: 1_500_000,
    transfer_ns: 10_000,
    command_ns: 200,
};

/// Allocator that counts the bytes allocated at present.
struct Counting;

static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call passes to the system's allocator unchanged.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size(), Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size(), Ordering::Relaxed);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns a drive whose logical pages are 90 % of the space for data; the map comes on top.
fn geometry(logical_pages: u32) -> Geometry {
    let data = (u64::from(logical_pages) * 10 / 9).div_ceil(u64::from(PAGES_PER_BLOCK)) as u32;
    let map = logical_pages.div_ceil(1024).div_ceil(PAGES_PER_BLOCK);
    Geometry::new(Shape {
        page_bytes: PAGE as u32,
        pages_per_block: PAGES_PER_BLOCK,
        superblock: 1,
        units: data + 2 * map + 8,
        channels: 4,
        dies: 2,
        planes: 1,
        logical_pages,
        entry_bytes: 4,
        program_unit: None,
    })
    .expect("the shape is a drive")
}

fn drive<N>(mapping: &str, geometry: Geometry, nand: N) -> Box<dyn Device>
where
    N: Nand<Error = Infallible> + Send + 'static,
{
    let cache_bytes = u64::from(geometry.logical_pages()) / 100 * 8;
    let map = MapConfig::new(geometry, cache_bytes);
    let placement = AnyPlacement::new("single", &PlacementConfig::new(geometry)).expect("a row");
    let config = PageConfig {
        geometry,
        placement,
        victim: victim("greedy", &VictimConfig::new(geometry.units(), 2)).expect("a row"),
        cleaning: Cleaning::new(4),
        free_order: FreeOrder::First,
        verify: false,
        pages_per_map_page: 1,
        journal: None,
        reclaim_units: Vec::new(),
        flush_after_ns: None,
    };
    let mapping = Boxed::by_name(mapping, &map).expect("a row");
    let Ok(ftl) = PageFtl::new(nand, mapping, config);
    Box::new(Ssd::new(ftl, (), Queue::new(32, Arrivals::Closed), &geometry))
}

/// A drive under load.
struct Bench {
    device: Box<dyn Device>,
    pages: u64,
    rng: Rng,
    batch: Vec<Request>,
    done: Vec<Completion>,
}

impl Bench {
    /// Fills the drive, and continues to write until cleaning is at work everywhere.
    fn new(device: Box<dyn Device>, pages: u64) -> Self {
        let mut bench = Self { device, pages, rng: Rng::new(1), batch: vec![], done: vec![] };
        for first in (0..pages).step_by(BATCH) {
            bench.run((first..pages.min(first + BATCH as u64)).collect::<Vec<_>>());
        }
        for _ in 0..pages / BATCH as u64 {
            bench.random();
        }
        bench.device.reset_counters();
        bench
    }

    /// Serves a batch. Returns the time for serving.
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

    /// Returns the bytes of the benchmark itself.
    fn own_bytes(&self) -> usize {
        self.batch.capacity() * size_of::<Request>()
            + self.done.capacity() * size_of::<Completion>()
    }

    fn programs(&self) -> u64 {
        self.device.counters().flash.programs.iter().sum()
    }
}

/// Results of one drive, summed over all samples.
#[derive(Default)]
struct Row {
    name: String,
    seconds: f64,
    programs: u64,
    requests: u64,
    bytes_per_page: f64,
}

/// Measures one drive, if it matches the filter on the command line.
fn measure(
    criterion: &mut Criterion,
    name: &str,
    build: impl Fn() -> Box<dyn Device>,
    g: Geometry,
) -> Row {
    let before = ALLOCATED.load(Ordering::Relaxed);
    let mut bench: Option<Bench> = None;
    let mut row = Row { name: name.into(), ..Row::default() };
    let mut group = criterion.benchmark_group("write_path");
    group.throughput(Throughput::Elements(BATCH as u64)).sample_size(10);
    group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
        let bench = bench.get_or_insert_with(|| {
            let bench = Bench::new(build(), u64::from(g.logical_pages()));
            let bytes = ALLOCATED.load(Ordering::Relaxed) - before - bench.own_bytes();
            row.bytes_per_page = bytes as f64 / f64::from(g.physical_pages());
            bench
        });
        bencher.iter_custom(|batches| {
            let programs = bench.programs();
            let elapsed = (0..batches).map(|_| bench.random()).sum::<Duration>();
            row.seconds += elapsed.as_secs_f64();
            row.programs += bench.programs() - programs;
            row.requests += batches * BATCH as u64;
            elapsed
        });
    });
    group.finish();
    if let Some(bench) = bench {
        bench.device.check();
    }
    row
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut sizes = vec![("256Ki", 256 << 10), ("4Mi", 4 << 20)];
    if std::env::var("FLOATGATE_BENCH_LARGE").as_deref() == Ok("1") {
        sizes.push(("64Mi", 64 << 20));
    } else {
        println!("64 Mi pages are left out; FLOATGATE_BENCH_LARGE=1 measures them too");
    }
    let mut rows = vec![];
    for (size, pages) in sizes {
        let g = geometry(pages);
        for mapping in names(MAPPINGS) {
            let timed = || drive(mapping, g, Timed::new(Counted::default(), g, TIMING));
            rows.push(measure(&mut criterion, &format!("{mapping}/{size}"), timed, g));
        }
        let counted = || drive("ideal", g, Counted::default());
        rows.push(measure(&mut criterion, &format!("ideal, no clock/{size}"), counted, g));
    }
    println!(
        "{:24}{:>16}{:>16}{:>8}{:>12}",
        "drive", "M programs/s", "M requests/s", "WA", "bytes/page"
    );
    for row in rows.iter().filter(|row| row.requests > 0) {
        let (programs, requests) = (row.programs as f64, row.requests as f64);
        let (per_s, requests_per_s) = (programs / row.seconds / 1e6, requests / row.seconds / 1e6);
        let (wa, bytes) = (programs / requests, row.bytes_per_page);
        println!("{:24}{per_s:16.2}{requests_per_s:16.2}{wa:8.2}{bytes:12.2}", row.name);
    }
    criterion.final_summary();
}
