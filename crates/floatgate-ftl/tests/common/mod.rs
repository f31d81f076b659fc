//! What the integration tests share: named geometries, a rig that builds any row of the tables, a
//! medium that writes a log, and random workloads.

#![allow(dead_code)] // Every test binary uses a part of it.
#![allow(clippy::unwrap_used)] // In a test a panic is the report.

pub mod buffer_rig;
pub mod laws;
pub mod log;
pub mod log_rig;
pub mod naive;
pub mod shadow;
pub mod shrd_rig;
pub mod steady;
pub mod steps;
pub mod workload;

use floatgate_ftl::addr::Lpn;
use floatgate_ftl::device::{Device, Dispatching, HostData, Ssd};
use floatgate_ftl::ftl::Ftl;
use floatgate_ftl::geometry::{Geometry, Shape};
use floatgate_ftl::host::ShrdConfig;
use floatgate_ftl::mapping::*;
use floatgate_ftl::nand::{Checked, Counted, Nand, Shadow, Stamped, Timed, Timing};
use floatgate_ftl::page_ftl::{Cleaning, PageConfig, PageFtl};
use floatgate_ftl::parameters::Bytes;
use floatgate_ftl::placement::{AnyPlacement, PlacementConfig};
use floatgate_ftl::queue::{Arrivals, Queue};
use floatgate_ftl::unit_table::FreeOrder;
use floatgate_ftl::victim::{VictimConfig, victim};

use buffer_rig::{BufferRig, Front};
use log::{Log, Logged};

/// The medium of most tests: everything that can object is in it.
pub type TestNand = Stamped<Logged<Checked<Timed<Counted>>>>;

pub const TIMING: Timing =
    Timing { read_ns: 25, program_ns: 200, erase_ns: 1500, transfer_ns: 10, command_ns: 1 };

/// One channel, one die, one plane; 16 map entries in a page, 10 translation pages.
pub const SERIAL: Shape = Shape {
    page_bytes: 64,
    pages_per_block: 8,
    superblock: 1,
    units: 29,
    channels: 1,
    dies: 1,
    planes: 1,
    logical_pages: 160,
    entry_bytes: 4,
    program_unit: None,
};

/// Units striped over all eight planes.
pub const STRIPED: Shape = Shape {
    pages_per_block: 2,
    superblock: 8,
    units: 29,
    channels: 2,
    dies: 2,
    planes: 2,
    logical_pages: 320,
    ..SERIAL
};

/// Nothing is a power of two: blocks of 7 pages, 12 entries of 5 bytes in a page, the last
/// translation page not full.
pub const ODD: Shape = Shape {
    pages_per_block: 7,
    units: 36,
    channels: 3,
    dies: 1,
    logical_pages: 161,
    entry_bytes: 5,
    ..SERIAL
};

pub const GEOMETRIES: [(&str, Shape); 3] = [("serial", SERIAL), ("striped", STRIPED), ("odd", ODD)];

pub const DFTL: DftlConfig = DftlConfig {
    replacement: Replacement::Slru,
    protected_share: 0.8,
    evict_batch: false,
    gtd_unmapped_shortcut: false,
    entry_bytes: 8,
};

/// The map pages of `page_cache`.
#[derive(Clone, Copy, Debug)]
pub struct MapPages {
    /// Translation pages of each.
    pub pages_per_map_page: u32,
    pub load_for_cleaning: bool,
}

impl MapPages {
    /// As parameters, where so many entries are in a translation page.
    pub fn config(self, entries_per_page: u32) -> PageCacheConfig {
        let load = self.load_for_cleaning;
        PageCacheConfig {
            entries: Some(self.pages_per_map_page * entries_per_page),
            cleaning: if load { ForCleaning::LruEnd } else { ForCleaning::Update },
        }
    }
}

/// Which drive a test runs on.
#[derive(Clone, Copy, Debug)]
pub struct Rig {
    pub shape: Shape,
    pub mapping: &'static str,
    pub victim: &'static str,
    pub cache_bytes: u64,
    pub dftl: DftlConfig,
    pub page_cache: MapPages,
    pub placement: &'static str,
    /// A change of the placement's parameters, of the victim policy's, and of how cleaning is done.
    pub tune_placement: fn(&mut PlacementConfig),
    pub tune_victim: fn(&mut VictimConfig),
    pub tune_cleaning: fn(&mut Cleaning),
    pub low_water: u32,
    pub free_order: FreeOrder,
    pub depth: usize,
    pub arrivals: Arrivals,
    pub buffer: Option<BufferRig>,
    pub front: Front,
    /// Slots of the log of SHRD; 0 without it. They come on top of the shape's logical pages.
    pub log: u32,
    /// Pages that are programmed between two checkpoints, if there is a journal.
    pub journal: Option<u64>,
    /// A change of SHRD's parameters.
    pub tune_host: fn(&mut ShrdConfig, &mut Dispatching),
}

impl Rig {
    pub fn new(shape: Shape, mapping: &'static str, victim: &'static str) -> Self {
        Self {
            shape,
            mapping,
            victim,
            cache_bytes: 16 * 8,
            dftl: DFTL,
            page_cache: MapPages { pages_per_map_page: 1, load_for_cleaning: false },
            placement: "single",
            tune_placement: |_| {},
            tune_victim: |_| {},
            tune_cleaning: |_| {},
            low_water: 4,
            free_order: FreeOrder::LeastWorn,
            depth: 4,
            arrivals: Arrivals::Closed,
            buffer: None,
            front: Front::default(),
            log: 0,
            journal: None,
            tune_host: |_, _| {},
        }
    }

    pub fn geometry(&self) -> Geometry {
        let logical_pages = self.shape.logical_pages + self.log;
        Geometry::new(Shape { logical_pages, ..self.shape }).unwrap()
    }

