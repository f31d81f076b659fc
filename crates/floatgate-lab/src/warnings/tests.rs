//! Each warning and note on a hand-made result, on both sides of its limit.

mod advice;

use floatgate_ftl::nand::Cause;

use super::*;
use crate::config::Config;
use crate::drive::{Plan, build};
use crate::metrics::Metrics;
use crate::result::{CauseCounts, Facts, StartResult, Subject};

/// Result of a drive of 300 units of 16 pages. The drive was overwritten twice and cleaned, and its
/// result has no warnings.
struct Case {
    result: RunResult,
}

const DRIVE: [(&str, &str); 4] = [
    ("flash.page", "512B"),
    ("flash.pages_per_block", "16"),
    ("flash.blocks", "300"),
    ("capacity.spare_factor", "0.1"),
];

impl Case {
    fn new(sets: &[(&str, &str)]) -> Self {
        let sets = [&DRIVE, sets].concat();
        let sets: Vec<_> = sets.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
        let config = Config::load(None, None, &sets).unwrap();
        let plan = Plan::new(&config, 512).unwrap();
        let device = build(&config, &plan, 1, false).unwrap();
        let subject = Subject {
            config: &config,
            plan: &plan,
            device: device.as_ref(),
            facts: Facts::default(),
            start: StartResult::new(config.start.fill),
        };
        let metrics = Metrics::new(plan.user_pages(), 9, true);
        let mut case = Self { result: RunResult::new(&subject, &metrics, 1, 1.0) };
        case.result.workload.read_pages = 1000;
        case.result.flash.erases.gc = 1;
        case.write(3 * u64::from(plan.user_pages()));
        case
    }

    /// Sets the number of pages that the host wrote.
    fn write(&mut self, pages: u64) {
        let workload = &mut self.result.workload;
        workload.write_pages = pages;
        workload.volumes_written = pages as f64 / f64::from(self.result.drive.logical_pages);
        self.result.flash.programs.host = pages;
    }

    fn warnings(&self) -> Vec<String> {
        warnings(&self.result, DriveKind::Run { can_shrink: false })
    }

    fn notes(&self) -> Vec<String> {
        notes(&self.result)
    }

    /// Returns the only warning.
    fn warning(&self) -> String {
        let warnings = self.warnings();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        warnings.concat()
    }

    /// Sets the intervals of the timeline: pages written and write amplification.
    fn intervals(&mut self, intervals: &[(u64, f64)]) {
        let timeline = &mut self.result.timeline;
        *timeline = Timeline::default();
        let mut written = 0;
        for &(pages, factor) in intervals {
            written += pages;
            timeline.host_bytes.push(written * 512);
            timeline.write_amplification.push((pages > 0).then_some(factor));
        }
    }
}

/// Returns the counter of a cause.
fn count_of(counts: &mut CauseCounts, cause: Cause) -> &mut u64 {
    match cause {
        Cause::Host => &mut counts.host,
        Cause::Map => &mut counts.map,
        Cause::Gc => &mut counts.gc,
        Cause::GcMap => &mut counts.gc_map,
        Cause::Merge => &mut counts.merge,
        Cause::Wear => &mut counts.wear,
        Cause::Remap => &mut counts.remap,
        Cause::Journal => &mut counts.journal,
        Cause::Retire => &mut counts.retire,
        Cause::Pad => &mut counts.pad,
        Cause::Fold => &mut counts.fold,
        Cause::Parity => &mut counts.parity,
    }
}

fn contains(text: &str, parts: &[&str]) {
    parts.iter().for_each(|part| assert!(text.contains(part), "{part:?} is not in {text:?}"));
}

#[test]
fn a_run_without_doubts_has_no_warnings() {
    let case = Case::new(&[]);
    assert_eq!((case.warnings(), case.notes()), (vec![], vec![]));
}

#[test]
fn a_drive_that_was_never_cleaned_is_empty() {
    for (scheme, what) in [("page", "cleaning never ran: "), ("bast", "merging never ran: ")] {
        let mut case = Case::new(&[("ftl.scheme", scheme)]);
        assert!(case.warnings().is_empty());
        case.result.flash.erases.gc = 0;
        contains(&case.warning(), &[what, "has nothing of it;", "start.fill = \"steady\""]);
        for cause in [Cause::GcMap, Cause::Merge, Cause::Wear, Cause::Journal, Cause::Retire] {
            *count_of(&mut case.result.flash.erases, cause) = 1;
            assert!(case.warnings().is_empty(), "an erase is an erase");
            *count_of(&mut case.result.flash.erases, cause) = 0;
        }
        case.write(0);
        assert!(case.warnings().is_empty(), "without writes there is no write amplification");
    }
}

