//! Everything that is counted, in one place: what each layer of a drive fills in of the account.
//!
//! A drive is asked for its [`Counters`] as a whole. The question goes down from layer to layer
//! (`report`), and each one enters what is its own. Resetting them goes the same way: it sets back
//! to zero what is counted, and leaves alone what is merely so (memory in use, spares left, pages
//! held). A new counter is a field here, its increment where it happens, and a line where results
//! are written.

use alloc::vec::Vec;

use crate::clock::Blame;

/// Everything that a drive has counted since its counters were reset, and what it takes now.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// What the host asked for.
    pub host: HostCounts,
    /// Operations of the flash.
    pub flash: FlashCounts,
    /// The clocks of the flash.
    pub occupation: Occupation,
    /// By die, in the order of channels, what its time went into.
    pub dies: Vec<DieUse>,
    /// By channel, for what pages were transferred.
    pub channels: Vec<Blame>,
    /// The mapping cache.
    pub map: MapStats,
    /// Bytes of memory of the map now, or of the part of it that is cached.
    pub cache_bytes: u64,
    /// Units cleaned, by occasion.
    pub cleans: Cleans,
    /// Traffic by stream of the placement, cold to hot, and behind them that of a log; none if
    /// there is no placement.
    pub streams: Vec<StreamCounts>,
    /// Translation pages read for the pages that the placement samples.
    pub sample_reads: u64,
    /// Writes of the host with a placement handle that the drive does not have.
    pub unknown_handles: u64,
    /// Bytes of memory that the placement takes now.
    pub placement_bytes: u64,
    /// Extents that the placement keeps, if that is what it keeps.
    pub extents: Option<ExtentCounts>,
    /// The SLC cache, if there is one.
    pub slc: Option<SlcCounts>,
    /// Merges of log blocks, by kind.
    pub merges: MergeCounts,
    /// The write buffer, if there is one.
    pub buffer: Option<BufferCounts>,
    /// The host layer, if it is one that changes requests.
    pub layer: Option<LayerCounts>,
    /// What has broken, on flash that breaks.
    pub health: Option<Health>,
}

/// What the host asked of a drive: requests, bytes, and the pages of the map that these touch.
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
    /// Those of them that held nothing, so that no flash was read.
    pub empty_reads: u64,
    /// Pages touched by writes.
    pub write_pages: u64,
    /// Reads before writes that covered a page in part.
    pub partial_page_reads: u64,
    /// Pages trimmed that held something.
    pub trimmed_pages: u64,
    /// Pages that could not be read.
    pub failed_pages: u64,
    /// Pages that were to be written in part and could not be read: they are not written.
    pub unwritten_pages: u64,
    /// Writes and trims that a drive refused that had become read-only.
    pub refused: u64,
}

/// Extents that a placement keeps, seen at the end of each write command.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ExtentCounts {
    /// How many there are now.
    pub now: u32,
    /// The most that there were.
    pub most: u32,
    /// The sum over the commands.
    pub sum: u64,
    /// Write commands.
    pub commands: u64,
}

/// How many causes of operations there are.
pub const CAUSES: usize = 12;

/// Operations by cause, in the order of [`Cause::ALL`](crate::nand::Cause::ALL).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FlashCounts {
    /// Pages of the map that were read.
    pub reads: [u64; CAUSES],
    /// Pages of the map that were programmed.
    pub programs: [u64; CAUSES],
    /// Units erased.
    pub erases: [u64; CAUSES],
    /// Flash pages read: of those that are in one flash page several may be read at once.
    pub senses: u64,
    /// Program units programmed.
    pub program_units: u64,
    /// Those of them that were programmed in SLC mode.
    pub slc_program_units: u64,
    /// Pages of the map that were programmed in SLC mode.
    pub slc_programs: u64,
    /// Pages of the map that were read from the controller's memory, as they were not programmed
    /// yet; in no other count.
    pub memory_reads: [u64; CAUSES],
}

/// How busy the dies of a timed medium were.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Occupation {
    /// When the last operation ended; if one is under way, now.
    pub end_ns: u64,
    /// Time that dies were occupied, summed over the dies.
    pub busy_ns: u64,
    /// The busiest die's share of it.
    pub busiest_ns: u64,
}

/// What the time of one die went into, in nanoseconds; what is left is idle time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DieUse {
    /// Cells are read.
    pub read_ns: u64,
    /// Cells are programmed.
    pub program_ns: u64,
    /// Cells are erased.
    pub erase_ns: u64,
    /// A page is transferred, or a command sent.
    pub transfer_ns: u64,
    /// Nothing can go on until the channel is free.
    pub wait_ns: u64,
}

