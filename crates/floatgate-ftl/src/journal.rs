//! Journal of a translation layer: checkpoints and trims. With a checkpoint the layer finds its map
//! after a power loss without reading all of the flash. Trims leave no other mark on flash.
//!
//! Two areas behind the drive's erase units take turns. One has the last checkpoint and the later
//! trims. The next checkpoint goes to the other area, and is valid once its last page can be read:
//!
//! ```text
//!   |  the map, page by page  |  the units  | commit | trims | trims |  ...  free  ...  |
//! ```
//!
//! These units contain nothing else, so writing to the journal never waits for cleaning. The layer
//! writes trims when the host flushes, and before it erases anything: otherwise an older version of
//! a trimmed page could be the newest version left.

mod snapshot;

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use crate::addr::{Owner, Ppn, Stamp, Tag, Tpn, Unit};
use crate::geometry::{Geometry, Shape, ShapeError};
use crate::nand::{Cause, Chain, Nand, Tagged};
pub use snapshot::{CheckpointTrigger, Snapshot};

/// Bytes per record: of a page, a unit, a trim and a commit.
const PAGE_BYTES: u32 = 4;
const UNIT_BYTES: u32 = 8;
const TRIM_BYTES: u32 = 16;
const COMMIT_BYTES: u32 = 24;
const MAGIC: u64 = u64::from_le_bytes(*b"floatgat");

/// Position of the journal in a drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    drive: Geometry,
    map_pages: u32,
    unit_pages: u32,
    /// Erase units in each of the two areas.
    units: u32,
}

/// Record of an erase unit in a checkpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct UnitRecord {
    /// Number of erases.
    pub erases: u32,
    /// Stream for which the unit was opened.
    pub stream: u8,
}

/// A trim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trimmed {
    /// First page.
    pub first: u32,
    /// Number of pages.
    pub pages: u32,
    /// Sequence number of the trim; earlier writes have lower numbers.
    pub sequence: u64,
}

crate::state!(blank Trimmed { first, pages, sequence });

/// Content of a journal found on flash.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checkpoint {
    /// Stamp of the last page before the checkpoint.
    pub stamp: Stamp,
    /// Highest numbers up to the last page of the journal.
    pub last: Stamp,
    /// Physical page of each logical page.
    pub table: Vec<Option<Ppn>>,
    /// Record of each unit.
    pub units: Vec<UnitRecord>,
    /// Trims after the checkpoint.
    pub trims: Vec<Trimmed>,
    /// Journal pages that were read.
    pub reads: u64,
}

impl Layout {
    /// Creates the layout of the journal for a drive with this geometry.
    pub fn new(drive: Geometry) -> Self {
        let page = drive.shape().page_bytes;
        assert!(page >= COMMIT_BYTES, "a page of {page} bytes is too small for a journal");
        let map_pages = drive.logical_pages().div_ceil(page / PAGE_BYTES);
        let unit_pages = drive.units().div_ceil(page / UNIT_BYTES);
        // The rest of the last unit, and one more unit, are for trims.
        let units = (map_pages + unit_pages + 1).div_ceil(drive.pages_per_unit()) + 1;
        Self { drive, map_pages, unit_pages, units }
    }

    /// Returns the erase units that the journal takes in addition to the drive's units.
    pub const fn units(&self) -> u32 {
        2 * self.units
    }

    /// Returns the geometry of a medium with room for the drive and its journal.
    ///
    /// # Errors
    /// Both together exceed the largest supported flash.
    pub fn medium(&self) -> Result<Geometry, ShapeError> {
        let shape = *self.drive.shape();
        Geometry::new(Shape { units: shape.units + self.units(), ..shape })
    }

    fn unit(&self, area: u32, unit: u32) -> Unit {
        Unit(self.drive.units() + area * self.units + unit)
    }

    fn page(&self, area: u32, index: u32) -> Ppn {
        self.drive.page(self.unit(area, 0), index)
    }

    fn pages(&self) -> u32 {
        self.units * self.drive.pages_per_unit()
    }

    /// Returns the page of the commit record, which ends a checkpoint.
    fn commit_page(&self) -> u32 {
        self.map_pages + self.unit_pages
    }

