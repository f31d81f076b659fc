//! Costs of writes on drives with log blocks, compared with closed forms.
//!
//! The drives have L logical blocks of b pages and n logs. Every page is written once in order;
//! then single pages are overwritten uniformly at random.

use crate::common::SERIAL;
use crate::common::log_rig::LogRig;
use crate::common::workload::Workload;
use floatgate_ftl::device::{Counters, Device};
use floatgate_ftl::geometry::Shape;
use floatgate_ftl::log_block::{BastConfig, LogVictim, OutOfOrder};
use floatgate_ftl::nand::Cause;
use floatgate_ftl::request::Op;
use floatgate_ftl::rng::Rng;

fn rig(scheme: &'static str, blocks: u32, pages: u32, logs: u32) -> LogRig {
    let shape = Shape { pages_per_block: pages, logical_pages: blocks * pages, ..SERIAL };
    LogRig::new(shape, scheme, logs)
}

fn overwrite(drive: &mut dyn Device, lpns: impl Iterator<Item = u64>) {
    let page_bytes = u64::from(SERIAL.page_bytes);
    let (mut batch, mut done) = (vec![], vec![]);
    for lpn in lpns {
        batch.push(Workload::pages(Op::Write, lpn, 1, page_bytes));
        if batch.len() == 1024 {
            drive.run(&batch, &mut done);
            batch.clear();
            done.clear();
        }
    }
    drive.run(&batch, &mut done);
}

/// Returns the counters of random overwrites, after a fill in order and overwrites of two drive
/// sizes.
fn random(rig: &LogRig, volumes: u64) -> Counters {
    let (mut drive, mut rng) = (rig.counted(), Rng::new(11));
    let pages = u64::from(rig.shape.logical_pages);
    overwrite(&mut *drive, 0..pages);
    overwrite(&mut *drive, (0..2 * pages).map(|_| rng.below(pages)));
    drive.reset_counters();
    overwrite(&mut *drive, (0..volumes * pages).map(|_| rng.below(pages)));
    drive.check();
    drive.counters()
}

/// Returns merges, copies and erases per page written.
fn per_write(counters: &Counters) -> [f64; 3] {
    let merges = counters.merges;
    let merges = merges.switch + merges.partial + merges.full;
    let merge = Cause::Merge as usize;
    let (copies, erases) = (counters.flash.programs[merge], counters.flash.erases[merge]);
    [merges, copies, erases].map(|count| count as f64 / counters.host.write_pages as f64)
}

fn within(actual: f64, expected: f64, tolerance: f64, what: &str) {
    let off = (actual / expected - 1.0).abs();
    assert!(off <= tolerance, "{what}: {actual:.4} is not {expected:.4} (off by {off:.4})");
}

/// BAST with first-in-first-out victims, where logs are evicted long before they are full.
///
/// A write finds no log of its block with probability 1 - n/L, and then costs a merge. A log has
/// its first page, and one more for each write to its block until the n-th write that needs a log
/// evicts it. Among the writes of these two kinds, one in L - n + 1 is to its block. So the pages
/// are negative binomial: P(k) = C(n+k-2, k-1) p^(k-1) (1-p)^n with p = 1/(L-n+1), L/(L-n) on
/// average. All b pages exist, so a merge copies b pages. But k pages are in order with probability
/// b^-k; then only b - k are copied and one unit less is erased.
fn bast_cost(blocks: u32, pages: u32, logs: u32) -> [f64; 3] {
    let (l, b, n) = (f64::from(blocks), f64::from(pages), f64::from(logs));
    let p = 1.0 / (l - n + 1.0);
    let (mut share, mut saved, mut in_order) = ((1.0 - p).powf(n), 0.0, 0.0);
    for k in 1..=pages {
        let k = f64::from(k);
        saved += share * k * b.powf(-k);
        in_order += share * b.powf(-k);
        share *= p * (n + k - 1.0) / k;
    }
    assert!(share < 1e-6, "logs are full too often for this form: {share}");
    let merges = 1.0 - n / l;
    [merges, merges * (b - saved), merges * (2.0 - in_order)]
}

#[test]
fn random_overwrites_cost_bast_as_in_the_formula() {
    for (blocks, pages, logs) in [(256, 16, 16), (64, 32, 32), (128, 64, 8), (512, 4, 1)] {
        let measured = per_write(&random(&rig("bast", blocks, pages, logs), 4));
        let expected = bast_cost(blocks, pages, logs);
        for (at, what) in ["merges", "copies", "erases"].iter().enumerate() {
            let what = format!("{what}, L = {blocks}, b = {pages}, n = {logs}");
            within(measured[at], expected[at], 0.01, &what);
        }
    }
}

