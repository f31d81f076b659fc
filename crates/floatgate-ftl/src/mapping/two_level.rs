//! A list of translation pages, each with the list of its cached entries. TLLLP and TPFTL keep
//! their entries in it. Not a policy.
//!
//! ```text
//! first level:  one node per translation page with cached entries, ordered by the mean weight
//!       TP7 ── TP2 ── TP5          of its entries; among equals the least recently accessed first
//!        │      │      │
//!        4      9      1
//!        2      8                  second level: entries, the least recently accessed first
//! ```
//!
//! The policy defines the weight: the number of accesses to the entry (TLLLP), or the time of its
//! last access (TPFTL). It can also order the first level by the last access alone. Means are
//! compared as fractions, exactly. Memory of the drive is counted by node and by entry. Finding an
//! entry costs a probe of a hash table, an access costs a list move, and finding the front node
//! costs a sift or two in a heap of nodes. Nothing is allocated after set-up.

mod means;

use alloc::vec;
use alloc::vec::Vec;

use super::{MapConfig, MapOp, Residency};
use crate::addr::{Lpn, Tpn};
use crate::geometry::Geometry;
use crate::intmap::IntMap;
use crate::lru::{Links, List};
pub(super) use means::First;
use means::{Mean, Means};

/// Bytes of an entry and of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Sizes {
    pub(super) entry: u64,
    pub(super) node: u64,
}

/// A cached entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) weight: u64,
    pub(super) lpn: u32,
    pub(super) dirty: bool,
    /// Whether the entry was prefetched, and has not been accessed since.
    pub(super) prefetched: bool,
}

crate::state!(blank Entry { weight, lpn, dirty, prefetched });

/// Node of a translation page.
#[derive(Clone, Copy, Debug)]
struct Node {
    entries: List,
    /// The least recently accessed clean entry.
    first_clean: Option<u32>,
    dirty: u32,
    weight: u64,
    accessed: u64,
}

crate::state!(blank Node { entries, first_clean, dirty, weight, accessed });

impl Node {
    const EMPTY: Self =
        Self { entries: List::EMPTY, first_clean: None, dirty: 0, weight: 0, accessed: 0 };
}

/// The lists, the look-up, and the memory account. Entries are identified by slot.
#[derive(Clone, Debug)]
pub(super) struct TwoLevel {
    geometry: Geometry,
    sizes: Sizes,
    budget: u64,
    slots: IntMap,
    entries: Vec<Entry>,
    links: Links,
    unused: List,
    /// Nodes by translation page number.
    nodes: Vec<Node>,
    order: Means,
    wasted: u64,
}

crate::state!(
    TwoLevel { slots, entries, links, unused, nodes, order, wasted }
    fixed { geometry, sizes, budget }
);

impl TwoLevel {
    /// Makes empty lists. A budget too small for one entry is raised to the size of one entry and
    /// its node.
    pub(super) fn new(config: &MapConfig, sizes: Sizes, first: First) -> Self {
        let budget = config.cache_bytes.max(sizes.node + sizes.entry);
        let pages = u64::from(config.geometry.logical_pages());
        let capacity = ((budget - sizes.node) / sizes.entry).min(pages) as usize;
        let nodes = config.geometry.translation_pages() as usize;
        Self {
            geometry: config.geometry,
            sizes,
            budget,
            slots: IntMap::new(capacity),
            entries: Vec::with_capacity(capacity),
            links: Links::new(capacity),
            unused: List::EMPTY,
            nodes: vec![Node::EMPTY; nodes],
            order: Means::new(nodes, first),
            wasted: 0,
        }
    }

    /// Returns the slot of an entry, if it is cached.
    #[inline(always)]
    pub(super) fn find(&self, lpn: Lpn) -> Option<u32> {
        self.slots.get(lpn.get())
    }

    /// Prefetches the cell that finds the entry of a page.
    #[inline(always)]
    pub(super) fn prefetch(&self, lpn: Lpn) {
        self.slots.prefetch(lpn.get());
    }

