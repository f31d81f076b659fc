//! Compares TLLLP with its text, implemented with scans only: every step of long random sequences
//! must cause the same flash work, in the same order, with every option.

use crate::common::steps::{NaiveEntry, Prefetches, Step, Steps, same_content};
use crate::common::{Rig, SERIAL};
use floatgate_ftl::addr::Tpn;
use floatgate_ftl::geometry::Shape;
use floatgate_ftl::mapping::{
    Access, AccessKind, Evicted, FetchMode, MapConfig, MapOp, NodeVictim, PrefetchCount, Tlllp,
    TlllpConfig,
};
use floatgate_ftl::policy::Policy;

/// The algorithm (docs/algorithms.md, 2.10): one list of entries, everything else recomputed.
struct NaiveTlllp {
    config: TlllpConfig,
    pages: u32,
    per_page: u32,
    budget: u64,
    entries: Vec<NaiveEntry>,
    /// Time of the last access to each translation page.
    accessed: Vec<u64>,
    /// Every page read or written so far.
    accesses: Vec<u32>,
    /// `prefetch_num` of the last miss of the stream.
    prefetch_num: u32,
    now: u64,
    hits: u64,
    misses: u64,
    prefetches: Prefetches,
    evictions: [u64; 2],
}

impl NaiveTlllp {
    fn new(map: &MapConfig) -> Self {
        let config = map.tlllp;
        let least = config.bytes_per_entry + config.bytes_per_node;
        Self {
            config,
            pages: map.geometry.logical_pages(),
            per_page: map.geometry.entries_per_page(),
            budget: map.cache_bytes.max(least.into()),
            entries: vec![],
            accessed: vec![0; map.geometry.translation_pages() as usize],
            accesses: vec![],
            prefetch_num: 0,
            now: 0,
            hits: 0,
            misses: 0,
            prefetches: Prefetches::default(),
            evictions: [0, 0],
        }
    }

    fn find(&self, lpn: u32) -> Option<usize> {
        self.entries.iter().position(|entry| entry.lpn == lpn)
    }

    fn node(&self, tpn: u32) -> impl Iterator<Item = &NaiveEntry> {
        self.entries.iter().filter(move |entry| entry.lpn / self.per_page == tpn)
    }

