//! The clocks against brute force: on the serial drive durations add up; on parallel drives the end
//! and the blame of every operation are those of a naive clock, to the nanosecond.

#![allow(clippy::unwrap_used)] // In a test a panic is the report.

mod common;

use common::log::Kind;
use common::workload::{ANYTHING, Workload};
use common::{Rig, SERIAL, STRIPED, TIMING};
use floatgate_ftl::addr::{Lpn, Owner, Ppn, Tag, Unit};
use floatgate_ftl::geometry::{Geometry, Shape};
use floatgate_ftl::mapping::MAPPINGS;
use floatgate_ftl::nand::{Cause, Chain, Counted, Move, Nand, Occupation, Part, Timed};
use floatgate_ftl::parameters::names;
use floatgate_ftl::queue::Arrivals;
use floatgate_ftl::request::Op;
use floatgate_ftl::rng::Rng;

const READ: u64 = TIMING.command_ns + TIMING.read_ns + TIMING.transfer_ns;
const PROGRAM: u64 = TIMING.command_ns + TIMING.transfer_ns + TIMING.program_ns;
const ERASE: u64 = TIMING.command_ns + TIMING.erase_ns;

fn duration(kind: Kind) -> u64 {
    match kind {
        Kind::Read(..) => READ,
        Kind::Program(..) => PROGRAM,
        Kind::Copy(..) => READ + PROGRAM,
        Kind::Erase(_) => ERASE,
    }
}

#[test]
fn on_the_serial_drive_durations_add_up() {
    for mapping in names(MAPPINGS) {
        let rig = Rig { arrivals: Arrivals::Open, ..Rig::new(SERIAL, mapping, "greedy") }.spare(3);
        let (mut drive, log) = rig.build();
        log.take();
        let mut workload = Workload::new(1, ANYTHING, rig.shape.logical_pages, 64);
        let (mut free, mut busy) = (0, 0);
        for _ in 0..1000 {
            drive.run(&[workload.next()], &mut vec![]);
            for event in log.take() {
                let duration = duration(event.kind);
                free = free.max(event.before) + duration;
                busy += duration;
                assert_eq!(event.after, free, "{event:?}");
            }
        }
        let occupation = drive.counters().occupation;
        assert_eq!((occupation.end_ns, occupation.busy_ns), (free, busy));
    }
}

#[test]
fn one_at_a_time_on_the_serial_drive_is_the_sum_of_its_operations() {
    let rig = Rig { depth: 1, ..Rig::new(SERIAL, "dftl", "greedy") }.spare(3);
    let (mut drive, log) = rig.build();
    log.take();
    let mut workload = Workload::new(2, ANYTHING, rig.shape.logical_pages, 64);
    let (mut done, mut end) = (vec![], 0);
    for number in 0..1000 {
        let request = workload.next();
        drive.run(&[request], &mut done);
        let latency = log.take().iter().map(|event| duration(event.kind)).sum::<u64>();
        assert_eq!((done[number].arrival_ns, done[number].done_ns), (end, end + latency));
        assert_eq!(done[number].blame.0[Part::Queue as usize], 0, "nobody is before it");
        end += latency;
    }
}

#[test]
fn the_queue_admits_when_a_place_is_free() {
    for depth in [1, 2, 5] {
        let arrivals = Arrivals::Open;
        let rig = Rig { depth, arrivals, ..Rig::new(STRIPED, "dftl", "greedy") }.spare(3);
        let (mut drive, _) = rig.build();
        let mut workload = Workload::new(3, ANYTHING, rig.shape.logical_pages, 64);
        let (mut done, mut ends, mut last) = (vec![], vec![], 0);
        for number in 0..1000 {
            let request = workload.next();
            drive.run(&[request], &mut done);
            // Fewer than `depth` of those before it may still be in the drive.
            ends.sort_unstable();
            let place = if number < depth { 0 } else { ends[number - depth] };
            let admitted = request.at_ns.max(last).max(place);
            let completion = done[number];
            assert_eq!(completion.arrival_ns, request.at_ns);
            let queued = completion.blame.0[Part::Queue as usize];
            if request.op == Op::Flush {
                let drained = ends.last().copied().unwrap_or(0).max(admitted);
                assert_eq!(completion.done_ns, drained, "a flush waits for all before it");
            } else {
                assert_eq!(queued, admitted - request.at_ns);
            }
            last = admitted;
            ends.push(completion.done_ns);
        }
    }
}

