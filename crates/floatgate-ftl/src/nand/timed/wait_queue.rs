//! Queue in the order of arrival. Nodes that arrive together are in the order of their age, the
//! oldest first.

use alloc::collections::VecDeque;

/// A waiting node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Waiting {
    /// Time of arrival.
    pub since: u64,
    pub serial: u64,
    pub entry: u32,
}

/// Queue of nodes. Most queues are short, so the first node is stored separately.
#[derive(Clone, Debug, Default)]
pub struct WaitQueue {
    first: Option<Waiting>,
    rest: VecDeque<Waiting>,
}

impl WaitQueue {
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    pub fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.rest.len()
    }

    #[inline(always)]
    pub fn first(&self) -> Option<&Waiting> {
        self.first.as_ref()
    }

    /// Adds a node.
    #[inline(always)]
    pub fn push(&mut self, waiting: Waiting) {
        let Some(first) = &self.first else {
            self.first = Some(waiting);
            return;
        };
        let is_last = waiting >= *self.rest.back().unwrap_or(first);
        self.rest.push_back(waiting);
        if !is_last {
            self.move_last();
        }
    }

    /// Moves the node that was added last to its place, which is not the end. The node is not an
    /// argument: that would take a location in memory, and each push would write the node there and
    /// read it back at once.
    #[cold]
    fn move_last(&mut self) {
        let Some(waiting) = self.rest.pop_back() else { return };
        if let Some(first) = self.first.take() {
            self.rest.push_front(first);
        }
        let younger = |other: &&Waiting| **other > waiting;
        let at = self.rest.len() - self.rest.iter().rev().take_while(younger).count();
        self.rest.insert(at, waiting);
        self.first = self.rest.pop_front();
    }

    /// Puts a node that is older than all others back to the head.
    pub fn put_back(&mut self, waiting: Waiting) {
        if let Some(first) = self.first.replace(waiting) {
            self.rest.push_front(first);
        }
    }

    /// Removes the first node.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<Waiting> {
        let first = self.first.take();
        if !self.rest.is_empty() {
            self.first = self.rest.pop_front();
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use alloc::vec::Vec;

    #[test]
    fn the_first_to_arrive_leaves_first() {
        let mut rng = Rng::new(1);
        let (mut queue, mut all) = (WaitQueue::default(), Vec::<Waiting>::new());
        for _ in 0..10_000 {
            if rng.below(2) == 0 {
                let (since, serial, entry) = (rng.below(8), rng.below(1 << 40), 0);
                queue.push(Waiting { since, serial, entry });
                all.push(Waiting { since, serial, entry });
                all.sort_unstable();
            } else if !all.is_empty() {
                assert_eq!(queue.pop(), Some(all.remove(0)));
            }
            assert_eq!((queue.first(), queue.is_empty()), (all.first(), all.is_empty()));
        }
        assert!(all.len() > 5, "queues were long");
    }
}
