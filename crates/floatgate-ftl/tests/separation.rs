//! Gain from separating hot and cold data, in flash writes per host write.

use crate::common::workload::Workload;
use crate::common::{Probe, Rig, SERIAL};
use floatgate_ftl::addr::Lpn;
use floatgate_ftl::future::{FutureKnowledge, NextUseBuilder};
use floatgate_ftl::geometry::Shape;
use floatgate_ftl::nand::Counted;
use floatgate_ftl::parameters::names;
use floatgate_ftl::placement::{PLACEMENTS, PlacementConfig};
use floatgate_ftl::request::Op;
use floatgate_ftl::rng::Rng;

/// A share `r` of the writes goes to the first share `f` of the pages.
#[derive(Clone, Copy, Debug)]
struct Skew {
    r: f64,
    f: f64,
}

const HOT_COLD: Skew = Skew { r: 0.9, f: 0.1 };

/// Size of a drive: pages of a block, units in service, spare factor.
#[derive(Clone, Copy, Debug)]
struct Size {
    block: u32,
    units: u32,
    spare: f64,
}

/// A drive whose spare space is several times the size of sixteen open units.
const SMALL: Size = Size { block: 16, units: 512, spare: 0.1 };

impl Skew {
    fn writes(self, pages: u32, count: u64, rng: &mut Rng) -> Vec<u32> {
        let hot = (f64::from(pages) * self.f).round() as u64;
        let cold = u64::from(pages) - hot;
        let mut draw = || match rng.unit() < self.r {
            true => rng.below(hot) as u32,
            false => (hot + rng.below(cold)) as u32,
        };
        (0..count).map(|_| draw()).collect()
    }
}

impl Size {
    fn pages(self) -> u32 {
        (f64::from(self.units) * (1.0 - self.spare)).round() as u32 * self.block
    }

    /// Returns the drive, with a reserve on top of the units in service.
    fn rig(self, placement: &'static str, mapping: &'static str, victim: &'static str) -> Rig {
        let shape = Shape {
            page_bytes: 512,
            pages_per_block: self.block,
            logical_pages: self.pages(),
            ..SERIAL
        };
        let mut rig = Rig { placement, ..Rig::new(shape, mapping, victim) };
        rig.low_water = u32::from(rig.frontiers()) + 1;
        rig.shape.units = self.units + rig.low_water - 1;
        rig
    }
}

fn run(drive: &mut dyn Probe, writes: &[u32], page_bytes: u32) {
    for batch in writes.chunks(1024) {
        let write = |&lpn: &u32| Workload::pages(Op::Write, lpn.into(), 1, page_bytes.into());
        drive.run(&batch.iter().map(write).collect::<Vec<_>>(), &mut vec![]);
    }
}

/// Returns the flash writes per host write. Fills the drive in order, writes `volumes[0]` drive
/// sizes to warm up, and measures the next `volumes[1]`.
fn amplification(rig: &Rig, skew: Skew, volumes: [u64; 2]) -> f64 {
    let (pages, page_bytes) = (rig.shape.logical_pages, rig.shape.page_bytes);
    let mut rng = Rng::new(11);
    let [warm, measured] = volumes.map(|n| skew.writes(pages, n * u64::from(pages), &mut rng));
    let mut drive = rig.drive(Counted::default(), (), false);
    run(&mut *drive, &(0..pages).collect::<Vec<_>>(), page_bytes);
    let mut telling = NextUseBuilder::new(pages);
    let all = warm.iter().chain(&measured);
    all.for_each(|&lpn| telling.push(Lpn::new(lpn)).unwrap());
    drive.set_future(FutureKnowledge {
        writes: Some(telling.finish()),
        ..FutureKnowledge::default()
    });
    run(&mut *drive, &warm, page_bytes);
    drive.reset_counters();
    run(&mut *drive, &measured, page_bytes);
    drive.check();
    let counters = drive.counters();
    let programs = counters.flash.programs.iter().sum::<u64>() as f64;
    programs / counters.host.write_pages as f64
}

#[test]
fn nothing_beats_the_oracle() {
    for victim in ["greedy", "cost_benefit"] {
        let measure = |placement| {
            let rig = SMALL.rig(placement, "ideal", victim);
            amplification(&rig, HOT_COLD, [10, 10])
        };
        let (oracle, none) = (measure("oracle"), measure("single"));
        assert!(oracle < 0.6 * none, "{victim}: {oracle} of {none}");
        for placement in names(PLACEMENTS) {
            let theirs = measure(placement);
            assert!(oracle <= theirs, "{victim} {placement}: {oracle}, not {theirs}");
        }
    }
}

#[test]
fn known_separations_work() {
    let measure = |placement| {
        let rig = SMALL.rig(placement, "ideal", "cost_benefit");
        amplification(&rig, HOT_COLD, [10, 10])
    };
    let none = measure("single");
    for placement in ["perfect", "dac", "sepbit", "asa"] {
        let ours = measure(placement);
        assert!(ours < 0.95 * none, "{placement}: {ours} of {none}");
    }
}

/// Greedy cleans both pools at the same number of valid pages, so separation gains little. The
/// expected values are for large drives, with ties going to the cold pool. The sizes of the pools
/// drift, so a run is a little off.
#[test]
fn perfect_separation_under_greedy_has_a_closed_form() {
    let size = Size { block: 64, units: 512, spare: 0.1 };
    let fifth: fn(&mut PlacementConfig) = |config| config.perfect.hot_share = 0.2;
    let tenth: fn(&mut PlacementConfig) = |config| config.perfect.hot_share = 0.1;
    for (r, f, tune_placement, expected) in [(0.8, 0.2, fifth, 4.6339), (0.9, 0.1, tenth, 4.5992)] {
        let rig = Rig { tune_placement, ..size.rig("perfect", "ideal", "greedy") };
        let ours = amplification(&rig, Skew { r, f }, [30, 10]);
        let error = ours / expected - 1.0;
        assert!(error.abs() < 0.03, "{r}/{f}: {ours}, not {expected}");
    }
}

#[test]
fn asa_gains_with_skew_and_nothing_without() {
    let gain = |skew: Skew| {
        let measure = |placement| {
            let mut rig = SMALL.rig(placement, "ideal", "cat");
            rig.tune_placement = |config| config.asa.update_period = 1000;
            amplification(&rig, skew, [10, 10])
        };
        let (none, asa) = (measure("single"), measure("asa"));
        1.0 - (asa - 1.0) / (none - 1.0)
    };
    let share = |x: f64| Skew { r: x, f: 1.0 - x };
    let gains = [share(0.9), share(0.7), share(0.5)].map(gain);
    assert!(gains[0] > gains[1] && gains[1] > gains[2], "{gains:?}");
    assert!(gains[2].abs() < 0.02, "uniform traffic: {gains:?}");
}
