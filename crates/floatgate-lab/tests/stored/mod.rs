//! The medium in a file: its state after a reopening, and its treatment of damage.

#![cfg(unix)]
mod closed;
mod damage;
mod pair;
mod records;
mod refused;
mod rows;

use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
#[cfg(target_os = "linux")]
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use floatgate_ftl::addr::{Lpn, Owner, Ppn, Tag, Tpn, Unit};
use floatgate_ftl::geometry::Shape;
use floatgate_ftl::nand::{Cause, Chain, Move, Nand, ReadSource, Tagged};
use floatgate_lab::stored::{PageState, Problem, Stored, TEXT_BYTES_MAX};
use proptest::test_runner::Config;
use tempfile::TempDir;

const PAGE: usize = 64;
const PAGES: u32 = 4;
/// Units of the layer. `JOURNAL` is the number of journal units.
const UNITS: u32 = 3;
const JOURNAL: u32 = 1;

const SHAPE: Shape = Shape {
    page_bytes: PAGE as u32,
    pages_per_block: PAGES,
    superblock: 1,
    units: UNITS,
    channels: 1,
    dies: 1,
    planes: 1,
    logical_pages: 8,
    entry_bytes: 4,
    program_unit: None,
};

const POINT_AT: u64 = 16 << 10;
const OOB_AT: u64 = 20 << 10;
const DATA_AT: u64 = 24 << 10;

/// Directory with room for an image.
struct TempImage {
    folder: TempDir,
}

impl TempImage {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn image(&self) -> PathBuf {
        self.folder.path().join("image")
    }

    fn create(&self) -> Stored {
        self.create_as(SHAPE)
    }

    fn create_as(&self, shape: Shape) -> Stored {
        Stored::create(&self.image(), shape, JOURNAL, "a = 1\n").unwrap()
    }

    fn open(&self) -> Stored {
        Stored::open(&self.image()).unwrap()
    }

    /// Returns the error of opening the image.
    fn refusal(&self) -> String {
        Stored::open(&self.image()).unwrap_err().to_string()
    }

    /// Changes a byte of the file.
    fn flip(&self, at: u64) {
        let file = OpenOptions::new().read(true).write(true).open(self.image()).unwrap();
        let mut byte = [0];
        file.read_exact_at(&mut byte, at).unwrap();
        file.write_all_at(&[byte[0] ^ 0x10], at).unwrap();
    }

    fn overwrite(&self, at: u64, bytes: &[u8]) {
        let file = OpenOptions::new().write(true).open(self.image()).unwrap();
        file.write_all_at(bytes, at).unwrap();
    }
}

fn record_at(page: u32) -> u64 {
    OOB_AT + 40 * u64::from(page)
}

fn data_at(page: u32) -> u64 {
    DATA_AT + PAGE as u64 * u64::from(page)
}

fn data_of(lpn: u32) -> Owner {
    Owner::Data(Lpn::new(lpn))
}

fn program(nand: &mut Stored, page: u32, lpn: u32, number: u64, byte: u8) {
    nand.set_register(&[byte; PAGE]);
    let tag = Tag::new(data_of(lpn), number, number);
    nand.program(Ppn::new(page), tag, Cause::Host, &mut Chain::default()).unwrap();
}

/// Returns the data of a host read, or None if the read fails.
fn read(nand: &mut Stored, page: u32, owner: Owner) -> Option<Vec<u8>> {
    nand.read(Ppn::new(page), owner, ReadSource::Cells, Cause::Host, &mut Chain::default())
        .unwrap();
    (!nand.read_failed()).then(|| nand.register().to_vec())
}

fn step(from: u32, to: u32, owner: Owner, serial: u64) -> Move {
    Move { from: Ppn::new(from), to: Ppn::new(to), owner, serial, joins_read: false }
}

fn copy(nand: &mut Stored, moves: &[Move]) {
    nand.copy(moves.iter().copied(), Cause::Gc, &mut Chain::default()).unwrap();
}

