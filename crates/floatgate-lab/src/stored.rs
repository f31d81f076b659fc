//! The medium that stores its pages, data and out-of-band areas, in one image: a file, or memory of
//! the process that is laid out in the same way.
//!
//! All numbers are little-endian. `N` is the number of pages, with those of the journal's units,
//! which lie behind the layer's; `D` is the end of the records, rounded up to the larger of 4 KiB
//! and a page.
//!
//! | offset   | bytes         | what                                                              |
//! |----------|---------------|-------------------------------------------------------------------|
//! | 0        | 8             | magic, `FLOATIMG`                                                 |
//! | 8        | 4             | version: 3, or 4 for a drive that programs rows of pages at once; |
//! |          |               | 1 and 2 are read as well                                          |
//! | 12       | 4             | length of the header, its text included                           |
//! | 16       | 4             | checksum of the header without these four bytes                   |
//! | 20       | 36            | the nine numbers of `Shape`, in its order                         |
//! | 56       | 4             | units of the journal                                              |
//! | 60       | 16            | versions 2 and 4: the numbers of `ProgramUnit`, in its order      |
//! | 60 or 76 | up to 16 KiB  | the config of the device, UTF-8                                   |
//! | 16 KiB   | 12            | sync point (8) and its checksum (4)                               |
//! | 16396    | 28            | two erases, of a unit (its number plus 1: 4) and of pages with    |
//! |          |               | lower serial numbers (8); the checksum of both (4)                |
//! | 16424    | 24            | pages that were synced (8), the sum of their serial numbers (8);  |
//! |          |               | 1 if the drive was shut down, and nothing was changed since (4);  |
//! |          |               | the checksum of all (4). Not in versions 1 and 2                  |
//! | 16896    | 56            | the life of the drive: bytes that the host has read and written,  |
//! |          |               | pages programmed, unsafe shutdowns, damaged reads, reads that     |
//! |          |               | were made to fail (8 each); 1 if it was not shut down since it    |
//! |          |               | was opened, plus 2, without which the first two are pages (4);    |
//! |          |               | the checksum of all                                               |
//! | 20 KiB   | 40 `N`        | a record for each page                                            |
//! | `D`      | page x `N`    | the data of each page                                             |
//!
//! A record is all zeros if the page is erased; else it holds
//!
//! | offset | bytes | what                                                                        |
//! |--------|-------|-----------------------------------------------------------------------------|
//! | 0      | 4     | number of the owner                                                         |
//! | 4      | 4     | the page that it will be once it is remapped, plus 1; 0 if there is none    |
//! | 8      | 8     | sequence number                                                             |
//! | 16     | 8     | serial number                                                               |
//! | 24     | 1     | owner: 1 a page of data, 2 a page of the map, 3 nobody: padding of a row    |
//! | 25     | 1     | data: 1 zeros that are not stored, 2 host's, 3 the layer's own, 4 lost      |
//! | 26     | 1     | 1 if its unit is in SLC mode, else 0                                        |
//! | 27     | 1     | zero                                                                        |
//! | 28     | 4     | bytes of data stored                                                        |
//! | 32     | 4     | checksum of them                                                            |
//! | 36     | 4     | checksum of the 36 bytes above and of the page's number (4 bytes)           |
//!
//! The file is sparse: erased pages, pages of the map and pages of zeros take no space in the data
//! area. The checksum is CRC-32 (IEEE). It finds every change within 32 adjacent bits, which a hash
//! of the same width does not promise, tells any two page numbers apart, and costs less than the
//! system call beside it. A record that is at another page's place is thus no record.
//!
//! What is written reaches the disk in any order until [`Stored::sync`] has returned. Two rules
//! make a crash of the whole machine look as a power cut does to flash. First, [`Nand::erase`]
//! syncs before it erases, so that a page is gone only when what replaced it is there. Second, the
//! sync point: all pages with lower serial numbers were synced, but for those of units whose erase
//! may not have been; these are named beside it before they are erased. All others may have a
//! record without the data, or a part of one, and are held against their checksums when the image
//! is opened. What fails, and what is left in such a unit from before its erase if something has
//! been programmed since, is torn, as if its program had been cut short, and its record
//! says so from then on: all ones. So a page that was never flushed does not hide the one before
//! it. Below the sync point data that does not match is damage: the tag stays, and a read of the
//! page fails.
//!
//! A damaged record cannot show that its page was synced. So the sync point counts the synced pages
//! and adds up their serial numbers. If records are missing both numbers differ, and all later sync
//! points differ as well, because the count is carried on and never made anew. A shutdown is noted
//! there, too. As long as that note stands no record is torn: it is erased, marked as torn, sound,
//! or damaged. Before anything is programmed or erased the note is taken back, and that is synced.
//! The sync point lies in one sector, so that a crash or a kill leaves the old one or the new one.
//!
//! A drive may program rows of pages at once. If a loss of power takes what waits for its row to be
//! full, the row is in the file as a whole or not at all, and torn as a whole. Else each of its
//! pages is there when it is programmed, and pages that a row has not when the image is opened are
//! taken for padding: the controller had power to program it. The mode of a unit is that of its
//! last pages that have a record.
//!
//! A fault of the file stops the medium: the first error is kept for [`Stored::fault`], and from
//! then on nothing is read or written.

