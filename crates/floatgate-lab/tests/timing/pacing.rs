//! Paced cleaning, reads behind waiting writes, and rows that are programmed after a time, in whole
//! runs.

use super::*;

const PACED: (&str, &str) = ("cleaning.pacing", "proportional");

/// Eight dies that program rows of three pages, and a memory for two rows of each die.
const ROWS: Sets<'_> = &[
    ("flash.channels", "4"),
    ("flash.dies", "2"),
    ("flash.superblock", "8"),
    ("flash.stripe", "channel_die_plane"),
    ("flash.pages_per_block", "12"),
    ("flash.program_pages", "3"),
    ("controller.write_memory", "192KiB"),
    ("controller.power_protected", "true"),
    ("capacity.spare_factor", "0.25"),
    ("start.fill", "random"),
    CLOSED,
    ("queue.depth", "256"),
];

fn percentiles(summary: &LatencySummary) -> [f64; 2] {
    [summary.p50_us.unwrap(), summary.p99_us.unwrap()]
}

#[test]
fn saturated_writes_of_a_paced_drive_wait_alike() {
    let spec = "uniform:span=64MiB,writes=60k";
    let run = |sets: Sets<'_>| {
        let result = serve_over(64 << 20, spec, &[ROWS, sets].concat());
        (percentiles(&result.latency.write), result.throughput.iops.unwrap())
    };
    let ([whole_p50, whole_p99], whole_rate) = run(&[]);
    assert!(whole_p99 > 20.0 * whole_p50.max(1.0), "{whole_p50} {whole_p99}");
    let ([p50, p99], rate) = run(&[PACED]);
    assert!(p99 < 2.4 * p50, "{p50} {p99}");
    assert!(rate > 0.9 * whole_rate, "{rate} {whole_rate}");
}

/// Host pages that wait for copies are not in the queue of the die, where reads would wait for
/// them.
#[test]
fn reads_wait_for_no_more_copies_than_the_drive_owes() {
    let read_us = |debt: &str| {
        let drive = [("capacity.spare_factor", "0.2"), ("start.fill", "random"), CLOSED, PACED];
        let sets = [&drive[..], &[("cleaning.debt", debt)]].concat();
        let result = generated("uniform:requests=20k,reads=0.1", &sets);
        assert_eq!(result.cleaning.foreground, 0);
        result.latency.read.mean_us.unwrap()
    };
    let [few, many] = ["4", "400"].map(read_us);
    assert!(2.0 * few < many, "{few} {many}");
}

/// While the memory is full, each read waits as long as a write.
#[test]
fn reads_wait_behind_writes_that_wait_for_room() {
    let run = |sets: Sets<'_>| {
        let spec = "uniform:span=64MiB,requests=40k,reads=0.1";
        let result = serve_over(64 << 20, spec, &[ROWS, &[PACED], sets].concat());
        [result.latency.read, result.latency.write].map(|summary| summary.mean_us.unwrap())
    };
    let [read, write] = run(&[]);
    assert!(read < 0.5 * write, "{read} {write}");
    let [read, write] = run(&[("queue.head_of_line", "true")]);
    assert!(read > 0.8 * write, "{read} {write}");
}

#[test]
fn pacing_changes_no_write_amplification_under_skew() {
    for spec in ["uniform:writes=60k", "zipf:theta=0.8,writes=60k", "zipf:theta=0.99,writes=60k"] {
        let amplification = |sets: Sets<'_>| {
            let drive: Sets<'_> = &[
                ("timing", "none"),
                ("flash.pages_per_block", "16"),
                ("capacity.spare_factor", "0.15"),
                ("start.fill", "random"),
                ("start.overwrites", "20"),
            ];
            let spec = format!("{spec},span=16MiB");
            let result = serve_over(16 << 20, &spec, &[drive, sets].concat());
            result.flash.programs.total() as f64 / result.workload.write_pages as f64
        };
        let [whole, paced] = [&[][..], &[PACED]].map(amplification);
        assert!((paced / whole - 1.0).abs() < 0.01, "{spec}: {paced}, without pacing {whole}");
    }
}

/// A row of three pages takes 30 us on the channel and 200 us in the cells.
#[test]
fn a_row_that_is_not_full_is_programmed_after_a_time() {
    let rows = [("flash.program_pages", "3"), ("flash.pages_per_block", "66")];
    let after = ("controller.flush_after", "1ms");
    let read_us = |at_us, sets: Sets<'_>| {
        let requests = [ask(Op::Write, 0, 0, 1), ask(Op::Read, at_us, 9, 1)];
        let result = asked(&requests, &[&rows, sets].concat());
        (total_us(&result.latency.read), result.flash.programs.pad > 0)
    };
    // The row begins at 1000 and ends at 1230. The read takes 60.
    assert_eq!(read_us(1100, &[after]), (1230.0 + 60.0 - 1100.0, true));
    assert_eq!(read_us(900, &[after]), (60.0, false));
    assert_eq!(read_us(1100, &[]), (60.0, false));
}

/// While a row fills more slowly than its time passes, the drive programs a row in each such time,
/// whatever the rate: the plateau of a measured drive.
#[test]
fn partly_filled_rows_keep_a_die_busy_at_any_low_rate() {
    let rows: Sets<'_> = &[
        ("flash.page", "16KiB"),
        ("mapping.unit", "4KiB"),
        ("flash.program_pages", "3"),
        ("flash.pages_per_block", "96"),
        ("flash.program", "1200us"),
        EMPTY,
    ];
    let busy = |gap_us: u64, sets: Sets<'_>| {
        let spec = format!("sequential:span=16MiB,writes=800,interarrival={gap_us}us");
        let result = serve_over(16 << 20, &spec, &[rows, sets].concat());
        assert_eq!(result.flash.programs.gc, 0);
        result.throughput.utilization.unwrap()
    };
    let after: Sets<'_> = &[("controller.flush_after", "4ms")];
    let [slow, fast] = [800, 400].map(|gap_us| busy(gap_us, after));
    assert!((slow / fast - 1.0).abs() < 0.15, "{slow} {fast}");
    let [slow, fast] = [800, 400].map(|gap_us| busy(gap_us, &[]));
    assert!((slow / fast - 0.5).abs() < 0.1, "{slow} {fast}");
}
