//! All counters of a drive, in one place.
//!
//! [`Counters`] are reported for the drive as a whole. The call `report` goes down from layer to
//! layer, and each layer enters its own counters. A reset goes down the layers, too. It sets counts
//! to zero and leaves present values alone (memory in use, spares left, pages held). A new counter
//! needs a field here, an increment where the event happens, and a line where results are written.

use alloc::vec::Vec;

use crate::clock::Blame;

/// Counts since the last reset, and present values.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Requests of the host.
    pub host: HostCounts,
    /// Operations of the flash.
    pub flash: FlashCounts,
    /// The clocks of the flash.
    pub occupation: Occupation,
    /// Use of each die's time, in the order of channels.
    pub dies: Vec<DieUse>,
    /// By channel, the causes of its transfers, in nanoseconds.
    pub channels: Vec<Blame>,
    /// The mapping cache.
    pub map: MapStats,
    /// Bytes of memory that the map, or its cached section, uses now.
    pub cache_bytes: u64,
    /// Units cleaned, by occasion.
    pub cleans: Cleans,
    /// Traffic by stream of the placement, cold to hot, then traffic of a log. Empty without a
    /// placement.
    pub streams: Vec<StreamCounts>,
    /// Pages by owner. Empty without a placement.
    pub owners: Vec<OwnerCounts>,
    /// Translation pages read for the pages that the placement samples.
    pub sample_reads: u64,
    /// Host writes with a placement handle that the drive does not have.
    pub unknown_handles: u64,
    /// Bytes of memory of the placement now.
    pub placement_bytes: u64,
    /// Extents that the placement keeps; `None` if it keeps none.
    pub extents: Option<ExtentCounts>,
    /// The SLC cache, if there is one.
    pub slc: Option<SlcCounts>,
    /// Merges of log blocks, by kind.
    pub merges: MergeCounts,
    /// The write buffer, if there is one.
    pub buffer: Option<BufferCounts>,
    /// The host layer, if it changes requests.
    pub layer: Option<LayerCounts>,
    /// Failures, on flash that can fail.
    pub health: Option<Health>,
}

/// Requests of the host: counts, bytes, and the map units that they touch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HostCounts {
    /// Requests by [`Op`](crate::request::Op).
    pub requests: [u64; 4],
    /// Bytes of the reads, as the requests name them: a read of 512 bytes counts 512.
    pub read_bytes: u64,
    /// Bytes of the writes that the drive accepted, as the requests name them.
    pub write_bytes: u64,
    /// Pages touched by reads.
    pub read_pages: u64,
    /// Pages without data that reads touched: no flash was read.
    pub empty_reads: u64,
    /// Pages touched by writes.
    pub write_pages: u64,
    /// Reads before writes that covered a page in part.
    pub partial_page_reads: u64,
    /// Trimmed pages that held data.
    pub trimmed_pages: u64,
    /// Pages that could not be read.
    pub failed_pages: u64,
    /// Pages to be written in part that could not be read: they are not written.
    pub unwritten_pages: u64,
    /// Writes and trims that a read-only drive refused.
    pub refused: u64,
}

/// Extents that a placement keeps, sampled at the end of each write command.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ExtentCounts {
    /// Number of extents now.
    pub now: u32,
    /// Largest number of extents.
    pub most: u32,
    /// Sum of the number of extents over the write commands.
    pub sum: u64,
    /// Write commands.
    pub commands: u64,
    /// Searches for the extents in which the commands begin.
    pub search: ExtentSearch,
}

/// Steps of searches for the extents in which write commands begin, one search per command. A step
/// compares the page with one extent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ExtentSearch {
    /// Commands that begin in the extent found last.
    pub in_last: u64,
    /// Steps of a walk along the extents, from the first one.
    pub walk: u64,
    /// Steps of a walk from the extent found last, in either direction.
    pub walk_from_last: u64,
    /// Steps of a binary search among all extents.
    pub halving: u64,
    /// Steps of a search from the extent found last, by doubled distances and then by halving.
    pub halving_from_last: u64,
}

/// Number of causes of operations.
pub const CAUSES: usize = 12;

