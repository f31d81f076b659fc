//! Damage to the records of an image never makes a read return an older version silently.
//!
//! Each record is changed on its own, and each sector of records is lost. Either `check` reports
//! the damage, or all reads are right.

use floatgate_ftl::rng::Rng;

use super::rows::drives_with_rows;
use super::*;

const POINT_AT: usize = 16 << 10;
const LIFE_AT: usize = POINT_AT + 512;
const OOB_AT: usize = 20 << 10;
const RECORD: usize = 40;
const SECTOR: usize = 512;
/// Bytes of the sync point with the erases and the count after it, and of the drive's life.
const FRONT: [(usize, usize); 2] = [(POINT_AT, 64), (LIFE_AT, 100)];

/// How a drive stops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    ShutDown,
    /// The process is killed: right after a flush (`Flushed`), or later (`Working`).
    Flushed,
    Working,
}

/// Image that no process has open, with its contents.
struct Ended {
    place: TempImage,
    sound: Vec<u8>,
    data: Vec<u8>,
    end: End,
    pages: usize,
    name: String,
    /// Whether it has units with pages that are never used.
    is_slc: bool,
}

impl Ended {
    fn new(sets: Sets<'_>, end: End) -> Self {
        let place = TempImage::new();
        let (mut model, mut rng) = (Model::new(), Rng::new(5));
        let mut drive = place.create(sets);
        (0..150).for_each(|_| request(drive.as_mut(), &mut model, &mut rng));
        match end {
            End::ShutDown => drive.shut_down().unwrap(),
            End::Flushed | End::Working => drive.flush().unwrap(),
        }
        if end == End::Working {
            (0..12).for_each(|_| request(drive.as_mut(), &mut model, &mut rng));
        }
        drop(drive);
        place.check();
        let pages = info(&place.image()).unwrap()["geometry"]["physical_pages"].as_u64().unwrap();
        let (sound, data) = (fs::read(place.image()).unwrap(), place.read());
        let name = format!("{sets:?} {end:?}");
        let is_slc = sets.iter().any(|(key, _)| key.starts_with("slc."));
        Self { place, sound, data, end, pages: pages as usize, name, is_slc }
    }

    fn record(&self, page: usize) -> &[u8] {
        &self.sound[OOB_AT + page * RECORD..][..RECORD]
    }

    /// Whether a page has a record of data or of the map that the sync point covers.
    fn is_synced(&self, page: usize) -> bool {
        let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
        let record = self.record(page);
        let point = number(&self.sound[POINT_AT..POINT_AT + 8]);
        [1, 2].contains(&record[24]) && number(&record[16..24]) < point
    }

    /// Changes a part of the image.
    fn damage(&self, at: usize, length: usize, change: impl Fn(usize, u8) -> u8) {
        let mut bytes = self.sound.clone();
        let part = bytes[at..at + length].iter_mut().enumerate();
        part.for_each(|(index, byte)| *byte = change(index, *byte));
        fs::write(self.place.image(), bytes).unwrap();
    }

    /// Checks that the damage is reported, or that all reads are right. Damage to a synced page
    /// must be reported, also after a drive was opened.
    fn expect(&self, what: &str, is_synced: bool) {
        let path = self.place.image();
        let is_reported = || check(&path).unwrap().problem_count > 0;
        let name = &self.name;
        if is_reported() {
            if is_synced && open(&path).map(drop).is_ok() {
                assert!(is_reported(), "{name}: {what} is forgotten");
            }
            return;
        }
        assert!(!is_synced, "{name}: {what} is not reported");
        if self.end == End::Working {
            // An unflushed page may have an older version, because its program may have been
            // interrupted.
            return;
        }
        let mut bytes = vec![1; BYTES];
        if Reader::open(&path).unwrap().read(0, &mut bytes).is_ok() {
            assert!(bytes == self.data, "{name}: {what} is not reported, and older data is read");
        }
    }

