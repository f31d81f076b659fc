//! A cache of whole map pages, least recently used first out: the demand-loading FTL that
//! SHRD is held against (Kim, Shin, Jeong and Kim, FAST 2017; docs/algorithms.md, 2.6).
//!
//! A map page is one translation page, or several in a row that are read and programmed as one: the
//! SHRD drive has map pages of 32 KiB, a row of flash pages across the planes of a die.
//!
//! A miss reads the map page into memory. A victim that has been changed is programmed without a
//! read, for it is in memory as a whole. Cleaning changes cached pages in place, as in DFTL, and
//! does not count as a use. The others it rewrites on flash, or, as the SHRD drive does, loads them
//! as those to leave next: the same reads, but their programs come later, and not at all if they
//! are needed meanwhile. A cache of one page is the host's, and is spared that.
//!
//! A trim is one access of each translation page that it touches, and changes it if an entry of it
//! was set. The budget is counted in whole map pages, at least one. Costs a table look-up and a
//! list move per page. Under uniformly random writes with c of L map pages cached, a write costs 1
//! - c/L reads of map pages and as many programs.

use alloc::vec::Vec;

use super::frames::Frames;
use super::{Access, MapConfig, MapOp, MapStats, Mapping, Residency, Touch, by_page};
use crate::addr::{Lpn, Ppn, Tpn};
use crate::geometry::Geometry;

/// Parameters of [`PageCache`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageCacheConfig {
    /// Translation pages of a map page.
    pub together: u32,
    /// Whether cleaning loads what it changes, to leave next; if not, it rewrites it on flash.
    pub load_for_cleaning: bool,
}

impl Default for PageCacheConfig {
    fn default() -> Self {
        Self { together: 1, load_for_cleaning: false }
    }
}

/// Map pages in the drive's memory.
#[derive(Clone, Debug)]
pub struct PageCache {
    geometry: Geometry,
    config: PageCacheConfig,
    /// By map page.
    frames: Frames,
    capacity: u32,
    stats: MapStats,
}

impl PageCache {
    /// A cache of as many map pages as the budget holds, at least one.
    pub fn new(config: &MapConfig) -> Self {
        let (geometry, own) = (config.geometry, config.page_cache);
        assert!(own.together > 0, "a map page is a translation page or more");
        let pages = geometry.translation_pages().div_ceil(own.together);
        let bytes = u64::from(geometry.shape().page_bytes) * u64::from(own.together);
        let fit = config.cache_bytes / bytes;
        Self {
            geometry,
            config: own,
            frames: Frames::new(pages),
            capacity: fit.clamp(1, u64::from(pages)) as u32,
            stats: MapStats::default(),
        }
    }

    /// The map page that a translation page is part of.
    #[inline(always)]
    fn frame(&self, tpn: Tpn) -> Tpn {
        match self.config.together {
            1 => tpn,
            together => Tpn::new(tpn.get() / together),
        }
    }

    /// The map page that has an entry.
    #[inline(always)]
    fn frame_of(&self, lpn: Lpn) -> Tpn {
        self.frame(self.geometry.translation_page(lpn))
    }

    /// The same operation for every translation page of a map page.
    fn each(&self, frame: Tpn, io: &mut Vec<MapOp>, op: fn(Tpn) -> MapOp) {
        let first = frame.get() * self.config.together;
        let end = (first + self.config.together).min(self.geometry.translation_pages());
        io.extend((first..end).map(Tpn::new).map(op));
    }

    /// Uses a page, loading it if need be, and changes it if `change`.
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
            self.frames.soil(frame);
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

impl Mapping for PageCache {
    #[inline]
    fn access(&mut self, access: Access, io: &mut Vec<MapOp>) {
        self.visit(self.frame_of(access.lpn), access.touch != Touch::Read, io);
    }

    fn relocated(&mut self, moved: &[(Lpn, Ppn)], io: &mut Vec<MapOp>) {
        let (geometry, mut before) = (self.geometry, None);
        for (tpn, _) in by_page(&geometry, moved) {
            let frame = self.frame(tpn);
            if before.replace(frame) == Some(frame) {
                continue;
            }
            if self.frames.contains(frame) {
                self.frames.soil(frame);
            } else if self.config.load_for_cleaning && self.capacity > 1 {
                self.make_room(io);
                self.each(frame, io, MapOp::Fetch);
                self.frames.insert_oldest(frame);
                self.frames.soil(frame);
            } else {
                self.each(frame, io, MapOp::Update);
            }
        }
    }

    fn residency(&self, lpn: Lpn) -> Residency {
        self.frames.state(self.frame_of(lpn))
    }

    fn together(&self) -> u32 {
        self.config.together
    }

    fn trim(&mut self, tpn: Tpn, mapped: &[Lpn], io: &mut Vec<MapOp>) {
        self.visit(self.frame(tpn), !mapped.is_empty(), io);
    }

    fn flush(&mut self, io: &mut Vec<MapOp>) {
        let mut dirty = Vec::new();
        self.frames.clean(|frame| dirty.push(frame));
        dirty.into_iter().for_each(|frame| self.each(frame, io, MapOp::Rewrite));
    }

    fn stats(&self) -> MapStats {
        self.stats
    }

    fn cache_bytes(&self) -> u64 {
        let bytes = u64::from(self.geometry.shape().page_bytes) * u64::from(self.config.together);
        u64::from(self.frames.len()) * bytes
    }

    fn restart(&mut self) {
        self.stats = MapStats::default();
    }

    fn check(&self) {
        assert!(self.frames.len() <= self.capacity);
        self.frames.check();
    }
}

#[cfg(test)]
mod tests;
