//! No separation: one stream for all data. The reference that every other placement is held
//! against.

use super::{Placement, WriteHint};

/// All data in one stream.
#[derive(Clone, Copy, Debug)]
pub struct Single;

impl Placement for Single {
    fn streams(&self) -> u8 {
        1
    }

    #[inline(always)]
    fn stream(&mut self, _: WriteHint) -> u8 {
        0
    }
}
