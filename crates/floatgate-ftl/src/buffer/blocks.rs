//! Table of blocks with one bit per page, set if the page is buffered. Takes 4 bytes per block of
//! the drive, plus 12 bytes and 8 bytes per 64 pages for each block that can be buffered.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::{Range, RangeInclusive};

use crate::prefetch::prefetch;

/// Table of buffered blocks. A slot belongs to one block until that block is removed.
#[derive(Clone, Debug)]
pub(super) struct BlockTable {
    block_pages: u32,
    /// Logarithm of `block_pages` if it is a power of two. At this rate of calls a division would
    /// stall.
    shift: Option<u32>,
    /// By block: its current slot, its last slot, or 0. A slot records its block, so removing a
    /// block need not clear this entry; clearing it would wait for memory.
    slots: Vec<u32>,
    /// `stride` words per slot, adjacent in memory because they are used together: first the block
    /// and its number of buffered pages, then one bit per page.
    words: Vec<u64>,
    stride: usize,
    free: Vec<u32>,
    pages: u64,
}

impl BlockTable {
    /// Creates an empty table for `blocks` blocks. At most `slots` blocks are buffered at a time.
    pub(super) fn new(block_pages: u32, blocks: usize, slots: usize) -> Self {
        let stride = 1 + block_pages.div_ceil(64) as usize;
        Self {
            block_pages,
            shift: block_pages.is_power_of_two().then(|| block_pages.trailing_zeros()),
            slots: vec![0; blocks],
            words: vec![0; slots * stride],
            stride,
            free: (0..slots as u32).rev().collect(),
            pages: 0,
        }
    }

    pub(super) fn block_pages(&self) -> u32 {
        self.block_pages
    }

    /// Returns the number of buffered pages in all blocks.
    #[inline(always)]
    pub(super) fn pages(&self) -> u64 {
        self.pages
    }

    /// Returns the number of blocks with buffered pages.
    pub(super) fn len(&self) -> usize {
        self.words.len() / self.stride - self.free.len()
    }

    /// Returns the block of a page, and the page's number in the block.
    #[inline(always)]
    pub(super) fn place(&self, page: u32) -> (u32, u32) {
        match self.shift {
            Some(shift) => (page >> shift, page & (self.block_pages - 1)),
            None => (page / self.block_pages, page % self.block_pages),
        }
    }

    /// Returns the blocks of consecutive pages. There is at least one page.
    #[inline(always)]
    pub(super) fn of(&self, pages: Range<u32>) -> RangeInclusive<u32> {
        self.place(pages.start).0..=self.place(pages.end - 1).0
    }

    #[inline(always)]
    pub(super) fn find(&self, block: u32) -> Option<u32> {
        let slot = self.slots[block as usize];
        (self.buffered(slot) > 0 && self.block(slot) == block).then_some(slot)
    }

    /// Prefetches the table entry of a block that will be looked up soon.
    #[inline(always)]
    pub(super) fn prefetch(&self, block: u32) {
        prefetch(&self.slots, block as usize);
    }

    /// Prefetches the slot of a block whose table entry has been prefetched.
    #[inline(always)]
    pub(super) fn prefetch_found(&self, block: u32) {
        if let Some(&slot) = self.slots.get(block as usize) {
            self.prefetch_slot(slot);
        }
    }

    /// Prefetches a slot that will be used soon.
    #[inline(always)]
    pub(super) fn prefetch_slot(&self, slot: u32) {
        prefetch(&self.words, slot as usize * self.stride);
    }

    #[inline(always)]
    pub(super) fn block(&self, slot: u32) -> u32 {
        (self.words[slot as usize * self.stride] >> 32) as u32
    }

    /// Returns the number of buffered pages of the slot's block. The number is 0 only while the
    /// block is added or removed, or if the slot is free.
    #[inline(always)]
    pub(super) fn buffered(&self, slot: u32) -> u32 {
        self.words[slot as usize * self.stride] as u32
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u32)> {
        let slots = 0..(self.words.len() / self.stride) as u32;
        slots.filter(|&slot| self.buffered(slot) > 0).map(|slot| (self.block(slot), slot))
    }

