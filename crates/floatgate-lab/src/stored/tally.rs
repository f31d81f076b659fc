//! How many pages there are, and which: enough to notice that some of them are missing.

use super::format::Found;

/// A set of programmed pages, padding left out: how many, and the sum of their serial numbers. A
/// page that is missing lowers the first number, and a page that is set back to an older one the
/// second.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Tally {
    pub pages: u64,
    /// Modulo 2^64.
    pub serials: u64,
}

impl Tally {
    /// Counts a page, if it holds one.
    pub fn add(&mut self, found: &Found) {
        if let Found::Programmed(record) = found {
            self.pages = self.pages.wrapping_add(1);
            self.serials = self.serials.wrapping_add(record.tag.serial);
        }
    }

    /// Takes a page back that was counted.
    pub fn remove(&mut self, found: &Found) {
        if let Found::Programmed(record) = found {
            self.pages = self.pages.wrapping_sub(1);
            self.serials = self.serials.wrapping_sub(record.tag.serial);
        }
    }

    /// The pages of two sets that have none in common.
    pub fn with(self, other: Self) -> Self {
        Self {
            pages: self.pages.wrapping_add(other.pages),
            serials: self.serials.wrapping_add(other.serials),
        }
    }
}
