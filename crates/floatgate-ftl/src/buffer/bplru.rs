//! BPLRU: block padding LRU (Kim and Ahn, "BPLRU: A Buffer Management Scheme for Improving Random
//! Writes in Flash Storage", FAST 2008).
//!
//! - *Block-level LRU* of writes: reads are no use of a block.
//! - *Padding*: of a block that leaves, the pages that are missing are read from the flash, and the
//!   block is written as a whole, so that a hybrid FTL makes a switch merge of it. The engine does
//!   that ([`Group::pad`](super::Group::pad)).
//! - *LRU compensation*: a block that was written from its first page to its last, in order, is not
//!   expected to be written again: it leaves next.
//!
//! Decided here: a write that does not go on where the last one to its block ended breaks the order
//! unless it begins at the first page; so does a trim. Costs what LRU of blocks costs.

use alloc::vec;
use alloc::vec::Vec;

use super::blocks::BlockTable;
use super::recency::Recency;
use super::{BufferConfig, EvictionPolicy, Written};

crate::parameters! {
    /// Parameters of `bplru`.
    pub struct BplruConfig {
        /// Whether victims are padded: the missing pages of the block are read from flash, and it
        /// is written whole.
        padding: bool = true;
        /// Whether a block written from its first page to its last, in order, is evicted next.
        compensation: bool = true;
    }
}

/// The least recently written block leaves, or one that was written in order.
pub(super) struct Bplru {
    config: BplruConfig,
    recency: Recency,
    /// By slot: pages that were written in order, from the first of the block on.
    in_order: Vec<u32>,
}

impl Bplru {
    pub(super) fn new(config: &BufferConfig) -> Self {
        Self {
            config: config.bplru,
            recency: Recency::new(config.slots()),
            in_order: vec![0; config.slots()],
        }
    }
}

impl EvictionPolicy for Bplru {
    fn put(&mut self, written: &Written) {
        let in_order = &mut self.in_order[written.slot as usize];
        let expected = if written.is_new { 0 } else { *in_order };
        let goes_on = written.pages.start == 0 || written.pages.start == expected;
        *in_order = if goes_on { written.pages.end } else { 0 };
        if self.config.compensation && *in_order == written.whole {
            self.recency.put_last(written.slot);
        } else {
            self.recency.put(written.slot);
        }
    }

    fn take(&mut self, slot: u32) {
        self.recency.take(slot);
    }

    fn victim(&mut self) -> Option<u32> {
        self.recency.take_oldest()
    }

    fn next(&self) -> Option<u32> {
        self.recency.soon()
    }

    fn trimmed(&mut self, slot: u32, _: u32) {
        self.in_order[slot as usize] = 0;
    }

    fn pads(&self) -> bool {
        self.config.padding
    }

    fn memory_bytes(&self) -> u64 {
        self.recency.memory_bytes() + 4 * self.in_order.len() as u64
    }

    fn check(&self, table: &BlockTable) {
        self.recency.check(table);
        let written = |slot: u32| self.in_order[slot as usize] <= table.buffered(slot);
        assert!(self.recency.iter().all(written));
    }
}
