//! Dirty entries: the entries that are newer than on flash. The buffer has the dirty entries of
//! pages that are not cached.

use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::addr::{Lpn, Tpn};
use crate::geometry::Geometry;

/// The dirty entries, called changed entries here.
#[derive(Clone, Debug)]
pub(super) struct Changes {
    geometry: Geometry,
    changed: Vec<bool>,
    /// Number of changed entries, by translation page.
    counts: Vec<u32>,
    /// Pages with entries in the buffer, ordered by their number of entries. Among equal numbers
    /// the lowest page is last.
    owners: BTreeSet<(u32, Reverse<Tpn>)>,
    buffered: u32,
    buffered_max: u32,
}

crate::state!(Changes { changed, counts, owners, buffered } fixed { geometry, buffered_max });

impl Changes {
    /// Starts with no changes and a buffer of `buffered_max` entries.
    pub(super) fn new(geometry: &Geometry, buffered_max: u32) -> Self {
        Self {
            geometry: *geometry,
            changed: vec![false; geometry.logical_pages() as usize],
            counts: vec![0; geometry.translation_pages() as usize],
            owners: BTreeSet::new(),
            buffered: 0,
            buffered_max,
        }
    }

    pub(super) fn has(&self, lpn: Lpn) -> bool {
        self.changed[lpn.index()]
    }

    /// Returns the number of changed entries of a page.
    pub(super) fn count(&self, tpn: Tpn) -> u32 {
        self.counts[tpn.index()]
    }

    /// Returns the number of entries in the buffer.
    pub(super) fn buffered(&self) -> u32 {
        self.buffered
    }

    /// Marks an entry in memory as changed. An entry in the buffer is marked already.
    pub(super) fn mark_dirty(&mut self, lpn: Lpn) {
        if !core::mem::replace(&mut self.changed[lpn.index()], true) {
            self.counts[self.geometry.translation_page(lpn).index()] += 1;
        }
    }

    /// Notes that flash has the newest version of a page: no changes, and nothing in the buffer.
    pub(super) fn written(&mut self, tpn: Tpn) {
        if self.count(tpn) > 0 {
            self.unbuffer(tpn);
            self.entries(tpn).fill(false);
            self.counts[tpn.index()] = 0;
        }
    }

    pub(super) fn has_room(&self, entries: u32) -> bool {
        entries <= self.buffered_max - self.buffered
    }

    /// Returns the maximum number of buffered entries of a page, and this page.
    pub(super) fn largest(&self) -> Option<(u32, Tpn)> {
        self.owners.last().map(|&(count, Reverse(tpn))| (count, tpn))
    }

    /// Moves the changed entries of a page to the buffer.
    pub(super) fn buffer(&mut self, tpn: Tpn) {
        assert!(self.has_room(self.count(tpn)), "the buffer is full");
        self.owners.insert((self.count(tpn), Reverse(tpn)));
        self.buffered += self.count(tpn);
    }

    /// Takes the changed entries of a page out of the buffer, if they are there.
    pub(super) fn unbuffer(&mut self, tpn: Tpn) {
        if self.count(tpn) > 0 && self.owners.remove(&(self.count(tpn), Reverse(tpn))) {
            self.buffered -= self.count(tpn);
        }
    }

    /// Returns for each entry of a page whether it is changed.
    fn entries(&mut self, tpn: Tpn) -> &mut [bool] {
        let per_page = self.geometry.entries_per_page() as usize;
        let first = tpn.index() * per_page;
        let end = self.changed.len().min(first + per_page);
        &mut self.changed[first..end]
    }

    /// Recounts, and asserts that the pages with entries in the buffer are the changed pages for
    /// which `is_absent` is true.
    pub(super) fn check(&self, is_absent: impl Fn(Tpn) -> bool) {
        let per_page = self.geometry.entries_per_page() as usize;
        let mut buffered = 0;
        for (changed, tpn) in self.changed.chunks(per_page).zip((0..).map(Tpn::new)) {
            let count = changed.iter().filter(|&&changed| changed).count() as u32;
            assert_eq!(count, self.count(tpn), "changed entries of {tpn:?}");
            let owns = count > 0 && is_absent(tpn);
            assert_eq!(self.owners.contains(&(count, Reverse(tpn))), owns, "{tpn:?}");
            buffered += if owns { count } else { 0 };
        }
        assert_eq!(buffered, self.buffered);
        assert!(self.buffered <= self.buffered_max);
    }
}