#[test]
fn the_copies_of_a_row_begin_together() {
    let rig = Rig::new(STRIPED, "ideal", "greedy").spare(2);
    let (mut drive, log) = rig.build();
    log.take();
    let mut workload = Workload::new(4, ANYTHING, rig.shape.logical_pages, 64);
    let (mut rows, mut copies) = (0, 0);
    for _ in 0..2000 {
        drive.run(&[workload.next()], &mut vec![]);
        let events = log.take();
        let copied = events.iter().filter(|event| matches!(event.kind, Kind::Copy(..)));
        let begins: Vec<u64> = copied.map(|event| event.before).collect();
        rows += begins.chunk_by(|a, b| a == b).count();
        copies += begins.len();
    }
    assert!(copies > 2000 && rows * 2 < copies, "{copies} copies in {rows} rows");
}

/// Where a chain of operations has got to, and what its time went into.
#[derive(Clone, Copy, Default)]
struct Path {
    now: u64,
    blame: [u64; 8],
}

impl Path {
    fn until(&mut self, end: u64, part: Part) {
        if end > self.now {
            self.blame[part as usize] += end - self.now;
            self.now = end;
        }
    }
}

/// What a request is told that waits for work of this cause.
fn part(cause: Cause) -> Part {
    match cause {
        Cause::Host => Part::Die,
        Cause::Map | Cause::Journal => Part::Map,
        Cause::Gc | Cause::GcMap | Cause::Wear | Cause::Retire => Part::Gc,
        Cause::Merge => Part::Merge,
        Cause::Remap => Part::Remap,
    }
}

/// A channel, as a list of transfers.
#[derive(Clone, Default)]
struct NaiveChannel {
    /// When each began, in the order in which they were booked.
    transfers: Vec<u64>,
    /// Those of them that came behind all others and left room for a transfer before them.
    behind_room: Vec<u64>,
}

impl NaiveChannel {
    const LONG: u64 = TIMING.transfer_ns;

    /// When the last of the transfers that began before `to` ended.
    fn ended_before(&self, to: u64) -> u64 {
        let before = self.transfers.iter().filter(|&&start| start < to);
        before.max().map_or(0, |start| start + Self::LONG)
    }

    /// Takes the first idle time at or after `now`: one of the last four that were left, from the
    /// last transfer in it on, or what is behind all transfers.
    fn transfer(&mut self, now: u64) -> u64 {
        let oldest = self.behind_room.len().saturating_sub(4);
        let left = self.behind_room[oldest..].iter().map(|&to| (self.ended_before(to), to));
        let left: Vec<_> = left.collect();
        let all_ended = self.ended_before(u64::MAX);
        let mut idle = left.iter().copied().chain([(all_ended, u64::MAX)]);
        let begin = |(from, to): (u64, u64)| Some(now.max(from)).filter(|at| at + Self::LONG <= to);
        let start = idle.find_map(begin).expect("nothing is behind all transfers");
        if start >= all_ended + Self::LONG {
            self.behind_room.push(start);
        }
        self.transfers.push(start);
        // Nobody asks for what was before that.
        let from = left.first().map_or(all_ended, |idle| idle.0);
        self.transfers.retain(|&start| start + Self::LONG >= from);
        start + Self::LONG
    }
}

/// The operation that another plane may join.
#[derive(Clone)]
struct Joined {
    op: Op,
    unit: Unit,
    row: u32,
    planes: Vec<u32>,
    /// When the die was free for it, and when the cells start.
    ready: u64,
    start: u64,
}

#[derive(Clone)]
struct NaiveDie {
    free: u64,
    last: Part,
    joined: Option<Joined>,
    /// From when to when each operation needed it.
    needed: Vec<(u64, u64)>,
}

