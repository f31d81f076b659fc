//! Compares FAST with the paper's Algorithm 2: logs are lists, and every decision is a scan.

use std::collections::BTreeSet;

use crate::common::log_rig::LogRig;
use crate::common::workload::{ANYTHING, Mix, WRITES, Workload};
use crate::common::{GEOMETRIES, ODD};
use floatgate_ftl::log_block::{FastConfig, OutOfOrder};
use floatgate_ftl::nand::Cause;
use floatgate_ftl::request::{Op, Request};

/// Pages in write order, and whether each is still the newest version.
type Pages = Vec<(u32, bool)>;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Counts {
    switch: u64,
    partial: u64,
    full: u64,
    shared_logs: u64,
    shared_merges: u64,
    shared_most: u64,
    dropped: u64,
    copies: u64,
    erases: u64,
}

#[derive(Debug)]
struct Naive {
    pages: u32,
    block: u32,
    random_max: usize,
    config: FastConfig,
    sequential: Option<(u32, Pages)>,
    /// The oldest log first.
    random: Vec<Pages>,
    /// Pages whose newest version is in a data block, and blocks that have a data block.
    data: BTreeSet<u32>,
    blocks: BTreeSet<u32>,
    counts: Counts,
}

impl Naive {
    fn new(rig: &LogRig) -> Self {
        Self {
            pages: rig.shape.logical_pages,
            block: rig.geometry().pages_per_unit(),
            random_max: rig.logs as usize - 1,
            config: rig.fast,
            sequential: None,
            random: vec![],
            data: BTreeSet::new(),
            blocks: BTreeSet::new(),
            counts: Counts::default(),
        }
    }

    fn all_logs(&mut self) -> impl Iterator<Item = &mut (u32, bool)> {
        let sequential = self.sequential.iter_mut().flat_map(|log| log.1.iter_mut());
        sequential.chain(self.random.iter_mut().flatten())
    }

    fn forget(&mut self, lpn: u32) {
        self.all_logs().filter(|page| page.0 == lpn).for_each(|page| page.1 = false);
        self.data.remove(&lpn);
    }

    fn write(&mut self, lpn: u32) {
        let lbn = lpn / self.block;
        let own = self.sequential.as_ref().filter(|log| log.0 == lbn);
        let next = own.and_then(|log| log.1.last()).map(|last| last.0 + 1);
        if lpn.is_multiple_of(self.block) {
            self.restart(lpn);
        } else if next == Some(lpn) {
            self.forget(lpn);
            self.sequential.as_mut().unwrap().1.push((lpn, true));
        } else if next.is_some() && self.config.out_of_order == OutOfOrder::Restart {
            self.restart(lpn);
        } else {
            self.write_random(lpn);
        }
    }

    fn restart(&mut self, lpn: u32) {
        self.merge_sequential();
        self.forget(lpn);
        self.sequential = Some((lpn / self.block, vec![(lpn, true)]));
    }

    fn write_random(&mut self, lpn: u32) {
        if self.random.last().is_none_or(|log| log.len() == self.block as usize) {
            if self.random.len() == self.random_max {
                self.merge_oldest();
            }
            self.random.push(vec![]);
        }
        self.forget(lpn);
        self.random.last_mut().unwrap().push((lpn, true));
    }

    fn lpns(&self, lbn: u32) -> std::ops::Range<u32> {
        lbn * self.block..self.pages.min((lbn + 1) * self.block)
    }

    fn merge_sequential(&mut self) {
        let Some((lbn, pages)) = self.sequential.take() else { return };
        self.counts.erases += 1;
        if pages.iter().all(|page| !page.1) {
            self.counts.dropped += 1;
            return;
        }
        let all = self.lpns(lbn);
        let in_order = pages[0].0 == all.start;
        let complete = in_order && pages.len() == all.len();
        if complete || (in_order && self.config.partial_merge) {
            self.counts.switch += u64::from(complete);
            self.counts.partial += u64::from(!complete);
            // The log becomes the data block, and the old data block is erased.
            self.counts.erases -= u64::from(self.blocks.insert(lbn));
            let kept: Vec<u32> = pages.iter().filter(|page| page.1).map(|page| page.0).collect();
            for lpn in all.start + pages.len() as u32..all.end {
                self.counts.copies += u64::from(self.take(lpn));
            }
            self.data.extend(kept);
        } else {
            self.sequential = Some((lbn, pages));
            self.merge(lbn);
            self.sequential = None;
        }
    }

