//! Validity of pages, one bit each.
//!
//! All bits together are a thirty-second of the owners in size, and stay in the processor's cache
//! where the owners do not. A page is therefore invalidated without a look at its owner, and the
//! valid pages of a unit are found word by word.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use crate::addr::Ppn;
use crate::prefetch::prefetch;

/// Validity bits of all pages of a drive.
#[derive(Clone, Debug)]
pub(super) struct ValidPages(Vec<u64>);

crate::state!(ValidPages(_));

/// Returns the index of the word with a page's bit, and the bit within it.
#[inline(always)]
fn bit(ppn: Ppn) -> (usize, u64) {
    ((ppn.get() / u64::BITS) as usize, 1 << (ppn.get() % u64::BITS))
}

/// Returns the words of consecutive pages: the index of each word, and the bits of the pages.
#[inline(always)]
fn words(pages: Range<u32>) -> impl Iterator<Item = (u32, u64)> {
    let Range { start, end } = pages;
    (start / u64::BITS..end.div_ceil(u64::BITS)).map(move |word| {
        let first = word * u64::BITS;
        let below = start.saturating_sub(first);
        let above = (first + (u64::BITS - 1)).saturating_sub(end - 1);
        (word, u64::MAX << below & u64::MAX >> above)
    })
}

impl ValidPages {
    /// Creates the bits of `pages` pages that are not valid.
    pub(super) fn new(pages: u32) -> Self {
        Self(vec![0; pages.div_ceil(u64::BITS) as usize])
    }

    #[inline(always)]
    pub(super) fn holds(&self, ppn: Ppn) -> bool {
        let (word, bit) = bit(ppn);
        self.0[word] & bit != 0
    }

    /// Makes a page valid.
    #[inline(always)]
    pub(super) fn add(&mut self, ppn: Ppn) {
        let (word, bit) = bit(ppn);
        self.0[word] |= bit;
    }

    /// Makes consecutive pages valid.
    #[inline(always)]
    pub(super) fn add_all(&mut self, pages: Range<u32>) {
        words(pages).for_each(|(word, bits)| self.0[word as usize] |= bits);
    }

    /// Makes a valid page invalid.
    #[inline(always)]
    pub(super) fn remove(&mut self, ppn: Ppn) {
        let (word, bit) = bit(ppn);
        self.remove_bits(word, bit);
    }

    /// Makes valid pages invalid. The pages must be in ascending order.
    #[inline(always)]
    pub(super) fn remove_all(&mut self, pages: impl Iterator<Item = Ppn>) {
        let (mut at, mut bits) = (0, 0);
        for page in pages {
            let (word, bit) = bit(page);
            if word != at {
                self.remove_bits(at, bits);
                (at, bits) = (word, 0);
            }
            bits |= bit;
        }
        self.remove_bits(at, bits);
    }

    #[inline(always)]
    fn remove_bits(&mut self, word: usize, bits: u64) {
        let word = &mut self.0[word];
        assert_eq!(*word & bits, bits, "what is given up is valid");
        *word ^= bits;
    }

    /// Visits the valid pages among consecutive pages, in ascending order.
    #[inline(always)]
    pub(super) fn for_each(&self, pages: Range<u32>, mut tell: impl FnMut(Ppn)) {
        for (word, bits) in words(pages) {
            let mut left = self.0[word as usize] & bits;
            while left != 0 {
                tell(Ppn::new(word * u64::BITS + left.trailing_zeros()));
                left &= left - 1;
            }
        }
    }

    #[inline(always)]
    pub(super) fn prefetch(&self, ppn: Ppn) {
        prefetch(&self.0, bit(ppn).0);
    }
}