#[test]
fn the_victim_policy_does_not_matter_to_uniform_writes() {
    // FIFO, LRU and random differ in the number of pages a log gets, not in how often a log is
    // needed.
    for victim in [LogVictim::Fifo, LogVictim::Lru, LogVictim::Random] {
        let bast = BastConfig { victim, ..BastConfig::default() };
        let measured = per_write(&random(&LogRig { bast, ..rig("bast", 256, 64, 16) }, 4));
        within(measured[0], 1.0 - 16.0 / 256.0, 0.01, &format!("merges with {victim:?}"));
    }
}

#[test]
fn with_a_log_for_every_block_each_page_is_copied_once() {
    // A log is merged after b page writes to it, and the merge copies b pages and erases two units.
    let measured = per_write(&random(&rig("bast", 64, 32, 64), 20));
    within(measured[1], 1.0, 0.01, "copies");
    within(measured[2], 2.0 / 32.0, 0.01, "erases");
}

/// FAST: returns the blocks merged in full per random log, and the copies per page written.
///
/// 1/b of the written pages are first pages of blocks, and 1/L of the other pages belong to the
/// block of the sequential log. Each of these begins a sequential log; a merge of that log follows
/// and copies the b - 1 or b other pages. All other writes go to the random logs. A block is clean
/// after a merge. The next random write to the block comes after L random writes on average. Its
/// page stays in its log for D = (m - 1/2) b more, with m = n - 1 random logs. Then the block is
/// merged in full, unless a sequential merge has taken the block or an overwrite the page
/// meanwhile; each of the two has a rate of about r = 1/(L (b-1)). So blocks are merged in full at
/// the rate L exp(-rD) / (L + (1 - exp(-rD)) / r), a renewal argument.
fn fast_cost(blocks: u32, pages: u32, logs: u32) -> [f64; 2] {
    let (l, b, m) = (f64::from(blocks), f64::from(pages), f64::from(logs) - 1.0);
    let sequential = 1.0 / b + (b - 1.0) / b * (b - 2.0) / (b - 1.0) / l;
    let random = 1.0 - sequential - 1.0 / (b * l);
    let rate = sequential / random / l;
    let delay = (m - 0.5) * b;
    let survives = (-rate * delay).exp();
    let full = l * survives / (l + (1.0 - survives) / rate);
    let copies = random * full * b + sequential * (b - 1.0);
    [full * b, copies]
}

#[test]
fn random_overwrites_cost_fast_as_in_the_formula() {
    for (blocks, pages, logs) in [(512, 16, 9), (1024, 32, 5), (2048, 8, 33)] {
        let counters = random(&rig("fast", blocks, pages, logs), 6);
        let [shared, copies] = fast_cost(blocks, pages, logs);
        let merges = counters.merges;
        let measured = merges.shared_merges as f64 / merges.shared_logs as f64;
        let what = format!("L = {blocks}, b = {pages}, n = {logs}");
        within(measured, shared, 0.01, &format!("blocks merged per random log, {what}"));
        within(per_write(&counters)[1], copies, 0.01, &format!("copies, {what}"));
    }
}

#[test]
fn overwriting_in_order_costs_switch_merges_only() {
    let (blocks, pages, passes) = (20u64, 8u64, 5u64);
    for scheme in ["bast", "fast"] {
        for rig in rig(scheme, blocks as u32, pages as u32, 2).options() {
            let mut drive = rig.counted();
            let all = 0..blocks * pages;
            overwrite(&mut *drive, all.clone());
            drive.reset_counters();
            (0..passes).for_each(|_| overwrite(&mut *drive, all.clone()));
            drive.check();
            let Counters { merges, flash, .. } = drive.counters();
            assert_eq!((merges.switch, merges.partial, merges.full), (passes * blocks, 0, 0));
            assert_eq!(flash.programs[Cause::Merge as usize], 0, "nothing is copied");
            // If the fill left logs unmerged, the blocks switched last had no data block yet.
            let erases = flash.erases[Cause::Merge as usize];
            assert!((passes * blocks - 2..=passes * blocks).contains(&erases), "{rig:?}");
        }
    }
}

#[test]
fn fast_thrashes_on_a_hot_block_unless_configured() {
    // All writes go to one block. By the paper each write that is out of order merges the block.
    let cost = |out_of_order| {
        let mut rig = rig("fast", 16, 16, 4);
        rig.fast.out_of_order = out_of_order;
        let (mut drive, mut rng) = (rig.counted(), Rng::new(3));
        overwrite(&mut *drive, 0..256);
        drive.reset_counters();
        overwrite(&mut *drive, (0..16_000).map(|_| rng.below(16)));
        per_write(&drive.counters())[1]
    };
    let (paper, random) = (cost(OutOfOrder::Restart), cost(OutOfOrder::Random));
    // One write in 16 is in order; the others copy 15 or 16 pages.
    assert!(paper > 13.5 && random < 3.0, "{paper} {random}");
}
