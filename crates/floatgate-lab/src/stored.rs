//! Flash that stores its pages, data and out-of-band areas, in one image: a file, or memory of the
//! process with the same layout.
//!
//! All numbers are little-endian. `N` is the number of pages, including the pages of the journal's
//! units, which follow the translation layer's units. `D` is the end of the records, rounded up to
//! the larger of 4 KiB and a page.
//!
//! | offset   | bytes        | content                                                           |
//! |----------|--------------|-------------------------------------------------------------------|
//! | 0        | 8            | magic, `FLOATIMG`                                                 |
//! | 8        | 4            | version: 3, or 4 for a drive that programs rows of pages at once; |
//! |          |              | versions 1 and 2 can be read as well                              |
//! | 12       | 4            | length of the header, including its text                          |
//! | 16       | 4            | checksum of the header without these four bytes                   |
//! | 20       | 36           | the nine numbers of `Shape`, in its order                         |
//! | 56       | 4            | units of the journal                                              |
//! | 60       | 16           | versions 2 and 4: the numbers of `ProgramUnit`, in its order      |
//! | 60 or 76 | up to 16 KiB | the config of the device, UTF-8                                   |
//! | 16 KiB   | 12           | sync point (8) and its checksum (4)                               |
//! | 16396    | 28           | two erases, each with a unit (its number plus 1: 4) and a serial  |
//! |          |              | number above all of its erased pages (8); their checksum (4)      |
//! | 16424    | 24           | number of synced pages (8), sum of their serial numbers (8); 1 if |
//! |          |              | the drive was shut down, and nothing was changed since (4); the   |
//! |          |              | checksum of all (4). Not in versions 1 and 2                      |
//! | 16896    | 56           | the life of the drive: bytes that the host has read and written,  |
//! |          |              | pages programmed, unsafe shutdowns, damaged reads, reads that     |
//! |          |              | were made to fail (8 each); flags (4): 1 if the drive was not     |
//! |          |              | shut down since it was opened, 2 if the first two numbers count   |
//! |          |              | bytes and not pages; the checksum of all (4)                      |
//! | 20 KiB   | 40 `N`       | a record for each page                                            |
//! | `D`      | page x `N`   | the data of each page                                             |
//!
//! The record of an erased page is all zeros. Any other record holds
//!
//! | offset | bytes | content                                                                 |
//! |--------|-------|-------------------------------------------------------------------------|
//! | 0      | 4     | number of the owner                                                     |
//! | 4      | 4     | logical page that it will be after a remap, plus 1; 0 if none           |
//! | 8      | 8     | sequence number                                                         |
//! | 16     | 8     | serial number                                                           |
//! | 24     | 1     | owner: 1 a page of data, 2 a page of the map, 3 none: padding of a row  |
//! | 25     | 1     | data: 1 zeros, not stored; 2 of the host; 3 of the layer itself; 4 lost |
//! | 26     | 1     | 1 if its unit is in SLC mode, else 0                                    |
//! | 27     | 1     | zero                                                                    |
//! | 28     | 4     | bytes of data stored                                                    |
//! | 32     | 4     | checksum of the data                                                    |
//! | 36     | 4     | checksum of the 36 bytes above and of the page's number (4 bytes)       |
//!
//! The file is sparse: erased pages, pages of the map and pages of zeros take no space in the data
//! area. The checksum is CRC-32 (IEEE). It detects every change within 32 adjacent bits, which a
//! hash of the same width does not guarantee. The checksum of a record differs for any two page
//! numbers, so a record at another page's place is invalid. A checksum costs less than the system
//! call that reads or writes the data.
//!
//! Written data reaches the disk in any order until [`Stored::sync`] has returned. Two rules make a
//! crash of the whole machine look to the drive like a power cut:
//!
//! * [`Nand::erase`] syncs before it erases, so that a page disappears only after its replacement
//!   is on the disk.
//! * The sync point states that all pages with lower serial numbers were synced. Units whose erase
//!   may not be synced are exceptions, and the sync point names such a unit before its erase.
//!
//! All other pages may have a record without data, or a partial record. When the image is opened,
//! their data is compared with their checksums. A page that fails is torn, as if its program had
//! been cut short. An old page is torn as well if a crash undid the erase of its unit and the unit
//! was programmed since. The record of a torn page is set to all ones. A page that was never
//! flushed thus does not hide its previous version. Below the sync point, data that does not match
//! its checksum is damage: the tag stays, and a read of the page fails.
//!
//! A damaged record cannot show that its page was synced. The sync point therefore counts the
//! synced pages and adds up their serial numbers. If records are missing, both numbers differ. They
//! differ at all later sync points, too, because the count is updated and never recomputed. The
//! sync point also notes a shutdown. While that note stands, no page can be newly torn: each record
//! is erased, marked as torn, sound, or damaged. Before the first program or erase the medium
//! removes the note, and syncs. The sync point lies in one sector, so that a crash or a kill leaves
//! either the old one or the new one.
//!
//! A drive may program rows of pages at once. There are two cases:
//!
//! * A loss of power takes the pages that wait for their row to be full. The file then has a row as
//!   a whole or not at all, and a row is torn as a whole.
//! * The controller's memory is protected. Each page is then in the file as soon as it is
//!   programmed. Pages that a row lacks when the image is opened count as padding, because the
//!   controller had power to program it.
//!
//! The mode of a unit is the mode of its last pages that have a record.
//!
//! A fault of the file stops the medium: [`Stored::fault`] keeps the first error, and from then on
//! the medium reads and writes nothing.

