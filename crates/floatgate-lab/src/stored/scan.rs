//! Scan of an image when it is opened: how far every unit is programmed, and whether the pages
//! written last are complete.

use std::collections::BTreeSet;
use std::mem;
use std::ops::Range;

use floatgate_ftl::addr::{Ppn, Unit};
use floatgate_ftl::geometry::{Geometry, Modes};

use super::format::{Layout, PageContent, RECORD_BYTES, Record, TORN, is_plausible, serial};
use super::image::Image;
use super::point::{Erase, SyncPoint};
use super::rows::lost_together;
use super::tally::Tally;

/// Bytes of records read at once.
const CHUNK: u64 = 1 << 20;

type Bytes = [u8; RECORD_BYTES];

/// Result of a scan.
#[derive(Debug)]
pub(super) struct Scan {
    /// For each unit, the page after the last one programmed.
    pub programmed: Vec<u32>,
    /// Modes of the units.
    pub modes: Modes,
    /// Unsynced pages whose record or data is not as it was programmed.
    pub torn: BTreeSet<u32>,
    /// Rows of the current unit with an unsound record, and no later synced row in the unit; each
    /// with a tally of the unsynced pages of the row that can be read.
    suspects: Vec<(Range<u32>, Tally)>,
    /// Tally of the present pages that the sync point does not cover.
    pub uncovered: Tally,
    /// Larger than the serial number of every valid record.
    pub point: u64,
    /// Bytes read from the out-of-band area.
    pub bytes: u64,
}

/// Reads the records that are not in a hole. For unsynced pages it reads the data, too.
pub(super) fn scan(
    image: &Image,
    layout: &Layout,
    medium: &Geometry,
    point: SyncPoint,
) -> Option<Scan> {
    let mut file = ScannedImage { image, layout, medium, point, reused: vec![] };
    for erase in point.erasing.into_iter().flatten().filter(|erase| erase.unit.0 < medium.units()) {
        if file.is_reused(&erase)? {
            file.reused.push(erase);
        }
    }
    let programmed = vec![0; medium.units() as usize];
    let (modes, torn) = (Modes::new(*medium), BTreeSet::new());
    let (suspects, uncovered) = (vec![], Tally::default());
    let mut scan =
        Scan { programmed, modes, torn, suspects, uncovered, point: point.serial, bytes: 0 };
    let oob = layout.oob();
    let mut chunk = vec![];
    let mut at = oob.start;
    while at < oob.end {
        let stored = image.next_stored(at..oob.end)?;
        if stored.is_empty() {
            break;
        }
        // A hole ends at the end of a block, which may be inside a record, or inside a row of
        // records.
        let row = RECORD_BYTES as u64 * u64::from(medium.program_unit());
        at = at.max(oob.start + (stored.start - oob.start) / row * row);
        let end = oob.start + (stored.end - oob.start).next_multiple_of(row);
        while at < end {
            let bytes = (end - at).min(CHUNK.next_multiple_of(row));
            chunk.resize(bytes as usize, 0);
            image.read(at, &mut chunk)?;
            scan.bytes += bytes;
            let first = ((at - oob.start) / RECORD_BYTES as u64) as u32;
            let rows = (first..).step_by(medium.program_unit() as usize);
            for (first, row) in rows.zip(chunk.chunks(row as usize)) {
                scan.look_at(&file, first, row.as_chunks().0)?;
            }
            at += bytes;
        }
    }
    scan.tear_suspects(&file)?;
    scan.fill_rows(medium);
    Some(scan)
}

/// The image to scan.
struct ScannedImage<'a> {
    image: &'a Image,
    layout: &'a Layout,
    medium: &'a Geometry,
    point: SyncPoint,
    /// Erases of units that were programmed again since.
    reused: Vec<Erase>,
}

impl ScannedImage<'_> {
    fn is_synced(&self, ppn: u32, record: &Bytes) -> bool {
        self.point.covers(self.medium.unit(Ppn::new(ppn)), serial(record))
    }

    fn is_sound(&self, ppn: u32, record: &Bytes) -> bool {
        (self.is_synced(ppn, record) && is_plausible(record))
            || !matches!(
                Record::decode(record, ppn, self.medium),
                PageContent::Erased | PageContent::Torn
            )
    }

    /// Returns whether a page of the unit was programmed after the erase. If so, the replacements
    /// of the unit's older pages were synced.
    fn is_reused(&self, erase: &Erase) -> Option<bool> {
        let (first, pages) = (self.medium.page(erase.unit, 0).get(), self.medium.pages_per_unit());
        let mut bytes = vec![0; pages as usize * RECORD_BYTES];
        self.image.read(self.layout.records(first, pages).start, &mut bytes)?;
        let mut records = (first..).zip(bytes.as_chunks().0);
        Some(records.any(|(ppn, record)| {
            let serial = Record::decode(record, ppn, self.medium).serial();
            serial.is_some_and(|serial| serial >= erase.serial)
        }))
    }

    /// Returns whether a page is left over from before an erase that a crash has undone, in a unit
    /// that was programmed since.
    fn is_left_over(&self, ppn: u32, serial: u64) -> bool {
        let unit = self.medium.unit(Ppn::new(ppn));
        self.reused.iter().any(|erase| erase.unit == unit && serial < erase.serial)
    }

    /// Returns whether the data of a page is complete.
    fn has_data(&self, ppn: u32, found: &PageContent) -> Option<bool> {
        let PageContent::Programmed(record) = found else { return Some(true) };
        let mut data = vec![0; if record.is_stored() { record.length as usize } else { 0 }];
        self.image.read(self.layout.data(ppn, 1).start, &mut data)?;
        Some(!record.is_stored() || record.matches(&data))
    }
}

