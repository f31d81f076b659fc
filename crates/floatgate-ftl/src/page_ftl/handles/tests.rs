//! Room, empty units and events of placement handles.

use std::vec;
use std::vec::Vec;

use super::*;
use crate::counters::Counters;
use crate::ftl::Ftl;
use crate::geometry::{Geometry, ProgramUnit, Shape};
use crate::mapping::{Access, AccessKind, Ideal, MapConfig};
use crate::nand::{Checked, Counted};
use crate::page_ftl::{Cleaning, Pace, PageConfig};
use crate::placement::{AnyPlacement, Isolation, PlacementConfig};
use crate::rng::Rng;
use crate::unit_table::FreeOrder;
use crate::victim::{VictimConfig, victim};

type Drive = PageFtl<Checked<Counted>, Ideal>;

/// Pages of an erase unit.
const UNIT: u32 = 8;

/// Logical pages.
const PAGES: u32 = 64;

/// A drive with three handles.
fn drive(isolation: Isolation, reclaim_unit: u32, program_unit: Option<ProgramUnit>) -> Drive {
    let shape = Shape {
        pages_per_block: UNIT,
        units: 30,
        logical_pages: PAGES,
        program_unit,
        ..Shape::SMALL
    };
    let geometry = Geometry::new(shape).expect("the shape is a drive");
    let config = PlacementConfig { handles: 3, isolation, ..PlacementConfig::new(geometry) };
    let placement = AnyPlacement::new("host", &config).expect("a row of the table");
    let streams = placement.streams();
    let config = PageConfig {
        geometry,
        placement,
        victim: victim("greedy", &VictimConfig::new(30, 2)).expect("a row of the table"),
        cleaning: Cleaning { pace: Some(Pace::Fixed(2)), high_water: 14, ..Cleaning::new(12) },
        free_order: FreeOrder::First,
        verify: false,
        pages_per_map_page: 1,
        journal: None,
        flush_after_ns: None,
        reclaim_units: vec![reclaim_unit; streams.into()],
    };
    let nand = Checked::new(Counted::default(), geometry);
    let Ok(drive) = PageFtl::new(nand, Ideal::new(&MapConfig::new(geometry, 0)), config);
    drive
}

/// Two pages on each plane, lost with the power.
const PAIRS: ProgramUnit = ProgramUnit { pages: 2, levels: 1, is_protected: false, stripe: None };

fn write(drive: &mut Drive, lpn: u32, handle: u16) {
    let access = Access {
        lpn: Lpn::new(lpn),
        kind: AccessKind::Write,
        remaining: 1,
        first: true,
        mapped: false,
    };
    drive.label(lpn..lpn + 1, handle);
    let Ok(()) = drive.translate(access, &mut Chain::default());
    let Ok(()) = drive.write(Lpn::new(lpn), 1, &mut Chain::default());
}

fn next_unit(drive: &mut Drive, handle: u8) -> u64 {
    let Ok(left) = drive.next_unit(handle, &mut Chain::default());
    left
}

fn events(drive: &mut Drive) -> Vec<HandleEvent> {
    let mut events = vec![];
    drive.take_events(&mut events);
    events
}

#[test]
fn a_handle_fills_its_reclaim_unit_or_gets_an_empty_one() {
    for reclaim_unit in [1, 3] {
        let size = u64::from(UNIT * reclaim_unit);
        let mut drive = drive(Isolation::Initially, reclaim_unit, None);
        assert_eq!((drive.room(0), drive.room(2)), (size, size));
        assert_eq!(next_unit(&mut drive, 0), 0, "it has no unit");
        for lpn in 0..11 {
            write(&mut drive, lpn, 1);
            assert_eq!(drive.room(1) % size, (2 * size - u64::from(lpn) - 1) % size);
        }
        assert_eq!(next_unit(&mut drive, 1), drive_left(size, 11));
        assert_eq!((drive.room(1), drive.room(2)), (size, size));
        assert_eq!(next_unit(&mut drive, 1), 0, "the unit is empty");
        drive.check();
    }
}

/// Pages left in the last unit of a handle that has written `pages` pages.
fn drive_left(size: u64, pages: u64) -> u64 {
    pages.next_multiple_of(size) - pages
}

