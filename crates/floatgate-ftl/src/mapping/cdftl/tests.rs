use super::*;
use crate::mapping::drive_tests::{Drive, anything};
use crate::mapping::tests::geometry;

/// A drive with room for this many entries of 8 bytes, and pages of 16 entries and 64 bytes.
fn drive(entries: u64, pages: u64) -> Drive<Cdftl> {
    let bytes = entries * 8 + pages * 64;
    let entries_share = (entries * 8 * 1000 / bytes) as f64 / 1000.0;
    let cdftl = CdftlConfig { entries_share, entry_bytes: 8 };
    let config = MapConfig { cdftl, ..MapConfig::new(geometry(16), bytes) };
    Drive::new(Cdftl::new(&config), geometry(16), bytes)
}

#[test]
fn anything_keeps_the_map() {
    for (seed, (entries, pages)) in
        [(1, 1), (2, 1), (1, 4), (8, 2), (40, 3), (64, 128), (3000, 2)].into_iter().enumerate()
    {
        anything(&mut drive(entries, pages), seed as u64, 3000);
    }
}
