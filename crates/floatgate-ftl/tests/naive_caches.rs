//! Compares the caches of whole translation pages with their texts, implemented with lists and
//! searches. Every step of long random sequences must cause the same flash work in the same order,
//! the same counters and the same memory, with many shapes and parameters.

mod models;
mod sftl;

use crate::common::{MapPages, Rig, SERIAL};
use floatgate_ftl::addr::{Lpn, Ppn, Tpn};
use floatgate_ftl::geometry::Shape;
use floatgate_ftl::mapping::{
    Access, AccessKind, Cdftl, CdftlConfig, MapConfig, MapOp, MapStats, Mapping, PageCache,
    Residency, Sftl, SftlConfig,
};
use floatgate_ftl::rng::Rng;
use models::{NaiveCdftl, NaivePageCache};
use sftl::NaiveSftl;

/// A mapping as its text describes it.
trait Naive {
    fn access(&mut self, lpn: u32, kind: AccessKind) -> Vec<MapOp>;

    /// Records that the page of the last write access has been programmed.
    fn assigned(&mut self, _lpn: u32, _to: u32) -> Vec<MapOp> {
        vec![]
    }

    /// Records that cleaning moved these pages to these places.
    fn relocated(&mut self, moved: &[(u32, u32)]) -> Vec<MapOp>;

    /// Trims entries of a translation page; `mapped` are the mapped ones.
    fn trim(&mut self, tpn: u32, mapped: &[u32]) -> Vec<MapOp>;

    fn flush(&mut self) -> Vec<MapOp>;

    fn residency(&self, lpn: u32) -> Residency;

    fn bytes(&self) -> u64;

    /// Returns hits, misses, evictions, dirty evictions.
    fn counts(&mut self) -> &mut [u64; 4];
}

/// The last translation page has fewer entries.
fn map_config(page_bytes: u32, cache_bytes: u64) -> MapConfig {
    let shape = Shape { page_bytes, logical_pages: 601, units: 200, ..SERIAL };
    MapConfig::new(Rig::new(shape, "ideal", "greedy").geometry(), cache_bytes)
}

/// Source of reads, writes with cleaning in between, trims and flushes.
struct Steps {
    rng: Rng,
    pages: u32,
    per_page: u32,
    /// Place of each mapped page, and the next free place.
    table: Vec<Option<u32>>,
    next: u32,
}

impl Steps {
    fn new(config: &MapConfig, seed: u64) -> Self {
        let (pages, per_page) =
            (config.geometry.logical_pages(), config.geometry.entries_per_page());
        Self { rng: Rng::new(seed), pages, per_page, table: vec![None; pages as usize], next: 0 }
    }

    fn below(&mut self, n: u32) -> u32 {
        self.rng.below(u64::from(n)) as u32
    }

    /// Returns a hot page or any page.
    fn lpn(&mut self) -> u32 {
        let span = [self.pages / 12, self.pages / 4, self.pages][self.below(3) as usize];
        self.below(span)
    }

    fn place(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    /// Returns a few mapped pages in ascending order, half of the time neighbours.
    fn victim(&mut self) -> Vec<(u32, u32)> {
        let (near, span) = (self.lpn(), if self.below(2) == 0 { 40 } else { self.pages });
        let mut lpns: Vec<u32> =
            (0..1 + self.below(8)).map(|_| (near + self.below(span)) % self.pages).collect();
        lpns.sort_unstable();
        lpns.dedup();
        lpns.retain(|&lpn| self.table[lpn as usize].is_some());
        let moved: Vec<_> = lpns.into_iter().map(|lpn| (lpn, self.place())).collect();
        moved.iter().for_each(|&(lpn, to)| self.table[lpn as usize] = Some(to));
        moved
    }
}

/// Both caches, compared after every operation.
struct Pair<M> {
    ours: M,
    naive: Box<dyn Naive>,
    steps: Steps,
    what: String,
}

impl<M: Mapping> Pair<M> {
    fn access(&mut self, lpn: u32, kind: AccessKind) {
        let (mut io, mapped) = (vec![], self.steps.table[lpn as usize].is_some());
        let access = Access { lpn: Lpn::new(lpn), kind, remaining: 1, first: true, mapped };
        self.ours.access(access, &mut io);
        assert_eq!(io, self.naive.access(lpn, kind), "{kind:?} {lpn}, {}", self.what);
    }

    fn relocate(&mut self) {
        let (mut io, moved) = (vec![], self.steps.victim());
        let places: Vec<_> = moved.iter().map(|&(lpn, to)| (Lpn::new(lpn), Ppn::new(to))).collect();
        self.ours.relocated(&places, &mut io);
        assert_eq!(io, self.naive.relocated(&moved), "cleaning {moved:?}, {}", self.what);
    }

    fn write(&mut self, lpn: u32) {
        self.access(lpn, AccessKind::Write);
        if self.steps.below(4) == 0 {
            self.relocate();
        }
        let (mut io, to) = (vec![], self.steps.place());
        self.steps.table[lpn as usize] = Some(to);
        self.ours.assigned(Lpn::new(lpn), Ppn::new(to), &mut io);
        assert_eq!(io, self.naive.assigned(lpn, to), "write {lpn}, {}", self.what);
    }

