//! Tally of pages: enough to notice that some of them are missing.

use super::format::PageContent;

/// Tally of programmed pages without padding: their number, and the sum of their serial numbers. A
/// missing page lowers the number, and a page that was set back to an older one lowers the sum.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Tally {
    pub pages: u64,
    /// Sum of the serial numbers, modulo 2^64.
    pub serials: u64,
}

impl Tally {
    /// Adds a page, if it is programmed.
    pub fn add(&mut self, found: &PageContent) {
        if let PageContent::Programmed(record) = found {
            self.pages = self.pages.wrapping_add(1);
            self.serials = self.serials.wrapping_add(record.tag.serial);
        }
    }

    /// Removes a page that was added.
    pub fn remove(&mut self, found: &PageContent) {
        if let PageContent::Programmed(record) = found {
            self.pages = self.pages.wrapping_sub(1);
            self.serials = self.serials.wrapping_sub(record.tag.serial);
        }
    }

    /// Adds up two tallies of disjoint sets of pages.
    pub fn with(self, other: Self) -> Self {
        Self {
            pages: self.pages.wrapping_add(other.pages),
            serials: self.serials.wrapping_add(other.serials),
        }
    }
}
