//! Write amplification under hot and cold traffic, compared with the closed forms
//! (docs/algorithms.md, 6.5) and with independent simulators (docs/algorithms.md, 6.6).

use crate::common::steady::{Steady, Traffic, within};
use floatgate_ftl::page_ftl::Destination;
use floatgate_ftl::victim::{Age, Tie, VictimConfig};

const TOLERANCE: f64 = 0.02;

const HOT_80_20: Traffic = Traffic { writes: 800_000, pages: 200_000 };
const HOT_90_10: Traffic = Traffic { writes: 900_000, pages: 100_000 };

/// Streams of hot and cold pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Pages {
    /// One stream for copies and new pages.
    Mixed,
    /// Two streams; each page stays in its stream.
    Apart,
    /// Two streams; cleaning copies pages to the cold one.
    CopiedToCold,
}

use Pages::*;

/// Policy, its parameters, and the amplification at 80/20 and at 90/10 from a model or another
/// simulator.
type Row = (&'static str, fn(&mut VictimConfig), Pages, f64, f64);

/// 64 pages in a unit, spare factor 0.10.
const ROWS: [Row; 10] = [
    ("greedy", |_| {}, Apart, 4.638, 4.562),
    ("greedy", |config| config.tie = Tie::Hot, Apart, 4.887, 4.864),
    ("cost_benefit", |_| {}, Apart, 3.663, 2.394),
    ("cat", |config| config.cat.age = Age::Modified, Apart, 3.678, 2.421),
    (
        "lfs_cost_benefit",
        |config| config.lfs_cost_benefit.age = Age::Modified,
        Apart,
        UNKNOWN,
        2.580,
    ),
    ("greedy", |_| {}, Mixed, 5.199, 5.915),
    ("fifo", |_| {}, Mixed, 5.543, 6.173),
    ("cost_benefit", |_| {}, Mixed, 5.565, 6.134),
    // From an independent simulator that measures ages from the same event as this engine's
    // default.
    ("cat", |_| {}, Apart, 3.404, 2.243),
    ("lfs_cost_benefit", |_| {}, Apart, 3.410, 2.258),
];

/// 128 pages in a unit, spare factor 0.07.
const ROWS_128: [Row; 3] = [
    ("greedy", |_| {}, Apart, 6.767, 6.661),
    ("greedy", |_| {}, Mixed, 7.314, 8.032),
    ("fifo", |_| {}, Mixed, 7.6817, 8.3582),
];

/// No other measurement exists.
const UNKNOWN: f64 = 0.0;

fn amplification(row: Row, traffic: Traffic, block: u32, spare: f64, units: u32) -> f64 {
    let (victim, tune, pages, ..) = row;
    let mut steady = Steady::new(victim, block, spare, units);
    steady = match pages {
        Mixed => steady.mixed(traffic),
        Apart | CopiedToCold => steady.separated(traffic),
    };
    let rig = &mut steady.rig;
    rig.tune_victim = tune;
    rig.tune_cleaning = match pages {
        CopiedToCold => |config| config.destination = Destination::Cold,
        Mixed | Apart => |config| config.destination = Destination::Same,
    };
    // In this many drive sizes of writes the cold pages are overwritten once: four, or nine.
    let turnover = (1_000_000 - traffic.pages) / (1_000_000 - traffic.writes);
    steady.volumes = [3 * turnover, 3 * turnover];
    steady.measure().amplification
}

fn check(rows: &[Row], block: u32, spare: f64, units: u32) {
    for &row in rows {
        let (victim, _, pages, moderate, strong) = row;
        for (traffic, expected) in [(HOT_80_20, moderate), (HOT_90_10, strong)] {
            if expected != UNKNOWN {
                let actual = amplification(row, traffic, block, spare, units);
                let what = format!("{victim}, {pages:?}, {traffic:?}, {block} pages, {spare}");
                within(actual, expected, TOLERANCE, &what);
            }
        }
    }
}

// With fewer units the small hot pools fluctuate so much that amplification is 2 % off.
#[test]
fn separated_streams_match_published_results() {
    let apart: Vec<_> = ROWS.into_iter().filter(|row| row.2 == Apart).collect();
    check(&apart, 64, 0.10, 2000);
}

#[test]
fn mixed_streams_match_published_results() {
    let mixed: Vec<_> = ROWS.into_iter().filter(|row| row.2 != Apart).collect();
    check(&mixed, 64, 0.10, 2000);
}

/// An independent simulator measures 5.062 and 5.438 (docs/algorithms.md, 6.6), this engine 4.96
/// and 5.22. The gain of the cold stream depends on the order in which the copies of several
/// victims follow each other. In both, such copies are worse than copies that stay in their stream,
/// and better than no separation.
#[test]
fn copies_to_the_cold_stream_are_between_separation_and_none() {
    for (traffic, elsewhere) in [(HOT_80_20, 5.062), (HOT_90_10, 5.438)] {
        let [apart, copied, mixed] = [Apart, CopiedToCold, Mixed].map(|pages| {
            amplification(("greedy", |_| {}, pages, 0.0, 0.0), traffic, 64, 0.10, 2000)
        });
        assert!(1.02 * apart < copied && 1.02 * copied < mixed, "{apart} {copied} {mixed}");
        within(copied, elsewhere, 0.05, "copies to the cold stream");
    }
}

#[test]
#[ignore = "long: make test-long"]
fn large_drives_match_published_results() {
    check(&ROWS, 64, 0.10, 4000);
    check(&ROWS_128, 128, 0.07, 4000);
}

#[test]
fn as_many_hot_writes_as_hot_pages_are_uniform_writes() {
    let traffic = Traffic { writes: 200_000, pages: 200_000 };
    let mixed = ("greedy", (|_| {}) as fn(&mut VictimConfig), Mixed, 0.0, 0.0);
    within(amplification(mixed, traffic, 64, 0.10, 1000), 4.828, 0.01, "one stream");
}
