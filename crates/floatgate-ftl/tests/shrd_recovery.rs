//! Cuts the power after every single flash operation, under random requests through SHRD. The map
//! recovered from the out-of-band areas must contain everything that was acknowledged. For a write
//! that was not acknowledged, it must contain the old or the new version.
//!
//! Remaps leave no mark on flash, so the end of a command that programs nothing is no separate
//! point.

use std::sync::{Arc, Mutex};

use crate::common::workload::{ANYTHING, Mix, Workload};
use crate::common::{MapPages, ODD, Rig, SERIAL, STRIPED};
use floatgate_ftl::addr::{Lpn, Owner, Ppn, Tag, Unit};
use floatgate_ftl::device::{Device, Inspect};
use floatgate_ftl::forward_nand;
use floatgate_ftl::ftl::{Ftl, Remap};
use floatgate_ftl::mapping::Ideal;
use floatgate_ftl::nand::{
    Cause, Chain, Checked, Counted, Moves, Nand, NoClock, Shadow, Stamped, Tagged,
};
use floatgate_ftl::page_ftl::PageFtl;
use floatgate_ftl::recovery::scan;
use floatgate_ftl::request::{Op, Request};
use std::convert::Infallible;

type Outcome = Result<(), Infallible>;

/// By logical page of the user: the sequence number of the version that recovery would find.
type Versions = Vec<Option<u64>>;

/// Observations since the last look: after every operation the versions that recovery finds, and
/// the sequence numbers of the host's writes, by page.
#[derive(Debug, Default)]
struct Seen {
    found: Vec<Versions>,
    written: Vec<(Lpn, u64)>,
}

/// A medium that is recovered after each of its operations.
#[derive(Clone, Debug)]
struct Watched {
    inner: Checked<Counted>,
    rig: Rig,
    seen: Arc<Mutex<Seen>>,
}

impl Watched {
    fn new(rig: &Rig) -> Self {
        let inner = Checked::new(Counted::default(), rig.geometry());
        Self { inner, rig: *rig, seen: Arc::default() }
    }

    fn look(&self) {
        let found = scan(&self.inner, &self.rig.geometry(), self.rig.log, None).table;
        let (user, log) = found.split_at(self.rig.shape.logical_pages as usize);
        assert!(log.iter().all(Option::is_none), "the log is empty after a recovery");
        let sequence = |ppn: Ppn| self.inner.tag(ppn).unwrap().sequence;
        let user = user.iter().map(|newest| newest.map(sequence)).collect();
        self.seen.lock().unwrap().found.push(user);
    }
}

impl Nand for Watched {
    type Error = Infallible;
    type Clock = NoClock;

    forward_nand!(clock read pad load_payload set_mode report reset_counters);

    fn program(&mut self, to: Ppn, tag: Tag, cause: Cause, chain: &mut Chain) -> Outcome {
        self.inner.program(to, tag, cause, chain)?;
        if let (Cause::Host, Owner::Data(lpn)) = (cause, tag.owner) {
            let lpn = tag.original.unwrap_or(lpn);
            self.seen.lock().unwrap().written.push((lpn, tag.sequence));
        }
        self.look();
        Ok(())
    }

    fn copy(&mut self, moves: impl Moves, cause: Cause, chain: &mut Chain) -> Outcome {
        for step in moves {
            self.inner.copy(std::iter::once(step), cause, chain)?;
            self.look();
        }
        Ok(())
    }

    fn erase(&mut self, unit: Unit, cause: Cause, chain: &mut Chain) -> Outcome {
        self.inner.erase(unit, cause, chain)?;
        self.look();
        Ok(())
    }
}

impl Tagged for Watched {
    forward_nand!(tags);
}

/// Versions that recovery may find: the sequence number acknowledged last. If the page was trimmed
/// since, nothing or any older version.
struct Ledger {
    acknowledged: Vec<Option<u64>>,
    trimmed: Vec<bool>,
    points: usize,
}

impl Ledger {
    /// Compares the observations during some requests with the allowed versions.
    fn hold(&mut self, seen: &Seen, trims: &[std::ops::Range<u64>]) {
        let pages = self.acknowledged.len();
        let mut new: Vec<Vec<u64>> = vec![vec![]; pages];
        seen.written.iter().for_each(|&(lpn, sequence)| new[lpn.index()].push(sequence));
        for trim in trims {
            trim.clone().for_each(|page| self.trimmed[page as usize] = true);
        }
        for found in &seen.found {
            self.points += 1;
            for (page, &found) in found.iter().enumerate() {
                let may = found == self.acknowledged[page]
                    || found.is_some_and(|found| new[page].contains(&found))
                    || self.trimmed[page];
                let old = self.acknowledged[page];
                assert!(may, "page {page}: found {found:?}, had {old:?}, wrote {:?}", new[page]);
            }
        }
        for (page, new) in new.iter().enumerate().filter(|(_, new)| !new.is_empty()) {
            self.acknowledged[page] = new.last().copied();
            // A write after the trim is newer than every version that may come back.
            self.trimmed[page] = trims.iter().any(|trim| trim.contains(&(page as u64)));
        }
    }
}

