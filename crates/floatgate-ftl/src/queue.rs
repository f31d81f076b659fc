//! The command queue: when a request that has arrived is admitted to the drive.
//!
//! A drive with one queue (SATA's NCQ) that works on all commands at once needs no more than a
//! [`Queue`]. With several queues (NVMe), or if commands are begun one by one, an [`Arbiter`] says
//! which is next.

mod arbiter;

pub use arbiter::{Arbiter, Dispatch};

use alloc::collections::BinaryHeap;
use core::cmp::Reverse;

crate::choice! {
    /// When requests arrive.
    pub enum Arrivals {
        /// At the workload's times.
        Open = "open",
        /// When the queue has room: the workload's times are ignored.
        Closed = "closed",
        /// All at the start: the workload's times are ignored, and latencies include the wait.
        Immediate = "immediate",
    }
}

/// At most `depth` requests are in the drive; the next one waits outside until one completes.
#[derive(Clone, Debug)]
pub struct Queue {
    arrivals: Arrivals,
    depth: usize,
    /// Completion times of the requests in the drive.
    outstanding: BinaryHeap<Reverse<u64>>,
    admitted: u64,
    /// The latest completion.
    drained: u64,
}

impl Queue {
    /// A queue of `depth` places, at least 1.
    pub fn new(depth: usize, arrivals: Arrivals) -> Self {
        assert!(depth > 0, "a queue has a place");
        let outstanding = BinaryHeap::with_capacity(depth);
        Self { arrivals, depth, outstanding, admitted: 0, drained: 0 }
    }

    /// Places.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// When the next request, of the workload's time `at_ns`, would arrive and be admitted.
    #[inline]
    pub fn admission(&self, at_ns: u64) -> (u64, u64) {
        self.admission_beside(at_ns, 0).expect("a full queue has something to complete")
    }

    /// The same, while `begun` admitted requests are not known to be complete. None if it must wait
    /// for one of these.
    #[inline(always)]
    pub fn admission_beside(&self, at_ns: u64, begun: usize) -> Option<(u64, u64)> {
        let mut place = self.admitted;
        if self.outstanding.len() + begun == self.depth {
            let &Reverse(completed) = self.outstanding.peek()?;
            place = place.max(completed);
        }
        let arrival = match self.arrivals {
            Arrivals::Open => at_ns,
            Arrivals::Closed => place,
            Arrivals::Immediate => 0,
        };
        Some((arrival, place.max(arrival)))
    }

    /// The request of the workload's time `at_ns` comes: when does it arrive, when is it admitted?
    #[inline]
    pub fn admit(&mut self, at_ns: u64) -> (u64, u64) {
        self.admit_beside(at_ns, 0)
    }

    /// The same, beside `begun` admitted requests that are not known to be complete; there must be
    /// a place.
    #[inline(always)]
    pub fn admit_beside(&mut self, at_ns: u64, begun: usize) -> (u64, u64) {
        let (arrival, admitted) = self.admission_beside(at_ns, begun).expect("there is a place");
        if self.outstanding.len() + begun == self.depth {
            self.outstanding.pop();
        }
        self.admitted = admitted;
        (arrival, admitted)
    }

    /// Whether a request of the workload's time `at_ns` has arrived by `now`.
    #[inline]
    pub fn has_arrived(&self, at_ns: u64, now: u64) -> bool {
        self.arrivals != Arrivals::Open || at_ns <= now
    }

    /// The request admitted last completes at `done_ns`.
    #[inline]
    pub fn complete(&mut self, done_ns: u64) {
        self.outstanding.push(Reverse(done_ns));
        self.drained = self.drained.max(done_ns);
    }

    /// The time when everything admitted so far has completed.
    pub fn drained(&self) -> u64 {
        self.drained
    }

    /// An empty queue at time zero.
    pub fn reset_counters(&mut self) {
        self.outstanding.clear();
        self.admitted = 0;
        self.drained = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_arrival_waits_outside_a_full_queue() {
        let mut queue = Queue::new(2, Arrivals::Open);
        assert_eq!(queue.admit(10), (10, 10));
        queue.complete(110);
        assert_eq!(queue.admit(20), (20, 20));
        queue.complete(60);
        assert_eq!(queue.drained(), 110);
        assert_eq!(queue.admission(30), (30, 60));
        assert_eq!(queue.admit(30), (30, 60), "the first place to be free again");
        queue.complete(210);
        assert_eq!(queue.admit(500), (500, 500));
    }

    #[test]
    fn a_closed_queue_takes_no_notice_of_the_clock() {
        let mut queue = Queue::new(1, Arrivals::Closed);
        for (at, expected) in [(900, 0), (901, 70), (902, 140)] {
            assert_eq!(queue.admit(at), (expected, expected));
            queue.complete(expected + 70);
        }
    }

    #[test]
    fn what_comes_at_once_waits_from_the_start() {
        let mut queue = Queue::new(1, Arrivals::Immediate);
        for (at, expected) in [(900, 0), (901, 70), (902, 140)] {
            assert_eq!(queue.admit(at), (0, expected));
            queue.complete(expected + 70);
        }
    }
}
