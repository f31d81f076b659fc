//! The sealed units of each stream, by valid pages and by age.

use alloc::vec;
use alloc::vec::Vec;

use crate::addr::Unit;
use crate::lru::{Links, List};

/// The sealed units of a stream.
#[derive(Clone, Debug)]
struct Lists {
    /// By number of valid pages.
    bins: Vec<List>,
    /// No unit has fewer valid pages than this.
    lowest: usize,
    /// In order of sealing.
    by_age: List,
}

crate::state!(blank Lists { bins, lowest, by_age });

/// All sealed units, by stream.
#[derive(Clone, Debug)]
pub(super) struct Sealed {
    streams: Vec<Lists>,
    by_valid: Links,
    by_age: Links,
}

crate::state!(Sealed { streams, by_valid, by_age });

impl Sealed {
    /// Creates empty lists for `units` erase units of `pages` pages each. `sizes` has the number of
    /// erase units that a sealed unit stands for, by stream.
    pub(super) fn new(sizes: &[u32], units: usize, pages: u32) -> Self {
        let lists = |&size: &u32| {
            let lowest = (pages * size) as usize;
            Lists { bins: vec![List::EMPTY; lowest + 1], lowest, by_age: List::EMPTY }
        };
        Self {
            streams: sizes.iter().map(lists).collect(),
            by_valid: Links::new(units),
            by_age: Links::new(units),
        }
    }

    pub(super) fn streams(&self) -> u8 {
        self.streams.len() as u8
    }

    /// Adds a unit that has just been sealed.
    pub(super) fn add(&mut self, unit: Unit, stream: u8, valid: u32) {
        let lists = &mut self.streams[usize::from(stream)];
        self.by_valid.push_back(&mut lists.bins[valid as usize], unit.0);
        self.by_age.push_back(&mut lists.by_age, unit.0);
        lists.lowest = lists.lowest.min(valid as usize);
    }

    /// Moves a unit that has lost a page and has `left` valid pages.
    #[inline(always)]
    pub(super) fn lose(&mut self, unit: Unit, stream: u8, left: u32) {
        let (lists, left) = (&mut self.streams[usize::from(stream)], left as usize);
        self.by_valid.remove(&mut lists.bins[left + 1], unit.0);
        self.by_valid.push_back(&mut lists.bins[left], unit.0);
        lists.lowest = lists.lowest.min(left);
    }

    /// Prefetches the memory that [`Sealed::lose`] will touch.
    #[inline(always)]
    pub(super) fn prefetch(&self, unit: Unit) {
        self.by_valid.prefetch(unit.0);
    }

    /// Removes a unit that is cleaned next.
    pub(super) fn remove(&mut self, unit: Unit, stream: u8, valid: u32) {
        let lists = &mut self.streams[usize::from(stream)];
        self.by_valid.remove(&mut lists.bins[valid as usize], unit.0);
        self.by_age.remove(&mut lists.by_age, unit.0);
        while lists.lowest + 1 < lists.bins.len() && lists.bins[lists.lowest].is_empty() {
            lists.lowest += 1;
        }
    }

    /// Returns the number of sealed units of a stream.
    pub(super) fn count(&self, stream: u8) -> u32 {
        self.streams[usize::from(stream)].by_age.len()
    }

    /// Returns the number of pages of all units of a stream, valid or not.
    pub(super) fn pages(&self, stream: u8) -> u64 {
        let lists = &self.streams[usize::from(stream)];
        u64::from(lists.by_age.len()) * (lists.bins.len() as u64 - 1)
    }

    /// Returns the number of invalid pages of all units of a stream. Costs a step for each page of
    /// a unit, which is cheaper than to update a sum with each host page.
    pub(super) fn invalid(&self, stream: u8) -> u64 {
        let bins = self.streams[usize::from(stream)].bins.iter().zip(0..);
        let valid: u64 = bins.map(|(bin, valid)| u64::from(bin.len()) * valid).sum();
        self.pages(stream) - valid
    }

    /// Returns the unit of a stream with the fewest valid pages; among equals, the one unchanged
    /// for longest.
    pub(super) fn fewest_valid(&self, stream: u8) -> Option<Unit> {
        let lists = &self.streams[usize::from(stream)];
        lists.bins[lists.lowest].front().map(Unit)
    }

    /// Returns the unit of a stream that was sealed first.
    pub(super) fn oldest(&self, stream: u8) -> Option<Unit> {
        self.streams[usize::from(stream)].by_age.front().map(Unit)
    }

    /// Returns all units of a stream, those with the fewest valid pages first.
    pub(super) fn iter(&self, stream: u8) -> impl Iterator<Item = Unit> {
        let bins = &self.streams[usize::from(stream)].bins;
        bins.iter().flat_map(|bin| self.by_valid.iter(bin)).map(Unit)
    }

    /// Checks that each unit is in both orders, in the lists of its stream and its number of valid
    /// pages. `of` returns the stream and the number of valid pages.
    pub(super) fn check(&self, of: impl Fn(Unit) -> (u8, u32)) {
        for (stream, lists) in self.streams.iter().enumerate() {
            assert_eq!(lists.bins.iter().map(List::len).sum::<u32>(), lists.by_age.len());
            for (valid, bin) in lists.bins.iter().enumerate() {
                assert!(bin.is_empty() || valid >= lists.lowest);
                for unit in self.by_valid.iter(bin).map(Unit) {
                    assert_eq!(of(unit), (stream as u8, valid as u32), "{unit:?}");
                }
            }
        }
    }
}
