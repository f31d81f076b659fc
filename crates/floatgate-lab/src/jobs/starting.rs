//! Order in which jobs start: phases, and jobs that wait for others.

use super::job::Job;

/// Returns the jobs that can start, as the jobs they wait for have ended.
pub(super) fn startable(jobs: &[Job], has_ended: &[bool]) -> Vec<usize> {
    let left = || jobs.iter().zip(has_ended).filter(|(_, ended)| !**ended);
    let Some(phase) = left().map(|(job, _)| job.phase).min() else { return Vec::new() };
    let may_start = |job: &Job| {
        let waits = job.waits_for.iter().any(|&other| !has_ended[other]);
        job.phase == phase && !job.has_started() && !waits
    };
    jobs.iter().enumerate().filter(|(_, job)| may_start(job)).map(|(at, _)| at).collect()
}

/// Stops the other jobs of a group that ends with this job.
pub(super) fn end_group(jobs: &mut [Job], ended: usize) {
    if jobs[ended].ends_group {
        let group = jobs[ended].group;
        jobs.iter_mut().filter(|job| job.group == group).for_each(Job::stop);
    }
}
