//! S-FTL: whole translation pages in memory, compressed by the sequential runs in them (Jiang,
//! Zhang, Yuan, Hu and Liu, MSST 2011; docs/algorithms.md, 2.8).
//!
//! A cached page is a bitmap with one bit per entry, and the physical page numbers of the entries
//! whose bit is set. These entries start a run: their physical page does not directly follow the
//! physical page of the entry before. A page takes a bit per entry and 4 bytes per run. An unmapped
//! entry is a run of its own. Every change of an entry changes the number of runs by at most 2. So
//! pages grow and shrink in the cache, and even a hit may evict other pages. The least recently
//! used page is evicted.
//!
//! ```text
//! page    100 101 102 | 7 | 300 301 302 ...     bitmap 1 0 0 1 1 0 0 ...   heads 100 7 300
//! ```
//!
//! A victim with many changed entries is programmed without a read, because it is completely in
//! memory. The few changed entries of another victim (up to `sparse_share` of its entries) move to
//! the dirty buffer, and the page is dropped. If they do not fit into the buffer, the page with the
//! most changed entries is written back: either the page with the most buffered entries, by one
//! read and one program, or the victim itself. An access also finds buffered entries, and a page
//! that is loaded takes its buffered entries back.
//!
//! Decisions:
//!
//! - The buffer is `buffer_share` of the budget, at 8 bytes per entry (we know no number from the
//!   paper).
//! - Cleaning changes cached pages and buffered entries in place. When it rewrites a page on flash,
//!   the buffered entries of that page are written too.
//! - The page in use stays, even if it alone exceeds the budget.
//! - A page is counted as at least 8 bytes. This matters only below 64 entries per page. There it
//!   ensures that cleaning evicts at most one translation page for each page that it moves.
//! - A trim is one access of each translation page.
//! - `dirty_evictions` are the write-backs, of victims and from the buffer.
//!
//! To know the runs, the simulator keeps a copy of the map, 5 bytes per logical page. The drive
//! under study does not have this copy. The cost is two comparisons of neighbours per changed entry
//! and a list move per page. The order of the buffer is a tree that only evictions use.

mod changes;
mod content;

use alloc::vec::Vec;

use super::frames::Frames;
use super::{
    Access, AccessKind, MapConfig, MapDemands, MapOp, MapStats, Mapping, Prefetch, Residency,
    by_page,
};
use crate::addr::{Lpn, Ppn, Tpn};
use crate::counters::Counters;
use crate::geometry::Geometry;
use crate::parameters::permille;
use crate::policy::Policy;
use changes::Changes;
use content::Content;

/// Bytes of the physical page number at the head of a run.
const HEAD_BYTES: u64 = 4;
/// Bytes of a buffered entry: logical and physical page number.
const BUFFERED_BYTES: u64 = 8;
/// Minimum bytes of a cached page: two runs, the maximum growth from one changed entry.
const PAGE_BYTES_MIN: u64 = 2 * HEAD_BYTES;

crate::parameters! {
    /// Parameters of S-FTL.
    pub struct SftlConfig {
        /// Share of the cache that buffers dirty entries of evicted pages. Counts in thousandths.
        buffer_share: f64 = 0.1, from 0 below 1;
        /// Dirty entries of an evicted page are buffered if they are at most this share of its
        /// entries. Counts in thousandths.
        sparse_share: f64 = 0.05, from 0 to 1;
    }
}

/// Translation pages in compressed form.
#[derive(Clone, Debug)]
pub struct Sftl {
    geometry: Geometry,
    frames: Frames,
    content: Content,
    changes: Changes,
    /// Bytes for cached pages.
    budget: u64,
    /// Bytes that the cached pages take.
    used: u64,
    /// Up to this number, the changed entries of a page count as few.
    sparse_max: u32,
    stats: MapStats,
}

crate::state!(
    Sftl { frames, content, changes, used }
    fixed { geometry, budget, sparse_max, stats }
);

