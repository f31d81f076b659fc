//! Host reads that only locate their pages, and host reads that are made to fail.

use std::sync::{Arc, RwLock};

use floatgate_ftl::addr::Ppn;
use floatgate_ftl::rng::Rng;

use super::format::Record;
use super::{ImageStore, Plug, Stored};

/// Location of a page's bytes in the image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Located {
    /// Offset of the first byte.
    pub at: u64,
    /// Number of bytes.
    pub length: u32,
    /// CRC-32 of the bytes.
    pub checksum: u32,
}

/// Reads that fail at random, as on worn flash.
#[derive(Debug)]
pub(super) struct Failing {
    share: f64,
    rng: Rng,
}

impl Default for Failing {
    fn default() -> Self {
        Self { share: 0.0, rng: Rng::new(0) }
    }
}

impl Failing {
    /// Draws whether this read fails.
    pub fn draw(&mut self) -> bool {
        self.share > 0.0 && self.rng.unit() < self.share
    }
}

impl Stored {
    /// Prepares for the next request. With `locates`, host reads only locate their pages. Without
    /// it, they read their pages into the register.
    pub fn locate_reads(&mut self, locates: bool) {
        self.locates = locates;
        self.found.clear();
        self.saved.clear();
    }

    /// Removes and returns the pages, with their bytes, that the current request located and whose
    /// units it then erased. A read can cause an erase, because it may load map entries and must
    /// make room for them.
    pub fn take_saved(&mut self) -> Vec<(Located, Vec<u8>)> {
        std::mem::take(&mut self.saved)
    }

    /// Saves the located pages of a unit before its erase.
    pub(super) fn save_found(&mut self, first: u32, pages: u32) -> Option<()> {
        let unit = self.layout.data(first, pages);
        for at in 0..self.found.len() {
            let located = self.found[at];
            if unit.contains(&located.at) {
                let mut bytes = vec![0; located.length as usize];
                self.image.read(located.at, &mut bytes)?;
                self.saved.push((located, bytes));
            }
        }
        Some(())
    }

    /// Returns the location of the page that the host read last, if the page was only located and
    /// is in the image.
    pub fn located(&self) -> Option<Located> {
        self.located
    }

    /// Returns the store of the bytes, and the lock that keeps located pages where they are.
    pub fn shared(&self) -> (Arc<ImageStore>, Arc<RwLock<()>>) {
        (Arc::clone(self.image.store()), Arc::clone(self.image.erases()))
    }

    /// Returns the pages programmed over the drive's whole life, copies included.
    pub fn programs_ever(&self) -> u64 {
        self.next_point
    }

    /// Returns the plug of this drive.
    pub fn plug(&self) -> Plug {
        self.image.plug().clone()
    }

    /// Makes this share of the host's page reads fail, from 0 to 1, at random with a seed.
    pub fn fail_reads(&mut self, share: f64, seed: u64) {
        self.failing = Failing { share, rng: Rng::new(seed) };
    }

    /// Returns the location of a page if reads only locate pages. None for a page without stored
    /// data, or one that waits in memory for its row.
    pub(super) fn locate(&self, ppn: Ppn, record: &Record) -> Option<Located> {
        if !self.locates || !record.is_stored() || self.waiting(ppn.get()).is_some() {
            return None;
        }
        let at = self.layout.data(ppn.get(), 1).start;
        Some(Located { at, length: record.length, checksum: record.checksum })
    }
}
