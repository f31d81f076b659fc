//! A cache of whole map pages with LRU eviction: the demand-loading FTL that SHRD is compared with
//! (Kim, Shin, Jeong and Kim, FAST 2017; docs/algorithms.md, 2.6).
//!
//! A map page is one translation page, or several consecutive ones that are read and programmed
//! together. The SHRD drive has map pages of 32 KiB, a row of flash pages across the planes of a
//! die.
//!
//! A miss reads the map page into memory. A dirty victim is programmed without a read, because it
//! is completely in memory. Cleaning changes cached pages in place, as in DFTL, and does not count
//! as a use. Other pages are rewritten on flash. With the option of the SHRD drive, cleaning loads
//! them instead, as the next victims. The reads are the same, but the programs come later, or not
//! at all if a page is used in the meantime. A cache of only one page keeps the host's page, and
//! cleaning rewrites its pages on flash.
//!
//! A trim is one access of each translation page that it touches, and a change if one of the
//! entries was set. The budget is counted in whole map pages, at least one. The cost is a table
//! look-up and a list move per page. Under uniformly random writes with c of L map pages cached, a
//! write costs 1 - c/L reads of map pages and the same number of programs.

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

use super::frames::Frames;
use super::{
    Access, AccessKind, MapConfig, MapDemands, MapOp, MapStats, Mapping, Prefetch, Residency,
    by_page,
};
use crate::addr::{Lpn, Ppn, Tpn};
use crate::counters::Counters;
use crate::geometry::Geometry;
use crate::parameters::Refusal;
use crate::policy::Policy;

crate::parameters! {
    /// Parameters of [`PageCache`].
    pub struct PageCacheConfig {
        /// Entries of a map page, a multiple of the entries in a page of the flash. A map page is
        /// read and written as one. Not set: the entries in a page of the flash.
        entries: Option<u32> = None, from 1 to 16_777_216;
        /// How cleaning updates map pages that are not cached.
        cleaning: ForCleaning = ForCleaning::Update;
    }
}

crate::choice! {
    /// How cleaning changes map pages that are not cached.
    pub enum ForCleaning {
        /// It rewrites them on flash.
        Update = "update",
        /// It loads them into the cache, first to be evicted, as in the drive of SHRD.
        LruEnd = "lru_end",
    }
}

/// Map pages in the drive's memory.
#[derive(Clone, Debug)]
pub struct PageCache {
    geometry: Geometry,
    /// Translation pages of a map page.
    pages_per_map_page: u32,
    cleaning: ForCleaning,
    /// Cached map pages.
    frames: Frames,
    capacity: u32,
    stats: MapStats,
}

crate::state!(
    PageCache { frames }
    fixed { geometry, pages_per_map_page, cleaning, capacity, stats }
);

impl PageCache {
    /// Makes a cache with room for the map pages of the budget, at least one.
    pub fn new(config: &MapConfig) -> Self {
        let (geometry, pages_per_map_page) = (config.geometry, pages_per_map_page(config));
        assert!(pages_per_map_page > 0, "a map page is a translation page or more");
        let pages = geometry.translation_pages().div_ceil(pages_per_map_page);
        let bytes = u64::from(geometry.shape().page_bytes) * u64::from(pages_per_map_page);
        let fit = config.cache_bytes / bytes;
        Self {
            geometry,
            pages_per_map_page,
            cleaning: config.page_cache.cleaning,
            frames: Frames::new(pages),
            capacity: fit.clamp(1, u64::from(pages)) as u32,
            stats: MapStats::default(),
        }
    }

    /// Returns the requirements on the drive.
    pub fn demands(config: &MapConfig) -> MapDemands {
        let pages_per_map_page = pages_per_map_page(config);
        let cache_for = match config.page_cache.entries {
            Some(_) => "one map page of page_cache.entries",
            None => "one translation page of flash.page",
        };
        let page_bytes = config.geometry.shape().page_bytes;
        let cache_bytes = u64::from(pages_per_map_page.max(1)) * u64::from(page_bytes);
        MapDemands {
            cache_bytes,
            cache_for,
            pages_per_map_page,
            refusal: refusal(config),
            ..MapDemands::default()
        }
    }

    /// Returns the map page of a translation page.
    #[inline(always)]
    fn frame(&self, tpn: Tpn) -> Tpn {
        match self.pages_per_map_page {
            1 => tpn,
            pages => Tpn::new(tpn.get() / pages),
        }
    }

