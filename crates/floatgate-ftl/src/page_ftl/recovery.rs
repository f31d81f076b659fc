//! Recovery of a page-mapped drive after a loss of power. [`crate::recovery`] finds all pages.
//!
//! Power may have failed in the middle of a clean, when no unit was free. All pages of the map are
//! written again, so none of the old ones is valid. Units without a valid page are erased. Then
//! units are emptied, the emptiest first, into any room there is, until there is room for the map
//! and the reserve. Each of these steps may itself be interrupted, because none of them changes the
//! information in the out-of-band areas. Until there is room, each erase unit is emptied on its
//! own. Then the erase units of a stream form reclaim units again.

use alloc::vec::Vec;
use core::cmp::Reverse;

use super::{PageConfig, PageFtl};
use crate::addr::{Lpn, Owner, Unit};
use crate::ftl::Ftl;
use crate::geometry::Mode;
use crate::journal::{CheckpointTrigger, Journal, Layout};
use crate::mapping::Mapping;
use crate::nand::{Cause, Chain, Tagged};
use crate::recovery::{FoundUnit, Mount, owners, scan};
use crate::unit_table::{InUse, Pool};

impl<N: Tagged, M: Mapping> PageFtl<N, M> {
    /// Rebuilds the drive from a medium after a loss of power. Also returns the cost of the mount.
    ///
    /// # Errors
    /// The medium's fault while room is made and the map is written anew.
    pub fn recover(
        nand: N,
        mapping: M,
        config: PageConfig,
        log_pages: u32,
    ) -> Result<(Self, Mount), N::Error> {
        let journal = config.journal.map(|every| (Layout::new(config.geometry), every));
        let checkpoint = journal.and_then(|(layout, _)| layout.find(&nand));
        let mut found = scan(&nand, &config.geometry, log_pages, checkpoint);
        let sizes = config.reclaim_units.clone();
        let mut ftl = Self::unformatted(nand, mapping, config, log_pages);
        ftl.store.table = core::mem::take(&mut found.table);
        ftl.store.journal =
            journal.map(|(layout, every)| Journal::recovered(layout, every, &ftl.store.nand));
        ftl.store.stamp = found.stamp;
        let chain = &mut Chain::default();
        found.erase_without_valid(
            &mut ftl.store.nand,
            (&ftl.store.geometry, &ftl.store.table),
            Cause::Gc,
            chain,
        )?;
        let in_use = ftl.reopen(&found.units);
        ftl.store.units.restore(&in_use, owners(&ftl.store.table), &found.erases);
        let mut mount = found.mount;
        mount.moved = ftl.make_room(chain)?;
        ftl.form_reclaim_units(sizes);
        let before = ftl.store.stamp.serial;
        ftl.program_all_of_map(chain)?;
        ftl.keep_journal(CheckpointTrigger::Now, chain)?;
        mount.map_programs = ftl.store.stamp.serial - before;
        ftl.reset_counters();
        Ok((ftl, mount))
    }

    /// Reopens the units that have room, one for each stream. The stream of a data unit may be
    /// unknown. The first stream takes the unit with the most room, because that may be all the
    /// room there is.
    fn reopen(&mut self, found: &[FoundUnit]) -> Vec<InUse> {
        let (data, log) = (self.streams.data(), self.streams.log());
        let modes = [Mode::Native, Mode::Slc];
        let [native, slc] = modes.map(|mode| self.store.geometry.in_mode(mode).unit_capacity());
        let capacity = |mode| if mode == Mode::Slc { slc } else { native };
        let enter = |found: &FoundUnit| {
            let logged = matches!(found.kind, Some(Owner::Data(lpn)) if self.log.holds(lpn));
            let noted = found.note.map(|note| note.stream).filter(|&stream| stream < data);
            let mode = self.store.nand.mode(found.unit);
            let cached = self.streams.slc().filter(|_| mode == Mode::Slc);
            let stream = cached.or(log.filter(|_| logged)).or(noted).unwrap_or(0);
            InUse { unit: found.unit, stream, mode, written: capacity(mode) }
        };
        let mut in_use: Vec<InUse> = found.iter().map(enter).collect();
        let room = |at: usize| in_use[at].written - found[at].programmed;
        let mut partial: Vec<_> = (0..found.len()).filter(|&at| room(at) > 0).collect();
        partial.sort_by_key(|&at| Reverse(room(at)));
        let mut free: Vec<u8> =
            (0..data).chain(self.streams.wear()).chain(log).chain(self.streams.slc()).collect();
        for at in partial {
            let mode = in_use[at].mode;
            let of_mode = free.iter().position(|&stream| self.streams.mode(stream) == mode);
            let Some(stream) = of_mode.map(|first| free.remove(first)) else { continue };
            let FoundUnit { unit, programmed, .. } = found[at];
            in_use[at] = InUse { stream, written: programmed, ..in_use[at] };
            self.streams.resume(stream, unit, programmed, &self.store.geometry);
        }
        if let Some(slc) = &mut self.slc {
            let cached = in_use.iter().filter(|used| used.mode == Mode::Slc);
            cached.for_each(|used| slc.enter(used.unit, &mut self.store.units));
        }
        in_use
    }

    /// Empties units until there is room for the reserve and the map. Returns the number of pages
    /// moved.
    fn make_room(&mut self, chain: &mut Chain) -> Result<u64, N::Error> {
        let pages = self.store.geometry.pages_per_unit();
        let target =
            self.cleaner.config.low_water - 1 + (self.map.directory.len() as u32).div_ceil(pages);
        let mut moved = 0;
        self.cleaner.active = true;
        while self.store.units.free_units() < target {
            let sealed = self.store.units.sealed(Pool::All);
            let emptiest = sealed.min_by_key(|&unit| self.store.units.valid(unit));
            let gains =
                |&unit: &Unit| self.store.units.valid(unit) < self.store.units.capacity(unit);
            let folded = self.fold_for_units().map(|(unit, _)| unit);
            let unit = folded.or(emptiest.filter(gains));
            let unit = unit.expect("the drive has too little spare to be used");
            moved += self.empty(unit, chain)?;
        }
        self.cleaner.active = false;
        Ok(moved)
    }

    /// Moves the valid pages of a unit to any room there is, and erases the unit. Returns their
    /// number.
    fn empty(&mut self, unit: Unit, chain: &mut Chain) -> Result<u64, N::Error> {
        self.leave_cache(unit);
        self.store.units.begin_cleaning(unit);
        let mut valid = core::mem::take(&mut self.cleaner.valid);
        self.list_valid(unit, &mut valid);
        for page in &valid {
            let mut streams = 0..self.streams.data();
            let stream = streams.find(|&stream| self.streams.has_room(stream)).unwrap_or(0);
            self.relocate(core::slice::from_ref(page), stream, Cause::Gc, chain)?;
        }
        self.cleaner.moved.clear();
        let moved = valid.len() as u64;
        self.cleaner.valid = valid;
        self.erase(unit, Cause::Gc, chain)?;
        Ok(moved)
    }

    /// Returns the number of logical pages without the log.
    pub fn user_pages(&self) -> u32 {
        self.log.base()
    }

    /// Returns the medium, as after a loss of power.
    pub fn into_nand(self) -> N {
        self.store.nand
    }

    /// Returns whether all pages of the log are unmapped.
    pub fn is_log_empty(&self) -> bool {
        (self.log.base()..self.store.geometry.logical_pages())
            .all(|lpn| !self.is_mapped(Lpn::new(lpn)))
    }
}

#[cfg(test)]
mod tests;
