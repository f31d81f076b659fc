//! Interface of a drive for a front end, and the reasons why a request fails.

use std::fmt;

use crate::drive::live::LiveError;

/// Placement handle of written data, if the client knows one; 0 if not.
pub type Stream = u16;

/// Options of a write, or of a trim or zeroing.
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
