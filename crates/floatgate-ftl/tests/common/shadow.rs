//! Compares a drive under random requests with a shadow of its data.

use floatgate_ftl::mapping::Residency;
use floatgate_ftl::request::Op;

use super::laws::{Laws, Seen};
use super::log::Log;
use super::workload::{Mix, Workload};
use super::{Probe, Rig};

/// Runs random requests. The drive checks itself after every `check_every` requests.
pub fn run(rig: &Rig, seed: u64, mix: Mix, requests: usize, check_every: usize) -> Seen {
    run_on(rig.build(), rig, seed, mix, (requests, check_every))
}

/// Runs random requests on a drive that is already built.
pub fn run_on(
    (mut drive, log): (Box<dyn Probe>, Log),
    rig: &Rig,
    seed: u64,
    mix: Mix,
    (requests, check_every): (usize, usize),
) -> Seen {
    let mut laws = Laws::new(rig, log);
    let pages = rig.shape.logical_pages;
    let mut workload = Workload::new(seed, mix, pages, rig.shape.page_bytes);
    let mut done = vec![];
    // A host layer that packs requests needs several at once.
    let at_once = if rig.log > 0 { 8 } else { 1 };
    for number in 0..requests / at_once {
        drive.run(&workload.batch(at_once), &mut done);
        laws.account();
        done[number * at_once..].iter().for_each(|completion| laws.hold_completion(completion));
        if number * at_once % check_every == 0 {
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

/// Writes the map cache back, so that the translation pages alone are the map. Returns whether the
/// cache became clean: cleaning inside a write-back makes cached entries dirty again.
fn flush_map(rig: &Rig, drive: &mut dyn Probe) -> bool {
    let dirty = |drive: &dyn Probe| {
        let mut lpns = 0..rig.shape.logical_pages;
        rig.map_on_flash() && lpns.any(|lpn| drive.residency(lpn) == Residency::Dirty)
    };
    (0..200).any(|_| {
        drive.write_back();
        drive.check();
        !dirty(drive)
    })
}

/// Reads the whole drive; its shadow compares the data.
fn read_all(rig: &Rig, drive: &mut dyn Probe) {
    let pages = u64::from(rig.shape.logical_pages);
    let all = Workload::pages(Op::Read, 0, pages, u64::from(rig.shape.page_bytes));
    drive.run(&[all], &mut vec![]);
}