impl NaiveDie {
    /// How long anything needed it.
    fn busy(&self) -> u64 {
        let mut needed = self.needed.clone();
        needed.sort_unstable();
        let (mut busy, mut end) = (0, 0);
        for (from, until) in needed {
            busy += until.saturating_sub(from.max(end));
            end = end.max(until);
        }
        busy
    }

    fn work(&mut self, (from, until): (u64, u64), cause: Cause, joined: Option<Joined>) {
        self.needed.push((from, until));
        self.free = self.free.max(until);
        (self.last, self.joined) = (part(cause), joined);
    }
}

/// The clock by the text of `nand::Timed` and of "Time and blame" in ARCHITECTURE.md.
struct NaiveClock {
    geometry: Geometry,
    dies: Vec<NaiveDie>,
    channels: Vec<NaiveChannel>,
}

impl NaiveClock {
    fn new(geometry: Geometry) -> Self {
        let shape = geometry.shape();
        let die = NaiveDie { free: 0, last: Part::Die, joined: None, needed: vec![] };
        let dies = vec![die; (shape.channels * shape.dies) as usize];
        Self { geometry, dies, channels: vec![NaiveChannel::default(); shape.channels as usize] }
    }

    fn page(&mut self, op: Op, page: u32, cause: Cause, path: &mut Path) {
        let ppn = Ppn::new(page);
        let (plane, row) = self.geometry.plane_and_row(ppn);
        let unit = self.geometry.unit(ppn);
        let at = (plane / self.geometry.shape().planes) as usize;
        let die = &self.dies[at];
        let joins = die.joined.clone().filter(|joined| {
            (joined.op, joined.unit, joined.row) == (op, unit, row)
                && !joined.planes.contains(&plane)
                && path.now <= joined.start
        });
        path.until(joins.as_ref().map_or(die.free, |joined| joined.ready), die.last);
        let began = path.now;
        let (planes, ready, start) = (vec![], began, began + TIMING.command_ns);
        let mut joined = joins.unwrap_or(Joined { op, unit, row, planes, ready, start });
        joined.planes.push(plane);
        let channel = &mut self.channels[at / self.geometry.shape().dies as usize];
        if op == Op::Read {
            path.until(joined.start, Part::Bus);
            path.until(joined.start + TIMING.read_ns, part(cause));
            path.until(channel.transfer(path.now), Part::Bus);
        } else {
            path.until(channel.transfer(began + TIMING.command_ns), Part::Bus);
            joined.start = joined.start.max(path.now);
            path.until(joined.start, Part::Bus);
            path.until(joined.start + TIMING.program_ns, part(cause));
        }
        self.dies[at].work((began, path.now), cause, Some(joined));
    }

    /// Operations that begin together: the path goes on behind the last of those that end last.
    fn together<T: Copy>(path: &mut Path, all: &[T], mut work: impl FnMut(T, &mut Path)) {
        let mut ends = vec![];
        for &one in all {
            let mut branch = *path;
            work(one, &mut branch);
            ends.push(branch);
        }
        *path = *ends.iter().max_by_key(|branch| branch.now).unwrap();
    }

    fn copy(&mut self, moves: &[Move], cause: Cause, path: &mut Path) {
        Self::together(path, moves, |step, path| {
            self.page(Op::Read, step.from.get(), cause, path);
        });
        Self::together(path, moves, |step, path| {
            self.page(Op::Write, step.to.get(), cause, path);
        });
    }

    fn erase(&mut self, unit: Unit, cause: Cause, path: &mut Path) {
        let shape = *self.geometry.shape();
        let first = self.geometry.first_plane(unit);
        let mut dies: Vec<_> =
            (first..first + shape.superblock).map(|p| p / shape.planes).collect();
        dies.dedup();
        Self::together(path, &dies, |die, path| {
            let die = &mut self.dies[die as usize];
            path.until(die.free, die.last);
            let began = path.now;
            path.until(began + TIMING.command_ns, Part::Bus);
            path.until(began + TIMING.command_ns + TIMING.erase_ns, part(cause));
            die.work((began, path.now), cause, None);
        });
    }

