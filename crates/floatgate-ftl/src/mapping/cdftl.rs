//! CDFTL: single entries over a few whole translation pages (Qin, Wang, Liu and Guan, RTAS 2011;
//! docs/algorithms.md, 2.7).
//!
//! The first level is DFTL's cached mapping table (CMT), the second the cached translation pages
//! (CTP). Both evict the least recently used first. A look-up first tries the CMT. Then it tries
//! the CTP, and copies the entry from there to the CMT. Otherwise it loads the page of the entry
//! from flash into the CTP. A dirty entry that leaves the CMT changes its page in the CTP. A dirty
//! entry whose page is not in the CTP is skipped while another entry can leave. If no entry can
//! leave, the page of the least recently used entry is loaded. So changes reach flash only when a
//! dirty page leaves the CTP: one program, no read.
//!
//! The paper's text was not at hand, so we decided the following:
//!
//! - Only a use that reaches the CTP makes its page the most recently used one.
//! - When a page leaves the CTP, its dirty entries that are still in the CMT are not written with
//!   it.
//! - Room in the CMT is made before the missed page is loaded.
//! - Cleaning changes entries in the CMT, or else pages in the CTP, in place. It rewrites other
//!   entries on flash.
//! - A trim is one access of each translation page.
//! - Each level holds at least one entry or page. The CTP has at most its share of the budget (but
//!   at least a page), the CMT has the rest.
//! - `evictions` and `dirty_evictions` count pages of the CTP, because an entry leaves the CMT
//!   without flash work.
//!
//! The cost is one probe of a small hash table and a heap move per page, to find the oldest entry
//! that can leave. A page that enters or leaves the CTP costs a heap move for each of its cached
//! dirty entries.

mod entries;

use alloc::vec::Vec;

use super::frames::Frames;
use super::{
    Access, AccessKind, MapConfig, MapDemands, MapOp, MapStats, Mapping, Prefetch, Residency,
    by_page,
};
use crate::addr::{Lpn, Ppn, Tpn};
use crate::counters::Counters;
use crate::geometry::Geometry;
use crate::parameters::permille;
use crate::policy::Policy;
use entries::Entries;

crate::parameters! {
    /// Parameters of CDFTL.
    pub struct CdftlConfig {
        /// Share of the cache for single entries; the rest is for whole translation pages. Counts
        /// in thousandths.
        entries_share: f64 = 0.5, above 0 below 1;
        /// Bytes of a cached entry.
        entry_bytes: u32 = 8, from 1 to 64;
    }
}

/// The two levels of CDFTL.
#[derive(Clone, Debug)]
pub struct Cdftl {
    geometry: Geometry,
    entry_bytes: u64,
    entries: Entries,
    frames: Frames,
    frames_max: u32,
    stats: MapStats,
}

crate::state!(Cdftl { entries, frames } fixed { geometry, entry_bytes, frames_max, stats });

impl Cdftl {
    /// Starts with empty levels.
    pub fn new(config: &MapConfig) -> Self {
        let CdftlConfig { entries_share, entry_bytes } = config.cdftl;
        let geometry = config.geometry;
        let page_bytes = u64::from(geometry.shape().page_bytes);
        let budget = u128::from(config.cache_bytes);
        let share = budget - budget * u128::from(permille(entries_share)) / 1000;
        let pages = u64::from(geometry.translation_pages());
        let frames_max = (share as u64 / page_bytes).clamp(1, pages);
        let rest = config.cache_bytes.saturating_sub(frames_max * page_bytes);
        let entry_bytes = u64::from(entry_bytes);
        let entries_max = (rest / entry_bytes).clamp(1, u64::from(geometry.logical_pages()));
        Self {
            geometry,
            entry_bytes,
            entries: Entries::new(entries_max as usize, pages as usize),
            frames: Frames::new(pages as u32),
            frames_max: frames_max as u32,
            stats: MapStats::default(),
        }
    }

    /// Returns the requirements on the drive.
    pub fn demands(config: &MapConfig) -> MapDemands {
        let page = config.geometry.shape().page_bytes;
        MapDemands {
            cache_bytes: u64::from(page) + u64::from(config.cdftl.entry_bytes),
            cache_for: "one translation page and one entry of cdftl.entry_bytes",
            ..MapDemands::default()
        }
    }

    /// Loads a page into the CTP. A full CTP evicts its oldest page first.
    fn load(&mut self, tpn: Tpn, io: &mut Vec<MapOp>) {
        if self.frames.len() == self.frames_max {
            let victim = self.frames.oldest().expect("a full level has an oldest page");
            let dirty = self.frames.remove(victim);
            self.entries.page_left(victim);
            self.stats.evictions += 1;
            if dirty {
                self.stats.dirty_evictions += 1;
                io.push(MapOp::Rewrite(victim));
            }
        }
        io.push(MapOp::Fetch(tpn));
        self.frames.insert(tpn);
        self.entries.page_entered(tpn);
    }