fn erase(nand: &mut Stored, unit: u32) {
    nand.erase(Unit(unit), Cause::Gc, &mut Chain::default()).unwrap();
}

fn cases(cases: u32) -> Config {
    Config { cases, failure_persistence: None, ..Config::default() }
}

fn is_send<T: Send>(_: &T) {}

#[test]
fn all_operations_are_there_after_reopening() {
    let place = TempImage::new();
    let mut nand = place.create();
    is_send(&nand);
    program(&mut nand, 0, 5, 1, 0xa5);
    program(&mut nand, 1, 6, 2, 0);
    let tag = Tag::new(Owner::Translation(Tpn::new(0)), 3, 3);
    nand.program(Ppn::new(2), tag, Cause::Map, &mut Chain::default()).unwrap();
    nand.load_payload(b"journal");
    let journal = Tag::new(Owner::Translation(Tpn::new(9)), 4, 4);
    nand.program(Ppn::new(12), journal, Cause::Map, &mut Chain::default()).unwrap();
    let remapped = Tag { original: Some(Lpn::new(2)), ..Tag::new(data_of(7), 5, 5) };
    nand.set_register(&[7; 10]);
    nand.program(Ppn::new(3), remapped, Cause::Host, &mut Chain::default()).unwrap();
    copy(&mut nand, &[step(0, 4, data_of(5), 6), step(1, 5, data_of(6), 7)]);
    nand.sync();
    let counts = nand.counters().flash;
    assert_eq!((counts.programs[0], counts.programs[1], counts.programs[2]), (3, 2, 2));
    drop(nand);

    let mut nand = place.open();
    assert_eq!((nand.text(), *nand.geometry().shape()), ("a = 1\n", SHAPE));
    assert_eq!(nand.medium_geometry().units(), UNITS + JOURNAL);
    assert_eq!((0..4).map(|u| nand.programmed(Unit(u))).collect::<Vec<_>>(), [4, 2, 0, 1]);
    assert_eq!(nand.tag(Ppn::new(3)), Some(remapped));
    assert_eq!(nand.tag(Ppn::new(4)), Some(Tag::new(data_of(5), 1, 6)));
    assert_eq!((nand.tag(Ppn::new(6)), nand.tag(Ppn::new(8))), (None, None));
    assert_eq!(nand.payload(Ppn::new(12)).unwrap(), b"journal");
    assert_eq!(nand.payload(Ppn::new(0)), None);
    assert_eq!(read(&mut nand, 4, data_of(5)).unwrap(), [0xa5; PAGE]);
    assert_eq!(read(&mut nand, 5, data_of(6)).unwrap(), [0; PAGE]);
    let partly = [&[7; 10][..], &[0; PAGE - 10]].concat();
    assert_eq!(read(&mut nand, 3, data_of(7)).unwrap(), partly);
    assert_eq!(read(&mut nand, 3, data_of(2)).unwrap(), partly);
    assert_eq!((read(&mut nand, 3, data_of(3)), nand.life().damaged_reads), (None, 1));

    erase(&mut nand, 0);
    assert_eq!((nand.programmed(Unit(0)), nand.tag(Ppn::new(3))), (0, None));
    program(&mut nand, 0, 1, 8, 0x11);
    drop(nand);
    let mut nand = place.open();
    assert_eq!((nand.programmed(Unit(0)), nand.programmed(Unit(1))), (1, 2));
    assert_eq!(read(&mut nand, 0, data_of(1)).unwrap(), [0x11; PAGE]);
    assert_eq!(read(&mut nand, 1, data_of(6)), None);
    assert!(nand.fault().is_none());
}

