//! Drive behind the host layer SHRD: when requests are dispatched, and what they cost.
//!
//! The host layer dispatches requests in order. It dispatches a request when the request has a
//! place in the queue, the drive accepts another command, and, unless configured otherwise, no
//! remap is in progress. A small write takes along the small writes behind it that have arrived by
//! then. The requests of one twrite complete together. The host layer remaps a window when the log
//! is low and no redirected read is in progress. The commands of a remap follow one another; the
//! entries of one command are independent chains, like the pages of a request.

mod paced;
mod ticket;
mod turn;

pub use turn::Dispatching;

use alloc::vec::Vec;
use core::convert::Infallible;

use ticket::Ticket;
use turn::DispatchTimes;

use super::{Counters, Device, DeviceClock, HostData, Inspect, LayerCounts, Ssd};
use crate::addr::Lpn;
use crate::ftl::Remap;
use crate::host::{Piece, Remapping, Shrd};
use crate::nand::{Blame, Chain, Clock, Ended, Fork, Nand};
use crate::request::{Completion, Op, Request};

/// Drive with translation layer `F` behind SHRD.
pub struct ShrdDevice<F, D> {
    drive: Ssd<F, D>,
    host: Shrd,
    dispatching: Dispatching,
    /// Commands in the drive. `redirected` counts the redirected reads among them.
    commands: usize,
    redirected: usize,
    /// Whether a remap is in progress.
    remapping: bool,
    /// Requests that were dispatched beyond the requested count.
    ahead: usize,
    /// Arrivals of the requests of a twrite.
    packed: Vec<u64>,
    pieces: Vec<Piece>,
    dropped: Vec<Remapping>,
}

