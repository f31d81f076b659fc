//! Time, as the layers above the flash see it: chains of work, and a clock that plays them.
//!
//! The translation layer decides what to do when a request is admitted, and does not know how long
//! it takes. What it asks of the flash joins a graph: a [`Chain`] names the work that the next
//! operation waits for. A [`Clock`] plays the graph in the order of time, and tells when chains
//! that are watched end, and what their time went into.

mod recording;

pub use recording::{Around, Recorded, Recording, Served, Span, Use};

use alloc::collections::VecDeque;
use core::ops::Range;

/// What a request's time went into.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Part {
    /// Waiting for a place in the command queue, and for commands to be sent and acknowledged.
    Queue,
    /// Reading and writing translation pages, its own or another request's.
    Map,
    /// Cleaning, its own or another request's.
    Gc,
    /// The channel: waiting for transfers of the host's data, commands, its own transfers.
    Bus,
    /// The cells: its own operations, and those of other host requests.
    Die,
    /// Merging log blocks.
    Merge,
    /// The write buffer: its memory, and evictions.
    Buffer,
    /// Remapping by command of the host, its own or that before it.
    Remap,
    /// The controller's processor cores: waiting for one, and their work.
    Controller,
    /// The host's link: waiting for it, and its own data on it.
    Link,
}

/// How many parts there are.
pub const PARTS: usize = 10;

impl Part {
    /// Every part, in the order of [`Blame`].
    pub const NAMES: [&'static str; PARTS] =
        ["queue", "map", "gc", "bus", "die", "merge", "buffer", "remap", "controller", "link"];
}

/// Nanoseconds by [`Part`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Blame(pub [u64; PARTS]);

impl Blame {
    /// All of it: the latency that it explains.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Adds time of one part.
    #[inline(always)]
    pub fn add(&mut self, part: Part, ns: u64) {
        self.0[part as usize] = self.0[part as usize].wrapping_add(ns);
    }

    /// Adds what another went into. Sums of differences may pass below zero in between.
    #[inline(always)]
    pub(crate) fn add_all(&mut self, other: &Self) {
        for (sum, ns) in self.0.iter_mut().zip(other.0) {
            *sum = sum.wrapping_add(ns);
        }
    }

    /// The opposite of [`Blame::add_all`].
    #[inline(always)]
    pub(crate) fn take_all(&mut self, other: &Self) {
        for (sum, ns) in self.0.iter_mut().zip(other.0) {
            *sum = sum.wrapping_sub(ns);
        }
    }
}

/// No node.
pub(crate) const NONE: u32 = u32::MAX;

/// No core.
pub(crate) const NO_CORE: u32 = 0;

/// The end of some work: what comes next in this chain waits for it. A chain that nothing was done
/// in, or the work of which has ended, goes on at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chain {
    pub(crate) node: u32,
    /// Tells a node from another that has its place later.
    pub(crate) serial: u64,
    /// Whether somebody will be told what the time of this chain went into.
    pub(crate) is_told: bool,
    /// Whether a read of the host waits for this chain.
    pub(crate) is_read: bool,
    /// Names the core of the controller that the chain holds, or [`NO_CORE`].
    pub(crate) core: u32,
}

impl Chain {
    /// A chain that begins now, and that no read of the host waits for.
    pub const START: Self =
        Self { node: NONE, serial: 0, is_told: true, is_read: false, core: NO_CORE };

    /// A chain that begins now, and that a read of the host waits for, or not.
    #[inline(always)]
    pub const fn new(is_read: bool) -> Self {
        Self { is_read, ..Self::START }
    }

    /// Work that begins where this chain is, and that will be waited for as a whole, or by nobody:
    /// what its time went into in detail is not told.
    #[inline(always)]
    pub const fn work(self) -> Self {
        Self { is_told: false, is_read: false, ..self }
    }

    /// For who writes a clock: the node that the chain ends with, and its serial number. None
    /// before anything is done.
    pub fn node(&self) -> Option<(u32, u64)> {
        (self.node != NONE).then_some((self.node, self.serial))
    }

    /// For who writes a clock: the same chain, that ends with a node now.
    pub fn at_node(self, node: u32, serial: u64) -> Self {
        Self { node, serial, ..self }
    }

