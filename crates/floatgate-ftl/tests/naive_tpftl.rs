//! Compares TPFTL with its description, implemented with scans only: every step of long random
//! sequences must cause the same flash work, in the same order, with every option. With all options
//! off and pages of one entry, TPFTL must equal DFTL with LRU.

use crate::common::steps::{NaiveEntry, Prefetches, Step, Steps, same_content};
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
    pages: u32,
    per_page: u32,
    budget: u64,
    entries: Vec<NaiveEntry>,
    /// Time of the last access to each translation page.
    accessed: Vec<u64>,
    now: u64,
    /// Nodes added minus nodes removed since the last switch of selective prefetch, and its current
    /// state.
    change: i64,
    selective: bool,
    hits: u64,
    misses: u64,
    prefetches: Prefetches,
    evictions: [u64; 2],
}

impl NaiveTpftl {
    fn new(map: &MapConfig) -> Self {
        let config = map.tpftl;
        let least = config.bytes_per_entry + config.bytes_per_node;
        Self {
            config,
            pages: map.geometry.logical_pages(),
            per_page: map.geometry.entries_per_page(),
            budget: map.cache_bytes.max(least.into()),
            entries: vec![],
            accessed: vec![0; map.geometry.translation_pages() as usize],
            now: 0,
            change: 0,
            selective: false,
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

    /// Returns the bytes of these entries and their nodes.
    fn bytes_of(&self, lpns: impl Iterator<Item = u32>) -> u64 {
        let (mut nodes, mut entries) = (vec![], 0);
        for lpn in lpns {
            nodes.push(lpn / self.per_page);
            entries += u64::from(self.config.bytes_per_entry);
        }
        nodes.sort_unstable();
        nodes.dedup();
        entries + nodes.len() as u64 * u64::from(self.config.bytes_per_node)
    }

    /// Returns whether `lpn..lpn + count` could be cached without the entries of `without`.
    fn fits(&self, lpn: u32, count: u32, without: Option<u32>) -> bool {
        let stays = |&lpn: &u32| Some(lpn / self.per_page) != without;
        let cached = self.entries.iter().map(|entry| entry.lpn).filter(stays);
        let new = (lpn..lpn + count).filter(|&lpn| self.find(lpn).is_none());
        self.bytes_of(cached.chain(new)) <= self.budget
    }

    fn coldest(&self, current: u32) -> Option<u32> {
        let order = |tpn: &u32| {
            // Counts up to 16 divide 720720, so the mean is exact.
            let sum: u64 = self.node(*tpn).map(|entry| entry.weight).sum();
            let mean = sum * 720_720 / self.node(*tpn).count() as u64;
            (mean, self.accessed[*tpn as usize])
        };
        self.nodes().into_iter().filter(|&tpn| tpn != current).min_by_key(order)
    }

    fn count_node(&mut self, change: i64) {
        self.change += change;
        let threshold = i64::from(self.config.selective_threshold);
        if self.change.abs() >= threshold {
            self.selective = self.change < 0;
            self.change = 0;
        }
    }

    fn clean(&mut self, tpn: u32) {
        let per_page = self.per_page;
        let node = self.entries.iter_mut().filter(|entry| entry.lpn / per_page == tpn);
        node.for_each(|entry| entry.dirty = false);
    }

    fn evict_one(&mut self, tpn: u32, io: &mut Vec<MapOp>) {
        let order = |entry: &NaiveEntry| (self.config.clean_first && entry.dirty, entry.recency);
        let victim = *self.node(tpn).min_by_key(|entry| order(entry)).expect("a node has entries");
        self.evictions[0] += 1;
        if victim.dirty {
            self.evictions[1] += 1;
            io.push(MapOp::Update(Tpn::new(tpn)));
            if self.config.batch_update {
                self.clean(tpn);
            }
        }
        self.prefetches.leave([&victim]);
        self.entries.retain(|entry| entry.lpn != victim.lpn);
        if self.node(tpn).next().is_none() {
            self.count_node(-1);
        }
    }

    fn length(&mut self, access: &Access) -> u32 {
        let lpn = access.lpn.get();
        let end = self.pages.min((lpn / self.per_page + 1) * self.per_page);
        let mut length = 1;
        if access.kind == AccessKind::Trim {
            return 1;
        }
        if self.config.request_prefetch {
            length = access.remaining;
        }
        if self.config.selective_prefetch && self.selective {
            self.selective = false;
            let row = (1..=lpn).take_while(|back| self.find(lpn - back).is_some()).count() as u32;
            length = length.max(row + 1);
        }
        length.min(end - lpn)
    }

    fn miss(&mut self, access: &Access, io: &mut Vec<MapOp>) {
        let lpn = access.lpn.get();
        let current = lpn / self.per_page;
        let mut count = self.length(access);
        let coldest = self.coldest(current);
        if !self.fits(lpn, count, None) {
            match coldest {
                None if self.fits(lpn, 1, None) => {}
                None => self.evict_one(current, io),
                Some(_) => {}
            }
            // This count would fit if the whole coldest node were evicted.
            while count > 1 && !self.fits(lpn, count, coldest) {
                count -= 1;
            }
            while !self.fits(lpn, count, None) {
                self.evict_one(coldest.expect("the room is its"), io);
            }
        }
        io.push(MapOp::Fetch(Tpn::new(current)));
        let is_new = self.node(current).next().is_none();
        let dirty = access.kind != AccessKind::Read;
        for at in (lpn..lpn + count).rev() {
            if self.find(at).is_none() {
                let (recency, weight) = ((self.now, self.pages - at), self.now);
                let (dirty, prefetched) = (dirty && at == lpn, at != lpn);
                self.entries.push(NaiveEntry { lpn: at, dirty, weight, recency, prefetched });
                self.prefetches.load(prefetched);
            }
        }
        if is_new {
            self.count_node(1);
        }
    }

    fn access(&mut self, access: &Access) -> Vec<MapOp> {
        let mut io = vec![];
        self.now += 1;
        self.accessed[(access.lpn.get() / self.per_page) as usize] = self.now;
        match self.find(access.lpn.get()) {
            Some(at) => {
                self.hits += 1;
                self.prefetches.ask(&mut self.entries[at]);
                self.entries[at].weight = self.now;
                self.entries[at].recency = (self.now, self.pages);
                self.entries[at].dirty |= access.kind != AccessKind::Read;
            }
            None => {
                self.misses += 1;
                self.miss(access, &mut io);
            }
        }
        io
    }

    fn relocated(&mut self, moved: &[u32]) -> Vec<MapOp> {
        let (mut io, per_page) = (vec![], self.per_page);
        for page in moved.chunk_by(|a, b| a / per_page == b / per_page) {
            let (cached, uncached): (Vec<u32>, Vec<u32>) =
                page.iter().partition(|&&lpn| self.find(lpn).is_some());
            for at in cached.iter().filter_map(|&lpn| self.find(lpn)).collect::<Vec<_>>() {
                self.entries[at].dirty = true;
            }
            if !uncached.is_empty() {
                let tpn = page[0] / per_page;
                io.push(MapOp::Update(Tpn::new(tpn)));
                if self.config.batch_update {
                    self.clean(tpn);
                }
            }
        }
        io
    }

    fn reset_counters(&mut self) {
        (self.hits, self.misses, self.evictions) = (0, 0, [0, 0]);
        self.prefetches.reset_counters(&mut self.entries);
    }

    fn flush(&mut self) -> Vec<MapOp> {
        let dirty = |tpn: &u32| self.node(*tpn).any(|entry| entry.dirty);
        let pages = self.nodes().into_iter().filter(dirty);
        let io = pages.map(|tpn| MapOp::Update(Tpn::new(tpn))).collect();
        self.entries.iter_mut().for_each(|entry| entry.dirty = false);
        io
    }
}

fn compare(map: &MapConfig, seed: u64, steps: u32) {
    let (mut ours, mut naive) = (Tpftl::new(map), NaiveTpftl::new(map));
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
        let cached = naive.entries.iter().map(|entry| entry.lpn);
        assert_eq!(ours.memory_bytes(), naive.bytes_of(cached));
        if number % 512 == 0 {
            ours.check();
            same_content(&ours, &naive.entries, naive.pages);
        }
    }
    let stats = ours.counters().map;
    assert_eq!((stats.hits, stats.misses), (naive.hits, naive.misses));
    naive.prefetches.same(&stats);
    assert_eq!([stats.evictions, stats.dirty_evictions], naive.evictions);
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
