//! LRU of blocks that looks into the command queue (S. Kim and T. Kim, "Exploiting the Future
//! Reference in Write Buffer Management Design for SSDs", 2013).
//!
//! This is LRU of blocks with pins ([`pins`](super::pins)): a block that queued commands will use
//! leaves only if all blocks are pinned. The paper's Figure 2 swaps the names of the first and the
//! last block of a command; the loop visits all blocks between them.
//!
//! A pin does not change the LRU order. If all blocks are pinned, the least recently used one
//! leaves. A block whose pin ends without a use keeps its position.

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

/// Policy that evicts the least recently used block. Pins are around it.
pub(super) type NcqLru = ByUse<Queued>;

pub(super) struct Queued;

impl Demands for Queued {
    fn demands(config: &BufferConfig) -> BufferDemands {
        BufferDemands { pin: config.ncq_lru.pin, reads_use: true, ..BufferDemands::default() }
    }
}
