//! What the file says was synced, before and after it is changed.

use std::ops::Range;

use floatgate_ftl::addr::Unit;

use super::Stored;
use super::format::{Found, POINT_AT};
use super::point::SyncPoint;
use super::tally::Tally;

impl Stored {
    /// All that was done so far is on the disk when this returns, unless there is a fault.
    pub fn sync(&mut self) {
        let _ = self.try_sync();
    }

    /// Syncs, and notes that the drive was shut down. The note stands until something is changed.
    pub fn close(&mut self) {
        let _ = self.try_close();
    }
}

/// The work. None if there was a fault, now or before.
impl Stored {
    fn try_sync(&mut self) -> Option<()> {
        if self.image.is_read_only() {
            return Some(());
        }
        self.try_keep_life()?;
        if self.is_changed {
            self.image.sync()?;
            self.is_changed = false;
        }
        // It may reach the disk whenever it does: the pages that it speaks of are there.
        let (serial, synced) = self.written();
        self.set_point(SyncPoint { serial, synced, erasing: [None; 2], ..self.point })
    }

    fn try_close(&mut self) -> Option<()> {
        self.try_sync()?;
        self.set_point(SyncPoint { is_closed: true, ..self.point })?;
        self.image.sync()
    }

    /// Before anything is programmed or erased.
    pub(super) fn begin_changes(&mut self) -> Option<()> {
        if self.point.is_closed {
            self.set_point(SyncPoint { is_closed: false, ..self.point })?;
            self.image.sync()?;
        }
        Some(())
    }

    pub(super) fn set_point(&mut self, point: SyncPoint) -> Option<()> {
        if self.point != point {
            self.image.write(POINT_AT, &point.encode()[..self.header.point_bytes()])?;
            self.point = point;
        }
        Some(())
    }

    /// Before pages with serial numbers of this range are programmed.
    pub(super) fn announce(&mut self, serials: Range<u64>) -> Option<()> {
        self.begin_changes()?;
        if serials.start < self.point.serial {
            // The numbers began anew, as after the erase of the page with the highest. The sync
            // point must not vouch for pages that are yet to come.
            self.set_point(SyncPoint { serial: serials.start, ..self.point })?;
            self.image.sync()?;
            self.set_point(SyncPoint { synced: self.tally, erasing: [None; 2], ..self.point })?;
            self.next_point = serials.start;
        }
        self.next_point = self.next_point.max(serials.end);
        Some(())
    }

    /// Counts the pages of a unit no longer. The answer is the synced pages of the other units.
    pub(super) fn forget(&mut self, unit: Unit, pages: &[Found]) -> Tally {
        let mut synced = self.point.synced;
        for page in pages {
            let Some(serial) = page.serial() else { continue };
            self.tally.remove(page);
            if self.point.covers(unit, serial) {
                synced.remove(page);
            }
            for row in self.begun.values_mut().filter(|row| row.first() > Some(serial)) {
                row.before.remove(page);
            }
        }
        synced
    }
}
