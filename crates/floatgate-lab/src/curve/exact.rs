//! The exact curve: counts every access.

use std::ops::Range;

use super::Touched;
use super::hits::Hits;
use super::stack::Stack;

/// Stack distances of all accesses.
pub(super) struct Exact {
    stack: Stack,
    /// Number of accesses at each distance, from distance 1.
    distances: Vec<u64>,
}

impl Exact {
    pub fn new() -> Self {
        Self { stack: Stack::new(), distances: Vec::new() }
    }

    /// Returns the curve and the number of distinct pages.
    pub fn finish(self) -> (Hits, u64) {
        let counts = self.distances.iter().map(|&count| count as f64);
        (Hits::new(counts, 1.0), self.stack.pages() as u64)
    }
}

impl Touched for Exact {
    #[inline]
    fn touch(&mut self, pages: Range<u32>) {
        for page in pages {
            match self.stack.access(page) {
                Some(distance) => self.distances[distance - 1] += 1,
                // A distance is at most the number of pages.
                None => self.distances.push(0),
            }
        }
    }
}
