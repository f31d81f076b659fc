//! Inputs of a placement, and the samples that it may request.

use core::ops::Range;

use crate::addr::Lpn;

/// A page that the host is about to write.
#[derive(Clone, Copy, Debug)]
pub struct HostWrite {
    /// The logical page.
    pub lpn: Lpn,
    /// Number of pages of the page's host request.
    pub request_pages: u32,
    /// Pages that the host had written before this page: the logical clock.
    pub clock: u64,
    /// Time of the write, in nanoseconds of the device's clock.
    pub now_ns: u64,
}

/// A page that cleaning is about to move.
#[derive(Clone, Copy, Debug)]
pub struct Relocation {
    /// The logical page.
    pub lpn: Lpn,
    /// The stream that the page is in.
    pub stream: u8,
    /// Pages that the host has written: the logical clock.
    pub clock: u64,
    /// Time of the move, in nanoseconds of the device's clock.
    pub now_ns: u64,
}

/// A unit that is about to be cleaned.
#[derive(Clone, Copy, Debug)]
pub struct Reclaimed {
    /// The stream for which the unit was opened.
    pub stream: u8,
    /// Pages that the host has written since the unit was opened.
    pub age: u64,
}

/// Event that a placement may use in its next answers.
#[derive(Clone, Debug)]
pub enum PlacementEvent {
    /// The host writes consecutive pages with one command. Comes before the pages are written.
    Command {
        /// First page.
        first: Lpn,
        /// Number of pages.
        pages: u32,
    },
    /// The placement handle of a host write, which groups pages that belong together. Comes once
    /// for each host write, before it is buffered or programmed.
    Labelled {
        /// The written pages.
        lpns: Range<u32>,
        /// The handle.
        handle: u16,
    },
    /// A page was trimmed.
    Trimmed(Lpn),
    /// A unit is about to be cleaned.
    Reclaimed(Reclaimed),
}

/// A request for a sample of pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Samples {
    /// Number of pages.
    pub count: u32,
    /// Pages to sample from.
    pub source: SampleSource,
}

crate::choice! {
    /// Which pages are sampled.
    pub enum SampleSource {
        /// Pages whose map entries are cached, at no cost; all written pages if the whole map is
        /// cached.
        Cached = "cht",
        /// All written pages; if the map entry is not cached, its translation page is read.
        Written = "random_lpn",
    }
}
