//! The map on flash: translation pages, the directory of their places, and the mapping cache.

use alloc::vec;
use alloc::vec::Vec;
use core::mem;

use super::PageFtl;
use super::verify::FlashMap;
use crate::addr::{Lpn, Owner, Ppn, Tpn};
use crate::counters::Counters;
use crate::geometry::Geometry;
use crate::mapping::{MapOp, Mapping};
use crate::nand::{Cause, Chain, Clock, Fork, Nand, ReadSource, Task};
use crate::store::Store;

/// The mapping cache, and the translation pages behind it.
pub(super) struct Map<M> {
    pub(super) cache: M,
    /// Translation pages of a map page.
    pub(super) pages_per_page: u32,
    /// Global translation directory: place of each translation page.
    pub(super) directory: Vec<Option<Ppn>>,
    /// Content of the translation pages, if it is kept.
    pub(super) flash: Option<FlashMap>,
    /// Flash work that the cache has requested: for the host, and for cleaning.
    pub(super) io: Vec<MapOp>,
    pub(super) gc_io: Vec<MapOp>,
    /// Pages of the current trim. Kept to avoid allocation.
    pub(super) trimmed: Vec<Lpn>,
}

impl<M: Mapping> Map<M> {
    /// Starts with no translation page written.
    pub(super) fn new(cache: M, geometry: &Geometry, verify: bool, pages_per_page: u32) -> Self {
        let tpns = if cache.is_on_flash() { geometry.translation_pages() } else { 0 };
        Self {
            cache,
            pages_per_page,
            directory: vec![None; tpns as usize],
            flash: verify.then(|| FlashMap::new(geometry.logical_pages())),
            io: Vec::new(),
            gc_io: Vec::new(),
            trimmed: Vec::new(),
        }
    }

    pub(super) fn tpns(&self) -> impl Iterator<Item = Tpn> + use<M> {
        (0..self.directory.len() as u32).map(Tpn::new)
    }

    fn place(&self, tpn: Tpn) -> Ppn {
        self.directory[tpn.index()].expect("formatting wrote every translation page")
    }

    /// Points the directory at the newest program of a translation page.
    fn point<N: Nand>(&mut self, tpn: Tpn, to: Ppn, store: &mut Store<N>) {
        let owner = Owner::Translation(tpn);
        store.units.validate(to, owner);
        if let Some(old) = self.directory[tpn.index()].replace(to) {
            store.units.invalidate(old, owner);
        }
        if let Some(flash) = &mut self.flash {
            flash.written(tpn, &store.geometry, &store.table, &self.cache);
        }
    }

    /// Requests the flash work that writes back all dirty entries.
    pub(super) fn flush(&mut self) {
        self.cache.flush(&mut self.io);
        if let Some(flash) = self.flash.as_ref().filter(|_| self.cache.is_on_flash()) {
            flash.check_flushed(&self.cache);
        }
    }

    pub(super) fn report(&self, counters: &mut Counters) {
        self.cache.report(counters);
        counters.cache_bytes = self.cache.memory_bytes();
    }

    /// Asserts that each translation page is at its place in the directory, and that cache and
    /// flash together equal the true map. Returns the number of translation pages.
    pub(super) fn check<N: Nand>(&self, store: &Store<N>) -> u64 {
        self.cache.check();
        for tpn in self.tpns() {
            let owner = self.directory[tpn.index()].and_then(|ppn| store.units.owner(ppn));
            assert_eq!(owner, Some(Owner::Translation(tpn)), "the page of {tpn:?}");
        }
        if let Some(flash) = &self.flash {
            flash.check(&store.table, &self.cache);
        }
        self.directory.len() as u64
    }
}

impl<N: Nand, M: Mapping> PageFtl<N, M> {
    /// Does the flash work that the mapping has requested, in order.
    #[inline(always)]
    pub(super) fn perform(&mut self, cause: Cause, chain: &mut Chain) -> Result<(), N::Error> {
        if self.map.io.is_empty() {
            return Ok(());
        }
        let mut io = mem::take(&mut self.map.io);
        match self.map.pages_per_page {
            1 => io.iter().try_for_each(|&op| self.map_op(op, cause, chain))?,
            pages => self.map_groups(&io, pages, cause, chain)?,
        }
        io.clear();
        self.map.io = io;
        Ok(())
    }

    /// Reads or writes the `pages` translation pages of each map page in parallel.
    #[inline(never)]
    fn map_groups(
        &mut self,
        io: &[MapOp],
        pages: u32,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        for group in io.chunk_by(|a, b| a.goes_with(b, pages)) {
            let mut fork = Fork::new(*chain);
            for &op in group {
                let mut branch = fork.branch();
                self.map_op(op, cause, &mut branch)?;
                fork.join(branch, self.store.clock());
            }
            *chain = fork.end();
        }
        Ok(())
    }

