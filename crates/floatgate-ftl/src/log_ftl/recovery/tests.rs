//! Block-mapped drives that recover from flash that the test has programmed by hand.

use std::vec;
use std::vec::Vec;

use super::*;
use crate::addr::Stamp;
use crate::ftl::MergeCounts;
use crate::geometry::{Geometry, Shape};
use crate::journal::UnitRecord;
use crate::log_block::{Bast, LogConfig};
use crate::nand::{Checked, Counted, FlashCounts, Nand};
use crate::unit_table::FreeOrder;

/// Four logical blocks of four pages, two logs and one unit for a merge make seven units; there are
/// two more.
const SHAPE: Shape = Shape { units: 9, ..Shape::SMALL };

type Flash = Checked<Counted>;
type Drive = LogFtl<Flash>;

fn geometry() -> Geometry {
    Geometry::new(SHAPE).unwrap()
}

fn config(journal: Option<u64>) -> LogFtlConfig {
    LogFtlConfig { geometry: geometry(), logs: 2, free_order: FreeOrder::First, journal }
}

fn scheme() -> Box<dyn LogBlocks + Send> {
    Box::new(Bast::new(&LogConfig::new(geometry(), 2)))
}

fn at(unit: u32, page: u32) -> Ppn {
    geometry().page(Unit(unit), page)
}

/// Unit and page, logical page, sequence and serial number.
type Programmed = ((u32, u32), u32, (u64, u64));

/// Units programmed by hand.
fn flash(medium: Geometry, pages: &[Programmed]) -> Flash {
    let mut nand = Checked::new(Counted::default(), medium).with_gaps();
    for &((unit, page), lpn, (sequence, serial)) in pages {
        let tag = Tag::new(Owner::Data(Lpn::new(lpn)), sequence, serial);
        nand.program(at(unit, page), tag, Cause::Host, &mut Chain::default()).unwrap();
    }
    nand
}

fn recover(pages: &[Programmed]) -> (Drive, Mount) {
    let (drive, mount) = Drive::recover(flash(geometry(), pages), scheme(), config(None)).unwrap();
    drive.check();
    assert_eq!(drive.nand().counters().flash, FlashCounts::default(), "nothing is counted of it");
    assert_eq!(drive.merges, MergeCounts::default());
    (drive, mount)
}

fn data_blocks(drive: &Drive) -> Vec<Option<u32>> {
    (0..4).map(|lbn| drive.data_block(Lbn(lbn)).map(|unit| unit.0)).collect()
}

/// The physical places of these logical pages.
fn places(drive: &Drive, lpns: core::ops::Range<usize>) -> Vec<Option<Ppn>> {
    drive.store.table[lpns].to_vec()
}

#[test]
fn blocks_in_one_unit_stay_where_they_are() {
    // Block 0 is complete. Block 1 has two pages at their offsets and a gap. Block 2 was a log in
    // order, and its old version is still in unit 6. Block 3 was never written.
    let (drive, mount) = recover(&[
        ((3, 0), 0, (1, 1)),
        ((3, 1), 1, (2, 2)),
        ((3, 2), 2, (3, 3)),
        ((3, 3), 3, (4, 4)),
        ((1, 0), 4, (5, 5)),
        ((1, 2), 6, (6, 6)),
        ((6, 0), 8, (7, 7)),
        ((6, 1), 9, (8, 8)),
        ((5, 0), 8, (9, 9)),
        ((5, 1), 9, (10, 10)),
    ]);
    assert_eq!(data_blocks(&drive), [Some(3), Some(1), Some(5), None]);
    // Recovery reads the tag of every page twice, also of a gap.
    let tag_reads = 2 * (4 + 3 + 2 + 2);
    assert_eq!(mount, Mount { tag_reads, erased: 1, ..Mount::default() });
    assert_eq!(drive.store.stamp, Stamp { sequence: 10, serial: 10 });
    assert_eq!(drive.store.units.free_units(), 9 - 3);
    let worn = (0..9).filter(|&unit| drive.store.units.lifetime_erases(Unit(unit)) > 0);
    assert_eq!(worn.collect::<Vec<_>>(), [6]);
}