impl Sftl {
    /// Starts with an empty cache and an empty map.
    pub fn new(config: &MapConfig) -> Self {
        let SftlConfig { buffer_share, sparse_share } = config.sftl;
        let geometry = config.geometry;
        let pages = u64::from(geometry.logical_pages());
        let share = u128::from(config.cache_bytes) * u128::from(permille(buffer_share)) / 1000;
        let buffered_max = (share as u64 / BUFFERED_BYTES).min(pages);
        let sparse =
            u64::from(geometry.entries_per_page()) * u64::from(permille(sparse_share)) / 1000;
        Self {
            geometry,
            frames: Frames::new(geometry.translation_pages()),
            content: Content::new(&geometry),
            changes: Changes::new(&geometry, buffered_max as u32),
            budget: config.cache_bytes.saturating_sub(buffered_max * BUFFERED_BYTES),
            used: 0,
            sparse_max: sparse as u32,
            stats: MapStats::default(),
        }
    }

    /// Returns the requirements on the drive.
    pub fn demands(config: &MapConfig) -> MapDemands {
        let entries = config.geometry.entries_per_page();
        let longest = u64::from(entries.div_ceil(8)) + HEAD_BYTES * u64::from(entries);
        let bytes = longest as f64 / (1.0 - config.sftl.buffer_share);
        let whole = bytes as u64;
        MapDemands {
            cache_bytes: whole + u64::from(bytes > whole as f64),
            cache_for: "an incompressible page and the sftl buffer",
            ..MapDemands::default()
        }
    }

    /// Bytes that a page takes, or would take, in the cache.
    fn bytes(&self, tpn: Tpn) -> u64 {
        let bitmap = u64::from(self.geometry.entries_per_page().div_ceil(8));
        (bitmap + HEAD_BYTES * u64::from(self.content.runs(tpn))).max(PAGE_BYTES_MIN)
    }

    fn is_buffered(&self, tpn: Tpn, lpn: Lpn) -> bool {
        !self.frames.contains(tpn) && self.changes.has(lpn)
    }

    /// Uses a page and loads it if it is not cached. If all entries of the access are `buffered`,
    /// this is a hit without a load.
    #[inline]
    fn visit(&mut self, tpn: Tpn, buffered: bool, io: &mut Vec<MapOp>) {
        if self.frames.contains(tpn) {
            self.stats.hits += 1;
            self.frames.touch(tpn);
        } else if buffered {
            self.stats.hits += 1;
        } else {
            self.stats.misses += 1;
            self.load(tpn, io);
        }
    }

    /// Loads a page, and takes its buffered entries back from the buffer.
    fn load(&mut self, tpn: Tpn, io: &mut Vec<MapOp>) {
        self.changes.unbuffer(tpn);
        let bytes = self.bytes(tpn);
        self.shrink(self.budget.saturating_sub(bytes), 0, io);
        io.push(MapOp::Fetch(tpn));
        self.frames.insert(tpn);
        self.used += bytes;
    }

    /// Evicts until the pages take at most `bytes`, or only `least` pages are left.
    fn shrink(&mut self, bytes: u64, least: u32, io: &mut Vec<MapOp>) {
        while self.used > bytes && self.frames.len() > least {
            self.evict(io);
        }
    }

    fn evict(&mut self, io: &mut Vec<MapOp>) {
        let victim = self.frames.oldest().expect("an empty cache evicts nothing");
        self.used -= self.bytes(victim);
        self.frames.remove(victim);
        self.stats.evictions += 1;
        let changed = self.changes.count(victim);
        if changed > 0 && !self.buffer(victim, changed, io) {
            self.stats.dirty_evictions += 1;
            self.changes.written(victim);
            io.push(MapOp::Rewrite(victim));
        }
    }

    /// Moves the changes of a victim to the buffer, if they are few. To make room, writes back the
    /// page with the most buffered changes, unless the victim has more. Returns whether the changes
    /// are now in the buffer.
    fn buffer(&mut self, victim: Tpn, changed: u32, io: &mut Vec<MapOp>) -> bool {
        if changed > self.sparse_max {
            return false;
        }
        if !self.changes.has_room(changed) {
            match self.changes.largest() {
                Some((count, owner)) if count >= changed => {
                    self.stats.dirty_evictions += 1;
                    self.changes.written(owner);
                    io.push(MapOp::Update(owner));
                }
                _ => return false,
            }
        }
        self.changes.buffer(victim);
        true
    }