    /// Yields the pages for trims.
    pub fn trims(&self) -> impl Iterator<Item = Ppn> {
        let (first, end) = (self.commit_page() + 1, self.pages());
        (0..2).flat_map(move |area| (first..end).map(move |index| self.page(area, index)))
    }

    /// Returns the number of trims that fit into a page.
    fn trims_per_page(&self) -> usize {
        (self.drive.shape().page_bytes / TRIM_BYTES) as usize
    }

    /// Finds the newest complete checkpoint and the trims behind it.
    pub fn find<N: Tagged>(&self, nand: &N) -> Option<Checkpoint> {
        let mut committed: Vec<_> =
            (0..2).filter_map(|area| Some((self.committed(nand, area)?, area))).collect();
        committed.sort_unstable_by_key(|&(stamp, area)| (stamp.serial, area));
        committed.into_iter().rev().find_map(|(stamp, area)| self.load(nand, area, stamp))
    }

    /// Returns the stamp at which the checkpoint of an area was taken, if the checkpoint is
    /// finished.
    fn committed<N: Tagged>(&self, nand: &N, area: u32) -> Option<Stamp> {
        let note = nand.payload(self.page(area, self.commit_page()))?;
        let word = |at: usize| Some(u64::from_le_bytes(*note.get(at..)?.first_chunk()?));
        (word(0)? == MAGIC).then_some(Stamp { sequence: word(8)?, serial: word(16)? })
    }

    fn load<N: Tagged>(&self, nand: &N, area: u32, stamp: Stamp) -> Option<Checkpoint> {
        let (logical, units) = (self.drive.logical_pages() as usize, self.drive.units() as usize);
        let mut table = Vec::with_capacity(logical);
        let limit = self.drive.physical_pages();
        // After a crash of the machine that stores the flash, the commit record can exist although
        // an earlier page is missing.
        let note = |index: u32| {
            let ppn = self.page(area, index);
            let serial = nand.tag(ppn)?.serial;
            (serial == stamp.serial + 1 + u64::from(index)).then(|| nand.payload(ppn))?
        };
        for index in 0..self.map_pages {
            let note = note(index)?;
            for word in note.as_chunks().0 {
                let stored = u32::from_le_bytes(*word);
                table.push(stored.checked_sub(1).filter(|&page| page < limit).map(Ppn::new));
            }
        }
        let mut notes = Vec::with_capacity(units);
        for index in self.map_pages..self.commit_page() {
            let note = note(index)?;
            notes.extend(note.as_chunks().0.iter().map(|&[a, b, c, d, stream, ..]: &[u8; 8]| {
                UnitRecord { erases: u32::from_le_bytes([a, b, c, d]), stream }
            }));
        }
        table.truncate(logical);
        notes.truncate(units);
        if table.len() < logical || notes.len() < units {
            return None;
        }
        let reads = u64::from(self.commit_page()) + 2;
        let mut found =
            Checkpoint { stamp, last: stamp, table, units: notes, trims: vec![], reads };
        self.load_trims(nand, area, &mut found);
        Some(found)
    }

    fn load_trims<N: Tagged>(&self, nand: &N, area: u32, found: &mut Checkpoint) {
        let per_unit = self.drive.pages_per_unit();
        for index in self.commit_page()..self.pages() {
            let (unit, page) = (self.unit(area, index / per_unit), index % per_unit);
            if page >= nand.programmed(unit) {
                return;
            }
            found.reads += 1;
            // An unreadable page was being written when the power failed. A page with an older
            // serial number is left over from an erase that a crash of the machine that stores the
            // flash cut short.
            let ppn = self.page(area, index);
            let is_newer = |tag: &Tag| tag.serial > found.last.serial;
            let Some(tag) = nand.tag(ppn).filter(is_newer) else { continue };
            found.last.serial = tag.serial;
            found.last.sequence = found.last.sequence.max(tag.sequence);
            if index == self.commit_page() {
                continue;
            }
            for record in nand.payload(ppn).unwrap_or_default().as_chunks().0 {
                found.trims.extend(Trimmed::unpack(record));
            }
        }
    }
}

