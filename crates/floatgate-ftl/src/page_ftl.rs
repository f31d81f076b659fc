//! The page-mapped engine: asks the policies, and does the work on the flash.
//!
//! A page write: the mapping says what translation traffic the access costs; the placement names a
//! stream; if the stream's open unit is full a new one is opened, and if few are free then, units
//! are cleaned; the page is programmed; the map is pointed at it and the page it replaces is given
//! up.
//!
//! Cleaning is done in the foreground when it must be: the page that finds too few free units waits
//! for it. It can also be done ahead, a few pages with every write or while the host is idle. The
//! copies of one victim are independent of each other and run in parallel where the dies allow.

mod ahead;
mod cleaning;
mod levelling;
mod recovery;
mod remap;
mod samples;
#[cfg(test)]
mod tests;
mod verify;

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::mem;
use core::ops::Range;

use crate::addr::{Lpn, Owner, Ppn, Stamp, Tpn};
use crate::blocks::{Blocks, FreeOrder};
use crate::frontier::Frontiers;
use crate::ftl::Ftl;
pub use crate::ftl::{Cleans, StreamCounts};
use crate::future::Future;
use crate::geometry::Geometry;
use crate::journal::{Journal, Layout, Occasion, Snapshot};
use crate::mapping::{Access, MapOp, MapStats, Mapping};
use crate::nand::{Cause, Chain, Move, Nand};
use crate::placement::{AnyPlacement, HostWrite, Placement};
use crate::prefetch::prefetch;
use crate::rng::Rng;
use crate::victim::Victim;
use ahead::UnderWay;
pub use cleaning::{Cleaning, Destination, Scope};
use levelling::Levelling;
use remap::LogArea;
use verify::FlashMap;

/// What a page-mapped drive is made of, beside its medium and its mapping.
pub struct PageConfig {
    /// Shape of the drive.
    pub geometry: Geometry,
    /// Sorts pages into streams.
    pub placement: AnyPlacement,
    /// Chooses units to clean.
    pub victim: Box<dyn Victim + Send>,
    /// When units are cleaned, and where what is in them goes.
    pub cleaning: Cleaning,
    /// Which free unit is opened next.
    pub free_order: FreeOrder,
    /// Whether the content of translation pages is kept, to be held against the true map.
    pub verify: bool,
    /// Pages that are programmed between two checkpoints, if there is a journal. Its units lie
    /// behind those of the geometry, as [`Layout::medium`] says.
    pub journal: Option<u64>,
}

impl PageConfig {
    /// Units that a drive has open at a time: one for each stream of its data, one for the map if
    /// that is on flash, one for what levelling of wear moves if it does, one for a log.
    pub fn frontiers(streams: u8, map_on_flash: bool, levelled: bool, log_pages: u32) -> u8 {
        let beside = [map_on_flash, levelled, log_pages > 0];
        streams + beside.map(u8::from).iter().sum::<u8>()
    }
}

/// A page-mapped flash translation layer on medium `N` with mapping cache `M`.
pub struct PageFtl<N, M> {
    nand: N,
    mapping: M,
    geometry: Geometry,
    /// The whole map. What the drive has of it in memory is the mapping's business.
    table: Vec<Option<Ppn>>,
    /// Global translation directory: where each translation page is.
    directory: Vec<Option<Ppn>>,
    blocks: Blocks,
    frontiers: Frontiers,
    placement: AnyPlacement,
    victim: Box<dyn Victim + Send>,
    config: Cleaning,
    /// Whether units are being cleaned: what that opens units for must not clean in turn.
    cleaning: bool,
    under_way: Option<UnderWay>,
    levelling: Option<Levelling>,
    log: LogArea,
    /// The page of the log that is being remapped, and where it is: the map says neither.
    remapping: Option<(Lpn, Ppn)>,
    stamp: Stamp,
    journal: Option<Journal>,
    cleans: Cleans,
    streams: Vec<StreamCounts>,
    rng: Rng,
    sample_reads: u64,
    flash_map: Option<FlashMap>,
    io: Vec<MapOp>,
    gc_io: Vec<MapOp>,
    wanted: Vec<(Ppn, Owner)>,
    sorted: Vec<(u8, Ppn, Owner)>,
    group: Vec<(Ppn, Owner)>,
    moved: Vec<(Lpn, Ppn)>,
    moves: Vec<Move>,
    trimmed: Vec<Lpn>,
}

