//! The journal on hand-made flash: its bytes, and the checkpoint that recovery finds in them.

mod writing;

use std::vec;
use std::vec::Vec;

use super::*;
use crate::addr::Lpn;
use crate::geometry::Mode;
use crate::nand::{Checked, Counted};
use crate::unit_table::UnitTable;
use crate::unit_table::{FreeOrder, InUse};

/// A page has 16 map entries, 8 unit records or 4 trims. So an area has two map pages, two pages of
/// unit records and the commit record, then pages for trims up to the end of its three units.
const SHAPE: Shape = Shape { units: 10, logical_pages: 20, ..Shape::SMALL };

const COMMIT: u32 = 4;
const AREA: u32 = 12;
/// First page of each area.
const AREAS: [u32; 2] = [40, 52];
const STREAMS: u8 = 3;

type Flash = Checked<Counted>;

fn layout(shape: Shape) -> Layout {
    Layout::new(Geometry::new(shape).unwrap())
}

fn flash() -> Flash {
    Checked::new(Counted::default(), layout(SHAPE).medium().unwrap())
}

fn ppn(area: u32, index: u32) -> Ppn {
    Ppn::new(AREAS[area as usize] + index)
}

/// Programs a page of an area by hand.
fn put(nand: &mut Flash, (area, index): (u32, u32), bytes: &[u8], (sequence, serial): (u64, u64)) {
    let tag = Tag::new(Owner::Translation(Tpn::new(index)), sequence, serial);
    nand.load_payload(bytes);
    nand.program(ppn(area, index), tag, Cause::Journal, &mut Chain::default()).unwrap();
}

fn map_bytes(places: &[Option<u32>]) -> Vec<u8> {
    places.iter().flat_map(|place| place.map_or(0, |ppn| ppn + 1).to_le_bytes()).collect()
}

fn unit_bytes(notes: &[(u32, u8)]) -> Vec<u8> {
    let bytes = |&(erases, stream): &(u32, u8)| {
        erases.to_le_bytes().into_iter().chain([stream, 0, 0, 0]).collect::<Vec<u8>>()
    };
    notes.iter().flat_map(bytes).collect()
}

fn commit_bytes(sequence: u64, serial: u64) -> Vec<u8> {
    let words = [sequence.to_le_bytes(), serial.to_le_bytes()];
    b"floatgat".iter().copied().chain(words.into_iter().flatten()).collect()
}

fn trim_bytes(trims: &[Trimmed]) -> Vec<u8> {
    let bytes = |trim: &Trimmed| {
        let (first, pages) = (trim.first.to_le_bytes(), trim.pages.to_le_bytes());
        [&first[..], &pages, &trim.sequence.to_le_bytes()].concat()
    };
    trims.iter().flat_map(bytes).collect()
}

/// Returns a map: logical page 19 is at the last page of flash, 18 is unmapped, and the others are
/// in order from `first`.
fn places(first: u32) -> Vec<Option<u32>> {
    let mut places: Vec<_> = (first..first + 20).map(Some).collect();
    places[18..].copy_from_slice(&[None, Some(39)]);
    places
}

/// Returns records: unit `u` was erased 1000 `u` + 1 times, and opened for stream `u % 3`.
fn notes() -> Vec<(u32, u8)> {
    (0..10).map(|unit| (1000 * unit + 1, (unit % 3) as u8)).collect()
}

/// Returns the pages of a checkpoint taken at this sequence and serial number.
fn checkpoint_pages(first: u32, (sequence, serial): (u64, u64)) -> Vec<Vec<u8>> {
    let (places, notes) = (places(first), notes());
    vec![
        map_bytes(&places[..16]),
        map_bytes(&places[16..]),
        unit_bytes(&notes[..8]),
        unit_bytes(&notes[8..]),
        commit_bytes(sequence, serial),
    ]
}

/// Writes a checkpoint by hand.
fn put_checkpoint(nand: &mut Flash, area: u32, first: u32, (sequence, serial): (u64, u64)) {
    for (index, bytes) in checkpoint_pages(first, (sequence, serial)).iter().enumerate() {
        let at = (area, index as u32);
        put(nand, at, bytes, (sequence, serial + 1 + index as u64));
    }
}