    /// Changes an entry that is in memory, in its page or in the buffer.
    fn point(&mut self, tpn: Tpn, lpn: Lpn, to: Option<Ppn>) {
        let before = self.bytes(tpn);
        self.content.set(lpn, to);
        if self.frames.contains(tpn) {
            self.used = self.used - before + self.bytes(tpn);
            self.changes.mark_dirty(lpn);
        }
    }

    /// Evicts pages that no longer fit after changes. The most recently used page stays.
    fn fit(&mut self, io: &mut Vec<MapOp>) {
        self.shrink(self.budget, 1, io);
    }
}

impl Prefetch for Sftl {}

impl Mapping for Sftl {
    #[inline]
    fn access(&mut self, access: Access, io: &mut Vec<MapOp>) {
        let tpn = self.geometry.translation_page(access.lpn);
        if access.kind == AccessKind::Trim {
            return self.trim(tpn, &[access.lpn], io);
        }
        self.visit(tpn, self.is_buffered(tpn, access.lpn), io);
        if access.kind == AccessKind::Write {
            self.changes.mark_dirty(access.lpn);
        }
    }

    fn assigned(&mut self, lpn: Lpn, to: Ppn, io: &mut Vec<MapOp>) {
        let tpn = self.geometry.translation_page(lpn);
        if !self.frames.contains(tpn) && !self.changes.has(lpn) {
            // Cleaning has written the buffered entry back since the access.
            self.load(tpn, io);
        }
        self.point(tpn, lpn, Some(to));
        self.fit(io);
    }

    fn relocated(&mut self, moved: &[(Lpn, Ppn)], io: &mut Vec<MapOp>) {
        let geometry = self.geometry;
        for (tpn, page) in by_page(&geometry, moved) {
            let cached = self.frames.contains(tpn);
            let mut absent = false;
            for &(lpn, to) in page {
                absent |= !cached && !self.changes.has(lpn);
                self.point(tpn, lpn, Some(to));
            }
            if absent {
                self.changes.written(tpn);
                io.push(MapOp::Update(tpn));
            }
        }
        self.fit(io);
    }

    fn residency(&self, lpn: Lpn) -> Residency {
        let cached = self.frames.contains(self.geometry.translation_page(lpn));
        match (self.changes.has(lpn), cached) {
            (true, _) => Residency::Dirty,
            (false, true) => Residency::Clean,
            (false, false) => Residency::Absent,
        }
    }

    fn trim(&mut self, tpn: Tpn, mapped: &[Lpn], io: &mut Vec<MapOp>) {
        let buffered = mapped.iter().all(|&lpn| self.is_buffered(tpn, lpn));
        self.visit(tpn, buffered && !mapped.is_empty(), io);
        for &lpn in mapped {
            self.point(tpn, lpn, None);
        }
        self.fit(io);
    }

    fn flush(&mut self, io: &mut Vec<MapOp>) {
        for tpn in (0..self.geometry.translation_pages()).map(Tpn::new) {
            if self.changes.count(tpn) > 0 {
                let cached = self.frames.contains(tpn);
                io.push(if cached { MapOp::Rewrite(tpn) } else { MapOp::Update(tpn) });
                self.changes.written(tpn);
            }
        }
    }
}

impl Policy for Sftl {
    fn memory_bytes(&self) -> u64 {
        self.used + BUFFERED_BYTES * u64::from(self.changes.buffered())
    }

    fn report(&self, counters: &mut Counters) {
        counters.map = self.stats;
    }

    fn reset_counters(&mut self) {
        self.stats = MapStats::default();
    }

    fn check(&self) {
        self.frames.check();
        self.content.check();
        self.changes.check(|tpn| !self.frames.contains(tpn));
        let sizes = self.frames.iter().map(|tpn| self.bytes(tpn));
        assert_eq!(sizes.sum::<u64>(), self.used, "the sizes of the cached pages");
        assert!(self.used <= self.budget || self.frames.len() == 1);
    }
}

#[cfg(test)]
mod tests;
