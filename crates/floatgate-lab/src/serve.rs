//! A live drive behind several clients at once: what a front (nbdkit today) is made of.
//!
//! Requests change the drive one after the other, under one lock; what a client sends is copied
//! before, and a page that is read is fetched after. With a clock a reply is held until the
//! simulated drive would have answered ([`Served::wait`](pacing)), and how far that was missed is
//! measured. Beside the drive stand a recording of what was asked for, other drives that are asked
//! for the same ([`shadow`]), and who looks inside and pulls the plug ([`control`]).

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

/// Names the placement of what is written, as far as the client knows one; 0 if not.
pub type Stream = u16;

/// How a change is to be made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct How {
    /// Which data it belongs with.
    pub stream: Stream,
    /// Whether it is durable when the call returns (FUA).
    pub durable: bool,
}

/// What a front needs of a drive. Calls may come from several threads at once; each returns when
/// the drive has answered.
pub trait Backend: Send + Sync {
    /// Bytes that can be addressed.
    fn bytes(&self) -> u64;

    /// Bytes of a page: what is written in part is read first.
    fn page_bytes(&self) -> u32;

    /// Reads bytes; what was never written, or trimmed, is zeros.
    ///
    /// # Errors
    /// As [`ServeError`] has them.
    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), ServeError>;

    /// Writes bytes.
    ///
    /// # Errors
    /// As [`ServeError`] has them.
    fn write(&self, offset: u64, bytes: &[u8], how: How) -> Result<(), ServeError>;

    /// Forgets the pages that lie within these bytes.
    ///
    /// # Errors
    /// As [`ServeError`] has them.
    fn trim(&self, offset: u64, length: u64, how: How) -> Result<(), ServeError>;

    /// Makes these bytes read as zeros; pages may be forgotten for that, or not.
    ///
    /// # Errors
    /// As [`ServeError`] has them.
    fn zero(&self, offset: u64, length: u64, may_trim: bool, how: How) -> Result<(), ServeError>;

    /// What was acknowledged is durable when this returns.
    ///
    /// # Errors
    /// As [`ServeError`] has them.
    fn flush(&self) -> Result<(), ServeError>;

    /// Tells of consecutive ranges, from a byte on, whether they are holes: first byte, length and
    /// answer. It may end before the end of what was asked for, but tells of one at least.
    ///
    /// # Errors
    /// As [`ServeError`] has them.
    fn extents(&self, offset: u64, length: u64) -> Result<Vec<(u64, u64, bool)>, ServeError>;

    /// A client has come.
    fn connect(&self);

    /// A client has gone.
    fn disconnect(&self);
}

/// Why a request is not done.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ServeError {
    /// The drive says so.
    Drive(LiveError),
    /// The drive refuses to be written to.
    ReadOnly,
    /// The power failed while the request was under way, or since its client has come; or the drive
    /// was shut down.
    PowerOff,
    /// The drive was not found again after its power failed.
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

/// Where the image of a drive is.
#[derive(Clone, Debug)]
pub enum Place {
    /// In a file.
    File(PathBuf),
    /// In memory: a drive that is new, and gone with the process.
    Memory {
        /// Its config.
        config: Box<Config>,
        /// Bytes that the host can address.
        bytes: u64,
        /// Seed of what policies draw.
        seed: u64,
    },
    /// A new drive that is written over before its first client, as `[start]` of its config says.
    Aged {
        /// The file that is made for it; none where it is in memory.
        image: Option<PathBuf>,
        /// Its config.
        config: Box<Config>,
        /// Bytes that the host can address.
        bytes: u64,
        /// Seed of what policies draw, and of the addresses that are written.
        seed: u64,
    },
}

impl Place {
    /// Opens or makes the drive: its file, what it is, and how it began.
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

/// What is to be served.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The drive.
    pub place: Place,
    /// What it is called in results.
    pub name: String,
    /// Whether it has a clock.
    pub time: Timekeeping,
    /// What a request and its reply take on their way to the client and back: replies are held for
    /// so much less, as far as they are held for so long.
    pub transport: Duration,
    /// Where to write down what was asked for.
    pub record: Option<PathBuf>,
    /// Drives that are asked for the same: their names and configs.
    pub also: Vec<(String, Config)>,
}

/// Why nothing is served.
#[derive(Debug)]
#[non_exhaustive]
pub enum SetupError {
    /// There is no drive.
    Open(OpenError),
    /// The drive was not aged to the end.
    Start(RunError),
    /// A drive beside it cannot be.
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

/// A drive that is served.
pub struct Served {
    image: Option<PathBuf>,
    bytes: u64,
    page_bytes: u32,
    /// Whether small writes that come together are begun together.
    packs: bool,
    /// Whether replies are held.
    has_clock: bool,
    started: Instant,
    state: Mutex<State>,
    /// Whoever lets time pass is told that something happens earlier.
    earlier: Condvar,
    /// The same, for who does not sleep.
    is_earlier: AtomicBool,
    /// Requests are complete.
    room: Condvar,
    writes: Writes,
    plug: Mutex<Plug>,
    /// Who records what the dies do has them for himself.
    lanes: Mutex<()>,
    gauges: Gauges,
}

impl Served {
    /// Opens a drive, and what stands beside it.
    ///
    /// # Errors
    /// A drive that cannot be had, or a file that cannot be written.
    pub fn new(setup: Setup) -> Result<Arc<Self>, SetupError> {
        Self::watched(setup, &Control::default())
    }

    /// As [`Served::new`]; `control` counts the pages that are written to reach start states.
    ///
    /// # Errors
    /// As [`Served::new`].
    pub fn watched(setup: Setup, control: &Control) -> Result<Arc<Self>, SetupError> {
        let Setup { place, name, time, transport, record, also } = setup;
        let (image, opened, start) = place.open(time, control)?;
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

    /// Flushes, and writes down all that makes the next start quick. What comes after is refused.
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

/// A lock that is used although somebody who had it has failed: what he said of it is all there is.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a bug says of itself.
fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("a bug: {}", text.unwrap_or_default())
}
