//! Tests of live drives whose process is killed, or whose machine crashes, at every change of the
//! file.
//!
//! After a kill the file has all changes before it, and a part of the current change. After a crash
//! of the machine the file has everything synced, and any sectors of the later changes. From each
//! such file recovery must find the drive, with an allowed version in every page.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use floatgate_ftl::rng::Rng;

use super::format::LIFE_AT;
use super::image::Change;
use crate::config::Config;
use crate::drive::live::{Live, create, open};
use crate::image::{Finding, check};

const PAGE: usize = 512;
const PAGES: usize = 60;
const SECTOR: usize = 512;

type Sets<'a> = &'a [(&'a str, &'a str)];

const TINY: Sets<'_> = &[
    ("flash.page", "512B"),
    ("flash.pages_per_block", "4"),
    ("flash.channels", "1"),
    ("capacity.spare_factor", "0.2"),
    ("ftl.checkpoint_every", "150"),
    ("mapping.scheme", "dftl"),
    ("mapping.cache", "1KiB"),
];

/// Two flash pages on each of two planes at once: 8 map units.
const ROWS: Sets<'_> = &[
    ("flash.page", "1KiB"),
    ("mapping.unit", "512B"),
    ("flash.program_pages", "2"),
    ("flash.planes", "2"),
    ("flash.superblock", "2"),
];

const PROTECTED: Sets<'_> = &[("controller.power_protected", "true")];

/// A static and a dynamic SLC cache, folded when it is full or when units are short.
const CACHE: Sets<'_> =
    &[("slc.static", "8KiB"), ("slc.dynamic", "8KiB"), ("slc.when_full", "fold")];

/// Returns a page filled with a version number; version 0 is zeros.
fn page(version: u16) -> [u8; PAGE] {
    let mut page = [0; PAGE];
    page.as_chunks_mut().0.fill(version.to_le_bytes());
    page
}

/// A step of the host: a write that gives pages `first..end` this version, or a flush.
#[derive(Clone, Copy, Debug)]
enum Act {
    Write { first: usize, end: usize, version: u16 },
    Flush,
}

/// A step, with the number of changes of the file before it, and when it was acknowledged.
#[derive(Clone, Copy, Debug)]
struct Request {
    act: Act,
    begun: usize,
    done: usize,
}

/// The life of a drive.
struct Life {
    /// The file when the drive was opened.
    before: Vec<u8>,
    changes: Vec<Change>,
    requests: Vec<Request>,
}

