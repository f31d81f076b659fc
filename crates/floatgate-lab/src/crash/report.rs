//! Results of an exploration.

use floatgate_ftl::nand::Timing;
use floatgate_ftl::recovery::Mount;
use serde::Serialize;

use crate::drive::Plan;

/// Page with a version that is not possible after the power failure.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Loss {
    /// The moment at which the power failed.
    pub point: u64,
    /// The moment at which it failed again, in the recovery.
    pub second: Option<u64>,
    /// The logical page.
    pub page: u32,
    /// The version found there.
    pub found: Option<u64>,
    /// The possible versions.
    pub possible: Vec<Option<u64>>,
}

/// Extent and findings of an exploration.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct CrashReport {
    /// Power failures, including those in recoveries.
    pub points: u64,
    /// Pages with an impossible version, over all points.
    pub lost: u64,
    /// Points at which a program or an erase was cut short.
    pub torn_seen: u64,
    /// Recovered drives.
    pub recoveries: u64,
    /// Power failures in recoveries, out of `points`.
    pub second_cuts: u64,
    /// Recovered drives that served further requests.
    pub went_on: u64,
    /// Requests of the workload.
    pub requests: u64,
    /// Moments in the workload.
    pub moments: u64,
    /// Moments in the recoveries from the explored moments.
    pub recovery_moments: u64,
    /// Every n-th moment of the workload was explored; none for a single moment.
    pub every: Option<u64>,
    /// Mean number of out-of-band areas and journal pages read by a recovery.
    pub reads_mean: f64,
    /// Maximum number read by a recovery.
    pub reads_max: u64,
    /// Mean number of pages programmed by a recovery.
    pub programs_mean: f64,
    /// Mean microseconds of a recovery on the simulated drive, with its operations spread evenly
    /// over the dies.
    pub mount_us_mean: f64,
    /// The first lost page.
    pub first_loss: Option<Loss>,
}

impl CrashReport {
    /// Merges another report into this one. `first_loss` is this report's, or else the other's.
    pub fn add(&mut self, other: &Self) {
        let all = (self.recoveries + other.recoveries).max(1) as f64;
        let mean =
            |a: f64, b: f64| (a * self.recoveries as f64 + b * other.recoveries as f64) / all;
        self.reads_mean = mean(self.reads_mean, other.reads_mean);
        self.programs_mean = mean(self.programs_mean, other.programs_mean);
        self.mount_us_mean = mean(self.mount_us_mean, other.mount_us_mean);
        self.reads_max = self.reads_max.max(other.reads_max);
        self.points += other.points;
        self.lost += other.lost;
        self.torn_seen += other.torn_seen;
        self.recoveries += other.recoveries;
        self.second_cuts += other.second_cuts;
        self.went_on += other.went_on;
        self.requests += other.requests;
        self.moments += other.moments;
        self.recovery_moments += other.recovery_moments;
        self.every = self.every.or(other.every);
        if self.first_loss.is_none() {
            self.first_loss.clone_from(&other.first_loss);
        }
    }

    pub(super) fn count_mount(&mut self, mount: Mount, plan: &Plan) {
        self.recoveries += 1;
        let reads = mount.journal_reads + mount.tag_reads;
        let share = 1.0 / self.recoveries as f64;
        self.reads_mean += (reads as f64 - self.reads_mean) * share;
        self.reads_max = self.reads_max.max(reads);
        let programs = (mount.moved + mount.map_programs) as f64;
        self.programs_mean += (programs - self.programs_mean) * share;
        self.mount_us_mean += (mount_us(mount, plan) - self.mount_us_mean) * share;
    }
}

/// Returns the microseconds of a mount with the times of its plan, with the operations spread
/// evenly over the dies.
pub fn mount_us(mount: Mount, plan: &Plan) -> f64 {
    let Timing { read_ns, program_ns, erase_ns, transfer_ns, command_ns } = plan.timing;
    let shape = plan.medium.shape();
    let dies = f64::from(shape.channels) * f64::from(shape.dies);
    let programs = mount.moved + mount.map_programs;
    let of = |count: u64, ns: u64| count as f64 * (ns + command_ns) as f64;
    let reads = of(mount.journal_reads + mount.tag_reads + mount.moved, read_ns + transfer_ns);
    let writes = of(programs, program_ns + transfer_ns) + of(mount.erased, erase_ns);
    (reads + writes) / dies / 1000.0
}
