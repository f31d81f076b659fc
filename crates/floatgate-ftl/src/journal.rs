//! What a layer writes down for itself: checkpoints, so that it finds its map again after a loss of
//! power without reading all of the flash, and trims, which leave no other mark there.
//!
//! Two areas behind the drive's erase units take turns. In one is the last checkpoint and what was
//! trimmed since; the next checkpoint goes to the other, and counts when its last page can be read:
//!
//! ```text
//!   |  the map, page by page  |  the units  | commit | trims | trims |  ...  free  ...  |
//! ```
//!
//! Nothing else is in these units, so writing there never has to wait for cleaning. A trim is
//! written down when the host flushes, and before anything is erased: else an older version of what
//! was trimmed could be the newest that is left.

mod snapshot;

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use crate::addr::{Owner, Ppn, Stamp, Tag, Tpn, Unit};
use crate::geometry::{Geometry, Shape, ShapeError};
use crate::nand::{Cause, Chain, Nand, Tagged};
pub use snapshot::{CheckpointTrigger, Snapshot};

/// Bytes of what is noted of a page, of a unit, of a trim, and in a commit record.
const PAGE_BYTES: u32 = 4;
const UNIT_BYTES: u32 = 8;
const TRIM_BYTES: u32 = 16;
const COMMIT_BYTES: u32 = 24;
const MAGIC: u64 = u64::from_le_bytes(*b"floatgat");

/// Where the journal of a drive is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    drive: Geometry,
    map_pages: u32,
    unit_pages: u32,
    /// Erase units of one of the two areas.
    units: u32,
}

/// What a checkpoint says of an erase unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct UnitRecord {
    /// How often it has been erased.
    pub erases: u32,
    /// The stream that it was opened for.
    pub stream: u8,
}

/// A trim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trimmed {
    /// The first page.
    pub first: u32,
    /// How many pages.
    pub pages: u32,
    /// What was written before it has a lower number.
    pub sequence: u64,
}

crate::state!(blank Trimmed { first, pages, sequence });

/// What is found of a journal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checkpoint {
    /// Of the last page before the checkpoint.
    pub stamp: Stamp,
    /// Of the last page of the journal.
    pub last: Stamp,
    /// Where each logical page is.
    pub table: Vec<Option<Ppn>>,
    /// What was known of each unit.
    pub units: Vec<UnitRecord>,
    /// What was trimmed since.
    pub trims: Vec<Trimmed>,
    /// Pages of the journal that were read.
    pub reads: u64,
}

impl Layout {
    /// The journal of a drive with this geometry.
    pub fn new(drive: Geometry) -> Self {
        let page = drive.shape().page_bytes;
        assert!(page >= COMMIT_BYTES, "a page of {page} bytes is too small for a journal");
        let map_pages = drive.logical_pages().div_ceil(page / PAGE_BYTES);
        let unit_pages = drive.units().div_ceil(page / UNIT_BYTES);
        // What is left in the last of them, and another one, are for trims.
        let units = (map_pages + unit_pages + 1).div_ceil(drive.pages_per_unit()) + 1;
        Self { drive, map_pages, unit_pages, units }
    }

    /// Erase units that the journal takes beside those of the drive.
    pub const fn units(&self) -> u32 {
        2 * self.units
    }

    /// The geometry of a medium that has room for the drive and its journal.
    ///
    /// # Errors
    /// Both together are larger than flash can be.
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

    /// The page that ends a checkpoint: its commit record.
    fn commit_page(&self) -> u32 {
        self.map_pages + self.unit_pages
    }

    /// The pages that trims are noted in.
    pub fn trims(&self) -> impl Iterator<Item = Ppn> {
        let (first, end) = (self.commit_page() + 1, self.pages());
        (0..2).flat_map(move |area| (first..end).map(move |index| self.page(area, index)))
    }

    /// Trims that fit into a page.
    fn trims_per_page(&self) -> usize {
        (self.drive.shape().page_bytes / TRIM_BYTES) as usize
    }

