//! Setup of a server: its drive, its recording and its shadow drives.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::config::{Config, Fill};
use crate::drive::live::{self, Opened, Timekeeping};
use crate::result::StartResult;
use crate::run::{AgedError, Control, New, RunError, aged};

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
    /// A new drive that is filled and overwritten before its first client, as `[start]` in its
    /// config states.
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
    pub(super) fn open(
        self,
        time: Timekeeping,
        control: &Control,
    ) -> Result<(Option<PathBuf>, Opened, StartResult), AgedError> {
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
    /// reply for this much less time, down to zero.
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
    /// The drive could not be opened, or not be aged completely.
    Drive(AgedError),
    /// A shadow drive could not be built.
    Also(String, RunError),
    /// The recording cannot be written.
    Record(PathBuf, io::Error),
}

impl From<AgedError> for SetupError {
    fn from(error: AgedError) -> Self {
        Self::Drive(error)
    }
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Drive(error) => error.fmt(f),
            Self::Also(name, error) => write!(f, "--also {name}: {error}"),
            Self::Record(path, error) => {
                write!(f, "the recording {} cannot be written: {error}", path.display())
            }
        }
    }
}

impl std::error::Error for SetupError {}
