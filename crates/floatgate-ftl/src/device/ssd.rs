//! The drive: command queues and a write buffer in front of a translation layer.

mod ahead;
mod paced;

use alloc::vec::Vec;
use core::convert::Infallible;
use core::slice;

use super::outstanding::{Outstanding, queued};
use super::page_io::PageIo;
use super::{Counters, Device, DeviceClock, HostCounts, HostData, HostLink, Inspect, WriteBuffer};
use crate::addr::Lpn;
use crate::ftl::Ftl;
use crate::future::FutureKnowledge;
use crate::geometry::Geometry;
use crate::nand::{Chain, Clock, Component, Ended, Nand, Recorded, Recording, Served, Server};
use crate::queue::{Arbiter, DriveStep, Queue};
use crate::request::{Completion, Op, Request};
use crate::saved::State;
use crate::unit_table::UnitTable;

/// Drive with translation layer `F` and host data `D`.
pub struct Ssd<F, D> {
    io: PageIo<F, D>,
    queue: Queue,
    /// Replaces `queue` if there are several queues, or if commands begin one by one.
    arbiter: Option<Arbiter>,
    buffer: Option<WriteBuffer>,
    link: HostLink,
    outstanding: Outstanding,
    /// Request that a recording observes.
    recorded: Option<Request>,
}