impl DieUse {
    /// All of it.
    pub fn busy_ns(&self) -> u64 {
        self.read_ns + self.program_ns + self.erase_ns + self.transfer_ns + self.wait_ns
    }
}

/// What has broken since the counters were reset, and what is left.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Health {
    /// Units that were bad from the factory.
    pub factory_bad: u64,
    /// Programs that failed.
    pub program_failures: u64,
    /// Erases that failed.
    pub erase_failures: u64,
    /// Units that were erased as often as they last.
    pub worn_out: u64,
    /// Units whose place a spare has taken.
    pub retired: u64,
    /// Pages moved out of them.
    pub moved: u64,
    /// Pages of programs that failed, programmed once more.
    pub rewritten: u64,
    /// Pages that became unreadable.
    pub read_errors: u64,
    /// Pages of which the checksum was wrong.
    pub corrupt_pages: u64,
    /// Spare units that are left.
    pub spares_left: u64,
    /// Whether nothing can be written any more.
    pub read_only: bool,
}

/// What a mapping has counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MapStats {
    /// Host page accesses that found their entry.
    pub hits: u64,
    /// Host page accesses that did not.
    pub misses: u64,
    /// Entries dropped to make room.
    pub evictions: u64,
    /// Those of them that had to be written back.
    pub dirty_evictions: u64,
    /// Entries loaded before they were asked for.
    pub prefetched: u64,
    /// Those of them that were asked for while they were cached.
    pub prefetch_used: u64,
    /// Those of them that were dropped before anyone asked.
    pub prefetch_unused: u64,
    /// Which of them it cannot tell: those are 0.
    pub untold: MapUntold,
}

/// What a mapping cannot tell of itself. Those of the table tell all.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MapUntold {
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

/// What an SLC cache has taken and given, and what is in it now.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SlcCounts {
    /// Pages of the host that were written to it.
    pub cached_pages: u64,
    /// Pages of the host that went past it, as it was full.
    pub direct_pages: u64,
    /// Units folded.
    pub folds: u64,
    /// Those of them that were folded while the host was idle.
    pub idle_folds: u64,
    /// Units that it has now.
    pub units: u32,
    /// Valid pages in them.
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
    /// Log blocks shared by logical blocks that were emptied by full merges.
    pub shared_logs: u64,
    /// The full merges that this took.
    pub shared_merges: u64,
    /// The most that one of them took.
    pub shared_most: u64,
    /// Log blocks that were erased without a merge: no page in them was valid any more.
    pub dropped_logs: u64,
}

/// What a buffer has counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BufferCounts {
    /// Pages written that were buffered already.
    pub write_hits: u64,
    /// Pages written that were not.
    pub write_misses: u64,
    /// Pages read from the buffer.
    pub read_hits: u64,
    /// Pages read that were not buffered.
    pub read_misses: u64,
    /// Pages that left for the flash.
    pub flushed: u64,
    /// Pages that left without a word, for they were on the flash already.
    pub released: u64,
    /// Pages that were read from the flash and written with them.
    pub padded: u64,
    /// Pages that were to be, and could not be read.
    pub unpadded: u64,
    /// Pages that were trimmed while they were buffered.
    pub trimmed: u64,
    /// Pages that were buffered when the power failed.
    pub lost: u64,
    /// Pages that are buffered now, and that were when the counters were reset.
    pub held: u64,
    /// See `held`.
    pub held_at_start: u64,
    /// Bytes of bookkeeping.
    pub memory_bytes: u64,
    /// Whether what is buffered is on the flash, too.
    pub writes_through: bool,
}

/// What the host layer SHRD has counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ShrdCounts {
    /// Commands for the drive, of any kind; a twrite is two, its header and its data.
    pub commands: u64,
    /// Writes to the log.
    pub twrites: u64,
    /// Requests packed into them.
    pub packed: u64,
    /// Their pages.
    pub packed_pages: u64,
    /// Small writes that were sent as they are, because the log was full.
    pub log_full: u64,
    /// Slots left empty for the sake of parity.
    pub padded: u64,
    /// Remap commands.
    pub remaps: u64,
    /// Windows that were remapped.
    pub windows: u64,
    /// Pages remapped.
    pub remapped_pages: u64,
    /// Pages that were remapped by themselves, before a write that covered them in part.
    pub remapped_alone: u64,
    /// Reads of which a page was in the log.
    pub redirected_reads: u64,
    /// Pages taken out of the log by larger writes and trims.
    pub dropped: u64,
}

/// What a host layer that changes requests has counted, and what it takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LayerCounts {
    /// Counted since the counters were reset.
    pub shrd: ShrdCounts,
    /// Bytes of the host's memory.
    pub memory_bytes: u64,
    /// Slots of the log in use now.
    pub slots_used: u32,
}
