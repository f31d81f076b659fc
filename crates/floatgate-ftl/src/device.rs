//! A drive as the host sees it: requests in bytes, a command queue, completions.
//!
//! The pages of a request are independent: each is a chain of its own from the admission of the
//! request, and the request is done when the last chain is. The blame of that chain is the blame of
//! the request. A write that covers a page in part reads the page first, if it holds something.

use alloc::vec::Vec;
use core::ops::Range;

use crate::addr::Lpn;
use crate::future::Future;
use crate::mapping::{Access, MapStats, Mapping, Touch};
use crate::nand::{Chain, FlashCounts, Nand, Occupation, Part};
use crate::page_ftl::{Cleans, PageFtl, StreamCounts};
use crate::placement::Placement;
use crate::queue::Queue;
use crate::request::{Completion, Op, Request};

/// Requests ahead for which the map entry is asked for.
const ENTRY_AHEAD: usize = 32;
/// Requests ahead for which the page that will be replaced is asked for.
const PAGE_AHEAD: usize = 16;

/// Where the data of host writes comes from, and where that of reads goes.
pub trait HostData<N> {
    /// The host is about to write a page: its data goes to the medium's register.
    fn load(&mut self, lpn: Lpn, nand: &mut N);

    /// The host has read a page; `found` is whether there was one (if not, it reads as zeros).
    fn unload(&mut self, lpn: Lpn, found: bool, nand: &N);

    /// The host has trimmed a page.
    fn forget(&mut self, lpn: Lpn);
}

/// No data: what is simulated is where pages go and when.
impl<N> HostData<N> for () {
    #[inline(always)]
    fn load(&mut self, _: Lpn, _: &mut N) {}

    #[inline(always)]
    fn unload(&mut self, _: Lpn, _: bool, _: &N) {}

    #[inline(always)]
    fn forget(&mut self, _: Lpn) {}
}

/// What the host asked of a drive, in pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HostCounts {
    /// Requests by [`Op`].
    pub requests: [u64; 4],
    /// Pages touched by reads.
    pub read_pages: u64,
    /// Those of them that held nothing, so that no flash was read.
    pub empty_reads: u64,
    /// Pages touched by writes.
    pub write_pages: u64,
    /// Reads before writes that covered a page in part.
    pub merge_reads: u64,
    /// Pages trimmed that held something.
    pub trimmed_pages: u64,
}

/// Everything that a drive has counted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// What the host asked for.
    pub host: HostCounts,
    /// Operations of the flash.
    pub flash: FlashCounts,
    /// The clocks of the flash.
    pub occupation: Occupation,
    /// The mapping cache.
    pub map: MapStats,
    /// Units cleaned, by occasion.
    pub cleans: Cleans,
    /// Translation pages read because the placement wanted to look at pages.
    pub sample_reads: u64,
}

/// Any drive. Called once per batch of requests.
pub trait Device: Send {
    /// Serves requests in order, and appends what became of each.
    fn run(&mut self, batch: &[Request], done: &mut Vec<Completion>);

    /// What has been counted since the last [`Device::restart`].
    fn counters(&self) -> Counters;

    /// Writes back the mapping cache, as a drive does that has nothing else to do.
    fn flush_map(&mut self);

    /// Tells the mapping what the host will access from now on.
    fn foresee(&mut self, future: Future);

    /// Tells the placement what the host will write from now on.
    fn foresee_writes(&mut self, future: Future);

    /// Counters and clocks back to zero, an empty queue; the drive stays as full and as worn.
    fn restart(&mut self);

    /// Traffic by stream of the placement.
    fn streams(&self) -> Vec<StreamCounts>;

    /// Bytes of memory that the placement takes, and the extents that it keeps, if it does.
    fn placement_size(&self) -> (u64, Option<u32>);

    /// Bytes of memory of the mapping cache.
    fn cache_bytes(&self) -> u64;

    /// Erases of every unit since the last [`Device::restart`].
    fn wear(&self) -> Vec<u32>;

    /// Units that are free.
    fn free_units(&self) -> u32;

    /// Recomputes what can be recomputed, and asserts that it agrees.
    fn check(&self);
}

