//! LRU stack distances: the number of distinct pages between two accesses to the same page.
//!
//! Mattson et al. (IBM Systems Journal 9, 1970) keep the stack itself. This module searches over
//! access times instead, as in Olken (LBL-12370, 1981). Each access takes the next slot, and the
//! slot of the latest access to each page has a mark:
//!
//! ```text
//!   accesses   a b c b a d          distance of the next access to b: marks at or after b's own,
//!   marks      . . 1 1 1 1          in slots 3 to 5, is 3: an LRU cache of 3 pages has it
//! ```
//!
//! Marks are bits. A Fenwick tree (Fenwick, Software: Practice and Experience 24, 1994) holds the
//! number of marks of each full block of 512 slots, which is a cache line. When the slots are used
//! up, the marked slots move together in order, and there are four slots per page again. Memory is
//! therefore bounded by the pages, not by the accesses: 17 to 33 bytes per page. One access takes
//! O(log pages): a walk down and a walk up a tree that fits into a processor's cache.

use super::table::Table;

/// Slots in a block.
const BLOCK: usize = 512;
/// 64-bit words of marks in a block.
const WORDS: usize = BLOCK / 64;
/// Blocks of an empty stack.
const BLOCKS_MIN: usize = 128;
/// Slots per page after a compaction. Between two compactions there are therefore at least three
/// times as many accesses as pages.
const SLOTS_PER_PAGE: usize = 4;
/// Slots have 32-bit numbers, and one of these numbers is [`Table::NEW`].
const BLOCKS_MAX: usize = (1 << 32) / BLOCK - 1;

/// Pages in the order of their latest accesses.
#[derive(Debug)]
pub(super) struct Stack {
    /// The slot of the latest access to each page.
    latest: Table,
    /// One bit per slot, block after block.
    marks: Vec<u64>,
    /// Number of marks in each block before the block of `next`.
    full: Fenwick,
    next: usize,
}

impl Stack {
    pub fn new() -> Self {
        Self {
            latest: Table::new(),
            marks: vec![0; BLOCKS_MIN * WORDS],
            full: Fenwick::new(BLOCKS_MIN),
            next: 0,
        }
    }

    /// Distinct pages so far.
    pub fn pages(&self) -> usize {
        self.latest.len()
    }

    /// Accesses `page` and returns the size in pages of the smallest LRU cache that has it, from 1.
    /// None for the first access to a page, which misses in every cache.
    #[inline]
    pub fn access(&mut self, page: u32) -> Option<usize> {
        if self.next == BLOCK * self.full.len() {
            self.compact();
        }
        let now = self.next;
        let before = std::mem::replace(self.latest.entry(page), now as u32);
        let distance = (before != Table::NEW).then(|| self.take(before as usize));
        self.marks[now / 64] |= 1 << (now % 64);
        self.next += 1;
        if self.next.is_multiple_of(BLOCK) {
            self.full.add(now / BLOCK, self.marks_in(now / BLOCK));
        }
        distance
    }

    /// Removes the mark of `slot`, and returns the number of marks from that slot to the end.
    fn take(&mut self, slot: usize) -> usize {
        let block = slot / BLOCK;
        let before = self.full.sum(block) as usize + self.marks_below(slot);
        self.marks[slot / 64] &= !(1 << (slot % 64));
        if block < self.next / BLOCK {
            self.full.decrement(block);
        }
        self.latest.len() - before
    }

    /// Returns the number of marks before `slot` in its block.
    fn marks_below(&self, slot: usize) -> usize {
        let word = slot / 64;
        let whole = &self.marks[word / WORDS * WORDS..word];
        let part = self.marks[word] & ((1 << (slot % 64)) - 1);
        whole.iter().chain([&part]).map(|word| word.count_ones() as usize).sum()
    }

    fn marks_in(&self, block: usize) -> u32 {
        let words = &self.marks[block * WORDS..(block + 1) * WORDS];
        words.iter().map(|word| word.count_ones()).sum()
    }

