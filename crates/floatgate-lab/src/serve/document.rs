//! Status document of a served drive.

use std::sync::atomic::Ordering;
use std::time::Duration;

use floatgate_ftl::addr::Unit;
use floatgate_ftl::recovery::Mount;
use serde_json::{Value, json};

use super::backend::ServeError;
use super::gauges::{Asked, Gauges, HoldingSummary, Measured};
use super::recorder::Recorder;
use super::shadow::Seen;
use super::smart::{Smart, lifetime_erases};
use super::state::{Faults, Power, State};
use crate::drive::live::Opened;
use crate::result::{Facts, RunResult, Subject};
use crate::warnings::{DriveKind, notes, warnings};

/// Two limits above which the server warns: the share of late replies, and the relative excess of
/// the mean response time over that of the simulated drive.
const OFF_MAX: f64 = 0.1;

/// Returns the full status of a drive, except the contents of its units and the shadow drives.
pub(super) fn status(
    state: &State,
    gauges: &Gauges,
    uptime: Duration,
) -> Result<Value, ServeError> {
    let uptime_s = uptime.as_secs_f64();
    let Opened { drive, description, plan } = state.opened()?;
    let (smart, has_clock) = (Smart::new(state)?.document(), state.clock.is_simulated());
    let page_bytes = plan.geometry.shape().page_bytes;
    let room = drive.device().room_until_cleaning();
    let warnings = server_warnings(state, gauges, &smart);
    Ok(json!({
        "floatgate": env!("CARGO_PKG_VERSION"),
        "pid": std::process::id(),
        "image": state.image,
        "image_gone": state.image_gone(),
        "failure": state.failure(),
        "aged": description.aged,
        "bytes": drive.bytes(),
        "page_bytes": page_bytes,
        "device": state.name,
        "timing": if has_clock { "simulated" } else { "none" },
        "transport_us": state.clock.transport.as_nanos() as f64 / 1e3,
        "uptime_s": uptime_s,
        "history": state.history.samples(),
        "power": power(&state.power),
        "faults": faults(&state.faults),
        "free_units": drive.device().units().free_units(),
        "cleaning_begins_after_bytes": room.map(|pages| pages * u64::from(page_bytes)),
        "record": state.recorder.as_ref().map(recording),
        "smart": smart,
        "warnings": warnings,
        "server": server(gauges, has_clock),
        "result": result(state, uptime_s)?,
    }))
}

fn server(gauges: &Gauges, has_clock: bool) -> Value {
    let Measured { read, write, lock_wait, lock_held, holding, .. } = gauges.total();
    let holding = has_clock.then(|| holding.summary());
    json!({
        "connections": gauges.connections.load(Ordering::Relaxed),
        "in_flight": gauges.in_flight.load(Ordering::Relaxed),
        "requests": {
            "read": gauges.asked(Asked::Read),
            "write": gauges.asked(Asked::Write),
            "trim": gauges.asked(Asked::Trim),
            "zero": gauges.asked(Asked::Zero),
            "flush": gauges.asked(Asked::Flush),
        },
        "errors": gauges.errors.load(Ordering::Relaxed),
        "latency_us": {"read": read.distributed(), "write": write.distributed()},
        "lock_wait_us": lock_wait.distributed(),
        "lock_held_us": lock_held.distributed(),
        "parallel_reads": gauges.fetching_most.load(Ordering::Relaxed),
        "holding": holding,
    })
}

/// Reasons for a user to doubt the numbers.
fn server_warnings(state: &State, gauges: &Gauges, smart: &Value) -> Vec<String> {
    let mut warnings = vec![];
    for critical in smart["critical_warnings"].as_array().into_iter().flatten() {
        warnings.extend(critical.as_str().map(ToOwned::to_owned));
    }
    warnings.extend(state.image_gone());
    if state.clock.is_simulated() {
        warnings.extend(keeping_up(&gauges.total().holding.summary()));
    }
    if state.faults.read_error_share > 0.0 {
        let share = state.faults.read_error_share * 100.0;
        warnings.push(format!("{share} % of the pages that are read are made to fail"));
    }
    let failure = state.recorder.as_ref().and_then(|recorder| recorder.failure.as_ref());
    if let Some(failure) = failure {
        warnings.push(format!("the recording has ended: {failure}"));
    }
    warnings
}