mod copying;
mod error;
mod format;
mod image;
mod image_store;
mod inspect;
mod life;
mod limits;
mod opening;
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
pub use image_store::ImageStore;
pub use inspect::{PageRecord, PageState};
pub use life::Life;
pub use limits::{PAGE_BYTES_MAX, TEXT_BYTES_MAX};
pub use reading::Located;

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::io;
use std::mem;

use floatgate_ftl::addr::{Owner, Ppn, Tag, Unit};
use floatgate_ftl::counters::Counters;
use floatgate_ftl::geometry::{Geometry, Mode, Modes};
use floatgate_ftl::nand::{Cause, Chain, Counted, Moves, Nand, NoClock, ReadSource};

use format::{Header, Layout, PageContent, RECORD_BYTES, Record};
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
    /// For each unit, the page after the last one programmed since the last erase.
    programmed: Vec<u32>,
    /// Rows that are not full, by their first page. Empty if a loss of power does not take them.
    begun: BTreeMap<u32, Row>,
    /// Pages found torn when the image was opened, and not programmed since.
    torn: BTreeSet<u32>,
    /// Damage in front of the records, found when the image was opened.
    damaged: Vec<&'static str>,
    /// Tally of all programmed pages, including synced pages that are missing.
    tally: Tally,
    scanned_bytes: u64,
    register: Vec<u8>,
    note: Option<Vec<u8>>,
    /// Data of the pages that a copy moves.
    moved: Vec<u8>,
    read_failed: bool,
    life: Life,
    /// The drive's life as the file has it.
    kept_life: Life,
    /// Whether host reads only locate their pages.
    locates: bool,
    /// Location of the last page read, if it was only located, and below the locations of all pages
    /// that the current request located.
    located: Option<Located>,
    found: Vec<Located>,
    /// Located pages whose units were erased since, with their bytes.
    saved: Vec<(Located, Vec<u8>)>,
    /// Host reads that are made to fail.
    failing: Failing,
    /// The sync point, as the file has it.
    point: SyncPoint,
    /// The serial number for the sync point after the next sync.
    next_point: u64,
    /// Whether anything was changed since the last sync.
    is_changed: bool,
}

/// Access for the device, apart from flash operations.
impl Stored {
    /// The units of the translation layer.
    pub fn geometry(&self) -> &Geometry {
        &self.header.geometry
    }

    /// All units of the medium: the units of the translation layer, then the units of its journal.
    pub fn medium_geometry(&self) -> &Geometry {
        &self.header.medium
    }

    /// The text in the header: the config of the device.
    pub fn text(&self) -> &str {
        &self.header.text
    }

    /// The page that the host read last; zeros if the read failed.
    pub fn register(&self) -> &[u8] {
        &self.register
    }

    /// Fills the page register for the host's next program. `bytes` is at most a page; missing
    /// bytes at the end become zeros.
    pub fn set_register(&mut self, bytes: &[u8]) {
        let (data, rest) = self.register.split_at_mut(bytes.len());
        data.copy_from_slice(bytes);
        rest.fill(0);
    }

    /// The first fault of the file, if there was one. Check it after each request, and after
    /// recovery: after a fault the medium reads and writes nothing.
    pub fn fault(&self) -> Option<&io::Error> {
        self.image.fault()
    }

