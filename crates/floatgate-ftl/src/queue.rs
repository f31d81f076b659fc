//! The command queue: when a request that has arrived is admitted to the drive.
//!
//! A drive with one queue (SATA's NCQ) that works on all commands at once needs only a [`Queue`].
//! With several queues (NVMe), or if the drive begins commands one by one, an [`Arbiter`] chooses
//! the next command.

mod arbiter;

pub use arbiter::{Arbiter, Dispatch, DriveStep, NextCommand};

use alloc::collections::VecDeque;

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

/// Command queue: at most `depth` requests are in the drive, and the next one waits outside.
#[derive(Clone, Debug)]
pub struct Queue {
    arrivals: Arrivals,
    depth: usize,
    /// Times at which the free slots became free, the oldest first.
    free: VecDeque<u64>,
}

impl Queue {
    /// Creates a queue of `depth` slots, at least 1.
    pub fn new(depth: usize, arrivals: Arrivals) -> Self {
        assert!(depth > 0, "a queue has a place");
        Self { arrivals, depth, free: core::iter::repeat_n(0, depth).collect() }
    }

    /// Returns the number of slots.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Returns the earliest time, from `now` on, at which the next request is admitted; `None` if
    /// no slot is free. The request's time in the workload is `at_ns`. In addition, `begun`
    /// requests occupy slots that were not taken with [`Queue::admit`].
    #[inline(always)]
    pub fn admission(&self, at_ns: u64, now: u64, begun: usize) -> Option<u64> {
        let has_room = begun < self.free.len();
        has_room.then(|| if self.arrivals == Arrivals::Open { now.max(at_ns) } else { now })
    }

    /// Returns when the next request, whose time in the workload is `at_ns`, has arrived. The queue
    /// must have a free slot for it, in addition to `begun` slots that were not taken with
    /// [`Queue::admit`].
    #[inline(always)]
    pub fn arrival(&self, at_ns: u64, begun: usize) -> u64 {
        match self.arrivals {
            Arrivals::Open => at_ns,
            Arrivals::Closed => self.free[begun],
            Arrivals::Immediate => 0,
        }
    }

    /// Returns whether a request whose time in the workload is `at_ns` has arrived by `now`.
    #[inline]
    pub fn has_arrived(&self, at_ns: u64, now: u64) -> bool {
        self.arrivals != Arrivals::Open || at_ns <= now
    }

    /// Gives a slot to a request.
    #[inline(always)]
    pub fn admit(&mut self) {
        self.free.pop_front();
    }

    /// Frees the slot of a request that is complete at `now`.
    #[inline(always)]
    pub fn complete(&mut self, now: u64) {
        self.free.push_back(now);
    }

    /// Notes that all requests are complete, and that the host sends no further request before
    /// `now`.
    pub fn rest(&mut self, now: u64) {
        self.free.iter_mut().for_each(|since| *since = now);
    }

    /// Empties the queue, at time zero.
    pub fn reset_counters(&mut self) {
        self.free.clear();
        self.free.resize(self.depth, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_arrival_waits_outside_a_full_queue() {
        let mut queue = Queue::new(2, Arrivals::Open);
        assert_eq!(queue.admission(10, 0, 0), Some(10));
        queue.admit();
        assert_eq!((queue.admission(20, 30, 0), queue.arrival(20, 0)), (Some(30), 20));
        queue.admit();
        assert_eq!(queue.admission(30, 30, 0), None);
        queue.complete(60);
        assert_eq!(queue.admission(30, 60, 0), Some(60), "the first place to be free again");
        assert_eq!(queue.admission(30, 60, 1), None, "which another may take");
    }

    #[test]
    fn a_request_of_a_closed_queue_arrives_when_its_place_is_free() {
        let mut queue = Queue::new(2, Arrivals::Closed);
        assert_eq!((queue.admission(900, 70, 0), queue.arrival(900, 0)), (Some(70), 0));
        queue.admit();
        queue.admit();
        queue.complete(80);
        queue.complete(90);
        assert_eq!((queue.admission(900, 100, 1), queue.arrival(900, 1)), (Some(100), 90));
        queue.admit();
        assert_eq!(queue.arrival(900, 0), 90);
        queue.complete(110);
        queue.rest(500);
        assert_eq!([0, 1].map(|begun| queue.arrival(900, begun)), [500, 500]);
    }

    #[test]
    fn requests_that_arrive_at_once_wait_from_the_start() {
        let queue = Queue::new(1, Arrivals::Immediate);
        assert_eq!((queue.admission(900, 70, 0), queue.arrival(900, 0)), (Some(70), 0));
    }
}
