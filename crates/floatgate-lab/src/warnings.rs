//! Warnings and notes that help a reader judge a result.
//!
//! A warning states that a number is misleading, and what to change. A note states how a number
//! came about. Both are computed from the result alone and from the kind of drive that it describes
//! ([`DriveKind`]).

mod notes;

use crate::config::Fill;
use crate::drive::UNITS_FEW;
use crate::result::{RunResult, Timeline, quarters};
pub use notes::notes;

/// Write amplification of each quarter of a run may differ from the last quarter's value by this
/// share.
const STEADY: f64 = 0.1;
/// Volumes (drive capacities) that must be written after the initial fill. With fewer volumes,
/// write amplification describes a fresh drive. `start.fill = "random"` writes this many volumes by
/// default, and SNIA's Performance Test Specification writes them before a test.
const AGED: f64 = 2.0;
/// Share of the pages read that may be unwritten.
const UNWRITTEN: f64 = 0.01;
/// Share of the mean latency that may be waiting time for a place in the queue.
const BACKLOG: f64 = 0.5;

/// Kind of drive that a result describes. The advice in a warning depends on it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum DriveKind {
    /// Drive of a simulation run.
    Run {
        /// Whether `--units 1024` would make its erase units smaller.
        can_shrink: bool,
    },
    /// Simulated drive next to a live one. It serves the requests of the live drive's clients.
    Shadow,
    /// Live drive.
    Live {
        /// Drive capacities programmed to its flash in all its life.
        volumes_ever: f64,
    },
    /// Live drive in zones. Hosts reset its zones, and nothing is cleaned.
    Zoned,
}

/// Advice for each kind of warning.
struct Remedies {
    /// Nothing was cleaned.
    uncleaned: &'static str,
    /// The drive is nearly new.
    fresh: &'static str,
    /// Write amplification has changed.
    unsteady: &'static str,
    /// There are few erase units.
    few_units: &'static str,
    /// Only one placement handle is used.
    one_handle: &'static str,
    /// The host read pages that were never written.
    unwritten: &'static str,
}

const RUN: Remedies = Remedies {
    uncleaned: "use more writes, --repeat, a smaller drive, or start.fill = \"steady\"",
    fresh: "use start.fill = \"steady\", more writes, or --repeat",
    unsteady: "use a longer run, --repeat with a multiple of 4 (then each quarter has whole \
               rounds), or start.fill = \"steady\"",
    few_units: "use smaller units (--units 1024), a larger workload, or a larger flash.blocks",
    one_handle: "a trace names handles in a column `stream`",
    unwritten: "use start.fill = \"sequential\"",
};

/// The caller has set the size of the erase units, or they are as small as is useful.
const RUN_OF_SMALL_UNITS: Remedies =
    Remedies { few_units: "use a larger workload, or a larger flash.blocks", ..RUN };

/// A shadow has the capacity of the live drive, and its requests.
const SHADOW: Remedies = Remedies {
    uncleaned: "wait for more writes, or use start.fill = \"steady\" for it",
    fresh: "wait for more writes, or use start.fill = \"steady\" for it",
    unsteady: "wait for more writes, or use start.fill = \"steady\" for it",
    few_units: "use a larger flash.blocks, or smaller units (flash.superblock, \
                flash.pages_per_block) for it",
    one_handle: LIVE.one_handle,
    unwritten: "use start.fill = \"sequential\" for it",
};

/// Only its clients fill and age a live drive.
const LIVE: Remedies = Remedies {
    uncleaned: "write more to it, or use a smaller --size",
    fresh: "write more to it, or use a smaller --size",
    unsteady: "begin anew when it is steady (floatgate ctl reset)",
    few_units: "use a larger --size, or smaller units (flash.superblock, flash.pages_per_block)",
    one_handle: "a host names a handle with each write (NVMe) or by its export, as `handle-1` \
                 (NBD), and each active zone has its own",
    unwritten: "write to them before",
};

