//! Times and rules of dispatching.

use crate::device::outstanding::queued;
use crate::nand::{Blame, Component};

/// Dispatching rules of the host layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dispatching {
    /// Maximum number of commands in the drive. A twrite is one command; so is a read with all its
    /// pieces.
    pub commands: usize,
    /// Whether a remap in progress blocks dispatching.
    pub block_during_remap: bool,
    /// Idle time of the host after which the log is remapped. `None`: never.
    pub idle_after_ns: Option<u64>,
    /// Largest number of requests with which a twrite waits for more requests, and the maximum
    /// number of such waits.
    pub low_packing: (usize, u32),
}

impl Default for Dispatching {
    fn default() -> Self {
        Self { commands: 32, block_during_remap: true, idle_after_ns: None, low_packing: (16, 0) }
    }
}

/// Times at which a request was next in line, and at which it was dispatched after a remap.
#[derive(Clone, Copy)]
pub(super) struct DispatchTimes {
    pub(super) ready: u64,
    pub(super) begin: u64,
}

impl DispatchTimes {
    /// Returns the blame of a request from its arrival to its dispatch.
    pub(super) fn wait(&self, arrival: u64) -> Blame {
        let mut blame = queued(arrival, self.ready.max(arrival));
        blame.add(Component::Remap, self.begin - self.ready.max(arrival));
        blame
    }
}
