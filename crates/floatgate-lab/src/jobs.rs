//! Jobs: several closed loops of requests on one drive, as fio's job files describe them.
//!
//! On a drive with a clock, each job keeps a number of requests outstanding, and sends the next one
//! when the drive completes one ([`clocked`]). On a drive without a clock, all outstanding requests
//! take turns ([`turns`]): the requests of a job are in proportion to its depth.

pub(crate) mod clocked;
mod job;
mod offsets;
mod once;
mod pace;
mod requests;
mod sizes;
mod skew;
mod spec;
mod starting;
#[cfg(test)]
mod tests;
pub(crate) mod turns;

use std::sync::Arc;

use crate::config::{Config, ConfigError, is_external};
use crate::workload::{Digest, Summary};
use job::Job;
use spec::{JobSpec, SetSpec};
pub use turns::Turns;

/// Description of jobs that can be played any number of times.
#[derive(Clone, Debug)]
pub struct JobSet {
    name: String,
    seed: u64,
    limit: Option<u64>,
    text: Arc<str>,
    spec: Arc<SetSpec>,
}

impl JobSet {
    /// Parses a description. `limit` is the most requests of all jobs together.
    ///
    /// # Errors
    /// A description of another form.
    pub fn new(name: &str, text: &str, seed: u64, limit: Option<u64>) -> Result<Self, ConfigError> {
        let spec = Arc::new(SetSpec::parse(text)?);
        Ok(Self { name: name.to_owned(), seed, limit, text: text.into(), spec })
    }

    /// Returns the facts that are available in advance. The number of requests is 0 if only a time
    /// ends the jobs.
    pub fn summary(&self) -> Summary {
        let mut digest = Digest::new();
        digest.text(&self.text);
        for word in [self.seed, self.limit.unwrap_or(0)] {
            digest.word(word);
        }
        Summary {
            name: self.name.clone(),
            span_bytes: self.span_bytes(),
            requests: self.requests(),
            digest: digest.value(),
            closed: true,
        }
    }

    fn span_bytes(&self) -> u64 {
        self.spec.jobs.iter().map(|job| job.offset + job.size).max().unwrap_or(0)
    }

    /// Returns the requests of all jobs; 0 if it is unknown.
    fn requests(&self) -> u64 {
        let all: Option<u64> = self.spec.jobs.iter().map(JobSpec::requests).sum();
        match (all, self.limit) {
            (Some(all), limit) => all.min(limit.unwrap_or(u64::MAX)),
            (None, limit) => limit.unwrap_or(0),
        }
    }

    /// Returns the requests that all jobs of a phase keep outstanding, of the phase with most.
    pub(crate) fn depth(&self) -> u64 {
        let depth = |phase: &[JobSpec]| phase.iter().map(|job| u64::from(job.depth)).sum();
        self.phases().map(depth).max().unwrap_or(0)
    }

    /// Returns the jobs of each phase.
    fn phases(&self) -> impl Iterator<Item = &[JobSpec]> {
        self.spec.jobs.chunk_by(|a, b| a.phase == b.phase)
    }

    /// Whether the writes of a job have placement handles.
    pub(crate) fn names_handles(&self, job: usize) -> bool {
        self.spec.jobs[job].handles.is_some()
    }

    /// Returns the name of a job, and its number among the clones of the name.
    pub(crate) fn name_of(&self, job: usize) -> (&str, u32) {
        let spec = &self.spec.jobs[job];
        (&spec.name, spec.clone)
    }

    /// Whether writes have placement handles.
    pub fn has_handles(&self) -> bool {
        self.spec.jobs.iter().any(|job| job.handles.is_some())
    }

    /// Returns the requests in the order in which a drive without a clock gets them.
    ///
    /// # Errors
    /// A job that only a time ends, without a limit.
    pub fn in_turns(&self) -> Result<Turns, ConfigError> {
        Turns::new(self, 1)
    }

    /// Returns the jobs, before their first request. The first job has the seed of the set, so that
    /// it sends the requests of a generator with the same seed.
    fn jobs(&self, handles: u16) -> Vec<Job> {
        let seed = |at: usize, own: Option<u64>| {
            let of_job = (at as u64).wrapping_mul(0xD1B5_4A32_D192_ED03);
            self.seed ^ of_job ^ own.unwrap_or(0).rotate_left(32)
        };
        let jobs = self.spec.jobs.iter().enumerate();
        jobs.map(|(at, spec)| Job::new(spec, seed(at, spec.seed), handles)).collect()
    }

    /// Returns the number of placement handles that the drive of a config has for the jobs.
    ///
    /// # Errors
    /// Jobs with handles on a drive whose placement ignores them.
    pub(crate) fn handles_of(&self, config: &Config) -> Result<u16, ConfigError> {
        let scheme = &config.placement.scheme;
        if let Some(job) = self.spec.jobs.iter().find(|job| job.handles.is_some())
            && let Some(handles) = &job.handles
            && !(scheme == "host" || is_external(scheme))
        {
            return Err(job.error(&format!(
                "{}: the drive has no placement handles (placement.scheme = \"{scheme}\"); \
                 expected placement.scheme = \"host\" with placement.handles, or jobs without \
                 handles",
                handles.option
            )));
        }
        Ok(u16::try_from(config.placement.handles).unwrap_or(u16::MAX))
    }

    /// Returns the requests in their order, if the order does not depend on the drive: if there is
    /// one job, which only its bytes end.
    pub(crate) fn fixed_order(&self, handles: u16) -> Option<Turns> {
        let is_fixed = matches!(&self.spec.jobs[..], [only] if only.timed_option().is_none());
        is_fixed.then(|| Turns::new(self, handles).ok()).flatten()
    }

    /// Checks that a drive without a clock can play the jobs.
    ///
    /// # Errors
    /// An option that only a clock gives a meaning.
    pub(crate) fn check_untimed(&self) -> Result<(), ConfigError> {
        for job in self.spec.jobs.iter() {
            if let Some(option) = job.timed_option() {
                return Err(job.error(&format!(
                    "{option}: the drive has no clock (timing = \"none\"); expected a drive with \
                     timing, or a job without this option"
                )));
            }
        }
        Ok(())
    }

    /// Returns how long the jobs send at most, as far as their own options bound it: the sum over
    /// the phases of the longest job.
    fn longest_ns(&self) -> u64 {
        let longest = |phase: &[JobSpec]| phase.iter().map(JobSpec::longest_ns).max().unwrap_or(0);
        self.phases().map(longest).fold(0, u64::saturating_add)
    }

    /// Most requests of all jobs together.
    fn limit(&self) -> u64 {
        self.limit.unwrap_or(u64::MAX)
    }
}