    /// Flips a bit in each of some bytes of a record, and makes the record look erased or torn.
    fn damage_record(&self, page: usize, bytes: &[usize]) {
        let at = OOB_AT + page * RECORD;
        let is_synced = self.is_synced(page);
        let is_marked = self.record(page) == [0xff; RECORD];
        for &byte in bytes {
            self.damage(at + byte, 1, |_, old| old ^ (1 << (page % 8)));
            let what = format!("page {page}, a flip in byte {byte}");
            if self.end == End::ShutDown && !self.is_slc && !is_marked {
                let problems = check(&self.place.image()).unwrap().problem_count;
                assert!(problems > 0, "{}: {what} is not reported", self.name);
            }
            self.expect(&what, is_synced);
        }
        for fill in [0, 0xff] {
            self.damage(at, RECORD, |_, _| fill);
            self.expect(&format!("page {page}, all {fill:02x}"), is_synced);
        }
    }

    fn lose_sectors(&self) {
        let end = OOB_AT + self.pages * RECORD;
        for at in (OOB_AT..end).step_by(SECTOR) {
            self.damage(at, SECTOR.min(end - at), |_, _| 0);
            let pages = (at - OOB_AT) / RECORD..((at + SECTOR - OOB_AT) / RECORD).min(self.pages);
            let is_synced = pages.into_iter().any(|page| self.is_synced(page));
            self.expect(&format!("the sector at {at}"), is_synced);
        }
    }

    /// Damages the sync point, the erases, the count, and the life of the drive.
    fn damage_front(&self, step: usize) {
        let path = self.place.image();
        for (at, length) in FRONT {
            self.damage(at, length, |_, _| 0);
            assert!(check(&path).unwrap().problem_count > 0, "{}: zeros at {at}", self.name);
            for byte in (at..at + length).step_by(step) {
                self.damage(byte, 1, |_, old| old ^ 1);
                let problems = check(&path).unwrap().problems;
                assert!(!problems.is_empty(), "{}: a flip in byte {byte}", self.name);
                open(&path).unwrap();
            }
        }
    }
}

const SHRD: Sets<'_> = &[
    ("host.scheme", "shrd"),
    ("host.log", "8KiB"),
    ("shrd.contiguous", "4"),
    ("shrd.twrite", "2KiB"),
    ("shrd.exclude_below", "0B"),
    ("capacity.spare_factor", "0.4"),
];

fn all_drives() -> Vec<Vec<(&'static str, &'static str)>> {
    let maps = ["ideal", "none", "dftl", "page_cache", "cdftl", "sftl", "tlllp", "tpftl"];
    let maps = maps.into_iter().map(|map| vec![("mapping.scheme", map)]);
    let logs = ["bast", "fast"].into_iter().map(|scheme| vec![("ftl.scheme", scheme)]);
    maps.chain(logs).chain([SHRD.to_vec()]).chain(drives_with_rows()).collect()
}

const ENDS: [End; 3] = [End::ShutDown, End::Flushed, End::Working];

#[test]
fn a_damaged_record_is_never_silent() {
    let drives = [
        vec![("mapping.scheme", "dftl")],
        vec![("ftl.scheme", "bast")],
        vec![("ftl.scheme", "fast")],
        SHRD.to_vec(),
    ];
    for (sets, end) in drives.iter().flat_map(|sets| ENDS.map(|end| (sets, end))) {
        let ended = Ended::new(sets, end);
        (0..ended.pages).step_by(8).for_each(|page| ended.damage_record(page, &[page * 7 % 40]));
        ended.lose_sectors();
        ended.damage_front(29);
    }
}

#[test]
#[ignore = "long: make test-long"]
fn no_damaged_record_of_any_drive_is_silent() {
    for (sets, end) in all_drives().iter().flat_map(|sets| ENDS.map(|end| (sets, end))) {
        let ended = Ended::new(sets, end);
        // Every record is damaged, every sixteenth in each of its bytes.
        for page in 0..ended.pages {
            if page % 16 == 0 {
                ended.damage_record(page, &(0..RECORD).collect::<Vec<_>>());
            } else {
                ended.damage_record(page, &[page * 7 % RECORD]);
            }
        }
        ended.lose_sectors();
        ended.damage_front(1);
    }
}
