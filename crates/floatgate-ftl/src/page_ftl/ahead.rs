//! Cleaning ahead of need: a few pages with every host write, or whole units while the host is
//! idle.
//!
//! At a fixed pace and while the host is idle, the host does not wait for this work. The work
//! begins together with the host's work, and delays it only where both need the same die. If a
//! write runs out of free units while a victim is being emptied, that victim is finished first.

use alloc::vec::Vec;

use super::cleaning::MoveTarget;
use super::{Cleaning, Pace, PageFtl};
use crate::addr::{Owner, Ppn, Unit};
use crate::mapping::Mapping;
use crate::nand::{Cause, Chain, Clock, Nand};
use crate::unit_table::{UnitTable, ValidShare};

/// A share of 1, in millionths.
const MILLION: u64 = 1_000_000;

/// A victim that is being emptied step by step.
#[derive(Debug)]
pub(super) struct UnderWay {
    /// Erase units of the victim that are not erased yet, in reverse order: the last one is being
    /// emptied.
    units: Vec<Unit>,
    to: MoveTarget,
    /// Pages that were valid when the cleaner began to empty the erase unit and are not moved yet,
    /// last page first.
    left: Vec<(Ppn, Owner)>,
}

crate::state!(blank UnderWay { units, to, left });

impl UnderWay {
    /// Returns the erase unit that is being emptied.
    fn unit(&self) -> Unit {
        *self.units.last().expect("a victim is under way until it is erased")
    }

    /// Asserts that the units are victims, and that `left` has all valid pages of the last one.
    pub(super) fn check(&self, units: &UnitTable) {
        for &unit in &self.units {
            assert!(!units.is_sealed(unit), "{unit:?} is being emptied");
        }
        let unit = self.unit();
        let left = self.left.iter().filter(|&&(ppn, owner)| units.owner(ppn) == Some(owner));
        assert_eq!(left.count(), units.valid(unit) as usize, "left of {unit:?}");
    }
}

impl<N: Nand, M: Mapping> PageFtl<N, M> {
    /// Moves a few pages along with a host write to a stream. With a proportional pace, the write
    /// waits until the debt is within its bound.
    #[inline(never)]
    pub(super) fn clean_ahead(&mut self, stream: u8, chain: &mut Chain) -> Result<(), N::Error> {
        self.cleaner.pacing.take();
        let Cleaning { pace: Some(pace), low_water, .. } = self.cleaner.config else {
            return Ok(());
        };
        // With fewer free units than this, the next write that needs a unit cleans in the
        // foreground.
        let has_units = self.store.units.free_units() >= low_water;
        if !self.cleaner.active && has_units && self.has_victim(pace) {
            self.cleaner.active = true;
            self.owners.start_for(stream, self.streams.slc());
            match pace {
                Pace::Fixed(pages) => _ = self.step(pages, &mut chain.work())?,
                Pace::Proportional { debt } => self.pay(debt, chain)?,
            }
            self.owners.end();
            self.cleaner.active = false;
        }
        if let Pace::Proportional { debt } = pace {
            self.cleaner.pacing.admit(None, debt, self.store.clock(), chain);
        }
        Ok(())
    }

    /// Returns whether a victim is being emptied. Begins one if it is time to.
    fn has_victim(&mut self, pace: Pace) -> bool {
        if self.cleaner.under_way.is_some() {
            return true;
        }
        let is_time = match pace {
            Pace::Fixed(_) => self.store.units.free_units() < self.cleaner.config.high_water,
            Pace::Proportional { .. } => self.is_short(),
        };
        if !is_time {
            return false;
        }
        // The stream matters only when a stream needs a unit, so stream 0 will do.
        let Some((unit, to)) = self.pick(0).filter(|&(unit, to)| self.worth(unit, to)) else {
            self.cleaner.pacing.retry();
            return false;
        };
        let valid = u64::from(self.store.units.valid_share(unit).valid);
        self.begin(unit, Cause::Gc);
        let units: Vec<_> = self.cleaner.members.iter().copied().rev().collect();
        let pages = units.len() as u64 * u64::from(self.store.geometry.unit_capacity());
        self.spread(valid, pages);
        let left = Vec::with_capacity(self.store.geometry.pages_per_unit() as usize);
        if self.proceed(UnderWay { units, to, left }) {
            self.cleaner.pacing.rest(0);
        }
        true
    }

    /// Returns the free pages, in free units and in open units.
    fn free_pages(&self) -> u64 {
        let in_units =
            |units: u32| u64::from(units) * u64::from(self.store.geometry.unit_capacity());
        in_units(self.store.units.free_units()) + u64::from(self.streams.all_native_room())
    }

    /// Returns the number of free pages at which the cleaner begins a victim.
    fn target(&self) -> u64 {
        let capacity = self.store.geometry.unit_capacity();
        u64::from(self.cleaner.config.high_water - 1) * u64::from(capacity)
    }

    /// Returns whether so few pages are free that a victim must begin. If not, plans to look again.
    fn is_short(&mut self) -> bool {
        if !self.cleaner.pacing.is_over() {
            return false;
        }
        let more = self.free_pages().saturating_sub(self.target());
        if more > 0 {
            self.cleaner.pacing.rest(more);
        }
        more == 0
    }

    /// Spreads the copies of a victim over the host pages for which its erase makes room. If the
    /// drive is short of pages, spreads the copies over fewer host pages, but at least half.
    fn spread(&mut self, valid: u64, pages: u64) {
        let gain = pages.saturating_sub(valid);
        let short = self.target().saturating_sub(self.free_pages());
        let span = gain.saturating_sub(short).max(gain.div_ceil(2)).max(1);
        self.cleaner.pacing.spread(valid, span);
    }

