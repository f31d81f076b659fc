//! The clocks against brute force: on the serial drive durations add up; on parallel drives no die
//! and no channel does two things at once, and every operation is held against a naive clock.

#![allow(clippy::unwrap_used)] // In a test a panic is the report.

mod common;

use common::log::Kind;
use common::workload::{ANYTHING, Workload};
use common::{Rig, SERIAL, STRIPED, TIMING};
use floatgate_ftl::addr::{Lpn, Owner, Ppn, Tag, Unit};
use floatgate_ftl::geometry::{Geometry, Shape};
use floatgate_ftl::mapping::MAPPINGS;
use floatgate_ftl::nand::{Cause, Chain, Counted, Nand, Part, Timed};
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
    for &(mapping, ..) in MAPPINGS {
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

/// The clock by the text of `nand::Timed`, with every transfer that ever was.
struct NaiveClock {
    geometry: Geometry,
    dies: Vec<NaiveDie>,
    transfers: Vec<Vec<(u64, u64)>>,
}

#[derive(Clone, Default)]
struct NaiveDie {
    free: u64,
    /// The operation that another plane may join: what, which planes, since when, cells from.
    group: Option<(Op, Unit, u32, Vec<u32>, u64, u64)>,
}

impl NaiveClock {
    fn new(geometry: Geometry) -> Self {
        let shape = geometry.shape();
        let dies = vec![NaiveDie::default(); (shape.channels * shape.dies) as usize];
        Self { geometry, dies, transfers: vec![vec![]; shape.channels as usize] }
    }

    fn channel(&mut self, die: usize) -> &mut Vec<(u64, u64)> {
        let channel = die / self.geometry.shape().dies as usize;
        &mut self.transfers[channel]
    }

    /// The first time at or after `now` at which the channel is idle for long enough.
    fn transfer(&mut self, die: usize, now: u64) -> u64 {
        let booked = self.channel(die);
        let clashes = |start: u64, booked: &[(u64, u64)]| {
            booked.iter().any(|&(s, e)| start < e && s < start + TIMING.transfer_ns)
        };
        let ends = booked.iter().map(|&(_, end)| end);
        let starts = ends.chain([now]).filter(|&start| start >= now);
        let start = starts.filter(|&start| !clashes(start, booked)).min().unwrap();
        booked.push((start, start + TIMING.transfer_ns));
        start + TIMING.transfer_ns
    }

    /// When the operation should end. It did end at `actual`, from where the clock goes on.
    fn page(&mut self, op: Op, page: u32, now: u64, actual: u64) -> u64 {
        let ppn = Ppn::new(page);
        let (plane, row) = self.geometry.plane_and_row(ppn);
        let unit = self.geometry.unit(ppn);
        let at = (plane / self.geometry.shape().planes) as usize;
        let NaiveDie { free, group } = self.dies[at].clone();
        let joined = group.filter(|(kind, of, line, planes, _, start)| {
            (*kind, *of, *line) == (op, unit, row) && !planes.contains(&plane) && now <= *start
        });
        let (mut planes, ready, start) = match joined {
            Some((.., planes, ready, start)) => (planes, ready, start),
            None => (vec![], free, now.max(free) + TIMING.command_ns),
        };
        planes.push(plane);
        let began = now.max(ready);
        let (start, end) = if op == Op::Read {
            (start, self.transfer(at, began.max(start) + TIMING.read_ns))
        } else {
            let loaded = self.transfer(at, began + TIMING.command_ns);
            (start.max(loaded), start.max(loaded) + TIMING.program_ns)
        };
        let ready = if planes.len() == 1 { began } else { ready };
        let start = if actual == end { start } else { self.postpone(op, at, start, actual) };
        let free = free.max(actual);
        self.dies[at] = NaiveDie { free, group: Some((op, unit, row, planes, ready, start)) };
        end
    }

    /// Moves the last transfer to where it was; the answer is when the cells then start.
    fn postpone(&mut self, op: Op, die: usize, start: u64, actual: u64) -> u64 {
        let booked = self.channel(die);
        booked.pop();
        let end = if op == Op::Read { actual } else { actual - TIMING.program_ns };
        let begin = end - TIMING.transfer_ns;
        assert!(booked.iter().all(|&(s, e)| e <= begin || end <= s), "two transfers at once");
        booked.push((begin, end));
        if op == Op::Read { start } else { end }
    }

    fn erase(&mut self, unit: Unit, now: u64) -> u64 {
        let shape = *self.geometry.shape();
        let first = self.geometry.first_plane(unit);
        let mut dies: Vec<_> =
            (first..first + shape.superblock).map(|p| p / shape.planes).collect();
        dies.dedup();
        let ends = dies.into_iter().map(|die| {
            let die = &mut self.dies[die as usize];
            *die = NaiveDie { free: die.free.max(now) + ERASE, group: None };
            die.free
        });
        ends.max().unwrap()
    }
}

const OPERATIONS: u32 = 3000;

/// Random operations of several chains; the one that is furthest behind goes next, as in a drive
/// whose requests are admitted in order. The answer is how many ended later than they had to.
fn compare(shape: Shape, seed: u64, chains: usize) -> u32 {
    let geometry = Geometry::new(shape).unwrap();
    let mut clock = Timed::new(Counted::default(), geometry, TIMING);
    let mut naive = NaiveClock::new(geometry);
    let mut rng = Rng::new(seed);
    let mut now = vec![0u64; chains];
    let mut late = 0;
    for _ in 0..OPERATIONS {
        let at = (0..chains).min_by_key(|&at| now[at]).unwrap();
        let mut chain = Chain::at(now[at] + rng.below(40));
        let (begin, page) = (chain.now, rng.below(u64::from(geometry.physical_pages())) as u32);
        let expected = operate(&mut clock, &mut naive, rng.below(16), page, &mut chain);
        assert_eq!(chain.blame.total(), chain.now - begin);
        assert!(chain.now >= expected, "before a die or a channel was free");
        late += u32::from(chain.now > expected);
        now[at] = chain.now;
    }
    assert_eq!(Some(clock.occupation().end_ns), now.into_iter().max());
    late
}

/// One operation on both clocks; the answer is when the naive one would end it.
fn operate(
    clock: &mut Timed<Counted>,
    naive: &mut NaiveClock,
    dice: u64,
    page: u32,
    chain: &mut Chain,
) -> u64 {
    let (ppn, owner, begin) = (Ppn::new(page), Owner::Data(Lpn::new(0)), chain.now);
    match dice {
        0 => {
            let unit = naive.geometry.unit(ppn);
            clock.erase(unit, Cause::Gc, chain).unwrap();
            naive.erase(unit, begin)
        }
        1..7 => {
            clock.read(ppn, owner, Cause::Host, chain).unwrap();
            naive.page(Op::Read, page, begin, chain.now)
        }
        _ => {
            clock.program(ppn, Tag::new(owner, 0, 0), Cause::Host, chain).unwrap();
            naive.page(Op::Write, page, begin, chain.now)
        }
    }
}

#[test]
fn dies_with_a_channel_each_agree_with_the_naive_clock() {
    for seed in 0..20 {
        for chains in [1, 3, 8] {
            let one_per_channel = Shape { channels: 4, ..SERIAL };
            assert_eq!(compare(one_per_channel, seed, chains), 0);
            assert_eq!(compare(SERIAL, seed, chains), 0);
        }
    }
}

#[test]
fn dies_that_share_a_channel_agree_with_the_naive_clock() {
    // A channel remembers the last idle times only, so that under a crowd some transfers come
    // later.
    for (dies, planes, superblock) in [(2, 1, 1), (4, 1, 4), (2, 2, 4), (2, 2, 1)] {
        for (chains, late_percent) in [(1, 0), (2, 0), (4, 1), (8, 4), (16, 10)] {
            let shape = Shape { channels: 2, dies, planes, superblock, ..SERIAL };
            let late = (0..20).map(|seed| compare(shape, seed, chains)).sum::<u32>();
            assert!(late * 100 <= late_percent * 20 * OPERATIONS, "{late} of {chains} chains");
        }
    }
}
