//! A drive behind the host layer SHRD: who is sent when, and what it costs.
//!
//! Requests are dispatched in order. One is dispatched when it has its place in the queue, when the
//! drive takes another command, and, unless told otherwise, when no remap is under way. A small
//! write takes along the small writes behind it that have arrived by then. Requests of one twrite
//! complete together. A window is remapped when the log is low and no redirected read is under way;
//! its commands follow one another, and the entries of one are independent chains, as the pages of
//! a request are.

use alloc::collections::{BinaryHeap, VecDeque};
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::convert::Infallible;

use super::{Counters, Device, HostData, LayerCounts, Ssd};
use crate::addr::Lpn;
use crate::ftl::Remap;
use crate::future::FutureKnowledge;
use crate::host::{Piece, Remapping, Shrd};
use crate::nand::{Chain, Nand, Part};
use crate::request::{Completion, Op, Request};
use crate::unit_table::UnitTable;

/// When the host layer dispatches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dispatching {
    /// Commands in the drive at once. A twrite is one; so are a read and all its parts.
    pub commands: usize,
    /// Whether nothing is dispatched while a remap is under way.
    pub block_during_remap: bool,
    /// How long the host must have asked for nothing for the log to be remapped. None: never.
    pub idle_after_ns: Option<u64>,
    /// A twrite of no more requests than this waits for more, so many times.
    pub low_packing: (usize, u32),
}

impl Default for Dispatching {
    fn default() -> Self {
        Self { commands: 32, block_during_remap: true, idle_after_ns: None, low_packing: (16, 0) }
    }
}

/// A drive with translation layer `F` behind SHRD.
pub struct ShrdDevice<F, D> {
    drive: Ssd<F, D>,
    host: Shrd,
    dispatching: Dispatching,
    /// When the commands in the drive are done.
    commands: BinaryHeap<Reverse<u64>>,
    /// The last dispatch.
    now: u64,
    /// When the last remap, and the last redirected read, is done.
    remapped: u64,
    redirected: u64,
    /// What became of requests that were taken along.
    ready: VecDeque<Completion>,
    /// Arrivals of the requests of a twrite.
    packed: Vec<u64>,
    pieces: Vec<Piece>,
    dropped: Vec<Remapping>,
}

/// When a request was the next, and when it was dispatched after a remap.
#[derive(Clone, Copy)]
struct Turn {
    ready: u64,
    begin: u64,
}

impl Turn {
    /// What a request that arrived at `arrival` went through until it was dispatched.
    fn wait(&self, arrival: u64) -> Chain {
        let mut chain = Chain::at(arrival);
        chain.wait(self.ready, Part::Queue);
        chain.wait(self.begin, Part::Remap);
        chain
    }
}