    /// Begins the copies that are due. The chain of the host page waits before each batch until the
    /// drive owes few enough copies. A host page begins at most one victim.
    fn pay(&mut self, debt: u32, chain: &mut Chain) -> Result<(), N::Error> {
        while let Some(copies) = self.due() {
            self.cleaner.pacing.admit(Some(copies), debt, self.store.clock(), chain);
            let mut work = chain.work();
            let moved = self.step(copies, &mut work)?;
            self.cleaner.pacing.begin(moved, work);
        }
        Ok(())
    }

    /// Returns the number of copies to begin now. A unit without a valid page is erased at once.
    fn due(&self) -> Option<u32> {
        let unit = self.cleaner.under_way.as_ref()?.unit();
        match self.store.units.valid(unit) {
            0 => Some(0),
            _ => self.cleaner.pacing.due(),
        }
    }

    /// Returns whether cleaning a unit ahead of need frees space, the unit is empty enough for lazy
    /// cleaning, and there is room for the copies.
    fn worth(&self, unit: Unit, to: MoveTarget) -> bool {
        let ValidShare { valid, pages } = self.store.units.valid_share(unit);
        let most = self.cleaner.config.lazy.map_or(MILLION, u64::from);
        let is_empty_enough = u64::from(valid) * MILLION <= u64::from(pages) * most;
        is_empty_enough && self.gains(unit) && self.fits(unit, to)
    }

    /// Continues with the next erase unit of a victim. Returns whether no erase unit is left.
    fn proceed(&mut self, mut under_way: UnderWay) -> bool {
        let to = under_way.to;
        while under_way.units.pop_if(|unit| self.relabel(*unit, to)).is_some() {}
        let Some(&unit) = under_way.units.last() else { return true };
        self.list_valid(unit, &mut under_way.left);
        under_way.left.reverse();
        self.cleaner.under_way = Some(under_way);
        false
    }

    /// Moves up to `pages` pages that are still valid, and erases the erase unit if none is left.
    /// Returns the number of pages moved.
    fn step(&mut self, pages: u32, work: &mut Chain) -> Result<u32, N::Error> {
        let Some(mut under_way) = self.cleaner.under_way.take() else { return Ok(0) };
        let mut batch = core::mem::take(&mut self.cleaner.valid);
        batch.clear();
        while batch.len() < pages as usize
            && let Some((ppn, owner)) = under_way.left.pop()
        {
            if self.store.units.owner(ppn) == Some(owner) {
                batch.push((ppn, owner));
            }
        }
        let (unit, moved) = (under_way.unit(), batch.len() as u32);
        self.cleaner.moved.clear();
        self.copy_pages(&batch, unit, under_way.to, Cause::Gc, work)?;
        self.cleaner.valid = batch;
        self.update_moved(work)?;
        if self.store.units.valid(unit) > 0 {
            self.cleaner.under_way = Some(under_way);
            return Ok(moved);
        }
        self.erase(unit, Cause::Gc, work)?;
        under_way.units.pop();
        if self.proceed(under_way) {
            self.cleaner.counts.incremental += 1;
            self.cleaner.pacing.rest(0);
        }
        Ok(moved)
    }

    /// Moves all remaining pages of the victim that is being emptied step by step.
    pub(super) fn finish_under_way(&mut self, work: &mut Chain) -> Result<(), N::Error> {
        if let Some(UnderWay { units, to, .. }) = self.cleaner.under_way.take() {
            self.cleaner.members.clear();
            self.cleaner.members.extend(units.into_iter().rev());
            self.empty_members(to, Cause::Gc, work)?;
            self.cleaner.counts.incremental += 1;
            self.cleaner.pacing.rest(0);
        }
        Ok(())
    }

    /// Returns the time at which cleaning begins in a gap between host requests from `from` on;
    /// `u64::MAX` if it does not begin in gaps.
    pub(super) fn idle_from(&self, from: u64) -> u64 {
        self.cleaner.config.idle_after_ns.map_or(u64::MAX, |after| from.saturating_add(after))
    }

    /// Cleans units in a gap between host requests, from `from` until `until`. It begins units
    /// while the gap lasts, and finishes each unit that it has begun.
    pub(super) fn clean_while_idle(&mut self, from: u64, until: u64) -> Result<(), N::Error> {
        if self.cleaner.config.idle_after_ns.is_none() {
            return Ok(());
        }
        let cleaned = self.while_idle((self.idle_from(from), until), |ftl| {
            if ftl.store.units.free_units() >= ftl.cleaner.config.high_water {
                return None;
            }
            ftl.pick(0).filter(|&(unit, to)| ftl.worth(unit, to))
        })?;
        self.cleaner.counts.idle += cleaned;
        Ok(())
    }

    /// Empties the units that `next` returns, beginning them between the times `begin` and `until`.
    /// A unit that is begun is finished. Returns the number of units.
    pub(super) fn while_idle(
        &mut self,
        (begin, until): (u64, u64),
        next: impl Fn(&mut Self) -> Option<(Unit, MoveTarget)>,
    ) -> Result<u64, N::Error> {
        if begin >= until {
            return Ok(0);
        }
        self.store.clock().play(begin);
        self.cleaner.active = true;
        let mut emptied = 0;
        while self.store.now_ns() < until
            && let Some((unit, to)) = next(self)
        {
            let mut work = Chain::START.work();
            self.collect(unit, to, Cause::Gc, &mut work)?;
            emptied += 1;
            self.store.clock().play_chain(work, until);
        }
        self.cleaner.active = false;
        Ok(emptied)
    }
}
