//! Content of the translation pages on flash, kept for comparison with the true map.

use alloc::vec;
use alloc::vec::Vec;

use crate::addr::{Lpn, Ppn, Tpn};
use crate::geometry::Geometry;
use crate::mapping::{Mapping, Residency};

/// The content of all translation pages.
#[derive(Clone, Debug)]
pub(super) struct FlashMap {
    entries: Vec<Option<Ppn>>,
}

crate::state!(FlashMap { entries });

impl FlashMap {
    pub(super) fn new(logical_pages: u32) -> Self {
        Self { entries: vec![None; logical_pages as usize] }
    }

    /// Notes the program of a translation page, with the true values of all entries that are not
    /// dirty in the cache.
    pub(super) fn written<M: Mapping>(
        &mut self,
        tpn: Tpn,
        geometry: &Geometry,
        table: &[Option<Ppn>],
        mapping: &M,
    ) {
        let entries = geometry.entries_per_page() as usize;
        let first = tpn.index() * entries;
        let end = (first + entries).min(table.len());
        let entries = self.entries[first..end].iter_mut().zip(&table[first..end]);
        for ((flash, truth), number) in entries.zip(first..) {
            if mapping.residency(Lpn::new(number as u32)) != Residency::Dirty {
                *flash = *truth;
            }
        }
    }

    /// Asserts that cache and flash together equal the true map: each entry that is not dirty is
    /// equal on flash.
    pub(super) fn check<M: Mapping>(&self, table: &[Option<Ppn>], mapping: &M) {
        for (index, (flash, truth)) in self.entries.iter().zip(table).enumerate() {
            let lpn = Lpn::new(index as u32);
            if mapping.residency(lpn) != Residency::Dirty {
                assert_eq!(flash, truth, "the map on flash is out of date for {lpn:?}");
            }
        }
    }

    /// Asserts that a flush has requested the write-back of all dirty entries.
    pub(super) fn check_flushed<M: Mapping>(&self, mapping: &M) {
        for lpn in (0..self.entries.len() as u32).map(Lpn::new) {
            let residency = mapping.residency(lpn);
            assert_ne!(residency, Residency::Dirty, "a flush of the map leaves {lpn:?}");
        }
    }
}
