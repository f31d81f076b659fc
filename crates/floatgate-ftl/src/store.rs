//! What both engines stand on: the flash, the state of its units, the map, and the journal.
//!
//! The map is the whole one, where the newest version of each logical page is. What a drive has of
//! it in memory is the business of its engine. A page that the map names is valid, and names its
//! logical page in turn: whoever changes one here changes the other.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use crate::addr::{Lpn, Owner, Ppn, Stamp, Tag};
use crate::geometry::Geometry;
use crate::journal::{CheckpointTrigger, Journal, Layout, Snapshot};
use crate::nand::{Cause, Chain, Clock, Nand, Source};
use crate::prefetch::prefetch;
use crate::saved::{Carrier, State, carry};
use crate::unit_table::{FreeOrder, UnitTable};

/// Flash of medium `N`, and what is known of it.
pub struct Store<N> {
    pub(crate) nand: N,
    pub(crate) geometry: Geometry,
    /// Where each logical page is.
    pub(crate) table: Vec<Option<Ppn>>,
    /// A page that is being remapped, and where it is: the map says neither.
    pub(crate) remapping: Option<(Lpn, Ppn)>,
    pub(crate) units: UnitTable,
    pub(crate) stamp: Stamp,
    pub(crate) journal: Option<Journal>,
    /// The page that the command which is carried out has read last.
    beside: Option<Ppn>,
}

impl<N: Nand> State for Store<N> {
    fn carry(&mut self, by: &mut Carrier<'_>) {
        let Self { nand, geometry: _, table, remapping, units, stamp, journal, beside } = self;
        carry(nand.state(), by);
        table.carry(by);
        remapping.carry(by);
        units.carry(by);
        stamp.carry(by);
        journal.iter_mut().for_each(|journal| journal.carry(by));
        beside.carry(by);
    }
}

impl<N: Nand> Store<N> {
    /// Erased flash that is written in so many streams; `journal` is how many pages are programmed
    /// between two checkpoints, if there is a journal.
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
            beside: None,
        }
    }

    /// What plays the chains.
    #[inline(always)]
    pub(crate) fn clock(&mut self) -> &mut N::Clock {
        self.nand.clock_mut()
    }

    /// The time, in nanoseconds.
    #[inline(always)]
    pub(crate) fn now_ns(&self) -> u64 {
        self.nand.clock().now()
    }

    /// The physical page of a logical one.
    #[inline(always)]
    pub fn place(&self, lpn: Lpn) -> Option<Ppn> {
        self.table[lpn.index()]
    }

    /// A command begins: what it reads is read anew, whatever was read before.
    #[inline(always)]
    pub(crate) fn begin_command(&mut self) {
        self.beside = None;
    }

    /// Reads a page of the host, which is in the controller's memory or on flash.
    #[inline(always)]
    pub(crate) fn read(
        &mut self,
        (lpn, from): (Lpn, Ppn),
        in_memory: bool,
        chain: &mut Chain,
    ) -> Result<(), N::Error> {
        let source = match self.beside {
            _ if in_memory => Source::Memory,
            Some(before) if self.geometry.is_read_with(before, from) => Source::Register,
            _ => Source::Cells,
        };
        self.beside = if in_memory { None } else { Some(from) };
        self.nand.read(from, Owner::Data(lpn), source, Cause::Host, chain)
    }

    /// Programs the medium's register for the host, on behalf of `original` if that is another
    /// page. [`Store::point`] follows.
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

    /// Points the map at what was programmed last, and gives up the page that this replaces, which
    /// is the answer.
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

    /// Gives up a page; the answer is where it was.
    pub(crate) fn forget(&mut self, lpn: Lpn) -> Option<Ppn> {
        let old = self.table[lpn.index()].take()?;
        self.units.invalidate(old, Owner::Data(lpn));
        Some(old)
    }

    /// Pages are about to be trimmed: the journal will write it down.
    pub(crate) fn record_trim(&mut self, lpns: Range<u32>) {
        if let Some(journal) = self.journal.as_mut().filter(|_| !lpns.is_empty()) {
            self.stamp.sequence += 1;
            journal.trim(lpns, self.stamp.sequence);
        }
    }

    /// Writes the journal if there is one and the trigger asks for it.
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

    /// Counters, clocks and wear back to zero.
    pub(crate) fn reset_counters(&mut self) {
        self.nand.reset_counters();
        self.units.reset_wear();
    }

    /// Asks the processor for the map entry of a page that will be accessed soon.
    #[inline(always)]
    pub(crate) fn prefetch_entry(&self, lpn: Lpn) {
        prefetch(&self.table, lpn.index());
    }

    /// Asks the processor for what a write of a page will touch; its map entry should be there.
    #[inline(always)]
    pub(crate) fn prefetch_page(&self, lpn: Lpn) {
        if let Some(&Some(old)) = self.table.get(lpn.index()) {
            self.units.prefetch(old);
        }
    }

    /// Each mapped page has a valid physical page that names it. The answer is how many there are.
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
