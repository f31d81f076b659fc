//! The account of all flash.

use serde_json::json;

use super::case::{Case, PAGE, UNIT_PAGES};
use super::check::assert_table;

/// Checks the use of all flash in a drive without parity: units in service, and the reserve.
pub(crate) fn parts(case: &Case) {
    let (space, drive) = (&case.result["space"], &case.result["drive"]);
    let bytes = |pages: &str| drive[pages].as_u64().unwrap() * PAGE;
    let map = bytes("translation_pages");
    let user = bytes("logical_pages");
    let journal = space["journal_bytes"].as_u64().unwrap();
    assert_eq!(journal > 0, case.config.ftl.journal);
    assert!(journal.is_multiple_of(UNIT_PAGES * PAGE), "units of its own");
    let expected = json!({
        "raw_bytes": drive["physical_bytes"].as_u64().unwrap() + journal,
        "user_bytes": user,
        "log_bytes": 0,
        "map_bytes": map,
        "spare_bytes": bytes("units") * UNIT_PAGES - user - map,
        "cleaning_bytes": bytes("reserve_units") * UNIT_PAGES,
        "slc_bytes": 0,
        "journal_bytes": journal,
        "fault_bytes": 0,
        "reserve_bytes": 0,
        "parity_bytes": 0,
    });
    assert_table(space, &expected);
    let parts = space.as_object().unwrap().values().map(|bytes| bytes.as_u64().unwrap());
    assert_eq!(parts.sum::<u64>(), 2 * space["raw_bytes"].as_u64().unwrap());
}
