//! Every block once, in random order.

use floatgate_ftl::rng::Rng;

use crate::workload::scatter::Scatter;

/// Blocks in a random order without a table, for requests of one size.
#[derive(Clone)]
pub(super) struct Order {
    order: Scatter,
    blocks: u64,
    next: u64,
}

impl Order {
    pub(super) fn new(blocks: u64, rng: &mut Rng) -> Self {
        Self { order: Scatter::new(blocks, rng), blocks, next: 0 }
    }

    /// Returns another order of the same blocks.
    pub(super) fn again(&self, rng: &mut Rng) -> Self {
        Self::new(self.blocks, rng)
    }

    /// Whether all blocks were taken.
    pub(super) fn is_empty(&self) -> bool {
        self.next == self.blocks
    }

    /// Takes the next block; there must be one.
    #[inline]
    pub(super) fn take(&mut self) -> u64 {
        self.next += 1;
        self.order.place(self.next - 1)
    }
}

/// Free blocks, for requests of several sizes: a bit for each block, and above each word of bits a
/// bit that tells whether the word is full, up to a single word. A search looks at two words of
/// each level.
#[derive(Clone)]
pub(super) struct FreeBlocks {
    blocks: u64,
    left: u64,
    /// Bits of taken blocks, then of full words. Bits beyond the end are set.
    levels: Vec<Vec<u64>>,
}

impl FreeBlocks {
    /// Creates a map of `blocks` free blocks, at least 1.
    pub(super) fn new(blocks: u64) -> Self {
        let mut levels = Vec::new();
        let mut bits = blocks;
        loop {
            let words = bits.div_ceil(64);
            let mut level = vec![0u64; words as usize];
            if let (Some(last), 1..) = (level.last_mut(), bits % 64) {
                *last = u64::MAX << (bits % 64);
            }
            levels.push(level);
            if words == 1 {
                break;
            }
            bits = words;
        }
        Self { blocks, left: blocks, levels }
    }

    /// Whether all blocks were taken.
    pub(super) fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// Frees all blocks.
    pub(super) fn clear(&mut self) {
        *self = Self::new(self.blocks);
    }

    /// Returns a free block: a uniformly drawn block, or the next free one behind it, from the
    /// start again at the end. There must be one.
    pub(super) fn draw(&self, rng: &mut Rng) -> u64 {
        let from = rng.below(self.blocks);
        self.free_from(from).or_else(|| self.free_from(0)).expect("a block is free")
    }

    /// Returns the first free block at or behind `from`.
    fn free_from(&self, from: u64) -> Option<u64> {
        let mut at = from;
        let mut level = 0;
        // Up: to a word that has a free bit at or behind `at`.
        let found = loop {
            let word = self.levels[level].get((at / 64) as usize)?;
            let free = !word & (u64::MAX << (at % 64));
            if free != 0 {
                break at / 64 * 64 + u64::from(free.trailing_zeros());
            }
            at = at / 64 + 1;
            level += 1;
            if level == self.levels.len() {
                return None;
            }
        };
        // Down: to the first free bit below it.
        let down = (0..level).rev().fold(found, |at, below| {
            let free = !self.levels[below][at as usize];
            at * 64 + u64::from(free.trailing_zeros())
        });
        Some(down)
    }

    /// Takes `block`, which is free, and the free blocks that follow it directly, up to `most` in
    /// all. Returns their number.
    pub(super) fn take(&mut self, block: u64, most: u64) -> u64 {
        let end = self.blocks.min(block.saturating_add(most));
        let mut at = block;
        while at < end {
            let (word, bit) = ((at / 64) as usize, at % 64);
            let free = u64::from((self.levels[0][word] >> bit).trailing_zeros()).min(64 - bit);
            let run = free.min(end - at);
            if run == 0 {
                break;
            }
            self.fill(word, (u64::MAX >> (64 - run)) << bit);
            at += run;
        }
        self.left -= at - block;
        at - block
    }

    fn fill(&mut self, word: usize, bits: u64) {
        let mut at = word;
        self.levels[0][at] |= bits;
        let mut level = 0;
        while self.levels[level][at] == u64::MAX && level + 1 < self.levels.len() {
            let bit = 1 << (at % 64);
            at /= 64;
            level += 1;
            self.levels[level][at] |= bit;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the map with a list of flags.
    #[test]
    fn free_blocks_are_those_of_a_list() {
        let mut rng = Rng::new(1);
        for blocks in [1, 2, 63, 64, 65, 4095, 4096, 4097, 300_000] {
            let mut map = FreeBlocks::new(blocks);
            let mut taken = vec![false; blocks as usize];
            for _ in 0..2000 {
                if map.is_empty() {
                    assert!(taken.iter().all(|&taken| taken));
                    map.clear();
                    taken.fill(false);
                }
                let from = rng.below(blocks);
                let next = (from..blocks).find(|&at| !taken[at as usize]);
                assert_eq!(map.free_from(from), next, "{blocks} {from}");
                let block = next.or_else(|| map.free_from(0)).unwrap_or(0);
                let most = 1 + rng.below(200);
                let run = (block..blocks).take_while(|&at| !taken[at as usize]);
                let expected = run.count().min(most as usize) as u64;
                assert_eq!(map.take(block, most), expected);
                taken[block as usize..(block + expected) as usize].fill(true);
            }
        }
    }

    #[test]
    fn an_order_has_every_block_once() {
        let mut order = Order::new(100, &mut Rng::new(1));
        let mut seen = [false; 100];
        while !order.is_empty() {
            assert!(!std::mem::replace(&mut seen[order.take() as usize], true));
        }
        assert!(seen.iter().all(|&seen| seen));
    }
}