impl<F, D> ShrdDevice<F, D>
where
    F: Remap<Medium: Nand<Error = Infallible>>,
    D: HostData<F::Medium>,
{
    /// The host layer before a drive, whose log is empty.
    pub fn new(mut drive: Ssd<F, D>, host: Shrd, dispatching: Dispatching) -> Self {
        assert!(drive.is_plain(), "SHRD stands alone");
        assert!(dispatching.commands > 0, "the drive takes a command");
        drive.io().limit(host.config().user_pages);
        Self {
            drive,
            host,
            dispatching,
            commands: BinaryHeap::with_capacity(dispatching.commands),
            now: 0,
            remapped: 0,
            redirected: 0,
            ready: VecDeque::new(),
            packed: Vec::new(),
            pieces: Vec::new(),
            dropped: Vec::new(),
        }
    }

    /// The drive.
    pub fn drive(&self) -> &Ssd<F, D> {
        &self.drive
    }

    /// The drive.
    pub fn drive_mut(&mut self) -> &mut Ssd<F, D> {
        &mut self.drive
    }

    /// The host layer.
    pub fn host(&self) -> &Shrd {
        &self.host
    }

    /// The drive when power is lost; what the host knew is lost.
    pub fn into_drive(self) -> Ssd<F, D> {
        self.drive
    }

    /// Serves the first request, and the others that it takes along.
    fn dispatch(&mut self, rest: &[Request]) {
        let (arrival, admitted) = self.drive.queue().admission(rest[0].at_ns);
        self.use_idle_time(arrival);
        let turn = self.turn(admitted);
        if self.host.is_small(&rest[0]) && !self.drive.io().is_read_only() {
            if self.host.begin() && self.pack(rest, turn) {
                return;
            }
            self.host.count_full();
        }
        self.now = turn.begin;
        let (arrival, _) = self.drive.queue().admit(rest[0].at_ns);
        let drained = self.drive.queue().drained();
        let mut last = self.serve(&rest[0], turn.wait(arrival), drained);
        self.drive.link().acknowledge(&mut last);
        self.complete(last.now, 1);
        let (done_ns, blame) = (last.now, last.blame);
        self.ready.push_back(Completion { arrival_ns: arrival, done_ns, blame });
    }

    /// When a request that is admitted at `admitted` is dispatched; the log is seen to before.
    fn turn(&mut self, admitted: u64) -> Turn {
        let mut ready = self.now.max(admitted);
        if self.commands.len() == self.dispatching.commands
            && let Some(Reverse(done)) = self.commands.pop()
        {
            ready = ready.max(done);
        }
        if self.host.is_low() && self.redirected <= ready && self.remapped <= ready {
            self.remap(ready);
        }
        let blocked = if self.dispatching.block_during_remap { self.remapped } else { 0 };
        Turn { ready, begin: ready.max(blocked) }
    }

    /// A command and `requests` requests are done.
    fn complete(&mut self, done: u64, requests: usize) {
        self.commands.push(Reverse(done));
        (0..requests).for_each(|_| self.drive.queue().complete(done));
    }

    /// Between the last completion and the next arrival.
    fn use_idle_time(&mut self, arrival: u64) {
        let drained = self.drive.queue().drained().max(self.remapped);
        if drained >= arrival {
            return;
        }
        if let Some(after) = self.dispatching.idle_after_ns {
            let mut now = drained.saturating_add(after);
            while now < arrival && self.remap(now) {
                now = self.remapped;
            }
        }
        if self.remapped.max(drained) < arrival {
            self.drive.io().clean_idle(self.remapped.max(drained), arrival);
        }
    }

    /// Packs the first requests into the twrite that has been begun, and writes it. The answer is
    /// whether there was room for any.
    fn pack(&mut self, rest: &[Request], mut turn: Turn) -> bool {
        let (few, mut retries) = self.dispatching.low_packing;
        self.packed.clear();
        for request in rest {
            let queue = self.drive.queue();
            let next = queue.admission_beside(request.at_ns, self.packed.len());
            let Some((_, admitted)) = next.filter(|_| self.host.is_small(request)) else { break };
            let is_early = admitted > turn.begin;
            if is_early && (retries == 0 || self.packed.len() > few) {
                break;
            }
            if !self.host.add(request) {
                break;
            }
            if is_early {
                retries -= 1;
                turn = Turn { ready: admitted, begin: admitted };
            }
            let (arrival, _) = queue.admit_beside(request.at_ns, self.packed.len());
            self.packed.push(arrival);
        }
        if self.packed.is_empty() {
            return false;
        }
        self.now = turn.begin;
        self.write_log(turn);
        true
    }

    fn write_log(&mut self, turn: Turn) {
        let (drive, requests) = (&mut self.drive, self.packed.len());
        let mut start = Chain::at(turn.begin);
        // The header, and when that is through the data.
        drive.link().send(&mut start);
        drive.link().send(&mut start);
        let mut last = drive.io().write_log(self.host.twrite(), requests as u64, start);
        drive.link().acknowledge(&mut last);
        for &arrival in &self.packed {
            let mut chain = turn.wait(arrival);
            for (sum, part) in chain.blame.0.iter_mut().zip(last.blame.0) {
                *sum += part;
            }
            let (done_ns, blame) = (last.now, chain.blame);
            self.ready.push_back(Completion { arrival_ns: arrival, done_ns, blame });
        }
        self.complete(last.now, requests);
    }

    /// A request that does not go to the log.
    fn serve(&mut self, request: &Request, mut chain: Chain, drained: u64) -> Chain {
        if !self.drive.io().accepts(request) {
            self.command(&mut chain);
            return chain;
        }
        match request.op {
            Op::Read => self.read(request, chain),
            Op::Write => self.write(request, chain),
            Op::Trim => self.trim(request, chain),
            Op::Flush => {
                self.command(&mut chain);
                chain.wait(drained, Part::Queue);
                self.drive.io().flush(&mut chain);
                chain
            }
        }
    }

    /// A command of no special kind is sent.
    fn command(&mut self, chain: &mut Chain) {
        self.host.count_command();
        self.drive.link().send(chain);
    }

    /// Each part of a read is a command.
    fn read(&mut self, request: &Request, start: Chain) -> Chain {
        let lpns = self.drive.io().extent(request).lpns();
        let redirected = self.host.redirect(lpns, &mut self.pieces);
        let mut last = start;
        for piece in &self.pieces {
            let mut sent = start;
            self.drive.link().send(&mut sent);
            last = last.last(self.drive.io().read_piece(piece, sent));
        }
        if redirected {
            self.redirected = self.redirected.max(last.now);
        }
        last
    }

    /// A write at its place: what the log has of these pages must not come back.
    fn write(&mut self, request: &Request, mut chain: Chain) -> Chain {
        let extent = self.drive.io().extent(request);
        let lpns = extent.lpns();
        for lpn in lpns.clone().map(Lpn::new).filter(|&lpn| extent.covers_in_part(lpn)) {
            // The drive completes the page from what is at its place.
            if let Some(entry) = self.host.remap_alone(lpn) {
                self.drive.link().send(&mut chain);
                chain = self.drive.io().remap(&[entry], chain);
                self.drive.link().acknowledge(&mut chain);
            }
        }
        self.dropped.clear();
        self.host.drop_pages(lpns, &mut self.dropped);
        self.command(&mut chain);
        self.drive.io().write(extent, chain)
    }

    /// A trim of pages, and of where they are in the log.
    fn trim(&mut self, request: &Request, mut chain: Chain) -> Chain {
        let lpns = self.drive.io().trimmed(request);
        self.dropped.clear();
        if !lpns.is_empty() {
            self.host.drop_pages(lpns.clone(), &mut self.dropped);
        }
        self.command(&mut chain);
        self.drive.io().trim_log(&self.dropped, &mut chain);
        self.drive.io().trim(lpns, &mut chain);
        chain
    }

    /// Has the oldest window remapped; the answer is whether there was one.
    fn remap(&mut self, now: u64) -> bool {
        let Some(batch) = self.host.remap() else { return false };
        let drive = &mut self.drive;
        let mut chain = Chain::at(now);
        let mut commands = batch.commands().peekable();
        while let Some(entries) = commands.next() {
            drive.link().send(&mut chain);
            chain = drive.io().remap(entries, chain);
            if batch.drop_rest && commands.peek().is_none() {
                drive.io().drop_log(batch.window.clone(), &mut chain);
            }
            drive.link().acknowledge(&mut chain);
        }
        self.remapped = chain.now;
        true
    }

    /// Has all of the log remapped, as a host does that shuts down.
    pub fn flush_log(&mut self) {
        let drained = self.drive.queue().drained();
        while self.remap(self.remapped.max(drained)) {}
    }
}

