//! `check` names each defect of an image at its position and reports no others. Sound states that
//! resemble defects are not reported.

use floatgate_lab::image::FoundPages;

use super::forge::{At, Forge, HOST, LOST, NOTE, Page, ZEROS, data, journal, map};

/// Table in the checkpoint of a sound image.
const TABLE: &[(u32, At)] = &[
    (0, (2, 2)),
    (1, (0, 1)),
    (2, (0, 2)),
    (3, (0, 3)),
    (4, (2, 0)),
    (9, (6, 0)),
    (10, (7, 1)),
    (11, (7, 3)),
];

/// The checkpoint was taken after the page with this serial number.
const TAKEN: u64 = 100;

/// Makes an image without a defect that has all states that resemble one. Units from 8 on are
/// erased.
fn sound() -> Forge {
    let forge = Forge::new(&[("mapping.scheme", "dftl")]);
    (0..4).for_each(|n| forge.put((0, n), data(n, 1 + u64::from(n), 10 + u64::from(n))));
    // An old page of the map, and the newest one.
    forge.put((1, 0), map(0, 20));
    forge.put((1, 1), map(0, 21));
    // A skipped page between two others. The second of them is a newer version of logical page 0.
    forge.put((2, 0), data(4, 7, 30));
    forge.put((2, 2), data(0, 8, 31));
    // Pages trimmed before the checkpoint. The second is the last page before it.
    forge.put((5, 0), data(7, 20, 95));
    forge.put((5, 1), data(8, 21, TAKEN));
    // An interrupted clean: a copy that differs only by its larger serial number.
    forge.put((6, 0), data(9, 60, 60));
    forge.put((7, 0), data(9, 60, 61));
    // A page that waits for its remap.
    forge.put((7, 1), Page { original: Some(10), ..data(20, 62, 62) });
    // Data that was lost before it was moved, and was then written again.
    forge.put((7, 2), Page { content: LOST, ..data(11, 63, 63) });
    forge.put((7, 3), Page { content: HOST, ..data(11, 64, 64) });
    forge.checkpoint(TAKEN, TABLE);
    // After the checkpoint: a new page, a new version, and an interrupted program.
    forge.put((3, 0), data(5, 101, 110));
    forge.put((3, 1), data(1, 102, 111));
    forge.tear((3, 2));
    // A page written and trimmed.
    forge.put((4, 0), data(6, 103, 112));
    forge.trims(113, &[(6, 1, 104)]);
    // The remains of an older checkpoint, in the other area of the journal.
    forge.put((forge.units + 3, 1), journal(5, 5));
    forge
}

/// Makes a sound image with more entries in its table.
fn with_table(more: &[(u32, At)]) -> Forge {
    let forge = sound();
    forge.checkpoint(TAKEN, &[TABLE, more].concat());
    forge
}

#[test]
fn a_sound_image_has_no_problem_and_each_page_is_counted_once() {
    let forge = sound();
    forge.expect(&[]);
    let report = forge.check();
    let expected = FoundPages {
        // Logical pages 0 to 5, and 9 to 11.
        data: 9,
        map: 1,
        // Three pages of the checkpoint, one of trims.
        journal: 4,
        // (0, 0), (0, 1), (1, 0), both of unit 5, (4, 0), (7, 0), (7, 2), and an old journal page.
        stale: 9,
        torn: 1,
        // (2, 1), and the page in front of the old journal page.
        skipped: 2,
        padding: 0,
        trimmed: 3,
    };
    assert_eq!(report.pages, expected);
    assert_eq!(report.checkpoint_serial, Some(TAKEN));
    assert_eq!(report.units, forge.units + 4);
    assert_eq!(report.path, forge.path().display().to_string());
}

#[test]
fn serial_numbers_ascend_in_a_unit() {
    let forge = sound();
    forge.put((8, 0), data(12, 200, 200));
    forge.put((8, 1), data(13, 201, 201));
    forge.expect(&[]);
    forge.put((8, 1), data(13, 201, 199));
    forge.expect(&[(Some((8, 1)), "logical page 13: serial number 199 comes after 200")]);
    // The page before the torn one is the last that has a record.
    forge.put((8, 3), data(13, 201, 198));
    forge.tear((8, 1));
    forge.expect(&[(Some((8, 3)), "logical page 13: serial number 198 comes after 200")]);
}

#[test]
fn a_serial_number_is_of_one_page() {
    let forge = sound();
    forge.put((8, 0), data(12, 200, 200));
    forge.put((9, 0), data(13, 201, 200));
    forge.expect(&[(None, "serial number 200 is on two pages")]);
    forge.erase((9, 0));
    forge.put((8, 1), data(13, 201, 200));
    forge.expect(&[
        (Some((8, 1)), "logical page 13: serial number 200 comes after 200"),
        (None, "serial number 200 is on two pages"),
    ]);
    // A page with a serial number of the journal, and a page that is no longer valid.
    let forge = sound();
    forge.put((8, 0), data(12, 200, 113));
    forge.put((9, 0), data(12, 201, 201));
    forge.expect(&[(None, "serial number 113 is on two pages")]);
}

