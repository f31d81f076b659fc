//! Path of a page between host and flash, shared by plain, buffered and SHRD drives.
//!
//! The drive looks a page up in the map, reads or programs it, and counts it. The pages of a
//! command do not depend on each other: each is its own chain from the start of the command. The
//! command is done when its last page is. A write that covers only part of a page first reads that
//! page, if it is mapped. If that read fails, the page keeps its old content.

use core::convert::Infallible;
use core::ops::Range;

use super::extent::Extent;
use super::{HostCounts, HostData, pages, whole_pages};
use crate::addr::Lpn;
use crate::ftl::{Ftl, Remap};
use crate::geometry::Geometry;
use crate::host::{Piece, Remapping, Twrite};
use crate::mapping::{Access, AccessKind};
use crate::nand::{Chain, Clock, Fork, Nand, Task};
use crate::request::{Op, Request};

/// Map entries of a remap are prefetched this many entries ahead, and pages half as many.
const REMAP_AHEAD: usize = 16;

/// Translation layer and host data, accessed page by page.
pub(super) struct PageIo<F, D> {
    pub(super) ftl: F,
    pub(super) data: D,
    pub(super) counts: HostCounts,
    pub(super) log2_page: u32,
    /// Number of pages that the host may access.
    pub(super) logical_pages: u64,
}

/// Result of reading a page.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fetched {
    /// The page was not mapped: no flash was read.
    Nothing,
    /// The page as written last.
    Page,
    /// The page is unreadable.
    Lost,
}