#[test]
fn every_quarter_may_differ_from_the_last_by_a_tenth() {
    let mut case = Case::new(&[]);
    for quarter in 0..3 {
        for (factor, steady) in [(10.0, true), (11.0, true), (9.0, true), (11.01, false)] {
            let mut each = [(100, 10.0); 4];
            each[quarter].1 = factor;
            case.intervals(&each);
            assert_eq!(case.warnings().is_empty(), steady, "{quarter}: {factor}");
        }
    }
    case.intervals(&[(100, 1.0), (100, 2.5), (100, 4.8), (100, 5.1)]);
    let words = "not steady: write amplification was 1.000, 2.500, 4.800 and 5.100 in the quarters";
    contains(&case.warning(), &[words, "so the mean is not that", "start.fill = \"steady\""]);
    // The last two quarters agree.
    case.intervals(&[(100, 1.0), (100, 5.0), (100, 5.0), (100, 5.0)]);
    contains(&case.warning(), &["1.000, 5.000, 5.000 and 5.000"]);
}

#[test]
fn quarters_are_of_the_bytes_written() {
    let mut case = Case::new(&[]);
    let before = [(0, 0.0), (390, 11.0), (10, 11.0), (50, 8.0), (150, 12.0)];
    let with = |last: &[(u64, f64)]| [&before[..], last].concat();
    case.intervals(&with(&[(100, 12.5), (0, 0.0), (100, 11.5), (0, 0.0)]));
    assert!(case.warnings().is_empty(), "11 before 12 is within a tenth");
    case.intervals(&with(&[(150, 12.5), (0, 0.0), (50, 12.1), (0, 0.0)]));
    contains(&case.warning(), &["11.000, 11.000, 11.000 and 12.400 in"]);
    case.intervals(&[(100, 1.0), (700, 9.0)]);
    assert!(case.warnings().is_empty(), "two intervals have no quarters");
    case.intervals(&[(0, 0.0), (0, 0.0)]);
    assert!(case.warnings().is_empty(), "nor do those without writes");
}

#[test]
fn a_start_state_settles_or_does_not() {
    let mut case = Case::new(&[("start.fill", "steady"), ("start.volumes_max", "23")]);
    (case.result.start.volumes, case.result.start.settled) = (17.0, Some(true));
    assert!(case.warnings().is_empty());
    let settled = "the start state settled after 17 volumes of random page writes";
    assert_eq!(case.notes(), [settled]);
    case.result.start.settled = Some(false);
    contains(&case.warning(), &["did not settle within start.volumes_max = 23 volumes"]);
    assert!(case.notes().is_empty());
}

#[test]
fn a_read_only_drive_counts_refused_requests() {
    let mut case = Case::new(&[]);
    case.result.faults.refused_requests = 7;
    assert!(case.warnings().is_empty());
    case.result.faults.read_only = true;
    contains(&case.warning(), &["became read-only", ": 7 writes and trims were refused"]);
}

#[test]
fn a_drive_of_few_units_has_little_choice() {
    for (scheme, what) in [("page", "cleaning has few victims"), ("bast", "on single log blocks")] {
        let with = |blocks| Case::new(&[("ftl.scheme", scheme), ("flash.blocks", blocks)]);
        assert!(with("128").warnings().is_empty());
        contains(&with("127").warning(), &["only 127 erase units", "fewer than 128", what]);
    }
    let few = Case::new(&[("flash.blocks", "127")]).result;
    for (can_shrink, advice) in [(true, "smaller units (--units 1024)"), (false, "use a larger")] {
        contains(&warnings(&few, DriveKind::Run { can_shrink }).concat(), &[advice]);
    }
}

#[test]
fn added_units_are_spoken_of() {
    for (scheme, what) in [("page", "could not clean"), ("bast", "could not have its log blocks")] {
        let mut case = Case::new(&[("ftl.scheme", scheme)]);
        case.result.drive.units_added = 1;
        let spare = 1.0 - f64::from(case.result.drive.logical_pages) / 4800.0;
        let spare = format!("its spare factor is {spare:.4}");
        contains(&case.warning(), &["enlarged by 1 erase units", what, &spare]);
    }
}

