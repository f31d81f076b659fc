//! Live drives on images, compared with a plain array of bytes: requests of any bytes, shut-downs,
//! and ends without a shut-down. Also the reports of commands that inspect an image.

mod check;
mod damage;
mod forge;
mod presets;
mod rows;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use floatgate_ftl::rng::Rng;
use floatgate_lab::config::Config;
use floatgate_lab::drive::live::{Live, LiveError, OpenError, create, open};
use floatgate_lab::image::{Reader, Report, Selection, check, dump, info};
use serde_json::Value;

const PAGE: usize = 512;
/// Not a whole number of pages.
const BYTES: usize = 60 * PAGE + 100;

/// Drive of about 60 pages of data, with few more units than it needs.
const TINY: &[(&str, &str)] = &[
    ("flash.page", "512B"),
    ("flash.pages_per_block", "4"),
    ("flash.channels", "1"),
    ("capacity.spare_factor", "0.2"),
    ("mapping.cache", "1KiB"),
    ("ftl.checkpoint_every", "150"),
];

type Sets<'a> = &'a [(&'a str, &'a str)];

fn config(sets: Sets<'_>) -> Config {
    let pairs = TINY.iter().chain(sets).map(|&(key, value)| (key.to_owned(), value.to_owned()));
    Config::load(None, None, &pairs.collect::<Vec<_>>()).unwrap_or_else(|error| panic!("{error}"))
}

/// Directory for an image.
struct TempImage(tempfile::TempDir);

impl TempImage {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn image(&self) -> PathBuf {
        self.0.path().join("flash.img")
    }

    fn create(&self, sets: Sets<'_>) -> Box<dyn Live> {
        create(&self.image(), &config(sets), BYTES as u64, 7).unwrap();
        open(&self.image()).unwrap()
    }

    fn check(&self) -> Report {
        let report = check(&self.image()).unwrap();
        assert_eq!(report.problems, [], "of {}", report.problem_count);
        report
    }

    /// Reads the whole drive from its image file.
    fn read(&self) -> Vec<u8> {
        let mut bytes = vec![1; BYTES];
        Reader::open(&self.image()).unwrap().read(0, &mut bytes).unwrap();
        bytes
    }
}

/// The host's view of the drive.
struct Model {
    bytes: Vec<u8>,
    /// Possible contents of each page changed since the last flush, after an end without a
    /// shut-down.
    possible: BTreeMap<usize, Vec<Vec<u8>>>,
}

impl Model {
    fn new() -> Self {
        Self { bytes: vec![0; BYTES], possible: BTreeMap::new() }
    }

    fn page(&self, page: usize) -> &[u8] {
        &self.bytes[page * PAGE..BYTES.min((page + 1) * PAGE)]
    }

    fn change(&mut self, start: usize, length: usize, change: impl FnOnce(&mut [u8])) {
        let pages = start / PAGE..(start + length).div_ceil(PAGE);
        for page in pages.clone() {
            let before = self.page(page).to_vec();
            self.possible.entry(page).or_insert_with(|| vec![before]);
        }
        change(&mut self.bytes[start..start + length]);
        for page in pages {
            let after = self.page(page).to_vec();
            self.possible.get_mut(&page).unwrap().push(after);
        }
    }

    /// Checks each page after an end without a shut-down: it must have a possible version, which
    /// the model then adopts.
    fn adopt(&mut self, drive: &mut dyn Live) {
        let mut found = vec![0; BYTES];
        drive.read(0, &mut found).unwrap();
        for page in 0..BYTES.div_ceil(PAGE) {
            let is = &found[page * PAGE..BYTES.min((page + 1) * PAGE)];
            match self.possible.get(&page) {
                Some(versions) => assert!(versions.iter().any(|may| may == is), "page {page}"),
                None => assert!(is == self.page(page), "page {page} was flushed"),
            }
        }
        self.bytes = found;
        self.possible.clear();
    }
}

