//! Slots sorted by their number of pages, and among equal numbers by arrival.

use alloc::vec;
use alloc::vec::Vec;

use crate::lru::{Links, List};

/// One list of slots per number of pages. The newest slot is at the front.
#[derive(Clone, Debug)]
pub(super) struct BySize {
    links: Links,
    lists: Vec<List>,
    /// One bit per list, set if the list is not empty.
    filled: Vec<u64>,
    /// Pages by slot; 0 if the slot is in no list.
    sizes: Vec<u32>,
}

impl BySize {
    /// Creates empty lists for `slots` slots with at most `pages_max` pages each.
    pub(super) fn new(slots: usize, pages_max: u32) -> Self {
        let lists = pages_max as usize + 1;
        Self {
            links: Links::new(slots),
            lists: vec![List::EMPTY; lists],
            filled: vec![0; lists.div_ceil(64)],
            sizes: vec![0; slots],
        }
    }

    #[inline(always)]
    pub(super) fn contains(&self, slot: u32) -> bool {
        self.sizes[slot as usize] > 0
    }

    /// Returns the number of pages of a slot; 0 if the slot is in no list.
    pub(super) fn size(&self, slot: u32) -> u32 {
        self.sizes[slot as usize]
    }

    /// Adds a slot with this number of pages, as the newest of its size.
    #[inline]
    pub(super) fn put(&mut self, slot: u32, pages: u32) {
        assert!(pages > 0 && !self.contains(slot));
        self.sizes[slot as usize] = pages;
        self.links.push_front(&mut self.lists[pages as usize], slot);
        self.filled[pages as usize / 64] |= 1 << (pages % 64);
    }

    #[inline]
    pub(super) fn take(&mut self, slot: u32) {
        let pages = core::mem::take(&mut self.sizes[slot as usize]);
        assert!(pages > 0);
        let list = &mut self.lists[pages as usize];
        self.links.remove(list, slot);
        if list.is_empty() {
            self.filled[pages as usize / 64] &= !(1 << (pages % 64));
        }
    }

    /// Removes and returns the oldest of the slots with the most pages. Looks at one word per 64
    /// pages of a block at most.
    #[inline]
    pub(super) fn take_largest(&mut self) -> Option<u32> {
        let word = self.filled.iter().rposition(|&word| word != 0)?;
        let size = word * 64 + 63 - self.filled[word].leading_zeros() as usize;
        let slot = self.lists[size].back().expect("the bit says that it is filled");
        self.take(slot);
        Some(slot)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        (0..self.sizes.len() as u32).filter(|&slot| self.contains(slot))
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        (self.sizes.len() * 12 + self.lists.len() * size_of::<List>() + self.filled.len() * 8)
            as u64
    }

    /// Asserts that every slot is in the list of its size.
    pub(super) fn check(&self) {
        let mut linked = 0;
        for (size, list) in self.lists.iter().enumerate() {
            assert_eq!(self.filled[size / 64] >> (size % 64) & 1 == 0, list.is_empty());
            assert!(self.links.iter(list).all(|slot| self.sizes[slot as usize] as usize == size));
            linked += list.len() as usize;
        }
        assert_eq!(linked, self.iter().count());
    }
}