/// A drive with a page-mapped FTL on medium `N`, whose host data is `D`.
pub struct Ssd<N, M, D> {
    ftl: PageFtl<N, M>,
    data: D,
    queue: Queue,
    host: HostCounts,
    log2_page: u32,
    logical_pages: u64,
}

/// The pages that a request touches, and how.
#[derive(Clone, Copy)]
struct Extent {
    offset: u64,
    end: u64,
    first: u32,
    pages: u32,
}

impl<N, M, D> Ssd<N, M, D>
where
    N: Nand<Error = core::convert::Infallible>,
    M: Mapping,
    D: HostData<N>,
{
    /// A drive at time zero.
    pub fn new(
        ftl: PageFtl<N, M>,
        data: D,
        queue: Queue,
        geometry: &crate::geometry::Geometry,
    ) -> Self {
        Self {
            ftl,
            data,
            queue,
            host: HostCounts::default(),
            log2_page: geometry.log2_page_bytes(),
            logical_pages: u64::from(geometry.logical_pages()),
        }
    }

    /// The FTL behind the queue.
    pub fn ftl(&self) -> &PageFtl<N, M> {
        &self.ftl
    }

    #[inline(always)]
    fn extent(&self, request: &Request) -> Extent {
        let end = request.offset + request.length;
        let pages = pages(request, self.log2_page);
        assert!(pages.end <= self.logical_pages, "{request:?} ends beyond the drive");
        let (first, pages) = (pages.start as u32, (pages.end - pages.start) as u32);
        Extent { offset: request.offset, end, first, pages }
    }

    #[inline(always)]
    fn serve(&mut self, request: &Request) -> Completion {
        let idle_from = self.queue.drained();
        let (arrival, admitted) = self.queue.admit(request.at_ns);
        if idle_from < arrival {
            let Ok(()) = self.ftl.clean_idle(idle_from, arrival);
        }
        let mut chain = Chain::at(arrival);
        chain.wait(admitted, Part::Queue);
        self.host.requests[request.op as usize] += 1;
        let last = match request.op {
            Op::Read => self.read(request, chain),
            Op::Write => self.write(request, chain),
            Op::Trim => self.trim(request, chain),
            Op::Flush => self.flush(chain),
        };
        self.queue.complete(last.now);
        Completion { arrival_ns: arrival, done_ns: last.now, blame: last.blame }
    }

    #[inline(always)]
    fn read(&mut self, request: &Request, start: Chain) -> Chain {
        let extent = self.extent(request);
        self.host.read_pages += u64::from(extent.pages);
        let mut last = start;
        for page in 0..extent.pages {
            let mut chain = start;
            let access = access(extent, page, Touch::Read);
            let Ok(()) = self.ftl.translate(access, &mut chain);
            self.host.empty_reads += u64::from(!self.fetch(access.lpn, &mut chain));
            last = later(last, chain);
        }
        last
    }

    /// Reads a translated page; the answer is whether it held something.
    #[inline(always)]
    fn fetch(&mut self, lpn: Lpn, chain: &mut Chain) -> bool {
        let Ok(found) = self.ftl.read(lpn, chain);
        self.data.unload(lpn, found, self.ftl.nand());
        found
    }

    #[inline(always)]
    fn write(&mut self, request: &Request, mut start: Chain) -> Chain {
        let extent = self.extent(request);
        self.host.write_pages += u64::from(extent.pages);
        let Ok(()) = self.ftl.command(Lpn::new(extent.first), extent.pages, &mut start);
        let mut last = start;
        for page in 0..extent.pages {
            let mut chain = start;
            let access = access(extent, page, Touch::Write);
            let Ok(()) = self.ftl.translate(access, &mut chain);
            if self.covers_in_part(extent, page) {
                self.host.merge_reads += u64::from(self.fetch(access.lpn, &mut chain));
            }
            self.data.load(access.lpn, self.ftl.nand_mut());
            let Ok(()) = self.ftl.write(access.lpn, extent.pages, &mut chain);
            last = later(last, chain);
        }
        last
    }

    #[inline(always)]
    fn covers_in_part(&self, extent: Extent, page: u32) -> bool {
        let begin = u64::from(extent.first + page) << self.log2_page;
        begin < extent.offset || extent.end < begin + (1 << self.log2_page)
    }

    /// Only pages that are covered as a whole can be forgotten.
    fn trim(&mut self, request: &Request, mut chain: Chain) -> Chain {
        self.extent(request);
        let Range { start, end } = whole_pages(request, self.log2_page);
        let (first, past) = (start as u32, end as u32);
        if first < past {
            (first..past).for_each(|lpn| self.data.forget(Lpn::new(lpn)));
            let Ok(trimmed) = self.ftl.trim(first..past, &mut chain);
            self.host.trimmed_pages += trimmed;
        }
        chain
    }

    /// There is no volatile buffer: a flush waits for what was admitted before it.
    fn flush(&self, mut chain: Chain) -> Chain {
        chain.wait(self.queue.drained(), Part::Queue);
        chain
    }

    #[inline(always)]
    fn look_ahead(&self, batch: &[Request], at: usize) {
        let lpn = |ahead: usize| {
            let lpn = batch.get(at + ahead)?.offset >> self.log2_page;
            (lpn < self.logical_pages).then(|| Lpn::new(lpn as u32))
        };
        if let Some(lpn) = lpn(ENTRY_AHEAD) {
            self.ftl.prefetch_entry(lpn);
        }
        if let Some(lpn) = lpn(PAGE_AHEAD) {
            self.ftl.prefetch_page(lpn);
        }
    }
}

