//! The order of steps in a run, on a drive that records its calls.

mod keeping;
mod sampling;
mod standing;

use std::sync::{Arc, Mutex};

use floatgate_ftl::counters::{Counters, DieUse, OwnerCounts, StreamCounts};
use floatgate_ftl::device::{DeviceClock, Inspect};
use floatgate_ftl::forward_device;
use floatgate_ftl::nand::Blame;
use floatgate_ftl::request::{Completion, Request};

use super::lookahead::future_knowledge;
use super::measure::measure;
use super::*;
use crate::workload::{Broken, Summary, generator};

/// Drive that records the calls it gets.
struct Noting {
    drive: Box<dyn Device>,
    notes: Vec<&'static str>,
    checks: Mutex<u32>,
}

impl Noting {
    fn note(&mut self, what: &'static str) -> &mut dyn Device {
        if self.notes.last() != Some(&what) {
            self.notes.push(what);
        }
        self.drive.as_mut()
    }
}

impl Device for Noting {
    forward_device!(drive: sees_ahead);

    fn run_ahead(&mut self, requests: &[Request], count: usize, done: &mut Vec<Completion>) {
        assert_eq!(*self.checks.lock().unwrap(), 0, "a drive is checked at the end");
        self.note("run").run_ahead(requests, count, done);
    }

    fn write_back(&mut self) {
        self.note("write_back").write_back();
    }

    fn set_future(&mut self, known: FutureKnowledge) {
        self.note("set_future").set_future(known);
    }

    fn cut_power(&mut self) {
        self.note("cut_power").cut_power();
    }

    fn reset_counters(&mut self) {
        self.note("reset_counters").reset_counters();
    }
}

impl Inspect for Noting {
    forward_device!(drive: counters units room_until_cleaning);

    fn check(&self) {
        *self.checks.lock().unwrap() += 1;
        self.drive.check();
    }
}

impl DeviceClock for Noting {}

const SPEC: &str = "uniform:span=256KiB,requests=3000,size=512,reads=0.5,seed=3";

const OPTIONS: Options<'_> =
    Options { span_bytes: 256 << 10, seed: 1, verify: false, start_cache: None };

/// Makes a config of a small drive, its plan, and the drive.
fn small(sets: &[(&str, &str)]) -> (Config, Plan, Noting) {
    let page = [("flash.page", "512B"), ("flash.pages_per_block", "16")];
    let sets = [&page, sets].concat();
    let sets: Vec<_> = sets.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
    let config = Config::load(None, None, &sets).unwrap();
    let plan = Plan::new(&config, 256 << 10).unwrap();
    let drive = build(&config, &plan, 1, true).unwrap();
    (config, plan, Noting { drive, notes: Vec::new(), checks: Mutex::new(0) })
}

fn blank_owners(counters: &Counters) -> Vec<OwnerCounts> {
    let places = counters.owners.len() + 1;
    vec![OwnerCounts { gc_pages: vec![0; places], ..OwnerCounts::default() }; places - 1]
}

#[test]
fn a_drive_is_filled_settled_given_the_future_and_reset() {
    let (config, plan, mut device) =
        small(&[("mapping.scheme", "belady"), ("placement.scheme", "oracle")]);
    let (mut workload, control) = (generator(SPEC, 1).unwrap(), Control::default());
    let future = future_knowledge(&config, &plan, &*workload, &control).unwrap();
    assert!(future.accesses.is_some() && future.writes.is_some() && future.blocks.is_none());
    prepare(&config, &plan, &mut device, future, &OPTIONS, &control).unwrap();
    let before = ["run", "write_back", "reset_counters", "set_future"];
    assert_eq!(device.notes, before);
    let counters = device.counters();
    let Counters { health, cache_bytes, placement_bytes, extents, .. } = counters;
    let levels = Counters {
        health,
        cache_bytes,
        placement_bytes,
        extents,
        streams: vec![StreamCounts::default(); counters.streams.len()],
        owners: blank_owners(&counters),
        dies: vec![DieUse::default()],
        channels: vec![Blame::default()],
        ..Counters::default()
    };
    assert_eq!(counters, levels);
    assert_eq!(*device.checks.lock().unwrap(), 0);
    measure(metrics(&config, &plan), &mut device, &mut *workload, &control).unwrap();
    assert_eq!(device.notes, [&before[..], &["run"]].concat());
    assert_eq!(*device.checks.lock().unwrap(), 1, "every run ends with a check");
}

#[test]
fn a_buffer_sees_future_blocks() {
    let sets = [("buffer.scheme", "belady"), ("buffer.capacity", "32KiB")];
    let (config, plan, mut device) = small(&sets);
    let (workload, control) = (generator(SPEC, 1).unwrap(), Control::default());
    let future = future_knowledge(&config, &plan, &*workload, &control).unwrap();
    assert!(future.accesses.is_none() && future.writes.is_none() && future.blocks.is_some());
    prepare(&config, &plan, &mut device, future, &OPTIONS, &control).unwrap();
    assert_eq!(device.notes, ["run", "write_back", "reset_counters", "set_future"]);
    assert_eq!(device.counters().buffer.unwrap().held, 0, "what was buffered is on the flash");
}

