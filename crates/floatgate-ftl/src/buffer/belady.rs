//! Offline bound on the hits of a block buffer: evicts the block whose next use is farthest in the
//! future (MIN: Belady, IBM Systems Journal 5, 1966). No real drive can know the future.
//!
//! The bound holds for buffers that insert every written page, as all buffers here do, if every
//! command writes whole blocks. Otherwise the result is an estimate, and another policy can get
//! more hits:
//!
//! - With smaller parts, because this policy does not weigh a block's pages against its next use.
//! - With reads, because a read miss inserts nothing; the block with the nearer next use is then
//!   not always the better one to keep.
//! - With trims, because a trim can remove a block before its next use.
//!
//! The policy does not minimise flash writes.
//!
//! [`Buffer::set_future`](super::Buffer::set_future) passes the future, one part for each
//! [`Buffer::served`](super::Buffer::served). Before that call, and beyond the end of the known
//! future, the policy evicts the least recently used block. Among blocks that are never used again
//! it evicts the one with the largest number. Cost: one heap operation per part of a command.

use alloc::collections::BinaryHeap;
use alloc::vec;
use alloc::vec::Vec;

use super::blocks::BlockTable;
use super::{BufferConfig, BufferDemands, BufferEvent, EvictionPolicy, Written};
use crate::future::NextUses;
use crate::policy::Policy;

/// Entry in `uses` of a slot that is not a candidate.
const NOT_IN: (u64, u32) = (u64::MAX, 0);

/// Policy that evicts the block with the farthest next use.
pub(super) struct Belady {
    /// By part: the index of the next part in the same block.
    next: Vec<u32>,
    /// Parts served since the last call of `set_future`.
    now: u64,
    /// By slot: the next use, and the block.
    uses: Vec<(u64, u32)>,
    /// Entries of `uses` with their slots: one for each candidate, and some stale ones.
    farthest: BinaryHeap<((u64, u32), u32)>,
}

impl Belady {
    pub(super) fn new(config: &BufferConfig) -> Self {
        let uses = vec![NOT_IN; config.slots()];
        Self { next: vec![], now: 0, uses, farthest: BinaryHeap::new() }
    }

    /// Returns the next use of the block that is being used now. Beyond the known future it returns
    /// an estimate: the later the last use, the sooner the next.
    fn next_use(&self) -> u64 {
        let known = usize::try_from(self.now).ok().and_then(|now| self.next.get(now));
        known.map_or(NOT_IN.0 - 1 - self.now, |&next| u64::from(next))
    }

    fn set(&mut self, slot: u32, block: u32, next_use: u64) {
        let at = (next_use, block);
        if self.uses[slot as usize] == at {
            return;
        }
        self.uses[slot as usize] = at;
        self.farthest.push((at, slot));
        if self.farthest.len() > 2 * self.uses.len() + 64 {
            let uses = &self.uses;
            self.farthest.retain(|&(at, slot)| uses[slot as usize] == at);
        }
    }
}

impl EvictionPolicy for Belady {
    fn demands(_: &BufferConfig) -> BufferDemands {
        BufferDemands { listens: true, ..BufferDemands::default() }
    }

    fn put(&mut self, written: &Written) {
        self.set(written.slot, written.block, self.next_use());
    }

    fn take(&mut self, slot: u32) {
        self.uses[slot as usize] = NOT_IN;
    }

    fn victim(&mut self) -> Option<u32> {
        while let Some((at, slot)) = self.farthest.pop() {
            if self.uses[slot as usize] == at {
                self.take(slot);
                return Some(slot);
            }
        }
        None
    }

    fn observe(&mut self, event: BufferEvent, table: &BlockTable) {
        if let BufferEvent::Served { block } = event {
            if let Some(slot) = table.find(block) {
                self.set(slot, block, self.next_use());
            }
            self.now += 1;
        }
    }

    fn check_blocks(&self, table: &BlockTable, candidates: usize) {
        let is_known = self.now < self.next.len() as u64;
        for (block, slot) in table.iter() {
            let (at, of) = self.uses[slot as usize];
            assert_eq!(of, block);
            assert!(!is_known || at >= self.now, "a use that was known is past");
        }
        assert_eq!(self.uses.iter().filter(|&&at| at != NOT_IN).count(), candidates);
    }
}

impl Policy for Belady {
    fn needs_future() -> bool {
        true
    }

    fn set_future(&mut self, future: NextUses) {
        self.farthest.clear();
        for slot in 0..self.uses.len() {
            let at = core::mem::replace(&mut self.uses[slot], NOT_IN);
            if at != NOT_IN {
                self.set(slot as u32, at.1, u64::from(future.first[at.1 as usize]));
            }
        }
        self.next = future.next;
        self.now = 0;
    }

    fn memory_bytes(&self) -> u64 {
        (self.uses.len() * 16 + self.farthest.len() * 24) as u64
    }
}
