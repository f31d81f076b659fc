//! A heap over slots of a table, from which any slot can be taken: the order of caches that evict
//! by a number. The slot with the largest key is first. No allocation after set-up.

use alloc::vec;
use alloc::vec::Vec;

const NONE: u32 = u32::MAX;

/// Slots by key, largest first. Which of several equal keys is first follows from their history.
#[derive(Clone, Debug)]
pub(super) struct Heap {
    /// The heap: no slot has a larger key than the one at half its place.
    slots: Vec<u32>,
    /// Place in `slots`, by slot.
    places: Vec<u32>,
    keys: Vec<u64>,
}

crate::state!(Heap { slots, places, keys });

impl Heap {
    /// A heap of nothing, for slots below `slots`.
    pub(super) fn new(slots: usize) -> Self {
        Self { slots: Vec::with_capacity(slots), places: vec![NONE; slots], keys: vec![0; slots] }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn contains(&self, slot: u32) -> bool {
        self.places[slot as usize] != NONE
    }

    /// The key that a slot was last given.
    pub(super) fn key(&self, slot: u32) -> u64 {
        self.keys[slot as usize]
    }

    /// The slot with the largest key.
    pub(super) fn first(&self) -> Option<u32> {
        self.slots.first().copied()
    }

    /// Puts a slot in, or moves it to where its new key belongs.
    pub(super) fn set(&mut self, slot: u32, key: u64) {
        self.keys[slot as usize] = key;
        if !self.contains(slot) {
            self.places[slot as usize] = self.slots.len() as u32;
            self.slots.push(slot);
        }
        self.sift(self.places[slot as usize] as usize);
    }

    /// Takes a slot out, if it is in.
    pub(super) fn remove(&mut self, slot: u32) {
        let place = core::mem::replace(&mut self.places[slot as usize], NONE);
        if place == NONE {
            return;
        }
        let place = place as usize;
        self.slots.swap_remove(place);
        if let Some(&moved) = self.slots.get(place) {
            self.places[moved as usize] = place as u32;
            self.sift(place);
        }
    }

    /// Moves the slot at `place` up or down to where it belongs.
    fn sift(&mut self, mut place: usize) {
        while place > 0 && self.key_at(place) > self.key_at((place - 1) / 2) {
            self.swap(place, (place - 1) / 2);
            place = (place - 1) / 2;
        }
        loop {
            let children = 2 * place + 1..(2 * place + 3).min(self.slots.len());
            let Some(largest) = children.max_by_key(|&child| self.key_at(child)) else { return };
            if self.key_at(largest) <= self.key_at(place) {
                return;
            }
            self.swap(place, largest);
            place = largest;
        }
    }

    fn key_at(&self, place: usize) -> u64 {
        self.keys[self.slots[place] as usize]
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.slots.swap(a, b);
        self.places[self.slots[a] as usize] = a as u32;
        self.places[self.slots[b] as usize] = b as u32;
    }

    /// Asserts the order of the heap.
    pub(super) fn check(&self) {
        for (place, &slot) in self.slots.iter().enumerate() {
            assert_eq!(self.places[slot as usize] as usize, place);
            assert!(place == 0 || self.key_at(place) <= self.key_at((place - 1) / 2));
        }
        let placed = self.places.iter().filter(|&&place| place != NONE).count();
        assert_eq!(placed, self.slots.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn the_first_has_the_largest_key() {
        let mut rng = Rng::new(5);
        let (mut heap, mut model) = (Heap::new(40), vec![None; 40]);
        for _ in 0..20_000 {
            let slot = rng.below(40) as u32;
            if rng.below(3) == 0 {
                heap.remove(slot);
                model[slot as usize] = None;
            } else {
                let key = rng.below(100);
                heap.set(slot, key);
                model[slot as usize] = Some(key);
            }
            heap.check();
            let largest = model.iter().flatten().max().copied();
            assert_eq!(heap.first().map(|slot| heap.key(slot)), largest);
            assert_eq!(heap.len(), model.iter().flatten().count());
            assert!((0..40).all(|slot| heap.contains(slot) == model[slot as usize].is_some()));
        }
    }
}
