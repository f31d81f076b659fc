//! Compares TLLLP with its text, implemented with scans only: every step of long random sequences
//! must cause the same flash work, in the same order, with every option.

use crate::common::steps::{self, NaiveCache, NaiveEntry, NaiveNodes, Step, Steps};
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
    cache: NaiveNodes,
    /// The last pages read or written.
    accesses: Vec<u32>,
    /// `prefetch_num` of the last miss of the stream.
    prefetch_num: u32,
}

impl NaiveTlllp {
    fn new(map: &MapConfig) -> Self {
        let config = map.tlllp;
        let cache = NaiveNodes::new(map, config.bytes_per_entry, config.bytes_per_node);
        Self { config, cache, accesses: vec![], prefetch_num: 0 }
    }

    /// Equation 1.
    fn equation(&mut self, access: &Access) -> u32 {
        let lpn = access.lpn.get();
        let past = self.accesses.iter().rev().zip(1..=lpn);
        let earlier = past.take_while(|&(&before, back)| before == lpn - back).count() as u32;
        let page = |lpn: u32| lpn / self.cache.per_page;
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
            let sign = match self.config.victim {
                NodeVictim::Min => 1,
                NodeVictim::Max => -1,
                NodeVictim::LeastRecent => 0,
            };
            (sign * self.cache.mean(*tpn) as i64, self.cache.accessed[*tpn as usize])
        };
        self.cache.nodes().into_iter().filter(|&tpn| tpn != current).min_by_key(order)
    }

    fn write_back(&self, tpn: u32) -> MapOp {
        let NaiveNodes { pages, per_page, .. } = self.cache;
        let whole = per_page.min(pages - tpn * per_page) as usize;
        let is_whole = self.cache.node(tpn).count() == whole;
        (if is_whole { MapOp::Rewrite } else { MapOp::Update })(Tpn::new(tpn))
    }

    /// T2.
    fn evict(&mut self, tpn: u32, io: &mut Vec<MapOp>) {
        match self.config.evict {
            Evicted::Page => self.evict_node(tpn, io),
            Evicted::Entry => self.evict_entry(tpn, io),
        }
    }

    fn evict_node(&mut self, tpn: u32, io: &mut Vec<MapOp>) {
        let dirty = self.cache.node(tpn).filter(|entry| entry.dirty).count() as u64;
        if dirty > 0 {
            io.push(self.write_back(tpn));
        }
        let NaiveNodes { entries, per_page, prefetches, evictions, .. } = &mut self.cache;
        let left = entries.extract_if(.., |entry| entry.lpn / *per_page == tpn);
        let left: Vec<NaiveEntry> = left.collect();
        evictions[0] += left.len() as u64;
        evictions[1] += dirty;
        prefetches.leave(&left);
    }

    /// T11 and T12.
    fn evict_entry(&mut self, tpn: u32, io: &mut Vec<MapOp>) {
        let lowest = self.cache.node(tpn).min_by_key(|entry| (entry.weight, entry.recency));
        let lowest = *lowest.expect("no room, no entries");
        self.cache.evictions[0] += 1;
        if lowest.dirty {
            self.cache.evictions[1] += 1;
            io.push(self.write_back(tpn));
            if self.config.evict == Evicted::Entry {
                self.cache.clean(tpn);
            }
        }
        self.cache.entries.retain(|entry| entry.lpn != lowest.lpn);
        self.cache.prefetches.leave([&lowest]);
    }

    fn miss(&mut self, access: &Access, loads: u32, io: &mut Vec<MapOp>) {
        let lpn = access.lpn.get();
        let current = lpn / self.cache.per_page;
        let end = self.cache.pages.min((current + 1) * self.cache.per_page);
        let count = loads.min(end - lpn);
        if !self.cache.fits(lpn, count, None) {
            while let Some(victim) = self.victim(current) {
                self.evict(victim, io);
                let enough = if self.config.evict_until_fit { count } else { 1 };
                if self.cache.fits(lpn, enough, None) {
                    break;
                }
            }
        }
        while !self.cache.fits(lpn, 1, None) {
            self.evict_entry(current, io);
        }
        let count = (1..=count).rev().find(|&count| self.cache.fits(lpn, count, None));
        let count = count.expect("one entry fits");
        io.push(MapOp::Fetch(Tpn::new(current)));
        (lpn..lpn + count).for_each(|at| self.cache.load(access, at, u64::from(at == lpn)));
    }
}

impl NaiveCache for NaiveTlllp {
    fn access(&mut self, access: &Access) -> Vec<MapOp> {
        let mut io = vec![];
        let trim = access.kind == AccessKind::Trim;
        let prefetch_num = if trim { self.prefetch_num } else { self.equation(access) };
        match self.cache.reach(access) {
            Some(entry) => entry.weight += 1,
            None => {
                self.miss(access, if trim { 1 } else { self.loads(prefetch_num) }, &mut io);
                self.prefetch_num = prefetch_num;
            }
        }
        if !trim {
            self.accesses.push(access.lpn.get());
            // No stream is longer than the drive.
            self.accesses.drain(..self.accesses.len().saturating_sub(2000));
        }
        io
    }

    fn relocated(&mut self, moved: &[u32]) -> Vec<MapOp> {
        self.cache.relocated(moved, false)
    }

    fn flush(&mut self) -> Vec<MapOp> {
        self.cache.clean_all().into_iter().map(|tpn| self.write_back(tpn)).collect()
    }

    fn nodes(&mut self) -> &mut NaiveNodes {
        &mut self.cache
    }
}

fn compare(map: &MapConfig, seed: u64, steps: u32) {
    let stats = steps::compare(map, (Tlllp::new(map), NaiveTlllp::new(map)), seed, steps);
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
