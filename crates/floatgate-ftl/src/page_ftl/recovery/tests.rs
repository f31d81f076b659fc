//! Page-mapped drives that recover from flash that was programmed by hand, or by an earlier drive.

mod mounting;

use core::ops::Range;
use std::vec::Vec;

use super::*;
use crate::addr::{Ppn, Tag, Tpn};
use crate::geometry::{Geometry, Shape};
use crate::journal::UnitRecord;
use crate::mapping::{Ideal, MapConfig, NoCache};
use crate::nand::{Checked, Counted, FlashCounts, Nand};
use crate::page_ftl::{Cleaning, Cleans};
use crate::placement::{AnyPlacement, PlacementConfig};
use crate::recovery::scan;
use crate::unit_table::FreeOrder;
use crate::victim::{VictimConfig, victim};

/// Units of four pages; 16 entries in a page of the map, so the map has two pages.
const SHAPE: Shape = Shape { units: 14, logical_pages: 20, ..Shape::SMALL };

type Flash = Checked<Counted>;

/// Configuration of a test drive.
#[derive(Clone, Copy)]
struct DriveSetup {
    shape: Shape,
    /// Streams of the placement.
    streams: u8,
    map_on_flash: bool,
    levelled: bool,
    log_pages: u32,
    /// Free units beyond the minimum of the drive.
    more_free: u32,
    journal: Option<u64>,
}

const SETUP: DriveSetup = DriveSetup {
    shape: SHAPE,
    streams: 1,
    map_on_flash: false,
    levelled: false,
    log_pages: 0,
    more_free: 0,
    journal: None,
};

impl DriveSetup {
    fn units(units: u32) -> Self {
        Self { shape: Shape { units, ..SHAPE }, ..SETUP }
    }

    fn geometry(&self) -> Geometry {
        Geometry::new(self.shape).unwrap()
    }

    fn config(&self) -> PageConfig {
        let geometry = self.geometry();
        let mut placements = PlacementConfig::new(geometry);
        placements.dac.regions = self.streams;
        let placement = AnyPlacement::new("dac", &placements).unwrap();
        let frontiers = PageConfig::frontiers(
            placement.streams(),
            self.map_on_flash,
            self.levelled,
            self.log_pages,
            false,
        );
        let mut cleaning = Cleaning::new(u32::from(frontiers) + 1 + self.more_free);
        cleaning.wear_gap = self.levelled.then_some(1000);
        let victims = VictimConfig::new(self.shape.units, frontiers);
        PageConfig {
            geometry,
            placement,
            victim: victim("greedy", &victims).unwrap(),
            cleaning,
            free_order: FreeOrder::First,
            verify: false,
            pages_per_map_page: 1,
            journal: self.journal,
            reclaim_units: Vec::new(),
            flush_after_ns: None,
        }
    }

    fn flash(&self) -> Flash {
        let geometry = self.geometry();
        let medium = match self.journal {
            Some(_) => Layout::new(geometry).medium().unwrap(),
            None => geometry,
        };
        Checked::new(Counted::default(), medium)
    }

    fn recover(&self, nand: Flash) -> (PageFtl<Flash, Ideal>, Mount) {
        let mapping = Ideal::new(&MapConfig::new(self.geometry(), 0));
        let (ftl, mount) = PageFtl::recover(nand, mapping, self.config(), self.log_pages).unwrap();
        ftl.check();
        (ftl, mount)
    }

    /// Like `recover`, with a mapping that reads and writes the map on flash at every access.
    fn recover_with_map(&self, nand: Flash) -> (PageFtl<Flash, NoCache>, Mount) {
        assert!(self.map_on_flash);
        let mapping = NoCache::new(&MapConfig::new(self.geometry(), 0));
        let (ftl, mount) = PageFtl::recover(nand, mapping, self.config(), self.log_pages).unwrap();
        ftl.check();
        (ftl, mount)
    }

    /// A page in a unit.
    fn at(&self, unit: u32, page: u32) -> Option<Ppn> {
        Some(self.geometry().page(Unit(unit), page))
    }
}

/// Programs units by hand, one page after the other, with ascending numbers.
struct Writer {
    nand: Flash,
    geometry: Geometry,
    number: u64,
}

