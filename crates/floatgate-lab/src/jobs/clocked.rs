//! Jobs on a drive with a clock.
//!
//! The loop sends all requests that are due, and then lets simulated time pass until the next
//! request is due or a request is complete. Requests wait for the drive in the order in which the
//! jobs send them. A drive that overtakes, or begins commands one by one, sees all waiting
//! requests.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use floatgate_ftl::device::Paced;
use floatgate_ftl::request::{Completion, Request};

use super::JobSet;
use super::job::{Job, Step};
use super::starting::{end_group, startable};
use crate::metrics::{JobMetrics, Metrics};

/// Requests after which progress is reported.
const PROGRESS: u64 = 1024;

/// Intervals of the timeline.
const INTERVALS: u64 = 256;

/// A request that the drive has not completed, or that was not recorded yet.
#[derive(Clone, Copy)]
struct Entry {
    request: Request,
    job: u16,
    completion: Option<Completion>,
}

/// Jobs that are playing.
pub(crate) struct Playing {
    jobs: Vec<Job>,
    has_ended: Vec<bool>,
    metrics: Metrics,
    by_job: Vec<JobMetrics>,
    /// By job: whether it has an entry in `ready` or `timers`.
    is_queued: Vec<bool>,
    /// Jobs that may send, with the time of their next request, in ascending order.
    ready: VecDeque<(u64, u16)>,
    /// Jobs that may send later.
    timers: BinaryHeap<Reverse<(u64, u16)>>,
    /// Requests that were sent and that the drive was not asked to begin: those from `waiting_from`
    /// on.
    waiting: Vec<Request>,
    waiting_from: usize,
    /// Requests in the order in which they were sent, from number `base` on.
    entries: VecDeque<Entry>,
    base: u64,
    outstanding: u64,
    ended: Vec<(u64, Completion)>,
    /// Time of the last event.
    now: u64,
    sent: u64,
    limit: u64,
    windows: Windows,
}

/// Ends of the intervals of the timeline: by requests, or by time if their number is unknown.
struct Windows {
    requests: Option<u64>,
    every_ns: u64,
    next_ns: u64,
    /// Requests begun by the end of the last interval.
    last: u64,
}

impl Playing {
    /// Prepares the jobs for a drive with `handles` placement handles.
    pub(crate) fn new(set: &JobSet, handles: u16, metrics: Metrics) -> Self {
        let jobs = set.jobs(handles);
        let depth: usize = jobs.iter().map(Job::depth).sum();
        let total = set.requests();
        let every_ns = (set.longest_ns() / INTERVALS).max(1);
        Self {
            has_ended: vec![false; jobs.len()],
            by_job: vec![JobMetrics::default(); jobs.len()],
            is_queued: vec![false; jobs.len()],
            ready: VecDeque::with_capacity(jobs.len()),
            timers: BinaryHeap::with_capacity(jobs.len()),
            waiting: Vec::with_capacity(2 * depth),
            waiting_from: 0,
            entries: VecDeque::with_capacity(2 * depth),
            base: 0,
            outstanding: 0,
            ended: Vec::with_capacity(depth),
            now: 0,
            sent: 0,
            limit: set.limit(),
            windows: Windows {
                requests: (total > 0).then(|| total.div_ceil(INTERVALS).max(1)),
                every_ns,
                next_ns: every_ns,
                last: 0,
            },
            jobs,
            metrics,
        }
    }

    /// Plays all jobs to their end. Returns the measurements of the run and of each job.
    ///
    /// `advance` gets the number of requests that were sent since its last call. An error of it
    /// ends the run.
    pub(crate) fn play<E>(
        mut self,
        device: &mut dyn Paced,
        advance: impl Fn(usize) -> Result<(), E>,
    ) -> Result<(Metrics, Vec<JobMetrics>), E> {
        self.start();
        let mut reported = 0;
        loop {
            self.now = device.time().0;
            self.collect(device);
            self.send_due(self.now);
            if self.is_waiting() {
                self.begin(device);
            } else if self.outstanding > 0 {
                let until = self.next_due().unwrap_or(u64::MAX);
                device.pass_to_end(until, &mut self.ended);
                self.complete();
            } else if let Some(due) = self.next_due() {
                self.send_due(due);
            } else {
                break;
            }
            if self.sent - reported >= PROGRESS {
                advance((self.sent - reported) as usize)?;
                reported = self.sent;
            }
        }
        advance((self.sent - reported) as usize)?;
        device.run_ahead(&[], 0, &mut Vec::new());
        self.windows.end(&mut self.metrics, self.sent, device);
        Ok((self.metrics, self.by_job))
    }

    /// Starts the jobs that wait for no other job.
    fn start(&mut self) {
        for job in startable(&self.jobs, &self.has_ended) {
            self.jobs[job].start(self.now);
            self.step(job);
        }
    }

    /// Queues a job that may send, and ends a job that has nothing left.
    #[inline]
    fn step(&mut self, job: usize) {
        if self.is_queued[job] || self.has_ended[job] {
            return;
        }
        match self.jobs[job].step() {
            Step::Wait => (),
            Step::Send(at) => {
                self.is_queued[job] = true;
                // Most jobs send when a request completes, which is the latest event so far.
                let follows = self.ready.back().is_none_or(|&(last, _)| last <= at);
                if at <= self.now && follows {
                    self.ready.push_back((at, job as u16));
                } else {
                    self.timers.push(Reverse((at, job as u16)));
                }
            }
            Step::End => self.end(job),
        }
    }

