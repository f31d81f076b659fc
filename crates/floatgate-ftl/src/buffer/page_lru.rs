//! LRU of pages: evicts single pages.
//!
//! Reference for block buffers: among recency policies it makes the best use of memory and gives
//! flash the worst write order. Costs 4 bytes per page of the drive.

use super::by_use::{ByUse, Demands};
use super::{BufferConfig, BufferDemands};

/// Policy that evicts the least recently used page.
pub(super) type PageLru = ByUse<Pages>;

pub(super) struct Pages;

impl Demands for Pages {
    fn demands(_: &BufferConfig) -> BufferDemands {
        BufferDemands { single_pages: true, ..BufferDemands::default() }
    }
}
