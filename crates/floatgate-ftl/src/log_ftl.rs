//! The block-mapped engine: asks a scheme of log blocks, and does the work on the flash.
//!
//! The map says for each logical block which unit is its data block, and for each page of a log
//! what it is. Data blocks have every page at its own place; pages that hold nothing are left out,
//! so a data block can have gaps: they are neither copied nor programmed. To pad them would cost
//! programs that no description of BAST or FAST counts, and flash only asks for ascending order
//! (see [`crate::nand`]).
//!
//! After a loss of power [`LogFtl::recover`] merges all that is in logs: they begin anew.

mod merging;
mod recovery;

use alloc::vec;
use alloc::vec::Vec;
use core::mem;
use core::ops::Range;

use crate::addr::{Lbn, Lpn, Owner, Ppn, Stamp, Unit};
use crate::blocks::{Blocks, FreeOrder};
use crate::ftl::{Ftl, MergeCounts};
use crate::geometry::Geometry;
use crate::journal::{Journal, Layout, Occasion, Snapshot};
use crate::log_block::{LogBlocks, LogView, Step};
use crate::nand::{Cause, Chain, Move, Nand};
use crate::prefetch::prefetch;

/// Units that a merge needs free, beside those of data blocks and logs.
pub const MERGE_RESERVE: u32 = 1;

/// What a block-mapped drive is made of, beside its medium and its scheme.
#[derive(Clone, Copy, Debug)]
pub struct LogFtlConfig {
    /// Shape of the drive.
    pub geometry: Geometry,
    /// Log blocks at a time, as many as the scheme was made for.
    pub logs: u32,
    /// Which free unit is opened next.
    pub free_order: FreeOrder,
    /// Pages that are programmed between two checkpoints, if there is a journal. Its units lie
    /// behind those of the geometry, as [`Layout::medium`] says.
    pub journal: Option<u64>,
}

/// A unit in use as a log.
#[derive(Clone, Copy, Debug)]
struct Log {
    unit: Unit,
    written: u32,
}

/// A block-mapped flash translation layer on medium `N` with log blocks `L`.
pub struct LogFtl<N, L> {
    nand: N,
    scheme: L,
    geometry: Geometry,
    /// Where the newest version of each page is: the map of the logs and the data blocks in one.
    table: Vec<Option<Ppn>>,
    /// The data block of each logical block.
    data: Vec<Option<Unit>>,
    /// The logs in use, by slot.
    logs: Vec<Option<Log>>,
    blocks: Blocks,
    stamp: Stamp,
    journal: Option<Journal>,
    merges: MergeCounts,
    steps: Vec<Step>,
    moves: Vec<Move>,
    gathering: Vec<Lbn>,
}

impl<N: Nand, L: LogBlocks> LogFtl<N, L> {
    /// An empty drive on erased flash, with as many log blocks at a time as the scheme was made
    /// for.
    ///
    /// # Errors
    /// The medium's fault while the journal is begun.
    pub fn new(nand: N, scheme: L, config: LogFtlConfig) -> Result<Self, N::Error> {
        let mut ftl = Self::unformatted(nand, scheme, config);
        ftl.keep_journal(Occasion::Now, &mut Chain::default())?;
        ftl.restart();
        Ok(ftl)
    }

    /// A drive of which nothing is programmed yet.
    fn unformatted(nand: N, scheme: L, config: LogFtlConfig) -> Self {
        let LogFtlConfig { geometry, logs, free_order, journal } = config;
        let least = geometry.logical_blocks() + logs + MERGE_RESERVE;
        assert!(geometry.units() >= least, "data blocks, logs and a merge take {least} units");
        Self {
            nand,
            scheme,
            geometry,
            table: vec![None; geometry.logical_pages() as usize],
            data: vec![None; geometry.logical_blocks() as usize],
            logs: vec![None; logs as usize],
            blocks: Blocks::new(geometry, free_order, 1),
            stamp: Stamp::default(),
            journal: journal.map(|every| Journal::new(Layout::new(geometry), every)),
            merges: MergeCounts::default(),
            steps: Vec::new(),
            moves: Vec::new(),
            gathering: Vec::new(),
        }
    }

    /// The log blocks.
    pub fn scheme(&self) -> &L {
        &self.scheme
    }

    /// The unit that is the data block of a logical block, if it has one.
    pub fn data_block(&self, lbn: Lbn) -> Option<Unit> {
        self.data[lbn.index()]
    }

    fn perform(&mut self, step: Step, lpn: Lpn, chain: &mut Chain) -> Result<(), N::Error> {
        match step {
            Step::Open(slot) => {
                self.keep_journal(Occasion::Due, chain)?;
                let unit = self.open_unit();
                let before = self.logs[slot as usize].replace(Log { unit, written: 0 });
                assert!(before.is_none(), "a log is merged before its slot is used again");
                Ok(())
            }
            Step::Append(slot) => self.append(slot, lpn, chain),
            Step::Promote(slot, lbn) => {
                self.merging(chain, |ftl, work| ftl.promote(slot, lbn, work))
            }
            Step::Merge(slot, lbn) => self.merging(chain, |ftl, work| ftl.merge(slot, lbn, work)),
            Step::Collect(slot) => self.merging(chain, |ftl, work| ftl.collect(slot, work)),
        }
    }

    /// Writes the journal if this is the occasion, and if there is one.
    fn keep_journal(&mut self, occasion: Occasion, chain: &mut Chain) -> Result<(), N::Error> {
        let Some(journal) = &mut self.journal else { return Ok(()) };
        let drive = Snapshot { table: &self.table, remapping: None, blocks: &self.blocks };
        journal.keep(occasion, &mut self.nand, drive, &mut self.stamp, chain)
    }

