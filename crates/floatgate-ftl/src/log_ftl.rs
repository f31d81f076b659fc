//! The block-mapped engine: runs the steps of a log block scheme on the flash.
//!
//! The map has the data block of each logical block, and the logical page of each page of a log. In
//! a data block every page is at its own offset. A logical page without data is left out: it is
//! neither copied nor programmed, so a data block can have gaps. Padding the gaps would cost
//! programs that no description of BAST or FAST counts. Flash only requires ascending order (see
//! [`crate::nand`]).
//!
//! After a loss of power [`LogFtl::recover`] merges all pages in logs. The logs then start empty.

mod merging;
mod recovery;

use alloc::boxed::Box;
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

/// Free units that a merge needs, in addition to the data blocks and logs.
pub const MERGE_RESERVE: u32 = 1;

/// Configuration of a block-mapped drive, without its medium and its scheme.
#[derive(Clone, Copy, Debug)]
pub struct LogFtlConfig {
    /// Shape of the drive.
    pub geometry: Geometry,
    /// Log blocks in use at a time: the number that the scheme was made for.
    pub logs: u32,
    /// Which free unit is opened next.
    pub free_order: FreeOrder,
    /// Pages programmed between two checkpoints, if there is a journal. The journal's units lie
    /// behind the units of the geometry, as in [`Layout::medium`](crate::journal::Layout::medium).
    pub journal: Option<u64>,
}

/// A unit in use as a log.
#[derive(Clone, Copy, Debug)]
struct Log {
    unit: Unit,
    written: u32,
}

/// A block-mapped flash translation layer on medium `N`.
pub struct LogFtl<N> {
    /// Its page table covers the pages in logs and the pages in data blocks.
    store: Store<N>,
    scheme: Box<dyn LogBlocks + Send>,
    /// Data block of each logical block.
    data: Vec<Option<Unit>>,
    /// Logs in use, by slot.
    logs: Vec<Option<Log>>,
    merges: MergeCounts,
    steps: Vec<Step>,
    moves: Vec<Move>,
    to_merge: Vec<Lbn>,
}

impl<N: Nand> LogFtl<N> {
    /// Starts an empty drive on erased flash. `config.logs` must be the number of logs that the
    /// scheme was made for.
    ///
    /// # Errors
    /// The medium's fault while the journal is begun.
    pub fn new(
        nand: N,
        scheme: Box<dyn LogBlocks + Send>,
        config: LogFtlConfig,
    ) -> Result<Self, N::Error> {
        let mut ftl = Self::unformatted(nand, scheme, config);
        ftl.store.keep_journal(CheckpointTrigger::Now, &mut Chain::default())?;
        ftl.reset_counters();
        Ok(ftl)
    }

    /// Makes a drive with nothing programmed.
    fn unformatted(nand: N, scheme: Box<dyn LogBlocks + Send>, config: LogFtlConfig) -> Self {
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

    /// Returns the data block of a logical block, if it has one.
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

    /// Programs the page of the host write.
    #[inline(always)]
    fn append(&mut self, slot: u32, lpn: Lpn, chain: &mut Chain) -> Result<(), N::Error> {
        let log = self.logs[slot as usize].as_mut().expect("a log is opened before it is written");
        let to = self.store.geometry.page(log.unit, log.written);
        log.written += 1;
        self.store.program(to, lpn, None, chain)?;
        self.store.point(lpn, to);
        Ok(())
    }

    /// Asserts that each valid page of a data block is at its own offset, and that each valid page
    /// of a log belongs to the log's logical block.
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

impl<N: Nand> Ftl for LogFtl<N> {
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

    /// Unmaps the pages. Their units stay in use until a merge.
    fn trim(&mut self, lpns: Range<u32>, _: &mut Chain) -> Result<u64, N::Error> {
        self.store.record_trim(lpns.clone());
        Ok(lpns.filter_map(|lpn| self.store.forget(Lpn::new(lpn))).count() as u64)
    }

    /// The map takes four bytes per logical block and four bytes per page of a log.
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

    /// Asserts that each valid page is at its place in the map, that data blocks have their pages
    /// in place, that logs have pages of their logical block, and that each unit is free, a data
    /// block or a log.
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
