//! Requests that were begun, until their completion is told.
//!
//! They are begun, and end, in any order; what became of them is told in the order in which the
//! host sent them, or as they end.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::nand::{Blame, Chain, Clock, Ended, Fork, Part};
use crate::request::{Completion, Request};

/// A request of the host in the drive.
#[derive(Clone, Copy, Debug)]
struct Entry {
    request: Request,
    arrival: u64,
    /// What the time before it was begun went into.
    before: Blame,
    /// The queue that it came from.
    queue: usize,
    /// Where its work ends.
    end: Chain,
    /// When that was, and what came of it.
    completion: Option<Completion>,
    is_told: bool,
}

/// The requests, by the number in which the host sent them.
#[derive(Clone, Debug, Default)]
pub(super) struct Outstanding {
    /// The number of the first of them.
    base: u64,
    entries: VecDeque<Option<Entry>>,
    /// How many are not complete.
    running: usize,
    /// How many are complete, and nobody was told.
    untold: usize,
}

impl Outstanding {
    /// The number behind the last request that was begun.
    #[inline(always)]
    pub(super) fn next(&self) -> u64 {
        self.base + self.entries.len() as u64
    }

    /// Requests that are not complete.
    #[inline(always)]
    pub(super) fn running(&self) -> usize {
        self.running
    }

    /// Request `number` of a queue, which arrived at `arrival` and has waited for `before`, is
    /// begun; its work ends with `end`.
    #[inline(always)]
    pub(super) fn begin(
        &mut self,
        (number, request): (u64, &Request),
        (queue, arrival, before): (usize, u64, Blame),
        end: Chain,
    ) {
        let at = (number - self.base) as usize;
        while self.entries.len() <= at {
            self.entries.push_back(None);
        }
        debug_assert!(self.entries[at].is_none(), "a request is begun once");
        let (request, completion, is_told) = (*request, None, false);
        self.entries[at] =
            Some(Entry { request, arrival, before, queue, end, completion, is_told });
        self.running += 1;
    }

    /// The next request was complete as soon as it was begun, as all others are.
    #[inline(always)]
    pub(super) fn pass(&mut self) {
        debug_assert!(self.entries.is_empty(), "nothing takes time");
        self.base += 1;
    }

    /// A request has ended: which, its queue, and what came of it.
    #[inline(always)]
    pub(super) fn end(&mut self, number: u64, ended: &Ended) -> (Request, usize, Completion) {
        let entry = self.entries[(number - self.base) as usize].as_mut();
        let Some(entry) = entry else { unreachable!("a request ends that was begun") };
        let mut blame = ended.blame;
        for (sum, ns) in blame.0.iter_mut().zip(entry.before.0) {
            *sum += ns;
        }
        let (arrival_ns, done_ns) = (entry.arrival, ended.at_ns);
        let completion = Completion { arrival_ns, done_ns, blame };
        entry.completion = Some(completion);
        self.running -= 1;
        self.untold += 1;
        (entry.request, entry.queue, completion)
    }

    /// Where all that runs has ended.
    pub(super) fn all(&self, clock: &mut impl Clock) -> Chain {
        let mut fork = Fork::new(Chain::START);
        for entry in self.entries.iter().flatten().filter(|entry| entry.completion.is_none()) {
            fork.join(entry.end, clock);
        }
        fork.end()
    }

    /// Appends what became of the first requests, as far as they are complete.
    #[inline(always)]
    pub(super) fn tell(&mut self, done: &mut Vec<Completion>) {
        while let Some(&Some(Entry { completion: Some(completion), .. })) = self.entries.front() {
            self.entries.pop_front();
            self.base += 1;
            self.untold -= 1;
            done.push(completion);
        }
    }

    /// Appends what became of those that are complete, with their numbers; nobody is told twice.
    pub(super) fn tell_ended(&mut self, ended: &mut Vec<(u64, Completion)>) {
        if self.untold == 0 {
            return;
        }
        for (number, entry) in (self.base..).zip(&mut self.entries) {
            let Some(entry) = entry.as_mut().filter(|entry| !entry.is_told) else { continue };
            if let Some(completion) = entry.completion {
                entry.is_told = true;
                ended.push((number, completion));
            }
        }
        self.untold = 0;
        while let Some(&Some(Entry { is_told: true, .. })) = self.entries.front() {
            self.entries.pop_front();
            self.base += 1;
        }
    }

    /// None is left; numbers begin again.
    pub(super) fn reset(&mut self) {
        assert!(self.entries.is_empty(), "counters are reset between workloads");
        self.base = 0;
    }
}

/// What a request went through that arrived at `arrival` and is begun at `now`.
#[inline(always)]
pub(super) fn queued(arrival: u64, now: u64) -> Blame {
    let mut blame = Blame::default();
    blame.add(Part::Queue, now - arrival);
    blame
}
