//! A buffer policy that is in no table: it comes from outside of this crate.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::blocks::BlockTable;
use super::{BufferConfig, EvictionPolicy, Written};

/// What a buffer asks of a policy from outside. Blocks are told by their numbers: the first page by
/// the pages of a block.
pub trait GuestBuffer: Send {
    /// These pages of a block have been written, counted from its start; so many are buffered now.
    fn written(&mut self, block: u32, pages: Range<u32>, buffered: u32);

    /// A page of a block has been read from the buffer.
    fn read(&mut self, block: u32);

    /// A page of a block has been trimmed; so many are left.
    fn trimmed(&mut self, block: u32, left: u32);

    /// The block that is to leave: one of these, of which there is at least one.
    fn victim(&mut self, blocks: &[u32]) -> u32;
}

/// No candidate.
const NONE: u32 = u32::MAX;

/// A policy from outside, and the blocks that it can choose from.
pub(super) struct Guest {
    policy: Box<dyn GuestBuffer>,
    /// The blocks that are candidates, and their slots.
    blocks: Vec<u32>,
    slots: Vec<u32>,
    /// By slot, where it stands in those.
    places: Vec<u32>,
}

impl Guest {
    pub(super) fn new(policy: Box<dyn GuestBuffer>, config: &BufferConfig) -> Self {
        let places = vec![NONE; config.slots()];
        Self { policy, blocks: Vec::new(), slots: Vec::new(), places }
    }

    fn block(&self, slot: u32) -> u32 {
        self.blocks[self.places[slot as usize] as usize]
    }
}

impl EvictionPolicy for Guest {
    fn put(&mut self, written: &Written) {
        self.places[written.slot as usize] = self.blocks.len() as u32;
        self.blocks.push(written.block);
        self.slots.push(written.slot);
        self.policy.written(written.block, written.pages.clone(), written.buffered);
    }

    fn take(&mut self, slot: u32) {
        let place = core::mem::replace(&mut self.places[slot as usize], NONE);
        self.blocks.swap_remove(place as usize);
        self.slots.swap_remove(place as usize);
        if let Some(&moved) = self.slots.get(place as usize) {
            self.places[moved as usize] = place;
        }
    }

    fn victim(&mut self) -> Option<u32> {
        if self.blocks.is_empty() {
            return None;
        }
        let block = self.policy.victim(&self.blocks);
        let place = self.blocks.iter().position(|&one| one == block);
        let slot = self.slots[place.expect("the policy chooses a candidate")];
        self.take(slot);
        Some(slot)
    }

    /// It is not asked: what it would answer changes nothing.
    fn any(&mut self) -> Option<u32> {
        let slot = *self.slots.last()?;
        self.take(slot);
        Some(slot)
    }

    fn read(&mut self, slot: u32) {
        self.policy.read(self.block(slot));
    }

    fn trimmed(&mut self, slot: u32, left: u32) {
        self.policy.trimmed(self.block(slot), left);
    }

    fn check(&self, table: &BlockTable) {
        for ((&block, &slot), place) in self.blocks.iter().zip(&self.slots).zip(0..) {
            assert_eq!((table.block(slot), self.places[slot as usize]), (block, place));
        }
    }
}
