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
//! Every operation is part of a [`Chain`]: it follows what was done in that chain before. [`Timed`]
//! makes a graph of the chains and plays it; for the other media nothing takes time.

mod checked;
mod counted;
mod faulty;
mod host_data;
mod power_cut;
mod stamped;
mod timed;

pub use checked::Checked;
pub use counted::Counted;
pub use faulty::{Faults, Faulty, LAST};
pub use host_data::HostData;
pub use power_cut::{Cut, PowerCut, Tear, Torn, Watch};
pub use stamped::{Shadow, Stamped};
pub use timed::{
    Controller, Order, PAGE_TYPES, PageTimes, Schedule, Scheduler, SlcTimes, Stripe, Suspend,
    Timed, Timing,
};

use alloc::vec::Vec;

use crate::addr::{Owner, Ppn, Tag, Unit};
pub use crate::clock::{
    Around, Blame, Chain, Clock, Ended, Fork, NoClock, PARTS, Part, Recorded, Recording, Served,
    Server, Share, Span, Task, Use,
};
use crate::counters::{CAUSES, Counters};
pub use crate::counters::{DieUse, FlashCounts, Health, Occupation};
use crate::geometry::{Geometry, Mode};
use crate::saved::{Blank, Carrier, State};

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
    /// Checkpoints and trims that are written down.
    Journal,
    /// Moves out of units that broke.
    Retire,
    /// What fills a program unit that has to be programmed before data does.
    Pad,
    /// Moves out of the SLC cache.
    Fold,
    /// Parity over dies. The medium programs it by itself with the last page of data of a stripe.
    Parity,
}

impl State for Cause {
    fn carry(&mut self, by: &mut Carrier<'_>) {
        let mut at = *self as usize;
        at.carry(by);
        *self = Self::ALL.get(at).map_or(Self::BLANK, |row| row.0);
    }
}

impl Blank for Cause {
    const BLANK: Self = Self::Host;
}

impl Cause {
    /// Every cause, in the order of the counters.
    pub const ALL: [(Self, &'static str); CAUSES] = [
        (Self::Host, "host"),
        (Self::Map, "map"),
        (Self::Gc, "gc"),
        (Self::GcMap, "gc_map"),
        (Self::Merge, "merge"),
        (Self::Wear, "wear"),
        (Self::Remap, "remap"),
        (Self::Journal, "journal"),
        (Self::Retire, "retire"),
        (Self::Pad, "pad"),
        (Self::Fold, "fold"),
        (Self::Parity, "parity"),
    ];

    /// What a request is told that it waited for.
    #[inline(always)]
    const fn part(self) -> Part {
        match self {
            Self::Host | Self::Pad | Self::Parity => Part::Die,
            Self::Map | Self::Journal => Part::Map,
            Self::Gc | Self::GcMap | Self::Wear | Self::Retire | Self::Fold => Part::Gc,
            Self::Merge => Part::Merge,
            Self::Remap => Part::Remap,
        }
    }
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
    /// The number of the program.
    pub serial: u64,
    /// Whether it is in the flash page of the move before, and is read with it.
    pub beside: bool,
}

/// Pages that change their places, one after the other: a medium that only counts them never has
/// them written down.
pub trait Moves: ExactSizeIterator<Item = Move> + Clone {}

impl<I: ExactSizeIterator<Item = Move> + Clone> Moves for I {}

/// Where a page is read from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// The cells.
    Cells,
    /// The register of a plane: the page that was read before, by the same command, is in the same
    /// flash page.
    Register,
    /// The controller's memory, as its program unit is not full.
    Memory,
}

/// Flash, or a wrapper around it.
pub trait Nand {
    /// A fault of the medium; `Infallible` where there is none, so that `?` costs nothing.
    type Error: core::fmt::Debug;

    /// What plays the chains.
    type Clock: Clock;

    /// The time.
    fn clock(&self) -> &Self::Clock;

    /// The time.
    fn clock_mut(&mut self) -> &mut Self::Clock;