    /// Whether nothing was done in either since one was made of the other.
    #[inline(always)]
    pub(crate) fn is_at(&self, other: &Self) -> bool {
        (self.node, self.serial) == (other.node, other.serial)
    }
}

impl Default for Chain {
    fn default() -> Self {
        Self::START
    }
}

/// Chains that begin together, and of which the last to end counts; of several that end at the same
/// time that is the one that was made last.
#[derive(Clone, Copy, Debug)]
pub struct Fork {
    start: Chain,
    /// Where what has branched off so far ends: a node, and its serial number.
    end: (u32, u64),
    branches: u32,
}

impl Fork {
    /// No branch yet.
    #[inline(always)]
    pub fn new(start: Chain) -> Self {
        Self { start, end: (start.node, start.serial), branches: 0 }
    }

    /// Where a branch begins.
    #[inline(always)]
    pub fn branch(&self) -> Chain {
        self.start
    }

    /// A branch is complete.
    #[inline(always)]
    pub fn join(&mut self, branch: Chain, clock: &mut impl Clock) {
        if branch.is_at(&self.start) || !clock.is_live(branch) {
            return;
        }
        self.branches += 1;
        let Chain { node, serial, .. } = match self.branches {
            1 => branch,
            2 => clock.join(self.end(), branch),
            _ => clock.join_more(self.end(), branch),
        };
        self.end = (node, serial);
    }

    /// Where all branches have ended.
    #[inline(always)]
    pub fn end(&self) -> Chain {
        let (node, serial) = self.end;
        Chain { node, serial, ..self.start }
    }
}

/// What serves one after the other, beside the flash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Server {
    /// Handling of commands between host and drive.
    Commands,
    /// The controller's cores.
    Cores,
    /// The host's link towards the drive.
    LinkIn,
    /// The host's link towards the host.
    LinkOut,
}

/// What occupies a core of the controller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Task {
    /// A command of the host is taken in.
    Command,
    /// The map is looked up for one page.
    Translate,
    /// A translation page is loaded.
    MapRead,
    /// An entry of a remap is carried out.
    RemapEntry,
}

/// A chain that was watched, and has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ended {
    /// As it was watched.
    pub ticket: u64,
    /// When it ended, in nanoseconds.
    pub at_ns: u64,
    /// What the time since the chain began went into.
    pub blame: Blame,
}

/// What plays chains.
pub trait Clock {
    /// Whether anything takes time. If not, what is begun is complete.
    const TAKES_TIME: bool = true;

    /// Whether anything takes time now.
    #[inline(always)]
    fn takes_time(&self) -> bool {
        Self::TAKES_TIME
    }

    /// Nothing takes time from now on. Nothing may be under way.
    fn stand_still(&mut self) {}

    /// Whatever is begun takes its time again.
    fn go_on(&mut self) {}

    /// The time up to which everything has been played, in nanoseconds.
    fn now(&self) -> u64;

    /// Whether what the chain ends with is not complete.
    fn is_live(&self, chain: Chain) -> bool;

    /// The end of two chains, of which neither has ended.
    fn join(&mut self, first: Chain, second: Chain) -> Chain;

    /// The end of a chain that [`Clock::join`] was the last to lengthen, and of another.
    fn join_more(&mut self, joined: Chain, more: Chain) -> Chain;

    /// `chain` goes on when `work` has ended, too: the wait for that is of one part.
    fn wait(&mut self, chain: &mut Chain, work: Chain, part: Part);

    /// The chain takes so long, of one part.
    fn delay(&mut self, chain: &mut Chain, ns: u64, part: Part);

    /// The chain is served for `pass_ns`; the server takes the next one after `hold_ns`.
    fn serve(&mut self, chain: &mut Chain, server: Server, pass_ns: u64, hold_ns: u64);

    /// The chain begins a task of the controller. If the controller's cores wait for the flash, it
    /// holds one until [`Clock::end_task`], which takes the answer.
    #[inline(always)]
    fn begin_task(&mut self, _: &mut Chain, _: Task) -> bool {
        false
    }

    /// The chain has done what it began; whether it holds a core for it was the
    /// answer then.
    #[inline(always)]
    fn end_task(&mut self, _: &mut Chain, _: bool) {}

