//! The clock by worked examples. `tests/clock_graphs.rs` compares it with a naive clock.

mod graphs;
mod planes;
mod recordings;
mod schedules;

use std::vec::Vec;

use super::*;
use crate::addr::Lpn;
use crate::geometry::Shape;
use crate::nand::{Blame, Clock, Component, Counted, Ended, Fork, Move, Nand, Task};

const ME: Owner = Owner::Data(Lpn::new(0));
const SERIAL: Shape = Shape { page_bytes: 4096, ..Shape::SMALL };
/// Two channels of two dies of two planes: pages 0 and 1 of a row are on the first die, and so on.
const WIDE: Shape = Shape { superblock: 8, channels: 2, dies: 2, planes: 2, ..SERIAL };
/// Two dies on one channel: even units are on the first die, odd units on the second.
const SHARED: Shape = Shape { dies: 2, ..SERIAL };
const TIMING: Timing =
    Timing { read_ns: 25, program_ns: 200, erase_ns: 1500, transfer_ns: 10, command_ns: 1 };
const READ: u64 = 36;
const PROGRAM: u64 = 211;
const ERASE: u64 = 1501;

/// A drive, and its reports of ended chains.
struct Drive {
    nand: Timed<Counted>,
    watched: u64,
    ended: Vec<Ended>,
}

/// End of a chain, and the components of its time.
type Reported = (u64, Blame);

fn reported(at_ns: u64, components: &[(Component, u64)]) -> Reported {
    let mut blame = Blame::default();
    components.iter().for_each(|&(component, ns)| blame.add(component, ns));
    (at_ns, blame)
}

fn drive(shape: Shape) -> Drive {
    scheduled(shape, TIMING, Schedule::default())
}

fn scheduled(shape: Shape, timing: Timing, schedule: Schedule) -> Drive {
    let geometry = Geometry::new(shape).unwrap();
    let nand = Timed::with_schedule(Counted::default(), geometry, timing, schedule);
    Drive { nand, watched: 0, ended: Vec::new() }
}

impl Drive {
    fn clock(&mut self) -> &mut Scheduler {
        self.nand.clock_mut()
    }

    /// Plays until `time`.
    fn at(&mut self, time: u64) -> &mut Self {
        while self.clock().now() < time {
            self.clock().play(time);
            while let Some(ended) = self.clock().ended() {
                self.ended.push(ended);
            }
        }
        self
    }

    /// Watches a chain, and returns the ticket of its report.
    fn watch(&mut self, chain: Chain) -> u64 {
        let ticket = self.watched;
        self.clock().watch(chain, ticket);
        self.watched += 1;
        ticket
    }

    /// Plays until these chains have ended.
    fn ends<const N: usize>(&mut self, tickets: [u64; N]) -> [Reported; N] {
        tickets.map(|ticket| {
            loop {
                if let Some(ended) = self.ended.iter().find(|ended| ended.ticket == ticket) {
                    return (ended.at_ns, ended.blame);
                }
                assert!(self.clock().play(u64::MAX), "a chain never ends");
                let ended = self.clock().ended().unwrap();
                self.ended.push(ended);
            }
        })
    }

    fn end(&mut self, ticket: u64) -> Reported {
        self.ends([ticket])[0]
    }

    /// Returns the times at which these chains end.
    fn times<const N: usize>(&mut self, tickets: [u64; N]) -> [u64; N] {
        self.ends(tickets).map(|(at_ns, _)| at_ns)
    }

    fn read_in(&mut self, page: u32, cause: Cause, chain: &mut Chain) {
        self.nand.read(Ppn::new(page), ME, ReadSource::Cells, cause, chain).unwrap();
    }

    fn program_in(&mut self, page: u32, cause: Cause, chain: &mut Chain) {
        self.nand.program(Ppn::new(page), Tag::new(ME, 0, 0), cause, chain).unwrap();
    }

    fn erase_in(&mut self, unit: u32, cause: Cause, chain: &mut Chain) {
        self.nand.erase(Unit(unit), cause, chain).unwrap();
    }

    fn copy_in(&mut self, pages: &[(u32, u32)], cause: Cause, chain: &mut Chain) {
        let step = |&(from, to): &(u32, u32)| Move {
            from: Ppn::new(from),
            to: Ppn::new(to),
            owner: ME,
            serial: 0,
            joins_read: false,
        };
        self.nand.copy(pages.iter().map(step), cause, chain).unwrap();
    }

    // The following operations begin now, each in its own chain.

    fn read(&mut self, page: u32, cause: Cause) -> u64 {
        let mut chain = Chain::START;
        self.read_in(page, cause, &mut chain);
        self.watch(chain)
    }

