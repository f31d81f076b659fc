//! A start state that is reached without a clock, or loaded from an earlier run, equals the start
//! state reached with the clock.

use floatgate_ftl::addr::Unit;
use floatgate_ftl::buffer::BUFFERS;
use floatgate_ftl::log_block::LOG_BLOCKS;
use floatgate_ftl::mapping::MAPPINGS;
use floatgate_ftl::parameters::names;
use floatgate_ftl::placement::PLACEMENTS;
use floatgate_ftl::unit_table::UnitTable;
use floatgate_ftl::victim::VICTIMS;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;
use tempfile::tempdir;

use super::*;
use crate::config::presets;
use crate::run::lookahead::future_knowledge;
use crate::run::measure::measure;
use crate::run::start::depends_on_time;
use crate::run::start_cache::StartCache;

pub(super) const SPAN: u64 = 256 << 10;
const FILLS: [&str; 5] = ["sequential", "shuffled", "random", "steady", "sampled"];
/// Requests in bursts, so that the drive is idle between them.
const SPEC: &str = "zipf:span=256KiB,requests=600,size=1KiB,reads=0.4,trim=0.02,flush=0.02,\
                    aligned=false,interarrival=300us,seed=3";

/// Drive whose clock cannot be frozen.
struct Clocked(Box<dyn Device>);

impl Device for Clocked {
    forward_device!(0: sees_ahead write_back set_future);

    fn run_ahead(&mut self, requests: &[Request], count: usize, done: &mut Vec<Completion>) {
        self.0.run_ahead(requests, count, done);
    }

    fn reset_counters(&mut self) {
        self.0.reset_counters();
    }
}

impl Inspect for Clocked {
    forward_device!(0: counters units room_until_cleaning check);
}

impl DeviceClock for Clocked {}

/// Way to fill a drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum With {
    /// With its clock.
    Clock,
    /// With or without a clock, as a run decides.
    Choice,
    /// Without a clock in any case.
    NoClock,
    /// From the cached start state of another drive.
    Kept,
}

/// Describes the contents of all units with their times.
fn contents(plan: &Plan, units: &UnitTable) -> String {
    let of_unit = |unit| {
        let times = (units.opened(unit), units.sealed_at(unit), units.modified(unit));
        let pages = 0..plan.geometry.pages_per_unit();
        let owners: Vec<_> =
            pages.map(|page| units.owner(plan.geometry.page(unit, page))).collect();
        format!("{:?}\n", (units.stream(unit), units.lifetime_erases(unit), times, owners))
    };
    (0..plan.geometry.units()).map(Unit).map(of_unit).collect()
}

/// Returns the result of a run after a fill, and the contents after the fill.
fn outcome(config: &Config, seed: u64, verify: bool, with: With) -> (Value, String) {
    let plan = Plan::new(config, SPAN).unwrap();
    let (mut workload, control) = (generator(SPEC, 1).unwrap(), Control::default());
    let known = future_knowledge(config, &plan, &*workload, &control).unwrap();
    let directory = tempdir().unwrap();
    let cache = StartCache { directory: directory.path(), build: "this" };
    let start_cache = (with == With::Kept).then_some(cache);
    let options = Options { span_bytes: SPAN, seed, verify, start_cache };
    let mut device: Box<dyn Device> = build(config, &plan, seed, verify).unwrap();
    match with {
        With::Clock => device = Box::new(Clocked(device)),
        With::Choice => {}
        With::NoClock => device.freeze(),
        With::Kept => {
            let mut other = build(config, &plan, seed, verify).unwrap();
            prepare(config, &plan, other.as_mut(), FutureKnowledge::default(), &options, &control)
                .unwrap();
        }
    }
    let device = device.as_mut();
    let (start, _) = prepare(config, &plan, device, known, &options, &control).unwrap();
    let left = contents(&plan, device.units());
    let measured = measure(metrics(config, &plan), device, &mut *workload, &control).unwrap();
    let facts = Facts::default();
    let subject = Subject { config, plan: &plan, device, facts, start };
    let result = RunResult::new(&subject, &measured, seed, 1.0);
    let mut result = serde_json::to_value(&result).unwrap();
    result.as_object_mut().unwrap().remove("engine");
    (result, left)
}

fn load(preset: Option<&str>, sets: &[(String, String)]) -> Option<Config> {
    let config = Config::load(preset, None, sets).ok()?;
    Plan::new(&config, SPAN).ok().map(|_| config)
}

/// Makes the config of these settings. A setting that conflicts with earlier ones is left out.
pub(super) fn config(preset: Option<&str>, settings: &[(&str, &str)]) -> Config {
    let small = [
        ("flash.page", "2KiB"),
        ("mapping.unit", "512B"),
        ("flash.pages_per_block", "24"),
        ("start.volumes_max", "4"),
    ];
    // A preset with a fixed size would take minutes to fill, with some maps.
    let sized = load(preset, &[]).is_some_and(|config| config.flash.blocks.is_some());
    let blocks = sized.then_some(("flash.blocks", "256"));
    let mut sets = vec![];
    for (key, value) in small.iter().chain(&blocks).chain(settings) {
        sets.push(((*key).to_owned(), (*value).to_owned()));
        if load(preset, &sets).is_none() {
            sets.pop();
        }
    }
    load(preset, &sets).unwrap()
}

