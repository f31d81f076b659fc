//! Power failures after every program and erase, in the middle of it, and in the recovery, on every
//! engine with every policy. `floatgate crash` does the same for a user's workload.

mod rows;

use std::fmt::Write as _;

use floatgate_ftl::addr::Lpn;
use floatgate_ftl::buffer::BUFFERS;
use floatgate_ftl::device::HostData;
use floatgate_ftl::log_block::LOG_BLOCKS;
use floatgate_ftl::mapping::MAPPINGS;
use floatgate_ftl::parameters::names;
use floatgate_ftl::placement::PLACEMENTS;
use floatgate_ftl::recovery::Mount;
use floatgate_ftl::victim::VICTIMS;
use floatgate_lab::config::Config;
use floatgate_lab::crash::{Bug, CrashReport, Moments, Options, explore, mount_us};
use floatgate_lab::drive::Plan;
use floatgate_lab::drive::cut::Ledger;
use floatgate_lab::run::{Control, RunError};
use floatgate_lab::workload::generator;

type Sets = Vec<(&'static str, String)>;

/// Drive of about 60 pages of data, with few more units than it needs.
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
    let (moments, again_most) = (Moments::Every(1), u64::MAX);
    Options { span_bytes: 0, seed, moments, again: 25, again_most, bug: None }
}

fn try_report(
    pairs: &[(String, String)],
    workload: &str,
    options: Options,
) -> Result<CrashReport, RunError> {
    let config = Config::load(None, None, pairs).unwrap_or_else(|error| panic!("{error}"));
    let mut workload = generator(workload, options.seed).unwrap_or_else(|error| panic!("{error}"));
    let options = Options { span_bytes: workload.span_bytes(), ..options };
    explore(&config, workload.as_mut(), options, &Control::default())
}

/// Explores a drive. Also returns the command that repeats the exploration.
fn report(sets: &[(&str, String)], requests: u32, options: Options) -> (String, CrashReport) {
    let mut pairs: Vec<(String, String)> =
        TINY.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    pairs.extend(sets.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
    let text = format!("{WORKLOAD},requests={requests}");
    let report = try_report(&pairs, &text, options);
    let report = report.unwrap_or_else(|error| panic!("{sets:?}: {error:?}"));
    let mut command = format!("floatgate crash '{text}' --seed {}", options.seed);
    for (key, value) in &pairs {
        let _ = write!(command, " --set {key}={value}");
    }
    (command, report)
}

/// Explores a drive, and prints the command that repeats the exploration if a page is lost.
fn run(sets: &[(&str, String)], requests: u32, seed: u64, again: u64) -> CrashReport {
    let (command, report) = report(sets, requests, Options { again, ..options(seed) });
    assert_eq!(report.lost, 0, "{:?}\n{command}", report.first_loss);
    report
}

fn needs_no_future(name: &str) -> bool {
    !["oracle", "belady"].contains(&name)
}

/// Returns drives with every mapping, placement, victim policy, buffer, kind of queue and log-block
/// scheme. Each is combined with the policies of the other axes in turn.
fn drives(turn: usize) -> Vec<Sets> {
    let victim = |n: usize| ("cleaning.victim", VICTIMS[n % VICTIMS.len()].name.to_owned());
    let placements: Vec<&str> = names(PLACEMENTS).filter(|name| needs_no_future(name)).collect();
    let mappings: Vec<&str> = names(MAPPINGS).filter(|name| needs_no_future(name)).collect();
    let buffers: Vec<&str> = names(BUFFERS).filter(|name| needs_no_future(name)).collect();
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
            let log = LOG_BLOCKS[(at + turn) % LOG_BLOCKS.len()].name;
            drives.push(buffered.into_iter().chain([set("ftl.scheme", log)]).collect());
        }
    }
    for name in names(LOG_BLOCKS) {
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
        ("cleaning.scope", "pressure"),
        ("queue.dispatch", "serial"),
    ] {
        drives.push(vec![set(key, value), set("placement.scheme", "eti")]);
    }
    for (at, size) in ["8KiB", "12KiB", "20KiB"].into_iter().enumerate() {
        let reclaim = [
            set("placement.reclaim_unit", size),
            set("placement.scheme", placements[(3 * at + turn) % placements.len()]),
            set("mapping.scheme", mappings[(2 * at + turn) % mappings.len()]),
        ];
        drives.push(reclaim.iter().cloned().chain([victim(at + turn)]).collect());
        let mut ahead = reclaim.to_vec();
        ahead.push(set("cleaning.copies_per_write", "2"));
        // An erase unit that is relabelled leaves no mark on flash.
        if at == turn % 3 {
            ahead[1] = set("placement.scheme", "host");
            ahead.extend([set("cleaning.relabel", "true"), set("cleaning.victim", "fifo")]);
        }
        drives.push(ahead);
    }
    let (scheme, pin) = [("fab", "fab.pin"), ("bplru", "bplru.pin"), ("clc", "clc.pin")][turn % 3];
    let pinned = [set(pin, "counted"), set("queue.dispatch", "serial")];
    let buffered = [set("buffer.scheme", scheme), set("buffer.capacity", "16KiB")];
    drives.push([pinned, buffered].concat());
    drives
}

