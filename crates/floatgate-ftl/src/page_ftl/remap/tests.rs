//! The log, driven by hand over a mapping that records its accesses.

use std::vec;
use std::vec::Vec;

use super::*;
use crate::addr::{Ppn, Tpn};
use crate::counters::{Counters, StreamCounts};
use crate::geometry::{Geometry, Shape};
use crate::mapping::{MapOp, Prefetch, Residency};
use crate::nand::{Checked, Counted};
use crate::page_ftl::{Cleaning, PageConfig};
use crate::placement::{AnyPlacement, PlacementConfig};
use crate::policy::Policy;
use crate::unit_table::FreeOrder;
use crate::victim::{VictimConfig, victim};

/// The last four of twenty pages are the log.
const SHAPE: Shape = Shape { units: 20, logical_pages: 20, ..Shape::SMALL };

/// A map on flash that fetches nothing, and writes nothing unless a page is assigned.
#[derive(Default)]
struct Noting {
    asked: Vec<(u32, AccessKind, bool)>,
    rewrites: bool,
}

impl Prefetch for Noting {}

impl Mapping for Noting {
    fn access(&mut self, access: Access, _: &mut Vec<MapOp>) {
        assert!(access.first && access.remaining == 1, "{access:?}");
        self.asked.push((access.lpn.get(), access.kind, access.mapped));
    }

    fn assigned(&mut self, _: Lpn, _: Ppn, io: &mut Vec<MapOp>) {
        io.extend(self.rewrites.then_some(MapOp::Rewrite(Tpn::new(0))));
    }

    fn relocated(&mut self, _: &[(Lpn, Ppn)], _: &mut Vec<MapOp>) {}

    fn residency(&self, _: Lpn) -> Residency {
        Residency::Clean
    }
}

impl Policy for Noting {}

crate::state!(Noting unsaved);

type Drive = PageFtl<Checked<Counted>, Noting>;

fn drive(levelled: bool) -> Drive {
    let geometry = Geometry::new(SHAPE).unwrap();
    let placement = AnyPlacement::new("single", &PlacementConfig::new(geometry)).unwrap();
    let frontiers = PageConfig::frontiers(placement.streams(), true, levelled, 4, false);
    let mut cleaning = Cleaning::new(u32::from(frontiers) + 1);
    cleaning.wear_gap = levelled.then_some(100);
    let config = PageConfig {
        geometry,
        placement,
        victim: victim("greedy", &VictimConfig::new(SHAPE.units, frontiers)).unwrap(),
        cleaning,
        free_order: FreeOrder::First,
        verify: false,
        pages_per_map_page: 1,
        journal: None,
        reclaim_units: Vec::new(),
        flush_after_ns: None,
    };
    PageFtl::with_log(Checked::new(Counted::default(), geometry), Noting::default(), config, 4)
        .unwrap()
}

fn lpn(number: u32) -> Lpn {
    Lpn::new(number)
}

impl Drive {
    fn log(&mut self, at: u32, original: Option<u32>) -> Ppn {
        self.write_log(lpn(at), original.map(lpn), &mut Chain::default()).unwrap();
        self.check();
        self.place(lpn(at)).unwrap()
    }

    /// Remaps a page. Returns whether it was remapped, and the accesses to the mapping.
    fn move_entry(&mut self, from: u32, to: u32) -> (bool, Vec<(u32, AccessKind, bool)>) {
        let answer = self.remap(lpn(from), lpn(to), &mut Chain::default()).unwrap();
        self.check();
        (answer, core::mem::take(&mut self.map.cache.asked))
    }
}

#[test]
fn a_remap_clears_one_entry_and_points_the_other_there() {
    let mut drive = drive(false);
    let flash = drive.nand().counters().flash;
    let first = drive.log(16, Some(3));
    let second = drive.log(17, Some(3));
    // Page 3 has no data before the first remap, and has data before the second.
    let asked = |from, mapped| vec![(from, AccessKind::Trim, true), (3, AccessKind::Write, mapped)];
    assert_eq!(drive.move_entry(16, 3), (true, asked(16, false)));
    assert_eq!((drive.place(lpn(16)), drive.place(lpn(3))), (None, Some(first)));
    assert_eq!(drive.move_entry(17, 3), (true, asked(17, true)));
    assert_eq!((drive.place(lpn(17)), drive.place(lpn(3))), (None, Some(second)));
    assert_eq!(drive.units().owner(first), None);
    assert_eq!(drive.units().owner(second), Some(Owner::Data(lpn(3))));
    // A page of the log without data is not remapped, and causes no look-up.
    assert_eq!(drive.move_entry(17, 3), (false, vec![]));
    assert_eq!(drive.place(lpn(3)), Some(second));
    // Only the two pages of the log were programmed.
    let mut expected = flash;
    expected.programs[Cause::Host as usize] += 2;
    expected.program_units += 2;
    assert_eq!(drive.nand().counters().flash, expected);
}