#[test]
fn a_torn_record_is_a_page_that_is_spent() {
    let place = TempImage::new();
    let mut nand = place.create();
    (0..2).for_each(|page| program(&mut nand, page, page, page.into(), 1));
    nand.sync();
    drop(nand);
    for garbage in [&[0x5a; 17][..], &[0xff; 40]] {
        place.overwrite(record_at(1), garbage);
        let mut nand = place.open();
        assert_eq!((nand.tag(Ppn::new(1)), nand.programmed(Unit(0))), (None, 2));
        let mut tags = vec![];
        nand.tags(Unit(0), &nand.geometry().clone(), &mut tags);
        assert_eq!(tags, [Some(Tag::new(data_of(0), 0, 0)), None]);
        assert_eq!(read(&mut nand, 1, data_of(1)), None);
        erase(&mut nand, 1);
        copy(&mut nand, &[step(1, 4, data_of(1), 9)]);
        assert_eq!(nand.tag(Ppn::new(4)), Some(Tag::new(data_of(1), 0, 9)));
        assert_eq!(read(&mut nand, 4, data_of(1)), None);
    }
}

#[test]
fn a_record_at_another_place_is_none() {
    let place = TempImage::new();
    let mut nand = place.create();
    (0..2).for_each(|page| program(&mut nand, page, page, page.into(), 1));
    nand.sync();
    drop(nand);
    let mut record = [0; 40];
    File::open(place.image()).unwrap().read_exact_at(&mut record, record_at(0)).unwrap();
    place.overwrite(record_at(1), &record);
    let nand = place.open();
    assert!(nand.tag(Ppn::new(0)).is_some() && nand.tag(Ppn::new(1)).is_none());
}

#[test]
fn damaged_data_is_not_read_and_does_not_become_sound_by_a_copy() {
    let place = TempImage::new();
    let mut nand = place.create();
    (0..4).for_each(|page| program(&mut nand, page, page, page.into(), 0x40 + page as u8));
    nand.sync();
    drop(nand);
    place.flip(data_at(2) + 33);

    let mut nand = place.open();
    assert_eq!(nand.tag(Ppn::new(2)), Some(Tag::new(data_of(2), 2, 2)));
    assert_eq!((read(&mut nand, 2, data_of(2)), nand.life().damaged_reads), (None, 1));
    assert_eq!(nand.register(), [0; PAGE]);
    let moves: Vec<_> =
        (0..4).map(|page| step(page, 4 + page, data_of(page), 10 + u64::from(page))).collect();
    copy(&mut nand, &moves);
    assert_eq!(nand.life().damaged_reads, 2);
    erase(&mut nand, 0);
    // Copies again from a page that is already lost.
    copy(&mut nand, &[step(6, 8, data_of(2), 20)]);
    nand.sync();
    drop(nand);

    let mut nand = place.open();
    for page in [0, 1, 3] {
        let expected = [0x40 + page as u8; PAGE];
        assert_eq!(read(&mut nand, 4 + page, data_of(page)).unwrap(), expected);
    }
    for page in [6, 8] {
        assert_eq!(nand.tag(Ppn::new(page)).unwrap().sequence, 2);
        assert_eq!(read(&mut nand, page, data_of(2)), None);
    }
    assert!(nand.fault().is_none(), "damage is no fault of the file");
}

/// The machine crashes: the record of a page has reached the disk, and its data has not.
#[test]
fn a_page_without_its_data_does_not_hide_the_one_before() {
    let place = TempImage::new();
    let mut nand = place.create();
    program(&mut nand, 0, 5, 1, 0xaa);
    nand.sync();
    program(&mut nand, 1, 5, 2, 0xbb);
    program(&mut nand, 2, 6, 3, 0xcc);
    drop(nand);
    place.overwrite(data_at(1), &[0; PAGE]);

    let nand = Stored::open_read_only(&place.image()).unwrap();
    assert_eq!((nand.torn_pages(), nand.tag(Ppn::new(1))), (1, None));
    drop(nand);
    let mut nand = place.open();
    assert_eq!((nand.torn_pages(), nand.tag(Ppn::new(1)), nand.programmed(Unit(0))), (1, None, 3));
    assert_eq!(read(&mut nand, 0, data_of(5)).unwrap(), [0xaa; PAGE]);
    assert_eq!(read(&mut nand, 2, data_of(6)).unwrap(), [0xcc; PAGE]);
    // The page stays torn after later pages have been synced.
    program(&mut nand, 3, 7, 4, 0xdd);
    nand.sync();
    drop(nand);
    let nand = place.open();
    assert_eq!((nand.torn_pages(), nand.tag(Ppn::new(1)), nand.programmed(Unit(0))), (0, None, 4));
}