mod copying;
mod error;
mod format;
mod image;
mod inspect;
mod life;
mod limits;
mod opening;
mod place;
mod point;
mod reading;
mod rows;
mod saving;
mod scan;
mod syncing;
mod tags;
mod tally;
#[cfg(test)]
mod tests;
mod watching;

pub use error::{ImageError, Problem};
pub use format::Content;
pub use image::Plug;
pub use inspect::{PageRecord, PageState};
pub use life::Life;
pub use limits::{PAGE_BYTES_MAX, TEXT_BYTES_MAX};
pub use place::Place;
pub use reading::Located;

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::io;
use std::mem;

use floatgate_ftl::addr::{Owner, Ppn, Tag, Unit};
use floatgate_ftl::counters::Counters;
use floatgate_ftl::geometry::{Geometry, Mode, Modes};
use floatgate_ftl::nand::{Cause, Chain, Counted, Moves, Nand, NoClock, Source};

use format::{Found, Header, Layout, RECORD_BYTES, Record};
use image::Image;
use point::{Erase, SyncPoint};
use reading::Failing;
use rows::Row;
use tally::Tally;

/// Flash in an image.
#[derive(Debug)]
pub struct Stored {
    image: Image,
    header: Header,
    layout: Layout,
    counted: Counted,
    modes: Modes,
    /// The page after the last one programmed since the last erase, by unit.
    programmed: Vec<u32>,
    /// Rows that are not full, if a loss of power takes these, by their first page.
    begun: BTreeMap<u32, Row>,
    /// Pages that were torn when the image was opened.
    torn: BTreeSet<u32>,
    /// Damage in front of the records, seen when the image was opened.
    damaged: Vec<&'static str>,
    /// All pages that are programmed, and those that were synced and are missing.
    tally: Tally,
    scanned_bytes: u64,
    register: Vec<u8>,
    note: Option<Vec<u8>>,
    /// The data of the pages that a copy moves.
    moved: Vec<u8>,
    read_failed: bool,
    life: Life,
    /// The same, as the file has it.
    kept_life: Life,
    /// Whether pages are only found by reads of the host.
    locates: bool,
    /// Where the page is that was found last, and all that were found by the request in hand.
    located: Option<Located>,
    found: Vec<Located>,
    /// Those of them whose units were erased since, as they were.
    saved: Vec<(Located, Vec<u8>)>,
    /// Reads of the host that are made to fail.
    failing: Failing,
    /// What was synced, says the file.
    point: SyncPoint,
    /// The serial number that it can name after the next sync.
    next_point: u64,
    /// Whether anything was changed since the last sync.
    is_changed: bool,
}

/// What the device asks, beside flash operations.
impl Stored {
    /// The units of the layer.
    pub fn geometry(&self) -> &Geometry {
        &self.header.geometry
    }

    /// All units of the medium: the layer's, and those of its journal behind them.
    pub fn medium_geometry(&self) -> &Geometry {
        &self.header.medium
    }

    /// The text in the header: the config of the device.
    pub fn text(&self) -> &str {
        &self.header.text
    }