#[test]
fn a_hundredth_of_the_reads_may_be_of_nothing() {
    let mut case = Case::new(&[("start.fill", "none")]);
    case.result.workload.unwritten_pages_read = 10;
    assert!(case.warnings().is_empty());
    case.result.workload.unwritten_pages_read = 11;
    let never = "1.1 % of the pages read had never been written";
    contains(&case.warning(), &[never, "start.fill = \"sequential\""]);
    (case.result.workload.unwritten_pages_read, case.result.workload.read_pages) = (0, 0);
    assert!(case.warnings().is_empty());
    // On a filled drive, only trimmed pages are unwritten.
    let mut case = Case::new(&[]);
    case.result.workload.unwritten_pages_read = 11;
    contains(&case.warning(), &["1.1 % of the pages read had been trimmed"]);
    assert!(!case.warning().contains("start.fill"));
}

#[test]
fn a_drive_has_to_be_written_over_twice() {
    // Kind of fill, volumes of random pages in it, sufficient volumes of the run, and the drive's
    // name in the warning.
    for (fill, started, enough, to) in [
        ("sequential", 0.0, 2.0, "to a drive that was filled in order"),
        ("shuffled", 0.0, 2.0, "to a drive that was filled in a random order"),
        ("none", 0.0, 3.0, "to an erased drive"),
        ("random", 0.5, 1.5, "to a drive aged by 0.50 volumes (drive capacities) of random pages"),
    ] {
        let mut case = Case::new(&[("start.fill", fill)]);
        let user_pages = case.result.drive.logical_pages;
        assert_eq!(user_pages % 2, 0);
        case.result.start.volumes = started;
        let enough_pages = (enough * f64::from(user_pages)) as u64;
        case.write(enough_pages);
        assert!(case.warnings().is_empty(), "{fill}");
        // Even with unsteady intervals there is only one warning.
        case.intervals(&[(100, 1.0), (100, 1.0), (100, 1.0), (100, 9.0)]);
        case.write(enough_pages - 1);
        let written = format!("{:.2} volumes (drive capacities) were written ", enough - 0.01);
        contains(&case.warning(), &["not that of a drive in long use: ", &written, to, "--repeat"]);
        case.result.flash.erases.gc = 0;
        contains(&case.warning(), &["cleaning never ran: ", "has nothing of it (", &written, to]);
        case.write(1);
        contains(&case.warning(), &["(less than 0.01 volumes (drive capacities) were"]);
    }
    let mut case = Case::new(&[("start.fill", "steady")]);
    case.result.start.volumes = 2.0;
    case.write(1);
    assert!(case.warnings().is_empty(), "a drive that was aged is aged");
}

#[test]
fn the_played_requests_count() {
    let mut case = Case::new(&[("start.fill", "none")]);
    let user_pages = u64::from(case.result.drive.logical_pages);
    for (played, is_aged) in [(2.0, false), (3.0, true)] {
        case.result.start.played_volumes = played;
        case.write(user_pages / 2);
        assert_eq!(case.warnings().is_empty(), is_aged);
    }
    case.result.start.played_volumes = 2.0;
    let words = "0.50 volumes (drive capacities) were written to a drive on which start.play wrote";
    contains(&case.warning(), &[words, "wrote 2.00 volumes"]);
}

/// Solves `u = exp(-alpha (1 - u))` by iteration from below, which cannot pass the least solution.
fn by_repetition(alpha: f64) -> f64 {
    let survives = (0..100_000).fold(0.0, |u: f64, _| (-alpha * (1.0 - u)).exp());
    1.0 / (1.0 - survives)
}

#[test]
fn the_warning_states_the_result_of_a_steady_drive() {
    for (victim, name, s) in
        [("greedy", "greedy", 1.0 + 1.0 / 32.0), ("fifo", "FIFO", 1.0), ("cat", "FIFO", 1.0)]
    {
        for spare in ["0.05", "0.1", "0.28"] {
            let sets = [("capacity.spare_factor", spare), ("cleaning.victim", victim)];
            let mut case = Case::new(&sets);
            case.write(100);
            let alpha = 4800.0 / f64::from(case.result.drive.logical_pages);
            let factor = format!("writes give {:.2} in steady state", by_repetition(s * alpha) / s);
            let form = format!("closed form for {name} cleaning at a spare factor of ");
            let real = format!("{:.4}, map not counted: Desnoyers, SYSTOR 2012", 1.0 - 1.0 / alpha);
            contains(&case.warning(), &[&factor, &form, &real]);
        }
    }
    for scheme in ["bast", "fast"] {
        let mut case = Case::new(&[("ftl.scheme", scheme)]);
        case.write(100);
        let warning = case.warning();
        contains(&warning, &["0.02 volumes (drive capacities) were written"]);
        assert!(!warning.contains("closed form"), "{warning}");
    }
}

