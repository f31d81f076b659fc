//! Compares the clock with its specification, docs/time.md, implemented with lists and searches.
//! Random graphs on random drives must end at the same nanosecond, with the same blame.

pub mod brute;
pub mod dies;
pub mod medium;
pub mod random;
pub mod rows;

use brute::{Brute, Seen};
use floatgate_ftl::addr::{Lpn, Owner, Ppn, Tag, Unit};
use floatgate_ftl::geometry::{Geometry, Mode, Modes, ProgramUnit, Shape};
use floatgate_ftl::nand::{
    Cause, Chain, Clock, Component, Counted, Ended, Fork, Move, Nand, ReadSource, Server, Share,
    Task, Timed,
};
use floatgate_ftl::rng::Rng;
use random::{any, comparable, schedule, timing};
use std::collections::BTreeMap;
use std::convert::Infallible;

fn shape(rng: &mut Rng) -> Shape {
    let mut up_to_3 = || 1 + rng.below(3) as u32;
    let (channels, dies, planes) = (up_to_3(), up_to_3(), up_to_3());
    let pages_per_block = up_to_3();
    let all = channels * dies * planes;
    let divisors: Vec<u32> = (1..=all).filter(|n| all % n == 0).collect();
    let superblock = any(rng, &divisors);
    let units = all / superblock * (1 + rng.below(2) as u32) + 1;
    let (page_bytes, entry_bytes, logical_pages) = (4096, 4, 1);
    let pages = Shape {
        page_bytes,
        pages_per_block,
        superblock,
        units,
        channels,
        dies,
        planes,
        logical_pages,
        entry_bytes,
        program_unit: None,
    };
    let rows = rows(rng, pages);
    if Geometry::new(rows).is_ok() && rng.below(2) == 0 { rows } else { pages }
}

/// Returns the same flash with dies that program rows. A flash page has one or more map units, or a
/// map unit is larger than a flash page.
fn rows(rng: &mut Rng, of: Shape) -> Shape {
    let (levels, width) = (1 + rng.below(3) as u32, any(rng, &[1, 1, 2]));
    let flash_pages = levels * of.planes;
    let pages = any(rng, &[flash_pages * width, flash_pages, of.planes, 2]);
    let stripe = any(rng, &[None, Some(2), Some(3)]);
    let unit = ProgramUnit { pages, levels, is_protected: false, stripe };
    let (pages_per_block, superblock) = (levels * width * of.pages_per_block, of.superblock);
    Shape { pages_per_block, superblock, program_unit: Some(unit), ..of }
}

/// A medium without errors.
trait Medium: Nand<Error = Infallible> {}
impl<N: Nand<Error = Infallible>> Medium for N {}

const OWNER: Owner = Owner::Data(Lpn::new(0));

/// A unit of the journal.
const JOURNAL: usize = 0;

