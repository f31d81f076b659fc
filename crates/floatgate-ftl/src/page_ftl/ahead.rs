//! Cleaning ahead of need: a few pages with every write of the host, or whole units while it is
//! idle.
//!
//! Neither is waited for: the work begins when the host's does, and delays it only where both need
//! the same die. A victim that is under way when a write runs out of free units is finished first.

use alloc::vec::Vec;

use super::PageFtl;
use super::cleaning::To;
use crate::addr::{Owner, Ppn, Unit};
use crate::mapping::Mapping;
use crate::nand::{Cause, Chain, Clock, Nand};
use crate::unit_table::UnitTable;

/// A unit that is being emptied bit by bit.
#[derive(Debug)]
pub(super) struct UnderWay {
    unit: Unit,
    to: To,
    /// Its valid pages when it was chosen that are not moved yet, last page first.
    left: Vec<(Ppn, Owner)>,
}

crate::state!(blank UnderWay { unit, to, left });

impl UnderWay {
    /// Its unit is a victim, and no page of it is valid but what is left.
    pub(super) fn check(&self, units: &UnitTable) {
        assert!(!units.is_sealed(self.unit), "{:?} is being emptied", self.unit);
        let left = self.left.iter().filter(|&&(ppn, owner)| units.owner(ppn) == Some(owner));
        assert_eq!(left.count(), units.valid(self.unit) as usize, "left of {:?}", self.unit);
    }
}

impl<N: Nand, M: Mapping> PageFtl<N, M> {
    /// Moves the few pages that go with a write of the host.
    #[inline(never)]
    pub(super) fn clean_ahead(&mut self, chain: &Chain) -> Result<(), N::Error> {
        let free = self.store.units.free_units();
        // With so few free units the next write that needs one cleans in the foreground.
        if self.cleaner.active || free < self.cleaner.config.low_water {
            return Ok(());
        }
        if self.cleaner.under_way.is_none() {
            if free >= self.cleaner.config.high_water {
                return Ok(());
            }
            // Whose unit it is matters only if a stream is in need of one.
            let Some((unit, to)) = self.pick(0).filter(|&(unit, to)| self.worth(unit, to)) else {
                return Ok(());
            };
            self.begin(unit);
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

    /// Whether cleaning a unit ahead of need gives back anything, and there is room to do it.
    fn worth(&self, unit: Unit, to: To) -> bool {
        self.store.units.valid(unit) < self.store.units.capacity(unit) && self.fits(unit, to)
    }

    /// Moves up to `pages` pages that are still valid. The answer is whether the unit was erased.
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

    /// Moves all that is left of the unit that is being emptied bit by bit.
    pub(super) fn finish_under_way(&mut self, work: &mut Chain) -> Result<(), N::Error> {
        if self.step(usize::MAX, work)? {
            self.cleaner.counts.incremental += 1;
        }
        Ok(())
    }

    /// The host has asked for nothing since `from`, and will not until `until`: units are cleaned,
    /// as long as one can be begun in that time. What has been begun goes on.
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

    /// Empties the units that `next` names, as long as one can be begun between two times. What has
    /// been begun goes on. The answer is how many there were.
    pub(super) fn while_idle(
        &mut self,
        (begin, until): (u64, u64),
        next: impl Fn(&mut Self) -> Option<(Unit, To)>,
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
