//! The drive: command queues and a write buffer before a translation layer.

use alloc::vec::Vec;
use core::convert::Infallible;

use super::page_io::PageIo;
use super::{Counters, Device, HostCounts, HostData, HostLink, WriteBuffer};
use crate::addr::Lpn;
use crate::ftl::Ftl;
use crate::future::FutureKnowledge;
use crate::geometry::Geometry;
use crate::nand::{Chain, Nand, Part};
use crate::queue::{Arbiter, Queue};
use crate::request::{Completion, Op, Request};
use crate::unit_table::UnitTable;

/// A drive with translation layer `F`, whose host data is `D`.
pub struct Ssd<F, D> {
    io: PageIo<F, D>,
    queue: Queue,
    /// In place of the queue, if there are several, or if commands are begun one by one.
    arbiter: Option<Arbiter>,
    buffer: Option<WriteBuffer>,
    link: HostLink,
}

impl<F, D> Ssd<F, D>
where
    F: Ftl<Medium: Nand<Error = Infallible>>,
    D: HostData<F::Medium>,
{
    /// A drive at time zero.
    pub fn new(ftl: F, data: D, queue: Queue, geometry: &Geometry) -> Self {
        let io = PageIo::new(ftl, data, geometry);
        Self { io, queue, arbiter: None, buffer: None, link: HostLink::default() }
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
    pub fn with_link(self, link: HostLink) -> Self {
        Self { link, ..self }
    }

    /// The FTL and the host's data, without the rest.
    pub fn into_parts(self) -> (F, D) {
        (self.io.ftl, self.io.data)
    }

    /// The FTL behind the queue.
    pub fn ftl(&self) -> &F {
        &self.io.ftl
    }

    /// The FTL behind the queue.
    pub fn ftl_mut(&mut self) -> &mut F {
        &mut self.io.ftl
    }

    /// The host's data.
    pub fn data_mut(&mut self) -> &mut D {
        &mut self.io.data
    }

    // What a host layer sees that sends commands of its own.

    /// Whether requests are begun as they are admitted, and nothing holds them back.
    pub(super) fn is_plain(&self) -> bool {
        self.arbiter.is_none() && self.buffer.is_none()
    }

    /// The queue that requests are admitted to.
    pub(super) fn queue(&mut self) -> &mut Queue {
        &mut self.queue
    }

    /// The handling of commands.
    pub(super) fn link(&mut self) -> &mut HostLink {
        &mut self.link
    }

    /// The pages.
    pub(super) fn io(&mut self) -> &mut PageIo<F, D> {
        &mut self.io
    }

    /// One queue, all commands of which are worked on.
    #[inline(always)]
    fn run_straight(&mut self, requests: &[Request], count: usize, done: &mut Vec<Completion>) {
        for (at, request) in requests[..count].iter().enumerate() {
            self.io.look_ahead(requests, at);
            let drained = self.queue.drained();
            let (arrival, admitted) = self.queue.admit(request.at_ns);
            self.announce(request);
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

    /// A command has come to stand in the queue: the buffer may want to keep what it will use.
    #[inline(always)]
    fn announce(&mut self, request: &Request) {
        if let Some(buffer) = &mut self.buffer
            && matches!(request.op, Op::Read | Op::Write)
            && request.length > 0
        {
            buffer.queued(self.io.extent(request));
        }
    }

    /// A request that arrived at `arrival` is begun; all before it are done at `drained`.
    #[inline(always)]
    fn serve(&mut self, request: &Request, arrival: u64, begin: u64, drained: u64) -> Completion {
        if drained < arrival {
            self.io.clean_idle(drained, arrival);
        }
        let mut chain = Chain::at(arrival);
        chain.wait(begin, Part::Queue);
        self.link.send(&mut chain);
        let mut last = match self.io.accepts(request) {
            true => self.carry_out(request, chain, drained),
            false => chain,
        };
        self.link.acknowledge(&mut last);
        Completion { arrival_ns: arrival, done_ns: last.now, blame: last.blame }
    }

    #[inline(always)]
    fn carry_out(&mut self, request: &Request, chain: Chain, drained: u64) -> Chain {
        match (request.op, &mut self.buffer) {
            (Op::Read, None) => {
                let extent = self.io.extent(request);
                self.io.read(extent, Lpn::new(extent.first), chain)
            }
            (Op::Write, None) => self.io.write(self.io.extent(request), chain),
            (Op::Read, Some(cache)) => self.io.read_buffered(cache, self.io.extent(request), chain),
            (Op::Write, Some(cache)) => {
                self.io.write_buffered(cache, self.io.extent(request), chain)
            }
            (Op::Trim, _) => self.trim(request, chain),
            (Op::Flush, _) => self.flush(chain, drained),
        }
    }

    fn trim(&mut self, request: &Request, mut chain: Chain) -> Chain {
        let lpns = self.io.trimmed(request);
        if let Some(cache) = &mut self.buffer {
            self.io.trim_buffered(cache, lpns.clone());
        }
        self.io.trim(lpns, &mut chain);
        chain
    }

    /// What is buffered goes to the flash, and what was begun before is waited for.
    fn flush(&mut self, mut chain: Chain, drained: u64) -> Chain {
        self.drain(&mut chain);
        chain.wait(drained, Part::Queue);
        self.io.flush(&mut chain);
        chain
    }

    fn drain(&mut self, chain: &mut Chain) {
        if let Some(cache) = &mut self.buffer {
            self.io.drain(cache, chain);
        }
    }

    /// When everything that was begun is done.
    fn drained(&self) -> u64 {
        self.arbiter.as_ref().map_or(self.queue.drained(), Arbiter::drained)
    }
}

impl<F, D> Device for Ssd<F, D>
where
    F: Ftl<Medium: Nand<Error = Infallible>> + Send,
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

    fn report(&self, counters: &mut Counters) {
        counters.host = self.io.counts;
        counters.buffer = self.buffer.as_ref().map(WriteBuffer::counts);
        self.io.ftl.report(counters);
    }

    fn units(&self) -> &UnitTable {
        self.io.ftl.units()
    }

    fn reset_counters(&mut self) {
        self.io.ftl.reset_counters();
        self.queue.reset_counters();
        self.link.reset_counters();
        if let Some(arbiter) = &mut self.arbiter {
            arbiter.reset_counters();
        }
        if let Some(buffer) = &mut self.buffer {
            buffer.reset_counters();
        }
        self.io.counts = HostCounts::default();
    }

    fn check(&self) {
        if let Some(buffer) = &self.buffer {
            buffer.check();
        }
        self.io.ftl.check();
    }

    fn sees_ahead(&self) -> usize {
        self.arbiter.as_ref().map_or(0, Arbiter::window)
    }

    fn write_back(&mut self) {
        let mut chain = Chain::at(self.drained());
        self.drain(&mut chain);
        let Ok(()) = self.io.ftl.flush_map(&mut chain);
    }

    fn set_future(&mut self, mut known: FutureKnowledge) {
        if let (Some(buffer), Some(blocks)) = (&mut self.buffer, known.blocks.take()) {
            buffer.set_future(blocks);
        }
        self.io.ftl.set_future(known);
    }

    fn cut_power(&mut self) {
        if let Some(buffer) = &mut self.buffer {
            buffer.cut_power();
        }
    }
}
