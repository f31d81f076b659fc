//! The pages of a command, and what it covers of the first and the last of them.

use core::ops::Range;

use super::pages;
use crate::addr::Lpn;
use crate::mapping::{Access, AccessKind};
use crate::nand::Share;
use crate::request::Request;

/// Bytes that go over the channel at least: what the controller's error correction decodes at once.
const SECTOR: u32 = 4096;

/// The pages that a command touches.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    pub(super) first: u32,
    pub(super) pages: u32,
    /// Bytes of the first page before it, and of the last page behind it.
    cut: (u32, u32),
    /// The placement handle of the command.
    pub(super) stream: u16,
}

impl Extent {
    /// Pages that are covered as a whole.
    pub(super) fn whole(first: u32, pages: u32) -> Self {
        Self { first, pages, cut: (0, 0), stream: 0 }
    }

    /// What a request touches; its pages can be numbered.
    #[inline(always)]
    pub(super) fn new(request: &Request, log2_page: u32) -> Self {
        let Range { start, end } = pages(request, log2_page);
        let (before, behind) = (request.offset, (request.offset + request.length).wrapping_neg());
        let cut = [before, behind].map(|bytes| (bytes & ((1 << log2_page) - 1)) as u32);
        let (first, pages) = (start as u32, (end - start) as u32);
        Self { first, pages, cut: cut.into(), stream: request.stream }
    }

    #[inline(always)]
    pub(super) fn lpns(&self) -> Range<u32> {
        self.first..self.first + self.pages
    }

    #[inline(always)]
    pub(super) fn covers_in_part(&self, lpn: Lpn) -> bool {
        self.cut_of(lpn) != (0, 0)
    }

    /// Bytes of a page before it, and behind it.
    #[inline(always)]
    fn cut_of(&self, lpn: Lpn) -> (u32, u32) {
        let page = lpn.get() - self.first;
        let before = if page == 0 { self.cut.0 } else { 0 };
        (before, if page + 1 == self.pages { self.cut.1 } else { 0 })
    }

    /// What it asks for of a page of as many bytes, in whole sectors; none if that is all of them.
    #[inline(always)]
    pub(super) fn share(&self, lpn: Lpn, page_bytes: u32) -> Option<Share> {
        let (before, behind) = self.cut_of(lpn);
        if before + behind < SECTOR {
            return None;
        }
        let sectors = (page_bytes - behind).div_ceil(SECTOR) - before / SECTOR;
        let of = page_bytes.div_ceil(SECTOR);
        (sectors < of).then_some(Share { sectors, of })
    }

    /// The access to one of its pages.
    #[inline(always)]
    pub(super) fn access(&self, lpn: Lpn, kind: AccessKind) -> Access {
        let page = lpn.get() - self.first;
        Access { lpn, kind, remaining: self.pages - page, first: page == 0, mapped: false }
    }

    /// The accesses to all of them.
    #[inline(always)]
    pub(super) fn accesses(self, kind: AccessKind) -> impl Iterator<Item = Access> {
        self.lpns().map(move |lpn| self.access(Lpn::new(lpn), kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Op;

    fn extent(offset: u64, length: u64, log2_page: u32) -> Extent {
        Extent::new(&Request { at_ns: 0, op: Op::Read, offset, length, stream: 0 }, log2_page)
    }

    /// Sectors that a read of so many bytes from there on moves of the first page and of the last,
    /// on a drive of pages of 16 KiB; 4 is all.
    fn sectors(offset: u64, length: u64) -> (u32, u32) {
        let extent = extent(offset, length, 14);
        let of = |lpn| extent.share(Lpn::new(lpn), 1 << 14).map_or(4, |share| share.sectors);
        (of(extent.first), of(extent.first + extent.pages - 1))
    }

    #[test]
    fn what_is_touched_of_a_page_is_moved_in_whole_sectors() {
        for (offset, length, expected) in [
            (0, 16_384, (4, 4)),
            (0, 512, (1, 1)),
            (4095, 1, (1, 1)),
            (4095, 2, (2, 2)),
            (4096, 4096, (1, 1)),
            (12_288, 4096, (1, 1)),
            (1, 16_383, (4, 4)),
            (4096, 12_288, (3, 3)),
            (3 << 12, 8192, (1, 1)),
            (16_383, 2, (1, 1)),
            (4 << 12, 5 << 12, (4, 1)),
            (8191, 65_536, (3, 2)),
        ] {
            assert_eq!(sectors(offset, length), expected, "{length} bytes at {offset}");
        }
        assert_eq!(Extent::whole(3, 2).share(Lpn::new(3), 1 << 14), None);
    }

    #[test]
    fn a_page_of_a_sector_is_moved_as_a_whole() {
        for log2_page in [9, 11, 12] {
            let extent = extent(1, 1, log2_page);
            assert!(extent.covers_in_part(Lpn::new(0)));
            assert_eq!(extent.share(Lpn::new(0), 1 << log2_page), None);
        }
    }
}
