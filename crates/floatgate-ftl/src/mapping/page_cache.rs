//! A cache of whole translation pages, least recently used first out: the demand-loading FTL that
//! SHRD is held against (Kim, Shin, Jeong and Kim, FAST 2017; algorithms, section 3.7).
//!
//! A miss reads the translation page into memory. A victim that has been changed is programmed
//! without a read, for it is in memory as a whole. Cleaning changes cached pages in place, as in
//! DFTL, and rewrites the others on flash; it does not count as a use. (The SHRD drive loads them
//! at the far end of the LRU list instead: the same reads, but their programs come later.)
//!
//! A trim is one access of each translation page that it touches, and changes it if an entry of it
//! was set. The budget is counted in whole pages, at least one. Costs a table look-up and a list
//! move per page. Under uniformly random writes with c of L pages cached, a write costs 1 - c/L
//! reads and as many programs.

use alloc::vec::Vec;

use super::frames::Frames;
use super::{Access, MapConfig, MapOp, MapStats, Mapping, Residency, Touch, by_page};
use crate::addr::{Lpn, Ppn, Tpn};
use crate::geometry::Geometry;

/// Translation pages in the drive's memory.
#[derive(Clone, Debug)]
pub struct PageCache {
    geometry: Geometry,
    frames: Frames,
    capacity: u32,
    stats: MapStats,
}

impl PageCache {
    /// A cache of as many translation pages as the budget holds, at least one.
    pub fn new(config: &MapConfig) -> Self {
        let geometry = config.geometry;
        let pages = geometry.translation_pages();
        let fit = config.cache_bytes / u64::from(geometry.shape().page_bytes);
        Self {
            geometry,
            frames: Frames::new(pages),
            capacity: fit.clamp(1, u64::from(pages)) as u32,
            stats: MapStats::default(),
        }
    }

    /// Uses a page, loading it if need be, and changes it if `change`.
    #[inline]
    fn visit(&mut self, tpn: Tpn, change: bool, io: &mut Vec<MapOp>) {
        if self.frames.contains(tpn) {
            self.stats.hits += 1;
            self.frames.touch(tpn);
        } else {
            self.stats.misses += 1;
            self.load(tpn, io);
        }
        if change {
            self.frames.soil(tpn);
        }
    }

    fn load(&mut self, tpn: Tpn, io: &mut Vec<MapOp>) {
        if self.frames.len() == self.capacity {
            let victim = self.frames.oldest().expect("a full cache has an oldest page");
            let dirty = self.frames.remove(victim);
            self.stats.evictions += 1;
            if dirty {
                self.stats.dirty_evictions += 1;
                io.push(MapOp::Rewrite(victim));
            }
        }
        io.push(MapOp::Fetch(tpn));
        self.frames.insert(tpn);
    }
}

impl Mapping for PageCache {
    #[inline]
    fn access(&mut self, access: Access, io: &mut Vec<MapOp>) {
        let tpn = self.geometry.translation_page(access.lpn);
        self.visit(tpn, access.touch != Touch::Read, io);
    }

    fn relocated(&mut self, moved: &[(Lpn, Ppn)], io: &mut Vec<MapOp>) {
        for (tpn, _) in by_page(&self.geometry, moved) {
            if self.frames.contains(tpn) {
                self.frames.soil(tpn);
            } else {
                io.push(MapOp::Update(tpn));
            }
        }
    }

    fn residency(&self, lpn: Lpn) -> Residency {
        self.frames.state(self.geometry.translation_page(lpn))
    }

    fn trim(&mut self, tpn: Tpn, mapped: &[Lpn], io: &mut Vec<MapOp>) {
        self.visit(tpn, !mapped.is_empty(), io);
    }

    fn flush(&mut self, io: &mut Vec<MapOp>) {
        self.frames.clean(|tpn| io.push(MapOp::Rewrite(tpn)));
    }

    fn stats(&self) -> MapStats {
        self.stats
    }

    fn cache_bytes(&self) -> u64 {
        u64::from(self.frames.len()) * u64::from(self.geometry.shape().page_bytes)
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