fn trims(requests: &[Request]) -> Vec<std::ops::Range<u64>> {
    let trims = requests.iter().filter(|request| request.op == Op::Trim);
    trims.map(|trim| trim.offset.div_ceil(64)..(trim.offset + trim.length) / 64).collect()
}

/// Runs requests with a cut at every point. Sometimes continues on the recovered drive, and reads
/// it.
fn cut(rig: &Rig, seed: u64, mix: Mix) -> usize {
    let pages = rig.shape.logical_pages;
    let medium = Watched::new(rig);
    let seen = medium.seen.clone();
    let nand = Stamped::new(medium, rig.geometry().physical_pages());
    let Ok(ftl) = PageFtl::with_log(nand, rig.mapping(), rig.page_config(true), rig.log);
    let mut drive = rig.before(ftl, Shadow::new(pages));
    let mut workload = Workload::new(seed, mix, pages, 64);
    let (acknowledged, trimmed) = (vec![None; pages as usize], vec![false; pages as usize]);
    let mut ledger = Ledger { acknowledged, trimmed, points: 0 };
    let _ = std::mem::take(&mut *seen.lock().unwrap());
    for round in 0..60 {
        let requests = workload.batch(8);
        drive.run(&requests, &mut vec![]);
        ledger.hold(&std::mem::take(&mut *seen.lock().unwrap()), &trims(&requests));
        if round % 15 == 14 && mix.trims == 0 {
            let (ftl, data) = drive.into_drive().into_parts();
            let (nand, config) = (ftl.into_nand(), rig.page_config(true));
            let Ok((ftl, _)) = PageFtl::recover(nand, rig.mapping(), config, rig.log);
            assert!(ftl.is_log_empty());
            drive = rig.before(ftl, data);
            drive.check();
            let all = Workload::pages(Op::Read, 0, u64::from(pages), 64);
            drive.run(&[all], &mut vec![]);
            ledger.hold(&std::mem::take(&mut *seen.lock().unwrap()), &[]);
        }
    }
    ledger.points
}

fn rig(shape: floatgate_ftl::geometry::Shape, mapping: &'static str) -> Rig {
    let page_cache = MapPages { pages_per_map_page: 2, load_for_cleaning: true };
    let rig = Rig {
        log: 40,
        depth: 16,
        low_water: 6,
        cache_bytes: 256,
        page_cache,
        ..Rig::new(shape, mapping, "greedy")
    };
    rig.spare(6)
}

#[test]
fn nothing_acknowledged_is_lost_wherever_power_is_cut() {
    let mut points = 0;
    for (seed, shape) in [SERIAL, STRIPED, ODD].into_iter().enumerate() {
        for mix in
            [ANYTHING, Mix { trims: 0, ..ANYTHING }, Mix { pages_max: 2, trims: 0, ..ANYTHING }]
        {
            points += cut(&rig(shape, "ideal"), seed as u64, mix);
            points += cut(&rig(shape, "page_cache"), 10 + seed as u64, mix);
        }
    }
    assert!(points > 20_000, "{points} points");
}

/// The rules one by one: docs/algorithms.md, 9.8.
#[test]
fn rules_of_recovery() {
    let rig = rig(SERIAL, "ideal");
    let nand = Checked::new(Counted::default(), rig.geometry());
    let mapping = || Ideal::new(&rig.map_config());
    let Ok(mut ftl) = PageFtl::with_log(nand, mapping(), rig.page_config(true), rig.log);
    let (mut chain, user) = (Chain::default(), rig.shape.logical_pages);
    let slot = |at: u32| Lpn::new(user + at);
    let page = Lpn::new;
    // (a) Two log pages for page 1: the second wins. (b) A page at its original address, older and
    // newer.
    ftl.write(page(2), 1, &mut chain).unwrap();
    ftl.write_log(slot(0), Some(page(1)), &mut chain).unwrap();
    ftl.write_log(slot(1), Some(page(1)), &mut chain).unwrap();
    ftl.write_log(slot(2), Some(page(2)), &mut chain).unwrap();
    ftl.write_log(slot(3), Some(page(3)), &mut chain).unwrap();
    ftl.write(page(3), 1, &mut chain).unwrap();
    // (c) A page of a twrite whose header never arrived.
    ftl.write_log(slot(4), None, &mut chain).unwrap();
    // A remapped page, and a page that was remapped and then written at its original address.
    ftl.write_log(slot(5), Some(page(5)), &mut chain).unwrap();
    ftl.write_log(slot(6), Some(page(6)), &mut chain).unwrap();
    ftl.remap(slot(5), page(5), &mut chain).unwrap();
    ftl.remap(slot(6), page(6), &mut chain).unwrap();
    ftl.write(page(6), 1, &mut chain).unwrap();
    let place = |lpn: Lpn| ftl.place(lpn);
    let expected = [
        None,
        place(slot(1)),
        place(slot(2)),
        place(page(3)),
        None,
        place(page(5)),
        place(page(6)),
    ];
    let Ok((recovered, _)) =
        PageFtl::recover(ftl.into_nand(), mapping(), rig.page_config(true), rig.log);
    let found: Vec<_> = (0..7).map(|lpn| recovered.place(page(lpn))).collect();
    assert_eq!(found, expected);
    assert!(recovered.is_log_empty(), "(d)");
    recovered.check();
}
