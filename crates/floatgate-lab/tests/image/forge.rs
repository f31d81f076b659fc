//! Images made by hand, record by record, from the format in docs/images.md and in the header of
//! `journal.rs`.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use floatgate_lab::drive::live::create;
use floatgate_lab::image::{Report, check, info};

use super::{BYTES, PAGE, TempImage, config};

const POINT_AT: u64 = 16 << 10;
const OOB_AT: u64 = 20 << 10;
const RECORD: u64 = 40;

pub const ZEROS: u8 = 1;
pub const HOST: u8 = 2;
pub const NOTE: u8 = 3;
pub const LOST: u8 = 4;

/// Erase unit, and a page of it.
pub type At = (u32, u32);

/// Contents of a page's record.
#[derive(Clone, Copy)]
pub struct Page {
    /// 1 for a page of data, 2 for a page of the map or of the journal.
    pub kind: u8,
    pub number: u32,
    /// Logical page that the page will belong to after its remap.
    pub original: Option<u32>,
    pub sequence: u64,
    pub serial: u64,
    pub content: u8,
}

/// Returns a page of data without stored bytes.
pub fn data(number: u32, sequence: u64, serial: u64) -> Page {
    Page { kind: 1, number, original: None, sequence, serial, content: ZEROS }
}

/// Returns a map page without stored bytes.
pub fn map(number: u32, serial: u64) -> Page {
    Page { kind: 2, ..data(number, serial, serial) }
}

/// Returns a page of the journal.
pub fn journal(number: u32, serial: u64) -> Page {
    Page { content: NOTE, ..map(number, serial) }
}

/// Image whose records are all written by the test.
pub struct Forge {
    place: TempImage,
    file: File,
    /// Erase units of the drive. The journal's first unit is after them.
    pub units: u32,
    pages_per_unit: u32,
    pages: u64,
    logical_pages: u32,
}

impl Forge {
    /// Makes the image of an erased drive without a journal. All its pages are synced.
    pub fn new(sets: super::Sets<'_>) -> Self {
        let place = TempImage::new();
        create(&place.image(), &config(sets), BYTES as u64, 7).unwrap();
        let geometry = info(&place.image()).unwrap()["geometry"].take();
        let number = |key: &str| geometry[key].as_u64().unwrap();
        let file = File::options().read(true).write(true).open(place.image()).unwrap();
        let forge = Self {
            place,
            file,
            units: number("units") as u32,
            pages_per_unit: number("pages_per_unit") as u32,
            pages: number("physical_pages"),
            logical_pages: number("logical_pages") as u32,
        };
        forge.file.write_all_at(&vec![0; (RECORD * forge.pages) as usize], OOB_AT).unwrap();
        forge.seal(POINT_AT, &(1u64 << 40).to_le_bytes());
        forge
    }

    /// Writes bytes, and their checksum after them.
    fn seal(&self, at: u64, bytes: &[u8]) {
        let sealed = [bytes, &crc32fast::hash(bytes).to_le_bytes()].concat();
        self.file.write_all_at(&sealed, at).unwrap();
    }

    /// Counts all sound records as synced pages. The drive counts as not shut down.
    fn count_pages(&self) {
        let mut records = vec![0; (RECORD * self.pages) as usize];
        self.file.read_exact_at(&mut records, OOB_AT).unwrap();
        let (mut pages, mut serials) = (0u64, 0u64);
        for (ppn, record) in (0u32..).zip(records.chunks(RECORD as usize)) {
            let sealed = [&record[..36], &ppn.to_le_bytes()].concat();
            if crc32fast::hash(&sealed).to_le_bytes() == record[36..] {
                pages += 1;
                serials += u64::from_le_bytes(record[16..24].try_into().unwrap());
            }
        }
        let count = [&pages.to_le_bytes()[..], &serials.to_le_bytes(), &[0; 4]].concat();
        self.seal(POINT_AT + 40, &count);
    }

    pub fn path(&self) -> PathBuf {
        self.place.image()
    }

    fn ppn(&self, (unit, page): At) -> u32 {
        unit * self.pages_per_unit + page
    }

    fn data_at(&self, at: At) -> u64 {
        let data = (OOB_AT + RECORD * self.pages).next_multiple_of(4096);
        data + PAGE as u64 * u64::from(self.ppn(at))
    }