#[test]
fn the_sync_point_does_not_vouch_for_numbers_that_begin_anew() {
    let place = TempImage::new();
    let mut nand = place.create();
    program(&mut nand, 0, 5, 100, 0xaa);
    nand.sync();
    erase(&mut nand, 0);
    program(&mut nand, 0, 5, 50, 0xbb);
    drop(nand);
    place.flip(data_at(0));
    assert_eq!(place.open().torn_pages(), 1);
    // An unreadable sync point covers no page.
    let mut nand = place.open();
    program(&mut nand, 1, 5, 51, 0xcc);
    nand.sync();
    drop(nand);
    place.flip(POINT_AT + 1);
    place.flip(data_at(1));
    assert_eq!(place.open().torn_pages(), 1);
}

/// Returns the sync point in the file.
fn sync_point(place: &TempImage) -> u64 {
    let mut bytes = [0; 8];
    File::open(place.image()).unwrap().read_exact_at(&mut bytes, POINT_AT).unwrap();
    u64::from_le_bytes(bytes)
}

#[test]
fn an_erase_syncs_earlier_programs() {
    let place = TempImage::new();
    let mut nand = place.create();
    (0..2).for_each(|page| program(&mut nand, page, page, 10 + u64::from(page), 1));
    assert_eq!(sync_point(&place), 0);
    copy(&mut nand, &[step(0, 4, data_of(0), 12)]);
    erase(&mut nand, 0);
    assert_eq!(sync_point(&place), 13);
    program(&mut nand, 0, 3, 13, 1);
    assert_eq!(sync_point(&place), 13);
    nand.sync();
    assert_eq!(sync_point(&place), 14);
}

#[test]
fn long_copies_and_long_scans_go_in_parts() {
    let place = TempImage::new();
    let shape =
        Shape { page_bytes: 4096, pages_per_block: 200, units: 400, logical_pages: 200, ..SHAPE };
    let mut nand = Stored::create(&place.image(), shape, 0, "").unwrap();
    let owner = |page: u32| data_of(page);
    for page in 0..200 {
        nand.set_register(&[page as u8; 4096]);
        let tag = Tag::new(owner(page), page.into(), page.into());
        nand.program(Ppn::new(page), tag, Cause::Host, &mut Chain::default()).unwrap();
    }
    // Two of these runs end in the middle.
    let to = |page: u32| if page < 150 { 400 + page } else { 650 + page };
    let moves = (0..200).map(|page| step(page, to(page), owner(page), 200 + u64::from(page)));
    copy(&mut nand, &moves.collect::<Vec<_>>());
    let map = |serial| Tag::new(Owner::Translation(Tpn::new(0)), serial, serial);
    for page in 1000..79_990 {
        nand.program(Ppn::new(page), map(page.into()), Cause::Map, &mut Chain::default()).unwrap();
    }
    drop(nand);
    let mut nand = place.open();
    assert_eq!(
        [0, 1, 2, 4, 5, 398, 399].map(|unit| nand.programmed(Unit(unit))),
        [200, 0, 150, 50, 200, 200, 190]
    );
    for page in 0..200 {
        assert_eq!(read(&mut nand, to(page), owner(page)).unwrap(), [page as u8; 4096]);
    }
    assert_eq!(nand.tag(Ppn::new(79_989)), Some(map(79_989)));
}

