//! Nodes in the order of their means: a heap of four branches whose places are known by node.

use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Ordering;

const NONE: u32 = u32::MAX;
const BRANCHES: usize = 4;

/// The mean of some weights; and when the last of them was accessed, which decides between equals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Mean {
    pub(super) sum: u64,
    pub(super) count: u32,
    pub(super) accessed: u64,
}

#[derive(Clone, Copy, Debug)]
struct Item {
    mean: Mean,
    node: u32,
}

/// The order. Nodes are numbers below the one that it was made for.
#[derive(Clone, Debug)]
pub(super) struct Means {
    heap: Vec<Item>,
    places: Vec<u32>,
    highest_first: bool,
}

impl Means {
    /// An order of nothing.
    pub(super) fn new(nodes: usize, highest_first: bool) -> Self {
        Self { heap: Vec::with_capacity(nodes), places: vec![NONE; nodes], highest_first }
    }

    /// How many nodes stand in the order.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.heap.len()
    }

    /// The mean of a node, if it stands in the order.
    pub(super) fn get(&self, node: u32) -> Option<Mean> {
        let place = self.places[node as usize];
        (place != NONE).then(|| self.heap[place as usize].mean)
    }

    /// The first node of the order that is not `except`. It is the root or a child of the root.
    pub(super) fn first_except(&self, except: u32) -> Option<u32> {
        let root = self.heap.first()?;
        if root.node != except {
            return Some(root.node);
        }
        let last = self.heap.len().min(1 + BRANCHES);
        self.heap[1..last].iter().min_by(|a, b| self.compare(a, b)).map(|item| item.node)
    }

    /// A node has this mean now, whether or not it stood in the order.
    #[inline]
    pub(super) fn put(&mut self, node: u32, mean: Mean) {
        let item = Item { mean, node };
        let place = match self.places[node as usize] {
            NONE => {
                self.heap.push(item);
                self.heap.len() - 1
            }
            place => place as usize,
        };
        self.settle(place, item);
    }

    /// A node leaves the order.
    pub(super) fn remove(&mut self, node: u32) {
        let place = core::mem::replace(&mut self.places[node as usize], NONE) as usize;
        let last = self.heap.pop().expect("a node that leaves stood in the order");
        if last.node != node {
            self.settle(place, last);
        }
    }

    /// Exact: fractions are multiplied out.
    #[inline(always)]
    fn compare(&self, a: &Item, b: &Item) -> Ordering {
        let (a, b) = (&a.mean, &b.mean);
        let (left, right) = (wide(a.sum, b.count), wide(b.sum, a.count));
        let means = if self.highest_first { right.cmp(&left) } else { left.cmp(&right) };
        means.then(a.accessed.cmp(&b.accessed))
    }

    #[inline(always)]
    fn before(&self, a: &Item, b: &Item) -> bool {
        self.compare(a, b).is_lt()
    }

    /// Finds the place for an item from `place` on, which is free to be overwritten.
    #[inline]
    fn settle(&mut self, mut place: usize, item: Item) {
        while place > 0 {
            let parent = (place - 1) / BRANCHES;
            if !self.before(&item, &self.heap[parent]) {
                break;
            }
            self.set(place, self.heap[parent]);
            place = parent;
        }
        loop {
            let first = place * BRANCHES + 1;
            let end = self.heap.len().min(first + BRANCHES);
            let children = first..end;
            let least = children.min_by(|&a, &b| self.compare(&self.heap[a], &self.heap[b]));
            match least {
                Some(child) if self.before(&self.heap[child], &item) => {
                    self.set(place, self.heap[child]);
                    place = child;
                }
                _ => break,
            }
        }
        self.set(place, item);
    }

    #[inline(always)]
    fn set(&mut self, place: usize, item: Item) {
        self.heap[place] = item;
        self.places[item.node as usize] = place as u32;
    }

    /// Asserts that the heap is one, and that the places are those of its items.
    pub(super) fn check(&self) {
        for (place, item) in self.heap.iter().enumerate() {
            assert_eq!(self.places[item.node as usize] as usize, place);
            let parent = place.saturating_sub(1) / BRANCHES;
            assert!(place == 0 || self.before(&self.heap[parent], item), "the order is total");
        }
        let placed = self.places.iter().filter(|&&place| place != NONE);
        assert_eq!(placed.count(), self.heap.len());
    }
}

#[inline(always)]
fn wide(sum: u64, count: u32) -> u128 {
    u128::from(sum) * u128::from(count)
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
                assert_eq!(means.get(except), model.get(&except).copied());
                assert_eq!(means.len(), model.len());
            }
        }
    }
}
