//! Random steps of a mapping: accesses of requests with every kind of locality, cleaning, and
//! flushes.

use std::collections::VecDeque;

use floatgate_ftl::addr::{Lpn, Ppn, Tpn};
use floatgate_ftl::mapping::{Access, AccessKind, MapConfig, MapOp, MapStats, Mapping, Residency};
use floatgate_ftl::rng::Rng;

#[derive(Clone, Debug)]
pub enum Step {
    Access(Access),
    /// Pages that cleaning moved, in ascending order.
    Relocated(Vec<u32>),
    Flush,
}

impl Step {
    /// Applies a step to a mapping. Returns the flash work.
    pub fn take(&self, map: &mut impl Mapping) -> Vec<MapOp> {
        let mut io = vec![];
        match self {
            Self::Access(access) => map.access(*access, &mut io),
            Self::Relocated(moved) => {
                let places = moved.iter().map(|&lpn| (Lpn::new(lpn), Ppn::new(lpn)));
                map.relocated(&places.collect::<Vec<_>>(), &mut io);
            }
            Self::Flush => map.flush(&mut io),
        }
        io
    }
}

/// Endless sequence of steps on the first `pages` pages.
pub struct Steps {
    rng: Rng,
    pages: u32,
    /// Next page of a sequential stream.
    stream: u32,
    waiting: VecDeque<Access>,
}

impl Steps {
    pub fn new(seed: u64, pages: u32) -> Self {
        Self { rng: Rng::new(seed), pages, stream: 0, waiting: VecDeque::new() }
    }

    fn below(&mut self, n: u32) -> u32 {
        self.rng.below(u64::from(n)) as u32
    }

    /// Returns a hot page, a cold page, or the next page of the stream.
    fn start(&mut self) -> u32 {
        match self.below(4) {
            0 => self.below(self.pages / 16),
            1 => self.below(self.pages),
            _ => self.stream % self.pages,
        }
    }

    fn request(&mut self) {
        let start = self.start();
        let length = [1, 1, 2, 4, 8, 40][self.below(6) as usize];
        let end = self.pages.min(start + 1 + self.below(length));
        let kind = [AccessKind::Read, AccessKind::Write][self.below(2) as usize];
        let trim = self.below(16) == 0;
        self.stream = end;
        for lpn in start..end {
            let kind = if trim { AccessKind::Trim } else { kind };
            let remaining = if trim { 1 } else { end - lpn };
            let (first, lpn) = (trim || lpn == start, Lpn::new(lpn));
            let access = Access { lpn, kind, remaining, first, mapped: true };
            self.waiting.push_back(access);
        }
    }

    pub fn next(&mut self) -> Step {
        match self.below(200) {
            0 => return Step::Flush,
            1..8 => {
                let near = self.start();
                let count = 1 + self.below(6);
                let mut moved: Vec<u32> =
                    (0..count).map(|_| (near + self.below(40)) % self.pages).collect();
                moved.sort_unstable();
                moved.dedup();
                return Step::Relocated(moved);
            }
            _ => {}
        }
        while self.waiting.is_empty() {
            self.request();
        }
        Step::Access(self.waiting.pop_front().expect("a request has pages"))
    }
}

/// Entry of a naive cache.
#[derive(Clone, Copy, Debug)]
pub struct NaiveEntry {
    pub lpn: u32,
    pub dirty: bool,
    /// `visited_num`, or the time of the last access.
    pub weight: u64,
    /// Time of the last access or load. Among the entries of one miss, farther pages come before
    /// nearer pages.
    pub recency: (u64, u32),
    /// Whether the entry was prefetched and not accessed since.
    pub prefetched: bool,
}

/// Counts of prefetched entries.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Prefetches {
    loaded: u64,
    /// Accessed while they were cached.
    used: u64,
    /// Dropped without an access.
    unused: u64,
}

impl Prefetches {
    fn load(&mut self, prefetched: bool) {
        self.loaded += u64::from(prefetched);
    }

    /// Records a host access to an entry.
    fn ask(&mut self, entry: &mut NaiveEntry) {
        self.used += u64::from(std::mem::take(&mut entry.prefetched));
    }

