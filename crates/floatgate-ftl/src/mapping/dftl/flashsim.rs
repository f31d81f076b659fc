//! Replacement of the original FlashSim (the Penn State simulator inside DiskSim).
//!
//! Every entry has an age, which works more like a count than a time. A hit adds one to it. When
//! the cache is full, the entry on probation with the lowest age is evicted. A new entry enters the
//! protected segment with the highest age there plus one. If that segment is full, its minimum
//! first moves to probation. An entry that is hit on probation swaps with the protected minimum if
//! its age is at least as high. FlashSim scans for the minimum, and its `<=` lets the last slot
//! win. An ordered set gives the same result in logarithmic time.

use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

/// Entries by age. Among equal ages the highest slot is the minimum.
type Part = BTreeSet<(u64, Reverse<u32>)>;

/// Order of the slots of a cache.
#[derive(Clone, Debug)]
pub(super) struct FlashSim {
    ages: Vec<u64>,
    protected: Part,
    probation: Part,
    protected_max: usize,
}

crate::state!(FlashSim { ages, protected, probation } fixed { protected_max });

impl FlashSim {
    /// Makes an order of `capacity` slots with `protected_max` protected slots, at least one.
    pub(super) fn new(capacity: usize, protected_max: usize) -> Self {
        Self {
            ages: vec![0; capacity],
            protected: Part::new(),
            probation: Part::new(),
            protected_max: protected_max.max(1),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.protected.len() + self.probation.len()
    }

    pub(super) fn insert(&mut self, slot: u32) {
        let age = self.protected.last().map_or(1, |&(age, _)| age + 1);
        if self.protected.len() == self.protected_max {
            let minimum = self.protected.pop_first().expect("a full part has a minimum");
            self.probation.insert(minimum);
        }
        self.ages[slot as usize] = age;
        self.protected.insert((age, Reverse(slot)));
    }

    pub(super) fn hit(&mut self, slot: u32) {
        let age = self.ages[slot as usize];
        let (old, new) = ((age, Reverse(slot)), (age + 1, Reverse(slot)));
        self.ages[slot as usize] = age + 1;
        if self.protected.remove(&old) {
            self.protected.insert(new);
            return;
        }
        self.probation.remove(&old);
        match self.protected.first().copied() {
            Some(minimum) if new.0 >= minimum.0 => {
                self.protected.pop_first();
                self.probation.insert(minimum);
                self.protected.insert(new);
            }
            _ => {
                self.probation.insert(new);
            }
        }
    }

    /// Removes the slot to evict: the minimum on probation, or else the protected minimum.
    pub(super) fn evict(&mut self) -> u32 {
        let minimum = self.probation.pop_first().or_else(|| self.protected.pop_first());
        minimum.expect("only a full cache evicts").1.0
    }
}