impl<F, D> PageIo<F, D>
where
    F: Ftl<Medium: Nand<Error = Infallible>>,
    D: HostData<F::Medium>,
{
    pub(super) fn new(ftl: F, data: D, geometry: &Geometry) -> Self {
        let (log2_page, logical_pages) = (geometry.log2_page_bytes(), geometry.logical_pages());
        let (counts, logical_pages) = (HostCounts::default(), logical_pages.into());
        Self { ftl, data, counts, log2_page, logical_pages }
    }

    #[inline(always)]
    pub(super) fn clock(&mut self) -> &mut <F::Medium as Nand>::Clock {
        self.ftl.nand_mut().clock_mut()
    }

    #[inline(always)]
    pub(super) fn now(&self) -> u64 {
        self.ftl.nand().clock().now()
    }

    /// Restricts the host to the first `pages` pages.
    pub(super) fn limit(&mut self, pages: u32) {
        self.logical_pages = pages.into();
    }

    #[inline(always)]
    pub(super) fn extent(&self, request: &Request) -> Extent {
        let Range { end, .. } = pages(request, self.log2_page);
        assert!(end <= self.logical_pages, "{request:?} ends beyond the drive");
        Extent::new(request, self.log2_page)
    }

    pub(super) fn bytes(&self, pages: usize) -> u64 {
        (pages as u64) << self.log2_page
    }

    /// Returns the pages that a trim forgets: only completely covered pages.
    pub(super) fn trimmed(&self, request: &Request) -> Range<u32> {
        self.extent(request);
        let Range { start, end } = whole_pages(request, self.log2_page);
        start as u32..end as u32
    }

    /// Counts a request and its bytes. Returns whether the drive executes it. A permanently
    /// read-only drive refuses writes and trims.
    #[inline(always)]
    pub(super) fn accepts(&mut self, request: &Request) -> bool {
        self.counts.requests[request.op as usize] += 1;
        let refuses = matches!(request.op, Op::Write | Op::Trim) && self.is_read_only();
        self.counts.refused += u64::from(refuses);
        match request.op {
            Op::Read => self.counts.read_bytes += request.length,
            Op::Write if !refuses => self.counts.write_bytes += request.length,
            Op::Write | Op::Trim | Op::Flush => {}
        }
        !refuses
    }

    #[inline(always)]
    pub(super) fn is_read_only(&self) -> bool {
        self.ftl.nand().is_read_only()
    }

    #[inline(always)]
    pub(super) fn translate(&mut self, access: Access, chain: &mut Chain) {
        let holds = self.clock().begin_task(chain, Task::Translate);
        let Ok(()) = self.ftl.translate(access, chain);
        self.clock().end_task(chain, holds);
    }

    /// Reads a translated page, which the host knows by the address `of`.
    #[inline(always)]
    pub(super) fn fetch(&mut self, lpn: Lpn, of: Lpn, chain: &mut Chain) -> Fetched {
        let Ok(found) = self.ftl.read(lpn, chain);
        self.data.unload(of, found, self.ftl.nand());
        match found {
            false => Fetched::Nothing,
            true if self.ftl.nand().read_failed() => Fetched::Lost,
            true => Fetched::Page,
        }
    }

    /// Reads a translated page in full before a partial write. Returns whether the read succeeded:
    /// the part of a lost page that is not overwritten must not reappear as if it were intact.
    #[inline(always)]
    pub(super) fn complete(&mut self, lpn: Lpn, chain: &mut Chain) -> bool {
        let fetched = self.fetch(lpn, lpn, chain);
        self.counts.partial_page_reads += u64::from(fetched != Fetched::Nothing);
        fetched != Fetched::Lost
    }

    /// Reads the requested share of a page of a command. The host knows the page by the address
    /// `of`.
    #[inline(always)]
    pub(super) fn read_page(&mut self, extent: Extent, lpn: Lpn, of: Lpn, chain: &mut Chain) {
        self.translate(extent.access(lpn, AccessKind::Read), chain);
        let share = extent.share(lpn, 1 << self.log2_page);
        if share.is_some() {
            self.clock().read_share(share);
        }
        let fetched = self.fetch(lpn, of, chain);
        if share.is_some() {
            self.clock().read_share(None);
        }
        self.counts.empty_reads += u64::from(fetched == Fetched::Nothing);
        self.counts.failed_pages += u64::from(fetched == Fetched::Lost);
    }

    /// Programs the host's latest data of a translated page.
    #[inline(always)]
    fn program_page(&mut self, lpn: Lpn, pages: u32, chain: &mut Chain) {
        self.data.load(lpn, self.ftl.nand_mut());
        let Ok(()) = self.ftl.write(lpn, pages, chain);
    }

    /// Reads pages, which the host knows by the addresses from `of` on.
    #[inline(always)]
    pub(super) fn read(&mut self, extent: Extent, of: Lpn, start: Chain) -> Chain {
        self.counts.read_pages += u64::from(extent.pages);
        self.ftl.store_mut().begin_command();
        let mut fork = Fork::new(start);
        for lpn in extent.lpns() {
            let mut chain = fork.branch();
            let page = Lpn::new(of.get() + (lpn - extent.first));
            self.read_page(extent, Lpn::new(lpn), page, &mut chain);
            fork.join(chain, self.clock());
        }
        fork.end()
    }

    /// Takes host data into memory before programming. Returns the fork at which the work on the
    /// data begins, and whether the write is acknowledged before that work is done.
    #[inline(always)]
    fn take_in(&mut self, pages: u32, start: &mut Chain) -> (Fork, bool) {
        let is_acknowledged = self.clock().take_memory(start, pages.into());
        (Fork::new(if is_acknowledged { start.work() } else { *start }), is_acknowledged)
    }

    /// Records that the host writes pages, to flash or into the buffer.
    #[inline(always)]
    pub(super) fn begin_write(&mut self, extent: Extent) {
        self.counts.write_pages += u64::from(extent.pages);
        self.ftl.store_mut().begin_command();
        self.ftl.label(extent.lpns(), extent.stream);
    }

    /// Writes pages to their original addresses.
    #[inline(always)]
    pub(super) fn write(&mut self, extent: Extent, mut start: Chain) -> Chain {
        self.begin_write(extent);
        let Ok(()) = self.ftl.command(Lpn::new(extent.first), extent.pages, &mut start);
        let (mut fork, is_acknowledged) = self.take_in(extent.pages, &mut start);
        for access in extent.accesses(AccessKind::Write) {
            let mut chain = fork.branch();
            self.translate(access, &mut chain);
            if extent.covers_in_part(access.lpn) && !self.complete(access.lpn, &mut chain) {
                self.counts.unwritten_pages += 1;
            } else {
                self.data.accept(access.lpn);
                self.program_page(access.lpn, extent.pages, &mut chain);
            }
            fork.join(chain, self.clock());
        }
        if is_acknowledged { start } else { fork.end() }
    }

    /// Programs pages that the host wrote earlier.
    pub(super) fn program(&mut self, extent: Extent, mut start: Chain) -> Chain {
        if extent.pages == 0 {
            return start;
        }
        let Ok(()) = self.ftl.command(Lpn::new(extent.first), extent.pages, &mut start);
        let (mut fork, is_acknowledged) = self.take_in(extent.pages, &mut start);
        for access in extent.accesses(AccessKind::Write) {
            let mut chain = fork.branch();
            self.translate(access, &mut chain);
            self.program_page(access.lpn, extent.pages, &mut chain);
            fork.join(chain, self.clock());
        }
        if is_acknowledged { start } else { fork.end() }
    }

    pub(super) fn trim(&mut self, lpns: Range<u32>, chain: &mut Chain) {
        if lpns.is_empty() {
            return;
        }
        lpns.clone().for_each(|lpn| self.data.forget(Lpn::new(lpn)));
        let Ok(trimmed) = self.ftl.trim(lpns, chain);
        self.counts.trimmed_pages += trimmed;
    }

    /// Makes all acknowledged writes survive a power loss.
    pub(super) fn flush(&mut self, chain: &mut Chain) {
        let Ok(()) = self.ftl.flush(chain);
        self.clock().wait_for_programs(chain);
    }

    /// Lets the drive clean while the host is idle, from `from` to `until`.
    #[inline(always)]
    pub(super) fn clean_idle(&mut self, from: u64, until: u64) {
        let Ok(()) = self.ftl.clean_idle(from, until);
    }
}

