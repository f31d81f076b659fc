//! Write amplification of a drive in its steady state.

use std::sync::{Arc, Mutex};

use floatgate_ftl::addr::{Ppn, Tag, Unit};
use floatgate_ftl::forward_nand;
use floatgate_ftl::geometry::Mode;
use floatgate_ftl::geometry::Shape;
use floatgate_ftl::nand::{Cause, Chain, Counted, Moves, Nand, NoClock};
use floatgate_ftl::request::Op;
use floatgate_ftl::rng::Rng;
use floatgate_ftl::unit_table::Pool;

use super::workload::Workload;
use super::{Probe, Rig, SERIAL};

const BATCH: u64 = 1024;
/// Number of samples of all units in a measurement.
const LOOKS: u64 = 64;
const MILLION: u64 = 1_000_000;

type Outcome = Result<(), std::convert::Infallible>;

/// Counts operations, and records how many pages were copied out of each erased unit.
struct Victims {
    inner: Counted,
    copied: usize,
    by_valid: Arc<Mutex<Vec<u64>>>,
}

impl Nand for Victims {
    type Error = std::convert::Infallible;
    type Clock = NoClock;

    forward_nand!(clock read report);

    fn program(&mut self, to: Ppn, tag: Tag, cause: Cause, chain: &mut Chain) -> Outcome {
        self.inner.program(to, tag, cause, chain)
    }

    fn pad(&mut self, _: Ppn, _: u32, _: &mut Chain) -> Result<(), core::convert::Infallible> {
        unreachable!("every page is programmed by itself")
    }

    fn copy(&mut self, moves: impl Moves, cause: Cause, chain: &mut Chain) -> Outcome {
        self.copied += moves.len();
        self.inner.copy(moves, cause, chain)
    }

    fn set_mode(&mut self, _: Unit, _: Mode) {}

    fn erase(&mut self, unit: Unit, cause: Cause, chain: &mut Chain) -> Outcome {
        self.by_valid.lock().unwrap()[self.copied] += 1;
        self.copied = 0;
        self.inner.erase(unit, cause, chain)
    }

    fn reset_counters(&mut self) {
        self.inner.reset_counters();
        self.by_valid.lock().unwrap().fill(0);
    }
}

/// Share of the writes that go uniformly to a share of the pages, the first ones; all other writes
/// go uniformly to the other pages. In millionths; 0 and 0 means uniform traffic.
#[derive(Clone, Copy, Debug)]
pub struct Traffic {
    pub writes: u64,
    pub pages: u64,
}

pub const UNIFORM: Traffic = Traffic { writes: 0, pages: 0 };

impl Traffic {
    fn next(self, pages: u64, rng: &mut Rng) -> u64 {
        // The placement `perfect` rounds in this way.
        let hot = (pages * self.pages + MILLION / 2) / MILLION;
        if self.writes > 0 && rng.below(MILLION) < self.writes {
            return rng.below(hot);
        }
        hot + rng.below(pages - hot)
    }
}

/// A drive with `units` in service. The reserve, which is always free, comes on top.
#[derive(Clone, Copy, Debug)]
pub struct Steady {
    pub rig: Rig,
    pub traffic: Traffic,
    /// Drive sizes to write, before the measurement and during it.
    pub volumes: [u64; 2],
}

pub struct Measured {
    pub amplification: f64,
    /// Mean valid fraction of the victims.
    pub victims_valid: f64,
    /// Cleans by the number of valid pages of the victim.
    pub by_valid: Vec<u64>,
    /// Sealed units by the number of valid pages, summed over all samples.
    pub sealed: Vec<u64>,
}

impl Steady {
    pub fn new(victim: &'static str, block: u32, spare: f64, units: u32) -> Self {
        let used = (f64::from(units) * (1.0 - spare)).round() as u32;
        let shape = Shape {
            pages_per_block: block,
            units: units + 1,
            logical_pages: used * block,
            ..SERIAL
        };
        let rig = Rig { low_water: 2, ..Rig::new(shape, "ideal", victim) };
        Self { rig, traffic: UNIFORM, volumes: [3, 5] }
    }