/// Operations by cause, in the order of [`Cause::ALL`](crate::nand::Cause::ALL).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FlashCounts {
    /// Map units read.
    pub reads: [u64; CAUSES],
    /// Map units programmed.
    pub programs: [u64; CAUSES],
    /// Units erased.
    pub erases: [u64; CAUSES],
    /// Flash pages read: one read of the cells can serve several map units of a flash page.
    pub senses: u64,
    /// Program units programmed.
    pub program_units: u64,
    /// Program units programmed in SLC mode, included in `program_units`.
    pub slc_program_units: u64,
    /// Map units programmed in SLC mode.
    pub slc_programs: u64,
    /// Map units read from the controller's memory, because they were not programmed yet. No other
    /// count includes them.
    pub memory_reads: [u64; CAUSES],
}

/// Time that the dies of a timed medium were busy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Occupation {
    /// End of the last operation, or the present time while an operation is under way.
    pub end_ns: u64,
    /// Time that dies were occupied, summed over the dies.
    pub busy_ns: u64,
    /// Time that the busiest die was occupied.
    pub busiest_ns: u64,
}

/// Use of one die's time, in nanoseconds. The rest is idle time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DieUse {
    /// Reading cells.
    pub read_ns: u64,
    /// Programming cells.
    pub program_ns: u64,
    /// Erasing cells.
    pub erase_ns: u64,
    /// Transferring pages or sending commands.
    pub transfer_ns: u64,
    /// Waiting for the channel.
    pub wait_ns: u64,
}

impl DieUse {
    /// Returns the sum of all uses.
    pub fn busy_ns(&self) -> u64 {
        self.read_ns + self.program_ns + self.erase_ns + self.transfer_ns + self.wait_ns
    }
}

/// Failures since the counters were reset, and remaining spares.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Health {
    /// Units that were bad from the factory.
    pub factory_bad: u64,
    /// Programs that failed.
    pub program_failures: u64,
    /// Erases that failed.
    pub erase_failures: u64,
    /// Units that reached the number of erases that they last.
    pub worn_out: u64,
    /// Units that a spare has replaced.
    pub retired: u64,
    /// Pages moved out of retired units.
    pub moved: u64,
    /// Pages of failed programs that were programmed again.
    pub rewritten: u64,
    /// Pages that became unreadable.
    pub read_errors: u64,
    /// Pages with a wrong checksum.
    pub corrupt_pages: u64,
    /// Remaining spare units.
    pub spares_left: u64,
    /// Whether the drive is read-only.
    pub read_only: bool,
}

/// Counters of a mapping.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MapStats {
    /// Host page accesses that found their entry in the cache.
    pub hits: u64,
    /// Host page accesses that did not find their entry in the cache.
    pub misses: u64,
    /// Entries dropped to make room.
    pub evictions: u64,
    /// Dropped entries that had to be written back.
    pub dirty_evictions: u64,
    /// Entries loaded before an access needed them.
    pub prefetched: u64,
    /// Prefetched entries that an access used while they were cached.
    pub prefetch_used: u64,
    /// Prefetched entries that were dropped before an access used them.
    pub prefetch_unused: u64,
    /// Counters that the mapping does not keep: their value is 0.
    pub unreported: MapUnreported,
}

/// Which counters a mapping does not keep. The built-in mappings keep all of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MapUnreported {
    /// [`MapStats::evictions`].
    pub evictions: bool,
    /// [`MapStats::dirty_evictions`].
    pub dirty_evictions: bool,
    /// [`MapStats::prefetched`].
    pub prefetched: bool,
    /// [`MapStats::prefetch_used`].
    pub prefetch_used: bool,
    /// [`MapStats::prefetch_unused`].
    pub prefetch_unused: bool,
    /// [`Counters::cache_bytes`].
    pub cache_bytes: bool,
}

/// Units cleaned, by occasion.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cleans {
    /// A write waited for the clean.
    pub foreground: u64,
    /// Foreground cleans in which the cleaner chose the cheapest victim, whatever the policy: room
    /// was short, or cleaning made no progress. Units of an SLC cache that are folded then count.
    pub emergency: u64,
    /// Cleans in steps, spread over host writes.
    pub incremental: u64,
    /// Cleans while the host was idle.
    pub idle: u64,
    /// Cleans to level wear.
    pub wear: u64,
    /// Wholly valid erase units of victims that went to another reclaim unit as they were.
    pub relabelled: u64,
}