/// Explores drives, each with its own seed.
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

/// How a bug shows.
enum Shows {
    /// Pages have impossible versions.
    Lost,
    /// An assertion about flash or the drive fails, with this message.
    Broken(&'static str),
}

/// A drive with a bug loses data, and the exploration reports the loss. Or the bug first makes an
/// assertion fail.
#[test]
fn each_bug_is_found() {
    let mut wrong = vec![];
    for bug in Bug::ALL {
        let shows = match bug {
            Bug::NoSequence => Shows::Lost,
            Bug::NoScan => Shows::Broken("belongs to another, as None says"),
            Bug::TornPageBelieved => Shows::Lost,
            Bug::WrongOwner => Shows::Broken("belongs to another, as Some(Tag"),
            // The drive has trimmed, and erased, pages that the checkpoint refers to.
            Bug::ForgottenTrims => Shows::Broken("belongs to another, as None says"),
            Bug::EarlyAcknowledge => Shows::Lost,
            Bug::IgnoredFlush => Shows::Lost,
        };
        let is_about_buffers = [Bug::EarlyAcknowledge, Bug::IgnoredFlush].contains(&bug);
        let buffer = if is_about_buffers { "page_lru" } else { "none" };
        // An ignored flush must be found in the workload, not in the fill.
        let fill = set("start.fill", if is_about_buffers { "none" } else { "sequential" });
        let buffer = [set("buffer.scheme", buffer), set("buffer.capacity", "16KiB"), fill];
        let found = std::panic::catch_unwind(|| {
            let options = Options { again: u64::MAX, ..options(1) };
            report(&buffer, 120, Options { bug: Some(bug), ..options }).1
        });
        let found = found.map_err(|panic| {
            let said = panic.downcast_ref::<String>().map(String::as_str);
            said.or(panic.downcast_ref::<&str>().copied()).unwrap_or_default().to_owned()
        });
        let is_shown = match (&shows, &found) {
            (Shows::Lost, Ok(report)) => {
                let loss = report.first_loss.as_ref();
                report.lost > 0 && loss.is_some_and(|loss| !loss.possible.contains(&loss.found))
            }
            (Shows::Broken(words), Err(said)) => said.contains(words),
            _ => false,
        };
        if !is_shown {
            wrong.push((bug, found));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The exploration requires the data of the fill from the first moment on.
#[test]
fn the_start_state_is_durable() {
    let mut pairs = TINY.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
    let buffered =
        [("start.fill", "sequential"), ("buffer.scheme", "page_lru"), ("buffer.capacity", "16KiB")];
    pairs.extend(buffered.map(|(key, value)| (key.to_owned(), value.to_owned())));
    let of = |bug| {
        // The workload itself has no flush.
        let text = "uniform:span=60KiB,size=2KiB,requests=30";
        let report = try_report(&pairs, text, Options { bug, ..options(1) });
        report.unwrap_or_else(|error| panic!("{error:?}"))
    };
    assert_eq!(of(None).lost, 0);
    // Without the flush, the last pages of the fill are only in the buffer. A missing page must be
    // reported.
    let loss = of(Some(Bug::IgnoredFlush)).first_loss.expect("it is found");
    assert_eq!((loss.point, loss.found, loss.possible.len()), (0, None, 1));
}

/// The ledger allows exactly the durable version of a page, and any version since.
#[test]
fn the_ledger_demands_only_durable_data() {
    let (a, b, c) = (Lpn::new(0), Lpn::new(1), Lpn::new(2));
    let mut ledger = Ledger::new(3);
    let of = |ledger: &Ledger| [0, 1, 2].map(|page| ledger.possible(page).to_vec());
    assert_eq!(of(&ledger), [vec![None], vec![None], vec![None]]);
    // Versions are numbered from 1.
    for page in [a, b, a] {
        ledger.accept(page);
    }
    assert_eq!(of(&ledger), [vec![None, Some(1), Some(3)], vec![None, Some(2)], vec![None]]);
    ledger.flushed();
    assert_eq!(of(&ledger), [vec![Some(3)], vec![Some(2)], vec![None]]);
    ledger.forget(b);
    ledger.accept(c);
    assert_eq!(of(&ledger), [vec![Some(3)], vec![Some(2), None], vec![None, Some(4)]]);
    // Without a write-back buffer a write is durable at once, and a trim only after a flush.
    ledger.written();
    assert_eq!(of(&ledger), [vec![Some(3)], vec![Some(2), None], vec![Some(4)]]);
    ledger.flushed();
    assert_eq!(of(&ledger), [vec![Some(3)], vec![None], vec![Some(4)]]);
    ledger.accept(a);
    ledger.found(vec![Some(3), None, Some(4)]);
    assert_eq!(of(&ledger), [vec![Some(3)], vec![None], vec![Some(4)]]);
    assert_eq!(ledger.wrong_reads, 0);
}

/// Each operation takes its own time and the time of its command. Reads and programs also take a
/// transfer. A moved page takes a read and a program.
#[test]
fn a_mount_takes_the_time_of_its_operations_spread_over_the_dies() {
    let sets = [
        ("flash.channels", "2"),
        ("flash.dies", "3"),
        ("flash.page", "1KiB"),
        ("flash.read", "11us"),
        ("flash.program", "101us"),
        ("flash.erase", "1003us"),
        ("flash.bus", "1024MB/s"),
        ("flash.command", "2us"),
    ]
    .map(|(key, value)| (key.to_owned(), value.to_owned()));
    let config = Config::load(None, None, &sets).unwrap_or_else(|error| panic!("{error}"));
    let plan = Plan::new(&config, 1 << 20).unwrap_or_else(|error| panic!("{error}"));
    let us = |mount: Mount| (mount_us(mount, &plan) * 6.0 * 1000.0).round();
    let (read, program, erase) = (11.0 + 1.0 + 2.0, 101.0 + 1.0 + 2.0, 1003.0 + 2.0);
    let none = Mount::default();
    assert_eq!(us(none), 0.0);
    assert_eq!(us(Mount { journal_reads: 3, ..none }), 3000.0 * read);
    assert_eq!(us(Mount { tag_reads: 5, ..none }), 5000.0 * read);
    assert_eq!(us(Mount { moved: 7, ..none }), 7000.0 * (read + program));
    assert_eq!(us(Mount { map_programs: 13, ..none }), 13_000.0 * program);
    assert_eq!(us(Mount { erased: 17, ..none }), 17_000.0 * erase);
    let all =
        Mount { journal_reads: 1, tag_reads: 2, moved: 4, map_programs: 8, erased: 16, ..none };
    assert_eq!(us(all), 1000.0 * (7.0 * read + 12.0 * program + 16.0 * erase));
}

/// Flash in more dies needs the same recoveries, in less time.
#[test]
fn a_mount_is_spread_over_the_dies() {
    let of = |dies: &str, program: &str| {
        let sets = [set("flash.dies", dies), set("flash.program", program)];
        run(&sets, 60, 5, u64::MAX)
    };
    let (one, four, slow) = (of("1", "200us"), of("4", "200us"), of("4", "300us"));
    for other in [&four, &slow] {
        assert_eq!((one.reads_mean, one.programs_mean), (other.reads_mean, other.programs_mean));
        assert_eq!(one.recoveries, other.recoveries);
    }
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9 * a.abs(), "{a} is not {b}");
    close(one.mount_us_mean, 4.0 * four.mount_us_mean);
    close(slow.mount_us_mean - four.mount_us_mean, 100.0 * one.programs_mean / 4.0);
}

/// Unexplored moments are counted, and the explored ones are spread over all moments.
#[test]
fn fewer_moments_are_explored_where_there_are_too_many() {
    let of = |options: Options| {
        let (command, report) = report(&[set("ftl.scheme", "fast")], 100, options);
        assert_eq!(report.lost, 0, "{:?}\n{command}", report.first_loss);
        report
    };
    let all = of(Options { again: 10, ..options(3) });
    let firsts = |report: &CrashReport| report.points - report.second_cuts;
    assert_eq!((firsts(&all), all.every), (all.moments, Some(1)));
    // Every tenth recovery is cut at all its moments, which are about a tenth of all moments of
    // recoveries.
    let share = all.second_cuts as f64 / all.recovery_moments as f64;
    assert!((0.08..0.12).contains(&share), "{share} of the moments of recoveries");

    let few =
        of(Options { moments: Moments::AtMost(100), again: 10, again_most: 37, ..options(3) });
    assert_eq!(few.moments, all.moments);
    let every = all.moments.div_ceil(100);
    assert_eq!((few.every, firsts(&few)), (Some(every), all.moments.div_ceil(every)));
    // Every tenth recovery is cut, and each at the same number of moments.
    let cut = firsts(&few) / 10;
    assert!((cut..=37).contains(&few.second_cuts), "{few:?}");
    assert_eq!(few.recoveries, few.points);
    assert!(few.recovery_moments > few.second_cuts);

    // If the limit allows fewer moments than one in every tenth recovery, fewer recoveries are cut.
    let fewer = of(Options { again: 1, again_most: 7, ..options(3) });
    assert!((1..=7).contains(&fewer.second_cuts), "{fewer:?}");

    let one = of(Options { moments: Moments::Only(41), again: 1, ..options(3) });
    assert_eq!((firsts(&one), one.every, one.moments), (1, None, all.moments));
    assert_eq!(one.second_cuts, one.recovery_moments);
}

#[test]
fn a_moment_that_there_is_not_is_refused() {
    let text = format!("{WORKLOAD},requests=20");
    let pairs = TINY.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let of =
        |point| try_report(&pairs, &text, Options { moments: Moments::Only(point), ..options(1) });
    let moments = of(0).unwrap_or_else(|error| panic!("{error:?}")).moments;
    assert_eq!(of(moments - 1).map_or(0, |report| report.points - report.second_cuts), 1);
    for point in [moments, u64::MAX] {
        let Err(RunError::Config(error)) = of(point) else { panic!("{point} is explored") };
        let words = format!("point: {point} given; this workload has {moments} moments");
        assert!(error.to_string().starts_with(&words), "{error}");
    }
}

/// A mount reads the pages written since the last checkpoint, not the whole drive.
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
