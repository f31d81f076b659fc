//! Naive page-mapped engine, as its text describes it: units in a table, and every decision a scan
//! over all of them. It computes the flash operations of a request in order, with their times and
//! causes.
//!
//! Mapping and placement are the real ones; other tests compare them with their own texts. Only the
//! engine that calls them and the two simplest victim policies are naive.

mod collecting;
mod pacing;
mod reclaim;
mod units;

use std::ops::Range;

use floatgate_ftl::addr::{Lpn, Owner, Ppn, Tpn, Unit};
use floatgate_ftl::ftl::{Cleans, StreamCounts};
use floatgate_ftl::geometry::Geometry;
use floatgate_ftl::mapping::{Access, AccessKind, Boxed, MapOp, Mapping, Residency};
use floatgate_ftl::nand::{Blame, Cause, Component};
use floatgate_ftl::page_ftl::{Cleaning, Pace};
use floatgate_ftl::placement::{AnyPlacement, HostWrite, PlacementEvent, SampleSource, Samples};
use floatgate_ftl::policy::Policy as _;
use floatgate_ftl::request::{Completion, Op, Request};
use floatgate_ftl::rng::Rng;
use floatgate_ftl::unit_table::FreeOrder;

use super::clockwork::{Step, program_ns, read_ns};
use crate::common::Rig;
use crate::common::log::Kind;
use reclaim::Group;

/// Victim policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Policy {
    /// Fewest valid pages; among equals the coldest stream, then the unit that has lost no page for
    /// longest.
    Greedy,
    /// The unit sealed first.
    Fifo,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Free,
    Open,
    Sealed,
    Victim,
}

#[derive(Clone, Debug)]
struct Block {
    state: State,
    stream: u8,
    /// Programmed pages in order; `None` for pages that are no longer valid.
    pages: Vec<Option<Owner>>,
    erases: u32,
    /// Number of host pages written before the unit was opened.
    opened: u64,
    /// Event numbers: when the unit became free; was sealed; was sealed or lost a page.
    freed: u64,
    sealed: u64,
    changed: u64,
    /// Number of its group.
    group: usize,
}

/// Destination of a victim's pages.
#[derive(Clone, Copy, Debug)]
enum To {
    One(u8),
    Judged,
    JudgedAnew,
}

type Page = (Ppn, Owner);

/// A victim that is emptied step by step: its units that are not erased yet, and the pages that are
/// left in the first of these units.
struct UnderWay {
    units: Vec<Unit>,
    to: To,
    left: Vec<Page>,
}

pub struct Naive {
    geometry: Geometry,
    cleaning: Cleaning,
    policy: Policy,
    free_order: FreeOrder,
    pub mapping: Boxed,
    pages_per_map_page: u32,
    pub placement: AnyPlacement,
    table: Vec<Option<Ppn>>,
    directory: Vec<Option<Ppn>>,
    units: Vec<Block>,
    busy: bool,
    under_way: Option<UnderWay>,
    pace: pacing::Progress,
    /// Units in a reclaim unit, by stream of the placement.
    sizes: Vec<u32>,
    /// All groups of units that were ever opened.
    groups: Vec<Group>,
    clock: u64,
    events: u64,
    /// Time that the drive sees: the begin of the operation for which it decides.
    now: u64,
    drained: u64,
    rng: Rng,
    pub sample_reads: u64,
    pub log: Vec<Step>,
    pub cleans: Cleans,
    pub streams: Vec<StreamCounts>,
}

impl Naive {
    /// Creates an erased and formatted drive: every translation page is written once.
    pub fn new(rig: &Rig, policy: Policy) -> Self {
        let (geometry, mapping, placement) = (rig.geometry(), rig.mapping(), rig.placement());
        let unit = Block {
            state: State::Free,
            stream: 0,
            pages: vec![],
            erases: 0,
            opened: 0,
            freed: 0,
            sealed: 0,
            changed: 0,
            group: 0,
        };
        let tpns = if mapping.is_on_flash() { geometry.translation_pages() } else { 0 };
        let mut drive = Self {
            geometry,
            cleaning: rig.cleaning(),
            policy,
            free_order: rig.free_order,
            mapping,
            pages_per_map_page: rig.pages_per_map_page(),
            streams: vec![StreamCounts::default(); placement.streams().into()],
            placement,
            table: vec![None; geometry.logical_pages() as usize],
            directory: vec![None; tpns as usize],
            units: vec![unit; geometry.units() as usize],
            busy: false,
            under_way: None,
            pace: pacing::Progress::default(),
            sizes: rig.reclaim_units(),
            groups: vec![],
            clock: 0,
            events: 0,
            now: 0,
            drained: 0,
            rng: Rng::new(1),
            sample_reads: 0,
            log: vec![],
            cleans: Cleans::default(),
        };
        (0..tpns).for_each(|tpn| _ = drive.program_map(Tpn::new(tpn), Cause::Map, &mut 0));
        drive.reset_counters();
        drive
    }