#[test]
fn a_block_with_pages_in_a_log_is_merged() {
    let (drive, mount) = recover(&[
        ((3, 0), 0, (1, 1)),
        ((3, 1), 1, (2, 2)),
        ((3, 3), 3, (4, 3)),
        ((1, 0), 4, (5, 4)),
        // The log: page 1 twice, in newer versions, and page 2.
        ((5, 0), 1, (6, 5)),
        ((5, 1), 2, (7, 6)),
        ((5, 2), 1, (8, 7)),
    ]);
    // The four pages go to the first free unit, at their offsets. Block 1 stays.
    assert_eq!(data_blocks(&drive), [Some(0), Some(1), None, None]);
    assert_eq!(places(&drive, 0..4), [0, 1, 2, 3].map(|page| Some(at(0, page))));
    assert_eq!((mount.moved, mount.erased, mount.map_programs), (4, 0, 0));
    let sequences = (0..4).map(|page| drive.store.nand.tag(at(0, page)).unwrap().sequence);
    assert_eq!(sequences.collect::<Vec<_>>(), [1, 8, 7, 4]);
    assert_eq!(drive.store.stamp.serial, 7 + 4);
    let programmed = (0..9).filter(|&unit| drive.store.nand.programmed(Unit(unit)) > 0);
    assert_eq!(programmed.collect::<Vec<_>>(), [0, 1], "what was merged is erased");
}

#[test]
fn a_log_of_several_blocks_is_erased_when_the_last_is_merged() {
    // In unit 5 page 0 is at its offset, and no other unit has it. But unit 5 also has pages of
    // other blocks.
    let (drive, mount) = recover(&[
        ((5, 0), 0, (1, 1)),
        ((5, 1), 4, (2, 2)),
        ((5, 2), 9, (3, 3)),
        ((6, 1), 5, (4, 4)),
    ]);
    assert_eq!(data_blocks(&drive), [Some(0), Some(1), Some(2), None]);
    assert_eq!((mount.moved, mount.erased), (4, 0));
    assert_eq!(places(&drive, 0..1), [Some(at(0, 0))]);
    assert_eq!(places(&drive, 4..6), [Some(at(1, 0)), Some(at(1, 1))]);
    assert_eq!(places(&drive, 9..10), [Some(at(2, 1))]);
    assert_eq!(drive.store.units.lifetime_erases(Unit(5)), 1);
    assert_eq!(drive.store.units.lifetime_erases(Unit(6)), 1);
    assert_eq!(drive.store.units.free_units(), 9 - 3);
}

#[test]
fn a_merge_that_was_cut_short_is_as_if_it_had_not_begun() {
    // Unit 6 was to be the new data block of block 0: two of four pages are there, and one is torn.
    let pages = [
        ((3, 0), 0, (1, 1)),
        ((3, 1), 1, (2, 2)),
        ((5, 0), 2, (3, 3)),
        ((5, 1), 3, (4, 4)),
        ((6, 0), 0, (1, 5)),
        ((6, 1), 1, (2, 6)),
        ((6, 2), 2, (3, 7)),
    ];
    let mut nand = flash(geometry(), &pages);
    nand.set_tag(at(6, 2), None);
    let (drive, mount) = Drive::recover(nand, scheme(), config(None)).unwrap();
    drive.check();
    assert_eq!((mount.moved, mount.erased), (4, 1), "unit 6 was erased before");
    assert_eq!(data_blocks(&drive), [Some(0), None, None, None]);
    assert_eq!(drive.store.units.lifetime_erases(Unit(6)), 1);
}

#[test]
fn a_merge_that_was_done_but_for_the_erases_is_done() {
    let (drive, mount) = recover(&[
        ((3, 0), 0, (1, 1)),
        ((3, 1), 1, (2, 2)),
        ((5, 0), 2, (3, 3)),
        ((6, 0), 0, (1, 5)),
        ((6, 1), 1, (2, 6)),
        ((6, 2), 2, (3, 7)),
    ]);
    assert_eq!(data_blocks(&drive), [Some(6), None, None, None]);
    assert_eq!((mount.moved, mount.erased), (0, 2));
}

