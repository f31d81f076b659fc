//! Compares BAST with its text: logs are lists and every decision is a scan. The model shares only
//! the random numbers with the drive.

use std::collections::BTreeMap;

use crate::common::log_rig::LogRig;
use crate::common::workload::{ANYTHING, Mix, WRITES, Workload};
use crate::common::{GEOMETRIES, ODD};
use floatgate_ftl::log_block::{BastConfig, LogVictim, MergeWhenFull};
use floatgate_ftl::nand::Cause;
use floatgate_ftl::request::{Op, Request};
use floatgate_ftl::rng::Rng;

/// Offsets in write order, and whether each is still the newest version.
#[derive(Clone, Debug)]
struct Log {
    lbn: u32,
    pages: Vec<(u32, bool)>,
    slot: usize,
}

#[derive(Debug)]
struct Naive {
    pages: u32,
    block: u32,
    max: usize,
    config: BastConfig,
    /// The next victim of `fifo` and `lru` first.
    logs: Vec<Log>,
    vacant: Vec<usize>,
    /// Offsets whose newest version is in the data block, by block.
    data: BTreeMap<u32, Vec<u32>>,
    rng: Rng,
    switch: u64,
    partial: u64,
    full: u64,
    dropped: u64,
    copies: u64,
    erases: u64,
}

impl Naive {
    fn new(rig: &LogRig) -> Self {
        Self {
            pages: rig.shape.logical_pages,
            block: rig.geometry().pages_per_unit(),
            max: rig.logs as usize,
            config: rig.bast,
            logs: vec![],
            vacant: (0..rig.logs as usize).rev().collect(),
            data: BTreeMap::new(),
            rng: Rng::new(rig.seed),
            switch: 0,
            partial: 0,
            full: 0,
            dropped: 0,
            copies: 0,
            erases: 0,
        }
    }

    fn write(&mut self, lpn: u32) {
        let (lbn, offset) = (lpn / self.block, lpn % self.block);
        if let Some(at) = self.logs.iter().position(|log| log.lbn == lbn)
            && self.logs[at].pages.len() == self.block as usize
        {
            self.merge(at);
        }
        if !self.logs.iter().any(|log| log.lbn == lbn) {
            if self.logs.len() == self.max {
                let victim = match self.config.victim {
                    LogVictim::Fifo | LogVictim::Lru => 0,
                    LogVictim::Random => {
                        let slot = self.rng.below(self.max as u64) as usize;
                        self.logs.iter().position(|log| log.slot == slot).unwrap()
                    }
                };
                self.merge(victim);
            }
            let slot = self.vacant.pop().unwrap();
            self.logs.push(Log { lbn, pages: vec![], slot });
        }
        self.forget(lpn);
        let at = self.logs.iter().position(|log| log.lbn == lbn).unwrap();
        let mut log = self.logs.remove(at);
        log.pages.push((offset, true));
        let full = log.pages.len() == self.block as usize;
        let at = if self.config.victim == LogVictim::Lru { self.logs.len() } else { at };
        self.logs.insert(at, log);
        if full && self.config.merge_when_full == MergeWhenFull::Immediately {
            self.merge(at);
        }
    }

    /// Marks the newest version of a page as outdated.
    fn forget(&mut self, lpn: u32) {
        let (lbn, offset) = (lpn / self.block, lpn % self.block);
        for log in self.logs.iter_mut().filter(|log| log.lbn == lbn) {
            for page in log.pages.iter_mut().filter(|page| page.0 == offset) {
                page.1 = false;
            }
        }
        if let Some(data) = self.data.get_mut(&lbn) {
            data.retain(|&at| at != offset);
        }
    }

    fn merge(&mut self, at: usize) {
        let log = self.logs.remove(at);
        self.vacant.push(log.slot);
        let newest: Vec<u32> = log.pages.iter().filter(|p| p.1).map(|p| p.0).collect();
        if newest.is_empty() {
            self.dropped += 1;
            self.erases += 1;
            return;
        }
        let in_order = log.pages.iter().zip(0..).all(|(page, at)| page.0 == at);
        let size = self.block.min(self.pages - log.lbn * self.block) as usize;
        let complete = in_order && log.pages.len() == size;
        let old = self.data.insert(log.lbn, vec![]);
        self.erases += u64::from(old.is_some());
        let mut merged = old.unwrap_or_default();
        if complete || (in_order && self.config.partial_merge) {
            self.switch += u64::from(complete);
            self.partial += u64::from(!complete);
            self.copies += merged.len() as u64;
            merged.extend(newest);
        } else {
            self.full += 1;
            merged.extend(newest);
            self.copies += merged.len() as u64;
            self.erases += 1;
        }
        self.data.insert(log.lbn, merged);
    }

    fn run(&mut self, request: &Request, page_bytes: u64) {
        let end = request.offset + request.length;
        if request.op == Op::Write && request.length > 0 {
            for lpn in request.offset / page_bytes..end.div_ceil(page_bytes) {
                self.write(lpn as u32);
            }
        }
        if request.op == Op::Trim {
            for lpn in request.offset.div_ceil(page_bytes)..end / page_bytes {
                self.forget(lpn as u32);
            }
        }
    }
}

fn compare(rig: &LogRig, mix: Mix, seed: u64, requests: usize) -> [u64; 4] {
    let (mut drive, mut naive) = (rig.build().0, Naive::new(rig));
    let (pages, page_bytes) = (rig.shape.logical_pages, rig.shape.page_bytes);
    let mut workload = Workload::new(seed, mix, pages, page_bytes);
    for _ in 0..requests {
        let request = workload.next();
        drive.run(&[request], &mut vec![]);
        naive.run(&request, u64::from(page_bytes));
        let counters = drive.counters();
        let (merges, merge) = (counters.merges, Cause::Merge as usize);
        let ours = [merges.switch, merges.partial, merges.full, merges.dropped_logs];
        let theirs = [naive.switch, naive.partial, naive.full, naive.dropped];
        assert_eq!(ours, theirs, "{request:?} {rig:?}");
        let ours = (counters.flash.programs[merge], counters.flash.erases[merge]);
        assert_eq!(ours, (naive.copies, naive.erases), "{request:?} {rig:?}");
    }
    drive.check();
    [naive.switch, naive.partial, naive.full, naive.dropped]
}

#[test]
fn every_merge_is_the_text_s() {
    let mut seen = [0; 4];
    let mixes = [
        ANYTHING,
        WRITES,
        Mix { trims: 12, ..ANYTHING },
        Mix { pages_max: 40, reads: 0, unaligned: false, ..ANYTHING },
    ];
    for (_, shape) in GEOMETRIES {
        for logs in [1, 2, 5, 30] {
            for (seed, rig) in LogRig::new(shape, "bast", logs).options().iter().enumerate() {
                for mix in mixes {
                    let counts = compare(rig, mix, seed as u64, 300);
                    seen = std::array::from_fn(|kind| seen[kind] + counts[kind]);
                }
            }
        }
    }
    assert!(seen.iter().all(|&count| count > 200), "each kind came up: {seen:?}");
}

#[test]
fn a_long_run_agrees() {
    for rig in LogRig::new(ODD, "bast", 4).options() {
        compare(&rig, ANYTHING, 77, 4000);
    }
}
