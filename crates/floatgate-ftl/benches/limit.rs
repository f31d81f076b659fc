//! The limit of the memory: a bare translation layer beside the whole engine, in one process.
//!
//! `cargo bench --bench limit` writes uniform random pages to drives of 256 Ki and 4 Mi pages of 4
//! KiB with 7 % over-provisioning and units of 256 pages. The bare one ([`bare`]) is arrays and
//! prefetching, and nothing else; it cleans the same units as the engine. All take turns; the
//! medians are printed in million flash programs a second, and as a share of the bare one's with
//! the same victim policy. `FLOATGATE_BENCH_LARGE=1` adds 64 Mi pages and 512 Mi pages (some 10
//! GiB of memory, a quarter of an hour).

#[path = "limit/bare.rs"]
mod bare;

use std::convert::Infallible;
use std::time::Instant;

use floatgate_ftl::device::{Device, Ssd};
use floatgate_ftl::geometry::{Geometry, Shape};
use floatgate_ftl::mapping::{Dftl, Ideal, MapConfig, Mapping};
use floatgate_ftl::nand::{Counted, Nand, Timed, Timing};
use floatgate_ftl::page_ftl::{Cleaning, PageConfig, PageFtl};
use floatgate_ftl::placement::{AnyPlacement, PlacementConfig};
use floatgate_ftl::queue::{Arrivals, Queue};
use floatgate_ftl::request::{Completion, Op, Request};
use floatgate_ftl::rng::Rng;
use floatgate_ftl::unit_table::FreeOrder;
use floatgate_ftl::victim::{VictimConfig, victim};

use bare::{Bare, Choice};

const BATCH: usize = 1024;
const PAGE: u64 = 4096;
const UNIT: u32 = 256;
const TURNS: usize = 5;
/// Pages that are written in a turn.
const WRITES: usize = 1 << 20;
const LOW_WATER: u32 = 6;
const TIMING: Timing = Timing {
    read_ns: 60_000,
    program_ns: 700_000,
    erase_ns: 3_500_000,
    transfer_ns: 7_500,
    command_ns: 0,
};

/// What takes pages to be written.
trait Drive {
    fn write(&mut self, pages: &[u32]);
    /// Flash programs since it was made.
    fn programs(&self) -> u64;
}

impl Drive for Bare {
    fn write(&mut self, pages: &[u32]) {
        self.write_all(pages);
    }

    fn programs(&self) -> u64 {
        self.programs
    }
}

/// The whole engine.
struct Engine {
    device: Box<dyn Device>,
    batch: Vec<Request>,
    done: Vec<Completion>,
}

impl Drive for Engine {
    fn write(&mut self, pages: &[u32]) {
        let request = |&page: &u32| {
            let offset = u64::from(page) * PAGE;
            Request { at_ns: 0, op: Op::Write, offset, length: PAGE }
        };
        self.batch.clear();
        self.batch.extend(pages.iter().map(request));
        self.done.clear();
        self.device.run_ahead(&self.batch, self.batch.len(), &mut self.done);
    }

    fn programs(&self) -> u64 {
        self.device.counters().flash.programs.iter().sum()
    }
}

/// A drive of so many logical pages with 7 % more flash, and room for the map and some units.
fn geometry(logical_pages: u32) -> Geometry {
    let data = (u64::from(logical_pages) * 107 / 100).div_ceil(UNIT.into()) as u32;
    Geometry::new(Shape {
        page_bytes: PAGE as u32,
        pages_per_block: UNIT,
        superblock: 1,
        units: data + LOW_WATER,
        channels: 8,
        dies: 4,
        planes: 1,
        logical_pages,
        entry_bytes: 4,
        program_unit: None,
    })
    .expect("the shape is a drive")
}

/// One of the engine's drives.
#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    is_dftl: bool,
    placement: &'static str,
    victim: &'static str,
    is_timed: bool,
}

impl Kind {
    const IDEAL: Self = Self {
        name: "ideal, single, greedy",
        is_dftl: false,
        placement: "single",
        victim: "greedy",
        is_timed: false,
    };
    const ALL: [Self; 5] = [
        Self::IDEAL,
        Self { name: "the same with a clock", is_timed: true, ..Self::IDEAL },
        Self { name: "cost-benefit", victim: "cost_benefit", ..Self::IDEAL },
        Self { name: "eti", placement: "eti", ..Self::IDEAL },
        Self { name: "dftl, cache 1 %", is_dftl: true, ..Self::IDEAL },
    ];

    fn choice(&self) -> Choice {
        if self.victim == "greedy" { Choice::Greedy } else { Choice::CostBenefit }
    }

