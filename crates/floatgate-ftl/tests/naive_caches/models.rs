//! Models with lists of pages and entries, the last used first.

use floatgate_ftl::addr::Tpn;
use floatgate_ftl::mapping::{AccessKind, MapConfig, MapOp, Residency};

use super::Naive;
use crate::common::MapPages;

/// Groups entries in ascending order by translation page.
pub fn by_page(moved: &[(u32, u32)], per_page: u32) -> Vec<(u32, Vec<(u32, u32)>)> {
    let pages = moved.chunk_by(|a, b| a.0 / per_page == b.0 / per_page);
    pages.map(|page| (page[0].0 / per_page, page.to_vec())).collect()
}

pub fn residency(dirty: Option<bool>) -> Residency {
    dirty.map_or(Residency::Absent, |dirty| match dirty {
        true => Residency::Dirty,
        false => Residency::Clean,
    })
}

/// Cached pages, last used first, and whether each is dirty.
#[derive(Default)]
struct Pages(Vec<(u32, bool)>);

impl Pages {
    fn dirty(&self, page: u32) -> Option<bool> {
        self.0.iter().find(|cached| cached.0 == page).map(|cached| cached.1)
    }

    fn has(&self, page: u32) -> bool {
        self.dirty(page).is_some()
    }

    /// Returns whether a page is cached, and makes it the last used one.
    fn touch(&mut self, page: u32) -> bool {
        let at = self.0.iter().position(|cached| cached.0 == page);
        at.map(|at| self.0[..=at].rotate_right(1)).is_some()
    }

    fn mark_dirty(&mut self, page: u32) {
        self.0.iter_mut().find(|cached| cached.0 == page).unwrap().1 = true;
    }

    /// Marks all pages as clean. Returns the dirty ones in ascending order.
    fn clean(&mut self) -> Vec<u32> {
        let mut pages: Vec<u32> = self.0.iter().filter(|page| page.1).map(|page| page.0).collect();
        pages.sort_unstable();
        self.0.iter_mut().for_each(|page| page.1 = false);
        pages
    }
}

/// Demand-loading cache of SHRD's baseline (docs/algorithms.md, 2.6).
pub struct NaivePageCache {
    per_page: u32,
    tpns: u32,
    page_bytes: u64,
    pages_per_map_page: u32,
    load_for_cleaning: bool,
    places: usize,
    pages: Pages,
    counts: [u64; 4],
}

impl NaivePageCache {
    pub fn new(config: &MapConfig, map_pages: MapPages) -> Self {
        let MapPages { pages_per_map_page, load_for_cleaning } = map_pages;
        let page_bytes = u64::from(config.geometry.shape().page_bytes * pages_per_map_page);
        Self {
            per_page: config.geometry.entries_per_page(),
            tpns: config.geometry.translation_pages(),
            page_bytes,
            pages_per_map_page,
            load_for_cleaning,
            // Places beyond the number of pages are never used.
            places: (config.cache_bytes / page_bytes).max(1) as usize,
            pages: Pages::default(),
            counts: [0; 4],
        }
    }

    fn each(&self, page: u32, op: fn(Tpn) -> MapOp) -> Vec<MapOp> {
        let tpns = page * self.pages_per_map_page..(page + 1) * self.pages_per_map_page;
        tpns.filter(|&tpn| tpn < self.tpns).map(|tpn| op(Tpn::new(tpn))).collect()
    }

    fn make_room(&mut self) -> Vec<MapOp> {
        if self.pages.0.len() < self.places {
            return vec![];
        }
        let (victim, dirty) = self.pages.0.pop().unwrap();
        self.counts[2] += 1;
        self.counts[3] += u64::from(dirty);
        if dirty { self.each(victim, MapOp::Rewrite) } else { vec![] }
    }

    fn visit(&mut self, page: u32, change: bool) -> Vec<MapOp> {
        let mut io = vec![];
        let hit = self.pages.touch(page);
        self.counts[usize::from(!hit)] += 1;
        if !hit {
            io.extend(self.make_room());
            io.extend(self.each(page, MapOp::Fetch));
            self.pages.0.insert(0, (page, false));
        }
        self.pages.0[0].1 |= change;
        io
    }
}