#[test]
fn of_copies_the_first_since_the_checkpoint_or_that_of_it_is_taken() {
    const BEFORE: u64 = 50;
    let pages = [
        // Before the checkpoint: a copy that the checkpoint does not name, and the copies that it
        // names.
        ((2, 1), 1, (5, 8)),
        ((3, 0), 0, (4, 10)),
        ((3, 1), 1, (5, 11)),
        ((4, 2), 2, (6, BEFORE)),
        // Since the checkpoint: one copy of pages 0 and 1, two of 2 and 3, one of another version
        // of 3.
        ((6, 0), 0, (4, 60)),
        ((6, 1), 1, (5, 61)),
        ((6, 2), 2, (6, 62)),
        ((6, 3), 3, (7, 63)),
        ((7, 0), 3, (6, 58)),
        ((7, 2), 2, (6, 72)),
        ((7, 3), 3, (7, 73)),
        // Block 1 has its home, and an older copy elsewhere.
        ((8, 0), 4, (9, 74)),
        ((5, 0), 4, (9, 64)),
    ];
    let known = |place: &[(usize, Ppn)]| {
        let mut table = vec![None; 16];
        place.iter().for_each(|&(lpn, ppn)| table[lpn] = Some(ppn));
        let stamp = Stamp { sequence: 40, serial: BEFORE };
        let units = vec![UnitRecord::default(); 9];
        Checkpoint { stamp, last: stamp, table, units, trims: vec![], reads: 0 }
    };
    let known = known(&[(0, at(3, 0)), (1, at(3, 1))]);
    let nand = flash(geometry(), &pages);
    let taken = |checkpoint: Option<&Checkpoint>| {
        // The scan lists all pages, whichever pages a scan after a checkpoint would read.
        let mut found = scan(&nand, &geometry(), 0, None);
        let mut drive = Drive::unformatted(nand.clone(), scheme(), config(None));
        drive.store.table = core::mem::take(&mut found.table);
        assert_eq!(drive.store.table[2..4], [Some(at(7, 2)), Some(at(7, 3))], "the last ones");
        let home = drive.home(Lbn(1));
        assert_eq!(home, Some(Unit(8)));
        drive.take_first_copies(&mut found, &[None, home, None, None], checkpoint);
        drive.store.table[..5].to_vec()
    };
    let with = [at(3, 0), at(3, 1), at(6, 2), at(6, 3), at(8, 0)].map(Some);
    assert_eq!(taken(Some(&known)), with);
    // Without a checkpoint, the first copy of all.
    let without = [at(3, 0), at(2, 1), at(4, 2), at(6, 3), at(8, 0)].map(Some);
    assert_eq!(taken(None), without);
}

#[test]
fn a_recovery_begins_and_ends_with_a_checkpoint() {
    let layout = Layout::new(geometry());
    let medium = layout.medium().unwrap();
    let nand = Checked::new(Counted::default(), medium).with_gaps();
    let mut before = Drive::new(nand, scheme(), config(Some(1000))).unwrap();
    let chain = &mut Chain::default();
    for lpn in (0..16).chain(0..4) {
        before.write(Lpn::new(lpn), 1, chain).unwrap();
    }
    before.trim(8..10, chain).unwrap();
    before.flush(chain).unwrap();
    let taken = before.store.stamp;
    let (after, mount) =
        Drive::recover(before.store.nand.clone(), scheme(), config(Some(1000))).unwrap();
    after.check();
    assert_eq!(after.store.table, before.store.table);
    assert_eq!(
        data_blocks(&after),
        (0..4).map(|lbn| before.data_block(Lbn(lbn)).map(|u| u.0)).collect::<Vec<_>>()
    );
    assert!(mount.from_checkpoint);
    // One page of the map, two of units, and the commit record.
    assert_eq!((mount.moved, mount.map_programs), (0, 4));
    let found = layout.find(&after.store.nand).unwrap();
    assert_eq!((found.table, found.stamp), (after.store.table, taken));
    let erases: Vec<_> = found.units.iter().map(|unit| unit.erases).collect();
    let lifetime = |unit| after.store.units.lifetime_erases(Unit(unit));
    assert_eq!(erases, (0..9).map(lifetime).collect::<Vec<_>>());
    assert!(erases.iter().any(|&erases| erases > 0));
}