    /// Resets counters, clocks and wear to zero. Free units keep the order in which they would be
    /// opened.
    pub fn reset_counters(&mut self) {
        self.mapping.reset_counters();
        self.placement.policy_mut().reset_counters();
        let mut free: Vec<Unit> = self.all().filter(|unit| self.is_free(unit)).collect();
        free.sort_by_key(|unit| self.turn(*unit));
        for unit in free {
            self.events += 1;
            self.units[unit.index()].freed = self.events;
        }
        self.units.iter_mut().for_each(|unit| unit.erases = 0);
        self.streams.fill(StreamCounts::default());
        (self.now, self.drained) = (0, 0);
        self.pace.forget_times();
        (self.sample_reads, self.cleans) = (0, Cleans::default());
        self.log.clear();
    }

    /// Returns the free units and the bytes of the mapping cache.
    pub fn memory(&self) -> (u32, u64) {
        (self.free_units(), self.mapping.memory_bytes())
    }

    pub fn wear(&self) -> Vec<u32> {
        self.units.iter().map(|unit| unit.erases).collect()
    }

    /// Serves one request at a time.
    pub fn serve(&mut self, request: &Request) -> Completion {
        let arrival = request.at_ns;
        if self.drained < arrival {
            self.idle(self.drained, arrival);
        }
        let begin = arrival.max(self.drained);
        self.now = begin;
        let page_bytes = u64::from(self.geometry.shape().page_bytes);
        let first = (request.offset / page_bytes) as u32;
        let pages = (request.length / page_bytes) as u32;
        let mut blame = Blame::default();
        let mut done = begin;
        match request.op {
            Op::Flush => {}
            Op::Trim => {
                blame.0[Component::Gc as usize] = self.trim(first..first + pages, &mut done);
            }
            Op::Read | Op::Write => {
                if request.op == Op::Write {
                    let first = Lpn::new(first);
                    self.placement.observe(PlacementEvent::Command { first, pages });
                    self.show_samples(begin);
                }
                for page in 0..pages {
                    // The drive works on all pages of a request at once, from its admission on.
                    let (mut now, mut waited) = (begin, 0);
                    let kind =
                        if request.op == Op::Read { AccessKind::Read } else { AccessKind::Write };
                    let (lpn, remaining) = (Lpn::new(first + page), pages - page);
                    let mapped = self.mapping.is_on_flash() && self.table[lpn.index()].is_some();
                    let access = Access { lpn, kind, remaining, first: page == 0, mapped };
                    waited += self.translate(access, &mut now);
                    match kind {
                        AccessKind::Write => waited += self.write(lpn, pages, &mut now),
                        _ => self.read(lpn, &mut now),
                    }
                    if now >= done {
                        done = now;
                        blame.0[Component::Gc as usize] = waited;
                    }
                }
            }
        }
        blame.0[Component::Queue as usize] = begin - arrival;
        blame.0[Component::Die as usize] = done - begin - blame.0[Component::Gc as usize];
        self.drained = self.drained.max(done);
        Completion { arrival_ns: arrival, done_ns: done, blame }
    }

    /// Shows the placement as many pages as it wants. No request waits for the map pages read for
    /// that.
    fn show_samples(&mut self, mut now: u64) {
        let Some(Samples { count, source }) = self.placement.wants_samples() else { return };
        let mut pages = vec![];
        for _ in 0..count {
            let cached = match source {
                SampleSource::Cached => self.mapping.draw(&mut self.rng),
                SampleSource::Written => None,
            };
            let Some(lpn) = cached.or_else(|| self.draw()) else { continue };
            let absent =
                self.mapping.is_on_flash() && self.mapping.residency(lpn) == Residency::Absent;
            if source == SampleSource::Written && absent {
                self.read_map(self.geometry.translation_page(lpn), Cause::Map, &mut now);
                self.sample_reads += 1;
            }
            pages.push(lpn);
        }
        self.placement.sampled(&pages, self.clock, self.now);
    }

    /// Returns a random mapped page. Tries only 64 times, because few pages may be mapped.
    fn draw(&mut self) -> Option<Lpn> {
        let pages = self.table.len() as u64;
        let mut drawn = (0..64).map(|_| self.rng.below(pages) as usize);
        drawn.find(|&lpn| self.table[lpn].is_some()).map(|lpn| Lpn::new(lpn as u32))
    }

    /// Calls the mapping and does its map operations. Returns the time spent waiting for cleaning.
    fn translate(&mut self, access: Access, now: &mut u64) -> u64 {
        let mut io = vec![];
        self.mapping.access(access, &mut io);
        self.perform(&io, now)
    }

    fn read(&mut self, lpn: Lpn, now: &mut u64) {
        if let Some(from) = self.table[lpn.index()] {
            self.enter(Kind::Read(from, Owner::Data(lpn)), Cause::Host, read_ns(from), now);
        }
    }

