//! Recovery after a power loss: rebuilds the map from the content of the flash.
//!
//! 1. **Journal.** The last checkpoint has the position of each page at that time
//!    ([`crate::journal`]). Without a checkpoint, recovery starts with an empty map.
//! 2. **Scan.** Recovery reads the out-of-band areas of pages programmed after the checkpoint. The
//!    pages of a unit are in the order of their serial numbers. So the scan reads each unit from
//!    its end to the first page that is older than the checkpoint. Without a checkpoint it reads
//!    every page.
//! 3. **Replay.** The tag of a page names a logical page. The tag of a log page names the page's
//!    original address, whether or not the remap has happened, because a remap leaves no mark on
//!    flash (docs/algorithms.md, 9.8). Among all pages that name the same logical page, the highest
//!    sequence number wins; among copies with equal sequence numbers, the copy programmed last
//!    wins. A copy of a page in the checkpoint has the same content at another place.
//! 4. **Trims.** Pages written before a trim are forgotten.
//!
//! For the log of SHRD this gives the rules of docs/algorithms.md, 9.8:
//!
//! - (a) Among several log pages for one original address, the newest wins.
//! - (b) A page at its original address wins if it is newer than the log pages.
//! - (c) A log page without an original address has no owner: its write was never acknowledged.
//! - (d) The log is empty afterwards.

use alloc::vec;
use alloc::vec::Vec;

use crate::addr::{Lpn, Owner, Ppn, Stamp, Tag, Unit};
use crate::geometry::Geometry;
use crate::journal::{Checkpoint, UnitRecord};
use crate::nand::{Cause, Chain, Nand, Tagged};

/// Cost of recovering a drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Mount {
    /// Whether there was a checkpoint.
    pub from_checkpoint: bool,
    /// Journal pages that were read.
    pub journal_reads: u64,
    /// Pages whose out-of-band area was read.
    pub tag_reads: u64,
    /// Pages moved to make room, and rewritten map pages.
    pub moved: u64,
    /// Rewritten map pages, and pages of the new checkpoint.
    pub map_programs: u64,
    /// Units without a valid page that were erased.
    pub erased: u64,
}

/// Scan result of a unit that is not erased.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FoundUnit {
    /// The unit.
    pub unit: Unit,
    /// Index after the last programmed page.
    pub programmed: u32,
    /// Highest serial number in the unit.
    pub last: u64,
    /// Owner of one of its pages; all owners in a unit are of the same kind. `None` if no page is
    /// readable.
    pub kind: Option<Owner>,
    /// The unit's record in the checkpoint, if the unit was not erased since.
    pub note: Option<UnitRecord>,
}

/// Newest version of every logical page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScanResult {
    /// Stamp of the last page.
    pub stamp: Stamp,
    /// Physical page by logical page; `None` for pages of the log.
    pub table: Vec<Option<Ppn>>,
    /// Units that are not erased; the unit programmed last is at the end.
    pub units: Vec<FoundUnit>,
    /// Erases of each unit, as far as the checkpoint and the flash show them.
    pub erases: Vec<u32>,
    /// Cost of the scan.
    pub mount: Mount,
}

impl ScanResult {
    /// Erases the units without a valid page and drops them. `table` has the positions of the valid
    /// pages.
    ///
    /// # Errors
    /// An error of the medium.
    pub fn erase_without_valid<N: Nand>(
        &mut self,
        nand: &mut N,
        (geometry, table): (&Geometry, &[Option<Ppn>]),
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        let mut has_valid = vec![false; geometry.units() as usize];
        for &ppn in table.iter().flatten() {
            has_valid[geometry.unit(ppn).index()] = true;
        }
        for found in self.units.iter().filter(|found| !has_valid[found.unit.index()]) {
            nand.erase(found.unit, cause, chain)?;
            self.erases[found.unit.index()] += 1;
            self.mount.erased += 1;
        }
        self.units.retain(|found| has_valid[found.unit.index()]);
        Ok(())
    }
}

