//! LRU of blocks that looks into the command queue (S. Kim and T. Kim, "Exploiting the Future
//! Reference in Write Buffer Management Design for SSDs", 2013).
//!
//! The policy pins blocks that queued commands will use: a pinned block leaves only if all blocks
//! are pinned. The paper's Figure 2 swaps the names of the first and the last block of a command;
//! the loop visits all blocks between them.
//!
//! Decided here (docs/algorithms.md, 7.4, N1 to N5):
//!
//! - A pin is a count of the queued commands, reads and writes, that overlap the block.
//! - The policy also counts for blocks that are not buffered, so such a block is pinned when it
//!   enters.
//! - A command releases a block when its part there has been served.
//! - A pin does not change the LRU order. If all blocks are pinned, the least recently used one
//!   leaves. A block whose pin ends without a use keeps its position.
//!
//! The paper's text allows two other readings. First: a command pins only blocks that are buffered
//! when it is queued; commands on one block are then assumed to be served in arrival order. Second:
//! no pins; a queued command moves its blocks to the front.
//!
//! The cost equals the cost of LRU of blocks, plus 4 bytes per block of the drive. A pin is an
//! addition in a table by block; the policy walks no list. When a pinned block would leave, the
//! policy passes over it once and sets it aside in LRU order. If its pin ends without a use, the
//! block waits in a heap and leaves before all others.

use alloc::collections::BinaryHeap;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::ops::Range;

use super::blocks::BlockTable;
use super::{BufferConfig, BufferDemands, BufferEvent, EvictionPolicy, Written};
use crate::lru::{Links, List};
use crate::policy::Policy;

crate::parameters! {
    /// Parameters of `ncq_lru`.
    pub struct NcqLruConfig {
        /// How a queued command protects the buffered blocks that it will access.
        pin: Pin = Pin::Counted;
    }
}

crate::choice! {
    /// Effect of a queued command on the blocks that it will use.
    pub enum Pin {
        /// They are pinned while another block can be evicted, even if buffered after queueing.
        Counted = "counted",
        /// They are pinned only if they are buffered already when the command is queued.
        OnArrivalOnly = "on_arrival_only",
        /// Those buffered when the command is queued become the most recently used; no pinning.
        MoveOnly = "move_only",
    }
}

/// Bit in `pending` of a block that was passed over.
const PASSED: u32 = 1 << 31;

#[derive(Clone, Copy, Debug, Default)]
struct State {
    block: u32,
    /// For [`Pin::OnArrivalOnly`]: queued commands on the block that arrived before the block was
    /// buffered.
    early: u32,
    /// Time of the last use.
    used: u64,
    /// Whether the block was passed over since its last use; `pending` then has [`PASSED`].
    passed: bool,
    /// Whether the block is in the heap `freed`.
    freed: bool,
}

/// Policy that evicts the least recently used block without a pin.
pub(super) struct NcqLru {
    pin: Pin,
    /// By block: unserved parts of queued commands, and [`PASSED`] if the block was passed over.
    /// The bit is stored here so that releasing one of several pins reads no other table.
    pending: Vec<u32>,
    slots: Vec<State>,
    links: Links,
    /// Blocks that were not passed over, the most recently used first.
    recent: List,
    /// Blocks that were passed over, the least recently used first. Each was used before all in
    /// `recent`.
    passed: List,
    /// Passed-over blocks whose pins have ended, by last use, and some stale entries of blocks that
    /// were used or pinned again.
    freed: BinaryHeap<Reverse<(u64, u32)>>,
    now: u64,
}

impl NcqLru {
    pub(super) fn new(config: &BufferConfig) -> Self {
        let pinned = if config.ncq_lru.pin == Pin::MoveOnly { 0 } else { config.blocks() };
        Self {
            pin: config.ncq_lru.pin,
            pending: vec![0; pinned],
            slots: vec![State::default(); config.slots()],
            links: Links::new(config.slots()),
            recent: List::EMPTY,
            passed: List::EMPTY,
            freed: BinaryHeap::new(),
            now: 0,
        }
    }

    #[inline]
    fn is_pinned(&self, slot: u32) -> bool {
        let State { block, early, .. } = self.slots[slot as usize];
        let pending = || self.pending[block as usize] & !PASSED;
        match self.pin {
            Pin::Counted => pending() > 0,
            Pin::OnArrivalOnly => pending() > early,
            Pin::MoveOnly => false,
        }
    }

    #[inline]
    fn put_first(&mut self, slot: u32) {
        self.now += 1;
        self.slots[slot as usize].used = self.now;
        self.links.push_front(&mut self.recent, slot);
    }

