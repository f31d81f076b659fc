//! TPFTL: translation-page-level caching (Zhou, Wu, Huang, He and Xie, "An Efficient Page-level FTL
//! to Optimize Address Translation in Flash Memory", EuroSys 2015).
//!
//! Cached entries hang under nodes, one per translation page, in LRU order. Nodes are ordered by
//! the mean time of the last accesses to their entries. On top there are four techniques, each with
//! a switch (docs/algorithms.md, 2.11):
//! - *request-level prefetch*: a miss loads the entries of the rest of its request, up to the end
//!   of the translation page;
//! - *selective prefetch*: access counts as sequential once the number of nodes has fallen by 3
//!   since the last decision. If N entries are cached in a row just before the next miss, that miss
//!   loads N + 1 entries, including its own. After that the technique is off until the number of
//!   nodes falls again;
//! - *clean first*: the coldest node evicts a clean entry before a dirty one;
//! - *batch update*: a write-back writes all dirty entries of its translation page, which stay
//!   cached, clean. When cleaning rewrites a translation page for uncached entries, it writes the
//!   dirty entries, too.
//!
//! Decided here:
//!
//! - If both prefetches apply, the longer one counts, because both read the same page.
//! - The access time of a prefetched entry is the time of its miss.
//! - Only one node gives room: the coldest, except the node being filled. So a miss writes back at
//!   most one page (with batch update), and the prefetch shrinks to the room. If there is no such
//!   node, one entry of the node being filled leaves.
//! - The row of cached entries before a miss may begin in the previous translation page.
//! - A trim prefetches nothing.
//! - The cache holds at least one entry, whatever the budget.
//! - After the program of a write, its entry is marked dirty again, because cleaning in between may
//!   have written it back.
//!
//! The cost per page is a probe of a hash table and a list move. A miss costs one more probe and
//! list move per entry that comes or leaves, a sift or two in a heap of nodes, and a probe per
//! entry in the row before the miss. A batch update walks its node.

use alloc::vec::Vec;

use super::two_level::{Entry, First, Sizes, TwoLevel};
use super::{
    Access, AccessKind, MapConfig, MapDemands, MapOp, MapStats, Mapping, Prefetch, Residency,
    by_page,
};
use crate::addr::{Lpn, Ppn, Tpn};
use crate::counters::Counters;
use crate::geometry::Geometry;
use crate::policy::Policy;

crate::parameters! {
    /// Parameters of TPFTL.
    pub struct TpftlConfig {
        /// Whether a miss loads the entries of the rest of its request.
        request_prefetch: bool = true;
        /// Whether a miss also loads as many entries as are cached in a row before it, while access
        /// is sequential.
        selective_prefetch: bool = true;
        /// Access counts as sequential once the cached translation pages have decreased by this,
        /// and as random once they have increased by this.
        selective_threshold: u32 = 3, from 1 to 1000;
        /// Whether a translation page's clean entries are evicted before its dirty ones.
        clean_first: bool = true;
        /// Whether writing back an entry also writes the other dirty entries of its translation
        /// page.
        batch_update: bool = true;
        /// Bytes of a cached entry.
        bytes_per_entry: u32 = 6, from 1 to 64;
        /// Bytes of the node of a translation page with cached entries.
        bytes_per_node: u32 = 8, from 0 to 64;
    }
}

/// The two-level LRU lists. The weight of an entry is the time of its last access.
#[derive(Clone, Debug)]
pub struct Tpftl {
    geometry: Geometry,
    config: TpftlConfig,
    cache: TwoLevel,
    phase: Phase,
    now: u64,
    stats: MapStats,
}

crate::state!(Tpftl { cache, phase, now } fixed { geometry, config, stats });

impl Tpftl {
    /// Starts with an empty cache.
    pub fn new(config: &MapConfig) -> Self {
        let TpftlConfig { bytes_per_entry, bytes_per_node, .. } = config.tpftl;
        let sizes = Sizes { entry: bytes_per_entry.into(), node: bytes_per_node.into() };
        Self {
            geometry: config.geometry,
            config: config.tpftl,
            cache: TwoLevel::new(config, sizes, First::LowestMean),
            phase: Phase::new(config.tpftl.selective_threshold),
            now: 0,
            stats: MapStats::default(),
        }
    }

    /// Returns the requirements on the drive.
    pub fn demands(config: &MapConfig) -> MapDemands {
        let TpftlConfig { bytes_per_entry, bytes_per_node, .. } = config.tpftl;
        MapDemands {
            cache_bytes: (bytes_per_entry + bytes_per_node).into(),
            cache_for: "one entry and its node, of tpftl.bytes_per_entry and tpftl.bytes_per_node",
            ..MapDemands::default()
        }
    }

    /// Returns how many entries a miss would load, including its own.
    fn length(&mut self, access: &Access) -> u32 {
        if access.kind == AccessKind::Trim {
            return 1;
        }
        let left = self.cache.page_end(access.lpn) - access.lpn.get();
        let mut length = if self.config.request_prefetch { access.remaining.min(left) } else { 1 };
        if self.config.selective_prefetch && self.phase.take_sequential() {
            let before = (0..access.lpn.get()).rev().take(left as usize);
            let row = before.take_while(|&lpn| self.cache.find(Lpn::new(lpn)).is_some());
            length = length.max((row.count() as u32 + 1).min(left));
        }
        length
    }

