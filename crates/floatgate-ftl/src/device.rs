//! A drive as the host sees it: requests in bytes, command queues, a write buffer, completions.
//!
//! The pages of a request are independent: each is a chain of its own from the admission of the
//! request, and the request is done when the last chain is. The blame of that chain is the blame of
//! the request. A write that covers a page in part reads the page first, if it holds something.

mod buffered;
mod link;
mod sequenced;

pub use buffered::{Acknowledge, WriteBuffer};
pub use link::Link;
pub use sequenced::{Dispatching, Sequenced};

use alloc::vec::Vec;
use core::ops::Range;

use crate::addr::Lpn;
use crate::blocks::Blocks;
pub use crate::counters::{BufferCounts, Counters, HostCounts, LayerCounts};
use crate::ftl::Ftl;
use crate::future::Foreknowledge;
use crate::mapping::{Access, Touch};
pub use crate::nand::HostData;
use crate::nand::{Chain, Nand, Part};
use crate::queue::{Arbiter, Queue};
use crate::request::{Completion, Op, Request};

/// Requests ahead for which the map entry is asked for.
const ENTRY_AHEAD: usize = 32;
/// Requests ahead for which the page that will be replaced is asked for.
const PAGE_AHEAD: usize = 16;

/// Any drive. Called once per batch of requests.
pub trait Device: Send {
    /// Serves the first `count` requests, and appends what became of each. The others are those
    /// that come after them, as many as [`Device::sees_ahead`] says: the first of the next call.
    fn run_ahead(&mut self, requests: &[Request], count: usize, done: &mut Vec<Completion>);

    /// Enters what every layer has counted since the last [`Device::restart`].
    fn report(&self, counters: &mut Counters);

    /// The state of the erase units; wear is counted from the last [`Device::restart`].
    fn units(&self) -> &Blocks;

    /// Counters and clocks back to zero, an empty queue; the drive stays as full and as worn.
    fn restart(&mut self);

    /// Recomputes what can be recomputed, and asserts that it agrees.
    fn check(&self);

    /// How many requests after those that it is to serve the drive wants to see: what can stand in
    /// its queues meanwhile.
    fn sees_ahead(&self) -> usize {
        0
    }

    /// Writes back the write buffer and the mapping cache, as a drive does that has nothing else to
    /// do.
    fn settle(&mut self) {}

    /// Tells the policies that are bounds what the host will do from now on.
    fn foresee(&mut self, _: Foreknowledge) {}

    /// The power fails and comes back between two requests: what only the write buffer held is
    /// gone. The translation layer is taken to know all that it did.
    fn cut_power(&mut self) {}

    /// Serves requests, and appends what became of each.
    fn run(&mut self, batch: &[Request], done: &mut Vec<Completion>) {
        self.run_ahead(batch, batch.len(), done);
    }

    /// The account of all layers.
    fn counters(&self) -> Counters {
        let mut counters = Counters::default();
        self.report(&mut counters);
        counters
    }

    /// Erases of every unit since the last [`Device::restart`].
    fn wear(&self) -> Vec<u32> {
        self.units().wear().collect()
    }

    /// Pages of every unit that hold what is still wanted, translation pages included.
    fn valid_pages(&self) -> Vec<u32> {
        self.units().valid_pages().collect()
    }

    /// Units that are free.
    fn free_units(&self) -> u32 {
        self.units().free_units()
    }
}

