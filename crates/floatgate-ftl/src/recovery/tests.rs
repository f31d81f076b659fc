//! Scans of flash that was programmed by hand, page by page.

use std::vec;
use std::vec::Vec;

use super::*;
use crate::addr::Tpn;
use crate::geometry::Shape;
use crate::journal::Trimmed;
use crate::nand::{Checked, Counted};

/// Units of four pages. The last four of twenty logical pages are the log.
const SHAPE: Shape = Shape { logical_pages: 20, ..Shape::SMALL };
const LOG: u32 = 16;
/// Highest serial number of the pages programmed before the checkpoint.
const BEFORE: u64 = 100;

struct Flash {
    nand: Checked<Counted>,
    geometry: Geometry,
}

impl Flash {
    fn new() -> Self {
        let geometry = Geometry::new(SHAPE).unwrap();
        Self { nand: Checked::new(Counted::default(), geometry), geometry }
    }

    /// Programs the next page of a unit.
    fn put(&mut self, unit: u32, tag: Tag) -> Ppn {
        let to = self.geometry.page(Unit(unit), self.nand.programmed(Unit(unit)));
        self.nand.program(to, tag, Cause::Host, &mut Chain::default()).unwrap();
        to
    }

    fn data(&mut self, unit: u32, lpn: u32, sequence: u64, serial: u64) -> Ppn {
        self.put(unit, Tag::new(Owner::Data(Lpn::new(lpn)), sequence, serial))
    }

    /// Programs a log page, with or without an original address.
    fn logged(
        &mut self,
        unit: u32,
        (at, original): (u32, Option<u32>),
        sequence: u64,
        serial: u64,
    ) -> Ppn {
        let tag = Tag::new(Owner::Data(Lpn::new(at)), sequence, serial);
        self.put(unit, Tag { original: original.map(Lpn::new), ..tag })
    }

    fn map(&mut self, unit: u32, tpn: u32, sequence: u64, serial: u64) -> Ppn {
        self.put(unit, Tag::new(Owner::Translation(Tpn::new(tpn)), sequence, serial))
    }

    /// Programs an unreadable page.
    fn torn(&mut self, unit: u32) -> Ppn {
        let at = self.data(unit, 0, 0, 0);
        self.nand.set_tag(at, None);
        at
    }

    fn scan(&self, checkpoint: Option<&Checkpoint>) -> ScanResult {
        scan(&self.nand, &self.geometry, SHAPE.logical_pages - LOG, checkpoint.cloned())
    }
}

/// Returns a map with these entries.
fn table(entries: &[(u32, Ppn)]) -> Vec<Option<Ppn>> {
    let mut table = vec![None; SHAPE.logical_pages as usize];
    entries.iter().for_each(|&(lpn, ppn)| table[lpn as usize] = Some(ppn));
    table
}

/// Returns the record of unit `u`: erased 10 `u` times and opened for stream `u`.
fn note(unit: u32) -> UnitRecord {
    UnitRecord { erases: 10 * unit, stream: unit as u8 }
}

/// Returns a checkpoint of a drive with this map.
fn checkpoint(entries: &[(u32, Ppn)]) -> Checkpoint {
    Checkpoint {
        stamp: Stamp { sequence: 50, serial: BEFORE },
        last: Stamp { sequence: 60, serial: BEFORE + 7 },
        table: table(entries),
        units: (0..SHAPE.units).map(note).collect(),
        trims: vec![],
        reads: 12,
    }
}

fn trim(first: u32, pages: u32, sequence: u64) -> Trimmed {
    Trimmed { first, pages, sequence }
}

#[test]
fn nothing_is_found_on_erased_flash() {
    let nothing = ScanResult {
        stamp: Stamp::default(),
        table: table(&[]),
        units: vec![],
        erases: vec![0; 8],
        mount: Mount::default(),
    };
    assert_eq!(Flash::new().scan(None), nothing);
}

#[test]
fn the_highest_sequence_is_right_wherever_it_was_programmed() {
    let mut flash = Flash::new();
    let newer = flash.data(1, 3, 7, 8);
    // A copy of older data that was programmed later, and data in units before and behind.
    flash.data(0, 3, 5, 9);
    flash.data(1, 4, 2, 10);
    let last = flash.data(2, 4, 6, 11);
    flash.data(1, 4, 4, 12);
    assert_eq!(flash.scan(None).table, table(&[(3, newer), (4, last)]));
}

#[test]
fn of_copies_the_one_programmed_last_is_right() {
    for [first, second, third] in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
    {
        let mut flash = Flash::new();
        flash.data(first, 3, 5, 20);
        flash.data(second, 3, 5, 21);
        let right = flash.data(third, 3, 5, 22);
        let found = flash.scan(None);
        assert_eq!(found.table, table(&[(3, right)]));
        // Each page once, and two of them again for the comparison with a copy.
        assert_eq!(found.mount.tag_reads, 3 + 2);
    }
}

