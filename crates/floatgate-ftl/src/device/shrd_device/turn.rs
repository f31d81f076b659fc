//! When requests are dispatched.

use crate::device::outstanding::queued;
use crate::nand::{Blame, Part};

/// When the host layer dispatches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dispatching {
    /// Commands in the drive at once. A twrite is one; so are a read and all its parts.
    pub commands: usize,
    /// Whether nothing is dispatched while a remap is under way.
    pub block_during_remap: bool,
    /// How long the host must have asked for nothing for the log to be remapped. None: never.
    pub idle_after_ns: Option<u64>,
    /// A twrite of no more requests than this waits for more, so many times.
    pub low_packing: (usize, u32),
}

impl Default for Dispatching {
    fn default() -> Self {
        Self { commands: 32, block_during_remap: true, idle_after_ns: None, low_packing: (16, 0) }
    }
}

/// When a request was the next, and when it was dispatched after a remap.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    pub(super) ready: u64,
    pub(super) begin: u64,
}

impl Turn {
    /// What a request that arrived at `arrival` went through until it was dispatched.
    pub(super) fn wait(&self, arrival: u64) -> Blame {
        let mut blame = queued(arrival, self.ready.max(arrival));
        blame.add(Part::Remap, self.begin - self.ready.max(arrival));
        blame
    }
}
