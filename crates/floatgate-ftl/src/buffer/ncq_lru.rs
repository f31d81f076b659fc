//! LRU of blocks that looks into the command queue (S. Kim and T. Kim, "Exploiting the Future
//! Reference in Write Buffer Management Design for SSDs", 2013).
//!
//! This is LRU of blocks with pins ([`pins`](super::pins)). Queued commands pin the blocks that
//! they will use. The buffer evicts the least recently used block without a pin or, if all blocks
//! are pinned, the least recently used block. A pin does not change the LRU order, so a block whose
//! pin ends without a use keeps its position.
//!
//! The paper's Figure 2 swaps the names of a command's first and last block. Here a command pins
//! all blocks from its first to its last.

use super::by_use::{ByUse, Demands};
use super::pins::Pin;
use super::{BufferConfig, BufferDemands};

crate::parameters! {
    /// Parameters of `ncq_lru`.
    pub struct NcqLruConfig {
        /// How a queued command protects the buffered blocks that it will access.
        pin: Pin = Pin::Counted;
    }
}

/// Policy that evicts the least recently used block. [`pins`](super::pins) wraps it.
pub(super) type NcqLru = ByUse<NcqDemands>;

/// The demands of `ncq_lru`: the configured pins, and reads that count as uses.
pub(super) struct NcqDemands;

impl Demands for NcqDemands {
    fn demands(config: &BufferConfig) -> BufferDemands {
        BufferDemands { pin: config.ncq_lru.pin, reads_use: true, ..BufferDemands::default() }
    }
}
