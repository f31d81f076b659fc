//! Whole translation pages in the drive's memory, in LRU order.

use alloc::vec;
use alloc::vec::Vec;

use super::Residency;
use crate::addr::Tpn;
use crate::lru::{Links, List};

/// The cached pages. Takes 9 bytes per translation page of the drive, cached or not.
#[derive(Clone, Debug)]
pub(super) struct Frames {
    links: Links,
    /// Most recently used first.
    order: List,
    states: Vec<Residency>,
}

crate::state!(Frames { links, order, states });

impl Frames {
    /// Starts with none of the drive's `pages` translation pages.
    pub(super) fn new(pages: u32) -> Self {
        let pages = pages as usize;
        Self {
            links: Links::new(pages),
            order: List::EMPTY,
            states: vec![Residency::Absent; pages],
        }
    }

    pub(super) fn len(&self) -> u32 {
        self.order.len()
    }

    pub(super) fn state(&self, tpn: Tpn) -> Residency {
        self.states[tpn.index()]
    }

    pub(super) fn contains(&self, tpn: Tpn) -> bool {
        self.state(tpn) != Residency::Absent
    }

    /// Inserts a clean page as the most recently used.
    pub(super) fn insert(&mut self, tpn: Tpn) {
        assert!(!self.contains(tpn), "a page is cached once");
        self.states[tpn.index()] = Residency::Clean;
        self.links.push_front(&mut self.order, tpn.get());
    }

    /// Inserts a clean page as the next to leave.
    pub(super) fn insert_oldest(&mut self, tpn: Tpn) {
        assert!(!self.contains(tpn), "a page is cached once");
        self.states[tpn.index()] = Residency::Clean;
        self.links.push_back(&mut self.order, tpn.get());
    }

    /// Makes a cached page the most recently used.
    pub(super) fn touch(&mut self, tpn: Tpn) {
        self.links.to_front(&mut self.order, tpn.get());
    }

    /// Marks a cached page newer than the page on flash.
    pub(super) fn mark_dirty(&mut self, tpn: Tpn) {
        assert!(self.contains(tpn), "only a cached page is changed");
        self.states[tpn.index()] = Residency::Dirty;
    }

    /// Returns the least recently used page.
    pub(super) fn oldest(&self) -> Option<Tpn> {
        self.order.back().map(Tpn::new)
    }

    /// Removes a cached page. Returns whether it was dirty.
    pub(super) fn remove(&mut self, tpn: Tpn) -> bool {
        self.links.remove(&mut self.order, tpn.get());
        let state = core::mem::replace(&mut self.states[tpn.index()], Residency::Absent);
        state == Residency::Dirty
    }

    /// Makes every page clean. Calls `written` with each page that was dirty, in ascending order.
    pub(super) fn clean(&mut self, mut written: impl FnMut(Tpn)) {
        for (index, state) in self.states.iter_mut().enumerate() {
            if *state == Residency::Dirty {
                *state = Residency::Clean;
                written(Tpn::new(index as u32));
            }
        }
    }

    /// Returns the cached pages, most recently used first.
    pub(super) fn iter(&self) -> impl Iterator<Item = Tpn> {
        self.links.iter(&self.order).map(Tpn::new)
    }

    /// Asserts that the cached pages and the pages in the order are the same.
    pub(super) fn check(&self) {
        assert!(self.iter().all(|tpn| self.contains(tpn)));
        let cached = self.states.iter().filter(|&&state| state != Residency::Absent).count();
        assert_eq!(self.iter().count(), cached);
        assert_eq!(self.len() as usize, cached);
    }
}
