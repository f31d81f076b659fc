//! What is read off a drive that has run: the one place where the result asks it anything.

use floatgate_ftl::device::{Counters, Device};
use floatgate_ftl::ftl::StreamCounts;

/// All that a drive says of itself.
#[derive(Default)]
pub(super) struct Readings {
    /// What it counted.
    pub counters: Counters,
    /// Erases of each erase unit.
    pub wear: Vec<u32>,
    /// Valid pages in each erase unit.
    pub valid_pages: Vec<u32>,
    /// Pages written to each stream.
    pub streams: Vec<StreamCounts>,
    /// Bytes of the placement's memory.
    pub placement_bytes: u64,
    /// Extents that the placement tracks, where it does.
    pub extents: Option<u32>,
    /// Bytes of the map's cache.
    pub cache_bytes: u64,
}

impl Readings {
    pub fn of(device: &dyn Device) -> Self {
        let (placement_bytes, extents) = device.placement_size();
        Self {
            counters: device.counters(),
            wear: device.wear(),
            valid_pages: device.valid_pages(),
            streams: device.streams(),
            placement_bytes,
            extents,
            cache_bytes: device.cache_bytes(),
        }
    }
}