/// For A = 1/(1-u), the spare factor has a closed form: alpha = -A ln u.
#[test]
fn the_closed_forms_invert() {
    let spare = |alpha: f64| 1.0 - 1.0 / alpha;
    for factor in [1.001, 1.2, 2.0, 5.5, 7.0, 30.0, 200.0f64] {
        let alpha = -factor * (1.0 - 1.0 / factor).ln();
        let found = fifo(spare(alpha));
        assert!((found / factor - 1.0).abs() < 1e-8, "{found} for {factor}");
        for pages in [4, 64] {
            let s = 1.0 + 0.5 / f64::from(pages);
            let found = greedy(spare(alpha / s), pages);
            assert!((found / (factor / s).max(1.0) - 1.0).abs() < 1e-8, "{found} for {factor}");
        }
    }
}

#[test]
fn a_backlog_is_warned_of_from_half_of_the_latency_on() {
    let mut case = Case::new(&[]);
    let mut wait = |queue, others| {
        case.result.latency.blame_us.queue = Some(queue);
        case.result.latency.all.mean_us = Some(queue + others);
        case.warnings()
    };
    assert!(wait(0.0, 10.0).is_empty());
    assert!(wait(10.0, 10.0).is_empty(), "half is not more than half");
    let warnings = wait(30.0, 10.0).concat();
    contains(
        &warnings,
        &["does not keep up", "75 % of the latency", "queue.arrivals = \"closed\""],
    );
}

#[test]
fn few_writes_to_an_aged_drive_are_noted() {
    let mut case = Case::new(&[("start.fill", "steady")]);
    for (aged, written, is_noted) in
        [(2.0, 0.04, true), (2.0, 0.05, false), (1.9, 0.04, false), (0.0, 0.04, false)]
    {
        case.result.start.volumes = aged;
        case.result.workload.volumes_written = written;
        let noted = case.notes().concat().contains("wrote 0.040 volumes");
        assert_eq!(noted, is_noted, "{aged} {written}");
    }
    case.result.start.volumes = 2.0;
    case.result.workload.volumes_written = 0.04;
    case.result.flash.erases.gc = 0;
    assert!(!case.notes().concat().contains("wrote"), "nothing was cleaned");
}

#[test]
fn emergencies_are_noted() {
    let mut case = Case::new(&[]);
    case.result.cleaning.foreground = 9;
    assert!(case.notes().is_empty());
    case.result.cleaning.emergency = 3;
    contains(&case.notes().concat(), &["in 3 of the cleans free units were so few"]);
}

/// Writes held in the write buffer are no sign of missing cleaning or of too few writes.
#[test]
fn writes_that_all_stay_in_the_buffer_are_no_sign_of_missing_cleaning() {
    let mut case = Case::new(&[("flash.page", "4KiB")]);
    case.write(100_000);
    case.result.flash.programs.host = 0;
    case.result.flash.erases.gc = 0;
    (case.result.buffer.held_pages, case.result.buffer.write_hits) = (8192, 91_808);
    let warning = case.warning();
    contains(&warning, &["nothing has reached the flash: of 100000 pages written 91808 overwrote"]);
    contains(&warning, &["8192 (32 MiB) are still in it", "buffer.capacity"]);
    assert!(!warning.contains("cleaning never ran"));
}

#[test]
fn bytes_that_partly_covered_pages_add_are_noted() {
    let mut case = Case::new(&[]);
    case.result.write_amplification = Some(68.688);
    case.result.page_write_amplification = Some(4.293);
    for (partial, noted) in [(None, false), (Some(0.01), false), (Some(15.0), true)] {
        case.result.amplification.partial = partial;
        assert_eq!(case.notes().len(), usize::from(noted), "{partial:?}");
    }
    contains(&case.notes().concat(), &["15.00 more bytes", "68.688 counts bytes", "4.293 counts"]);
}

#[test]
fn programs_of_the_map_are_noted() {
    let of_map = [Cause::Map, Cause::GcMap, Cause::Remap, Cause::Journal];
    for (cause, name) in Cause::ALL {
        let mut case = Case::new(&[]);
        *count_of(&mut case.result.flash.programs, cause) = 1;
        let notes = case.notes();
        assert_eq!(!notes.is_empty(), of_map.contains(&cause), "{name}");
        notes.iter().for_each(|note| contains(note, &["data_write_amplification does not"]));
    }
}
