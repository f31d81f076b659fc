//! Cleaning and wear levelling of the naive drive.

use floatgate_ftl::addr::{Lpn, Owner, Ppn, Unit};
use floatgate_ftl::mapping::{MapOp, Mapping};
use floatgate_ftl::nand::Cause;
use floatgate_ftl::page_ftl::{Destination, Scope};
use floatgate_ftl::placement::{AnyPlacement, PlacementEvent, Reclaimed, Relocation};

use super::{Naive, Page, Policy, State, To, UnderWay};
use crate::cleaning::clockwork::{ERASE_NS, Step, copy_ns};
use crate::common::log::Kind;

impl Naive {
    /// Cleans while fewer than `least` units are free. Returns the time that this took.
    pub(super) fn clean(&mut self, stream: u8, least: u32, now: &mut u64) -> u64 {
        if self.free_units() >= least {
            return 0;
        }
        self.busy = true;
        let mut work = *now;
        self.finish(&mut work);
        let mut cleaned = 0;
        while self.free_units() < least {
            cleaned += 1;
            // After more cleans than there are units, cleaning with this policy may never end. The
            // naive drive then no longer asks the policy.
            let trusted = cleaned <= self.geometry.units();
            let picked = self.pick(stream).filter(|&(unit, to)| trusted && self.fits(unit, to));
            let (unit, to) = picked.unwrap_or_else(|| self.cheapest());
            self.collect(unit, to, Cause::Gc, &mut work);
            self.cleans.foreground += 1;
        }
        self.level(&mut work);
        self.busy = false;
        let waited = work - *now;
        *now = work;
        waited
    }

    /// Emergency: returns the unit that is cheapest to clean, among the units whose pages fit. A
    /// unit without a page to gain is chosen only if there is no other.
    fn cheapest(&mut self) -> (Unit, To) {
        self.cleans.emergency += 1;
        let sealed = self.sealed(None);
        let homes = sealed.into_iter().map(|unit| (unit, To::One(self.home(unit))));
        let fitting = homes.filter(|&(unit, to)| self.fits(unit, to));
        fitting.min_by_key(|&(unit, _)| (!self.gains(unit), self.cost(unit).1)).unwrap()
    }

    fn gains(&self, unit: Unit) -> bool {
        self.all_valid(unit) < self.all_pages(unit)
    }

    /// Returns the units that can be victims by stream, then by valid pages, then by last change.
    fn sealed(&self, stream: Option<u8>) -> Vec<Unit> {
        let of = |unit: &Unit| self.units[unit.index()].stream;
        let is_of = |unit: &Unit| stream.is_none_or(|stream| of(unit) == stream);
        let sealed = |unit: &Unit| is_of(unit) && self.is_candidate(unit);
        let mut units: Vec<Unit> = self.all().filter(sealed).collect();
        units.sort_by_key(|u| (of(u), self.all_valid(*u), self.last_events(*u).1));
        units
    }

    fn choice(&self, stream: Option<u8>) -> Option<Unit> {
        let units = self.sealed(stream).into_iter();
        match self.policy {
            Policy::Greedy => units.min_by_key(|&unit| self.share(unit)),
            Policy::Fifo => units.min_by_key(|&unit| self.last_events(unit).0),
        }
    }

    /// Returns the stream with the greatest fraction, which is made from the invalid pages and all
    /// pages of its sealed units; of equals the lowest one.
    fn first_stream(&self, fraction: fn(u32, u32) -> (u32, u32)) -> Option<u8> {
        let mut best: Option<(u8, (u32, u32))> = None;
        for stream in 0..=self.wear_stream() {
            let units = self.sealed(Some(stream));
            let pages: u32 = units.iter().map(|&unit| self.all_pages(unit)).sum();
            let valid: u32 = units.iter().map(|&unit| self.all_valid(unit)).sum();
            let found = fraction(pages - valid, pages);
            let is_more = |(_, most): (u8, (u32, u32))| found.0 * most.1 > most.0 * found.1;
            if !units.is_empty() && best.is_none_or(is_more) {
                best = Some((stream, found));
            }
        }
        best.map(|(stream, _)| stream)
    }