impl Trimmed {
    fn pack(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.first.to_le_bytes());
        bytes.extend(self.pages.to_le_bytes());
        bytes.extend(self.sequence.to_le_bytes());
    }

    /// Returns `None` for padding in a page.
    fn unpack(record: &[u8; TRIM_BYTES as usize]) -> Option<Self> {
        let [first, pages] = [0, 4].map(|at| {
            u32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]])
        });
        let sequence = u64::from_le_bytes(*record.last_chunk()?);
        (pages > 0).then_some(Self { first, pages, sequence })
    }
}

/// Journal of a running drive.
#[derive(Clone, Debug)]
pub struct Journal {
    layout: Layout,
    /// Pages programmed between two checkpoints.
    every: u64,
    /// Area of the last checkpoint; `None` before the first.
    area: Option<u32>,
    /// Next free page of that area.
    next: u32,
    /// By area and unit: whether the unit must be erased before it is written.
    used: Vec<bool>,
    /// Trims that are not written yet.
    pending: Vec<Trimmed>,
    /// Serial number at which the last checkpoint was taken.
    since: u64,
    bytes: Vec<u8>,
}

crate::state!(Journal { area, next, used, pending, since, bytes } fixed { layout, every });

impl Journal {
    /// Creates an empty journal on erased flash. It takes a checkpoint after every `every`
    /// programmed pages.
    pub fn new(layout: Layout, every: u64) -> Self {
        Self {
            layout,
            every,
            area: None,
            next: 0,
            used: vec![false; layout.units() as usize],
            pending: Vec::new(),
            since: 0,
            bytes: Vec::new(),
        }
    }

    /// Creates the journal of a recovered drive. Its first write is a checkpoint, and goes to the
    /// area without the newest checkpoint: that checkpoint must stay intact until the new one is
    /// complete.
    pub fn recovered<N: Tagged>(layout: Layout, every: u64, nand: &N) -> Self {
        let units = (0..2).flat_map(|area| (0..layout.units).map(move |unit| (area, unit)));
        let used = units.map(|(area, unit)| nand.programmed(layout.unit(area, unit)) > 0).collect();
        let committed =
            (0..2).filter_map(|area| Some((layout.committed(nand, area)?.serial, area)));
        let newest = committed.max();
        let (since, area) = (newest.map_or(0, |newest| newest.0), newest.map(|newest| newest.1));
        Self { used, area, since, next: layout.pages(), ..Self::new(layout, every) }
    }

    /// Records a trim, to be written later.
    pub fn trim(&mut self, lpns: Range<u32>, sequence: u64) {
        let pages = lpns.end - lpns.start;
        match self.pending.last_mut() {
            // No page was written between the two trims.
            Some(last)
                if (last.first + last.pages, last.sequence + 1) == (lpns.start, sequence) =>
            {
                last.pages += pages;
                last.sequence = sequence;
            }
            _ => self.pending.push(Trimmed { first: lpns.start, pages, sequence }),
        }
    }

    /// Writes a checkpoint or the pending trims, if the trigger asks for it.
    ///
    /// # Errors
    /// An error of the medium.
    pub fn keep<N: Nand>(
        &mut self,
        trigger: CheckpointTrigger,
        nand: &mut N,
        drive: Snapshot<'_>,
        stamp: &mut Stamp,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        if self.takes_checkpoint(trigger, *stamp) {
            self.checkpoint(nand, drive, stamp, chain)
        } else if trigger == CheckpointTrigger::Trims {
            self.flush(nand, stamp, chain)
        } else {
            Ok(())
        }
    }

    /// Returns whether the trigger causes a checkpoint. If the area has no room for the pending
    /// trims, a checkpoint records them instead.
    pub fn takes_checkpoint(&self, trigger: CheckpointTrigger, stamp: Stamp) -> bool {
        match trigger {
            CheckpointTrigger::Trims => {
                let pages = self.pending.len().div_ceil(self.layout.trims_per_page());
                let end = self.next as usize + pages;
                pages > 0 && (self.area.is_none() || end > self.layout.pages() as usize)
            }
            CheckpointTrigger::Due => stamp.serial - self.since >= self.every,
            CheckpointTrigger::Now => true,
        }
    }