    /// Issues a read that goes first, if the schedule lets any read go first.
    fn urgent(&mut self, page: u32) -> u64 {
        let mut chain = Chain::new(true);
        self.read_in(page, Cause::Host, &mut chain);
        self.watch(chain)
    }

    fn program(&mut self, page: u32, cause: Cause) -> u64 {
        let mut chain = Chain::START;
        self.program_in(page, cause, &mut chain);
        self.watch(chain)
    }

    fn erase(&mut self, unit: u32, cause: Cause) -> u64 {
        let mut chain = Chain::START;
        self.erase_in(unit, cause, &mut chain);
        self.watch(chain)
    }
}

#[test]
fn the_serial_device_adds_up() {
    let mut drive = drive(SERIAL);
    let first = drive.program(0, Cause::Host);
    let second = drive.program(1, Cause::Host);
    let expected = reported(PROGRAM, &[(Component::Bus, 11), (Component::Die, 200)]);
    assert_eq!(drive.end(first), expected);
    // The second program waited while the die worked for the host, transfer included.
    let expected =
        reported(422, &[(Component::Die, 211), (Component::Bus, 11), (Component::Die, 200)]);
    assert_eq!(drive.end(second), expected);
    let mut chain = Chain::START;
    drive.copy_in(&[(0, 4)], Cause::Gc, &mut chain);
    let copied = drive.watch(chain);
    drive.erase_in(0, Cause::Gc, &mut chain);
    let erased = drive.watch(chain);
    let copy = [(Component::Gc, 25 + 200), (Component::Bus, 22)];
    assert_eq!(drive.end(copied), reported(422 + READ + PROGRAM, &copy));
    let all = [(Component::Gc, 25 + 200 + 1500), (Component::Bus, 22 + 1)];
    assert_eq!(drive.end(erased), reported(422 + READ + PROGRAM + ERASE, &all));
    let occupation = drive.nand.counters().occupation;
    assert_eq!((occupation.end_ns, occupation.busy_ns), (2170, 2170));
}

#[test]
fn a_wait_is_split_by_the_causes_of_the_die() {
    let mut drive = drive(SERIAL);
    drive.erase(3, Cause::Gc);
    drive.erase(4, Cause::Merge);
    drive.read(20, Cause::Map);
    let program = drive.at(100).program(0, Cause::Host);
    let waits = [(Component::Gc, ERASE - 100), (Component::Merge, ERASE), (Component::Map, READ)];
    let own = [(Component::Bus, 11), (Component::Die, 200)];
    let end = 2 * ERASE + READ + PROGRAM;
    assert_eq!(drive.end(program), reported(end, &[&waits[..], &own].concat()));
}

#[test]
fn a_die_that_waits_for_its_channel_passes_on_the_channel_activity() {
    let mut drive = drive(SHARED);
    drive.program(0, Cause::Gc);
    let map = drive.program(4, Cause::Map);
    let read = drive.read(12, Cause::Host);
    // The channel has the page of cleaning from 1 to 11, and then the page of the map.
    let own =
        [(Component::Bus, 1), (Component::Gc, 10), (Component::Bus, 10), (Component::Map, 200)];
    assert_eq!(drive.end(map), reported(221, &own));
    // The die of the map's page: a command, a wait of ten, a transfer, and the cells.
    let waits = [(Component::Map, 1), (Component::Gc, 10), (Component::Map, 10 + 200)];
    let own = [(Component::Bus, 11), (Component::Die, 25)];
    assert_eq!(drive.end(read), reported(257, &[&waits[..], &own].concat()));
}

#[test]
fn planes_of_a_row_are_programmed_together() {
    let mut drive = drive(WIDE);
    let [first, second] = [0, 1].map(|page| drive.program(page, Cause::Host));
    let [other_die, other_channel, next_row] =
        [2, 4, 8].map(|page| drive.program(page, Cause::Host));
    let late = drive.at(34).program(3, Cause::Host);
    // Each page waits for the transfer of the other one, after its own transfer or before it; then
    // both are programmed.
    let both = reported(221, &[(Component::Bus, 21), (Component::Die, 200)]);
    assert_eq!(drive.ends([first, second]), [both, both]);
    // The other die of the channel waits for the channel only; the other channel is idle.
    assert_eq!(drive.end(other_die), reported(231, &[(Component::Bus, 31), (Component::Die, 200)]));
    assert_eq!(
        drive.end(other_channel),
        reported(211, &[(Component::Bus, 11), (Component::Die, 200)])
    );
    // The next row has to wait for the die.
    let expected = reported(
        221 + PROGRAM,
        &[(Component::Die, 221), (Component::Bus, 11), (Component::Die, 200)],
    );
    assert_eq!(drive.end(next_row), expected);
    // Page 3 comes too late to join: the cells of page 2 began at 31. Page 8 has the channel until
    // 232.
    let waits = [(Component::Die, 231 - 34), (Component::Bus, 11), (Component::Die, 200)];
    assert_eq!(drive.end(late), reported(231 + PROGRAM, &waits));
}

