//! Drives that the benchmarks compare, with 7 % more flash than data, and their load of uniform
//! random one-page writes.

use std::convert::Infallible;
use std::time::Instant;

use floatgate_ftl::device::{Device, Ssd};
use floatgate_ftl::geometry::{Geometry, Shape};
use floatgate_ftl::mapping::{Boxed, Dftl, Ideal, MapConfig, Mapping};
use floatgate_ftl::nand::{Counted, Nand, Timed, Timing};
use floatgate_ftl::page_ftl::{Cleaning, PageConfig, PageFtl};
use floatgate_ftl::placement::{AnyPlacement, PlacementConfig};
use floatgate_ftl::queue::{Arrivals, Queue};
use floatgate_ftl::request::{Completion, Op, Request};
use floatgate_ftl::rng::Rng;
use floatgate_ftl::unit_table::FreeOrder;
use floatgate_ftl::victim::{VictimConfig, victim};

/// Requests per call.
pub const BATCH: usize = 1024;
/// A write that opens a unit cleans until `LOW_WATER - 1` units are free.
pub const LOW_WATER: u32 = 6;
pub const PAGE: u64 = 4096;
const UNIT: u32 = 256;
const TIMING: Timing = Timing {
    read_ns: 60_000,
    program_ns: 700_000,
    erase_ns: 3_500_000,
    transfer_ns: 7_500,
    command_ns: 0,
};

/// A device that writes pages.
pub trait Drive {
    fn write(&mut self, pages: &[u32]);
    /// Returns the flash programs since creation.
    fn programs(&self) -> u64;
}

/// The whole engine.
pub struct Engine {
    device: Box<dyn Device>,
    batch: Vec<Request>,
    done: Vec<Completion>,
}

impl Engine {
    pub fn new(device: Box<dyn Device>) -> Self {
        Self { device, batch: vec![], done: vec![] }
    }
}

impl Drive for Engine {
    fn write(&mut self, pages: &[u32]) {
        let request = |&page: &u32| {
            let offset = u64::from(page) * PAGE;
            Request { at_ns: 0, op: Op::Write, offset, length: PAGE, stream: 0 }
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

/// Returns the geometry of a drive of `logical_pages` pages with 7 % more flash, and room for the
/// map and some units.
fn geometry(logical_pages: u32, superblock: u32) -> Geometry {
    let unit = UNIT * superblock;
    let data = (u64::from(logical_pages) * 107 / 100).div_ceil(unit.into()) as u32;
    Geometry::new(Shape {
        page_bytes: PAGE as u32,
        pages_per_block: UNIT,
        superblock,
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

/// Configuration of an engine drive.
#[derive(Clone, Copy)]
pub struct Kind {
    pub name: &'static str,
    is_dftl: bool,
    placement: &'static str,
    pub victim: &'static str,
    pub is_timed: bool,
    /// Dies of a unit.
    superblock: u32,
}

impl Kind {
    const IDEAL: Self = Self {
        name: "ideal, single, greedy",
        is_dftl: false,
        placement: "single",
        victim: "greedy",
        is_timed: false,
        superblock: 1,
    };
    const TIMED: Self = Self { name: "the same with a clock", is_timed: true, ..Self::IDEAL };
    pub const ALL: [Self; 7] = [
        Self::IDEAL,
        Self::TIMED,
        Self { name: "superblocks, with a clock", superblock: 8, ..Self::TIMED },
        Self { name: "cost-benefit", victim: "cost_benefit", ..Self::IDEAL },
        Self { name: "eti", placement: "eti", ..Self::IDEAL },
        Self { name: "dftl, cache 1 %", is_dftl: true, ..Self::IDEAL },
        Self { name: "dftl with a clock", is_dftl: true, ..Self::TIMED },
    ];

    pub fn geometry(&self, logical_pages: u32) -> Geometry {
        geometry(logical_pages, self.superblock)
    }

    pub fn make(&self, logical_pages: u32) -> Engine {
        let g = self.geometry(logical_pages);
        let map = MapConfig::new(g, u64::from(logical_pages) / 100 * 8);
        let timed = || Timed::new(Counted::default(), g, TIMING);
        // The lab makes its drives in the same way.
        let device = match (self.is_dftl, self.is_timed) {
            (true, true) => self.device(g, timed(), Boxed::new(Dftl::new(&map))),
            (true, false) => self.device(g, Counted::default(), Boxed::new(Dftl::new(&map))),
            (false, true) => self.device(g, timed(), Boxed::new(Ideal::new(&map))),
            (false, false) => self.device(g, Counted::default(), Ideal::new(&map)),
        };
        Engine::new(device)
    }

    fn device<N, M>(&self, geometry: Geometry, nand: N, mapping: M) -> Box<dyn Device>
    where
        N: Nand<Error = Infallible, Clock: Send> + Send + 'static,
        M: Mapping + Send + 'static,
    {
        let cleaning = Cleaning::new(LOW_WATER);
        let ftl = page_ftl(geometry, nand, mapping, (self.placement, self.victim), cleaning);
        Box::new(Ssd::new(ftl, (), Queue::new(32, Arrivals::Closed), &geometry))
    }
}

/// Returns a translation layer with a placement and a victim policy, by name.
pub fn page_ftl<N, M>(
    geometry: Geometry,
    nand: N,
    mapping: M,
    (placement, choice): (&str, &str),
    cleaning: Cleaning,
) -> PageFtl<N, M>
where
    N: Nand<Error = Infallible>,
    M: Mapping,
{
    let placement = AnyPlacement::new(placement, &PlacementConfig::new(geometry));
    let config = PageConfig {
        geometry,
        placement: placement.expect("a row of the table"),
        victim: victim(choice, &VictimConfig::new(geometry.units(), 4)).expect("a row"),
        cleaning,
        free_order: FreeOrder::First,
        verify: false,
        pages_per_map_page: 1,
        journal: None,
        reclaim_units: Vec::new(),
        flush_after_ns: None,
    };
    let Ok(ftl) = PageFtl::new(nand, mapping, config);
    ftl
}

/// A drive under load.
pub struct Load {
    pub drive: Box<dyn Drive>,
    pages: u32,
    rng: Rng,
}

impl Load {
    /// Fills the drive, and then writes half as many random pages, which is enough for cleaning to
    /// begin.
    pub fn new(drive: impl Drive + 'static, pages: u32) -> Self {
        let mut load = Self { drive: Box::new(drive), pages, rng: Rng::new(1) };
        for first in (0..pages).step_by(BATCH) {
            load.drive.write(&(first..pages.min(first + BATCH as u32)).collect::<Vec<_>>());
        }
        load.random(pages as usize / 2);
        load
    }

    /// Writes random pages. Returns the seconds that the drive took.
    pub fn random(&mut self, writes: usize) -> f64 {
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
}
