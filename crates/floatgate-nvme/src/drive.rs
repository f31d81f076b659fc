//! Interface of a drive: what controllers need from the flash behind them.
//!
//! A [`Drive`] is shared by all controllers. Each controller has a [`Session`], which ends with the
//! power: data acknowledged to a session may be lost in a power cut, so no later command of the
//! same session may succeed.

use std::fmt;
use std::sync::Arc;

/// A drive, shared by all controllers. Several threads may call it at once.
pub trait Drive: Send + Sync {
    /// Returns the shape of the drive. It never changes.
    fn shape(&self) -> Shape;

    /// Returns a session for a controller that connects now.
    fn attach(&self) -> Arc<dyn Session>;

    /// Returns the health of the drive, counted over its life.
    fn health(&self) -> Health;

    /// Returns the traffic of the media by cause and by handle, counted over the drive's life.
    fn traffic(&self) -> Traffic;

    /// Returns the number of bytes for which the reclaim unit of a handle still has room.
    fn room(&self, handle: u16) -> u64;

    /// Returns the events since the last call, the oldest first. A drive may drop old events.
    fn take_events(&self) -> Vec<DriveEvent>;

    /// Returns the fill of a zone without a write in progress: at a start, after a power cut, and
    /// after a write that has failed. None if the drive has no power.
    fn zone(&self, zone: u64) -> Option<ZoneFill>;
}

/// A controller's access to the data of a drive. Several threads may call it at once; each call
/// returns when the drive has answered. Offsets and lengths are within the drive, and multiples of
/// 512 bytes.
pub trait Session: Send + Sync {
    /// Reads bytes. Bytes never written, or deallocated, are zeros.
    ///
    /// # Errors
    /// See [`DriveError`].
    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), DriveError>;

    /// Writes bytes.
    ///
    /// # Errors
    /// See [`DriveError`].
    fn write(&self, offset: u64, bytes: &[u8], options: WriteOptions) -> Result<(), DriveError>;

    /// Makes bytes read as zeros. `may_deallocate` allows the drive to deallocate pages for this.
    ///
    /// # Errors
    /// See [`DriveError`].
    fn zero(
        &self,
        offset: u64,
        length: u64,
        may_deallocate: bool,
        options: WriteOptions,
    ) -> Result<(), DriveError>;

    /// Deallocates bytes. The drive may keep pages that the range covers in part.
    ///
    /// # Errors
    /// See [`DriveError`].
    fn deallocate(&self, offset: u64, length: u64) -> Result<(), DriveError>;

    /// Makes all acknowledged data durable before it returns.
    ///
    /// # Errors
    /// See [`DriveError`].
    fn flush(&self) -> Result<(), DriveError>;

    /// Gives a placement handle an empty reclaim unit. Returns the number of bytes for which the
    /// previous unit still had room.
    ///
    /// # Errors
    /// See [`DriveError`].
    fn next_unit(&self, handle: u16) -> Result<u64, DriveError>;

    /// Empties a zone. No write to the zone is in progress. A flush makes it durable.
    ///
    /// # Errors
    /// See [`DriveError`].
    fn reset_zone(&self, zone: u64) -> Result<(), DriveError>;

    /// Marks a zone as full, however much was written to it. No write to the zone is in progress.
    /// A flush makes it durable.
    ///
    /// # Errors
    /// See [`DriveError`].
    fn finish_zone(&self, zone: u64) -> Result<(), DriveError>;
}

/// Options of a write.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WriteOptions {
    /// Placement handle of the data; 0 if the host names none.
    pub handle: u16,
    /// Whether the data are durable when the call returns.
    pub durable: bool,
}

/// Shape of a drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Bytes that hosts can address, a multiple of 4,096.
    pub bytes: u64,
    /// Bytes of a page, a power of two of at least 512. A write of one page is never torn.
    pub page_bytes: u32,
    /// Whether acknowledged data can be lost before a flush.
    pub has_cache: bool,
    /// Flexible data placement; none if the drive ignores handles.
    pub placement: Option<Placement>,
    /// Zones; none for a drive with random writes.
    pub zones: Option<ZoneShape>,
}

impl Shape {
    /// Returns the bytes that can hold data: of a drive in zones, those of the zones' capacities.
    pub(crate) fn capacity(&self) -> u64 {
        self.zones.map_or(self.bytes, |zones| self.bytes / zones.bytes * zones.capacity)
    }

    /// Whether a namespace may have blocks of so many bytes. A write pointer is between two pages,
    /// so blocks of a drive in zones are not smaller than its pages.
    pub(crate) fn has_blocks_of(&self, bytes: u32) -> bool {
        self.zones.is_none() || bytes >= self.page_bytes
    }
}

/// Flexible data placement of a drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Placement {
    /// Number of placement handles, at least 1.
    pub handles: u16,
    /// Bytes of a reclaim unit.
    pub unit_bytes: u64,
    /// Isolation of the data of a handle.
    pub isolation: Isolation,
}