#[test]
fn pages_of_data_and_of_the_map_are_not_mixed() {
    let what = "pages of data and of the map share a unit";
    let forge = sound();
    forge.put((8, 0), data(12, 200, 200));
    forge.put((8, 1), map(0, 201));
    forge.put((8, 2), map(0, 202));
    let whose = "page 0 of the map, and no longer valid";
    forge.expect(&[(Some((8, 1)), &format!("{whose}: {what}"))]);
    forge.put((8, 0), map(0, 200));
    forge.expect(&[]);
    forge.put((8, 1), data(12, 201, 201));
    forge.expect(&[
        (Some((8, 1)), &format!("logical page 12: {what}")),
        (Some((8, 2)), &format!("page 0 of the map: {what}")),
    ]);
}

#[test]
fn a_page_is_one_that_there_can_be() {
    let nobody = "the drive has no such page";
    let forge = sound();
    let old = "and no longer valid";
    // This drive has one map page.
    forge.put((8, 0), map(1, 200));
    forge.expect(&[(Some((8, 0)), &format!("page 1 of the map, {old}: {nobody}"))]);

    let forge = sound();
    let first = forge.units;
    // Data in the journal's units: invalid by its content as well, or by its owner alone.
    forge.put((first + 2, 0), data(12, 200, 200));
    let whose = format!("logical page 12, {old}");
    let content = format!("{whose}: Zeros is not valid content of such a page");
    let owner = format!("{whose}: {nobody}");
    let at = Some((first + 2, 0));
    forge.expect(&[(at, &content), (at, &owner)]);
    forge.put((first + 2, 0), Page { content: NOTE, ..data(12, 200, 200) });
    forge.expect(&[(at, &owner)]);
}

#[test]
fn a_page_of_the_journal_is_at_its_place() {
    let forge = sound();
    let first = forge.units;
    // By area, unit of the area, page. An area has two units of four pages.
    let places = [((first + 1, 0), 4, 200, ""), ((first + 2, 1), 1, 201, ", and no longer valid")];
    for (at, number, serial, old) in places {
        forge.put(at, journal(number, serial));
        forge.expect(&[]);
        for other in [0, number + 1] {
            forge.put(at, journal(other, serial));
            let whose = format!("page {other} of the journal{old}");
            forge.expect(&[(Some(at), &format!("{whose}: the drive has no such page"))]);
        }
        forge.erase(at);
    }
}

/// Areas of three units of two pages: a unit's number alone does not give its place in the area.
#[test]
fn a_page_of_a_longer_journal_is_at_its_place() {
    let forge = Forge::new(&[("flash.pages_per_block", "2")]);
    forge.checkpoint(TAKEN, &[]);
    assert_eq!(forge.check().units, forge.units + 6);
    assert_ne!(forge.units % 3, 0, "another number of units would tell more");
    let other_area = forge.units + 3;
    // Without its commit record, page 2, it is no checkpoint.
    for index in [0, 1, 3, 4, 5] {
        forge.put((other_area + index / 2, index % 2), journal(index, 200 + u64::from(index)));
    }
    forge.expect(&[]);
    for index in [1, 3, 4, 5] {
        let at = (other_area + index / 2, index % 2);
        forge.put(at, journal(0, 200 + u64::from(index)));
        let whose = "page 0 of the journal, and no longer valid";
        forge.expect(&[(Some(at), &format!("{whose}: the drive has no such page"))]);
        forge.put(at, journal(index, 200 + u64::from(index)));
    }
}

#[test]
fn only_the_journal_holds_notes() {
    let forge = sound();
    forge.put((8, 0), Page { content: NOTE, ..data(12, 200, 200) });
    forge.expect(&[(Some((8, 0)), "logical page 12: Note is not valid content of such a page")]);
    let forge = sound();
    let at = (forge.units + 2, 1);
    forge.put(at, Page { content: ZEROS, ..journal(1, 200) });
    let whose = "page 1 of the journal, and no longer valid";
    forge.expect(&[(Some(at), &format!("{whose}: Zeros is not valid content of such a page"))]);
}

#[test]
fn damaged_data_is_found_wanted_or_not() {
    let forge = sound();
    forge.put((8, 0), Page { content: HOST, ..data(12, 200, 200) });
    forge.damage_data((8, 0));
    forge.expect(&[(Some((8, 0)), "logical page 12: its data is damaged")]);
    forge.put((8, 1), data(12, 201, 201));
    forge.expect(&[(Some((8, 0)), "logical page 12, and no longer valid: its data is damaged")]);
    // Its trims are then unknown, and no trims are applied.
    let forge = sound();
    forge.damage_data((forge.units, 3));
    forge.expect(&[(Some((forge.units, 3)), "page 3 of the journal: its data is damaged")]);
    assert_eq!((forge.check().pages.data, forge.check().pages.trimmed), (10, 2));
}

#[test]
fn data_that_was_lost_is_named_while_it_is_wanted() {
    let forge = sound();
    forge.put((8, 0), Page { content: LOST, ..data(12, 200, 200) });
    let what = "logical page 12: its data was already damaged when it was copied here";
    forge.expect(&[(Some((8, 0)), what)]);
    forge.put((8, 1), data(12, 201, 201));
    forge.expect(&[]);
}

