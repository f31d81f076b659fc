//! Flash operations, cleaning, merges, and failures.

use floatgate_ftl::counters::CAUSES;
use floatgate_ftl::device::Counters;
use floatgate_ftl::nand::Cause;
use schemars::JsonSchema;
use serde::Serialize;

use crate::metrics::ratio;

/// Flash operations by cause.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CauseCounts {
    /// Requests of the host.
    pub host: u64,
    /// Translation pages, on behalf of the host.
    pub map: u64,
    /// Data moved by cleaning.
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
    /// Pages moved out of retired erase units, and pages programmed again after a failed program.
    pub retire: u64,
    /// Padding of rows that had to be programmed before they were full.
    pub pad: u64,
    /// Data moved out of the SLC cache.
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

    /// Operations for the map: translation pages, remapping and the journal.
    pub fn of_map(&self) -> u64 {
        self.map + self.gc_map + self.remap + self.journal
    }
}

/// Pages read, pages programmed, erase units erased. Pages are map units, of `mapping.unit` bytes.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FlashResult {
    /// Pages read.
    pub reads: CauseCounts,
    /// Pages programmed.
    pub programs: CauseCounts,
    /// Erase units erased.
    pub erases: CauseCounts,
    /// Reads of a flash page from the cells: one read covers all map units of a flash page.
    pub senses: u64,
    /// Program operations: each programs a page, or a row of pages (`flash.program_pages`).
    pub program_operations: u64,
    /// Pages read from the controller's memory because they were not programmed yet; `reads` does
    /// not include them.
    pub memory_reads: u64,
    /// Victims that the victim policy did not choose, because free units were short.
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

/// Victims cleaned, by occasion. A victim is an erase unit, or a reclaim unit of several erase
/// units (`placement.reclaim_unit`).
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CleaningResult {
    /// Units cleaned while a write waited.
    pub foreground: u64,
    /// Foreground cleans whose victim the policy did not choose, because free units were short.
    pub emergency: u64,
    /// Units cleaned incrementally, a few copies with each host write.
    pub incremental: u64,
    /// Units cleaned while the host was idle.
    pub idle: u64,
    /// Units cleaned to level wear.
    pub wear: u64,
    /// Erase units of victims that joined another reclaim unit without copies, because all their
    /// pages were valid (`cleaning.relabel`).
    pub relabelled: u64,
    /// Mean share of valid pages in a victim, 0 to 1; u in A = 1/(1-u).
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
            relabelled: cleans.relabelled,
            victim_valid_mean: ratio(copies, erases * u64::from(pages_per_unit)),
        }
    }
}

/// Merges of log blocks; all 0 on a page-mapped drive.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MergesResult {
    /// Log blocks that held a whole block in order and became the data block without copies.
    pub switch: u64,
    /// Log blocks in order that became the data block after the missing pages were copied in.
    pub partial: u64,
    /// Blocks whose newest pages were all copied to a fresh erase unit.
    pub full: u64,
    /// Log blocks erased without a merge, because they had no valid page.
    pub dropped_logs: u64,
    /// Log blocks shared by several logical blocks that full merges emptied (`fast`).
    pub shared_logs: u64,
    /// Mean number of logical blocks merged to empty a shared log block (associativity).
    pub merged_per_shared_log: Option<f64>,
    /// Largest number of logical blocks merged to empty a shared log block.
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

/// Failures of flash with faults (`[faults]`); all zero without faults.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FaultsResult {
    /// Erase units that were bad from the factory.
    pub factory_bad_units: u64,
    /// Programs that failed, of a page or of a whole program unit.
    pub program_failures: u64,
    /// Erases that failed.
    pub erase_failures: u64,
    /// Erase units that reached the number of erases that they last.
    pub worn_out_units: u64,
    /// Erase units replaced by spares.
    pub retired_units: u64,
    /// Pages moved out of retired units.
    pub moved_pages: u64,
    /// Pages of failed programs that were programmed again.
    pub rewritten_pages: u64,
    /// Pages that became uncorrectable.
    pub unreadable_pages: u64,
    /// Pages whose checksum was wrong.
    pub corrupt_pages: u64,
    /// Page reads of the host that failed with an error.
    pub failed_page_reads: u64,
    /// Partial page writes refused because the old page could not be read.
    pub unwritten_pages: u64,
    /// Pages left out of the padding of a block because they could not be read.
    pub unpadded_pages: u64,
    /// Remaining spare erase units.
    pub spare_units_left: u64,
    /// Whether the drive became read-only.
    pub read_only: bool,
    /// Writes and trims refused after the drive became read-only.
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
