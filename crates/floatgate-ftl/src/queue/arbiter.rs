//! Choice of the next command, among the commands in a drive's queues.
//!
//! Several queues belong to several hosts. Each host has an equal share of the drive and its own
//! queue (NVMe), and the drive takes commands from the queues in turn, round robin. Requests of one
//! queue stay in order; requests of different queues overtake each other. A serial drive begins a
//! command when the command before it is complete, and sees the other commands wait until then. The
//! arbiter sees `queues x depth` requests of the workload, from the oldest request that has not
//! begun.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use super::{Arrivals, Queue};
use crate::request::Request;

crate::choice! {
    /// When the device begins a command that is in its queue.
    pub enum Dispatch {
        /// At once: the device works on all commands in the queue, and they share the flash.
        Parallel = "parallel",
        /// When the command before it is complete.
        Serial = "serial",
    }
}

/// A command that the drive begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NextCommand {
    /// Index of the command among the requests shown to the arbiter.
    pub at: usize,
    /// Number of the command, counted from the first request ever shown.
    pub number: u64,
    /// Time of arrival.
    pub arrival: u64,
    /// The queue that the command leaves.
    pub queue: usize,
}

/// Next step of the drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DriveStep {
    /// Begin a command.
    Begin(NextCommand),
    /// Wait until this time, or until a command is complete.
    Wait(u64),
    /// Ask for more requests.
    Done,
}

/// The queues, and the requests that wait for the drive.
#[derive(Clone, Debug)]
pub struct Arbiter {
    dispatch: Dispatch,
    queues: Vec<Queue>,
    /// By queue: the requests that have not begun, counted from the first request ever shown; and
    /// how many of them have entered the queue so far.
    waiting: Vec<(VecDeque<u64>, usize)>,
    /// The first queue to try.
    turn: usize,
    /// Bytes of the drive for each queue's host.
    share: u64,
    /// Numbers of the first request that is shown, and of the next request to sort into a queue.
    base: u64,
    seen: u64,
    /// By request from `base` to `seen`: whether it has begun.
    begun: VecDeque<bool>,
    /// Number of requests from `base` on that have all begun.
    begun_ahead: usize,
    /// Commands in the drive.
    running: usize,
    entered: Vec<usize>,
}

impl Arbiter {
    /// Creates `queues` queues of `depth` slots each, for a drive of `bytes`.
    pub fn new(
        queues: usize,
        depth: usize,
        arrivals: Arrivals,
        dispatch: Dispatch,
        bytes: u64,
    ) -> Self {
        assert!(queues > 0, "commands need a queue");
        Self {
            dispatch,
            queues: vec![Queue::new(depth, arrivals); queues],
            waiting: vec![(VecDeque::new(), 0); queues],
            turn: 0,
            share: bytes.div_ceil(queues as u64).max(1),
            base: 0,
            seen: 0,
            begun: VecDeque::new(),
            begun_ahead: 0,
            running: 0,
            entered: Vec::new(),
        }
    }

    /// Returns the number of requests that the arbiter looks at, from the oldest on.
    pub fn window(&self) -> usize {
        self.queues.len() * self.queues[0].depth()
    }

