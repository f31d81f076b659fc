//! Random requests.

use floatgate_ftl::request::{Op, Request};
use floatgate_ftl::rng::Rng;

/// Relative frequency of each kind of request, and the maximum length.
#[derive(Clone, Copy, Debug)]
pub struct Mix {
    pub reads: u64,
    pub writes: u64,
    pub trims: u64,
    pub flushes: u64,
    pub pages_max: u64,
    /// Whether requests start and end at any byte.
    pub unaligned: bool,
}

/// All kinds of requests.
pub const ANYTHING: Mix =
    Mix { reads: 12, writes: 24, trims: 1, flushes: 1, pages_max: 6, unaligned: true };

pub const WRITES: Mix =
    Mix { reads: 0, writes: 1, trims: 0, flushes: 0, pages_max: 1, unaligned: false };

/// Source of requests for a drive of `pages` pages of `page_bytes` bytes.
#[derive(Clone, Debug)]
pub struct Workload {
    pub rng: Rng,
    pub mix: Mix,
    pub pages: u64,
    pub page_bytes: u64,
    now: u64,
}

impl Workload {
    pub fn new(seed: u64, mix: Mix, pages: u32, page_bytes: u32) -> Self {
        let (pages, page_bytes) = (u64::from(pages), u64::from(page_bytes));
        Self { rng: Rng::new(seed), mix, pages, page_bytes, now: 0 }
    }

    /// Returns an aligned request of whole pages.
    pub fn pages(op: Op, first: u64, pages: u64, page_bytes: u64) -> Request {
        Request { at_ns: 0, op, offset: first * page_bytes, length: pages * page_bytes, stream: 0 }
    }

    fn op(&mut self) -> Op {
        let Mix { reads, writes, trims, flushes, .. } = self.mix;
        let dice = self.rng.below(reads + writes + trims + flushes);
        match dice {
            d if d < reads => Op::Read,
            d if d < reads + writes => Op::Write,
            d if d < reads + writes + trims => Op::Trim,
            _ => Op::Flush,
        }
    }

    pub fn next(&mut self) -> Request {
        let op = self.op();
        self.now += self.rng.below(400);
        if op == Op::Flush {
            return Request { at_ns: self.now, op, offset: 0, length: 0, stream: 0 };
        }
        // A trim may cover several translation pages. A quarter of the accesses go to a few hot
        // pages.
        let longest = if op == Op::Trim { 4 * self.mix.pages_max } else { self.mix.pages_max };
        let pages = (1 + self.rng.below(longest)).min(self.pages);
        let span = self.pages - pages + 1;
        let span = if self.rng.below(4) == 0 { span.div_ceil(8) } else { span };
        let first = self.rng.below(span);
        let mut request = Self::pages(op, first, pages, self.page_bytes);
        if self.mix.unaligned && self.rng.below(2) == 0 {
            let cut = self.rng.below(self.page_bytes);
            request.offset += cut;
            request.length -= cut;
            request.length -= self.rng.below(request.length.min(self.page_bytes));
        }
        Request { at_ns: self.now, ..request }
    }

    pub fn batch(&mut self, requests: usize) -> Vec<Request> {
        (0..requests).map(|_| self.next()).collect()
    }
}