#[test]
fn planes_of_a_row_are_read_together() {
    let mut drive = drive(WIDE);
    let reads = [0, 1, 2, 4, 8].map(|page| drive.read(page, Cause::Host));
    let [first, second, other_die, other_channel, next_row] = drive.ends(reads);
    assert_eq!(first, reported(36, &[(Component::Bus, 11), (Component::Die, 25)]));
    // The other plane was read at the same time; only its transfer comes later.
    assert_eq!(second, reported(46, &[(Component::Bus, 21), (Component::Die, 25)]));
    // The other die of the channel reads meanwhile.
    assert_eq!(other_die, reported(56, &[(Component::Bus, 31), (Component::Die, 25)]));
    assert_eq!(other_channel, first);
    // The die is occupied until the last page has been transferred.
    let waits = [(Component::Die, 46), (Component::Bus, 11), (Component::Die, 25)];
    assert_eq!(next_row, reported(46 + READ, &waits));
}

/// Pages of other units, of other rows, of the same plane, and of both kinds of operations must not
/// join. Neither may a page whose predecessor in the queue does not join.
#[test]
fn only_planes_of_a_row_of_a_unit_go_together() {
    let pairs = Shape { superblock: 1, planes: 2, ..SERIAL };
    for (first, second) in [(0, 4), (0, 1), (0, 0)] {
        let mut drive = drive(pairs);
        let reads = [first, second].map(|page| drive.read(page, Cause::Host));
        assert_eq!(drive.times(reads), [READ, 2 * READ], "{first} and {second}");
    }
    let mut drive = drive(WIDE);
    let reads = [0, 8, 1].map(|page| drive.read(page, Cause::Host));
    assert_eq!(drive.times(reads), [READ, 2 * READ, 3 * READ]);
    let mut drive = self::drive(WIDE);
    let (read, program) = (drive.read(0, Cause::Host), drive.program(1, Cause::Host));
    assert_eq!(drive.times([read, program]), [READ, READ + PROGRAM]);
}

#[test]
fn a_transfer_goes_before_one_that_is_ready_later() {
    let mut drive = drive(WIDE);
    let read = drive.read(0, Cause::Host);
    let program = drive.program(2, Cause::Host);
    // The channel is idle until the cells have been read, and again after that.
    assert_eq!(drive.times([read, program]), [READ, PROGRAM]);
    // Of transfers that are ready at the same time, the one issued first goes first.
    let mut drive = self::drive(SHARED);
    let reads = [4, 0].map(|page| drive.read(page, Cause::Host));
    assert_eq!(drive.times(reads), [READ, READ + 10]);
}

#[test]
fn a_row_is_copied_in_one_go() {
    let mut drive = drive(WIDE);
    let mut chain = Chain::START;
    let row = [0, 1, 2, 3].map(|page| (page, 32 + page));
    drive.at(1000).copy_in(&row, Cause::Gc, &mut chain);
    let copied = drive.watch(chain);
    // Two dies read two planes each and send four pages over one channel; then back, and both
    // program two planes at once. The last page waits for the three before it, both ways.
    let read =
        [(Component::Bus, 1), (Component::Gc, 25), (Component::Gc, 30), (Component::Bus, 10)];
    let programmed =
        [(Component::Bus, 1), (Component::Gc, 30), (Component::Bus, 10), (Component::Gc, 200)];
    let end = 1000 + 1 + 25 + 4 * 10 + 1 + 4 * 10 + 200;
    assert_eq!(drive.end(copied), reported(end, &[read, programmed].concat()));
}

#[test]
fn a_striped_unit_is_erased_on_all_dies_at_once() {
    let mut drive = drive(WIDE);
    let erased = drive.erase(0, Cause::Gc);
    assert_eq!(drive.end(erased), reported(ERASE, &[(Component::Bus, 1), (Component::Gc, 1500)]));
    let occupation = drive.nand.counters().occupation;
    assert_eq!((occupation.busy_ns, occupation.busiest_ns), (4 * ERASE, ERASE));
}