    /// The page that the host read last; zeros if that failed.
    pub fn register(&self) -> &[u8] {
        &self.register
    }

    /// Puts at most a page into the page register: the next that the host programs. What is missing
    /// at the end is zeros.
    pub fn set_register(&mut self, bytes: &[u8]) {
        let (data, rest) = self.register.split_at_mut(bytes.len());
        data.copy_from_slice(bytes);
        rest.fill(0);
    }

    /// The first fault of the file, if there was one. To be asked after each request, and after
    /// recovery: from then on nothing is read or written.
    pub fn fault(&self) -> Option<&io::Error> {
        self.image.fault()
    }

    /// The first fault of the file, to be kept elsewhere. The medium stays stopped.
    pub fn take_fault(&mut self) -> Option<io::Error> {
        self.image.take_fault()
    }

    /// Bytes of out-of-band areas that were read to open the image.
    pub fn scanned_bytes(&self) -> u64 {
        self.scanned_bytes
    }

    /// Pages found on opening whose data had not reached the disk when the power failed.
    pub fn torn_pages(&self) -> usize {
        self.torn.len()
    }
}

/// The work. None if there was a fault, now or before.
impl Stored {
    fn page_bytes(&self) -> usize {
        self.header.geometry.shape().page_bytes as usize
    }

    /// How the unit of a page is programmed.
    fn mode_of(&self, ppn: Ppn) -> Mode {
        self.modes.mode(self.modes.unit(ppn))
    }

    /// Notes that a page was programmed.
    fn advance(&mut self, to: Ppn, page: &Found) {
        self.tally.add(page);
        let (unit, page) = self.header.medium.place(to);
        self.programmed[unit.index()] = page + 1;
        self.torn.remove(&to.get());
    }

    fn try_program(&mut self, to: Ppn, tag: Tag, cause: Cause) -> Option<()> {
        let note = self.note.take();
        self.announce(tag.serial..tag.serial.saturating_add(1))?;
        let register = mem::take(&mut self.register);
        // Some bytes at once, which is many times faster, and not all, as most pages show soon.
        let is_zero = |bytes: &[u8]| bytes.iter().fold(0, |all, &byte| all | byte) == 0;
        let is_zeros = || register.chunks(128).all(is_zero);
        let (content, data) = match &note {
            Some(note) => (Content::Note, &note[..]),
            None if cause == Cause::Host && !is_zeros() => (Content::Page, &register[..]),
            None => (Content::Zeros, &[][..]),
        };
        let (length, checksum) = (data.len() as u32, crc32fast::hash(data));
        let record = Record { tag, mode: self.mode_of(to), content, length, checksum };
        let done = self.put(to, &[Found::Programmed(record)], data);
        self.register = register;
        done
    }

    fn try_pad(&mut self, from: Ppn, pages: u32) -> Option<()> {
        self.begin_changes()?;
        let serial = self.next_point.saturating_sub(1);
        let padding = Found::Padding { serial, mode: self.mode_of(from) };
        self.put(from, &vec![padding; pages as usize], &[])
    }

    /// What the records of some pages hold.
    fn records(&self, first: u32, pages: u32) -> Option<Vec<Found>> {
        let range = self.layout.records(first, pages);
        let mut bytes = vec![0; pages as usize * RECORD_BYTES];
        self.image.read(range.start, &mut bytes)?;
        let found =
            (first..).zip(bytes.as_chunks().0).map(|(ppn, record)| match self.waiting(ppn) {
                Some((found, _)) => *found,
                None if self.torn.contains(&ppn) => Found::Torn,
                None => Record::decode(record, ppn, &self.header.medium),
            });
        Some(found.collect())
    }

    fn record(&self, ppn: Ppn) -> Option<Found> {
        self.records(ppn.get(), 1)?.pop()
    }

    /// Reads a page into the register; whether it was there.
    fn try_read(&mut self, from: Ppn, owner: Owner) -> Option<bool> {
        let record = match self.record(from)? {
            Found::Programmed(record) if record.belongs_to(owner) => record,
            _ => return Some(false),
        };
        self.located = self.locate(from, &record);
        if let Some(located) = self.located {
            self.found.push(located);
            return Some(true);
        }
        let mut register = mem::take(&mut self.register);
        register.fill(0);
        let is_there = match record.is_stored() {
            true => {
                let data = &mut register[..record.length as usize];
                self.read_data(from.get(), data).map(|()| record.matches(data))
            }
            false => Some(record.content == Content::Zeros),
        };
        self.register = register;
        is_there
    }