impl Life {
    fn new(folder: &Path, sets: &[Sets<'_>], seed: u64, requests: usize, trims: bool) -> Self {
        let pairs = [&[TINY], sets].concat().concat();
        let pairs = pairs.iter().map(|&(key, value)| (key.to_owned(), value.to_owned()));
        let config = Config::load(None, None, &pairs.collect::<Vec<_>>()).unwrap();
        let path = folder.join("live.img");
        create(&path, &config, (PAGES * PAGE) as u64, 7).unwrap();
        let before = fs::read(&path).unwrap();
        let mut drive = open(&path).unwrap();
        let mut rng = Rng::new(seed);
        let mut life = Self { before, changes: vec![], requests: vec![] };
        for version in 1..=requests as u16 {
            life.request(drive.as_mut(), &mut rng, (version, trims));
        }
        life.changes = drive.medium().image.log.take();
        drop(drive);
        fs::remove_file(path).unwrap();
        life
    }

    fn request(&mut self, drive: &mut dyn Live, rng: &mut Rng, (version, trims): (u16, bool)) {
        let changes = |drive: &dyn Live| drive.medium().image.log.borrow().len();
        let begun = changes(drive);
        let span = if rng.below(2) == 0 { PAGES } else { PAGES / 4 };
        let first = rng.below(span as u64) as usize;
        let end = (first + 1 + rng.below(6) as usize).min(PAGES);
        let (offset, bytes) = ((first * PAGE) as u64, (end - first) * PAGE);
        let act = match rng.below(10) {
            0 => {
                drive.flush().unwrap();
                Act::Flush
            }
            1 if trims => {
                drive.trim(offset, bytes as u64).unwrap();
                Act::Write { first, end, version: 0 }
            }
            _ => {
                drive.write(offset, &page(version).repeat(end - first)).unwrap();
                Act::Write { first, end, version }
            }
        };
        self.requests.push(Request { act, begun, done: changes(drive) });
    }

    /// Returns the versions that a page may have after `changes` changes of the file. With
    /// `is_durable` an acknowledged write is durable; otherwise only a flushed write is.
    fn possible(&self, number: usize, changes: usize, is_durable: bool) -> BTreeSet<u16> {
        let (mut possible, mut last) = (BTreeSet::from([0]), 0);
        for request in self.requests.iter().filter(|request| request.begun <= changes) {
            let is_done = request.done <= changes;
            match request.act {
                Act::Write { first, end, version } if (first..end).contains(&number) => {
                    last = version;
                    possible.insert(version);
                }
                Act::Write { .. } => continue,
                Act::Flush => {}
            }
            if is_done && (is_durable || matches!(request.act, Act::Flush)) {
                possible = BTreeSet::from([last]);
            }
        }
        possible
    }

    /// Returns the file after a kill of the process in the middle of a change.
    fn killed(&self, at: usize, rng: &mut Rng) -> Vec<u8> {
        let mut file = self.before.clone();
        self.changes[..at].iter().for_each(|change| apply(&mut file, change));
        // Each section in front of the records lies in one sector, which is written as a whole.
        let whole = LIFE_AT + SECTOR as u64;
        if let Some(Change::Write(to, bytes)) = self.changes.get(at)
            && *to >= whole
        {
            let part = rng.below(bytes.len() as u64) as usize;
            apply(&mut file, &Change::Write(*to, bytes[..part].to_vec()));
        }
        file
    }

    /// Returns the file after a crash of the machine: any sectors of the unsynced changes are
    /// there.
    fn crashed(&self, at: usize, rng: &mut Rng) -> Vec<u8> {
        let synced = self.changes[..at].iter().rposition(|change| matches!(change, Change::Sync));
        let (sure, open) = self.changes[..at].split_at(synced.unwrap_or(0));
        let mut file = self.before.clone();
        sure.iter().for_each(|change| apply(&mut file, change));
        let mut after = file.clone();
        open.iter().for_each(|change| apply(&mut after, change));
        let kept = 1 + rng.below(8);
        for (file, after) in file.chunks_mut(SECTOR).zip(after.chunks(SECTOR)) {
            if file != after && rng.below(8) < kept {
                file.copy_from_slice(after);
            }
        }
        file
    }

    /// Opens the drive in such a file, and checks every page.
    fn find(&self, path: &Path, file: &[u8], (at, is_durable): (usize, bool), continues: bool) {
        fs::write(path, file).unwrap();
        let mut drive = open(path).unwrap();
        for number in 0..PAGES {
            let mut found = [1; PAGE];
            let read = drive.read((number * PAGE) as u64, &mut found);
            assert_eq!(read, Ok(()), "page {number} after {at} changes");
            let version = u16::from_le_bytes([found[0], found[1]]);
            assert_eq!(found, page(version), "page {number} after {at} changes");
            let possible = self.possible(number, at, is_durable);
            assert!(possible.contains(&version), "{number}: {version} of {possible:?} at {at}");
        }
        if continues {
            let last = page(u16::MAX).repeat(PAGES);
            drive.write(0, &last).unwrap();
            drive.shut_down().unwrap();
            drop(drive);
            assert_eq!(problems(path), []);
            let mut found = vec![0; last.len()];
            open(path).unwrap().read(0, &mut found).unwrap();
            assert!(found == last);
        }
    }
}

fn problems(path: &Path) -> Vec<Finding> {
    check(path).unwrap().problems
}

fn apply(file: &mut [u8], change: &Change) {
    match change {
        Change::Write(at, bytes) => file[*at as usize..][..bytes.len()].copy_from_slice(bytes),
        Change::Punch(range) => file[range.start as usize..range.end as usize].fill(0),
        Change::Sync => {}
    }
}

/// Ends a drive at every `step`th change. `is_durable`: acknowledged writes survive a kill.
fn end_everywhere(sets: &[Sets<'_>], seed: u64, is_durable: bool, step: usize) {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
    let folder = tempfile::tempdir_in(folder).unwrap();
    // A trim is durable only after a flush.
    let life = Life::new(folder.path(), sets, seed, 150, !is_durable);
    let (path, mut rng) = (folder.path().join("found.img"), Rng::new(seed));
    for at in (seed as usize % step..=life.changes.len()).step_by(step) {
        let continues = rng.below(4) == 0;
        let killed = life.killed(at, &mut rng);
        fs::write(&path, &killed).unwrap();
        assert_eq!(problems(&path), [], "killed after {at} changes");
        life.find(&path, &killed, (at, is_durable), continues);
        let crashed = life.crashed(at, &mut rng);
        fs::write(&path, &crashed).unwrap();
        assert_eq!(problems(&path), [], "crashed after {at} changes");
        life.find(&path, &crashed, (at, false), continues);
    }
}

#[test]
fn a_drive_that_programs_page_by_page_is_found_after_every_change() {
    end_everywhere(&[], 1, false, 5);
    end_everywhere(&[], 2, true, 5);
}

#[test]
fn a_drive_with_rows_is_found_after_every_change() {
    end_everywhere(&[ROWS], 3, false, 5);
    end_everywhere(&[ROWS, PROTECTED], 4, false, 5);
    end_everywhere(&[ROWS, PROTECTED], 5, true, 5);
}

#[test]
fn a_drive_with_an_slc_cache_is_found_after_every_change() {
    end_everywhere(&[ROWS, CACHE], 6, false, 5);
    end_everywhere(&[ROWS, CACHE, PROTECTED], 7, false, 5);
    end_everywhere(&[ROWS, CACHE, PROTECTED], 8, true, 5);
}

#[test]
#[ignore = "long: make test-long"]
fn drives_of_pages_are_found_after_every_change_of_many_lives() {
    end_many_lives(&[]);
}

#[test]
#[ignore = "long: make test-long"]
fn drives_of_rows_are_found_after_every_change_of_many_lives() {
    end_many_lives(&[ROWS]);
}

#[test]
#[ignore = "long: make test-long"]
fn drives_with_an_slc_cache_are_found_after_every_change_of_many_lives() {
    end_many_lives(&[ROWS, CACHE]);
}

fn end_many_lives(sets: &[Sets<'_>]) {
    for seed in 10..30 {
        end_everywhere(sets, seed, false, 1);
        end_everywhere(&[sets, &[PROTECTED]].concat(), seed, seed % 2 == 0, 1);
    }
}
