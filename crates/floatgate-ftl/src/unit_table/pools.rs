//! Sets of sealed units, from which victims are chosen. A unit here is a reclaim unit, which its
//! first erase unit stands for.

use core::cmp::{Ordering, Reverse};
use core::ops::Range;

use super::{Pool, UnitTable};
use crate::addr::Unit;

/// Share of valid pages in a unit. Shares are compared exactly; units of equal size compare by
/// their valid pages.
#[derive(Clone, Copy, Debug)]
pub struct ValidShare {
    /// Valid pages.
    pub valid: u32,
    /// All pages, at least 1.
    pub pages: u32,
}

crate::state!(blank ValidShare { valid, pages });

impl Ord for ValidShare {
    fn cmp(&self, other: &Self) -> Ordering {
        let times = |valid: u32, pages: u32| u64::from(valid) * u64::from(pages);
        times(self.valid, other.pages).cmp(&times(other.valid, self.pages))
    }
}

impl PartialOrd for ValidShare {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ValidShare {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for ValidShare {}

impl UnitTable {
    /// Returns the streams of a pool.
    pub fn streams(&self, pool: Pool) -> Range<u8> {
        match pool {
            Pool::All => 0..self.sealed.streams(),
            Pool::Stream(stream) => stream..stream + 1,
        }
    }

    /// Returns the number of sealed units in a pool.
    pub fn sealed_units(&self, pool: Pool) -> u32 {
        self.streams(pool).map(|stream| self.sealed.count(stream)).sum()
    }

    /// Returns the number of pages of the sealed units in a pool, valid or not.
    pub fn sealed_pages(&self, pool: Pool) -> u64 {
        self.streams(pool).map(|stream| self.sealed.pages(stream)).sum()
    }

    /// Returns the stream whose sealed units together have the most invalid pages; among equals,
    /// the coldest.
    pub fn stream_with_most_invalid(&self) -> Option<u8> {
        let most = |&stream: &u8| (self.sealed.invalid(stream), Reverse(stream));
        self.streams(Pool::All).filter(|&stream| self.sealed.count(stream) > 0).max_by_key(most)
    }

    /// Returns the stream with the greatest share of invalid pages in its sealed units; among
    /// equals, the coldest.
    pub fn stream_under_pressure(&self) -> Option<u8> {
        let with_units = self.streams(Pool::All).filter(|&stream| self.sealed.count(stream) > 0);
        let shares = with_units.map(|stream| {
            let [invalid, pages] = [self.sealed.invalid(stream), self.sealed.pages(stream)];
            (stream, u128::from(invalid), u128::from(pages))
        });
        let greatest =
            shares.reduce(|best, next| if next.1 * best.2 > best.1 * next.2 { next } else { best });
        greatest.map(|(stream, ..)| stream)
    }

    /// Returns the sealed unit of a stream with the fewest valid pages; among equals, the one
    /// unchanged for longest.
    pub fn fewest_valid(&self, stream: u8) -> Option<Unit> {
        self.sealed.fewest_valid(stream)
    }

    /// Returns the unit of a pool that was sealed first.
    pub fn oldest(&self, pool: Pool) -> Option<Unit> {
        let heads = self.streams(pool).filter_map(|stream| self.sealed.oldest(stream));
        heads.min_by_key(|&unit| self.sealed_at[unit.index()].1)
    }

    /// Returns all sealed units of a pool; in each stream, the units with the fewest valid pages
    /// come first.
    pub fn sealed(&self, pool: Pool) -> impl Iterator<Item = Unit> {
        self.streams(pool).flat_map(|stream| self.sealed.iter(stream))
    }
}
