//! Steady states that are sampled from a smaller drive.

use floatgate_ftl::addr::Unit;
use floatgate_ftl::rng::Rng;
use floatgate_ftl::unit_table::Pool;
use tempfile::tempdir;

use super::*;
use crate::config::ConfigError;
use crate::metrics::programs;
use crate::run::sampled::{Largest, sample, write_further};
use crate::run::start::Filler;

type Sets<'a> = &'a [(&'a str, &'a str)];

const SAMPLED: (&str, &str) = ("start.fill", "sampled");

fn load(preset: Option<&str>, sets: Sets<'_>) -> Result<Config, ConfigError> {
    let sets: Vec<_> = sets.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
    Config::load(preset, None, &sets)
}

/// Fills a drive, from a model if there is a limit to its size.
fn filled(
    preset: Option<&str>,
    sets: Sets<'_>,
    model: Option<Largest>,
    verify: bool,
) -> (Box<dyn Device>, Plan, StartResult) {
    let config = load(preset, &[sets, &[SAMPLED, ("timing", "none")]].concat()).unwrap();
    let plan = Plan::new(&config, 1).unwrap();
    let mut device = build(&config, &plan, 3, verify).unwrap();
    let control = Control::default();
    let mut filler = Filler::new(&plan, device.as_mut(), &control);
    let start = match model {
        None => filler.fill(&config, 3),
        Some(largest) => sample(largest, &mut filler, &config, &plan, 3),
    };
    (device, plan, start.unwrap())
}

/// Returns the write amplification of each of the next `quarters` quarters of a volume.
fn amplification(device: &mut dyn Device, plan: &Plan, quarters: u32) -> Vec<f64> {
    let (mut rng, control) = (Rng::new(5), Control::default());
    let pages = u64::from(plan.user_pages());
    let mut filler = Filler::new(plan, device, &control);
    let mut quarter = || {
        let before = programs(&filler.device.counters());
        filler.write(pages / 4, |_| rng.below(pages)).unwrap();
        (programs(&filler.device.counters()) - before) as f64 / (pages / 4) as f64
    };
    (0..quarters).map(|_| quarter()).collect()
}

/// Returns the valid pages of all sealed units, in ascending order.
fn valid_pages(device: &dyn Device) -> Vec<u32> {
    let units = device.units();
    let mut valid: Vec<_> = units.sealed(Pool::All).map(|unit| units.valid(unit)).collect();
    valid.sort_unstable();
    valid
}

/// Returns the largest difference of two cumulative distributions (Kolmogorov distance).
fn distance(one: &[u32], other: &[u32]) -> f64 {
    let up_to = |all: &[u32], most| all.partition_point(|&n| n <= most) as f64 / all.len() as f64;
    let at = |&most: &u32| (up_to(one, most) - up_to(other, most)).abs();
    one.iter().chain(other).map(at).fold(0.0, f64::max)
}

#[test]
fn a_sampled_state_behaves_like_the_exact_one() {
    let fewer = Largest { units: 1024, pages_per_unit: 64, pages: 1 << 20 };
    let coarser = Largest { units: 512, pages_per_unit: 256, pages: 1 << 20 };
    let many = [("flash.blocks", "4096"), ("flash.pages_per_block", "64")];
    let large = [("flash.blocks", "512"), ("flash.pages_per_block", "2048")];
    for (shape, model, sets) in [
        (many, fewer, [("capacity.spare_factor", "0.07"), ("cleaning.victim", "greedy")]),
        (many, fewer, [("capacity.spare_factor", "0.2"), ("cleaning.victim", "fifo")]),
        (many, fewer, [("capacity.spare_factor", "0.2"), ("cleaning.victim", "windowed")]),
        (large, coarser, [("capacity.spare_factor", "0.2"), ("cleaning.victim", "d_choices")]),
        (large, coarser, [("capacity.spare_factor", "0.2"), ("cleaning.copies_per_write", "4")]),
    ] {
        let sets = [&shape[..], &sets].concat();
        let (mut exact, plan, _) = filled(None, &sets, None, false);
        let (mut sampled, _, start) = filled(None, &sets, Some(model), false);
        assert!(start.model_units.is_some() && start.settled == Some(true), "{sets:?} {start:?}");
        write_further(&mut Filler::new(&plan, sampled.as_mut(), &Control::default()), 3).unwrap();
        let apart = distance(&valid_pages(&*exact), &valid_pages(&*sampled));
        assert!(apart < 0.05, "{sets:?} valid pages: {apart}");
        let all = [&mut exact, &mut sampled].map(|drive| amplification(drive.as_mut(), &plan, 8));
        let error = |range: std::ops::Range<usize>| {
            let [exact, sampled] =
                [&all[0], &all[1]].map(|wa| wa[range.clone()].iter().sum::<f64>());
            (sampled / exact - 1.0).abs()
        };
        assert!(error(0..1) < 0.01, "{sets:?} first quarter: {all:?}");
        assert!(error(0..4) < 0.005 && error(4..8) < 0.005, "{sets:?} {all:?}");
    }
}

