//! TLLLP: two-level linked list prefetch (Yin, Li, Liu, Yuan and Zhan, "Improve SSD performance by
//! prefetch strategy").
//!
//! Cached entries hang under nodes, one per translation page, ordered by the mean `visited_num` of
//! their entries. A miss reads one translation page and loads several entries from it. `History`
//! computes their number from the run of sequential accesses before the miss and from the rest of
//! the request. If there is too little room, the least visited node is evicted as a whole, with at
//! most one rewrite of its page. Cleaning works as in DFTL: cached entries are updated in place,
//! other entries with one rewrite per page.
//!
//! The text contradicts itself in places. Readings, with the defaults first (docs/algorithms.md,
//! 2.10):
//! - T1 "least visited" and "most recently visited" page: the node with the smallest mean is
//!   evicted, as in Figure 1. `victim = Max` is the literal reading; `LeastRecent` takes "have
//!   recently been rarely accessed" as an order by time. Ties: least recently accessed (T13).
//! - T2 one entry or all entries of the page: all. With `evict = Entry` the least visited entry of
//!   the victim node leaves (ties: least recently accessed). Each further entry is of the node that
//!   is the victim by then.
//! - T6 `prefetch_num` counts the missed entry, or with `prefetch = Extra` only entries behind it.
//!   T7 a prefetch stops at the end of the translation page and of the drive. T8 only a miss
//!   prefetches. T9 a prefetched entry has been visited 0 times, the missed entry once, and nothing
//!   ages.
//! - T11 a dirty node costs a read and a program of its page; no read if all its entries are
//!   cached. With `evict = Entry` a dirty entry costs as much, and all dirty entries of its node
//!   are written with it (section 1: "update the latest entries which belong to one mapping page
//!   together").
//! - T12 the page of the access is not evicted unless it is the only one. Then only its least
//!   visited entry leaves.
//! - T14 nodes take memory too. T15 room is made by evicting one node, and the prefetch then
//!   shrinks to the room. With `evict = Entry`, entries leave until the missed entry fits, at least
//!   one. `evict_until_fit` evicts until the whole prefetch fits.
//!
//! Further decisions: cached entries in the prefetched range count, and stay as they are. A trim
//! neither prefetches nor is part of a sequential run. The cache holds at least one entry, whatever
//! the budget. The cost per page is a probe of a hash table and a list move. A miss costs one more
//! probe per prefetched entry, and sifts in a heap of nodes. An entry that leaves without its node
//! costs a walk of the node.

mod history;

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
use history::History;

crate::choice! {
    /// How the access history limits a prefetch.
    pub enum FetchMode {
        /// The length of the sequence accessed just before, plus 1.
        Run = "run",
        /// The length of the sequence's last prefetch, plus 1.
        Prev = "prev",
        /// No prefetch: a miss loads only its own entry.
        None = "none",
    }
}

crate::choice! {
    /// Whether the prefetch length counts the missed entry.
    pub enum PrefetchCount {
        /// It does: a length of 1 loads only the missed entry.
        With = "with",
        /// It does not: that many entries are loaded in addition to the missed entry.
        Extra = "beside",
    }
}

crate::choice! {
    /// Which translation page's entries are evicted.
    pub enum NodeVictim {
        /// The page that is visited least on average.
        Min = "min",
        /// The page that is visited most on average: the paper's literal reading, for comparison.
        Max = "max",
        /// The least recently accessed page.
        LeastRecent = "least_recent",
    }
}

crate::choice! {
    /// Which entries of the victim page an eviction takes.
    pub enum Evicted {
        /// All its entries.
        Page = "page",
        /// Its least visited entry. A write-back also writes the other dirty entries of the page.
        Entry = "entry",
    }
}

crate::parameters! {
    /// Parameters of TLLLP.
    pub struct TlllpConfig {
        /// How the access history determines the prefetch length.
        fetch_mode: FetchMode = FetchMode::Run;
        /// Whether the first page of a request can have a window of 4 times the rest of the
        /// request, not 2 times. It does if its entry is in the translation page of the page
        /// accessed before.
        rule2_first: bool = false;
        /// Whether the prefetch length counts the missed entry.
        prefetch: PrefetchCount = PrefetchCount::With;
        /// Which translation page's entries are evicted.
        victim: NodeVictim = NodeVictim::Min;
        /// Which entries of the victim page an eviction takes.
        evict: Evicted = Evicted::Page;
        /// Whether evictions continue until the whole prefetch fits, instead of ending at the first
        /// one after which the missed entry fits.
        evict_until_fit: bool = false;
        /// Bytes of a cached entry.
        bytes_per_entry: u32 = 8, from 1 to 64;
        /// Bytes of the node of a translation page with cached entries.
        bytes_per_node: u32 = 8, from 0 to 64;
    }
}

/// The two-level linked list. The weight of an entry is its `visited_num`.
#[derive(Clone, Debug)]
pub struct Tlllp {
    geometry: Geometry,
    config: TlllpConfig,
    cache: TwoLevel,
    history: History,
    now: u64,
    stats: MapStats,
}

crate::state!(Tlllp { cache, history, now } fixed { geometry, config, stats });

impl Tlllp {
    /// Starts with an empty cache.
    pub fn new(config: &MapConfig) -> Self {
        let TlllpConfig { bytes_per_entry, bytes_per_node, victim, .. } = config.tlllp;
        let sizes = Sizes { entry: bytes_per_entry.into(), node: bytes_per_node.into() };
        let first = match victim {
            NodeVictim::Min => First::LowestMean,
            NodeVictim::Max => First::HighestMean,
            NodeVictim::LeastRecent => First::LeastRecent,
        };
        Self {
            geometry: config.geometry,
            config: config.tlllp,
            cache: TwoLevel::new(config, sizes, first),
            history: History::new(&config.tlllp),
            now: 0,
            stats: MapStats::default(),
        }
    }

