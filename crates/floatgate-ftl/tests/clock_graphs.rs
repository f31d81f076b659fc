//! The clock against its specification, docs/time.md, written down with lists that are searched:
//! random graphs on random drives end at the same nanosecond, and their time went into the same.

#![allow(clippy::unwrap_used)] // In a test a panic is the report.

#[path = "clock_graphs/brute.rs"]
mod brute;
#[path = "clock_graphs/dies.rs"]
mod dies;
#[path = "clock_graphs/drives.rs"]
mod drives;

use brute::Brute;
use drives::{Drive, Scheduled, Specified};
use floatgate_ftl::addr::Ppn;
use floatgate_ftl::geometry::{Geometry, Shape};
use floatgate_ftl::nand::{
    Cause, Ended, Order, PAGE_TYPES, PageTimes, Part, Schedule, Server, Suspend, Timing,
};
use floatgate_ftl::rng::Rng;
use std::collections::BTreeMap;

fn any<T: Copy>(rng: &mut Rng, of: &[T]) -> T {
    of[rng.below(of.len() as u64) as usize]
}

fn shape(rng: &mut Rng) -> Shape {
    let mut up_to_3 = || 1 + rng.below(3) as u32;
    let (channels, dies, planes) = (up_to_3(), up_to_3(), up_to_3());
    let pages_per_block = up_to_3();
    let all = channels * dies * planes;
    let divisors: Vec<u32> = (1..=all).filter(|n| all % n == 0).collect();
    let superblock = any(rng, &divisors);
    let units = all / superblock * (1 + rng.below(2) as u32) + 1;
    let (page_bytes, entry_bytes, logical_pages) = (4096, 4, 1);
    Shape {
        page_bytes,
        pages_per_block,
        superblock,
        units,
        channels,
        dies,
        planes,
        logical_pages,
        entry_bytes,
    }
}

/// Short times, so that many things happen at the same time.
fn timing(rng: &mut Rng) -> Timing {
    Timing {
        read_ns: rng.below(7),
        program_ns: rng.below(20),
        erase_ns: rng.below(40),
        transfer_ns: rng.below(5),
        command_ns: any(rng, &[0, 0, 1, 2]),
    }
}

fn schedule(rng: &mut Rng) -> Schedule {
    let starve_ns = any(rng, &[0, 5, 30, 1 << 40]);
    let order = any(rng, &[Order::Fifo, Order::ReadFirst { starve_ns }]);
    let (suspend_ns, resume_ns) = (rng.below(4), rng.below(4));
    let suspend = Suspend { suspend_ns, resume_ns, most: 1 + rng.below(3) as u32 };
    let mut times = |most| std::array::from_fn(|_| rng.below(most));
    let (read_ns, program_ns): ([u64; PAGE_TYPES], _) = (times(8), times(25));
    let pages = PageTimes { types: 1 + rng.below(4) as u32, read_ns, program_ns };
    Schedule {
        cache_register: any(rng, &[false, true]),
        order,
        suspend: any(rng, &[None, Some(suspend), Some(suspend)]),
        pages: any(rng, &[None, Some(pages)]),
        ..Schedule::default()
    }
}

/// What issues work at random: pages are programmed in order and read when they were programmed.
struct Front<'a> {
    rng: Rng,
    geometry: &'a Geometry,
    /// Pages programmed, by unit.
    programmed: Vec<u32>,
    tickets: u64,
    ended: Vec<Ended>,
}

