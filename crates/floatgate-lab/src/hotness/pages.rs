//! Every page that is written: how often, when last, and how often in this sequence.

use std::collections::BTreeMap;

use super::sequence::Sequence;

/// No record.
const VACANT: u32 = u32::MAX;
/// The cells of an empty table.
const CELLS: usize = 1 << 10;

#[derive(Clone, Copy, Debug)]
struct Record {
    page: u64,
    /// The number of the latest page write to it.
    last: u64,
    writes: u32,
    in_sequence: u32,
}

/// Records in the order of their first write, and an open-addressed table of their numbers, at most
/// half full.
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

    /// Pages that were written.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Notes page write number `now`, and returns the number of the one before to the same page.
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

    /// The sequence that is under way.
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

    /// How many pages were written how often.
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

    /// The cell of `page`, or the vacant one where it would go.
    #[inline(always)]
    fn find(&self, page: u64) -> usize {
        let mask = self.cells.len() - 1;
        // Fibonacci hashing: the upper bits of the product are the well mixed ones.
        let mut at = (page.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & mask;
        while self.cells[at] != VACANT && self.records[self.cells[at] as usize].page != page {
            at = (at + 1) & mask;
        }
        at
    }
}

/// How many pages were written how often, by ascending number of writes.
pub(super) struct Counts(BTreeMap<u32, u64>);

impl Counts {
    fn pages(&self) -> u64 {
        self.0.values().sum()
    }

    fn writes(&self) -> u64 {
        self.0.iter().map(|(&writes, pages)| u64::from(writes) * pages).sum()
    }

    /// The Gini coefficient: 0 if all pages are written equally often, towards 1 if one has all.
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

    /// The share of the writes that go to the `share` most written pages, whose number is rounded
    /// up.
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