    /// Returns the requirements on the drive.
    pub fn demands(config: &MapConfig) -> MapDemands {
        let TlllpConfig { bytes_per_entry, bytes_per_node, .. } = config.tlllp;
        MapDemands {
            cache_bytes: (bytes_per_entry + bytes_per_node).into(),
            cache_for: "one entry and its node, of tlllp.bytes_per_entry and tlllp.bytes_per_node",
            ..MapDemands::default()
        }
    }

    /// Loads the entry of a page and the entries behind it, `entries` in total, or fewer if there
    /// is too little room.
    fn load(&mut self, access: &Access, entries: u32, io: &mut Vec<MapOp>) {
        let Access { lpn, kind, .. } = *access;
        let count = entries.min(self.cache.page_end(lpn) - lpn.get());
        let count = self.make_room(lpn, count, io);
        io.push(MapOp::Fetch(self.geometry.translation_page(lpn)));
        // Of the prefetched entries, the nearest one is the last to leave.
        for lpn in (lpn.get() + 1..lpn.get() + count).rev() {
            if self.cache.find(Lpn::new(lpn)).is_none() {
                let entry = Entry { lpn, weight: 0, dirty: false, prefetched: true };
                self.cache.insert(entry, self.now);
                self.stats.prefetched += 1;
            }
        }
        let dirty = kind != AccessKind::Read;
        let entry = Entry { lpn: lpn.get(), weight: 1, dirty, prefetched: false };
        self.cache.insert(entry, self.now);
    }

    /// Evicts nodes or entries to make room for `count` entries from `lpn` on. Returns how many of
    /// them fit, at least one.
    fn make_room(&mut self, lpn: Lpn, count: u32, io: &mut Vec<MapOp>) -> u32 {
        let current = self.geometry.translation_page(lpn);
        let fitting = |cache: &TwoLevel| cache.fitting(lpn, count, cache.free_bytes()).0;
        let mut fits = fitting(&self.cache);
        while fits < count {
            let Some(victim) = self.cache.front(current) else { break };
            match self.config.evict {
                Evicted::Page => self.evict_node(victim, io),
                Evicted::Entry => self.evict_entry(victim, io),
            }
            fits = fitting(&self.cache);
            if fits > 0 && !self.config.evict_until_fit {
                break;
            }
        }
        if fits == 0 {
            self.evict_entry(current, io);
            fits = fitting(&self.cache);
        }
        assert!(fits > 0, "the budget holds a node and an entry");
        fits
    }

    fn evict_node(&mut self, victim: Tpn, io: &mut Vec<MapOp>) {
        let dirty = self.cache.dirty(victim);
        self.stats.evictions += u64::from(self.cache.cached(victim));
        self.stats.dirty_evictions += u64::from(dirty);
        if dirty > 0 {
            io.push(write_back(&self.cache, victim));
        }
        self.cache.remove_node(victim);
    }

    /// Evicts the least visited entry of a node.
    fn evict_entry(&mut self, tpn: Tpn, io: &mut Vec<MapOp>) {
        let entries = self.cache.entries_of(tpn);
        let slot = entries.min_by_key(|&slot| self.cache.entry(slot).weight);
        let slot = slot.expect("a node has an entry");
        self.stats.evictions += 1;
        if self.cache.entry(slot).dirty {
            self.stats.dirty_evictions += 1;
            io.push(write_back(&self.cache, tpn));
            if self.config.evict == Evicted::Entry {
                self.cache.clean(tpn);
            }
        }
        self.cache.remove(slot);
    }
}

/// Returns the write-back of a translation page, which needs no read if all its entries are cached.
fn write_back(cache: &TwoLevel, tpn: Tpn) -> MapOp {
    if cache.is_whole(tpn) { MapOp::Rewrite(tpn) } else { MapOp::Update(tpn) }
}

impl Prefetch for Tlllp {
    #[inline(always)]
    fn prefetch(&self, lpn: Lpn) {
        self.cache.prefetch(lpn);
    }

    #[inline(always)]
    fn prefetch_entry(&self, lpn: Lpn) {
        self.cache.prefetch_entry(lpn);
    }
}

impl Mapping for Tlllp {
    #[inline]
    fn access(&mut self, access: Access, io: &mut Vec<MapOp>) {
        self.now += 1;
        let trim = access.kind == AccessKind::Trim;
        if !trim {
            self.history.reaches(&access, self.geometry.translation_page(access.lpn));
        }
        if let Some(slot) = self.cache.find(access.lpn) {
            self.stats.hits += 1;
            let Entry { weight: visited_num, prefetched, .. } = *self.cache.entry(slot);
            self.stats.prefetch_used += u64::from(prefetched);
            self.cache.access(slot, visited_num + 1, self.now);
            if access.kind != AccessKind::Read {
                self.cache.make_dirty(slot);
            }
            return;
        }
        self.stats.misses += 1;
        let entries = if trim { 1 } else { self.history.entries_to_load(&access) };
        self.load(&access, entries, io);
    }

    fn relocated(&mut self, moved: &[(Lpn, Ppn)], io: &mut Vec<MapOp>) {
        for (tpn, page) in by_page(&self.geometry, moved) {
            if self.cache.moved(page.iter().map(|&(lpn, _)| lpn)) {
                io.push(MapOp::Update(tpn));
            }
        }
    }

    fn residency(&self, lpn: Lpn) -> Residency {
        self.cache.residency(lpn)
    }

    fn flush(&mut self, io: &mut Vec<MapOp>) {
        self.cache.flush(io, write_back);
    }
}

impl Policy for Tlllp {
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

#[cfg(test)]
mod tests;