impl<F, D> ShrdDevice<F, D>
where
    F: Remap<Medium: Nand<Error = Infallible>>,
    D: HostData<F::Medium>,
{
    /// Puts the host layer in front of a drive with an empty log.
    pub fn new(mut drive: Ssd<F, D>, host: Shrd, dispatching: Dispatching) -> Self {
        assert!(drive.is_plain(), "SHRD stands alone");
        assert!(dispatching.commands > 0, "the drive takes a command");
        drive.io().limit(host.config().user_pages);
        Self {
            drive,
            host,
            dispatching,
            commands: 0,
            redirected: 0,
            remapping: false,
            ahead: 0,
            packed: Vec::new(),
            pieces: Vec::new(),
            dropped: Vec::new(),
        }
    }

    /// Returns the drive.
    pub fn drive(&self) -> &Ssd<F, D> {
        &self.drive
    }

    /// Returns the drive.
    pub fn drive_mut(&mut self) -> &mut Ssd<F, D> {
        &mut self.drive
    }

    /// Returns the host layer.
    pub fn host(&self) -> &Shrd {
        &self.host
    }

    /// Returns the drive as after a power loss: the host layer's state is lost.
    pub fn into_drive(self) -> Ssd<F, D> {
        self.drive
    }

    /// Begins the first `count` requests, and requests behind them that they take along.
    fn dispatch_first(&mut self, requests: &[Request], count: usize) {
        while self.ahead < count {
            let rest = &requests[self.ahead..];
            self.ahead += self.dispatch(rest);
        }
        self.ahead -= count;
    }

    /// Begins the first request and the requests that it takes along. Returns their number.
    fn dispatch(&mut self, rest: &[Request]) -> usize {
        let turn = self.turn(rest[0].at_ns);
        if self.host.is_small(&rest[0]) && !self.drive.io().is_read_only() {
            if self.host.begin() && self.pack(rest, turn) {
                return self.packed.len();
            }
            self.host.count_full();
        }
        let arrival = self.drive.queue().arrival(rest[0].at_ns, 0);
        self.drive.queue().admit();
        let before = turn.wait(arrival);
        self.begin_requests(&rest[..1]);
        let (mut end, is_redirected) = self.serve(&rest[0]);
        self.drive.acknowledge(&mut end);
        self.redirected += usize::from(is_redirected);
        self.begin_command(&rest[..1], &[(arrival, before)], end, is_redirected);
        1
    }

    /// Attributes the following operations to the next requests.
    fn begin_requests(&mut self, requests: &[Request]) {
        let first = self.drive.outstanding().next();
        self.drive.begin_requests(first, requests);
    }

    /// Registers a command for these requests, whose arrivals and waiting times are `waits`.
    fn begin_command(
        &mut self,
        requests: &[Request],
        waits: &[(u64, Blame)],
        end: Chain,
        is_redirected: bool,
    ) {
        let outstanding = self.drive.outstanding();
        let first = outstanding.next();
        for (numbered, &(arrival, before)) in (first..).zip(requests).zip(waits) {
            outstanding.begin(numbered, (0, arrival, before), end);
        }
        self.commands += 1;
        let ticket = Ticket::Command { first, requests: requests.len() as u64, is_redirected };
        self.drive.io().clock().watch(end, ticket.pack());
    }

    /// Handles the end of a command or a remap.
    fn end(&mut self, ended: &Ended) {
        match Ticket::unpack(ended.ticket) {
            Ticket::Remap => self.remapping = false,
            Ticket::Command { first, requests, is_redirected } => {
                self.commands -= 1;
                self.redirected -= usize::from(is_redirected);
                (first..first + requests).for_each(|number| self.drive.end(number, ended));
            }
        }
    }

    /// Advances time until a command or a remap has ended, or until `until`.
    fn play(&mut self, until: u64) {
        let has_ended = self.drive.io().clock().play(until);
        assert!(has_ended || until != u64::MAX, "what is begun ends");
        while let Some(ended) = self.drive.io().clock().ended() {
            self.end(&ended);
        }
    }

    fn now(&mut self) -> u64 {
        self.drive.io().now()
    }

    /// Waits until the next request, of workload time `at_ns`, can be dispatched. Remaps first if
    /// the log is low.
    fn turn(&mut self, at_ns: u64) -> DispatchTimes {
        loop {
            let now = self.now();
            match self.drive.queue().admission(at_ns, now, 0) {
                Some(admitted) if admitted <= now => break,
                Some(admitted) => self.wait(admitted),
                None => self.wait(u64::MAX),
            }
        }
        while self.commands == self.dispatching.commands {
            self.play(u64::MAX);
        }
        let ready = self.now();
        if self.host.is_low() && self.redirected == 0 && !self.remapping {
            self.remap();
        }
        while self.remapping && self.dispatching.block_during_remap {
            self.play(u64::MAX);
        }
        DispatchTimes { ready, begin: self.now() }
    }

    /// Waits until a command or a remap has ended, or until `until`. An idle host layer remaps the
    /// log, and an idle drive cleans.
    fn wait(&mut self, until: u64) {
        if self.drive.outstanding().running() == 0 && !self.remapping && until != u64::MAX {
            self.use_idle_time(until);
        }
        self.play(until);
    }

    fn use_idle_time(&mut self, until: u64) {
        let mut from = self.now();
        let after = self.dispatching.idle_after_ns.map(|after| from.saturating_add(after));
        if let Some(begin) = after.filter(|&begin| begin < until) {
            self.play(begin);
            while self.now() < until && self.remap() {
                while self.remapping && self.now() < until {
                    self.play(until);
                }
                from = self.now();
            }
        }
        if !self.remapping && from < until {
            self.drive.io().clean_idle(from, until);
        }
    }

    /// Packs the first requests into the open twrite and writes it. Returns whether any fitted.
    fn pack(&mut self, rest: &[Request], mut turn: DispatchTimes) -> bool {
        let (few, mut retries) = self.dispatching.low_packing;
        self.packed.clear();
        for request in rest {
            let (now, packed) = (self.now(), self.packed.len());
            let next = self.drive.queue().admission(request.at_ns, now, packed);
            let Some(admitted) = next.filter(|_| self.host.is_small(request)) else { break };
            let is_early = admitted > now;
            if is_early && (retries == 0 || packed > few) {
                break;
            }
            if !self.host.add(request) {
                break;
            }
            if is_early {
                retries -= 1;
                self.play_to(admitted);
                turn = DispatchTimes { ready: admitted, begin: admitted };
            }
            self.packed.push(self.drive.queue().arrival(request.at_ns, packed));
        }
        if self.packed.is_empty() {
            return false;
        }
        self.write_log(&rest[..self.packed.len()], turn);
        true
    }

    /// Advances time to `until`.
    fn play_to(&mut self, until: u64) {
        while self.now() < until {
            self.play(until);
        }
    }

    fn write_log(&mut self, requests: &[Request], turn: DispatchTimes) {
        self.begin_requests(requests);
        let mut start = Chain::START;
        // The host sends the header first, and then the data.
        self.drive.send(&mut start);
        self.drive.send(&mut start);
        let twrite = self.host.twrite();
        let bytes = self.drive.io().bytes(twrite.entries.len());
        self.drive.receive(bytes, &mut start);
        let mut end = self.drive.io().write_log(twrite, requests.len() as u64, start);
        self.drive.acknowledge(&mut end);
        self.packed.iter().for_each(|_| self.drive.queue().admit());
        let waits: Vec<_> = self.packed.iter().map(|&at| (at, turn.wait(at))).collect();
        self.begin_command(requests, &waits, end, false);
    }

    /// Serves a request that is not packed into the log. Returns its end, and whether it reads from
    /// the log.
    fn serve(&mut self, request: &Request) -> (Chain, bool) {
        let mut chain = Chain::new(request.op == Op::Read);
        if !self.drive.io().accepts(request) {
            self.command(&mut chain);
            return (chain, false);
        }
        match request.op {
            Op::Read => return self.read(request, chain),
            Op::Write => self.write(request, &mut chain),
            Op::Trim => self.trim(request, &mut chain),
            Op::Flush => {
                self.command(&mut chain);
                self.drive.wait_for_all(&mut chain);
                self.drive.io().flush(&mut chain);
            }
        }
        (chain, false)
    }

    /// Sends an ordinary command.
    fn command(&mut self, chain: &mut Chain) {
        self.host.count_command();
        self.drive.send(chain);
    }

    /// Reads each piece with its own command.
    fn read(&mut self, request: &Request, start: Chain) -> (Chain, bool) {
        let lpns = self.drive.io().extent(request).lpns();
        let is_redirected = self.host.redirect(lpns, &mut self.pieces);
        let mut fork = Fork::new(start);
        for piece in &self.pieces {
            let mut sent = fork.branch();
            self.drive.send(&mut sent);
            let read = self.drive.io().read_piece(piece, sent);
            fork.join(read, self.drive.io().clock());
        }
        let mut end = fork.end();
        self.drive.answer(request.length, &mut end);
        (end, is_redirected)
    }

    /// Writes to the original addresses, and drops the log's copies so that they cannot reappear.
    fn write(&mut self, request: &Request, chain: &mut Chain) {
        let extent = self.drive.io().extent(request);
        let lpns = extent.lpns();
        for lpn in lpns.clone().map(Lpn::new).filter(|&lpn| extent.covers_in_part(lpn)) {
            // The drive completes the page from its original address.
            if let Some(entry) = self.host.remap_alone(lpn) {
                self.drive.send(chain);
                *chain = self.drive.io().remap(&[entry], *chain);
                self.drive.acknowledge(chain);
            }
        }
        self.dropped.clear();
        self.host.drop_pages(lpns, &mut self.dropped);
        self.command(chain);
        self.drive.receive(request.length, chain);
        *chain = self.drive.io().write(extent, *chain);
    }

    /// Trims pages, and their copies in the log.
    fn trim(&mut self, request: &Request, chain: &mut Chain) {
        let lpns = self.drive.io().trimmed(request);
        self.dropped.clear();
        if !lpns.is_empty() {
            self.host.drop_pages(lpns.clone(), &mut self.dropped);
        }
        self.command(chain);
        self.drive.io().trim_log(&self.dropped, chain);
        self.drive.io().trim(lpns, chain);
    }

    /// Starts the remap of the oldest window. Returns whether there was one.
    fn remap(&mut self) -> bool {
        let Some(batch) = self.host.remap() else { return false };
        let drive = &mut self.drive;
        let mut chain = Chain::START;
        let mut commands = batch.commands().peekable();
        while let Some(entries) = commands.next() {
            drive.send(&mut chain);
            chain = drive.io().remap(entries, chain);
            if batch.drop_rest && commands.peek().is_none() {
                drive.io().drop_log(batch.window.clone(), &mut chain);
            }
            drive.acknowledge(&mut chain);
        }
        self.remapping = true;
        drive.io().clock().watch(chain, Ticket::Remap.pack());
        true
    }

    /// Remaps the whole log, as a host does at shutdown.
    pub fn flush_log(&mut self) {
        // A remap may already be in progress.
        while self.remapping || self.remap() {
            self.play(u64::MAX);
        }
        self.drive.rest();
    }
}

