//! Cleaning ahead of need: a few pages with every host write, or whole units while the host is
//! idle.
//!
//! The host does not wait for this work. The work begins together with the host's work, and delays
//! it only where both need the same die. If a write runs out of free units while a victim is being
//! emptied, that victim is finished first.

use alloc::vec::Vec;

use super::PageFtl;
use super::cleaning::MoveTarget;
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
    /// Asserts that the units are victims, and that `left` has all valid pages of the last one.
    pub(super) fn check(&self, units: &UnitTable) {
        for &unit in &self.units {
            assert!(!units.is_sealed(unit), "{unit:?} is being emptied");
        }
        let unit = *self.units.last().expect("a victim is under way until it is erased");
        let left = self.left.iter().filter(|&&(ppn, owner)| units.owner(ppn) == Some(owner));
        assert_eq!(left.count(), units.valid(unit) as usize, "left of {unit:?}");
    }
}

impl<N: Nand, M: Mapping> PageFtl<N, M> {
    /// Moves a few pages along with a host write to a stream.
    #[inline(never)]
    pub(super) fn clean_ahead(&mut self, stream: u8, chain: &Chain) -> Result<(), N::Error> {
        let free = self.store.units.free_units();
        // With fewer free units than this, the next write that needs a unit cleans in the
        // foreground.
        if self.cleaner.active || free < self.cleaner.config.low_water {
            return Ok(());
        }
        if self.cleaner.under_way.is_none() {
            if free >= self.cleaner.config.high_water {
                return Ok(());
            }
            // The stream matters only when a stream needs a unit, so stream 0 will do.
            let Some((unit, to)) = self.pick(0).filter(|&(unit, to)| self.worth(unit, to)) else {
                return Ok(());
            };
            self.begin(unit, Cause::Gc);
            let units = self.cleaner.members.iter().copied().rev().collect();
            let left = Vec::with_capacity(self.store.geometry.pages_per_unit() as usize);
            self.proceed(UnderWay { units, to, left });
        }
        self.cleaner.active = true;
        self.owners.start_for(stream, self.streams.slc());
        let mut work = chain.work();
        if self.step(self.cleaner.config.pace.unwrap_or(0) as usize, &mut work)? {
            self.cleaner.counts.incremental += 1;
        }
        self.owners.end();
        self.cleaner.active = false;
        Ok(())
    }

    /// Whether cleaning a unit ahead of need frees any space, enough for lazy cleaning, and there
    /// is room to do it.
    fn worth(&self, unit: Unit, to: MoveTarget) -> bool {
        let ValidShare { valid, pages } = self.store.units.valid_share(unit);
        let most = self.cleaner.config.lazy.map_or(MILLION, u64::from);
        let is_empty_enough = u64::from(valid) * MILLION <= u64::from(pages) * most;
        is_empty_enough && self.gains(unit) && self.fits(unit, to)
    }

    /// Continues with the next erase unit of a victim. Returns whether there is none.
    fn proceed(&mut self, mut under_way: UnderWay) -> bool {
        let to = under_way.to;
        while under_way.units.pop_if(|unit| self.relabel(*unit, to)).is_some() {}
        let Some(&unit) = under_way.units.last() else { return true };
        self.list_valid(unit, &mut under_way.left);
        under_way.left.reverse();
        self.cleaner.under_way = Some(under_way);
        false
    }

    /// Moves up to `pages` pages that are still valid. Returns whether the victim's last erase unit
    /// was erased.
    fn step(&mut self, pages: usize, work: &mut Chain) -> Result<bool, N::Error> {
        let Some(mut under_way) = self.cleaner.under_way.take() else { return Ok(false) };
        let mut batch = core::mem::take(&mut self.cleaner.valid);
        batch.clear();
        while batch.len() < pages
            && let Some((ppn, owner)) = under_way.left.pop()
        {
            if self.store.units.owner(ppn) == Some(owner) {
                batch.push((ppn, owner));
            }
        }
        let unit = *under_way.units.last().expect("a victim has an erase unit");
        self.cleaner.moved.clear();
        self.copy_pages(&batch, unit, under_way.to, Cause::Gc, work)?;
        self.cleaner.valid = batch;
        self.update_moved(work)?;
        if self.store.units.valid(unit) > 0 {
            self.cleaner.under_way = Some(under_way);
            return Ok(false);
        }
        self.erase(unit, Cause::Gc, work)?;
        under_way.units.pop();
        Ok(self.proceed(under_way))
    }

    /// Moves all remaining pages of the victim that is being emptied step by step.
    pub(super) fn finish_under_way(&mut self, work: &mut Chain) -> Result<(), N::Error> {
        if let Some(UnderWay { units, to, .. }) = self.cleaner.under_way.take() {
            self.cleaner.members.clear();
            self.cleaner.members.extend(units.into_iter().rev());
            self.empty_members(to, Cause::Gc, work)?;
            self.cleaner.counts.incremental += 1;
        }
        Ok(())
    }

    /// Cleans units in a gap between host requests, from `from` until `until`. It begins units
    /// while the gap lasts, and finishes each unit that it has begun.
    pub(super) fn clean_while_idle(&mut self, from: u64, until: u64) -> Result<(), N::Error> {
        let Some(after) = self.cleaner.config.idle_after_ns else { return Ok(()) };
        let cleaned = self.while_idle((from.saturating_add(after), until), |ftl| {
            if ftl.store.units.free_units() >= ftl.cleaner.config.high_water {
                return None;
            }
            ftl.pick(0).filter(|&(unit, to)| ftl.worth(unit, to))
        })?;
        self.cleaner.counts.idle += cleaned;
        Ok(())
    }

    /// Empties the units from `next`, beginning them between the times `begin` and `until`. A unit
    /// that is begun is finished. Returns the number of units.
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
