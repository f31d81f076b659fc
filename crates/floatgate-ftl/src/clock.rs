//! Time as the layers above the flash see it: chains of work, and a clock that plays them.
//!
//! The translation layer decides what to do when a request is admitted, and does not know how long
//! the work takes. Its flash operations join a graph: a [`Chain`] names the work that the next
//! operation waits for. A [`Clock`] plays the graph in the order of time. It reports when each
//! watched chain ends, and splits the chain's time into components.

mod recording;

pub use recording::{Around, Recorded, Recording, Served, Span, Use};

use alloc::collections::VecDeque;
use core::ops::Range;

/// Component of a request's latency.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Component {
    /// Waiting for a slot of the command queue, and sending and acknowledging commands.
    Queue,
    /// Reading and writing translation pages, for this request or for another one.
    Map,
    /// Cleaning, for this request or for another one.
    Gc,
    /// The channel: commands, the request's own transfers, and waits for transfers of host data.
    Bus,
    /// The cells: the request's own operations, and operations of other host requests.
    Die,
    /// Merging log blocks.
    Merge,
    /// The write buffer: its memory, and evictions.
    Buffer,
    /// Remapping by host command, for this request or for the one before it.
    Remap,
    /// The controller's processor cores: waiting for a core, and the work of the core.
    Controller,
    /// The host's link: waiting for the link, and transferring the request's own data.
    Link,
}

/// Number of components.
pub const COMPONENTS: usize = 10;

impl Component {
    /// The name of each component, in the order of [`Blame`].
    pub const NAMES: [&'static str; COMPONENTS] =
        ["queue", "map", "gc", "bus", "die", "merge", "buffer", "remap", "controller", "link"];
}

/// Nanoseconds by component ([`Component`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Blame(pub [u64; COMPONENTS]);

impl Blame {
    /// Returns the sum of all components: the latency that they explain.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Adds time to one component.
    #[inline(always)]
    pub fn add(&mut self, component: Component, ns: u64) {
        self.0[component as usize] = self.0[component as usize].wrapping_add(ns);
    }

    /// Adds another account to this one. Sums wrap: a sum of differences may pass below zero in
    /// between.
    #[inline(always)]
    pub(crate) fn add_all(&mut self, other: &Self) {
        for (sum, ns) in self.0.iter_mut().zip(other.0) {
            *sum = sum.wrapping_add(ns);
        }
    }

    /// Subtracts another account: the opposite of [`Blame::add_all`].
    #[inline(always)]
    pub(crate) fn take_all(&mut self, other: &Self) {
        for (sum, ns) in self.0.iter_mut().zip(other.0) {
            *sum = sum.wrapping_sub(ns);
        }
    }
}

/// Index that names no node.
pub(crate) const NONE: u32 = u32::MAX;

/// Number that names no core.
pub(crate) const NO_CORE: u32 = 0;

/// A sequence of work, named by its last node. The next operation of the chain waits for that node.
/// If the chain has no work yet, or its work has ended, the next operation begins at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chain {
    pub(crate) node: u32,
    /// Distinguishes the node from a later node in the same slot.
    pub(crate) serial: u64,
    /// Whether the clock reports the components of this chain's time.
    pub(crate) is_attributed: bool,
    /// Whether a host read waits for this chain.
    pub(crate) is_read: bool,
    /// The core of the controller that the chain holds, or [`NO_CORE`].
    pub(crate) core: u32,
}

impl Chain {
    /// A chain that begins now. No host read waits for it.
    pub const START: Self =
        Self { node: NONE, serial: 0, is_attributed: true, is_read: false, core: NO_CORE };

    /// Returns a chain that begins now. `is_read` states whether a host read waits for it.
    #[inline(always)]
    pub const fn new(is_read: bool) -> Self {
        Self { is_read, ..Self::START }
    }

    /// Branches off work that begins where this chain ends. Another chain waits for this work as a
    /// whole, or nothing waits for it, so the clock does not report the components of its time.
    #[inline(always)]
    pub const fn work(self) -> Self {
        Self { is_attributed: false, is_read: false, ..self }
    }