impl<N: Nand, M: Mapping> PageFtl<N, M> {
    /// A formatted drive on erased flash: every translation page is written once, as FlashSim does.
    ///
    /// # Errors
    /// The medium's fault while formatting.
    pub fn new(nand: N, mapping: M, config: PageConfig) -> Result<Self, N::Error> {
        Self::with_log(nand, mapping, config, 0)
    }

    /// The same, where the last `log_pages` of the logical pages are a log: what is written there
    /// has a stream of its own and is remapped to other pages later.
    ///
    /// # Errors
    /// The medium's fault while formatting.
    pub fn with_log(
        nand: N,
        mapping: M,
        config: PageConfig,
        log_pages: u32,
    ) -> Result<Self, N::Error> {
        let table = vec![None; config.geometry.logical_pages() as usize];
        let mut ftl = Self::unformatted(nand, mapping, config, log_pages, table);
        for tpn in (0..ftl.directory.len()).map(|tpn| Tpn::new(tpn as u32)) {
            ftl.program_map(tpn, Cause::Map, &mut Chain::default())?;
        }
        ftl.keep_journal(Occasion::Now, &mut Chain::default())?;
        ftl.restart();
        Ok(ftl)
    }

    /// A drive with this map, and nothing else yet.
    fn unformatted(
        nand: N,
        mapping: M,
        config: PageConfig,
        log_pages: u32,
        table: Vec<Option<Ppn>>,
    ) -> Self {
        let PageConfig { geometry, placement, victim, cleaning, free_order, verify, journal } =
            config;
        let levelled = cleaning.wear_gap.is_some();
        let frontiers =
            PageConfig::frontiers(placement.streams(), M::ON_FLASH, levelled, log_pages);
        let least = cleaning.least_low_water(frontiers) + mapping.extra_units(&geometry);
        assert!(cleaning.low_water >= least, "cleaning needs at least {least} free units");
        let mut blocks = Blocks::new(geometry, free_order, frontiers);
        if victim.follows_changes() {
            blocks.note_changes();
        }
        let tpns = if M::ON_FLASH { geometry.translation_pages() } else { 0 };
        Self {
            nand,
            mapping,
            geometry,
            table,
            directory: vec![None; tpns as usize],
            blocks,
            frontiers: Frontiers::new(frontiers.into()),
            streams: vec![StreamCounts::default(); usize::from(placement.streams())],
            placement,
            victim,
            config: cleaning,
            cleaning: false,
            under_way: None,
            levelling: cleaning.wear_gap.map(|gap| Levelling::new(gap, geometry.units())),
            log: LogArea::new(geometry.logical_pages(), log_pages),
            remapping: None,
            stamp: Stamp::default(),
            journal: journal.map(|every| Journal::new(Layout::new(geometry), every)),
            cleans: Cleans::default(),
            rng: Rng::new(1),
            sample_reads: 0,
            flash_map: verify.then(|| FlashMap::new(geometry.logical_pages())),
            io: Vec::new(),
            gc_io: Vec::new(),
            wanted: Vec::with_capacity(geometry.pages_per_unit() as usize),
            sorted: Vec::new(),
            group: Vec::new(),
            moved: Vec::with_capacity(geometry.pages_per_unit() as usize),
            moves: Vec::new(),
            trimmed: Vec::new(),
        }
    }

    /// The mapping cache.
    pub fn mapping(&self) -> &M {
        &self.mapping
    }

    /// The physical page of a logical one.
    pub fn place(&self, lpn: Lpn) -> Option<Ppn> {
        self.table[lpn.index()]
    }

    /// The placement.
    pub fn placement(&self) -> &AnyPlacement {
        &self.placement
    }

