//! The log as the host knows it: a ring of slots, and a table with the slot of each page.
//!
//! ```text
//!          start: oldest, not remapped yet     next: to be written next
//!            |                                   |
//!   . . . . .765 32  -  854 32 128 .  .  .  .  . . . .        -  out of date   .  empty
//! ```
//!
//! The table is a hash table with a fixed order and not a tree. A request only looks up and changes
//! entries, and sorting a whole window at its remap costs less than keeping every entry in order.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use crate::addr::Lpn;
use crate::intmap::IntMap;

/// The slot was not written since its last remap.
const EMPTY: u32 = u32::MAX;
/// The slot's page is out of date; the drive may still map it.
const STALE: u32 = u32::MAX - 1;

/// Slots of the log, and the slot of each page in the log.
#[derive(Clone, Debug)]
pub(super) struct Ring {
    /// By slot: its page, or `EMPTY`, or `STALE`.
    slots: Vec<u32>,
    table: IntMap,
    start: u32,
    next: u32,
}

impl Ring {
    pub(super) fn new(slots: u32) -> Self {
        assert!(slots >= 2, "a ring keeps one slot free");
        Self {
            slots: vec![EMPTY; slots as usize],
            table: IntMap::new(slots as usize),
            start: 0,
            next: 0,
        }
    }

    fn size(&self) -> u32 {
        self.slots.len() as u32
    }

    /// Returns the number of slots from the oldest slot that was not remapped to the next slot,
    /// whatever they contain.
    pub(super) fn used(&self) -> u32 {
        match self.next >= self.start {
            true => self.next - self.start,
            false => self.size() - self.start + self.next,
        }
    }

    /// Returns the number of pages in the log.
    pub(super) fn pages(&self) -> usize {
        self.table.len()
    }

    /// Returns the next slot to write.
    pub(super) fn next(&self) -> u32 {
        self.next
    }

    /// Finds room for a write to consecutive slots. Returns the number of free slots from the next
    /// slot on; 0 means no room. Wraps to the front of the ring if fewer than `least` slots are
    /// left at the end. One slot stays free, because a full ring would look like an empty one.
    pub(super) fn find_room(&mut self, least: u32) -> u32 {
        if self.next < self.start {
            let gap = self.start - self.next;
            return if gap >= least { gap - 1 } else { 0 };
        }
        let tail = self.size() - self.next;
        if tail >= least {
            return tail - u32::from(self.start == 0);
        }
        if self.start < least.max(1) {
            return 0;
        }
        // The slots left at the end stay empty; the remap of their window skips them.
        self.next = 0;
        self.start - 1
    }

    /// Puts a page into the next slot. An older copy of the page in the log becomes out of date.
    #[inline]
    pub(super) fn put(&mut self, lpn: Lpn) {
        if let Some(old) = self.table.get(lpn.get()) {
            self.slots[old as usize] = STALE;
        }
        self.table.insert(lpn.get(), self.next);
        self.slots[self.next as usize] = lpn.get();
        self.advance();
    }

    /// Leaves the next slot empty.
    pub(super) fn skip(&mut self) {
        self.advance();
    }

    fn advance(&mut self) {
        self.next = if self.next + 1 == self.size() { 0 } else { self.next + 1 };
        assert_ne!(self.next, self.start, "the log overtakes itself");
    }

    #[inline]
    pub(super) fn slot(&self, lpn: Lpn) -> Option<u32> {
        if self.table.is_empty() { None } else { self.table.get(lpn.get()) }
    }

    /// Removes a page from the log and returns its slot. The drive still maps the page there,
    /// unless it is `gone` from the drive's log, too.
    pub(super) fn remove(&mut self, lpn: Lpn, gone: bool) -> Option<u32> {
        let slot = self.table.remove(lpn.get())?;
        self.slots[slot as usize] = if gone { EMPTY } else { STALE };
        Some(slot)
    }

    /// Appends the pages of a range that are in the log, in any order.
    pub(super) fn within(&self, pages: Range<u32>, found: &mut Vec<Lpn>) {
        if pages.len() <= self.table.len() {
            found.extend(pages.map(Lpn::new).filter(|&lpn| self.slot(lpn).is_some()));
        } else {
            // A trim of half the drive must not look up every page of it.
            let logged = self.slots.iter().filter(|&&page| pages.contains(&page));
            found.extend(logged.map(|&page| Lpn::new(page)));
        }
    }

    /// Takes the oldest slots, at most `limit`, and none beyond the end of the ring. Appends their
    /// pages with their slots. Returns the range of slots, and whether one of them is out of date.
    pub(super) fn take_window(
        &mut self,
        limit: u32,
        taken: &mut Vec<(Lpn, u32)>,
    ) -> (Range<u32>, bool) {
        let first = self.start;
        let end = first + self.used().min(limit).min(self.size() - first);
        let mut stale = false;
        for slot in first..end {
            match core::mem::replace(&mut self.slots[slot as usize], EMPTY) {
                EMPTY => {}
                STALE => stale = true,
                page => {
                    let lpn = Lpn::new(page);
                    assert_eq!(self.table.remove(page), Some(slot), "{lpn:?} is in one slot");
                    taken.push((lpn, slot));
                }
            }
        }
        self.start = if end == self.size() { 0 } else { end };
        (first..end, stale)
    }

    pub(super) fn bytes(&self) -> u64 {
        size_of_val(self.slots.as_slice()) as u64 + self.table.bytes()
    }

    /// Asserts that slots and table agree, and that slots outside the range in use are empty.
    pub(super) fn check(&self) {
        let mut pages = 0;
        for (slot, &page) in self.slots.iter().enumerate() {
            let slot = slot as u32;
            let in_use = match self.next >= self.start {
                true => (self.start..self.next).contains(&slot),
                false => slot >= self.start || slot < self.next,
            };
            assert!(in_use || page == EMPTY, "slot {slot} is used, but not in use");
            if page != EMPTY && page != STALE {
                assert_eq!(self.table.get(page), Some(slot), "page {page} is in slot {slot}");
                pages += 1;
            }
        }
        assert_eq!(pages, self.table.len(), "every entry has its slot");
    }
}
