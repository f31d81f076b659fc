//! Keeps the sync point true before and after changes of the file.

use std::ops::Range;

use floatgate_ftl::addr::Unit;

use super::Stored;
use super::format::{POINT_AT, PageContent};
use super::point::SyncPoint;
use super::tally::Tally;

impl Stored {
    /// Puts everything done so far on the disk before it returns, unless there is a fault.
    pub fn sync(&mut self) {
        let _ = self.try_sync();
    }

    /// Syncs, and notes that the drive was shut down. The note stands until the next change.
    pub fn close(&mut self) {
        let _ = self.try_close();
    }
}

/// Implementation of the operations. They return None after a fault, now or earlier.
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
        // The sync point may reach the disk at any time, because the pages that it covers are there
        // already.
        let (serial, synced) = self.written();
        self.set_point(SyncPoint { serial, synced, erasing: [None; 2], ..self.point })
    }

    fn try_close(&mut self) -> Option<()> {
        self.try_sync()?;
        self.set_point(SyncPoint { is_closed: true, ..self.point })?;
        self.image.sync()
    }

    /// Removes the note of a shutdown, before anything is programmed or erased.
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

    /// Prepares for programs of pages with serial numbers in this range.
    pub(super) fn announce(&mut self, serials: Range<u64>) -> Option<()> {
        self.begin_changes()?;
        if serials.start < self.point.serial {
            // The numbers started again at a lower number, for example after an erase of the page
            // with the highest one. The sync point must not cover pages that are yet to come.
            self.set_point(SyncPoint { serial: serials.start, ..self.point })?;
            self.image.sync()?;
            self.set_point(SyncPoint { synced: self.tally, erasing: [None; 2], ..self.point })?;
            self.next_point = serials.start;
        }
        self.next_point = self.next_point.max(serials.end);
        Some(())
    }

    /// Removes the pages of a unit from the tallies. Returns the tally of the synced pages of the
    /// other units.
    pub(super) fn forget(&mut self, unit: Unit, pages: &[PageContent]) -> Tally {
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