impl Naive for NaivePageCache {
    fn access(&mut self, lpn: u32, kind: AccessKind) -> Vec<MapOp> {
        self.visit(lpn / self.per_page / self.pages_per_map_page, kind != AccessKind::Read)
    }

    fn relocated(&mut self, moved: &[(u32, u32)]) -> Vec<MapOp> {
        let mut io = vec![];
        for (page, _) in by_page(moved, self.per_page * self.pages_per_map_page) {
            if self.pages.has(page) {
                self.pages.mark_dirty(page);
            } else if self.load_for_cleaning && self.places.min(self.map_pages()) > 1 {
                io.extend(self.make_room());
                io.extend(self.each(page, MapOp::Fetch));
                self.pages.0.push((page, true));
            } else {
                io.extend(self.each(page, MapOp::Update));
            }
        }
        io
    }

    fn trim(&mut self, tpn: u32, mapped: &[u32]) -> Vec<MapOp> {
        self.visit(tpn / self.pages_per_map_page, !mapped.is_empty())
    }

    fn flush(&mut self) -> Vec<MapOp> {
        let dirty = self.pages.clean();
        dirty.into_iter().flat_map(|page| self.each(page, MapOp::Rewrite)).collect()
    }

    fn residency(&self, lpn: u32) -> Residency {
        residency(self.pages.dirty(lpn / self.per_page / self.pages_per_map_page))
    }

    fn bytes(&self) -> u64 {
        self.pages.0.len() as u64 * self.page_bytes
    }

    fn counts(&mut self) -> &mut [u64; 4] {
        &mut self.counts
    }
}

impl NaivePageCache {
    /// Returns the number of map pages of the drive.
    fn map_pages(&self) -> usize {
        self.tpns.div_ceil(self.pages_per_map_page) as usize
    }
}

/// CDFTL (docs/algorithms.md, 2.7): a list of entries above a list of pages, each last used first.
pub struct NaiveCdftl {
    per_page: u32,
    page_bytes: u64,
    entry_bytes: u64,
    entries: Vec<(u32, bool)>,
    pages: Pages,
    /// Places for entries, and for pages.
    places: (usize, usize),
    counts: [u64; 4],
}

impl NaiveCdftl {
    /// Creates the cache. The pages have their share of the budget, at least one page; the entries
    /// have the rest.
    pub fn new(config: &MapConfig) -> Self {
        let (budget, own) = (config.cache_bytes, config.cdftl);
        let page_bytes = u64::from(config.geometry.shape().page_bytes);
        let tpns = u64::from(config.geometry.translation_pages());
        let entries_share = budget * (own.entries_share * 1000.0) as u64 / 1000;
        let pages = ((budget - entries_share) / page_bytes).max(1).min(tpns);
        let rest = budget.saturating_sub(pages * page_bytes);
        let entries = (rest / u64::from(own.entry_bytes)).max(1);
        Self {
            per_page: config.geometry.entries_per_page(),
            page_bytes,
            entry_bytes: own.entry_bytes.into(),
            entries: vec![],
            pages: Pages::default(),
            places: (entries as usize, pages as usize),
            counts: [0; 4],
        }
    }

    fn find(&self, lpn: u32) -> Option<usize> {
        self.entries.iter().position(|entry| entry.0 == lpn)
    }

    /// Loads a page. The dirty entries of an evicted page stay cached.
    fn load(&mut self, tpn: u32, io: &mut Vec<MapOp>) {
        if self.pages.0.len() == self.places.1 {
            let (victim, dirty) = self.pages.0.pop().unwrap();
            self.counts[2] += 1;
            self.counts[3] += u64::from(dirty);
            io.extend(dirty.then(|| MapOp::Rewrite(Tpn::new(victim))));
        }
        io.push(MapOp::Fetch(Tpn::new(tpn)));
        self.pages.0.insert(0, (tpn, false));
    }

