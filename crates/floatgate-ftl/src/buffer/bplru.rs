//! BPLRU: block padding LRU (Kim and Ahn, "BPLRU: A Buffer Management Scheme for Improving Random
//! Writes in Flash Storage", FAST 2008).
//!
//! - *Block-level LRU* of writes: a read does not count as a use of a block.
//! - *Padding*: when a block leaves, the engine reads its missing pages from flash and writes the
//!   whole block ([`Group::pad`](super::Group::pad)). A hybrid FTL can then do a switch merge.
//! - *LRU compensation*: the policy does not expect another write to a block that was written in
//!   order from its first page to its last. Such a block leaves next.
//!
//! Decided here: a write breaks the order unless it starts where the last write to its block ended,
//! or at the first page. A trim breaks the order, too. The cost equals the cost of LRU of blocks.

use alloc::vec;
use alloc::vec::Vec;

use super::blocks::BlockTable;
use super::pins::Pin;
use super::recency::Recency;
use super::{BufferConfig, BufferDemands, BufferEvent, EvictionPolicy, Written};
use crate::policy::Policy;

crate::parameters! {
    /// Parameters of `bplru`.
    pub struct BplruConfig {
        /// Whether victims are padded: the missing pages of the block are read from flash, and it
        /// is written whole.
        padding: bool = true;
        /// Whether a block written from its first page to its last, in order, is evicted next.
        compensation: bool = true;
        /// How a queued command protects the buffered blocks that it will access.
        pin: Pin = Pin::None;
    }
}

/// Policy that evicts the least recently written block; a block written in order leaves first.
pub(super) struct Bplru {
    config: BplruConfig,
    recency: Recency,
    /// By slot: number of pages written in order, counted from the first page of the block.
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
    fn demands(config: &BufferConfig) -> BufferDemands {
        let BplruConfig { padding, pin, .. } = config.bplru;
        BufferDemands { pads: padding, pin, ..BufferDemands::default() }
    }

    fn put(&mut self, written: &Written) {
        if written.pages.is_empty() {
            return self.recency.put(written.slot);
        }
        let in_order = &mut self.in_order[written.slot as usize];
        let expected = if written.is_new { 0 } else { *in_order };
        let continues = written.pages.start == 0 || written.pages.start == expected;
        *in_order = if continues { written.pages.end } else { 0 };
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

    fn observe(&mut self, event: BufferEvent, _: &BlockTable) {
        if let BufferEvent::Trimmed { slot, .. } = event {
            self.in_order[slot as usize] = 0;
        }
    }

    fn check_blocks(&self, table: &BlockTable, candidates: usize) {
        self.recency.check(table, candidates);
        let written = |slot: u32| self.in_order[slot as usize] <= table.buffered(slot);
        assert!(self.recency.iter().all(written));
    }
}

impl Policy for Bplru {
    fn memory_bytes(&self) -> u64 {
        self.recency.memory_bytes() + 4 * self.in_order.len() as u64
    }
}
