//! The pages of a command. A command may cover its first and its last page only in part.

use core::ops::Range;

use super::pages;
use crate::addr::Lpn;
use crate::mapping::{Access, AccessKind};
use crate::nand::Share;
use crate::request::Request;

/// Smallest transfer over the channel in bytes: the unit that the controller's error correction
/// decodes.
const SECTOR: u32 = 4096;

/// Pages that a command touches.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    pub(super) first: u32,
    pub(super) pages: u32,
    /// Bytes that the command leaves out: of the first page before it, of the last page after it.
    cut: (u32, u32),
    /// Placement handle of the command.
    pub(super) stream: u16,
}

impl Extent {
    /// Creates an extent of completely covered pages.
    pub(super) fn whole(first: u32, pages: u32) -> Self {
        Self { first, pages, cut: (0, 0), stream: 0 }
    }

    /// Creates the extent of a request. Its page numbers must fit in 32 bits.
    #[inline(always)]
    pub(super) fn new(request: &Request, log2_page: u32) -> Self {
        let Range { start, end } = pages(request, log2_page);
        let (before, after) = (request.offset, (request.offset + request.length).wrapping_neg());
        let cut = [before, after].map(|bytes| (bytes & ((1 << log2_page) - 1)) as u32);
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

    /// Returns the bytes of a page that lie before the command, and those that lie after it.
    #[inline(always)]
    fn cut_of(&self, lpn: Lpn) -> (u32, u32) {
        let page = lpn.get() - self.first;
        let before = if page == 0 { self.cut.0 } else { 0 };
        (before, if page + 1 == self.pages { self.cut.1 } else { 0 })
    }

    /// Returns the share of a page that the command needs, in whole sectors. `None` means the whole
    /// page.
    #[inline(always)]
    pub(super) fn share(&self, lpn: Lpn, page_bytes: u32) -> Option<Share> {
        let (before, after) = self.cut_of(lpn);
        if before + after < SECTOR {
            return None;
        }
        let sectors = (page_bytes - after).div_ceil(SECTOR) - before / SECTOR;
        let of = page_bytes.div_ceil(SECTOR);
        (sectors < of).then_some(Share { sectors, of })
    }

    /// Returns the access to one page of the command.
    #[inline(always)]
    pub(super) fn access(&self, lpn: Lpn, kind: AccessKind) -> Access {
        let page = lpn.get() - self.first;
        Access { lpn, kind, remaining: self.pages - page, first: page == 0, mapped: false }
    }

    /// Yields the accesses to all pages of the command.
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

    /// Returns how many sectors of its first and of its last page a read transfers, on a drive with
    /// pages of 16 KiB. A whole page is 4 sectors.
    fn sectors(offset: u64, length: u64) -> (u32, u32) {
        let extent = extent(offset, length, 14);
        let of = |lpn| extent.share(Lpn::new(lpn), 1 << 14).map_or(4, |share| share.sectors);
        (of(extent.first), of(extent.first + extent.pages - 1))
    }

    #[test]
    fn touched_bytes_are_moved_in_whole_sectors() {
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
