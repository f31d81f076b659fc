//! Operations of the flash, cleaning, merges, and what broke.

use floatgate_ftl::counters::CAUSES;
use floatgate_ftl::device::Counters;
use floatgate_ftl::nand::Cause;
use schemars::JsonSchema;
use serde::Serialize;

use crate::metrics::ratio;

/// Flash operations by what caused them.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CauseCounts {
    /// Requests of the host.
    pub host: u64,
    /// Translation pages, on behalf of the host.
    pub map: u64,
    /// Moves of data by cleaning.
    pub gc: u64,
    /// Translation pages, on behalf of cleaning.
    pub gc_map: u64,
    /// Merges of log blocks.
    pub merge: u64,
    /// Wear levelling.
    pub wear: u64,
    /// Remapping commands.
    pub remap: u64,
    /// The journal: checkpoints and trims.
    pub journal: u64,
    /// Pages moved out of retired erase units, and those of programs that failed once more.
    pub retire: u64,
    /// Padding of rows that had to be programmed before they were full.
    pub pad: u64,
    /// Moves out of the SLC cache.
    pub fold: u64,
    /// Parity over dies.
    pub parity: u64,
}

impl CauseCounts {
    fn new(counts: &[u64; CAUSES]) -> Self {
        let of = |cause: Cause| counts[cause as usize];
        Self {
            host: of(Cause::Host),
            map: of(Cause::Map),
            gc: of(Cause::Gc),
            gc_map: of(Cause::GcMap),
            merge: of(Cause::Merge),
            wear: of(Cause::Wear),
            remap: of(Cause::Remap),
            journal: of(Cause::Journal),
            retire: of(Cause::Retire),
            pad: of(Cause::Pad),
            fold: of(Cause::Fold),
            parity: of(Cause::Parity),
        }
    }

    /// Operations of all causes.
    pub fn total(&self) -> u64 {
        let data = self.host + self.gc + self.merge + self.wear + self.retire;
        data + self.pad + self.fold + self.parity + self.of_map()
    }

    /// Those of the map: translation pages, remapping and the journal.
    pub fn of_map(&self) -> u64 {
        self.map + self.gc_map + self.remap + self.journal
    }
}

/// Pages read, pages programmed, erase units erased: pages of the map, of `mapping.unit` bytes.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FlashResult {
    /// Pages read.
    pub reads: CauseCounts,
    /// Pages programmed.
    pub programs: CauseCounts,
    /// Erase units erased.
    pub erases: CauseCounts,
    /// Flash pages read by the cells: the pages of the map in one are read at once.
    pub senses: u64,
    /// Programs: of a page each, or of a row of them (`flash.program_pages`).
    pub program_operations: u64,
    /// Pages read from the controller's memory, as they were not programmed yet; not in `reads`.
    pub memory_reads: u64,
    /// Victims that the victim policy did not choose, as free units were short.
    pub emergency_cleans: u64,
}

impl FlashResult {
    pub(super) fn new(counters: &Counters) -> Self {
        Self {
            reads: CauseCounts::new(&counters.flash.reads),
            programs: CauseCounts::new(&counters.flash.programs),
            erases: CauseCounts::new(&counters.flash.erases),
            senses: counters.flash.senses,
            program_operations: counters.flash.program_units,
            memory_reads: counters.flash.memory_reads.iter().sum(),
            emergency_cleans: counters.cleans.emergency,
        }
    }
}

/// Erase units cleaned, by occasion.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CleaningResult {
    /// A write waited for it.
    pub foreground: u64,
    /// Of these, victims that the policy did not choose, as free units were short.
    pub emergency: u64,
    /// Incremental cleaning, a few copies with each host write.
    pub incremental: u64,
    /// While the host was idle.
    pub idle: u64,
    /// To level wear.
    pub wear: u64,
    /// Mean share of valid pages in a victim, 0 to 1; u of A = 1/(1-u).
    pub victim_valid_mean: Option<f64>,
}

