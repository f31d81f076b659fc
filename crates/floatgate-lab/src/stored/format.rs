//! The bytes of an image: header, page records, and the offsets of everything. See the table in the
//! parent module.

use std::ops::Range;

use floatgate_ftl::addr::{Lpn, Owner, PAGE_MAX, Ppn, Tag, Tpn};
use floatgate_ftl::geometry::{Geometry, Mode, ProgramUnit, Shape};

use super::error::Problem;
use super::limits::{HEADER_BYTES, MAGIC, PAGE_BYTES_MAX, TEXT_AT, VERSIONS};
use super::point::SyncPoint;

/// Block size of most file systems, or a multiple of it. Areas that are erased separately begin at
/// a multiple of this size.
const BLOCK: u64 = 4 << 10;
pub(super) const POINT_AT: u64 = HEADER_BYTES as u64;
/// Offset of the drive's life, which is in a different sector than the sync point.
pub(super) const LIFE_AT: u64 = POINT_AT + 512;
const OOB_AT: u64 = POINT_AT + BLOCK;
/// Bytes of a page's record.
pub(super) const RECORD_BYTES: usize = 40;

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut number = [0; 4];
    number.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(number)
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut number = [0; 8];
    number.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(number)
}

pub(super) fn put(bytes: &mut [u8], at: usize, number: &[u8]) {
    bytes[at..at + number.len()].copy_from_slice(number);
}

/// Returns the offset of the text in the header.
fn text_at(has_rows: bool) -> usize {
    TEXT_AT[usize::from(has_rows)]
}

/// The contents of the header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Header {
    /// The units of the translation layer.
    pub geometry: Geometry,
    /// The units of the translation layer, followed by the units of the journal.
    pub medium: Geometry,
    pub text: String,
    /// Whether the image is of a version without a count of synced pages.
    pub is_old: bool,
}

impl Header {
    /// Makes a header after a check of the numbers.
    pub fn new(shape: Shape, journal_units: u32, text: &str) -> Result<Self, Problem> {
        if shape.page_bytes > PAGE_BYTES_MAX {
            return Err(Problem::Page { page_bytes: shape.page_bytes });
        }
        let most = HEADER_BYTES - text_at(shape.program_unit.is_some());
        if text.len() > most {
            return Err(Problem::TextTooLong { bytes: text.len(), most });
        }
        let units = shape.units.checked_add(journal_units);
        let units = units.ok_or(Problem::Units { units: shape.units, journal_units })?;
        Ok(Self {
            geometry: Geometry::new(shape).map_err(Problem::Shape)?,
            medium: Geometry::new(Shape { units, ..shape }).map_err(Problem::Shape)?,
            text: text.to_string(),
            is_old: false,
        })
    }

    fn checksum(bytes: &[u8]) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&bytes[..16]);
        hasher.update(&bytes[20..]);
        hasher.finalize()
    }

    pub fn encode(&self) -> Vec<u8> {
        let shape = self.geometry.shape();
        let has_rows = shape.program_unit.is_some();
        let length = text_at(has_rows) + self.text.len();
        let mut bytes = vec![0; HEADER_BYTES];
        put(&mut bytes, 0, &MAGIC);
        put(&mut bytes, 8, &VERSIONS[2 + usize::from(has_rows)].to_le_bytes());
        put(&mut bytes, 12, &(length as u32).to_le_bytes());
        let row = shape
            .program_unit
            .map(|row| [row.pages, row.levels, row.is_protected.into(), row.stripe.unwrap_or(0)]);
        let numbers = [
            shape.page_bytes,
            shape.pages_per_block,
            shape.superblock,
            shape.units,
            shape.channels,
            shape.dies,
            shape.planes,
            shape.logical_pages,
            shape.entry_bytes,
            self.medium.units() - shape.units,
        ];
        let numbers = numbers.into_iter().chain(row.into_iter().flatten());
        for (at, number) in (20..).step_by(4).zip(numbers) {
            put(&mut bytes, at, &number.to_le_bytes());
        }
        put(&mut bytes, text_at(has_rows), self.text.as_bytes());
        let checksum = Self::checksum(&bytes[..length]);
        put(&mut bytes, 16, &checksum.to_le_bytes());
        bytes
    }

    /// Reads a header from the first [`HEADER_BYTES`] of a file, or from the whole file if it is
    /// shorter.
    pub fn decode(bytes: &[u8]) -> Result<Self, Problem> {
        let begin = &bytes[..bytes.len().min(MAGIC.len())];
        if begin.is_empty() || !MAGIC.starts_with(begin) {
            return Err(Problem::Magic { found: begin.to_vec() });
        }
        let cut = Problem::Cut { found: bytes.len() };
        if bytes.len() < TEXT_AT[0] {
            return Err(cut);
        }
        let found = u32_at(bytes, 8);
        let version = VERSIONS.iter().position(|&version| version == found);
        let version = version.ok_or(Problem::Version { found })?;
        let (has_rows, is_old) = (version % 2 == 1, version < 2);
        let length = u32_at(bytes, 12) as usize;
        if !(text_at(has_rows)..=HEADER_BYTES).contains(&length) {
            return Err(Problem::HeaderLength { found: length as u32 });
        }
        let bytes = bytes.get(..length).ok_or(cut)?;
        let (stored, computed) = (u32_at(bytes, 16), Self::checksum(bytes));
        if stored != computed {
            return Err(Problem::Checksum { stored, computed });
        }
        let number = |index: usize| u32_at(bytes, 20 + 4 * index);
        let shape = Shape {
            page_bytes: number(0),
            pages_per_block: number(1),
            superblock: number(2),
            units: number(3),
            channels: number(4),
            dies: number(5),
            planes: number(6),
            logical_pages: number(7),
            entry_bytes: number(8),
            program_unit: has_rows.then(|| ProgramUnit {
                pages: number(10),
                levels: number(11),
                is_protected: number(12) > 0,
                stripe: Some(number(13)).filter(|&dies| dies > 0),
            }),
        };
        let text = str::from_utf8(&bytes[text_at(has_rows)..]).map_err(|_| Problem::Text)?;
        Ok(Self { is_old, ..Self::new(shape, number(9), text)? })
    }

    pub fn point_bytes(&self) -> usize {
        if self.is_old { SyncPoint::OLD_BYTES } else { SyncPoint::BYTES }
    }
}