    /// Returns the least recently used of the passed-over blocks whose pins have ended.
    fn freed(&mut self) -> Option<u32> {
        while let Some(Reverse((used, slot))) = self.freed.pop() {
            self.slots[slot as usize].freed = false;
            let state = self.slots[slot as usize];
            if state.passed && !self.is_pinned(slot) {
                // No block is passed over until the heap is empty, so this block was not used after
                // its entry.
                assert_eq!(state.used, used);
                return Some(slot);
            }
        }
        None
    }

    /// Puts a passed-over block into the heap, unless it is already there.
    fn free(&mut self, slot: u32) {
        let state = &mut self.slots[slot as usize];
        if !core::mem::replace(&mut state.freed, true) {
            self.freed.push(Reverse((state.used, slot)));
        }
    }

    /// Returns the least recently used block without a pin. Sets aside the pinned blocks on the
    /// way.
    fn oldest(&mut self) -> Option<u32> {
        while let Some(slot) = self.recent.back() {
            if !self.is_pinned(slot) {
                return Some(slot);
            }
            self.links.remove(&mut self.recent, slot);
            self.links.push_back(&mut self.passed, slot);
            let state = &mut self.slots[slot as usize];
            state.passed = true;
            self.pending[state.block as usize] |= PASSED;
        }
        None
    }

    fn read(&mut self, slot: u32) {
        self.take(slot);
        self.put_first(slot);
    }

    fn queued(&mut self, blocks: Range<u32>, table: &BlockTable) {
        if self.pin == Pin::MoveOnly {
            blocks.filter_map(|block| table.find(block)).for_each(|slot| self.read(slot));
            return;
        }
        let pending = &mut self.pending[blocks.start as usize..blocks.end as usize];
        pending.iter_mut().for_each(|pending| *pending += 1);
    }

    fn served(&mut self, block: u32, table: &BlockTable) {
        if self.pin == Pin::MoveOnly {
            return;
        }
        let pending = &mut self.pending[block as usize];
        assert!(*pending & !PASSED > 0, "what is served has been queued");
        *pending -= 1;
        if self.pin == Pin::Counted && *pending != PASSED {
            return;
        }
        let Some(slot) = table.find(block) else { return };
        let state = &mut self.slots[slot as usize];
        state.early = state.early.saturating_sub(1);
        if state.passed && !self.is_pinned(slot) {
            self.free(slot);
        }
    }
}

impl EvictionPolicy for NcqLru {
    fn demands(_: &BufferConfig) -> BufferDemands {
        BufferDemands { listens: true, ..BufferDemands::default() }
    }

    #[inline]
    fn put(&mut self, written: &Written) {
        let state = &mut self.slots[written.slot as usize];
        if written.is_new {
            state.block = written.block;
            state.early = self.pending.get(written.block as usize).map_or(0, |n| n & !PASSED);
        }
        self.put_first(written.slot);
    }

    #[inline]
    fn take(&mut self, slot: u32) {
        let state = &mut self.slots[slot as usize];
        if core::mem::take(&mut state.passed) {
            self.pending[state.block as usize] &= !PASSED;
            self.links.remove(&mut self.passed, slot);
        } else {
            self.links.remove(&mut self.recent, slot);
        }
    }

    fn victim(&mut self) -> Option<u32> {
        let victim = self.freed().or_else(|| self.oldest()).or(self.passed.front())?;
        self.take(victim);
        Some(victim)
    }

    fn next(&self) -> Option<u32> {
        self.recent.back()
    }

    fn observe(&mut self, event: BufferEvent, table: &BlockTable) {
        match event {
            BufferEvent::Read { slot } => self.read(slot),
            BufferEvent::Trimmed { .. } => {}
            BufferEvent::Queued { blocks } => self.queued(blocks, table),
            BufferEvent::Served { block } => self.served(block, table),
        }
    }

    fn check_blocks(&self, table: &BlockTable) {
        let recent = self.links.iter(&self.recent).map(|slot| (slot, false));
        let passed = self.links.iter(&self.passed).map(|slot| (slot, true));
        let mut uses = vec![];
        for (slot, passed) in passed.chain(recent.collect::<Vec<_>>().into_iter().rev()) {
            let state = &self.slots[slot as usize];
            assert!(table.buffered(slot) > 0 && table.block(slot) == state.block);
            assert_eq!(state.passed, passed);
            let pending = self.pending.get(state.block as usize).map_or(0, |pending| *pending);
            assert_eq!(pending & PASSED != 0, passed);
            assert!(!passed || self.is_pinned(slot) || state.freed, "it would never leave");
            uses.push(state.used);
        }
        assert!(uses.is_sorted(), "those passed over were used before the others");
        assert_eq!(uses.len(), table.len());
        assert_eq!(self.freed.len(), self.slots.iter().filter(|state| state.freed).count());
    }
}

impl Policy for NcqLru {
    fn memory_bytes(&self) -> u64 {
        let slot = size_of::<State>() + 8;
        (self.slots.len() * slot + self.pending.len() * 4 + self.freed.len() * 16) as u64
    }
}