    fn pick(&self, stream: u8) -> Option<(Unit, To)> {
        let first = match self.cleaning.scope {
            Scope::All => None,
            Scope::Stream => Some(stream),
            Scope::MostInvalid => self.first_stream(|invalid, _| (invalid, 1)),
            Scope::Pressure => self.first_stream(|invalid, pages| (invalid, pages)),
        };
        let own =
            first.and_then(|stream| self.choice(Some(stream))).filter(|&unit| self.gains(unit));
        let unit = own.or_else(|| self.choice(None))?;
        let to = match self.cleaning.destination {
            // Translation pages keep to their own stream.
            _ if self.is_map(unit) => To::One(self.home(unit)),
            Destination::Same => To::One(self.home(unit)),
            Destination::Cold => To::One(0),
            Destination::Scheme => To::Judged,
            Destination::Reclassify => To::JudgedAnew,
        };
        Some((unit, to))
    }

    /// Returns whether the pages of a unit fit, for every division of the pages among the streams.
    fn fits(&self, unit: Unit, to: To) -> bool {
        let valid = self.all_valid(unit);
        let units = match to {
            To::One(stream) => u32::from(valid > self.room(stream)),
            To::Judged | To::JudgedAnew => {
                let streams = u32::from(self.placement.streams());
                let takes = |set: u32| {
                    let members = (0..streams).filter(|stream| set >> stream & 1 == 1);
                    members.map(|stream| self.room(stream as u8) + 1).sum::<u32>()
                };
                let possible = (0..1 << streams).filter(|&set| takes(set) <= valid);
                possible.map(u32::count_ones).max().unwrap()
            }
        };
        units + self.cost(unit).0 <= self.free_units()
    }

    /// Returns upper bounds for a clean: the units that its map updates take, and the pages that it
    /// programs.
    fn cost(&self, unit: Unit) -> (u32, u32) {
        let valid = self.all_valid(unit);
        let Some(map) = self.map_stream().filter(|_| !self.is_map(unit)) else {
            return (0, valid);
        };
        let updates = (valid * self.pages_per_map_page).min(self.geometry.translation_pages());
        let beyond = updates.saturating_sub(self.room(map));
        (beyond.div_ceil(self.geometry.pages_per_unit()), valid + updates)
    }

    pub(super) fn begin(&mut self, unit: Unit, cause: Cause) {
        let (valid, pages) = (self.all_valid(unit), self.all_pages(unit));
        let stream = usize::from(self.units[unit.index()].stream);
        if let Some(counts) = self.streams.get_mut(stream)
            && cause == Cause::Gc
        {
            counts.victims += 1;
            counts.victim_valid_pages += u64::from(valid);
            counts.victim_pages += u64::from(pages);
        }
        if !self.is_map(unit) {
            let age = self.clock - self.units[unit.index()].opened;
            let unit = Reclaimed { stream: self.home(unit), age };
            self.placement.observe(PlacementEvent::Reclaimed(unit));
        }
        for member in self.members(unit).to_vec() {
            self.units[member.index()].state = State::Victim;
        }
    }

    fn collect(&mut self, unit: Unit, to: To, cause: Cause, work: &mut u64) {
        self.begin(unit, cause);
        self.empty(self.members(unit).to_vec(), to, cause, work);
    }

    /// Empties units of one victim, and updates the map before the last of them is erased.
    fn empty(&mut self, units: Vec<Unit>, to: To, cause: Cause, work: &mut u64) {
        let mut moved = vec![];
        for &unit in &units {
            let is_relabelled = cause == Cause::Gc && self.relabel(unit, to);
            if !is_relabelled {
                moved.extend(self.move_pages(&self.pages(unit), unit, to, cause, work));
            }
            if Some(&unit) == units.last() {
                self.update_map(&mut moved, work);
            }
            if !is_relabelled {
                self.erase(unit, cause, work);
            }
        }
    }

    fn erase(&mut self, unit: Unit, cause: Cause, work: &mut u64) {
        self.enter(Kind::Erase(unit), self.cause_in(unit, cause), ERASE_NS, work);
        self.events += 1;
        let block = &mut self.units[unit.index()];
        assert!(block.pages.iter().all(Option::is_none));
        block.pages.clear();
        (block.state, block.freed) = (State::Free, self.events);
        block.erases += 1;
    }

