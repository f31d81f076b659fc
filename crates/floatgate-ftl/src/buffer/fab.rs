//! FAB: evicts the block with the most buffered pages, so that a hybrid FTL can replace merges by
//! switches. Source: Jo, Kang, Park, Kim and Lee, "FAB: Flash-Aware Buffer Management Policy for
//! Portable Media Players", IEEE Transactions on Consumer Electronics 52, 2006.
//!
//! Among equals the least recently used block leaves. Deviation: reads are not buffered, as in all
//! buffers here; a read of a buffered page counts as a use. Decided here: a trim that removes a
//! page from a block counts as a use. Costs one list move per part of a command. Each eviction
//! looks at one word per 64 pages of a block at most.

use super::blocks::BlockTable;
use super::by_size::BySize;
use super::pins::Pin;
use super::{BufferConfig, BufferDemands, BufferEvent, EvictionPolicy, Written};
use crate::policy::Policy;

crate::parameters! {
    /// Parameters of `fab`.
    pub struct FabConfig {
        /// How a queued command protects the buffered blocks that it will access.
        pin: Pin = Pin::None;
    }
}

/// Policy that evicts the block with the most pages.
pub(super) struct Fab(BySize);

impl Fab {
    pub(super) fn new(config: &BufferConfig) -> Self {
        Self(BySize::new(config.slots(), config.block_pages))
    }
}

impl EvictionPolicy for Fab {
    fn demands(config: &BufferConfig) -> BufferDemands {
        BufferDemands { pin: config.fab.pin, reads_use: true, ..BufferDemands::default() }
    }

    fn put(&mut self, written: &Written) {
        self.0.put(written.slot, written.buffered);
    }

    fn take(&mut self, slot: u32) {
        self.0.take(slot);
    }

    fn victim(&mut self) -> Option<u32> {
        self.0.take_largest()
    }

    fn observe(&mut self, event: BufferEvent, _: &BlockTable) {
        let (slot, pages) = match event {
            BufferEvent::Read { slot } => (slot, self.0.size(slot)),
            BufferEvent::Trimmed { slot, left } if self.0.contains(slot) => (slot, left),
            _ => return,
        };
        self.0.take(slot);
        self.0.put(slot, pages);
    }

    fn check_blocks(&self, table: &BlockTable, candidates: usize) {
        self.0.check();
        assert_eq!(self.0.iter().count(), candidates);
        assert!(self.0.iter().all(|slot| self.0.size(slot) == table.buffered(slot)));
    }
}

impl Policy for Fab {
    fn memory_bytes(&self) -> u64 {
        self.0.memory_bytes()
    }
}