    /// Records that entries leave the cache, for any reason.
    pub fn leave<'a>(&mut self, entries: impl IntoIterator<Item = &'a NaiveEntry>) {
        let wasted = entries.into_iter().filter(|entry| entry.prefetched);
        self.unused += wasted.count() as u64;
    }

    /// Resets the counts. Entries that are already cached no longer count as prefetched.
    fn reset_counters(&mut self, entries: &mut [NaiveEntry]) {
        entries.iter_mut().for_each(|entry| entry.prefetched = false);
        *self = Self::default();
    }

    /// Asserts that a mapping has the same counts.
    fn same(&self, stats: &MapStats) {
        let MapStats { prefetched, prefetch_used, prefetch_unused, .. } = *stats;
        let counted = Self { loaded: prefetched, used: prefetch_used, unused: prefetch_unused };
        assert_eq!(counted, *self);
    }
}

/// Entries of a cache of two levels, a node for each translation page, as one list that is
/// searched.
pub struct NaiveNodes {
    pub entries: Vec<NaiveEntry>,
    pub pages: u32,
    pub per_page: u32,
    budget: u64,
    entry_bytes: u64,
    node_bytes: u64,
    /// Time of the last access to each translation page.
    pub accessed: Vec<u64>,
    pub now: u64,
    pub hits: u64,
    pub misses: u64,
    pub prefetches: Prefetches,
    /// Evictions, and evictions of dirty entries.
    pub evictions: [u64; 2],
}

impl NaiveNodes {
    pub fn new(map: &MapConfig, entry_bytes: u32, node_bytes: u32) -> Self {
        Self {
            entries: vec![],
            pages: map.geometry.logical_pages(),
            per_page: map.geometry.entries_per_page(),
            budget: map.cache_bytes.max((entry_bytes + node_bytes).into()),
            entry_bytes: entry_bytes.into(),
            node_bytes: node_bytes.into(),
            accessed: vec![0; map.geometry.translation_pages() as usize],
            now: 0,
            hits: 0,
            misses: 0,
            prefetches: Prefetches::default(),
            evictions: [0, 0],
        }
    }

    pub fn find(&self, lpn: u32) -> Option<usize> {
        self.entries.iter().position(|entry| entry.lpn == lpn)
    }

    pub fn node(&self, tpn: u32) -> impl Iterator<Item = &NaiveEntry> {
        self.entries.iter().filter(move |entry| entry.lpn / self.per_page == tpn)
    }

    pub fn nodes(&self) -> Vec<u32> {
        self.nodes_of(self.entries.iter().map(|entry| entry.lpn))
    }

