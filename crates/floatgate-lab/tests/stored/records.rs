//! Valid records: those that a layer writes, at their own page. Any other record is invalid, even
//! with a correct checksum.

use floatgate_ftl::addr::{Lpn, Owner, PAGE_MAX, Ppn, Tag, Tpn, Unit};
use floatgate_ftl::nand::Tagged;
use floatgate_lab::stored::{Content, PageState, Stored};

use super::{DATA_AT, PAGE, SHAPE, TempImage, data_of, program, read, record_at, sync_point};

/// The numbers of a record, as in the table at the head of `stored.rs`.
#[derive(Clone, Copy)]
struct Raw {
    number: u32,
    /// The original page plus 1.
    original: u32,
    sequence: u64,
    serial: u64,
    kind: u8,
    content: u8,
    length: u32,
    checksum: u32,
}

impl Raw {
    /// Returns the bytes of the record, sealed for a page.
    fn seal(self, page: u32) -> Vec<u8> {
        let mut bytes = [self.number, self.original].map(u32::to_le_bytes).concat();
        bytes.extend([self.sequence, self.serial].map(u64::to_le_bytes).concat());
        bytes.extend([self.kind, self.content, 0, 0]);
        bytes.extend([self.length, self.checksum].map(u32::to_le_bytes).concat());
        let sealed = [&bytes[..], &page.to_le_bytes()].concat();
        bytes.extend(crc32fast::hash(&sealed).to_le_bytes());
        bytes
    }
}

const LIMIT: u64 = 1 << 62;

/// Record of a page of zeros for logical page 5.
const ZEROS: Raw = Raw {
    number: 5,
    original: 0,
    sequence: 3,
    serial: 4,
    kind: 1,
    content: 1,
    length: 0,
    checksum: 0,
};

/// Returns the tag of page 1 if its record is `raw`.
fn found(raw: Raw) -> Option<Tag> {
    let place = TempImage::new();
    drop(place.create());
    place.overwrite(DATA_AT + PAGE as u64, &[0x11; PAGE + 1]);
    place.overwrite(record_at(1), &raw.seal(1));
    let nand = Stored::open_read_only(&place.image()).unwrap();
    let tag = nand.tag(Ppn::new(1));
    assert_eq!(nand.programmed(Unit(0)), 2);
    let seen = nand.inspect(Unit(0), true).unwrap()[1];
    assert_eq!(tag.is_some(), matches!(seen, PageState::Programmed(_)), "{seen:?}");
    assert!(nand.fault().is_none());
    tag
}

#[test]
fn numbers_up_to_their_limits_are_believed() {
    let tag = Tag::new(data_of(5), 3, 4);
    assert_eq!(found(ZEROS), Some(tag));
    let host = |length: usize| Raw {
        content: 2,
        length: length as u32,
        checksum: crc32fast::hash(&[0x11; PAGE + 1][..length]),
        ..ZEROS
    };
    assert_eq!(found(host(PAGE)), Some(tag));
    assert_eq!(found(host(PAGE + 1)), None);
    assert_eq!(found(Raw { length: u32::MAX, ..ZEROS }), None);

    let logical = SHAPE.logical_pages;
    let last = Raw { number: logical - 1, ..ZEROS };
    assert_eq!(found(last), Some(Tag::new(data_of(logical - 1), 3, 4)));
    assert_eq!(found(Raw { number: logical, ..ZEROS }), None);
    let map = |number| Raw { number, kind: 2, ..ZEROS };
    let last = Tag::new(Owner::Translation(Tpn::new(PAGE_MAX)), 3, 4);
    assert_eq!((found(map(PAGE_MAX)), found(map(PAGE_MAX + 1))), (Some(last), None));

    let remapped = Tag { original: Some(Lpn::new(logical - 1)), ..tag };
    assert_eq!(found(Raw { original: logical, ..ZEROS }), Some(remapped));
    assert_eq!(found(Raw { original: logical + 1, ..ZEROS }), None);

    assert_eq!(found(Raw { sequence: LIMIT, ..ZEROS }), Some(Tag { sequence: LIMIT, ..tag }));
    assert_eq!(found(Raw { sequence: LIMIT + 1, ..ZEROS }), None);
    assert_eq!(found(Raw { serial: LIMIT, ..ZEROS }), Some(Tag { serial: LIMIT, ..tag }));
    assert_eq!(found(Raw { serial: LIMIT + 1, ..ZEROS }), None);
}

#[test]
fn kinds_that_there_are_not_are_no_record() {
    let tag = Some(Tag::new(data_of(5), 3, 4));
    for (kind, content) in [(0, 1), (3, 1), (1, 0), (1, 5), (255, 255)] {
        assert_eq!(found(Raw { kind, content, ..ZEROS }), None, "{kind}, {content}");
    }
    assert_eq!(found(Raw { content: 4, ..ZEROS }), tag);
    assert_eq!(found(Raw { content: 3, ..ZEROS }), tag);
}

/// Pages that were not synced when a drive ended, and that recovery found, are covered by the next
/// sync. Later damage to them counts as damage, and not as an interrupted program.
#[test]
fn a_sync_covers_pages_found_on_opening() {
    let place = TempImage::new();
    let mut nand = place.create();
    program(&mut nand, 0, 5, 7, 0xaa);
    program(&mut nand, 1, 6, 8, 0xbb);
    drop(nand);
    assert_eq!(sync_point(&place), 0);
    let mut nand = place.open();
    assert_eq!(sync_point(&place), 0);
    nand.sync();
    assert_eq!(sync_point(&place), 9);
    drop(nand);

    place.flip(DATA_AT + 3);
    let mut nand = place.open();
    assert_eq!((nand.torn_pages(), nand.tag(Ppn::new(0))), (0, Some(Tag::new(data_of(5), 7, 7))));
    assert_eq!((read(&mut nand, 0, data_of(5)), nand.life().damaged_reads), (None, 1));
    assert_eq!(read(&mut nand, 1, data_of(6)).unwrap(), [0xbb; PAGE]);
}

#[test]
fn content_is_stated_as_it_is_stored() {
    let place = TempImage::new();
    let mut nand = place.create();
    program(&mut nand, 0, 5, 1, 0);
    program(&mut nand, 1, 6, 2, 0xbb);
    nand.sync();
    let seen = |nand: &Stored, page: usize| match nand.inspect(Unit(0), true).unwrap()[page] {
        PageState::Programmed(record) => (record.content, record.bytes, record.is_sound),
        state => panic!("{state:?}"),
    };
    assert_eq!(seen(&nand, 0), (Content::Zeros, 0, true));
    assert_eq!(seen(&nand, 1), (Content::Page, PAGE as u32, true));
    drop(nand);
    place.flip(DATA_AT + PAGE as u64);
    assert_eq!(seen(&place.open(), 1), (Content::Page, PAGE as u32, false));
}
