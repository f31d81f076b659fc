//! FAB: the block with the most buffered pages leaves, so that merges of a hybrid FTL become
//! switches (Jo, Kang, Park, Kim and Lee, "FAB: Flash-Aware Buffer Management Policy for Portable
//! Media Players", IEEE Transactions on Consumer Electronics 52, 2006).
//!
//! Of equals the least recently used leaves. Deviates: reads are not buffered, as here no buffer
//! does that; a read of a buffered page is a use. Decided here: a block that loses a page by a trim
//! counts as used. Costs a list move per part of a command, and per block that leaves a look at one
//! word per 64 pages of a block at most.

use super::blocks::BlockTable;
use super::by_size::BySize;
use super::{BufferConfig, EvictionPolicy, Written};

/// The block with the most pages leaves.
pub(super) struct Fab(BySize);

impl Fab {
    pub(super) fn new(config: &BufferConfig) -> Self {
        Self(BySize::new(config.slots(), config.block_pages))
    }
}

impl EvictionPolicy for Fab {
    fn put(&mut self, written: &Written) {
        self.0.put(written.slot, written.buffered);
    }

    fn take(&mut self, slot: u32) {
        self.0.take(slot);
    }

    fn victim(&mut self) -> Option<u32> {
        self.0.take_largest()
    }

    fn read(&mut self, slot: u32) {
        self.trimmed(slot, self.0.size(slot));
    }

    fn trimmed(&mut self, slot: u32, left: u32) {
        self.0.take(slot);
        self.0.put(slot, left);
    }

    fn memory_bytes(&self) -> u64 {
        self.0.memory_bytes()
    }

    fn check(&self, table: &BlockTable) {
        self.0.check();
        assert_eq!(self.0.iter().count(), table.len());
        assert!(self.0.iter().all(|slot| self.0.size(slot) == table.buffered(slot)));
    }
}
