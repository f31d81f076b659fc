//! A live drive that serves several clients at once. A front end (nbdkit today) calls it.
//!
//! Requests change the drive one after the other, under one lock. The server copies a client's data
//! before it takes the lock, and fetches the bytes of a read after it has released the lock. With a
//! clock the server holds each reply until the simulated drive would have answered
//! ([`Served::wait`](pacing)), and measures how late replies are. Next to the drive the server may
//! run a recording of the requests, shadow drives that receive the same requests ([`shadow`]), and
//! a control socket for inspection and power cuts ([`control`]).

mod backend;
mod connections;
mod control;
mod document;
mod gauges;
mod health;
mod history;
mod pacing;
mod plug;
mod recorder;
mod shadow;
mod snapshot;
mod state;
#[cfg(test)]
mod test_drive;
mod waiting;

pub use backend::Client;
pub use control::{Listener, listen};

use std::any::Any;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::config::{Config, ConfigError, Fill};
use crate::drive::live::{self, LiveError, OpenError, Opened, Timekeeping};
use crate::result::StartResult;
use crate::run::{AgedError, Control, New, RunError, aged};
use crate::stored::Plug;
use gauges::Gauges;
use pacing::Locked;
use recorder::Recorder;
use shadow::Shadow;
use state::State;
use waiting::Writes;

/// Placement handle of written data, if the client knows one; 0 if not.
pub type Stream = u16;

/// Options of a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ChangeOptions {
    /// Placement handle of the data.
    pub stream: Stream,
    /// Whether the change is durable when the call returns (FUA).
    pub durable: bool,
}

/// Interface of a drive for a front end. Several threads may call it at once; each call returns
/// when the drive has answered.
pub trait Backend: Send + Sync {
    /// Bytes that clients can address.
    fn bytes(&self) -> u64;

    /// Bytes of a page. A write that covers a page in part reads the page first.
    fn page_bytes(&self) -> u32;

    /// Reads bytes. Bytes that were never written, or that were trimmed, are zeros.
    ///
    /// # Errors
    /// See [`ServeError`].
    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), ServeError>;

    /// Writes bytes.
    ///
    /// # Errors
    /// See [`ServeError`].
    fn write(&self, offset: u64, bytes: &[u8], options: ChangeOptions) -> Result<(), ServeError>;

    /// Trims the pages that lie entirely within these bytes.
    ///
    /// # Errors
    /// See [`ServeError`].
    fn trim(&self, offset: u64, length: u64, options: ChangeOptions) -> Result<(), ServeError>;

    /// Makes these bytes read as zeros. `may_trim` allows the drive to trim pages for this.
    ///
    /// # Errors
    /// See [`ServeError`].
    fn zero(
        &self,
        offset: u64,
        length: u64,
        may_trim: bool,
        options: ChangeOptions,
    ) -> Result<(), ServeError>;

    /// Makes all acknowledged data durable before it returns.
    ///
    /// # Errors
    /// See [`ServeError`].
    fn flush(&self) -> Result<(), ServeError>;

    /// Returns consecutive ranges from `offset` on: first byte, length, and whether the range is a
    /// hole. The answer may end before the requested length, but has at least one range.
    ///
    /// # Errors
    /// See [`ServeError`].
    fn extents(&self, offset: u64, length: u64) -> Result<Vec<(u64, u64, bool)>, ServeError>;

    /// Reports that a client has connected.
    fn connect(&self);

    /// Reports that a client has disconnected.
    fn disconnect(&self);
}

/// Reason why a request failed.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ServeError {
    /// The drive failed the request.
    Drive(LiveError),
    /// The drive is read-only.
    ReadOnly,
    /// The power failed during the request, or since its client connected; or the drive was shut
    /// down.
    PowerOff,
    /// The drive could not be recovered after its power failed.
    Lost(String),
}

impl From<LiveError> for ServeError {
    fn from(error: LiveError) -> Self {
        Self::Drive(error)
    }
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Drive(error) => error.fmt(f),
            Self::ReadOnly => write!(f, "the drive is read-only"),
            Self::PowerOff => write!(f, "the power of the drive failed"),
            Self::Lost(why) => {
                write!(f, "the drive was not found again after its power failed: {why}")
            }
        }
    }
}

impl std::error::Error for ServeError {}

/// Location of a drive's image.
#[derive(Clone, Debug)]
pub enum ImageLocation {
    /// A file.
    File(PathBuf),
    /// Memory: a new drive that lasts until the process ends.
    Memory {
        /// Its config.
        config: Box<Config>,
        /// Bytes that the host can address.
        bytes: u64,
        /// Seed of the random choices of policies.
        seed: u64,
    },
    /// A new drive, aged before its first client: written over as `[start]` in its config states.
    Aged {
        /// The file to create for the drive; none for a drive in memory.
        image: Option<PathBuf>,
        /// Its config.
        config: Box<Config>,
        /// Bytes that the host can address.
        bytes: u64,
        /// Seed of the random choices of policies, and of the addresses written while the drive is
        /// aged.
        seed: u64,
    },
}

impl ImageLocation {
    /// Opens or creates the drive. Returns its file, the drive, and its start state.
    fn open(
        self,
        time: Timekeeping,
        control: &Control,
    ) -> Result<(Option<PathBuf>, Opened, StartResult), SetupError> {
        let unknown = StartResult::new(Fill::None);
        match self {
            Self::File(path) => {
                let opened = live::open_with(&path, time)?;
                Ok((Some(path), opened, unknown))
            }
            Self::Memory { config, bytes, seed } => {
                Ok((None, live::in_memory(&config, bytes, seed, time)?, unknown))
            }
            Self::Aged { image, config, bytes, seed } => {
                let new = New { config: &config, bytes, seed };
                let (opened, start) = aged(&new, image.as_deref(), time, control)?;
                Ok((image, opened, start))
            }
        }
    }
}

