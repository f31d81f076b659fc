//! Doubly linked lists over slots of a table: the order structure of every cache and unit list.

use alloc::vec;
use alloc::vec::Vec;

use crate::prefetch::prefetch;

const NONE: u32 = u32::MAX;

/// Front, back and length of one list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct List {
    front: u32,
    back: u32,
    len: u32,
}

crate::state!(blank List { front, back, len });

impl List {
    /// An empty list.
    pub const EMPTY: Self = Self { front: NONE, back: NONE, len: 0 };

    /// Returns the number of slots in the list.
    #[inline(always)]
    pub const fn len(&self) -> u32 {
        self.len
    }

    /// Returns whether the list is empty.
    #[inline(always)]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the slot at the front.
    #[inline(always)]
    pub fn front(&self) -> Option<u32> {
        (self.front != NONE).then_some(self.front)
    }

    /// Returns the slot at the back.
    #[inline(always)]
    pub fn back(&self) -> Option<u32> {
        (self.back != NONE).then_some(self.back)
    }
}

/// Links of `slots` slots. A slot is in at most one list; the caller knows in which.
#[derive(Clone, Debug)]
pub struct Links(Vec<[u32; 2]>);

crate::state!(Links(_));

impl Links {
    /// Creates links for slots `0..slots`, all unlinked.
    pub fn new(slots: usize) -> Self {
        Self(vec![[NONE; 2]; slots])
    }

    /// Links `slot` in front of all others.
    #[inline]
    pub fn push_front(&mut self, list: &mut List, slot: u32) {
        self.0[slot as usize] = [NONE, list.front];
        match list.front {
            NONE => list.back = slot,
            next => self.0[next as usize][0] = slot,
        }
        list.front = slot;
        list.len += 1;
    }

    /// Links `slot` behind all others.
    #[inline]
    pub fn push_back(&mut self, list: &mut List, slot: u32) {
        self.0[slot as usize] = [list.back, NONE];
        match list.back {
            NONE => list.front = slot,
            previous => self.0[previous as usize][1] = slot,
        }
        list.back = slot;
        list.len += 1;
    }

    /// Removes `slot` from its list.
    #[inline]
    pub fn remove(&mut self, list: &mut List, slot: u32) {
        // Two separate loads: a neighbour may just have stored one of the two links, and a load of
        // both would stall until that store is complete.
        let (previous, next) = (self.0[slot as usize][0], self.0[slot as usize][1]);
        match previous {
            NONE => list.front = next,
            p => self.0[p as usize][1] = next,
        }
        match next {
            NONE => list.back = previous,
            n => self.0[n as usize][0] = previous,
        }
        list.len -= 1;
    }

    /// Moves `slot` to the front of its list.
    #[inline]
    pub fn to_front(&mut self, list: &mut List, slot: u32) {
        if list.front != slot {
            self.remove(list, slot);
            self.push_front(list, slot);
        }
    }

    /// Prefetches the links of a slot.
    #[inline(always)]
    pub(crate) fn prefetch(&self, slot: u32) {
        prefetch(&self.0, slot as usize);
    }

    /// Returns the slot behind `slot` in its list.
    #[inline(always)]
    pub fn next(&self, slot: u32) -> Option<u32> {
        let next = self.0[slot as usize][1];
        (next != NONE).then_some(next)
    }

    /// Yields the slots of a list, front first.
    pub fn iter(&self, list: &List) -> impl Iterator<Item = u32> {
        core::iter::successors(list.front(), |&slot| self.next(slot))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use alloc::collections::VecDeque;

    #[test]
    fn behaves_as_a_deque() {
        let mut rng = Rng::new(1);
        let (mut links, mut list) = (Links::new(16), List::EMPTY);
        let mut model: VecDeque<u32> = VecDeque::new();
        for _ in 0..10_000 {
            let slot = rng.below(16) as u32;
            match (model.iter().position(|&s| s == slot), rng.below(3)) {
                (None, 0) => {
                    links.push_back(&mut list, slot);
                    model.push_back(slot);
                }
                (None, _) => {
                    links.push_front(&mut list, slot);
                    model.push_front(slot);
                }
                (Some(at), 0) => {
                    links.remove(&mut list, slot);
                    model.remove(at);
                }
                (Some(at), _) => {
                    links.to_front(&mut list, slot);
                    model.remove(at);
                    model.push_front(slot);
                }
            }
            assert!(links.iter(&list).eq(model.iter().copied()));
            assert_eq!(
                (list.front(), list.back()),
                (model.front().copied(), model.back().copied())
            );
            assert_eq!(list.len() as usize, model.len());
        }
    }
}
