//! What leaves a buffer: pages to be written to the flash, block by block.

use alloc::vec::Vec;
use core::ops::Range;

use crate::addr::Lpn;

/// Groups of pages, in the order in which they are to be written.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Flush {
    pages: Vec<Lpn>,
    /// Where each group ends in `pages`, and the rest of it.
    groups: Vec<(u32, Range<u32>, bool)>,
}

/// Pages of one block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group<'a> {
    /// The pages, in ascending order.
    pub pages: &'a [Lpn],
    /// All pages of the block.
    pub block: Range<u32>,
    /// Whether the block is to be written as a whole: those of its pages that are not among
    /// `pages`, but have been written before, are to be read and written again, in their places.
    pub pad: bool,
}

impl Group<'_> {
    /// Every page of the block in ascending order, and whether it is among `pages`.
    pub fn whole(&self) -> impl Iterator<Item = (Lpn, bool)> {
        let mut rest = self.pages.iter().peekable();
        self.block.clone().map(move |page| {
            let lpn = Lpn::new(page);
            (lpn, rest.next_if(|&&next| next == lpn).is_some())
        })
    }
}

impl Flush {
    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Pages of all groups.
    pub fn pages(&self) -> usize {
        self.pages.len()
    }

    /// The groups, first to last.
    pub fn groups(&self) -> impl Iterator<Item = Group<'_>> {
        let mut start = 0;
        self.groups.iter().map(move |(end, block, pad)| {
            let end = *end as usize;
            let pages = &self.pages[start..end];
            start = end;
            Group { pages, block: block.clone(), pad: *pad }
        })
    }

    /// Nothing to write any more. Keeps its memory.
    pub fn clear(&mut self) {
        self.pages.clear();
        self.groups.clear();
    }

    /// A page of the group that is being put together.
    #[inline]
    pub(super) fn push(&mut self, lpn: Lpn) {
        self.pages.push(lpn);
    }

    /// The group is complete.
    #[inline]
    pub(super) fn close(&mut self, block: Range<u32>, pad: bool) {
        self.groups.push((self.pages.len() as u32, block, pad));
    }
}