impl Writer {
    fn new(plan: &DriveSetup) -> Self {
        Self { nand: plan.flash(), geometry: plan.geometry(), number: 0 }
    }

    fn put(&mut self, unit: u32, tag: Tag) {
        let to = self.geometry.page(Unit(unit), self.nand.programmed(Unit(unit)));
        self.nand.program(to, tag, Cause::Host, &mut Chain::default()).unwrap();
    }

    fn tag(&mut self, owner: Owner) -> Tag {
        self.number += 1;
        Tag::new(owner, self.number, self.number)
    }

    fn data(&mut self, unit: u32, lpns: Range<u32>) {
        for lpn in lpns {
            let tag = self.tag(Owner::Data(Lpn::new(lpn)));
            self.put(unit, tag);
        }
    }

    /// Programs pages of the log, from `at` on, with these user pages as originals.
    fn logged(&mut self, unit: u32, at: u32, originals: Range<u32>) {
        for (lpn, original) in (at..).zip(originals) {
            let tag = self.tag(Owner::Data(Lpn::new(lpn)));
            self.put(unit, Tag { original: Some(Lpn::new(original)), ..tag });
        }
    }

    fn map(&mut self, unit: u32, tpns: Range<u32>) {
        for tpn in tpns {
            let tag = self.tag(Owner::Translation(Tpn::new(tpn)));
            self.put(unit, tag);
        }
    }

    fn torn(&mut self, unit: u32, pages: u32) {
        let first = self.nand.programmed(Unit(unit));
        self.data(unit, 0..pages);
        (first..first + pages)
            .for_each(|page| self.nand.set_tag(self.geometry.page(Unit(unit), page), None));
    }
}

fn places<M: Mapping>(ftl: &PageFtl<Flash, M>, lpns: Range<u32>) -> Vec<Option<Ppn>> {
    lpns.map(|lpn| ftl.place(Lpn::new(lpn))).collect()
}

#[test]
fn the_roomiest_units_are_gone_on_with_one_for_each_stream() {
    // Three data streams, one for wear levelling, one for the log, which is the last four pages.
    let plan = DriveSetup { streams: 3, levelled: true, log_pages: 4, ..SETUP };
    let mut flash = Writer::new(&plan);
    flash.data(0, 0..4);
    flash.data(1, 4..7);
    flash.data(2, 7..8);
    flash.data(3, 8..10);
    flash.logged(4, 16, 10..12);
    flash.logged(5, 16, 12..16);
    // Torn pages take space, so units 6 and 7 have room for one page. Unit 7 is the sixth with
    // room.
    flash.data(6, 0..1);
    flash.torn(6, 2);
    flash.data(7, 4..5);
    flash.torn(7, 2);
    let (ftl, mount) = plan.recover(flash.nand);
    // By room: unit 2 has three pages; 3 and 4 two, the older one first; 1, 6 and 7 one.
    for (stream, unit, room) in [(0, 2, 3), (1, 3, 2), (2, 4, 2), (3, 1, 1), (4, 6, 1)] {
        assert_eq!(ftl.streams.room(stream), room, "stream {stream}");
        assert_eq!(ftl.store.units.stream(Unit(unit)), stream, "unit {unit}");
        assert!(!ftl.store.units.is_sealed(Unit(unit)));
    }
    // Full units, and a unit for which no stream is left. Only log units are recognised by their
    // pages.
    for (unit, stream) in [(0, 0), (5, 4), (7, 0)] {
        assert!(ftl.store.units.is_sealed(Unit(unit)), "unit {unit}");
        assert_eq!(ftl.store.units.stream(Unit(unit)), stream, "unit {unit}");
    }
    assert_eq!(places(&ftl, 10..12), [plan.at(4, 0), plan.at(4, 1)]);
    assert_eq!(places(&ftl, 12..16), [0, 1, 2, 3].map(|page| plan.at(5, page)));
    assert_eq!(places(&ftl, 16..20), [None; 4]);
    // In the order of their last programs.
    let by_age: Vec<u64> = [0, 5, 7].map(|unit| ftl.store.units.sealed_after(Unit(unit))).to_vec();
    assert_eq!(by_age, [0, 1, 2]);
    let tag_reads = 4 + 3 + 1 + 2 + 2 + 4 + 3 + 3;
    assert_eq!(mount, Mount { tag_reads, ..Mount::default() });
}