    fn make(&self, logical_pages: u32) -> Engine {
        let g = geometry(logical_pages);
        let map = MapConfig::new(g, u64::from(logical_pages) / 100 * 8);
        let device = match (self.is_dftl, self.is_timed) {
            (true, _) => self.device(g, Counted::default(), Dftl::new(&map)),
            (false, true) => {
                self.device(g, Timed::new(Counted::default(), g, TIMING), Ideal::new(&map))
            }
            (false, false) => self.device(g, Counted::default(), Ideal::new(&map)),
        };
        Engine { device, batch: vec![], done: vec![] }
    }

    fn device<N, M>(&self, geometry: Geometry, nand: N, mapping: M) -> Box<dyn Device>
    where
        N: Nand<Error = Infallible, Clock: Send> + Send + 'static,
        M: Mapping + Send + 'static,
    {
        let placement = AnyPlacement::new(self.placement, &PlacementConfig::new(geometry));
        let config = PageConfig {
            geometry,
            placement: placement.expect("a row of the table"),
            victim: victim(self.victim, &VictimConfig::new(geometry.units(), 4)).expect("a row"),
            cleaning: Cleaning::new(LOW_WATER),
            free_order: FreeOrder::First,
            verify: false,
            journal: None,
        };
        let Ok(ftl) = PageFtl::new(nand, mapping, config);
        Box::new(Ssd::new(ftl, (), Queue::new(32, Arrivals::Closed), &geometry))
    }
}

/// A drive under load.
struct Load {
    drive: Box<dyn Drive>,
    pages: u32,
    rng: Rng,
    rates: Vec<f64>,
    amplification: f64,
}

impl Load {
    /// Fills the drive, and writes on until cleaning is at work everywhere.
    fn new(drive: impl Drive + 'static, pages: u32) -> Self {
        let mut load = Self {
            drive: Box::new(drive),
            pages,
            rng: Rng::new(1),
            rates: vec![],
            amplification: 0.0,
        };
        for first in (0..pages).step_by(BATCH) {
            load.drive.write(&(first..pages.min(first + BATCH as u32)).collect::<Vec<_>>());
        }
        load.random(pages as usize / 2);
        load
    }

    /// Writes random pages; the answer is how many seconds the drive took.
    fn random(&mut self, writes: usize) -> f64 {
        let mut seconds = 0.0;
        for _ in 0..writes / BATCH {
            let pages: [u32; BATCH] =
                std::array::from_fn(|_| self.rng.below(self.pages.into()) as u32);
            let start = Instant::now();
            self.drive.write(&pages);
            seconds += start.elapsed().as_secs_f64();
        }
        seconds
    }

    fn turn(&mut self) {
        let before = self.drive.programs();
        let seconds = self.random(WRITES);
        let programs = (self.drive.programs() - before) as f64;
        self.rates.push(programs / seconds / 1e6);
        self.amplification = programs / WRITES as f64;
    }

    /// Million flash programs a second.
    fn rate(&self) -> f64 {
        let mut rates = self.rates.clone();
        rates.sort_by(f64::total_cmp);
        rates[rates.len() / 2]
    }
}

/// Each of the engine's drives in turns with the bare one, two at a time.
fn compare(size: &str, pages: u32) {
    for kind in Kind::ALL {
        let mut bare = Load::new(Bare::new(&geometry(pages), LOW_WATER, kind.choice()), pages);
        let mut engine = Load::new(kind.make(pages), pages);
        for _ in 0..TURNS {
            bare.turn();
            engine.turn();
        }
        let (limit, rate) = (bare.rate(), engine.rate());
        let (bare_wa, wa) = (bare.amplification, engine.amplification);
        let name = format!("{}, {size}", kind.name);
        println!("{name:32}{rate:10.1}{limit:10.1}{:8.2}{wa:8.2}{bare_wa:8.2}", rate / limit);
    }
}

fn main() {
    let titles = ["M programs/s", "engine", "bare", "share", "WA", "bare"];
    let [name, rest @ ..] = titles;
    println!("{name:32}{:>10}{:>10}{:>8}{:>8}{:>8}", rest[0], rest[1], rest[2], rest[3], rest[4]);
    compare("256 Ki", 256 << 10);
    compare("4 Mi", 4 << 20);
    if std::env::var("FLOATGATE_BENCH_LARGE").as_deref() == Ok("1") {
        compare("64 Mi", 64 << 20);
        compare("512 Mi", 512 << 20);
    } else {
        println!("64 Mi and 512 Mi pages are left out; FLOATGATE_BENCH_LARGE=1 measures them too");
    }
}
