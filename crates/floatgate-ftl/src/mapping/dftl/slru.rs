//! Segmented LRU. A new entry is on probation, and a hit there protects it. When too many entries
//! are protected, the least recently used of them returns to probation.

use crate::lru::{Links, List};
use alloc::vec;
use alloc::vec::Vec;

/// Order of the slots of a cache. With no protected slots it is plain LRU.
#[derive(Clone, Debug)]
pub(super) struct Slru {
    links: Links,
    probation: List,
    protected: List,
    is_protected: Vec<bool>,
    protected_max: usize,
}

crate::state!(Slru { links, probation, protected, is_protected } fixed { protected_max });

impl Slru {
    /// Makes an order of `capacity` slots, at most `protected_max` of them protected.
    pub(super) fn new(capacity: usize, protected_max: usize) -> Self {
        Self {
            links: Links::new(capacity),
            probation: List::EMPTY,
            protected: List::EMPTY,
            is_protected: vec![false; capacity],
            protected_max,
        }
    }

    pub(super) fn len(&self) -> usize {
        (self.probation.len() + self.protected.len()) as usize
    }

    pub(super) fn insert(&mut self, slot: u32) {
        self.is_protected[slot as usize] = false;
        self.links.push_front(&mut self.probation, slot);
    }

    #[inline]
    pub(super) fn hit(&mut self, slot: u32) {
        if self.is_protected[slot as usize] {
            self.links.to_front(&mut self.protected, slot);
        } else if self.protected_max == 0 {
            self.links.to_front(&mut self.probation, slot);
        } else {
            self.links.remove(&mut self.probation, slot);
            self.links.push_front(&mut self.protected, slot);
            self.is_protected[slot as usize] = true;
            self.demote();
        }
    }

    fn demote(&mut self) {
        if self.protected.len() as usize > self.protected_max {
            let oldest = self.protected.back().expect("a list over its limit has a back");
            self.links.remove(&mut self.protected, oldest);
            self.links.push_front(&mut self.probation, oldest);
            self.is_protected[oldest as usize] = false;
        }
    }

    /// Removes the slot to evict: the back of probation, or else of the protected segment.
    pub(super) fn evict(&mut self) -> u32 {
        let list =
            if self.probation.is_empty() { &mut self.protected } else { &mut self.probation };
        let slot = list.back().expect("only a full cache evicts");
        self.links.remove(list, slot);
        slot
    }
}
