//! Whole translation pages in the drive's memory, in the order of their last use.

use alloc::vec;
use alloc::vec::Vec;

use super::Residency;
use crate::addr::Tpn;
use crate::lru::{Links, List};

/// The cached pages. Takes 9 bytes per translation page of the drive, cached or not.
#[derive(Clone, Debug)]
pub(super) struct Frames {
    links: Links,
    /// Last used first.
    order: List,
    states: Vec<Residency>,
}

crate::state!(Frames { links, order, states });

impl Frames {
    /// None of the drive's `pages` translation pages.
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

    /// Puts in a page as flash has it: the last used.
    pub(super) fn insert(&mut self, tpn: Tpn) {
        assert!(!self.contains(tpn), "a page is cached once");
        self.states[tpn.index()] = Residency::Clean;
        self.links.push_front(&mut self.order, tpn.get());
    }

    /// Puts in a page as flash has it: the one to leave next.
    pub(super) fn insert_oldest(&mut self, tpn: Tpn) {
        assert!(!self.contains(tpn), "a page is cached once");
        self.states[tpn.index()] = Residency::Clean;
        self.links.push_back(&mut self.order, tpn.get());
    }

    /// A cached page is used.
    pub(super) fn touch(&mut self, tpn: Tpn) {
        self.links.to_front(&mut self.order, tpn.get());
    }

    /// A cached page is now newer than flash has it.
    pub(super) fn mark_dirty(&mut self, tpn: Tpn) {
        assert!(self.contains(tpn), "only a cached page is changed");
        self.states[tpn.index()] = Residency::Dirty;
    }

    /// The page that has not been used for longest.
    pub(super) fn oldest(&self) -> Option<Tpn> {
        self.order.back().map(Tpn::new)
    }

    /// Takes a cached page out; the answer is whether it was dirty.
    pub(super) fn remove(&mut self, tpn: Tpn) -> bool {
        self.links.remove(&mut self.order, tpn.get());
        let state = core::mem::replace(&mut self.states[tpn.index()], Residency::Absent);
        state == Residency::Dirty
    }

    /// Makes every page clean; `written` is called with those that were not, in order.
    pub(super) fn clean(&mut self, mut written: impl FnMut(Tpn)) {
        for (index, state) in self.states.iter_mut().enumerate() {
            if *state == Residency::Dirty {
                *state = Residency::Clean;
                written(Tpn::new(index as u32));
            }
        }
    }

    /// The cached pages, last used first.
    pub(super) fn iter(&self) -> impl Iterator<Item = Tpn> {
        self.links.iter(&self.order).map(Tpn::new)
    }

    /// Asserts that what is cached and what is in the order are the same pages.
    pub(super) fn check(&self) {
        assert!(self.iter().all(|tpn| self.contains(tpn)));
        let cached = self.states.iter().filter(|&&state| state != Residency::Absent).count();
        assert_eq!(self.iter().count(), cached);
        assert_eq!(self.len() as usize, cached);
    }
}
