//! Common base of both engines: the flash, the state of its units, the map, and the journal.
//!
//! The map is complete: it has the newest version of each logical page. Each engine decides which
//! share of the map a drive has in memory. A page in the map is valid, and its owner is its logical
//! page. Code that changes the map must also change the unit table.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use crate::addr::{Lpn, Owner, Ppn, Stamp, Tag};
use crate::geometry::Geometry;
use crate::journal::{CheckpointTrigger, Journal, Layout, Snapshot};
use crate::nand::{Cause, Chain, Clock, Nand, ReadSource};
use crate::prefetch::prefetch;
use crate::saved::{Carrier, State, carry};
use crate::unit_table::{FreeOrder, UnitTable};

/// Flash of medium `N`, and the state kept about it.
pub struct Store<N> {
    pub(crate) nand: N,
    pub(crate) geometry: Geometry,
    /// Physical page of each logical page.
    pub(crate) table: Vec<Option<Ppn>>,
    /// Log page that is being remapped, and its physical page. Meanwhile the map has no entry for
    /// it.
    pub(crate) remapping: Option<(Lpn, Ppn)>,
    pub(crate) units: UnitTable,
    pub(crate) stamp: Stamp,
    pub(crate) journal: Option<Journal>,
    /// Page that the current command has read last.
    last_read: Option<Ppn>,
}

impl<N: Nand> State for Store<N> {
    fn carry(&mut self, by: &mut Carrier<'_>) {
        let Self { nand, geometry: _, table, remapping, units, stamp, journal, last_read } = self;
        carry(nand.state(), by);
        table.carry(by);
        remapping.carry(by);
        units.carry(by);
        stamp.carry(by);
        journal.iter_mut().for_each(|journal| journal.carry(by));
        last_read.carry(by);
    }
}

impl<N: Nand> Store<N> {
    /// Creates a store on erased flash that is written in `streams` streams. `journal` is the
    /// number of pages programmed between two checkpoints, or `None` for no journal.
    pub(crate) fn new(
        nand: N,
        geometry: Geometry,
        free_order: FreeOrder,
        streams: u8,
        journal: Option<u64>,
    ) -> Self {
        Self {
            nand,
            geometry,
            table: vec![None; geometry.logical_pages() as usize],
            remapping: None,
            units: UnitTable::new(geometry, free_order, streams),
            stamp: Stamp::default(),
            journal: journal.map(|every| Journal::new(Layout::new(geometry), every)),
            last_read: None,
        }
    }

    #[inline(always)]
    pub(crate) fn clock(&mut self) -> &mut N::Clock {
        self.nand.clock_mut()
    }

    #[inline(always)]
    pub(crate) fn now_ns(&self) -> u64 {
        self.nand.clock().now()
    }

    /// Returns the physical page of a logical page.
    #[inline(always)]
    pub fn place(&self, lpn: Lpn) -> Option<Ppn> {
        self.table[lpn.index()]
    }

    /// Begins a command: its first read cannot use the page register of an earlier command.
    #[inline(always)]
    pub(crate) fn begin_command(&mut self) {
        self.last_read = None;
    }

    /// Reads a host page from the controller's memory or from flash.
    #[inline(always)]
    pub(crate) fn read(
        &mut self,
        (lpn, from): (Lpn, Ppn),
        in_memory: bool,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        let source = match self.last_read {
            _ if in_memory => ReadSource::Memory,
            Some(before) if self.geometry.is_read_with(before, from) => ReadSource::Register,
            _ => ReadSource::Cells,
        };
        self.last_read = if in_memory { None } else { Some(from) };
        self.nand.read(from, Owner::Data(lpn), source, Cause::Host, chain)
    }

    /// Programs the medium's register for the host. `original` is the original address of a log
    /// page. [`Store::point`] must follow.
    #[inline(always)]
    pub(crate) fn program(
        &mut self,
        to: Ppn,
        lpn: Lpn,
        original: Option<Lpn>,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        let tag = Tag { original, ..self.stamp.write(Owner::Data(lpn)) };
        self.nand.program(to, tag, Cause::Host, chain)
    }

    /// Points the map at the page programmed last. Invalidates the page that this replaces, and
    /// returns it.
    #[inline(always)]
    pub(crate) fn point(&mut self, lpn: Lpn, to: Ppn) -> Option<Ppn> {
        let owner = Owner::Data(lpn);
        self.units.validate(to, owner);
        let old = self.table[lpn.index()].replace(to);
        if let Some(old) = old {
            self.units.invalidate(old, owner);
        }
        old
    }

    /// Unmaps and invalidates a page. Returns its old physical page.
    pub(crate) fn forget(&mut self, lpn: Lpn) -> Option<Ppn> {
        let old = self.table[lpn.index()].take()?;
        self.units.invalidate(old, Owner::Data(lpn));
        Some(old)
    }

    /// Records in the journal that pages are about to be trimmed.
    pub(crate) fn record_trim(&mut self, lpns: Range<u32>) {
        if let Some(journal) = self.journal.as_mut().filter(|_| !lpns.is_empty()) {
            self.stamp.sequence += 1;
            journal.trim(lpns, self.stamp.sequence);
        }
    }

    /// Writes the journal, if there is one and the trigger asks for it.
    #[inline]
    pub(crate) fn keep_journal(
        &mut self,
        trigger: CheckpointTrigger,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        let Some(journal) = &mut self.journal else { return Ok(()) };
        let Self { table, units, remapping, .. } = self;
        let drive = Snapshot { table, remapping: *remapping, units };
        journal.keep(trigger, &mut self.nand, drive, &mut self.stamp, chain)
    }

    /// Resets counters, clocks and wear to zero.
    pub(crate) fn reset_counters(&mut self) {
        self.nand.reset_counters();
        self.units.reset_wear();
    }

    /// Prefetches the map entry of a page that will be accessed soon.
    #[inline(always)]
    pub(crate) fn prefetch_entry(&self, lpn: Lpn) {
        prefetch(&self.table, lpn.index());
    }

    /// Prefetches the unit state that a write of a page will touch. The map entry should be
    /// prefetched already.
    #[inline(always)]
    pub(crate) fn prefetch_page(&self, lpn: Lpn) {
        if let Some(&Some(old)) = self.table.get(lpn.index()) {
            self.units.prefetch(old);
        }
    }

    /// Asserts that each mapped page has a valid physical page that names it. Returns the number of
    /// mapped pages.
    pub(crate) fn check(&self) -> u64 {
        self.units.check();
        let mut mapped = 0;
        for (index, ppn) in self.table.iter().enumerate().filter_map(|(i, p)| Some((i, (*p)?))) {
            let lpn = Lpn::new(index as u32);
            assert_eq!(self.units.owner(ppn), Some(Owner::Data(lpn)), "the page of {lpn:?}");
            mapped += 1;
        }
        mapped
    }
}