/// Sends one random request. The bytes of a write are random, and rarely zeros.
fn request(drive: &mut dyn Live, model: &mut Model, rng: &mut Rng) {
    let mut below = |limit: usize| (rng.bits() % limit as u64) as usize;
    let length = if below(4) == 0 { below(12 * PAGE) } else { below(3 * PAGE) };
    let (start, kind) = (below(BYTES - length), below(100));
    match kind {
        0..45 => {
            let fill = below(4) as u8 * 85;
            let bytes: Vec<u8> =
                (0..length).map(|_| if fill == 0 { 0 } else { below(256) as u8 }).collect();
            drive.write(start as u64, &bytes).unwrap();
            model.change(start, length, |page| page.copy_from_slice(&bytes));
        }
        45..75 => {
            let mut bytes = vec![1; length];
            drive.read(start as u64, &mut bytes).unwrap();
            assert!(bytes == model.bytes[start..start + length], "{length} bytes at {start}");
        }
        75..90 => {
            drive.trim(start as u64, length as u64).unwrap();
            let (first, end) = (start.div_ceil(PAGE) * PAGE, (start + length) / PAGE * PAGE);
            if first < end {
                model.change(first, end - first, |pages| pages.fill(0));
            }
        }
        _ => {
            drive.flush().unwrap();
            model.possible.clear();
        }
    }
}

/// Runs a drive through `lives` lives. Every other life ends without a shut-down.
fn live(sets: Sets<'_>, lives: u64, requests: u64) {
    let place = TempImage::new();
    let (mut model, mut rng) = (Model::new(), Rng::new(3));
    let mut drive = place.create(sets);
    for life in 0..lives {
        drive.device_mut().reset_counters();
        for _ in 0..requests {
            request(drive.as_mut(), &mut model, &mut rng);
        }
        drive.check();
        assert_eq!(drive.device().time(), (0, None), "its clock is frozen");
        let is_clean = life % 2 == 0;
        if is_clean {
            drive.shut_down().unwrap();
            model.possible.clear();
        }
        drop(drive);
        place.check();
        let seen = place.read();
        drive = open(&place.image()).unwrap();
        assert!(drive.mount().from_checkpoint);
        model.adopt(drive.as_mut());
        assert!(seen == model.bytes, "what is read from outside is what the drive says");
        drive.check();
    }
    drop(drive);
    place.check();
}

#[test]
fn bytes_survive_on_every_map() {
    for mapping in ["ideal", "none", "dftl", "page_cache", "cdftl", "sftl", "tlllp", "tpftl"] {
        live(&[("mapping.scheme", mapping)], 6, 150);
    }
}

#[test]
fn bytes_survive_with_log_blocks() {
    for scheme in ["bast", "fast"] {
        live(&[("ftl.scheme", scheme)], 6, 150);
    }
}

#[test]
fn bytes_survive_behind_shrd() {
    let shrd = [
        ("host.scheme", "shrd"),
        ("host.log", "8KiB"),
        ("shrd.contiguous", "4"),
        ("shrd.twrite", "2KiB"),
        ("shrd.exclude_below", "0B"),
        ("capacity.spare_factor", "0.4"),
    ];
    for mapping in ["ideal", "dftl", "page_cache"] {
        for lazy in ["false", "true"] {
            let own = [("mapping.scheme", mapping), ("shrd.lazy_stale", lazy)];
            live(&[&shrd[..], &own[..]].concat(), 6, 150);
        }
    }
}

#[test]
fn bytes_survive_in_every_buffer() {
    for scheme in ["page_lru", "lru", "fab", "bplru", "clc"] {
        for acknowledge in ["write_back", "write_through"] {
            let buffer = [
                ("buffer.scheme", scheme),
                ("buffer.acknowledge", acknowledge),
                ("buffer.capacity", "4KiB"),
            ];
            live(&buffer, 4, 150);
        }
    }
    let queues = [("buffer.scheme", "ncq_lru"), ("buffer.capacity", "4KiB")];
    live(&[&queues[..], &[("queue.queues", "2"), ("queue.dispatch", "serial")]].concat(), 4, 150);
}

#[test]
fn requests_beyond_the_drive_are_refused() {
    let place = TempImage::new();
    let mut drive = place.create(&[]);
    assert_eq!(drive.bytes(), BYTES as u64);
    let refused = |end| Err(LiveError::Beyond { end, bytes: BYTES as u64 });
    assert_eq!(drive.write(BYTES as u64 - 1, &[1, 2]), refused(BYTES as u64 + 1));
    assert_eq!(drive.read(u64::MAX, &mut [0]), refused(u64::MAX));
    assert_eq!(drive.trim(0, BYTES as u64 + 7), refused(BYTES as u64 + 7));
    drive.write(BYTES as u64 - 2, &[1, 2]).unwrap();
    drive.read(BYTES as u64, &mut []).unwrap();
}