    /// Returns the next step of the drive at `now`: a command to begin, unless the first `count`
    /// requests have all begun. `requests[0]` is the oldest request that has not been
    /// [passed](Self::pass).
    pub fn next(&mut self, requests: &[Request], count: usize, now: u64) -> DriveStep {
        while self.begun.get(self.begun_ahead).is_some_and(|&begun| begun) {
            self.begun_ahead += 1;
        }
        if self.begun_ahead >= count {
            return DriveStep::Done;
        }
        let visible = requests.len().min(self.begun_ahead + self.window()) as u64;
        while self.seen - self.base < visible {
            self.see(&requests[(self.seen - self.base) as usize]);
        }
        let begin = self.begin(requests, now);
        if begin > now {
            return DriveStep::Wait(begin);
        }
        self.enter(requests, now);
        let queues = self.queues.len();
        let mut in_turn = (0..queues).map(|step| (self.turn + step) % queues);
        let ready = in_turn.find(|&queue| {
            self.head(queue, requests, now).is_some_and(|(_, admitted)| admitted <= now)
        });
        let queue = ready.expect("something can be begun");
        self.turn = (queue + 1) % queues;
        let (waiting, entered) = &mut self.waiting[queue];
        let number = waiting.pop_front().expect("it has a head");
        let at = (number - self.base) as usize;
        *entered -= 1;
        let arrival = self.queues[queue].arrival(requests[at].at_ns, 0);
        self.queues[queue].admit();
        self.running += 1;
        self.begun[at] = true;
        DriveStep::Begin(NextCommand { at, number, arrival, queue })
    }

    /// Sorts the next request into its queue.
    fn see(&mut self, request: &Request) {
        let last = self.queues.len() - 1;
        let queue = ((request.offset / self.share) as usize).min(last);
        self.waiting[queue].0.push_back(self.seen);
        self.begun.push_back(false);
        self.seen += 1;
    }

    /// Returns the index of the first request that waits in a queue, and when it is admitted, if a
    /// slot is free for it.
    fn head(&self, queue: usize, requests: &[Request], now: u64) -> Option<(usize, u64)> {
        let at = (self.waiting[queue].0.front()? - self.base) as usize;
        Some((at, self.queues[queue].admission(requests[at].at_ns, now, 0)?))
    }

    /// Returns the time at which the next command begins; `u64::MAX` if another command must be
    /// complete first.
    fn begin(&self, requests: &[Request], now: u64) -> u64 {
        if self.dispatch == Dispatch::Serial && self.running > 0 {
            return u64::MAX;
        }
        let heads = (0..self.queues.len()).filter_map(|queue| self.head(queue, requests, now));
        heads.map(|(_, admitted)| admitted).min().unwrap_or(u64::MAX)
    }

    /// Collects the requests that have entered a queue by `now`.
    fn enter(&mut self, requests: &[Request], now: u64) {
        self.entered.clear();
        for (queue, (waiting, entered)) in self.queues.iter().zip(&mut self.waiting) {
            while let Some(number) = waiting.get(*entered).filter(|_| *entered < queue.depth()) {
                let at = (number - self.base) as usize;
                if !queue.has_arrived(requests[at].at_ns, now) {
                    break;
                }
                self.entered.push(at);
                *entered += 1;
            }
        }
    }

    /// Returns the requests that entered a queue between the beginnings of the last two commands.
    pub fn entered(&self) -> &[usize] {
        &self.entered
    }

    /// Notes that a command from this queue is complete at `now`.
    pub fn complete(&mut self, queue: usize, now: u64) {
        self.queues[queue].complete(now);
        self.running -= 1;
    }

    /// Notes that all commands are complete, and that the hosts send no further command before
    /// `now`.
    pub fn rest(&mut self, now: u64) {
        self.queues.iter_mut().for_each(|queue| queue.rest(now));
    }

    /// Passes the first `count` requests, which have begun: they are not shown again.
    pub fn pass(&mut self, count: usize) {
        self.begun.drain(..count);
        self.base += count as u64;
        self.begun_ahead -= count;
    }

    /// Empties the queues. Every request that has begun must have been passed.
    pub fn reset_counters(&mut self) {
        assert!(self.begun.iter().all(|begun| !begun), "commands are under way");
        self.queues.iter_mut().for_each(Queue::reset_counters);
        self.waiting.iter_mut().for_each(|(waiting, entered)| {
            waiting.clear();
            *entered = 0;
        });
        self.begun.clear();
        (self.turn, self.base, self.seen, self.begun_ahead, self.running) = (0, 0, 0, 0, 0);
    }
}

#[cfg(test)]
mod tests;
