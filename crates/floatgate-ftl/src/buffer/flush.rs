//! Pages that leave a buffer: the device must write them to flash, block by block.

use alloc::vec::Vec;
use core::ops::Range;

use crate::addr::Lpn;

/// Groups of pages, in the order in which the device must write them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Flush {
    pages: Vec<Lpn>,
    /// Per group: its end in `pages`, the pages of its block, and whether to pad.
    groups: Vec<(u32, Range<u32>, bool)>,
}

/// Pages of one block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group<'a> {
    /// Pages to write, in ascending order.
    pub pages: &'a [Lpn],
    /// All pages of the block.
    pub block: Range<u32>,
    /// Whether to write the whole block. The device then reads the pages of the block that are
    /// missing from `pages` but have been written before, and writes them again in place.
    pub pad: bool,
}

impl Group<'_> {
    /// Yields every page of the block in ascending order, and whether it is in `pages`.
    pub fn whole(&self) -> impl Iterator<Item = (Lpn, bool)> {
        let mut rest = self.pages.iter().peekable();
        self.block.clone().map(move |page| {
            let lpn = Lpn::new(page);
            (lpn, rest.next_if(|&&next| next == lpn).is_some())
        })
    }
}

impl Flush {
    /// Returns whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Returns the number of pages in all groups.
    pub fn pages(&self) -> usize {
        self.pages.len()
    }

    /// Yields the groups from first to last.
    pub fn groups(&self) -> impl Iterator<Item = Group<'_>> {
        let mut start = 0;
        self.groups.iter().map(move |(end, block, pad)| {
            let end = *end as usize;
            let pages = &self.pages[start..end];
            start = end;
            Group { pages, block: block.clone(), pad: *pad }
        })
    }

    /// Removes all groups. Keeps the allocated memory.
    pub fn clear(&mut self) {
        self.pages.clear();
        self.groups.clear();
    }

    /// Adds a page to the open group.
    #[inline]
    pub(super) fn push(&mut self, lpn: Lpn) {
        self.pages.push(lpn);
    }

    /// Completes the open group.
    #[inline]
    pub(super) fn close(&mut self, block: Range<u32>, pad: bool) {
        self.groups.push((self.pages.len() as u32, block, pad));
    }
}
