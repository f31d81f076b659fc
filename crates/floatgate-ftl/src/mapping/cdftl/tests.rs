use super::*;
use crate::mapping::drive_tests::{Drive, anything};
use crate::mapping::tests::{fetch, geometry, rewrite, update};
use alloc::vec;

/// A drive with room for this many entries of 8 bytes, and pages of 16 entries and 64 bytes.
fn drive(entries: u64, pages: u64) -> Drive<Cdftl> {
    let bytes = entries * 8 + pages * 64;
    let entries_share = (entries * 8 * 1000 / bytes) as f64 / 1000.0;
    let cdftl = CdftlConfig { entries_share, entry_bytes: 8 };
    let config = MapConfig { cdftl, ..MapConfig::new(geometry(16), bytes) };
    Drive::new(Cdftl::new(&config), geometry(16), bytes)
}

#[test]
fn the_budget_is_shared() {
    let check = |bytes: u64, entries_permille: u32, expected: (usize, u32)| {
        let entries_share = f64::from(entries_permille) / 1000.0;
        let cdftl = CdftlConfig { entries_share, entry_bytes: 8 };
        let map = Cdftl::new(&MapConfig { cdftl, ..MapConfig::new(geometry(16), bytes) });
        let mut drive = Drive::new(map, geometry(16), bytes.max(72));
        drive.run("w0+400");
        assert_eq!((drive.map.entries.len(), drive.map.frames.len()), expected);
    };
    check(512, 500, (32, 4));
    check(200, 500, (17, 1));
    check(200, 900, (17, 1));
    check(600, 100, (11, 8));
    check(1, 500, (1, 1));
}

#[test]
fn changes_reach_flash_with_the_pages_that_leave() {
    let script: [(&str, Vec<MapOp>); 12] = [
        ("r0", vec![fetch(0)]),
        // A hit in the second level.
        ("r1", vec![]),
        ("w0", vec![]),
        // The clean entry 1 leaves. Page 0 leaves without the change of 0, which is then stuck.
        ("r16", vec![fetch(1)]),
        // 0 is older but stuck, so 16 leaves.
        ("r17", vec![]),
        ("w17", vec![]),
        // The change of 17 goes to page 1, and leaves with that page.
        ("r32", vec![rewrite(1), fetch(2)]),
        ("w32", vec![]),
        ("t48", vec![fetch(3)]),
        // 0 and 32 are stuck. The page of the older entry is loaded, and takes the change of 0.
        ("r49", vec![fetch(0)]),
        ("r50", vec![rewrite(0), fetch(3)]),
        ("f", vec![update(2)]),
    ];
    let mut drive = drive(2, 1);
    for (word, expected) in script {
        assert_eq!(drive.run(word), [expected], "{word}");
    }
    let MapStats { hits, misses, evictions, dirty_evictions, .. } = drive.map.counters().map;
    assert_eq!((hits, misses, evictions, dirty_evictions), (6, 5, 5, 2));
}

#[test]
fn the_page_that_frees_a_place_may_be_the_missed_one() {
    let mut drive = drive(1, 1);
    // Trims load page 1, and 0 is stuck. Then page 0 is loaded once, both to take the change of 0
    // and to read 1.
    assert_eq!(drive.run("w0 t16 r1"), [vec![fetch(0)], vec![fetch(1)], vec![fetch(0)]]);
    assert_eq!(drive.residency(0), Residency::Dirty, "folded, not written");
}

#[test]
fn cleaning_changes_cached_entries_in_place() {
    let mut drive = drive(2, 1);
    drive.run("w0+64 f");
    // 15 was stuck until the flush. Entries 15 and 63, and page 3, are cached.
    assert_eq!(drive.run("g63 g48 g0+32"), [vec![], vec![], vec![update(0), update(1)]]);
    assert_eq!(drive.run("f"), [[update(0), rewrite(3)]]);
}

#[test]
fn a_trim_is_an_access_of_each_page() {
    let mut drive = drive(2, 1);
    drive.run("w0+64 f");
    let io = drive.run("t63 t50 r0 t1 t16 f");
    let expected = [
        vec![],
        vec![],
        vec![rewrite(3), fetch(0)],
        vec![],
        vec![rewrite(0), fetch(1)],
        // 63 was not written with its page, because it is still in the first level.
        vec![update(3), rewrite(1)],
    ];
    assert_eq!(io, expected);
}

#[test]
fn anything_keeps_the_map() {
    for (seed, (entries, pages)) in
        [(1, 1), (2, 1), (1, 4), (8, 2), (40, 3), (64, 128), (3000, 2)].into_iter().enumerate()
    {
        anything(&mut drive(entries, pages), seed as u64, 3000);
    }
}