/// Returns the erase units, as columns.
pub(super) fn blocks(opened: &Opened) -> Value {
    let units = opened.drive.device().units();
    let all = || (0..opened.plan.geometry.units()).map(Unit);
    let written: Vec<_> = all().map(|unit| units.written(unit)).collect();
    let stream = |unit| match units.written(unit) {
        0 => -1,
        _ => i16::from(units.stream(unit)),
    };
    let streams: Vec<_> = all().map(stream).collect();
    json!({
        "units": opened.plan.geometry.units(),
        "pages_per_unit": units.pages_per_unit(),
        "valid": all().map(|unit| units.valid(unit)).collect::<Vec<_>>(),
        "written": written,
        "erases": lifetime_erases(opened.drive.device()),
        "streams": streams.iter().max().map_or(0, |&most| most + 1),
        "stream": streams,
        "sealed": all().map(|unit| units.reclaim_unit(unit).is_some()).collect::<Vec<_>>(),
    })
}

/// Returns the result of the requests since the counters were reset.
fn result(state: &State, wall_seconds: f64) -> Result<RunResult, ServeError> {
    let Opened { drive, description, plan } = state.opened()?;
    let facts = Facts { device: state.name.clone(), name: "live".to_owned(), ..Facts::default() };
    let subject = Subject {
        config: &description.config,
        plan,
        device: drive.device(),
        facts,
        start: state.start,
    };
    let metrics = state.metrics.so_far(drive.counters());
    let mut result = RunResult::new(&subject, &metrics, description.seed, wall_seconds);
    let (programs, pages) = (drive.medium().programs_ever(), plan.user_pages());
    let of = match state.in_zones {
        true => DriveKind::Zoned,
        false => DriveKind::Live { volumes_ever: programs as f64 / f64::from(pages) },
    };
    result.warnings = warnings(&result, of);
    result.notes.extend(notes(&result));
    Ok(result)
}

/// Returns a warning if clients see a slower drive than the simulated one: many replies are late,
/// or a few are so late that the mean is off.
fn keeping_up(held: &HoldingSummary) -> Option<String> {
    let (late, excess) = (held.late_share.unwrap_or(0.0), held.mean_excess.unwrap_or(0.0));
    (late > OFF_MAX || excess > OFF_MAX).then(|| {
        format!(
            "this machine cannot keep up with the simulated drive: {:.1} % of the replies came \
             later than the drive would have answered by more than a tenth, and on average they \
             took {:.1} % longer; what clients measure is slower than the drive",
            late * 100.0,
            excess * 100.0,
        )
    })
}

/// Returns the number of power cuts and the cost of the last recovery.
pub(super) fn power(power: &Power) -> Value {
    let Power { cuts, mount, seconds } = *power;
    let Mount { from_checkpoint, journal_reads, tag_reads, moved, map_programs, erased } = mount;
    json!({"cuts": cuts, "mount": {
        "from_checkpoint": from_checkpoint,
        "journal_reads": journal_reads,
        "tag_reads": tag_reads,
        "moved": moved,
        "map_programs": map_programs,
        "erased": erased,
        "seconds": seconds,
    }})
}

pub(super) fn faults(faults: &Faults) -> Value {
    json!({"read_error_share": faults.read_error_share, "read_only": faults.read_only})
}

fn recording(recorder: &Recorder) -> Value {
    let Recorder { path, requests, failure, .. } = recorder;
    json!({"path": path, "requests": requests, "failure": failure})
}

/// Adds the states of the shadow drives to a status.
pub(super) fn with_shadows(mut status: Value, shadows: &[Seen]) -> Value {
    status["also"] = shadows.iter().map(shadow_status).collect();
    status
}

fn shadow_status(shadow: &Seen) -> Value {
    let (behind, result) = (shadow.behind(), shadow.result());
    json!({"name": shadow.name, "behind": behind, "result": result, "failure": shadow.failure()})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::gauges::Holding;

    /// Returns the warning for replies, each given as its due time and its excess in microseconds,
    /// and the number of such replies.
    fn said(replies: &[(u64, u64, usize)]) -> Option<String> {
        let mut holding = Holding::default();
        for &(due, beyond, count) in replies {
            let [due, beyond] = [due, beyond].map(Duration::from_micros);
            (0..count).for_each(|_| holding.record(due, beyond));
        }
        keeping_up(&holding.summary())
    }

    #[test]
    fn a_late_server_states_how_late() {
        assert_eq!(said(&[]), None);
        assert_eq!(said(&[(1000, 90, 1000), (1000, 110, 90)]), None, "8.3 % late, 9.2 % longer");
        let many = said(&[(1000, 10, 80), (1000, 150, 20)]).unwrap();
        assert!(many.contains(" 20.0 % of the replies") && many.contains("took 3.8 % longer"));
        // One reply in a hundred is late, and shifts the mean to the mean of another drive.
        let few = said(&[(1000, 10, 99), (1000, 20_000, 1)]).unwrap();
        assert!(few.contains(" 1.0 % of the replies") && few.contains("took 21.0 % longer"));
    }
}
