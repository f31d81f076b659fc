//! What is read off a drive that has run: the one place where the result asks it anything.

use floatgate_ftl::device::{Counters, Device};
use floatgate_ftl::nand::Recorded;
use floatgate_ftl::request::Request;

/// All that a drive says of itself.
#[derive(Default)]
pub(super) struct Readings {
    /// What it counted.
    pub counters: Counters,
    /// Erases of each erase unit.
    pub wear: Vec<u32>,
    /// Valid pages in each erase unit.
    pub valid_pages: Vec<u32>,
    /// What was recorded of a window of time, and the request that it is around.
    pub recorded: Option<(Recorded, Option<Request>)>,
}

impl Readings {
    pub fn of(device: &dyn Device) -> Self {
        Self {
            counters: device.counters(),
            wear: device.wear(),
            valid_pages: device.valid_pages(),
            recorded: device.recorded(),
        }
    }
}
