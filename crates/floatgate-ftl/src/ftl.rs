//! What a drive asks of its translation layer.

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

/// The fault of a layer's medium.
pub type Fault<F> = <<F as Ftl>::Medium as Nand>::Error;

/// A flash translation layer, as the host's edge of the drive uses it. Asked several times per
/// page: a type parameter of the drive.
pub trait Ftl {
    /// The flash below it.
    type Medium: Nand;

    /// The flash, and what is known of it.
    fn store(&self) -> &Store<Self::Medium>;

    /// The flash, and what is known of it.
    fn store_mut(&mut self) -> &mut Store<Self::Medium>;

    /// Writes the medium's register to a translated page. `request_pages` is the length of the
    /// whole request.
    ///
    /// # Errors
    /// The medium's fault.
    fn write(&mut self, lpn: Lpn, request_pages: u32, chain: &mut Chain)
    -> Result<(), Fault<Self>>;

    /// Forgets pages. The answer is how many of them held something.
    ///
    /// # Errors
    /// The medium's fault.
    fn trim(&mut self, lpns: Range<u32>, chain: &mut Chain) -> Result<u64, Fault<Self>>;

    /// Enters what this layer and its medium have counted since the last [`Ftl::reset_counters`].
    fn report(&self, counters: &mut Counters);

    /// Counters and clocks back to zero; data, map, cache and the order of things stay.
    fn reset_counters(&mut self);

    /// Recomputes what can be recomputed, and asserts that it agrees.
    fn check(&self);

    // What an engine may add.

    /// The host writes these pages, and says by a placement handle with what they are to lie
    /// together. Called before they are buffered or programmed.
    #[inline(always)]
    fn label(&mut self, _lpns: Range<u32>, _handle: u16) {}

    /// The host is about to write `pages` consecutive pages by one command.
    ///
    /// # Errors
    /// The medium's fault.
    #[inline(always)]
    fn command(&mut self, _first: Lpn, _pages: u32, _: &mut Chain) -> Result<(), Fault<Self>> {
        Ok(())
    }

    /// Looks up the map entry of a page that the host is about to read or write. Costs nothing
    /// where the whole map is in memory.
    ///
    /// # Errors
    /// The medium's fault.
    #[inline(always)]
    fn translate(&mut self, _: Access, _: &mut Chain) -> Result<(), Fault<Self>> {
        Ok(())
    }

    /// The host has asked for nothing from `from` to `until`: time for work ahead of need.
    ///
    /// # Errors
    /// The medium's fault.
    #[inline(always)]
    fn clean_idle(&mut self, _from: u64, _until: u64) -> Result<(), Fault<Self>> {
        Ok(())
    }

    /// Writes back the mapping cache: the map on flash is then the whole map.
    ///
    /// # Errors
    /// The medium's fault.
    fn flush_map(&mut self, _: &mut Chain) -> Result<(), Fault<Self>> {
        Ok(())
    }

    /// Tells the policies that are bounds what the host will do from now on.
    fn set_future(&mut self, _: FutureKnowledge) {}

    /// Whether a page is not programmed yet, as its program unit is not full: the controller's
    /// memory has it.
    #[inline(always)]
    fn is_in_memory(&self, _: Ppn) -> bool {
        false
    }

    /// Pages that the host can have programmed until a unit is cleaned, at most. None once cleaning
    /// has begun, and where units are merged instead.
    fn room_until_cleaning(&self) -> Option<u64> {
        None
    }

    /// What changes in it beside counters, if all of it can be saved.
    fn state(&mut self) -> Option<&mut dyn State> {
        None
    }

    // What every engine does alike.

    /// The medium.
    #[inline(always)]
    fn nand(&self) -> &Self::Medium {
        &self.store().nand
    }

    /// The medium, to load its page register.
    #[inline(always)]
    fn nand_mut(&mut self) -> &mut Self::Medium {
        &mut self.store_mut().nand
    }

    /// The state of the units.
    fn units(&self) -> &UnitTable {
        &self.store().units
    }

    /// Whether a page has been written, and not been trimmed since.
    #[inline(always)]
    fn is_mapped(&self, lpn: Lpn) -> bool {
        self.store().place(lpn).is_some()
    }

    /// Reads a translated page into the medium's register. The answer is whether there was one.
    ///
    /// # Errors
    /// The medium's fault.
    #[inline(always)]
    fn read(&mut self, lpn: Lpn, chain: &mut Chain) -> Result<bool, Fault<Self>> {
        let Some(from) = self.store().place(lpn) else { return Ok(false) };
        let in_memory = self.is_in_memory(from);
        self.store_mut().read((lpn, from), in_memory, chain)?;
        Ok(true)
    }

    /// All that was acknowledged outlives a loss of power. Data does so from the moment it is
    /// programmed; trims have to be written down.
    ///
    /// # Errors
    /// The medium's fault.
    fn flush(&mut self, chain: &mut Chain) -> Result<(), Fault<Self>> {
        self.store_mut().keep_journal(CheckpointTrigger::Trims, chain)
    }

    /// The power is about to be switched off: all is written down that makes the next start quick.
    ///
    /// # Errors
    /// The medium's fault.
    fn shut_down(&mut self, chain: &mut Chain) -> Result<(), Fault<Self>> {
        self.store_mut().keep_journal(CheckpointTrigger::Now, chain)
    }
}

/// A translation layer that can point a page at what was written for another one: the log of the
/// host layer SHRD is a range of logical pages behind the user's.
pub trait Remap: Ftl {
    /// Writes the medium's register to a translated page of the log, on behalf of `original`, which
    /// goes into the out-of-band area. Without one, the page is nobody's after a loss of power.
    ///
    /// # Errors
    /// The medium's fault.
    fn write_log(
        &mut self,
        at: Lpn,
        original: Option<Lpn>,
        chain: &mut Chain,
    ) -> Result<(), Fault<Self>>;

    /// Points `to` at what was written to `from`, a page of the log, which holds nothing then. The
    /// answer is whether it held something; if not, `to` stays as it is.
    ///
    /// # Errors
    /// The medium's fault.
    fn remap(&mut self, from: Lpn, to: Lpn, chain: &mut Chain) -> Result<bool, Fault<Self>>;

    /// Forgets what pages of the log still hold. The answer is how many held something.
    ///
    /// # Errors
    /// The medium's fault.
    fn drop_log(&mut self, lpns: Range<u32>, chain: &mut Chain) -> Result<u64, Fault<Self>>;
}
