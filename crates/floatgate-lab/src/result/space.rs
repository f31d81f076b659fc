//! Use of the flash, from the capacity on the data sheet to all flash of the drive.

use schemars::JsonSchema;
use serde::Serialize;

use crate::drive::Plan;

/// Use of the flash in bytes; the parts add up to `raw_bytes`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SpaceResult {
    /// All flash of the drive.
    pub raw_bytes: u64,
    /// Flash that the host can address: the capacity on the data sheet.
    pub user_bytes: u64,
    /// The host's log (SHRD).
    pub log_bytes: u64,
    /// The map.
    pub map_bytes: u64,
    /// Spare space for cleaning: the rest of the erase units in service.
    pub spare_bytes: u64,
    /// Erase units without which cleaning, or merging log blocks, cannot begin
    /// (`drive.reserve_units`).
    pub cleaning_bytes: u64,
    /// Erase units that only the SLC cache uses, counted at their native capacity.
    pub slc_bytes: u64,
    /// Erase units of the journal.
    pub journal_bytes: u64,
    /// Erase units that replace failing units in the simulation (`[faults]`).
    pub fault_bytes: u64,
    /// Erase units kept to replace failed units; the simulation does not use them
    /// (`capacity.reserve`).
    pub reserve_bytes: u64,
    /// Parity in all erase units.
    pub parity_bytes: u64,
}

impl SpaceResult {
    /// Computes the use of the flash of a planned drive.
    pub fn new(plan: &Plan) -> Self {
        let Plan { geometry, medium, flash, .. } = plan;
        let bytes = |pages: u32| u64::from(pages) << geometry.log2_page_bytes();
        let of_units = |units: u32| u64::from(units) * bytes(geometry.pages_per_unit());
        let slc_units = plan.cleaning.slc.map_or(0, |slc| slc.static_units);
        let units = flash.units() + plan.kept_units;
        let used = geometry.logical_pages() + plan.translation_pages;
        Self {
            raw_bytes: plan.bytes_of_units(units),
            user_bytes: plan.logical_bytes(),
            log_bytes: bytes(plan.log_pages),
            map_bytes: bytes(plan.translation_pages),
            spare_bytes: of_units(plan.units_in_service) - bytes(used),
            cleaning_bytes: of_units(geometry.units() - plan.units_in_service - slc_units),
            slc_bytes: of_units(slc_units),
            journal_bytes: of_units(medium.units() - geometry.units()),
            fault_bytes: of_units(flash.units() - medium.units()),
            reserve_bytes: of_units(plan.kept_units),
            parity_bytes: plan.bytes_of_units(units) - of_units(units),
        }
    }
}