/// A drive with translation layer `F`, whose host data is `D`.
pub struct Ssd<F, D> {
    ftl: F,
    data: D,
    queue: Queue,
    /// In place of the queue, if there are several, or if commands are begun one by one.
    arbiter: Option<Arbiter>,
    buffer: Option<WriteBuffer>,
    link: Link,
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

impl<F, D> Ssd<F, D>
where
    F: Ftl<Medium: Nand<Error = core::convert::Infallible>>,
    D: HostData<F::Medium>,
{
    /// A drive at time zero.
    pub fn new(ftl: F, data: D, queue: Queue, geometry: &crate::geometry::Geometry) -> Self {
        Self {
            ftl,
            data,
            queue,
            arbiter: None,
            buffer: None,
            link: Link::default(),
            host: HostCounts::default(),
            log2_page: geometry.log2_page_bytes(),
            logical_pages: u64::from(geometry.logical_pages()),
        }
    }

    /// The same drive behind several queues, or one that begins commands one by one.
    pub fn with_arbiter(self, arbiter: Option<Arbiter>) -> Self {
        Self { arbiter, ..self }
    }

    /// The same drive with a write buffer.
    pub fn with_buffer(self, buffer: Option<WriteBuffer>) -> Self {
        Self { buffer, ..self }
    }

    /// The same drive where commands cost something beside their work.
    pub fn with_link(self, link: Link) -> Self {
        Self { link, ..self }
    }

    /// The FTL and the host's data, without the rest.
    pub fn into_parts(self) -> (F, D) {
        (self.ftl, self.data)
    }

    /// The FTL behind the queue.
    pub fn ftl(&self) -> &F {
        &self.ftl
    }

    /// The FTL behind the queue.
    pub fn ftl_mut(&mut self) -> &mut F {
        &mut self.ftl
    }

    /// The host's data.
    pub fn data_mut(&mut self) -> &mut D {
        &mut self.data
    }

    #[inline(always)]
    fn extent(&self, request: &Request) -> Extent {
        let end = request.offset + request.length;
        let pages = pages(request, self.log2_page);
        assert!(pages.end <= self.logical_pages, "{request:?} ends beyond the drive");
        let (first, pages) = (pages.start as u32, (pages.end - pages.start) as u32);
        Extent { offset: request.offset, end, first, pages }
    }

    /// One queue, all commands of which are worked on.
    #[inline(always)]
    fn run_straight(&mut self, requests: &[Request], count: usize, done: &mut Vec<Completion>) {
        for (at, request) in requests[..count].iter().enumerate() {
            self.look_ahead(requests, at);
            let drained = self.queue.drained();
            let (arrival, admitted) = self.queue.admit(request.at_ns);
            if self.buffer.is_some() {
                self.announce(request);
            }
            let completion = self.serve(request, arrival, admitted, drained);
            self.queue.complete(completion.done_ns);
            done.push(completion);
        }
    }

    /// Commands in the order in which they are begun.
    fn run_arbitrated(
        &mut self,
        arbiter: &mut Arbiter,
        requests: &[Request],
        count: usize,
        done: &mut Vec<Completion>,
    ) {
        while let Some(turn) = arbiter.next(requests, count) {
            for &at in arbiter.entered() {
                self.announce(&requests[at]);
            }
            let request = &requests[turn.at];
            let completion = self.serve(request, turn.arrival, turn.begin, arbiter.drained());
            arbiter.complete(&turn, completion);
        }
        arbiter.take(count, done);
    }

    /// A request that arrived at `arrival` is begun; all before it are done at `drained`.
    #[inline(always)]
    fn serve(&mut self, request: &Request, arrival: u64, begin: u64, drained: u64) -> Completion {
        if drained < arrival {
            let Ok(()) = self.ftl.clean_idle(drained, arrival);
        }
        let mut chain = Chain::at(arrival);
        chain.wait(begin, Part::Queue);
        self.link.send(&mut chain);
        self.host.requests[request.op as usize] += 1;
        if self.refuses(request) {
            self.link.acknowledge(&mut chain);
            return Completion { arrival_ns: arrival, done_ns: chain.now, blame: chain.blame };
        }
        let buffered = self.buffer.is_some();
        let mut last = match request.op {
            Op::Read if buffered => self.read_buffered(request, chain),
            Op::Read => self.read(request, chain),
            Op::Write if buffered => self.write_buffered(request, chain),
            Op::Write => self.write(request, chain),
            Op::Trim => self.trim(request, chain),
            Op::Flush => self.flush(chain, drained),
        };
        self.link.acknowledge(&mut last);
        Completion { arrival_ns: arrival, done_ns: last.now, blame: last.blame }
    }

    /// Whether a request is not carried out, as the drive is read-only for good; it is counted.
    #[inline(always)]
    fn refuses(&mut self, request: &Request) -> bool {
        let refuses = matches!(request.op, Op::Write | Op::Trim) && self.is_read_only();
        self.host.refused += u64::from(refuses);
        refuses
    }

    #[inline(always)]
    fn is_read_only(&self) -> bool {
        self.ftl.nand().is_read_only()
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
            let found = self.fetch(access.lpn, &mut chain);
            self.host.empty_reads += u64::from(!found);
            self.host.failed_pages += u64::from(found && self.ftl.nand().read_failed());
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
                let found = self.fetch(access.lpn, &mut chain);
                self.host.merge_reads += u64::from(found);
                if found && self.ftl.nand().read_failed() {
                    // What is not overwritten of it is lost, and must not come back as if it were.
                    self.host.unwritten_pages += 1;
                    last = later(last, chain);
                    continue;
                }
            }
            self.data.accept(access.lpn);
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
            self.host.trimmed_pages += self.trim_buffered(first..past);
            (first..past).for_each(|lpn| self.data.forget(Lpn::new(lpn)));
            let Ok(trimmed) = self.ftl.trim(first..past, &mut chain);
            self.host.trimmed_pages += trimmed;
        }
        chain
    }

    /// What is buffered goes to the flash, and what was begun before is waited for.
    fn flush(&mut self, mut chain: Chain, drained: u64) -> Chain {
        self.drain(&mut chain);
        chain.wait(drained, Part::Queue);
        let Ok(()) = self.ftl.flush(&mut chain);
        chain
    }

    /// When everything that was begun is done.
    fn drained(&self) -> u64 {
        self.arbiter.as_ref().map_or(self.queue.drained(), Arbiter::drained)
    }

    #[inline(always)]
    fn look_ahead(&self, batch: &[Request], at: usize) {
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

impl<F, D> Device for Ssd<F, D>
where
    F: Ftl<Medium: Nand<Error = core::convert::Infallible>> + Send,
    D: HostData<F::Medium> + Send,
{
    fn run_ahead(&mut self, requests: &[Request], count: usize, done: &mut Vec<Completion>) {
        match self.arbiter.take() {
            None => self.run_straight(requests, count, done),
            Some(mut arbiter) => {
                self.run_arbitrated(&mut arbiter, requests, count, done);
                self.arbiter = Some(arbiter);
            }
        }
    }

    fn sees_ahead(&self) -> usize {
        self.arbiter.as_ref().map_or(0, Arbiter::window)
    }

    fn report(&self, counters: &mut Counters) {
        counters.host = self.host;
        counters.buffer = self.buffer.as_ref().map(WriteBuffer::counts);
        self.ftl.report(counters);
    }

    fn units(&self) -> &Blocks {
        self.ftl.blocks()
    }

    fn settle(&mut self) {
        let mut chain = Chain::at(self.drained());
        self.drain(&mut chain);
        let Ok(()) = self.ftl.flush_map(&mut chain);
    }

    fn foresee(&mut self, mut known: Foreknowledge) {
        if let (Some(buffer), Some(blocks)) = (&mut self.buffer, known.blocks.take()) {
            buffer.foresee(blocks);
        }
        self.ftl.foresee(known);
    }

    fn cut_power(&mut self) {
        if let Some(buffer) = &mut self.buffer {
            buffer.cut_power();
        }
    }

    fn restart(&mut self) {
        self.ftl.restart();
        self.queue.restart();
        self.link.restart();
        if let Some(arbiter) = &mut self.arbiter {
            arbiter.restart();
        }
        if let Some(buffer) = &mut self.buffer {
            buffer.restart();
        }
        self.host = HostCounts::default();
    }

    fn check(&self) {
        if let Some(buffer) = &self.buffer {
            buffer.check();
        }
        self.ftl.check();
    }
}
