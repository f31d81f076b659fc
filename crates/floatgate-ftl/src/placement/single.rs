//! No separation: one stream for all data, the reference for every other placement.

use super::{HostWrite, Placement, PlacementConfig};
use crate::saved::State;

/// Single: all data in one stream.
#[derive(Clone, Copy, Debug)]
pub struct Single;

crate::state!(Single);

impl Single {
    /// Makes the placement, which has no settings.
    pub fn new(_: &PlacementConfig) -> Self {
        Self
    }

    /// One stream.
    pub fn streams(_: &PlacementConfig) -> u8 {
        1
    }
}

impl Placement for Single {
    #[inline(always)]
    fn stream(&mut self, _: HostWrite) -> u8 {
        0
    }

    fn state(&mut self) -> Option<&mut dyn State> {
        Some(self)
    }
}
