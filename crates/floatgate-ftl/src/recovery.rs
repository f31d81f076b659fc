//! After a loss of power: where everything is, from what is on flash.
//!
//! 1. **Journal.** The last checkpoint says where each page was ([`crate::journal`]). Without one,
//!    nothing is known.
//! 2. **Scan.** The out-of-band areas of what was programmed since: in a unit the pages are in the
//!    order of their serial numbers, so each is read from its end to the first page that is older
//!    than the checkpoint. Without a checkpoint every page is read.
//! 3. **Replay.** A page speaks for the logical page in its tag; a page of the log for the one that
//!    it was to be remapped to, whether or not the remap has happened, for a remap leaves no mark
//!    on flash (docs/algorithms.md, 9.8). Of all that speak for a logical page the one with the
//!    highest sequence number is right, and of its copies the one programmed last. A copy of what
//!    the checkpoint knew is what it knew, elsewhere.
//! 4. **Trims.** What was written before a trim is forgotten.
//!
//! For the log of SHRD this comes to the rules there: (a) of several in the log the newest
//! is right, (b) one at its place if it is newer than those in the log, (c) a page of the log that
//! names no other is nobody's: its write was never acknowledged; (d) the log is empty afterwards.

use alloc::vec;
use alloc::vec::Vec;

use crate::addr::{Lpn, Owner, Ppn, Stamp, Tag, Unit};
use crate::geometry::Geometry;
use crate::journal::{Checkpoint, UnitRecord};
use crate::nand::{Cause, Chain, Nand, Tagged};

/// What finding a drive again has cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Mount {
    /// Whether there was a checkpoint.
    pub from_checkpoint: bool,
    /// Pages of the journal that were read.
    pub journal_reads: u64,
    /// Pages of which the out-of-band area was read.
    pub tag_reads: u64,
    /// Pages moved to make room, and pages of the map written anew.
    pub moved: u64,
    /// Pages of the map that were written anew, and of the new checkpoint.
    pub map_programs: u64,
    /// Units without a valid page that were erased.
    pub erased: u64,
}

/// What a scan says of a unit that is not erased.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FoundUnit {
    /// The unit.
    pub unit: Unit,
    /// The page after the last one programmed.
    pub programmed: u32,
    /// The highest serial number.
    pub last: u64,
    /// Whom a page of it is for: a unit has pages of one kind. None if none can be read.
    pub kind: Option<Owner>,
    /// What the checkpoint says of it, if it was not erased since.
    pub note: Option<UnitRecord>,
}

/// The newest page of everything.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// Of the last page.
    pub stamp: Stamp,
    /// By logical page; nothing for those of the log.
    pub table: Vec<Option<Ppn>>,
    /// Units that are not erased, the one programmed last at the end.
    pub units: Vec<FoundUnit>,
    /// Erases of each unit, as far as they are known.
    pub erases: Vec<u32>,
    /// What it has cost.
    pub mount: Mount,
}

impl Found {
    /// Erases the units without a valid page and forgets them; `table` says where valid pages are.
    ///
    /// # Errors
    /// The medium's fault.
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

/// What a map says of whom pages belong to.
pub fn owners(table: &[Option<Ppn>]) -> impl Iterator<Item = (Ppn, Owner)> {
    let mapped = table.iter().enumerate().filter_map(|(at, ppn)| Some((at, (*ppn)?)));
    mapped.map(|(at, ppn)| (ppn, Owner::Data(Lpn::new(at as u32))))
}

/// Finds a drive whose last `log_pages` logical pages are the log. `checkpoint` is that of its
/// journal, if there is one.
pub fn scan<N: Tagged>(
    nand: &N,
    geometry: &Geometry,
    log_pages: u32,
    mut checkpoint: Option<Checkpoint>,
) -> Found {
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
        // It has been erased since, once at least.
        for found in units.iter().filter(|found| found.note.is_none()) {
            erases[found.unit.index()] += 1;
        }
    }
    let Scan { table, stamp, mount, .. } = scan;
    Found { stamp, table, units, erases, mount }
}

/// A unit, and whether all that can be read of it is newer than the checkpoint.
struct Scanned {
    unit: FoundUnit,
    is_new: bool,
}

/// A scan under way.
struct Scan<'a, N> {
    nand: &'a N,
    geometry: &'a Geometry,
    log: u32,
    table: Vec<Option<Ppn>>,
    /// Of what is in the table; 0 for what only the checkpoint has said.
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

    /// Starts from a checkpoint. What is in the log may be newer than what it is to become, or not.
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

    /// Whom a page speaks for after a loss of power.
    fn speaks_for(&self, tag: Tag) -> Option<Lpn> {
        let lpn = match (tag.owner, tag.original) {
            (_, Some(original)) => original,
            (Owner::Data(lpn), None) => lpn,
            (Owner::Translation(_), None) => return None,
        };
        (lpn.get() < self.log).then_some(lpn)
    }

    /// What only the checkpoint knows of, and lies in a unit that was erased since, is lost: the
    /// copy that there must have been cannot be read. On flash that keeps its rules there is none.
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

    /// Reads what was programmed in a unit after the page with serial number `before`.
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

    /// A page says for whom it was written, and when.
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