    /// Ends a job, and starts the jobs that waited for it.
    fn end(&mut self, job: usize) {
        self.has_ended[job] = true;
        end_group(&mut self.jobs, job);
        for other in 0..self.jobs.len() {
            if self.jobs[other].has_stopped() {
                self.step(other);
            }
        }
        self.start();
    }

    /// Returns the time of the next request that a job may send.
    fn next_due(&self) -> Option<u64> {
        let ready = self.ready.front().map(|&(at, _)| at);
        let timer = self.timers.peek().map(|&Reverse((at, _))| at);
        ready.into_iter().chain(timer).min()
    }

    /// Lets jobs send their requests that are due by `now`, the earliest first.
    #[inline]
    fn send_due(&mut self, now: u64) {
        loop {
            let ready = self.ready.front().map_or(u64::MAX, |&(at, _)| at);
            let timer = self.timers.peek().map_or(u64::MAX, |&Reverse((at, _))| at);
            if ready.min(timer) > now {
                return;
            }
            let first = if timer < ready {
                self.timers.pop().map(|Reverse(first)| first)
            } else {
                self.ready.pop_front()
            };
            let Some((at, job)) = first else { return };
            self.is_queued[usize::from(job)] = false;
            self.send(usize::from(job), at);
        }
    }

    #[inline]
    fn send(&mut self, job: usize, at: u64) {
        // The job may have stopped with its group after it was queued.
        if self.sent < self.limit && !self.jobs[job].has_stopped() {
            let request = self.jobs[job].send(at);
            self.waiting.push(request);
            self.entries.push_back(Entry { request, job: job as u16, completion: None });
            self.outstanding += 1;
            self.sent += 1;
        }
        if self.sent == self.limit {
            self.jobs[job].stop();
        }
        self.step(job);
    }

    fn is_waiting(&self) -> bool {
        self.waiting_from < self.waiting.len()
    }

    /// Asks the drive to begin waiting requests: all, or the first one if the drive wants to see
    /// those behind it.
    #[inline]
    fn begin(&mut self, device: &mut dyn Paced) {
        let waiting = &self.waiting[self.waiting_from..];
        let count = if device.sees_ahead() > 0 { 1 } else { waiting.len() };
        let begun = self.sent - waiting.len() as u64;
        let count = self.windows.most(begun, count);
        device.begin(waiting, count);
        self.waiting_from += count;
        // The begun requests are dropped when they are most of the list, so that each request is
        // moved once at most.
        if self.waiting_from == self.waiting.len() {
            self.waiting.clear();
            self.waiting_from = 0;
        } else if self.waiting_from * 2 > self.waiting.capacity() {
            self.waiting.drain(..self.waiting_from);
            self.waiting_from = 0;
        }
        self.windows.pass(&mut self.metrics, begun + count as u64, device);
    }

    /// Takes the completions that the drive has by now.
    #[inline]
    fn collect(&mut self, device: &mut dyn Paced) {
        device.pass_to_end(self.now, &mut self.ended);
        self.complete();
    }

    /// Gives completions to their jobs, and records requests in the order in which they were sent.
    #[inline]
    fn complete(&mut self) {
        for at in 0..self.ended.len() {
            let (number, completion) = self.ended[at];
            let entry = &mut self.entries[(number - self.base) as usize];
            entry.completion = Some(completion);
            let (job, request) = (usize::from(entry.job), entry.request);
            self.outstanding -= 1;
            self.now = self.now.max(completion.done_ns);
            if completion.arrival_ns >= self.jobs[job].measured_from() {
                self.by_job[job].record(&request, &completion);
            }
            self.jobs[job].complete(completion.done_ns);
            self.step(job);
        }
        self.ended.clear();
        while let Some(&Entry { request, completion: Some(completion), .. }) = self.entries.front()
        {
            self.entries.pop_front();
            self.base += 1;
            self.metrics.record(&request, &completion);
        }
    }
}

impl Windows {
    /// Returns how many of `count` requests may begin before an interval ends.
    #[inline]
    fn most(&self, begun: u64, count: usize) -> usize {
        match self.requests {
            Some(interval) => count.min((interval - begun % interval) as usize),
            None => count,
        }
    }

    /// Ends the interval if it is over after `begun` requests.
    #[inline]
    fn pass(&mut self, metrics: &mut Metrics, begun: u64, device: &mut dyn Paced) {
        let is_over = match self.requests {
            Some(interval) => begun.is_multiple_of(interval),
            None => device.time().0 >= self.next_ns,
        };
        if is_over {
            metrics.end_interval_at(begun, device.counters());
            self.last = begun;
            self.next_ns = (device.time().0 / self.every_ns + 1).saturating_mul(self.every_ns);
        }
    }

    /// Ends the last interval, unless it has just ended.
    fn end(&self, metrics: &mut Metrics, sent: u64, device: &dyn Paced) {
        if sent > self.last {
            metrics.end_interval_at(sent, device.counters());
        }
    }
}
