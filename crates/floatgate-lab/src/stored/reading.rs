//! Reads of the host that are only looked up, and reads that are made to fail.

use std::sync::{Arc, RwLock};

use floatgate_ftl::addr::Ppn;
use floatgate_ftl::rng::Rng;

use super::format::Record;
use super::{Place, Plug, Stored};

/// Where the bytes of a page are in the image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Located {
    /// The first of them.
    pub at: u64,
    /// How many.
    pub length: u32,
    /// Their CRC-32.
    pub checksum: u32,
}

/// Reads that fail by chance, as those of worn flash do.
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
    /// Whether this read fails.
    pub fn draw(&mut self) -> bool {
        self.share > 0.0 && self.rng.unit() < self.share
    }
}

impl Stored {
    /// A request is next whose pages go into the register when the host reads them, or are only
    /// found.
    pub fn locate_reads(&mut self, locates: bool) {
        self.locates = locates;
        self.found.clear();
        self.saved.clear();
    }

    /// Pages that the request in hand has found in units that it then had erased, and their bytes:
    /// a read may load the map, for which room has to be made.
    pub fn take_saved(&mut self) -> Vec<(Located, Vec<u8>)> {
        std::mem::take(&mut self.saved)
    }

    /// Before a unit is erased, of so many pages.
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

    /// Where the page is that the host read last, if it was only found and is in the image.
    pub fn located(&self) -> Option<Located> {
        self.located
    }

    /// The bytes, and the lock under which pages stay where they were found.
    pub fn shared(&self) -> (Arc<Place>, Arc<RwLock<()>>) {
        (Arc::clone(self.image.place()), Arc::clone(self.image.erases()))
    }

    /// Pages programmed in all the life of the drive, copies included.
    pub fn programs_ever(&self) -> u64 {
        self.next_point
    }

    /// The plug of this drive.
    pub fn plug(&self) -> Plug {
        self.image.plug().clone()
    }

    /// This share of the host's page reads fails, from 0 to 1, drawn with a seed.
    pub fn fail_reads(&mut self, share: f64, seed: u64) {
        self.failing = Failing { share, rng: Rng::new(seed) };
    }

    /// Where a page is that is to be found only: it may wait for its row, or be nowhere.
    pub(super) fn locate(&self, ppn: Ppn, record: &Record) -> Option<Located> {
        if !self.locates || !record.is_stored() || self.waiting(ppn.get()).is_some() {
            return None;
        }
        let at = self.layout.data(ppn.get(), 1).start;
        Some(Located { at, length: record.length, checksum: record.checksum })
    }
}