impl CleaningResult {
    pub(super) fn new(counters: &Counters, pages_per_unit: u32) -> Self {
        let cleans = counters.cleans;
        let erases = counters.flash.erases[Cause::Gc as usize];
        let copies = counters.flash.programs[Cause::Gc as usize];
        Self {
            foreground: cleans.foreground,
            emergency: cleans.emergency,
            incremental: cleans.incremental,
            idle: cleans.idle,
            wear: cleans.wear,
            victim_valid_mean: ratio(copies, erases * u64::from(pages_per_unit)),
        }
    }
}

/// Merges of log blocks; all 0 on a page-mapped drive.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MergesResult {
    /// Log blocks that held a whole block in order and became the data block: no copies.
    pub switch: u64,
    /// Log blocks in order that became the data block after the missing pages were copied in.
    pub partial: u64,
    /// Blocks whose newest pages were all copied to a fresh erase unit.
    pub full: u64,
    /// Log blocks erased without a merge, as they had no valid page.
    pub dropped_logs: u64,
    /// Log blocks shared by several logical blocks that full merges emptied (`fast`).
    pub shared_logs: u64,
    /// Logical blocks merged to empty one of these (associativity), on average.
    pub merged_per_shared_log: Option<f64>,
    /// The most logical blocks merged to empty one of these.
    pub merged_per_shared_log_max: Option<u64>,
}

impl MergesResult {
    pub(super) fn new(counters: &Counters) -> Self {
        let merges = counters.merges;
        Self {
            switch: merges.switch,
            partial: merges.partial,
            full: merges.full,
            dropped_logs: merges.dropped_logs,
            shared_logs: merges.shared_logs,
            merged_per_shared_log: ratio(merges.shared_merges, merges.shared_logs),
            merged_per_shared_log_max: (merges.shared_logs > 0).then_some(merges.shared_most),
        }
    }
}

/// What broke, on flash that breaks (`[faults]`); else all zero.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FaultsResult {
    /// Erase units that were bad from the factory.
    pub factory_bad_units: u64,
    /// Programs that failed, of a page or of a whole program unit.
    pub program_failures: u64,
    /// Erases that failed.
    pub erase_failures: u64,
    /// Erase units that were erased as often as they last.
    pub worn_out_units: u64,
    /// Erase units replaced by spares.
    pub retired_units: u64,
    /// Pages moved out of these.
    pub moved_pages: u64,
    /// Pages of failed programs, programmed once more.
    pub rewritten_pages: u64,
    /// Pages that became uncorrectable.
    pub unreadable_pages: u64,
    /// Pages whose checksum was wrong.
    pub corrupt_pages: u64,
    /// Page reads of the host that failed with an error.
    pub failed_page_reads: u64,
    /// Partial page writes refused, as the old page could not be read.
    pub unwritten_pages: u64,
    /// Pages left out of the padding of a block, as they could not be read.
    pub unpadded_pages: u64,
    /// Spare erase units that are left.
    pub spare_units_left: u64,
    /// Whether the drive could not be written to any more.
    pub read_only: bool,
    /// Writes and trims after the drive had become read-only.
    pub refused_requests: u64,
}

impl FaultsResult {
    pub(super) fn new(counters: &Counters) -> Self {
        let health = counters.health.unwrap_or_default();
        Self {
            factory_bad_units: health.factory_bad,
            program_failures: health.program_failures,
            erase_failures: health.erase_failures,
            worn_out_units: health.worn_out,
            retired_units: health.retired,
            moved_pages: health.moved,
            rewritten_pages: health.rewritten,
            unreadable_pages: health.read_errors,
            corrupt_pages: health.corrupt_pages,
            failed_page_reads: counters.host.failed_pages,
            unwritten_pages: counters.host.unwritten_pages,
            unpadded_pages: counters.buffer.unwrap_or_default().unpadded,
            spare_units_left: health.spares_left,
            read_only: health.read_only,
            refused_requests: counters.host.refused,
        }
    }
}