/// Returns the checkpoint that recovery must find if no trims follow it.
fn expected(first: u32, (sequence, serial): (u64, u64)) -> Checkpoint {
    let notes = notes().into_iter().map(|(erases, stream)| UnitRecord { erases, stream });
    Checkpoint {
        stamp: Stamp { sequence, serial },
        last: Stamp { sequence, serial: serial + 5 },
        table: places(first).into_iter().map(|place| place.map(Ppn::new)).collect(),
        units: notes.collect(),
        trims: vec![],
        // Recovery reads the commit records of both areas, then the newer area up to its last
        // programmed page.
        reads: 2 + 5,
    }
}

fn found(nand: &Flash) -> Option<Checkpoint> {
    layout(SHAPE).find(nand)
}

/// A drive to checkpoint. Its units are worn as in `notes`.
struct Drive {
    table: Vec<Option<Ppn>>,
    units: UnitTable,
    remapping: Option<(Lpn, Ppn)>,
    stamp: Stamp,
    nand: Flash,
    chain: Chain,
}

impl Drive {
    fn new(first: u32, (sequence, serial): (u64, u64)) -> Self {
        let mut units = UnitTable::new(Geometry::new(SHAPE).unwrap(), FreeOrder::First, STREAMS);
        let notes = notes();
        let erases: Vec<u32> = notes.iter().map(|note| note.0).collect();
        let in_use = |(unit, &(_, stream)): (usize, &(u32, u8))| InUse {
            unit: Unit(unit as u32),
            stream,
            mode: Mode::Native,
            written: 0,
        };
        let in_use: Vec<_> = notes.iter().enumerate().map(in_use).collect();
        units.restore(&in_use, core::iter::empty(), &erases);
        let table = places(first).into_iter().map(|place| place.map(Ppn::new)).collect();
        let stamp = Stamp { sequence, serial };
        Self { table, units, remapping: None, stamp, nand: flash(), chain: Chain::default() }
    }

    fn keep(&mut self, journal: &mut Journal, trigger: CheckpointTrigger) {
        let Self { table, units, remapping, .. } = self;
        let drive = Snapshot { table, remapping: *remapping, units };
        journal.keep(trigger, &mut self.nand, drive, &mut self.stamp, &mut self.chain).unwrap();
    }

    /// Trims a single page at a sequence gap, so that the journal cannot join it with the trim
    /// before.
    fn trim(&mut self, journal: &mut Journal, first: u32) -> Trimmed {
        self.stamp.sequence += 2;
        journal.trim(first..first + 1, self.stamp.sequence);
        Trimmed { first, pages: 1, sequence: self.stamp.sequence }
    }

    /// Returns the pages that the journal has programmed, and the units that it has erased.
    fn work(&self) -> (u64, u64) {
        let (counts, journal) = (self.nand.counters().flash, Cause::Journal as usize);
        assert_eq!(counts.programs.iter().sum::<u64>(), counts.programs[journal]);
        assert_eq!(counts.erases.iter().sum::<u64>(), counts.erases[journal]);
        (counts.programs[journal], counts.erases[journal])
    }
}

fn journal(every: u64) -> Journal {
    Journal::new(layout(SHAPE), every)
}