    /// Moves the marked slots to the front, in order.
    fn compact(&mut self) {
        let mut before = vec![0; self.full.len()];
        for block in 1..before.len() {
            before[block] = before[block - 1] + self.marks_in(block - 1);
        }
        // The loop changes the table while it reads the marks of `self`.
        let mut latest = std::mem::replace(&mut self.latest, Table::new());
        for slot in latest.values_mut() {
            let at = *slot as usize;
            *slot = before[at / BLOCK] + self.marks_below(at) as u32;
        }
        let pages = latest.len();
        self.latest = latest;
        let blocks = (SLOTS_PER_PAGE * pages).div_ceil(BLOCK).clamp(BLOCKS_MIN, BLOCKS_MAX);
        self.marks = vec![0; blocks * WORDS];
        self.marks[..pages / 64].fill(u64::MAX);
        self.marks[pages / 64] = (1 << (pages % 64)) - 1;
        self.full = Fenwick::new(blocks);
        (0..pages / BLOCK).for_each(|block| self.full.add(block, BLOCK as u32));
        self.next = pages;
    }
}

/// Array that changes one number, or sums the first numbers, in logarithmic time.
#[derive(Debug)]
struct Fenwick {
    /// `sums[i - 1]` is the sum of the n numbers up to number i - 1, where n is the lowest set bit
    /// of i.
    sums: Vec<u32>,
}

impl Fenwick {
    fn new(len: usize) -> Self {
        Self { sums: vec![0; len] }
    }

    fn len(&self) -> usize {
        self.sums.len()
    }

    /// The sum of the first `count` numbers.
    #[inline(always)]
    fn sum(&self, count: usize) -> u32 {
        let (mut at, mut sum) = (count, 0);
        while at > 0 {
            sum += self.sums[at - 1];
            at &= at - 1;
        }
        sum
    }

    fn add(&mut self, number: usize, increase: u32) {
        self.change(number, |sum| sum + increase);
    }

    #[inline(always)]
    fn decrement(&mut self, number: usize) {
        self.change(number, |sum| sum - 1);
    }

    #[inline(always)]
    fn change(&mut self, number: usize, change: impl Fn(u32) -> u32) {
        let mut at = number + 1;
        while let Some(sum) = self.sums.get_mut(at - 1) {
            *sum = change(*sum);
            at += at & at.wrapping_neg();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_ftl::rng::Rng;

    /// Accesses a page in the stack of Mattson et al.: a list with the most recent page first.
    fn naive(stack: &mut Vec<u32>, page: u32) -> Option<usize> {
        let found = stack.iter().position(|&other| other == page);
        if let Some(at) = found {
            stack.remove(at);
        }
        stack.insert(0, page);
        found.map(|at| at + 1)
    }

    #[test]
    fn distances_are_those_of_the_naive_stack() {
        for (seed, pages) in [(1, 1), (2, 2), (3, 10), (4, 700), (5, 40_000)] {
            let mut rng = Rng::new(seed);
            let (mut stack, mut model) = (Stack::new(), Vec::new());
            // Enough to use up the slots, except where the model would take too long.
            let accesses = if pages > 10_000 { 30_000 } else { 200_000 };
            for _ in 0..accesses {
                // Low page numbers are more frequent than high ones.
                let below = rng.below(pages) + 1;
                let page = rng.below(below) as u32;
                assert_eq!(stack.access(page), naive(&mut model, page));
            }
            assert_eq!(stack.pages(), model.len());
        }
    }

    #[test]
    fn slots_stay_few_per_page() {
        let mut stack = Stack::new();
        let mut rng = Rng::new(1);
        for _ in 0..3_000_000 {
            stack.access(rng.below(100_000) as u32);
        }
        assert_eq!(stack.pages(), 100_000);
        assert!(stack.marks.len() * 64 <= SLOTS_PER_PAGE * 100_000 + BLOCK);
        // A loop over all pages: the distance stays the same across every compaction.
        for page in 0..100_000 {
            stack.access(page);
        }
        (0..1_000_000).for_each(|n| assert_eq!(stack.access(n % 100_000), Some(100_000)));
    }
}