    /// Prefetches the entry of a page and its links, if it is cached.
    #[inline(always)]
    pub(super) fn prefetch_entry(&self, lpn: Lpn) {
        self.slots.prefetch_item(lpn.get(), &self.entries);
        if let Some(slot) = self.find(lpn) {
            self.links.prefetch(slot);
        }
    }

    /// Returns the entry in a slot.
    #[inline(always)]
    pub(super) fn entry(&self, slot: u32) -> &Entry {
        &self.entries[slot as usize]
    }

    /// Returns whether an entry is cached, and whether it is dirty.
    pub(super) fn residency(&self, lpn: Lpn) -> Residency {
        match self.find(lpn).map(|slot| self.entry(slot).dirty) {
            None => Residency::Absent,
            Some(true) => Residency::Dirty,
            Some(false) => Residency::Clean,
        }
    }

    /// Returns the slots of a translation page's entries, the least recently accessed first.
    pub(super) fn entries_of(&self, tpn: Tpn) -> impl Iterator<Item = u32> {
        self.links.iter(&self.nodes[tpn.index()].entries)
    }

    /// Returns the least recently accessed entry of a translation page.
    pub(super) fn first(&self, tpn: Tpn) -> Option<u32> {
        self.nodes[tpn.index()].entries.front()
    }

    /// Returns the least recently accessed clean entry of a translation page.
    pub(super) fn first_clean(&self, tpn: Tpn) -> Option<u32> {
        self.nodes[tpn.index()].first_clean
    }

    /// Returns the number of cached entries of a translation page.
    #[inline(always)]
    pub(super) fn cached(&self, tpn: Tpn) -> u32 {
        self.nodes[tpn.index()].entries.len()
    }

    /// Returns the number of dirty entries of a translation page.
    #[inline(always)]
    pub(super) fn dirty(&self, tpn: Tpn) -> u32 {
        self.nodes[tpn.index()].dirty
    }

    /// Returns whether all entries of a translation page are cached.
    pub(super) fn is_whole(&self, tpn: Tpn) -> bool {
        let first = Lpn::new(tpn.get() * self.geometry.entries_per_page());
        self.cached(tpn) == self.page_end(first) - first.get()
    }

    /// Returns the translation page at the front of the first level, except `except`.
    #[inline]
    pub(super) fn front(&mut self, except: Tpn) -> Option<Tpn> {
        self.order.first_except(except.get()).map(Tpn::new)
    }

    /// Returns the end of the pages whose entries are in the translation page of `lpn`.
    #[inline(always)]
    pub(super) fn page_end(&self, lpn: Lpn) -> u32 {
        let entries = self.geometry.entries_per_page();
        let end = (self.geometry.translation_page(lpn).get() + 1) * entries;
        end.min(self.geometry.logical_pages())
    }

    /// Bytes in use.
    #[inline(always)]
    pub(super) fn bytes(&self) -> u64 {
        let nodes = self.order.len() as u64 * self.sizes.node;
        nodes + self.slots.len() as u64 * self.sizes.entry
    }

    /// Bytes not in use.
    #[inline(always)]
    pub(super) fn free_bytes(&self) -> u64 {
        self.budget - self.bytes()
    }

    /// Bytes of a node and all its entries.
    pub(super) fn node_bytes(&self, tpn: Tpn) -> u64 {
        self.sizes.node + u64::from(self.cached(tpn)) * self.sizes.entry
    }

    /// Computes how many of `count` entries from `lpn` on fit into `free` bytes. The entry of `lpn`
    /// is not cached, and all `count` entries are of one translation page. Cached entries take
    /// nothing. Returns the number of entries and the bytes that they take.
    pub(super) fn fitting(&self, lpn: Lpn, count: u32, free: u64) -> (u32, u64) {
        let mut taken = match self.cached(self.geometry.translation_page(lpn)) {
            0 => self.sizes.node,
            _ => 0,
        };
        for number in 0..count {
            if number == 0 || self.slots.get(lpn.get() + number).is_none() {
                if taken + self.sizes.entry > free {
                    return (number, taken);
                }
                taken += self.sizes.entry;
            }
        }
        (count, taken)
    }

