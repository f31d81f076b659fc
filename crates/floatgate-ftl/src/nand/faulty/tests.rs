//! Flash that fails on a test's request.

use std::vec::Vec;

use super::*;
use crate::addr::{Lpn, Tpn};
use crate::geometry::{ProgramUnit, Shape};
use crate::nand::{Checked, Clock, Counted, DieUse, Tagged, Timed, Timing};

/// Four units of four pages each for the layer.
const SHAPE: Shape = Shape { units: 4, logical_pages: 8, ..Shape::SMALL };

/// A rate at which everything fails.
const ALWAYS: u32 = 1_000_000_000;

type Flash = Faulty<Checked<Counted>>;

fn flash(faults: Faults) -> Flash {
    let geometry = Geometry::new(SHAPE).unwrap();
    let all = Geometry::new(Shape { units: SHAPE.units + faults.spares, ..SHAPE }).unwrap();
    Faulty::new(Checked::new(Counted::default(), all), geometry, faults)
}

fn data(lpn: u32) -> Owner {
    Owner::Data(Lpn::new(lpn))
}

impl Flash {
    /// Programs a page of the layer for the logical page with the same number.
    fn write(&mut self, page: u32) {
        let tag = Tag::new(data(page), 1, 1);
        self.program(Ppn::new(page), tag, Cause::Host, &mut Chain::default()).unwrap();
    }

    /// Returns whether a page can be read.
    fn reads(&mut self, page: u32, owner: Owner) -> bool {
        self.read(Ppn::new(page), owner, ReadSource::Cells, Cause::Host, &mut Chain::default())
            .unwrap();
        !self.read_failed()
    }

    fn wipe(&mut self, unit: u32) {
        self.erase(Unit(unit), Cause::Gc, &mut Chain::default()).unwrap();
    }

    fn health(&self) -> Health {
        self.counters().health.unwrap()
    }

    /// Counts how often a unit can be programmed and erased until a spare replaces it.
    fn lasts(&mut self, unit: u32) -> u32 {
        let behind = self.behind[unit as usize];
        let worn_out = self.health().worn_out;
        let mut erases = 0;
        while self.behind[unit as usize] == behind {
            assert_eq!(self.health().worn_out, worn_out);
            self.write(4 * unit);
            self.wipe(unit);
            erases += 1;
        }
        assert_eq!(self.health().worn_out, worn_out + 1);
        erases
    }
}

#[test]
fn a_unit_is_erased_as_often_as_it_lasts_and_no_more() {
    // Below ten, a tenth is no whole erase: every unit lasts the same.
    for endurance in [1, 2, 9] {
        let faults = Faults { endurance: Some(endurance), spares: 9, ..Faults::default() };
        let mut nand = flash(faults);
        for unit in [2, 0, 2, 2] {
            assert_eq!(nand.lasts(unit), endurance, "unit {unit}");
        }
        let health = nand.health();
        assert_eq!((health.retired, health.moved, health.erase_failures), (4, 0, 0));
        assert_eq!(health.spares_left, 5);
    }
}

#[test]
fn units_last_a_tenth_more_or_less() {
    for endurance in [10, 40, 109] {
        let spares = 400;
        let faults = Faults { endurance: Some(endurance), spares, seed: 5, ..Faults::default() };
        let mut nand = flash(faults);
        let mut lasted: Vec<u32> = (0..spares).map(|number| nand.lasts(number % 4)).collect();
        lasted.sort_unstable();
        let spread = endurance / 10;
        // Each number is equally likely, so four hundred units cover all of them.
        lasted.dedup();
        assert_eq!(lasted, (endurance - spread..=endurance + spread).collect::<Vec<_>>());
    }
}

#[test]
fn without_an_endurance_no_unit_wears_out() {
    let mut nand = flash(Faults { spares: 3, ..Faults::default() });
    for _ in 0..100 {
        nand.write(0);
        nand.wipe(0);
    }
    let none = Health { spares_left: 3, ..Health::default() };
    assert_eq!(nand.health(), none);
}