/// Source of random work: it programs pages in order and reads programmed pages.
struct Front<'a> {
    rng: Rng,
    geometry: &'a Geometry,
    modes: Modes,
    /// Pages programmed, by unit.
    programmed: Vec<u32>,
    /// Tasks in progress.
    tasks: u32,
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
            // Recent pages more often: their programs may be outstanding.
            let back = self.rng.below(u64::from(pages)).min(self.rng.below(u64::from(pages)));
            self.page(unit, pages - 1 - back as u32)
        })
    }

    fn free_page(&mut self, unit: usize) -> Option<Ppn> {
        let page = self.programmed[unit];
        (page < self.modes.geometry_of(Unit(unit as u32)).unit_capacity()).then(|| {
            self.programmed[unit] += 1;
            self.page(unit, page)
        })
    }

    fn programs(&mut self, drive: &mut impl Medium, chain: &mut Chain) {
        let (unit, cause, pages) = (self.unit(), self.cause(), 1 + self.below(6));
        let cause = match cause {
            _ if unit == JOURNAL => Cause::Journal,
            Cause::Host if !self.may_wait() => Cause::Gc,
            cause => cause,
        };
        let mut fork = Fork::new(*chain);
        for _ in 0..pages {
            let Some(to) = self.free_page(unit) else { break };
            let mut end = fork.branch();
            if cause == Cause::Host {
                drive.clock_mut().take_memory(&mut end, 1);
            }
            let Ok(()) = drive.program(to, Tag::new(OWNER, 0, 0), cause, &mut end);
            fork.join(end, drive.clock_mut());
        }
        *chain = fork.end();
    }

    fn copy(&mut self, drive: &mut impl Medium, chain: &mut Chain) {
        let causes = [Cause::Gc, Cause::GcMap, Cause::Merge, Cause::Wear, Cause::Fold];
        let (unit, cause) = (self.unit(), any(&mut self.rng, &causes));
        let (pages, mut moves) = (1 + self.below(4), vec![]);
        let from: Vec<_> = (0..pages).filter_map(|_| self.programmed_page()).collect();
        for from in from {
            let Some(to) = self.free_page(unit) else { break };
            let last: Option<&Move> = moves.last();
            let joins_read = last.is_some_and(|last| self.geometry.is_read_with(last.from, from));
            moves.push(Move { from, to, owner: OWNER, serial: 0, joins_read });
        }
        let Ok(()) = drive.copy(moves.into_iter(), cause, chain);
    }

    fn erase(&mut self, drive: &mut impl Medium, chain: &mut Chain) {
        let (unit, cause) = (self.unit(), self.cause());
        // Pages of the journal that wait to be programmed are dropped with their unit.
        if self.geometry.has_program_units() && unit != JOURNAL {
            self.fill_up(drive, unit, chain);
        }
        self.programmed[unit] = 0;
        let Ok(()) = drive.erase(Unit(unit as u32), cause, chain);
        if self.geometry.has_slc_mode() {
            let mode = any(&mut self.rng, &[Mode::Native, Mode::Slc]);
            self.modes.set(Unit(unit as u32), mode);
            drive.set_mode(Unit(unit as u32), mode);
        }
    }

    /// Fills the open rows and stripes to their ends.
    fn fill_up(&mut self, drive: &mut impl Medium, unit: usize, chain: &mut Chain) {
        let in_mode = *self.modes.geometry_of(Unit(unit as u32));
        while !self.programmed[unit].is_multiple_of(in_mode.row_pages()) {
            let from = self.page(unit, self.programmed[unit]);
            let pages = in_mode.left_in_program_unit(from);
            let Ok(()) = drive.pad(from, pages, chain);
            self.programmed[unit] += pages;
        }
    }

    fn fork(&mut self, drive: &mut impl Medium, chain: &mut Chain, depth: u32) {
        let mut fork = Fork::new(*chain);
        for _ in 0..2 + self.below(3) {
            let mut end = fork.branch();
            self.steps(drive, &mut end, depth + 1);
            fork.join(end, drive.clock_mut());
        }
        *chain = fork.end();
    }

    /// Returns whether a chain may wait for memory. A chain that holds a core could wait for chains
    /// that need that core, except on drives that program rows, where the chain gives the core
    /// back.
    fn may_wait(&self) -> bool {
        self.tasks == 0 || self.geometry.has_program_units()
    }

    /// A task of the controller, with the work in it.
    fn task(&mut self, drive: &mut impl Medium, chain: &mut Chain, depth: u32) {
        let tasks = [Task::Command, Task::Translate, Task::MapRead, Task::RemapEntry];
        let holds = drive.clock_mut().begin_task(chain, any(&mut self.rng, &tasks));
        self.tasks += 1;
        if self.below(3) > 0 {
            self.steps(drive, chain, depth + 1);
        }
        self.tasks -= 1;
        drive.clock_mut().end_task(chain, holds);
    }

    /// Separate work, for which the chain may or may not wait.
    fn work(&mut self, drive: &mut impl Medium, chain: &mut Chain, depth: u32) {
        let mut work = chain.work();
        drive.clock_mut().serve(&mut work, Server::LinkIn, 1, 1);
        self.steps(drive, &mut work, depth + 1);
        if self.below(3) == 0 {
            self.watch(drive, work);
        }
        if self.below(3) > 0 {
            let component =
                any(&mut self.rng, &[Component::Gc, Component::Merge, Component::Buffer]);
            drive.clock_mut().wait(chain, work, component);
        }
    }

    fn watch(&mut self, drive: &mut impl Medium, chain: Chain) {
        drive.clock_mut().watch(chain, self.tickets);
        self.tickets += 1;
    }

    fn read(&mut self, drive: &mut impl Medium, from: Ppn, chain: &mut Chain) {
        // One page in four is read partially.
        let (of, is_part) = (2 + self.below(7) as u32, self.below(4) == 0);
        let sectors = 1 + self.below(of.into()) as u32;
        drive.clock_mut().read_share(is_part.then_some(Share { sectors, of }));
        let (cause, mut fork) = (self.cause(), Fork::new(*chain));
        let mut end = fork.branch();
        let Ok(()) = drive.read(from, OWNER, ReadSource::Cells, cause, &mut end);
        fork.join(end, drive.clock_mut());
        drive.clock_mut().read_share(None);
        let next = Ppn::new(from.get() ^ 1);
        let (unit, page) = self.geometry.place(next);
        let is_there = self.programmed.get(unit.index()).is_some_and(|&pages| page < pages);
        if is_there && self.geometry.is_read_with(from, next) {
            let mut end = fork.branch();
            let Ok(()) = drive.read(next, OWNER, ReadSource::Register, cause, &mut end);
            fork.join(end, drive.clock_mut());
        }
        *chain = fork.end();
    }

    fn steps(&mut self, drive: &mut impl Medium, chain: &mut Chain, depth: u32) {
        for _ in 0..1 + self.below(3) {
            match self.below(if depth < 2 { 16 } else { 11 }) {
                0..4 => {
                    if let Some(from) = self.programmed_page() {
                        self.read(drive, from, chain);
                    }
                }
                4..6 => self.programs(drive, chain),
                6 => self.copy(drive, chain),
                7 => self.erase(drive, chain),
                8 => {
                    let servers = [Server::Commands, Server::LinkIn, Server::LinkOut];
                    let (pass, hold) = (self.below(5), self.below(6));
                    drive.clock_mut().serve(chain, any(&mut self.rng, &servers), pass, hold);
                }
                9 => {
                    let ns = self.below(10);
                    let component = any(&mut self.rng, &[Component::Queue, Component::Buffer]);
                    drive.clock_mut().delay(chain, ns, component);
                }
                10 if self.may_wait() => drive.clock_mut().wait_for_programs(chain),
                10 => {}
                11..13 => self.fork(drive, chain, depth),
                13 => self.task(drive, chain, depth),
                _ => self.work(drive, chain, depth),
            }
        }
    }

    /// Issues requests at random times, and some when others are complete.
    fn run(&mut self, drive: &mut impl Medium) {
        let most = any(&mut self.rng, &[10, 10, 10, 40]);
        let (mut due, mut time) = (4 + self.below(most), 0);
        let mut old = vec![Chain::START, Chain::new(true)];
        while due > 0 {
            time += self.below(12) * self.below(12);
            if self.below(8) == 0 {
                drive.clock_mut().play_chain(any(&mut self.rng, &old), time);
            }
            while drive.clock_mut().play(time) {
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
        if self.geometry.has_program_units() {
            (0..self.programmed.len()).for_each(|unit| self.fill_up(drive, unit, &mut old[0]));
        }
        while drive.clock_mut().play(u64::MAX) {
            self.take_ended(drive);
        }
    }

    fn request(&mut self, drive: &mut impl Medium, old: &mut Vec<Chain>) {
        let mut chain = any(&mut self.rng, old);
        if let (Some(from), 0..5) = (self.programmed_page(), self.below(6)) {
            chain = any(&mut self.rng, &[Chain::START, Chain::new(true)]);
            self.read(drive, from, &mut chain);
        } else {
            drive.clock_mut().serve(&mut chain, Server::Commands, 1, 1);
        }
        self.steps(drive, &mut chain, 0);
        self.watch(drive, chain);
        old.push(chain);
    }

    /// Chains that end at the same instant have no order.
    fn take_ended(&mut self, drive: &mut impl Medium) {
        let mut ended: Vec<_> = std::iter::from_fn(|| drive.clock_mut().ended()).collect();
        ended.sort_by_key(|ended| ended.ticket);
        self.ended.extend(ended);
    }
}

fn run(seed: u64, geometry: &Geometry, drive: &mut impl Medium) -> Vec<Ended> {
    let mut rng = Rng::new(seed);
    let all = u64::from(geometry.pages_per_unit()) + 1;
    let mut programmed: Vec<_> = (0..geometry.units()).map(|_| rng.below(all) as u32).collect();
    // Rows and stripes were programmed completely.
    let whole = geometry.row_pages();
    programmed.iter_mut().for_each(|pages| *pages -= *pages % whole);
    let modes = Modes::new(*geometry);
    let mut front = Front { rng, geometry, modes, programmed, tasks: 0, tickets: 0, ended: vec![] };
    front.run(drive);
    assert_eq!(front.ended.len() as u64, front.tickets, "every chain ends");
    front.ended
}

/// Returns how often each event happened in a graph. Both drives must agree.
fn agrees(seed: u64) -> BTreeMap<&'static str, u64> {
    let mut rng = Rng::new(seed);
    let shape = shape(&mut rng);
    let (timing, schedule) = (timing(&mut rng), schedule(&mut rng));
    let geometry = Geometry::new(shape).unwrap();
    let case = format!("seed {seed}: {shape:?}\n{timing:?}\n{schedule:?}");
    let mut specified = Brute::new(geometry, timing, schedule, Seen::default());
    let expected = run(seed, &geometry, &mut specified);
    let mut scheduled = Timed::with_schedule(Counted::new(&geometry), geometry, timing, schedule);
    let found = run(seed, &geometry, &mut scheduled);
    for (expected, found) in expected.iter().zip(&found) {
        assert_eq!(expected, found, "specified, and found: {case}");
    }
    assert_eq!(found.len(), expected.len(), "{case}");
    let [found, expected] = [scheduled.counters(), specified.counters()].map(|c| comparable(&c));
    assert_eq!(expected, found, "specified, and found: {case}");
    assert_eq!(scheduled.outstanding(), 0, "{case}");
    std::mem::take(&mut *specified.seen.lock().unwrap())
}

#[test]
fn random_graphs_take_the_time_that_is_specified() {
    let mut seen = BTreeMap::new();
    for (what, times) in (0..3_000).flat_map(agrees) {
        *seen.entry(what).or_default() += times;
    }
    let rare: Vec<_> = seen.iter().filter(|&(_, times): &(_, &u64)| *times < 50).collect();
    assert!(rare.is_empty() && seen.len() == 15, "{seen:?}");
}

#[test]
#[ignore = "long: make test-long"]
fn many_random_graphs_take_the_time_that_is_specified() {
    for seed in 3_000..100_000 {
        agrees(seed);
    }
}