    /// Notes an access `now` to the entry in a slot. The entry gets a new weight, and is the most
    /// recent one.
    #[inline]
    pub(super) fn access(&mut self, slot: u32, weight: u64, now: u64) {
        let entry = &mut self.entries[slot as usize];
        entry.prefetched = false;
        let tpn = self.geometry.translation_page(Lpn::new(entry.lpn));
        let node = &mut self.nodes[tpn.index()];
        node.weight = node.weight - entry.weight + weight;
        node.accessed = now;
        entry.weight = weight;
        let clean = !entry.dirty;
        if node.entries.back() != Some(slot) {
            self.pass(tpn, slot);
            let node = &mut self.nodes[tpn.index()];
            self.links.remove(&mut node.entries, slot);
            self.links.push_back(&mut node.entries, slot);
            if clean {
                node.first_clean.get_or_insert(slot);
            }
        }
        self.rank(tpn);
    }

    /// Inserts an entry, loaded `now`. Returns whether its node is new.
    pub(super) fn insert(&mut self, entry: Entry, now: u64) -> bool {
        let slot = match self.unused.front() {
            Some(slot) => {
                self.links.remove(&mut self.unused, slot);
                self.entries[slot as usize] = entry;
                slot
            }
            None => {
                self.entries.push(entry);
                self.entries.len() as u32 - 1
            }
        };
        self.slots.insert(entry.lpn, slot);
        let tpn = self.geometry.translation_page(Lpn::new(entry.lpn));
        let node = &mut self.nodes[tpn.index()];
        self.links.push_back(&mut node.entries, slot);
        node.weight += entry.weight;
        node.accessed = now;
        if entry.dirty {
            node.dirty += 1;
        } else {
            node.first_clean.get_or_insert(slot);
        }
        let new = node.entries.len() == 1;
        self.rank(tpn);
        new
    }

    /// Drops an entry. Returns whether its node was dropped with it.
    pub(super) fn remove(&mut self, slot: u32) -> bool {
        let entry = self.entries[slot as usize];
        let tpn = self.geometry.translation_page(Lpn::new(entry.lpn));
        self.slots.remove(entry.lpn);
        self.wasted += u64::from(entry.prefetched);
        self.pass(tpn, slot);
        let node = &mut self.nodes[tpn.index()];
        self.links.remove(&mut node.entries, slot);
        self.links.push_front(&mut self.unused, slot);
        node.weight -= entry.weight;
        node.dirty -= u32::from(entry.dirty);
        let last = node.entries.is_empty();
        if last {
            self.order.remove(tpn.get());
        } else {
            self.rank(tpn);
        }
        last
    }

    /// Drops all entries of a translation page.
    pub(super) fn remove_node(&mut self, tpn: Tpn) {
        let node = &mut self.nodes[tpn.index()];
        while let Some(slot) = node.entries.front() {
            let entry = self.entries[slot as usize];
            self.slots.remove(entry.lpn);
            self.wasted += u64::from(entry.prefetched);
            self.links.remove(&mut node.entries, slot);
            self.links.push_front(&mut self.unused, slot);
        }
        *node = Node::EMPTY;
        self.order.remove(tpn.get());
    }

    /// Marks an entry dirty.
    #[inline]
    pub(super) fn make_dirty(&mut self, slot: u32) {
        let entry = &mut self.entries[slot as usize];
        if !entry.dirty {
            entry.dirty = true;
            let tpn = self.geometry.translation_page(Lpn::new(entry.lpn));
            self.nodes[tpn.index()].dirty += 1;
            self.pass(tpn, slot);
        }
    }

