//! DFTL: map entries cached on demand (Gupta, Kim, Urgaonkar, ASPLOS 2009).
//!
//! The cached mapping table (CMT) holds single entries. A miss reads the translation page. A dirty
//! victim costs a read and a program of its own translation page. Cleaning updates cached entries
//! in place (lazy copying), and other entries with one rewrite per translation page (batch update).
//!
//! Options:
//!
//! - which entry is evicted ([`Replacement`]);
//! - whether a write-back also writes the other dirty entries of its page (`evict_batch`: the
//!   paper's text has it for cleaning only, the C++ FlashSim also for evictions);
//! - whether the drive knows without a read that an entry was never set (`gtd_unmapped_shortcut`).
//!
//! The C FlashSim counts a lazily copied entry but does not mark it dirty; here it is marked. The
//! cost is one probe of a small hash table and a list move per page. An eviction with `evict_batch`
//! also scans the entries of one translation page.

mod flashsim;
mod slru;

use alloc::vec::Vec;

use super::single::{self, Entry};
use super::{
    Access, AccessKind, MapConfig, MapDemands, MapOp, MapStats, Mapping, Prefetch, Residency,
};
use crate::addr::{Lpn, Ppn, Tpn};
use crate::counters::Counters;
use crate::geometry::Geometry;
use crate::intmap::IntMap;
use crate::parameters::permille;
use crate::policy::Policy;
use crate::rng::Rng;
use crate::saved::{Carrier, State};
use flashsim::FlashSim;
use slru::Slru;

crate::choice! {
    /// Which cached entry is evicted.
    pub enum Replacement {
        /// Segmented LRU, as named in the paper.
        Slru = "slru",
        /// The ageing of the C FlashSim.
        FlashSim = "flashsim",
        /// Plain LRU.
        Lru = "lru",
    }
}

crate::parameters! {
    /// Parameters of DFTL.
    pub struct DftlConfig {
        /// Which cached entry is evicted.
        replacement: Replacement = Replacement::Slru;
        /// Share of the cache for its protected segment, entries hit again; for "slru" and
        /// "flashsim". Counts in thousandths.
        protected_share: f64 = 0.8, above 0 below 1;
        /// Whether writing back an entry also writes the other dirty entries of its translation
        /// page.
        evict_batch: bool = false;
        /// Whether a miss on an entry that was never set costs no flash read.
        gtd_unmapped_shortcut: bool = false;
        /// Bytes of a cached entry.
        entry_bytes: u32 = 8, from 1 to 64;
    }
}

/// Order in which entries leave. Slots are numbered from 0 and belong to [`Dftl`].
#[derive(Clone, Debug)]
enum Order {
    Slru(Slru),
    FlashSim(FlashSim),
}

impl State for Order {
    fn carry(&mut self, by: &mut Carrier<'_>) {
        match self {
            Self::Slru(order) => order.carry(by),
            Self::FlashSim(order) => order.carry(by),
        }
    }
}

/// The cached mapping table.
#[derive(Clone, Debug)]
pub struct Dftl {
    geometry: Geometry,
    config: DftlConfig,
    slots: IntMap,
    entries: Vec<Entry>,
    capacity: usize,
    order: Order,
    stats: MapStats,
}

crate::state!(Dftl { slots, entries, order } fixed { geometry, config, capacity, stats });

