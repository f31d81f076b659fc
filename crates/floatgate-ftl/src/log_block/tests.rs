//! The steps that each scheme takes for a write. Blocks have 4 pages.

use alloc::vec;
use alloc::vec::Vec;

use super::*;
use crate::geometry::Shape;

/// Eight logical blocks. The last one has only two pages.
fn config(logs: u32) -> LogConfig {
    let shape = Shape {
        page_bytes: 64,
        pages_per_block: 4,
        superblock: 1,
        units: 32,
        channels: 1,
        dies: 1,
        planes: 1,
        logical_pages: 30,
        entry_bytes: 4,
        program_unit: None,
    };
    LogConfig::new(Geometry::new(shape).unwrap(), logs)
}

fn bast(logs: u32, change: impl Fn(&mut BastConfig)) -> Bast {
    let mut config = config(logs);
    change(&mut config.bast);
    Bast::new(&config)
}

fn fast(logs: u32, change: impl Fn(&mut FastConfig)) -> Fast {
    let mut config = config(logs);
    change(&mut config.fast);
    Fast::new(&config)
}

/// The steps of single-page writes as letters: o(pen), a(ppend), p(romote), m(erge), c(ollect),
/// each with its slot.
fn steps(scheme: &mut impl LogBlocks, lpns: &[u32]) -> Vec<alloc::string::String> {
    let one = |step: &Step| match *step {
        Step::Open(slot) => alloc::format!("o{slot}"),
        Step::Append(slot) => alloc::format!("a{slot}"),
        Step::Promote(slot, _) => alloc::format!("p{slot}"),
        Step::Merge(slot, _) => alloc::format!("m{slot}"),
        Step::Collect(slot) => alloc::format!("c{slot}"),
    };
    let write = |&lpn: &u32| {
        let mut steps = vec![];
        scheme.write(Lbn(lpn / 4), lpn % 4, &mut steps);
        scheme.check();
        assert_eq!(steps.iter().filter(|step| matches!(step, Step::Append(_))).count(), 1);
        steps.iter().map(one).collect::<Vec<_>>().join(" ")
    };
    lpns.iter().map(write).collect()
}

#[test]
fn bast_merges_a_full_log_at_once_or_before_the_next_write() {
    let mut at_once = bast(2, |_| {});
    assert_eq!(steps(&mut at_once, &[0, 1, 2, 3]), ["o0 a0", "a0", "a0", "a0 p0"]);
    assert_eq!(steps(&mut at_once, &[0, 0, 1, 2]), ["o0 a0", "a0", "a0", "a0 m0"]);
    let mut lazy = bast(2, |config| config.merge_when_full = MergeWhenFull::Lazy);
    assert_eq!(steps(&mut lazy, &[0, 1, 2, 3]), ["o0 a0", "a0", "a0", "a0"]);
    assert_eq!(steps(&mut lazy, &[2]), ["p0 o0 a0"]);
}

#[test]
fn bast_evicts_by_its_victim_policy() {
    let victim = |victim| bast(2, move |config: &mut BastConfig| config.victim = victim);
    let lpns = [0, 4, 1, 8];
    let expected = ["o0 a0", "o1 a1", "a0"];
    assert_eq!(steps(&mut victim(LogVictim::Fifo), &lpns)[..3], expected);
    assert_eq!(steps(&mut victim(LogVictim::Fifo), &lpns)[3], "p0 o0 a0");
    assert_eq!(steps(&mut victim(LogVictim::Lru), &lpns)[3], "p1 o1 a1");
    let random = &steps(&mut victim(LogVictim::Random), &lpns)[3];
    assert!(["p0 o0 a0", "p1 o1 a1"].contains(&random.as_str()), "{random}");
}

#[test]
fn without_partial_merges_only_a_complete_log_is_promoted() {
    let mut scheme = bast(1, |config| config.partial_merge = false);
    assert_eq!(steps(&mut scheme, &[0, 1, 4]), ["o0 a0", "a0", "m0 o0 a0"]);
    // The last logical block has only two pages, so this log is complete.
    assert_eq!(steps(&mut scheme, &[28, 29, 0]), ["m0 o0 a0", "a0", "p0 o0 a0"]);
    let mut scheme = fast(2, |config| config.partial_merge = false);
    assert_eq!(steps(&mut scheme, &[0, 1, 4]), ["o0 a0", "a0", "m0 o0 a0"]);
}

#[test]
fn fast_keeps_one_log_in_order_and_the_others_at_random() {
    let mut scheme = fast(3, |_| {});
    assert_eq!(steps(&mut scheme, &[0, 1, 2, 3]), ["o0 a0", "a0", "a0", "a0"]);
    assert_eq!(steps(&mut scheme, &[5, 9, 13, 6]), ["o1 a1", "a1", "a1", "a1"]);
    assert_eq!(steps(&mut scheme, &[5, 5, 5, 5]), ["o2 a2", "a2", "a2", "a2"]);
    assert_eq!(steps(&mut scheme, &[7]), ["c1 o1 a1"]);
    assert_eq!(steps(&mut scheme, &[4]), ["p0 o0 a0"], "the full one is switched");
    assert_eq!(scheme.log(0), Some(LogView { lbn: Some(Lbn(1)), written: 1 }));
    assert_eq!(scheme.log(2), Some(LogView { lbn: None, written: 4 }));
    assert_eq!(scheme.merged(Lbn(2)), None);
    assert_eq!(scheme.merged(Lbn(1)), Some(0), "its sequential log is out of date");
    assert_eq!(scheme.log(0), None);
}

#[test]
fn fast_begins_anew_when_the_order_is_broken() {
    let mut scheme = fast(3, |_| {});
    assert_eq!(steps(&mut scheme, &[0, 2, 3, 1]), ["o0 a0", "p0 o0 a0", "a0", "m0 o0 a0"]);
    let mut scheme = fast(3, |config| config.out_of_order = OutOfOrder::Random);
    assert_eq!(steps(&mut scheme, &[0, 2, 1, 2]), ["o0 a0", "o1 a1", "a0", "a0"]);
}
