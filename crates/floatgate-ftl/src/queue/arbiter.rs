//! Which command the drive begins next, of those in its queues.
//!
//! Several queues are several hosts, each with an equal share of the drive and a queue of its own
//! (NVMe); the drive takes commands from one after the other, round robin. Requests of a queue stay
//! in order, those of different queues overtake each other. A serial drive begins a command when
//! the one before is done, and until then sees the others wait. What is known of the workload
//! reaches `queues x depth` requests from the oldest that is not done.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use super::{Arrivals, Queue};
use crate::request::{Completion, Request};

crate::choice! {
    /// When the device begins a command that is in its queue.
    pub enum Dispatch {
        /// At once: all commands in the queue are worked on, and share the flash.
        Parallel = "parallel",
        /// When the one before is done.
        Serial = "serial",
    }
}

/// A command that the drive begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Turn {
    /// Where it stands among the requests that the arbiter was shown.
    pub at: usize,
    /// When it arrived.
    pub arrival: u64,
    /// When it is begun.
    pub begin: u64,
    queue: usize,
}

/// The queues, and which requests wait for the drive.
#[derive(Clone, Debug)]
pub struct Arbiter {
    dispatch: Dispatch,
    queues: Vec<Queue>,
    /// By queue: requests that are not begun, counted from the first ever shown, and how many of
    /// them are known to stand in the queue.
    waiting: Vec<(VecDeque<u64>, usize)>,
    /// The queue to be asked first.
    turn: usize,
    /// Bytes of the drive that a queue's host has.
    share: u64,
    /// The first request that is shown, and the next one to be sorted into a queue.
    base: u64,
    seen: u64,
    /// What became of the requests from `base` to `seen`, as far as they are done.
    done: VecDeque<Option<Completion>>,
    /// How many of the first of these are done.
    done_ahead: usize,
    drained: u64,
    entered: Vec<usize>,
}

impl Arbiter {
    /// `queues` queues of `depth` places each, for a drive of `bytes`.
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
            done: VecDeque::new(),
            done_ahead: 0,
            drained: 0,
            entered: Vec::new(),
        }
    }

    /// How many requests from the oldest on it looks at.
    pub fn window(&self) -> usize {
        self.queues.len() * self.queues[0].depth()
    }

    /// The next command that the drive begins, unless the first `count` requests are all done.
    /// `requests[0]` is the oldest that has not been [taken](Self::take).
    pub fn next(&mut self, requests: &[Request], count: usize) -> Option<Turn> {
        while self.done.get(self.done_ahead).is_some_and(Option::is_some) {
            self.done_ahead += 1;
        }
        if self.done_ahead >= count {
            return None;
        }
        let visible = requests.len().min(self.done_ahead + self.window()) as u64;
        while self.seen - self.base < visible {
            self.see(&requests[(self.seen - self.base) as usize]);
        }
        let begin = self.begin(requests);
        self.enter(requests, begin);
        let queues = self.queues.len();
        let in_turn = (0..queues).map(|step| (self.turn + step) % queues);
        let mut ready = in_turn.filter(|&queue| {
            self.head(queue, requests).is_some_and(|(_, (_, admitted))| admitted <= begin)
        });
        let queue = ready.next().expect("something waits, and the first of it can be begun");
        self.turn = (queue + 1) % queues;
        let (waiting, entered) = &mut self.waiting[queue];
        let at = (waiting.pop_front().expect("it has a head") - self.base) as usize;
        *entered -= 1;
        let (arrival, _) = self.queues[queue].admit(requests[at].at_ns);
        Some(Turn { at, arrival, begin, queue })
    }

    /// Sorts the next request into its queue.
    fn see(&mut self, request: &Request) {
        let last = self.queues.len() - 1;
        let queue = ((request.offset / self.share) as usize).min(last);
        self.waiting[queue].0.push_back(self.seen);
        self.done.push_back(None);
        self.seen += 1;
    }

    /// Where the first request that waits in a queue stands, and when it arrives and is admitted.
    fn head(&self, queue: usize, requests: &[Request]) -> Option<(usize, (u64, u64))> {
        let at = (self.waiting[queue].0.front()? - self.base) as usize;
        Some((at, self.queues[queue].admission(requests[at].at_ns)))
    }

    /// When the next command is begun, whichever it is.
    fn begin(&self, requests: &[Request]) -> u64 {
        let heads = (0..self.queues.len()).filter_map(|queue| self.head(queue, requests));
        let first = heads.map(|(_, (_, admitted))| admitted).min();
        let first = first.expect("a request that is not done waits");
        match self.dispatch {
            Dispatch::Parallel => first,
            Dispatch::Serial => first.max(self.drained),
        }
    }

    /// Finds out which requests have come to stand in a queue by `now`.
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

    /// The requests that have come to stand in a queue since the turn before the last one.
    pub fn entered(&self) -> &[usize] {
        &self.entered
    }

    /// What became of the command of a turn.
    pub fn complete(&mut self, turn: &Turn, completion: Completion) {
        self.queues[turn.queue].complete(completion.done_ns);
        self.drained = self.drained.max(completion.done_ns);
        self.done[turn.at] = Some(completion);
    }

    /// Appends what became of the first `count` requests, which are not shown again.
    pub fn take(&mut self, count: usize, done: &mut Vec<Completion>) {
        let taken = self.done.drain(..count).map(|c| c.expect("it was waited for"));
        done.extend(taken);
        self.base += count as u64;
        self.done_ahead -= count;
    }

    /// The time when everything begun so far has completed.
    pub fn drained(&self) -> u64 {
        self.drained
    }

    /// Empty queues at time zero. Nothing may be begun and not taken.
    pub fn reset_counters(&mut self) {
        assert!(self.done.iter().all(Option::is_none), "commands are under way");
        self.queues.iter_mut().for_each(Queue::reset_counters);
        self.waiting.iter_mut().for_each(|(waiting, entered)| {
            waiting.clear();
            *entered = 0;
        });
        self.done.clear();
        (self.turn, self.base, self.seen, self.done_ahead, self.drained) = (0, 0, 0, 0, 0);
    }
}

#[cfg(test)]
mod tests;
