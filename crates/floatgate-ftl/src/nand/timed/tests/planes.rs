//! Pages of a copy that a multi-plane operation takes are one node. Copies whose time is reported
//! have a node for each page, so both must end at the same times.

use super::*;
use crate::counters::Counters;
use crate::rng::Rng;

/// Two channels of two dies of four planes: four pages in a row of 16 are on one die.
const FOUR: Shape =
    Shape { superblock: 16, channels: 2, dies: 2, planes: 4, pages_per_block: 16, ..SERIAL };
const ROW: u32 = 16;
const UNIT: u32 = 16 * ROW;

fn four(schedule: Schedule) -> Drive {
    scheduled(FOUR, TIMING, schedule)
}

/// Returns a chain that begins now, with a node for each page or for each operation of a die.
fn chain(is_by_page: bool) -> Chain {
    if is_by_page { Chain::START } else { Chain::START.work() }
}

#[test]
fn a_copied_row_has_a_node_for_each_die() {
    for (is_by_page, nodes) in [(true, 32), (false, 8)] {
        let mut drive = four(Schedule::default());
        let row: Vec<_> = (0..ROW).map(|page| (page, UNIT + page)).collect();
        drive.copy_in(&row, Cause::Gc, &mut chain(is_by_page));
        // Reads and programs each end in a join.
        assert_eq!(drive.nand.outstanding(), nodes + 2);
    }
}

/// Reads of the host, and copies of random pages of a few rows to the next pages of a unit.
struct Load {
    rng: Rng,
    time: u64,
    next: u32,
}

impl Load {
    /// Returns some pages of a row, in order.
    fn pages(&mut self) -> Vec<u32> {
        let row = self.rng.below(3) as u32 * ROW;
        (row..row + ROW).filter(|_| self.rng.below(4) > 0).collect()
    }

    fn step(&mut self, drive: &mut Drive, is_by_page: bool) -> u64 {
        self.time += self.rng.below(4) * 40;
        drive.at(self.time);
        match self.rng.below(4) {
            0 => {
                let mut copied = chain(is_by_page);
                let pages = self.pages();
                let moves: Vec<_> = pages.into_iter().zip(self.next..UNIT * 4).collect();
                self.next += moves.len() as u32;
                drive.copy_in(&moves, Cause::Gc, &mut copied);
                drive.watch(copied)
            }
            1 if self.rng.below(8) == 0 => drive.erase(0, Cause::Gc),
            _ => {
                let page = self.rng.below(u64::from(3 * ROW)) as u32;
                drive.urgent(page)
            }
        }
    }
}

/// Returns when each step has ended, and the counters of dies and channels.
fn ends(schedule: Schedule, seed: u64, is_by_page: bool) -> (Vec<u64>, Counters) {
    let mut drive = four(schedule);
    let mut load = Load { rng: Rng::new(seed), time: 0, next: UNIT };
    let tickets: Vec<_> = (0..60).map(|_| load.step(&mut drive, is_by_page)).collect();
    let ends = tickets.into_iter().map(|ticket| drive.end(ticket).0).collect();
    assert_eq!(drive.nand.outstanding(), 0);
    (ends, drive.nand.counters())
}

/// Some copies read a page that the host is about to read, so that only a part of their operation
/// joins that read.
#[test]
fn operations_of_several_planes_take_the_time_of_their_pages() {
    let cached = Schedule { cache_register: true, ..Schedule::default() };
    let suspend = Some(Suspend { suspend_ns: 20, resume_ns: 5, most: 3 });
    let first = Schedule { order: Order::ReadFirst { starve_ns: 300 }, suspend, ..cached };
    let all = Schedule { order: Order::AllReadsFirst { starve_ns: 300 }, ..cached };
    for schedule in [Schedule::default(), cached, first, all] {
        for seed in 0..100 {
            let (by_page, expected) = ends(schedule, seed, true);
            let (by_die, found) = ends(schedule, seed, false);
            assert_eq!(by_die, by_page, "{schedule:?}, seed {seed}");
            assert_eq!(found.dies, expected.dies);
            assert_eq!(found.channels, expected.channels);
        }
    }
}