impl<F, D> Device for ShrdDevice<F, D>
where
    F: Remap<Medium: Nand<Error = Infallible>> + Send,
    D: HostData<F::Medium> + Send,
{
    crate::forward_device!(drive: set_future);

    fn run_ahead(&mut self, requests: &[Request], count: usize, done: &mut Vec<Completion>) {
        self.dispatch_first(requests, count);
        while requests.is_empty() && self.drive.outstanding().running() > 0 {
            self.play(u64::MAX);
        }
        if requests.is_empty() {
            self.drive.rest();
        }
        self.drive.outstanding().report(done);
    }

    fn sees_ahead(&self) -> usize {
        self.host.config().twrite_pages as usize
    }

    fn write_back(&mut self) {
        self.flush_log();
        self.drive.write_back();
    }

    /// Remaps the whole log. Recovery of a drive whose host has lost the log state
    /// (`PageFtl::recover`) has the same result.
    fn cut_power(&mut self) {
        self.drive.cut_power();
        self.flush_log();
    }

    fn reset_counters(&mut self) {
        assert_eq!(self.ahead, 0, "counters are reset between workloads");
        self.drive.reset_counters();
        self.host.reset_counters();
        self.remapping = false;
    }
}

impl<F, D> Inspect for ShrdDevice<F, D>
where
    F: Remap<Medium: Nand<Error = Infallible>>,
    D: HostData<F::Medium>,
{
    crate::forward_device!(drive: units room_until_cleaning);

    fn counters(&self) -> Counters {
        let (shrd, memory_bytes) = (self.host.counts(), self.host.memory_bytes());
        let slots_used = self.host.fill().0;
        let layer = Some(LayerCounts { shrd, memory_bytes, slots_used });
        Counters { layer, ..self.drive.counters() }
    }

    fn check(&self) {
        self.host.check();
        self.drive.check();
    }
}

impl<F, D> DeviceClock for ShrdDevice<F, D>
where
    F: Remap<Medium: Nand<Error = Infallible>>,
    D: HostData<F::Medium>,
{
    crate::forward_device!(drive: clock);
}