/// Yields the owner of each page in a map.
pub fn owners(table: &[Option<Ppn>]) -> impl Iterator<Item = (Ppn, Owner)> {
    let mapped = table.iter().enumerate().filter_map(|(at, ppn)| Some((at, (*ppn)?)));
    mapped.map(|(at, ppn)| (ppn, Owner::Data(Lpn::new(at as u32))))
}

/// Scans a drive whose last `log_pages` logical pages are the log. `checkpoint` comes from its
/// journal, if there is one.
pub fn scan<N: Tagged>(
    nand: &N,
    geometry: &Geometry,
    log_pages: u32,
    mut checkpoint: Option<Checkpoint>,
) -> ScanResult {
    let log = geometry.logical_pages() - log_pages;
    let mut scan = Scan::new(nand, log, geometry);
    match &mut checkpoint {
        Some(checkpoint) => scan.begin(checkpoint),
        None => scan.table = vec![None; geometry.logical_pages() as usize],
    }
    let before = checkpoint.as_ref().map_or(0, |checkpoint| checkpoint.stamp.serial);
    let mut units = Vec::new();
    for unit in (0..geometry.units()).map(Unit).filter(|&unit| nand.programmed(unit) > 0) {
        let mut found = scan.unit(unit, before);
        if let Some(checkpoint) = &checkpoint
            && !found.is_new
        {
            found.unit.note = Some(checkpoint.units[unit.index()]);
        }
        units.push(found.unit);
    }
    units.sort_unstable_by_key(|found| found.last);
    if checkpoint.is_some() {
        let mut is_as_it_was = vec![false; geometry.units() as usize];
        for found in units.iter().filter(|found| found.note.is_some()) {
            is_as_it_was[found.unit.index()] = true;
        }
        scan.drop_lost(&is_as_it_was);
    }
    for trim in checkpoint.iter().flat_map(|checkpoint| &checkpoint.trims) {
        scan.forget(trim.first, trim.pages, trim.sequence);
    }
    let mut erases: Vec<u32> = vec![0; geometry.units() as usize];
    if let Some(checkpoint) = &checkpoint {
        erases.iter_mut().zip(&checkpoint.units).for_each(|(erases, note)| *erases = note.erases);
        // The unit was erased at least once since the checkpoint.
        for found in units.iter().filter(|found| found.note.is_none()) {
            erases[found.unit.index()] += 1;
        }
    }
    let Scan { table, stamp, mount, .. } = scan;
    ScanResult { stamp, table, units, erases, mount }
}

/// A unit, and whether all its readable pages are newer than the checkpoint.
struct Scanned {
    unit: FoundUnit,
    is_new: bool,
}

/// A scan in progress.
struct Scan<'a, N> {
    nand: &'a N,
    geometry: &'a Geometry,
    log: u32,
    table: Vec<Option<Ppn>>,
    /// Sequence number of each page in the table; 0 for entries that come only from the checkpoint.
    sequences: Vec<u64>,
    stamp: Stamp,
    mount: Mount,
    tags: Vec<Option<Tag>>,
}

impl<'a, N: Tagged> Scan<'a, N> {
    fn new(nand: &'a N, log: u32, geometry: &'a Geometry) -> Self {
        let pages = geometry.logical_pages() as usize;
        Self {
            nand,
            geometry,
            log,
            table: Vec::new(),
            sequences: vec![0; pages],
            stamp: Stamp::default(),
            mount: Mount::default(),
            tags: Vec::new(),
        }
    }

