//! ASA-FTL: sorts into hot, warm and cold by the age of the overwritten version (Xie and Chen, "An
//! Adaptive Separation-Aware FTL for Improving the Efficiency of Garbage Collection in SSDs",
//! CCGrid 2014; journal version in Parallel Computing 61, 2017).
//!
//! The age of a page is the time since its last update. Every `update_period` host pages the
//! placement requests a sample of pages. It finds three clusters of their ages (k-means in one
//! dimension), and takes the middles between neighbouring centroids as criteria. A written page is
//! hot if its age was up to the lower criterion, warm if it was up to the upper one, and cold
//! otherwise.
//!
//! Decided here, where the paper is silent:
//!
//! - Time is counted in pages that the host has written (option: nanoseconds).
//! - A page's first write is cold. So is every write before the first criteria.
//! - A sample with fewer than three distinct ages does not change the criteria.
//! - Valid pages stay in their partition when cleaning moves them. With `relabel_on_gc` they go to
//!   the partition of their age, if that is colder.
//! - With `log1p` the logarithms of ages plus one are clustered, in steps of 2^-16.
//!
//! The cost is one access to a table per page written, and every period a sort of the sample and up
//! to 100 walks over three clusters. The simulator keeps the last update of every page, 8 bytes
//! each. The drive keeps 4 bytes in the entries of its map, which the mapping `asa` charges. With
//! another mapping (`ages_in_map` is false) 4 bytes per logical page are counted here. The samples
//! and the two criteria are always counted, 4 bytes each.

use alloc::vec;
use alloc::vec::Vec;

use super::kmeans;
use super::{
    HostWrite, Placement, PlacementConfig, PlacementDemands, PlacementEvent, Relocation,
    SampleSource, Samples,
};
use crate::addr::Lpn;
use crate::policy::Policy;

crate::choice! {
    /// Unit in which the ages of pages are measured.
    pub enum AsaClock {
        /// Pages that the host has written.
        Writes = "writes",
        /// Nanoseconds of the device's clock.
        Time = "time",
    }
}

crate::parameters! {
    /// Parameters of ASA-FTL.
    pub struct AsaConfig {
        /// The unit of page ages.
        clock: AsaClock = AsaClock::Writes;
        /// Host page writes between two updates of the criteria.
        update_period: u32 = 10_000, from 1 to 1_000_000_000;
        /// Sampled ages from which the criteria are computed.
        samples: u32 = 1000, from 3 to 1_000_000;
        /// Which pages are sampled for the criteria.
        sample_source: SampleSource = SampleSource::Cached;
        /// Whether ages are clustered by log(1 + age) instead of age.
        log1p: bool = false;
        /// Whether cleaning demotes pages to the partition of their age.
        relabel_on_gc: bool = false;
    }
}

const COLD: u8 = 0;
const WARM: u8 = 1;
const HOT: u8 = 2;

/// No update yet.
const NEVER: u64 = u64::MAX;

/// Highest age that counts as hot, and highest age that counts as warm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Criteria {
    hot: u64,
    warm: u64,
}

crate::state!(blank Criteria { hot, warm });

/// Three partitions by age.
#[derive(Clone, Debug)]
pub struct Asa {
    config: AsaConfig,
    ages_in_map: bool,
    /// Time of the last update, by page.
    updated: Vec<u64>,
    /// Criteria. None: everything is cold.
    criteria: Option<Criteria>,
    /// Host pages since the criteria were last updated.
    since: u64,
}

crate::state!(Asa { updated, criteria, since } fixed { config, ages_in_map });

impl Asa {
    /// Starts with no page written and no criteria.
    pub fn new(config: &PlacementConfig) -> Self {
        let pages = config.geometry.logical_pages() as usize;
        Self {
            config: config.asa,
            ages_in_map: config.ages_in_map,
            updated: vec![NEVER; pages],
            criteria: None,
            since: 0,
        }
    }

    fn time(&self, clock: u64, now_ns: u64) -> u64 {
        match self.config.clock {
            AsaClock::Writes => clock,
            AsaClock::Time => now_ns,
        }
    }

    /// Returns the time since the last update of a page, if there was one. The time is 0 if `now`
    /// is before the update: different chains of flash operations may call slightly out of order.
    fn age(&self, lpn: Lpn, now: u64) -> Option<u64> {
        let updated = self.updated[lpn.index()];
        (updated != NEVER).then(|| now.saturating_sub(updated))
    }

