//! Requests of the host and their completions.

/// Kind of a host request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Op {
    /// Reads bytes.
    Read = 0,
    /// Writes bytes.
    Write = 1,
    /// Forgets bytes (discard).
    Trim = 2,
    /// Makes everything acknowledged so far durable.
    Flush = 3,
}

impl Op {
    /// Returns the operation with this code (0 read, 1 write, 2 trim, 3 flush).
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Read),
            1 => Some(Self::Write),
            2 => Some(Self::Trim),
            3 => Some(Self::Flush),
            _ => None,
        }
    }

    /// Returns whether latencies include such requests: reads and writes.
    #[inline(always)]
    pub const fn is_measured(self) -> bool {
        matches!(self, Self::Read | Self::Write)
    }

    /// Returns the name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
            Self::Flush => "flush",
        }
    }
}

/// One host request. Offset and length are in bytes; a flush ignores both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// Arrival in nanoseconds from the start of the workload.
    pub at_ns: u64,
    /// Kind of the request.
    pub op: Op,
    /// First byte.
    pub offset: u64,
    /// Number of bytes.
    pub length: u64,
    /// Placement handle: writes with the same handle should lie together. 0 if the host gives none.
    pub stream: u16,
}

/// Completion of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Completion {
    /// Arrival in nanoseconds of the device's clock.
    pub arrival_ns: u64,
    /// Time at which the last page was done.
    pub done_ns: u64,
    /// Breakdown of the time from arrival to completion; the components sum to it exactly.
    pub blame: crate::nand::Blame,
}
