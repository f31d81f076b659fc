//! Length: short writes are hot, because their data is soon written again (Im and Shin, "ComboFTL",
//! Journal of Systems Architecture 56, 2010).
//!
//! Decided here: the threshold of 4 pages of 4 KiB, because our sources give none. The scheme has
//! no memory: a page that is judged without a write stays in its stream. The cost is a comparison
//! per page.

use super::{HostWrite, Placement, PlacementConfig, PlacementDemands};
use crate::policy::Policy;

crate::parameters! {
    /// Parameters of the length heuristic.
    pub struct LengthConfig {
        /// A write is hot if it has at most this many pages.
        threshold_pages: u32 = 4, from 0 to 1_000_000;
    }
}

/// Classifier by the length of the write: short writes are hot.
#[derive(Clone, Copy, Debug)]
pub struct Length(LengthConfig);

crate::state!(Length);

impl Length {
    /// Keeps only the parameters.
    pub fn new(config: &PlacementConfig) -> Self {
        Self(config.length)
    }
}

impl Placement for Length {
    fn demands(_: &PlacementConfig) -> PlacementDemands {
        PlacementDemands::streams(2)
    }

    #[inline(always)]
    fn stream(&mut self, write: HostWrite) -> u8 {
        u8::from(write.request_pages <= self.0.threshold_pages)
    }
}

impl Policy for Length {}

#[cfg(test)]
mod tests {
    use super::super::tests::*;
    use super::*;

    #[test]
    fn short_writes_are_hot() {
        let mut length = Length::new(&config(100));
        for (request_pages, stream) in [(1, 1), (4, 1), (5, 0), (100, 0)] {
            assert_eq!(length.stream(HostWrite { request_pages, ..write(7) }), stream);
            assert_eq!(length.classify(relocation(7, stream)), stream);
        }
        assert_eq!((Length::demands(&config(100)).streams, length.memory_bytes()), (2, 0));
    }
}