#[test]
fn map_operations_are_done_at_once() {
    let mut drive = drive(false);
    drive.map.cache.rewrites = true;
    let programs =
        |drive: &Drive, cause: Cause| drive.nand().counters().flash.programs[cause as usize];
    drive.log(16, Some(3));
    assert_eq!((programs(&drive, Cause::Map), programs(&drive, Cause::Remap)), (1, 0));
    drive.move_entry(16, 3);
    assert_eq!((programs(&drive, Cause::Map), programs(&drive, Cause::Remap)), (1, 1));
}

#[test]
fn log_pages_pin_their_unit() {
    let mut drive = drive(false);
    let first = drive.log(16, Some(3));
    let unit = drive.store.geometry.unit(first);
    let pins = |drive: &Drive| drive.units().pins(unit);
    drive.log(17, None);
    drive.log(18, Some(5));
    assert_eq!(pins(&drive), 3);
    // Written again: the old place is invalidated, and the new one is in the same unit.
    let before = drive.place(lpn(18)).unwrap();
    drive.log(18, Some(6));
    assert_eq!(pins(&drive), 3);
    assert_eq!(drive.units().owner(before), None);
    assert!(!drive.units().is_sealed(unit), "full, and pinned");
    drive.move_entry(16, 3);
    assert_eq!(drive.drop_log(17..18, &mut Chain::default()), Ok(1));
    assert_eq!(drive.drop_log(17..18, &mut Chain::default()), Ok(0));
    assert_eq!(drive.drop_log(0..0, &mut Chain::default()), Ok(0));
    assert_eq!(pins(&drive), 1);
    assert!(!drive.units().is_sealed(unit));
    drive.move_entry(18, 6);
    assert_eq!(pins(&drive), 0);
    assert!(drive.units().is_sealed(unit));
    assert_eq!(drive.units().valid(unit), 2);
}

#[test]
fn the_log_has_the_last_stream_and_its_own_count() {
    for levelled in [false, true] {
        let mut drive = drive(levelled);
        // One data stream, one map stream, and perhaps one for wear levelling.
        let at = drive.log(16, Some(3));
        let stream = if levelled { 3 } else { 2 };
        assert_eq!(drive.units().stream(drive.store.geometry.unit(at)), stream);
        drive.log(17, None);
        drive.write(lpn(15), 1, &mut Chain::default()).unwrap();
        let counts = |host_pages| StreamCounts { host_pages, ..StreamCounts::default() };
        let streams = |drive: &Drive| {
            let mut counters = Counters::default();
            drive.report(&mut counters);
            counters.streams
        };
        assert_eq!(streams(&drive), [counts(1), counts(2)]);
        drive.reset_counters();
        assert_eq!(streams(&drive), [counts(0), counts(0)]);
    }
}

#[test]
fn out_of_band_a_page_of_the_log_names_both_pages() {
    use crate::nand::Tagged;
    let mut drive = drive(false);
    for (at, original) in [(16, Some(3)), (17, None)] {
        let ppn = drive.log(at, original);
        let tag = drive.nand().tag(ppn).unwrap();
        assert_eq!((tag.owner, tag.original), (Owner::Data(lpn(at)), original.map(lpn)));
    }
}

#[test]
#[should_panic(expected = "is not a page of the log")]
fn log_writes_go_to_the_log() {
    drive(false).log(15, Some(3));
}

#[test]
#[should_panic(expected = "from the log to the user's pages")]
fn only_pages_of_the_log_are_remapped() {
    drive(false).move_entry(15, 3);
}

#[test]
#[should_panic(expected = "from the log to the user's pages")]
fn nothing_is_remapped_into_the_log() {
    drive(false).move_entry(16, 17);
}

#[test]
#[should_panic(expected = "pages of the log only")]
fn only_log_pages_are_dropped() {
    let _ = drive(false).drop_log(15..17, &mut Chain::default());
}

#[test]
#[should_panic(expected = "Unit(5) is pinned")]
fn a_pin_too_many_is_found() {
    let mut drive = drive(false);
    drive.store.units.pin(Unit(5));
    drive.check_pins();
}
