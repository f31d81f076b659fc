//! The page-mapped engine: asks the policies for decisions, and does the work on the flash.
//!
//! For a page write the mapping returns the translation traffic of the access, and the placement
//! returns a stream. If the stream's open unit is full, the engine opens a new unit, and cleans
//! units if few are then free. It programs the page, points the map at it, and invalidates the page
//! that it replaces.
//!
//! Cleaning runs in the foreground when it must: the page write that finds too few free units waits
//! for it. It can also run ahead of need, a few pages with every write or while the host is idle.
//! The copies of one victim are independent of each other, and run in parallel where the dies
//! allow.

mod ahead;
mod cleaner;
mod cleaning;
mod handles;
mod levelling;
mod map;
mod owners;
mod pacing;
mod program_units;
mod put;
mod reclaim_units;
mod recovery;
mod remap;
mod room;
mod row_timer;
mod samples;
mod saved;
mod slc;
mod streams;
#[cfg(test)]
mod tests;
mod verify;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::mem;
use core::ops::Range;

use crate::addr::{Lpn, Ppn, Tpn};
use crate::counters::Counters;
pub use crate::counters::{Cleans, OwnerCounts, SlcCounts, StreamCounts};
use crate::ftl::{Fault, Ftl, Handles};
use crate::future::FutureKnowledge;
use crate::geometry::{Geometry, Mode};
use crate::journal::CheckpointTrigger;
use crate::mapping::{Access, AccessKind, Mapping, extra_map_units};
use crate::nand::{Cause, Chain, Nand};
use crate::placement::{AnyPlacement, HostWrite, PlacementEvent};
use crate::saved::State;
use crate::store::Store;
use crate::unit_table::FreeOrder;
use crate::victim::Victim;
use cleaner::Cleaner;
pub use cleaner::{Cleaning, Destination, Scope};
use handles::HandleEvents;
use map::Map;
use owners::Owners;
pub use pacing::Pace;
use program_units::EmptiedUnits;
use remap::LogArea;
use row_timer::RowTimer;
use samples::Sampler;
use slc::SlcCache;
pub use slc::{SlcConfig, WhenFull};
use streams::Streams;

/// Configuration of a page-mapped drive, without its medium and its mapping.
pub struct PageConfig {
    /// Shape of the drive.
    pub geometry: Geometry,
    /// Sorts pages into streams.
    pub placement: AnyPlacement,
    /// Chooses units to clean.
    pub victim: Box<dyn Victim + Send>,
    /// When units are cleaned, and where their pages go.
    pub cleaning: Cleaning,
    /// Which free unit is opened next.
    pub free_order: FreeOrder,
    /// Whether to keep the content of translation pages, to compare it with the true map.
    pub verify: bool,
    /// Translation pages of a map page, which the mapping reads and writes as a whole.
    pub pages_per_map_page: u32,
    /// Pages programmed between two checkpoints, if there is a journal. The journal's units lie
    /// behind the units of the geometry, as in [`Layout::medium`](crate::journal::Layout::medium).
    pub journal: Option<u64>,
    /// Erase units in a reclaim unit, by stream of the placement. Empty if each erase unit is a
    /// reclaim unit. Units of other streams are cleaned one by one.
    pub reclaim_units: Vec<u32>,
    /// Time after which a row that is not full is programmed. None: rows are programmed only when
    /// full.
    pub flush_after_ns: Option<u64>,
}

impl PageConfig {
    /// Returns the number of units that a drive has open at a time: one for each data stream, and
    /// one each for a map on flash, for wear levelling, for a log and for an SLC cache.
    pub fn frontiers(
        streams: u8,
        map_on_flash: bool,
        levelled: bool,
        log_pages: u32,
        has_slc: bool,
    ) -> u8 {
        streams + [map_on_flash, levelled, log_pages > 0, has_slc].map(u8::from).iter().sum::<u8>()
    }
}

/// A page-mapped flash translation layer on medium `N` with mapping cache `M`.
pub struct PageFtl<N, M> {
    store: Store<N>,
    map: Map<M>,
    placement: AnyPlacement,
    streams: Streams,
    owners: Owners,
    /// Events of placement handles; none until the host first takes events.
    events: Option<HandleEvents>,
    cleaner: Cleaner,
    log: LogArea,
    sampler: Sampler,
    emptied: EmptiedUnits,
    row_timer: Option<RowTimer>,
    /// Whether a page of the host may also start other work: cleaning, or the program of due rows.
    works_along: bool,
    slc: Option<SlcCache>,
}

