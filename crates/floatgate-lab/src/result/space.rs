//! What the flash is used for: from the capacity on the data sheet to all flash that there is.

use schemars::JsonSchema;
use serde::Serialize;

use crate::drive::Plan;

/// What the flash is used for, in bytes: the parts add up to `raw_bytes`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SpaceResult {
    /// All flash there is.
    pub raw_bytes: u64,
    /// What the host can address: the capacity on the data sheet.
    pub user_bytes: u64,
    /// The host's log (SHRD).
    pub log_bytes: u64,
    /// The map.
    pub map_bytes: u64,
    /// The rest of the erase units in service: what cleaning lives on.
    pub spare_bytes: u64,
    /// Erase units without which cleaning, or merging log blocks, cannot begin
    /// (`drive.reserve_units`).
    pub cleaning_bytes: u64,
    /// Erase units that only the SLC cache uses, as they are with all bits of a cell.
    pub slc_bytes: u64,
    /// Erase units of the journal.
    pub journal_bytes: u64,
    /// Erase units that replace those that break in the simulation (`[faults]`).
    pub fault_bytes: u64,
    /// Erase units that are kept for others that break and are not used here (`capacity.reserve`).
    pub reserve_bytes: u64,
    /// Parity in all erase units.
    pub parity_bytes: u64,
}

impl SpaceResult {
    /// Of a drive of decided size.
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
