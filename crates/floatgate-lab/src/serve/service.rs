//! A served drive in a separate process: nbdkit with our plugin, or the NVMe target. The process
//! opens the drive, watches it, and ends with its parent.

use std::num::NonZeroU64;
use std::os::unix::process::parent_id;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use rustix::process::{Signal, getpid, kill_process};

use super::backend::ServeError;
use super::control::{Listener, listen};
use super::parameters::Parameters;
use super::served::Served;
use super::setup::{Setup, SetupError};
use super::state::State;
use crate::run::Control;

/// Timer slack of threads, in nanoseconds: the precision of their wake-ups.
const TIMER_SLACK: Option<NonZeroU64> = NonZeroU64::new(1);

/// Interval between two checks of a drive for trouble.
const TROUBLE_EVERY: Duration = Duration::from_secs(1);

/// Interval between two progress reports while a drive is filled.
const PROGRESS_EVERY: Duration = Duration::from_secs(2);

/// Interval between two checks that the parent process still exists.
const PARENT_EVERY: Duration = Duration::from_millis(500);

/// A drive in service, with its control socket.
pub struct Service {
    drive: Arc<Served>,
    /// Listener of the control socket.
    _control: Option<Listener>,
}

impl Service {
    /// Opens the drive that the parameters name, and makes its control socket. Threads of the
    /// process that are started later wake up precisely.
    ///
    /// # Errors
    /// A file that cannot be read or written, or a drive that cannot be opened.
    pub fn start(parameters: Parameters) -> Result<Self, String> {
        // Without this, held replies are up to 50 us late. The system may refuse.
        let _ = rustix::thread::set_current_timer_slack(TIMER_SLACK);
        let (control, parent) = (parameters.control.clone(), parameters.parent);
        let is_quiet = parameters.is_quiet;
        let drive = open(parameters.setup()?, is_quiet).map_err(|error| error.to_string())?;
        report_trouble(&drive);
        let listener = control.map(|path| {
            let failed = |error| format!("{} cannot be made: {error}", path.display());
            listen(&drive, &path).map_err(failed)
        });
        if let Some(parent) = parent {
            end_with(parent, &drive);
        }
        Ok(Self { drive, _control: listener.transpose()? })
    }

    /// Returns the drive.
    pub fn drive(&self) -> &Arc<Served> {
        &self.drive
    }

    /// Returns whether the drive's image states that hosts see it in zones. NBD has no zones.
    pub fn is_zoned(&self) -> bool {
        let zoned = |state: &mut State| state.opened().map(|opened| opened.description.zoned);
        self.drive.leader.look(zoned).unwrap_or(false)
    }

    /// Shuts the drive down. Does nothing if another thread has already shut it down.
    pub fn shut_down(&self) {
        shut_down(&self.drive);
    }
}

fn shut_down(drive: &Served) {
    match drive.shut_down() {
        Ok(()) | Err(ServeError::PowerOff) => {}
        Err(error) => eprintln!("floatgate: the drive could not be shut down: {error}"),
    }
}

/// Reports trouble of a drive when it begins or changes, until the drive is gone.
fn report_trouble(drive: &Arc<Served>) {
    let drive = Arc::downgrade(drive);
    thread::spawn(move || {
        let mut reported = None;
        while let Some(drive) = drive.upgrade() {
            let trouble = drive.trouble();
            drop(drive);
            if let Some(text) = trouble.as_ref().filter(|_| trouble != reported) {
                eprintln!("floatgate: warning: {text}");
            }
            reported = trouble;
            thread::sleep(TROUBLE_EVERY);
        }
    });
}

/// Opens the drive. Reports progress while the drive is brought to its start state.
fn open(setup: Setup, is_quiet: bool) -> Result<Arc<Served>, SetupError> {
    let control = &Control::default();
    let (done, end) = mpsc::channel::<()>();
    thread::scope(|scope| {
        if !is_quiet {
            scope.spawn(move || {
                while end.recv_timeout(PROGRESS_EVERY) == Err(RecvTimeoutError::Timeout) {
                    report_progress(control);
                }
            });
        }
        let drive = Served::watched(setup, control);
        drop(done);
        drive
    })
}

fn report_progress(control: &Control) {
    match control.progress() {
        (_, 0, _) => {}
        (_, pages, 0) => eprintln!("floatgate: filling: {pages} pages written"),
        (_, pages, all) => eprintln!("floatgate: filling: {pages} of {all} pages written"),
    }
}

/// Shuts the drive down and ends this process when its parent has exited.
///
/// With `--exit-with-parent` nbdkit also ends by itself, but first waits for its clients to
/// disconnect. A mounted file system never does.
fn end_with(parent: u32, drive: &Arc<Served>) {
    let drive = Arc::downgrade(drive);
    thread::spawn(move || {
        while parent_id() == parent {
            thread::sleep(PARENT_EVERY);
        }
        if let Some(drive) = drive.upgrade() {
            shut_down(&drive);
        }
        // A thread outside nbdkit cannot run nbdkit's own exit steps.
        let _ = kill_process(getpid(), Signal::KILL);
    });
}
