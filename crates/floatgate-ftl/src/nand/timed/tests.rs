//! The clocks by worked examples. `tests/timing.rs` holds them against a naive one.

use super::*;
use crate::addr::Lpn;
use crate::nand::{Blame, Counted, Nand};

const ME: Owner = Owner::Data(Lpn::new(0));
const MOVE: Move = Move { from: Ppn::new(0), to: Ppn::new(4), owner: ME, serial: 0 };
const SERIAL: Shape = Shape {
    page_bytes: 4096,
    pages_per_block: 4,
    superblock: 1,
    units: 8,
    channels: 1,
    dies: 1,
    planes: 1,
    logical_pages: 16,
    entry_bytes: 4,
};
const WIDE: Shape = Shape { superblock: 8, channels: 2, dies: 2, planes: 2, ..SERIAL };
const TIMING: Timing =
    Timing { read_ns: 25, program_ns: 200, erase_ns: 1500, transfer_ns: 10, command_ns: 1 };

fn drive(shape: Shape) -> Timed<Counted> {
    Timed::new(Counted::default(), Geometry::new(shape).unwrap(), TIMING)
}

fn program(nand: &mut Timed<Counted>, page: u32, at: u64) -> Chain {
    let mut chain = Chain::at(at);
    nand.program(Ppn::new(page), Tag::new(ME, 0, 0), Cause::Host, &mut chain).unwrap();
    chain
}

#[test]
fn the_serial_device_adds_up() {
    let mut nand = drive(SERIAL);
    assert_eq!(program(&mut nand, 0, 0).now, 211);
    let second = program(&mut nand, 1, 0);
    assert_eq!(second.now, 422);
    assert_eq!(second.blame.total(), 422);
    let mut chain = Chain::at(422);
    nand.copy(&[MOVE], Cause::Gc, &mut chain).unwrap();
    assert_eq!(chain.now, 422 + 36 + 211);
    nand.erase(Unit(0), Cause::Gc, &mut chain).unwrap();
    assert_eq!(chain.now, 422 + 36 + 211 + 1501);
    assert_eq!(nand.counters().occupation.busy_ns, chain.now);
}

#[test]
fn waiting_is_blamed_on_the_work_that_holds_the_die() {
    let mut nand = drive(SERIAL);
    nand.erase(Unit(3), Cause::Gc, &mut Chain::at(0)).unwrap();
    let blame = program(&mut nand, 0, 1).blame.0;
    assert_eq!(blame[Part::Gc as usize], 1500);
    assert_eq!(blame[Part::Bus as usize], 11);
    assert_eq!(blame[Part::Die as usize], 200);
}

#[test]
fn planes_of_a_row_are_programmed_together() {
    let mut nand = drive(WIDE);
    assert_eq!(program(&mut nand, 0, 0).now, 211);
    // The sibling plane: its transfer follows, its cells run with the first page's.
    assert_eq!(program(&mut nand, 1, 0).now, 221);
    // The other die of the channel waits for the channel only.
    assert_eq!(program(&mut nand, 2, 0).now, 31 + 200);
    // The other channel is idle.
    assert_eq!(program(&mut nand, 4, 0).now, 211);
    // The next row has to wait for the die.
    assert_eq!(program(&mut nand, 8, 0).now, 221 + 211);
    // Too late to join: the cells of page 2 started at 31, and page 8 has the channel.
    assert_eq!(program(&mut nand, 3, 34).now, 231 + 211);
}

#[test]
fn planes_of_a_row_are_read_together() {
    let mut nand = drive(WIDE);
    let mut read = |page| {
        let mut chain = Chain::at(0);
        nand.read(Ppn::new(page), ME, Cause::Host, &mut chain).unwrap();
        chain.now
    };
    assert_eq!(read(0), 36);
    // The sibling plane was read at the same time; only its transfer comes after.
    assert_eq!(read(1), 46);
    // The other die of the channel reads meanwhile.
    assert_eq!(read(2), 56);
    assert_eq!(read(4), 36);
}

#[test]
fn a_transfer_uses_the_idle_time_before_a_later_one() {
    let mut nand = drive(WIDE);
    nand.read(Ppn::new(0), ME, Cause::Host, &mut Chain::at(0)).unwrap();
    // The read has the channel from 26 to 36; the other die's program goes before it.
    assert_eq!(program(&mut nand, 2, 0).now, 211);
}

