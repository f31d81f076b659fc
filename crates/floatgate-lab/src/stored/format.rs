//! The bytes of an image: header, records of pages, and where what is. See the table in the parent
//! module.

use std::ops::Range;

use floatgate_ftl::addr::{Lpn, Owner, PAGE_MAX, Ppn, Tag, Tpn};
use floatgate_ftl::geometry::{Geometry, Mode, ProgramUnit, Shape};

use super::error::Problem;
use super::limits::{HEADER_BYTES, MAGIC, PAGE_BYTES_MAX, TEXT_AT, VERSIONS};
use super::point::SyncPoint;

/// What file systems allocate, or a multiple: what is erased apart lies apart.
const BLOCK: u64 = 4 << 10;
/// Where the sync point is.
pub(super) const POINT_AT: u64 = HEADER_BYTES as u64;
/// Where the life of the drive is: in another sector.
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

/// Where the text of the header begins.
fn text_at(has_rows: bool) -> usize {
    TEXT_AT[usize::from(has_rows)]
}

/// What the header states.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Header {
    /// The units of the layer.
    pub geometry: Geometry,
    /// With those of the journal behind them.
    pub medium: Geometry,
    pub text: String,
    /// Whether it is of a version without a count of synced pages.
    pub is_old: bool,
}

impl Header {
    /// Checks the numbers.
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

    /// Reads the first bytes of a file: [`HEADER_BYTES`] of them, fewer if it is shorter.
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

    /// Bytes of the sync point.
    pub fn point_bytes(&self) -> usize {
        if self.is_old { SyncPoint::OLD_BYTES } else { SyncPoint::BYTES }
    }
}

/// Where things are, as offsets into the file.
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

    /// The records of `pages` pages from page number `first` on.
    pub fn records(&self, first: u32, pages: u32) -> Range<u64> {
        let at = |page: u64| OOB_AT + page * RECORD_BYTES as u64;
        at(first.into())..at(u64::from(first) + u64::from(pages))
    }

    /// All records.
    pub fn oob(&self) -> Range<u64> {
        OOB_AT..OOB_AT + self.pages * RECORD_BYTES as u64
    }

    /// The data of `pages` pages from page number `first` on.
    pub fn data(&self, first: u32, pages: u32) -> Range<u64> {
        let at = |page: u64| self.data_at + page * self.page_bytes;
        at(first.into())..at(u64::from(first) + u64::from(pages))
    }

    /// Bytes of the file.
    pub fn end(&self) -> u64 {
        self.data_at + self.pages * self.page_bytes
    }
}

/// What the data of a page is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// Zeros, of which nothing is stored.
    Zeros = 1,
    /// A page of the host.
    Page,
    /// Bytes of the layer's own.
    Note,
    /// It was damaged when the page was moved.
    Lost,
}

/// The out-of-band area of a page that is programmed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Record {
    pub tag: Tag,
    /// How its unit is programmed.
    pub mode: Mode,
    pub content: Content,
    /// Bytes stored.
    pub length: u32,
    /// The checksum of these bytes.
    pub checksum: u32,
}

/// What an out-of-band area holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Found {
    Erased,
    /// The page is spent, and nothing can be read from it.
    Torn,
    /// Nothing was programmed there, to fill a row. The serial number is that of the last program
    /// before.
    Padding {
        serial: u64,
        mode: Mode,
    },
    Programmed(Record),
}

impl Found {
    /// Whether bytes are stored.
    pub fn is_stored(&self) -> bool {
        matches!(self, Self::Programmed(record) if record.is_stored())
    }

    /// Its serial number.
    pub fn serial(&self) -> Option<u64> {
        match *self {
            Self::Erased | Self::Torn => None,
            Self::Padding { serial, .. } => Some(serial),
            Self::Programmed(record) => Some(record.tag.serial),
        }
    }

    /// How its unit is programmed.
    pub fn mode(&self) -> Option<Mode> {
        match *self {
            Self::Erased | Self::Torn => None,
            Self::Padding { mode, .. } | Self::Programmed(Record { mode, .. }) => Some(mode),
        }
    }

    /// The bytes of such an out-of-band area.
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

/// What stands for the owner of a page in its record.
const DATA: u8 = 1;
const TRANSLATION: u8 = 2;
const PADDING: u8 = 3;

fn byte_of(mode: Mode) -> u8 {
    u8::from(mode == Mode::Slc)
}

/// Sequence and serial numbers stay below: no drive lives to count so far.
const NUMBER_MAX: u64 = 1 << 62;

/// A record that is not one, whatever its page.
pub(super) const TORN: [u8; RECORD_BYTES] = [0xff; RECORD_BYTES];

impl Record {
    pub fn belongs_to(&self, owner: Owner) -> bool {
        let Tag { owner: own, original, .. } = self.tag;
        own == owner || original.map(Owner::Data) == Some(owner)
    }

    /// Whether bytes are stored.
    pub fn is_stored(&self) -> bool {
        matches!(self.content, Content::Page | Content::Note)
    }

    /// Whether these are the bytes.
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

    /// The record of page number `ppn` of a medium.
    pub fn decode(bytes: &[u8; RECORD_BYTES], ppn: u32, medium: &Geometry) -> Found {
        if is_erased(bytes) {
            return Found::Erased;
        }
        Self::checked(bytes, ppn, medium).unwrap_or(Found::Torn)
    }

    /// A record that no layer could have written is none: who reads it need not be prepared.
    fn checked(bytes: &[u8; RECORD_BYTES], ppn: u32, medium: &Geometry) -> Option<Found> {
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
                return Some(Found::Padding { serial: numbers[1], mode });
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
        Some(Found::Programmed(Self { tag, mode, content, length, checksum: u32_at(bytes, 32) }))
    }
}

pub(super) fn is_erased(bytes: &[u8; RECORD_BYTES]) -> bool {
    *bytes == [0; RECORD_BYTES]
}

/// Whether a record of a page that was synced can be told from nonsense without its checksum, which
/// is dear where millions are read: one of which only a part was written cannot.
pub(super) fn is_plausible(bytes: &[u8; RECORD_BYTES]) -> bool {
    (DATA..=PADDING).contains(&bytes[24]) && serial(bytes) > 0 && u32_at(bytes, 36) > 0
}

/// The serial number in a record, right or not.
pub(super) fn serial(bytes: &[u8; RECORD_BYTES]) -> u64 {
    u64_at(bytes, 16)
}