/// Offsets in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pages: u64,
    page_bytes: u64,
    data_at: u64,
}

impl Layout {
    pub fn new(medium: &Geometry) -> Self {
        let pages = u64::from(medium.physical_pages());
        let page_bytes = u64::from(medium.shape().page_bytes);
        let oob_end = OOB_AT + pages * RECORD_BYTES as u64;
        Self { pages, page_bytes, data_at: oob_end.next_multiple_of(page_bytes.max(BLOCK)) }
    }

    /// Returns the range of the records of `pages` pages from page number `first` on.
    pub fn records(&self, first: u32, pages: u32) -> Range<u64> {
        let at = |page: u64| OOB_AT + page * RECORD_BYTES as u64;
        at(first.into())..at(u64::from(first) + u64::from(pages))
    }

    /// Returns the range of all records.
    pub fn oob(&self) -> Range<u64> {
        OOB_AT..OOB_AT + self.pages * RECORD_BYTES as u64
    }

    /// Returns the range of the data of `pages` pages from page number `first` on.
    pub fn data(&self, first: u32, pages: u32) -> Range<u64> {
        let at = |page: u64| self.data_at + page * self.page_bytes;
        at(first.into())..at(u64::from(first) + u64::from(pages))
    }

    /// Bytes of the file.
    pub fn end(&self) -> u64 {
        self.data_at + self.pages * self.page_bytes
    }
}

/// Kind of data in a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// Zeros, which are not stored.
    Zeros = 1,
    /// A page of the host.
    Page,
    /// Bytes of the translation layer itself.
    Note,
    /// Lost: the data was damaged when the page was moved.
    Lost,
}

/// The out-of-band area of a programmed page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Record {
    pub tag: Tag,
    /// The mode of its unit.
    pub mode: Mode,
    pub content: Content,
    /// Bytes of data stored.
    pub length: u32,
    /// The checksum of the stored data.
    pub checksum: u32,
}

/// Contents of an out-of-band area.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PageContent {
    Erased,
    /// The page is used up, and cannot be read.
    Torn,
    /// Padding that fills a row, without data. Its serial number is the number of the last program
    /// before it.
    Padding {
        serial: u64,
        mode: Mode,
    },
    Programmed(Record),
}

impl PageContent {
    pub fn is_stored(&self) -> bool {
        matches!(self, Self::Programmed(record) if record.is_stored())
    }

    pub fn serial(&self) -> Option<u64> {
        match *self {
            Self::Erased | Self::Torn => None,
            Self::Padding { serial, .. } => Some(serial),
            Self::Programmed(record) => Some(record.tag.serial),
        }
    }

    /// The mode of its unit.
    pub fn mode(&self) -> Option<Mode> {
        match *self {
            Self::Erased | Self::Torn => None,
            Self::Padding { mode, .. } | Self::Programmed(Record { mode, .. }) => Some(mode),
        }
    }

    /// Encodes the out-of-band area of page number `ppn`.
    pub fn encode(&self, ppn: u32) -> [u8; RECORD_BYTES] {
        match self {
            Self::Erased => [0; RECORD_BYTES],
            Self::Torn => TORN,
            Self::Padding { serial, mode } => {
                let mut bytes = [0; RECORD_BYTES];
                put(&mut bytes, 16, &serial.to_le_bytes());
                put(&mut bytes, 24, &[PADDING, 0, byte_of(*mode)]);
                Record::sealed(bytes, ppn)
            }
            Self::Programmed(record) => record.encode(ppn),
        }
    }
}

/// Codes for the owner of a page in its record.
const DATA: u8 = 1;
const TRANSLATION: u8 = 2;
const PADDING: u8 = 3;

fn byte_of(mode: Mode) -> u8 {
    u8::from(mode == Mode::Slc)
}