#[test]
fn the_drive_is_read_only_with_the_last_spare_units() {
    let mut nand = flash(Faults { endurance: Some(1), spares: 5, ..Faults::default() });
    for (spares_left, read_only) in [(4, false), (3, false), (2, true), (1, true), (0, true)] {
        assert_eq!(nand.lasts(1), 1);
        let health = nand.health();
        assert_eq!((health.spares_left, health.read_only), (spares_left, read_only));
    }
    // Once the spares are used up, nothing fails any more.
    for _ in 0..5 {
        nand.write(4);
        nand.wipe(1);
    }
    let health = nand.health();
    assert_eq!((health.worn_out, health.retired, health.spares_left), (5, 5, 0));
    // A drive without spares is never read-only.
    assert!(!flash(Faults::default()).health().read_only);
    assert!(flash(Faults { spares: 2, ..Faults::default() }).health().read_only);
}

#[test]
fn an_unreadable_page_stays_unreadable_after_a_move() {
    let mut nand = flash(Faults { spares: 3, ..Faults::default() });
    (0..2).for_each(|page| nand.write(page));
    for (rates, health) in [((ALWAYS, 0), (1, 0)), ((0, ALWAYS), (1, 1))] {
        (nand.faults.read, nand.faults.corrupt) = rates;
        let page = health.1 as u32;
        assert!(!nand.reads(page, data(page)));
        // Repeated reads count once.
        assert!(!nand.reads(page, data(page)));
        assert_eq!((nand.health().read_errors, nand.health().corrupt_pages), health);
    }
    (nand.faults.read, nand.faults.corrupt) = (0, 0);
    nand.write(2);
    let moves = [0, 1, 2].map(|page| Move {
        from: Ppn::new(page),
        to: Ppn::new(4 + page),
        owner: data(page),
        serial: 9,
        joins_read: false,
    });
    nand.copy(moves.into_iter(), Cause::Gc, &mut Chain::default()).unwrap();
    let readable = [0, 1, 2].map(|page| nand.reads(4 + page, data(page)));
    assert_eq!(readable, [false, false, true]);
    assert_eq!((nand.health().read_errors, nand.health().corrupt_pages), (1, 1));
    // The copy keeps the sequence number, and takes the serial number of its move.
    let tag = nand.inner.tag(nand.at(Ppn::new(5)));
    assert_eq!(tag, Some(Tag::new(data(1), 1, 9)));
    // A page that is programmed again can be read.
    nand.wipe(1);
    nand.wipe(0);
    (4..7).for_each(|page| nand.write(page));
    assert_eq!([4, 5, 6].map(|page| nand.reads(page, data(page))), [true; 3]);
    nand.write(0);
    assert!(nand.reads(0, data(0)));
}

#[test]
fn a_page_decays_when_it_is_moved_as_when_it_is_read() {
    let mut nand = flash(Faults { spares: 3, ..Faults::default() });
    nand.write(0);
    nand.faults.read = ALWAYS;
    let step =
        Move { from: Ppn::new(0), to: Ppn::new(4), owner: data(0), serial: 2, joins_read: false };
    nand.copy([step].into_iter(), Cause::Gc, &mut Chain::default()).unwrap();
    nand.faults.read = 0;
    assert!(!nand.reads(4, data(0)));
    assert_eq!(nand.health().read_errors, 1);
}

#[test]
fn pages_of_the_map_do_not_fail() {
    let faults = Faults { read: ALWAYS, corrupt: ALWAYS, spares: 3, ..Faults::default() };
    let mut nand = flash(faults);
    let owner = Owner::Translation(Tpn::new(0));
    nand.program(Ppn::new(0), Tag::new(owner, 1, 1), Cause::Map, &mut Chain::default()).unwrap();
    assert!(nand.reads(0, owner));
    assert_eq!(nand.health().read_errors + nand.health().corrupt_pages, 0);
}

