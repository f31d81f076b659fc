//! Oracle: sorts by the remaining lifetime of each page, which it knows. It is a bound on the gain
//! from separation. No drive can do this.
//!
//! It knows every page that the host will write or trim ([`Policy::set_future`]). So it knows
//! when the data that is written now, or moved by cleaning, will be invalidated. The streams are
//! ranges of remaining lifetime, each `factor` times as wide as the one before. The hottest range
//! ends at a first limit. The coldest begins at the last limit, and includes data that is never
//! invalidated. The first limit is the pages of one unit. It is larger if otherwise the last limit
//! would be less than 8 times the logical pages of the drive. Before the future is set, all data is
//! cold.
//!
//! Four other placements with the same number of streams were worse:
//!
//! - ranges of equal width, the future knowledge that SepBIT is compared with;
//! - windows of the absolute time of death;
//! - pairs of such windows in each range;
//! - separate ranges for moved pages.
//!
//! The table has flash writes per host write, with cleaning by greedy / by cost and benefit. The
//! simulated drive has a tenth of spare space, and frees whole units before it opens one, which is
//! unfavourable to every placement. The workloads are two synthetic ones on 32,768 pages in units
//! of 64, and the first 250,000 writes of a recorded pgbench on 390,050 pages in units of 256.
//!
//! | streams | placement          | hotcold 90/10 | zipf 0.99   | pgbench     |
//! |---------|--------------------|---------------|-------------|-------------|
//! | 1       | none               | 5.17 / 3.19   | 4.93 / 3.92 | 2.81 / 2.78 |
//! | 16      | equal ranges       | 3.67 / 2.98   | 3.27 / 3.29 | 1.81 / 1.92 |
//! | 16      | windows of death   | 1.95 / 1.36   | 1.62 / 1.36 | 1.06 / 1.06 |
//! | 16      | windows in ranges  | 1.64 / 1.07   | 1.54 / 1.13 | 1.02 / 1.02 |
//! | 16      | moved pages apart  | 1.89 / 1.14   | 1.73 / 1.23 | 1.03 / 1.03 |
//! | 16      | ranges by factor 2 | 1.30 / 1.06   | 1.30 / 1.10 | 1.06 / 1.05 |
//! | 12      | ranges by factor 2 | 1.53 / 1.08   | 1.43 / 1.11 | 1.03 / 1.03 |
//! | 8       | ranges by factor 2 | 1.87 / 1.12   | 1.72 / 1.21 | 1.05 / 1.04 |
//!
//! The ranges must reach as far as pages live, and be narrow where most pages die. This is the best
//! placement that we found, without a proof. On pgbench the windows in ranges write 3 % less, and a
//! unit open for every time of death would write nothing twice. Cleaning by cost and benefit gains
//! the most from this placement.
//!
//! The oracle asserts that no page is overwritten before its known death; trims may come late, or
//! not at all. The cost is two table accesses and a search of the ranges per page. No memory is
//! charged. The simulator takes 4 bytes per logical page and 4 per write.

use alloc::vec;
use alloc::vec::Vec;

use super::{HostWrite, Placement, PlacementConfig, PlacementDemands, Relocation};
use crate::future::{NEVER, NextUses};
use crate::policy::Policy;

/// Minimum length that the ranges cover, in multiples of the logical volume.
const REACH: u64 = 8;

crate::parameters! {
    /// Parameters of the oracle.
    pub struct OracleConfig {
        /// Number of ranges of remaining lifetime.
        streams: u8 = 16, from 2 to 64;
        /// Ratio of the length of a range to the length of the range before.
        factor: u32 = 2, from 2 to 1000;
    }
}

/// Oracle: streams by remaining lifetime.
#[derive(Clone, Debug)]
pub struct Oracle {
    /// End of each range in host pages, the shortest first. The last range has no end.
    ends: Vec<u64>,
    /// By page: the write before which the page dies, or [`NEVER`].
    deaths: Vec<u32>,
    /// By write: the write before which the written page dies, or [`NEVER`].
    next: Vec<u32>,
    /// Writes since the future was set.
    writes: u64,
}

crate::state!(Oracle { ends, deaths, next, writes });

impl Oracle {
    /// Starts without a known future.
    pub fn new(config: &PlacementConfig) -> Self {
        let OracleConfig { streams, factor } = config.oracle;
        assert!(streams >= 2 && factor >= 2, "there is something to tell apart");
        let (geometry, factor) = (&config.geometry, u64::from(factor));
        let far = REACH * u64::from(geometry.logical_pages());
        let shortest = (2..streams).fold(far, |end, _| end / factor);
        let shortest = shortest.max(geometry.pages_per_unit().into());
        let ends = core::iter::successors(Some(shortest), |&end| Some(end.saturating_mul(factor)));
        Self {
            ends: ends.take(usize::from(streams) - 1).collect(),
            deaths: vec![NEVER; geometry.logical_pages() as usize],
            next: Vec::new(),
            writes: 0,
        }
    }

    /// Returns the stream of data that dies before the write `death`, as seen from the write `now`.
    fn judge(&self, death: u32, now: u64) -> u8 {
        if death == NEVER {
            return 0;
        }
        let left = u64::from(death).saturating_sub(now);
        (self.ends.len() - self.ends.partition_point(|&end| end <= left)) as u8
    }
}

impl Placement for Oracle {
    fn demands(config: &PlacementConfig) -> PlacementDemands {
        PlacementDemands { sorts_moved: true, ..PlacementDemands::streams(config.oracle.streams) }
    }

    #[inline]
    fn stream(&mut self, write: HostWrite) -> u8 {
        let now = self.writes;
        self.writes += 1;
        let known = usize::try_from(now).ok().and_then(|now| self.next.get(now));
        let death = known.copied().unwrap_or(NEVER);
        let before = core::mem::replace(&mut self.deaths[write.lpn.index()], death);
        // A trimmed page keeps its death, which has passed by now. Nothing reads it in between.
        if known.is_some() && before != NEVER {
            assert!(u64::from(before) <= now, "the future was of another workload");
        }
        self.judge(death, now)
    }

    fn moved(&mut self, relocation: Relocation) -> u8 {
        self.classify(relocation)
    }

    fn classify(&self, relocation: Relocation) -> u8 {
        self.judge(self.deaths[relocation.lpn.index()], self.writes)
    }
}

impl Policy for Oracle {
    fn needs_future() -> bool {
        true
    }

    fn set_future(&mut self, future: NextUses) {
        (self.deaths, self.next, self.writes) = (future.first, future.next, 0);
    }
}

#[cfg(test)]
mod tests;