    /// If the entry in `slot` is the first clean entry of a page, makes the next clean entry the
    /// first. All entries before the first clean one are dirty, so an entry is skipped at most once
    /// between two accesses to it.
    #[inline]
    fn pass(&mut self, tpn: Tpn, slot: u32) {
        let node = &mut self.nodes[tpn.index()];
        if node.first_clean == Some(slot) {
            let mut next = self.links.next(slot);
            while let Some(entry) = next.filter(|&next| self.entries[next as usize].dirty) {
                next = self.links.next(entry);
            }
            node.first_clean = next;
        }
    }

    /// Marks all entries of a translation page clean.
    pub(super) fn clean(&mut self, tpn: Tpn) {
        let node = &mut self.nodes[tpn.index()];
        if node.dirty > 0 {
            node.dirty = 0;
            node.first_clean = node.entries.front();
            self.links.iter(&node.entries).for_each(|s| self.entries[s as usize].dirty = false);
        }
    }

    /// Marks the cached entries of these pages dirty. Returns whether some entries are not cached.
    pub(super) fn moved(&mut self, lpns: impl Iterator<Item = Lpn>) -> bool {
        let mut uncached = false;
        for lpn in lpns {
            match self.find(lpn) {
                Some(slot) => self.make_dirty(slot),
                None => uncached = true,
            }
        }
        uncached
    }

    /// Writes back every dirty entry, with one `operation` per translation page that has some.
    pub(super) fn flush(&mut self, io: &mut Vec<MapOp>, operation: impl Fn(&Self, Tpn) -> MapOp) {
        for tpn in (0..self.nodes.len() as u32).map(Tpn::new) {
            if self.dirty(tpn) > 0 {
                io.push(operation(self, tpn));
                self.clean(tpn);
            }
        }
    }

    /// Returns the number of prefetched entries that were dropped before an access.
    pub(super) fn wasted(&self) -> u64 {
        self.wasted
    }

    /// Forgets which entries were prefetched, and resets the count of wasted ones.
    pub(super) fn forget_prefetches(&mut self) {
        self.wasted = 0;
        self.entries.iter_mut().for_each(|entry| entry.prefetched = false);
    }

    /// Moves a node to the position of its mean.
    #[inline(always)]
    fn rank(&mut self, tpn: Tpn) {
        let Node { entries, weight, accessed, .. } = self.nodes[tpn.index()];
        self.order.put(tpn.get(), Mean { sum: weight, count: entries.len(), accessed });
    }

    /// Recomputes lists, sums and bytes from the entries, and asserts that they agree.
    pub(super) fn check(&self) {
        self.order.check();
        let (mut nodes, mut entries) = (0, 0);
        for (index, node) in self.nodes.iter().enumerate() {
            let (mut weight, mut dirty, mut count) = (0, 0, 0);
            for slot in self.links.iter(&node.entries) {
                let entry = self.entry(slot);
                assert_eq!(self.slots.get(entry.lpn), Some(slot), "an entry has one slot");
                assert_eq!(self.geometry.translation_page(Lpn::new(entry.lpn)).index(), index);
                weight += entry.weight;
                dirty += u32::from(entry.dirty);
                count += 1;
            }
            let clean = self.links.iter(&node.entries).find(|&slot| !self.entry(slot).dirty);
            assert_eq!(clean, node.first_clean);
            assert_eq!((weight, dirty, count), (node.weight, node.dirty, node.entries.len()));
            let mean = Mean { sum: weight, count, accessed: node.accessed };
            let expected = (count > 0).then_some(mean);
            assert!(self.order.has(index as u32, expected), "only nodes with entries stand");
            nodes += u64::from(count > 0);
            entries += u64::from(count);
        }
        assert_eq!(self.slots.len() as u64, entries, "every entry is in one node");
        let slots = entries + u64::from(self.unused.len());
        assert_eq!(self.entries.len() as u64, slots, "every slot is in one list");
        let bytes = nodes * self.sizes.node + entries * self.sizes.entry;
        assert!(self.bytes() == bytes && bytes <= self.budget, "{bytes} of {}", self.budget);
    }
}