impl<N: Nand, M: Mapping> PageFtl<N, M> {
    /// Makes a formatted drive on erased flash. Every translation page is written once, as in
    /// FlashSim.
    ///
    /// # Errors
    /// The medium's fault while formatting.
    pub fn new(nand: N, mapping: M, config: PageConfig) -> Result<Self, N::Error> {
        Self::with_log(nand, mapping, config, 0)
    }

    /// Like [`PageFtl::new`], but the last `log_pages` logical pages are a log. Writes to the log
    /// have a stream of their own, and are remapped to other pages later.
    ///
    /// # Errors
    /// The medium's fault while formatting.
    pub fn with_log(
        nand: N,
        mapping: M,
        config: PageConfig,
        log_pages: u32,
    ) -> Result<Self, N::Error> {
        let sizes = config.reclaim_units.clone();
        let mut ftl = Self::unformatted(nand, mapping, config, log_pages);
        ftl.form_reclaim_units(sizes);
        ftl.program_all_of_map(&mut Chain::default())?;
        ftl.keep_journal(CheckpointTrigger::Now, &mut Chain::default())?;
        ftl.reset_counters();
        Ok(ftl)
    }

    /// Makes a drive with nothing programmed.
    fn unformatted(nand: N, mapping: M, config: PageConfig, log_pages: u32) -> Self {
        let PageConfig { geometry, placement, victim, cleaning, free_order, .. } = config;
        let PageConfig { verify, pages_per_map_page, journal, reclaim_units, .. } = config;
        let flush_after_ns = config.flush_after_ns.filter(|_| geometry.has_program_units());
        let (wear, log) = (cleaning.wear_gap.is_some(), log_pages > 0);
        let slc = cleaning.slc.map(|_| geometry.in_mode(Mode::Slc));
        let streams = Streams::new(&placement, mapping.is_on_flash(), wear, log, slc);
        let largest = reclaim_units.iter().copied().max().unwrap_or(1);
        let (pages, map_pages) = (geometry.pages_per_unit(), geometry.translation_pages());
        let extra_units = extra_map_units(pages, largest, map_pages, pages_per_map_page);
        let least = cleaning.least_low_water(streams.count(), largest) + extra_units;
        assert!(cleaning.low_water >= least, "cleaning needs at least {least} free units");
        let mut store = Store::new(nand, geometry, free_order, streams.count(), journal);
        if victim.follows_changes() {
            store.units.track_changes();
        }
        Self {
            store,
            row_timer: flush_after_ns.map(|after| RowTimer::new(after, streams.count())),
            works_along: flush_after_ns.is_some() || cleaning.pace.is_some(),
            slc: cleaning.slc.zip(streams.slc()).map(|(slc, stream)| SlcCache::new(slc, stream)),
            map: Map::new(mapping, &geometry, verify, pages_per_map_page),
            owners: Owners::new(placement.owners()),
            events: None,
            placement,
            streams,
            cleaner: Cleaner::new(victim, cleaning, &geometry),
            log: LogArea::new(geometry.logical_pages(), log_pages),
            sampler: Sampler::new(),
            emptied: EmptiedUnits::new(),
        }
    }

    /// Returns the mapping cache.
    pub fn mapping(&self) -> &M {
        &self.map.cache
    }

    /// Returns the physical page of a logical page.
    pub fn place(&self, lpn: Lpn) -> Option<Ppn> {
        self.store.place(lpn)
    }

    /// Returns the placement.
    pub fn placement(&self) -> &AnyPlacement {
        &self.placement
    }

    /// Returns the next page of a stream. Cleans first if the stream needs a unit and few are free.
    #[inline(always)]
    fn allocate(&mut self, stream: u8, chain: &mut Chain) -> Result<Ppn, N::Error> {
        match self.streams.next(stream) {
            Some(ppn) => Ok(ppn),
            None => self.allocate_in_new_unit(stream, chain),
        }
    }

