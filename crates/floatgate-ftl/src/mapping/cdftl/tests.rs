use super::*;
use crate::mapping::drive_tests::{Drive, anything};
use crate::mapping::tests::{fetch, geometry, rewrite, update};
use crate::rng::Rng;
use alloc::vec;

/// Places for so many entries of 8 bytes, and pages of 16 entries and 64 bytes.
fn drive(entries: u64, pages: u64) -> Drive<Cdftl> {
    let bytes = entries * 8 + pages * 64;
    let entries_permille = (entries * 8 * 1000 / bytes) as u32;
    let cdftl = CdftlConfig { entries_permille, entry_bytes: 8 };
    let config = MapConfig { cdftl, ..MapConfig::new(geometry(16), bytes) };
    Drive::new(Cdftl::new(&config), geometry(16), bytes)
}

#[test]
fn the_budget_is_shared() {
    let check = |bytes: u64, entries_permille: u32, expected: (usize, u32)| {
        let cdftl = CdftlConfig { entries_permille, entry_bytes: 8 };
        let map = Cdftl::new(&MapConfig { cdftl, ..MapConfig::new(geometry(16), bytes) });
        let mut drive = Drive::new(map, geometry(16), bytes.max(72));
        drive.run("w0+400");
        assert_eq!((drive.map.entries.len(), drive.map.frames.len()), expected);
    };
    check(512, 500, (32, 4));
    check(200, 500, (17, 1));
    check(200, 900, (17, 1));
    check(600, 100, (11, 8));
    check(1, 500, (1, 1));
}

#[test]
fn changes_reach_flash_with_the_pages_that_leave() {
    let script: [(&str, Vec<MapOp>); 12] = [
        ("r0", vec![fetch(0)]),
        // A hit in the second level.
        ("r1", vec![]),
        ("w0", vec![]),
        // The clean 1 leaves; page 0 leaves without the change of 0, which is stuck.
        ("r16", vec![fetch(1)]),
        // 0 is older, but 16 leaves.
        ("r17", vec![]),
        ("w17", vec![]),
        // 17 is folded into page 1, and leaves with it.
        ("r32", vec![rewrite(1), fetch(2)]),
        ("w32", vec![]),
        ("t48", vec![fetch(3)]),
        // 0 and 32 are stuck: the page of the older one is loaded, 0 is folded into it.
        ("r49", vec![fetch(0)]),
        ("r50", vec![rewrite(0), fetch(3)]),
        ("f", vec![update(2)]),
    ];
    let mut drive = drive(2, 1);
    for (word, expected) in script {
        assert_eq!(drive.run(word), [expected], "{word}");
    }
    let MapStats { hits, misses, evictions, dirty_evictions, .. } = drive.map.stats();
    assert_eq!((hits, misses, evictions, dirty_evictions), (6, 5, 5, 2));
}

#[test]
fn the_page_that_frees_a_place_may_be_the_missed_one() {
    let mut drive = drive(1, 1);
    // Trims load page 1, and 0 is stuck; then page 0 is loaded once, to fold 0 and to read 1.
    assert_eq!(drive.run("w0 t16 r1"), [vec![fetch(0)], vec![fetch(1)], vec![fetch(0)]]);
    assert_eq!(drive.residency(0), Residency::Dirty, "folded, not written");
}

#[test]
fn cleaning_changes_what_is_cached_in_place() {
    let mut drive = drive(2, 1);
    drive.run("w0+64 f");
    // 15 was stuck until the flush: cached are entries 15 and 63, and page 3.
    assert_eq!(drive.run("g63 g48 g0+32"), [vec![], vec![], vec![update(0), update(1)]]);
    assert_eq!(drive.run("f"), [[update(0), rewrite(3)]]);
}

#[test]
fn a_trim_is_an_access_of_each_page() {
    let mut drive = drive(2, 1);
    drive.run("w0+64 f");
    let io = drive.run("t63 t50 r0 t1 t16 f");
    let expected = [
        vec![],
        vec![],
        vec![rewrite(3), fetch(0)],
        vec![],
        vec![rewrite(0), fetch(1)],
        // 63 was not written with its page, for it is still in the first level.
        vec![update(3), rewrite(1)],
    ];
    assert_eq!(io, expected);
}

#[test]
fn anything_keeps_the_map() {
    for (seed, (entries, pages)) in
        [(1, 1), (2, 1), (1, 4), (8, 2), (40, 3), (64, 128), (3000, 2)].into_iter().enumerate()
    {
        anything(&mut drive(entries, pages), seed as u64, 3000);
    }
}

/// The text of the specification, with lists that are searched: last used first.
struct Naive {
    entries: Vec<(u32, bool)>,
    pages: Vec<(u32, bool)>,
    places: (usize, usize),
}

impl Naive {
    fn page(&mut self, tpn: u32) -> Option<&mut (u32, bool)> {
        self.pages.iter_mut().find(|page| page.0 == tpn)
    }

    fn load(&mut self, tpn: u32, io: &mut Vec<MapOp>) {
        if self.pages.len() == self.places.1 {
            let (victim, dirty) = self.pages.pop().unwrap();
            io.extend(dirty.then(|| rewrite(victim)));
        }
        io.push(fetch(tpn));
        self.pages.insert(0, (tpn, false));
    }

    fn use_page(&mut self, tpn: u32) -> bool {
        let at = self.pages.iter().position(|page| page.0 == tpn);
        at.map(|at| self.pages[..=at].rotate_right(1)).is_some()
    }

    fn make_room(&mut self, io: &mut Vec<MapOp>) {
        let can_leave =
            |entry: &(u32, bool)| !entry.1 || self.pages.iter().any(|p| p.0 == entry.0 / 16);
        let at = self.entries.iter().rposition(can_leave).unwrap_or_else(|| {
            let last = self.entries.len() - 1;
            self.load(self.entries[last].0 / 16, io);
            last
        });
        let (lpn, dirty) = self.entries.remove(at);
        if dirty {
            self.page(lpn / 16).unwrap().1 = true;
        }
    }

    fn access(&mut self, lpn: u32, dirty: bool) -> Vec<MapOp> {
        let mut io = vec![];
        if let Some(at) = self.entries.iter().position(|entry| entry.0 == lpn) {
            self.entries[..=at].rotate_right(1);
            self.entries[0].1 |= dirty;
            return io;
        }
        let found = self.use_page(lpn / 16);
        if self.entries.len() == self.places.0 {
            self.make_room(&mut io);
        }
        if !found && !self.use_page(lpn / 16) {
            self.load(lpn / 16, &mut io);
        }
        self.entries.insert(0, (lpn, dirty));
        io
    }
}

#[test]
fn every_access_costs_what_the_text_says() {
    let mut rng = Rng::new(2011);
    for places in [(1, 1), (3, 1), (2, 4), (20, 3), (100, 10)] {
        let mut ours = drive(places.0, places.1);
        let places = (places.0 as usize, places.1 as usize);
        let mut naive = Naive { entries: vec![], pages: vec![], places };
        for step in 0..4000 {
            let span = [40, 200, 600][rng.below(3) as usize];
            let (lpn, write) = (rng.below(span) as u32, rng.below(2) == 0);
            let io = if write { ours.write(lpn, &[]) } else { ours.read(lpn) };
            assert_eq!(io, naive.access(lpn, write), "{places:?} {step}");
        }
        let MapStats { evictions, dirty_evictions, .. } = ours.map.stats();
        assert!(evictions > dirty_evictions && dirty_evictions > 100);
    }
}
