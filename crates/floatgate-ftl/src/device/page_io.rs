//! The path of a page between host and flash: one under every front, be it plain, buffered or SHRD.
//!
//! A page is looked up in the map, read or programmed, and counted. The pages of a command do not
//! depend on each other: each is a chain of its own from the start of the command, which is done
//! when the last of them is. A write that covers a page in part reads the page first, if it holds
//! something; if that cannot be read the page stays as it is.

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

/// Requests ahead for which the map entry is asked for.
const ENTRY_AHEAD: usize = 32;
/// Requests ahead for which the page that will be replaced is asked for.
const PAGE_AHEAD: usize = 16;
/// Entries of a remap ahead for which the map entry is asked for; for the page, half as many.
const REMAP_AHEAD: usize = 16;

/// A translation layer and the host's data, page by page.
pub(super) struct PageIo<F, D> {
    pub(super) ftl: F,
    pub(super) data: D,
    pub(super) counts: HostCounts,
    log2_page: u32,
    /// Pages that the host may ask for.
    logical_pages: u64,
}

/// What there was at a page that was read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fetched {
    /// Nothing: no flash was read.
    Nothing,
    /// What was written last.
    Page,
    /// What cannot be read any more.
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

    /// The clock of the flash.
    #[inline(always)]
    pub(super) fn clock(&mut self) -> &mut <F::Medium as Nand>::Clock {
        self.ftl.nand_mut().clock_mut()
    }

    /// The time.
    #[inline(always)]
    pub(super) fn now(&self) -> u64 {
        self.ftl.nand().clock().now()
    }

    /// The host may ask for no more than the first `pages`.
    pub(super) fn limit(&mut self, pages: u32) {
        self.logical_pages = pages.into();
    }

    #[inline(always)]
    pub(super) fn extent(&self, request: &Request) -> Extent {
        let Range { end, .. } = pages(request, self.log2_page);
        assert!(end <= self.logical_pages, "{request:?} ends beyond the drive");
        Extent::new(request, self.log2_page)
    }

    /// Bytes of so many pages.
    pub(super) fn bytes(&self, pages: usize) -> u64 {
        (pages as u64) << self.log2_page
    }

    /// The pages that a trim forgets: only those that are covered as a whole can be.
    pub(super) fn trimmed(&self, request: &Request) -> Range<u32> {
        self.extent(request);
        let Range { start, end } = whole_pages(request, self.log2_page);
        start as u32..end as u32
    }

    /// Counts a request and its bytes; the answer is whether the drive carries it out. A drive that
    /// has become read-only for good refuses to write and trim.
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

    /// Reads a translated page, that is `of` to the host.
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

    /// Reads all of a translated page that is about to be written in part. The answer is whether it
    /// can be: what is not overwritten of a lost page must not come back as if it were.
    #[inline(always)]
    pub(super) fn complete(&mut self, lpn: Lpn, chain: &mut Chain) -> bool {
        let fetched = self.fetch(lpn, lpn, chain);
        self.counts.partial_page_reads += u64::from(fetched != Fetched::Nothing);
        fetched != Fetched::Lost
    }

    /// Reads a page of a command for the host, to which it is `of`: what is asked for of it.
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

    /// Programs what the host wrote last to a translated page.
    #[inline(always)]
    fn program_page(&mut self, lpn: Lpn, pages: u32, chain: &mut Chain) {
        self.data.load(lpn, self.ftl.nand_mut());
        let Ok(()) = self.ftl.write(lpn, pages, chain);
    }

    /// Reads pages that are those from `of` on to the host.
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

    /// Data of the host comes to be programmed: where the work on it begins, and whether the host
    /// is told before that is done.
    #[inline(always)]
    fn take_in(&mut self, pages: u32, start: &mut Chain) -> (Fork, bool) {
        let is_acknowledged = self.clock().take_memory(start, pages.into());
        (Fork::new(if is_acknowledged { start.work() } else { *start }), is_acknowledged)
    }

    /// The host writes pages, to flash or into the buffer.
    #[inline(always)]
    pub(super) fn begin_write(&mut self, extent: Extent) {
        self.counts.write_pages += u64::from(extent.pages);
        self.ftl.store_mut().begin_command();
        self.ftl.label(extent.lpns(), extent.stream);
    }

    /// Writes pages to their places.
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

    /// Programs pages that the host has written before.
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

    /// Forgets pages.
    pub(super) fn trim(&mut self, lpns: Range<u32>, chain: &mut Chain) {
        if lpns.is_empty() {
            return;
        }
        lpns.clone().for_each(|lpn| self.data.forget(Lpn::new(lpn)));
        let Ok(trimmed) = self.ftl.trim(lpns, chain);
        self.counts.trimmed_pages += trimmed;
    }

    /// What was acknowledged outlives a loss of power from now on.
    pub(super) fn flush(&mut self, chain: &mut Chain) {
        let Ok(()) = self.ftl.flush(chain);
        self.clock().wait_for_programs(chain);
    }

    /// The host asks for nothing from `from` to `until`.
    #[inline(always)]
    pub(super) fn clean_idle(&mut self, from: u64, until: u64) {
        let Ok(()) = self.ftl.clean_idle(from, until);
    }

    /// Asks the processor for what requests that come soon will need.
    #[inline(always)]
    pub(super) fn look_ahead(&self, batch: &[Request], at: usize) {
        let lpn = |ahead: usize| {
            let lpn = batch.get(at + ahead)?.offset >> self.log2_page;
            (lpn < self.logical_pages).then(|| Lpn::new(lpn as u32))
        };
        if let Some(lpn) = lpn(ENTRY_AHEAD) {
            self.ftl.store().prefetch_entry(lpn);
        }
        if let Some(lpn) = lpn(PAGE_AHEAD) {
            self.ftl.store().prefetch_page(lpn);
        }
    }
}

/// The log of SHRD.
impl<F, D> PageIo<F, D>
where
    F: Remap<Medium: Nand<Error = Infallible>>,
    D: HostData<F::Medium>,
{
    /// Reads a part of a request, in the log or at its place.
    pub(super) fn read_piece(&mut self, piece: &Piece, start: Chain) -> Chain {
        self.read(Extent::whole(piece.from.get(), piece.pages), piece.original, start)
    }

    /// Writes pages of so many requests to the log.
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

    /// Has pages of the log take their places, each a chain of its own.
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

    /// Forgets pages of the log whose original pages are about to be trimmed.
    pub(super) fn trim_log(&mut self, logged: &[Remapping], chain: &mut Chain) {
        for &Remapping { from, to } in logged {
            // The trim of the original counts one that holds something at its place, too.
            self.counts.trimmed_pages += u64::from(!self.ftl.is_mapped(to));
            let Ok(_) = self.ftl.trim(from.get()..from.get() + 1, chain);
        }
    }

    /// Forgets what pages of the log still hold.
    pub(super) fn drop_log(&mut self, window: Range<u32>, chain: &mut Chain) {
        let Ok(_) = self.ftl.drop_log(window, chain);
    }
}
