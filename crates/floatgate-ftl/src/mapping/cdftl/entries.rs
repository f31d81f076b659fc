//! The cached mapping table (CMT): its entries, and which of them can leave.

use alloc::vec;
use alloc::vec::Vec;

use crate::addr::{Lpn, Tpn};
use crate::intmap::IntMap;
use crate::lru::{Links, List};
use crate::mapping::heap::Heap;

#[derive(Clone, Copy, Debug)]
struct Entry {
    lpn: u32,
    tpn: Tpn,
    dirty: bool,
}

crate::state!(blank Entry { lpn, tpn, dirty });

/// The entries. An entry is stuck if it is dirty and its page is not in the CTP.
#[derive(Clone, Debug)]
pub(super) struct Entries {
    slots: IntMap,
    entries: Vec<Entry>,
    /// The slot of the last victim, until a new entry takes it.
    vacant: Option<u32>,
    capacity: usize,
    clock: u64,
    /// Entries that can leave, oldest first.
    free: Heap,
    /// Stuck entries, oldest first.
    stuck: Heap,
    links: Links,
    /// Entries by translation page.
    pages: Vec<List>,
}

crate::state!(
    Entries { slots, entries, vacant, clock, free, stuck, links, pages }
    fixed { capacity }
);

impl Entries {
    /// Makes a table of at most `capacity` entries, over `pages` translation pages.
    pub(super) fn new(capacity: usize, pages: usize) -> Self {
        Self {
            slots: IntMap::new(capacity),
            entries: Vec::with_capacity(capacity),
            vacant: None,
            capacity,
            clock: 0,
            free: Heap::new(capacity),
            stuck: Heap::new(capacity),
            links: Links::new(capacity),
            pages: vec![List::EMPTY; pages],
        }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.len() == self.capacity
    }

    pub(super) fn find(&self, lpn: Lpn) -> Option<u32> {
        self.slots.get(lpn.get())
    }

    /// Prefetches the cell that finds the entry of a page.
    #[inline(always)]
    pub(super) fn prefetch(&self, lpn: Lpn) {
        self.slots.prefetch(lpn.get());
    }

    /// Prefetches the entry of a page, if it is cached.
    #[inline(always)]
    pub(super) fn prefetch_entry(&self, lpn: Lpn) {
        self.slots.prefetch_item(lpn.get(), &self.entries);
    }

    pub(super) fn is_dirty(&self, slot: u32) -> bool {
        self.entries[slot as usize].dirty
    }

    /// Notes a use of an entry, and a change if `dirty`. `loaded` states whether the CTP has its
    /// page.
    pub(super) fn touch(&mut self, slot: u32, dirty: bool, loaded: bool) {
        self.entries[slot as usize].dirty |= dirty;
        self.clock += 1;
        self.sort(slot, u64::MAX - self.clock, loaded);
    }

    /// Notes a change of an entry that is not a use.
    pub(super) fn mark_dirty(&mut self, slot: u32, loaded: bool) {
        self.entries[slot as usize].dirty = true;
        self.sort(slot, self.age(slot), loaded);
    }

    /// Inserts an entry. There must be room.
    pub(super) fn insert(&mut self, lpn: Lpn, tpn: Tpn, dirty: bool, loaded: bool) {
        let entry = Entry { lpn: lpn.get(), tpn, dirty };
        let slot = self.vacant.take().unwrap_or_else(|| {
            self.entries.push(entry);
            self.entries.len() as u32 - 1
        });
        self.entries[slot as usize] = entry;
        self.slots.insert(entry.lpn, slot);
        self.links.push_front(&mut self.pages[tpn.index()], slot);
        self.touch(slot, dirty, loaded);
    }

    pub(super) fn can_evict(&self) -> bool {
        self.free.len() > 0
    }

    pub(super) fn oldest_stuck(&self) -> Tpn {
        let slot = self.stuck.first().expect("what is full and cannot evict has stuck entries");
        self.entries[slot as usize].tpn
    }

    /// Removes the oldest entry that can leave. Returns its page, and whether the entry was dirty.
    pub(super) fn evict(&mut self) -> (Tpn, bool) {
        let slot = self.free.first().expect("an entry can leave");
        let Entry { lpn, tpn, dirty } = self.entries[slot as usize];
        self.free.remove(slot);
        self.slots.remove(lpn);
        self.links.remove(&mut self.pages[tpn.index()], slot);
        self.vacant = Some(slot);
        (tpn, dirty)
    }

    /// Notes that the CTP now has a page, so none of the page's entries is stuck.
    pub(super) fn page_entered(&mut self, tpn: Tpn) {
        self.sort_page(tpn, true);
    }

    /// Notes that the CTP no longer has a page, so the page's dirty entries are stuck.
    pub(super) fn page_left(&mut self, tpn: Tpn) {
        self.sort_page(tpn, false);
    }

    /// Makes every entry clean. Calls `written` with each page that had a dirty entry.
    pub(super) fn clean(&mut self, mut written: impl FnMut(Tpn)) {
        for tpn in (0..self.pages.len() as u32).map(Tpn::new) {
            let mut dirty = false;
            let mut next = self.pages[tpn.index()].front();
            while let Some(slot) = next {
                dirty |= core::mem::take(&mut self.entries[slot as usize].dirty);
                self.sort(slot, self.age(slot), false);
                next = self.links.next(slot);
            }
            if dirty {
                written(tpn);
            }
        }
    }

    fn sort_page(&mut self, tpn: Tpn, loaded: bool) {
        let mut next = self.pages[tpn.index()].front();
        while let Some(slot) = next {
            if self.is_dirty(slot) {
                self.sort(slot, self.age(slot), loaded);
            }
            next = self.links.next(slot);
        }
    }

    /// Returns the key of an entry: larger for a longer time since its last use.
    fn age(&self, slot: u32) -> u64 {
        let heap = if self.free.contains(slot) { &self.free } else { &self.stuck };
        heap.key(slot)
    }

    /// Moves an entry to the heap that it belongs to.
    fn sort(&mut self, slot: u32, age: u64, loaded: bool) {
        let (from, to) = if self.is_dirty(slot) && !loaded {
            (&mut self.free, &mut self.stuck)
        } else {
            (&mut self.stuck, &mut self.free)
        };
        from.remove(slot);
        to.set(slot, age);
    }

    /// Asserts that every entry is in the right heap and list.
    pub(super) fn check(&self, loaded: impl Fn(Tpn) -> bool) {
        self.free.check();
        self.stuck.check();
        assert!(self.len() <= self.capacity);
        assert_eq!(self.free.len() + self.stuck.len(), self.len());
        let vacant = usize::from(self.vacant.is_some());
        assert_eq!(self.entries.len(), self.len() + vacant);
        for (list, tpn) in self.pages.iter().zip((0..).map(Tpn::new)) {
            for slot in self.links.iter(list) {
                let entry = self.entries[slot as usize];
                assert_eq!((entry.tpn, self.slots.get(entry.lpn)), (tpn, Some(slot)));
                assert_eq!(self.stuck.contains(slot), entry.dirty && !loaded(tpn));
            }
        }
        let listed: u32 = self.pages.iter().map(List::len).sum();
        assert_eq!(listed as usize, self.len());
    }
}
