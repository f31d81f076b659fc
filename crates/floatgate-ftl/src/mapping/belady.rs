//! The optimal cache of single entries: evicts the entry whose next use is farthest in the future
//! (MIN: Belady, IBM Systems Journal 5, 1966). No drive can do this; it is a bound.
//!
//! It bounds the hits of every scheme with as much memory that, like DFTL, loads only the accessed
//! entry. Schemes that load more than one entry per read can have more hits. Misses, dirty victims,
//! cleaning and the size of an entry (`dftl.entry_bytes`) are as in DFTL. It does not minimise
//! write-backs: of two entries it keeps the one with the earlier use, dirty or not.
//!
//! [`Policy::set_future`] passes the future reads and writes of the workload. That call refills the
//! cache, at no cost, with as many entries as before: those with the earliest next use. So the
//! bound also covers schemes that start with any other entries. An empty cache stays empty. Dirty
//! entries stay cached, because flash does not have them. Before that call (while a drive is
//! filled), and beyond the last known access, the victim is the least recently used entry: LRU.
//!
//! Trims are not part of the future and do not load entries. A trim changes cached entries in
//! place, which keep their next use, and clears other entries in their translation page. Trims are
//! counted as in DFTL. The cost is one probe of a small hash table and a heap move per page, and 4
//! bytes of the simulator's memory per access.

use alloc::vec::Vec;

use super::heap::Heap;
use super::single::{self, Entry};
use super::{
    Access, AccessKind, MapConfig, MapDemands, MapOp, MapStats, Mapping, Prefetch, Residency,
    by_page,
};
use crate::addr::{Lpn, Ppn, Tpn};
use crate::counters::Counters;
use crate::future::{NEVER, NextUses};
use crate::geometry::Geometry;
use crate::intmap::IntMap;
use crate::policy::Policy;

/// A cache of entries that knows the future accesses.
#[derive(Clone, Debug)]
pub struct Belady {
    geometry: Geometry,
    entry_bytes: u64,
    slots: IntMap,
    entries: Vec<Entry>,
    capacity: usize,
    /// Entries by next use, the farthest first.
    order: Heap,
    /// Number of the next access to the same page, by number of the access.
    next: Vec<u32>,
    /// Accesses since the future was set.
    clock: u64,
    stats: MapStats,
}

crate::state!(
    Belady { slots, entries, order, next, clock }
    fixed { geometry, entry_bytes, capacity, stats }
);

impl Belady {
    /// Makes a cache that fills the budget, with at least one entry and at most one per page.
    pub fn new(config: &MapConfig) -> Self {
        let entry_bytes = u64::from(config.dftl.entry_bytes);
        let pages = u64::from(config.geometry.logical_pages());
        let capacity = (config.cache_bytes / entry_bytes).clamp(1, pages) as usize;
        Self {
            geometry: config.geometry,
            entry_bytes,
            slots: IntMap::new(capacity),
            entries: Vec::with_capacity(capacity),
            capacity,
            order: Heap::new(capacity),
            next: Vec::new(),
            clock: 0,
            stats: MapStats::default(),
        }
    }

    /// Returns the requirements on the drive.
    pub fn demands(config: &MapConfig) -> MapDemands {
        MapDemands {
            cache_bytes: config.dftl.entry_bytes.into(),
            cache_for: "one entry of dftl.entry_bytes",
            ..MapDemands::default()
        }
    }

    /// Returns the next use of the entry that is accessed now. Beyond the known future, a more
    /// recently used entry gets an earlier next use, which makes the order LRU.
    fn next_use(&self) -> u64 {
        let known = usize::try_from(self.clock).ok().and_then(|now| self.next.get(now));
        known.map_or(u64::MAX - self.clock, |&next| u64::from(next))
    }

    /// Returns whether the current access is part of the known future.
    fn is_known(&self) -> bool {
        self.clock < self.next.len() as u64
    }

    /// Returns a slot for a new entry: an unused slot, or the victim's slot after a write-back if
    /// it is dirty.
    fn make_room(&mut self, io: &mut Vec<MapOp>) -> u32 {
        if self.entries.len() < self.capacity {
            self.entries.push(Entry::UNUSED);
            return self.entries.len() as u32 - 1;
        }
        let slot = self.order.first().expect("a full cache has a victim");
        let victim = self.entries[slot as usize];
        self.stats.evictions += 1;
        if victim.dirty {
            self.stats.dirty_evictions += 1;
            io.push(MapOp::Update(victim.page(&self.geometry)));
        }
        self.order.remove(slot);
        self.slots.remove(victim.lpn);
        slot
    }

    fn insert(&mut self, slot: u32, entry: Entry, next_use: u64) {
        self.entries[slot as usize] = entry;
        self.slots.insert(entry.lpn, slot);
        self.order.set(slot, next_use);
    }

