//! Flash that breaks, under a bad-block manager that hides what can be hidden.
//!
//! The translation layer sees units that never fail. Behind each is an erase unit of the flash;
//! some more are spares. Units that are bad from the factory are never used. When a program or an
//! erase fails, or a unit has been erased as often as it can be, a spare takes its place: what was
//! programmed is moved there, and the unit is retired. Such work is counted as [`Cause::Retire`],
//! and whoever caused it waits for it.
//!
//! A page of host data may become unreadable, beyond what error correction can do, or be found to
//! be another than was written by its checksum. Then reading it fails until it is written again,
//! also after it was moved; it never gives wrong data. Map pages are taken to be kept twice and do
//! not fail.
//!
//! When no more than [`LAST`] spares are left the drive is to be read-only. They are for the work
//! that is under way; once they are used up, nothing fails any more.

use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;

use super::{Cause, Chain, Health, Move, Moves, Nand, Source};
use crate::addr::{Owner, Ppn, Tag, Unit};
use crate::counters::Counters;
use crate::geometry::{Geometry, Mode};
use crate::rng::Rng;

/// Spares that are kept for the request under way when a drive becomes read-only.
pub const LAST: usize = 2;

/// How often flash breaks. Rates are per 10^9.
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
    /// Reads and moves of host data that would give other data, which the checksum tells.
    pub corrupt: u32,
    /// Erases that a unit lasts, a tenth more or less. None: any number.
    pub endurance: Option<u32>,
    /// Spare units.
    pub spares: u32,
    /// Of what is drawn.
    pub seed: u64,
}

/// Breaks, around another medium.
#[derive(Clone, Debug)]
pub struct Faulty<N> {
    inner: N,
    faults: Faults,
    geometry: Geometry,
    /// The unit of the flash behind each unit of the layer.
    behind: Vec<Unit>,
    spares: Vec<Unit>,
    /// By unit of the flash: erases, and how many it lasts.
    wear: Vec<(u32, u32)>,
    /// What is in the pages, by page of the layer: what is moved has to be named.
    tags: Vec<Option<Tag>>,
    unreadable: BTreeSet<Ppn>,
    failed: bool,
    health: Health,
    rng: Rng,
}

impl<N> Faulty<N> {
    /// A drive of this geometry, of which `inner` has as many units more as there are spares.
    ///
    /// # Panics
    /// If so many units are bad from the factory that there are none behind some of the drive's.
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
            // More bad ones than there are spares beyond the last: it would not have been sold.
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

    /// Where a page of the layer is on the flash.
    fn at(&self, ppn: Ppn) -> Ppn {
        let (unit, page) = self.geometry.place(ppn);
        self.geometry.page(self.behind[unit.index()], page)
    }

    fn may_break(&self) -> bool {
        !self.spares.is_empty()
    }

    /// Whether a page of data is unreadable from now on.
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
    /// A spare takes the place of the unit behind `unit`; what is programmed there is moved, up to
    /// page `end`.
    fn retire(&mut self, unit: Unit, end: u32, chain: &mut Chain) -> Result<(), N::Error> {
        let Some(spare) = self.spares.pop() else { return Ok(()) };
        let bad = core::mem::replace(&mut self.behind[unit.index()], spare);
        self.health.retired += 1;
        for page in 0..end {
            let Some(tag) = self.tags[self.geometry.page(unit, page).index()] else { continue };
            let (from, to) = (self.geometry.page(bad, page), self.geometry.page(spare, page));
            self.inner.read(from, tag.owner, Source::Cells, Cause::Retire, chain)?;
            self.inner.program(to, tag, Cause::Retire, chain)?;
            self.health.moved += 1;
        }
        Ok(())
    }

    /// Notes what is about to be programmed; the program may fail first.
    fn prepare(&mut self, to: Ppn, tag: Tag, chain: &mut Chain) -> Result<(), N::Error> {
        if self.may_break() && draw(&mut self.rng, self.faults.program) {
            self.health.program_failures += 1;
            // The attempt takes its time, and its page.
            self.inner.program(self.at(to), tag, Cause::Retire, chain)?;
            let (unit, page) = self.geometry.place(to);
            self.retire(unit, page, chain)?;
        }
        self.tags[to.index()] = Some(tag);
        self.unreadable.remove(&to);
        Ok(())
    }
}

impl<N: Nand> Nand for Faulty<N> {
    type Error = N::Error;
    type Clock = N::Clock;

    #[inline(always)]
    fn clock(&self) -> &N::Clock {
        self.inner.clock()
    }

    #[inline(always)]
    fn clock_mut(&mut self) -> &mut N::Clock {
        self.inner.clock_mut()
    }

    fn read(
        &mut self,
        from: Ppn,
        owner: Owner,
        source: Source,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        self.inner.read(self.at(from), owner, source, cause, chain)?;
        self.failed = self.decays(from, owner);
        Ok(())
    }

    fn program(
        &mut self,
        to: Ppn,
        tag: Tag,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        self.prepare(to, tag, chain)?;
        self.inner.program(self.at(to), tag, cause, chain)
    }

    fn pad(&mut self, from: Ppn, pages: u32, chain: &mut Chain) -> Result<(), N::Error> {
        self.inner.pad(self.at(from), pages, chain)
    }

    fn copy(&mut self, moves: impl Moves, cause: Cause, chain: &mut Chain) -> Result<(), N::Error> {
        for Move { from, to, owner, serial, .. } in moves.clone() {
            let sequence = self.tags[from.index()].map_or(0, |tag| tag.sequence);
            let lost = self.decays(from, owner);
            self.prepare(to, Tag::new(owner, sequence, serial), chain)?;
            if lost {
                self.unreadable.insert(to);
            }
        }
        let place = |step: Move| Move { from: self.at(step.from), to: self.at(step.to), ..step };
        let placed: Vec<Move> = moves.map(place).collect();
        self.inner.copy(placed.into_iter(), cause, chain)
    }

    fn set_mode(&mut self, unit: Unit, mode: Mode) {
        self.inner.set_mode(self.behind[unit.index()], mode);
    }

    fn load_payload(&mut self, bytes: &[u8]) {
        self.inner.load_payload(bytes);
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