#[test]
fn a_program_that_fails_moves_its_unit() {
    let mut nand = flash(Faults { spares: 4, ..Faults::default() });
    (4..7).for_each(|page| nand.write(page));
    let bad = nand.behind[1];
    nand.faults.program = ALWAYS;
    nand.write(7);
    nand.faults.program = 0;
    let retire = Cause::Retire as usize;
    let counts = nand.counters().flash;
    // The retirement programs the failed page again, and moves three pages. The host's four
    // programs include the failed one.
    assert_eq!((counts.programs[retire], counts.reads[retire]), (1 + 3, 3));
    assert_eq!(counts.programs[Cause::Host as usize], 4);
    let health = nand.health();
    let expected = Health {
        program_failures: 1,
        retired: 1,
        moved: 3,
        rewritten: 1,
        spares_left: 3,
        ..Health::default()
    };
    assert_eq!(health, expected);
    assert_ne!(nand.behind[1], bad);
    assert_eq!(nand.inner.programmed(nand.behind[1]), 4);
    assert!((4..8).all(|page| nand.reads(page, data(page))));
    // Counts begin at zero; used spares stay used.
    nand.reset_counters();
    assert_eq!(nand.health(), Health { spares_left: 3, ..Health::default() });
}

#[test]
fn an_erase_that_fails_takes_a_spare_and_moves_nothing() {
    let mut nand = flash(Faults { spares: 4, ..Faults::default() });
    nand.write(0);
    nand.faults.erase = ALWAYS;
    nand.wipe(0);
    let expected = Health { erase_failures: 1, retired: 1, spares_left: 3, ..Health::default() };
    assert_eq!(nand.health(), expected);
    nand.write(0);
    assert!(nand.reads(0, data(0)));
    // When the spares are used up, nothing fails any more.
    (0..6).for_each(|_| {
        nand.wipe(0);
        nand.write(0);
    });
    assert_eq!((nand.health().erase_failures, nand.health().spares_left), (4, 0));
    nand.faults.program = ALWAYS;
    nand.write(1);
    assert_eq!(nand.health().program_failures, 0);
}

#[test]
fn units_that_are_bad_from_the_factory_are_never_used() {
    // All units are bad, but a drive with fewer than two good spares would not have been sold.
    for spares in [0, 2, 3, 8] {
        let mut nand = flash(Faults { factory_bad: ALWAYS, spares, ..Faults::default() });
        let bad = spares.saturating_sub(2);
        let behind = [0, 1, 2, 3].map(|unit| Unit(unit + bad));
        assert_eq!(nand.behind, behind);
        let health = nand.health();
        assert_eq!(health.factory_bad, u64::from(bad));
        assert_eq!(health.spares_left, u64::from(spares - bad));
        nand.reset_counters();
        assert_eq!(nand.health(), health, "they are bad for good");
        nand.write(4);
        assert_eq!(nand.inner.programmed(behind[1]), 1);
    }
}

#[test]
fn faults_come_at_the_rate_that_is_asked_for() {
    // One erase in four, of 4000 erases: within four standard deviations of 27.
    let faults = Faults { erase: ALWAYS / 4, spares: 4000, seed: 3, ..Faults::default() };
    let mut nand = flash(faults);
    (0..4000).for_each(|_| {
        nand.write(0);
        nand.wipe(0);
    });
    let failures = nand.health().erase_failures as i64;
    assert!((failures - 1000).abs() < 4 * 28, "{failures}");
    let mut rng = Rng::new(1);
    assert!((0..100).all(|_| draw(&mut rng, ALWAYS) && !draw(&mut rng, 0)));
}

/// Dies that program two flash pages of a plane at once. A unit lies on all dies, with two rows on
/// each die. One die of each parity stripe holds parity.
fn rows(dies: u32, stripe: Option<u32>) -> Shape {
    let program_unit = Some(ProgramUnit { pages: 2, levels: 2, is_protected: true, stripe });
    Shape { superblock: dies, dies, units: 2, program_unit, ..SHAPE }
}

