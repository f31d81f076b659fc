//! Records of all written pages: number of writes, latest write, and writes in the current
//! sequence.

use std::collections::BTreeMap;

use super::sequence::Sequence;

/// Cell without a record.
const VACANT: u32 = u32::MAX;
/// Cells of an empty table.
const CELLS: usize = 1 << 10;

#[derive(Clone, Copy, Debug)]
struct Record {
    page: u64,
    /// Number of the latest page write to the page.
    last: u64,
    writes: u32,
    in_sequence: u32,
}

/// Records in the order of their first write, with an open-addressed table of record numbers. The
/// table is at most half full.
#[derive(Debug)]
pub(super) struct Pages {
    cells: Vec<u32>,
    records: Vec<Record>,
    /// Numbers of the records with writes in this sequence.
    touched: Vec<u32>,
    sequence: Sequence,
}

impl Pages {
    pub fn new() -> Self {
        Self {
            cells: vec![VACANT; CELLS],
            records: Vec::new(),
            touched: Vec::new(),
            sequence: Sequence::default(),
        }
    }

    /// Returns the number of written pages.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Records page write number `now`, and returns the number of the previous write to this page.
    #[inline]
    pub fn write(&mut self, page: u64, now: u64) -> Option<u64> {
        let at = self.find(page);
        let number = self.cells[at];
        if number == VACANT {
            self.add(at, Record { page, last: now, writes: 1, in_sequence: 1 });
            return None;
        }
        let record = &mut self.records[number as usize];
        record.writes = record.writes.saturating_add(1);
        if record.in_sequence == 0 {
            self.touched.push(number);
        }
        record.in_sequence += 1;
        Some(std::mem::replace(&mut record.last, now))
    }

    /// Returns the current sequence.
    pub fn sequence_mut(&mut self) -> &mut Sequence {
        &mut self.sequence
    }

    /// Ends the sequence and begins the next.
    pub fn end_sequence(&mut self, hot_from: u32) -> Sequence {
        let mut written = Vec::with_capacity(self.touched.len());
        for number in self.touched.drain(..) {
            let record = &mut self.records[number as usize];
            written.push((record.page, record.in_sequence));
            record.in_sequence = 0;
        }
        written.sort_unstable();
        let mut sequence = std::mem::take(&mut self.sequence);
        sequence.measure(&written, hot_from);
        sequence
    }

    /// Returns how many pages have each number of writes.
    pub fn counts(&self) -> Counts {
        let mut counts = BTreeMap::new();
        for record in &self.records {
            *counts.entry(record.writes).or_insert(0) += 1;
        }
        Counts(counts)
    }

    fn add(&mut self, at: usize, record: Record) {
        let number = u32::try_from(self.records.len()).expect("fewer than 2^32 pages");
        assert_ne!(number, VACANT);
        self.cells[at] = number;
        self.records.push(record);
        self.touched.push(number);
        if 2 * self.records.len() > self.cells.len() {
            self.cells = vec![VACANT; 2 * self.cells.len()];
            for number in 0..=number {
                let at = self.find(self.records[number as usize].page);
                self.cells[at] = number;
            }
        }
    }

    /// Returns the cell of `page`, or the vacant cell for it.
    #[inline(always)]
    fn find(&self, page: u64) -> usize {
        let mask = self.cells.len() - 1;
        // Fibonacci hashing: the upper bits of the product are well mixed.
        let mut at = (page.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & mask;
        while self.cells[at] != VACANT && self.records[self.cells[at] as usize].page != page {
            at = (at + 1) & mask;
        }
        at
    }
}

/// Number of pages for each number of writes, in ascending order.
pub(super) struct Counts(BTreeMap<u32, u64>);

impl Counts {
    fn pages(&self) -> u64 {
        self.0.values().sum()
    }

    fn writes(&self) -> u64 {
        self.0.iter().map(|(&writes, pages)| u64::from(writes) * pages).sum()
    }

    /// Returns the Gini coefficient: 0 if all pages have equally many writes, near 1 if one page
    /// has all.
    pub fn gini(&self) -> Option<f64> {
        // Twice the area under the Lorenz curve, by groups of pages with equally many writes.
        let (mut below, mut area) = (0.0, 0.0);
        for (&writes, &pages) in &self.0 {
            let sum = f64::from(writes) * pages as f64;
            area += pages as f64 * (2.0 * below + sum);
            below += sum;
        }
        let all = self.pages() as f64 * self.writes() as f64;
        (all > 0.0).then(|| 1.0 - area / all)
    }

    /// Returns the share of the writes that go to the most written `share` of the pages. The number
    /// of pages is rounded up.
    pub fn top(&self, share: f64) -> Option<f64> {
        let mut left = (share * self.pages() as f64).ceil() as u64;
        let mut sum = 0;
        for (&writes, &pages) in self.0.iter().rev() {
            let taken = left.min(pages);
            sum += taken * u64::from(writes);
            left -= taken;
        }
        (self.writes() > 0).then(|| sum as f64 / self.writes() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skew_of_known_counts() {
        let counts = Counts([(1, 3), (7, 1)].into());
        // Lorenz: 0.1, 0.2, 0.3, 1; the area under it 0.275.
        assert!((counts.gini().unwrap() - 0.45).abs() < 1e-12);
        assert_eq!(counts.top(0.25), Some(0.7));
        assert_eq!(counts.top(0.26), Some(0.8));
        assert_eq!((counts.top(0.001), counts.top(1.0)), (Some(0.7), Some(1.0)));
        let even = Counts([(5, 100)].into());
        assert!(even.gini().unwrap().abs() < 1e-12);
        assert_eq!(even.top(0.01), Some(0.01));
        let none = Counts([].into());
        assert_eq!((none.gini(), none.top(0.5)), (None, None));
    }
}
