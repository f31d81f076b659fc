//! Flash that breaks, under a bad-block manager that hides what can be hidden.
//!
//! The translation layer sees units that never fail. Behind each unit of the layer is an erase unit
//! of the flash, and some more erase units are spares. Units that are bad from the factory are
//! never used. A spare replaces an erase unit when a program or an erase fails, or when the erase
//! unit reaches the number of erases that it lasts. The bad-block manager then moves the programmed
//! pages to the spare and retires the erase unit. This work counts as [`Cause::Retire`].
//!
//! The request that caused the work waits for it, unless its data was acknowledged before. With
//! program units all data was acknowledged: a program unit fails as a whole, while its pages are
//! still in the controller's memory.
//!
//! A page of host data can become unreadable, beyond the reach of error correction, or fail its
//! checksum. Reads of the page then fail until it is written again, also after it was moved; they
//! never return wrong data. Translation pages do not fail: the model assumes two copies of each.
//!
//! With at most [`LAST`] spares left, the drive has to be read-only. The last spares serve the work
//! that is under way. When they are used up, nothing fails any more.

use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;

use super::{Cause, Chain, Health, Move, Moves, Nand, ReadSource};
use crate::addr::{Owner, Ppn, Tag, Unit};
use crate::counters::Counters;
use crate::geometry::{Geometry, Mode, Modes};
use crate::rng::Rng;

/// Spares that a read-only drive keeps for the request under way.
pub const LAST: usize = 2;

/// Fault rates per 10^9, and limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Faults {
    /// Units that are bad from the factory.
    pub factory_bad: u32,
    /// Programs that fail.
    pub program: u32,
    /// Erases that fail.
    pub erase: u32,
    /// Reads and moves of host data after which the page is unreadable.
    pub read: u32,
    /// Reads and moves of host data whose result fails the checksum.
    pub corrupt: u32,
    /// Erases that a unit lasts, give or take a tenth. None: any number.
    pub endurance: Option<u32>,
    /// Spare units.
    pub spares: u32,
    /// Seed of the random faults.
    pub seed: u64,
}

/// Injects faults around another medium.
#[derive(Clone, Debug)]
pub struct Faulty<N> {
    inner: N,
    faults: Faults,
    geometry: Geometry,
    /// Modes of the layer's units.
    modes: Modes,
    /// By unit of the layer: the erase unit of the flash behind it.
    behind: Vec<Unit>,
    spares: Vec<Unit>,
    /// By unit of the flash: its erases, and the number of erases that it lasts.
    wear: Vec<(u32, u32)>,
    /// Tag of each page, by page of the layer: a move of a page needs its tag.
    tags: Vec<Option<Tag>>,
    unreadable: BTreeSet<Ppn>,
    failed: bool,
    health: Health,
    rng: Rng,
}

impl<N> Faulty<N> {
    /// Creates a drive of this geometry. `inner` must have `faults.spares` units more than
    /// `geometry`.
    pub fn new(inner: N, geometry: Geometry, faults: Faults) -> Self {
        let mut rng = Rng::new(faults.seed ^ 0x0042_4144);
        let all = geometry.units() + faults.spares;
        let lasts = |rng: &mut Rng| match faults.endurance {
            Some(erases) => {
                let spread = u64::from(erases / 10);
                erases - spread as u32 + rng.below(2 * spread + 1) as u32
            }
            None => u32::MAX,
        };
        let wear = (0..all).map(|_| (0, lasts(&mut rng))).collect();
        let mut health = Health::default();
        let mut good = Vec::new();
        for unit in (0..all).map(Unit) {
            // A drive with fewer than `LAST` good spares would not have been sold.
            let may = health.factory_bad + (LAST as u64) < u64::from(faults.spares);
            if may && draw(&mut rng, faults.factory_bad) {
                health.factory_bad += 1;
            } else {
                good.push(unit);
            }
        }
        let spares = good.split_off(geometry.units() as usize);
        Self {
            inner,
            faults,
            geometry,
            modes: Modes::new(geometry),
            behind: good,
            spares,
            wear,
            tags: vec![None; geometry.physical_pages() as usize],
            unreadable: BTreeSet::new(),
            failed: false,
            health,
            rng,
        }
    }

