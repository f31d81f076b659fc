//! DFTL's cached mapping table, as its text describes it: every decision is a scan over all
//! entries.

use floatgate_ftl::addr::Tpn;
use floatgate_ftl::mapping::{DftlConfig, MapOp, Replacement};

#[derive(Clone, Copy, Debug)]
struct Slot {
    lpn: u32,
    dirty: bool,
    protected: bool,
    /// SLRU: when it became the most recent of its segment. FlashSim: its age.
    rank: u64,
}

#[derive(Clone, Debug)]
pub struct NaiveDftl {
    slots: Vec<Slot>,
    capacity: usize,
    entries_per_page: u32,
    config: DftlConfig,
    clock: u64,
    pub hits: u64,
    pub misses: u64,
    pub dirty_evictions: u64,
}

impl NaiveDftl {
    pub fn new(capacity: usize, entries_per_page: u32, config: DftlConfig) -> Self {
        let (hits, misses, dirty_evictions) = (0, 0, 0);
        let (slots, clock) = (vec![], 0);
        Self { slots, capacity, entries_per_page, config, clock, hits, misses, dirty_evictions }
    }

    fn tpn(&self, lpn: u32) -> Tpn {
        Tpn::new(lpn / self.entries_per_page)
    }

    fn is_flashsim(&self) -> bool {
        matches!(self.config.replacement, Replacement::FlashSim)
    }

    fn protected_max(&self) -> usize {
        let share = self.capacity * (self.config.protected_share * 1000.0) as usize / 1000;
        match self.config.replacement {
            Replacement::Slru => share,
            Replacement::Lru => 0,
            Replacement::FlashSim => share.max(1),
        }
    }

    pub fn find(&self, lpn: u32) -> Option<usize> {
        self.slots.iter().position(|slot| slot.lpn == lpn)
    }

    pub fn is_dirty(&self, lpn: u32) -> bool {
        self.find(lpn).is_some_and(|at| self.slots[at].dirty)
    }

    fn count(&self, protected: bool) -> usize {
        self.slots.iter().filter(|slot| slot.protected == protected).count()
    }

    /// Returns the slot with the lowest rank in a segment. With `<=` the last one scanned wins.
    fn lowest(&self, protected: bool) -> Option<usize> {
        let (mut lowest, mut rank) = (None, u64::MAX);
        for (at, slot) in self.slots.iter().enumerate() {
            if slot.protected == protected && slot.rank <= rank {
                (lowest, rank) = (Some(at), slot.rank);
            }
        }
        lowest
    }

    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    /// Accesses a page. Returns the flash work.
    pub fn access(&mut self, lpn: u32, dirty: bool, mapped: bool) -> Vec<MapOp> {
        if let Some(at) = self.find(lpn) {
            self.hits += 1;
            self.slots[at].dirty |= dirty;
            if self.is_flashsim() {
                self.hit_flashsim(at)
            } else {
                self.hit_slru(at)
            }
            return vec![];
        }
        self.misses += 1;
        let mut io = vec![];
        let place = (self.slots.len() == self.capacity).then(|| self.evict(&mut io));
        if mapped || !self.config.gtd_unmapped_shortcut {
            io.push(MapOp::Fetch(self.tpn(lpn)));
        }
        let slot = self.new_slot(lpn, dirty, place);
        match place {
            Some(at) => self.slots[at] = slot,
            None => self.slots.push(slot),
        }
        io
    }

    /// Empties a slot and returns its index. The slot is empty until it is filled again.
    fn evict(&mut self, io: &mut Vec<MapOp>) -> usize {
        let at = self.lowest(false).or_else(|| self.lowest(true)).unwrap();
        let Slot { lpn, dirty, .. } = self.slots[at];
        if dirty {
            self.dirty_evictions += 1;
            let tpn = self.tpn(lpn);
            io.push(MapOp::Update(tpn));
            for other in 0..self.slots.len() {
                let same = self.tpn(self.slots[other].lpn) == tpn;
                self.slots[other].dirty &= !(same && self.config.evict_batch);
            }
        }
        at
    }

    fn new_slot(&mut self, lpn: u32, dirty: bool, vacant: Option<usize>) -> Slot {
        if !self.is_flashsim() {
            return Slot { lpn, dirty, protected: false, rank: self.tick() };
        }
        if let Some(at) = vacant {
            self.slots[at].protected = false;
            self.slots[at].rank = u64::MAX;
        }
        let protected = self.slots.iter().filter(|slot| slot.protected);
        let oldest = protected.map(|slot| slot.rank).max().unwrap_or(0);
        if self.count(true) == self.protected_max() {
            let minimum = self.lowest(true).unwrap();
            self.slots[minimum].protected = false;
        }
        Slot { lpn, dirty, protected: true, rank: oldest + 1 }
    }

    fn hit_slru(&mut self, at: usize) {
        self.slots[at].protected = true;
        self.slots[at].rank = self.tick();
        if self.count(true) > self.protected_max() {
            let oldest = self.lowest(true).unwrap();
            self.slots[oldest].protected = false;
            self.slots[oldest].rank = self.tick();
        }
    }

    fn hit_flashsim(&mut self, at: usize) {
        self.slots[at].rank += 1;
        if self.slots[at].protected {
            return;
        }
        if let Some(minimum) = self.lowest(true)
            && self.slots[at].rank >= self.slots[minimum].rank
        {
            self.slots[minimum].protected = false;
            self.slots[at].protected = true;
        }
    }

    /// Trims mapped entries of a translation page. A trim without one reads the page.
    pub fn trim(&mut self, tpn: u32, mapped: &[u32]) -> Vec<MapOp> {
        let is_absent = |naive: &Self, lpn: u32| naive.find(lpn).is_none();
        let absent = mapped.iter().filter(|&&lpn| is_absent(self, lpn)).count();
        let mut io = vec![];
        for &lpn in mapped {
            if absent <= 1 || !is_absent(self, lpn) {
                io.extend(self.access(lpn, true, true));
            }
        }
        io.extend(mapped.is_empty().then(|| MapOp::Fetch(Tpn::new(tpn))));
        io.extend((absent > 1).then(|| MapOp::Update(Tpn::new(tpn))));
        io
    }

    /// Writes back each page with a dirty entry.
    pub fn flush(&mut self) -> Vec<MapOp> {
        let dirty = self.slots.iter().filter(|slot| slot.dirty);
        let mut pages: Vec<u32> = dirty.map(|slot| self.tpn(slot.lpn).get()).collect();
        pages.sort_unstable();
        pages.dedup();
        self.slots.iter_mut().for_each(|slot| slot.dirty = false);
        pages.into_iter().map(|tpn| MapOp::Update(Tpn::new(tpn))).collect()
    }

    /// Records pages that cleaning moved: lazy copying, batch update.
    pub fn relocated(&mut self, moved: &[u32]) -> Vec<MapOp> {
        let mut pages: Vec<Tpn> = vec![];
        for &lpn in moved {
            match self.find(lpn) {
                Some(at) => self.slots[at].dirty = true,
                None if pages.contains(&self.tpn(lpn)) => {}
                None => pages.push(self.tpn(lpn)),
            }
        }
        pages.into_iter().map(MapOp::Update).collect()
    }
}