    fn cause_in(&self, unit: Unit, cause: Cause) -> Cause {
        if cause == Cause::Gc && self.is_map(unit) { Cause::GcMap } else { cause }
    }

    /// Moves pages stream by stream, from cold to hot. Returns the new places of the data pages.
    fn move_pages(
        &mut self,
        pages: &[Page],
        unit: Unit,
        to: To,
        cause: Cause,
        work: &mut u64,
    ) -> Vec<(Lpn, Ppn)> {
        let cause = self.cause_in(unit, cause);
        let (stream, clock, now_ns) = (self.home(unit), self.clock, self.now);
        let judge = |placement: &mut AnyPlacement, owner: Owner| match (to, owner) {
            (To::One(stream), _) => stream,
            (_, Owner::Translation(_)) => unreachable!("the map is not judged"),
            (To::Judged, Owner::Data(lpn)) => {
                placement.moved(Relocation { lpn, stream, clock, now_ns })
            }
            (To::JudgedAnew, Owner::Data(lpn)) => {
                placement.classify(Relocation { lpn, stream, clock, now_ns })
            }
        };
        let judged: Vec<(u8, Page)> =
            pages.iter().map(|&page| (judge(&mut self.placement, page.1), page)).collect();
        let mut moved = vec![];
        for stream in 0..=self.wear_stream() {
            let here = judged.iter().filter(|(to, _)| *to == stream).map(|&(_, page)| page);
            let mut left: Vec<Page> = here.collect();
            while !left.is_empty() {
                let rest = left.split_off(left.len().min(self.row(stream)));
                self.relocate(&left, stream, cause, &mut moved, work);
                left = rest;
            }
        }
        moved
    }

    /// Updates the map with the new places of data pages.
    fn update_map(&mut self, moved: &mut [(Lpn, Ppn)], work: &mut u64) {
        if self.mapping.is_on_flash() && !moved.is_empty() {
            moved.sort_unstable();
            let mut io = vec![];
            self.mapping.relocated(moved, &mut io);
            let row = self.geometry.shape().superblock as usize;
            io.chunks(row).for_each(|row| self.update_row(row, work));
        }
    }

    /// Returns the number of pages to the end of the row; a row has one page on every plane of the
    /// unit.
    fn row(&self, stream: u8) -> usize {
        let planes = self.geometry.shape().superblock;
        let written = self.geometry.pages_per_unit() - self.room(stream);
        (planes - written % planes) as usize
    }

    fn relocate(
        &mut self,
        row: &[Page],
        stream: u8,
        cause: Cause,
        moved: &mut Vec<(Lpn, Ppn)>,
        work: &mut u64,
    ) {
        let places: Vec<Ppn> = row.iter().map(|_| self.allocate(stream, work).0).collect();
        let begin = *work;
        *work += copy_ns(row.iter().map(|page| page.0).zip(places.iter().copied()));
        for (&(from, owner), &to) in row.iter().zip(&places) {
            let kind = Kind::Copy(from, to, owner);
            self.log.push(Step { kind, cause, begin, end: *work });
            match owner {
                Owner::Data(lpn) => {
                    self.table[lpn.index()] = Some(to);
                    moved.push((lpn, to));
                }
                Owner::Translation(tpn) => self.directory[tpn.index()] = Some(to),
            }
            self.lose(from);
            self.set(to, owner);
        }
        if let Some(counts) = self.streams.get_mut(usize::from(stream)) {
            counts.gc_pages += row.len() as u64;
        }
    }

    /// Reads all pages at once, then programs all pages at once.
    fn update_row(&mut self, row: &[MapOp], work: &mut u64) {
        let (mut begin, mut end) = (*work, *work);
        for &op in row {
            if let MapOp::Fetch(tpn) | MapOp::Update(tpn) = op {
                let mut branch = begin;
                self.read_map(tpn, Cause::GcMap, &mut branch);
                end = end.max(branch);
            }
        }
        begin = end;
        for &op in row {
            if let MapOp::Rewrite(tpn) | MapOp::Update(tpn) = op {
                let mut branch = begin;
                self.program_map(tpn, Cause::GcMap, &mut branch);
                end = end.max(branch);
            }
        }
        *work = end;
    }

