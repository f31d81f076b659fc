//! Slots by last use.
//!
//! A queue in one piece of memory, with a hole where a slot was that has been used since. What will
//! leave next stands side by side, so that it can be fetched ahead of need: a list is as exact, but
//! each of its links is a wait for memory, and the next one is not known before. A queue of four
//! times as many places as slots is packed anew when it is at an end, which is a move per use at
//! most.

use alloc::vec;
use alloc::vec::Vec;

use super::blocks::BlockTable;

/// No slot.
const NONE: u32 = u32::MAX;

/// How many slots before its turn one is named by [`Recency::soon`].
const AHEAD: usize = 4;

/// One queue, the least recently used slot first.
#[derive(Clone, Debug)]
pub(super) struct Recency {
    /// Slots and holes; only those from `first` to `end` count, and the first is no hole.
    queue: Vec<u32>,
    first: usize,
    end: usize,
    /// By slot: where it is in the queue, or was last.
    places: Vec<u32>,
    len: u32,
}

impl Recency {
    /// Nothing, of `slots` slots.
    pub(super) fn new(slots: usize) -> Self {
        let (first, end) = (slots + 1, slots + 1);
        let (queue, places) = (vec![NONE; 4 * slots + 4], vec![0; slots]);
        Self { queue, first, end, places, len: 0 }
    }

    pub(super) fn len(&self) -> u32 {
        self.len
    }

    /// A slot comes in, as the most recently used.
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

    /// A slot comes in, as the least recently used.
    pub(super) fn put_last(&mut self, slot: u32) {
        if self.first == 0 {
            self.pack();
        }
        self.first -= 1;
        self.queue[self.first] = slot;
        self.places[slot as usize] = self.first as u32;
        self.len += 1;
    }

    /// A slot is used.
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

    /// What is at a place is in the queue no more.
    #[inline(always)]
    fn leave(&mut self, place: usize) {
        self.queue[place] = NONE;
        self.len -= 1;
        while self.first < self.end && self.queue[self.first] == NONE {
            self.first += 1;
        }
    }

    /// The least recently used slot.
    #[inline]
    pub(super) fn oldest(&self) -> Option<u32> {
        (self.len > 0).then(|| self.queue[self.first])
    }

    /// A slot that will soon be the least recently used.
    #[inline]
    pub(super) fn soon(&self) -> Option<u32> {
        let slot = *self.queue[..self.end].get(self.first + AHEAD)?;
        (slot != NONE).then_some(slot)
    }

    /// The least recently used slot, taken.
    #[inline]
    pub(super) fn take_oldest(&mut self) -> Option<u32> {
        let oldest = self.oldest()?;
        self.leave(self.first);
        Some(oldest)
    }

    /// Moves what there is together, with room before it and more behind it.
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

    /// The least recently used first.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        self.queue[self.first..self.end].iter().copied().filter(|&slot| slot != NONE)
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        4 * (self.queue.len() + self.places.len()) as u64
    }

    /// Every block is in the queue, and nothing else.
    pub(super) fn check(&self, table: &BlockTable) {
        assert_eq!(self.iter().count(), table.len());
        assert_eq!(self.len as usize, table.len());
        assert!(self.len == 0 || self.queue[self.first] != NONE);
        for slot in self.iter() {
            assert!(table.buffered(slot) > 0);
            assert_eq!(self.queue[self.places[slot as usize] as usize], slot);
        }
    }
}
