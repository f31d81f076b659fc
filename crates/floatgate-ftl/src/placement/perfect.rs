//! Perfect: separates hot and cold without an error. This works for workloads with two classes of
//! pages, where the hot pages are the first ones (the generator `hotcold`).
//!
//! It shows the best that a classifier with two streams can reach (Desnoyers, "Analytic Modeling of
//! SSD Write Performance", SYSTOR 2012, has closed forms for it). Pages keep their stream when they
//! are cleaned. Decided here: the hot pages are given as a count, or else as a share of the drive's
//! logical pages. A drive sized for a workload can have a few more pages than the workload touches.
//! The share then includes slightly too many pages; the count is exact. The cost is a comparison
//! per page. No memory is charged, because this is not a real scheme.

use super::{HostWrite, Placement, PlacementConfig, PlacementDemands, Relocation};
use crate::addr::Lpn;
use crate::parameters::round;
use crate::policy::Policy;

crate::parameters! {
    /// Border between hot and cold pages.
    pub struct PerfectConfig {
        /// Share of the logical pages that is hot, from page 0 on: `f` of the workload "hotcold".
        /// Counts in millionths.
        hot_share: f64 = 0.1, from 0 to 1;
        /// Number of hot pages, in place of the share: exact if the drive has more pages than the
        /// workload touches. With any placement, the result then counts the host writes of these
        /// pages by stream (`placement.streams[].hot_pages`). Not set: the share, and no count.
        hot_pages: Option<u32> = None, from 1 to 4e9;
    }
}

/// Perfect: two streams, and the first cold page.
#[derive(Clone, Copy, Debug)]
pub struct Perfect {
    hot_pages: u32,
}

crate::state!(Perfect);

impl Perfect {
    /// Places the border as configured.
    pub fn new(config: &PlacementConfig) -> Self {
        let PerfectConfig { hot_pages, hot_share } = config.perfect;
        let pages = u64::from(config.geometry.logical_pages());
        let share = (pages * round(hot_share * 1e6) + 500_000) / 1_000_000;
        let share = u32::try_from(share).unwrap_or(u32::MAX);
        Self { hot_pages: hot_pages.unwrap_or(share) }
    }

    fn judge(&self, lpn: Lpn) -> u8 {
        u8::from(lpn.get() < self.hot_pages)
    }
}

impl Placement for Perfect {
    fn demands(_: &PlacementConfig) -> PlacementDemands {
        PlacementDemands::streams(2)
    }

    #[inline(always)]
    fn stream(&mut self, write: HostWrite) -> u8 {
        self.judge(write.lpn)
    }

    fn classify(&self, relocation: Relocation) -> u8 {
        self.judge(relocation.lpn)
    }
}

impl Policy for Perfect {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::tests::{config, relocation, write};
    use alloc::vec::Vec;

    fn hot(perfect: PerfectConfig, pages: u32) -> Vec<u32> {
        let config = PlacementConfig { perfect, ..config(pages) };
        let mut perfect = Perfect::new(&config);
        let hot: Vec<u32> = (0..pages).filter(|&lpn| perfect.stream(write(lpn)) == 1).collect();
        let anew = (0..pages).filter(|&lpn| perfect.classify(relocation(lpn, 0)) == 1);
        assert!(anew.eq(hot.iter().copied()));
        hot
    }

    #[test]
    fn the_first_pages_are_hot() {
        let share = PerfectConfig { hot_pages: None, hot_share: 0.1 };
        assert_eq!(hot(share, 64), [0, 1, 2, 3, 4, 5]);
        assert_eq!(hot(share, 66), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(hot(PerfectConfig { hot_pages: Some(2), ..share }, 64), [0, 1]);
        assert_eq!(hot(PerfectConfig { hot_share: 1.0, ..share }, 9).len(), 9);
        assert_eq!(hot(PerfectConfig { hot_share: 0.0, ..share }, 9), []);
    }
}
