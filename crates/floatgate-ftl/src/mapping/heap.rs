//! Heap over the slots of a table, the slot with the largest key first. Any slot can be removed.
//! Caches that evict by a number use it as their order. Nothing is allocated after set-up.

use alloc::vec;
use alloc::vec::Vec;

const NONE: u32 = u32::MAX;

/// Slots by key, largest first. The order of equal keys depends on their history.
#[derive(Clone, Debug)]
pub(super) struct Heap {
    /// The heap: no slot has a larger key than its parent, the slot at (index - 1) / 2.
    slots: Vec<u32>,
    /// Index in `slots`, by slot.
    places: Vec<u32>,
    keys: Vec<u64>,
}

crate::state!(Heap { slots, places, keys });

impl Heap {
    pub(super) fn new(slots: usize) -> Self {
        Self { slots: Vec::with_capacity(slots), places: vec![NONE; slots], keys: vec![0; slots] }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn contains(&self, slot: u32) -> bool {
        self.places[slot as usize] != NONE
    }

    /// Returns the last key that a slot was given.
    pub(super) fn key(&self, slot: u32) -> u64 {
        self.keys[slot as usize]
    }

    pub(super) fn first(&self) -> Option<u32> {
        self.slots.first().copied()
    }

    /// Inserts a slot, or moves it to the position of its new key.
    pub(super) fn set(&mut self, slot: u32, key: u64) {
        self.keys[slot as usize] = key;
        if !self.contains(slot) {
            self.places[slot as usize] = self.slots.len() as u32;
            self.slots.push(slot);
        }
        self.sift(self.places[slot as usize] as usize);
    }

    /// Removes a slot, if it is in the heap.
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

    /// Moves the slot at `place` up or down to its position.
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
