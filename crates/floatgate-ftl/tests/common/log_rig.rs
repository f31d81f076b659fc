//! Drives with log blocks.

use floatgate_ftl::device::{Device, HostData, Ssd};
use floatgate_ftl::geometry::{Geometry, Shape};
use floatgate_ftl::log_block::*;
use floatgate_ftl::log_ftl::{LogFtl, LogFtlConfig, MERGE_RESERVE};
use floatgate_ftl::nand::{Checked, Counted, Nand, Stamped, Timed};
use floatgate_ftl::nand::{Shadow, Timing};
use floatgate_ftl::queue::{Arrivals, Queue};
use floatgate_ftl::unit_table::FreeOrder;

use super::buffer_rig::{BufferRig, Front};
use super::log::{Log, Logged};
use super::{TIMING, TestNand};

/// Configuration of a test's drive with log blocks.
#[derive(Clone, Copy, Debug)]
pub struct LogRig {
    pub shape: Shape,
    pub scheme: &'static str,
    pub logs: u32,
    pub seed: u64,
    pub bast: BastConfig,
    pub fast: FastConfig,
    pub free_order: FreeOrder,
    pub depth: usize,
    pub arrivals: Arrivals,
    pub buffer: Option<BufferRig>,
    pub front: Front,
}

impl LogRig {
    /// Creates a rig with enough units for the data blocks, the logs and one merge.
    pub fn new(shape: Shape, scheme: &'static str, logs: u32) -> Self {
        let blocks = Geometry::new(shape).unwrap().logical_blocks();
        Self {
            shape: Shape { units: blocks + logs + MERGE_RESERVE, ..shape },
            scheme,
            logs,
            seed: 1,
            bast: BastConfig::default(),
            fast: FastConfig::default(),
            free_order: FreeOrder::LeastWorn,
            depth: 4,
            arrivals: Arrivals::Closed,
            buffer: None,
            front: Front::default(),
        }
    }

    pub fn geometry(&self) -> Geometry {
        Geometry::new(self.shape).unwrap()
    }

    /// Builds a drive that checks everything, and returns the log of its operations.
    pub fn build(&self) -> (Box<dyn Device>, Log) {
        let (nand, log) = self.medium();
        (self.drive(nand, Shadow::new(self.shape.logical_pages)), log)
    }

    /// Builds the medium of such a drive, and returns the log of its operations.
    pub fn medium(&self) -> (TestNand, Log) {
        let (geometry, log) = (self.geometry(), Log::default());
        let timed = Timed::new(Counted::default(), geometry, TIMING);
        let logged = Logged::new(Checked::new(timed, geometry).with_gaps(), log.clone());
        (Stamped::new(logged, geometry.physical_pages()), log)
    }

    /// Builds a drive that only counts.
    pub fn counted(&self) -> Box<dyn Device> {
        self.drive(Counted::default(), ())
    }

    /// Builds a drive with a clock.
    pub fn timed(&self, timing: Timing) -> Box<dyn Device> {
        self.drive(Timed::new(Counted::default(), self.geometry(), timing), ())
    }

    /// Builds a drive on any medium.
    pub fn drive<N, D>(&self, nand: N, data: D) -> Box<dyn Device>
    where
        N: Nand<Error = core::convert::Infallible> + Send + 'static,
        D: HostData<N> + Send + 'static,
    {
        let geometry = self.geometry();
        let Self { logs, seed, bast, fast, free_order, .. } = *self;
        let config = LogConfig { geometry, logs, seed, bast, fast };
        let queue = Queue::new(self.depth, self.arrivals);
        let scheme = scheme(self.scheme, &config).unwrap();
        let drive = LogFtlConfig { geometry, logs, free_order, journal: None };
        let Ok(ftl) = LogFtl::new(nand, scheme, drive);
        let ssd = Ssd::new(ftl, data, queue, &geometry);
        let queue = (&geometry, self.depth, self.arrivals);
        Box::new(self.front.before(ssd, self.buffer, queue))
    }

    /// Returns this rig with every set of options of its scheme.
    pub fn options(self) -> Vec<Self> {
        let on_off = [true, false];
        let mut rigs = vec![];
        if self.scheme == "bast" {
            for victim in [LogVictim::Fifo, LogVictim::Lru, LogVictim::Random] {
                for merge_when_full in [MergeWhenFull::Immediately, MergeWhenFull::Lazy] {
                    for partial_merge in on_off {
                        let bast =
                            BastConfig { victim, merge_when_full, partial_merge, ..self.bast };
                        rigs.push(Self { bast, ..self });
                    }
                }
            }
            return rigs;
        }
        for out_of_order in [OutOfOrder::Restart, OutOfOrder::Random] {
            for partial_merge in on_off {
                let fast = FastConfig { out_of_order, partial_merge, ..self.fast };
                rigs.push(Self { fast, ..self });
            }
        }
        rigs
    }
}