impl DriveKind {
    fn remedies(self) -> &'static Remedies {
        match self {
            Self::Run { can_shrink: true } => &RUN,
            Self::Run { can_shrink: false } => &RUN_OF_SMALL_UNITS,
            Self::Shadow => &SHADOW,
            Self::Live { .. } | Self::Zoned => &LIVE,
        }
    }
}

/// Returns the warnings about the numbers of a result.
pub fn warnings(result: &RunResult, kind: DriveKind) -> Vec<String> {
    let mut warnings = Vec::new();
    let (drive, remedies) = (&result.drive, kind.remedies());
    let logs = result.config.logs_least().is_some();
    let is_cleaned = kind != DriveKind::Zoned;
    warnings.extend(amplification(result, kind));
    if result.start.settled == Some(false) {
        warnings.push(format!(
            "the start state did not settle within start.volumes_max = {} volumes",
            result.config.start.volumes_max
        ));
    }
    if result.faults.read_only {
        warnings.push(format!(
            "the drive became read-only, as its spare erase units were used up: {} writes and \
             trims were refused",
            result.faults.refused_requests
        ));
    }
    if is_cleaned {
        warnings.extend(few_units(result, remedies));
    }
    if drive.units_added > 0 {
        let what = if logs { "not have its log blocks" } else { "not clean" };
        warnings.push(format!(
            "the drive was enlarged by {} erase units beyond its spare, without which it could \
             {what}: its spare factor is {:.4}",
            drive.units_added, drive.spare_factor
        ));
    }
    if is_cleaned {
        warnings.extend(handles(result, remedies));
    }
    if matches!(kind, DriveKind::Run { .. }) {
        warnings.extend(window(result));
    }
    warnings.extend(reads_of_nothing(result, remedies));
    warnings.extend(backlog(result, kind));
    warnings
}

/// Warns about a drive whose results depend on single units.
fn few_units(result: &RunResult, remedies: &Remedies) -> Option<String> {
    let size = result.config.largest_reclaim_unit();
    let (units, name) =
        (result.drive.units / size, if size > 1 { "reclaim units" } else { "erase units" });
    let what = match result.config.logs_least() {
        Some(_) => "results depend on single log blocks",
        None => "cleaning has few victims to choose from",
    };
    (units < UNITS_FEW).then(|| {
        let advice = remedies.few_units;
        format!("only {units} {name}: with fewer than {UNITS_FEW} {what}; {advice}")
    })
}

/// Warns about placement handles that the drive does not have, or that separate nothing.
fn handles(result: &RunResult, remedies: &Remedies) -> Option<String> {
    let (config, streams) = (&result.config.placement, &result.placement.streams);
    let unknown = result.placement.unknown_handles;
    if unknown > 0 {
        return Some(format!(
            "{unknown} writes named a placement handle that the drive does not have \
             (placement.handles = {}): they went to handle 0",
            config.handles
        ));
    }
    let written = streams.iter().filter(|stream| stream.host_pages > 0).count();
    (config.scheme == "host" && config.handles > 1 && written == 1).then(|| {
        format!(
            "all writes have the same placement handle: placement.scheme = \"host\" separates \
             nothing; {}",
            remedies.one_handle
        )
    })
}

/// Warns about reads of unwritten pages, which cost nothing.
fn reads_of_nothing(result: &RunResult, remedies: &Remedies) -> Option<String> {
    let unwritten = result.workload.unwritten_pages_read as f64;
    let share = unwritten / result.workload.read_pages.max(1) as f64;
    let (why, advice) = match result.start.fill {
        Fill::None => {
            let advice = format!("; {}", remedies.unwritten);
            ("had never been written, or not since they were trimmed,", advice)
        }
        _ => ("had been trimmed", String::new()),
    };
    (share > UNWRITTEN).then(|| {
        format!("{:.1} % of the pages read {why} and cost no flash read{advice}", 100.0 * share)
    })
}