impl Scan {
    /// Examines the pages that a unit in native mode programs at once.
    fn look_at(&mut self, file: &ScannedImage<'_>, first: u32, row: &[Bytes]) -> Option<()> {
        let unit = file.medium.unit(Ppn::new(first));
        if file.medium.has_slc_mode() {
            let kept = (first..).zip(row).filter(|(ppn, r)| !file.is_left_over(*ppn, serial(r)));
            let found = kept.map(|(ppn, r)| Record::decode(r, ppn, file.medium));
            let mode = found.filter_map(|found| found.mode()).next();
            mode.into_iter().for_each(|mode| self.modes.set(unit, mode));
        }
        let pages = lost_together(file.medium, &self.modes, unit);
        let firsts = (first..).step_by(pages as usize);
        firsts.zip(row.chunks(pages as usize)).try_for_each(|(first, row)| {
            let is_whole = |record: &Bytes| row.iter().all(|other| other == record);
            if is_whole(&[0; RECORD_BYTES]) {
                return Some(());
            }
            self.extend(file, first..first + pages);
            if is_whole(&TORN) { Some(()) } else { self.judge(file, first, row) }
        })
    }

    /// Marks pages of a unit as programmed.
    fn extend(&mut self, file: &ScannedImage<'_>, pages: Range<u32>) {
        let (unit, last) = file.medium.place(Ppn::new(pages.end - 1));
        self.programmed[unit.index()] = last + 1;
    }

    /// Decides whether a row is sound, torn or damaged. A partially written record is torn, like
    /// its page and all pages of its row. It is damaged instead if all other valid records of the
    /// row were synced, or all valid records of a later row of the unit. This record was then
    /// synced, too.
    fn judge(&mut self, file: &ScannedImage<'_>, first: u32, row: &[Bytes]) -> Option<()> {
        let pages = first..first + row.len() as u32;
        let unit = |ppn: u32| file.medium.unit(Ppn::new(ppn));
        if self.suspects.last().is_some_and(|(suspect, _)| unit(suspect.start) != unit(first)) {
            self.tear_suspects(file)?;
        }
        let mut uncovered = Tally::default();
        let unsynced = |&(ppn, record): &(u32, &Bytes)| !file.is_synced(ppn, record);
        for (ppn, record) in pages.clone().zip(row).filter(unsynced) {
            let found = Record::decode(record, ppn, file.medium);
            let Some(serial) = found.serial() else { continue };
            self.point = self.point.max(serial.saturating_add(1));
            if file.is_left_over(ppn, serial) || !file.has_data(ppn, &found)? {
                return self.tear(file, pages);
            }
            uncovered.add(&found);
        }
        let sound = || pages.clone().zip(row).filter(|&(ppn, record)| file.is_sound(ppn, record));
        let count = sound().count();
        if count > 0 && sound().all(|(ppn, record)| file.is_synced(ppn, record)) {
            self.keep_suspects();
        } else if count < row.len() {
            self.suspects.push((pages, uncovered));
            return Some(());
        }
        self.uncovered = self.uncovered.with(uncovered);
        Some(())
    }

    fn keep_suspects(&mut self) {
        for (_, uncovered) in self.suspects.drain(..) {
            self.uncovered = self.uncovered.with(uncovered);
        }
    }

    /// Tears the remaining suspects. After a shutdown no program can have been cut short: the
    /// suspects are then damaged and not torn.
    fn tear_suspects(&mut self, file: &ScannedImage<'_>) -> Option<()> {
        if file.point.is_closed {
            self.keep_suspects();
        }
        let suspects = mem::take(&mut self.suspects);
        suspects.into_iter().try_for_each(|(pages, _)| self.tear(file, pages))
    }

    /// Marks pages as torn, in the file as well, so that later sessions find them torn.
    fn tear(&mut self, file: &ScannedImage<'_>, pages: Range<u32>) -> Option<()> {
        self.torn.extend(pages.clone());
        if file.image.is_read_only() {
            return Some(());
        }
        let records = TORN.repeat(pages.len());
        file.image.write(file.layout.records(pages.start, pages.len() as u32).start, &records)
    }

    /// Counts the missing pages of a partial row as padding: the controller had power to program
    /// them.
    fn fill_rows(&mut self, medium: &Geometry) {
        for unit in (0..medium.units()).map(Unit) {
            let geometry = self.modes.geometry_of(unit);
            let programmed = &mut self.programmed[unit.index()];
            *programmed = programmed.next_multiple_of(geometry.program_unit());
            *programmed = (*programmed).min(geometry.unit_capacity());
        }
    }
}
