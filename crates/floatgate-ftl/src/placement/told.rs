//! What a placement is told, and what it may ask for.

use crate::addr::Lpn;

/// A page that the host is about to write.
#[derive(Clone, Copy, Debug)]
pub struct HostWrite {
    /// The page.
    pub lpn: Lpn,
    /// Pages of the host request that it belongs to.
    pub request_pages: u32,
    /// Pages that the host had written before it: the logical clock.
    pub clock: u64,
    /// When, in nanoseconds of the device's clock.
    pub now_ns: u64,
}

/// A page that cleaning is about to move.
#[derive(Clone, Copy, Debug)]
pub struct Relocation {
    /// The page.
    pub lpn: Lpn,
    /// The stream that it is in.
    pub stream: u8,
    /// Pages that the host has written: the logical clock.
    pub clock: u64,
    /// When, in nanoseconds of the device's clock.
    pub now_ns: u64,
}

/// A unit that is about to be cleaned.
#[derive(Clone, Copy, Debug)]
pub struct Reclaimed {
    /// The stream that it was opened for.
    pub stream: u8,
    /// Pages that the host has written since it was opened.
    pub age: u64,
}

/// Pages that a placement wants to look at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Samples {
    /// How many.
    pub count: u32,
    /// From among which.
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