    /// Returns the time spent waiting for cleaning.
    fn write(&mut self, lpn: Lpn, request_pages: u32, now: &mut u64) -> u64 {
        let (owner, clock, now_ns) = (Owner::Data(lpn), self.clock, self.now);
        let write = HostWrite { lpn, request_pages, clock, now_ns };
        let stream = self.placement.stream(write);
        self.clock += 1;
        let mut waited = 0;
        match self.cleaning.pace {
            Some(Pace::Fixed(pages)) => self.keep_pace(pages, *now),
            Some(Pace::Proportional { debt }) => waited += self.pay(debt, now),
            None => {}
        }
        let (to, longer) = self.allocate(stream, now);
        waited += longer;
        self.enter(Kind::Program(to, owner), Cause::Host, program_ns(to), now);
        let counts = &mut self.streams[usize::from(stream)];
        counts.host_pages += 1;
        counts.hot_pages += u64::from(lpn.get() < self.placement.hot_pages());
        self.set(to, owner);
        if let Some(old) = self.table[lpn.index()].replace(to) {
            self.lose(old);
        }
        let mut io = vec![];
        if self.mapping.is_on_flash() {
            self.mapping.assigned(lpn, to, &mut io);
        }
        waited += self.perform(&io, now);
        waited
    }

    /// Returns the time spent waiting for cleaning.
    fn trim(&mut self, lpns: Range<u32>, now: &mut u64) -> u64 {
        let (entries, mut waited) = (self.geometry.entries_per_page(), 0);
        for tpn in 0..self.geometry.translation_pages() {
            let here = lpns.start.max(tpn * entries)..lpns.end.min((tpn + 1) * entries);
            if here.is_empty() {
                continue;
            }
            let mapped = here.map(Lpn::new).filter(|lpn| self.table[lpn.index()].is_some());
            let mapped: Vec<Lpn> = mapped.collect();
            for &lpn in &mapped {
                let old = self.table[lpn.index()].take().unwrap();
                self.lose(old);
                self.placement.observe(PlacementEvent::Trimmed(lpn));
            }
            let mut io = vec![];
            if self.mapping.is_on_flash() {
                self.mapping.trim(Tpn::new(tpn), &mapped, &mut io);
            }
            waited += self.perform(&io, now);
        }
        waited
    }

    /// Runs map operations. A group starts together, and the drive waits for its last operation.
    fn perform(&mut self, io: &[MapOp], now: &mut u64) -> u64 {
        let (pages_per_map_page, mut waited) = (self.pages_per_map_page, 0);
        let kind = |op: &MapOp| std::mem::discriminant(op);
        let page = |op: &MapOp| match *op {
            MapOp::Fetch(tpn) | MapOp::Update(tpn) | MapOp::Rewrite(tpn) => {
                tpn.get() / pages_per_map_page
            }
        };
        for group in
            io.chunk_by(|a, b| pages_per_map_page > 1 && (kind(a), page(a)) == (kind(b), page(b)))
        {
            let (begin, mut longest) = (*now, 0);
            for &op in group {
                let (mut branch, mut wait) = (begin, 0);
                match op {
                    MapOp::Fetch(tpn) => self.read_map(tpn, Cause::Map, &mut branch),
                    MapOp::Rewrite(tpn) => wait = self.program_map(tpn, Cause::Map, &mut branch),
                    MapOp::Update(tpn) => {
                        self.read_map(tpn, Cause::Map, &mut branch);
                        wait = self.program_map(tpn, Cause::Map, &mut branch);
                    }
                }
                if branch >= *now {
                    (*now, longest) = (branch, wait);
                }
            }
            waited += longest;
        }
        waited
    }

    fn read_map(&mut self, tpn: Tpn, cause: Cause, now: &mut u64) {
        let from = self.directory[tpn.index()].unwrap();
        self.enter(Kind::Read(from, Owner::Translation(tpn)), cause, read_ns(from), now);
    }

    fn program_map(&mut self, tpn: Tpn, cause: Cause, now: &mut u64) -> u64 {
        let (owner, stream) = (Owner::Translation(tpn), self.placement.streams());
        let (to, waited) = self.allocate(stream, now);
        self.pace.taken += 1;
        self.enter(Kind::Program(to, owner), cause, program_ns(to), now);
        self.set(to, owner);
        if let Some(old) = self.directory[tpn.index()].replace(to) {
            self.lose(old);
        }
        waited
    }

    /// Returns the next page of a stream, and the time spent waiting for cleaning.
    fn allocate(&mut self, stream: u8, now: &mut u64) -> (Ppn, u64) {
        let mut waited = 0;
        if self.room(stream) == 0 {
            self.open(stream);
            if !self.busy {
                // One unit less, because one is open now. If copies fill that unit, another one
                // must come free.
                waited += self.clean(stream, self.cleaning.low_water - 1, now);
                if self.room(stream) == 0 {
                    waited += self.clean(stream, self.cleaning.low_water, now);
                }
                if self.room(stream) == 0 {
                    self.open(stream);
                }
            }
        }
        let unit = self.open_unit(stream).unwrap();
        // Programming moves the end of a row; the row is allocated before it is programmed.
        let block = &mut self.units[unit.index()];
        block.pages.push(None);
        (self.geometry.page(unit, block.pages.len() as u32 - 1), waited)
    }

    fn enter(&mut self, kind: Kind, cause: Cause, takes: u64, now: &mut u64) {
        let begin = *now;
        *now += takes;
        self.log.push(Step { kind, cause, begin, end: *now });
    }
}