    fn label(&self, age: Option<u64>) -> u8 {
        match (self.criteria, age) {
            (Some(criteria), Some(age)) if age <= criteria.hot => HOT,
            (Some(criteria), Some(age)) if age <= criteria.warm => WARM,
            _ => COLD,
        }
    }

    fn judge(&self, relocation: Relocation) -> u8 {
        self.label(self.age(relocation.lpn, self.time(relocation.clock, relocation.now_ns)))
    }

    /// Computes criteria from these ages, if at least three ages are distinct.
    fn learn(&mut self, mut ages: Vec<u64>) {
        if self.config.log1p {
            ages.iter_mut().for_each(|age| *age = log1p(*age));
        }
        let Some(centroids) = kmeans::centroids(&mut ages) else { return };
        let [hot, warm] = kmeans::thresholds(&centroids).map(kmeans::Fraction::floor);
        let highest = |log| highest_age(|age| log1p(age) <= log);
        self.criteria = Some(match self.config.log1p {
            true => Criteria { hot: highest(hot), warm: highest(warm) },
            false => Criteria { hot, warm },
        });
    }
}

impl Placement for Asa {
    fn demands(config: &PlacementConfig) -> PlacementDemands {
        let reads_time = config.asa.clock == AsaClock::Time;
        PlacementDemands { sorts_moved: true, reads_time, ..PlacementDemands::streams(3) }
    }

    #[inline]
    fn stream(&mut self, write: HostWrite) -> u8 {
        let now = self.time(write.clock, write.now_ns);
        let label = self.label(self.age(write.lpn, now));
        self.updated[write.lpn.index()] = now;
        self.since += 1;
        label
    }

    fn moved(&mut self, relocation: Relocation) -> u8 {
        match self.config.relabel_on_gc {
            true => self.judge(relocation).min(relocation.stream),
            false => relocation.stream,
        }
    }

    fn classify(&self, relocation: Relocation) -> u8 {
        self.judge(relocation)
    }

    #[inline(always)]
    fn observe(&mut self, event: PlacementEvent) {
        if let PlacementEvent::Trimmed(lpn) = event {
            self.updated[lpn.index()] = NEVER;
        }
    }

    #[inline(always)]
    fn wants_samples(&mut self) -> Option<Samples> {
        if self.since < u64::from(self.config.update_period) {
            return None;
        }
        self.since = 0;
        Some(Samples { count: self.config.samples, source: self.config.sample_source })
    }

    fn sampled(&mut self, pages: &[Lpn], clock: u64, now_ns: u64) {
        let now = self.time(clock, now_ns);
        let ages = pages.iter().filter_map(|&lpn| self.age(lpn, now)).collect();
        self.learn(ages);
    }
}

impl Policy for Asa {
    fn memory_bytes(&self) -> u64 {
        let ages = if self.ages_in_map { 0 } else { self.updated.len() as u64 };
        4 * (u64::from(self.config.samples) + 2 + ages)
    }

    fn check(&self) {
        let ordered = self.criteria.is_none_or(|criteria| criteria.hot <= criteria.warm);
        assert!(ordered, "what is hot is warm, too: {:?}", self.criteria);
    }
}

/// Returns log2(number + 1), in steps of 2^-16. Computes it by squaring, so that every machine gets
/// the same bits.
fn log1p(number: u64) -> u64 {
    let number = number.saturating_add(1);
    let whole = number.ilog2();
    // Between 1 and 2, in steps of 2^-63.
    let mut rest = number << (63 - whole);
    let mut log = u64::from(whole);
    for _ in 0..16 {
        let square = u128::from(rest) * u128::from(rest);
        let above_two = square >> 127;
        rest = (square >> (63 + above_two)) as u64;
        log = log << 1 | above_two as u64;
    }
    log
}

/// Returns the highest age for which `holds` is true. It must be true for all lower ages.
fn highest_age(holds: impl Fn(u64) -> bool) -> u64 {
    (0..u64::BITS).rev().fold(0, |age, bit| {
        let higher = age | 1 << bit;
        if holds(higher) { higher } else { age }
    })
}

#[cfg(test)]
mod tests;