#[test]
fn recovery_returns_the_newest_numbers_and_the_units() {
    let mut flash = Flash::new();
    flash.data(4, 1, 30, 9);
    flash.data(4, 2, 10, 12);
    flash.map(1, 0, 40, 10);
    flash.map(1, 1, 35, 11);
    flash.torn(1);
    flash.torn(6);
    flash.torn(6);
    flash.torn(2);
    let copy = flash.data(2, 3, 5, 15);
    let found = flash.scan(None);
    assert_eq!(found.stamp, Stamp { sequence: 40, serial: 15 });
    let unit = |unit, programmed, last, kind| FoundUnit {
        unit: Unit(unit),
        programmed,
        last,
        kind,
        note: None,
    };
    let data = |lpn| Some(Owner::Data(Lpn::new(lpn)));
    let units = [
        unit(6, 2, 0, None),
        unit(1, 3, 11, Some(Owner::Translation(Tpn::new(0)))),
        unit(4, 2, 12, data(1)),
        unit(2, 2, 15, data(3)),
    ];
    assert_eq!(found.units, units, "the one programmed last at the end");
    assert_eq!(found.table[3], Some(copy));
    assert_eq!(found.erases, [0; 8]);
    assert_eq!(found.mount, Mount { tag_reads: 9, ..Mount::default() }, "every page is read");
}

#[test]
fn a_page_of_the_log_speaks_for_the_page_that_it_will_be() {
    let mut flash = Flash::new();
    // (a) The newest of several log pages wins. (b) A newer page at the original address wins.
    flash.logged(0, (16, Some(3)), 4, 1);
    let newest = flash.logged(0, (17, Some(3)), 5, 2);
    flash.logged(0, (18, Some(4)), 6, 3);
    flash.data(1, 3, 3, 4);
    let at_place = flash.data(1, 4, 7, 5);
    // (c) A log page without an original address has no owner. Nor has a page that names a page of
    // the log, or a map page.
    flash.logged(0, (16, None), 8, 6);
    flash.logged(2, (19, Some(LOG)), 9, 7);
    flash.map(3, 2, 10, 8);
    // The last user page.
    let last = flash.data(1, LOG - 1, 2, 9);
    let found = flash.scan(None);
    assert_eq!(found.table, table(&[(3, newest), (4, at_place), (LOG - 1, last)]));
    assert_eq!(found.stamp, Stamp { sequence: 10, serial: 9 });
}

#[test]
fn without_a_log_every_page_is_the_users() {
    let mut flash = Flash::new();
    let last = flash.data(1, 19, 2, 9);
    let found = scan(&flash.nand, &flash.geometry, 0, None);
    assert_eq!(found.table, table(&[(19, last)]));
}

#[test]
fn a_checkpoint_saves_scanning_earlier_units() {
    let mut flash = Flash::new();
    // The checkpoint wins: page 1 is at its place in the checkpoint, and page 2 was trimmed
    // earlier.
    let one = flash.data(0, 1, 20, 90);
    flash.data(0, 1, 99, 91);
    flash.data(0, 2, 98, BEFORE);
    let three = flash.data(1, 3, 21, 95);
    flash.data(1, 9, 22, 96);
    // Programmed after the checkpoint.
    let nine = flash.data(1, 9, 61, BEFORE + 1);
    let five = flash.data(1, 5, 62, BEFORE + 9);
    let checkpoint = checkpoint(&[(1, one), (3, three), (9, Ppn::new(5))]);
    let found = flash.scan(Some(&checkpoint));
    assert_eq!(found.table, table(&[(1, one), (3, three), (9, nine), (5, five)]));
    assert_eq!(found.stamp, Stamp { sequence: 62, serial: BEFORE + 9 });
    let unit = |unit, programmed, last, lpn| FoundUnit {
        unit: Unit(unit),
        programmed,
        last,
        kind: Some(Owner::Data(Lpn::new(lpn))),
        note: Some(note(unit)),
    };
    assert_eq!(found.units, [unit(0, 3, BEFORE, 2), unit(1, 4, BEFORE + 9, 9)]);
    assert_eq!(found.erases, (0..8).map(|unit| 10 * unit).collect::<Vec<_>>());
    // In each unit, up to the first page that is older.
    let mount =
        Mount { from_checkpoint: true, journal_reads: 12, tag_reads: 1 + 3, ..Mount::default() };
    assert_eq!(found.mount, mount);
}