/// Setup of a server.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The drive.
    pub location: ImageLocation,
    /// Name of the drive in results.
    pub name: String,
    /// Whether the drive has a clock.
    pub time: Timekeeping,
    /// Time that a request and its reply take between client and server. The server holds each
    /// reply for this much less, but never for less than zero.
    pub transport: Duration,
    /// File for a recording of the requests.
    pub record: Option<PathBuf>,
    /// Names and configs of shadow drives, which receive the same requests.
    pub also: Vec<(String, Config)>,
}

/// Reason why the server did not start.
#[derive(Debug)]
#[non_exhaustive]
pub enum SetupError {
    /// The drive could not be opened.
    Open(OpenError),
    /// The drive could not be aged completely.
    Start(RunError),
    /// A shadow drive could not be built.
    Also(String, RunError),
    /// The recording cannot be written.
    Record(PathBuf, io::Error),
}

impl From<OpenError> for SetupError {
    fn from(error: OpenError) -> Self {
        Self::Open(error)
    }
}

impl From<AgedError> for SetupError {
    fn from(error: AgedError) -> Self {
        match error {
            AgedError::Open(error) => Self::Open(error),
            AgedError::Run(error) => Self::Start(error),
        }
    }
}

impl From<ConfigError> for SetupError {
    fn from(error: ConfigError) -> Self {
        Self::Open(error.into())
    }
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(error) => error.fmt(f),
            Self::Start(error) => error.fmt(f),
            Self::Also(name, error) => write!(f, "--also {name}: {error}"),
            Self::Record(path, error) => {
                write!(f, "the recording {} cannot be written: {error}", path.display())
            }
        }
    }
}

impl std::error::Error for SetupError {}

/// A drive with its server.
pub struct Served {
    image: Option<PathBuf>,
    bytes: u64,
    page_bytes: u32,
    /// Whether small writes that arrive together are begun together.
    packs: bool,
    /// Whether the server holds replies until the simulated drive has answered.
    has_clock: bool,
    started: Instant,
    state: Mutex<State>,
    /// Wakes the leading thread early, because something happens sooner than it expects.
    earlier: Condvar,
    /// Set together with `earlier`, for a leading thread that spins instead of sleeping.
    is_earlier: AtomicBool,
    /// Signals that requests have completed, so that the queue has room.
    room: Condvar,
    writes: Writes,
    plug: Mutex<Plug>,
    /// Held while a client records a window of the dies' activity.
    lanes: Mutex<()>,
    gauges: Gauges,
}

impl Served {
    /// Opens a drive, with its recording and its shadow drives.
    ///
    /// # Errors
    /// A drive that cannot be opened, or a file that cannot be written.
    pub fn new(setup: Setup) -> Result<Arc<Self>, SetupError> {
        Self::watched(setup, &Control::default())
    }

    /// Does the same as [`Served::new`]; `control` counts the pages that are written to reach start
    /// states.
    ///
    /// # Errors
    /// As [`Served::new`].
    pub fn watched(setup: Setup, control: &Control) -> Result<Arc<Self>, SetupError> {
        let Setup { location, name, time, transport, record, also } = setup;
        let (image, opened, start) = location.open(time, control)?;
        let Opened { drive, description, plan } = &opened;
        let (bytes, page_bytes) = (drive.bytes(), plan.geometry.shape().page_bytes);
        let packs = description.config.host.keeps_log();
        let shadows = also.into_iter().map(|(name, config)| {
            let shadow = Shadow::start(name.clone(), config, (bytes, description.seed), control);
            shadow.map_err(|error| SetupError::Also(name, error))
        });
        let shadows = shadows.collect::<Result<Vec<_>, _>>()?;
        let recorder = record.map(|path| {
            let recorder = Recorder::create(path.clone(), page_bytes);
            recorder.map_err(|error| SetupError::Record(path, error))
        });
        let plug = Mutex::new(drive.plug());
        let mut state = State::new(opened, (name, start), (time, transport));
        (state.recorder, state.shadows) = (recorder.transpose()?, shadows);
        let served = Arc::new(Self {
            image,
            bytes,
            page_bytes,
            packs,
            has_clock: time == Timekeeping::Simulated,
            started: Instant::now(),
            state: Mutex::new(state),
            earlier: Condvar::new(),
            is_earlier: AtomicBool::new(false),
            room: Condvar::new(),
            writes: Writes::default(),
            plug,
            lanes: Mutex::default(),
            gauges: Gauges::default(),
        });
        history::watch(&served);
        Ok(served)
    }

    /// Flushes, and writes everything that makes the next start quick. Later requests fail.
    ///
    /// # Errors
    /// A failed file.
    pub fn shut_down(&self) -> Result<(), ServeError> {
        self.switch_off(self.paused())
    }

    fn switch_off(&self, mut state: Locked<'_>) -> Result<(), ServeError> {
        if let Some(recorder) = &mut state.recorder {
            recorder.flush();
        }
        let Some(mut opened) = state.opened.take() else { return Err(state.why_off()) };
        Ok(opened.drive.shut_down()?)
    }
}

/// Takes a lock even if a thread panicked while it held the lock.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns an error text for a panic.
fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("a bug: {}", text.unwrap_or_default())
}
