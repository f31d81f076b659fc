//! Nodes in the order of their means or of their last accesses: a heap with eight branches that
//! knows the place of each node.
//!
//! Most means move back in the order (under TPFTL, the means of all accessed nodes). Such a mean is
//! only noted: its node stays where it was, too far in front. When the node becomes the first, it
//! sinks to its position. So the first node is always right, and a node that is accessed often
//! sinks only once.

use alloc::vec;
use alloc::vec::Vec;

const NONE: u32 = u32::MAX;
const BRANCHES: usize = 8;

/// The mean of some weights, and the time of the last access, which decides between equal means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Mean {
    pub(super) sum: u64,
    pub(super) count: u32,
    pub(super) accessed: u64,
}

/// The node at the front of the order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) enum First {
    /// The lowest mean; of equal means the least recently accessed node.
    LowestMean,
    /// The highest mean; of equal means the least recently accessed node.
    HighestMean,
    /// The least recently accessed node, whatever its mean.
    LeastRecent,
}

/// A mean as a number that sorts in the order: 44 bits of whole weights, 40 of fraction, 44 of
/// time. This is exact: two different means of at most 2^20 weights differ by 2^-40 or more.
type Key = u128;

const FRACTION_BITS: u32 = 40;
const TIME_BITS: u32 = 44;
const COUNT_MAX: u32 = 1 << (FRACTION_BITS / 2);

impl Mean {
    #[inline(always)]
    fn key(self, first: First) -> Key {
        let count = u64::from(self.count);
        let (whole, rest) = (self.sum / count, self.sum % count);
        assert!(self.count <= COUNT_MAX && (whole | self.accessed) >> TIME_BITS == 0);
        let fraction = (rest << FRACTION_BITS) / count;
        let mean = u128::from(whole) << FRACTION_BITS | u128::from(fraction);
        let mean = match first {
            First::LowestMean => mean,
            First::HighestMean => (u128::MAX >> TIME_BITS) - mean,
            First::LeastRecent => 0,
        };
        mean << TIME_BITS | u128::from(self.accessed)
    }
}

/// Order of nodes by mean. Nodes are numbers from 0.
#[derive(Clone, Debug)]
pub(super) struct Means {
    /// The heap, as two columns. A key here equals the key of the node's mean, or comes before it.
    keys: Vec<Key>,
    nodes: Vec<u32>,
    /// Place in the heap, by node.
    places: Vec<u32>,
    /// Key of the mean, by node.
    current: Vec<Key>,
    first: First,
}

crate::state!(Means { keys, nodes, places, current } fixed { first });

impl Means {
    /// Makes an empty order.
    pub(super) fn new(nodes: usize, first: First) -> Self {
        Self {
            keys: Vec::with_capacity(nodes),
            nodes: Vec::with_capacity(nodes),
            places: vec![NONE; nodes],
            current: vec![0; nodes],
            first,
        }
    }

    /// Returns the number of nodes in the order.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns whether a node has this mean or, if there is no mean, is not in the order.
    pub(super) fn has(&self, node: u32, mean: Option<Mean>) -> bool {
        let stands = self.places[node as usize] != NONE;
        stands.then_some(self.current[node as usize]) == mean.map(|mean| mean.key(self.first))
    }

    /// Returns the first node of the order that is not `except`: the root or a child of the root.
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

    /// Sets the mean of a node. Adds the node to the order if it is not in it.
    #[inline]
    pub(super) fn put(&mut self, node: u32, mean: Mean) {
        let key = mean.key(self.first);
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

    /// Removes a node from the order.
    pub(super) fn remove(&mut self, node: u32) {
        let place = core::mem::replace(&mut self.places[node as usize], NONE) as usize;
        let (key, last) = self.keys.pop().zip(self.nodes.pop()).expect("a node that leaves stood");
        if last != node {
            let place = self.rise(place, key, last);
            self.sink(place, key, last);
        }
    }

    /// Moves the node at `place` to the position of its mean, if that is behind `place`. Returns
    /// whether it is.
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

    /// Places a node at `place` or in front of it. Returns its place.
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

    /// Places a node at `place` or behind it.
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

    /// Returns the first of the up to eight children of a place: its place and key.
    #[inline(always)]
    fn first_child(&self, place: usize) -> Option<(usize, Key)> {
        let first = place * BRANCHES + 1;
        let earlier = |a: (usize, Key), b: (usize, Key)| if b.1 < a.1 { b } else { a };
        let Some(keys) = self.keys.get(first..first + BRANCHES) else {
            return (first..self.keys.len()).map(|at| (at, self.keys[at])).reduce(earlier);
        };
        // Compared in pairs, not one after the other, so that the comparisons do not wait for each
        // other.
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

    /// Asserts that the heap is ordered, and that no node is in front of its key.
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

    /// First node by a scan.
    fn first(model: &BTreeMap<u32, Mean>, except: u32, first: First) -> Option<u32> {
        let rest = model.iter().filter(|(node, _)| **node != except);
        let key = |&Mean { sum, count, accessed }: &Mean| match first {
            First::LowestMean => (sum * 2520 / u64::from(count), accessed),
            First::HighestMean => (u64::MAX - sum * 2520 / u64::from(count), accessed),
            First::LeastRecent => (0, accessed),
        };
        rest.min_by_key(|(_, mean)| key(mean)).map(|(&node, _)| node)
    }

    #[test]
    fn the_closest_fractions_are_distinguished() {
        let key = |sum, count, accessed| Mean { sum, count, accessed }.key(First::LowestMean);
        let (most, whole) = (COUNT_MAX, (1 << TIME_BITS) - 2);
        let sum = |count: u32, rest: u64| whole * u64::from(count) + rest;
        for rest in [1, 5, u64::from(most) / 2, u64::from(most) - 2] {
            // The means differ by rest / (n * (n - 1)). The smaller mean has the later time.
            assert!(key(sum(most, rest), most, 9) < key(sum(most - 1, rest), most - 1, 8));
        }
        assert_eq!(key(sum(most, 2), most, 7), key(sum(most / 2, 1), most / 2, 7));
    }

    #[test]
    fn the_first_is_that_of_a_scan() {
        for order in [First::LowestMean, First::HighestMean, First::LeastRecent] {
            let mut rng = crate::rng::Rng::new(5);
            let (mut means, mut model) = (Means::new(40, order), BTreeMap::new());
            for accessed in 0..20_000 {
                let node = rng.below(40) as u32;
                if model.contains_key(&node) && rng.below(3) == 0 {
                    means.remove(node);
                    model.remove(&node);
                } else {
                    // Counts up to 10 divide 2520, so the scan is exact too.
                    let (sum, count) = (rng.below(30), 1 + rng.below(10) as u32);
                    means.put(node, Mean { sum, count, accessed });
                    model.insert(node, Mean { sum, count, accessed });
                }
                means.check();
                let except = rng.below(40) as u32;
                assert_eq!(means.first_except(except), first(&model, except, order));
                assert!(means.has(except, model.get(&except).copied()));
                assert_eq!(means.len(), model.len());
            }
        }
    }
}
