//! The medium, as a contract: what a flash translation layer may do to flash.
//!
//! The rules, which [`Checked`] asserts: a page is programmed once between erases; the pages of a
//! unit are programmed in order; only a programmed page is read or copied, and it belongs to whom
//! the caller believes: its owner, or the page that it was to be remapped to. In order means one
//! after the other for a page-mapped layer. A layer that keeps pages at fixed places in a unit may
//! leave pages out, but not come back to them: data sheets ask for ascending order, and the first
//! page programmed need not be page 0 (Samsung KFN8GH6Q4M, 3.9). Data never passes through the FTL:
//! [`Nand::copy`] moves a page inside the medium, and host data waits in the medium's page
//! register.
//!
//! Time is carried, not scheduled. Every operation is part of a [`Chain`], which knows when the
//! work before it ended; [`Timed`] moves the chain on, the other media leave it alone.

mod checked;
mod counted;
mod stamped;
mod timed;

pub use checked::Checked;
pub use counted::Counted;
pub use stamped::{Shadow, Stamped};
pub use timed::{Timed, Timing};

use crate::addr::{Owner, Ppn, Tag, Unit};

/// Why a flash operation is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Cause {
    /// The host's own reads and writes of data.
    Host,
    /// Loads and write-backs of translation pages for a host request.
    Map,
    /// Cleaning: data pages moved, units of data erased.
    Gc,
    /// Cleaning: translation pages moved or updated, their units erased.
    GcMap,
    /// Merges of log blocks.
    Merge,
    /// Wear levelling.
    Wear,
    /// Remapping by command of the host.
    Remap,
}

impl Cause {
    /// Every cause, in the order of the counters.
    pub const ALL: [(Self, &'static str); 7] = [
        (Self::Host, "host"),
        (Self::Map, "map"),
        (Self::Gc, "gc"),
        (Self::GcMap, "gc_map"),
        (Self::Merge, "merge"),
        (Self::Wear, "wear"),
        (Self::Remap, "remap"),
    ];

    /// What a request is told that it waited for.
    #[inline(always)]
    const fn part(self) -> Part {
        match self {
            Self::Host => Part::Die,
            Self::Map => Part::Map,
            Self::Gc | Self::GcMap | Self::Wear => Part::Gc,
            Self::Merge => Part::Merge,
            Self::Remap => Part::Remap,
        }
    }
}

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
    /// The channel: waiting for it, commands, transfers.
    Bus,
    /// The cells: its own operations, and those of other host requests.
    Die,
    /// Merging log blocks.
    Merge,
    /// The write buffer: its memory, and evictions.
    Buffer,
    /// Remapping by command of the host, its own or that before it.
    Remap,
}

impl Part {
    /// Every part, in the order of [`Blame`].
    pub const NAMES: [&'static str; 8] =
        ["queue", "map", "gc", "bus", "die", "merge", "buffer", "remap"];
}

/// Nanoseconds by [`Part`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Blame(pub [u64; 8]);

impl Blame {
    /// All of it: the latency that it explains.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// A chain of operations, each of which starts when the one before it has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Chain {
    /// When the work so far ended, in nanoseconds of the device's clock.
    pub now: u64,
    /// What the time since the chain began went into.
    pub blame: Blame,
}

impl Chain {
    /// A chain that begins at `now`.
    #[inline(always)]
    pub const fn at(now: u64) -> Self {
        Self { now, blame: Blame([0; 8]) }
    }

    /// Moves on to `until` (if that is later), because of `part`.
    #[inline(always)]
    pub fn wait(&mut self, until: u64, part: Part) {
        let delay = until.saturating_sub(self.now);
        self.now += delay;
        self.blame.0[part as usize] += delay;
    }
}

/// Operations by cause, in the order of [`Cause::ALL`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FlashCounts {
    /// Pages read.
    pub reads: [u64; 7],
    /// Pages programmed.
    pub programs: [u64; 7],
    /// Units erased.
    pub erases: [u64; 7],
}

/// How busy the dies of a timed medium were.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Occupation {
    /// When the last operation ends.
    pub end_ns: u64,
    /// Time that dies were occupied, summed over the dies.
    pub busy_ns: u64,
    /// The busiest die's share of it.
    pub busiest_ns: u64,
}

/// A page that changes its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Move {
    /// Where it is.
    pub from: Ppn,
    /// Where it goes: the next free page of a unit.
    pub to: Ppn,
    /// Whom it belongs to.
    pub owner: Owner,
}

/// Flash, or a wrapper around it.
pub trait Nand {
    /// A fault of the medium; `Infallible` where there is none, so that `?` costs nothing.
    type Error: core::fmt::Debug;

    /// Reads a page, which must belong to `owner`.
    ///
    /// # Errors
    /// The medium's fault.
    fn read(
        &mut self,
        from: Ppn,
        owner: Owner,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), Self::Error>;

    /// Programs the page register into the next free page of a unit, and `tag` into its
    /// out-of-band area.
    ///
    /// # Errors
    /// The medium's fault.
    fn program(
        &mut self,
        to: Ppn,
        tag: Tag,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), Self::Error>;

    /// Moves pages inside the medium, all of them at once: they are read, and when the last has
    /// been read they are programmed. A move is one read and one program. The new page belongs to
    /// the owner stated, and to no other; it keeps the sequence number.
    ///
    /// # Errors
    /// The medium's fault.
    fn copy(&mut self, moves: &[Move], cause: Cause, chain: &mut Chain) -> Result<(), Self::Error>;

    /// Erases a unit.
    ///
    /// # Errors
    /// The medium's fault.
    fn erase(&mut self, unit: Unit, cause: Cause, chain: &mut Chain) -> Result<(), Self::Error>;

    /// What has been counted since the last [`Nand::restart`].
    fn counts(&self) -> FlashCounts;

    /// How busy the dies were since the last [`Nand::restart`]; nothing if there is no clock.
    fn occupation(&self) -> Occupation;

    /// Counts and clocks back to zero; what is stored stays.
    fn restart(&mut self);
}

/// A medium that can be asked what is in its out-of-band areas: what recovery starts from.
pub trait Tagged: Nand {
    /// The tag of a page; none if it is not programmed.
    fn tag(&self, ppn: Ppn) -> Option<Tag>;

    /// The page after the last one programmed in a unit.
    fn programmed(&self, unit: Unit) -> u32;
}