    /// Returns the map page of an entry.
    #[inline(always)]
    fn frame_of(&self, lpn: Lpn) -> Tpn {
        self.frame(self.geometry.translation_page(lpn))
    }

    /// Appends the same operation for every translation page of a map page.
    fn each(&self, frame: Tpn, io: &mut Vec<MapOp>, op: fn(Tpn) -> MapOp) {
        let first = frame.get() * self.pages_per_map_page;
        let end = (first + self.pages_per_map_page).min(self.geometry.translation_pages());
        io.extend((first..end).map(Tpn::new).map(op));
    }

    /// Uses a page, loads it if it is not cached, and marks it dirty if `change`.
    #[inline]
    fn visit(&mut self, frame: Tpn, change: bool, io: &mut Vec<MapOp>) {
        if self.frames.contains(frame) {
            self.stats.hits += 1;
            self.frames.touch(frame);
        } else {
            self.stats.misses += 1;
            self.make_room(io);
            self.each(frame, io, MapOp::Fetch);
            self.frames.insert(frame);
        }
        if change {
            self.frames.mark_dirty(frame);
        }
    }

    fn make_room(&mut self, io: &mut Vec<MapOp>) {
        if self.frames.len() == self.capacity {
            let victim = self.frames.oldest().expect("a full cache has an oldest page");
            let dirty = self.frames.remove(victim);
            self.stats.evictions += 1;
            if dirty {
                self.stats.dirty_evictions += 1;
                self.each(victim, io, MapOp::Rewrite);
            }
        }
    }
}

/// Returns the number of translation pages in a map page.
fn pages_per_map_page(config: &MapConfig) -> u32 {
    config.page_cache.entries.map_or(1, |entries| entries / config.geometry.entries_per_page())
}

fn refusal(config: &MapConfig) -> Option<Refusal> {
    let entries = config.page_cache.entries?;
    let in_page = config.geometry.entries_per_page();
    (!entries.is_multiple_of(in_page)).then(|| Refusal {
        key: "page_cache.entries",
        given: entries.to_string(),
        expected: format!("a multiple of the {in_page} entries in a page of the flash"),
    })
}

impl Prefetch for PageCache {}

impl Mapping for PageCache {
    #[inline]
    fn access(&mut self, access: Access, io: &mut Vec<MapOp>) {
        self.visit(self.frame_of(access.lpn), access.kind != AccessKind::Read, io);
    }

    fn relocated(&mut self, moved: &[(Lpn, Ppn)], io: &mut Vec<MapOp>) {
        let (geometry, mut before) = (self.geometry, None);
        for (tpn, _) in by_page(&geometry, moved) {
            let frame = self.frame(tpn);
            if before.replace(frame) == Some(frame) {
                continue;
            }
            if self.frames.contains(frame) {
                self.frames.mark_dirty(frame);
            } else if self.cleaning == ForCleaning::LruEnd && self.capacity > 1 {
                self.make_room(io);
                self.each(frame, io, MapOp::Fetch);
                self.frames.insert_oldest(frame);
                self.frames.mark_dirty(frame);
            } else {
                self.each(frame, io, MapOp::Update);
            }
        }
    }

    fn residency(&self, lpn: Lpn) -> Residency {
        self.frames.state(self.frame_of(lpn))
    }

    fn trim(&mut self, tpn: Tpn, mapped: &[Lpn], io: &mut Vec<MapOp>) {
        self.visit(self.frame(tpn), !mapped.is_empty(), io);
    }

    fn flush(&mut self, io: &mut Vec<MapOp>) {
        let mut dirty = Vec::new();
        self.frames.clean(|frame| dirty.push(frame));
        dirty.into_iter().for_each(|frame| self.each(frame, io, MapOp::Rewrite));
    }
}

impl Policy for PageCache {
    fn memory_bytes(&self) -> u64 {
        let bytes =
            u64::from(self.geometry.shape().page_bytes) * u64::from(self.pages_per_map_page);
        u64::from(self.frames.len()) * bytes
    }

    fn report(&self, counters: &mut Counters) {
        counters.map = self.stats;
    }

    fn reset_counters(&mut self) {
        self.stats = MapStats::default();
    }

    fn check(&self) {
        assert!(self.frames.len() <= self.capacity);
        self.frames.check();
    }
}

#[cfg(test)]
mod tests;