    /// Returns a victim for cleaning ahead of need: it must gain at least one page, and its pages
    /// must fit.
    pub(super) fn ahead(&self) -> Option<(Unit, To)> {
        let most = f64::from(self.cleaning.lazy.unwrap_or(1_000_000)) / 1e6;
        let share = |unit: Unit| f64::from(self.all_valid(unit)) / f64::from(self.all_pages(unit));
        let worth = |unit: Unit| self.gains(unit) && share(unit) <= most;
        self.pick(0).filter(|&(unit, to)| worth(unit) && self.fits(unit, to))
    }

    /// Moves a few pages along with a host write. The write does not wait for them.
    pub(super) fn keep_pace(&mut self, pages: u32, mut now: u64) {
        let free = self.free_units();
        if self.busy || free < self.cleaning.low_water {
            return;
        }
        if self.under_way.is_none()
            && free < self.cleaning.high_water
            && let Some((unit, to)) = self.ahead()
        {
            self.begin(unit, Cause::Gc);
            self.proceed(self.members(unit).to_vec(), to);
        }
        self.busy = true;
        self.move_left(pages as usize, &mut now);
        self.busy = false;
    }

    /// Begins to empty the first of the units, if there is one. Returns whether there is one.
    pub(super) fn proceed(&mut self, mut units: Vec<Unit>, to: To) -> bool {
        while units.first().is_some_and(|&unit| self.relabel(unit, to)) {
            units.remove(0);
        }
        let left = units.first().map(|&unit| self.pages(unit));
        self.under_way = left.map(|left| UnderWay { units, to, left });
        self.under_way.is_some()
    }

    /// Moves up to `pages` valid pages of the unit in progress. Returns their number.
    pub(super) fn move_left(&mut self, pages: usize, work: &mut u64) -> u64 {
        let Some(UnderWay { mut units, to, mut left }) = self.under_way.take() else { return 0 };
        let unit = units[0];
        let owner = |ppn: Ppn| {
            let (unit, page) = self.geometry.place(ppn);
            self.units[unit.index()].pages[page as usize]
        };
        left.retain(|&(ppn, wanted)| owner(ppn) == Some(wanted));
        let rest = left.split_off(left.len().min(pages));
        let count = left.len() as u64;
        let mut moved = self.move_pages(&left, unit, to, Cause::Gc, work);
        self.update_map(&mut moved, work);
        if !rest.is_empty() {
            self.under_way = Some(UnderWay { units, to, left: rest });
            return count;
        }
        self.erase(unit, Cause::Gc, work);
        units.remove(0);
        if !self.proceed(units, to) {
            self.cleans.incremental += 1;
            self.pace.end();
        }
        count
    }

    /// Moves all that is left of the victim in progress.
    fn finish(&mut self, work: &mut u64) {
        if let Some(UnderWay { units, to, .. }) = self.under_way.take() {
            self.empty(units, to, Cause::Gc, work);
            self.cleans.incremental += 1;
            self.pace.end();
        }
    }

    /// Cleans units once the host has been idle for long enough, until the next request.
    pub(super) fn idle(&mut self, from: u64, until: u64) {
        let Some(after) = self.cleaning.idle_after_ns else { return };
        let mut work = from + after;
        self.busy = true;
        while work < until && self.free_units() < self.cleaning.high_water {
            let Some((unit, to)) = self.ahead() else { break };
            self.now = work;
            self.collect(unit, to, Cause::Gc, &mut work);
            self.cleans.idle += 1;
        }
        self.busy = false;
    }

    /// Naive levelling: moves the least worn sealed unit if the most worn unit of the drive has
    /// more erases by more than the gap.
    fn level(&mut self, work: &mut u64) {
        let Some(gap) = self.cleaning.wear_gap else { return };
        let wear = |unit: Unit| self.units[unit.index()].erases;
        let most = self.all().map(wear).max().unwrap();
        let sealed = self.all().filter(|unit| self.is_complete(unit));
        let Some(least) = sealed.min_by_key(|&unit| wear(unit)) else { return };
        let lag = most - wear(least);
        let least = self.members(least)[0];
        let to = To::One(if self.is_map(least) { self.home(least) } else { self.wear_stream() });
        if lag > gap && self.fits(least, to) {
            self.collect(least, to, Cause::Wear, work);
            self.cleans.wear += 1;
        }
    }
}
