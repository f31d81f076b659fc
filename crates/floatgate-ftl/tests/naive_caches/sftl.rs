//! S-FTL (docs/algorithms.md, 2.8). The model stores only the entries, which of them flash does not
//! have, and the order of the cached pages.

use std::collections::BTreeSet;
use std::ops::Range;

use floatgate_ftl::addr::Tpn;
use floatgate_ftl::mapping::{AccessKind, MapConfig, MapOp, Residency};

use super::Naive;
use super::models::{by_page, residency};

pub struct NaiveSftl {
    per_page: u32,
    tpns: u32,
    content: Vec<Option<u32>>,
    /// Entries that flash does not have: in their page if that page is cached, else in the buffer.
    changed: BTreeSet<u32>,
    /// Cached pages, last used first.
    cached: Vec<u32>,
    /// Bytes for pages, entries for the buffer, and the number of changes that counts as sparse.
    budget: u64,
    places: usize,
    sparse: usize,
    counts: [u64; 4],
}

impl NaiveSftl {
    pub fn new(config: &MapConfig) -> Self {
        let (geometry, own) = (&config.geometry, config.sftl);
        let pages = geometry.logical_pages();
        let buffer = config.cache_bytes * (own.buffer_share * 1000.0) as u64 / 1000;
        // A buffer with room for all entries is never full.
        let places = (buffer / 8).min(pages.into());
        Self {
            per_page: geometry.entries_per_page(),
            tpns: geometry.translation_pages(),
            content: vec![None; pages as usize],
            changed: BTreeSet::new(),
            cached: vec![],
            budget: config.cache_bytes - 8 * places,
            places: places as usize,
            sparse: (geometry.entries_per_page() * (own.sparse_share * 1000.0) as u32 / 1000)
                as usize,
            counts: [0; 4],
        }
    }

    fn entries(&self, tpn: u32) -> Range<u32> {
        tpn * self.per_page..((tpn + 1) * self.per_page).min(self.content.len() as u32)
    }

    /// Returns one bit per entry and 4 bytes per run, at least 8 bytes.
    fn size(&self, tpn: u32) -> u64 {
        let Range { start, end } = self.entries(tpn);
        let continues = |pair: &&[Option<u32>]| match pair {
            [Some(a), Some(b)] => a + 1 == *b,
            _ => false,
        };
        let content = &self.content[start as usize..end as usize];
        let joined = content.windows(2).filter(continues).count() as u64;
        let runs = u64::from(end - start) - joined;
        (u64::from(self.per_page.div_ceil(8)) + 4 * runs).max(8)
    }

    fn taken(&self) -> u64 {
        self.cached.iter().map(|&tpn| self.size(tpn)).sum()
    }

    fn is_cached(&self, tpn: u32) -> bool {
        self.cached.contains(&tpn)
    }

    fn changes(&self, tpn: u32) -> usize {
        self.changed.range(self.entries(tpn)).count()
    }

    /// Records that flash has a page in its current state.
    fn written(&mut self, tpn: u32) {
        let entries = self.entries(tpn);
        self.changed.retain(|lpn| !entries.contains(lpn));
    }

    /// Returns the number of buffered entries by page. The page `without` is leaving the cache.
    fn buffered(&self, without: Option<u32>) -> Vec<(usize, u32)> {
        let absent = (0..self.tpns).filter(|&tpn| !self.is_cached(tpn) && Some(tpn) != without);
        absent.map(|tpn| (self.changes(tpn), tpn)).filter(|owner| owner.0 > 0).collect()
    }

    fn visit(&mut self, tpn: u32, buffered: bool) -> Vec<MapOp> {
        if self.is_cached(tpn) {
            let at = self.cached.iter().position(|&cached| cached == tpn).unwrap();
            self.cached[..=at].rotate_right(1);
        }
        let hit = buffered || self.is_cached(tpn);
        self.counts[usize::from(!hit)] += 1;
        if hit { vec![] } else { self.load(tpn) }
    }

    /// Inserts the page first, so that its buffered entries join it and it is the last to leave.
    fn load(&mut self, tpn: u32) -> Vec<MapOp> {
        self.cached.insert(0, tpn);
        let mut io = self.fit();
        io.push(MapOp::Fetch(Tpn::new(tpn)));
        io
    }

