//! The SLC cache.

use floatgate_ftl::device::Counters;
use schemars::JsonSchema;
use serde::Serialize;

/// Use of the SLC cache; all zero without one.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct SlcResult {
    /// Pages of the host written to the cache.
    pub cached_pages: u64,
    /// Pages of the host written directly to native units, because the cache was full.
    pub direct_pages: u64,
    /// Units folded: their valid pages were moved to units in native mode.
    pub folds: u64,
    /// Units folded while the host was idle, included in `folds`.
    pub idle_folds: u64,
    /// Pages programmed in SLC mode, included in `flash.programs`.
    pub programs: u64,
    /// Programs in SLC mode, included in `flash.program_operations`.
    pub program_operations: u64,
    /// Units of the cache at the end.
    pub units: u32,
    /// Valid pages in the cache's units.
    pub valid_pages: u64,
}

impl SlcResult {
    pub(super) fn new(counters: &Counters) -> Self {
        let slc = counters.slc.unwrap_or_default();
        Self {
            cached_pages: slc.cached_pages,
            direct_pages: slc.direct_pages,
            folds: slc.folds,
            idle_folds: slc.idle_folds,
            programs: counters.flash.slc_programs,
            program_operations: counters.flash.slc_program_units,
            units: slc.units,
            valid_pages: slc.valid_pages,
        }
    }
}
