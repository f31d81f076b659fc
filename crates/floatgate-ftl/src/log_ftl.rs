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

use crate::addr::{Lbn, Lpn, Owner, Unit};
use crate::counters::{Counters, MergeCounts};
use crate::ftl::Ftl;
use crate::geometry::Geometry;
use crate::journal::CheckpointTrigger;
use crate::log_block::{LogBlocks, LogView, Step};
use crate::nand::{Chain, Move, Nand};
use crate::store::Store;
use crate::unit_table::FreeOrder;

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
    /// behind those of the geometry, as [`Layout::medium`](crate::journal::Layout::medium) says.
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
    /// The map there is that of the logs and of the data blocks in one.
    store: Store<N>,
    scheme: L,
    /// The data block of each logical block.
    data: Vec<Option<Unit>>,
    /// The logs in use, by slot.
    logs: Vec<Option<Log>>,
    merges: MergeCounts,
    steps: Vec<Step>,
    moves: Vec<Move>,
    to_merge: Vec<Lbn>,
}

impl<N: Nand, L: LogBlocks> LogFtl<N, L> {
    /// An empty drive on erased flash, with as many log blocks at a time as the scheme was made
    /// for.
    ///
    /// # Errors
    /// The medium's fault while the journal is begun.
    pub fn new(nand: N, scheme: L, config: LogFtlConfig) -> Result<Self, N::Error> {
        let mut ftl = Self::unformatted(nand, scheme, config);
        ftl.store.keep_journal(CheckpointTrigger::Now, &mut Chain::default())?;
        ftl.reset_counters();
        Ok(ftl)
    }

    /// A drive of which nothing is programmed yet.
    fn unformatted(nand: N, scheme: L, config: LogFtlConfig) -> Self {
        let LogFtlConfig { geometry, logs, free_order, journal } = config;
        let least = geometry.logical_blocks() + logs + MERGE_RESERVE;
        assert!(geometry.units() >= least, "data blocks, logs and a merge take {least} units");
        Self {
            store: Store::new(nand, geometry, free_order, 1, journal),
            scheme,
            data: vec![None; geometry.logical_blocks() as usize],
            logs: vec![None; logs as usize],
            merges: MergeCounts::default(),
            steps: Vec::new(),
            moves: Vec::new(),
            to_merge: Vec::new(),
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
                self.store.keep_journal(CheckpointTrigger::Due, chain)?;
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

    fn open_unit(&mut self) -> Unit {
        self.store.units.open(0).expect("data blocks, logs and the reserve are all there can be")
    }

    /// Programs the page that the host writes.
    #[inline(always)]
    fn append(&mut self, slot: u32, lpn: Lpn, chain: &mut Chain) -> Result<(), N::Error> {
        let log = self.logs[slot as usize].as_mut().expect("a log is opened before it is written");
        let to = self.store.geometry.page(log.unit, log.written);
        log.written += 1;
        self.store.program(to, lpn, None, chain)?;
        self.store.point(lpn, to);
        Ok(())
    }

    /// What a data block holds is at its place, and what a log of one logical block holds is of it.
    fn check_unit(&self, unit: Unit, lbn: Option<Lbn>, in_place: bool, written: u32) {
        for page in 0..self.store.geometry.pages_per_unit() {
            let ppn = self.store.geometry.page(unit, page);
            let Some(owner) = self.store.units.owner(ppn) else { continue };
            let Owner::Data(lpn) = owner else { panic!("{owner:?} is not data") };
            assert_eq!(self.store.table[lpn.index()], Some(ppn), "only newest pages are valid");
            let (home, offset) = self.store.geometry.logical_place(lpn);
            assert!(lbn.is_none_or(|lbn| lbn == home), "{lpn:?} in a block of {lbn:?}");
            assert!(!in_place || offset == page, "{lpn:?} is not at its place in {unit:?}");
            assert!(page < written, "{lpn:?} is in a page that is not programmed");
        }
    }
}

impl<N: Nand, L: LogBlocks> Ftl for LogFtl<N, L> {
    type Medium = N;

    #[inline(always)]
    fn store(&self) -> &Store<N> {
        &self.store
    }

    #[inline(always)]
    fn store_mut(&mut self) -> &mut Store<N> {
        &mut self.store
    }

    #[inline(always)]
    fn write(&mut self, lpn: Lpn, _: u32, chain: &mut Chain) -> Result<(), N::Error> {
        let (lbn, offset) = self.store.geometry.logical_place(lpn);
        self.store.units.tick();
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
        self.store.record_trim(lpns.clone());
        Ok(lpns.filter_map(|lpn| self.store.forget(Lpn::new(lpn))).count() as u64)
    }

    /// The map takes four bytes for each logical block, and for each page of a log.
    fn report(&self, counters: &mut Counters) {
        self.store.nand.report(counters);
        let pages = self.logs.len() as u64 * u64::from(self.store.geometry.pages_per_unit());
        counters.cache_bytes = 4 * (self.data.len() as u64 + pages);
        counters.merges = self.merges;
    }

    fn reset_counters(&mut self) {
        self.store.reset_counters();
        self.merges = MergeCounts::default();
    }

    /// Each page that holds something is where the map says; data blocks have their pages in place,
    /// logs have those of their logical block; units are free, data blocks or logs.
    fn check(&self) {
        let mapped = self.store.check();
        self.scheme.check();
        let mut valid = 0;
        for (number, unit) in self.data.iter().enumerate().filter_map(|(n, u)| Some((n, (*u)?))) {
            let lbn = Lbn(number as u32);
            self.check_unit(unit, Some(lbn), true, self.store.geometry.pages_per_unit());
            valid += self.store.units.valid(unit);
        }
        for (slot, log) in self.logs.iter().enumerate() {
            let view = self.scheme.log(slot as u32);
            assert_eq!(log.map(|log| log.written), view.map(|view| view.written), "log {slot}");
            if let (Some(log), Some(LogView { lbn, written })) = (log, view) {
                self.check_unit(log.unit, lbn, false, written);
                valid += self.store.units.valid(log.unit);
            }
        }
        assert_eq!(mapped, u64::from(valid), "a valid page is in a data block or a log");
        let in_use = self.data.iter().flatten().count() + self.logs.iter().flatten().count();
        assert_eq!(
            in_use + self.store.units.free_units() as usize,
            self.store.geometry.units() as usize
        );
    }
}
