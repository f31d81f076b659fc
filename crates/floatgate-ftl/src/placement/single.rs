//! No separation: one stream for all data. The reference that every other placement is held
//! against.

use super::{HostWrite, Placement, PlacementConfig};
use crate::saved::State;

/// All data in one stream.
#[derive(Clone, Copy, Debug)]
pub struct Single;

crate::state!(Single);

impl Single {
    /// Nothing to decide.
    pub fn new(_: &PlacementConfig) -> Self {
        Self
    }

    /// One.
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
