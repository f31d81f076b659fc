//! Storage of items, whose slots are reused.

use alloc::vec::Vec;
use core::ops::{Index, IndexMut};

use crate::prefetch::prefetch;

/// Distance of the prefetch, in slots: items often come in bursts, one right after the other.
const AHEAD: usize = 3;

/// Memory for the largest number of items that existed at one time.
#[derive(Clone, Debug)]
pub struct Pool<T> {
    places: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }
}

impl<T> Pool<T> {
    /// Stores an item, which is made in place, and returns its slot.
    #[inline(always)]
    pub fn put(&mut self, make: impl Fn() -> T) -> u32 {
        match self.free.pop() {
            Some(at) => {
                if let Some(&later) = self.free.iter().nth_back(AHEAD) {
                    self.prefetch(later);
                }
                self.places[at as usize] = make();
                at
            }
            None => self.grow(make()),
        }
    }

    #[cold]
    fn grow(&mut self, thing: T) -> u32 {
        self.places.push(thing);
        self.places.len() as u32 - 1
    }

    /// Frees a slot. Its content stays until the slot is reused.
    #[inline(always)]
    pub fn give_back(&mut self, at: u32) {
        self.free.push(at);
    }

    /// Asks the processor to prefetch an item.
    #[inline(always)]
    pub fn prefetch(&self, at: u32) {
        prefetch(&self.places, at as usize);
    }

    /// Returns the number of items.
    pub fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }
}

impl<T> Index<u32> for Pool<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, at: u32) -> &T {
        &self.places[at as usize]
    }
}

impl<T> IndexMut<u32> for Pool<T> {
    #[inline(always)]
    fn index_mut(&mut self, at: u32) -> &mut T {
        &mut self.places[at as usize]
    }
}