    /// Takes the first fault of the file, for the caller to keep. The medium stays stopped.
    pub fn take_fault(&mut self) -> Option<io::Error> {
        self.image.take_fault()
    }

    /// Bytes of out-of-band areas read to open the image.
    pub fn scanned_bytes(&self) -> u64 {
        self.scanned_bytes
    }

    /// Number of pages whose data had not reached the disk when the power failed, as found when the
    /// image was opened.
    pub fn torn_pages(&self) -> usize {
        self.torn.len()
    }
}

/// Implementation of the operations. They return None after a fault, now or earlier.
impl Stored {
    fn page_bytes(&self) -> usize {
        self.header.geometry.shape().page_bytes as usize
    }

    fn mode_of(&self, ppn: Ppn) -> Mode {
        self.modes.mode(self.modes.unit(ppn))
    }

    /// Notes that a page was programmed.
    fn advance(&mut self, to: Ppn, page: &PageContent) {
        self.tally.add(page);
        let (unit, page) = self.header.medium.place(to);
        self.programmed[unit.index()] = page + 1;
        self.torn.remove(&to.get());
    }

    fn try_program(&mut self, to: Ppn, tag: Tag, cause: Cause) -> Option<()> {
        let note = self.note.take();
        self.announce(tag.serial..tag.serial.saturating_add(1))?;
        let register = mem::take(&mut self.register);
        // A chunk at once is many times faster than single bytes. A whole page at once is slower,
        // because most pages show a nonzero byte soon.
        let is_zero = |bytes: &[u8]| bytes.iter().fold(0, |all, &byte| all | byte) == 0;
        let is_zeros = || register.chunks(128).all(is_zero);
        let (content, data) = match &note {
            Some(note) => (Content::Note, &note[..]),
            None if cause == Cause::Host && !is_zeros() => (Content::Page, &register[..]),
            None => (Content::Zeros, &[][..]),
        };
        let (length, checksum) = (data.len() as u32, crc32fast::hash(data));
        let record = Record { tag, mode: self.mode_of(to), content, length, checksum };
        let done = self.put(to, &[PageContent::Programmed(record)], data);
        self.register = register;
        done
    }

    fn try_pad(&mut self, from: Ppn, pages: u32) -> Option<()> {
        self.begin_changes()?;
        let serial = self.next_point.saturating_sub(1);
        let padding = PageContent::Padding { serial, mode: self.mode_of(from) };
        self.put(from, &vec![padding; pages as usize], &[])
    }

    /// Returns the contents of the records of `pages` pages from `first` on.
    fn records(&self, first: u32, pages: u32) -> Option<Vec<PageContent>> {
        let range = self.layout.records(first, pages);
        let mut bytes = vec![0; pages as usize * RECORD_BYTES];
        self.image.read(range.start, &mut bytes)?;
        let found =
            (first..).zip(bytes.as_chunks().0).map(|(ppn, record)| match self.waiting(ppn) {
                Some((found, _)) => *found,
                None if self.torn.contains(&ppn) => PageContent::Torn,
                None => Record::decode(record, ppn, &self.header.medium),
            });
        Some(found.collect())
    }

    fn record(&self, ppn: Ppn) -> Option<PageContent> {
        self.records(ppn.get(), 1)?.pop()
    }

    /// Reads a page into the register, or only locates it. Returns whether the page was there.
    fn try_read(&mut self, from: Ppn, owner: Owner) -> Option<bool> {
        let record = match self.record(from)? {
            PageContent::Programmed(record) if record.belongs_to(owner) => record,
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
        // Before the unit's pages disappear, the disk must have their replacements, and the note of
        // this erase. The sync covers the previous erase, too, but only when it has returned: until
        // then the sync point names both erases.
        let pages = self.header.medium.pages_per_unit();
        let first = unit.0 * pages;
        let erased = self.records(first, pages)?;
        let newest = erased.iter().filter_map(PageContent::serial).max();
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

/// After a fault, operations are counted and do nothing else.
impl Nand for Stored {
    type Error = Infallible;
    type Clock = NoClock;

    fn clock(&self) -> &NoClock {
        self.counted.clock()
    }

    fn clock_mut(&mut self) -> &mut NoClock {
        self.counted.clock_mut()
    }

    /// Reads a page into the register if the host reads it. Pages read for other causes have no
    /// data.
    fn read(
        &mut self,
        from: Ppn,
        owner: Owner,
        source: ReadSource,
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

    /// Sets the mode of a unit. The records of its pages will store the mode; an erased unit has no
    /// record yet.
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