/// The pages that a read or a write touches, in the order in which their map entries are accessed.
#[inline(always)]
pub fn pages(request: &Request, log2_page: u32) -> Range<u64> {
    let first = request.offset >> log2_page;
    // No bytes are no pages, wherever they start.
    if request.length == 0 {
        return first..first;
    }
    first..(request.offset + request.length).div_ceil(1 << log2_page)
}

/// The pages that a trim covers as a whole: those that it forgets.
pub fn whole_pages(request: &Request, log2_page: u32) -> Range<u64> {
    let end = (request.offset + request.length) >> log2_page;
    request.offset.div_ceil(1 << log2_page)..end
}

#[inline(always)]
fn access(extent: Extent, page: u32, touch: Touch) -> Access {
    let lpn = Lpn::new(extent.first + page);
    Access { lpn, touch, remaining: extent.pages - page, first: page == 0, mapped: false }
}

#[inline(always)]
fn later(a: Chain, b: Chain) -> Chain {
    if b.now >= a.now { b } else { a }
}

impl<N, M, D> Device for Ssd<N, M, D>
where
    N: Nand<Error = core::convert::Infallible> + Send,
    M: Mapping + Send,
    D: HostData<N> + Send,
{
    fn run(&mut self, batch: &[Request], done: &mut Vec<Completion>) {
        for (at, request) in batch.iter().enumerate() {
            self.look_ahead(batch, at);
            let completion = self.serve(request);
            done.push(completion);
        }
    }

    fn counters(&self) -> Counters {
        Counters {
            host: self.host,
            flash: self.ftl.nand().counts(),
            occupation: self.ftl.nand().occupation(),
            map: self.ftl.mapping().stats(),
            cleans: self.ftl.cleans(),
            sample_reads: self.ftl.sample_reads(),
        }
    }

    fn flush_map(&mut self) {
        let Ok(()) = self.ftl.flush_map(&mut Chain::at(self.queue.drained()));
    }

    fn foresee(&mut self, future: Future) {
        self.ftl.foresee(future);
    }

    fn foresee_writes(&mut self, future: Future) {
        self.ftl.foresee_writes(future);
    }

    fn restart(&mut self) {
        self.ftl.restart();
        self.queue.restart();
        self.host = HostCounts::default();
    }

    fn streams(&self) -> Vec<StreamCounts> {
        self.ftl.streams().to_vec()
    }

    fn placement_size(&self) -> (u64, Option<u32>) {
        let placement = self.ftl.placement();
        (placement.memory_bytes(), placement.extents())
    }

    fn cache_bytes(&self) -> u64 {
        self.ftl.mapping().cache_bytes()
    }

    fn wear(&self) -> Vec<u32> {
        self.ftl.blocks().wear().collect()
    }

    fn free_units(&self) -> u32 {
        self.ftl.blocks().free_units()
    }

    fn check(&self) {
        self.ftl.check();
    }
}
