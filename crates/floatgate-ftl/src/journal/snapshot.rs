//! What a checkpoint is of, and what makes the journal take one.

use super::UnitRecord;
use crate::addr::{Lpn, Ppn, Unit};
use crate::unit_table::UnitTable;

/// What makes the journal write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CheckpointTrigger {
    /// If there are trims that are not written down.
    Trims,
    /// If enough has been programmed since the last checkpoint.
    Due,
    /// A checkpoint, whatever there is.
    Now,
}

/// What a checkpoint is of.
#[derive(Clone, Copy)]
pub struct Snapshot<'a> {
    /// Where each logical page is.
    pub table: &'a [Option<Ppn>],
    /// A page that is being remapped, and where it is: the map says neither.
    pub remapping: Option<(Lpn, Ppn)>,
    /// The units.
    pub units: &'a UnitTable,
}

impl Snapshot<'_> {
    pub(super) fn places(&self) -> impl Iterator<Item = Option<Ppn>> {
        let remapped = self.remapping.map(|(lpn, ppn)| (lpn.index(), ppn));
        let pages = self.table.iter().enumerate();
        pages.map(move |(at, &ppn)| match remapped {
            Some((lpn, place)) if lpn == at => Some(place),
            _ => ppn,
        })
    }

    pub(super) fn units(&self, units: u32) -> impl Iterator<Item = UnitRecord> {
        (0..units).map(Unit).map(|unit| UnitRecord {
            erases: self.units.lifetime_erases(unit),
            stream: self.units.stream(unit),
        })
    }
}