    /// Returns the drive with hot pages, all in one stream.
    pub fn mixed(mut self, traffic: Traffic) -> Self {
        self.traffic = traffic;
        self
    }

    /// Returns the drive with hot pages in a separate stream.
    pub fn separated(mut self, traffic: Traffic) -> Self {
        self.rig.placement = "perfect";
        self.rig.tune_placement = match traffic.pages {
            100_000 => |config| config.perfect.hot_share = 0.1,
            200_000 => |config| config.perfect.hot_share = 0.2,
            other => panic!("no drive for {other} millionths"),
        };
        self.rig.low_water = 3;
        self.rig.shape.units += 1;
        self.mixed(traffic)
    }

    pub fn measure(&self) -> Measured {
        let block = self.rig.shape.pages_per_block;
        let by_valid = Arc::new(Mutex::new(vec![0; block as usize + 1]));
        let nand = Victims { inner: Counted::default(), copied: 0, by_valid: by_valid.clone() };
        let mut drive = self.rig.drive(nand, (), false);
        let mut rng = Rng::new(7);
        fill(&mut *drive, self.rig.shape, &mut rng);
        let pages = u64::from(self.rig.shape.logical_pages);
        self.write(&mut *drive, self.volumes[0] * pages, &mut rng);
        drive.reset_counters();
        let mut sealed = vec![0; block as usize + 1];
        for _ in 0..LOOKS {
            self.write(&mut *drive, self.volumes[1] * pages / LOOKS, &mut rng);
            let units = drive.units();
            units.sealed(Pool::All).for_each(|unit| sealed[units.valid(unit) as usize] += 1);
        }
        drive.check();
        let counters = drive.counters();
        let host = counters.host.write_pages as f64;
        let erased = counters.flash.erases.iter().sum::<u64>() as f64 * f64::from(block);
        let programs = counters.flash.programs.iter().sum::<u64>() as f64;
        assert_eq!(counters.cleans.emergency, 0, "the policy is left alone");
        Measured {
            amplification: programs / host,
            victims_valid: counters.flash.programs[Cause::Gc as usize] as f64 / erased,
            by_valid: by_valid.lock().unwrap().clone(),
            sealed,
        }
    }

    fn write(&self, drive: &mut dyn Probe, writes: u64, rng: &mut Rng) {
        let pages = u64::from(self.rig.shape.logical_pages);
        let page_bytes = u64::from(self.rig.shape.page_bytes);
        let (mut batch, mut done) = (vec![], vec![]);
        for _ in 0..writes.div_ceil(BATCH) {
            batch.clear();
            done.clear();
            let next = |rng: &mut Rng| {
                Workload::pages(Op::Write, self.traffic.next(pages, rng), 1, page_bytes)
            };
            batch.extend((0..BATCH).map(|_| next(rng)));
            drive.run(&batch, &mut done);
        }
    }
}

/// Writes every page once, in random order.
fn fill(drive: &mut dyn Probe, shape: Shape, rng: &mut Rng) {
    let mut order: Vec<u64> = (0..u64::from(shape.logical_pages)).collect();
    for at in (1..order.len()).rev() {
        order.swap(at, rng.below(at as u64 + 1) as usize);
    }
    let page_bytes = u64::from(shape.page_bytes);
    for chunk in order.chunks(BATCH as usize) {
        let batch = chunk.iter().map(|&page| Workload::pages(Op::Write, page, 1, page_bytes));
        drive.run(&batch.collect::<Vec<_>>(), &mut vec![]);
    }
}

pub fn within(actual: f64, expected: f64, tolerance: f64, what: &str) {
    let off = (actual / expected - 1.0).abs();
    assert!(off <= tolerance, "{what}: {actual:.4} is not {expected:.4} (off by {off:.4})");
}