    /// Opens a unit for a stream, then cleans. In this order the pages moved by cleaning and the
    /// next host pages share the unit, as in the simulators of the field. If copies fill that unit,
    /// cleaning runs again before the next unit is opened. Otherwise a drive with only full victims
    /// would open units without end.
    #[cold]
    #[inline(never)]
    fn allocate_in_new_unit(&mut self, stream: u8, chain: &mut Chain) -> Result<Ppn, N::Error> {
        self.make_room_in_cache(stream, chain)?;
        self.open(stream, chain)?;
        if !self.cleaner.active {
            self.keep_journal(CheckpointTrigger::Due, chain)?;
            self.clean(stream, self.cleaner.config.low_water - 1, chain)?;
            if !self.streams.has_room(stream) {
                self.clean(stream, self.cleaner.config.low_water, chain)?;
            }
            if !self.streams.has_room(stream) {
                self.open(stream, chain)?;
            }
        }
        Ok(self.streams.next(stream).expect("a new unit has room"))
    }

    fn open(&mut self, stream: u8, chain: &Chain) -> Result<(), N::Error> {
        self.note_opened(stream);
        let unit = self.streams.open(stream, &mut self.store.units, &self.store.geometry);
        self.erase_opened(unit, chain)?;
        if let Some(slc) = &mut self.slc {
            let mode = self.store.units.mode(unit);
            self.store.nand.set_mode(unit, mode);
            if mode == Mode::Slc {
                slc.enter(unit, &mut self.store.units);
            }
        }
        Ok(())
    }

    /// Records a trim in the journal before it happens. Pages of the log are not recorded.
    fn record_trim(&mut self, lpns: Range<u32>) {
        self.store.record_trim(lpns.start..lpns.end.min(self.log.base()));
    }

    /// Unmaps pages, one translation page after the other.
    fn forget(
        &mut self,
        lpns: Range<u32>,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<u64, N::Error> {
        let entries = self.store.geometry.entries_per_page();
        let (mut next, mut trimmed) = (lpns.start, 0);
        while next < lpns.end {
            let end = lpns.end.min((next / entries + 1) * entries);
            // Recorded for one translation page at a time. A checkpoint treats recorded pages as
            // unmapped, and the write-back of a translation page may take a checkpoint.
            self.record_trim(next..end);
            let mut mapped = mem::take(&mut self.map.trimmed);
            mapped.clear();
            mapped.extend((next..end).map(Lpn::new).filter(|&lpn| self.is_mapped(lpn)));
            for &lpn in &mapped {
                if let Some(old) = self.store.forget(lpn) {
                    match self.log.holds(lpn) {
                        true => self.store.units.unpin(self.store.geometry.unit(old)),
                        false => self.placement.observe(PlacementEvent::Trimmed(lpn)),
                    }
                }
            }
            trimmed += mapped.len() as u64;
            if self.map.cache.is_on_flash() {
                self.map.cache.trim(Tpn::new(next / entries), &mapped, &mut self.map.io);
            }
            self.map.trimmed = mapped;
            self.perform(cause, chain)?;
            next = end;
        }
        Ok(trimmed)
    }
}

impl<N: Nand, M: Mapping> Ftl for PageFtl<N, M> {
    type Medium = N;

    #[inline(always)]
    fn store(&self) -> &Store<N> {
        &self.store
    }

    #[inline(always)]
    fn store_mut(&mut self) -> &mut Store<N> {
        &mut self.store
    }

    fn report(&self, counters: &mut Counters) {
        self.store.nand.report(counters);
        self.map.report(counters);
        counters.cleans = self.cleaner.counts;
        counters.streams = self.streams.traffic();
        counters.owners = self.owners.counts(&counters.streams);
        counters.sample_reads = self.sampler.reads;
        counters.placement_bytes = self.placement.policy().memory_bytes();
        counters.slc = self.slc.as_ref().map(|slc| slc.counts(&self.store.units));
        self.placement.policy().report(counters);
    }

    fn room_until_cleaning(&self) -> Option<u64> {
        self.room_left()
    }

    fn reset_counters(&mut self) {
        self.store.reset_counters();
        self.map.cache.reset_counters();
        self.streams.reset_counters();
        self.owners.reset_counters();
        self.cleaner.reset_counters(self.store.geometry.units());
        self.sampler.reads = 0;
        self.row_timer.iter_mut().for_each(RowTimer::reset_counters);
        self.placement.policy_mut().reset_counters();
        if let Some(slc) = &mut self.slc {
            slc.counts = SlcCounts::default();
        }
    }