/// Pages written to one stream, by the host and by cleaning, and its units that were emptied.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StreamCounts {
    /// Pages written by the host.
    pub host_pages: u64,
    /// Pages among them that are hot in truth, by
    /// [`hot_pages`](crate::placement::PerfectConfig::hot_pages). 0 if that is not set.
    pub hot_pages: u64,
    /// Pages moved to the stream by cleaning.
    pub gc_pages: u64,
    /// Units of the stream that were emptied, by cleaning or because an SLC cache folded them.
    pub victims: u64,
    /// Valid pages of these units when they were chosen.
    pub victim_valid_pages: u64,
    /// Pages that these units hold, valid or not.
    pub victim_pages: u64,
}

/// Pages of one owner: of a placement handle if the placement obeys handles, else of a stream.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OwnerCounts {
    /// Pages written by the host.
    pub host_pages: u64,
    /// Pages of the owner that cleaning copied, by owner of the write that cleaning ran for. The
    /// last count is for cleaning that ran for no write of data.
    pub gc_pages: Vec<u64>,
    /// Pages copied out of the SLC cache.
    pub fold_pages: u64,
    /// Pages moved by wear levelling.
    pub wear_pages: u64,
    /// Pages in erase units that went to another reclaim unit as they were.
    pub relabelled_pages: u64,
}

/// Traffic of an SLC cache, and its contents now.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SlcCounts {
    /// Host pages that were written to the cache.
    pub cached_pages: u64,
    /// Host pages that bypassed the cache, because it was full.
    pub direct_pages: u64,
    /// Units folded.
    pub folds: u64,
    /// Units folded while the host was idle.
    pub idle_folds: u64,
    /// Units of the cache now.
    pub units: u32,
    /// Valid pages in the cache's units.
    pub valid_pages: u64,
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
    /// Log blocks shared by logical blocks, emptied by full merges.
    pub shared_logs: u64,
    /// Full merges that emptied these shared log blocks.
    pub shared_merges: u64,
    /// Largest number of full merges for one shared log block.
    pub shared_most: u64,
    /// Log blocks erased without a merge, because they held no valid page any more.
    pub dropped_logs: u64,
}

/// Counters of a write buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BufferCounts {
    /// Pages written while they were buffered.
    pub write_hits: u64,
    /// Pages written while they were not buffered.
    pub write_misses: u64,
    /// Pages read from the buffer.
    pub read_hits: u64,
    /// Pages read that were not buffered.
    pub read_misses: u64,
    /// Pages flushed to the flash.
    pub flushed: u64,
    /// Pages dropped without a write, because the flash already had them.
    pub released: u64,
    /// Pages read from the flash and flushed together with buffered pages.
    pub padded: u64,
    /// Pages that could not be read for padding.
    pub unpadded: u64,
    /// Pages that were trimmed while they were buffered.
    pub trimmed: u64,
    /// Pages that were buffered when the power failed.
    pub lost: u64,
    /// Pages buffered now.
    pub held: u64,
    /// Pages buffered when the counters were reset.
    pub held_at_start: u64,
    /// Bytes of bookkeeping.
    pub memory_bytes: u64,
    /// Whether the flash also has each buffered page.
    pub writes_through: bool,
}

/// Counters of the host layer SHRD.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ShrdCounts {
    /// Commands for the drive, of any kind. A twrite is two commands: its header and its data.
    pub commands: u64,
    /// Writes to the log.
    pub twrites: u64,
    /// Requests packed into twrites.
    pub packed: u64,
    /// Pages packed into twrites.
    pub packed_pages: u64,
    /// Small writes that bypassed the log, because it was full.
    pub log_full: u64,
    /// Log slots left empty, so that odd pages take odd slots and even pages even slots.
    pub padded: u64,
    /// Remap commands.
    pub remaps: u64,
    /// Windows that were remapped.
    pub windows: u64,
    /// Pages remapped.
    pub remapped_pages: u64,
    /// Pages remapped individually, before a write that covered them in part.
    pub remapped_alone: u64,
    /// Reads with a page in the log.
    pub redirected_reads: u64,
    /// Pages that larger writes and trims took out of the log.
    pub dropped: u64,
}

/// Counters and memory of a host layer that changes requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LayerCounts {
    /// Counters since the last reset.
    pub shrd: ShrdCounts,
    /// Bytes of the host's memory.
    pub memory_bytes: u64,
    /// Slots of the log in use now.
    pub slots_used: u32,
}
