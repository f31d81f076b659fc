//! Requests that were begun and whose completions were not reported yet.
//!
//! Requests begin and end in any order. Their completions are reported in the order in which the
//! host sent the requests, or in the order in which they end.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::nand::{Blame, Chain, Clock, Component, Ended, Fork};
use crate::request::{Completion, Request};

/// A host request in the drive.
#[derive(Clone, Copy, Debug)]
struct Entry {
    request: Request,
    arrival: u64,
    /// Blame for the time before the request was begun.
    before: Blame,
    /// Queue of the request.
    queue: usize,
    /// End of the request's work.
    end: Chain,
    progress: Progress,
}

/// Whether a request is complete, and the host knows.
#[derive(Clone, Copy, Debug)]
enum Progress {
    Running,
    /// Complete, and not reported. `previous` is the number of the request that ended before it, or
    /// [`NONE`].
    Ended {
        completion: Completion,
        previous: u64,
    },
    Reported,
}

/// Number of no request.
const NONE: u64 = u64::MAX;

/// Requests in the order in which the host sent them.
#[derive(Clone, Debug)]
pub(super) struct Outstanding {
    /// Number of the first entry.
    base: u64,
    entries: VecDeque<Option<Entry>>,
    /// Number of incomplete requests.
    running: usize,
    /// Number of the request that ended last and was not reported, or [`NONE`]. The requests that
    /// ended follow from it as a list, which only a host that waits for each request separately
    /// reads.
    last_ended: u64,
}

impl Default for Outstanding {
    fn default() -> Self {
        Self { base: 0, entries: VecDeque::new(), running: 0, last_ended: NONE }
    }
}

impl Outstanding {
    /// Returns the number that follows the last begun request.
    #[inline(always)]
    pub(super) fn next(&self) -> u64 {
        self.base + self.entries.len() as u64
    }

    /// Returns the number of incomplete requests.
    #[inline(always)]
    pub(super) fn running(&self) -> usize {
        self.running
    }

    /// Registers request `number` of a queue. It arrived at `arrival` and has waited for `before`;
    /// its work ends with `end`.
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
        let (request, progress) = (*request, Progress::Running);
        self.entries[at] = Some(Entry { request, arrival, before, queue, end, progress });
        self.running += 1;
    }

    /// Skips the next request: it completed as soon as it was begun, like all requests before it.
    #[inline(always)]
    pub(super) fn pass(&mut self) {
        debug_assert!(self.entries.is_empty(), "nothing takes time");
        self.base += 1;
    }

    /// Completes a request. Returns the request, its queue and its completion.
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
        entry.progress = Progress::Ended { completion, previous: self.last_ended };
        self.last_ended = number;
        self.running -= 1;
        (entry.request, entry.queue, completion)
    }

    /// Returns the end of all requests in progress.
    pub(super) fn all(&self, clock: &mut impl Clock) -> Chain {
        let mut fork = Fork::new(Chain::START);
        for entry in self.entries.iter().flatten() {
            if matches!(entry.progress, Progress::Running) {
                fork.join(entry.end, clock);
            }
        }
        fork.end()
    }

    /// Appends the completions of the first requests, up to the first incomplete one. It runs once
    /// for each batch of requests; inlined, it takes registers from the path of a page.
    #[inline(never)]
    pub(super) fn report(&mut self, done: &mut Vec<Completion>) {
        while let Some(Some(Entry { progress: Progress::Ended { completion, .. }, .. })) =
            self.entries.front()
        {
            done.push(*completion);
            self.entries.pop_front();
            self.base += 1;
        }
        self.last_ended = NONE;
    }

    /// Appends all completions that were not reported, with their request numbers, in the order in
    /// which the requests ended.
    #[inline(always)]
    pub(super) fn report_ended(&mut self, reported: &mut Vec<(u64, Completion)>) {
        let first = reported.len();
        let mut number = self.last_ended;
        while number != NONE {
            let entry = self.entries[(number - self.base) as usize].as_mut();
            let Some(Entry { progress, .. }) = entry else { unreachable!("it was begun") };
            let Progress::Ended { completion, previous } = *progress else {
                unreachable!("a request that ended is reported once")
            };
            *progress = Progress::Reported;
            reported.push((number, completion));
            number = previous;
        }
        self.last_ended = NONE;
        reported[first..].reverse();
        while let Some(Some(Entry { progress: Progress::Reported, .. })) = self.entries.front() {
            self.entries.pop_front();
            self.base += 1;
        }
    }

    /// Resets the request numbers. No request may be left.
    pub(super) fn reset(&mut self) {
        assert!(self.entries.is_empty(), "counters are reset between workloads");
        self.base = 0;
    }
}

/// Returns the blame of a request that arrived at `arrival` and begins at `now`.
#[inline(always)]
pub(super) fn queued(arrival: u64, now: u64) -> Blame {
    let mut blame = Blame::default();
    blame.add(Component::Queue, now - arrival);
    blame
}