    /// Does the flash work that the mapping has asked for, in order.
    #[inline(always)]
    fn perform(&mut self, cause: Cause, chain: &mut Chain) -> Result<(), N::Error> {
        if self.io.is_empty() {
            return Ok(());
        }
        let mut io = mem::take(&mut self.io);
        match self.mapping.together() {
            1 => io.iter().try_for_each(|&op| self.map_op(op, cause, chain))?,
            pages => {
                for group in io.chunk_by(|a, b| a.goes_with(b, pages)) {
                    self.map_group(group, cause, chain)?;
                }
            }
        }
        io.clear();
        self.io = io;
        Ok(())
    }

    /// Translation pages that are read or written as one, all at once.
    fn map_group(
        &mut self,
        group: &[MapOp],
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        let (begin, mut last) = (*chain, *chain);
        for &op in group {
            let mut branch = begin;
            self.map_op(op, cause, &mut branch)?;
            last = if branch.now >= last.now { branch } else { last };
        }
        *chain = last;
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

    fn read_map(&mut self, tpn: Tpn, cause: Cause, chain: &mut Chain) -> Result<(), N::Error> {
        let from = self.directory[tpn.index()].expect("formatting wrote every translation page");
        self.nand.read(from, Owner::Translation(tpn), cause, chain)
    }

    fn program_map(&mut self, tpn: Tpn, cause: Cause, chain: &mut Chain) -> Result<(), N::Error> {
        let owner = Owner::Translation(tpn);
        let to = self.allocate(self.map_stream(), chain)?;
        self.nand.program(to, self.stamp.write(owner), cause, chain)?;
        self.blocks.validate(to, owner);
        if let Some(old) = self.directory[tpn.index()].replace(to) {
            self.blocks.invalidate(old, owner);
        }
        if let Some(flash_map) = &mut self.flash_map {
            flash_map.written(tpn, &self.geometry, &self.table, &self.mapping);
        }
        Ok(())
    }

    /// Translation pages have a stream of their own, behind those of the placement.
    #[inline(always)]
    fn map_stream(&self) -> u8 {
        self.placement.streams()
    }

    /// What levelling of wear moves has the stream behind that.
    #[inline(always)]
    fn wear_stream(&self) -> u8 {
        self.placement.streams() + u8::from(M::ON_FLASH)
    }

    /// The next page of a stream; cleans first if the stream needs a unit and few are free.
    #[inline(always)]
    fn allocate(&mut self, stream: u8, chain: &mut Chain) -> Result<Ppn, N::Error> {
        match self.frontiers.next(stream) {
            Some(ppn) => Ok(ppn),
            None => self.allocate_in_new_unit(stream, chain),
        }
    }

    /// The unit is opened before units are cleaned, so that what cleaning moves and what is written
    /// next share it, as in the simulators of the field. Copies may fill it; then room is made
    /// first, or a drive whose victims are all full would open units without an end.
    #[cold]
    #[inline(never)]
    fn allocate_in_new_unit(&mut self, stream: u8, chain: &mut Chain) -> Result<Ppn, N::Error> {
        self.open(stream);
        if !self.cleaning {
            self.keep_journal(Occasion::Due, chain)?;
            self.clean(stream, self.config.low_water - 1, chain)?;
            if !self.frontiers.has_room(stream) {
                self.clean(stream, self.config.low_water, chain)?;
            }
            if !self.frontiers.has_room(stream) {
                self.open(stream);
            }
        }
        Ok(self.frontiers.next(stream).expect("a new unit has room"))
    }

    /// Writes the journal if this is the occasion, and if there is one.
    #[inline]
    fn keep_journal(&mut self, occasion: Occasion, chain: &mut Chain) -> Result<(), N::Error> {
        let Some(journal) = &mut self.journal else { return Ok(()) };
        let Self { table, blocks, remapping, .. } = self;
        let drive = Snapshot { table, remapping: *remapping, blocks };
        journal.keep(occasion, &mut self.nand, drive, &mut self.stamp, chain)
    }

    /// Pages are about to be trimmed. Those of the log are nobody's for the journal.
    fn note_trim(&mut self, lpns: &Range<u32>) {
        let end = lpns.end.min(self.log.base());
        if let Some(journal) = &mut self.journal
            && lpns.start < end
        {
            self.stamp.sequence += 1;
            journal.trim(lpns.start..end, self.stamp.sequence);
        }
    }

    fn open(&mut self, stream: u8) {
        let unit = if self.levelling.is_some() && stream == self.wear_stream() {
            self.blocks.open_most_worn(stream)
        } else {
            self.blocks.open(stream)
        };
        let unit = unit.expect("cleaning keeps a free unit per frontier");
        self.frontiers.set(stream, unit, &self.geometry);
    }

    /// Forgets pages, translation page by translation page.
    fn forget(
        &mut self,
        lpns: Range<u32>,
        cause: Cause,
        chain: &mut Chain,
    ) -> Result<u64, N::Error> {
        let entries = self.geometry.entries_per_page();
        let (mut next, mut trimmed) = (lpns.start, 0);
        while next < lpns.end {
            let end = lpns.end.min((next / entries + 1) * entries);
            // Not sooner: a checkpoint takes what is noted for forgotten, and writing back one
            // translation page may take one.
            self.note_trim(&(next..end));
            let mut mapped = mem::take(&mut self.trimmed);
            mapped.clear();
            mapped.extend((next..end).map(Lpn::new).filter(|&lpn| self.is_mapped(lpn)));
            for &lpn in &mapped {
                if let Some(old) = self.table[lpn.index()].take() {
                    self.blocks.invalidate(old, Owner::Data(lpn));
                    match self.log.holds(lpn) {
                        true => self.blocks.unpin(self.geometry.unit(old)),
                        false => self.placement.trimmed(lpn),
                    }
                }
            }
            trimmed += mapped.len() as u64;
            if M::ON_FLASH {
                self.mapping.trim(Tpn::new(next / entries), &mapped, &mut self.io);
            }
            self.trimmed = mapped;
            self.perform(cause, chain)?;
            next = end;
        }
        Ok(trimmed)
    }
}

impl<N: Nand, M: Mapping> Ftl for PageFtl<N, M> {
    type Medium = N;