/// Presets and shapes that program rows, parity, or clean ahead of need.
#[test]
fn a_sampled_fill_programs_each_page_once_and_cleans_nothing() {
    let small = Largest { units: 24, pages_per_unit: 64, pages: 1 << 20 };
    let rows = [("flash.pages_per_block", "12"), ("flash.program_pages", "3")];
    let parity = [("flash.channels", "4"), ("flash.superblock", "4"), ("flash.parity", "4")];
    let planes = [("flash.planes", "4"), ("flash.superblock", "4")];
    let coarse = ("flash.pages_per_block", "96");
    for (preset, sets) in [
        (None, &[coarse][..]),
        (None, &[rows[0], rows[1], ("controller.power_protected", "true")]),
        (None, &[coarse, parity[0], parity[1], parity[2]]),
        (None, &[coarse, planes[0], planes[1], ("mapping.unit", "8KiB")]),
        (None, &[coarse, ("ftl.journal", "true"), ("cleaning.wear_leveling", "none")]),
        (Some("small-nvme"), &[("flash.blocks", "1600")]),
        (Some("tlc-enterprise"), &[("flash.blocks", "6400"), ("flash.pages_per_block", "12")]),
        (Some("qlc-capacity"), &[("flash.blocks", "25600"), ("flash.pages_per_block", "8")]),
    ] {
        let default = ("flash.blocks", if preset.is_none() { "400" } else { "51200" });
        let sets = [&[default, ("capacity.spare_factor", "0.2")], sets].concat();
        let (mut device, plan, start) = filled(preset, &sets, Some(small), true);
        let counters = device.counters();
        assert!(start.model_units.is_some_and(|units| units < plan.units_in_service), "{sets:?}");
        assert_eq!(counters.flash.erases.iter().sum::<u64>(), 0, "{sets:?}");
        assert!(counters.streams.iter().all(|stream| stream.gc_pages == 0), "{sets:?}");
        let held: u64 = device.units().valid_pages().map(u64::from).sum();
        assert_eq!(held, u64::from(plan.user_pages()), "{sets:?}");
        let room = device.room_until_cleaning();
        let capacity = u64::from(plan.geometry.unit_capacity());
        assert!(room.is_some_and(|room| room <= capacity + 1), "{sets:?}: {room:?}");
        amplification(device.as_mut(), &plan, 1);
        device.check();
        assert!(device.counters().flash.erases.iter().sum::<u64>() > 0, "{sets:?}");
    }
}

#[test]
fn a_drive_that_is_not_larger_than_a_model_has_its_exact_steady_state() {
    let of = |fill| {
        let (config, plan, mut device) = small(&[("start.fill", fill)]);
        let started = start(&config, &plan, &mut device, 1, &Control::default()).unwrap();
        let valid: Vec<_> = device.units().valid_pages().collect();
        (valid, started.volumes, started.write_amplification, started.model_units)
    };
    assert_eq!(of("sampled"), of("steady"));
}