/// A read takes 50 ns, a program 1000 ns, and everything else no time. There are four spares.
fn timed(shape: Shape) -> Faulty<Timed<Counted>> {
    let geometry = Geometry::new(shape).unwrap();
    let all = Geometry::new(Shape { units: shape.units + 4, ..shape }).unwrap();
    let timing =
        Timing { read_ns: 50, program_ns: 1000, erase_ns: 0, transfer_ns: 0, command_ns: 0 };
    let inner = Timed::new(Counted::new(&all), all, timing);
    Faulty::new(inner, geometry, Faults { spares: 4, ..Faults::default() })
}

impl Faulty<Timed<Counted>> {
    fn write_page(&mut self, page: u32) -> Chain {
        let mut chain = Chain::default();
        let tag = Tag::new(data(page), 1, 1);
        self.program(Ppn::new(page), tag, Cause::Host, &mut chain).unwrap();
        chain
    }

    fn end_ns(&mut self) -> u64 {
        self.clock_mut().play(u64::MAX);
        self.counters().occupation.end_ns
    }

    fn retired(&self) -> (u64, u64, u64) {
        let (flash, retire) = (self.counters().flash, Cause::Retire as usize);
        (flash.programs[retire], flash.reads[retire], flash.memory_reads[retire])
    }
}

#[test]
fn a_program_unit_fails_as_a_whole() {
    let mut nand = timed(rows(2, None));
    for page in 0..5 {
        nand.write_page(page);
    }
    assert_eq!(nand.end_ns(), 1000, "the first two rows, on a die each");
    nand.faults.program = ALWAYS;
    let chain = nand.write_page(5);
    nand.faults.program = 0;
    // The third row is on the first die again. Its data was acknowledged before.
    assert!(!nand.clock().is_live(chain));
    // The third row fails at 2000. The first two rows are read and programmed, two pages each, and
    // the third row is programmed from memory. Each step waits for the one before it.
    assert_eq!(nand.end_ns(), 2000 + (100 + 1000) + (100 + 1000) + 1000);
    assert_eq!(nand.retired(), (4 + 2, 4, 2));
    let health = nand.counters().health.unwrap();
    let expected = Health {
        program_failures: 1,
        retired: 1,
        moved: 4,
        rewritten: 2,
        spares_left: 3,
        ..Health::default()
    };
    assert_eq!(health, expected);
    let counts = nand.counters().flash;
    assert_eq!((counts.program_units, counts.senses), (3 + 3, 4));
    // The unit continues where it was.
    for page in 6..8 {
        nand.write_page(page);
    }
    assert_eq!(nand.end_ns(), 5200 + 1000);
}

#[test]
fn padding_is_padding_where_it_is_moved_to() {
    let mut nand = timed(rows(2, None));
    nand.write_page(0);
    nand.pad(Ppn::new(1), 1, &mut Chain::default()).unwrap();
    nand.end_ns();
    nand.write_page(2);
    nand.faults.program = ALWAYS;
    nand.pad(Ppn::new(3), 1, &mut Chain::default()).unwrap();
    nand.faults.program = 0;
    nand.end_ns();
    // One page of each row. The page of the second row was still in memory.
    assert_eq!(nand.retired(), (2, 1, 1));
    let counts = nand.counters().flash;
    assert_eq!((counts.programs[Cause::Pad as usize], counts.program_units), (2 + 2, 4));
}

#[test]
fn a_stripe_that_gets_no_more_pages_has_its_parity() {
    // Two rows of data on three dies have one row of parity.
    for failing in [1, 3] {
        let mut nand = timed(rows(3, Some(3)));
        for page in 0..4 {
            nand.faults.program = if page == failing { ALWAYS } else { 0 };
            nand.write_page(page);
        }
        nand.end_ns();
        assert_eq!(nand.inner.outstanding(), 0, "no parity is waited for");
        // One parity row of the retired unit, and one of its replacement.
        let counts = nand.counters().flash;
        assert_eq!(counts.programs[Cause::Parity as usize], 2 * 2, "page {failing}");
        let busy: u64 = nand.counters().dies.iter().map(DieUse::busy_ns).sum();
        assert_eq!(busy, 1000 * counts.program_units + 50 * counts.senses);
    }
}