    fn nand(&self) -> &N {
        &self.nand
    }

    fn nand_mut(&mut self) -> &mut N {
        &mut self.nand
    }

    fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    #[inline(always)]
    fn is_mapped(&self, lpn: Lpn) -> bool {
        self.table[lpn.index()].is_some()
    }

    fn restart(&mut self) {
        self.nand.restart();
        self.mapping.restart();
        self.blocks.restart_wear();
        self.streams.fill(StreamCounts::default());
        self.log.restart();
        self.cleans = Cleans::default();
        self.sample_reads = 0;
        if let Some(levelling) = &mut self.levelling {
            *levelling = Levelling::new(levelling.gap(), self.geometry.units());
        }
    }

    #[inline(always)]
    fn command(&mut self, first: Lpn, pages: u32, chain: &mut Chain) -> Result<(), N::Error> {
        self.placement.command(first, pages);
        match self.placement.wants_samples() {
            Some(samples) => self.show_samples(samples, chain),
            None => Ok(()),
        }
    }

    #[inline(always)]
    fn translate(&mut self, mut access: Access, chain: &mut Chain) -> Result<(), N::Error> {
        access.mapped = M::ON_FLASH && self.is_mapped(access.lpn);
        self.mapping.access(access, &mut self.io);
        if M::ON_FLASH { self.perform(Cause::Map, chain) } else { Ok(()) }
    }

    #[inline(always)]
    fn read(&mut self, lpn: Lpn, chain: &mut Chain) -> Result<bool, N::Error> {
        let Some(from) = self.table[lpn.index()] else { return Ok(false) };
        self.nand.read(from, Owner::Data(lpn), Cause::Host, chain)?;
        Ok(true)
    }

