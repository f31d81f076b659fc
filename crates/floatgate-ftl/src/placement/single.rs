//! No separation: one stream for all data, the reference for every other placement.

use super::{HostWrite, Placement, PlacementConfig};
use crate::policy::Policy;

/// Single: all data in one stream.
#[derive(Clone, Copy, Debug)]
pub struct Single;

crate::state!(Single);

impl Single {
    /// Makes the placement, which has no settings.
    pub fn new(_: &PlacementConfig) -> Self {
        Self
    }
}

impl Placement for Single {
    #[inline(always)]
    fn stream(&mut self, _: HostWrite) -> u8 {
        0
    }
}

impl Policy for Single {}