#[test]
fn a_full_unit_is_of_the_stream_that_is_noted_if_that_is_one_of_data() {
    // Streams 3 and 4 are for wear levelling and for the log, which is recognised by its pages.
    let plan = DriveSetup { streams: 3, levelled: true, log_pages: 4, ..SETUP };
    let (mut ftl, _) = plan.recover(plan.flash());
    let found = |unit: u32, lpn: u32, stream: u8| FoundUnit {
        unit: Unit(unit),
        programmed: 4,
        last: 1,
        kind: Some(Owner::Data(Lpn::new(lpn))),
        note: Some(UnitRecord { erases: 0, stream }),
    };
    let units = [(0, 0, 0), (1, 0, 2), (2, 0, 3), (3, 0, 4), (4, 15, 1), (5, 16, 1)];
    let in_use = ftl.reopen(&units.map(|(unit, lpn, stream)| found(unit, lpn, stream)));
    assert_eq!(in_use.iter().map(|unit| unit.stream).collect::<Vec<_>>(), [0, 2, 0, 0, 1, 4]);
}

#[test]
fn the_next_program_goes_behind_recovered_pages() {
    let mut flash = Writer::new(&SETUP);
    flash.data(3, 0..2);
    let (mut ftl, _) = SETUP.recover(flash.nand);
    assert_eq!(ftl.store.stamp, crate::addr::Stamp { sequence: 2, serial: 2 });
    ftl.write(Lpn::new(9), 1, &mut Chain::default()).unwrap();
    assert_eq!(ftl.place(Lpn::new(9)), SETUP.at(3, 2));
    let tag = ftl.into_nand().tag(SETUP.at(3, 2).unwrap());
    assert_eq!(tag, Some(Tag::new(Owner::Data(Lpn::new(9)), 3, 3)));
}

#[test]
fn units_of_which_nothing_is_wanted_are_free_and_worn() {
    let plan = DriveSetup { log_pages: 4, ..SETUP };
    let mut flash = Writer::new(&plan);
    flash.torn(9, 3);
    flash.data(2, 0..4);
    flash.data(4, 0..4);
    flash.map(5, 0..2);
    let (ftl, mount) = plan.recover(flash.nand);
    assert_eq!(mount.erased, 3);
    assert_eq!(ftl.store.units.free_units(), 14 - 1);
    let worn: Vec<u32> =
        (0..14).filter(|&unit| ftl.store.units.lifetime_erases(Unit(unit)) == 1).collect();
    assert_eq!(worn, [2, 5, 9]);
    assert_eq!(ftl.store.units.wear().sum::<u32>(), 0, "wear is counted from here");
    assert_eq!(ftl.store.nand.counters().flash, FlashCounts::default());
    assert_eq!(ftl.cleaner.counts, Cleans::default());
    assert_eq!(ftl.user_pages(), 16);
    assert!(ftl.is_log_empty());
}

#[test]
fn the_emptiest_units_are_emptied_until_there_is_room() {
    // Seven units, full except for two pages of the last one. By valid pages: 4, 4, 4, 4, 2, 1, 1.
    let written = |flash: &mut Writer| {
        (0..4).for_each(|unit| flash.data(unit, 4 * unit..4 * unit + 4));
        flash.data(4, 18..20);
        flash.data(4, 16..18);
        flash.data(5, 18..20);
        flash.data(5, 17..19);
        flash.data(6, 18..20);
    };
    let plan = DriveSetup::units(7);
    let mut flash = Writer::new(&plan);
    written(&mut flash);
    // 16 is in unit 4, 17 in unit 5, 18 and 19 in unit 6. One more unit has to become free.
    let (ftl, mount) = plan.recover(flash.nand.clone());
    assert_eq!((mount.moved, mount.erased), (1, 0));
    assert_eq!(ftl.store.units.free_units(), 1);
    assert_eq!(
        places(&ftl, 16..20),
        [(6, 2), (5, 2), (6, 0), (6, 1)].map(|(unit, page)| plan.at(unit, page))
    );
    assert_eq!(ftl.store.nand.programmed(Unit(4)), 0);
    assert_eq!(ftl.store.units.lifetime_erases(Unit(4)), 1);
    // With two more, 17 also takes the last page of unit 6.
    let (ftl, mount) = DriveSetup { more_free: 1, ..plan }.recover(flash.nand);
    assert_eq!((mount.moved, ftl.store.units.free_units()), (2, 2));
    assert_eq!(places(&ftl, 16..18), [plan.at(6, 2), plan.at(6, 3)]);
}

