//! A tournament over units that remembers how long each of its results holds.
//!
//! It is a complete binary tree with units as leaves. An inner node holds a copy of the better of
//! its two children's winners, and the time until which no result below it changes. Units are
//! compared again on the path from a changed unit to the root, and where the time has run out. Most
//! changes end a level or two up, where the new winner and time equal the old ones (a kinetic
//! tournament: Basch, Guibas and Hershberger, SODA 1997).
//!
//! ```text
//!                 u4 until 310
//!          u9 until 310      u4 until 870
//!         u3       u9       u4       u7
//!
//! At 311, u3 is compared with u9 again, and the better of them with u4.
//! ```

use alloc::vec;
use alloc::vec::Vec;
use core::mem;

use crate::addr::Unit;
use crate::prefetch::prefetch;
use crate::saved::Blank;

/// End time of a result that never changes.
pub(super) const FOREVER: u64 = u64::MAX;

/// No unit, and no leaf.
const NONE: u32 = u32::MAX;

/// The unit of an empty contender.
pub(super) const NOBODY: Unit = Unit(NONE);

/// Levels that a change usually passes.
const LEVELS: usize = 4;

/// Value by which a unit is compared. Contenders are strictly ordered at any time.
pub(super) trait Contender: Copy + PartialEq {
    /// No contender: its unit is [`NOBODY`].
    const NONE: Self;

    fn unit(&self) -> Unit;

    /// Returns whether this contender goes before another at `now`, and a time until which this is
    /// certain to stay so.
    fn beats(&self, other: &Self, now: u64) -> (bool, u64);
}

/// The leaf of each unit, in one of several tournaments. A unit takes part in at most one.
#[derive(Clone, Debug)]
pub(super) struct Leaves(Vec<u32>);

crate::state!(blank Leaves(_));

impl Leaves {
    /// Makes a table of `units` units that take part in none.
    pub(super) fn new(units: u32) -> Self {
        Self(vec![NONE; units as usize])
    }

    pub(super) fn prefetch(&self, unit: Unit) {
        prefetch(&self.0, unit.index());
    }

    pub(super) fn takes_part(&self, unit: Unit) -> bool {
        self.0[unit.index()] != NONE
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
struct Node<C> {
    winner: C,
    until: u64,
}

crate::state!(blank Node<C: Blank> { winner, until });

/// Two nodes that are compared with each other, in one line of the processor's cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Pair<C>([Node<C>; 2]);

crate::state!(blank Pair<C: Blank>(_));

/// One tournament. Its units are in the first `len` leaves, in no order.
#[derive(Clone, Debug)]
pub(super) struct Tournament<C> {
    /// Nodes are numbered from the root, 1; the children of `n` are `2n` and `2n + 1`. The number
    /// of leaves is a power of two. Pair `n` has the children of `n`, so the root is the second
    /// node of pair 0.
    pairs: Vec<Pair<C>>,
    len: usize,
}

crate::state!(blank Tournament<C: Blank> { pairs, len });

impl<C: Contender> Tournament<C> {
    const EMPTY: Pair<C> = Pair([Node { winner: C::NONE, until: FOREVER }; 2]);

    pub(super) fn new() -> Self {
        Self { pairs: vec![Self::EMPTY], len: 0 }
    }

    /// Returns the number of units that take part.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Adds a unit, or updates a unit that takes part.
    pub(super) fn set(&mut self, leaves: &mut Leaves, contender: C, now: u64) {
        let leaf = &mut leaves.0[contender.unit().index()];
        if *leaf == NONE {
            if self.len == self.leaves() {
                self.grow(now);
            }
            *leaf = self.len as u32;
            self.len += 1;
        }
        self.put(*leaf as usize, contender, now);
    }

    /// Removes a unit that takes part. The unit of the last leaf moves to its leaf.
    pub(super) fn remove(&mut self, leaves: &mut Leaves, unit: Unit, now: u64) {
        let leaf = mem::replace(&mut leaves.0[unit.index()], NONE);
        self.len -= 1;
        let last = self.len;
        let moved = self.node(self.leaves() + last).winner;
        self.put(last, C::NONE, now);
        if last != leaf as usize {
            leaves.0[moved.unit().index()] = leaf;
            self.put(leaf as usize, moved, now);
        }
    }

    /// Returns the best contender at `now`. `now` must not be before the time of an earlier call.
    pub(super) fn winner(&mut self, now: u64) -> Option<C> {
        self.refresh(1, now);
        let winner = self.node(1).winner;
        (winner.unit() != NOBODY).then_some(winner)
    }

    /// Prefetches the nodes that an update of a unit will touch.
    pub(super) fn prefetch(&self, leaves: &Leaves, unit: Unit) {
        let mut node = self.leaves().saturating_add(leaves.0[unit.index()] as usize);
        for _ in 0..LEVELS {
            node /= 2;
            prefetch(&self.pairs, node);
        }
    }

    fn leaves(&self) -> usize {
        self.pairs.len()
    }

    fn node(&self, node: usize) -> &Node<C> {
        &self.pairs[node / 2].0[node % 2]
    }

    fn node_mut(&mut self, node: usize) -> &mut Node<C> {
        &mut self.pairs[node / 2].0[node % 2]
    }

    fn grow(&mut self, now: u64) {
        let leaves = self.leaves();
        let before = mem::replace(&mut self.pairs, vec![Self::EMPTY; 2 * leaves]);
        let leaf = |leaf: usize| before[(leaves + leaf) / 2].0[(leaves + leaf) % 2];
        (0..leaves).for_each(|at| *self.node_mut(2 * leaves + at) = leaf(at));
        (1..2 * leaves).rev().for_each(|node| *self.node_mut(node) = self.play(node, now));
    }

    /// Puts a contender in a leaf, or none, and plays again all results that this may change.
    fn put(&mut self, leaf: usize, winner: C, now: u64) {
        let mut node = self.leaves() + leaf;
        *self.node_mut(node) = Node { winner, until: FOREVER };
        while node > 1 {
            node /= 2;
            let result = self.play(node, now);
            if result == *self.node(node) {
                return;
            }
            *self.node_mut(node) = result;
        }
    }

    fn refresh(&mut self, node: usize, now: u64) {
        if self.node(node).until < now {
            self.refresh(2 * node, now);
            self.refresh(2 * node + 1, now);
            *self.node_mut(node) = self.play(node, now);
        }
    }

    fn play(&self, node: usize, now: u64) -> Node<C> {
        let Pair([left, right]) = &self.pairs[node];
        if right.winner.unit() == NOBODY {
            return *left;
        }
        // Leaves are filled from the left, except during a removal.
        if left.winner.unit() == NOBODY {
            return *right;
        }
        let (first, until) = left.winner.beats(&right.winner, now);
        let winner = if first { left.winner } else { right.winner };
        Node { winner, until: until.min(left.until).min(right.until) }
    }
}
