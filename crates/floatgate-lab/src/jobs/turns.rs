//! Jobs without a clock: all outstanding requests take turns.
//!
//! The model is a drive that completes requests in their order, each after the same time. A job
//! with 32 requests outstanding thus sends four times as many as a job with 8.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use floatgate_ftl::request::Request;

use super::JobSet;
use super::job::Job;
use super::requests::Next;
use super::starting::{end_group, startable};
use crate::config::ConfigError;
use crate::metrics::JobMetrics;
use crate::workload::{Broken, Summary, Workload};

/// Requests of all jobs in turn.
#[derive(Clone)]
pub struct Turns {
    set: JobSet,
    jobs: Vec<Job>,
    has_ended: Vec<bool>,
    /// Jobs of the outstanding requests, the oldest first.
    ring: VecDeque<u16>,
    /// By job: its entries in the ring.
    outstanding: Vec<u32>,
    left: u64,
}

impl Turns {
    /// Starts before the first request, for a drive with `handles` placement handles.
    ///
    /// # Errors
    /// A job that only a time ends, without a limit on the requests.
    pub(crate) fn new(set: &JobSet, handles: u16) -> Result<Self, ConfigError> {
        if let (None, Some(endless)) = (set.limit, set.spec.jobs.iter().find(|job| job.time_based))
        {
            return Err(endless.error(
                "time_based: only the time of a drive ends the job; expected a job without \
                 time_based, or a limit on the requests",
            ));
        }
        let jobs = set.jobs(handles);
        let depth = jobs.iter().map(Job::depth).sum();
        let mut turns = Self {
            set: set.clone(),
            has_ended: vec![false; jobs.len()],
            outstanding: vec![0; jobs.len()],
            ring: VecDeque::with_capacity(depth),
            left: set.limit(),
            jobs,
        };
        turns.start();
        Ok(turns)
    }

    /// Returns the same requests, and the counts of each job, which grow as requests are made.
    pub(crate) fn counted(self) -> (Counted, Arc<Mutex<Vec<JobMetrics>>>) {
        let by_job = Arc::new(Mutex::new(vec![JobMetrics::default(); self.jobs.len()]));
        (Counted { turns: self, by_job: Arc::clone(&by_job) }, by_job)
    }

    /// Appends up to `max` requests. `seen` gets each with its job.
    fn next_of_jobs(
        &mut self,
        out: &mut Vec<Request>,
        mut seen: impl FnMut(u16, &Request),
        max: usize,
    ) {
        let mut missing = max;
        while missing > 0 && self.left > 0 {
            let Some(job) = self.ring.pop_front() else { return };
            let requests = self.jobs[usize::from(job)].requests();
            let next = requests.choose(|kind| kind);
            if next == Next::End {
                self.leave(job.into());
                continue;
            }
            let request = requests.take(next, 0);
            seen(job, &request);
            out.push(request);
            self.ring.push_back(job);
            self.left -= 1;
            missing -= 1;
        }
    }

    /// Starts the jobs that wait for nothing: their requests take turns from the beginning.
    fn start(&mut self) {
        let started = startable(&self.jobs, &self.has_ended);
        for &job in &started {
            self.jobs[job].start(0);
            self.outstanding[job] = self.jobs[job].depth() as u32;
        }
        let most = started.iter().map(|&job| self.jobs[job].depth()).max().unwrap_or(0);
        for place in 0..most {
            let with_place = started.iter().filter(|&&job| self.jobs[job].depth() > place);
            self.ring.extend(with_place.map(|&job| job as u16));
        }
    }

    /// Takes one of a job's requests from the ring, because the job has no further request. Without
    /// any, the job has ended.
    fn leave(&mut self, job: usize) {
        self.outstanding[job] -= 1;
        if self.outstanding[job] > 0 {
            return;
        }
        self.has_ended[job] = true;
        if self.jobs[job].ends_group {
            end_group(&mut self.jobs, job);
            self.drop_stopped();
        }
        self.start();
    }

    /// Drops the requests of jobs that end with their group.
    fn drop_stopped(&mut self) {
        let jobs = &self.jobs;
        self.ring.retain(|&job| !jobs[usize::from(job)].has_stopped());
        for (job, ended) in self.jobs.iter().zip(&mut self.has_ended) {
            *ended |= job.has_stopped();
        }
    }
}

impl Workload for Turns {
    fn next_batch(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), Broken> {
        self.next_of_jobs(out, |_, _| (), max);
        Ok(())
    }

    fn fork(&self) -> Box<dyn Workload + Send> {
        Box::new(self.clone())
    }

    fn summary(&self) -> Summary {
        self.set.summary()
    }

    fn has_streams(&self) -> bool {
        self.set.has_handles()
    }
}

/// Turns that count the requests of each job.
pub(crate) struct Counted {
    turns: Turns,
    by_job: Arc<Mutex<Vec<JobMetrics>>>,
}

impl Workload for Counted {
    fn next_batch(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), Broken> {
        let mut by_job = self.by_job.lock().unwrap_or_else(PoisonError::into_inner);
        let count = |job: u16, request: &Request| by_job[usize::from(job)].count(request);
        self.turns.next_of_jobs(out, count, max);
        Ok(())
    }

    fn fork(&self) -> Box<dyn Workload + Send> {
        self.turns.fork()
    }

    fn summary(&self) -> Summary {
        self.turns.summary()
    }

    fn has_streams(&self) -> bool {
        self.turns.has_streams()
    }
}
