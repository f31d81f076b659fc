//! A recording of a window of time: what each die and each channel did, and for what, around the
//! request that took longest, or around a time.

use alloc::vec::Vec;

use super::{Blame, Part};

/// What the time of a die goes into.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    /// Cells are read.
    Read,
    /// Cells are programmed; an operation that is suspended counts as what it is.
    Program,
    /// Cells are erased.
    Erase,
    /// A page is transferred, or a command sent.
    Transfer,
    /// Nothing can go on until the channel is free.
    Wait,
}

impl Use {
    /// Its name in results.
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

/// What a die or a channel did for some time without a break.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// Which of the dies, in the order of channels; behind them, which of the channels.
    pub lane: u32,
    /// What it did; a channel transfers.
    pub doing: Use,
    /// The cause of the operation; [`Part::Die`] for the host, of a channel [`Part::Bus`].
    pub part: Part,
    /// From when, in nanoseconds.
    pub from_ns: u64,
    /// Until when.
    pub to_ns: u64,
}

impl Span {
    /// Whether another goes on with the same in the same lane.
    pub(crate) fn goes_on(&self, next: &Self) -> bool {
        (self.lane, self.doing, self.part, self.to_ns)
            == (next.lane, next.doing, next.part, next.from_ns)
    }

    /// What of it is in a window, if anything.
    pub(crate) fn within(self, from_ns: u64, to_ns: u64) -> Option<Self> {
        let (from_ns, to_ns) = (self.from_ns.max(from_ns), self.to_ns.min(to_ns));
        (from_ns < to_ns).then_some(Self { from_ns, to_ns, ..self })
    }
}

/// Where the window lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Around {
    /// A quarter of it behind the end of the read or write that took longest, the first of them.
    Worst,
    /// Half of it before, half of it behind this time in nanoseconds.
    Time(u64),
}

/// What is to be recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Recording {
    /// The length of the window in nanoseconds.
    pub window_ns: u64,
    /// Where it lies.
    pub around: Around,
    /// At most about so many spans are kept, and one more per lane; a window that has more is made
    /// shorter.
    pub spans_max: usize,
}

/// A read or a write of the host that is complete.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Served {
    /// Its number in the order of the host, from 0.
    pub number: u64,
    /// When it arrived, in nanoseconds.
    pub arrival_ns: u64,
    /// When it was complete.
    pub done_ns: u64,
    /// What the time between the two went into.
    pub blame: Blame,
}

impl Served {
    /// From arrival to completion.
    pub fn latency_ns(&self) -> u64 {
        self.done_ns - self.arrival_ns
    }
}

/// What was recorded.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Recorded {
    /// From when, in nanoseconds.
    pub from_ns: u64,
    /// Until when.
    pub to_ns: u64,
    /// What was to be recorded, too, and would have been too many spans.
    pub left_out_ns: u64,
    /// What dies and channels did from then until then, by lane, and then by time.
    pub spans: Vec<Span>,
    /// The request that took longest: of all, or of those that were under way at the time.
    pub served: Option<Served>,
    /// The dies of its own operations, ascending: not those of work that it waited for as a whole.
    pub dies: Vec<u32>,
}
