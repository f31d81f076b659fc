//! Which pages are valid, a bit for each.
//!
//! All bits are a thirty-second of the owners, and stay in the processor's cache where those do
//! not: a page is given up without a look at whose it was, and what is valid of a unit is found
//! word by word.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use crate::addr::Ppn;
use crate::prefetch::prefetch;

/// The bits of all pages of a drive.
#[derive(Clone, Debug)]
pub(super) struct ValidPages(Vec<u64>);

crate::state!(ValidPages(_));

/// Where the bit of a page is, and that bit alone.
#[inline(always)]
fn bit(ppn: Ppn) -> (usize, u64) {
    ((ppn.get() / u64::BITS) as usize, 1 << (ppn.get() % u64::BITS))
}

/// The words of consecutive pages: which, and which bits of it are theirs.
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
    /// Of so many pages none is valid.
    pub(super) fn new(pages: u32) -> Self {
        Self(vec![0; pages.div_ceil(u64::BITS) as usize])
    }

    #[inline(always)]
    pub(super) fn holds(&self, ppn: Ppn) -> bool {
        let (word, bit) = bit(ppn);
        self.0[word] & bit != 0
    }

    /// A page becomes valid.
    #[inline(always)]
    pub(super) fn add(&mut self, ppn: Ppn) {
        let (word, bit) = bit(ppn);
        self.0[word] |= bit;
    }

    /// Consecutive pages become valid.
    #[inline(always)]
    pub(super) fn add_all(&mut self, pages: Range<u32>) {
        words(pages).for_each(|(word, bits)| self.0[word as usize] |= bits);
    }

    /// A valid page is that no more.
    #[inline(always)]
    pub(super) fn remove(&mut self, ppn: Ppn) {
        let (word, bit) = bit(ppn);
        self.remove_bits(word, bit);
    }

    /// The same with pages in ascending order.
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

    /// The valid ones of consecutive pages, in ascending order.
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

    /// Asks the processor for a page's bit.
    #[inline(always)]
    pub(super) fn prefetch(&self, ppn: Ppn) {
        prefetch(&self.0, bit(ppn).0);
    }
}
