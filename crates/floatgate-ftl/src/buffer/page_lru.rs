//! LRU of pages: evicts single pages.
//!
//! Reference for block buffers: among recency policies it makes the best use of memory and gives
//! flash the worst write order. Costs one queue move per hit, one more per evicted page, and 4
//! bytes per page of the drive.

use super::blocks::BlockTable;
use super::recency::Recency;
use super::{BufferConfig, BufferDemands, BufferEvent, EvictionPolicy, Written};
use crate::policy::Policy;

/// Policy that evicts the least recently used page.
pub(super) struct PageLru(Recency);

impl PageLru {
    pub(super) fn new(config: &BufferConfig) -> Self {
        Self(Recency::new(config.slots()))
    }
}

impl EvictionPolicy for PageLru {
    fn demands(_: &BufferConfig) -> BufferDemands {
        BufferDemands { single_pages: true, ..BufferDemands::default() }
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

impl Policy for PageLru {
    fn memory_bytes(&self) -> u64 {
        self.0.memory_bytes()
    }
}
