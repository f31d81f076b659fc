//! A drive under random requests, held against a shadow of it.

use floatgate_ftl::mapping::Residency;
use floatgate_ftl::request::Op;

use super::laws::{Laws, Seen};
use super::workload::{Mix, Workload};
use super::{Probe, Rig};

/// Runs random requests; the drive checks itself after every `check_every` of them.
pub fn run(rig: &Rig, seed: u64, mix: Mix, requests: usize, check_every: usize) -> Seen {
    let (mut drive, log) = rig.build();
    let mut laws = Laws::new(rig, log);
    let pages = rig.shape.logical_pages;
    let mut workload = Workload::new(seed, mix, pages, rig.shape.page_bytes);
    let mut done = vec![];
    for number in 0..requests {
        drive.run(&[workload.next()], &mut done);
        laws.account();
        laws.hold_completion(&done[number]);
        if number % check_every == 0 {
            drive.check();
            laws.hold(&*drive);
        }
    }
    read_all(rig, &mut *drive);
    laws.account();
    let counters = laws.hold(&*drive);
    let clean_maps = u64::from(flush_map(rig, &mut *drive));
    laws.account();
    laws.hold(&*drive);
    Seen { clean_maps, ..laws.seen(&counters) }
}

/// With nothing dirty in the cache, the translation pages alone are the map. The answer is whether
/// it came to that: cleaning inside a write-back makes cached entries dirty again.
fn flush_map(rig: &Rig, drive: &mut dyn Probe) -> bool {
    let dirty = |drive: &dyn Probe| {
        let mut lpns = 0..rig.shape.logical_pages;
        rig.map_on_flash() && lpns.any(|lpn| drive.residency(lpn) == Residency::Dirty)
    };
    (0..200).any(|_| {
        drive.settle();
        drive.check();
        !dirty(drive)
    })
}

/// The host reads the whole drive; its shadow compares.
fn read_all(rig: &Rig, drive: &mut dyn Probe) {
    let pages = u64::from(rig.shape.logical_pages);
    let all = Workload::pages(Op::Read, 0, pages, u64::from(rig.shape.page_bytes));
    drive.run(&[all], &mut vec![]);
}
