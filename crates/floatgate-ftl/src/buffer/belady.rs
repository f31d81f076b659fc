//! The best that a buffer of blocks can do for hits: the block whose next use is farthest in the
//! future leaves (MIN: Belady, IBM Systems Journal 5, 1966). No drive can be built so; a bound.
//!
//! It is a bound on buffers that, as all here, put in every page that is written, if every command
//! writes whole blocks. Otherwise it is an estimate, and another policy may find more: with smaller
//! parts, as it does not weigh a block's pages against its next use; with reads, as a read that
//! finds nothing puts nothing in, so that the block with the nearer next use is not the better one
//! to have; with trims, as a block may be gone before its next use. It does not minimise what is
//! written to the flash.
//!
//! The future comes with [`Buffer::set_future`](super::Buffer::set_future), a part for each
//! [`Buffer::served`](super::Buffer::served). Before that, and beyond its end, the farthest use is
//! taken to be that of the block not used for longest: LRU. Of several blocks that are never used
//! again the one with the largest number leaves. Costs a move in a heap per part of a command.

use alloc::collections::BinaryHeap;
use alloc::vec;
use alloc::vec::Vec;

use super::blocks::BlockTable;
use super::{BufferConfig, EvictionPolicy, Written};
use crate::future::NextUses;

/// What a slot that is no candidate has for a next use.
const NOT_IN: (u64, u32) = (u64::MAX, 0);

/// The block used last leaves.
pub(super) struct Belady {
    /// By part: the next part in the same block.
    next: Vec<u32>,
    /// Parts that have been served since the future is known.
    now: u64,
    /// By slot: the next use, and the block.
    uses: Vec<(u64, u32)>,
    /// What is in `uses`, and the slot; one for each candidate, and some that do not hold any more.
    farthest: BinaryHeap<((u64, u32), u32)>,
}

impl Belady {
    pub(super) fn new(config: &BufferConfig) -> Self {
        let uses = vec![NOT_IN; config.slots()];
        Self { next: vec![], now: 0, uses, farthest: BinaryHeap::new() }
    }

    /// The next use of the block that is used now. Unknown: the later it was used, the sooner.
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
    fn needs_future() -> bool {
        true
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

    fn listens(&self) -> bool {
        true
    }

    fn served(&mut self, block: u32, table: &BlockTable) {
        if let Some(slot) = table.find(block) {
            self.set(slot, block, self.next_use());
        }
        self.now += 1;
    }

    fn set_future(&mut self, future: NextUses, table: &BlockTable) {
        self.farthest.clear();
        for (block, slot) in table.iter() {
            self.take(slot);
            self.set(slot, block, u64::from(future.first[block as usize]));
        }
        self.next = future.next;
        self.now = 0;
    }

    fn memory_bytes(&self) -> u64 {
        (self.uses.len() * 16 + self.farthest.len() * 24) as u64
    }

    fn check(&self, table: &BlockTable) {
        let told = self.now < self.next.len() as u64;
        for (block, slot) in table.iter() {
            let (at, of) = self.uses[slot as usize];
            assert_eq!(of, block);
            assert!(!told || at >= self.now, "a use that was known is past");
        }
        assert_eq!(self.uses.iter().filter(|&&at| at != NOT_IN).count(), table.len());
    }
}