    /// Evicts entries to make room for `count` entries from `lpn` on. Returns how many of them fit,
    /// at least one.
    fn make_room(&mut self, lpn: Lpn, count: u32, io: &mut Vec<MapOp>) -> u32 {
        let free = self.cache.free_bytes();
        let (fits, _) = self.cache.fitting(lpn, count, free);
        if fits == count {
            return count;
        }
        let current = self.geometry.translation_page(lpn);
        let Some(coldest) = self.cache.front(current) else {
            if fits > 0 {
                return fits;
            }
            self.evict(current, io);
            return 1;
        };
        let bytes = self.cache.node_bytes(coldest);
        let (fits, taken) = self.cache.fitting(lpn, count, free + bytes);
        assert!(fits > 0, "the budget holds a node and an entry");
        while self.cache.free_bytes() < taken {
            self.evict(coldest, io);
        }
        fits
    }

    /// Evicts one entry of a node.
    fn evict(&mut self, tpn: Tpn, io: &mut Vec<MapOp>) {
        let clean = self.cache.first_clean(tpn).filter(|_| self.config.clean_first);
        let slot = clean.or(self.cache.first(tpn)).expect("a node has entries");
        self.stats.evictions += 1;
        if self.cache.entry(slot).dirty {
            self.stats.dirty_evictions += 1;
            io.push(MapOp::Update(tpn));
            if self.config.batch_update {
                self.cache.clean(tpn);
            }
        }
        if self.cache.remove(slot) {
            self.phase.node_left();
        }
    }

    fn insert(&mut self, lpn: u32, dirty: bool, prefetched: bool) {
        let entry = Entry { lpn, weight: self.now, dirty, prefetched };
        if self.cache.insert(entry, self.now) {
            self.phase.node_came();
        }
    }
}

impl Prefetch for Tpftl {
    #[inline(always)]
    fn prefetch(&self, lpn: Lpn) {
        self.cache.prefetch(lpn);
    }

    #[inline(always)]
    fn prefetch_entry(&self, lpn: Lpn) {
        self.cache.prefetch_entry(lpn);
    }
}

impl Mapping for Tpftl {
    #[inline]
    fn access(&mut self, access: Access, io: &mut Vec<MapOp>) {
        self.now += 1;
        let (lpn, dirty) = (access.lpn, access.kind != AccessKind::Read);
        if let Some(slot) = self.cache.find(lpn) {
            self.stats.hits += 1;
            self.stats.prefetch_used += u64::from(self.cache.entry(slot).prefetched);
            self.cache.access(slot, self.now, self.now);
            if dirty {
                self.cache.make_dirty(slot);
            }
            return;
        }
        self.stats.misses += 1;
        let count = self.length(&access);
        let count = self.make_room(lpn, count, io);
        io.push(MapOp::Fetch(self.geometry.translation_page(lpn)));
        // Of the prefetched entries, the nearest one is the last to leave.
        for lpn in (lpn.get() + 1..lpn.get() + count).rev() {
            if self.cache.find(Lpn::new(lpn)).is_none() {
                self.insert(lpn, false, true);
                self.stats.prefetched += 1;
            }
        }
        self.insert(lpn.get(), dirty, false);
    }

    fn assigned(&mut self, lpn: Lpn, _: Ppn, _: &mut Vec<MapOp>) {
        if let Some(slot) = self.cache.find(lpn) {
            self.cache.make_dirty(slot);
        }
    }

    fn relocated(&mut self, moved: &[(Lpn, Ppn)], io: &mut Vec<MapOp>) {
        for (tpn, page) in by_page(&self.geometry, moved) {
            if self.cache.moved(page.iter().map(|&(lpn, _)| lpn)) {
                io.push(MapOp::Update(tpn));
                if self.config.batch_update {
                    self.cache.clean(tpn);
                }
            }
        }
    }

    fn residency(&self, lpn: Lpn) -> Residency {
        self.cache.residency(lpn)
    }

    fn flush(&mut self, io: &mut Vec<MapOp>) {
        self.cache.flush(io, |_, tpn| MapOp::Update(tpn));
    }
}

impl Policy for Tpftl {
    fn memory_bytes(&self) -> u64 {
        self.cache.bytes()
    }

    fn report(&self, counters: &mut Counters) {
        counters.map = MapStats { prefetch_unused: self.cache.wasted(), ..self.stats };
    }

    fn reset_counters(&mut self) {
        self.stats = MapStats::default();
        self.cache.forget_prefetches();
    }

    fn check(&self) {
        self.cache.check();
    }
}

/// Detects sequential access by the number of nodes. It starts as not sequential.
#[derive(Clone, Debug)]
struct Phase {
    threshold: i64,
    /// Nodes added minus nodes removed since the last decision.
    change: i64,
    sequential: bool,
}

crate::state!(Phase { change, sequential } fixed { threshold });

impl Phase {
    fn new(threshold: u32) -> Self {
        Self { threshold: threshold.into(), change: 0, sequential: false }
    }

    fn node_came(&mut self) {
        self.change += 1;
        if self.change >= self.threshold {
            (self.change, self.sequential) = (0, false);
        }
    }

    fn node_left(&mut self) {
        self.change -= 1;
        if self.change <= -self.threshold {
            (self.change, self.sequential) = (0, true);
        }
    }

    /// Returns whether access is sequential, and resets the answer.
    fn take_sequential(&mut self) -> bool {
        core::mem::take(&mut self.sequential)
    }
}

#[cfg(test)]
mod tests;
