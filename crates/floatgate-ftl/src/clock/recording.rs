//! Recording of a window of time: the activity of each die and each channel, with its cause. The
//! window is around the request that took longest, or around a given time.

use alloc::vec::Vec;

use super::{Blame, Component};

/// How a die spends its time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    /// Cells are read.
    Read,
    /// Cells are programmed. If the die does nothing else while a program is suspended, that time
    /// counts here, too; the time of a suspended erase counts as [`Use::Erase`].
    Program,
    /// Cells are erased.
    Erase,
    /// A page is transferred, or a command is sent.
    Transfer,
    /// The die waits until the channel is free.
    Wait,
}

impl Use {
    /// Returns the name of this use in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Program => "program",
            Self::Erase => "erase",
            Self::Transfer => "transfer",
            Self::Wait => "wait",
        }
    }
}

/// Uninterrupted time that a die or a channel spent on one thing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// Number of the lane. The dies have the first lanes, in the order of their channels; the
    /// channels have the last lanes.
    pub lane: u32,
    /// Use of the time; a channel only transfers.
    pub doing: Use,
    /// The cause of the operation, as a component of latency. An operation for the host has
    /// [`Component::Die`] on a die, and [`Component::Bus`] on a channel.
    pub component: Component,
    /// Start, in nanoseconds.
    pub from_ns: u64,
    /// End, in nanoseconds.
    pub to_ns: u64,
}

impl Span {
    /// Returns whether `next` continues this span: same lane, use and component, without a gap.
    pub(crate) fn continues(&self, next: &Self) -> bool {
        (self.lane, self.doing, self.component, self.to_ns)
            == (next.lane, next.doing, next.component, next.from_ns)
    }

    /// Returns the section of the span that lies in a window, if there is one.
    pub(crate) fn within(self, from_ns: u64, to_ns: u64) -> Option<Self> {
        let (from_ns, to_ns) = (self.from_ns.max(from_ns), self.to_ns.min(to_ns));
        (from_ns < to_ns).then_some(Self { from_ns, to_ns, ..self })
    }
}

/// Position of the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Around {
    /// Around the read or write that took longest; of equally long ones, around the first. A
    /// quarter of the window lies after the end of that request.
    Worst,
    /// Around this time in nanoseconds: half of the window lies before it, half after it.
    Time(u64),
}

/// Settings of a recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Recording {
    /// The length of the window in nanoseconds.
    pub window_ns: u64,
    /// Position of the window.
    pub around: Around,
    /// Maximum number of spans, without the last two of each lane. A window with more spans is made
    /// shorter.
    pub spans_max: usize,
}

/// A completed host read or write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Served {
    /// Number of the request in the order of the host, from 0.
    pub number: u64,
    /// Time of arrival, in nanoseconds.
    pub arrival_ns: u64,
    /// Time of completion, in nanoseconds.
    pub done_ns: u64,
    /// Components of the time between arrival and completion.
    pub blame: Blame,
}

impl Served {
    /// Returns the time from arrival to completion.
    pub fn latency_ns(&self) -> u64 {
        self.done_ns - self.arrival_ns
    }
}

/// Result of a recording.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Recorded {
    /// Start of the recorded time, in nanoseconds.
    pub from_ns: u64,
    /// End of the recorded time, in nanoseconds.
    pub to_ns: u64,
    /// Nanoseconds of the window that the recorder left out, because they had too many spans.
    pub left_out_ns: u64,
    /// The spans of all dies and channels, by lane, and then by time.
    pub spans: Vec<Span>,
    /// The request that took longest: of all requests ([`Around::Worst`]), or of the requests
    /// under way at the given time ([`Around::Time`]).
    pub served: Option<Served>,
    /// The dies of the request's own operations, ascending. Dies of other work that the request
    /// waited for, such as a merge, are not listed.
    pub dies: Vec<u32>,
}