    /// Returns the node that the chain ends with, and the node's serial number; `None` if the chain
    /// has no work yet. For implementations of [`Clock`].
    pub fn node(&self) -> Option<(u32, u64)> {
        (self.node != NONE).then_some((self.node, self.serial))
    }

    /// Returns this chain, extended to end with a node. For implementations of [`Clock`].
    pub fn at_node(self, node: u32, serial: u64) -> Self {
        Self { node, serial, ..self }
    }

    /// Returns whether both chains end with the same node.
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

/// Branches that begin together. The branch that ends last counts; of branches that end at the same
/// time, the one that was made last.
#[derive(Clone, Copy, Debug)]
pub struct Fork {
    start: Chain,
    /// The node that ends the branches joined so far, and its serial number.
    end: (u32, u64),
    branches: u32,
}

impl Fork {
    /// Creates a fork without branches.
    #[inline(always)]
    pub fn new(start: Chain) -> Self {
        Self { start, end: (start.node, start.serial), branches: 0 }
    }

    /// Returns a new branch, which begins at the start of the fork.
    #[inline(always)]
    pub fn branch(&self) -> Chain {
        self.start
    }

    /// Adds a branch to the fork. The branch must get no more work.
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

    /// Returns the chain that continues when all branches have ended.
    #[inline(always)]
    pub fn end(&self) -> Chain {
        let (node, serial) = self.end;
        Chain { node, serial, ..self.start }
    }
}

/// Place where chains wait in line: a chain that waits at the gate continues when all work has
/// ended that was added to the gate before. No later chain continues earlier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gate(Chain);

impl Gate {
    /// A gate at which no chain waits.
    pub(crate) const OPEN: Self = Self(Chain::START.work());

    /// Adds work. The clock does not report the components of its time.
    #[inline(always)]
    pub(crate) fn add(&mut self, work: Chain, clock: &mut impl Clock) {
        if clock.is_live(work) {
            let work = work.work();
            self.0 = if clock.is_live(self.0) { clock.join(self.0, work) } else { work };
        }
    }

    /// Makes a chain wait at the gate. The wait counts as a component.
    #[inline(always)]
    pub(crate) fn wait(self, chain: &mut Chain, component: Component, clock: &mut impl Clock) {
        clock.wait(chain, self.0, component);
    }
}

/// Server, other than the flash, that serves one chain after another.
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

/// Task that occupies a core of the controller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Task {
    /// Accepting a host command.
    Command,
    /// Looking up the map for one page.
    Translate,
    /// Loading a translation page.
    MapRead,
    /// Carrying out one entry of a remap.
    RemapEntry,
}

/// A watched chain that has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ended {
    /// The ticket that was passed to [`Clock::watch`].
    pub ticket: u64,
    /// When it ended, in nanoseconds.
    pub at_ns: u64,
    /// Components of the time since the chain began.
    pub blame: Blame,
}

/// Plays chains in the order of time. By default, all work is complete as soon as it begins.
pub trait Clock {
    /// Whether operations take time on this clock. If not, each operation is complete as soon as it
    /// begins.
    const TAKES_TIME: bool = true;

    /// Returns whether operations take time now.
    #[inline(always)]
    fn takes_time(&self) -> bool {
        Self::TAKES_TIME
    }

    /// Freezes the clock: from now on operations take no time. No work may be outstanding.
    fn freeze(&mut self) {}

    /// Ends the freeze: operations take time again.
    fn thaw(&mut self) {}

    /// Returns the time up to which the clock has played, in nanoseconds.
    fn now(&self) -> u64;

    /// Returns whether the node that the chain ends with is not complete yet.
    #[inline(always)]
    fn is_live(&self, _: Chain) -> bool {
        false
    }

    /// Joins two chains, neither of which has ended.
    #[inline(always)]
    fn join(&mut self, first: Chain, _second: Chain) -> Chain {
        first
    }