    fn open_unit(&mut self) -> Unit {
        self.blocks.open(0).expect("data blocks, logs and the reserve are all there can be")
    }

    /// Programs the page that the host writes.
    #[inline(always)]
    fn append(&mut self, slot: u32, lpn: Lpn, chain: &mut Chain) -> Result<(), N::Error> {
        let log = self.logs[slot as usize].as_mut().expect("a log is opened before it is written");
        let (to, owner) = (self.geometry.page(log.unit, log.written), Owner::Data(lpn));
        log.written += 1;
        self.nand.program(to, self.stamp.write(owner), Cause::Host, chain)?;
        self.blocks.validate(to, owner);
        if let Some(old) = self.table[lpn.index()].replace(to) {
            self.blocks.invalidate(old, owner);
        }
        Ok(())
    }

    /// What a data block holds is at its place, and what a log of one logical block holds is of it.
    fn check_unit(&self, unit: Unit, lbn: Option<Lbn>, in_place: bool, written: u32) {
        for page in 0..self.geometry.pages_per_unit() {
            let ppn = self.geometry.page(unit, page);
            let Some(owner) = self.blocks.owner(ppn) else { continue };
            let Owner::Data(lpn) = owner else { panic!("{owner:?} is not data") };
            assert_eq!(self.table[lpn.index()], Some(ppn), "only newest pages are wanted");
            let (home, offset) = self.geometry.logical_place(lpn);
            assert!(lbn.is_none_or(|lbn| lbn == home), "{lpn:?} in a block of {lbn:?}");
            assert!(!in_place || offset == page, "{lpn:?} is not at its place in {unit:?}");
            assert!(page < written, "{lpn:?} is in a page that is not programmed");
        }
    }
}

impl<N: Nand, L: LogBlocks> Ftl for LogFtl<N, L> {
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

    #[inline(always)]
    fn read(&mut self, lpn: Lpn, chain: &mut Chain) -> Result<bool, N::Error> {
        let Some(from) = self.table[lpn.index()] else { return Ok(false) };
        self.nand.read(from, Owner::Data(lpn), Cause::Host, chain)?;
        Ok(true)
    }

    #[inline(always)]
    fn write(&mut self, lpn: Lpn, _: u32, chain: &mut Chain) -> Result<(), N::Error> {
        let (lbn, offset) = self.geometry.logical_place(lpn);
        self.blocks.tick();
        let mut steps = mem::take(&mut self.steps);
        steps.clear();
        self.scheme.write(lbn, offset, &mut steps);
        for &step in &steps {
            self.perform(step, lpn, chain)?;
        }
        self.steps = steps;
        Ok(())
    }

    /// The pages are forgotten, their blocks stay in use until they are merged.
    fn trim(&mut self, lpns: Range<u32>, _: &mut Chain) -> Result<u64, N::Error> {
        let mut trimmed = 0;
        if let Some(journal) = self.journal.as_mut().filter(|_| !lpns.is_empty()) {
            self.stamp.sequence += 1;
            journal.trim(lpns.clone(), self.stamp.sequence);
        }
        for lpn in lpns.map(Lpn::new) {
            if let Some(old) = self.table[lpn.index()].take() {
                self.blocks.invalidate(old, Owner::Data(lpn));
                trimmed += 1;
            }
        }
        Ok(trimmed)
    }

    fn flush(&mut self, chain: &mut Chain) -> Result<(), N::Error> {
        self.keep_journal(Occasion::Trims, chain)
    }

    fn shut_down(&mut self, chain: &mut Chain) -> Result<(), N::Error> {
        self.keep_journal(Occasion::Now, chain)
    }

    fn restart(&mut self) {
        self.nand.restart();
        self.blocks.restart_wear();
        self.merges = MergeCounts::default();
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

    /// Four bytes for each logical block, and for each page of a log.
    fn cache_bytes(&self) -> u64 {
        let pages = self.logs.len() as u64 * u64::from(self.geometry.pages_per_unit());
        4 * (self.data.len() as u64 + pages)
    }

    fn merges(&self) -> MergeCounts {
        self.merges
    }

    /// Each page that holds something is where the map says; data blocks have their pages in place,
    /// logs have those of their logical block; units are free, data blocks or logs.
    fn check(&self) {
        self.blocks.check();
        self.scheme.check();
        for (index, ppn) in self.table.iter().enumerate().filter_map(|(i, p)| Some((i, (*p)?))) {
            let owner = Owner::Data(Lpn::new(index as u32));
            assert_eq!(self.blocks.owner(ppn), Some(owner), "the page of {owner:?}");
        }
        let mut valid = 0;
        for (number, unit) in self.data.iter().enumerate().filter_map(|(n, u)| Some((n, (*u)?))) {
            let lbn = Lbn(number as u32);
            self.check_unit(unit, Some(lbn), true, self.geometry.pages_per_unit());
            valid += self.blocks.valid(unit);
        }
        for (slot, log) in self.logs.iter().enumerate() {
            let view = self.scheme.log(slot as u32);
            assert_eq!(log.map(|log| log.written), view.map(|view| view.written), "log {slot}");
            if let (Some(log), Some(LogView { lbn, written })) = (log, view) {
                self.check_unit(log.unit, lbn, false, written);
                valid += self.blocks.valid(log.unit);
            }
        }
        let mapped = self.table.iter().flatten().count();
        assert_eq!(mapped, valid as usize, "what is wanted is in a data block or a log");
        let in_use = self.data.iter().flatten().count() + self.logs.iter().flatten().count();
        assert_eq!(in_use + self.blocks.free_units() as usize, self.geometry.units() as usize);
    }
}
