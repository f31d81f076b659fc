//! A model drive with only a map, for the unit tests of mappings. It tracks the correct value of
//! every entry and the content of the translation pages on flash, and asserts both after every
//! operation.

use super::tests::PAGES;
use super::*;
use crate::rng::Rng;
use alloc::vec;

/// A mapping under test.
pub(super) struct Drive<M> {
    pub map: M,
    pub programs: u64,
    geometry: Geometry,
    bytes_max: u64,
    table: Vec<Option<Ppn>>,
    flash: Vec<Option<Ppn>>,
    next: u32,
}

impl<M: Mapping> Drive<M> {
    /// Makes a drive with nothing written. Asserts that the cache never takes more than
    /// `bytes_max`.
    pub fn new(map: M, geometry: Geometry, bytes_max: u64) -> Self {
        let empty = vec![None; PAGES as usize];
        let (table, flash) = (empty.clone(), empty);
        Self { map, programs: 0, geometry, bytes_max, table, flash, next: 0 }
    }

    /// Runs operations: `r5` reads, `w5` writes, `w5+8` writes eight pages from 5, `t5+8` trims,
    /// `g5+8` moves, `f` flushes. Returns the flash work of each.
    pub fn run(&mut self, script: &str) -> Vec<Vec<MapOp>> {
        script.split_whitespace().map(|word| self.operate(word)).collect()
    }

    fn operate(&mut self, word: &str) -> Vec<MapOp> {
        let (kind, range) = word.split_at(1);
        let number = |text: &str| text.parse::<u32>().expect("a number");
        let (start, length) = range.split_once('+').unwrap_or((range, "1"));
        let (start, length) = if kind == "f" { (0, 0) } else { (number(start), number(length)) };
        let lpns = start..start + length;
        match kind {
            "r" => lpns.flat_map(|lpn| self.read(lpn)).collect(),
            "w" => lpns.flat_map(|lpn| self.write(lpn, &[])).collect(),
            "t" => self.trim(start, length),
            "g" => self.clean(&lpns.collect::<Vec<_>>()),
            _ => self.flush(),
        }
    }

    pub fn read(&mut self, lpn: u32) -> Vec<MapOp> {
        let io = self.access(lpn, AccessKind::Read);
        self.object();
        io
    }

    /// Writes a page to the next place. Cleaning moves some pages between access and program.
    pub fn write(&mut self, lpn: u32, moved: &[u32]) -> Vec<MapOp> {
        let mut all = self.access(lpn, AccessKind::Write);
        all.extend(self.clean(moved));
        let to = self.place();
        self.table[lpn as usize] = Some(to);
        let mut io = vec![];
        self.map.assigned(Lpn::new(lpn), to, &mut io);
        self.perform(&io);
        self.object();
        all.extend(io);
        all
    }

    fn access(&mut self, lpn: u32, kind: AccessKind) -> Vec<MapOp> {
        let (lpn, mapped) = (Lpn::new(lpn), self.table[lpn as usize].is_some());
        let mut io = vec![];
        self.map.access(Access { lpn, kind, remaining: 1, first: true, mapped }, &mut io);
        let missed = io.iter().any(|op| matches!(op, MapOp::Fetch(_)));
        assert!(!missed || matches!(io.last(), Some(MapOp::Fetch(_))), "loads come last");
        self.perform(&io);
        io
    }

    /// Trims pages of one translation page.
    pub fn trim(&mut self, start: u32, length: u32) -> Vec<MapOp> {
        let lpns = start..start + length;
        let mapped: Vec<Lpn> =
            lpns.filter(|&lpn| self.table[lpn as usize].take().is_some()).map(Lpn::new).collect();
        let mut io = vec![];
        self.map.trim(self.geometry.translation_page(Lpn::new(start)), &mapped, &mut io);
        self.perform(&io);
        self.object();
        io
    }

    /// Moves the mapped ones of these pages. The pages are in ascending order.
    pub fn clean(&mut self, lpns: &[u32]) -> Vec<MapOp> {
        let held = lpns.iter().copied().filter(|&lpn| self.table[lpn as usize].is_some());
        let held: Vec<u32> = held.collect();
        let moved: Vec<_> = held.iter().map(|&lpn| (Lpn::new(lpn), self.place())).collect();
        for &(lpn, to) in &moved {
            self.table[lpn.index()] = Some(to);
        }
        let mut io = vec![];
        self.map.relocated(&moved, &mut io);
        let programs = self.programs;
        self.perform(&io);
        let programs = (self.programs - programs) as usize;
        assert!(programs <= moved.len(), "cleaning has reserved a map page per page that it moves");
        io
    }

    fn flush(&mut self) -> Vec<MapOp> {
        let mut io = vec![];
        self.map.flush(&mut io);
        self.perform(&io);
        self.object();
        let dirty = |lpn: u32| self.map.residency(Lpn::new(lpn)) == Residency::Dirty;
        assert!(!(0..PAGES).any(dirty), "a flushed cache is clean");
        io
    }

    fn place(&mut self) -> Ppn {
        self.next += 1;
        Ppn::new(self.next)
    }

    fn perform(&mut self, io: &[MapOp]) {
        for op in io {
            let (MapOp::Fetch(tpn) | MapOp::Update(tpn) | MapOp::Rewrite(tpn)) = *op;
            if matches!(op, MapOp::Fetch(_)) {
                continue;
            }
            self.programs += 1;
            let entries = self.geometry.entries_per_page();
            for lpn in tpn.get() * entries..PAGES.min((tpn.get() + 1) * entries) {
                if self.map.residency(Lpn::new(lpn)) != Residency::Dirty {
                    self.flash[lpn as usize] = self.table[lpn as usize];
                }
            }
        }
    }

    fn object(&self) {
        self.map.check();
        let bytes = self.map.memory_bytes();
        assert!(bytes <= self.bytes_max, "{bytes} bytes, at most {}", self.bytes_max);
        for lpn in 0..PAGES {
            if self.map.residency(Lpn::new(lpn)) != Residency::Dirty {
                let at = lpn as usize;
                assert_eq!(self.table[at], self.flash[at], "flash is out of date for {lpn}");
            }
        }
    }

    pub fn residency(&self, lpn: u32) -> Residency {
        self.map.residency(Lpn::new(lpn))
    }
}

/// Random operations on a few hundred pages, some of them hot. Cleaning runs between access and
/// program.
pub(super) fn anything<M: Mapping>(drive: &mut Drive<M>, seed: u64, steps: u32) {
    let mut rng = Rng::new(seed);
    for _ in 0..steps {
        let span = if rng.below(2) == 0 { 48 } else { 400 };
        let lpn = rng.below(span) as u32;
        match rng.below(16) {
            0 => {
                // Within the translation page, however small it is.
                let length = 1 + rng.below(8) as u32;
                drive.trim(lpn - lpn % 8, length);
            }
            1 => {
                drive.run("f");
            }
            2..6 => {
                drive.read(lpn);
            }
            6..9 => {
                let mut moved: Vec<u32> = (0..6).map(|_| rng.below(400) as u32).collect();
                moved.push(lpn);
                moved.sort_unstable();
                moved.dedup();
                drive.write(lpn, &moved);
            }
            _ => {
                let length = 1 + rng.below(4) as u32;
                (lpn..lpn + length).for_each(|lpn| drop(drive.write(lpn, &[])));
            }
        }
    }
    drive.run("f");
    assert_eq!(drive.table, drive.flash, "the map on flash is the whole map");
}
