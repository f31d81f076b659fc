//! Content and number of runs of the translation pages: the simulator's copy of the map.

use alloc::vec;
use alloc::vec::Vec;

use crate::addr::{Lpn, Ppn, Tpn};
use crate::geometry::Geometry;

/// All entries of the map.
#[derive(Clone, Debug)]
pub(super) struct Content {
    geometry: Geometry,
    entries: Vec<Option<Ppn>>,
    /// Number of entries that start a run, by translation page.
    runs: Vec<u32>,
}

crate::state!(Content { entries, runs } fixed { geometry });

impl Content {
    pub(super) fn new(geometry: &Geometry) -> Self {
        let mut content = Self {
            geometry: *geometry,
            entries: vec![None; geometry.logical_pages() as usize],
            runs: vec![0; geometry.translation_pages() as usize],
        };
        for tpn in 0..content.runs.len() {
            content.runs[tpn] = content.count(tpn);
        }
        content
    }

    pub(super) fn runs(&self, tpn: Tpn) -> u32 {
        self.runs[tpn.index()]
    }

    /// Sets an entry. It and the next entry may now start a run, or no longer start one.
    pub(super) fn set(&mut self, lpn: Lpn, to: Option<Ppn>) {
        let at = lpn.index();
        let before = self.starts(at) + self.next_starts(at);
        self.entries[at] = to;
        let after = self.starts(at) + self.next_starts(at);
        let runs = &mut self.runs[self.geometry.translation_page(lpn).index()];
        *runs = *runs + after - before;
    }

    /// 1 if the entry starts a run, else 0.
    fn starts(&self, at: usize) -> u32 {
        u32::from(self.is_first(at) || !follows(self.entries[at - 1], self.entries[at]))
    }

    /// 1 if the next entry is in the same page and starts a run, else 0.
    fn next_starts(&self, at: usize) -> u32 {
        let next = at + 1;
        if next == self.entries.len() || self.is_first(next) { 0 } else { self.starts(next) }
    }

    fn is_first(&self, at: usize) -> bool {
        at.is_multiple_of(self.geometry.entries_per_page() as usize)
    }

    /// Counts the runs of a page.
    fn count(&self, tpn: usize) -> u32 {
        let per_page = self.geometry.entries_per_page() as usize;
        let end = self.entries.len().min((tpn + 1) * per_page);
        (tpn * per_page..end).map(|at| self.starts(at)).sum()
    }

    pub(super) fn check(&self) {
        for (tpn, &runs) in self.runs.iter().enumerate() {
            assert_eq!(runs, self.count(tpn), "runs of translation page {tpn}");
        }
    }
}

/// Returns whether `second` is the page right after `first`.
fn follows(first: Option<Ppn>, second: Option<Ppn>) -> bool {
    matches!((first, second), (Some(a), Some(b)) if a.get() + 1 == b.get())
}