    /// Trims consecutive pages of a translation page.
    fn trim(&mut self, lpn: u32, count: u32) {
        let (mut io, tpn) = (vec![], lpn / self.steps.per_page);
        let end = (lpn + count).min((tpn + 1) * self.steps.per_page).min(self.steps.pages);
        let table = &mut self.steps.table;
        let mapped = (lpn..end).filter(|&lpn| table[lpn as usize].take().is_some());
        let mapped: Vec<u32> = mapped.collect();
        let lpns: Vec<_> = mapped.iter().map(|&lpn| Lpn::new(lpn)).collect();
        self.ours.trim(Tpn::new(tpn), &lpns, &mut io);
        assert_eq!(io, self.naive.trim(tpn, &mapped), "trim {mapped:?}, {}", self.what);
    }

    /// Trims a mapped page by an access, as the remap of a log page does.
    fn clear(&mut self, lpn: u32) {
        if self.steps.table[lpn as usize].take().is_some() {
            self.access(lpn, AccessKind::Trim);
        }
    }

    fn step(&mut self) {
        let lpn = self.steps.lpn();
        match self.steps.below(40) {
            0 => {
                let mut io = vec![];
                self.ours.flush(&mut io);
                assert_eq!(io, self.naive.flush(), "flush, {}", self.what);
            }
            1..4 => {
                let count = 1 + self.steps.below(8);
                self.trim(lpn, count);
            }
            4 => self.clear(lpn),
            5..9 => self.relocate(),
            9..22 => self.access(lpn, AccessKind::Read),
            22..34 => self.write(lpn),
            _ => {
                let end = self.steps.pages.min(lpn + 1 + self.steps.below(12));
                (lpn..end).for_each(|lpn| self.write(lpn));
            }
        }
        assert_eq!(self.ours.memory_bytes(), self.naive.bytes(), "{}", self.what);
    }

    fn same(&mut self) {
        for lpn in 0..self.steps.pages {
            let residency = self.ours.residency(Lpn::new(lpn));
            assert_eq!(residency, self.naive.residency(lpn), "entry {lpn}, {}", self.what);
        }
        let MapStats { hits, misses, evictions, dirty_evictions, .. } = self.ours.counters().map;
        let ours = [hits, misses, evictions, dirty_evictions];
        assert_eq!(ours, *self.naive.counts(), "{}", self.what);
        self.ours.check();
    }
}

/// Runs random steps. Returns the counts of the second half.
fn compare<M: Mapping>(
    config: &MapConfig,
    ours: M,
    naive: Box<dyn Naive>,
    (seed, steps): (u64, u32),
) -> [u64; 4] {
    let what = format!("{config:?}");
    let mut pair = Pair { ours, naive, steps: Steps::new(config, seed), what };
    for number in 0..steps {
        if number == steps / 2 {
            pair.ours.reset_counters();
            *pair.naive.counts() = [0; 4];
        }
        pair.step();
        if number % 64 == 0 {
            pair.same();
        }
    }
    pair.same();
    *pair.naive.counts()
}

/// Asserts that every counter has counted.
fn all_came_up(seen: &[[u64; 4]]) {
    for at in 0..4 {
        assert!(seen.iter().map(|counts| counts[at]).sum::<u64>() > 1000, "{seen:?}");
    }
}

fn permille(thousandths: u32) -> f64 {
    f64::from(thousandths) / 1000.0
}

#[test]
fn page_caches_ask_for_the_flash_work_of_the_text() {
    let mut seen = vec![];
    for cache_bytes in [0, 64, 128, 200, 64 * 6, 64 * 20, 1 << 20] {
        for pages_per_map_page in [1, 2, 3, 50] {
            for load_for_cleaning in [false, true] {
                let mut config = map_config(64, cache_bytes);
                let map_pages = MapPages { pages_per_map_page, load_for_cleaning };
                config.page_cache = map_pages.config(config.geometry.entries_per_page());
                let naive = Box::new(NaivePageCache::new(&config, map_pages));
                let run = (seen.len() as u64, 3000);
                seen.push(compare(&config, PageCache::new(&config), naive, run));
            }
        }
    }
    all_came_up(&seen);
}

#[test]
fn cdftl_asks_for_the_flash_work_of_the_text() {
    let mut seen = vec![];
    for cache_bytes in [0, 72, 100, 200, 500, 1500, 1 << 20] {
        for entries_permille in [0, 100, 500, 900, 1000] {
            for entry_bytes in [6, 8] {
                let cdftl = CdftlConfig { entries_share: permille(entries_permille), entry_bytes };
                let config = MapConfig { cdftl, ..map_config(64, cache_bytes) };
                let naive = Box::new(NaiveCdftl::new(&config));
                let run = (seen.len() as u64, 3000);
                seen.push(compare(&config, Cdftl::new(&config), naive, run));
            }
        }
    }
    all_came_up(&seen);
}

#[test]
fn sftl_asks_for_the_flash_work_of_the_text() {
    let mut seen = vec![];
    for page_bytes in [32, 64, 256] {
        for cache_bytes in [0, 100, 300, 700, 2000, 1 << 20] {
            for (buffer_permille, sparse_permille) in [(0, 50), (100, 50), (300, 300), (900, 1000)]
            {
                let (buffer_share, sparse_share) =
                    (permille(buffer_permille), permille(sparse_permille));
                let sftl = SftlConfig { buffer_share, sparse_share };
                let config = MapConfig { sftl, ..map_config(page_bytes, cache_bytes) };
                let naive = Box::new(NaiveSftl::new(&config));
                let run = (seen.len() as u64, 2000);
                seen.push(compare(&config, Sftl::new(&config), naive, run));
            }
        }
    }
    all_came_up(&seen);
}