#[test]
fn an_area_has_room_for_a_checkpoint_and_a_unit_of_trims() {
    // Logical pages, units, pages in a unit; pages for the map, the unit records and the commit
    // record.
    for (logical_pages, units, pages_per_block, pages) in
        [(20, 10, 4, 2 + 2 + 1), (16, 8, 3, 1 + 1 + 1), (17, 9, 3, 2 + 2 + 1), (1, 1, 1, 3)]
    {
        let shape = Shape { logical_pages, units, pages_per_block, ..SHAPE };
        let area = u32::div_ceil(pages, pages_per_block) + 1;
        let layout = layout(shape);
        assert_eq!(layout.units(), 2 * area);
        let medium = Shape { units: units + 2 * area, ..shape };
        assert_eq!(layout.medium(), Geometry::new(medium));
        // All pages behind the commit record are for trims, in both areas.
        let begin = |number: u32| (units + number * area) * pages_per_block;
        let behind = |number| begin(number) + pages..begin(number + 1);
        let trims: Vec<u32> = layout.trims().map(Ppn::get).collect();
        assert_eq!(trims, behind(0).chain(behind(1)).collect::<Vec<_>>());
    }
    let large = Shape { units: (1 << 29) - 1, ..SHAPE };
    assert!(matches!(layout(large).medium(), Err(ShapeError::TooManyPages { .. })));
}

#[test]
#[should_panic(expected = "a page of 16 bytes is too small")]
fn a_page_has_room_for_a_commit_record() {
    layout(Shape { page_bytes: 16, ..SHAPE });
}

#[test]
fn a_checkpoint_is_written_as_it_is_described() {
    let mut drive = Drive::new(7, (70, 300));
    // The checkpoint must contain the page that is being remapped, although the map does not.
    drive.table[4] = None;
    drive.remapping = Some((Lpn::new(4), Ppn::new(7 + 4)));
    drive.keep(&mut journal(1000), CheckpointTrigger::Now);
    for (index, bytes) in checkpoint_pages(7, (70, 300)).into_iter().enumerate() {
        let at = ppn(0, index as u32);
        assert_eq!(drive.nand.payload(at), Some(bytes), "page {index}");
        let owner = Owner::Translation(Tpn::new(index as u32));
        assert_eq!(drive.nand.tag(at), Some(Tag::new(owner, 70, 301 + index as u64)));
    }
    assert_eq!(drive.nand.payload(ppn(0, COMMIT + 1)), None);
    assert_eq!(drive.stamp, Stamp { sequence: 70, serial: 305 });
    assert_eq!(drive.work(), (5, 0));
    assert_eq!(found(&drive.nand), Some(expected(7, (70, 300))));
}

#[test]
fn journal_pages_on_flash_are_found() {
    let mut nand = flash();
    assert_eq!(found(&nand), None);
    put_checkpoint(&mut nand, 1, 3, (8, 20));
    assert_eq!(found(&nand), Some(expected(3, (8, 20))));
}

#[test]
fn filler_is_not_part_of_a_checkpoint() {
    let mut nand = flash();
    for (index, mut bytes) in checkpoint_pages(3, (8, 20)).into_iter().enumerate() {
        bytes.resize(64, 0xA5);
        put(&mut nand, (0, index as u32), &bytes, (8, 21 + index as u64));
    }
    assert_eq!(found(&nand), Some(expected(3, (8, 20))));
}

#[test]
fn no_page_is_beyond_the_drive() {
    let mut nand = flash();
    let mut pages = checkpoint_pages(3, (8, 20));
    // Page 40 is the first page of the journal, and never has data.
    pages[1][12..].copy_from_slice(&41u32.to_le_bytes());
    for (index, bytes) in pages.iter().enumerate() {
        put(&mut nand, (0, index as u32), bytes, (8, 21 + index as u64));
    }
    let mut expected = expected(3, (8, 20));
    assert_eq!(expected.table[19].replace(Ppn::new(0)), Some(Ppn::new(39)));
    expected.table[19] = None;
    assert_eq!(found(&nand), Some(expected));
}