    fn nodes_of(&self, lpns: impl Iterator<Item = u32>) -> Vec<u32> {
        let mut nodes: Vec<u32> = lpns.map(|lpn| lpn / self.per_page).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    fn bytes(&self) -> u64 {
        self.bytes_of(self.entries.iter().map(|entry| entry.lpn).collect())
    }

    /// Returns the bytes of these entries and their nodes.
    fn bytes_of(&self, lpns: Vec<u32>) -> u64 {
        let entries = lpns.len() as u64 * self.entry_bytes;
        entries + self.nodes_of(lpns.into_iter()).len() as u64 * self.node_bytes
    }

    /// Returns whether `lpn..lpn + count` could be cached without the node `without`.
    pub fn fits(&self, lpn: u32, count: u32, without: Option<u32>) -> bool {
        let stays = |&lpn: &u32| Some(lpn / self.per_page) != without;
        let cached = self.entries.iter().map(|entry| entry.lpn).filter(stays);
        let new = (lpn..lpn + count).filter(|&lpn| self.find(lpn).is_none());
        self.bytes_of(cached.chain(new).collect()) <= self.budget
    }

    /// Returns a number in proportion to the mean weight of a node's entries.
    pub fn mean(&self, tpn: u32) -> u64 {
        // Counts up to 16 divide 720720, so the mean is exact.
        let sum: u64 = self.node(tpn).map(|entry| entry.weight).sum();
        sum * 720_720 / self.node(tpn).count() as u64
    }

    /// Marks all entries of a node as clean.
    pub fn clean(&mut self, tpn: u32) {
        let per_page = self.per_page;
        let node = self.entries.iter_mut().filter(|entry| entry.lpn / per_page == tpn);
        node.for_each(|entry| entry.dirty = false);
    }

    /// Marks all entries as clean. Returns the nodes that had a dirty entry.
    pub fn clean_all(&mut self) -> Vec<u32> {
        let mut lpns = vec![];
        for entry in self.entries.iter_mut().filter(|entry| entry.dirty) {
            entry.dirty = false;
            lpns.push(entry.lpn);
        }
        self.nodes_of(lpns.into_iter())
    }

    /// Records pages that cleaning moved. With `takes_along` a rewritten page takes along the dirty
    /// entries of its node.
    pub fn relocated(&mut self, moved: &[u32], takes_along: bool) -> Vec<MapOp> {
        let (mut io, per_page) = (vec![], self.per_page);
        for page in moved.chunk_by(|a, b| a / per_page == b / per_page) {
            let cached: Vec<usize> = page.iter().filter_map(|&lpn| self.find(lpn)).collect();
            cached.iter().for_each(|&at| self.entries[at].dirty = true);
            if cached.len() < page.len() {
                let tpn = page[0] / per_page;
                io.push(MapOp::Update(Tpn::new(tpn)));
                if takes_along {
                    self.clean(tpn);
                }
            }
        }
        io
    }

    /// Begins an access. Returns the entry, if it is cached, as the one accessed last.
    pub fn reach(&mut self, access: &Access) -> Option<&mut NaiveEntry> {
        let lpn = access.lpn.get();
        self.now += 1;
        self.accessed[(lpn / self.per_page) as usize] = self.now;
        let Some(at) = self.find(lpn) else {
            self.misses += 1;
            return None;
        };
        self.hits += 1;
        self.prefetches.ask(&mut self.entries[at]);
        self.entries[at].recency = (self.now, self.pages);
        self.entries[at].dirty |= access.kind != AccessKind::Read;
        Some(&mut self.entries[at])
    }

    /// Adds an entry that a miss of `access` loads, if it is not cached.
    pub fn load(&mut self, access: &Access, lpn: u32, weight: u64) {
        if self.find(lpn).is_none() {
            let prefetched = lpn != access.lpn.get();
            let dirty = access.kind != AccessKind::Read && !prefetched;
            let recency = (self.now, self.pages - lpn);
            self.entries.push(NaiveEntry { lpn, dirty, weight, recency, prefetched });
            self.prefetches.load(prefetched);
        }
    }

    fn reset_counters(&mut self) {
        (self.hits, self.misses, self.evictions) = (0, 0, [0, 0]);
        self.prefetches.reset_counters(&mut self.entries);
    }
}

/// A cache of two levels, as its text describes it.
pub trait NaiveCache {
    fn access(&mut self, access: &Access) -> Vec<MapOp>;

    /// Records pages that cleaning moved.
    fn relocated(&mut self, moved: &[u32]) -> Vec<MapOp>;

    fn flush(&mut self) -> Vec<MapOp>;

    fn nodes(&mut self) -> &mut NaiveNodes;
}

/// Compares a mapping with its text after each of some random steps. Returns the counts since a
/// third of them.
pub fn compare(
    map: &MapConfig,
    (mut ours, mut naive): (impl Mapping, impl NaiveCache),
    seed: u64,
    steps: u32,
) -> MapStats {
    let pages = map.geometry.logical_pages();
    let mut source = Steps::new(seed, pages);
    for number in 0..steps {
        if number == steps / 3 {
            ours.reset_counters();
            naive.nodes().reset_counters();
        }
        let step = source.next();
        let expected = match &step {
            Step::Access(access) => naive.access(access),
            Step::Relocated(moved) => naive.relocated(moved),
            Step::Flush => naive.flush(),
        };
        assert_eq!(step.take(&mut ours), expected, "step {number}: {step:?}, {map:?}");
        assert_eq!(ours.memory_bytes(), naive.nodes().bytes());
        if number % 512 == 0 {
            ours.check();
            same_content(&ours, &naive.nodes().entries, pages);
        }
    }
    let (stats, nodes) = (ours.counters().map, naive.nodes());
    assert_eq!((stats.hits, stats.misses), (nodes.hits, nodes.misses));
    nodes.prefetches.same(&stats);
    assert_eq!([stats.evictions, stats.dirty_evictions], nodes.evictions);
    stats
}

/// Asserts that two caches have the same content.
fn same_content(map: &impl Mapping, naive: &[NaiveEntry], pages: u32) {
    for lpn in 0..pages {
        let expected = match naive.iter().find(|entry| entry.lpn == lpn) {
            None => Residency::Absent,
            Some(entry) if entry.dirty => Residency::Dirty,
            Some(_) => Residency::Clean,
        };
        assert_eq!(map.residency(Lpn::new(lpn)), expected, "entry {lpn}");
    }
}
