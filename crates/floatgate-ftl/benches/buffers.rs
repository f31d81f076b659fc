//! Cost of a buffer: 1 GiB of 4 KiB pages (262,144) in blocks of 64, on a drive of 16 GiB with 64
//! Ki blocks. Writes go to random places behind a queue.
//!
//! `cargo bench --bench buffers` prints nanoseconds per page, including everything that the device
//! calls for the page: the median, and the tenth percentile, which other processes disturb less.
//! The target is at most 100 ns. The loads:
//!
//! - "pages": single pages behind 32 commands.
//! - "records": records of 256 KiB.
//! - "pinned": single pages behind 1,024 commands of 16 blocks; half of the commands only read. 14
//!   Ki of the 64 Ki blocks are pinned, and many pins end without a use. Each command has 16 parts
//!   to serve, so its page costs more.
//!
//! The offline bound is left out, because it is no drive.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput};
use floatgate_ftl::addr::Lpn;
use floatgate_ftl::buffer::{BUFFERS, Buffer, BufferConfig, Flush, parts};
use floatgate_ftl::parameters::names;
use floatgate_ftl::rng::Rng;

const CAPACITY: u32 = 1 << 18;
const LOGICAL: u32 = 1 << 22;
const PER_BLOCK: u32 = 64;
/// Pages per measurement.
const BATCH: u32 = 4096;

/// Commands of `pages` pages, aligned to their size, behind `depth` other commands.
struct Load {
    name: &'static str,
    pages: u32,
    depth: usize,
    /// Pages of a command that are written or read; the other pages are only queued.
    served: u32,
    /// Whether half of the commands read.
    reads: bool,
    /// Whether only `ncq_lru` runs; for other buffers a queue makes no difference.
    queue_only: bool,
}

const LOADS: &[Load] = &[
    Load { name: "pages", pages: 1, depth: 32, served: 1, reads: false, queue_only: false },
    Load { name: "records", pages: 64, depth: 32, served: 64, reads: false, queue_only: false },
    Load { name: "pinned", pages: 1024, depth: 1024, served: 1, reads: true, queue_only: true },
];

/// Number of commands between prefetching a block's table entry and prefetching the slot that the
/// entry names.
const AHEAD: usize = 8;

/// A buffer under load.
struct Bench<'a> {
    load: &'a Load,
    buffer: Buffer,
    flush: Flush,
    queue: VecDeque<u32>,
    rng: Rng,
}

impl<'a> Bench<'a> {
    /// Creates a buffer and writes until its content has been replaced several times.
    fn new(name: &str, load: &'a Load) -> Self {
        let config = BufferConfig::new(LOGICAL, PER_BLOCK, CAPACITY);
        let buffer = Buffer::new(name, &config).expect("a row");
        let (flush, queue, rng) = (Flush::default(), VecDeque::new(), Rng::new(1));
        let mut bench = Self { load, buffer, flush, queue, rng };
        for first in (0..CAPACITY).map(|page| page * 16 + page % 16) {
            bench.buffer.write(Lpn::new(first), 1, &mut bench.flush);
        }
        bench.flush.clear();
        for _ in 0..4 * CAPACITY / BATCH {
            bench.batch();
        }
        bench
    }

    fn batch(&mut self) -> Duration {
        let start = Instant::now();
        let mut pages = 0;
        while pages < BATCH {
            while self.queue.len() < self.load.depth {
                let place = self.rng.below(u64::from(LOGICAL / self.load.pages)) as u32;
                let first = place * self.load.pages;
                self.buffer.prefetch(first..first + self.load.pages);
                self.buffer.queued(Lpn::new(first), self.load.pages);
                self.queue.push_back(first);
            }
            if let Some(&soon) = self.queue.get(self.load.depth.saturating_sub(AHEAD)) {
                self.buffer.prefetch_found(soon..soon + self.load.pages);
            }
            let first = self.queue.pop_front().expect("it was filled");
            self.serve(Lpn::new(first));
            pages += self.load.served;
        }
        self.flush.clear();
        start.elapsed()
    }

    fn serve(&mut self, first: Lpn) {
        if self.load.reads && self.rng.below(2) == 0 {
            self.buffer.read(first);
        } else {
            for (at, n) in parts(first, self.load.served, self.buffer.block_pages()) {
                self.buffer.write(at, n, &mut self.flush);
            }
        }
        for (at, _) in parts(first, self.load.pages, self.buffer.block_pages()) {
            self.buffer.served(at);
        }
    }
}

/// Measures one buffer, if it matches the filter on the command line. Returns the median and the
/// tenth percentile per page.
fn measure(criterion: &mut Criterion, name: &str, load: &Load) -> Option<[f64; 2]> {
    let (mut bench, mut elapsed): (Option<Bench>, Vec<Duration>) = (None, vec![]);
    let mut group = criterion.benchmark_group("buffers");
    group.throughput(Throughput::Elements(BATCH.into())).sample_size(10);
    group.warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_secs(2));
    group.bench_function(BenchmarkId::new(name, load.name), |bencher| {
        let bench = bench.get_or_insert_with(|| Bench::new(name, load));
        bencher.iter_custom(|n| {
            let before = elapsed.len();
            elapsed.extend((0..n).map(|_| bench.batch()));
            elapsed[before..].iter().sum()
        });
    });
    group.finish();
    bench?.buffer.check();
    elapsed.sort_unstable();
    Some([2, 10].map(|part| elapsed[elapsed.len() / part].as_nanos() as f64 / f64::from(BATCH)))
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut rows = vec![];
    for load in LOADS {
        let asked = |name| !Buffer::needs_future(name) && (!load.queue_only || name == "ncq_lru");
        for name in names(BUFFERS).filter(|name| asked(name)) {
            if let Some(ns) = measure(&mut criterion, name, load) {
                rows.push((format!("{name}/{}", load.name), ns));
            }
        }
    }
    println!("{:20}{:>16}{:>18}", "ns per page", "median", "tenth percentile");
    for (name, [median, tenth]) in rows {
        println!("{name:20}{median:16.1}{tenth:18.1}");
    }
    criterion.final_summary();
}