    fn map_op(&mut self, op: MapOp, cause: Cause, chain: &mut Chain) -> Result<(), N::Error> {
        match op {
            MapOp::Fetch(tpn) => self.read_map(tpn, cause, chain),
            MapOp::Rewrite(tpn) => self.program_map(tpn, cause, chain),
            MapOp::Update(tpn) => {
                self.read_map(tpn, cause, chain)?;
                self.program_map(tpn, cause, chain)
            }
        }
    }

    pub(super) fn read_map(
        &mut self,
        tpn: Tpn,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        if cause != Cause::GcMap {
            self.store.clock().begin_task(chain, Task::MapRead);
        }
        let from = self.map.place(tpn);
        let source = match self.streams.holds_in_memory(from, &self.store.geometry) {
            true => ReadSource::Memory,
            false => ReadSource::Cells,
        };
        self.store.nand.read(from, Owner::Translation(tpn), source, cause, chain)
    }

    pub(super) fn program_map(
        &mut self,
        tpn: Tpn,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        let to = self.allocate(self.streams.map(), chain)?;
        self.cleaner.pacing.take();
        let tag = self.store.stamp.write(Owner::Translation(tpn));
        self.store.nand.program(to, tag, cause, chain)?;
        self.map.point(tpn, to, &mut self.store);
        Ok(())
    }

    pub(super) fn program_all_of_map(&mut self, chain: &mut Chain) -> Result<(), N::Error> {
        self.map.tpns().try_for_each(|tpn| self.program_map(tpn, Cause::Map, chain))
    }

    /// Updates the map with the new places of pages that cleaning has moved.
    pub(super) fn update_map(&mut self, work: &mut Chain) -> Result<(), N::Error> {
        let (moved, mut io) = (&mut self.cleaner.moved, mem::take(&mut self.map.gc_io));
        sort_by_lpn(moved);
        self.map.cache.relocated(moved, &mut io);
        let width = self.store.geometry.row_pages() as usize;
        for row in io.chunks(width) {
            self.update_row(row, work)?;
        }
        io.clear();
        self.map.gc_io = io;
        Ok(())
    }

    /// Updates several translation pages at once: reads all of them, then programs all of them.
    fn update_row(&mut self, row: &[MapOp], work: &mut Chain) -> Result<(), N::Error> {
        for reading in [true, false] {
            let mut fork = Fork::new(*work);
            for &op in row {
                let mut branch = fork.branch();
                match (reading, op) {
                    (true, MapOp::Fetch(tpn) | MapOp::Update(tpn)) => {
                        self.read_map(tpn, Cause::GcMap, &mut branch)?;
                    }
                    (false, MapOp::Update(tpn) | MapOp::Rewrite(tpn)) => {
                        self.program_map(tpn, Cause::GcMap, &mut branch)?;
                    }
                    _ => {}
                }
                fork.join(branch, self.store.clock());
            }
            *work = fork.end();
        }
        Ok(())
    }
}

/// Sorts pages by logical number; each number occurs once. This is a radix sort, which is several
/// times faster than a sort by comparisons.
fn sort_by_lpn(pages: &mut Vec<(Lpn, Ppn)>) {
    if pages.is_sorted() {
        return;
    }
    let highest = pages.iter().map(|(lpn, _)| lpn.get()).max().unwrap_or(0);
    let mut sorted = pages.clone();
    for shift in (0..u32::BITS - highest.leading_zeros()).step_by(8) {
        let byte = |lpn: Lpn| (lpn.get() >> shift) as u8 as usize;
        // First the number of pages with each byte value, then the place of their first page.
        let mut places = [0_u32; 256];
        pages.iter().for_each(|&(lpn, _)| places[byte(lpn)] += 1);
        let mut sum = 0;
        for place in &mut places {
            (*place, sum) = (sum, sum + *place);
        }
        for &page in pages.iter() {
            let place = &mut places[byte(page.0)];
            sorted[*place as usize] = page;
            *place += 1;
        }
        mem::swap(pages, &mut sorted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn pages_are_in_order() {
        let mut rng = Rng::new(1);
        for (count, highest) in [(0, 1), (1, 9), (300, 300), (300, 70_000), (999, 1 << 30)] {
            let mut pages: Vec<_> =
                (0..count).map(|at| (Lpn::new(rng.below(highest) as u32), Ppn::new(at))).collect();
            pages.sort_by_key(|page| page.0);
            pages.dedup_by_key(|page| page.0);
            let expected = pages.clone();
            pages.reverse();
            pages.sort_by_key(|page| page.1);
            sort_by_lpn(&mut pages);
            assert_eq!(pages, expected);
        }
    }
}
