//! The map of ASA-FTL: DFTL with the age of each page in its entry (Xie and Chen, CCGrid 2014).
//!
//! The paper keeps a cached hotness table next to the cached mapping table. A cached page has one
//! entry in each table, and both entries are fetched and evicted together. An entry on flash has
//! the page's age, the time of eviction and the label (hot, warm or cold), in addition to the
//! page's physical address. So the scheme is DFTL with two differences: a cached page takes twice
//! the memory, and a translation page holds half as many entries. A write changes the age and the
//! address together, so ages alone never make an entry dirty: the age of a page that was not
//! written follows from the time on flash.
//!
//! The cached entries and their order belong to [`Dftl`]. All its parameters apply, except the size
//! of an entry. The drive's geometry sets the size of an entry on flash, so the geometry has to be
//! made with [`AsaConfig::flash_entry_bytes`]. The placement `asa` computes the labels.
//!
//! The paper gives no sizes. Here an entry on flash has 8 bytes: 4 bytes of address, 30 bits of
//! time and 2 bits of label. A cached page has 16 bytes: the 8 bytes of DFTL's entry, and 8 bytes
//! of page number, age and label. An access costs the simulator as much time as with DFTL.

use alloc::vec::Vec;

use super::{Access, Dftl, DftlConfig, MapConfig, MapDemands, MapOp, Mapping, Prefetch, Residency};
use crate::addr::{Lpn, Ppn};
use crate::counters::Counters;
use crate::policy::Policy;
use crate::rng::Rng;

crate::parameters! {
    /// Parameters of ASA-FTL's map.
    pub struct AsaConfig {
        /// Bytes of a cached page in map and hotness table together, for the mapping `asa`.
        entry_bytes: u32 = 16, from 1 to 64;
        /// Bytes of an entry on flash, for the mapping `asa`; replaces `mapping.entry_bytes`.
        flash_entry_bytes: u32 = 8, from 1 to 64;
    }
}

/// The cached mapping table and the cached hotness table, as one table with larger entries.
#[derive(Clone, Debug)]
pub struct Asa(Dftl);

crate::state!(Asa(_));

impl Asa {
    /// Makes a cache that fills the budget, with at least one page.
    pub fn new(config: &MapConfig) -> Self {
        let dftl = DftlConfig { entry_bytes: config.asa.entry_bytes, ..config.dftl };
        Self(Dftl::new(&MapConfig { dftl, ..*config }))
    }

    /// Returns the requirements on the drive.
    pub fn demands(config: &MapConfig) -> MapDemands {
        MapDemands {
            cache_bytes: config.asa.entry_bytes.into(),
            cache_for: "one entry of asa.entry_bytes",
            entry_bytes: Some(config.asa.flash_entry_bytes),
            keeps_ages: true,
            ..MapDemands::default()
        }
    }
}

impl Prefetch for Asa {
    #[inline(always)]
    fn prefetch(&self, lpn: Lpn) {
        self.0.prefetch(lpn);
    }

    #[inline(always)]
    fn prefetch_entry(&self, lpn: Lpn) {
        self.0.prefetch_entry(lpn);
    }
}

impl Mapping for Asa {
    #[inline]
    fn access(&mut self, access: Access, io: &mut Vec<MapOp>) {
        self.0.access(access, io);
    }

    fn relocated(&mut self, moved: &[(Lpn, Ppn)], io: &mut Vec<MapOp>) {
        self.0.relocated(moved, io);
    }

    fn residency(&self, lpn: Lpn) -> Residency {
        self.0.residency(lpn)
    }

    fn draw(&self, rng: &mut Rng) -> Option<Lpn> {
        self.0.draw(rng)
    }

    fn flush(&mut self, io: &mut Vec<MapOp>) {
        self.0.flush(io);
    }
}

impl Policy for Asa {
    fn memory_bytes(&self) -> u64 {
        self.0.memory_bytes()
    }

    fn report(&self, counters: &mut Counters) {
        self.0.report(counters);
    }

    fn reset_counters(&mut self) {
        self.0.reset_counters();
    }

    fn check(&self) {
        self.0.check();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::{Geometry, Shape};
    use crate::mapping::drive_tests::{Drive, anything};
    use crate::mapping::tests::{PAGES, cached, geometry, run};
    use alloc::vec;

    /// The test drive with entries of `entry_bytes` bytes on flash.
    fn with_entries_of(entry_bytes: u32) -> Geometry {
        let shape = Shape { entry_bytes, ..*geometry(16).shape() };
        Geometry::new(shape).unwrap()
    }

    #[test]
    fn half_as_many_pages_in_the_same_memory() {
        let config = MapConfig::new(geometry(16), 64);
        let (mut asa, mut dftl) = (Asa::new(&config), Dftl::new(&config));
        let script = "r0+16 r40+4";
        run(&mut asa, 64, script);
        run(&mut dftl, 64, script);
        assert_eq!(cached(&asa), [40, 41, 42, 43]);
        assert_eq!(cached(&dftl), [12, 13, 14, 15, 40, 41, 42, 43]);
        assert_eq!((asa.memory_bytes(), dftl.memory_bytes()), (64, 64));
    }

    #[test]
    fn half_as_many_entries_in_a_translation_page() {
        let AsaConfig { flash_entry_bytes, .. } = AsaConfig::default();
        let geometry = with_entries_of(flash_entry_bytes);
        assert_eq!(geometry.entries_per_page(), 8);
        assert_eq!(geometry.translation_pages(), PAGES / 8);
        let map = Asa::new(&MapConfig::new(geometry, 512));
        anything(&mut Drive::new(map, geometry, 512), 3, 3000);
    }

    #[test]
    fn with_as_many_entries_it_is_dftl() {
        let script = "w0 w1 r40 w41 r2 w90+8 r0 g0+4 w7 t41 f r90+8 w0 w300 r301 t0+16 w5";
        let asa = Asa::new(&MapConfig::new(geometry(16), 16 * 6));
        let dftl = Dftl::new(&MapConfig::new(geometry(16), 8 * 6));
        let ours = Drive::new(asa, geometry(16), 16 * 6).run(script);
        let theirs = Drive::new(dftl, geometry(16), 8 * 6).run(script);
        assert_eq!(ours, theirs);
        assert_ne!(ours, vec![vec![]; ours.len()]);
    }
}