#[test]
fn numbers_go_on_behind_those_of_the_journal() {
    let mut flash = Flash::new();
    flash.data(0, 1, 20, 90);
    assert_eq!(flash.scan(Some(&checkpoint(&[]))).stamp, Stamp { sequence: 60, serial: 107 });
    // Sequence and serial number are maximised separately.
    flash.data(0, 1, 59, 108);
    assert_eq!(flash.scan(Some(&checkpoint(&[]))).stamp, Stamp { sequence: 60, serial: 108 });
    flash.data(0, 1, 61, 105);
    assert_eq!(flash.scan(Some(&checkpoint(&[]))).stamp, Stamp { sequence: 61, serial: 108 });
}

#[test]
fn a_checkpoint_of_an_empty_drive_saves_no_scan() {
    let mut flash = Flash::new();
    let one = flash.data(3, 1, 2, 1);
    let mut checkpoint = checkpoint(&[]);
    checkpoint.stamp = Stamp::default();
    let found = flash.scan(Some(&checkpoint));
    assert_eq!(found.table, table(&[(1, one)]));
    assert_eq!(found.mount.tag_reads, 1);
    assert_eq!(found.units[0].note, None);
}

#[test]
fn pages_moved_since_the_checkpoint_are_at_their_new_location() {
    let mut flash = Flash::new();
    // Both were in unit 2, which has been erased. Its first page now has another owner.
    let [one, two] = [Ppn::new(8), Ppn::new(9)];
    flash.data(2, 7, 70, 120);
    let copy = flash.data(0, 1, 20, 110);
    let again = flash.data(1, 1, 20, 112);
    let newer = flash.data(1, 2, 65, 113);
    flash.data(0, 2, 21, 111);
    let _ = copy;
    let found = flash.scan(Some(&checkpoint(&[(1, one), (2, two)])));
    assert_eq!(found.table, table(&[(1, again), (2, newer), (7, one)]));
}

#[test]
fn a_place_that_was_erased_since_the_checkpoint_has_nothing_any_more() {
    let mut flash = Flash::new();
    // Unit 0 is unchanged, unit 1 was erased and programmed again, unit 2 was erased, and unit 3 is
    // unreadable.
    let kept = flash.data(0, 1, 20, 90);
    let anew = flash.data(1, 2, 61, 110);
    flash.torn(3);
    let places = [(1, kept), (3, anew), (4, Ppn::new(5)), (5, Ppn::new(8)), (6, Ppn::new(12))];
    let found = flash.scan(Some(&checkpoint(&places)));
    assert_eq!(found.table, table(&[(1, kept), (2, anew)]));
    // One erase more than in the checkpoint, for units with pages that prove it.
    assert_eq!(found.erases, [0, 11, 20, 31, 40, 50, 60, 70]);
    let notes: Vec<_> = found.units.iter().map(|found| (found.unit.0, found.note)).collect();
    assert_eq!(notes, [(3, None), (0, Some(note(0))), (1, None)]);
}

#[test]
fn writes_before_a_trim_are_forgotten() {
    let mut flash = Flash::new();
    let old: Vec<_> = (0..4).map(|lpn| (lpn, flash.data(0, lpn, 20, 90))).collect();
    let before = flash.data(1, 4, 69, 110);
    let at = flash.data(1, 5, 70, 111);
    let after = flash.data(1, 6, 71, 112);
    let found = |trims: &[Trimmed]| {
        let mut checkpoint = checkpoint(&old);
        checkpoint.trims.extend(trims);
        flash.scan(Some(&checkpoint)).table
    };
    let all = [&old[..], &[(4, before), (5, at), (6, after)]].concat();
    let without = |lpns: &[u32]| {
        let left = all.iter().filter(|(lpn, _)| !lpns.contains(lpn)).copied();
        table(&left.collect::<Vec<_>>())
    };
    assert_eq!(found(&[]), without(&[]));
    // The trim forgets its first to its last page, and no neighbours.
    assert_eq!(found(&[trim(1, 2, 70)]), without(&[1, 2]));
    // Only pages with a lower sequence number were written before the trim.
    assert_eq!(found(&[trim(0, 16, 70)]), without(&[0, 1, 2, 3, 4]));
    assert_eq!(found(&[trim(5, 1, 71), trim(0, 1, 1)]), without(&[0, 5]));
    assert_eq!(found(&[trim(3, 1, 72), trim(6, 1, 72)]), without(&[3, 6]));
    // Pages beyond the user's pages cannot be trimmed.
    for (first, pages) in [(15, 9), (16, 4), (20, 1), (u32::MAX, u32::MAX)] {
        assert_eq!(found(&[trim(first, pages, 99)]), without(&[]));
    }
    assert_eq!(found(&[trim(6, u32::MAX, 99)]), without(&[6]));
}

