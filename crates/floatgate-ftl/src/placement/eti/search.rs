//! Cost of the searches that the paper describes (section 4 and Algorithm 1).
//!
//! A search for the extent of a page begins anew or at the extent found last. The paper does not
//! name the structure that is searched. Algorithm 1 keeps the upper bound of the extent found last
//! by adding and subtracting lengths, as if the extents were a list of lengths that is walked. The
//! text describes an ordered structure, which allows a binary search. The costs of both are
//! computed from positions, without a search.

use crate::counters::ExtentSearch;

impl ExtentSearch {
    /// Counts a command that begins in extent `found` of `extents`, after extent `last` was found.
    #[inline(always)]
    pub(super) fn note(&mut self, last: usize, found: usize, extents: usize) {
        let distance = last.abs_diff(found) as u64;
        self.in_last += u64::from(distance == 0);
        self.walk += found as u64 + 1;
        self.walk_from_last += distance + 1;
        self.halving += u64::from(usize::BITS - (extents - 1).leading_zeros());
        self.halving_from_last += 1 + unbounded(distance);
    }
}

/// Returns the number of comparisons that find a number by doubling and then halving: algorithm B1
/// of Bentley and Yao, "An almost optimal algorithm for unbounded searching", Information
/// Processing Letters 5, 1976. Finding 0 takes none.
#[inline(always)]
fn unbounded(number: u64) -> u64 {
    number.checked_ilog2().map_or(0, |doublings| 2 * u64::from(doublings) + 1)
}
