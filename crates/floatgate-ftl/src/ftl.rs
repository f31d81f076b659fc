//! Interface between a drive and its translation layer.

use alloc::vec::Vec;
use core::ops::Range;

use crate::addr::{Lpn, Ppn};
use crate::counters::Counters;
pub use crate::counters::{Cleans, MergeCounts, StreamCounts};
use crate::future::FutureKnowledge;
use crate::journal::CheckpointTrigger;
use crate::mapping::Access;
use crate::nand::{Chain, Nand};
use crate::saved::State;
use crate::store::Store;
use crate::unit_table::UnitTable;

/// Error type of the layer's medium.
pub type Fault<F> = <<F as Ftl>::Medium as Nand>::Error;

/// Flash translation layer as the device uses it. The device calls it several times per page, so it
/// is a type parameter of the drive.
pub trait Ftl {
    /// Flash medium below the layer.
    type Medium: Nand;

    /// Returns the flash and the state that the layer keeps about it.
    fn store(&self) -> &Store<Self::Medium>;

    /// Returns the flash and the state that the layer keeps about it.
    fn store_mut(&mut self) -> &mut Store<Self::Medium>;

    /// Writes the medium's register to a translated page. `request_pages` is the length of the
    /// whole request.
    ///
    /// # Errors
    /// An error of the medium.
    fn write(&mut self, lpn: Lpn, request_pages: u32, chain: &mut Chain)
    -> Result<(), Fault<Self>>;

    /// Forgets pages. Returns how many of them were mapped.
    ///
    /// # Errors
    /// An error of the medium.
    fn trim(&mut self, lpns: Range<u32>, chain: &mut Chain) -> Result<u64, Fault<Self>>;

    /// Writes the counts of this layer and its medium since the last [`Ftl::reset_counters`] into
    /// `counters`.
    fn report(&self, counters: &mut Counters);

    /// Resets counters and clocks to zero. Data, map, cache and the order of lists and queues stay.
    fn reset_counters(&mut self);

    /// Recomputes the redundant state and asserts that it is consistent.
    fn check(&self);

    // Methods with a default that an engine may replace.

    /// Passes the placement handle of a host write. Pages with the same handle should lie together.
    /// The device calls this before the pages are buffered or programmed.
    #[inline(always)]
    fn label(&mut self, _lpns: Range<u32>, _handle: u16) {}

    /// Announces that the host will write `pages` consecutive pages with one command.
    ///
    /// # Errors
    /// An error of the medium.
    #[inline(always)]
    fn command(&mut self, _first: Lpn, _pages: u32, _: &mut Chain) -> Result<(), Fault<Self>> {
        Ok(())
    }

    /// Looks up the map entry of a page that the host is about to read or write. Costs nothing if
    /// the whole map is in memory.
    ///
    /// # Errors
    /// An error of the medium.
    #[inline(always)]
    fn translate(&mut self, _: Access, _: &mut Chain) -> Result<(), Fault<Self>> {
        Ok(())
    }

    /// Prefetches the map entries of pages that the host will access soon.
    #[inline(always)]
    fn prefetch_entries(&self, lpns: Range<u32>) {
        self.store().prefetch_entry(Lpn::new(lpns.start));
    }

    /// Prefetches what an access to these pages will touch. The map entries should be prefetched
    /// already.
    #[inline(always)]
    fn prefetch_pages(&self, lpns: Range<u32>) {
        self.store().prefetch_page(Lpn::new(lpns.start));
    }

    /// Does work ahead of need while the host is idle, from `from` to `until`.
    ///
    /// # Errors
    /// An error of the medium.
    #[inline(always)]
    fn clean_idle(&mut self, _from: u64, _until: u64) -> Result<(), Fault<Self>> {
        Ok(())
    }

    /// Writes back the mapping cache, so that the map on flash is complete.
    ///
    /// # Errors
    /// An error of the medium.
    fn flush_map(&mut self, _: &mut Chain) -> Result<(), Fault<Self>> {
        Ok(())
    }

    /// Passes the host's future requests to the policies that are offline bounds.
    fn set_future(&mut self, _: FutureKnowledge) {}

    /// Returns whether a page is only in the controller's memory, because its program unit is not
    /// full yet.
    #[inline(always)]
    fn is_in_memory(&self, _: Ppn) -> bool {
        false
    }

    /// Returns an upper bound on the pages that the host can program before a unit is cleaned.
    /// `None` once cleaning has begun, and on layers that merge units instead.
    fn room_until_cleaning(&self) -> Option<u64> {
        None
    }