/// Warns if the recorded window is shorter than configured.
fn window(result: &RunResult) -> Option<String> {
    let asked = result.config.lanes.window?;
    let left_out = result.lanes.left_out_ns;
    if result.lanes.to_ns.is_none() {
        let around = result.config.lanes.around;
        let seconds = result.throughput.device_seconds?;
        return Some(format!(
            "no dies and channels were recorded: no time passed in the window around \
             lanes.around = \"{around}\"; the run took {seconds} s"
        ));
    }
    (left_out > 0).then(|| {
        format!(
            "{} ms of lanes.window = \"{asked}\" were left out: dies and channels did more in it \
             than lanes.spans = {}; use a smaller lanes.window, or a larger lanes.spans",
            left_out as f64 / 1e6,
            result.config.lanes.spans
        )
    })
}

/// Warns if write amplification differs from that of a drive in long use.
fn amplification(result: &RunResult, kind: DriveKind) -> Option<String> {
    if result.workload.write_pages == 0 {
        return None;
    }
    if result.flash.programs.total() == 0 {
        return Some(all_in_buffer(result));
    }
    let remedies = kind.remedies();
    let fresh = match kind {
        DriveKind::Run { .. } | DriveKind::Shadow => fresh(result),
        DriveKind::Live { volumes_ever } => young(result, volumes_ever),
        DriveKind::Zoned => return None,
    };
    if result.flash.erases.total() == 0 {
        let logs = result.config.logs_least().is_some();
        let never = if logs { "merging never ran" } else { "cleaning never ran" };
        let fresh = fresh.map_or(String::new(), |fresh| format!(" ({fresh})"));
        return Some(format!(
            "{never}: write amplification has nothing of it{fresh}; {}",
            remedies.uncleaned
        ));
    }
    if let Some(fresh) = fresh {
        return Some(format!(
            "write amplification is not that of a drive in long use: {fresh}; {}",
            remedies.fresh
        ));
    }
    let [first, second, third, last] = unsteady(&result.timeline)?;
    Some(format!(
        "not steady: write amplification was {first:.3}, {second:.3}, {third:.3} and {last:.3} in \
         the quarters of the writes, so the mean is not that of a drive in long use; {}",
        remedies.unsteady
    ))
}

/// Warns that nothing has reached the flash although the host wrote.
fn all_in_buffer(result: &RunResult) -> String {
    let (buffer, drive) = (&result.buffer, &result.drive);
    let pages = buffer.held_pages;
    let mib = (pages * u64::from(drive.page_bytes)) as f64 / f64::from(1 << 20);
    format!(
        "nothing has reached the flash: of {} pages written {} overwrote pages in the write \
         buffer, and {pages} ({mib} MiB) are still in it, so write amplification and wear are 0; \
         use more writes over a larger span, flushes, or a smaller buffer.capacity",
        result.workload.write_pages, buffer.write_hits
    )
}

/// Describes how little was written to a drive that was overwritten less than twice, and the
/// expected write amplification of a drive in long use.
fn fresh(result: &RunResult) -> Option<String> {
    let played = result.start.played_volumes;
    let started = result.start.volumes + played;
    let written = result.workload.volumes_written;
    let (filling, to) = match result.start.fill {
        Fill::None if played > 0.0 => {
            (1.0, format!("a drive on which start.play wrote {}", volumes(played)))
        }
        Fill::None => (1.0, "an erased drive".to_owned()),
        Fill::Sequential => (0.0, "a drive that was filled in order".to_owned()),
        Fill::Shuffled => (0.0, "a drive that was filled in a random order".to_owned()),
        Fill::Random | Fill::Steady | Fill::Sampled => {
            (0.0, format!("a drive aged by {} of random pages", volumes(started)))
        }
    };
    let text = || format!("{} were written to {to}{}", volumes(written), expected(result));
    (started + written < AGED + filling).then(text)
}

/// Describes the same for a live drive, which was erased when it was new.
fn young(result: &RunResult, volumes_ever: f64) -> Option<String> {
    let text =
        || format!("{} were programmed in all its life{}", volumes(volumes_ever), expected(result));
    (volumes_ever < AGED + 1.0).then(text)
}

