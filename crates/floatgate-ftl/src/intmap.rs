//! Map from page numbers to slots: open addressing, one fixed hash, no allocation after set-up.

use alloc::vec;
use alloc::vec::Vec;

use crate::prefetch::prefetch;

const VACANT: u32 = u32::MAX;

/// Logarithm of the number of cells in a line of the processor's cache.
const GROUP_BITS: u32 = 3;

/// Distance from an occupied cell to the next cell to try. It leads to the next line, so that the
/// keys of two full lines do not queue one behind the other, and to another place in that line. An
/// odd distance visits every cell of the table.
const STEP: usize = (1 << GROUP_BITS) + 1;

/// Number that multiplies a distance of cells to give the number of steps: `STEP * PER_STEP` is 1,
/// modulo the length of any table.
const PER_STEP: usize = 0x8E38_E38E_38E3_8E39_u64 as usize;
const _: () = assert!(STEP.wrapping_mul(PER_STEP) == 1);

/// Map with a fixed capacity. Keys are below `u32::MAX`.
#[derive(Clone, Debug)]
pub struct IntMap {
    cells: Vec<(u32, u32)>,
    shift: u32,
    len: usize,
    capacity: usize,
}

crate::state!(IntMap { cells, len } fixed { shift, capacity });

impl IntMap {
    /// Creates a map for at most `capacity` keys. Takes 16 to 32 bytes per key, and at
    /// least 128.
    pub fn new(capacity: usize) -> Self {
        let cells = (2 * capacity).next_power_of_two().max(2 << GROUP_BITS);
        Self {
            cells: vec![(VACANT, 0); cells],
            shift: 32 + GROUP_BITS - cells.trailing_zeros(),
            len: 0,
            capacity,
        }
    }

    /// Returns the number of keys.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the map has no key.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the memory in bytes.
    pub fn bytes(&self) -> u64 {
        size_of_val(self.cells.as_slice()) as u64
    }

    /// Returns the value of `key`.
    #[inline]
    pub fn get(&self, key: u32) -> Option<u32> {
        let (found, value) = self.cells[self.find(key)];
        (found == key).then_some(value)
    }

    /// Prefetches the cell of `key`, which will be looked up soon.
    #[inline(always)]
    pub(crate) fn prefetch(&self, key: u32) {
        prefetch(&self.cells, self.home(key) & (self.cells.len() - 1));
    }

    /// Prefetches the item that the value of `key` numbers. The cell should be prefetched already.
    #[inline(always)]
    pub(crate) fn prefetch_item<T>(&self, key: u32, items: &[T]) {
        if let Some(at) = self.get(key) {
            prefetch(items, at as usize);
        }
    }

    /// Sets the value of `key`.
    #[inline]
    pub fn insert(&mut self, key: u32, value: u32) {
        assert_ne!(key, VACANT);
        let at = self.find(key);
        if self.cells[at].0 == VACANT {
            assert!(self.len < self.capacity, "more keys than the map was made for");
            self.len += 1;
        }
        self.cells[at] = (key, value);
    }

    /// Removes `key` and returns its value.
    #[inline]
    pub fn remove(&mut self, key: u32) -> Option<u32> {
        let mut hole = self.find(key);
        let (found, value) = self.cells[hole];
        if found == VACANT {
            return None;
        }
        self.len -= 1;
        // Keys whose steps lead over the hole move up.
        let mask = self.cells.len() - 1;
        let mut at = hole;
        loop {
            at = (at + STEP) & mask;
            let key = self.cells[at].0;
            if key == VACANT {
                break;
            }
            if self.steps(self.home(key), at) >= self.steps(hole, at) {
                self.cells[hole] = self.cells[at];
                hole = at;
            }
        }
        self.cells[hole].0 = VACANT;
        Some(value)
    }

    /// Returns the first cell for `key`. Eight consecutive keys, from a multiple of eight on, share
    /// a line of the processor's cache, because they are often looked up together.
    #[inline(always)]
    fn home(&self, key: u32) -> usize {
        // Fibonacci hashing: consecutive groups land far apart.
        let group = (key >> GROUP_BITS).wrapping_mul(0x9E37_79B9) >> self.shift;
        (group << GROUP_BITS | key & ((1 << GROUP_BITS) - 1)) as usize
    }

    /// Returns the number of steps from one cell to another.
    #[inline(always)]
    fn steps(&self, from: usize, to: usize) -> usize {
        to.wrapping_sub(from).wrapping_mul(PER_STEP) & (self.cells.len() - 1)
    }

    /// Returns the cell of `key`, or the vacant cell where `key` would go.
    #[inline(always)]
    fn find(&self, key: u32) -> usize {
        let mask = self.cells.len() - 1;
        let mut at = self.home(key) & mask;
        while self.cells[at].0 != key && self.cells[at].0 != VACANT {
            at = (at + STEP) & mask;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use alloc::collections::BTreeMap;

    #[test]
    fn behaves_as_a_map() {
        for (keys, span) in [(1, 3), (50, 64), (50, 1 << 20)] {
            let mut rng = Rng::new(span);
            let (mut map, mut model) = (IntMap::new(keys), BTreeMap::new());
            for step in 0..20_000 {
                let key = rng.below(span) as u32;
                if rng.below(2) == 0 {
                    assert_eq!(map.remove(key), model.remove(&key));
                } else if model.len() < keys || model.contains_key(&key) {
                    map.insert(key, step);
                    model.insert(key, step);
                }
                let probe = rng.below(span) as u32;
                assert_eq!(map.get(probe), model.get(&probe).copied());
                assert_eq!((map.len(), map.is_empty()), (model.len(), model.is_empty()));
            }
        }
    }

    #[test]
    fn keys_with_gaps_fill_the_map() {
        let capacity = 1 << 10;
        for gap in [8, 9, 64, 1 << 10, 1 << 20] {
            let keys = || (0..capacity).map(|at| at * gap);
            let mut map = IntMap::new(capacity as usize);
            keys().for_each(|key| map.insert(key, key / gap));
            assert!(
                keys().all(|key| map.get(key) == Some(key / gap) && map.get(key + 1).is_none())
            );
            assert!(keys().step_by(2).all(|key| map.remove(key) == Some(key / gap)));
            assert_eq!(keys().filter(|&key| map.get(key).is_some()).count(), 1 << 9);
        }
    }

    #[test]
    #[should_panic(expected = "more keys")]
    fn a_full_map_takes_no_more() {
        let mut map = IntMap::new(1);
        map.insert(1, 1);
        map.insert(2, 2);
    }
}