    /// Returns the flash page behind a page of the layer.
    fn at(&self, ppn: Ppn) -> Ppn {
        let (unit, page) = self.geometry.place(ppn);
        self.geometry.page(self.behind[unit.index()], page)
    }

    fn may_break(&self) -> bool {
        !self.spares.is_empty()
    }

    /// Decides whether the program that this page completes fails, and counts the failure.
    fn fails(&mut self, last: Ppn) -> bool {
        let in_mode = self.modes.geometry_of(self.geometry.unit(last));
        let ends = in_mode.left_in_program_unit(last) == 1;
        let fails = ends && self.may_break() && draw(&mut self.rng, self.faults.program);
        self.health.program_failures += u64::from(fails);
        fails
    }

    /// Records the tag of a page that is programmed now.
    fn note(&mut self, to: Ppn, tag: Tag) {
        self.tags[to.index()] = Some(tag);
        self.unreadable.remove(&to);
    }

    /// Decides whether a read or a move makes a page of data unreadable, and counts the fault.
    /// Returns whether the page is unreadable from now on.
    fn decays(&mut self, from: Ppn, owner: Owner) -> bool {
        if !matches!(owner, Owner::Data(_)) {
            return false;
        }
        if draw(&mut self.rng, self.faults.read) {
            self.health.read_errors += u64::from(self.unreadable.insert(from));
        } else if draw(&mut self.rng, self.faults.corrupt) {
            self.health.corrupt_pages += u64::from(self.unreadable.insert(from));
        }
        self.unreadable.contains(&from)
    }
}

fn draw(rng: &mut Rng, rate: u32) -> bool {
    rate > 0 && rng.below(1_000_000_000) < u64::from(rate)
}

impl<N: Nand> Faulty<N> {
    /// Retires the unit of a failed program. `last` is the last page of that program.
    fn retire_failed(&mut self, last: Ppn, chain: &mut Chain) -> Result<(), N::Error> {
        let (unit, page) = self.geometry.place(last);
        self.inner.close_stripe(self.at(last));
        self.retire(unit, page + 1, chain)
    }

    /// Replaces the erase unit behind `unit` with a spare, and moves its pages up to page `end` to
    /// the spare. The last program failed: its pages are still in memory.
    fn retire(&mut self, unit: Unit, end: u32, chain: &mut Chain) -> Result<(), N::Error> {
        let Some(spare) = self.spares.pop() else { return Ok(()) };
        let bad = core::mem::replace(&mut self.behind[unit.index()], spare);
        self.inner.set_mode(spare, self.modes.mode(unit));
        self.health.retired += 1;
        let in_memory = end.saturating_sub(self.modes.geometry_of(unit).program_unit());
        let mut before = None;
        let mut pages = 0..end;
        while let Some(page) = pages.next() {
            let (from, to) = (self.geometry.page(bad, page), self.geometry.page(spare, page));
            let Some(tag) = self.tags[self.geometry.page(unit, page).index()] else {
                pages.start += self.leave_out(unit, to, chain)?;
                continue;
            };
            let joins_read =
                before.replace(from).is_some_and(|it| self.geometry.is_read_with(it, from));
            let source = match () {
                () if page >= in_memory => ReadSource::Memory,
                () if joins_read => ReadSource::Register,
                () => ReadSource::Cells,
            };
            self.inner.read(from, tag.owner, source, Cause::Retire, chain)?;
            self.inner.program(to, tag, Cause::Retire, chain)?;
            self.health.moved += u64::from(page < in_memory);
            self.health.rewritten += u64::from(page >= in_memory);
        }
        Ok(())
    }

    /// Leaves out a page of the spare, because the replaced unit has no data there. With program
    /// units, pads the spare to the end of the page's program unit. Returns the number of padded
    /// pages after this page.
    fn leave_out(&mut self, unit: Unit, to: Ppn, chain: &mut Chain) -> Result<u32, N::Error> {
        if !self.geometry.has_program_units() {
            return Ok(0);
        }
        let pages = self.modes.geometry_of(unit).left_in_program_unit(to);
        self.inner.pad(to, pages, chain)?;
        Ok(pages - 1)
    }
}