    fn nodes(&self) -> Vec<u32> {
        let mut nodes: Vec<u32> = self.entries.iter().map(|e| e.lpn / self.per_page).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    fn bytes(&self) -> u64 {
        let nodes = self.nodes().len() as u64 * u64::from(self.config.bytes_per_node);
        nodes + self.entries.len() as u64 * u64::from(self.config.bytes_per_entry)
    }

    /// Returns whether the entries `lpn..lpn + count` could all be cached.
    fn fits(&self, lpn: u32, count: u32) -> bool {
        let new = (lpn..lpn + count).filter(|&lpn| self.find(lpn).is_none()).count() as u64;
        let node = u64::from(self.node(lpn / self.per_page).next().is_none());
        let (entry_bytes, node_bytes) = (self.config.bytes_per_entry, self.config.bytes_per_node);
        let bytes = new * u64::from(entry_bytes) + node * u64::from(node_bytes);
        self.bytes() + bytes <= self.budget
    }

    /// Equation 1.
    fn equation(&mut self, access: &Access) -> u32 {
        let lpn = access.lpn.get();
        let past = self.accesses.iter().rev().zip(1..=lpn);
        let earlier = past.take_while(|&(&before, back)| before == lpn - back).count() as u32;
        let page = |lpn: u32| lpn / self.per_page;
        let same_page = self.accesses.last().is_some_and(|&last| page(last) == page(lpn));
        let rule_1 = match self.config.rule2_first {
            true => !same_page,
            false => access.first || !same_page,
        };
        let window = access.remaining * if rule_1 { 2 } else { 4 };
        if earlier == 0 {
            self.prefetch_num = 0;
        }
        let fetch_num = match self.config.fetch_mode {
            FetchMode::Run => earlier,
            FetchMode::Prev => self.prefetch_num,
            FetchMode::None => 0,
        };
        (fetch_num + 1).min(window)
    }

    /// T6.
    fn loads(&self, prefetch_num: u32) -> u32 {
        match (self.config.fetch_mode, self.config.prefetch) {
            (FetchMode::None, _) => 1,
            (_, PrefetchCount::With) => prefetch_num,
            (_, PrefetchCount::Extra) => prefetch_num + 1,
        }
    }

    /// Returns the node to evict, by T1 and T13.
    fn victim(&self, current: u32) -> Option<u32> {
        let order = |tpn: &u32| {
            let sum: u64 = self.node(*tpn).map(|entry| entry.weight).sum();
            // Counts up to 16 divide 720720, so the mean is exact.
            let mean = (sum * 720_720 / self.node(*tpn).count() as u64) as i64;
            let sign = match self.config.victim {
                NodeVictim::Min => 1,
                NodeVictim::Max => -1,
                NodeVictim::LeastRecent => 0,
            };
            (sign * mean, self.accessed[*tpn as usize])
        };
        self.nodes().into_iter().filter(|&tpn| tpn != current).min_by_key(order)
    }

    fn write_back(&self, tpn: u32) -> MapOp {
        let whole = self.per_page.min(self.pages - tpn * self.per_page) as usize;
        let op = if self.node(tpn).count() == whole { MapOp::Rewrite } else { MapOp::Update };
        op(Tpn::new(tpn))
    }

    /// T2.
    fn evict(&mut self, tpn: u32, io: &mut Vec<MapOp>) {
        match self.config.evict {
            Evicted::Page => self.evict_node(tpn, io),
            Evicted::Entry => self.evict_entry(tpn, io),
        }
    }

    fn evict_node(&mut self, tpn: u32, io: &mut Vec<MapOp>) {
        let dirty = self.node(tpn).filter(|entry| entry.dirty).count() as u64;
        if dirty > 0 {
            io.push(self.write_back(tpn));
        }
        self.evictions[0] += self.node(tpn).count() as u64;
        self.evictions[1] += dirty;
        let per_page = self.per_page;
        self.prefetches.leave(self.entries.iter().filter(|entry| entry.lpn / per_page == tpn));
        self.entries.retain(|entry| entry.lpn / per_page != tpn);
    }

    /// T11 and T12.
    fn evict_entry(&mut self, tpn: u32, io: &mut Vec<MapOp>) {
        let per_page = self.per_page;
        let in_node = |entry: &NaiveEntry| entry.lpn / per_page == tpn;
        let lowest = (0..self.entries.len())
            .filter(|&at| in_node(&self.entries[at]))
            .min_by_key(|&at| (self.entries[at].weight, self.entries[at].recency))
            .expect("no room, no entries");
        self.evictions[0] += 1;
        if self.entries[lowest].dirty {
            self.evictions[1] += 1;
            io.push(self.write_back(tpn));
            if self.config.evict == Evicted::Entry {
                let node = self.entries.iter_mut().filter(|entry| in_node(entry));
                node.for_each(|entry| entry.dirty = false);
            }
        }
        let entry = self.entries.remove(lowest);
        self.prefetches.leave([&entry]);
    }

    fn miss(&mut self, access: &Access, loads: u32, io: &mut Vec<MapOp>) {
        let lpn = access.lpn.get();
        let current = lpn / self.per_page;
        let end = self.pages.min((current + 1) * self.per_page);
        let count = loads.min(end - lpn);
        if !self.fits(lpn, count) {
            while let Some(victim) = self.victim(current) {
                self.evict(victim, io);
                let enough = if self.config.evict_until_fit { count } else { 1 };
                if self.fits(lpn, enough) {
                    break;
                }
            }
        }
        while !self.fits(lpn, 1) {
            self.evict_entry(current, io);
        }
        let count = (1..=count).rev().find(|&count| self.fits(lpn, count));
        let count = count.expect("one entry fits");
        io.push(MapOp::Fetch(Tpn::new(current)));
        let dirty = access.kind != AccessKind::Read;
        for at in lpn..lpn + count {
            if self.find(at).is_none() {
                let recency = (self.now, self.pages - at);
                let weight = u64::from(at == lpn);
                let (dirty, prefetched) = (dirty && at == lpn, at != lpn);
                self.entries.push(NaiveEntry { lpn: at, dirty, weight, recency, prefetched });
                self.prefetches.load(prefetched);
            }
        }
    }

    fn access(&mut self, access: &Access) -> Vec<MapOp> {
        let lpn = access.lpn.get();
        let mut io = vec![];
        self.now += 1;
        self.accessed[(access.lpn.get() / self.per_page) as usize] = self.now;
        let trim = access.kind == AccessKind::Trim;
        let prefetch_num = if trim { self.prefetch_num } else { self.equation(access) };
        match self.find(lpn) {
            Some(at) => {
                self.hits += 1;
                self.prefetches.ask(&mut self.entries[at]);
                self.entries[at].weight += 1;
                self.entries[at].recency = (self.now, self.pages);
                self.entries[at].dirty |= access.kind != AccessKind::Read;
            }
            None => {
                self.misses += 1;
                self.miss(access, if trim { 1 } else { self.loads(prefetch_num) }, &mut io);
                self.prefetch_num = prefetch_num;
            }
        }
        if !trim {
            self.accesses.push(lpn);
        }
        io
    }

    fn relocated(&mut self, moved: &[u32]) -> Vec<MapOp> {
        let mut io = vec![];
        for &lpn in moved {
            match self.find(lpn) {
                Some(at) => self.entries[at].dirty = true,
                None => io.push(MapOp::Update(Tpn::new(lpn / self.per_page))),
            }
        }
        io.dedup();
        io
    }

    fn reset_counters(&mut self) {
        (self.hits, self.misses, self.evictions) = (0, 0, [0, 0]);
        self.prefetches.reset_counters(&mut self.entries);
    }

    fn flush(&mut self) -> Vec<MapOp> {
        let dirty = |tpn: &u32| self.node(*tpn).any(|entry| entry.dirty);
        let io = self.nodes().into_iter().filter(dirty).map(|tpn| self.write_back(tpn)).collect();
        self.entries.iter_mut().for_each(|entry| entry.dirty = false);
        io
    }
}

fn compare(map: &MapConfig, seed: u64, steps: u32) {
    let (mut ours, mut naive) = (Tlllp::new(map), NaiveTlllp::new(map));
    let mut source = Steps::new(seed, naive.pages);
    for number in 0..steps {
        if number == steps / 3 {
            ours.reset_counters();
            naive.reset_counters();
        }
        let step = source.next();
        let expected = match &step {
            Step::Access(access) => naive.access(access),
            Step::Relocated(moved) => naive.relocated(moved),
            Step::Flush => naive.flush(),
        };
        let io = step.take(&mut ours);
        assert_eq!(io, expected, "step {number}: {step:?}, {map:?}");
        assert_eq!(ours.memory_bytes(), naive.bytes());
        if number % 512 == 0 {
            ours.check();
            same_content(&ours, &naive.entries, naive.pages);
            naive.accesses.drain(..naive.accesses.len().saturating_sub(2000));
        }
    }
    let stats = ours.counters().map;
    assert_eq!((stats.hits, stats.misses), (naive.hits, naive.misses));
    naive.prefetches.same(&stats);
    assert_eq!([stats.evictions, stats.dirty_evictions], naive.evictions);
    assert!(stats.dirty_evictions > 0, "{stats:?}");
}

/// Returns all 144 combinations.
pub fn options() -> impl Iterator<Item = TlllpConfig> {
    let modes = [FetchMode::Run, FetchMode::Prev, FetchMode::None];
    let victims = [NodeVictim::Min, NodeVictim::Max, NodeVictim::LeastRecent];
    (0..144).map(move |number: usize| TlllpConfig {
        fetch_mode: modes[number % 3],
        victim: victims[number / 3 % 3],
        rule2_first: (number / 9) & 1 != 0,
        evict_until_fit: (number / 9) & 2 != 0,
        prefetch: [PrefetchCount::With, PrefetchCount::Extra][number / 36 % 2],
        evict: [Evicted::Page, Evicted::Entry][number / 72],
        ..TlllpConfig::default()
    })
}

fn map_config(tlllp: TlllpConfig, cache_bytes: u64) -> MapConfig {
    let shape = Shape { logical_pages: 601, units: 200, ..SERIAL };
    let rig = Rig::new(shape, "tlllp", "greedy");
    MapConfig { tlllp, ..MapConfig::new(rig.geometry(), cache_bytes) }
}

#[test]
fn every_option_asks_for_the_flash_work_of_the_text() {
    for (seed, tlllp) in options().enumerate() {
        compare(&map_config(tlllp, 800), seed as u64, 16_000);
    }
}

#[test]
fn tiny_and_uneven_caches_ask_for_the_flash_work_of_the_text() {
    for (seed, tlllp) in options().enumerate() {
        for cache_bytes in [0, 16, 24, 33, 57, 100, 199] {
            for bytes_per_entry in [6, 8] {
                let tlllp = TlllpConfig { bytes_per_entry, ..tlllp };
                compare(&map_config(tlllp, cache_bytes), seed as u64, 800);
            }
        }
    }
}

/// With one entry in a translation page there is nothing to prefetch, and a node is an entry.
#[test]
fn nodes_of_one_entry_are_least_frequently_used_entries() {
    let shape = Shape { page_bytes: 4, logical_pages: 300, units: 200, ..SERIAL };
    let map = MapConfig::new(Rig::new(shape, "tlllp", "greedy").geometry(), 40 * 16);
    let mut ours = Tlllp::new(&map);
    // Page, accesses, last access, dirty.
    let mut lfu: Vec<(u32, u64, u32, bool)> = vec![];
    let mut source = Steps::new(7, 300);
    for now in 0..50_000 {
        let step = source.next();
        let Step::Access(access) = &step else { continue };
        let (lpn, dirty) = (access.lpn.get(), access.kind != AccessKind::Read);
        let mut expected = vec![];
        match lfu.iter_mut().find(|entry| entry.0 == lpn) {
            Some(entry) => *entry = (lpn, entry.1 + 1, now, entry.3 || dirty),
            None => {
                if lfu.len() == 40 {
                    let least = (0..40).min_by_key(|&at| (lfu[at].1, lfu[at].2)).unwrap();
                    let (victim, .., dirty) = lfu.remove(least);
                    expected.extend(dirty.then_some(MapOp::Rewrite(Tpn::new(victim))));
                }
                expected.push(MapOp::Fetch(Tpn::new(lpn)));
                lfu.push((lpn, 1, now, dirty));
            }
        }
        assert_eq!(step.take(&mut ours), expected);
    }
    assert_eq!(ours.counters().map.prefetched, 0);
}
