//! Index over the array of extents by parts of the drive, which narrows the search for a page.

use alloc::vec;
use alloc::vec::Vec;

/// Maximum number of parts.
const COMPONENTS: u32 = 256;

/// Positions of the extents, by part of the drive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Parts {
    /// Log2 of the pages in a part.
    shift: u32,
    /// The extent of the first page of each part and, after all parts, the last extent.
    firsts: Vec<u16>,
}

crate::state!(Parts { firsts } fixed { shift });

impl Parts {
    /// Starts with one extent over all pages.
    pub(super) fn new(pages: u32) -> Self {
        let shift = pages.div_ceil(COMPONENTS).next_power_of_two().trailing_zeros();
        Self { shift, firsts: vec![0; ((pages - 1) >> shift) as usize + 2] }
    }

    /// Returns the first and the last extent that a page may be in.
    #[inline(always)]
    pub(super) fn extents(&self, page: u32) -> (usize, usize) {
        let part = (page >> self.shift) as usize;
        (self.firsts[part].into(), self.firsts[part + 1].into())
    }

    /// Returns the first part that begins at a page or behind it.
    #[inline(always)]
    pub(super) fn behind(&self, page: u32) -> usize {
        page.div_ceil(1 << self.shift) as usize
    }

    /// Notes `more` additional extents before a page.
    pub(super) fn cut(&mut self, page: u32, more: u16) {
        let behind = self.behind(page);
        // There are at most 65,536 extents, and an overflow check per sum would cost more than the
        // sums.
        self.firsts[behind..].iter_mut().for_each(|first| *first = first.wrapping_add(more));
    }

    /// Rebuilds the index after a merge, from the starts of the extents.
    pub(super) fn renew(&mut self, starts: &[u32]) {
        let mut extent = 0;
        let (end, parts) = self.firsts.split_last_mut().expect("there is one behind all parts");
        for (first, part) in parts.iter_mut().zip(0_u32..) {
            let page = part << self.shift;
            while starts.get(extent + 1).is_some_and(|&start| start <= page) {
                extent += 1;
            }
            *first = extent as u16;
        }
        *end = (starts.len() - 1) as u16;
    }
}