#[test]
fn a_row_is_moved_in_one_go() {
    let mut nand = drive(WIDE);
    let row = |n: u32| Ppn::new(32 + n);
    (0..4).for_each(|n| assert!(program(&mut nand, n, 0).now <= 241));
    let moves = [0, 1, 2, 3].map(|n| Move { from: Ppn::new(n), to: row(n), owner: ME, serial: 0 });
    let mut chain = Chain::at(1000);
    nand.copy(&moves, Cause::Gc, &mut chain).unwrap();
    // Two dies read two planes each and send four pages over one channel; then back, and both
    // program two planes at once.
    assert_eq!(chain.now, 1000 + 1 + 25 + 4 * 10 + 1 + 4 * 10 + 200);
}

#[test]
fn a_striped_unit_erases_on_all_dies_at_once() {
    let mut nand = drive(WIDE);
    let mut chain = Chain::at(0);
    nand.erase(Unit(0), Cause::Gc, &mut chain).unwrap();
    assert_eq!(chain.now, 1501);
    assert_eq!(nand.counters().occupation.busiest_ns, 1501);
}

/// An operation that begins at `at`: how the wait for its die and its own time are blamed.
fn erase(nand: &mut Timed<Counted>, unit: u32, cause: Cause, at: u64) -> Chain {
    let mut chain = Chain::at(at);
    nand.erase(Unit(unit), cause, &mut chain).unwrap();
    chain
}

fn blame(parts: &[(Part, u64)]) -> Blame {
    let mut blame = Blame::default();
    parts.iter().for_each(|&(part, ns)| blame.0[part as usize] += ns);
    blame
}

#[test]
fn an_erase_is_blamed_on_its_cause_and_its_wait_on_what_holds_the_die() {
    let mut nand = drive(SERIAL);
    let first = erase(&mut nand, 0, Cause::Merge, 0);
    assert_eq!(first.blame, blame(&[(Part::Bus, 1), (Part::Merge, 1500)]));
    // From 100 on it waits for the merge, and then is an erase of its own.
    let second = erase(&mut nand, 1, Cause::Gc, 100);
    let expected = [(Part::Merge, 1401), (Part::Bus, 1), (Part::Gc, 1500)];
    assert_eq!((second.now, second.blame), (3002, blame(&expected)));
    // A read of the host waits for it, and an erase for the read.
    let mut read = Chain::at(3000);
    nand.read(Ppn::new(0), ME, Cause::Host, &mut read).unwrap();
    assert_eq!(read.blame, blame(&[(Part::Gc, 2), (Part::Bus, 11), (Part::Die, 25)]));
    let third = erase(&mut nand, 2, Cause::Journal, 3002);
    assert_eq!(third.blame, blame(&[(Part::Die, 36), (Part::Bus, 1), (Part::Map, 1500)]));
}

#[test]
fn every_cause_has_its_part() {
    for (cause, part) in [
        (Cause::Host, Part::Die),
        (Cause::Map, Part::Map),
        (Cause::Gc, Part::Gc),
        (Cause::GcMap, Part::Gc),
        (Cause::Merge, Part::Merge),
        (Cause::Wear, Part::Gc),
        (Cause::Remap, Part::Remap),
        (Cause::Journal, Part::Map),
        (Cause::Retire, Part::Gc),
    ] {
        let mut nand = drive(SERIAL);
        let own = erase(&mut nand, 0, cause, 0);
        assert_eq!(own.blame, blame(&[(Part::Bus, 1), (part, 1500)]), "{cause:?}");
        let wait = erase(&mut nand, 0, Cause::Host, 0);
        assert_eq!(wait.blame, blame(&[(part, 1501), (Part::Bus, 1), (Part::Die, 1500)]));
    }
}

#[test]
fn of_dies_that_end_together_the_last_is_blamed() {
    // The first die of the unit waits for an erase of cleaning, the last for one of a merge.
    let mut nand = drive(WIDE);
    let causes = [Cause::Gc, Cause::Host, Cause::Map, Cause::Merge];
    for (die, cause) in nand.dies.iter_mut().zip(causes) {
        (die.free, die.last) = (100, cause);
    }
    let end = erase(&mut nand, 0, Cause::Wear, 0);
    assert_eq!(end.blame, blame(&[(Part::Merge, 100), (Part::Bus, 1), (Part::Gc, 1500)]));
    // Not if another ends later.
    nand.dies[1].free = 1700;
    let end = erase(&mut nand, 0, Cause::Wear, 1601);
    assert_eq!(end.blame, blame(&[(Part::Gc, 99), (Part::Bus, 1), (Part::Gc, 1500)]));
    assert_eq!(end.now, 1700 + 1501);
}
