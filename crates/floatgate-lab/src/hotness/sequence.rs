//! One sequence: its hot and cold pages, and the extents of hot pages.

use serde_json::{Value, json};

use super::GAPS;

/// Measurements of a sequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sequence {
    /// Write requests.
    pub requests: u64,
    /// Bytes of the write requests.
    pub bytes: u64,
    /// Distinct pages with enough writes to be hot.
    pub hot_pages: u64,
    /// Distinct written pages with fewer writes.
    pub cold_pages: u64,
    /// Page writes to hot pages.
    pub hot_writes: u64,
    /// Page writes to cold pages.
    pub cold_writes: u64,
    /// Extents of hot pages, for each of [`GAPS`].
    pub extents: [u64; GAPS.len()],
    /// Page writes to cold pages within these extents, for each of [`GAPS`].
    pub merged_writes: [u64; GAPS.len()],
}

impl Sequence {
    /// Measures the pages of a sequence. `written` has the pages in ascending order with their
    /// numbers of writes.
    ///
    /// Two neighbouring hot pages with g cold pages between them, written or not, are in one extent
    /// for every gap of [`GAPS`] above g.
    pub(super) fn measure(&mut self, written: &[(u64, u32)], hot_from: u32) {
        let mut last_hot = None;
        let mut between = 0;
        for &(page, writes) in written {
            if writes < hot_from {
                self.cold_pages += 1;
                self.cold_writes += u64::from(writes);
                between += u64::from(writes);
                continue;
            }
            self.hot_pages += 1;
            self.hot_writes += u64::from(writes);
            let gap = last_hot.map(|last| page - last - 1);
            for (k, least) in GAPS.iter().enumerate() {
                match gap {
                    Some(gap) if gap < *least => self.merged_writes[k] += between,
                    _ => self.extents[k] += 1,
                }
            }
            last_hot = Some(page);
            between = 0;
        }
    }

    /// Returns the mean number of pages in a write.
    pub fn length(&self) -> Option<f64> {
        let pages = (self.hot_writes + self.cold_writes) as f64;
        (self.requests > 0).then(|| pages / self.requests as f64)
    }

    /// Returns the share of the cold writes that lie in extents of hot pages, at the k-th of
    /// [`GAPS`].
    pub fn merged_share(&self, k: usize) -> Option<f64> {
        (self.cold_writes > 0).then(|| self.merged_writes[k] as f64 / self.cold_writes as f64)
    }

    pub(super) fn document(&self) -> Value {
        json!({
            "hot_pages": self.hot_pages,
            "cold_pages": self.cold_pages,
            "hot_writes": self.hot_writes,
            "cold_writes": self.cold_writes,
            "length_pages": self.length(),
            "extents": self.extents[0],
            "write_requests": self.requests,
            "written_bytes": self.bytes,
        })
    }
}

/// Returns the mean of a number over the sequences that have it.
pub(super) fn means(
    sequences: &[Sequence],
    number: impl Fn(&Sequence) -> Option<f64>,
) -> Option<f64> {
    let numbers: Vec<f64> = sequences.iter().filter_map(number).collect();
    (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sequence(written: &[(u64, u32)]) -> Sequence {
        let mut sequence = Sequence::default();
        sequence.measure(written, 4);
        sequence
    }

    #[test]
    fn extents_merge_over_fewer_than_k_cold_pages() {
        // The gaps are 2..=4 and 7..=19: three and thirteen pages.
        let pages = [0, 1, 5, 6, 20];
        let found = sequence(&pages.map(|page| (page, 4)));
        // For k of     1, 2, 4, 8, 16, ... 1024.
        assert_eq!(found.extents, [3, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1]);
        assert_eq!((found.hot_pages, found.hot_writes, found.cold_pages), (5, 20, 0));
        assert_eq!(found.merged_share(10), None, "there are no cold writes");
    }

    #[test]
    fn cold_writes_inside_merged_extents_are_counted() {
        let found = sequence(&[(0, 9), (1, 3), (3, 4), (10, 1), (20, 4), (30, 2)]);
        assert_eq!(found.extents[..5], [3, 3, 2, 2, 2]);
        assert_eq!(found.extents[5..], [1; 6]);
        // Page 1 lies in a gap of two pages, page 10 in one of sixteen, page 30 beyond all.
        assert_eq!(found.merged_writes[..6], [0, 0, 3, 3, 3, 4]);
        assert_eq!(found.merged_share(10), Some(4.0 / 6.0));
        assert_eq!((found.hot_writes, found.cold_writes, found.cold_pages), (17, 6, 3));
    }

    #[test]
    fn nothing_written_is_nothing_measured() {
        let found = sequence(&[]);
        assert_eq!((found.length(), found.extents[0]), (None, 0));
        assert_eq!(means(&[], Sequence::length), None);
    }
}