impl<F, D> Device for ShrdDevice<F, D>
where
    F: Remap<Medium: Nand<Error = Infallible>> + Send,
    D: HostData<F::Medium> + Send,
{
    fn run_ahead(&mut self, requests: &[Request], count: usize, done: &mut Vec<Completion>) {
        while self.ready.len() < count {
            let rest = &requests[self.ready.len()..];
            self.dispatch(rest);
        }
        done.extend(self.ready.drain(..count));
    }

    fn sees_ahead(&self) -> usize {
        self.host.config().twrite_pages as usize
    }

    fn report(&self, counters: &mut Counters) {
        let (shrd, memory_bytes) = (self.host.counts(), self.host.memory_bytes());
        let slots_used = self.host.fill().0;
        counters.layer = Some(LayerCounts { shrd, memory_bytes, slots_used });
        self.drive.report(counters);
    }

    fn units(&self) -> &UnitTable {
        self.drive.units()
    }

    fn write_back(&mut self) {
        self.flush_log();
        self.drive.write_back();
    }

    fn set_future(&mut self, known: FutureKnowledge) {
        self.drive.set_future(known);
    }

    /// What the recovery of a drive makes of a log that the host has forgotten (`PageFtl::recover`)
    /// is what remapping all of it makes.
    fn cut_power(&mut self) {
        self.drive.cut_power();
        self.flush_log();
    }

    fn reset_counters(&mut self) {
        assert!(self.ready.is_empty(), "counters are reset between workloads");
        self.drive.reset_counters();
        self.host.reset_counters();
        self.commands.clear();
        (self.now, self.remapped, self.redirected) = (0, 0, 0);
    }

    fn check(&self) {
        self.host.check();
        self.drive.check();
    }
}
