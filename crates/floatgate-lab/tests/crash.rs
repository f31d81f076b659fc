//! The power fails after every program and erase, in the middle of it, and in the recovery, on
//! every engine with every policy. `floatgate crash` does the same for a user's workload.

use std::fmt::Write as _;

use floatgate_ftl::buffer::BUFFERS;
use floatgate_ftl::log_block::LOG_BLOCKS;
use floatgate_ftl::mapping::MAPPINGS;
use floatgate_ftl::nand::Watch;
use floatgate_ftl::placement::PLACEMENTS;
use floatgate_ftl::victim::VICTIMS;
use floatgate_lab::config::Config;
use floatgate_lab::crash::{Bug, CrashReport, Options, explore};
use floatgate_lab::run::Control;
use floatgate_lab::workload::generator;

type Sets = Vec<(&'static str, String)>;

/// A drive of some 60 pages of data, with few more units than it needs.
const TINY: [(&str, &str); 6] = [
    ("flash.page", "1KiB"),
    ("flash.pages_per_block", "4"),
    ("flash.channels", "1"),
    ("capacity.spare_factor", "0.2"),
    ("mapping.cache", "2KiB"),
    ("ftl.checkpoint_every", "150"),
];

const WORKLOAD: &str = "uniform:span=60KiB,size=2KiB,aligned=false,reads=0.05,trim=0.1,flush=0.1";

fn set(key: &'static str, value: &str) -> (&'static str, String) {
    (key, value.to_owned())
}

fn options(seed: u64) -> Options {
    Options { span_bytes: 0, seed, watch: Watch::Every(1), again: 25, bug: None }
}

/// Explores a drive; the command does it again.
fn report(sets: &[(&str, String)], requests: u32, options: Options) -> (String, CrashReport) {
    let mut pairs: Vec<(String, String)> =
        TINY.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    pairs.extend(sets.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
    let config = Config::load(None, None, &pairs).unwrap_or_else(|error| panic!("{error}"));
    let text = format!("{WORKLOAD},requests={requests}");
    let mut workload = generator(&text, options.seed).unwrap_or_else(|error| panic!("{error}"));
    let options = Options { span_bytes: workload.span_bytes(), ..options };
    let report = explore(&config, workload.as_mut(), options, &Control::default());
    let report = report.unwrap_or_else(|error| panic!("{sets:?}: {error:?}"));
    let mut command = format!("floatgate crash '{text}' --seed {}", options.seed);
    for (key, value) in &pairs {
        let _ = write!(command, " --set {key}={value}");
    }
    (command, report)
}

/// Explores a drive, and says how to do it again if anything is lost.
fn run(sets: &[(&str, String)], requests: u32, seed: u64, again: u64) -> CrashReport {
    let (command, report) = report(sets, requests, Options { again, ..options(seed) });
    assert_eq!(report.lost, 0, "{:?}\n{command}", report.first_loss);
    report
}

fn needs_no_future(name: &str) -> bool {
    !["oracle", "belady"].contains(&name)
}

/// Every mapping, placement, victim policy, buffer, form of the queue and scheme of log blocks,
/// each with the other axes in turn.
fn drives(turn: usize) -> Vec<Sets> {
    let victim = |n: usize| ("cleaning.victim", VICTIMS[n % VICTIMS.len()].0.to_owned());
    let placements: Vec<&str> =
        PLACEMENTS.iter().map(|row| row.0).filter(|name| needs_no_future(name)).collect();
    let mappings: Vec<&str> =
        MAPPINGS.iter().map(|row| row.0).filter(|name| needs_no_future(name)).collect();
    let buffers: Vec<&str> =
        BUFFERS.iter().map(|row| row.0).filter(|name| needs_no_future(name)).collect();
    let mut drives: Vec<Sets> = Vec::new();
    for (at, mapping) in mappings.iter().enumerate() {
        let placement = placements[(at + turn) % placements.len()];
        drives.push(vec![
            set("mapping.scheme", mapping),
            set("placement.scheme", placement),
            victim(at + turn),
        ]);
    }
    for (at, placement) in placements.iter().enumerate() {
        let mapping = mappings[(at + turn) % mappings.len()];
        let sets = [set("placement.scheme", placement), set("mapping.scheme", mapping)];
        drives.push(sets.into_iter().chain([victim(at + turn)]).collect());
    }
    for (at, buffer) in buffers.iter().enumerate() {
        for acknowledge in ["write_back", "write_through"] {
            let buffered = [
                set("buffer.scheme", buffer),
                set("buffer.acknowledge", acknowledge),
                set("buffer.capacity", "16KiB"),
            ];
            let mapping = set("mapping.scheme", mappings[(at + turn) % mappings.len()]);
            drives.push(buffered.iter().cloned().chain([mapping]).collect());
            let log = LOG_BLOCKS[(at + turn) % LOG_BLOCKS.len()].0;
            drives.push(buffered.into_iter().chain([set("ftl.scheme", log)]).collect());
        }
    }
    for (name, ..) in LOG_BLOCKS {
        drives.push(vec![set("ftl.scheme", name)]);
    }
    drives.push(vec![set("bast.victim", "lru"), set("ftl.scheme", "bast")]);
    drives.push(vec![set("bast.merge_when_full", "lazy"), set("ftl.scheme", "bast")]);
    drives.push(vec![set("fast.out_of_order", "random"), set("ftl.scheme", "fast")]);
    for mapping in ["ideal", "page_cache"] {
        let shrd = [
            set("host.scheme", "shrd"),
            set("host.log", "40KiB"),
            set("host.threshold", "4KiB"),
            set("shrd.contiguous", "4"),
            set("shrd.twrite_entries", "6"),
        ];
        let queue = [set("queue.depth", "8"), set("mapping.scheme", mapping)];
        drives.push(shrd.into_iter().chain(queue).collect());
    }
    for (key, value) in [
        ("cleaning.copies_per_write", "2"),
        ("cleaning.wear_leveling", "static"),
        ("cleaning.scope", "stream"),
        ("queue.dispatch", "serial"),
    ] {
        drives.push(vec![set(key, value), set("placement.scheme", "eti")]);
    }
    drives
}

/// Explores drives, each on its own seed.
fn explore_all(drives: &[Sets], requests: u32, turn: u64, again: u64) -> CrashReport {
    let mut all = CrashReport::default();
    for (at, sets) in drives.iter().enumerate() {
        all.add(&run(sets, requests, 1000 * turn + at as u64, again));
    }
    println!("{all:?}");
    all
}

#[test]
fn nothing_durable_is_lost_wherever_power_fails() {
    let all = explore_all(&drives(0), 200, 0, 25);
    assert!(all.points >= 100_000, "{all:?}");
    assert!(all.second_cuts > 10_000 && all.went_on > 2000 && all.torn_seen > 10_000, "{all:?}");
}

/// A drive with a bug loses data, and the exploration says so, by its report or by stopping at a
/// rule of flash that is broken.
#[test]
fn each_bug_is_found() {
    for bug in Bug::ALL {
        let buffer = if bug == Bug::EarlyAcknowledge { "page_lru" } else { "none" };
        let buffer = [set("buffer.scheme", buffer), set("buffer.capacity", "16KiB")];
        let found = std::panic::catch_unwind(|| {
            let options = Options { again: u64::MAX, ..options(1) };
            report(&buffer, 120, Options { bug: Some(bug), ..options }).1.lost
        });
        assert!(found.is_err() || found.is_ok_and(|lost| lost > 0), "{bug:?} is not found");
    }
}

/// What is read is what was written since the last checkpoint, not the drive.
#[test]
fn a_mount_reads_less_where_checkpoints_are_taken_more_often() {
    let reads = |every: &str| {
        let sets = [
            set("mapping.scheme", "ideal"),
            set("ftl.checkpoint_every", every),
            ("capacity.spare_factor", "0.4".to_owned()),
        ];
        run(&sets, 1000, 3, u64::MAX).reads_mean
    };
    let means = ["64", "256", "1000000"].map(reads);
    println!("{means:?}");
    assert!(means[0] < means[1] && means[1] < means[2], "{means:?}");
}

#[test]
#[ignore = "long: make test-long"]
fn nothing_durable_is_lost_in_millions_of_places() {
    let mut all = CrashReport::default();
    for turn in 1..=5 {
        all.add(&explore_all(&drives(turn), 400, turn as u64, 25));
    }
    println!("{all:?}");
    assert!(all.points >= 2_000_000, "{all:?}");
}