#[test]
fn a_damaged_record_is_torn_unless_a_page_behind_it_was_synced() {
    let forge = sound();
    forge.put((8, 0), data(12, 200, 200));
    forge.damage_record((8, 1));
    forge.expect(&[]);
    assert_eq!(forge.check().pages.torn, 2);
    forge.put((8, 2), data(13, 201, 201));
    forge.expect(&[(Some((8, 1)), "its record is damaged")]);
    assert_eq!(forge.check().pages.torn, 1);
}

#[test]
fn a_mapped_page_is_where_its_record_names_it() {
    let forge = with_table(&[(12, (0, 2))]);
    forge.expect(&[
        (Some((0, 2)), "logical page 12 and another are mapped here"),
        (Some((0, 2)), "logical page 12 is mapped to logical page 2"),
        (None, "logical page 12 is in the checkpoint, and on no page"),
    ]);
    with_table(&[(12, (1, 1))]).expect(&[
        (Some((1, 1)), "logical page 12 is mapped to page 0 of the map"),
        (None, "logical page 12 is in the checkpoint, and on no page"),
    ]);
    with_table(&[(12, (2, 1))]).expect(&[
        (Some((2, 1)), "logical page 12 is mapped here, but the page cannot be read"),
        (None, "logical page 12 is in the checkpoint, and on no page"),
    ]);
}

/// A page that waits for its remap names two logical pages, but holds only one.
#[test]
fn no_page_is_that_of_two() {
    let both = Page { original: Some(22), ..data(21, 90, 90) };
    let forge = with_table(&[(22, (8, 0))]);
    forge.put((8, 0), both);
    forge.expect(&[]);
    let lost = "logical page 21 is in the checkpoint, and on no page";
    let forge = with_table(&[(21, (8, 0)), (22, (8, 0))]);
    forge.put((8, 0), both);
    forge.expect(&[(Some((8, 0)), "logical page 22 and another are mapped here"), (None, lost)]);
    let forge = with_table(&[(21, (8, 0))]);
    forge.put((8, 0), both);
    forge.expect(&[(None, lost)]);
}

/// The checkpoint refers to an older version of a page than the newest, or to a newer one.
#[test]
fn the_checkpoint_knows_the_newest_pages() {
    let pages = |forge: &Forge| {
        forge.put((8, 0), data(12, 50, 50));
        forge.put((9, 0), data(12, 51, 51));
    };
    let forge = with_table(&[(12, (8, 0))]);
    pages(&forge);
    forge.expect(&[(Some((9, 0)), "logical page 12 is newest here, and not found")]);
    let forge = with_table(&[(12, (9, 0))]);
    pages(&forge);
    forge.expect(&[]);
}

/// A page out of order hides the earlier pages of its unit from a reader that starts at the end of
/// the unit.
#[test]
fn a_page_that_is_not_found_was_trimmed_or_is_a_problem() {
    let order = (Some((8, 1)), "logical page 13: serial number 90 comes after 200");
    let hidden = (Some((8, 0)), "logical page 30 is newest here, and not found");
    let case = |trims: &[(u32, u32, u64)], expected: &[_], trimmed: u64| {
        let forge = with_table(&[(13, (8, 1))]);
        forge.put((8, 0), data(30, 200, 200));
        forge.put((8, 1), data(13, 90, 90));
        forge.trims(300, &[&[(6, 1, 104)], trims].concat());
        forge.expect(expected);
        assert_eq!(forge.check().pages.trimmed, trimmed, "{trims:?}");
    };
    case(&[], &[order, hidden], 3);
    // From the first trimmed page to the last.
    case(&[(30, 1, 201)], &[order], 4);
    case(&[(28, 3, 201)], &[order], 4);
    case(&[(28, 2, 201), (31, 5, 201)], &[order, hidden], 3);
    // A trim covers earlier writes, not later ones.
    case(&[(30, 1, 200)], &[order, hidden], 3);
    case(&[(30, 1, 199)], &[order, hidden], 3);
}

#[test]
fn a_checkpoint_that_cannot_be_read_is_missing() {
    let forge = sound();
    (0..4).for_each(|page| forge.erase((forge.units, page)));
    forge.expect(&[(None, "no checkpoint can be read")]);
    let report = forge.check();
    assert_eq!(report.checkpoint_serial, None);
    // Every page without a newer version is valid, including trimmed ones.
    assert_eq!((report.pages.data, report.pages.trimmed, report.pages.journal), (12, 0, 0));
}

#[test]
fn all_problems_are_counted_and_a_thousand_listed() {
    let forge = Forge::new(&[("flash.pages_per_block", "1024")]);
    for page in 0..1004 {
        forge.put((0, page), data(page % 32, 1, u64::from(2000 - page)));
    }
    let report = forge.check();
    // Each page but the first is out of order, and there is no checkpoint.
    assert_eq!((report.problem_count, report.problems.len()), (1004, 1000));
    assert!(report.problems[999].what.ends_with("serial number 1000 comes after 1001"));
}
