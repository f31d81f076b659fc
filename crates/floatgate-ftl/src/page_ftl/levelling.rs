//! Static wear levelling: moves data that is never overwritten, so that its unit does not stay
//! little worn forever.
//!
//! When the erase counts of the most worn unit and the least worn sealed unit differ by more than a
//! gap, the pages of the least worn unit's reclaim unit are moved. Data pages move to an open unit
//! of their own, the most worn of the free units, and the emptied units come into use. Each run of
//! cleaning moves at most one reclaim unit, once enough units are free.

use alloc::collections::BTreeSet;

use super::PageFtl;
use super::cleaning::MoveTarget;
use crate::addr::Unit;
use crate::mapping::Mapping;
use crate::nand::{Cause, Chain, Nand};
use crate::unit_table::UnitTable;

/// The units by wear.
#[derive(Debug)]
pub(super) struct Levelling {
    gap: u32,
    by_wear: BTreeSet<(u32, u32)>,
    /// Highest erase count of a unit.
    most: u32,
}

crate::state!(Levelling { by_wear, most } fixed { gap });

impl Levelling {
    /// Starts with no unit erased.
    pub(super) fn new(gap: u32, units: u32) -> Self {
        Self { gap, by_wear: (0..units).map(|unit| (0, unit)).collect(), most: 0 }
    }

    pub(super) fn gap(&self) -> u32 {
        self.gap
    }

    /// Notes the `erases`th erase of a unit.
    pub(super) fn erased(&mut self, unit: Unit, erases: u32) {
        self.by_wear.remove(&(erases - 1, unit.0));
        self.by_wear.insert((erases, unit.0));
        self.most = self.most.max(erases);
    }

    /// Asserts that the units are ordered by the erase counts of the drive.
    pub(super) fn check(&self, units: &UnitTable) {
        for &(erases, unit) in &self.by_wear {
            assert_eq!(erases, units.erases(Unit(unit)), "wear of unit {unit}");
        }
    }

    /// Returns the least worn unit that can be moved, if it lags too far behind.
    pub(super) fn laggard(&self, movable: impl Fn(Unit) -> bool) -> Option<Unit> {
        let lags = |&&(erases, _): &&(u32, u32)| self.most - erases > self.gap;
        self.by_wear.iter().take_while(lags).map(|&(_, unit)| Unit(unit)).find(|&u| movable(u))
    }
}

impl<N: Nand, M: Mapping> PageFtl<N, M> {
    /// Moves the pages of the least worn unit, if it lags too far behind.
    pub(super) fn level(&mut self, work: &mut Chain) -> Result<(), N::Error> {
        let Some(levelling) = &self.cleaner.levelling else { return Ok(()) };
        let of_sealed = |unit| self.store.units.reclaim_unit(unit);
        let laggard = levelling.laggard(|unit| of_sealed(unit).is_some());
        let Some(unit) = laggard.and_then(of_sealed) else { return Ok(()) };
        let wear = self.streams.wear().expect("levelling has a stream");
        let to = MoveTarget::Stream(if self.is_map(unit) { self.streams.map() } else { wear });
        if self.fits(unit, to) {
            self.collect(unit, to, Cause::Wear, work)?;
            self.cleaner.counts.wear += 1;
        }
        Ok(())
    }
}
