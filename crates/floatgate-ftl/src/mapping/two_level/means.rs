//! Nodes in the order of their means: a heap of eight branches whose places are known by node.
//!
//! A mean that moves back in the order, as most do (under TPFTL, all that are accessed), is only
//! noted: its node stays where it was, too far in front, until it is the first. Then it sinks to
//! where it belongs. So the first is always right, and a node that is accessed often sinks once.

use alloc::vec;
use alloc::vec::Vec;

const NONE: u32 = u32::MAX;
const BRANCHES: usize = 8;

/// The mean of some weights; and when the last of them was accessed, which decides between equals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Mean {
    pub(super) sum: u64,
    pub(super) count: u32,
    pub(super) accessed: u64,
}

/// A mean as a number that has its place in the order: 44 bits of whole weights, 40 of fraction,
/// 44 of time. Exact: means of at most 2^20 weights that differ at all do so by 2^-40 or more.
type Key = u128;

const FRACTION_BITS: u32 = 40;
const TIME_BITS: u32 = 44;
const COUNT_MAX: u32 = 1 << (FRACTION_BITS / 2);

impl Mean {
    #[inline(always)]
    fn key(self, highest_first: bool) -> Key {
        let count = u64::from(self.count);
        let (whole, rest) = (self.sum / count, self.sum % count);
        assert!(self.count <= COUNT_MAX && (whole | self.accessed) >> TIME_BITS == 0);
        let fraction = (rest << FRACTION_BITS) / count;
        let mean = u128::from(whole) << FRACTION_BITS | u128::from(fraction);
        let mean = if highest_first { (u128::MAX >> TIME_BITS) - mean } else { mean };
        mean << TIME_BITS | u128::from(self.accessed)
    }
}

/// The order. Nodes are numbers below the one that it was made for.
#[derive(Clone, Debug)]
pub(super) struct Means {
    /// The heap, as two columns. A key here is that of the node's mean, or comes before that.
    keys: Vec<Key>,
    nodes: Vec<u32>,
    /// By node: its place in the heap.
    places: Vec<u32>,
    /// By node: the key of its mean.
    current: Vec<Key>,
    highest_first: bool,
}

crate::state!(Means { keys, nodes, places, current } fixed { highest_first });

impl Means {
    /// An order of nothing.
    pub(super) fn new(nodes: usize, highest_first: bool) -> Self {
        Self {
            keys: Vec::with_capacity(nodes),
            nodes: Vec::with_capacity(nodes),
            places: vec![NONE; nodes],
            current: vec![0; nodes],
            highest_first,
        }
    }

    /// How many nodes stand in the order.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether a node has this mean; or, if there is none, does not stand in the order.
    pub(super) fn has(&self, node: u32, mean: Option<Mean>) -> bool {
        let stands = self.places[node as usize] != NONE;
        stands.then_some(self.current[node as usize])
            == mean.map(|mean| mean.key(self.highest_first))
    }

    /// The first node of the order that is not `except`. It is the root or a child of the root.
    #[inline]
    pub(super) fn first_except(&mut self, except: u32) -> Option<u32> {
        while self.sinks(0) {}
        let root = *self.nodes.first()?;
        if root != except {
            return Some(root);
        }
        while let Some((child, _)) = self.first_child(0) {
            if !self.sinks(child) {
                return Some(self.nodes[child]);
            }
        }
        None
    }

    /// A node has this mean now, whether or not it stood in the order.
    #[inline]
    pub(super) fn put(&mut self, node: u32, mean: Mean) {
        let key = mean.key(self.highest_first);
        self.current[node as usize] = key;
        let place = self.places[node as usize];
        if place == NONE {
            self.keys.push(key);
            self.nodes.push(node);
            self.rise(self.nodes.len() - 1, key, node);
        } else if key < self.keys[place as usize] {
            self.rise(place as usize, key, node);
        }
    }

    /// A node leaves the order.
    pub(super) fn remove(&mut self, node: u32) {
        let place = core::mem::replace(&mut self.places[node as usize], NONE) as usize;
        let (key, last) = self.keys.pop().zip(self.nodes.pop()).expect("a node that leaves stood");
        if last != node {
            let place = self.rise(place, key, last);
            self.sink(place, key, last);
        }
    }

    /// Sends the node at `place` to where its mean says, if that is behind `place`.
    #[inline]
    fn sinks(&mut self, place: usize) -> bool {
        let Some(&node) = self.nodes.get(place) else { return false };
        let key = self.current[node as usize];
        let behind = key != self.keys[place];
        if behind {
            self.sink(place, key, node);
        }
        behind
    }

