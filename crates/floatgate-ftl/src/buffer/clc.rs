//! CLC: cold and largest cluster (Kang, Park, Jung, Shim and Cha, "Performance Trade-Offs in Using
//! NVRAM Write Buffer for Flash Memory-Based Storage Devices", IEEE Transactions on Computers 58,
//! 2009).
//!
//! The policy spares a share alpha of the blocks: the most recently used ones. From the other
//! blocks it evicts the one with the most buffered pages, among equals the one that joined the
//! others first. If there are no others, it evicts the least recently used block. Alpha 0 is FAB,
//! alpha 1 is LRU of blocks.
//!
//! The paper's text was not at hand: the default alpha, 0.1, and the rules come from quotations of
//! it (docs/algorithms.md, 7.7). Decided here: alpha is a share of the blocks that could leave,
//! rounded down, and is applied at each write and at each eviction. A block that loses a page by a
//! trim becomes the newest of its new size, unless it is recent. Costs two list moves per part of a
//! command. Each eviction looks at one word per 64 pages of a block at most.

use alloc::vec;
use alloc::vec::Vec;

use super::blocks::BlockTable;
use super::by_size::BySize;
use super::pins::Pin;
use super::recency::Recency;
use super::{BufferConfig, BufferDemands, BufferEvent, EvictionPolicy, Written};
use crate::parameters::permille;
use crate::policy::Policy;

crate::parameters! {
    /// Parameters of `clc`.
    pub struct ClcConfig {
        /// Share of the blocks, the most recently used, evicted only if there are no others. Counts
        /// in thousandths.
        alpha: f64 = 0.1, from 0 to 1;
        /// How a queued command protects the buffered blocks that it will access.
        pin: Pin = Pin::None;
    }
}

/// Policy that evicts the largest block outside the most recently used share.
pub(super) struct Clc {
    alpha_permille: u64,
    recent: Recency,
    others: BySize,
    /// Buffered pages by slot.
    pages: Vec<u32>,
    /// Candidates in `recent` and `others` together.
    len: u64,
}

impl Clc {
    pub(super) fn new(config: &BufferConfig) -> Self {
        let alpha_permille = permille(config.clc.alpha);
        assert!(alpha_permille <= 1000);
        Self {
            alpha_permille: alpha_permille.into(),
            recent: Recency::new(config.slots()),
            others: BySize::new(config.slots(), config.block_pages),
            pages: vec![0; config.slots()],
            len: 0,
        }
    }

    /// Moves the least recently used recent blocks to the others until the share is met.
    fn rebalance(&mut self) {
        while u64::from(self.recent.len()) > self.len * self.alpha_permille / 1000
            && let Some(slot) = self.recent.take_oldest()
        {
            self.others.put(slot, self.pages[slot as usize]);
        }
    }
}

impl EvictionPolicy for Clc {
    fn demands(config: &BufferConfig) -> BufferDemands {
        BufferDemands { pin: config.clc.pin, reads_use: true, ..BufferDemands::default() }
    }

    fn put(&mut self, written: &Written) {
        self.pages[written.slot as usize] = written.buffered;
        self.recent.put(written.slot);
        self.len += 1;
        self.rebalance();
    }

    fn take(&mut self, slot: u32) {
        self.len -= 1;
        if self.others.contains(slot) {
            self.others.take(slot);
        } else {
            self.recent.take(slot);
        }
    }

    fn victim(&mut self) -> Option<u32> {
        self.rebalance();
        let slot = self.others.take_largest().or_else(|| self.recent.take_oldest())?;
        self.len -= 1;
        Some(slot)
    }

    fn observe(&mut self, event: BufferEvent, _: &BlockTable) {
        match event {
            BufferEvent::Read { slot } => {
                self.take(slot);
                self.recent.put(slot);
                self.len += 1;
                self.rebalance();
            }
            BufferEvent::Trimmed { slot, left } => {
                self.pages[slot as usize] = left;
                if self.others.contains(slot) {
                    self.others.take(slot);
                    self.others.put(slot, left);
                }
            }
            _ => {}
        }
    }

    fn check_blocks(&self, table: &BlockTable, candidates: usize) {
        self.others.check();
        let all = || self.recent.iter().chain(self.others.iter());
        assert_eq!(all().count() as u64, self.len);
        assert_eq!(all().count(), candidates);
        assert!(all().all(|slot| self.pages[slot as usize] == table.buffered(slot)));
    }
}

impl Policy for Clc {
    fn memory_bytes(&self) -> u64 {
        self.recent.memory_bytes() + self.others.memory_bytes() + 4 * self.pages.len() as u64
    }
}