    fn try_erase(&mut self, unit: Unit) -> Option<()> {
        // What replaces the unit's pages is to be on the disk before they are gone from it, and so
        // is that they go. The sync is of the erase before this one, too, but only when it is done.
        let pages = self.header.medium.pages_per_unit();
        let first = unit.0 * pages;
        let erased = self.records(first, pages)?;
        let newest = erased.iter().filter_map(Found::serial).max();
        let erase = Some(Erase { unit, serial: newest.map_or(0, |serial| serial + 1) });
        let [_, before] = self.point.erasing;
        let (erasing, synced) = ([before, erase], self.forget(unit, &erased));
        self.set_point(SyncPoint { erasing, synced, is_closed: false, ..self.point })?;
        self.image.sync()?;
        let (serial, synced) = self.written();
        self.set_point(SyncPoint { serial, synced, erasing: [None, erase], ..self.point })?;
        self.is_changed = true;
        self.image.wait_for_readers();
        self.save_found(first, pages)?;
        self.image.clear(self.layout.records(first, pages))?;
        self.image.punch(self.layout.data(first, pages))?;
        self.programmed[unit.index()] = 0;
        self.begun.retain(|row, _| !(first..first + pages).contains(row));
        self.torn.retain(|ppn| !(first..first + pages).contains(ppn));
        Some(())
    }
}

/// After a fault, operations are counted and nothing else.
impl Nand for Stored {
    type Error = Infallible;
    type Clock = NoClock;

    fn clock(&self) -> &NoClock {
        self.counted.clock()
    }

    fn clock_mut(&mut self) -> &mut NoClock {
        self.counted.clock_mut()
    }

    /// A page of the host goes into the register. Other reads are of pages that hold no data.
    fn read(
        &mut self,
        from: Ppn,
        owner: Owner,
        source: Source,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), Infallible> {
        if cause == Cause::Host {
            self.located = None;
            let read = self.try_read(from, owner);
            let is_made_to_fail = read == Some(true) && self.failing.draw();
            self.life.damaged_reads += u64::from(read == Some(false));
            self.life.failed_reads += u64::from(is_made_to_fail);
            self.read_failed = read != Some(true) || is_made_to_fail;
            if self.read_failed {
                self.register.fill(0);
            }
        }
        self.counted.read(from, owner, source, cause, chain)
    }

    fn program(
        &mut self,
        to: Ppn,
        tag: Tag,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), Infallible> {
        let _ = self.try_program(to, tag, cause);
        self.counted.program(to, tag, cause, chain)
    }

    fn pad(&mut self, from: Ppn, pages: u32, chain: &mut Chain) -> Result<(), Infallible> {
        let _ = self.try_pad(from, pages);
        self.counted.pad(from, pages, chain)
    }

    /// The records of its pages will say so: an erased unit has none.
    fn set_mode(&mut self, unit: Unit, mode: Mode) {
        self.modes.set(unit, mode);
        self.counted.set_mode(unit, mode);
    }

    fn copy(
        &mut self,
        moves: impl Moves,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), Infallible> {
        let _ = self.try_copy(&moves.clone().collect::<Vec<_>>());
        self.counted.copy(moves, cause, chain)
    }

    fn load_payload(&mut self, bytes: &[u8]) {
        assert!(bytes.len() <= self.register.len(), "a note of {} bytes", bytes.len());
        self.note = Some(bytes.to_vec());
    }

    fn erase(&mut self, unit: Unit, cause: Cause, chain: &mut Chain) -> Result<(), Infallible> {
        let _ = self.try_erase(unit);
        self.counted.erase(unit, cause, chain)
    }

    fn report(&self, counters: &mut Counters) {
        self.counted.report(counters);
    }

    fn reset_counters(&mut self) {
        self.counted.reset_counters();
    }

    fn read_failed(&self) -> bool {
        self.read_failed
    }
}
