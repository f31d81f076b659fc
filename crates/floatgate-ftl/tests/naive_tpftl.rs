//! Compares TPFTL with its description, implemented with scans only: every step of long random
//! sequences must cause the same flash work, in the same order, with every option. With all options
//! off and pages of one entry, TPFTL must equal DFTL with LRU.

use crate::common::steps::{self, NaiveCache, NaiveEntry, NaiveNodes, Steps};
use crate::common::{Rig, SERIAL};
use floatgate_ftl::addr::Tpn;
use floatgate_ftl::geometry::Shape;
use floatgate_ftl::mapping::{
    Access, AccessKind, Dftl, DftlConfig, MapConfig, MapOp, Replacement, Tpftl, TpftlConfig,
};
use floatgate_ftl::policy::Policy;

/// The algorithm (docs/algorithms.md, 2.11): one list of entries, everything else recomputed.
struct NaiveTpftl {
    config: TpftlConfig,
    cache: NaiveNodes,
    /// Nodes added minus nodes removed since the last switch of selective prefetch, and its current
    /// state.
    change: i64,
    selective: bool,
}

impl NaiveTpftl {
    fn new(map: &MapConfig) -> Self {
        let config = map.tpftl;
        let cache = NaiveNodes::new(map, config.bytes_per_entry, config.bytes_per_node);
        Self { config, cache, change: 0, selective: false }
    }

    fn coldest(&self, current: u32) -> Option<u32> {
        let order = |tpn: &u32| (self.cache.mean(*tpn), self.cache.accessed[*tpn as usize]);
        self.cache.nodes().into_iter().filter(|&tpn| tpn != current).min_by_key(order)
    }

    fn count_node(&mut self, change: i64) {
        self.change += change;
        let threshold = i64::from(self.config.selective_threshold);
        if self.change.abs() >= threshold {
            self.selective = self.change < 0;
            self.change = 0;
        }
    }

    fn evict_one(&mut self, tpn: u32, io: &mut Vec<MapOp>) {
        let order = |entry: &NaiveEntry| (self.config.clean_first && entry.dirty, entry.recency);
        let victim = self.cache.node(tpn).min_by_key(|entry| order(entry));
        let victim = *victim.expect("a node has entries");
        self.cache.evictions[0] += 1;
        if victim.dirty {
            self.cache.evictions[1] += 1;
            io.push(MapOp::Update(Tpn::new(tpn)));
            if self.config.batch_update {
                self.cache.clean(tpn);
            }
        }
        self.cache.prefetches.leave([&victim]);
        self.cache.entries.retain(|entry| entry.lpn != victim.lpn);
        if self.cache.node(tpn).next().is_none() {
            self.count_node(-1);
        }
    }

    fn length(&mut self, access: &Access) -> u32 {
        let lpn = access.lpn.get();
        let NaiveNodes { pages, per_page, .. } = self.cache;
        let end = pages.min((lpn / per_page + 1) * per_page);
        let mut length = 1;
        if access.kind == AccessKind::Trim {
            return 1;
        }
        if self.config.request_prefetch {
            length = access.remaining;
        }
        if self.config.selective_prefetch && self.selective {
            self.selective = false;
            let is_cached = |back: &u32| self.cache.find(lpn - back).is_some();
            let row = (1..=lpn).take_while(is_cached).count() as u32;
            length = length.max(row + 1);
        }
        length.min(end - lpn)
    }

    fn miss(&mut self, access: &Access, io: &mut Vec<MapOp>) {
        let lpn = access.lpn.get();
        let current = lpn / self.cache.per_page;
        let mut count = self.length(access);
        let coldest = self.coldest(current);
        if !self.cache.fits(lpn, count, None) {
            match coldest {
                None if self.cache.fits(lpn, 1, None) => {}
                None => self.evict_one(current, io),
                Some(_) => {}
            }
            // This count would fit if the whole coldest node were evicted.
            while count > 1 && !self.cache.fits(lpn, count, coldest) {
                count -= 1;
            }
            while !self.cache.fits(lpn, count, None) {
                self.evict_one(coldest.expect("the room is its"), io);
            }
        }
        io.push(MapOp::Fetch(Tpn::new(current)));
        let is_new = self.cache.node(current).next().is_none();
        let now = self.cache.now;
        (lpn..lpn + count).rev().for_each(|at| self.cache.load(access, at, now));
        if is_new {
            self.count_node(1);
        }
    }
}