    /// Returns the layer's mutable state except counters, or `None` if the layer cannot save all of
    /// it.
    fn state(&mut self) -> Option<&mut dyn State> {
        None
    }

    /// Returns access to the placement handles, or `None` if the layer does not obey handles.
    fn handles(&mut self) -> Option<&mut dyn Handles<Fault<Self>>> {
        None
    }

    // Methods that are the same for every engine.

    /// Returns the medium.
    #[inline(always)]
    fn nand(&self) -> &Self::Medium {
        &self.store().nand
    }

    /// Returns the medium, for example to load its page register.
    #[inline(always)]
    fn nand_mut(&mut self) -> &mut Self::Medium {
        &mut self.store_mut().nand
    }

    /// Returns the state of the units.
    fn units(&self) -> &UnitTable {
        &self.store().units
    }

    /// Returns whether a page has been written, and not trimmed since.
    #[inline(always)]
    fn is_mapped(&self, lpn: Lpn) -> bool {
        self.store().place(lpn).is_some()
    }

    /// Reads a translated page into the medium's register. Returns whether the page was mapped.
    ///
    /// # Errors
    /// An error of the medium.
    #[inline(always)]
    fn read(&mut self, lpn: Lpn, chain: &mut Chain) -> Result<bool, Fault<Self>> {
        let Some(from) = self.store().place(lpn) else { return Ok(false) };
        let in_memory = self.is_in_memory(from);
        self.store_mut().read((lpn, from), in_memory, chain)?;
        Ok(true)
    }

    /// Makes all acknowledged writes and trims survive a power loss. Data does so once it is
    /// programmed; trims must be written to the journal.
    ///
    /// # Errors
    /// An error of the medium.
    fn flush(&mut self, chain: &mut Chain) -> Result<(), Fault<Self>> {
        self.store_mut().keep_journal(CheckpointTrigger::Trims, chain)
    }

    /// Prepares for power-off: writes the journal, which makes the next start quick.
    ///
    /// # Errors
    /// An error of the medium.
    fn shut_down(&mut self, chain: &mut Chain) -> Result<(), Fault<Self>> {
        self.store_mut().keep_journal(CheckpointTrigger::Now, chain)
    }
}

/// Placement handles of a drive, as its host sees them (NVM Express TP4146). `E` is the error of
/// the medium.
pub trait Handles<E> {
    /// Returns the pages that the reclaim unit of a handle still takes. For a full unit, or if no
    /// page was written yet, it is the size of the next reclaim unit.
    fn room(&self, handle: u8) -> u64;

    /// Gives a handle an empty reclaim unit. The rest of its previous unit is never programmed.
    /// Returns the pages of this rest: 0 if the handle had no unit, or an empty one.
    ///
    /// # Errors
    /// An error of the medium, which pads a program unit.
    fn next_unit(&mut self, handle: u8, chain: &mut Chain) -> Result<u64, E>;

    /// Appends the events since the last call, the oldest first. The first call begins to note
    /// events. The oldest events are dropped if there are too many.
    fn take_events(&mut self, into: &mut Vec<HandleEvent>);
}

/// An event of a placement handle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HandleEvent {
    /// The reclaim unit of the handle was full, and the drive opened the next one.
    NextUnit {
        /// The handle.
        handle: u8,
    },
    /// Cleaning moved pages out of an erase unit.
    Moved {
        /// The handle of their last write.
        handle: u8,
        /// The page that was moved first.
        first: Lpn,
        /// Number of pages of the handle that were moved.
        pages: u64,
    },
}

/// Translation layer that can point a page at data written for another page. The log of the host
/// layer SHRD is a range of logical pages behind the user's pages.
pub trait Remap: Ftl {
    /// Writes the medium's register to a translated page of the log. `original` is the page's final
    /// address and goes into the out-of-band area. Without it the page has no owner after a power
    /// loss.
    ///
    /// # Errors
    /// An error of the medium.
    fn write_log(
        &mut self,
        at: Lpn,
        original: Option<Lpn>,
        chain: &mut Chain,
    ) -> Result<(), Fault<Self>>;

    /// Points `to` at the data of `from`, a page of the log, and unmaps `from`. Returns whether
    /// `from` was mapped; if not, `to` stays as it is.
    ///
    /// # Errors
    /// An error of the medium.
    fn remap(&mut self, from: Lpn, to: Lpn, chain: &mut Chain) -> Result<bool, Fault<Self>>;

    /// Unmaps all pages of the log in a range. Returns how many were mapped.
    ///
    /// # Errors
    /// An error of the medium.
    fn drop_log(&mut self, lpns: Range<u32>, chain: &mut Chain) -> Result<u64, Fault<Self>>;
}