    /// Finds the place for a node, which is `place` or in front of it.
    #[inline]
    fn rise(&mut self, mut place: usize, key: Key, node: u32) -> usize {
        while place > 0 {
            let parent = (place - 1) / BRANCHES;
            if key >= self.keys[parent] {
                break;
            }
            self.set(place, self.keys[parent], self.nodes[parent]);
            place = parent;
        }
        self.set(place, key, node);
        place
    }

    /// Finds the place for a node, which is `place` or behind it.
    #[inline]
    fn sink(&mut self, mut place: usize, key: Key, node: u32) {
        while let Some((child, first)) = self.first_child(place) {
            if key < first {
                break;
            }
            self.set(place, first, self.nodes[child]);
            place = child;
        }
        self.set(place, key, node);
    }

    /// The first of the up to eight below a place: where it is, and its key.
    #[inline(always)]
    fn first_child(&self, place: usize) -> Option<(usize, Key)> {
        let first = place * BRANCHES + 1;
        let earlier = |a: (usize, Key), b: (usize, Key)| if b.1 < a.1 { b } else { a };
        let Some(keys) = self.keys.get(first..first + BRANCHES) else {
            return (first..self.keys.len()).map(|at| (at, self.keys[at])).reduce(earlier);
        };
        // In pairs, not one after the other: their comparisons do not wait for each other.
        let mut left: [_; BRANCHES] = core::array::from_fn(|at| (first + at, keys[at]));
        for half in [4, 2, 1] {
            for at in 0..half {
                left[at] = earlier(left[at], left[at + half]);
            }
        }
        Some(left[0])
    }

    #[inline(always)]
    fn set(&mut self, place: usize, key: Key, node: u32) {
        self.keys[place] = key;
        self.nodes[place] = node;
        self.places[node as usize] = place as u32;
    }

    /// Asserts that the heap is one, and that nodes stand in it where they say, or farther back.
    pub(super) fn check(&self) {
        assert_eq!(self.keys.len(), self.nodes.len());
        for (place, (key, &node)) in self.keys.iter().zip(&self.nodes).enumerate() {
            assert_eq!(self.places[node as usize] as usize, place);
            assert!(*key <= self.current[node as usize], "a node is found when it is first");
            let parent = place.saturating_sub(1) / BRANCHES;
            assert!(place == 0 || self.keys[parent] < *key, "the order is total");
        }
        let placed = self.places.iter().filter(|&&place| place != NONE);
        assert_eq!(placed.count(), self.nodes.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;

    /// The order by scanning.
    fn first(model: &BTreeMap<u32, Mean>, except: u32, highest_first: bool) -> Option<u32> {
        let rest = model.iter().filter(|(node, _)| **node != except);
        let key = |mean: &Mean| (mean.sum * 2520 / u64::from(mean.count), mean.accessed);
        let sign = |(mean, accessed): (u64, u64)| match highest_first {
            true => (u64::MAX - mean, accessed),
            false => (mean, accessed),
        };
        rest.min_by_key(|(_, mean)| sign(key(mean))).map(|(&node, _)| node)
    }

    #[test]
    fn the_closest_fractions_are_told_apart() {
        let key = |sum, count, accessed| Mean { sum, count, accessed }.key(false);
        let (most, whole) = (COUNT_MAX, (1 << TIME_BITS) - 2);
        let sum = |count: u32, rest: u64| whole * u64::from(count) + rest;
        for rest in [1, 5, u64::from(most) / 2, u64::from(most) - 2] {
            // They differ by rest / (n * (n - 1)). The later time is the smaller one's.
            assert!(key(sum(most, rest), most, 9) < key(sum(most - 1, rest), most - 1, 8));
        }
        assert_eq!(key(sum(most, 2), most, 7), key(sum(most / 2, 1), most / 2, 7));
    }

    #[test]
    fn the_first_is_that_of_a_scan() {
        for highest_first in [false, true] {
            let mut rng = crate::rng::Rng::new(5);
            let (mut means, mut model) = (Means::new(40, highest_first), BTreeMap::new());
            for accessed in 0..20_000 {
                let node = rng.below(40) as u32;
                if model.contains_key(&node) && rng.below(3) == 0 {
                    means.remove(node);
                    model.remove(&node);
                } else {
                    // Counts to 10 divide 2520: the scan is exact, too.
                    let (sum, count) = (rng.below(30), 1 + rng.below(10) as u32);
                    means.put(node, Mean { sum, count, accessed });
                    model.insert(node, Mean { sum, count, accessed });
                }
                means.check();
                let except = rng.below(40) as u32;
                assert_eq!(means.first_except(except), first(&model, except, highest_first));
                assert!(means.has(except, model.get(&except).copied()));
                assert_eq!(means.len(), model.len());
            }
        }
    }
}
