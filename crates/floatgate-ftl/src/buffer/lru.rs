//! LRU of blocks: evicts the least recently used block as a whole.

use super::by_use::{ByUse, Demands};
use super::{BufferConfig, BufferDemands};

/// Policy that evicts the least recently used block.
pub(super) type Lru = ByUse<Blocks>;

pub(super) struct Blocks;

impl Demands for Blocks {
    fn demands(_: &BufferConfig) -> BufferDemands {
        BufferDemands::default()
    }
}
