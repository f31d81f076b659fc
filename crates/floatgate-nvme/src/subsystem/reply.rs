//! Outcomes of commands.

use crate::drive::DriveError;
use crate::spec::status::Status;

/// Outcome of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The command is complete.
    Done(Reply),
    /// The command completes later: an asynchronous event request.
    Later,
    /// The drive lost its power. No reply may reach the host, and the controller ends.
    PowerOff,
}

/// Command-specific result and status of a completion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reply {
    /// Dwords 0 and 1 of the completion.
    pub result: u64,
    /// Status.
    pub status: Status,
}

impl Reply {
    /// A reply with a status and no result.
    pub const fn new(status: Status) -> Self {
        Self { result: 0, status }
    }
}

/// Direction and bytes of a command's data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transfer {
    /// No data.
    None,
    /// From the host to the controller.
    FromHost(u32),
    /// From the controller to the host.
    ToHost(u32),
}

/// Reason why a command has no successful reply now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stop {
    Failed(Status),
    Later,
    PowerOff,
}

impl From<Status> for Stop {
    fn from(status: Status) -> Self {
        Self::Failed(status)
    }
}

impl From<DriveError> for Stop {
    fn from(error: DriveError) -> Self {
        match error {
            DriveError::PowerOff => Self::PowerOff,
            DriveError::ReadOnly => Self::Failed(Status::READ_ONLY),
            DriveError::Unreadable => Self::Failed(Status::UNREADABLE),
            DriveError::Unwritten => Self::Failed(Status::WRITE_FAULT),
            DriveError::Full => Self::Failed(Status::CAPACITY_EXCEEDED),
            DriveError::Failed => Self::Failed(Status::INTERNAL),
        }
    }
}

/// Result of a command: dwords 0 and 1 of its completion.
pub(super) type Answer = Result<u64, Stop>;