    /// Joins `more` to a chain that ends with a node of [`Clock::join`].
    #[inline(always)]
    fn join_more(&mut self, joined: Chain, _more: Chain) -> Chain {
        joined
    }

    /// Makes a chain wait until `work` has ended, too. The wait counts as a component.
    #[inline(always)]
    fn wait(&mut self, _: &mut Chain, _work: Chain, _: Component) {}

    /// Extends the chain by a delay of `ns`, which counts as a component.
    #[inline(always)]
    fn delay(&mut self, _: &mut Chain, _ns: u64, _: Component) {}

    /// Makes a server serve the chain: the chain continues after `pass_ns`, and the server takes
    /// the next chain after `hold_ns`.
    #[inline(always)]
    fn serve(&mut self, _: &mut Chain, _: Server, _pass_ns: u64, _hold_ns: u64) {}

    /// Begins a task of the controller. Returns whether the chain now holds a core until
    /// [`Clock::end_task`]. Some tasks hold a core if the controller's cores wait for the flash.
    /// The caller passes the returned value to [`Clock::end_task`].
    #[inline(always)]
    fn begin_task(&mut self, _: &mut Chain, _: Task) -> bool {
        false
    }

    /// Ends a task of the controller. The second argument is the value that [`Clock::begin_task`]
    /// returned.
    #[inline(always)]
    fn end_task(&mut self, _: &mut Chain, _: bool) {}

    /// Stores host data, `pages` map units, in the controller's memory. The chain continues when
    /// the memory has room. Returns whether the write is then complete; if not, it is complete when
    /// its data is programmed.
    #[inline(always)]
    fn take_memory(&mut self, _: &mut Chain, _pages: u64) -> bool {
        false
    }

    /// Makes the chain of a read wait until all earlier writes have room in the controller's
    /// memory, on a drive whose reads do not overtake waiting writes.
    #[inline(always)]
    fn wait_in_line(&mut self, _: &mut Chain) {}

    /// Makes the chain wait until all programs of data in the controller's memory that have begun
    /// are complete. The chain does not wait if the memory survives a loss of power.
    fn wait_for_programs(&mut self, _: &mut Chain) {}

    /// Sets the share of each page that later reads transfer over the channel; `None` for whole
    /// pages.
    #[inline(always)]
    fn read_share(&mut self, _: Option<Share>) {}

    /// Asks the clock to report the end of this chain, together with the ticket.
    fn watch(&mut self, chain: Chain, ticket: u64);

    /// Plays until `until`, or until a watched chain has ended, whichever is first. Work that ends
    /// at `until` has ended; work that begins at `until` has not begun. Returns whether a watched
    /// chain has ended.
    fn play(&mut self, until: u64) -> bool;

    /// Plays until the chain has ended, watched or not, or until `until`, whichever is first.
    #[inline(always)]
    fn play_chain(&mut self, _: Chain, _until: u64) {}

    /// Returns the time of the next event if no work begins before; `None` if there is no event.
    fn next(&self) -> Option<u64> {
        None
    }

    /// Returns the next watched chain that has ended.
    fn ended(&mut self) -> Option<Ended>;

    /// Starts the recording of a window of time.
    fn record(&mut self, _: Recording) {}

    /// Attributes the following operations, until [`Clock::watch`], to these host reads or writes,
    /// by number.
    #[inline(always)]
    fn begin_requests(&mut self, _: Range<u64>) {}

    /// Reports that a host read or write is complete. Returns whether the recording is now about
    /// this request.
    #[inline(always)]
    fn end_request(&mut self, _: &Served) -> bool {
        false
    }

    /// Returns the recording: the whole window, or its time up to now if it has not ended.
    fn recorded(&self) -> Option<Recorded> {
        None
    }
}

/// Share of a page, in sectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Share {
    /// Sectors to transfer, at least 1.
    pub sectors: u32,
    /// Sectors of the page.
    pub of: u32,
}

impl Share {
    /// Returns the transfer time of the share, where a whole page takes `page_ns`.
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
    fn ended(&mut self) -> Option<Ended> {
        self.ended.pop_front()
    }
}
