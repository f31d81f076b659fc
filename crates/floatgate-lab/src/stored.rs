//! The medium that stores its pages, data and out-of-band areas, in one image file.
//!
//! All numbers are little-endian. `N` is the number of pages, with those of the journal's units,
//! which lie behind the layer's; `D` is the end of the records, rounded up to the larger of 4 KiB
//! and a page.
//!
//! | offset   | bytes         | what                                                              |
//! |----------|---------------|-------------------------------------------------------------------|
//! | 0        | 8             | magic, `FLOATIMG`                                                 |
//! | 8        | 4             | version, 1                                                        |
//! | 12       | 4             | length of the header: 60 and the bytes of its text                |
//! | 16       | 4             | checksum of the header without these four bytes                   |
//! | 20       | 36            | the nine numbers of `Shape`, in its order                         |
//! | 56       | 4             | units of the journal                                              |
//! | 60       | up to 16,324  | the config of the device, UTF-8                                   |
//! | 16 KiB   | 12            | sync point (8) and its checksum (4)                               |
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
//! | 24     | 1     | owner: 1 a page of data, 2 a page of the map                                |
//! | 25     | 1     | data: 1 zeros that are not stored, 2 host's, 3 the layer's own, 4 lost      |
//! | 26     | 2     | zeros                                                                       |
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
//! sync point: all pages with lower serial numbers were synced. Those from it on may have a record
//! without the data, or a part of a record, and are held against their checksums when the image is
//! opened; where that fails, the page is torn, as if its program had been cut short, and its record
//! says so from then on: all ones. So a page that was never flushed does not hide the one before
//! it. Below the sync point data that does not match is damage: the tag stays, and a read of the
//! page fails.
//!
//! A fault of the file stops the medium: the first error is kept for [`Stored::fault`], and from
//! then on nothing is read or written.

mod error;
mod format;
mod image;
mod inspect;
mod limits;
mod opening;
mod scan;
mod tags;

pub use error::{ImageError, Problem};
pub use format::Content;
pub use inspect::{PageRecord, PageState};
pub use limits::{PAGE_BYTES_MAX, TEXT_BYTES_MAX};

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::io;
use std::ops::Range;

use floatgate_ftl::addr::{Owner, Ppn, Tag, Unit};
use floatgate_ftl::counters::Counters;
use floatgate_ftl::geometry::{Geometry, Mode};
use floatgate_ftl::nand::{Cause, Chain, Counted, Move, Nand, NoClock, Source};

use format::{Found, Header, Layout, POINT_AT, RECORD_BYTES, Record, encode_point};
use image::Image;

/// Bytes moved at once by a copy.
const RUN_BYTES: u32 = 256 << 10;

/// Flash in a file.
#[derive(Debug)]
pub struct Stored {
    image: Image,
    header: Header,
    layout: Layout,
    counted: Counted,
    /// The page after the last one programmed since the last erase, by unit.
    programmed: Vec<u32>,
    /// Pages that were torn when the image was opened.
    torn: BTreeSet<u32>,
    scanned_bytes: u64,
    register: Vec<u8>,
    note: Option<Vec<u8>>,
    /// The data of the pages that a copy moves.
    moved: Vec<u8>,
    read_failed: bool,
    corrupt_reads: u64,
    /// Pages with lower serial numbers were synced, says the file.
    point: u64,
    /// What it can say after the next sync.
    next_point: u64,
    /// Whether a page was programmed since the last sync.
    is_programmed: bool,
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

    /// Pages whose record or data was found damaged when they were read or moved.
    pub fn corrupt_reads(&self) -> u64 {
        self.corrupt_reads
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

    /// All that was done so far is on the disk when this returns, unless there is a fault.
    pub fn sync(&mut self) {
        let _ = self.try_sync();
    }
}

/// The work. None if there was a fault, now or before.
impl Stored {
    fn try_sync(&mut self) -> Option<()> {
        if self.image.is_read_only() {
            return Some(());
        }
        if self.is_changed {
            self.image.sync()?;
            (self.is_changed, self.is_programmed) = (false, false);
        }
        // It may reach the disk whenever it does: the pages that it speaks of are there.
        if self.point != self.next_point {
            self.image.write(POINT_AT, &encode_point(self.next_point))?;
            self.point = self.next_point;
        }
        Some(())
    }

    /// Before pages with serial numbers of this range are programmed.
    fn announce(&mut self, serials: Range<u64>) -> Option<()> {
        if serials.start < self.point {
            // The numbers began anew, as after the erase of the page with the highest. The sync
            // point must not vouch for pages that are yet to come.
            self.image.write(POINT_AT, &encode_point(serials.start))?;
            self.image.sync()?;
            (self.point, self.next_point) = (serials.start, serials.start);
        }
        self.next_point = self.next_point.max(serials.end);
        (self.is_changed, self.is_programmed) = (true, true);
        Some(())
    }

    /// Notes that a page was programmed.
    fn advance(&mut self, to: Ppn) {
        let (unit, page) = self.header.medium.place(to);
        self.programmed[unit.index()] = page + 1;
        self.torn.remove(&to.get());
    }

    fn try_program(&mut self, to: Ppn, tag: Tag, cause: Cause) -> Option<()> {
        let note = self.note.take();
        self.announce(tag.serial..tag.serial.saturating_add(1))?;
        // Some bytes at once, which is many times faster, and not all, as most pages show soon.
        let is_zero = |bytes: &[u8]| bytes.iter().fold(0, |all, &byte| all | byte) == 0;
        let is_zeros = || self.register.chunks(128).all(is_zero);
        let (content, data) = match &note {
            Some(note) => (Content::Note, &note[..]),
            None if cause == Cause::Host && !is_zeros() => (Content::Page, &self.register[..]),
            None => (Content::Zeros, &[][..]),
        };
        if !data.is_empty() {
            self.image.write(self.layout.data(to.get(), 1).start, data)?;
        }
        let (length, checksum) = (data.len() as u32, crc32fast::hash(data));
        let record = Record { tag, content, length, checksum };
        self.image.write(self.layout.records(to.get(), 1).start, &record.encode(to))?;
        self.advance(to);
        Some(())
    }