#[test]
fn a_state_that_cannot_be_sampled_is_refused() {
    for (sets, with) in [
        (&[("ftl.scheme", "bast")][..], "ftl.scheme = \"bast\""),
        (&[("mapping.scheme", "dftl")], "mapping.scheme = \"dftl\""),
        (&[("placement.scheme", "dac")], "placement.scheme = \"dac\""),
        (&[("placement.reclaim_unit", "384KiB")], "placement.reclaim_unit"),
        (&[("cleaning.victim", "cost_benefit")], "cleaning.victim = \"cost_benefit\""),
        (&[("cleaning.victim", "python:mine")], "cleaning.victim = \"python:mine\""),
        (&[("cleaning.foreground_below", "0.04")], "thresholds of cleaning that are shares"),
        (&[("cleaning.pacing", "proportional")], "cleaning.pacing = \"proportional\""),
        (&[("cleaning.copies_per_write", "2"), ("cleaning.lazy", "0.5")], "cleaning.lazy"),
        (&[("cleaning.idle_after", "1ms")], "cleaning.idle_after"),
        (&[("cleaning.wear_leveling", "static")], "cleaning.wear_leveling = \"static\""),
        (&[("flash.program_pages", "3"), ("slc.static", "1MiB")], "an SLC cache ([slc])"),
        (&[("buffer.scheme", "lru")], "buffer.scheme = \"lru\""),
        (&[("host.scheme", "shrd")], "host.scheme = \"shrd\""),
        (&[("faults.read", "1e-3")], "[faults]"),
        (&[("queue.queues", "2")], "queue.dispatch = \"parallel\" and several queues"),
        (
            &[("flash.program_pages", "3"), ("controller.flush_after", "1ms")],
            "controller.flush_after",
        ),
    ] {
        let base = [("flash.pages_per_block", "96"), SAMPLED];
        let error = load(None, &[&base, sets].concat()).unwrap_err().to_string();
        let expected = format!("start.fill = \"sampled\": expected \"steady\" with {with}");
        assert_eq!(error, expected);
        let other = [("flash.pages_per_block", "96"), ("start.fill", "steady")];
        load(None, &[&other, sets].concat()).unwrap();
    }
}

/// Runs a drive of more units than the largest model, with a cache of start states.
#[test]
fn a_sampled_state_is_cached_apart_from_the_exact_one() {
    let directory = tempdir().unwrap();
    let of = |fill| {
        let sets = [
            ("flash.page", "512B"),
            ("flash.pages_per_block", "8"),
            ("flash.blocks", "18000"),
            ("timing", "none"),
            ("start.fill", fill),
        ];
        let config = load(None, &sets).unwrap();
        let mut workload = generator(SPEC, 1).unwrap();
        let start_cache = Some(StartCache { directory: directory.path(), build: "this" });
        let options = Options { start_cache, ..OPTIONS };
        let control = Control::default();
        let result = run(&config, &mut *workload, Facts::default(), options, &control).unwrap();
        let is_taken = result.notes.iter().any(|note| note.contains("that of an earlier run"));
        (is_taken, result.start.model_units, result.write_amplification)
    };
    let first = of("sampled");
    assert_eq!((first.0, first.1), (false, Some(16_384)));
    assert_eq!(of("sampled"), (true, first.1, first.2));
    let steady = of("steady");
    assert_eq!((steady.0, steady.1), (false, None));
    assert_ne!(steady.2, first.2);
}

/// Units of a model of few pages would flatter the drive.
#[test]
fn a_block_without_divisors_has_a_model_of_large_units() {
    let largest = Largest { units: 256, pages_per_unit: 64, pages: 1 << 20 };
    for (in_block, of_model) in [("251", 64), ("250", 50), ("192", 64), ("64", 64)] {
        let sets = [("flash.blocks", "512"), ("flash.pages_per_block", in_block)];
        let (mut exact, plan, _) = filled(None, &sets, None, false);
        let (mut sampled, _, start) = filled(None, &sets, Some(largest), false);
        assert_eq!(start.model_pages_per_unit, Some(of_model), "{in_block}");
        write_further(&mut Filler::new(&plan, sampled.as_mut(), &Control::default()), 3).unwrap();
        let [exact, sampled] =
            [&mut exact, &mut sampled].map(|drive| amplification(drive.as_mut(), &plan, 4));
        let means = [exact, sampled].map(|wa| wa.iter().sum::<f64>());
        assert!((means[1] / means[0] - 1.0).abs() < 0.02, "{in_block}: {means:?}");
    }
}

#[test]
fn pages_that_the_oldest_units_cannot_hold_are_in_others() {
    let largest = Largest { units: 64, pages_per_unit: 8, pages: 1 << 20 };
    for spare in ["0.03", "0.5", "0.8", "0.95", "0.99"] {
        for victim in ["greedy", "d_choices", "random"] {
            let sets = [
                ("flash.blocks", "512"),
                ("flash.pages_per_block", "64"),
                ("capacity.spare_factor", spare),
                ("cleaning.victim", victim),
            ];
            let (device, plan, start) = filled(None, &sets, Some(largest), true);
            assert!(start.model_units.is_some());
            let held: u64 = (0..device.units().wear().count() as u32)
                .map(|unit| u64::from(device.units().valid(Unit(unit))))
                .sum();
            assert_eq!(held, u64::from(plan.user_pages()), "{spare} {victim}");
        }
    }
}