/// Returns the keys to vary, with their values.
fn settings() -> Vec<(&'static str, Vec<&'static str>)> {
    let rows = [
        ("mapping.scheme", names(MAPPINGS).collect()),
        ("placement.scheme", names(PLACEMENTS).collect()),
        ("cleaning.victim", names(VICTIMS).collect()),
        ("buffer.scheme", names(BUFFERS).collect()),
        ("ftl.scheme", names(LOG_BLOCKS).collect()),
    ];
    let others: [(_, &[&str]); _] = [
        ("mapping.cache", &["1KiB", "4KiB"]),
        ("asa.clock", &["time"]),
        ("placement.gc_destination", &["same", "cold", "reclassify"]),
        ("cleaning.scope", &["stream", "most_invalid", "pressure"]),
        ("placement.isolation", &["persistently"]),
        ("placement.moved_pages", &["apart"]),
        ("placement.reclaim_unit", &["96KiB", "144KiB"]),
        ("cleaning.relabel", &["true"]),
        ("cleaning.foreground_below", &["0.04"]),
        ("cleaning.pacing", &["proportional"]),
        ("cleaning.debt", &["1", "40"]),
        ("queue.head_of_line", &["true"]),
        ("cleaning.copies_per_write", &["2", "9"]),
        ("cleaning.background_below", &["0.06"]),
        ("cleaning.lazy", &["0.6"]),
        ("cleaning.idle_after", &["50us"]),
        ("cleaning.wear_leveling", &["none", "static"]),
        ("cleaning.wear_gap", &["2"]),
        ("slc.dynamic", &["32KiB"]),
        ("slc.when_full", &["fold"]),
        ("slc.idle_after", &["50us"]),
        ("buffer.capacity", &["4KiB", "32KiB"]),
        ("buffer.acknowledge", &["write_through"]),
        ("queue.depth", &["1", "4", "64"]),
        ("queue.queues", &["2", "3"]),
        ("queue.dispatch", &["serial"]),
        ("queue.arrivals", &["open", "closed", "immediate"]),
        ("controller.power_protected", &["true"]),
        ("shrd.contiguous", &["16"]),
        ("host.log", &["96KiB"]),
        ("host.scheme", &["shrd"]),
        ("host.command", &["3us"]),
        ("ftl.journal", &["true"]),
        ("ftl.checkpoint_every", &["300"]),
        ("schedule.order", &["read_first", "all_reads_first"]),
        ("schedule.suspend", &["5us"]),
        ("controller.cores", &["1", "2"]),
        ("controller.translate", &["2us"]),
        ("controller.blocking", &["true"]),
        ("controller.write_memory", &["16KiB"]),
        ("controller.flush_after", &["300us"]),
        ("link.bandwidth", &["100MB/s"]),
        ("flash.channels", &["2", "3"]),
        ("flash.planes", &["2"]),
        ("flash.superblock", &["2", "4"]),
        ("flash.program_pages", &["3"]),
        ("flash.cache_register", &["true"]),
        ("flash.parity", &["2"]),
        ("faults.factory_bad", &["0.02"]),
        ("faults.program", &["1e-4"]),
        ("faults.read", &["1e-3"]),
        ("capacity.spare_factor", &["0.3"]),
        ("start.play", &["zipf:span=256KiB,requests=900,reads=0.5,trim=0.1,aligned=false"]),
    ];
    rows.into_iter().chain(others.map(|(key, values)| (key, values.to_vec()))).collect()
}

fn agrees(config: &Config, seed: u64, verify: bool) {
    let clocked = outcome(config, seed, verify, With::Clock);
    for with in [With::Choice, With::Kept] {
        let (other, left) = outcome(config, seed, verify, with);
        let differ: Vec<_> = clocked.0.as_object().unwrap().iter().collect();
        let differ: Vec<_> =
            differ.into_iter().filter(|(key, value)| other[key.as_str()] != **value).collect();
        assert!(differ.is_empty(), "{with:?} {differ:?} {config:#?}");
        assert!(left == clocked.1, "{with:?} {config:#?}");
    }
}

#[test]
fn every_preset_starts_the_same_without_its_clock() {
    for preset in presets() {
        for fill in FILLS {
            agrees(&config(Some(preset.name), &[("start.fill", fill)]), 1, false);
        }
    }
}

#[test]
fn every_policy_starts_the_same_without_a_clock() {
    for (key, values) in settings() {
        for value in values {
            let config = config(None, &[(key, value), ("start.fill", "random")]);
            agrees(&config, 2, true);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn any_drive_starts_the_same_without_its_clock(
        preset in any::<Option<Index>>(),
        fill in any::<Index>(),
        chosen in vec(any::<(Index, Index)>(), 0..16),
        seed in 0..4_u64,
        verify in any::<bool>(),
    ) {
        let settings = settings();
        let mut sets = vec![("start.fill", *fill.get(&FILLS))];
        sets.extend(chosen.iter().map(|(key, value)| {
            let (key, values) = key.get(&settings);
            (*key, *value.get(values))
        }));
        let preset = preset.map(|preset| preset.get(presets()).name);
        agrees(&config(preset, &sets), seed, verify);
    }
}

/// The clock runs only where the result depends on it.
#[test]
fn a_clock_is_needed_where_it_runs() {
    let needed: [&[_]; _] = [
        &[
            ("controller.power_protected", "true"),
            ("shrd.contiguous", "16"),
            ("host.log", "96KiB"),
            ("host.scheme", "shrd"),
            ("shrd.exclude_below", "0B"),
        ],
        &[("queue.queues", "3"), ("queue.depth", "2"), ("flash.channels", "2")],
        &[("placement.scheme", "asa"), ("asa.clock", "time"), ("asa.update_period", "64")],
    ];
    for sets in needed {
        let config = config(None, &[sets, &[("start.fill", "random")]].concat());
        assert!(depends_on_time(&config).unwrap(), "{sets:?}");
        let [clocked, other] =
            [With::Clock, With::NoClock].map(|with| outcome(&config, 1, true, with));
        assert_ne!(clocked, other, "{sets:?}");
    }
    assert!(!depends_on_time(&config(None, &[("queue.dispatch", "serial")])).unwrap());
}