    /// Reads a page, which must belong to `owner`.
    ///
    /// # Errors
    /// The medium's fault.
    fn read(
        &mut self,
        from: Ppn,
        owner: Owner,
        source: Source,
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

    /// Programs `pages` pages from the next free one of a unit on with nothing, to the end of their
    /// program unit.
    ///
    /// # Errors
    /// The medium's fault.
    fn pad(&mut self, from: Ppn, pages: u32, chain: &mut Chain) -> Result<(), Self::Error>;

    /// A unit that is erased is programmed in this mode from now on.
    fn set_mode(&mut self, unit: Unit, mode: Mode);

    /// Moves pages inside the medium, all of them at once: they are read, and when the last has
    /// been read they are programmed. A move is one read and one program. The new page belongs to
    /// the owner stated, and to no other; it keeps the sequence number, and has the serial number
    /// stated.
    ///
    /// # Errors
    /// The medium's fault.
    fn copy(
        &mut self,
        moves: impl Moves,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), Self::Error>;

    /// Moves pages row by row of the unit that they go to, each row as [`Nand::copy`] does: pages
    /// of one row, unless the medium [takes rows](Nand::takes_rows).
    ///
    /// # Errors
    /// The medium's fault.
    #[inline(always)]
    fn copy_rows(
        &mut self,
        moves: impl Moves,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), Self::Error> {
        self.copy(moves, cause, chain)
    }

    /// Whether [`Nand::copy_rows`] takes as many pages as are to be moved, and tells rows apart
    /// itself as far as they matter.
    #[inline(always)]
    fn takes_rows(&self) -> bool {
        false
    }

    /// Puts bytes of the layer's own, at most a page of them, into the page register for the next
    /// program: its journal. A medium that keeps no bytes forgets them.
    fn load_payload(&mut self, _bytes: &[u8]) {}

    /// Nothing is programmed any more behind this page of a unit, which is never erased again: what
    /// has come of its parity stripe has its parity programmed. A medium without parity has none.
    fn close_stripe(&mut self, _last: Ppn) {}

    /// Erases a unit.
    ///
    /// # Errors
    /// The medium's fault.
    fn erase(&mut self, unit: Unit, cause: Cause, chain: &mut Chain) -> Result<(), Self::Error>;

    /// Enters operations, clocks and what has broken since the last [`Nand::reset_counters`].
    fn report(&self, counters: &mut Counters);

    /// Counts and clocks back to zero; what is stored stays.
    fn reset_counters(&mut self);

    /// The medium's part of the account by itself.
    fn counters(&self) -> Counters {
        let mut counters = Counters::default();
        self.report(&mut counters);
        counters
    }

    /// Whether the last page that was read could not be read: its data are lost.
    fn read_failed(&self) -> bool {
        false
    }

    /// Whether nothing can be written any more.
    fn is_read_only(&self) -> bool {
        false
    }

    /// What changes in it beside counts and clocks, if it can be saved.
    fn state(&mut self) -> Option<&mut dyn State> {
        None
    }
}

/// A medium that can be asked what is in its out-of-band areas: what recovery starts from.
pub trait Tagged: Nand {
    /// The tag of a page; none if it is not programmed, or cannot be read.
    fn tag(&self, ppn: Ppn) -> Option<Tag>;

    /// The page after the last one programmed in a unit.
    fn programmed(&self, unit: Unit) -> u32;

    /// The mode that a unit was programmed in.
    fn mode(&self, unit: Unit) -> Mode;

    /// The bytes of a page that the layer programmed for itself; none if they cannot be read.
    fn payload(&self, ppn: Ppn) -> Option<Vec<u8>>;

    /// The tags of the pages programmed in a unit, in order.
    fn tags(&self, unit: Unit, geometry: &Geometry, tags: &mut Vec<Option<Tag>>) {
        tags.clear();
        tags.extend((0..self.programmed(unit)).map(|page| self.tag(geometry.page(unit, page))));
    }
}