    /// Evicts the least recently used entry that can leave. A dirty entry goes into its page.
    fn make_room(&mut self, io: &mut Vec<MapOp>) {
        if self.entries.len() < self.places.0 {
            return;
        }
        let can_leave = |&(lpn, dirty): &(u32, bool)| !dirty || self.pages.has(lpn / self.per_page);
        let at = self.entries.iter().rposition(can_leave).unwrap_or_else(|| {
            let last = self.entries.len() - 1;
            self.load(self.entries[last].0 / self.per_page, io);
            last
        });
        let (lpn, dirty) = self.entries.remove(at);
        if dirty {
            self.pages.mark_dirty(lpn / self.per_page);
        }
    }
}

impl Naive for NaiveCdftl {
    fn access(&mut self, lpn: u32, kind: AccessKind) -> Vec<MapOp> {
        let (mut io, change) = (vec![], kind != AccessKind::Read);
        if let Some(at) = self.find(lpn) {
            self.counts[0] += 1;
            self.entries[..=at].rotate_right(1);
            self.entries[0].1 |= change;
            return io;
        }
        let tpn = lpn / self.per_page;
        let found = self.pages.touch(tpn);
        self.counts[usize::from(!found)] += 1;
        self.make_room(&mut io);
        if !found && !self.pages.touch(tpn) {
            self.load(tpn, &mut io);
        }
        self.entries.insert(0, (lpn, change));
        io
    }

    fn relocated(&mut self, moved: &[(u32, u32)]) -> Vec<MapOp> {
        let mut io = vec![];
        for (tpn, page) in by_page(moved, self.per_page) {
            let cached: Vec<usize> = page.iter().filter_map(|&(lpn, _)| self.find(lpn)).collect();
            cached.iter().for_each(|&at| self.entries[at].1 = true);
            if cached.len() < page.len() {
                match self.pages.has(tpn) {
                    true => self.pages.mark_dirty(tpn),
                    false => io.push(MapOp::Update(Tpn::new(tpn))),
                }
            }
        }
        io
    }

    /// Trims in the first level if that has all entries, else in the page. Both count as used.
    fn trim(&mut self, tpn: u32, mapped: &[u32]) -> Vec<MapOp> {
        let mut io = vec![];
        let first_level = !mapped.is_empty() && mapped.iter().all(|&l| self.find(l).is_some());
        let hit = first_level || self.pages.has(tpn);
        self.counts[usize::from(!hit)] += 1;
        if !first_level {
            if !self.pages.touch(tpn) {
                self.load(tpn, &mut io);
            }
            self.pages.0[0].1 |= !mapped.is_empty();
        }
        for &lpn in mapped {
            if let Some(at) = self.find(lpn) {
                self.entries[..=at].rotate_right(1);
                self.entries[0].1 |= first_level;
            }
        }
        io
    }

    /// Writes changes to their pages. Cached pages are programmed without a read.
    fn flush(&mut self) -> Vec<MapOp> {
        let dirty = self.entries.iter().filter(|entry| entry.1);
        let mut tpns: Vec<u32> = dirty.map(|entry| entry.0 / self.per_page).collect();
        self.entries.iter_mut().for_each(|entry| entry.1 = false);
        tpns.sort_unstable();
        tpns.dedup();
        let (cached, absent): (Vec<u32>, Vec<u32>) =
            tpns.into_iter().partition(|&tpn| self.pages.has(tpn));
        cached.into_iter().for_each(|tpn| self.pages.mark_dirty(tpn));
        let updates = absent.into_iter().map(|tpn| MapOp::Update(Tpn::new(tpn)));
        let rewrites = self.pages.clean().into_iter().map(|tpn| MapOp::Rewrite(Tpn::new(tpn)));
        updates.chain(rewrites).collect()
    }

    fn residency(&self, lpn: u32) -> Residency {
        let entry = self.find(lpn).map(|at| self.entries[at].1);
        residency(entry.max(self.pages.dirty(lpn / self.per_page)))
    }

    fn bytes(&self) -> u64 {
        let pages = self.pages.0.len() as u64 * self.page_bytes;
        pages + self.entries.len() as u64 * self.entry_bytes
    }

    fn counts(&mut self) -> &mut [u64; 4] {
        &mut self.counts
    }
}