/// A process that is killed during a write may leave part of a record, if the record lies in two
/// blocks.
#[test]
fn part_of_a_record_is_torn_unless_it_was_synced() {
    for synced_after in [false, true] {
        let place = TempImage::new();
        let mut nand = place.create();
        program(&mut nand, 0, 5, 1, 0x11);
        nand.sync();
        program(&mut nand, 1, 6, 2, 0x22);
        if synced_after {
            program(&mut nand, 2, 7, 3, 0x33);
            nand.sync();
        }
        drop(nand);
        place.overwrite(record_at(1) + 16, &[0; 24]);
        let states = |nand: Stored| nand.inspect(Unit(0), true).unwrap();
        let seen = states(Stored::open_read_only(&place.image()).unwrap());
        let nand = place.open();
        assert_eq!(nand.tag(Ppn::new(1)), None);
        assert_eq!(nand.torn_pages(), usize::from(!synced_after));
        let expected = if synced_after { PageState::Damaged } else { PageState::Torn };
        assert_eq!((seen[1], states(nand)[1]), (expected, expected));
        // The state stays the same after later writes are synced.
        let mut nand = place.open();
        program(&mut nand, 3, 5, 9, 0x44);
        nand.sync();
        drop(nand);
        assert_eq!(states(place.open())[1], expected);
    }
}

#[test]
fn an_image_has_one_user() {
    let place = TempImage::new();
    let nand = place.create();
    let expected = format!("{} is in use by another process", place.image().display());
    assert_eq!(place.refusal(), expected);
    assert_eq!(Stored::open_read_only(&place.image()).unwrap_err().to_string(), expected);
    drop(nand);
    let readers = [(); 2].map(|()| Stored::open_read_only(&place.image()).unwrap());
    assert_eq!(place.refusal(), expected);
    drop(readers);
    place.open();
}

#[test]
fn a_reader_changes_nothing() {
    let place = TempImage::new();
    program(&mut place.create(), 0, 5, 1, 0xaa);
    let before = fs::read(place.image()).unwrap();
    let mut nand = Stored::open_read_only(&place.image()).unwrap();
    assert_eq!(read(&mut nand, 0, data_of(5)).unwrap(), [0xaa; PAGE]);
    nand.sync();
    assert!(nand.fault().is_none());
    program(&mut nand, 1, 5, 2, 0xbb);
    assert_eq!(nand.fault().unwrap().kind(), ErrorKind::PermissionDenied);
    assert_eq!(fs::read(place.image()).unwrap(), before);
}

#[test]
fn after_a_fault_nothing_is_done() {
    let place = TempImage::new();
    let mut nand = place.create();
    program(&mut nand, 0, 5, 1, 0xaa);
    let file = OpenOptions::new().write(true).open(place.image()).unwrap();
    file.set_len(0).unwrap();
    assert_eq!(read(&mut nand, 0, data_of(5)), None);
    assert_eq!(nand.register(), [0; PAGE]);
    assert_eq!(nand.life().damaged_reads, 0);
    assert_eq!(nand.fault().unwrap().kind(), ErrorKind::UnexpectedEof);
    program(&mut nand, 1, 5, 2, 0xbb);
    copy(&mut nand, &[step(0, 4, data_of(5), 3)]);
    erase(&mut nand, 0);
    nand.sync();
    assert_eq!(nand.tag(Ppn::new(0)), None);
    let mut tags = vec![];
    nand.tags(Unit(0), &nand.geometry().clone(), &mut tags);
    assert_eq!(tags, [None]);
    assert_eq!(nand.take_fault().unwrap().kind(), ErrorKind::UnexpectedEof);
    program(&mut nand, 1, 5, 2, 0xbb);
    assert!(nand.fault().is_none());
    assert_eq!(file.metadata().unwrap().len(), 0);
}