impl Front<'_> {
    fn below(&mut self, n: u64) -> u64 {
        self.rng.below(n)
    }

    fn cause(&mut self) -> Cause {
        any(&mut self.rng, &Cause::ALL).0
    }

    fn unit(&mut self) -> usize {
        self.below(u64::from(self.geometry.units())) as usize
    }

    fn page(&self, unit: usize, page: u32) -> Ppn {
        Ppn::new(unit as u32 * self.geometry.pages_per_unit() + page)
    }

    fn programmed_page(&mut self) -> Option<Ppn> {
        let unit = self.unit();
        let pages = self.programmed[unit];
        (pages > 0).then(|| {
            // The last ones more often: their programs may be outstanding.
            let back = self.rng.below(u64::from(pages)).min(self.rng.below(u64::from(pages)));
            self.page(unit, pages - 1 - back as u32)
        })
    }

    fn free_page(&mut self, unit: usize) -> Option<Ppn> {
        let page = self.programmed[unit];
        (page < self.geometry.pages_per_unit()).then(|| {
            self.programmed[unit] += 1;
            self.page(unit, page)
        })
    }

    fn programs<D: Drive>(&mut self, drive: &mut D, chain: &mut D::Chain) {
        let (unit, cause, pages) = (self.unit(), self.cause(), 1 + self.below(6));
        let start = *chain;
        let mut ends = vec![];
        for _ in 0..pages {
            let Some(to) = self.free_page(unit) else { break };
            let mut end = start;
            drive.program(to, cause, &mut end);
            ends.push(end);
        }
        *chain = drive.fork(start, &ends);
    }

    fn copy<D: Drive>(&mut self, drive: &mut D, chain: &mut D::Chain) {
        let (unit, cause, pages) = (self.unit(), self.cause(), 1 + self.below(4));
        let mut moves = vec![];
        for _ in 0..pages {
            let Some(from) = self.programmed_page() else { break };
            let Some(to) = self.free_page(unit) else { break };
            moves.push((from, to));
        }
        drive.copy(&moves, cause, chain);
    }

    fn erase<D: Drive>(&mut self, drive: &mut D, chain: &mut D::Chain) {
        let (unit, cause) = (self.unit(), self.cause());
        self.programmed[unit] = 0;
        drive.erase(unit as u32, cause, chain);
    }

    fn fork<D: Drive>(&mut self, drive: &mut D, chain: &mut D::Chain, depth: u32) {
        let start = *chain;
        let branches = 2 + self.below(3);
        let ends: Vec<D::Chain> = (0..branches)
            .map(|_| {
                let mut end = start;
                self.steps(drive, &mut end, depth + 1);
                end
            })
            .collect();
        *chain = drive.fork(start, &ends);
    }

    /// Work of its own, which the chain waits for or does not.
    fn work<D: Drive>(&mut self, drive: &mut D, chain: &mut D::Chain, depth: u32) {
        let mut work = D::work(*chain);
        drive.serve(&mut work, Server::Cores, 1, 1);
        self.steps(drive, &mut work, depth + 1);
        if self.below(3) == 0 {
            self.watch(drive, work);
        }
        if self.below(3) > 0 {
            drive.wait(chain, work, any(&mut self.rng, &[Part::Gc, Part::Merge, Part::Buffer]));
        }
    }

    fn watch<D: Drive>(&mut self, drive: &mut D, chain: D::Chain) {
        drive.watch(chain, self.tickets);
        self.tickets += 1;
    }

    fn steps<D: Drive>(&mut self, drive: &mut D, chain: &mut D::Chain, depth: u32) {
        for _ in 0..1 + self.below(3) {
            match self.below(if depth < 2 { 14 } else { 10 }) {
                0..4 => {
                    if let Some(from) = self.programmed_page() {
                        drive.read(from, self.cause(), chain);
                    }
                }
                4..6 => self.programs(drive, chain),
                6 => self.copy(drive, chain),
                7 => self.erase(drive, chain),
                8 => {
                    let servers =
                        [Server::Commands, Server::Cores, Server::LinkIn, Server::LinkOut];
                    let (pass, hold) = (self.below(5), self.below(6));
                    drive.serve(chain, any(&mut self.rng, &servers), pass, hold);
                }
                9 => {
                    let ns = self.below(10);
                    drive.delay(chain, ns, any(&mut self.rng, &[Part::Queue, Part::Buffer]));
                }
                10..12 => self.fork(drive, chain, depth),
                _ => self.work(drive, chain, depth),
            }
        }
    }

    /// Requests come at random times, and some when others are complete.
    fn run<D: Drive>(&mut self, drive: &mut D) {
        let most = any(&mut self.rng, &[10, 10, 10, 40]);
        let (mut due, mut time) = (4 + self.below(most), 0);
        let mut old = vec![D::START, D::READ];
        while due > 0 {
            time += self.below(12) * self.below(12);
            if self.below(8) == 0 {
                drive.play_chain(any(&mut self.rng, &old), time);
            }
            while drive.play(time) {
                self.take_ended(drive);
                if due > 0 && self.below(3) == 0 {
                    due -= 1;
                    self.request(drive, &mut old);
                }
            }
            if due > 0 {
                due -= 1;
                self.request(drive, &mut old);
            }
        }
        while drive.play(u64::MAX) {
            self.take_ended(drive);
        }
    }

    fn request<D: Drive>(&mut self, drive: &mut D, old: &mut Vec<D::Chain>) {
        let mut chain = any(&mut self.rng, old);
        if let (Some(from), 0..5) = (self.programmed_page(), self.below(6)) {
            chain = any(&mut self.rng, &[D::START, D::READ]);
            drive.read(from, self.cause(), &mut chain);
        } else {
            drive.serve(&mut chain, Server::Commands, 1, 1);
        }
        self.steps(drive, &mut chain, 0);
        self.watch(drive, chain);
        old.push(chain);
    }

    /// Of chains that end at the same instant none comes first.
    fn take_ended<D: Drive>(&mut self, drive: &mut D) {
        let mut ended = drive.ended();
        ended.sort_by_key(|ended| ended.ticket);
        self.ended.extend(ended);
    }
}