    fn overwrite_record(&self, at: At, record: &[u8; RECORD as usize]) {
        self.file.write_all_at(record, OOB_AT + RECORD * u64::from(self.ppn(at))).unwrap();
    }

    /// Writes a page with these bytes, over any earlier contents.
    fn put_bytes(&self, at: At, page: Page, bytes: &[u8]) {
        let mut record = vec![];
        record.extend(page.number.to_le_bytes());
        record.extend(page.original.map_or(0, |lpn| lpn + 1).to_le_bytes());
        record.extend(page.sequence.to_le_bytes());
        record.extend(page.serial.to_le_bytes());
        record.extend([page.kind, page.content, 0, 0]);
        record.extend((bytes.len() as u32).to_le_bytes());
        record.extend(crc32fast::hash(bytes).to_le_bytes());
        let sealed = [&record[..], &self.ppn(at).to_le_bytes()].concat();
        record.extend(crc32fast::hash(&sealed).to_le_bytes());
        self.overwrite_record(at, &record.try_into().unwrap());
        self.file.write_all_at(bytes, self.data_at(at)).unwrap();
    }

    /// Writes a page, with bytes if its kind of content has any.
    pub fn put(&self, at: At, page: Page) {
        let bytes: &[u8] = match page.content {
            HOST => &[0x5a; PAGE],
            NOTE => &[0; 16],
            _ => &[],
        };
        self.put_bytes(at, page, bytes);
    }

    pub fn erase(&self, at: At) {
        self.overwrite_record(at, &[0; RECORD as usize]);
    }

    /// Makes a page look like an interrupted program.
    pub fn tear(&self, at: At) {
        self.overwrite_record(at, &[0xff; RECORD as usize]);
    }

    /// Replaces a record by invalid bytes.
    pub fn damage_record(&self, at: At) {
        self.overwrite_record(at, &[0x5a; RECORD as usize]);
    }

    /// Flips a bit of a page's stored data.
    pub fn damage_data(&self, at: At) {
        let mut byte = [0];
        self.file.read_exact_at(&mut byte, self.data_at(at)).unwrap();
        self.file.write_all_at(&[byte[0] ^ 1], self.data_at(at)).unwrap();
    }

    /// Returns the position of a page in the first area of the journal.
    fn journal_page(&self, index: u32) -> At {
        (self.units + index / self.pages_per_unit, index % self.pages_per_unit)
    }

    /// Writes a checkpoint taken after the page with the serial number `serial`. Its pages are the
    /// place of each logical page, the erase units, and the commit record.
    pub fn checkpoint(&self, serial: u64, table: &[(u32, At)]) {
        let mut places = vec![0u32; self.logical_pages as usize];
        for &(lpn, at) in table {
            places[lpn as usize] = self.ppn(at) + 1;
        }
        let map: Vec<u8> = places.into_iter().flat_map(u32::to_le_bytes).collect();
        let units = vec![0; 8 * self.units as usize];
        let commit = [*b"floatgat", serial.to_le_bytes(), serial.to_le_bytes()].concat();
        for (index, bytes) in (0..).zip([map, units, commit]) {
            assert!(bytes.len() <= PAGE, "this drive's checkpoint has more pages");
            let page = journal(index, serial + 1 + u64::from(index));
            self.put_bytes(self.journal_page(index), page, &bytes);
        }
    }

    /// Writes a page of trims after the checkpoint: first page, number of pages, sequence number.
    pub fn trims(&self, serial: u64, trims: &[(u32, u32, u64)]) {
        let mut bytes = vec![];
        for (first, pages, sequence) in trims {
            bytes.extend(first.to_le_bytes());
            bytes.extend(pages.to_le_bytes());
            bytes.extend(sequence.to_le_bytes());
        }
        self.put_bytes(self.journal_page(3), journal(3, serial), &bytes);
    }

    pub fn check(&self) -> Report {
        self.count_pages();
        check(&self.path()).unwrap()
    }

    /// Checks that exactly these problems are reported, each at its page.
    #[track_caller]
    pub fn expect(&self, expected: &[(Option<At>, &str)]) {
        let report = self.check();
        let found: Vec<(Option<At>, &str)> = report
            .problems
            .iter()
            .map(|found| (found.unit.zip(found.page), found.what.as_str()))
            .collect();
        assert_eq!(found, expected);
        assert_eq!(report.problem_count, expected.len() as u64);
    }
}