/// Log of SHRD.
impl<F, D> PageIo<F, D>
where
    F: Remap<Medium: Nand<Error = Infallible>>,
    D: HostData<F::Medium>,
{
    /// Reads a piece of a request, from the log or from its original address.
    pub(super) fn read_piece(&mut self, piece: &Piece, start: Chain) -> Chain {
        self.read(Extent::whole(piece.from.get(), piece.pages), piece.original, start)
    }

    /// Writes pages of `requests` requests to the log.
    pub(super) fn write_log(
        &mut self,
        twrite: Twrite<'_>,
        requests: u64,
        mut start: Chain,
    ) -> Chain {
        self.counts.requests[Op::Write as usize] += requests;
        let Twrite { first, entries } = twrite;
        let extent = Extent::whole(first.get(), entries.len() as u32);
        let (mut fork, is_acknowledged) = self.take_in(extent.pages, &mut start);
        for (access, &entry) in extent.accesses(AccessKind::Write).zip(entries) {
            let Some(original) = entry else { continue };
            let mut chain = fork.branch();
            self.translate(access, &mut chain);
            self.data.accept(original);
            self.data.load(original, self.ftl.nand_mut());
            let Ok(()) = self.ftl.write_log(access.lpn, Some(original), &mut chain);
            self.counts.write_pages += 1;
            self.counts.write_bytes += 1 << self.log2_page;
            fork.join(chain, self.clock());
        }
        if is_acknowledged { start } else { fork.end() }
    }

    /// Moves log pages to their original addresses by remapping. Each entry is its own chain.
    pub(super) fn remap(&mut self, entries: &[Remapping], start: Chain) -> Chain {
        let mut fork = Fork::new(start);
        for (at, &Remapping { from, to }) in entries.iter().enumerate() {
            let store = self.ftl.store();
            if let Some(soon) = entries.get(at + REMAP_AHEAD) {
                store.prefetch_entry(soon.to);
                store.prefetch_entry(soon.from);
            }
            if let Some(soon) = entries.get(at + REMAP_AHEAD / 2) {
                store.prefetch_page(soon.to);
                store.prefetch_page(soon.from);
            }
            let mut chain = fork.branch();
            let holds = self.clock().begin_task(&mut chain, Task::RemapEntry);
            let Ok(_) = self.ftl.remap(from, to, &mut chain);
            self.clock().end_task(&mut chain, holds);
            fork.join(chain, self.clock());
        }
        fork.end()
    }

    /// Forgets log pages whose original pages are about to be trimmed.
    pub(super) fn trim_log(&mut self, logged: &[Remapping], chain: &mut Chain) {
        for &Remapping { from, to } in logged {
            // If the original address is mapped, too, the trim of that address counts the page.
            self.counts.trimmed_pages += u64::from(!self.ftl.is_mapped(to));
            let Ok(_) = self.ftl.trim(from.get()..from.get() + 1, chain);
        }
    }

    /// Forgets all pages that the log window still maps.
    pub(super) fn drop_log(&mut self, window: Range<u32>, chain: &mut Chain) {
        let Ok(_) = self.ftl.drop_log(window, chain);
    }
}
