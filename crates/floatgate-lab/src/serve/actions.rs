//! Actions of a user on the drive: inspection, power cuts, faults, resets, checks and copies.

use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

use floatgate_ftl::nand::{Around, Recording};
use serde_json::{Value, json};

use super::backend::ServeError;
use super::document;
use super::panics::lock;
use super::served::{Served, switch_off};
use super::shadow::{Seen, Shadow};
use super::smart::Smart;
use super::snapshot::snapshot;
use super::state::{Faults, Power, State};
use crate::result::LanesResult;

/// Maximum number of spans in a recorded window of the dies.
const SPANS_MAX: usize = 20_000;

/// Time to wait beyond the end of the window, for events at its end.
const LATER: Duration = Duration::from_millis(20);

impl Served {
    /// Returns the full status of the drive, except the contents of its units.
    pub(super) fn status(&self) -> Result<Value, ServeError> {
        let mut state = self.leader.locked();
        let (status, shadows) = self.status_of(&mut state)?;
        drop(state);
        Ok(self.completed(status, &shadows))
    }

    /// Shuts the drive down, as [`Served::shut_down`] does. Returns the status after the last
    /// request and before the shutdown.
    pub(super) fn stop(&self) -> Result<Value, ServeError> {
        let mut state = self.admission.pause(&self.leader);
        let (status, shadows) = self.status_of(&mut state)?;
        switch_off(state)?;
        Ok(self.completed(status, &shadows))
    }

    /// Adds what is read without a lock on the drive.
    fn completed(&self, mut status: Value, shadows: &[Seen]) -> Value {
        status["zones"] = self.zones().into();
        document::with_shadows(status, shadows)
    }

    /// Returns the status of the drive, and views of the shadow drives, to be read after the lock
    /// is released.
    fn status_of(&self, state: &mut State) -> Result<(Value, Vec<Seen>), ServeError> {
        state.look_at_image();
        let status = document::status(state, &self.gauges, self.started.elapsed())?;
        Ok((status, state.shadows.iter().map(Shadow::seen).collect()))
    }

    pub(super) fn smart(&self) -> Result<Value, ServeError> {
        let mut state = self.leader.locked();
        state.look_at_image();
        Ok(Smart::new(&state)?.document())
    }

    /// Returns the erase units, as columns.
    pub(super) fn blocks(&self) -> Result<Value, ServeError> {
        Ok(document::blocks(self.leader.locked().opened()?))
    }

    /// Pulls the plug, and lets the drive recover. Data in the drive's memory is lost, and a flash
    /// operation in progress may be done in part. Requests in progress fail.
    ///
    /// # Errors
    /// A drive that cannot be recovered, or that had no power.
    pub(super) fn pull_plug(&self) -> Result<Power, ServeError> {
        let recovered = self.cut_and_recover();
        lock(&self.after_cuts).iter().for_each(|work| work());
        recovered
    }

    fn cut_and_recover(&self) -> Result<Power, ServeError> {
        lock(&self.plug).pull();
        let mut state = self.leader.locked();
        *lock(&self.plug) = state.recover()?;
        self.gauges.reset();
        let power = state.power;
        state.release_changed();
        Ok(power)
    }

    /// Sets the faults of the drive from now on.
    pub(super) fn set_faults(&self, share: Option<f64>, read_only: Option<bool>) -> Faults {
        let mut state = self.leader.locked();
        let was = state.faults;
        state.set_faults(Faults {
            read_error_share: share.unwrap_or(was.read_error_share),
            read_only: read_only.unwrap_or(was.read_only),
        });
        state.faults
    }

    /// Resets counters and clocks when the requests in progress have completed.
    pub(super) fn reset(&self) {
        let mut state = self.admission.pause(&self.leader);
        state.reset();
        self.gauges.reset();
        self.admission.resume(state);
    }

    /// Recomputes the drive's state where possible, and asserts that it agrees with the stored
    /// state. A drive that has failed, or whose image is gone, does not pass.
    pub(super) fn check(&self) -> Result<(), String> {
        let mut state = self.leader.locked();
        state.look_at_image();
        let opened = state.opened().map_err(|error| error.to_string())?;
        if let Some(failure) = state.failure() {
            return Err(failure);
        }
        opened.drive.check();
        state.image_gone().map_or(Ok(()), Err)
    }

    /// Records the activity of the dies for `ms` milliseconds. The drive records one window at a
    /// time, so the window begins now, or after all earlier callers have their answers.
    pub(super) fn lanes(&self, ms: f64) -> Result<Value, String> {
        let window_ns = (ms * 1e6) as u64;
        let _alone = lock(&self.lanes);
        let mut state = self.leader.locked();
        if !state.clock.is_simulated() {
            return Err("the drive has no clock: expected --timing simulated".into());
        }
        state.advance();
        let around = Around::Time(state.time_ns() + window_ns / 2);
        let drive = state.drive().map_err(|error| error.to_string())?;
        drive.device_mut().record(Recording { window_ns, around, spans_max: SPANS_MAX });
        drop(state);
        thread::sleep(Duration::from_nanos(window_ns) + LATER);
        let mut state = self.leader.locked();
        state.advance();
        let drive = state.drive().map_err(|error| error.to_string())?;
        let lanes = LanesResult::new(drive.device().recorded().as_ref());
        Ok(json!({"lanes": lanes}))
    }

    /// Copies the image to a new file, in the state that recovery would find if the power failed
    /// now. Returns the length of the copy.
    pub(super) fn snapshot(&self, to: &Path) -> io::Result<u64> {
        let mut state = self.leader.locked();
        let drive = state.drive().map_err(io::Error::other)?;
        drive.sync().map_err(io::Error::other)?;
        let (store, _) = drive.medium().shared();
        snapshot(&store, to)
    }
}
