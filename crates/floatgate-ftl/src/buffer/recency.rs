//! Slots ordered by last use.
//!
//! The queue is one array. A use moves a slot to the end and leaves a hole. The slots that leave
//! next are adjacent, so the buffer can prefetch them. A linked list gives the same order, but each
//! link is a memory wait, and the next slot is unknown until the link is read. The array has four
//! places for each slot, and four more. When the queue reaches an end of the array, it is repacked;
//! the amortised cost is at most one move per use.

use alloc::vec;
use alloc::vec::Vec;

use super::blocks::BlockTable;

/// Marks a hole.
const NONE: u32 = u32::MAX;

/// Position in the queue, counted from its head, of the slot that [`Recency::soon`] returns.
const AHEAD: usize = 4;

/// Queue of slots, the least recently used first.
#[derive(Clone, Debug)]
pub(super) struct Recency {
    /// Slots and holes. Only the range from `first` to `end` is in use, and it does not begin with
    /// a hole.
    queue: Vec<u32>,
    first: usize,
    end: usize,
    /// By slot: its current or last position in the queue.
    places: Vec<u32>,
    len: u32,
}

impl Recency {
    pub(super) fn new(slots: usize) -> Self {
        let (first, end) = (slots + 1, slots + 1);
        let (queue, places) = (vec![NONE; 4 * slots + 4], vec![0; slots]);
        Self { queue, first, end, places, len: 0 }
    }

    pub(super) fn len(&self) -> u32 {
        self.len
    }

    /// Adds a slot as the most recently used.
    #[inline]
    pub(super) fn put(&mut self, slot: u32) {
        if self.end == self.queue.len() {
            self.pack();
        }
        self.queue[self.end] = slot;
        self.places[slot as usize] = self.end as u32;
        self.end += 1;
        self.len += 1;
    }

    /// Adds a slot as the least recently used.
    pub(super) fn put_last(&mut self, slot: u32) {
        if self.first == 0 {
            self.pack();
        }
        self.first -= 1;
        self.queue[self.first] = slot;
        self.places[slot as usize] = self.first as u32;
        self.len += 1;
    }

    /// Makes a slot the most recently used.
    #[inline]
    pub(super) fn touch(&mut self, slot: u32) {
        self.take(slot);
        self.put(slot);
    }

    #[inline]
    pub(super) fn take(&mut self, slot: u32) {
        let place = self.places[slot as usize] as usize;
        assert_eq!(self.queue[place], slot, "only what is in the queue is taken");
        self.leave(place);
    }

    /// Removes the slot at a position from the queue.
    #[inline(always)]
    fn leave(&mut self, place: usize) {
        self.queue[place] = NONE;
        self.len -= 1;
        while self.first < self.end && self.queue[self.first] == NONE {
            self.first += 1;
        }
    }

    /// Returns the least recently used slot.
    #[inline]
    pub(super) fn oldest(&self) -> Option<u32> {
        (self.len > 0).then(|| self.queue[self.first])
    }

    /// Returns a slot that will soon be the least recently used.
    #[inline]
    pub(super) fn soon(&self) -> Option<u32> {
        let slot = *self.queue[..self.end].get(self.first + AHEAD)?;
        (slot != NONE).then_some(slot)
    }

    /// Removes and returns the least recently used slot.
    #[inline]
    pub(super) fn take_oldest(&mut self) -> Option<u32> {
        let oldest = self.oldest()?;
        self.leave(self.first);
        Some(oldest)
    }

    /// Repacks the queue without holes, with room in front and more room behind.
    #[cold]
    fn pack(&mut self) {
        let begin = self.places.len() + 1;
        let slots: Vec<u32> = self.iter().collect();
        (self.first, self.end) = (begin, begin + slots.len());
        for (place, slot) in (begin..).zip(slots) {
            self.queue[place] = slot;
            self.places[slot as usize] = place as u32;
        }
    }

    /// Yields the slots, the least recently used first.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        self.queue[self.first..self.end].iter().copied().filter(|&slot| slot != NONE)
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        4 * (self.queue.len() + self.places.len()) as u64
    }

    /// Asserts that the queue contains this many blocks of the table and nothing else.
    pub(super) fn check(&self, table: &BlockTable, blocks: usize) {
        assert_eq!(self.iter().count(), blocks);
        assert_eq!(self.len as usize, blocks);
        assert!(self.len == 0 || self.queue[self.first] != NONE);
        for slot in self.iter() {
            assert!(table.buffered(slot) > 0);
            assert_eq!(self.queue[self.places[slot as usize] as usize], slot);
        }
    }
}