    /// Evicts pages while they take too much memory. The page in use stays.
    fn fit(&mut self) -> Vec<MapOp> {
        let mut io = vec![];
        while self.taken() > self.budget && self.cached.len() > 1 {
            let victim = self.cached.pop().unwrap();
            self.counts[2] += 1;
            let changes = self.changes(victim);
            let left = self.buffered(Some(victim));
            let room = self.places - left.iter().map(|owner| owner.0).sum::<usize>();
            // Among pages with equal numbers of entries, the page with the lowest number.
            let largest = left.iter().copied().max_by_key(|&(n, tpn)| (n, self.tpns - tpn));
            match largest {
                _ if changes == 0 => continue,
                _ if changes <= self.sparse && changes <= room => continue,
                Some((most, owner)) if changes <= self.sparse && most >= changes => {
                    self.written(owner);
                    io.push(MapOp::Update(Tpn::new(owner)));
                }
                _ => {
                    self.written(victim);
                    io.push(MapOp::Rewrite(Tpn::new(victim)));
                }
            }
            self.counts[3] += 1;
        }
        io
    }

    /// Changes an entry. If its page is cached, the entry now differs from flash.
    fn set(&mut self, lpn: u32, to: Option<u32>) {
        self.content[lpn as usize] = to;
        if self.is_cached(lpn / self.per_page) {
            self.changed.insert(lpn);
        }
    }

    fn in_memory(&self, lpn: u32) -> bool {
        self.is_cached(lpn / self.per_page) || self.changed.contains(&lpn)
    }
}

impl Naive for NaiveSftl {
    fn access(&mut self, lpn: u32, kind: AccessKind) -> Vec<MapOp> {
        let tpn = lpn / self.per_page;
        if kind == AccessKind::Trim {
            return self.trim(tpn, &[lpn]);
        }
        let buffered = !self.is_cached(tpn) && self.changed.contains(&lpn);
        let io = self.visit(tpn, buffered);
        if kind == AccessKind::Write {
            self.changed.insert(lpn);
        }
        io
    }

    /// Cleaning may have written a buffered entry back since the access; then it must be loaded
    /// again.
    fn assigned(&mut self, lpn: u32, to: u32) -> Vec<MapOp> {
        let loads = !self.in_memory(lpn);
        let mut io = if loads { self.load(lpn / self.per_page) } else { vec![] };
        self.set(lpn, Some(to));
        io.extend(self.fit());
        io
    }

    fn relocated(&mut self, moved: &[(u32, u32)]) -> Vec<MapOp> {
        let mut io = vec![];
        for (tpn, page) in by_page(moved, self.per_page) {
            let all_here = page.iter().all(|&(lpn, _)| self.in_memory(lpn));
            page.iter().for_each(|&(lpn, to)| self.set(lpn, Some(to)));
            if !all_here {
                self.written(tpn);
                io.push(MapOp::Update(Tpn::new(tpn)));
            }
        }
        io.extend(self.fit());
        io
    }

    fn trim(&mut self, tpn: u32, mapped: &[u32]) -> Vec<MapOp> {
        let buffered = !mapped.is_empty() && mapped.iter().all(|lpn| self.changed.contains(lpn));
        let mut io = self.visit(tpn, buffered && !self.is_cached(tpn));
        mapped.iter().for_each(|&lpn| self.set(lpn, None));
        io.extend(self.fit());
        io
    }

    fn flush(&mut self) -> Vec<MapOp> {
        let changed = (0..self.tpns).filter(|&tpn| self.changes(tpn) > 0);
        let op = |tpn| match self.is_cached(tpn) {
            true => MapOp::Rewrite(Tpn::new(tpn)),
            false => MapOp::Update(Tpn::new(tpn)),
        };
        let io = changed.map(op).collect();
        self.changed.clear();
        io
    }

    fn residency(&self, lpn: u32) -> Residency {
        let here = self.in_memory(lpn);
        residency(here.then(|| self.changed.contains(&lpn)))
    }

    fn bytes(&self) -> u64 {
        let buffered: usize = self.buffered(None).iter().map(|owner| owner.0).sum();
        self.taken() + 8 * buffered as u64
    }

    fn counts(&mut self) -> &mut [u64; 4] {
        &mut self.counts
    }
}