#[test]
fn log_pages_of_the_checkpoint_may_be_newer_than_their_original() {
    let mut flash = Flash::new();
    let three = flash.data(0, 3, 5, 4);
    let four = flash.data(0, 4, 9, 5);
    let logged_three = flash.logged(1, (16, Some(3)), 8, 6);
    let logged_four = flash.logged(1, (17, Some(4)), 8, 7);
    let nobodys = flash.logged(1, (19, None), 8, 8);
    let logged_five = flash.logged(1, (18, Some(5)), 8, BEFORE);
    let logged = [(16, logged_three), (17, logged_four), (18, logged_five), (19, nobodys)];
    let places = [&logged[..], &[(3, three), (4, four)]].concat();
    let found = flash.scan(Some(&checkpoint(&places)));
    assert_eq!(found.table, table(&[(3, logged_three), (4, four), (5, logged_five)]));
    // Four log pages, two pages at the original addresses of three of them, then the last page of
    // each unit.
    assert_eq!(found.mount.tag_reads, 4 + 2 + 2);
}

#[test]
fn of_several_in_the_log_at_the_checkpoint_the_newest_is_right() {
    for (first, second) in [(8, 9), (9, 8)] {
        let mut flash = Flash::new();
        let place = flash.data(0, 3, 5, 4);
        let one = flash.logged(1, (16, Some(3)), first, 6);
        let two = flash.logged(1, (17, Some(3)), second, 7);
        let found = flash.scan(Some(&checkpoint(&[(16, one), (17, two), (3, place)])));
        let newest = if first > second { one } else { two };
        assert_eq!(found.table, table(&[(3, newest)]), "{first} {second}");
        // The page at the original address is read once.
        assert_eq!(found.mount.tag_reads, 2 + 1 + 2);
        // A trim after both forgets the page. A page written after the trim stays.
        let mut trimmed = checkpoint(&[(16, one), (17, two), (3, place)]);
        trimmed.trims.push(trim(3, 1, 9));
        assert_eq!(flash.scan(Some(&trimmed)).table, table(&[(3, newest)]));
        trimmed.trims.push(trim(3, 1, 10));
        assert_eq!(flash.scan(Some(&trimmed)).table, table(&[]));
    }
}

#[test]
fn a_place_with_another_page_since_the_checkpoint_does_not_tell_the_age_of_its_old_one() {
    // Page 3 was in the log, with an older version at its original address. It was remapped. Its
    // old place was erased and now has a newer page 7. The data of page 3 is still the data from
    // the log.
    let mut flash = Flash::new();
    let logged = flash.logged(1, (16, Some(3)), 8, 6);
    let place = flash.data(0, 7, 70, 110);
    let found = flash.scan(Some(&checkpoint(&[(16, logged), (3, place)])));
    assert_eq!(found.table, table(&[(3, logged), (7, place)]));
}

#[test]
fn a_page_of_the_log_that_was_erased_since_the_checkpoint_is_not_believed() {
    // The log page was remapped and moved. Its unit was erased and is part of the log again.
    let mut flash = Flash::new();
    let moved = flash.data(0, 3, 8, 108);
    let place = flash.logged(1, (17, Some(4)), 70, 110);
    let gone = flash.torn(2);
    let found = flash.scan(Some(&checkpoint(&[(16, place), (17, gone), (18, Ppn::new(30))])));
    assert_eq!(found.table, table(&[(3, moved), (4, place)]));
    // Its tag and two tags without information; then the three units.
    assert_eq!(found.mount.tag_reads, 3 + 3);
}

#[test]
fn units_without_a_valid_page_are_erased() {
    let mut flash = Flash::new();
    flash.data(2, 3, 1, 1);
    flash.map(5, 0, 2, 2);
    flash.data(1, 4, 3, 3);
    let valid = flash.data(4, 3, 4, 4);
    flash.torn(6);
    let mut found = flash.scan(None);
    found.erases = (0..8).map(|unit| 10 * unit).collect();
    found.mount.erased = 100;
    let table = table(&[(3, valid)]);
    let Flash { nand, geometry } = &mut flash;
    let mut chain = Chain::default();
    found.erase_without_valid(nand, (geometry, &table), Cause::Merge, &mut chain).unwrap();
    let programmed: Vec<u32> = (0..8).map(|unit| nand.programmed(Unit(unit))).collect();
    assert_eq!(programmed, [0, 0, 0, 0, 1, 0, 0, 0]);
    assert_eq!(nand.counters().flash.erases[Cause::Merge as usize], 4);
    assert_eq!(found.erases, [0, 11, 21, 30, 40, 51, 61, 70]);
    assert_eq!(found.mount.erased, 104);
    assert_eq!(found.units.iter().map(|found| found.unit).collect::<Vec<_>>(), [Unit(4)]);
}

#[test]
fn the_owners_are_those_that_the_map_names() {
    let entries = [(2, Ppn::new(9)), (5, Ppn::new(3))];
    let expected = entries.map(|(lpn, ppn)| (ppn, Owner::Data(Lpn::new(lpn))));
    assert_eq!(owners(&table(&entries)).collect::<Vec<_>>(), expected);
}
