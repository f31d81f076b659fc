//! Slots by last use.

use super::blocks::Blocks;
use crate::lru::{Links, List};

/// One list, the most recently used slot first.
#[derive(Clone, Debug)]
pub(super) struct Recency {
    links: Links,
    list: List,
    slots: usize,
}

impl Recency {
    /// Nothing, of `slots` slots.
    pub(super) fn new(slots: usize) -> Self {
        Self { links: Links::new(slots), list: List::EMPTY, slots }
    }

    pub(super) fn len(&self) -> u32 {
        self.list.len()
    }

    /// A slot comes in, as the most recently used.
    #[inline]
    pub(super) fn put(&mut self, slot: u32) {
        self.links.push_front(&mut self.list, slot);
    }

    /// A slot comes in, as the least recently used.
    pub(super) fn put_last(&mut self, slot: u32) {
        self.links.push_back(&mut self.list, slot);
    }

    /// A slot is used.
    #[inline]
    pub(super) fn touch(&mut self, slot: u32) {
        self.links.to_front(&mut self.list, slot);
    }

    #[inline]
    pub(super) fn take(&mut self, slot: u32) {
        self.links.remove(&mut self.list, slot);
    }

    /// The least recently used slot.
    #[inline]
    pub(super) fn oldest(&self) -> Option<u32> {
        self.list.back()
    }

    /// The least recently used slot, taken.
    #[inline]
    pub(super) fn take_oldest(&mut self) -> Option<u32> {
        let oldest = self.oldest()?;
        self.take(oldest);
        Some(oldest)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        self.links.iter(&self.list)
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        self.slots as u64 * 8
    }

    /// Every block is in the list, and nothing else.
    pub(super) fn check(&self, table: &Blocks) {
        assert_eq!(self.iter().count(), table.len());
        assert!(self.iter().all(|slot| table.buffered(slot) > 0));
    }
}