impl<F, D> Ssd<F, D>
where
    F: Ftl<Medium: Nand<Error = Infallible>>,
    D: HostData<F::Medium>,
{
    /// Creates a drive at time zero.
    pub fn new(ftl: F, data: D, queue: Queue, geometry: &Geometry) -> Self {
        let io = PageIo::new(ftl, data, geometry);
        Self {
            io,
            queue,
            arbiter: None,
            buffer: None,
            link: HostLink::default(),
            outstanding: Outstanding::default(),
            recorded: None,
        }
    }

    /// Adds an arbiter for several queues, or for a queue that begins commands one by one.
    pub fn with_arbiter(self, arbiter: Option<Arbiter>) -> Self {
        Self { arbiter, ..self }
    }

    /// Adds a write buffer.
    pub fn with_buffer(self, buffer: Option<WriteBuffer>) -> Self {
        Self { buffer, ..self }
    }

    /// Adds costs of commands in addition to their work.
    pub fn with_link(self, link: HostLink) -> Self {
        Self { link, ..self }
    }

    /// Returns the FTL and the host data, and drops the rest.
    pub fn into_parts(self) -> (F, D) {
        (self.io.ftl, self.io.data)
    }

    /// Returns the FTL.
    pub fn ftl(&self) -> &F {
        &self.io.ftl
    }

    /// Returns the FTL.
    pub fn ftl_mut(&mut self) -> &mut F {
        &mut self.io.ftl
    }

    /// Returns the host data.
    pub fn data(&self) -> &D {
        &self.io.data
    }

    /// Returns the host data.
    pub fn data_mut(&mut self) -> &mut D {
        &mut self.io.data
    }

    // Interface for a host layer that sends commands of its own.

    /// Returns whether the drive begins requests as it admits them: it has no arbiter and no write
    /// buffer.
    pub(super) fn is_plain(&self) -> bool {
        self.arbiter.is_none() && self.buffer.is_none()
    }

    pub(super) fn queue(&mut self) -> &mut Queue {
        &mut self.queue
    }

    /// Attributes the following operations to the requests from `number` on: a single request, or
    /// several requests that the drive reads or writes together.
    #[inline(always)]
    pub(super) fn begin_requests(&mut self, number: u64, requests: &[Request]) {
        if requests.iter().all(|request| request.op.is_measured()) {
            self.io.clock().begin_requests(number..number + requests.len() as u64);
        }
    }

    pub(super) fn send(&mut self, chain: &mut Chain) {
        self.link.send(chain, self.io.clock());
    }

    pub(super) fn acknowledge(&mut self, chain: &mut Chain) {
        self.link.acknowledge(chain, self.io.clock());
    }

    /// Transfers the data of a write over the link.
    #[inline(always)]
    pub(super) fn receive(&mut self, bytes: u64, chain: &mut Chain) {
        self.link.transfer(chain, Server::LinkIn, bytes, self.io.clock());
    }

    /// Transfers the data of a read over the link.
    #[inline(always)]
    pub(super) fn answer(&mut self, bytes: u64, chain: &mut Chain) {
        self.link.transfer(chain, Server::LinkOut, bytes, self.io.clock());
    }

    pub(super) fn io(&mut self) -> &mut PageIo<F, D> {
        &mut self.io
    }

    pub(super) fn outstanding(&mut self) -> &mut Outstanding {
        &mut self.outstanding
    }

    /// Runs requests through a single queue; the drive works on all admitted commands.
    #[inline(always)]
    fn run_straight(&mut self, requests: &[Request], count: usize, done: &mut Vec<Completion>) {
        for (at, request) in requests[..count].iter().enumerate() {
            self.look_ahead(requests, at);
            loop {
                let now = self.io.now();
                match self.queue.admission(request.at_ns, now, 0) {
                    Some(admitted) if admitted <= now => break,
                    Some(admitted) => self.wait(admitted),
                    None => self.wait(u64::MAX),
                }
            }
            let arrival = self.queue.arrival(request.at_ns, 0);
            self.queue.admit();
            self.announce(request);
            let number = self.outstanding.next();
            if let Some(completion) = self.serve(request, number, (0, arrival)) {
                done.push(completion);
            }
        }
    }

    /// Runs requests in the order in which the arbiter begins them.
    fn run_arbitrated(&mut self, requests: &[Request], count: usize) {
        loop {
            let now = self.io.now();
            let Some(arbiter) = &mut self.arbiter else { return };
            match arbiter.next(requests, count, now) {
                DriveStep::Done => return arbiter.pass(count),
                DriveStep::Wait(until) => self.wait(until),
                DriveStep::Begin(turn) => {
                    for at in 0..arbiter.entered().len() {
                        let Some(arbiter) = &self.arbiter else { return };
                        let entered = arbiter.entered()[at];
                        self.look_ahead(requests, entered);
                        self.announce(&requests[entered]);
                    }
                    self.serve(&requests[turn.at], turn.number, (turn.queue, turn.arrival));
                }
            }
        }
    }

    /// Waits until a request is complete, or until `until`. Until then an idle drive may clean.
    #[inline(always)]
    fn wait(&mut self, until: u64) {
        if self.outstanding.running() == 0 && until != u64::MAX {
            self.io.clean_idle(self.io.now(), until);
        }
        self.play(until);
    }

    /// Advances time until a request is complete, or until `until`.
    #[inline(always)]
    fn play(&mut self, until: u64) {
        let has_ended = self.io.clock().play(until);
        assert!(has_ended || until != u64::MAX, "what is begun ends");
        while let Some(ended) = self.io.clock().ended() {
            self.end(ended.ticket, &ended);
        }
    }

    #[inline(always)]
    pub(super) fn end(&mut self, number: u64, ended: &Ended) {
        let (request, queue, completion) = self.outstanding.end(number, ended);
        let Completion { arrival_ns, done_ns, blame } = completion;
        if request.op.is_measured()
            && self.io.clock().end_request(&Served { number, arrival_ns, done_ns, blame })
        {
            self.recorded = Some(request);
        }
        match &mut self.arbiter {
            None => self.queue.complete(ended.at_ns),
            Some(arbiter) => arbiter.complete(queue, ended.at_ns),
        }
    }

    /// Advances time until all requests are complete.
    fn finish(&mut self) {
        while self.outstanding.running() > 0 {
            self.play(u64::MAX);
        }
        self.rest();
    }

    /// Empties the queues after the last request of the host.
    pub(super) fn rest(&mut self) {
        let now = self.io.now();
        self.queue.rest(now);
        if let Some(arbiter) = &mut self.arbiter {
            arbiter.rest(now);
        }
    }

    /// Announces a command that has entered the queue: the buffer may keep the pages that it will
    /// use.
    #[inline(always)]
    fn announce(&mut self, request: &Request) {
        if let Some(buffer) = &mut self.buffer
            && matches!(request.op, Op::Read | Op::Write)
            && request.length > 0
        {
            buffer.queued(self.io.extent(request));
        }
    }

    /// Begins request `number` of a queue. Returns its completion if the request takes no time.
    #[inline(always)]
    fn serve(
        &mut self,
        request: &Request,
        number: u64,
        (queue, arrival): (usize, u64),
    ) -> Option<Completion> {
        let mut chain = Chain::new(request.op == Op::Read);
        self.begin_requests(number, slice::from_ref(request));
        self.send(&mut chain);
        if request.op == Op::Read {
            self.io.clock().wait_in_line(&mut chain);
        }
        if self.io.accepts(request) {
            if request.op == Op::Write {
                self.receive(request.length, &mut chain);
            }
            chain = self.carry_out(request, chain);
            if request.op == Op::Read {
                self.answer(request.length, &mut chain);
            }
        }
        self.acknowledge(&mut chain);
        let now = self.io.now();
        let before = queued(arrival, now);
        if self.arbiter.is_none() && !self.io.clock().takes_time() {
            let completion = Completion { arrival_ns: arrival, done_ns: now, blame: before };
            self.outstanding.pass();
            self.queue.complete(now);
            return Some(completion);
        }
        self.outstanding.begin((number, request), (queue, arrival, before), chain);
        self.io.clock().watch(chain, number);
        None
    }

    #[inline(always)]
    fn carry_out(&mut self, request: &Request, chain: Chain) -> Chain {
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
            (Op::Flush, _) => self.flush(chain),
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

    /// Writes the buffered pages to flash, and waits for all requests that were begun earlier.
    fn flush(&mut self, mut chain: Chain) -> Chain {
        self.drain(&mut chain);
        self.wait_for_all(&mut chain);
        self.io.flush(&mut chain);
        chain
    }

    /// Delays a chain until all requests that were begun earlier have ended.
    pub(super) fn wait_for_all(&mut self, chain: &mut Chain) {
        let all = self.outstanding.all(self.io.clock());
        self.io.clock().wait(chain, all, Component::Queue);
    }

    fn drain(&mut self, chain: &mut Chain) {
        if let Some(cache) = &mut self.buffer {
            self.io.drain(cache, chain);
        }
    }
}

impl<F, D> Device for Ssd<F, D>
where
    F: Ftl<Medium: Nand<Error = Infallible>> + Send,
    D: HostData<F::Medium> + Send,
{
    fn run_ahead(&mut self, requests: &[Request], count: usize, done: &mut Vec<Completion>) {
        match self.arbiter {
            None => self.run_straight(requests, count, done),
            Some(_) => self.run_arbitrated(requests, count),
        }
        if requests.is_empty() {
            self.finish();
        }
        self.outstanding.report(done);
    }

    fn reset_counters(&mut self) {
        self.io.ftl.reset_counters();
        self.queue.reset_counters();
        self.outstanding.reset();
        if let Some(arbiter) = &mut self.arbiter {
            arbiter.reset_counters();
        }
        if let Some(buffer) = &mut self.buffer {
            buffer.reset_counters();
        }
        self.io.counts = HostCounts::default();
    }

    fn sees_ahead(&self) -> usize {
        self.arbiter.as_ref().map_or(0, Arbiter::window)
    }

    fn write_back(&mut self) {
        let mut chain = Chain::START;
        self.drain(&mut chain);
        let Ok(()) = self.io.ftl.flush_map(&mut chain);
        self.io.clock().play(u64::MAX);
        self.rest();
    }

    /// Only without a write buffer. The queues are empty when the counters are zero.
    fn state(&mut self) -> Option<&mut dyn State> {
        match self.buffer {
            None => self.io.ftl.state(),
            Some(_) => None,
        }
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

impl<F, D> Inspect for Ssd<F, D>
where
    F: Ftl<Medium: Nand<Error = Infallible>>,
    D: HostData<F::Medium>,
{
    fn counters(&self) -> Counters {
        let buffer = self.buffer.as_ref().map(WriteBuffer::counts);
        let mut counters = Counters { host: self.io.counts, buffer, ..Counters::default() };
        self.io.ftl.report(&mut counters);
        counters
    }

    fn units(&self) -> &UnitTable {
        self.io.ftl.units()
    }

    fn check(&self) {
        if let Some(buffer) = &self.buffer {
            buffer.check();
        }
        self.io.ftl.check();
    }

    fn room_until_cleaning(&self) -> Option<u64> {
        self.io.ftl.room_until_cleaning()
    }
}

impl<F, D> DeviceClock for Ssd<F, D>
where
    F: Ftl<Medium: Nand<Error = Infallible>>,
    D: HostData<F::Medium>,
{
    fn freeze(&mut self) {
        self.io.clock().freeze();
    }

    fn thaw(&mut self) {
        self.io.clock().thaw();
    }

    fn record(&mut self, recording: Recording) {
        self.recorded = None;
        self.io.clock().record(recording);
    }

    fn recorded(&self) -> Option<(Recorded, Option<Request>)> {
        Some((self.io.ftl.nand().clock().recorded()?, self.recorded))
    }
}