#[test]
fn the_newest_checkpoint_that_is_whole_is_found() {
    type Damage = fn(&mut Flash, Ppn);
    let lost: Damage = |nand, at| nand.lose_payload(at);
    let torn: Damage = |nand, at| nand.set_tag(at, None);
    // As if the page had been there since the previous checkpoint in this area.
    let of_another: Damage = |nand, at| {
        let tag = nand.tag(at).unwrap();
        nand.set_tag(at, Some(Tag { serial: tag.serial - 1, ..tag }));
    };
    for newest in [0, 1] {
        let mut both = flash();
        put_checkpoint(&mut both, newest, 3, (8, 40));
        put_checkpoint(&mut both, 1 - newest, 5, (6, 20));
        assert_eq!(found(&both), Some(expected(3, (8, 40))));
        let damage = (0..COMMIT).flat_map(|page| [(page, lost), (page, torn), (page, of_another)]);
        for (page, damage) in damage.chain([(COMMIT, lost)]) {
            let mut nand = both.clone();
            damage(&mut nand, ppn(newest, page));
            assert_eq!(found(&nand), Some(expected(5, (6, 20))), "page {page}");
            damage(&mut nand, ppn(1 - newest, page));
            assert_eq!(found(&nand), None, "page {page} of both");
        }
    }
}

#[test]
fn a_page_that_is_too_short_is_no_part_of_a_checkpoint() {
    for page in 0..=COMMIT {
        let mut nand = flash();
        for (index, mut bytes) in checkpoint_pages(3, (8, 20)).into_iter().enumerate() {
            if index == page as usize {
                bytes.pop();
            }
            put(&mut nand, (0, index as u32), &bytes, (8, 21 + index as u64));
        }
        assert_eq!(found(&nand), None, "page {page}");
    }
}

#[test]
fn a_commit_record_is_known_by_its_first_word() {
    let mut nand = flash();
    for (index, mut bytes) in checkpoint_pages(3, (8, 20)).into_iter().enumerate() {
        if index == COMMIT as usize {
            bytes[0] ^= 1;
        }
        put(&mut nand, (0, index as u32), &bytes, (8, 21 + index as u64));
    }
    assert_eq!(found(&nand), None);
}

/// As after a crash of the machine that stores the flash: an erase may then be lost.
#[test]
fn trims_of_an_older_checkpoint_are_none() {
    let mut nand = flash();
    put_checkpoint(&mut nand, 0, 3, (40, 90));
    let old = Trimmed { first: 4, pages: 1, sequence: 30 };
    put(&mut nand, (0, COMMIT + 1), &trim_bytes(&[old]), (30, 80));
    let without = expected(3, (40, 90));
    assert_eq!(found(&nand), Some(Checkpoint { reads: without.reads + 1, ..without }));
}

#[test]
fn trims_are_read_to_the_last_page_of_the_area() {
    let trim = |number: u32| Trimmed { first: number, pages: 1 + number, sequence: 100 };
    let none = Trimmed { first: 3, pages: 0, sequence: 100 };
    let mut nand = flash();
    put_checkpoint(&mut nand, 0, 3, (8, 20));
    // Four trims; two trims; an empty record and then a trim. The empty record counts as padding.
    let pages =
        [vec![trim(1), trim(2), trim(3), trim(4)], vec![trim(5), trim(6)], vec![none, trim(7)]];
    for (at, trims) in pages.iter().enumerate() {
        // The highest numbers count, whatever their order.
        let sequence = [30, 60, 50][at];
        put(&mut nand, (0, COMMIT + 1 + at as u32), &trim_bytes(trims), (sequence, 90 + at as u64));
    }
    let last = Stamp { sequence: 60, serial: 92 };
    let trims = (1..=7).map(trim).collect::<Vec<_>>();
    let mut whole = Checkpoint { last, trims, reads: 2 + 5 + 3, ..expected(3, (8, 20)) };
    assert_eq!(found(&nand), Some(whole.clone()));

    // A torn page has no trims, but the pages behind it count.
    nand.set_tag(ppn(0, COMMIT + 2), None);
    whole.trims.retain(|trim| !(5..=6).contains(&trim.first));
    whole.last.sequence = 50;
    assert_eq!(found(&nand), Some(whole.clone()));

    // Up to the last page of the area, the fourth of its third unit.
    for page in COMMIT + 4..AREA {
        let number = page + 10;
        whole.trims.push(trim(number));
        whole.last.serial = u64::from(100 + page);
        whole.reads += 1;
        put(&mut nand, (0, page), &trim_bytes(&[trim(number)]), (40, whole.last.serial));
    }
    assert_eq!(found(&nand), Some(whole));
}
