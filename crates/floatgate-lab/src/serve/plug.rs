//! Actions of a user on the drive: power cuts, faults, resets, checks, recordings and copies.

use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use floatgate_ftl::nand::{Around, Recording};
use serde_json::{Value, json};

use super::health::failure;
use super::snapshot::snapshot;
use super::state::{Faults, Power, State};
use super::{Served, lock};
use crate::drive::live::{self, Opened};
use crate::result::LanesResult;

/// Most spans in a recorded window of the dies.
const SPANS_MAX: usize = 20_000;

/// Time to wait beyond the end of the window, for events at its end.
const LATER: Duration = Duration::from_millis(20);

impl Served {
    /// Pulls the plug, and lets the drive recover. Data in the drive's memory is lost, and a flash
    /// operation in progress may be done in part. Requests in progress fail.
    ///
    /// # Errors
    /// A drive that cannot be recovered, or that had no power.
    pub(super) fn pull_plug(&self) -> Result<Power, String> {
        lock(&self.plug).pull();
        let mut state = self.locked();
        state.give_up();
        let Some(Opened { drive, .. }) = state.opened.take() else {
            return Err(state.why_off().to_string());
        };
        let (begin, time) = (Instant::now(), state.time);
        let opened = live::reopen(drive, self.image.as_deref(), time);
        let opened = opened.map_err(|error| {
            state.lost = Some(error.to_string());
            state.why_off().to_string()
        })?;
        *lock(&self.plug) = opened.drive.plug();
        let cuts = state.power.cuts + 1;
        let seconds = begin.elapsed().as_secs_f64();
        state.power = Power { cuts, mount: opened.drive.mount(), seconds };
        state.opened = Some(opened);
        state.reset();
        self.gauges.reset();
        let faults = state.faults;
        self.apply(&mut state, faults);
        let power = state.power;
        drop(state);
        self.room.notify_all();
        Ok(power)
    }

    /// Sets the faults of the drive from now on.
    pub(super) fn set_faults(&self, share: Option<f64>, read_only: Option<bool>) -> Faults {
        let mut state = self.locked();
        let was = state.faults;
        let faults = Faults {
            read_error_share: share.unwrap_or(was.read_error_share),
            read_only: read_only.unwrap_or(was.read_only),
        };
        self.apply(&mut state, faults);
        faults
    }

    fn apply(&self, state: &mut State, faults: Faults) {
        state.faults = faults;
        let cuts = state.power.cuts;
        if let Ok(drive) = state.drive() {
            drive.medium_mut().fail_reads(faults.read_error_share, cuts);
        }
    }

    /// Resets counters and clocks when the requests in progress have completed.
    pub(super) fn reset(&self) {
        let mut state = self.paused();
        state.reset();
        self.gauges.reset();
        self.resume(state);
    }

    /// Recomputes the drive's state where possible, and asserts that it agrees. A drive that has
    /// failed, or whose image is gone, does not pass.
    pub(super) fn check(&self) -> Result<(), String> {
        let mut state = self.locked();
        self.look_at_image(&mut state);
        let drive = state.drive().map_err(|error| error.to_string())?;
        if let Some(failure) = failure(drive.as_ref()) {
            return Err(failure);
        }
        drive.check();
        self.image_gone(&state).map_or(Ok(()), Err)
    }

    /// Records the activity of the dies for `ms` milliseconds. The drive records one window at a
    /// time, so the window begins now, or after all earlier callers have their answers.
    pub(super) fn lanes(&self, ms: f64) -> Result<Value, String> {
        let window_ns = (ms * 1e6) as u64;
        let _alone = lock(&self.lanes);
        let mut state = self.locked();
        if !state.has_clock() {
            return Err("the drive has no clock: expected --timing simulated".into());
        }
        state.pass_time();
        let around = Around::Time(state.time_ns() + window_ns / 2);
        let drive = state.drive().map_err(|error| error.to_string())?;
        drive.device_mut().record(Recording { window_ns, around, spans_max: SPANS_MAX });
        drop(state);
        thread::sleep(Duration::from_nanos(window_ns) + LATER);
        let mut state = self.locked();
        state.pass_time();
        let drive = state.drive().map_err(|error| error.to_string())?;
        let lanes = LanesResult::new(drive.device().recorded().as_ref());
        Ok(json!({"lanes": lanes}))
    }

    /// Copies the image to a file that does not exist, as recovery would find it if the power
    /// failed now. Returns the length of the copy.
    pub(super) fn snapshot(&self, to: &Path) -> io::Result<u64> {
        let mut state = self.locked();
        let drive = state.drive().map_err(io::Error::other)?;
        drive.sync().map_err(io::Error::other)?;
        let (store, _) = drive.medium().shared();
        snapshot(&store, to)
    }
}
