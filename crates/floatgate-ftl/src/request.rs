//! What the host asks for.

/// The kind of a host request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Op {
    /// Read bytes.
    Read = 0,
    /// Write bytes.
    Write = 1,
    /// Forget bytes (discard).
    Trim = 2,
    /// Make everything acknowledged so far durable.
    Flush = 3,
}

impl Op {
    /// The operation with this code (0 read, 1 write, 2 trim, 3 flush).
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Read),
            1 => Some(Self::Write),
            2 => Some(Self::Trim),
            3 => Some(Self::Flush),
            _ => None,
        }
    }

    /// Whether latencies are of such requests: reads and writes.
    #[inline(always)]
    pub const fn is_measured(self) -> bool {
        matches!(self, Self::Read | Self::Write)
    }

    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
            Self::Flush => "flush",
        }
    }
}

/// One host request. Offset and length are bytes; a flush has neither.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// When it arrives, in nanoseconds from the start of the workload.
    pub at_ns: u64,
    /// What it does.
    pub op: Op,
    /// First byte.
    pub offset: u64,
    /// Number of bytes.
    pub length: u64,
    /// Placement handle: with what the host wants the bytes of a write to lie together. 0 if it has
    /// not said.
    pub stream: u16,
}

/// What became of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Completion {
    /// When it arrived, in nanoseconds of the device's clock.
    pub arrival_ns: u64,
    /// When its last page was done.
    pub done_ns: u64,
    /// What the time between the two went into; the parts sum to it exactly.
    pub blame: crate::nand::Blame,
}