fn run<D: Drive>(seed: u64, geometry: &Geometry, drive: &mut D) -> Vec<Ended> {
    let mut rng = Rng::new(seed);
    let all = u64::from(geometry.pages_per_unit()) + 1;
    let programmed = (0..geometry.units()).map(|_| rng.below(all) as u32).collect();
    let mut front = Front { rng, geometry, programmed, tickets: 0, ended: vec![] };
    front.run(drive);
    assert_eq!(front.ended.len() as u64, front.tickets, "every chain ends");
    front.ended
}

/// What happened in a graph, how often: it is the same in both.
fn agrees(seed: u64) -> BTreeMap<&'static str, u64> {
    let mut rng = Rng::new(seed);
    let shape = shape(&mut rng);
    let (timing, schedule) = (timing(&mut rng), schedule(&mut rng));
    let geometry = Geometry::new(shape).unwrap();
    let case = format!("seed {seed}: {shape:?}\n{timing:?}\n{schedule:?}");
    let brute = Brute::new(shape.channels, shape.dies, timing, schedule);
    let mut specified = Specified { geometry, brute };
    let expected = run(seed, &geometry, &mut specified);
    specified.check();
    let mut scheduled = Scheduled::new(geometry, timing, schedule);
    let found = run(seed, &geometry, &mut scheduled);
    for (expected, found) in expected.iter().zip(&found) {
        assert_eq!(expected, found, "specified, and found: {case}");
    }
    assert_eq!(found.len(), expected.len(), "{case}");
    assert_eq!(scheduled.occupation(), specified.occupation(), "{case}");
    assert_eq!(scheduled.outstanding(), 0, "{case}");
    specified.brute.seen
}

#[test]
fn random_graphs_take_the_time_that_is_specified() {
    let mut seen = BTreeMap::new();
    for (what, times) in (0..3_000).flat_map(agrees) {
        *seen.entry(what).or_default() += times;
    }
    let rare: Vec<_> = seen.iter().filter(|&(_, times): &(_, &u64)| *times < 50).collect();
    assert!(rare.is_empty() && seen.len() == 9, "{seen:?}");
}

#[test]
#[ignore = "long: make test-long"]
fn many_random_graphs_take_the_time_that_is_specified() {
    for seed in 3_000..100_000 {
        agrees(seed);
    }
}