    /// Marks an entry dirty, if it is cached. Returns whether it is cached.
    fn mark_dirty(&mut self, lpn: Lpn) -> bool {
        let Some(slot) = self.slots.get(lpn.get()) else { return false };
        self.entries[slot as usize].dirty = true;
        true
    }
}

impl Prefetch for Belady {
    #[inline(always)]
    fn prefetch(&self, lpn: Lpn) {
        self.slots.prefetch(lpn.get());
    }

    #[inline(always)]
    fn prefetch_entry(&self, lpn: Lpn) {
        self.slots.prefetch_item(lpn.get(), &self.entries);
    }
}

impl Mapping for Belady {
    #[inline]
    fn access(&mut self, access: Access, io: &mut Vec<MapOp>) {
        let next_use = self.next_use();
        let dirty = access.kind != AccessKind::Read;
        if let Some(slot) = self.slots.get(access.lpn.get()) {
            self.stats.hits += 1;
            if self.is_known() {
                assert_eq!(self.order.key(slot), self.clock, "the future was of another workload");
            }
            self.entries[slot as usize].dirty |= dirty;
            self.order.set(slot, next_use);
        } else {
            self.stats.misses += 1;
            let slot = self.make_room(io);
            io.push(MapOp::Fetch(self.geometry.translation_page(access.lpn)));
            self.insert(slot, Entry { lpn: access.lpn.get(), dirty }, next_use);
        }
        self.clock += 1;
    }

    fn relocated(&mut self, moved: &[(Lpn, Ppn)], io: &mut Vec<MapOp>) {
        let geometry = self.geometry;
        for (tpn, page) in by_page(&geometry, moved) {
            let cached = page.iter().filter(|(lpn, _)| self.mark_dirty(*lpn)).count();
            if cached < page.len() {
                io.push(MapOp::Update(tpn));
            }
        }
    }

    fn residency(&self, lpn: Lpn) -> Residency {
        let slot = self.slots.get(lpn.get());
        single::residency(slot.map(|slot| &self.entries[slot as usize]))
    }

    fn trim(&mut self, tpn: Tpn, mapped: &[Lpn], io: &mut Vec<MapOp>) {
        let cached = mapped.iter().filter(|lpn| self.mark_dirty(**lpn)).count();
        let absent = mapped.len() - cached;
        self.stats.hits += cached as u64;
        self.stats.misses += u64::from(absent == 1);
        if mapped.is_empty() {
            io.push(MapOp::Fetch(tpn));
        } else if absent > 0 {
            io.push(MapOp::Update(tpn));
        }
    }

    fn flush(&mut self, io: &mut Vec<MapOp>) {
        single::flush(&mut self.entries, &self.geometry, io);
    }
}

impl Policy for Belady {
    fn needs_future() -> bool {
        true
    }

    fn set_future(&mut self, future: NextUses) {
        let places = self.entries.len();
        let mut start: Vec<Entry> = self.entries.iter().copied().filter(|e| e.dirty).collect();
        let is_kept = |lpn| self.residency(Lpn::new(lpn)) == Residency::Dirty;
        let uses = future.first.iter().copied().zip(0..);
        let mut soonest: Vec<(u32, u32)> =
            uses.filter(|&(first, lpn)| first != NEVER && !is_kept(lpn)).collect();
        soonest.sort_unstable();
        soonest.truncate(places - start.len());
        start.extend(soonest.iter().map(|&(_, lpn)| Entry { lpn, dirty: false }));
        self.slots = IntMap::new(self.capacity);
        self.order = Heap::new(self.capacity);
        self.entries.truncate(start.len());
        for (slot, entry) in (0..).zip(start) {
            let first = future.first[entry.lpn as usize];
            self.insert(slot, entry, u64::from(first));
        }
        self.next = future.next;
        self.clock = 0;
    }

    fn memory_bytes(&self) -> u64 {
        self.entries.len() as u64 * self.entry_bytes
    }

    fn report(&self, counters: &mut Counters) {
        counters.map = self.stats;
    }

    fn reset_counters(&mut self) {
        self.stats = MapStats::default();
    }

    fn check(&self) {
        assert!(self.entries.len() <= self.capacity);
        assert_eq!(self.slots.len(), self.entries.len(), "every entry has one slot");
        assert_eq!(self.order.len(), self.entries.len(), "every entry has a next use");
        self.order.check();
        for (entry, slot) in self.entries.iter().zip(0..) {
            assert_eq!(self.slots.get(entry.lpn), Some(slot));
            let key = self.order.key(slot);
            assert!(
                !self.is_known() || key >= self.clock,
                "an entry is used when it was said to be"
            );
        }
    }
}

#[cfg(test)]
mod tests;