    /// What the records of some pages hold.
    fn records(&self, first: u32, pages: u32) -> Option<Vec<Found>> {
        let range = self.layout.records(first, pages);
        let mut bytes = vec![0; pages as usize * RECORD_BYTES];
        self.image.read(range.start, &mut bytes)?;
        let drive = self.header.medium.shape();
        let found = (first..).zip(bytes.as_chunks().0).map(|(ppn, record)| {
            let found = Record::decode(record, ppn, drive);
            if self.torn.contains(&ppn) { Found::Torn } else { found }
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
        let (data, rest) = self.register.split_at_mut(record.length as usize);
        rest.fill(0);
        if !record.is_stored() {
            data.fill(0);
            return Some(record.content == Content::Zeros);
        }
        self.image.read(self.layout.data(from.get(), 1).start, data)?;
        Some(record.matches(data))
    }

    /// Moves pages that lie side by side, and will.
    fn copy_run(&mut self, moves: &[Move]) -> Option<()> {
        let pages = moves.len() as u32;
        let found = self.records(moves[0].from.get(), pages)?;
        let copies = moves.iter().zip(found).map(|(step, found)| copy_of(found, step));
        let mut copies: Vec<Record> = copies.collect();
        let first = moves.iter().map(|step| step.serial).min()?;
        let last = moves.iter().map(|step| step.serial).max()?;
        self.announce(first..last.saturating_add(1))?;
        let mut start = 0;
        while start < copies.len() {
            let is_stored = copies[start].is_stored();
            let same = copies[start..].iter().take_while(|copy| copy.is_stored() == is_stored);
            let end = start + same.count();
            if is_stored {
                self.copy_data(&moves[start..end], &mut copies[start..end])?;
            }
            start = end;
        }
        let mut records = Vec::with_capacity(copies.len() * RECORD_BYTES);
        for (step, copy) in moves.iter().zip(&copies) {
            self.corrupt_reads += u64::from(copy.content == Content::Lost);
            records.extend(copy.encode(step.to));
        }
        self.image.write(self.layout.records(moves[0].to.get(), pages).start, &records)?;
        moves.iter().for_each(|step| self.advance(step.to));
        Some(())
    }

    /// Moves data, all of which is stored; what is damaged is marked as lost.
    fn copy_data(&mut self, moves: &[Move], copies: &mut [Record]) -> Option<()> {
        let pages = moves.len() as u32;
        let from = self.layout.data(moves[0].from.get(), pages);
        self.moved.resize((from.end - from.start) as usize, 0);
        self.image.read(from.start, &mut self.moved)?;
        for (data, copy) in self.moved.chunks_exact(self.register.len()).zip(copies) {
            if !copy.matches(&data[..copy.length as usize]) {
                (copy.content, copy.length) = (Content::Lost, 0);
            }
        }
        self.image.write(self.layout.data(moves[0].to.get(), pages).start, &self.moved)
    }

    fn try_copy(&mut self, moves: &[Move]) -> Option<()> {
        let pages_max = RUN_BYTES as usize / self.register.len();
        let next_to = |a: Ppn, b: Ppn| a.get() + 1 == b.get();
        let runs = moves.chunk_by(|a, b| next_to(a.from, b.from) && next_to(a.to, b.to));
        for run in runs.flat_map(|run| run.chunks(pages_max.max(1))) {
            self.copy_run(run)?;
        }
        Some(())
    }

    fn try_erase(&mut self, unit: Unit) -> Option<()> {
        // What replaces the unit's pages is to be on the disk before they are gone from it.
        if self.is_programmed {
            self.try_sync()?;
        }
        self.is_changed = true;
        let pages = self.header.medium.pages_per_unit();
        let first = unit.0 * pages;
        self.image.clear(self.layout.records(first, pages))?;
        self.image.punch(self.layout.data(first, pages))?;
        self.programmed[unit.index()] = 0;
        self.torn.retain(|ppn| !(first..first + pages).contains(ppn));
        Some(())
    }
}

/// The record of a page that is moved, if its data is as its record says. Where there is no record
/// that could be believed, there is no sequence number either: 0 comes before all others.
fn copy_of(found: Found, &Move { owner, serial, .. }: &Move) -> Record {
    match found {
        Found::Programmed(record) if record.belongs_to(owner) => {
            Record { tag: Tag::new(owner, record.tag.sequence, serial), ..record }
        }
        _ => {
            let tag = Tag::new(owner, 0, serial);
            Record { tag, content: Content::Lost, length: 0, checksum: 0 }
        }
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
            let read = self.try_read(from, owner);
            self.corrupt_reads += u64::from(read == Some(false));
            self.read_failed = read != Some(true);
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

    /// Images are of drives that program page by page.
    fn pad(&mut self, _: Ppn, _: u32, _: &mut Chain) -> Result<(), Infallible> {
        unreachable!("a drive with program units has no image")
    }

    /// Its format has units of one kind only; `drive/live.rs` refuses an SLC cache.
    fn set_mode(&mut self, unit: Unit, mode: Mode) {
        assert_eq!(mode, Mode::Native, "{unit:?} of an image");
    }

    fn copy(&mut self, moves: &[Move], cause: Cause, chain: &mut Chain) -> Result<(), Infallible> {
        let _ = self.try_copy(moves);
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