#[test]
fn an_erase_is_blamed_on_its_cause_and_its_wait_on_the_die() {
    let mut drive = drive(SERIAL);
    let merge = drive.erase(0, Cause::Merge);
    let gc = drive.at(100).erase(1, Cause::Gc);
    let read = drive.at(3000).read(0, Cause::Host);
    let journal = drive.at(3002).erase(2, Cause::Journal);
    assert_eq!(drive.end(merge), reported(1501, &[(Component::Bus, 1), (Component::Merge, 1500)]));
    // From 100 on, the erase of cleaning waits for the merge; then it begins.
    let expected = [(Component::Merge, 1401), (Component::Bus, 1), (Component::Gc, 1500)];
    assert_eq!(drive.end(gc), reported(3002, &expected));
    // A host read waits for that erase, and the next erase waits for the read.
    let expected = [(Component::Gc, 2), (Component::Bus, 11), (Component::Die, 25)];
    assert_eq!(drive.end(read), reported(3038, &expected));
    let expected = [(Component::Die, 36), (Component::Bus, 1), (Component::Map, 1500)];
    assert_eq!(drive.end(journal), reported(4539, &expected));
}

#[test]
fn every_cause_has_its_part() {
    for (cause, component) in [
        (Cause::Host, Component::Die),
        (Cause::Map, Component::Map),
        (Cause::Gc, Component::Gc),
        (Cause::GcMap, Component::Gc),
        (Cause::Merge, Component::Merge),
        (Cause::Wear, Component::Gc),
        (Cause::Remap, Component::Remap),
        (Cause::Journal, Component::Map),
        (Cause::Retire, Component::Gc),
    ] {
        let mut drive = drive(SERIAL);
        let (own, wait) = (drive.erase(0, cause), drive.erase(1, Cause::Host));
        assert_eq!(
            drive.end(own),
            reported(ERASE, &[(Component::Bus, 1), (component, 1500)]),
            "{cause:?}"
        );
        let expected = [(component, 1501), (Component::Bus, 1), (Component::Die, 1500)];
        assert_eq!(drive.end(wait), reported(2 * ERASE, &expected), "{cause:?}");
    }
}

/// A unit's erases wait for reads of four causes on its dies, and end at the same time.
#[test]
fn of_dies_that_end_together_the_last_is_blamed() {
    let four = Shape { superblock: 4, channels: 4, ..SERIAL };
    let mut drive = drive(four);
    for (page, cause) in (16..).zip([Cause::Gc, Cause::Host, Cause::Map, Cause::Merge]) {
        drive.read(page, cause);
    }
    let erased = drive.erase(0, Cause::Wear);
    let expected = [(Component::Merge, 36), (Component::Bus, 1), (Component::Gc, 1500)];
    assert_eq!(drive.end(erased), reported(READ + ERASE, &expected));
    // If another erase ends later, its wait counts instead.
    let mut drive = self::drive(four);
    for (page, cause) in [(16, Cause::Gc), (17, Cause::Host), (21, Cause::Remap), (18, Cause::Map)]
    {
        drive.read(page, cause);
    }
    let erased = drive.erase(0, Cause::Wear);
    let expected =
        [(Component::Die, 36), (Component::Remap, 36), (Component::Bus, 1), (Component::Gc, 1500)];
    assert_eq!(drive.end(erased), reported(2 * READ + ERASE, &expected));
}

#[test]
fn command_cycles_leave_the_channel_free() {
    let timing = Timing { command_ns: 30, ..TIMING };
    let mut drive = scheduled(SHARED, timing, Schedule::default());
    let first = drive.program(0, Cause::Host);
    let second = drive.at(20).program(4, Cause::Host);
    // The first page is transferred from 30 to 40, during the command of the second page.
    assert_eq!(drive.end(first), reported(240, &[(Component::Bus, 40), (Component::Die, 200)]));
    assert_eq!(drive.end(second), reported(260, &[(Component::Bus, 40), (Component::Die, 200)]));
}

#[test]
fn operations_without_duration_begin_after_the_played_instant() {
    let mut drive = scheduled(SERIAL, Timing { program_ns: 0, ..TIMING }, Schedule::default());
    let program = drive.program(0, Cause::Host);
    drive.at(PROGRAM - TIMING.program_ns);
    assert!(drive.ended.is_empty(), "the page was transferred, the cells begin now");
    assert_eq!(drive.times([program]), [11]);
}

#[test]
fn a_frozen_clock_stays_frozen_until_it_is_thawed() {
    let mut drive = drive(SERIAL);
    drive.clock().freeze();
    for page in 0..2 {
        let program = drive.program(page, Cause::Host);
        assert_eq!(drive.end(program), reported(0, &[]));
        drive.nand.reset_counters();
    }
    drive.clock().thaw();
    let program = drive.program(2, Cause::Host);
    assert_eq!(drive.times([program]), [PROGRAM]);
    drive.nand.reset_counters();
    let program = drive.program(3, Cause::Host);
    assert_eq!(drive.times([program]), [PROGRAM], "the thawed clock also runs after a reset");
}
