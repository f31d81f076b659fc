//! Shared code of the integration tests: named geometries, a rig that builds any row of the tables,
//! a medium that writes a log, and random workloads.

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

/// Medium of most tests: it includes every layer that checks operations.
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

/// Nothing is a power of two: blocks of 7 pages, 12 entries of 5 bytes in a page, and a last
/// translation page that is not full.
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

/// Map pages of `page_cache`.
#[derive(Clone, Copy, Debug)]
pub struct MapPages {
    /// Translation pages in a map page.
    pub pages_per_map_page: u32,
    pub load_for_cleaning: bool,
}

impl MapPages {
    /// Returns the parameters for translation pages with `entries_per_page` entries.
    pub fn config(self, entries_per_page: u32) -> PageCacheConfig {
        let load = self.load_for_cleaning;
        PageCacheConfig {
            entries: Some(self.pages_per_map_page * entries_per_page),
            cleaning: if load { ForCleaning::LruEnd } else { ForCleaning::Update },
        }
    }
}

/// Configuration of a test's drive.
#[derive(Clone, Copy, Debug)]
pub struct Rig {
    pub shape: Shape,
    pub mapping: &'static str,
    pub victim: &'static str,
    pub cache_bytes: u64,
    pub dftl: DftlConfig,
    pub page_cache: MapPages,
    pub placement: &'static str,
    /// Changes to the parameters of the placement, of the victim policy, and of cleaning.
    pub tune_placement: fn(&mut PlacementConfig),
    pub tune_victim: fn(&mut VictimConfig),
    pub tune_cleaning: fn(&mut Cleaning),
    /// Erase units in a reclaim unit, for each stream of the placement.
    pub reclaim_unit: fn(u8) -> u32,
    pub low_water: u32,
    pub free_order: FreeOrder,
    pub depth: usize,
    pub arrivals: Arrivals,
    pub buffer: Option<BufferRig>,
    pub front: Front,
    /// Slots of SHRD's log; 0 without SHRD. They come on top of the shape's logical pages.
    pub log: u32,
    /// Pages programmed between two checkpoints, if there is a journal.
    pub journal: Option<u64>,
    /// Time after which a row that is not full is programmed, if it is.
    pub flush_after_ns: Option<u64>,
    /// Changes to SHRD's parameters.
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
            reclaim_unit: |_| 1,
            low_water: 4,
            free_order: FreeOrder::LeastWorn,
            depth: 4,
            arrivals: Arrivals::Closed,
            buffer: None,
            front: Front::default(),
            log: 0,
            journal: None,
            flush_after_ns: None,
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
        // Large enough for a buffer and some sparse pages, although these pages are small.
        let sftl = SftlConfig { buffer_share: 0.3, sparse_share: 0.3 };
        MapConfig { dftl, page_cache, sftl, ..MapConfig::new(self.geometry(), cache_bytes) }
    }

    pub fn placement(&self) -> AnyPlacement {
        let mut config = PlacementConfig::new(self.geometry());
        // 256 of these small pages.
        config.autostream.chunk = Bytes(256 * u64::from(self.shape.page_bytes));
        if self.placement != "perfect" {
            config.perfect.hot_pages = Some(self.shape.logical_pages / 10);
        }
        (self.tune_placement)(&mut config);
        AnyPlacement::new(self.placement, &config).unwrap()
    }

    pub fn cleaning(&self) -> Cleaning {
        let mut cleaning = Cleaning::new(self.low_water);
        (self.tune_cleaning)(&mut cleaning);
        cleaning
    }

    /// Returns the number of units that are open at a time.
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

    pub fn reclaim_units(&self) -> Vec<u32> {
        (0..self.placement().streams()).map(self.reclaim_unit).collect()
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
            pages_per_map_page: self.pages_per_map_page(),
            journal: self.journal,
            reclaim_units: self.reclaim_units(),
            flush_after_ns: self.flush_after_ns,
        }
    }

    /// Sets the number of units to the need of the data, the map, the open units and the reserve,
    /// and `spare` more.
    pub fn spare(mut self, spare: u32) -> Self {
        let geometry = self.geometry();
        let pages = geometry.pages_per_unit();
        let map = if self.map_on_flash() { geometry.translation_pages() } else { 0 };
        let data = geometry.logical_pages().div_ceil(pages) + map.div_ceil(pages);
        // A reclaim unit that is being filled may have lost all its pages.
        let open: u32 = self.reclaim_units().iter().map(|size| size - 1).sum();
        self.shape.units = data + open + u32::from(self.frontiers()) + self.low_water - 1 + spare;
        self
    }

    /// Builds a drive that checks everything, and returns the log of its operations, formatting
    /// first.
    pub fn build(&self) -> (Box<dyn Probe>, Log) {
        assert_eq!(self.log, 0, "a drive behind SHRD is built by shrd_rig");
        let (nand, log) = self.medium();
        (self.drive(nand, Shadow::new(self.shape.logical_pages), true), log)
    }

    /// Builds an erased medium that checks everything, and returns the log of its operations.
    pub fn medium(&self) -> (TestNand, Log) {
        let geometry = self.geometry();
        let log = Log::default();
        let timed = Timed::new(Counted::default(), geometry, TIMING);
        let logged = Logged::new(Checked::new(timed, geometry), log.clone());
        (Stamped::new(logged, geometry.physical_pages()), log)
    }

    /// Builds a drive on any medium.
    pub fn drive<N, D>(&self, nand: N, data: D, verify: bool) -> Box<dyn Probe>
    where
        N: Nand<Error = core::convert::Infallible> + Send + 'static,
        D: HostData<N> + Send + 'static,
    {
        let Ok(ftl) = PageFtl::new(nand, self.mapping(), self.page_config(verify));
        let queue = Queue::new(self.depth, self.arrivals);
        let ssd = Ssd::new(ftl, data, queue, &self.geometry());
        let queue = (&self.geometry(), self.depth, self.arrivals);
        Box::new(self.front.before(ssd, self.buffer, queue))
    }

    /// Creates the configured mapping.
    pub fn mapping(&self) -> Boxed {
        Boxed::by_name(self.mapping, &self.map_config()).unwrap()
    }

    /// Returns the translation pages that the mapping reads and writes as one.
    pub fn pages_per_map_page(&self) -> u32 {
        self.demands().pages_per_map_page
    }

    fn demands(&self) -> MapDemands {
        demands(self.mapping, &self.map_config()).unwrap()
    }

    /// Returns whether the map of this drive is on flash.
    pub fn map_on_flash(&self) -> bool {
        self.demands().on_flash
    }
}

/// Drive with more queries than a host has.
pub trait Probe: Device {
    /// Returns for each of the first `pages` pages whether it is mapped.
    fn mapped(&self, pages: u32) -> Vec<bool>;

    /// Returns the cache state of an entry.
    fn residency(&self, lpn: u32) -> Residency;

    /// Returns the drive as a host sees it.
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
