//! Random steps of a mapping: accesses of requests with every kind of locality, cleaning, and
//! flushes.

use std::collections::VecDeque;

use floatgate_ftl::addr::{Lpn, Ppn};
use floatgate_ftl::mapping::{Access, AccessKind, MapOp, MapStats, Mapping, Residency};
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
    pub loaded: u64,
    /// Accessed while they were cached.
    pub used: u64,
    /// Dropped without an access.
    pub unused: u64,
}

impl Prefetches {
    pub fn load(&mut self, prefetched: bool) {
        self.loaded += u64::from(prefetched);
    }

    /// Records a host access to an entry.
    pub fn ask(&mut self, entry: &mut NaiveEntry) {
        self.used += u64::from(std::mem::take(&mut entry.prefetched));
    }

    /// Records that entries leave the cache, for any reason.
    pub fn leave<'a>(&mut self, entries: impl IntoIterator<Item = &'a NaiveEntry>) {
        let wasted = entries.into_iter().filter(|entry| entry.prefetched);
        self.unused += wasted.count() as u64;
    }

    /// Resets the counts. Entries that are already cached no longer count as prefetched.
    pub fn reset_counters(&mut self, entries: &mut [NaiveEntry]) {
        entries.iter_mut().for_each(|entry| entry.prefetched = false);
        *self = Self::default();
    }

    /// Asserts that a mapping has the same counts.
    pub fn same(&self, stats: &MapStats) {
        let MapStats { prefetched, prefetch_used, prefetch_unused, .. } = *stats;
        let counted = Self { loaded: prefetched, used: prefetch_used, unused: prefetch_unused };
        assert_eq!(counted, *self);
    }
}

/// Asserts that two caches have the same content.
pub fn same_content(map: &impl Mapping, naive: &[NaiveEntry], pages: u32) {
    for lpn in 0..pages {
        let expected = match naive.iter().find(|entry| entry.lpn == lpn) {
            None => Residency::Absent,
            Some(entry) if entry.dirty => Residency::Dirty,
            Some(_) => Residency::Clean,
        };
        assert_eq!(map.residency(Lpn::new(lpn)), expected, "entry {lpn}");
    }
}