#[test]
fn moved_pages_go_to_any_unit_with_room() {
    // No unit is free and three have to become free, on three streams. Unit 1 has room for two
    // pages and belongs to the first stream. Unit 2 has room for one and belongs to the second.
    let plan = DriveSetup { streams: 3, ..DriveSetup::units(8) };
    let mut flash = Writer::new(&plan);
    flash.data(5, 0..3);
    flash.data(5, 16..17);
    flash.data(6, 3..6);
    flash.data(6, 17..18);
    flash.data(7, 6..8);
    flash.data(7, 18..20);
    flash.data(0, 8..9);
    flash.data(0, 0..3);
    flash.data(1, 3..5);
    flash.data(2, 5..8);
    flash.data(3, 8..12);
    flash.data(4, 12..16);
    let (ftl, mount) = plan.recover(flash.nand);
    // 16 and 17 leave units 5 and 6 for unit 1, which is then full. 18 takes the room in unit 2.
    // For 19, unit 5 is opened, which has been free for longest. After the erase of unit 7 two
    // units are free, and the three pages of unit 0 fill unit 5.
    assert_eq!(mount.moved, 1 + 1 + 2 + 3);
    let expected = [(1, 2), (1, 3), (2, 3), (5, 0)].map(|(unit, page)| plan.at(unit, page));
    assert_eq!(places(&ftl, 16..20), expected);
    assert_eq!(places(&ftl, 0..3), [1, 2, 3].map(|page| plan.at(5, page)));
    assert_eq!(ftl.store.units.free_units(), 3);
    assert!(!ftl.cleaner.active, "it may clean from now on");
}

#[test]
#[should_panic(expected = "too little spare")]
fn a_drive_without_spare_cannot_make_room() {
    let plan = DriveSetup { more_free: 1, ..DriveSetup::units(6) };
    let mut flash = Writer::new(&plan);
    (0..5).for_each(|unit| flash.data(unit, 4 * unit..4 * unit + 4));
    plan.recover(flash.nand);
}

#[test]
fn the_map_is_written_anew_and_has_room_kept_for_it() {
    // The data stream and the map stream need two free units, and the two pages of the map need
    // one.
    let plan = DriveSetup { map_on_flash: true, ..DriveSetup::units(9) };
    let mut flash = Writer::new(&plan);
    flash.map(0, 0..2);
    flash.map(0, 0..2);
    (1..6).for_each(|unit| flash.data(unit, 4 * unit - 4..4 * unit));
    flash.data(6, 0..1);
    flash.data(7, 0..1);
    let (ftl, mount) = plan.recover_with_map(flash.nand);
    // Unit 8 is free, and so are 0 and 6, which have no valid page. That is enough: nothing is
    // moved.
    assert_eq!((mount.erased, mount.moved, mount.map_programs), (2, 0, 2));
    assert_eq!(ftl.store.units.free_units(), 3 - 1);
    let map = ftl.map.directory.iter().map(|ppn| ftl.store.nand.tag(ppn.unwrap()).unwrap().owner);
    assert_eq!(map.collect::<Vec<_>>(), [0, 1].map(|tpn| Owner::Translation(Tpn::new(tpn))));

    // One more unit has to become free. Page 0 of unit 1 is not valid, so its other three pages are
    // moved.
    let mut flash = Writer::new(&plan);
    flash.map(0, 0..2);
    (1..6).for_each(|unit| flash.data(unit, 4 * unit - 4..4 * unit));
    flash.data(7, 0..1);
    let (ftl, mount) = DriveSetup { more_free: 1, ..plan }.recover_with_map(flash.nand);
    assert_eq!((mount.erased, mount.moved, mount.map_programs), (1, 3, 2));
    assert_eq!(ftl.store.units.free_units(), 4 - 1);
    assert_eq!(places(&ftl, 1..4), [1, 2, 3].map(|page| plan.at(7, page)));
}