/// Flips a data bit in the live page of a logical page, in a file that no process has open.
fn damage(path: &Path, lpn: u32) {
    let (mut at, mut geometry) = (None, Value::Null);
    dump(path, Selection::Lpn(lpn), |rows| {
        let live = rows.iter().find(|row| row["state"] == "live");
        at = live.map(|row| (row["unit"].as_u64().unwrap(), row["page"].as_u64().unwrap())).or(at);
        true
    })
    .unwrap();
    geometry.clone_from(&info(path).unwrap()["geometry"]);
    let number = |key: &str| geometry[key].as_u64().unwrap();
    let (unit, page) = at.expect("the page is there");
    let data_at = (20_480 + 40 * number("physical_pages")).next_multiple_of(4096);
    let at = data_at + (unit * number("pages_per_unit") + page) * PAGE as u64 + 17;
    let file = fs::File::options().read(true).write(true).open(path).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 4], at).unwrap();
}

#[test]
fn a_damaged_page_is_an_error_of_its_own() {
    for buffer in ["none", "bplru"] {
        let place = TempImage::new();
        let sets = [("buffer.scheme", buffer), ("buffer.capacity", "4KiB")];
        let mut drive = place.create(&sets);
        let bytes: Vec<u8> = (0..BYTES).map(|at| 1 + (at % 251) as u8).collect();
        drive.write(0, &bytes).unwrap();
        drive.shut_down().unwrap();
        drop(drive);
        damage(&place.image(), 5);
        let mut reader = Reader::open(&place.image()).unwrap();
        let mut around = [0; 5 * PAGE];
        let at = 5 * PAGE as u64;
        assert_eq!(reader.read(at - 9, &mut around), Err(LiveError::DamagedAt { offset: at }));
        assert_eq!(reader.read(at - PAGE as u64, &mut around[..PAGE]), Ok(()));
        assert_eq!(reader.read(at + PAGE as u64, &mut around[PAGE..]), Ok(()));
        assert!(around[..PAGE] == bytes[4 * PAGE..5 * PAGE]);
        assert!(around[PAGE..] == bytes[6 * PAGE..10 * PAGE]);
        drop(reader);
        let report = check(&place.image()).unwrap();
        assert_eq!(report.problem_count, 1);
        assert_eq!(report.problems[0].what, "logical page 5: its data is damaged");
        let mut drive = open(&place.image()).unwrap();
        let mut page = [0; PAGE];
        for number in 0..60 {
            let read = drive.read((number * PAGE) as u64, &mut page);
            let expected = &bytes[number * PAGE..(number + 1) * PAGE];
            match number {
                5 => assert_eq!(read, Err(LiveError::Damaged)),
                _ => assert!(read.is_ok() && page == *expected, "page {number}"),
            }
        }
        assert_eq!(drive.write(5 * PAGE as u64 + 1, &[1]), Err(LiveError::Damaged));
        assert_eq!(drive.read(5 * PAGE as u64, &mut page), Err(LiveError::Damaged));
        // Writes the neighbouring pages in full, in part, and with padding.
        drive.write(4 * PAGE as u64, &[9; PAGE]).unwrap();
        drive.write(6 * PAGE as u64 + 3, &[9]).unwrap();
        drive.flush().unwrap();
        assert_eq!(drive.read(5 * PAGE as u64, &mut page), Err(LiveError::Damaged));
        drive.write(5 * PAGE as u64, &[7; PAGE]).unwrap();
        drive.flush().unwrap();
        drive.read(5 * PAGE as u64, &mut page).unwrap();
        assert_eq!(page, [7; PAGE]);
    }
}

#[test]
fn a_drive_that_cannot_live_is_refused_and_leaves_no_file() {
    for (sets, expected) in [
        (&[("mapping.scheme", "belady")][..], "mapping.scheme = \"belady\""),
        (&[("buffer.scheme", "belady"), ("buffer.capacity", "4KiB")], "buffer.scheme = \"belady\""),
        (&[("flash.blocks", "4")], "flash.blocks"),
    ] {
        let place = TempImage::new();
        let error = create(&place.image(), &config(sets), BYTES as u64, 1).unwrap_err();
        assert!(matches!(error, OpenError::Config(_)), "{error:?}");
        assert!(error.to_string().contains(expected), "{error}");
        assert!(!place.image().exists());
    }
    let place = TempImage::new();
    assert!(
        create(&place.image(), &config(&[]), 0, 1).unwrap_err().to_string().contains("0 bytes")
    );
}

#[test]
fn a_drive_in_use_is_refused() {
    let place = TempImage::new();
    let drive = place.create(&[]);
    let in_use = format!("{} is in use by another process", place.image().display());
    assert_eq!(open(&place.image()).map(|_| ()).unwrap_err().to_string(), in_use);
    assert_eq!(check(&place.image()).unwrap_err().to_string(), in_use);
    assert_eq!(info(&place.image()).unwrap_err().to_string(), in_use);
    drop(drive);
    place.check();
}