    /// Starts from a checkpoint. A page in the log may be newer or older than the page at its
    /// original address, so this compares their tags.
    fn begin(&mut self, checkpoint: &mut Checkpoint) {
        self.stamp = checkpoint.last;
        self.mount.from_checkpoint = true;
        self.mount.journal_reads = checkpoint.reads;
        self.table = core::mem::take(&mut checkpoint.table);
        let before = checkpoint.stamp.serial;
        let old = |tag: &Tag| tag.serial <= before;
        let logged: Vec<Ppn> =
            self.table[self.log as usize..].iter_mut().filter_map(Option::take).collect();
        for ppn in logged {
            let Some(tag) = self.tag(ppn).filter(old) else { continue };
            let Some(lpn) = self.speaks_for(tag) else { continue };
            if self.sequences[lpn.index()] == 0
                && let Some(place) = self.table[lpn.index()]
            {
                let at_place = self.tag(place).filter(old);
                self.sequences[lpn.index()] = at_place.map_or(0, |tag| tag.sequence);
            }
            self.hear(ppn, tag);
        }
    }

    /// Returns the logical page that a page counts for after a power loss.
    fn speaks_for(&self, tag: Tag) -> Option<Lpn> {
        let lpn = match (tag.owner, tag.original) {
            (_, Some(original)) => original,
            (Owner::Data(lpn), None) => lpn,
            (Owner::Translation(_), None) => return None,
        };
        (lpn.get() < self.log).then_some(lpn)
    }

    /// Drops entries that come only from the checkpoint and whose unit was erased since. A copy
    /// must have existed, but cannot be read. Flash that obeys its rules has no such entries.
    fn drop_lost(&mut self, is_as_it_was: &[bool]) {
        for (ppn, &sequence) in self.table.iter_mut().zip(&self.sequences) {
            if sequence == 0
                && ppn.is_some_and(|ppn| !is_as_it_was[self.geometry.unit(ppn).index()])
            {
                *ppn = None;
            }
        }
    }

    fn tag(&mut self, ppn: Ppn) -> Option<Tag> {
        self.mount.tag_reads += 1;
        self.nand.tag(ppn)
    }

    /// Reads the tags of a unit's pages that were programmed after serial number `before`.
    fn unit(&mut self, unit: Unit, before: u64) -> Scanned {
        let programmed = self.nand.programmed(unit);
        let mut found = FoundUnit { unit, programmed, last: 0, kind: None, note: None };
        let mut is_new = true;
        let mut tags = core::mem::take(&mut self.tags);
        if before == 0 {
            self.nand.tags(unit, self.geometry, &mut tags);
            self.mount.tag_reads += u64::from(programmed);
        }
        for page in (0..programmed).rev() {
            let ppn = self.geometry.page(unit, page);
            let tag = if before == 0 { tags[page as usize] } else { self.tag(ppn) };
            let Some(tag) = tag else { continue };
            found.last = found.last.max(tag.serial);
            found.kind = Some(tag.owner);
            if tag.serial <= before {
                is_new = false;
                break;
            }
            self.stamp.sequence = self.stamp.sequence.max(tag.sequence);
            self.stamp.serial = self.stamp.serial.max(tag.serial);
            self.hear(ppn, tag);
        }
        self.tags = tags;
        Scanned { unit: found, is_new }
    }

    /// Applies the tag of a page: the page enters the table if it is newer than the known version.
    fn hear(&mut self, ppn: Ppn, tag: Tag) {
        let Some(lpn) = self.speaks_for(tag) else { return };
        let known = self.sequences[lpn.index()];
        let is_newer = match self.table[lpn.index()] {
            Some(twin) if known == tag.sequence => {
                self.tag(twin).is_none_or(|twin| twin.serial < tag.serial)
            }
            Some(_) => known < tag.sequence,
            None => true,
        };
        if is_newer {
            self.table[lpn.index()] = Some(ppn);
            self.sequences[lpn.index()] = tag.sequence;
        }
    }

    fn forget(&mut self, first: u32, pages: u32, sequence: u64) {
        let end = first.saturating_add(pages).min(self.log);
        for lpn in first.min(end) as usize..end as usize {
            if self.sequences[lpn] < sequence {
                self.table[lpn] = None;
            }
        }
    }
}

#[cfg(test)]
mod tests;
