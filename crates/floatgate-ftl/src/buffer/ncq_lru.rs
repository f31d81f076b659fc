//! LRU of blocks that looks into the command queue (S. Kim and T. Kim, "Exploiting the Future
//! Reference in Write Buffer Management Design for SSDs", 2013).
//!
//! This is LRU of blocks with pins ([`pins`](super::pins)): a block that queued commands will use
//! leaves only if all blocks are pinned. The paper's Figure 2 swaps the names of the first and the
//! last block of a command; the loop visits all blocks between them.
//!
//! A pin does not change the LRU order. If all blocks are pinned, the least recently used one
//! leaves. A block whose pin ends without a use keeps its position.

use super::blocks::BlockTable;
use super::pins::Pin;
use super::recency::Recency;
use super::{BufferConfig, BufferDemands, BufferEvent, EvictionPolicy, Written};
use crate::policy::Policy;

crate::parameters! {
    /// Parameters of `ncq_lru`.
    pub struct NcqLruConfig {
        /// How a queued command protects the buffered blocks that it will access.
        pin: Pin = Pin::Counted;
    }
}

/// Policy that evicts the least recently used block, with pins around it.
pub(super) struct NcqLru(Recency);

impl NcqLru {
    pub(super) fn new(config: &BufferConfig) -> Self {
        Self(Recency::new(config.slots()))
    }
}

impl EvictionPolicy for NcqLru {
    fn demands(config: &BufferConfig) -> BufferDemands {
        BufferDemands { pin: config.ncq_lru.pin, reads_use: true, ..BufferDemands::default() }
    }

    fn put(&mut self, written: &Written) {
        self.0.put(written.slot);
    }

    fn take(&mut self, slot: u32) {
        self.0.take(slot);
    }

    fn victim(&mut self) -> Option<u32> {
        self.0.take_oldest()
    }

    fn next(&self) -> Option<u32> {
        self.0.soon()
    }

    fn observe(&mut self, event: BufferEvent, _: &BlockTable) {
        if let BufferEvent::Read { slot } = event {
            self.0.touch(slot);
        }
    }

    fn check_blocks(&self, table: &BlockTable, candidates: usize) {
        self.0.check(table, candidates);
    }
}

impl Policy for NcqLru {
    fn memory_bytes(&self) -> u64 {
        self.0.memory_bytes()
    }
}
