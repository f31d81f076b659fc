//! The clock: flash operations per second on a parallel drive, with and without a clock.
//!
//! `cargo bench --bench clock` writes uniform random pages to drives of 4 Mi pages, 8 channels x 4
//! dies, 32 commands outstanding, with full blame. A page that cleaning copies counts as two
//! operations. Drives with and without a clock take turns. The benchmark prints the medians and
//! their ratio.

use std::convert::Infallible;
use std::time::Instant;

use floatgate_ftl::device::{Device, Ssd};
use floatgate_ftl::geometry::{Geometry, Shape};
use floatgate_ftl::mapping::{Dftl, Ideal, MapConfig, Mapping};
use floatgate_ftl::nand::{Counted, Nand, Timed, Timing};
use floatgate_ftl::page_ftl::{Cleaning, PageConfig, PageFtl};
use floatgate_ftl::placement::{AnyPlacement, PlacementConfig};
use floatgate_ftl::queue::{Arrivals, Queue};
use floatgate_ftl::request::{Op, Request};
use floatgate_ftl::rng::Rng;
use floatgate_ftl::unit_table::FreeOrder;
use floatgate_ftl::victim::{VictimConfig, victim};

const BATCH: usize = 1024;
const PAGE: u64 = 4096;
const PAGES: u32 = 4 << 20;
const TURNS: usize = 5;
const REQUESTS: usize = 1 << 20;
const TIMING: Timing = Timing {
    read_ns: 60_000,
    program_ns: 700_000,
    erase_ns: 3_500_000,
    transfer_ns: 7_500,
    command_ns: 0,
};

/// Returns a drive of 4 Mi logical pages. Its units are blocks, or superblocks over all planes.
fn geometry(superblock: u32) -> Geometry {
    let pages_per_unit = 256 * superblock;
    let map = (PAGES / 1024).div_ceil(pages_per_unit);
    Geometry::new(Shape {
        page_bytes: PAGE as u32,
        pages_per_block: 256,
        superblock,
        units: (u64::from(PAGES) * 10 / 9).div_ceil(pages_per_unit.into()) as u32 + 2 * map + 8,
        channels: 8,
        dies: 4,
        planes: 1,
        logical_pages: PAGES,
        entry_bytes: 4,
        program_unit: None,
    })
    .expect("the shape is a drive")
}

fn drive<N, M>(geometry: Geometry, nand: N, mapping: M) -> Box<dyn Device>
where
    N: Nand<Error = Infallible, Clock: Send> + Send + 'static,
    M: Mapping + Send + 'static,
{
    let config = PageConfig {
        geometry,
        placement: AnyPlacement::new("single", &PlacementConfig::new(geometry)).expect("a row"),
        victim: victim("greedy", &VictimConfig::new(geometry.units(), 2)).expect("a row"),
        cleaning: Cleaning::new(4),
        free_order: FreeOrder::First,
        verify: false,
        pages_per_map_page: 1,
        journal: None,
        reclaim_units: Vec::new(),
        flush_after_ns: None,
    };
    let Ok(ftl) = PageFtl::new(nand, mapping, config);
    Box::new(Ssd::new(ftl, (), Queue::new(32, Arrivals::Closed), &geometry))
}

/// A drive under load.
struct Load {
    device: Box<dyn Device>,
    rng: Rng,
}

impl Load {
    /// Fills the drive, and continues to write until cleaning is at work everywhere.
    fn new(device: Box<dyn Device>) -> Self {
        let mut load = Self { device, rng: Rng::new(1) };
        let pages: Vec<u64> = (0..u64::from(PAGES)).collect();
        pages.chunks(BATCH).for_each(|pages| load.write(pages));
        (0..PAGES as usize / BATCH).for_each(|_| load.random());
        load
    }

    fn write(&mut self, pages: &[u64]) {
        let request = |&page: &u64| Request {
            at_ns: 0,
            op: Op::Write,
            offset: page * PAGE,
            length: PAGE,
            stream: 0,
        };
        let batch: Vec<Request> = pages.iter().map(request).collect();
        self.device.run_ahead(&batch, batch.len(), &mut Vec::with_capacity(BATCH));
    }

    fn random(&mut self) {
        let pages: [u64; BATCH] = std::array::from_fn(|_| self.rng.below(PAGES.into()));
        self.write(&pages);
    }

    /// Returns millions of flash operations per second.
    fn measure(&mut self) -> f64 {
        let operations = |device: &dyn Device| {
            let flash = device.counters().flash;
            flash.reads.iter().chain(&flash.programs).chain(&flash.erases).sum::<u64>()
        };
        let (before, start) = (operations(&*self.device), Instant::now());
        (0..REQUESTS / BATCH).for_each(|_| self.random());
        let seconds = start.elapsed().as_secs_f64();
        (operations(&*self.device) - before) as f64 / seconds / 1e6
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn compare<M>(name: &str, superblock: u32, mapping: impl Fn(&MapConfig) -> M)
where
    M: Mapping + Send + 'static,
{
    let g = geometry(superblock);
    let mapping = || mapping(&MapConfig::new(g, u64::from(PAGES) / 100 * 8));
    let mut timed = Load::new(drive(g, Timed::new(Counted::default(), g, TIMING), mapping()));
    let mut counted = Load::new(drive(g, Counted::default(), mapping()));
    let (mut with, mut without) = (vec![], vec![]);
    for _ in 0..TURNS {
        with.push(timed.measure());
        without.push(counted.measure());
    }
    let (with, without) = (median(with), median(without));
    println!("{name:24}{with:16.2}{without:16.2}{:12.2}", with / without);
}

fn main() {
    println!("{:24}{:>16}{:>16}{:>12}", "M operations/s", "with a clock", "without", "ratio");
    compare("ideal, blocks", 1, Ideal::new);
    compare("ideal, superblocks", 32, Ideal::new);
    compare("dftl, superblocks", 32, Dftl::new);
}