    /// The newest checkpoint that is whole, and what is noted behind it.
    pub fn find<N: Tagged>(&self, nand: &N) -> Option<Checkpoint> {
        let mut committed: Vec<_> =
            (0..2).filter_map(|area| Some((self.committed(nand, area)?, area))).collect();
        committed.sort_unstable_by_key(|&(stamp, area)| (stamp.serial, area));
        committed.into_iter().rev().find_map(|(stamp, area)| self.load(nand, area, stamp))
    }

    /// When the checkpoint of an area was taken, if it was finished.
    fn committed<N: Tagged>(&self, nand: &N, area: u32) -> Option<Stamp> {
        let note = nand.payload(self.page(area, self.commit_page()))?;
        let word = |at: usize| Some(u64::from_le_bytes(*note.get(at..)?.first_chunk()?));
        (word(0)? == MAGIC).then_some(Stamp { sequence: word(8)?, serial: word(16)? })
    }

    fn load<N: Tagged>(&self, nand: &N, area: u32, stamp: Stamp) -> Option<Checkpoint> {
        let (logical, units) = (self.drive.logical_pages() as usize, self.drive.units() as usize);
        let mut table = Vec::with_capacity(logical);
        let limit = self.drive.physical_pages();
        // After a crash of the machine that stores it, a commit record may be there and what is
        // before it not.
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
            // One that cannot be read was being written when the power failed. An older one is what
            // an erase has left that a crash of the machine which stores it has cut short.
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

    /// Nothing for what fills up a page.
    fn unpack(record: &[u8; TRIM_BYTES as usize]) -> Option<Self> {
        let [first, pages] = [0, 4].map(|at| {
            u32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]])
        });
        let sequence = u64::from_le_bytes(*record.last_chunk()?);
        (pages > 0).then_some(Self { first, pages, sequence })
    }
}

/// The journal of a drive that is running.
#[derive(Clone, Debug)]
pub struct Journal {
    layout: Layout,
    /// Pages that are programmed between two checkpoints.
    every: u64,
    /// Where the last checkpoint is; neither before the first.
    area: Option<u32>,
    /// The next free page of that area.
    next: u32,
    /// Units that have to be erased before they are written, by area and unit.
    used: Vec<bool>,
    /// What was trimmed and is not written down.
    pending: Vec<Trimmed>,
    /// When the last checkpoint was taken.
    since: u64,
    bytes: Vec<u8>,
}

crate::state!(Journal { area, next, used, pending, since, bytes } fixed { layout, every });

impl Journal {
    /// An empty journal on erased flash, with a checkpoint every so many pages programmed.
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

    /// The journal of a drive that was found again; the first thing to go there is a checkpoint.
    /// It goes where the one that was found is not: that must be whole until this is.
    pub fn recovered<N: Tagged>(layout: Layout, every: u64, nand: &N) -> Self {
        let units = (0..2).flat_map(|area| (0..layout.units).map(move |unit| (area, unit)));
        let used = units.map(|(area, unit)| nand.programmed(layout.unit(area, unit)) > 0).collect();
        let committed =
            (0..2).filter_map(|area| Some((layout.committed(nand, area)?.serial, area)));
        let newest = committed.max();
        let (since, area) = (newest.map_or(0, |newest| newest.0), newest.map(|newest| newest.1));
        Self { used, area, since, next: layout.pages(), ..Self::new(layout, every) }
    }

    /// Notes a trim, to be written down later.
    pub fn trim(&mut self, lpns: Range<u32>, sequence: u64) {
        let pages = lpns.end - lpns.start;
        match self.pending.last_mut() {
            // Nothing was written between the two.
            Some(last)
                if (last.first + last.pages, last.sequence + 1) == (lpns.start, sequence) =>
            {
                last.pages += pages;
                last.sequence = sequence;
            }
            _ => self.pending.push(Trimmed { first: lpns.start, pages, sequence }),
        }
    }

    /// Writes down what there is to be written, if the trigger asks for it.
    ///
    /// # Errors
    /// The medium's fault.
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

    /// Whether a checkpoint is taken; if there is no room for trims it writes them down, too.
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

    /// Writes down what was trimmed.
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

    /// What was written down is programmed, if a loss of power would take it before.
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

    /// Writes down where each page is, and what is known of each unit.
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

    /// Programs records one after the other, as many into a page as fit, from a page on.
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

    /// Programs what is in the buffer.
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
