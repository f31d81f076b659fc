//! Files that claim to be images: any bytes, and changed images, with and without matching
//! checksums. Every file must give an error message, or a drive that works.
//!
//! Offsets follow `docs/images.md`.

use std::path::Path;
use std::sync::LazyLock;
use std::{env, fs};

use floatgate_ftl::rng::Rng;
use floatgate_lab::config::Config;
use floatgate_lab::drive::live::{Live, create, open};
use floatgate_lab::image::{Selection, check, dump, info};

use crate::bytes::Bytes;

const PAGE: usize = 512;
const BYTES: usize = 40 * PAGE + 100;
const TEXT_AT: usize = 60;
const POINT_AT: usize = 16 << 10;
const OOB_AT: usize = 20 << 10;
const RECORD: usize = 40;

/// Drives of the images.
const DRIVES: &[&[(&str, &str)]] = &[
    &[("mapping.scheme", "ideal")],
    &[("mapping.scheme", "dftl"), ("placement.scheme", "eti")],
    &[("mapping.scheme", "tpftl"), ("cleaning.wear_leveling", "static")],
    &[("ftl.scheme", "bast")],
    &[("ftl.scheme", "fast")],
    &[("buffer.scheme", "bplru"), ("buffer.capacity", "4KiB")],
    &[
        ("flash.page", "1KiB"),
        ("mapping.unit", "512B"),
        ("flash.program_pages", "2"),
        ("flash.planes", "2"),
        ("flash.superblock", "2"),
    ],
    &[
        ("flash.program_pages", "2"),
        ("slc.static", "4KiB"),
        ("slc.dynamic", "8KiB"),
        ("controller.power_protected", "true"),
    ],
];

/// Images of each drive: after a shutdown, and after an abrupt end.
static IMAGES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let drives = DRIVES.iter().flat_map(|&sets| [(sets, true), (sets, false)]);
    drives.map(|(sets, is_clean)| made(sets, is_clean)).collect()
});

/// Returns a folder in memory, if there is one: the fuzzer writes a file for each input.
fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let place = if memory.is_dir() { memory.to_path_buf() } else { env::temp_dir() };
    tempfile::tempdir_in(place).unwrap_or_else(|error| panic!("{error}"))
}