/// Prints a number of volumes, rounded down, so that a number below a limit never seems to reach
/// it.
fn volumes(count: f64) -> String {
    match (count * 100.0).floor() / 100.0 {
        0.0 => "less than 0.01 volumes (drive capacities)".into(),
        hundredths => format!("{hundredths:.2} volumes (drive capacities)"),
    }
}

/// Describes the expected write amplification in steady state, for page-mapped drives.
fn expected(result: &RunResult) -> String {
    if result.config.logs_least().is_some() {
        return String::new();
    }
    let spare = result.drive.spare_factor;
    let (cleaning, factor) = match result.config.cleaning.victim.as_str() {
        "greedy" => ("greedy", greedy(spare, result.drive.pages_per_unit)),
        _ => ("FIFO", fifo(spare)),
    };
    format!(
        "; uniform random page writes give {factor:.2} in steady state (closed form for {cleaning} \
         cleaning at a spare factor of {spare:.4}, map not counted: Desnoyers, SYSTOR 2012)"
    )
}

/// Returns the write amplification of data in steady state, under uniform random page writes, if
/// the unit written first is cleaned first.
///
/// A page survives one round of the log, alpha U (1-u) host writes with alpha = T/U, with the
/// probability u = exp(-alpha (1-u)). Write amplification is 1/(1-u) (Desnoyers, "Analytic modeling
/// of SSD write performance", SYSTOR 2012). With v = 1-u, the function v - 1 + exp(-alpha v) falls
/// from 0 to its minimum at ln(alpha)/alpha and then rises. The root lies between this minimum and
/// 1.
fn fifo(spare_factor: f64) -> f64 {
    let alpha = 1.0 / (1.0 - spare_factor);
    let (mut low, mut high) = (libm::log(alpha) / alpha, 1.0);
    // More bisections than a double has bits.
    for _ in 0..64 {
        let middle = (low + high) / 2.0;
        let is_beyond = middle + libm::expm1(-alpha * middle) >= 0.0;
        (low, high) = if is_beyond { (low, middle) } else { (middle, high) };
    }
    1.0 / high
}

/// Returns the same if the unit with the fewest valid pages is cleaned first (Desnoyers, as above):
/// with s = 1 + 1/(2 pages per unit), the write amplification of a log s times as long, divided by
/// s. Empty victims cost nothing.
fn greedy(spare_factor: f64, pages_per_unit: u32) -> f64 {
    let stretch = 1.0 + 0.5 / f64::from(pages_per_unit);
    let stretched = 1.0 - (1.0 - spare_factor) / stretch;
    (fifo(stretched) / stretch).max(1.0)
}

/// Returns the write amplification of the quarters, if one of them differs from the last. If none
/// differs, the mean over the run does not differ either.
fn unsteady(timeline: &Timeline) -> Option<[f64; 4]> {
    let each = quarters(timeline)?;
    let last = each[3];
    each.iter().any(|factor| (factor - last).abs() > STEADY * last).then_some(each)
}

/// Warns if the wait for a place in the queue is most of the latency.
fn backlog(result: &RunResult, kind: DriveKind) -> Option<String> {
    let remedy = match kind {
        DriveKind::Run { .. } => "use --time-scale, or queue.arrivals = \"closed\"",
        DriveKind::Shadow => "use queue.arrivals = \"closed\" for it",
        // The clients of a live drive wait for it.
        DriveKind::Live { .. } | DriveKind::Zoned => return None,
    };
    let latency = &result.latency;
    let (queue, mean) = (latency.blame_us.queue?, latency.all.mean_us?);
    (queue > BACKLOG * mean).then(|| {
        format!(
            "the drive does not keep up with the arrivals: {:.0} % of the latency is waiting for a \
             place in the queue, so latencies describe the backlog; {remedy}",
            100.0 * queue / mean
        )
    })
}

#[cfg(test)]
mod tests;