/// Workload that cancels the run when the run, or a pass that looks ahead, takes requests from it.
struct Cancelling {
    requests: Box<dyn Workload + Send>,
    control: Arc<Control>,
    is_fork: bool,
    in_fork: bool,
}

impl Workload for Cancelling {
    fn next_batch(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), Broken> {
        if self.is_fork == self.in_fork {
            self.control.cancel();
        }
        self.requests.next_batch(out, max)
    }

    fn fork(&self) -> Box<dyn Workload + Send> {
        let control = Arc::clone(&self.control);
        let requests = self.requests.fork();
        Box::new(Self { requests, control, is_fork: true, in_fork: self.in_fork })
    }

    fn summary(&self) -> Summary {
        self.requests.summary()
    }
}

/// Returns the phase of a cancelled run at the cancellation, the requests done, and their total.
fn cancelled(sets: &[(&str, &str)], at_once: bool, in_fork: bool) -> (&'static str, u64, u64) {
    let (config, ..) = small(sets);
    let control = Arc::new(Control::default());
    if at_once {
        control.cancel();
    }
    let requests = generator(SPEC, 1).unwrap();
    let mut workload =
        Cancelling { requests, control: Arc::clone(&control), is_fork: false, in_fork };
    let facts = Facts::default();
    let end = run(&config, &mut workload, facts, OPTIONS, &control);
    assert!(matches!(end, Err(RunError::Cancelled)), "{end:?}");
    control.progress()
}

#[test]
fn a_run_can_be_cancelled_in_every_phase() {
    let batch = BATCH as u64;
    let oracle = [("placement.scheme", "oracle")];
    assert_eq!(cancelled(&oracle, false, true), ("foretell", batch, 3000));
    // The first batch has the size of an interval: 3000/256 requests, rounded up.
    assert_eq!(cancelled(&oracle, false, false), ("run", 12, 3000));
    assert_eq!(cancelled(&[("start.fill", "none")], true, false), ("run", 12, 3000));
    let pages = u64::from(small(&[]).1.user_pages());
    let first = pages.min(batch);
    let fills = [("sequential", pages), ("shuffled", pages), ("random", 3 * pages)];
    for (fill, total) in fills.into_iter().chain([("steady", 0), ("sampled", 0)]) {
        assert_eq!(cancelled(&[("start.fill", fill)], true, false), ("fill", first, total));
    }
}

#[test]
fn progress_counts_to_the_end() {
    let (config, ..) = small(&[("start.fill", "random"), ("start.overwrites", "0.5")]);
    let control = Control::default();
    assert_eq!(control.progress(), ("", 0, 0));
    let mut workload = generator(SPEC, 1).unwrap();
    run(&config, &mut *workload, Facts::default(), OPTIONS, &control).unwrap();
    assert_eq!(control.progress(), ("run", 3000, 3000));
}

/// Runs the start of a drive with these generators in `start.play`. Returns the result and the
/// counters.
fn played(play: &str, seed: u64) -> (StartResult, Counters) {
    let (config, plan, mut device) = small(&[("start.fill", "none"), ("start.play", play)]);
    let started = start(&config, &plan, &mut device, seed, &Control::default()).unwrap();
    device.check();
    (started, device.counters())
}

#[test]
fn generators_are_played_before_the_workload() {
    let pages = u64::from(small(&[]).1.user_pages());
    let fill = format!("sequential:span={},size=512,writes={pages}", pages * 512);
    let over = format!("shuffled:span={},size=512,writes={}", pages * 512, 2 * pages);
    for (play, volumes) in
        [(fill.clone(), 1), (over.clone(), 2), (format!("{fill};;\n {over} ;"), 3), (" ".into(), 0)]
    {
        let (started, counters) = played(&play, 1);
        assert_eq!(started.played_volumes, f64::from(volumes), "{play}");
        assert_eq!(counters.host.write_pages, u64::from(volumes as u32) * pages, "{play}");
        assert_eq!(started.volumes, 0.0);
    }
    let times = format!("uniform:span=128KiB,size=512,writes={pages},interarrival=1s");
    assert_eq!(played(&times, 1).1.host.write_pages, pages, "whatever times they have");
    assert_ne!(played(&format!("{fill};{over}"), 1).1, played(&format!("{fill};{over}"), 2).1);
    let same = format!("{fill};{over},seed=3");
    assert_eq!(played(&same, 1).1, played(&same, 2).1, "a seed in the text counts");
}

#[test]
fn an_unplayable_request_is_named() {
    let wrong = |play: &str| {
        let (config, plan, mut device) = small(&[("start.play", play)]);
        let end = start(&config, &plan, &mut device, 1, &Control::default());
        assert!(device.notes.is_empty(), "nothing is written before all is known to be right");
        match end {
            Err(RunError::Config(error)) => error.to_string(),
            other => panic!("{other:?}"),
        }
    };
    let text = wrong("uniform:span=1MiB");
    assert_eq!(
        text,
        "start.play: uniform: writes is missing; for example writes=1M (or requests=1M)"
    );
    let text = wrong("uniform:span=1MiB,writes=1");
    assert!(
        text.starts_with("start.play: uniform:span=1MiB,writes=1 spans 1048576 bytes: expected at")
    );
}