    /// Uses a page of the CTP. Loads it if it is not there.
    fn visit(&mut self, tpn: Tpn, io: &mut Vec<MapOp>) {
        if self.frames.contains(tpn) {
            self.frames.touch(tpn);
        } else {
            self.load(tpn, io);
        }
    }

    /// Makes room for an entry in the CMT. The evicted entry is then in the CTP or on flash.
    fn make_room(&mut self, io: &mut Vec<MapOp>) {
        if !self.entries.is_full() {
            return;
        }
        if !self.entries.can_evict() {
            self.load(self.entries.oldest_stuck(), io);
        }
        let (tpn, dirty) = self.entries.evict();
        if dirty {
            self.frames.mark_dirty(tpn);
        }
    }
}

impl Prefetch for Cdftl {
    #[inline(always)]
    fn prefetch(&self, lpn: Lpn) {
        self.entries.prefetch(lpn);
    }

    #[inline(always)]
    fn prefetch_entry(&self, lpn: Lpn) {
        self.entries.prefetch_entry(lpn);
    }
}

impl Mapping for Cdftl {
    #[inline]
    fn access(&mut self, access: Access, io: &mut Vec<MapOp>) {
        let tpn = self.geometry.translation_page(access.lpn);
        let dirty = access.kind != AccessKind::Read;
        if let Some(slot) = self.entries.find(access.lpn) {
            self.stats.hits += 1;
            self.entries.touch(slot, dirty, self.frames.contains(tpn));
            return;
        }
        let found = self.frames.contains(tpn);
        if found {
            self.stats.hits += 1;
            self.frames.touch(tpn);
        } else {
            self.stats.misses += 1;
        }
        // The entry has been read already, so the CTP may evict its page to make room.
        self.make_room(io);
        if !found {
            self.visit(tpn, io);
        }
        self.entries.insert(access.lpn, tpn, dirty, self.frames.contains(tpn));
    }

    fn relocated(&mut self, moved: &[(Lpn, Ppn)], io: &mut Vec<MapOp>) {
        for (tpn, page) in by_page(&self.geometry, moved) {
            let loaded = self.frames.contains(tpn);
            let mut absent = false;
            for &(lpn, _) in page {
                match self.entries.find(lpn) {
                    Some(slot) => self.entries.mark_dirty(slot, loaded),
                    None => absent = true,
                }
            }
            match absent {
                true if loaded => self.frames.mark_dirty(tpn),
                true => io.push(MapOp::Update(tpn)),
                false => {}
            }
        }
    }

    fn residency(&self, lpn: Lpn) -> Residency {
        let entry = self.entries.find(lpn).map(|slot| self.entries.is_dirty(slot));
        match (entry, self.frames.state(self.geometry.translation_page(lpn))) {
            (Some(true), _) | (_, Residency::Dirty) => Residency::Dirty,
            (Some(false), _) | (_, Residency::Clean) => Residency::Clean,
            (None, Residency::Absent) => Residency::Absent,
        }
    }

    /// If the CMT has all entries that were set, they are cleared there; else in the page.
    fn trim(&mut self, tpn: Tpn, mapped: &[Lpn], io: &mut Vec<MapOp>) {
        let here = mapped.iter().filter(|&&lpn| self.entries.find(lpn).is_some()).count();
        let all_here = here == mapped.len() && here > 0;
        let hit = all_here || self.frames.contains(tpn);
        *(if hit { &mut self.stats.hits } else { &mut self.stats.misses }) += 1;
        if !all_here {
            self.visit(tpn, io);
            if !mapped.is_empty() {
                self.frames.mark_dirty(tpn);
            }
        }
        let loaded = self.frames.contains(tpn);
        for &lpn in mapped {
            if let Some(slot) = self.entries.find(lpn) {
                self.entries.touch(slot, all_here, loaded);
            }
        }
    }

    fn flush(&mut self, io: &mut Vec<MapOp>) {
        let frames = &mut self.frames;
        self.entries.clean(|tpn| match frames.contains(tpn) {
            true => frames.mark_dirty(tpn),
            false => io.push(MapOp::Update(tpn)),
        });
        frames.clean(|tpn| io.push(MapOp::Rewrite(tpn)));
    }
}

impl Policy for Cdftl {
    fn memory_bytes(&self) -> u64 {
        let page_bytes = u64::from(self.geometry.shape().page_bytes);
        self.entries.len() as u64 * self.entry_bytes + u64::from(self.frames.len()) * page_bytes
    }

    fn report(&self, counters: &mut Counters) {
        counters.map = self.stats;
    }

    fn reset_counters(&mut self) {
        self.stats = MapStats::default();
    }

    fn check(&self) {
        self.frames.check();
        assert!(self.frames.len() <= self.frames_max);
        self.entries.check(|tpn| self.frames.contains(tpn));
    }
}

#[cfg(test)]
mod tests;
