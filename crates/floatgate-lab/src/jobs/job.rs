//! One job on the clock: which requests it has outstanding, and when it sends the next.

use std::collections::VecDeque;

use floatgate_ftl::request::Request;
use floatgate_ftl::rng::Rng;

use super::pace::Pace;
use super::requests::{Next, Requests};
use super::spec::JobSpec;

/// Next action of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// It sends a request at this time.
    Send(u64),
    /// It waits for one of its requests.
    Wait,
    /// It has ended: it sends nothing more, and has nothing outstanding.
    End,
}

/// Life of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    NotStarted,
    Running,
    /// It sends nothing more.
    Stopped,
}

/// A closed loop of requests.
#[derive(Clone)]
pub(super) struct Job {
    pub phase: u32,
    pub group: u32,
    pub waits_for: Vec<usize>,
    pub ends_group: bool,
    requests: Requests,
    pace: Pace,
    kinds: usize,
    depth: usize,
    refill_at: usize,
    delay_ns: u64,
    ramp_ns: u64,
    runtime_ns: Option<u64>,
    state: State,
    start_ns: u64,
    /// Since when each free place of the job's queue has been free, the oldest first.
    free: VecDeque<u64>,
    outstanding: usize,
    /// Last completion, or the start.
    last_ns: u64,
    /// Whether the queue was full, and is not down to `refill_at`.
    is_draining: bool,
    /// Earliest time of the next request, after the queue was drained.
    refilled_ns: u64,
    /// Next request of the job, once it is chosen.
    next: Option<Next>,
}

impl Job {
    pub(super) fn new(spec: &JobSpec, seed: u64, handles: u16) -> Self {
        let (low, high) = spec.start_delay_ns;
        let drawn = || Rng::new(seed ^ 0x4445_4c41).below(high - low + 1);
        let delay_ns = if low == high { low } else { low + drawn() };
        Self {
            phase: spec.phase,
            group: spec.group,
            waits_for: spec.waits_for.clone(),
            ends_group: spec.ends_group,
            requests: Requests::new(spec, seed, handles),
            pace: Pace::new(spec, seed),
            kinds: spec.directions.len(),
            depth: spec.depth as usize,
            refill_at: spec.refill_at as usize,
            delay_ns,
            ramp_ns: spec.ramp_ns,
            runtime_ns: spec.runtime_ns,
            state: State::NotStarted,
            start_ns: 0,
            free: VecDeque::with_capacity(spec.depth as usize),
            outstanding: 0,
            last_ns: 0,
            is_draining: false,
            refilled_ns: 0,
            next: None,
        }
    }

    /// Returns the generator of the requests.
    pub(super) fn requests(&mut self) -> &mut Requests {
        &mut self.requests
    }

    /// Returns the number of requests that the job keeps outstanding.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// Starts the job when the jobs before it have ended, at `now`. Its delay counts from the start
    /// of the run.
    pub(super) fn start(&mut self, now: u64) {
        self.start_ns = now.max(self.delay_ns);
        (self.state, self.last_ns) = (State::Running, self.start_ns);
        self.free.extend(std::iter::repeat_n(self.start_ns, self.depth));
        self.pace.start(self.start_ns);
    }

    /// Whether the job has started.
    pub(super) fn has_started(&self) -> bool {
        self.state != State::NotStarted
    }

    /// Lets the job send nothing more.
    pub(super) fn stop(&mut self) {
        self.state = State::Stopped;
    }

    /// Whether the job sends nothing more.
    pub(super) fn has_stopped(&self) -> bool {
        self.state == State::Stopped
    }

    /// Returns the time from which the figures of the job count.
    pub(super) fn measured_from(&self) -> u64 {
        self.start_ns + self.ramp_ns
    }

    /// Returns what the job does next.
    #[inline]
    pub(super) fn step(&mut self) -> Step {
        let idle = if self.outstanding == 0 { Step::End } else { Step::Wait };
        if self.state == State::Stopped {
            return idle;
        }
        let Some(&since) = self.free.front() else { return Step::Wait };
        if self.is_draining || !self.may_send_after_pause() {
            return Step::Wait;
        }
        let mut at = since.max(self.refilled_ns).max(self.pace.pause_end());
        match self.choose(at) {
            Next::End => {
                self.stop();
                return idle;
            }
            Next::Data(kind) => at = at.max(self.pace.due(kind)),
            Next::Flush => (),
        }
        if self.runtime_ns.is_some_and(|runtime| at >= self.start_ns + self.ramp_ns + runtime) {
            self.stop();
            return idle;
        }
        Step::Send(at)
    }

    /// Begins a pause that is due, once nothing is outstanding. Returns whether no pause is due.
    #[inline]
    fn may_send_after_pause(&mut self) -> bool {
        if !self.pace.wants_pause() {
            return true;
        }
        if self.outstanding == 0 {
            self.pace.pause(self.last_ns);
        }
        self.outstanding == 0
    }

    #[inline]
    fn choose(&mut self, now: u64) -> Next {
        let (pace, kinds) = (&self.pace, self.kinds);
        let requests = &mut self.requests;
        *self.next.get_or_insert_with(|| requests.choose(|kind| pace.pick(kind, kinds, now)))
    }

    /// Sends the request of the last [`Job::step`].
    #[inline]
    pub(super) fn send(&mut self, at_ns: u64) -> Request {
        let next = self.next.take().unwrap_or(Next::Flush);
        let request = self.requests.take(next, at_ns);
        if let Next::Data(kind) = next {
            self.pace.sent(kind, request.length);
        }
        self.free.pop_front();
        self.outstanding += 1;
        self.is_draining = self.free.is_empty() && self.refill_at + 1 < self.depth;
        request
    }

    /// Notes that a request is complete.
    #[inline]
    pub(super) fn complete(&mut self, done_ns: u64) {
        self.free.push_back(done_ns);
        self.outstanding -= 1;
        self.last_ns = self.last_ns.max(done_ns);
        if self.is_draining && self.outstanding <= self.refill_at {
            (self.is_draining, self.refilled_ns) = (false, done_ns);
        }
    }
}