    #[inline(always)]
    fn write(&mut self, lpn: Lpn, request_pages: u32, chain: &mut Chain) -> Result<(), N::Error> {
        let owner = Owner::Data(lpn);
        let (clock, now_ns) = (self.blocks.now(), chain.now);
        let stream = self.placement.stream(HostWrite { lpn, request_pages, clock, now_ns });
        self.blocks.tick();
        if self.config.pace.is_some() {
            self.clean_ahead(chain)?;
        }
        let to = self.allocate(stream, chain)?;
        self.nand.program(to, self.stamp.write(owner), Cause::Host, chain)?;
        self.streams[usize::from(stream)].host_pages += 1;
        self.blocks.validate(to, owner);
        if let Some(old) = self.table[lpn.index()].replace(to) {
            self.blocks.invalidate(old, owner);
        }
        if M::ON_FLASH {
            self.mapping.assigned(lpn, to, &mut self.io);
            self.perform(Cause::Map, chain)?;
        }
        Ok(())
    }

    fn trim(&mut self, lpns: Range<u32>, chain: &mut Chain) -> Result<u64, N::Error> {
        self.forget(lpns, Cause::Map, chain)
    }

    fn flush(&mut self, chain: &mut Chain) -> Result<(), N::Error> {
        self.keep_journal(Occasion::Trims, chain)
    }

    fn shut_down(&mut self, chain: &mut Chain) -> Result<(), N::Error> {
        self.keep_journal(Occasion::Now, chain)
    }

    fn flush_map(&mut self, chain: &mut Chain) -> Result<(), N::Error> {
        self.mapping.flush(&mut self.io);
        self.perform(Cause::Map, chain)
    }

    fn foresee(&mut self, future: Future) {
        self.mapping.foresee(future);
    }

    fn foresee_writes(&mut self, future: Future) {
        self.placement.foresee(future);
    }

    #[inline(always)]
    fn prefetch_entry(&self, lpn: Lpn) {
        prefetch(&self.table, lpn.index());
    }

    #[inline(always)]
    fn prefetch_page(&self, lpn: Lpn) {
        if let Some(&Some(old)) = self.table.get(lpn.index()) {
            self.blocks.prefetch(old);
        }
    }

    #[inline(always)]
    fn clean_idle(&mut self, from: u64, until: u64) -> Result<(), N::Error> {
        self.clean_while_idle(from, until)
    }

    fn map_stats(&self) -> MapStats {
        self.mapping.stats()
    }

    fn cache_bytes(&self) -> u64 {
        self.mapping.cache_bytes()
    }

    fn cleans(&self) -> Cleans {
        self.cleans
    }

    fn streams(&self) -> Vec<StreamCounts> {
        self.streams.iter().copied().chain(self.log.counts()).collect()
    }

    fn placement_size(&self) -> (u64, Option<u32>) {
        (self.placement.memory_bytes(), self.placement.extents())
    }

    fn sample_reads(&self) -> u64 {
        self.sample_reads
    }

    /// Each mapped page has one valid physical page that names it, and the map on flash with the
    /// cache over it is the true map.
    fn check(&self) {
        self.blocks.check();
        self.mapping.check();
        self.placement.check();
        let mut valid = 0;
        for (index, ppn) in self.table.iter().enumerate().filter_map(|(i, p)| Some((i, (*p)?))) {
            let lpn = Lpn::new(index as u32);
            assert_eq!(self.blocks.owner(ppn), Some(Owner::Data(lpn)), "the page of {lpn:?}");
            valid += 1;
        }
        for (index, ppn) in self.directory.iter().enumerate() {
            let tpn = Tpn::new(index as u32);
            let owner = ppn.and_then(|ppn| self.blocks.owner(ppn));
            assert_eq!(owner, Some(Owner::Translation(tpn)), "the page of {tpn:?}");
            valid += 1;
        }
        let units = (0..self.geometry.units()).map(crate::addr::Unit);
        assert_eq!(units.map(|unit| u64::from(self.blocks.valid(unit))).sum::<u64>(), valid);
        self.check_pins();
        if let Some(flash_map) = &self.flash_map {
            flash_map.check(&self.table, &self.mapping);
        }
    }
}
