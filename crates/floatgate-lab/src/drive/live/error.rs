//! Reasons why a live drive cannot be opened, and why it cannot serve a request.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::config::ConfigError;
use crate::stored::ImageError;

/// Reason why a live drive cannot be made or opened.
#[derive(Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// The config makes no live drive.
    Config(ConfigError),
    /// The file cannot be made or opened, or is no image.
    Image(ImageError),
    /// The image has no description of its drive, or an impossible one.
    Description {
        /// The image.
        path: PathBuf,
        /// The fault in the description.
        text: String,
    },
    /// The flash in the image holds no drive that recovery can use.
    Unusable {
        /// The image.
        path: PathBuf,
        /// The contradiction that recovery found.
        text: String,
    },
    /// Reading or writing the file failed during recovery.
    Fault {
        /// The image.
        path: PathBuf,
        /// The error message of the operating system.
        error: String,
    },
}

impl OpenError {
    pub(crate) fn description(path: &Path, text: impl fmt::Display) -> Self {
        Self::Description { path: path.to_path_buf(), text: text.to_string() }
    }

    pub(crate) fn fault(path: &Path, error: &io::Error) -> Self {
        Self::Fault { path: path.to_path_buf(), error: error.to_string() }
    }
}

impl From<ConfigError> for OpenError {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

impl From<ImageError> for OpenError {
    fn from(error: ImageError) -> Self {
        Self::Image(error)
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::Image(error) => error.fmt(f),
            Self::Description { path, text } => {
                write!(f, "{} does not describe its drive: {text}", path.display())
            }
            Self::Unusable { path, text } => {
                write!(f, "{} holds no drive that can be used: {text}", path.display())
            }
            Self::Fault { path, error } => {
                write!(f, "{} could not be read or written: {error}", path.display())
            }
        }
    }
}

impl std::error::Error for OpenError {}

/// Reason why a request failed.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LiveError {
    /// The request ends beyond the drive.
    Beyond {
        /// The first byte after the request.
        end: u64,
        /// Bytes of the drive.
        bytes: u64,
    },
    /// A page that the request touches cannot be read. The other pages are not affected: a write
    /// changes them.
    Damaged,
    /// The page that begins at this byte cannot be read.
    DamagedAt {
        /// The first byte of the page.
        offset: u64,
    },
    /// The file has failed, now or earlier: the drive reads and writes nothing any more.
    Stopped {
        /// The kind of the first failure.
        kind: io::ErrorKind,
        /// The error message of the operating system.
        error: String,
    },
}

impl LiveError {
    /// Refuses a request that ends beyond a drive of `bytes` bytes.
    pub(crate) fn if_beyond(offset: u64, length: u64, bytes: u64) -> Result<(), Self> {
        match offset.checked_add(length) {
            Some(end) if end <= bytes => Ok(()),
            end => Err(Self::Beyond { end: end.unwrap_or(u64::MAX), bytes }),
        }
    }

    /// Refuses all requests after a fault of the file.
    pub(crate) fn if_stopped(fault: Option<&io::Error>) -> Result<(), Self> {
        match fault {
            None => Ok(()),
            Some(error) => Err(Self::Stopped { kind: error.kind(), error: error.to_string() }),
        }
    }
}

impl fmt::Display for LiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Beyond { end, bytes } => {
                write!(f, "a request ends at byte {end} of a drive of {bytes}")
            }
            Self::Damaged => write!(f, "a page is damaged"),
            Self::DamagedAt { offset } => write!(f, "the page at byte {offset} is damaged"),
            Self::Stopped { error, .. } => write!(f, "the image has failed: {error}"),
        }
    }
}

impl std::error::Error for LiveError {}