impl NaiveCache for NaiveTpftl {
    fn access(&mut self, access: &Access) -> Vec<MapOp> {
        let (mut io, now) = (vec![], self.cache.now + 1);
        match self.cache.reach(access) {
            Some(entry) => entry.weight = now,
            None => self.miss(access, &mut io),
        }
        io
    }

    fn relocated(&mut self, moved: &[u32]) -> Vec<MapOp> {
        self.cache.relocated(moved, self.config.batch_update)
    }

    fn flush(&mut self) -> Vec<MapOp> {
        let pages = self.cache.clean_all().into_iter();
        pages.map(|tpn| MapOp::Update(Tpn::new(tpn))).collect()
    }

    fn nodes(&mut self) -> &mut NaiveNodes {
        &mut self.cache
    }
}

fn compare(map: &MapConfig, seed: u64, steps: u32) {
    let stats = steps::compare(map, (Tpftl::new(map), NaiveTpftl::new(map)), seed, steps);
    assert!(stats.evictions > 0, "{stats:?}");
}

fn options() -> impl Iterator<Item = TpftlConfig> {
    (0..16).map(|bits| TpftlConfig {
        request_prefetch: bits & 1 != 0,
        selective_prefetch: bits & 2 != 0,
        clean_first: bits & 4 != 0,
        batch_update: bits & 8 != 0,
        ..TpftlConfig::default()
    })
}

fn map_config(shape: Shape, tpftl: TpftlConfig, cache_bytes: u64) -> MapConfig {
    let geometry = Rig::new(Shape { units: 200, ..shape }, "tpftl", "greedy").geometry();
    MapConfig { tpftl, ..MapConfig::new(geometry, cache_bytes) }
}

#[test]
fn every_option_asks_for_the_flash_work_of_the_description() {
    let shape = Shape { logical_pages: 601, ..SERIAL };
    for (seed, tpftl) in options().enumerate() {
        compare(&map_config(shape, tpftl, 600), seed as u64, 100_000);
    }
}

#[test]
fn tiny_and_uneven_caches_ask_for_the_flash_work_of_the_description() {
    let shape = Shape { logical_pages: 601, ..SERIAL };
    for (seed, tpftl) in options().enumerate() {
        for cache_bytes in [0, 14, 20, 33, 57, 100, 199] {
            for selective_threshold in [1, 3] {
                let tpftl = TpftlConfig { selective_threshold, ..tpftl };
                compare(&map_config(shape, tpftl, cache_bytes), seed as u64, 5_000);
            }
        }
    }
}

#[test]
fn with_everything_off_and_pages_of_one_entry_it_is_lru_dftl() {
    let shape = Shape { page_bytes: 4, logical_pages: 300, ..SERIAL };
    let tpftl = options().next().unwrap();
    for entries in [1, 2, 7, 40] {
        let map = map_config(shape, tpftl, entries * 14);
        let (replacement, entry_bytes) = (Replacement::Lru, 14);
        let dftl = DftlConfig { replacement, entry_bytes, ..DftlConfig::default() };
        let (mut ours, mut dftl) = (Tpftl::new(&map), Dftl::new(&MapConfig { dftl, ..map }));
        let mut source = Steps::new(entries, 300);
        for number in 0..30_000 {
            let step = source.next();
            assert_eq!(step.take(&mut ours), step.take(&mut dftl), "step {number}: {step:?}");
        }
        assert_eq!(ours.counters().map, dftl.counters().map);
    }
}