    pub fn map_config(&self) -> MapConfig {
        let Self { cache_bytes, dftl, .. } = *self;
        let page_cache = self.page_cache.config(self.geometry().entries_per_page());
        // Large enough that there is a buffer, and something sparse, in these small pages, too.
        let sftl = SftlConfig { buffer_share: 0.3, sparse_share: 0.3 };
        MapConfig { dftl, page_cache, sftl, ..MapConfig::new(self.geometry(), cache_bytes) }
    }

    pub fn placement(&self) -> AnyPlacement {
        let mut config = PlacementConfig::new(self.geometry());
        // 256 of these small pages.
        config.autostream.chunk = Bytes(256 * u64::from(self.shape.page_bytes));
        (self.tune_placement)(&mut config);
        AnyPlacement::new(self.placement, &config).unwrap()
    }

    pub fn cleaning(&self) -> Cleaning {
        let mut cleaning = Cleaning::new(self.low_water);
        (self.tune_cleaning)(&mut cleaning);
        cleaning
    }

    /// How many units are open at a time.
    pub fn frontiers(&self) -> u8 {
        let levelled = self.cleaning().wear_gap.is_some();
        PageConfig::frontiers(
            self.placement().streams(),
            self.map_on_flash(),
            levelled,
            self.log,
            false,
        )
    }

    fn victim_config(&self) -> VictimConfig {
        let units = self.shape.units;
        let mut config = VictimConfig::new(units, self.frontiers());
        // A tenth of the units, rounded down.
        config.windowed.window = f64::from((units / 10).max(1)) / f64::from(units);
        (self.tune_victim)(&mut config);
        config
    }

    pub fn page_config(&self, verify: bool) -> PageConfig {
        PageConfig {
            geometry: self.geometry(),
            placement: self.placement(),
            victim: victim(self.victim, &self.victim_config()).unwrap(),
            cleaning: self.cleaning(),
            free_order: self.free_order,
            verify,
            journal: self.journal,
        }
    }

    /// As many units as the data, the map, the open units and the reserve take, and `spare` more.
    pub fn spare(mut self, spare: u32) -> Self {
        let geometry = self.geometry();
        let pages = geometry.pages_per_unit();
        let map = if self.map_on_flash() { geometry.translation_pages() } else { 0 };
        let data = geometry.logical_pages().div_ceil(pages) + map.div_ceil(pages);
        self.shape.units = data + u32::from(self.frontiers()) + self.low_water - 1 + spare;
        self
    }

    /// A drive that checks everything, and what it writes down (its formatting, at first).
    pub fn build(&self) -> (Box<dyn Probe>, Log) {
        assert_eq!(self.log, 0, "a drive behind SHRD is built by shrd_rig");
        let (nand, log) = self.medium();
        (self.drive(nand, Shadow::new(self.shape.logical_pages), true), log)
    }

    /// An erased medium that checks everything, and what it writes down.
    pub fn medium(&self) -> (TestNand, Log) {
        let geometry = self.geometry();
        let log = Log::default();
        let timed = Timed::new(Counted::default(), geometry, TIMING);
        let logged = Logged::new(Checked::new(timed, geometry), log.clone());
        (Stamped::new(logged, geometry.physical_pages()), log)
    }

    /// A drive on any medium.
    pub fn drive<N, D>(&self, nand: N, data: D, verify: bool) -> Box<dyn Probe>
    where
        N: Nand<Error = core::convert::Infallible> + Send + 'static,
        D: HostData<N> + Send + 'static,
    {
        match self.mapping() {
            AnyMapping::OnFlash(mapping) => self.drive_with(mapping, nand, data, verify),
            AnyMapping::InMemory(mapping) => self.drive_with(mapping, nand, data, verify),
        }
    }

    fn drive_with<M, N, D>(&self, mapping: M, nand: N, data: D, verify: bool) -> Box<dyn Probe>
    where
        M: Mapping + Send + 'static,
        N: Nand<Error = core::convert::Infallible> + Send + 'static,
        D: HostData<N> + Send + 'static,
    {
        let Ok(ftl) = PageFtl::new(nand, mapping, self.page_config(verify));
        let queue = Queue::new(self.depth, self.arrivals);
        let ssd = Ssd::new(ftl, data, queue, &self.geometry());
        let queue = (&self.geometry(), self.depth, self.arrivals);
        Box::new(self.front.before(ssd, self.buffer, queue))
    }

    /// The mapping that is named.
    pub fn mapping(&self) -> AnyMapping {
        AnyMapping::new(self.mapping, &self.map_config()).unwrap()
    }

    /// Whether the map of this drive lives on flash.
    pub fn map_on_flash(&self) -> bool {
        matches!(self.mapping(), AnyMapping::OnFlash(_))
    }
}

/// A drive that can be asked more than a host may.
pub trait Probe: Device {
    /// Which of the first `pages` pages hold something.
    fn mapped(&self, pages: u32) -> Vec<bool>;

    /// What is cached of an entry.
    fn residency(&self, lpn: u32) -> Residency;

    /// The drive as a host sees it.
    fn device(&mut self) -> &mut dyn Device;
}

impl<N, M, D> Probe for Ssd<PageFtl<N, M>, D>
where
    N: Nand<Error = core::convert::Infallible> + Send,
    M: Mapping + Send,
    D: HostData<N> + Send,
    Self: Device,
{
    fn mapped(&self, pages: u32) -> Vec<bool> {
        (0..pages).map(|lpn| self.ftl().is_mapped(Lpn::new(lpn))).collect()
    }

    fn residency(&self, lpn: u32) -> Residency {
        self.ftl().mapping().residency(Lpn::new(lpn))
    }

    fn device(&mut self) -> &mut dyn Device {
        self
    }
}
