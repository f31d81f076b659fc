//! LRU, for policies that differ only in their demands on the buffer. Not a policy.
//!
//! A block is used when a page of it is written, or read from the buffer. Costs one queue move per
//! part of a command, and one more per evicted block.

use core::marker::PhantomData;

use super::blocks::BlockTable;
use super::recency::Recency;
use super::{BufferConfig, BufferDemands, BufferEvent, EvictionPolicy, Written};
use crate::policy::Policy;

/// Demands of an LRU policy on the buffer and the device.
pub(super) trait Demands: Send {
    fn demands(config: &BufferConfig) -> BufferDemands;
}

/// Policy that evicts the least recently used block.
pub(super) struct ByUse<D>(Recency, PhantomData<D>);

impl<D: Demands> ByUse<D> {
    pub(super) fn new(config: &BufferConfig) -> Self {
        Self(Recency::new(config.slots()), PhantomData)
    }
}

impl<D: Demands> EvictionPolicy for ByUse<D> {
    fn demands(config: &BufferConfig) -> BufferDemands {
        D::demands(config)
    }

    fn put(&mut self, written: &Written) {
        self.0.put(written.slot);
    }

    fn take(&mut self, slot: u32) {
        self.0.take(slot);
    }

    fn victim(&mut self) -> Option<u32> {
        self.0.take_oldest()
    }

    fn next(&self) -> Option<u32> {
        self.0.soon()
    }

    fn observe(&mut self, event: BufferEvent, _: &BlockTable) {
        if let BufferEvent::Read { slot } = event {
            self.0.touch(slot);
        }
    }

    fn check_blocks(&self, table: &BlockTable, candidates: usize) {
        self.0.check(table, candidates);
    }
}

impl<D: Demands> Policy for ByUse<D> {
    fn memory_bytes(&self) -> u64 {
        self.0.memory_bytes()
    }
}