impl Dftl {
    /// Makes a cache that fills the budget, with at least one entry and at most one per page.
    pub fn new(config: &MapConfig) -> Self {
        let entry_bytes = u64::from(config.dftl.entry_bytes);
        let pages = u64::from(config.geometry.logical_pages());
        let capacity = (config.cache_bytes / entry_bytes).clamp(1, pages) as usize;
        let permille = u64::from(permille(config.dftl.protected_share));
        let protected = (capacity as u64 * permille / 1000) as usize;
        let order = match config.dftl.replacement {
            Replacement::Slru => Order::Slru(Slru::new(capacity, protected)),
            Replacement::Lru => Order::Slru(Slru::new(capacity, 0)),
            Replacement::FlashSim => Order::FlashSim(FlashSim::new(capacity, protected)),
        };
        Self {
            geometry: config.geometry,
            config: config.dftl,
            slots: IntMap::new(capacity),
            entries: Vec::with_capacity(capacity),
            capacity,
            order,
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

    fn hit(&mut self, slot: u32) {
        match &mut self.order {
            Order::Slru(order) => order.hit(slot),
            Order::FlashSim(order) => order.hit(slot),
        }
    }

    /// Returns a slot for a new entry: an unused slot, or the victim's slot after a write-back if
    /// it is dirty.
    fn make_room(&mut self, io: &mut Vec<MapOp>) -> u32 {
        if self.entries.len() < self.capacity {
            let slot = self.entries.len() as u32;
            self.entries.push(Entry::UNUSED);
            return slot;
        }
        let slot = match &mut self.order {
            Order::Slru(order) => order.evict(),
            Order::FlashSim(order) => order.evict(),
        };
        let victim = self.entries[slot as usize];
        self.stats.evictions += 1;
        if victim.dirty {
            self.stats.dirty_evictions += 1;
            let tpn = victim.page(&self.geometry);
            io.push(MapOp::Update(tpn));
            if self.config.evict_batch {
                self.clean_page(tpn);
            }
        }
        self.slots.remove(victim.lpn);
        slot
    }

    /// Marks all cached entries of a translation page clean.
    fn clean_page(&mut self, tpn: Tpn) {
        let entries = self.geometry.entries_per_page();
        let first = tpn.get() * entries;
        for lpn in first..first + entries {
            if let Some(slot) = self.slots.get(lpn) {
                self.entries[slot as usize].dirty = false;
            }
        }
    }

    fn insert(&mut self, slot: u32, entry: Entry) {
        self.entries[slot as usize] = entry;
        self.slots.insert(entry.lpn, slot);
        match &mut self.order {
            Order::Slru(order) => order.insert(slot),
            Order::FlashSim(order) => order.insert(slot),
        }
    }
}

impl Prefetch for Dftl {
    #[inline(always)]
    fn prefetch(&self, lpn: Lpn) {
        self.slots.prefetch(lpn.get());
    }

    #[inline(always)]
    fn prefetch_entry(&self, lpn: Lpn) {
        self.slots.prefetch_item(lpn.get(), &self.entries);
    }
}

impl Mapping for Dftl {
    #[inline]
    fn access(&mut self, access: Access, io: &mut Vec<MapOp>) {
        let dirty = access.kind != AccessKind::Read;
        if let Some(slot) = self.slots.get(access.lpn.get()) {
            self.stats.hits += 1;
            self.entries[slot as usize].dirty |= dirty;
            self.hit(slot);
            return;
        }
        self.stats.misses += 1;
        let slot = self.make_room(io);
        if access.mapped || !self.config.gtd_unmapped_shortcut {
            io.push(MapOp::Fetch(self.geometry.translation_page(access.lpn)));
        }
        self.insert(slot, Entry { lpn: access.lpn.get(), dirty });
    }

    fn relocated(&mut self, moved: &[(Lpn, Ppn)], io: &mut Vec<MapOp>) {
        let mut updated = None;
        for (lpn, _) in moved {
            let tpn = self.geometry.translation_page(*lpn);
            match self.slots.get(lpn.get()) {
                Some(slot) => self.entries[slot as usize].dirty = true,
                None if updated == Some(tpn) => {}
                None => {
                    io.push(MapOp::Update(tpn));
                    updated = Some(tpn);
                }
            }
        }
    }

    fn draw(&self, rng: &mut Rng) -> Option<Lpn> {
        let drawn = (!self.entries.is_empty()).then(|| rng.below(self.entries.len() as u64))?;
        Some(Lpn::new(self.entries[drawn as usize].lpn))
    }

    fn residency(&self, lpn: Lpn) -> Residency {
        let slot = self.slots.get(lpn.get());
        single::residency(slot.map(|slot| &self.entries[slot as usize]))
    }

    fn flush(&mut self, io: &mut Vec<MapOp>) {
        single::flush(&mut self.entries, &self.geometry, io);
    }
}

impl Policy for Dftl {
    fn memory_bytes(&self) -> u64 {
        self.entries.len() as u64 * u64::from(self.config.entry_bytes)
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
        for (slot, entry) in self.entries.iter().enumerate() {
            assert_eq!(self.slots.get(entry.lpn), Some(slot as u32));
        }
        let ordered = match &self.order {
            Order::Slru(order) => order.len(),
            Order::FlashSim(order) => order.len(),
        };
        assert_eq!(ordered, self.entries.len(), "every entry stands in the order once");
    }
}
