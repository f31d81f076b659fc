//! The medium, as a contract: the operations that a flash translation layer may perform on flash.
//!
//! The rules, which [`Checked`] asserts:
//!
//! - A page is programmed once between erases.
//! - The pages of a unit are programmed in order.
//! - Only a programmed page is read or copied, and the caller must name the page's owner: the owner
//!   in its tag, or, for a log page, the logical page that it will become.
//!
//! For a page-mapped layer, in order means one page after the other. A layer that keeps pages at
//! fixed offsets in a unit may skip pages, but may not return to them. Data sheets ask for
//! ascending order, and the first page programmed need not be page 0 (Samsung KFN8GH6Q4M, 3.9).
//!
//! Data never passes through the FTL: [`Nand::copy`] moves a page inside the medium, and host data
//! waits in the medium's page register.
//!
//! Every operation belongs to a [`Chain`]: it follows the operation before it in that chain.
//! [`Timed`] makes a graph of the chains and plays it. On all other media operations take no time.

mod checked;
mod counted;
mod faulty;
mod forward;
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
pub(crate) use crate::clock::Gate;
pub use crate::clock::{
    Around, Blame, COMPONENTS, Chain, Clock, Component, Ended, Fork, NoClock, Recorded, Recording,
    Served, Server, Share, Span, Task, Use,
};
use crate::counters::{CAUSES, Counters};
pub use crate::counters::{DieUse, FlashCounts, Health, Occupation};
use crate::geometry::{Geometry, Mode};
use crate::saved::{Blank, Carrier, State};

/// Reason for a flash operation.
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
    /// Checkpoints, and trims recorded in the journal.
    Journal,
    /// Moves out of units that failed.
    Retire,
    /// Padding of a program unit that has to be programmed before data fills it.
    Pad,
    /// Moves out of the SLC cache.
    Fold,
    /// Parity over dies. The medium programs it without a request, with the last data page of a
    /// stripe.
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

    /// Returns the component that operations of this cause, and waits for them, count as.
    #[inline(always)]
    const fn component(self) -> Component {
        match self {
            Self::Host | Self::Pad | Self::Parity => Component::Die,
            Self::Map | Self::Journal => Component::Map,
            Self::Gc | Self::GcMap | Self::Wear | Self::Retire | Self::Fold => Component::Gc,
            Self::Merge => Component::Merge,
            Self::Remap => Component::Remap,
        }
    }
}

/// A page to be moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Move {
    /// Source page.
    pub from: Ppn,
    /// Destination: the next free page of a unit.
    pub to: Ppn,
    /// Owner of the page.
    pub owner: Owner,
    /// Serial number of the program.
    pub serial: u64,
    /// Whether the source is in the flash page of the previous move, and is read with it.
    pub joins_read: bool,
}

/// Pages to be moved, in order. An iterator, so that a medium that only counts needs no list of
/// them.
pub trait Moves: ExactSizeIterator<Item = Move> + Clone {}

impl<I: ExactSizeIterator<Item = Move> + Clone> Moves for I {}

/// Where a page is read from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReadSource {
    /// The cells.
    Cells,
    /// The register of a plane: the command has just read another page of this flash page into it.
    Register,
    /// The controller's memory, because the page's program unit is not full yet.
    Memory,
}

/// Flash, or a wrapper around it.
pub trait Nand {
    /// A fault of the medium; `Infallible` for a medium without faults, so that `?` costs nothing.
    type Error: core::fmt::Debug;

    /// The clock that plays the chains.
    type Clock: Clock;

    /// Returns the clock.
    fn clock(&self) -> &Self::Clock;

    /// Returns the clock.
    fn clock_mut(&mut self) -> &mut Self::Clock;

    /// Reads a page, which must belong to `owner`.
    ///
    /// # Errors
    /// The medium's fault.
    fn read(
        &mut self,
        from: Ppn,
        owner: Owner,
        source: ReadSource,
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

    /// Programs `pages` pages of padding, from the next free page of a unit to the end of its
    /// program unit.
    ///
    /// # Errors
    /// The medium's fault.
    fn pad(&mut self, from: Ppn, pages: u32, chain: &mut Chain) -> Result<(), Self::Error>;

    /// Sets the mode in which an erased unit is programmed from now on.
    fn set_mode(&mut self, unit: Unit, mode: Mode);

    /// Moves pages inside the medium, all at once: the medium reads all pages, and programs them
    /// when the last read is complete. A move is one read and one program. The new page belongs
    /// only to the owner that the move states. It keeps the sequence number, and takes the serial
    /// number that the move states.
    ///
    /// # Errors
    /// The medium's fault.
    fn copy(
        &mut self,
        moves: impl Moves,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), Self::Error>;

    /// Moves pages row by row of the destination unit, each row as [`Nand::copy`] does. A call may
    /// cover only one row, unless the medium [takes rows](Nand::takes_rows).
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

    /// Returns whether one call of [`Nand::copy_rows`] may cover any number of rows. The medium
    /// then separates the rows itself, as far as they matter to it.
    #[inline(always)]
    fn takes_rows(&self) -> bool {
        false
    }

    /// Puts up to one page of the layer's own bytes, its journal, into the page register for the
    /// next program. A medium that stores no bytes ignores them.
    fn load_payload(&mut self, _bytes: &[u8]) {}

    /// Closes the parity stripe after this page of a unit: the unit gets no further programs and is
    /// never erased again. The medium programs the parity of the pages that the stripe has. A
    /// medium without parity does nothing.
    fn close_stripe(&mut self, _last: Ppn) {}

    /// Erases a unit.
    ///
    /// # Errors
    /// The medium's fault.
    fn erase(&mut self, unit: Unit, cause: Cause, chain: &mut Chain) -> Result<(), Self::Error>;

    /// Writes the operations, times and failures since the last [`Nand::reset_counters`] into
    /// `counters`.
    fn report(&self, counters: &mut Counters);

    /// Sets counts and times to zero; stored data stays.
    fn reset_counters(&mut self);

    /// Returns the medium's counters alone.
    fn counters(&self) -> Counters {
        let mut counters = Counters::default();
        self.report(&mut counters);
        counters
    }

    /// Returns whether the last page read was unreadable: its data is lost.
    fn read_failed(&self) -> bool {
        false
    }

    /// Returns whether the medium is read-only.
    fn is_read_only(&self) -> bool {
        false
    }

    /// Returns the medium's state, except counts and times, if it can be saved.
    fn state(&mut self) -> Option<&mut dyn State> {
        None
    }
}

/// A medium whose out-of-band areas can be read: recovery starts from them.
pub trait Tagged: Nand {
    /// Returns the tag of a page; `None` if it is not programmed, or cannot be read.
    fn tag(&self, ppn: Ppn) -> Option<Tag>;

    /// Returns the page after the last programmed page of a unit.
    fn programmed(&self, unit: Unit) -> u32;

    /// Returns the mode that a unit was programmed in.
    fn mode(&self, unit: Unit) -> Mode;

    /// Returns the bytes of a page that the layer programmed for itself; `None` if they cannot be
    /// read.
    fn payload(&self, ppn: Ppn) -> Option<Vec<u8>>;

    /// Collects the tags of the programmed pages of a unit, in order.
    fn tags(&self, unit: Unit, geometry: &Geometry, tags: &mut Vec<Option<Tag>>) {
        tags.clear();
        tags.extend((0..self.programmed(unit)).map(|page| self.tag(geometry.page(unit, page))));
    }
}