fn made(sets: &[(&str, &str)], is_clean: bool) -> Vec<u8> {
    let tiny = [
        ("flash.page", "512B"),
        ("flash.pages_per_block", "4"),
        ("flash.channels", "1"),
        ("capacity.spare_factor", "0.2"),
        ("mapping.cache", "1KiB"),
        ("ftl.checkpoint_every", "150"),
    ];
    let pairs = tiny.iter().chain(sets).map(|&(key, value)| (key.to_owned(), value.to_owned()));
    let config = Config::load(None, None, &pairs.collect::<Vec<_>>());
    let config = config.unwrap_or_else(|error| panic!("{error}"));
    let folder = folder();
    let path = folder.path().join("made.img");
    create(&path, &config, BYTES as u64, 7).unwrap_or_else(|error| panic!("{error}"));
    let mut drive = open(&path).unwrap_or_else(|error| panic!("{error}"));
    let mut rng = Rng::new(5);
    for _ in 0..220 {
        work(drive.as_mut(), rng.bits() as u8, rng.bits() as u8, 1);
    }
    if is_clean {
        drive.shut_down().unwrap_or_else(|error| panic!("{error}"));
    }
    drop(drive);
    fs::read(&path).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs a request. Its outcome may be an error, for example at a damaged page.
fn work(drive: &mut dyn Live, kind: u8, at: u8, fill: u8) {
    let bytes = drive.bytes();
    let length = (u64::from(kind / 16) * 101).min(bytes);
    let offset = (u64::from(at) * 97) % (bytes - length + 1);
    let mut page = vec![fill; length as usize];
    let _ = match kind % 16 {
        0..9 => drive.write(offset, &page),
        9..12 => drive.read(offset, &mut page),
        12..15 => drive.trim(offset, length),
        _ => drive.flush(),
    };
}

/// An image that is being changed.
struct Draft {
    bytes: Vec<u8>,
}

impl Draft {
    fn put(&mut self, at: usize, new: &[u8]) {
        let end = self.bytes.len();
        let (from, to) = (at.min(end), (at + new.len()).min(end));
        self.bytes[from..to].copy_from_slice(&new[..to - from]);
    }

    fn pages(&self) -> usize {
        let number = |at: usize| {
            let bytes = self.bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
            bytes.map_or(0, u32::from_le_bytes) as usize
        };
        let per_unit = number(24).saturating_mul(number(28));
        per_unit.saturating_mul(number(32).saturating_add(number(56))).min(1 << 12)
    }

    fn record(&self, page: usize) -> [u8; RECORD] {
        let at = OOB_AT + page * RECORD;
        self.bytes
            .get(at..at + RECORD)
            .and_then(|bytes| bytes.try_into().ok())
            .unwrap_or([0; RECORD])
    }

    /// Puts a record in its place, with a matching checksum.
    fn seal(&mut self, page: usize, mut record: [u8; RECORD]) {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&record[..36]);
        hasher.update(&(page as u32).to_le_bytes());
        record[36..].copy_from_slice(&hasher.finalize().to_le_bytes());
        self.put(OOB_AT + page * RECORD, &record);
    }

    /// Makes the header's checksum match.
    fn seal_header(&mut self) {
        let Some(length) = self.bytes.get(12..16).and_then(|bytes| bytes.try_into().ok()) else {
            return;
        };
        let length = u32::from_le_bytes(length) as usize;
        let Some(header) = self.bytes.get(..length).filter(|header| header.len() >= 20) else {
            return;
        };
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&header[..16]);
        hasher.update(&header[20..]);
        let checksum = hasher.finalize().to_le_bytes();
        self.put(16, &checksum);
    }

    fn change(&mut self, bytes: &mut Bytes<'_>) {
        let kind = bytes.byte();
        let page = usize::from(bytes.short()) % self.pages().max(1);
        match kind % 8 {
            0 => self.put(usize::from(bytes.short()) % POINT_AT, &[bytes.byte()]),
            1 => {
                let at = usize::from(bytes.byte()) % (TEXT_AT + 400);
                self.put(at, &[bytes.byte()]);
                self.seal_header();
            }
            2 => {
                let mut record = self.record(page);
                record[usize::from(bytes.byte()) % RECORD] = bytes.byte();
                self.seal(page, record);
            }
            3 => {
                let from = usize::from(bytes.short()) % self.pages().max(1);
                self.seal(page, self.record(from));
            }
            4 => self
                .put(OOB_AT + page * RECORD + usize::from(bytes.byte()) % RECORD, &[bytes.byte()]),
            5 => {
                let point = bytes.long().to_le_bytes();
                let checksum = crc32fast::hash(&point).to_le_bytes();
                self.put(POINT_AT, &[&point[..], &checksum].concat());
            }
            6 => self.note(page, bytes),
            _ => {
                let end = self.bytes.len();
                self.bytes.truncate(end.saturating_sub(usize::from(bytes.short())));
            }
        }
    }

    /// Changes the content of a page, with a matching checksum, so that recovery accepts the
    /// journal.
    fn note(&mut self, page: usize, bytes: &mut Bytes<'_>) {
        let pages = self.pages();
        let data_at = (OOB_AT + pages * RECORD).next_multiple_of(4096);
        let at = data_at + page * PAGE;
        let new = [bytes.byte(), bytes.byte()];
        self.put(at + usize::from(bytes.short()) % PAGE, &new);
        let mut record = self.record(page);
        let length = usize::from(u16::from_le_bytes([record[28], record[29]]));
        let Some(data) = self.bytes.get(at..at + length) else { return };
        record[32..36].copy_from_slice(&crc32fast::hash(data).to_le_bytes());
        self.seal(page, record);
    }
}

fn image(bytes: &mut Bytes<'_>) -> Vec<u8> {
    let which = usize::from(bytes.byte());
    if which == 255 {
        return bytes.0.to_vec();
    }
    let mut draft = Draft { bytes: IMAGES[which % IMAGES.len()].clone() };
    let changes = bytes.byte() % 32;
    (0..changes).for_each(|_| draft.change(bytes));
    draft.bytes
}

/// Inspects such a file, opens it, and works on the drive if there is one.
pub fn run(input: &[u8]) {
    let bytes = &mut Bytes(input);
    let folder = folder();
    let path = folder.path().join("fuzz.img");
    fs::write(&path, image(bytes)).unwrap_or_else(|error| panic!("{error}"));
    let _ = info(&path);
    let _ = check(&path);
    let _ = dump(&path, Selection::All, |_| true);
    let _ = dump(&path, Selection::Lpn(bytes.byte().into()), |_| true);
    let _ = dump(&path, Selection::Unit(bytes.byte().into()), |_| true);
    let Ok(mut drive) = open(&path) else { return };
    for _ in 0..64 {
        work(drive.as_mut(), bytes.byte(), bytes.byte(), 2);
    }
    let Ok(()) = drive.shut_down() else { return };
    drive.check();
    drop(drive);
    // A drive must open again after its own writes.
    open(&path).unwrap_or_else(|error| panic!("{error}"));
}
