//! Buffer policies from outside this crate.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::blocks::BlockTable;
use super::{BufferConfig, BufferEvent, EvictionPolicy, Written};
use crate::policy::Policy;

/// Interface of an external buffer policy. A block number is the block's first page divided by the
/// pages per block.
pub trait ExternalBuffer: Send {
    /// Records a write to a block: the pages, counted from the start of the block, and the number
    /// of pages now buffered.
    fn written(&mut self, block: u32, pages: Range<u32>, buffered: u32);

    /// Records that the host read a buffered page of a block.
    fn read(&mut self, _block: u32) {}

    /// Records that the host trimmed a page of a block. The block keeps `left` buffered pages.
    fn trimmed(&mut self, _block: u32, _left: u32) {}

    /// Returns the block to evict: one of `blocks`, which is never empty.
    fn victim(&mut self, blocks: &[u32]) -> u32;
}

/// Entry of a slot that is not a candidate.
const NONE: u32 = u32::MAX;

/// External policy with its candidate blocks.
pub(super) struct ExternalEviction {
    policy: Box<dyn ExternalBuffer>,
    /// Candidate blocks, and in `slots` their slots, in the same order.
    blocks: Vec<u32>,
    slots: Vec<u32>,
    /// By slot: its index in `blocks` and `slots`.
    places: Vec<u32>,
}

impl ExternalEviction {
    pub(super) fn new(policy: Box<dyn ExternalBuffer>, config: &BufferConfig) -> Self {
        let places = vec![NONE; config.slots()];
        Self { policy, blocks: Vec::new(), slots: Vec::new(), places }
    }

    fn block(&self, slot: u32) -> u32 {
        self.blocks[self.places[slot as usize] as usize]
    }
}

impl EvictionPolicy for ExternalEviction {
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

    /// Does not call the policy: when all blocks leave, its answer would change nothing.
    fn any(&mut self) -> Option<u32> {
        let slot = *self.slots.last()?;
        self.take(slot);
        Some(slot)
    }

    fn observe(&mut self, event: BufferEvent, _: &BlockTable) {
        match event {
            BufferEvent::Read { slot } => self.policy.read(self.block(slot)),
            BufferEvent::Trimmed { slot, left } => self.policy.trimmed(self.block(slot), left),
            _ => {}
        }
    }

    fn check_blocks(&self, table: &BlockTable, candidates: usize) {
        assert_eq!(self.blocks.len(), candidates);
        for ((&block, &slot), place) in self.blocks.iter().zip(&self.slots).zip(0..) {
            assert_eq!((table.block(slot), self.places[slot as usize]), (block, place));
        }
    }
}

impl Policy for ExternalEviction {}