#[test]
fn any_bytes_are_read_from_outside() {
    let place = TempImage::new();
    let mut drive = place.create(&[]);
    let (mut model, mut rng) = (Model::new(), Rng::new(11));
    (0..200).for_each(|_| request(drive.as_mut(), &mut model, &mut rng));
    drive.shut_down().unwrap();
    drop(drive);
    // Two readers look at the image at the same time.
    let mut readers = [(); 2].map(|()| Reader::open(&place.image()).unwrap());
    assert_eq!(readers[0].bytes(), BYTES as u64);
    for round in 0..300 {
        let start = rng.below(BYTES as u64) as usize;
        let length = rng.below((BYTES - start) as u64 + 1) as usize;
        let mut bytes = vec![1; length];
        readers[round % 2].read(start as u64, &mut bytes).unwrap();
        assert!(bytes == model.bytes[start..start + length], "{length} bytes at {start}");
    }
    let end = BYTES as u64;
    let refused = |end| Err(LiveError::Beyond { end, bytes: BYTES as u64 });
    assert_eq!(readers[0].read(end, &mut []), Ok(()));
    assert_eq!(readers[0].read(end, &mut [0]), refused(end + 1));
    assert_eq!(readers[0].read(u64::MAX, &mut [0]), refused(u64::MAX));
    let in_use = open(&place.image()).map(|_| ()).unwrap_err().to_string();
    assert!(in_use.contains("is in use"), "{in_use}");
}

#[test]
fn looking_changes_nothing() {
    let place = TempImage::new();
    let mut drive = place.create(&[("mapping.scheme", "dftl")]);
    let (mut model, mut rng) = (Model::new(), Rng::new(5));
    (0..300).for_each(|_| request(drive.as_mut(), &mut model, &mut rng));
    drop(drive);
    let before = fs::read(place.image()).unwrap();
    let report = place.check();
    place.read();
    let facts = info(&place.image()).unwrap();
    assert_eq!(facts["bytes"], BYTES);
    assert_eq!(facts["config"]["mapping"]["scheme"], "dftl");
    assert_eq!(facts["pages"]["mapped"], report.pages.data);
    let mut rows = vec![];
    dump(&place.image(), Selection::All, |some| {
        rows.extend_from_slice(some);
        true
    })
    .unwrap();
    let live = |owner: &str| {
        let rows = rows.iter().filter(|row| row["state"] == "live" && row["owner"] == owner);
        rows.count() as u64
    };
    let pages = report.pages;
    assert_eq!(
        (live("data"), live("map"), live("journal")),
        (pages.data, pages.map, pages.journal)
    );
    assert_eq!(facts["pages"]["programmed"], rows.len() as u64 + pages.skipped);
    assert!(fs::read(place.image()).unwrap() == before);
}

/// Any change to the bytes gives an error or a consistent drive.
#[test]
fn no_image_makes_a_panic() {
    let place = TempImage::new();
    let mut drive = place.create(&[("mapping.scheme", "dftl")]);
    let (mut model, mut rng) = (Model::new(), Rng::new(9));
    (0..200).for_each(|_| request(drive.as_mut(), &mut model, &mut rng));
    drop(drive);
    let sound = fs::read(place.image()).unwrap();
    for round in 0..60 {
        let mut bytes = sound.clone();
        for _ in 0..1 + rng.bits() % 40 {
            let limit = if round % 3 == 0 { bytes.len() } else { 26_000 };
            let from = if round % 4 == 0 { 0 } else { 16_384 };
            let at = from + (rng.bits() as usize) % (limit - from);
            bytes[at] ^= 1 << (rng.bits() % 8);
        }
        if round % 10 == 9 {
            bytes.truncate((rng.bits() as usize) % bytes.len());
        }
        fs::write(place.image(), &bytes).unwrap();
        let _ = info(&place.image());
        let _ = check(&place.image());
        let _ = Reader::open(&place.image()).map(|mut reader| reader.read(0, &mut vec![0; BYTES]));
        let _ = dump(&place.image(), Selection::All, |_| true);
        match open(&place.image()) {
            Ok(mut drive) => {
                drive.check();
                let _ = drive.read(0, &mut vec![0; BYTES]);
                drive.write(0, &[1; BYTES]).unwrap();
                drive.shut_down().unwrap();
                drop(drive);
                check(&place.image()).unwrap();
            }
            Err(error) => assert!(error.to_string().contains("flash.img"), "{error}"),
        }
    }
}
