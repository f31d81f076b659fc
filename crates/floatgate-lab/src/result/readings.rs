//! Reads counters and state from a drive after a run. All access of the result to the drive is
//! here.

use floatgate_ftl::device::{Counters, Device};
use floatgate_ftl::nand::Recorded;
use floatgate_ftl::request::Request;

/// Everything that the result reads from a drive.
#[derive(Default)]
pub(super) struct Readings {
    /// Counters of the drive.
    pub counters: Counters,
    /// Erases of each erase unit.
    pub wear: Vec<u32>,
    /// Valid pages in each erase unit.
    pub valid_pages: Vec<u32>,
    /// The recorded window of time, and the request that it shows.
    pub recorded: Option<(Recorded, Option<Request>)>,
}

impl Readings {
    pub fn read(device: &dyn Device) -> Self {
        Self {
            counters: device.counters(),
            wear: device.units().wear().collect(),
            valid_pages: device.units().valid_pages().collect(),
            recorded: device.recorded(),
        }
    }
}