    /// The chain brings data of the host, `pages` pages of the map, and goes on when the
    /// controller's memory has room for it. The answer is whether a write is complete then; else it
    /// is when the data is programmed.
    #[inline(always)]
    fn take_memory(&mut self, _: &mut Chain, _pages: u64) -> bool {
        false
    }

    /// The chain goes on when what is in the controller's memory is programmed, as far as that was
    /// begun; at once if the memory outlives a loss of power.
    fn wait_for_programs(&mut self, _: &mut Chain) {}

    /// Of each page that is read from now on only this share goes over the channel; all of it if
    /// there is none.
    #[inline(always)]
    fn read_share(&mut self, _: Option<Share>) {}

    /// The end of this chain will be told, with the ticket.
    fn watch(&mut self, chain: Chain, ticket: u64);

    /// Plays until `until`, or until a chain that is watched has ended, whichever is first. What
    /// ends at `until` has ended then; nothing has begun at `until`. The answer is whether a chain
    /// has ended.
    fn play(&mut self, until: u64) -> bool;

    /// Plays until a chain has ended, watched or not, or until `until`, whichever is first.
    fn play_chain(&mut self, chain: Chain, until: u64);

    /// When something happens next, if nothing is begun before; none if nothing will.
    fn next(&self) -> Option<u64> {
        None
    }

    /// The next of the chains that have ended.
    fn ended(&mut self) -> Option<Ended>;

    /// From now on a window of time is recorded.
    fn record(&mut self, _: Recording) {}

    /// Operations from now on, until [`Clock::watch`], are those of these reads or writes of the
    /// host, by number.
    #[inline(always)]
    fn begin_requests(&mut self, _: Range<u64>) {}

    /// A read or a write of the host is complete. The answer is whether it is the one that is
    /// looked at now.
    #[inline(always)]
    fn end_request(&mut self, _: &Served) -> bool {
        false
    }

    /// What was recorded; of a window that has not ended, what there is until now.
    fn recorded(&self) -> Option<Recorded> {
        None
    }
}

/// A part of a page: so many of as many sectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Share {
    /// Sectors that are asked for, at least 1.
    pub sectors: u32,
    /// Sectors of the page.
    pub of: u32,
}

impl Share {
    /// What it takes to transfer it, where the page takes `page_ns`.
    pub fn transfer_ns(self, page_ns: u64) -> u64 {
        (page_ns * u64::from(self.sectors)).div_ceil(self.of.into())
    }
}

/// The clock of a drive whose operations take no time.
#[derive(Clone, Debug, Default)]
pub struct NoClock {
    now: u64,
    ended: VecDeque<Ended>,
}

impl Clock for NoClock {
    const TAKES_TIME: bool = false;

    #[inline(always)]
    fn now(&self) -> u64 {
        self.now
    }

    #[inline(always)]
    fn is_live(&self, _: Chain) -> bool {
        false
    }

    #[inline(always)]
    fn join(&mut self, first: Chain, _: Chain) -> Chain {
        first
    }

    #[inline(always)]
    fn join_more(&mut self, joined: Chain, _: Chain) -> Chain {
        joined
    }

    #[inline(always)]
    fn wait(&mut self, _: &mut Chain, _: Chain, _: Part) {}

    #[inline(always)]
    fn delay(&mut self, _: &mut Chain, _: u64, _: Part) {}

    #[inline(always)]
    fn serve(&mut self, _: &mut Chain, _: Server, _: u64, _: u64) {}

    #[inline(always)]
    fn watch(&mut self, _: Chain, ticket: u64) {
        let (at_ns, blame) = (self.now, Blame::default());
        self.ended.push_back(Ended { ticket, at_ns, blame });
    }

    #[inline(always)]
    fn play(&mut self, until: u64) -> bool {
        if !self.ended.is_empty() {
            return true;
        }
        if until != u64::MAX {
            self.now = self.now.max(until);
        }
        false
    }

    #[inline(always)]
    fn play_chain(&mut self, _: Chain, _: u64) {}

    #[inline(always)]
    fn ended(&mut self) -> Option<Ended> {
        self.ended.pop_front()
    }
}