/// Largest valid sequence or serial number; no drive lasts long enough to reach it.
const NUMBER_MAX: u64 = 1 << 62;

/// Record of a torn page, invalid for every page number.
pub(super) const TORN: [u8; RECORD_BYTES] = [0xff; RECORD_BYTES];

impl Record {
    pub fn belongs_to(&self, owner: Owner) -> bool {
        let Tag { owner: own, original, .. } = self.tag;
        own == owner || original.map(Owner::Data) == Some(owner)
    }

    pub fn is_stored(&self) -> bool {
        matches!(self.content, Content::Page | Content::Note)
    }

    pub fn matches(&self, bytes: &[u8]) -> bool {
        crc32fast::hash(bytes) == self.checksum
    }

    fn checksum(bytes: &[u8], ppn: u32) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&bytes[..36]);
        hasher.update(&ppn.to_le_bytes());
        hasher.finalize()
    }

    fn sealed(mut bytes: [u8; RECORD_BYTES], ppn: u32) -> [u8; RECORD_BYTES] {
        let checksum = Self::checksum(&bytes, ppn);
        put(&mut bytes, 36, &checksum.to_le_bytes());
        bytes
    }

    fn encode(&self, ppn: u32) -> [u8; RECORD_BYTES] {
        let (kind, number) = match self.tag.owner {
            Owner::Data(lpn) => (DATA, lpn.get()),
            Owner::Translation(tpn) => (TRANSLATION, tpn.get()),
        };
        let original = self.tag.original.map_or(0, |lpn| lpn.get() + 1);
        let mut bytes = [0; RECORD_BYTES];
        put(&mut bytes, 0, &number.to_le_bytes());
        put(&mut bytes, 4, &original.to_le_bytes());
        put(&mut bytes, 8, &self.tag.sequence.to_le_bytes());
        put(&mut bytes, 16, &self.tag.serial.to_le_bytes());
        put(&mut bytes, 24, &[kind, self.content as u8, byte_of(self.mode)]);
        put(&mut bytes, 28, &self.length.to_le_bytes());
        put(&mut bytes, 32, &self.checksum.to_le_bytes());
        Self::sealed(bytes, ppn)
    }

    /// Decodes the record of page number `ppn` of a medium.
    pub fn decode(bytes: &[u8; RECORD_BYTES], ppn: u32, medium: &Geometry) -> PageContent {
        if is_erased(bytes) {
            return PageContent::Erased;
        }
        Self::checked(bytes, ppn, medium).unwrap_or(PageContent::Torn)
    }

    /// Checks a record, and returns None for a record that no translation layer could have written.
    /// Callers thus need not handle such records.
    fn checked(bytes: &[u8; RECORD_BYTES], ppn: u32, medium: &Geometry) -> Option<PageContent> {
        let drive = medium.shape();
        let (number, original) = (u32_at(bytes, 0), u32_at(bytes, 4));
        let length = u32_at(bytes, 28);
        let sound = Self::checksum(bytes, ppn) == u32_at(bytes, 36);
        let numbers = [u64_at(bytes, 8), u64_at(bytes, 16)];
        if !sound || length > drive.page_bytes || numbers.into_iter().max() > Some(NUMBER_MAX) {
            return None;
        }
        let mode = match bytes[26] {
            0 => Mode::Native,
            1 if medium.has_slc_mode() => Mode::Slc,
            _ => return None,
        };
        if mode == Mode::Slc {
            let page = medium.place(Ppn::new(ppn)).1;
            (page < medium.in_mode(mode).unit_capacity()).then_some(())?;
        }
        let owner = match bytes[24] {
            DATA if number < drive.logical_pages => Owner::Data(Lpn::new(number)),
            TRANSLATION if number <= PAGE_MAX => Owner::Translation(Tpn::new(number)),
            PADDING if medium.has_program_units() => {
                return Some(PageContent::Padding { serial: numbers[1], mode });
            }
            _ => return None,
        };
        if original > drive.logical_pages {
            return None;
        }
        let content = match bytes[25] {
            1 => Content::Zeros,
            2 => Content::Page,
            3 => Content::Note,
            4 => Content::Lost,
            _ => return None,
        };
        let original = original.checked_sub(1).map(Lpn::new);
        let [sequence, serial] = numbers;
        let tag = Tag { owner, original, sequence, serial };
        Some(PageContent::Programmed(Self {
            tag,
            mode,
            content,
            length,
            checksum: u32_at(bytes, 32),
        }))
    }
}

pub(super) fn is_erased(bytes: &[u8; RECORD_BYTES]) -> bool {
    *bytes == [0; RECORD_BYTES]
}

/// Returns whether the record of a synced page looks complete. A checksum would cost too much for
/// millions of records. A partially written record fails this test.
pub(super) fn is_plausible(bytes: &[u8; RECORD_BYTES]) -> bool {
    (DATA..=PADDING).contains(&bytes[24]) && serial(bytes) > 0 && u32_at(bytes, 36) > 0
}

/// The serial number in a record, valid or not.
pub(super) fn serial(bytes: &[u8; RECORD_BYTES]) -> u64 {
    u64_at(bytes, 16)
}