#[test]
fn data_of_an_ended_unit_and_of_the_next_one_are_in_different_units() {
    for (reclaim_unit, written) in [(1, 3), (2, 8), (2, 11)] {
        let mut drive = drive(Isolation::Persistently, reclaim_unit, None);
        (0..written).for_each(|lpn| write(&mut drive, lpn, 1));
        next_unit(&mut drive, 1);
        write(&mut drive, written, 1);
        let unit = |lpn| {
            let ppn = drive.place(Lpn::new(lpn)).expect("it is written");
            drive.store.geometry.unit(ppn)
        };
        assert_ne!(unit(written - 1), unit(written));
        let of = |lpn| drive.store.units.reclaim_unit(unit(lpn));
        assert!(of(0).is_some(), "the ended unit is sealed, so cleaning can choose it");
        assert_eq!(of(written), None);
    }
}

#[test]
fn a_full_unit_is_an_event_and_an_ended_one_is_not() {
    let mut drive = drive(Isolation::Initially, 2, None);
    let size = 2 * UNIT;
    (0..3).for_each(|lpn| write(&mut drive, lpn, 1));
    assert_eq!(events(&mut drive), [], "events are noted from now on");
    (0..size).for_each(|lpn| write(&mut drive, lpn, 1));
    assert_eq!(events(&mut drive), [HandleEvent::NextUnit { handle: 1 }]);
    next_unit(&mut drive, 1);
    (0..size).for_each(|lpn| write(&mut drive, lpn, 1));
    assert_eq!(events(&mut drive), [], "the host ended one unit, and filled the next one");
    write(&mut drive, 0, 1);
    write(&mut drive, 1, 2);
    assert_eq!(events(&mut drive), [HandleEvent::NextUnit { handle: 1 }]);
}

/// The events report as many moved pages as the counters of copies.
#[test]
fn moved_pages_are_events_of_their_handles() {
    let mut drive = drive(Isolation::Initially, 1, None);
    events(&mut drive);
    let (mut rng, mut moved) = (Rng::new(3), [0; 3]);
    for _ in 0..3000 {
        let lpn = rng.below(u64::from(PAGES)) as u32;
        write(&mut drive, lpn, (lpn % 3) as u16);
        for event in events(&mut drive) {
            if let HandleEvent::Moved { handle, first, pages } = event {
                assert_eq!(first.get() % 3, u32::from(handle));
                moved[usize::from(handle)] += pages;
            }
        }
    }
    // A victim that is being emptied has moved pages that are not reported yet.
    drive.cleaner.active = true;
    let Ok(()) = drive.finish_under_way(&mut Chain::default());
    drive.cleaner.active = false;
    for event in events(&mut drive) {
        if let HandleEvent::Moved { handle, pages, .. } = event {
            moved[usize::from(handle)] += pages;
        }
    }
    let mut counters = Counters::default();
    drive.report(&mut counters);
    let copied = |owner: usize| counters.owners[owner].gc_pages.iter().sum::<u64>();
    assert_eq!(moved, [copied(0), copied(1), copied(2)]);
    assert!(moved[0] > 0);
}

#[test]
fn a_drive_whose_units_are_ended_at_random_stays_consistent() {
    for (isolation, reclaim_unit, program_unit) in [
        (Isolation::Initially, 1, None),
        (Isolation::Persistently, 1, None),
        (Isolation::Initially, 2, None),
        (Isolation::Persistently, 2, Some(PAIRS)),
        (Isolation::Initially, 1, Some(PAIRS)),
    ] {
        let mut drive = drive(isolation, reclaim_unit, program_unit);
        let mut rng = Rng::new(7);
        for round in 0..4000 {
            write(&mut drive, rng.below(PAGES.into()) as u32, rng.below(3) as u16);
            if rng.below(4) == 0 {
                let handle = rng.below(3) as u8;
                let room = drive.room(handle);
                let left = next_unit(&mut drive, handle);
                assert!(left <= room.max(u64::from(UNIT * reclaim_unit)));
            }
            if round % 50 == 0 {
                drive.check();
            }
        }
    }
}