    /// Returns whether a page of a block is buffered.
    #[inline(always)]
    pub(super) fn holds(&self, slot: u32, page: u32) -> bool {
        self.words[self.word(slot, page)] >> (page % 64) & 1 != 0
    }

    /// Returns how many of the given pages of a block are buffered.
    #[inline]
    pub(super) fn count(&self, slot: u32, pages: &Range<u32>) -> u32 {
        let first = self.word(slot, 0);
        masks(pages).map(|(word, mask)| (self.words[first + word] & mask).count_ones()).sum()
    }

    /// Yields the buffered pages of a block in ascending order.
    #[inline]
    pub(super) fn pages_of(&self, slot: u32) -> impl Iterator<Item = u32> {
        let first = self.word(slot, 0);
        let words = &self.words[first..first + self.stride - 1];
        (0..).step_by(64).zip(words).flat_map(|(page, &word)| {
            let mut left = word;
            core::iter::from_fn(move || {
                let bit = left.trailing_zeros();
                left &= left.wrapping_sub(1);
                (bit < 64).then_some(page + bit)
            })
        })
    }

    /// Takes a free slot for a block that has none.
    #[inline]
    pub(super) fn add(&mut self, block: u32) -> u32 {
        let slot = self.free.pop().expect("there are slots for all that fits");
        self.words[slot as usize * self.stride] = u64::from(block) << 32;
        self.slots[block as usize] = slot;
        slot
    }

    /// Marks pages of a block as buffered.
    #[inline]
    pub(super) fn set(&mut self, slot: u32, pages: &Range<u32>) {
        let first = self.word(slot, 0);
        let mut new = 0;
        for (word, mask) in masks(pages) {
            let bits = &mut self.words[first + word];
            new += u64::from((!*bits & mask).count_ones());
            *bits |= mask;
        }
        self.words[first - 1] += new;
        self.pages += new;
    }

    /// Marks a buffered page as not buffered.
    pub(super) fn clear(&mut self, slot: u32, page: u32) {
        assert!(self.holds(slot, page));
        let word = self.word(slot, page);
        self.words[word] &= !(1 << (page % 64));
        self.words[slot as usize * self.stride] -= 1;
        self.pages -= 1;
    }

    /// Removes a block and frees its slot.
    #[inline]
    pub(super) fn remove(&mut self, slot: u32) {
        let buffered = self.buffered(slot);
        self.pages -= u64::from(buffered);
        let first = slot as usize * self.stride;
        match &mut self.words[first..first + self.stride] {
            // `fill` would write both words in one store, and a read soon after would wait for that
            // store.
            [block, pages] => (*block, *pages) = (0, 0),
            words => words.fill(0),
        }
        self.free.push(slot);
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        let slots = self.words.len() / self.stride;
        (self.words.len() * 8 + self.slots.len() * 4 + slots * 4) as u64
    }

    /// Counts the bits and asserts that the counters agree.
    pub(super) fn check(&self) {
        let mut pages = 0;
        for (block, slot) in self.iter() {
            assert_eq!(self.find(block), Some(slot));
            let counted = self.pages_of(slot).count() as u32;
            assert_eq!(counted, self.buffered(slot), "pages of block {block}");
            pages += u64::from(counted);
        }
        assert_eq!(pages, self.pages);
        assert_eq!(self.iter().count(), self.len());
    }

    #[inline(always)]
    fn word(&self, slot: u32, page: u32) -> usize {
        slot as usize * self.stride + 1 + page as usize / 64
    }
}

/// Yields word by word the bits of a range that is not empty.
#[inline(always)]
fn masks(pages: &Range<u32>) -> impl Iterator<Item = (usize, u64)> + use<> {
    let (first, last) = (pages.start, pages.end - 1);
    (first / 64..=last / 64).map(move |word| {
        let low = if word == first / 64 { !0 << (first % 64) } else { !0 };
        let high = if word == last / 64 { !0 >> (63 - last % 64) } else { !0 };
        (word as usize, low & high)
    })
}