    #[inline(always)]
    fn command(&mut self, first: Lpn, pages: u32, chain: &mut Chain) -> Result<(), N::Error> {
        self.placement.observe(PlacementEvent::Command { first, pages });
        match self.placement.wants_samples() {
            Some(samples) => self.show_samples(samples, chain),
            None => Ok(()),
        }
    }

    #[inline(always)]
    fn label(&mut self, lpns: Range<u32>, handle: u16) {
        self.placement.observe(PlacementEvent::Labelled { lpns, handle });
    }

    #[inline(always)]
    fn translate(&mut self, mut access: Access, chain: &mut Chain) -> Result<(), N::Error> {
        if access.kind == AccessKind::Read {
            self.program_due_rows()?;
        }
        access.mapped = self.map.cache.is_on_flash() && self.is_mapped(access.lpn);
        self.map.cache.access(access, &mut self.map.io);
        if self.map.cache.is_on_flash() { self.perform(Cause::Map, chain) } else { Ok(()) }
    }

    #[inline(always)]
    fn prefetch_entries(&self, lpns: Range<u32>) {
        self.store.prefetch_entry(Lpn::new(lpns.start));
        if self.map.cache.is_on_flash() {
            lpns.for_each(|lpn| self.map.cache.prefetch(Lpn::new(lpn)));
        }
    }

    #[inline(always)]
    fn prefetch_pages(&self, lpns: Range<u32>) {
        self.store.prefetch_page(Lpn::new(lpns.start));
        if self.map.cache.is_on_flash() {
            lpns.for_each(|lpn| self.map.cache.prefetch_entry(Lpn::new(lpn)));
        }
    }

    #[inline(always)]
    fn write(&mut self, lpn: Lpn, request_pages: u32, chain: &mut Chain) -> Result<(), N::Error> {
        let (clock, now_ns) = (self.store.units.now(), self.store.now_ns());
        let stream = self.placement.stream(HostWrite { lpn, request_pages, clock, now_ns });
        let stream = self.through_cache(stream);
        self.put(lpn, (stream, None), chain)
    }

    fn trim(&mut self, lpns: Range<u32>, chain: &mut Chain) -> Result<u64, N::Error> {
        self.forget(lpns, Cause::Map, chain)
    }

    #[inline(always)]
    fn is_in_memory(&self, ppn: Ppn) -> bool {
        self.streams.holds_in_memory(ppn, &self.store.geometry)
    }

    fn flush(&mut self, chain: &mut Chain) -> Result<(), N::Error> {
        self.keep_journal(CheckpointTrigger::Trims, chain)?;
        self.program_all(chain)
    }

    fn shut_down(&mut self, chain: &mut Chain) -> Result<(), N::Error> {
        self.keep_journal(CheckpointTrigger::Now, chain)
    }

    fn flush_map(&mut self, chain: &mut Chain) -> Result<(), N::Error> {
        self.map.flush();
        self.perform(Cause::Map, chain)?;
        self.fold_all(chain)
    }

    fn set_future(&mut self, known: FutureKnowledge) {
        if let Some(accesses) = known.accesses {
            self.map.cache.set_future(accesses);
        }
        if let Some(writes) = known.writes {
            self.placement.policy_mut().set_future(writes);
        }
    }

    fn state(&mut self) -> Option<&mut dyn State> {
        self.is_saveable().then_some(self)
    }

    fn handles(&mut self) -> Option<&mut dyn Handles<Fault<Self>>> {
        (self.placement.handles() > 0).then_some(self)
    }

    #[inline(always)]
    fn clean_idle(&mut self, from: u64, until: u64) -> Result<(), N::Error> {
        self.program_rows_until(self.idle_from(from).min(until))?;
        self.fold_while_idle(from, until)?;
        self.clean_while_idle(from, until)?;
        self.program_rows_until(until)
    }

    /// Asserts that each part is consistent, and that only pages in the two maps are valid.
    fn check(&self) {
        let mapped = self.store.check() + self.map.check(&self.store);
        let valid = self.store.units.valid_pages().map(u64::from).sum::<u64>();
        assert_eq!(valid, mapped, "what is valid is mapped");
        self.placement.policy().check();
        self.streams.check(&self.store.units, &self.store.geometry);
        self.cleaner.check(&self.store.units);
        self.check_pins();
        if let Some(slc) = &self.slc {
            slc.check(&self.store.units, self.store.geometry.units());
        }
    }
}
