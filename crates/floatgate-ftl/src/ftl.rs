//! What a drive asks of its translation layer.

use alloc::vec::Vec;
use core::ops::Range;

use crate::addr::Lpn;
use crate::blocks::Blocks;
use crate::future::Future;
use crate::mapping::{Access, MapStats};
use crate::nand::{Chain, Nand};

/// The fault of a layer's medium.
pub type Fault<F> = <<F as Ftl>::Medium as Nand>::Error;

/// Units cleaned, by occasion.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cleans {
    /// A write waited for it.
    pub foreground: u64,
    /// Of those, for how many there was so little room that the cheapest was taken, whatever the
    /// policy.
    pub emergency: u64,
    /// Emptied bit by bit with the host's writes.
    pub incremental: u64,
    /// While the host was idle.
    pub idle: u64,
    /// To level wear.
    pub wear: u64,
}

/// Host pages that went to a stream, and pages that cleaning put there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StreamCounts {
    /// Pages written by the host.
    pub host_pages: u64,
    /// Pages moved by cleaning.
    pub gc_pages: u64,
}

/// Merges of log blocks, by kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MergeCounts {
    /// A log that held all pages of a logical block in order became its data block.
    pub switch: u64,
    /// A log that held the first pages in order became the data block after the rest was copied.
    pub partial: u64,
    /// Logical blocks whose newest pages were copied to a fresh unit.
    pub full: u64,
    /// Log blocks shared by logical blocks that were emptied by full merges.
    pub shared_logs: u64,
    /// The full merges that this took.
    pub shared_merges: u64,
    /// The most that one of them took.
    pub shared_most: u64,
    /// Log blocks that were erased without a merge: nothing in them was wanted any more.
    pub dropped_logs: u64,
}

/// A flash translation layer, as the host's edge of the drive uses it. Asked several times per
/// page: a type parameter of the drive.
pub trait Ftl {
    /// The flash below it.
    type Medium: Nand;

    /// The medium.
    fn nand(&self) -> &Self::Medium;

    /// The medium, to load its page register.
    fn nand_mut(&mut self) -> &mut Self::Medium;

    /// The state of the units.
    fn blocks(&self) -> &Blocks;

    /// Whether a page has been written, and not been trimmed since.
    fn is_mapped(&self, lpn: Lpn) -> bool;

    /// Reads a translated page into the medium's register. The answer is whether there was one.
    ///
    /// # Errors
    /// The medium's fault.
    fn read(&mut self, lpn: Lpn, chain: &mut Chain) -> Result<bool, Fault<Self>>;

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

    /// Counters and clocks back to zero; data, map, cache and the order of things stay.
    fn restart(&mut self);

    /// Recomputes what can be recomputed, and asserts that it agrees.
    fn check(&self);

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

    /// All that was acknowledged outlives a loss of power. Data does so from the moment it is
    /// programmed; trims have to be written down.
    ///
    /// # Errors
    /// The medium's fault.
    fn flush(&mut self, _: &mut Chain) -> Result<(), Fault<Self>> {
        Ok(())
    }

    /// The power is about to be switched off: all is written down that makes the next start quick.
    ///
    /// # Errors
    /// The medium's fault.
    fn shut_down(&mut self, _: &mut Chain) -> Result<(), Fault<Self>> {
        Ok(())
    }

    /// Writes back the mapping cache: the map on flash is then the whole map.
    ///
    /// # Errors
    /// The medium's fault.
    fn flush_map(&mut self, _: &mut Chain) -> Result<(), Fault<Self>> {
        Ok(())
    }

    /// Tells the mapping what the host will access from now on.
    fn foresee(&mut self, _: Future) {}

    /// Tells the placement what the host will write from now on.
    fn foresee_writes(&mut self, _: Future) {}

    /// Asks the processor for the map entry of a page that will be accessed soon.
    #[inline(always)]
    fn prefetch_entry(&self, _: Lpn) {}

    /// Asks the processor for what a write of a page will touch; its map entry should be there.
    #[inline(always)]
    fn prefetch_page(&self, _: Lpn) {}

    /// The mapping cache.
    fn map_stats(&self) -> MapStats {
        MapStats::default()
    }

    /// Bytes of memory of the map, or of the part of it that is cached.
    fn cache_bytes(&self) -> u64 {
        0
    }

    /// Units cleaned, by occasion.
    fn cleans(&self) -> Cleans {
        Cleans::default()
    }

    /// Merges of log blocks.
    fn merges(&self) -> MergeCounts {
        MergeCounts::default()
    }

    /// Traffic by stream of the placement, if there is one.
    fn streams(&self) -> Vec<StreamCounts> {
        Vec::new()
    }

    /// Bytes of memory that the placement takes, and the extents that it keeps, if it does.
    fn placement_size(&self) -> (u64, Option<u32>) {
        (0, None)
    }

    /// Translation pages read because the placement wanted to look at pages.
    fn sample_reads(&self) -> u64 {
        0
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