    /// Moves a page to the data block, if the page exists. Returns whether it does.
    fn take(&mut self, lpn: u32) -> bool {
        let exists = self.data.contains(&lpn) || self.all_logs().any(|page| *page == (lpn, true));
        if exists {
            self.forget(lpn);
            self.data.insert(lpn);
        }
        exists
    }

    fn merge(&mut self, lbn: u32) {
        self.counts.full += 1;
        self.counts.erases += u64::from(!self.blocks.insert(lbn));
        for lpn in self.lpns(lbn) {
            self.counts.copies += u64::from(self.take(lpn));
        }
    }

    fn merge_oldest(&mut self) {
        let mut blocks = vec![];
        for (lpn, newest) in &self.random[0] {
            if *newest && !blocks.contains(&(lpn / self.block)) {
                blocks.push(lpn / self.block);
            }
        }
        for &lbn in &blocks {
            self.merge(lbn);
            if self.sequential.take_if(|log| log.0 == lbn).is_some() {
                self.counts.erases += 1;
            }
        }
        self.random.remove(0);
        let (counts, merged) = (&mut self.counts, blocks.len() as u64);
        counts.erases += 1;
        counts.dropped += u64::from(merged == 0);
        counts.shared_logs += u64::from(merged > 0);
        counts.shared_merges += merged;
        counts.shared_most = counts.shared_most.max(merged);
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

fn compare(rig: &LogRig, mix: Mix, seed: u64, requests: usize) -> Counts {
    let (mut drive, mut naive) = (rig.build().0, Naive::new(rig));
    let (pages, page_bytes) = (rig.shape.logical_pages, rig.shape.page_bytes);
    let mut workload = Workload::new(seed, mix, pages, page_bytes);
    for _ in 0..requests {
        let request = workload.next();
        drive.run(&[request], &mut vec![]);
        naive.run(&request, u64::from(page_bytes));
        let counters = drive.counters();
        let (merges, merge) = (counters.merges, Cause::Merge as usize);
        let ours = Counts {
            switch: merges.switch,
            partial: merges.partial,
            full: merges.full,
            shared_logs: merges.shared_logs,
            shared_merges: merges.shared_merges,
            shared_most: merges.shared_most,
            dropped: merges.dropped_logs,
            copies: counters.flash.programs[merge],
            erases: counters.flash.erases[merge],
        };
        assert_eq!(ours, naive.counts, "{request:?} {rig:?}");
    }
    drive.check();
    naive.counts
}

#[test]
fn every_merge_is_the_text_s() {
    let mut seen = [0; 5];
    let mixes = [
        ANYTHING,
        WRITES,
        Mix { trims: 12, ..ANYTHING },
        Mix { pages_max: 40, reads: 0, unaligned: false, ..ANYTHING },
    ];
    for (_, shape) in GEOMETRIES {
        for logs in [2, 3, 6, 30] {
            for (seed, rig) in LogRig::new(shape, "fast", logs).options().iter().enumerate() {
                for mix in mixes {
                    let c = compare(rig, mix, seed as u64, 400);
                    let counts = [c.switch, c.partial, c.full, c.shared_merges, c.dropped];
                    seen = std::array::from_fn(|kind| seen[kind] + counts[kind]);
                }
            }
        }
    }
    assert!(seen.iter().all(|&count| count > 100), "each kind came up: {seen:?}");
}

#[test]
fn a_long_run_agrees() {
    for rig in LogRig::new(ODD, "fast", 4).options() {
        compare(&rig, ANYTHING, 77, 4000);
    }
}
