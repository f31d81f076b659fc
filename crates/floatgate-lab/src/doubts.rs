//! What a reader of a result should know before believing it.
//!
//! A warning says that the numbers do not mean what they seem to, and what to change. A note
//! says how they came about.

use floatgate_ftl::device::Counters;
use floatgate_ftl::nand::{Cause, Part};

use crate::drive::UNITS_FEW;
use crate::metrics::{Metrics, Timeline, ratio};
use crate::result::Subject;

/// Write amplification of the last quarter may differ from the quarter before by this share.
const STEADY: f64 = 0.1;
/// Share of the pages read that may never have been written.
const UNWRITTEN: f64 = 0.01;
/// Share of the mean latency that may be waiting for a place in the queue.
const BACKLOG: f64 = 0.5;

/// Doubts about the numbers.
pub fn warnings(subject: &Subject<'_>, metrics: &Metrics, counters: &Counters) -> Vec<String> {
    let mut warnings = Vec::new();
    let plan = subject.plan;
    let logs = subject.config.logs_least().is_some();
    let erases: u64 = counters.flash.erases.iter().sum();
    if counters.host.write_pages > 0 && erases == 0 {
        warnings.push(format!(
            "{} never ran: write amplification is that of an empty drive; use more writes, \
             --repeat, a smaller drive, or start.fill = \"steady\"",
            if logs { "merging" } else { "cleaning" }
        ));
    } else if let Some((before, after)) = unsteady(&metrics.timeline) {
        warnings.push(format!(
            "not steady: write amplification was {before:.3} in the third quarter of the writes \
             and {after:.3} in the last; use a longer run, --repeat, or start.fill = \"steady\""
        ));
    }
    if subject.started.settled == Some(false) {
        warnings.push(format!(
            "the start state did not settle within start.volumes_max = {} volumes",
            subject.config.start.volumes_max
        ));
    }
    if counters.health.is_some_and(|health| health.read_only) {
        warnings.push(format!(
            "the drive became read-only, as its spare erase units were used up: {} writes and \
             trims were refused",
            counters.host.refused
        ));
    }
    if plan.units_in_service < UNITS_FEW {
        let cleaning = "cleaning has little choice";
        let what = if logs { "a log block more or less counts for much" } else { cleaning };
        warnings.push(format!(
            "only {} erase units: with fewer than {UNITS_FEW} {what}; use a larger workload, a \
             larger flash.blocks, or smaller units (flash.superblock, flash.pages_per_block)",
            plan.units_in_service
        ));
    }
    if plan.units_added > 0 {
        let what = if logs { "not have its log blocks" } else { "not clean" };
        warnings.push(format!(
            "the drive got {} erase units more than the spare factor gives, without which it could \
             {what}: its spare factor is {:.4}",
            plan.units_added,
            plan.spare_factor()
        ));
    }
    let empty = ratio(counters.host.empty_reads, counters.host.read_pages);
    if let Some(share) = empty.filter(|&share| share > UNWRITTEN) {
        warnings.push(format!(
            "{:.1} % of the pages read had never been written and cost no flash read; use \
             start.fill = \"sequential\"",
            100.0 * share
        ));
    }
    warnings
}

/// Write amplification of the third and the last quarter of the host's page writes, if they differ.
fn unsteady(timeline: &Timeline) -> Option<(f64, f64)> {
    let total = *timeline.host_pages.last().filter(|&&pages| pages > 0)?;
    let mut quarters = [(0.0, 0u64); 4];
    let mut before = 0;
    for (&pages, factor) in timeline.host_pages.iter().zip(&timeline.write_amplification) {
        let written = pages - before;
        let quarter = ((before as u128 * 4 / u128::from(total)) as usize).min(3);
        quarters[quarter].0 += factor.unwrap_or(0.0) * written as f64;
        quarters[quarter].1 += written;
        before = pages;
    }
    let of = |(programs, pages): (f64, u64)| (pages > 0).then(|| programs / pages as f64);
    let (third, last) = (of(quarters[2])?, of(quarters[3])?);
    ((last - third).abs() > STEADY * third).then_some((third, last))
}

/// How the numbers came about.
pub fn notes(subject: &Subject<'_>, metrics: &Metrics, counters: &Counters) -> Vec<String> {
    let mut notes = Vec::new();
    let queue = metrics.blame_ns[Part::Queue as usize] as f64;
    let latency: f64 = metrics.blame_ns.iter().sum::<u128>() as f64;
    if latency > 0.0 && queue > BACKLOG * latency {
        notes.push(format!(
            "the drive does not keep up with the arrivals: {:.0} % of the latency is waiting for a \
             place in the queue, so latencies describe the backlog; use --time-scale, or \
             queue.arrivals = \"closed\"",
            100.0 * queue / latency
        ));
    }
    if let Some(true) = subject.started.settled {
        notes.push(format!(
            "the start state settled after {} volumes of random page writes",
            subject.started.volumes
        ));
    }
    if counters.cleans.emergency > 0 {
        notes.push(format!(
            "in {} of the cleans so few units were free that the one cheapest to clean was taken, \
             whatever the policy",
            counters.cleans.emergency
        ));
    }
    let map = &counters.flash.programs;
    let causes = [Cause::Map, Cause::GcMap, Cause::Remap, Cause::Journal];
    if causes.iter().any(|&cause| map[cause as usize] > 0) {
        notes.push(
            "write_amplification includes translation pages; data_write_amplification does not"
                .into(),
        );
    }
    notes
}