    fn occupation(&self) -> Occupation {
        let busy: Vec<u64> = self.dies.iter().map(NaiveDie::busy).collect();
        Occupation {
            end_ns: self.dies.iter().map(|die| die.free).max().unwrap(),
            busy_ns: busy.iter().sum(),
            busiest_ns: *busy.iter().max().unwrap(),
        }
    }
}

const OPERATIONS: u32 = 3000;

/// Random operations of several chains; the one that is furthest behind goes next, as in a drive
/// whose requests are admitted in order.
fn compare(shape: Shape, seed: u64, chains: usize) {
    let geometry = Geometry::new(shape).unwrap();
    let mut clock = Timed::new(Counted::default(), geometry, TIMING);
    let mut rng = Rng::new(seed);
    // And once more from the beginning.
    for _ in 0..2 {
        let mut naive = NaiveClock::new(geometry);
        let mut now = vec![0u64; chains];
        for number in 0..OPERATIONS {
            let at = (0..chains).min_by_key(|&at| now[at]).unwrap();
            let begin = now[at] + rng.below(40);
            let (mut chain, mut path) = (Chain::at(begin), Path { now: begin, blame: [0; 8] });
            operate(&mut clock, &mut naive, &mut rng, (&mut chain, &mut path));
            let place = format!("operation {number} of seed {seed}, {chains} chains, {shape:?}");
            assert_eq!((chain.now, chain.blame.0), (path.now, path.blame), "{place}");
            assert_eq!(chain.blame.total(), chain.now - begin, "{place}");
            now[at] = chain.now;
        }
        assert_eq!(clock.counters().occupation, naive.occupation());
        clock.reset_counters();
        assert_eq!(clock.counters().occupation, Occupation::default());
    }
}

/// One operation on both clocks.
fn operate(
    clock: &mut Timed<Counted>,
    naive: &mut NaiveClock,
    rng: &mut Rng,
    (chain, path): (&mut Chain, &mut Path),
) {
    let owner = Owner::Data(Lpn::new(0));
    let pages = u64::from(naive.geometry.physical_pages());
    let any = |rng: &mut Rng| Ppn::new(rng.below(pages) as u32);
    let (cause, _) = Cause::ALL[rng.below(Cause::ALL.len() as u64) as usize];
    let page = any(rng);
    match rng.below(16) {
        0 => {
            let unit = naive.geometry.unit(page);
            clock.erase(unit, cause, chain).unwrap();
            naive.erase(unit, cause, path);
        }
        1 => {
            let count = 1 + rng.below(5);
            let step = |_| Move { from: any(rng), to: any(rng), owner, serial: 0 };
            let moves: Vec<_> = (0..count).map(step).collect();
            clock.copy(&moves, cause, chain).unwrap();
            naive.copy(&moves, cause, path);
        }
        2..8 => {
            clock.read(page, owner, cause, chain).unwrap();
            naive.page(Op::Read, page.get(), cause, path);
        }
        _ => {
            clock.program(page, Tag::new(owner, 0, 0), cause, chain).unwrap();
            naive.page(Op::Write, page.get(), cause, path);
        }
    }
}

#[test]
fn dies_with_a_channel_each_agree_with_the_naive_clock() {
    for seed in 0..5 {
        for chains in [1, 3, 8] {
            let one_per_channel = Shape { channels: 4, ..SERIAL };
            compare(one_per_channel, seed, chains);
            compare(SERIAL, seed, chains);
        }
    }
}

#[test]
fn dies_that_share_a_channel_agree_with_the_naive_clock() {
    for (dies, planes, superblock) in [(2, 1, 1), (4, 1, 4), (2, 2, 4), (2, 2, 1), (4, 1, 8)] {
        for chains in [1, 2, 4, 8, 16] {
            let shape = Shape { channels: 2, dies, planes, superblock, ..SERIAL };
            (0..5).for_each(|seed| compare(shape, seed, chains));
        }
    }
}
