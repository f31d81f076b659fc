//! Content of a checkpoint, and the triggers of the journal.

use super::UnitRecord;
use crate::addr::{Lpn, Ppn, Unit};
use crate::unit_table::UnitTable;

/// Reason for the journal to write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CheckpointTrigger {
    /// The pending trims must be written, if there are any.
    Trims,
    /// A checkpoint is taken if enough pages were programmed since the last one.
    Due,
    /// A checkpoint is taken unconditionally.
    Now,
}

/// State of a drive that a checkpoint saves.
#[derive(Clone, Copy)]
pub struct Snapshot<'a> {
    /// Physical page of each logical page.
    pub table: &'a [Option<Ppn>],
    /// Log page that is being remapped, and its physical page. Meanwhile the map has no entry for
    /// it.
    pub remapping: Option<(Lpn, Ppn)>,
    /// State of the units.
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