    /// Writes the pending trims.
    fn flush<N: Nand>(
        &mut self,
        nand: &mut N,
        stamp: &mut Stamp,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        let per_page = self.layout.trims_per_page();
        let Some(area) = self.area.filter(|_| !self.pending.is_empty()) else { return Ok(()) };
        let pending = core::mem::take(&mut self.pending);
        for trims in pending.chunks(per_page) {
            self.bytes.clear();
            trims.iter().for_each(|trim| trim.pack(&mut self.bytes));
            self.program(nand, (area, self.next), stamp, chain)?;
            self.next += 1;
        }
        self.pad(nand, area, chain)
    }

    /// Pads the open program unit, if a power loss would otherwise lose the pages just written.
    fn pad<N: Nand>(&mut self, nand: &mut N, area: u32, chain: &mut Chain) -> Result<(), N::Error> {
        let drive = &self.layout.drive;
        let next = self.layout.page(area, self.next);
        let left = drive.left_in_program_unit(next);
        if !drive.loses_pages() || left == drive.program_unit() {
            return Ok(());
        }
        self.next += left;
        nand.pad(next, left, chain)
    }

    /// Writes a checkpoint: the physical page of each logical page, and the record of each unit.
    fn checkpoint<N: Nand>(
        &mut self,
        nand: &mut N,
        drive: Snapshot<'_>,
        stamp: &mut Stamp,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        let (layout, taken) = (self.layout, *stamp);
        let area = self.area.map_or(0, |area| 1 - area);
        for unit in 0..layout.units {
            if core::mem::take(&mut self.used[(area * layout.units + unit) as usize]) {
                nand.erase(layout.unit(area, unit), Cause::Journal, chain)?;
            }
        }
        let packed = drive.places().map(|ppn| ppn.map_or(0, |ppn| ppn.get() + 1).to_le_bytes());
        self.program_all(nand, (area, 0), packed, stamp, chain)?;
        let units = drive.units(layout.drive.units());
        let packed = units.map(|UnitRecord { erases, stream }| {
            let [a, b, c, d] = erases.to_le_bytes();
            [a, b, c, d, stream, 0, 0, 0]
        });
        self.program_all(nand, (area, layout.map_pages), packed, stamp, chain)?;
        self.bytes.clear();
        for word in [MAGIC, taken.sequence, taken.serial] {
            self.bytes.extend(word.to_le_bytes());
        }
        self.program(nand, (area, layout.commit_page()), stamp, chain)?;
        self.pending.clear();
        self.area = Some(area);
        self.next = layout.commit_page() + 1;
        self.since = taken.serial;
        self.pad(nand, area, chain)
    }

    /// Programs records one after the other from a page on, with as many records per page as fit.
    fn program_all<N: Nand, const SIZE: usize>(
        &mut self,
        nand: &mut N,
        (area, mut index): (u32, u32),
        records: impl Iterator<Item = [u8; SIZE]>,
        stamp: &mut Stamp,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        let most = self.layout.drive.shape().page_bytes as usize / SIZE * SIZE;
        let mut records = records.peekable();
        while records.peek().is_some() {
            self.bytes.clear();
            while self.bytes.len() < most
                && let Some(record) = records.next()
            {
                self.bytes.extend(record);
            }
            self.program(nand, (area, index), stamp, chain)?;
            index += 1;
        }
        Ok(())
    }

    /// Programs the content of the byte buffer.
    fn program<N: Nand>(
        &mut self,
        nand: &mut N,
        (area, index): (u32, u32),
        stamp: &mut Stamp,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        let to = self.layout.page(area, index);
        let unit = index / self.layout.drive.pages_per_unit();
        self.used[(area * self.layout.units + unit) as usize] = true;
        let owner = Owner::Translation(Tpn::new(index));
        stamp.serial += 1;
        nand.load_payload(&self.bytes);
        nand.program(to, Tag::new(owner, stamp.sequence, stamp.serial), Cause::Journal, chain)
    }
}

#[cfg(test)]
mod tests;
