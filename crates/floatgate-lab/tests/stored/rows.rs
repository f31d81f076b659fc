//! Rows of pages that are programmed at once: their state in the file, and torn rows.

use floatgate_ftl::geometry::{Mode, ProgramUnit};

use super::*;

/// Two rows of four pages in a unit; in SLC mode two rows of two pages.
pub fn with_rows(is_protected: bool) -> Shape {
    let row = ProgramUnit { pages: 4, levels: 2, is_protected, stripe: None };
    Shape { pages_per_block: 8, program_unit: Some(row), ..SHAPE }
}

type Damage<'a> = &'a dyn Fn(&TempImage, u32);

/// Offset of the data: there are 32 pages.
const ROWS_DATA_AT: u64 = 24 << 10;

fn states(nand: &Stored) -> Vec<PageState> {
    nand.inspect(Unit(0), true).unwrap()
}

/// Whether pages have a record.
fn tagged(nand: &Stored, pages: u32) -> Vec<bool> {
    (0..pages).map(|page| nand.tag(Ppn::new(page)).is_some()).collect()
}

#[test]
fn a_row_goes_to_the_file_when_it_is_full() {
    let place = TempImage::new();
    let mut nand = place.create_as(with_rows(false));
    (0..7).for_each(|page| program(&mut nand, page, page, 1 + u64::from(page), 0x10 + page as u8));
    assert_eq!(nand.programmed(Unit(0)), 7);
    assert_eq!(read(&mut nand, 6, data_of(6)).unwrap(), [0x16; PAGE]);
    copy(&mut nand, &[step(5, 8, data_of(5), 8)]);
    assert_eq!(read(&mut nand, 8, data_of(5)).unwrap(), [0x15; PAGE]);
    nand.sync();
    // The sync point does not cover pages in memory.
    assert_eq!(sync_point(&place), 5);
    drop(nand);

    let mut nand = place.open();
    assert_eq!((nand.programmed(Unit(0)), nand.programmed(Unit(1)), nand.torn_pages()), (4, 0, 0));
    assert_eq!(read(&mut nand, 3, data_of(3)).unwrap(), [0x13; PAGE]);
    program(&mut nand, 4, 4, 9, 0x24);
    nand.pad(Ppn::new(5), 3, &mut Chain::default()).unwrap();
    nand.sync();
    assert_eq!(sync_point(&place), 10);
    drop(nand);

    let mut nand = place.open();
    assert_eq!(nand.programmed(Unit(0)), 8);
    assert_eq!(read(&mut nand, 4, data_of(4)).unwrap(), [0x24; PAGE]);
    assert_eq!(states(&nand)[5..], [PageState::Padding; 3]);
    assert_eq!(tagged(&nand, 8)[4..], [true, false, false, false]);
}

#[test]
fn with_protection_each_page_goes_to_the_file_at_once() {
    let place = TempImage::new();
    let mut nand = place.create_as(with_rows(true));
    (0..5).for_each(|page| program(&mut nand, page, page, 1 + u64::from(page), 0x10 + page as u8));
    nand.sync();
    assert_eq!(sync_point(&place), 6);
    drop(nand);
    // The controller has filled the row that was begun.
    let mut nand = place.open();
    assert_eq!(nand.programmed(Unit(0)), 8);
    assert_eq!(read(&mut nand, 4, data_of(4)).unwrap(), [0x14; PAGE]);
    assert_eq!(states(&nand)[5..], [PageState::Erased; 3]);
}

/// If any part of a row is missing, no page of the row is readable, also after reopening. With
/// protection only the missing page is lost.
#[test]
fn a_row_is_torn_as_a_whole() {
    let half_a_record = |place: &TempImage, page| place.overwrite(record_at(page) + 12, &[0; 28]);
    let no_record = |place: &TempImage, page| place.overwrite(record_at(page), &[0; 40]);
    let no_data =
        |place: &TempImage, page| place.overwrite(ROWS_DATA_AT + 64 * u64::from(page), &[0; 9]);
    let damages: [Damage<'_>; 3] = [&half_a_record, &no_record, &no_data];
    for (damage, page) in damages.iter().flat_map(|damage| (4..8).map(move |page| (damage, page))) {
        for is_protected in [false, true] {
            let place = TempImage::new();
            let mut nand = place.create_as(with_rows(is_protected));
            (0..4).for_each(|page| program(&mut nand, page, page, 1 + u64::from(page), 1));
            nand.sync();
            (4..8).for_each(|page| program(&mut nand, page, page, 1 + u64::from(page), 1));
            drop(nand);
            damage(&place, page);
            let kept = |at: u32| at < 4 || (is_protected && at != page);
            let expected: Vec<_> = (0..8).map(kept).collect();
            for _ in 0..2 {
                let outside = Stored::open_read_only(&place.image()).unwrap();
                assert_eq!(tagged(&outside, 8), expected, "page {page}");
                drop(outside);
                let nand = place.open();
                assert_eq!((tagged(&nand, 8), nand.programmed(Unit(0))), (expected.clone(), 8));
            }
        }
    }
}

/// Damage does not tear a synced row: its other pages stay readable.
#[test]
fn damage_to_a_row_that_was_synced_is_damage() {
    for page in 0..4 {
        let place = TempImage::new();
        let mut nand = place.create_as(with_rows(false));
        (0..4).for_each(|page| program(&mut nand, page, page, 1 + u64::from(page), 1));
        nand.sync();
        drop(nand);
        place.overwrite(record_at(page) + 12, &[0; 28]);
        let nand = place.open();
        assert_eq!(nand.torn_pages(), 0);
        assert_eq!(tagged(&nand, 4), (0..4).map(|at| at != page).collect::<Vec<_>>());
        assert_eq!(states(&nand)[page as usize], PageState::Damaged);
    }
}

#[test]
fn the_mode_of_a_unit_is_found_again() {
    for is_protected in [false, true] {
        let place = TempImage::new();
        let mut nand = place.create_as(with_rows(is_protected));
        nand.set_mode(Unit(0), Mode::Slc);
        (0..3).for_each(|page| program(&mut nand, page, page, 1 + u64::from(page), 1));
        copy(&mut nand, &[step(0, 8, data_of(0), 4)]);
        drop(nand);
        let mut nand = place.open();
        // A row of the unit in SLC mode has two pages.
        let programmed = [0, 1].map(|unit| nand.programmed(Unit(unit)));
        assert_eq!(programmed, if is_protected { [4, 4] } else { [2, 0] });
        assert_eq!((nand.mode(Unit(0)), nand.mode(Unit(1))), (Mode::Slc, Mode::Native));
        assert_eq!(read(&mut nand, 1, data_of(1)).unwrap(), [1; PAGE]);
        erase(&mut nand, 0);
        nand.set_mode(Unit(0), Mode::Native);
        (0..4).for_each(|page| program(&mut nand, page, page, 5 + u64::from(page), 1));
        drop(nand);
        assert_eq!(place.open().mode(Unit(0)), Mode::Native);
    }
}

#[test]
fn the_version_is_that_of_the_drive() {
    let version = |shape| {
        let place = TempImage::new();
        drop(place.create_as(shape));
        assert_eq!(*place.open().geometry().shape(), shape);
        fs::read(place.image()).unwrap()[8]
    };
    assert_eq!([SHAPE, with_rows(false), with_rows(true)].map(version), [3, 4, 4]);
}
