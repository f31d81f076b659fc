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
use crate::unit_table::UnitTable;

/// A unit that is being emptied step by step.
#[derive(Debug)]
pub(super) struct UnderWay {
    unit: Unit,
    to: MoveTarget,
    /// Pages that were valid when the unit was chosen and are not moved yet, last page first.
    left: Vec<(Ppn, Owner)>,
}

crate::state!(blank UnderWay { unit, to, left });

impl UnderWay {
    /// Asserts that the unit is a victim, and that `left` has all its valid pages.
    pub(super) fn check(&self, units: &UnitTable) {
        assert!(!units.is_sealed(self.unit), "{:?} is being emptied", self.unit);
        let left = self.left.iter().filter(|&&(ppn, owner)| units.owner(ppn) == Some(owner));
        assert_eq!(left.count(), units.valid(self.unit) as usize, "left of {:?}", self.unit);
    }
}

impl<N: Nand, M: Mapping> PageFtl<N, M> {
    /// Moves a few pages along with a host write.
    #[inline(never)]
    pub(super) fn clean_ahead(&mut self, chain: &Chain) -> Result<(), N::Error> {
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
            let mut left = Vec::with_capacity(self.store.geometry.pages_per_unit() as usize);
            self.list_valid(unit, &mut left);
            left.reverse();
            self.cleaner.under_way = Some(UnderWay { unit, to, left });
        }
        self.cleaner.active = true;
        let mut work = chain.work();
        if self.step(self.cleaner.config.pace.unwrap_or(0) as usize, &mut work)? {
            self.cleaner.counts.incremental += 1;
        }
        self.cleaner.active = false;
        Ok(())
    }

    /// Whether cleaning a unit ahead of need frees any space, and there is room to do it.
    fn worth(&self, unit: Unit, to: MoveTarget) -> bool {
        self.store.units.valid(unit) < self.store.units.capacity(unit) && self.fits(unit, to)
    }

    /// Moves up to `pages` pages that are still valid. Returns whether the unit was erased.
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
        let UnderWay { unit, to, .. } = under_way;
        self.move_pages(&batch, unit, to, Cause::Gc, work)?;
        self.cleaner.valid = batch;
        let emptied = self.store.units.valid(unit) == 0;
        if emptied {
            self.erase(unit, Cause::Gc, work)?;
        } else {
            self.cleaner.under_way = Some(under_way);
        }
        Ok(emptied)
    }

    /// Moves all remaining pages of the unit that is being emptied step by step.
    pub(super) fn finish_under_way(&mut self, work: &mut Chain) -> Result<(), N::Error> {
        if self.step(usize::MAX, work)? {
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