#[deny(clippy::missing_trait_methods)]
impl<N: Nand> Nand for Faulty<N> {
    type Error = N::Error;
    type Clock = N::Clock;

    crate::forward_nand!(clock load_payload alone);

    fn read(
        &mut self,
        from: Ppn,
        owner: Owner,
        source: ReadSource,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        self.inner.read(self.at(from), owner, source, cause, chain)?;
        self.failed = match source {
            ReadSource::Cells | ReadSource::Register => self.decays(from, owner),
            ReadSource::Memory => self.unreadable.contains(&from),
        };
        Ok(())
    }

    fn program(
        &mut self,
        to: Ppn,
        tag: Tag,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        self.note(to, tag);
        let at = self.at(to);
        if !self.fails(to) {
            return self.inner.program(at, tag, cause, chain);
        }
        // Pages of a program unit were acknowledged before it was full: their request does not
        // wait.
        let work = &mut chain.work();
        let chain = if self.geometry.has_program_units() { work } else { chain };
        self.inner.program(at, tag, cause, chain)?;
        self.retire_failed(to, chain)
    }

    fn pad(&mut self, from: Ppn, pages: u32, chain: &mut Chain) -> Result<(), N::Error> {
        self.inner.pad(self.at(from), pages, chain)?;
        let last = from.after(pages - 1);
        if self.fails(last) { self.retire_failed(last, chain) } else { Ok(()) }
    }

    fn copy(&mut self, moves: impl Moves, cause: Cause, chain: &mut Chain) -> Result<(), N::Error> {
        let mut placed = Vec::with_capacity(moves.len());
        for step in moves {
            let Move { from, to, owner, serial, joins_read } = step;
            let sequence = self.tags[from.index()].map_or(0, |tag| tag.sequence);
            let lost = self.decays(from, owner);
            self.note(to, Tag::new(owner, sequence, serial));
            if lost {
                self.unreadable.insert(to);
            }
            let joins_read = joins_read && !placed.is_empty();
            placed.push(Move { from: self.at(from), to: self.at(to), joins_read, ..step });
            if self.fails(to) {
                self.inner.copy(placed.iter().copied(), cause, chain)?;
                placed.clear();
                self.retire_failed(to, chain)?;
            }
        }
        match placed.is_empty() {
            true => Ok(()),
            false => self.inner.copy(placed.into_iter(), cause, chain),
        }
    }

    fn close_stripe(&mut self, last: Ppn) {
        self.inner.close_stripe(self.at(last));
    }

    fn set_mode(&mut self, unit: Unit, mode: Mode) {
        self.modes.set(unit, mode);
        self.inner.set_mode(self.behind[unit.index()], mode);
    }

    fn erase(&mut self, unit: Unit, cause: Cause, chain: &mut Chain) -> Result<(), N::Error> {
        let behind = self.behind[unit.index()];
        self.inner.erase(behind, cause, chain)?;
        for page in 0..self.geometry.pages_per_unit() {
            let ppn = self.geometry.page(unit, page);
            self.tags[ppn.index()] = None;
            self.unreadable.remove(&ppn);
        }
        let (erases, lasts) = &mut self.wear[behind.index()];
        *erases += 1;
        let worn = *erases >= *lasts;
        if self.may_break() && (worn || draw(&mut self.rng, self.faults.erase)) {
            *(if worn { &mut self.health.worn_out } else { &mut self.health.erase_failures }) += 1;
            self.retire(unit, 0, chain)?;
        }
        Ok(())
    }

    fn report(&self, counters: &mut Counters) {
        self.inner.report(counters);
        let (spares_left, read_only) = (self.spares.len() as u64, self.is_read_only());
        counters.health = Some(Health { spares_left, read_only, ..self.health });
    }

    fn reset_counters(&mut self) {
        self.inner.reset_counters();
        let Health { factory_bad, .. } = self.health;
        self.health = Health { factory_bad, ..Health::default() };
    }

    fn read_failed(&self) -> bool {
        self.failed
    }

    fn is_read_only(&self) -> bool {
        self.faults.spares > 0 && self.spares.len() <= LAST
    }
}

#[cfg(test)]
mod tests;
