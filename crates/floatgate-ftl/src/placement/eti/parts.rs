//! Where in the array of extents those of a part of the drive are: what is left to be searched.

use alloc::vec;
use alloc::vec::Vec;

/// How many parts there are at most.
const PARTS: u32 = 256;

/// Where the extents of each part of the drive are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Parts {
    /// Log2 of the pages in a part.
    shift: u32,
    /// By part: the extent that its first page is in. Behind all parts: the last extent.
    firsts: Vec<u16>,
}

crate::state!(Parts { firsts } fixed { shift });

impl Parts {
    /// One extent over all pages.
    pub(super) fn new(pages: u32) -> Self {
        let shift = pages.div_ceil(PARTS).next_power_of_two().trailing_zeros();
        Self { shift, firsts: vec![0; ((pages - 1) >> shift) as usize + 2] }
    }

    /// Among which extents that of a page is: the first and the last of them.
    #[inline(always)]
    pub(super) fn extents(&self, page: u32) -> (usize, usize) {
        let part = (page >> self.shift) as usize;
        (self.firsts[part].into(), self.firsts[part + 1].into())
    }

    /// The first part that begins at a page or behind it.
    #[inline(always)]
    pub(super) fn behind(&self, page: u32) -> usize {
        page.div_ceil(1 << self.shift) as usize
    }

    /// There are so many more extents before a page.
    pub(super) fn cut(&mut self, page: u32, more: u16) {
        let behind = self.behind(page);
        // Extents are at most 65,536, and a check of each sum would cost more than all of them.
        self.firsts[behind..].iter_mut().for_each(|first| *first = first.wrapping_add(more));
    }

    /// Extents were merged: these are where they start.
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