/// Isolation of the data of a handle when the drive moves them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Isolation {
    /// Moved data of several handles may share a unit.
    Initially,
    /// Moved data stay apart by handle.
    Persistently,
}

/// Zones of a drive, all of one shape. The drive has as many zones as fit into its bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ZoneShape {
    /// Bytes from the start of a zone to the next, a multiple of 4,096. Linux needs a power of two.
    pub bytes: u64,
    /// Bytes of a zone that can be written, a multiple of 4,096, at most `bytes`.
    pub capacity: u64,
    /// Maximum number of open zones; none for no limit.
    pub open_max: Option<u32>,
    /// Maximum number of active zones (open or closed), at least `open_max`; none for no limit.
    pub active_max: Option<u32>,
}

/// Fill of a zone.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ZoneFill {
    /// Bytes up to the write pointer.
    pub written: u64,
    /// Whether a host has finished the zone.
    pub is_finished: bool,
}

/// Health of a drive, counted over its life.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Health {
    /// Bytes that hosts have read.
    pub host_read_bytes: u64,
    /// Bytes that hosts have written.
    pub host_written_bytes: u64,
    /// Read commands of hosts.
    pub host_reads: u64,
    /// Write commands of hosts.
    pub host_writes: u64,
    /// Bytes read from the media.
    pub media_read_bytes: u64,
    /// Bytes programmed to the media, for hosts and for the drive itself.
    pub media_written_bytes: u64,
    /// Bytes of the media erased.
    pub media_erased_bytes: u64,
    /// Bytes of the namespace that hold data.
    pub used_bytes: u64,
    /// Minutes in which the drive was busy.
    pub busy_minutes: u64,
    /// Starts of the drive.
    pub power_cycles: u64,
    /// Hours with power.
    pub power_on_hours: u64,
    /// Losses of power without a shutdown.
    pub unsafe_shutdowns: u64,
    /// Reads that failed.
    pub media_errors: u64,
    /// Erase units that are out of service.
    pub bad_units: u64,
    /// Erases of the least worn unit.
    pub erases_min: u32,
    /// Erases of the most worn unit.
    pub erases_max: u32,
    /// Commands that covered a page in part.
    pub unaligned: u64,
    /// Bytes that the drive can write over its life; 0 if unknown.
    pub endurance_bytes: u64,
    /// Remaining spare in percent.
    pub spare_percent: u8,
    /// Spare in percent below which the drive warns.
    pub spare_threshold_percent: u8,
    /// Used life in percent; more than 100 is possible.
    pub used_percent: u8,
    /// Free erase units in percent.
    pub free_percent: u8,
    /// Whether the reliability of the drive is degraded.
    pub is_degraded: bool,
    /// Whether the drive refuses writes.
    pub is_read_only: bool,
}

/// Traffic of the media, counted over the drive's life.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Traffic {
    /// By cause, in a fixed order.
    pub causes: Vec<CauseTraffic>,
    /// By placement handle.
    pub handles: Vec<HandleTraffic>,
}

/// Traffic of one cause, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CauseTraffic {
    /// Name of the cause: at most 16 ASCII characters.
    pub name: &'static str,
    /// Bytes read.
    pub read: u64,
    /// Bytes programmed.
    pub written: u64,
    /// Bytes erased.
    pub erased: u64,
}

/// Traffic of one placement handle, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HandleTraffic {
    /// Bytes that hosts wrote with the handle.
    pub host: u64,
    /// Bytes programmed for the handle, by hosts and by the drive itself.
    pub media: u64,
}

/// An event of flexible data placement inside the drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DriveEvent {
    /// The cleaner moved data of an initially isolated handle.
    Reallocated {
        /// The handle.
        handle: u16,
        /// First byte of the moved data.
        offset: u64,
        /// Bytes moved.
        length: u64,
    },
    /// A handle's unit was full, and the drive gave the handle another unit.
    NextUnit {
        /// The handle.
        handle: u16,
    },
    /// Handles lost their units in a power cut.
    Reset,
}

/// Reason why a drive failed a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DriveError {
    /// The power failed since the session began: no reply may reach the host.
    PowerOff,
    /// The drive refuses writes.
    ReadOnly,
    /// Data could not be read.
    Unreadable,
    /// Data could not be written.
    Unwritten,
    /// The drive has no room left for its data.
    Full,
    /// Another failure inside the drive.
    Failed,
}

impl fmt::Display for DriveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PowerOff => "the power of the drive failed",
            Self::ReadOnly => "the drive is read-only",
            Self::Unreadable => "data could not be read",
            Self::Unwritten => "data could not be written",
            Self::Full => "the drive is full",
            Self::Failed => "the drive failed",
        })
    }
}

impl std::error::Error for DriveError {}
