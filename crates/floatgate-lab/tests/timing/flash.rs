//! Parallelism of the flash, and the times of its operations.

use super::*;

const DIES: Sets<'_> = &[
    ("flash.channels", "4"),
    ("flash.dies", "2"),
    ("flash.planes", "2"),
    ("flash.superblock", "16"),
    ("flash.pages_per_block", "16"),
];

/// A stripe, with the dies that a read of 2, 4 and 8 pages keeps busy, and the time of the read in
/// microseconds.
type Row<'a> = (&'a str, [(&'a [usize], f64); 3]);

/// Reads the first pages. Returns the dies that were busy, and the time of the read.
fn read_first(pages: u64, stripe: &str) -> (Vec<usize>, f64) {
    let result =
        asked(&[ask(Op::Read, 0, 0, pages)], &[DIES, &[("flash.stripe", stripe)]].concat());
    let reads = &result.dies.read;
    assert_eq!(reads.len(), 8);
    let busy = (0..8).filter(|&die| reads[die] > 0.0).collect();
    (busy, result.latency.read.mean_us.unwrap())
}

/// All cells are read at the same time. Then each channel transfers its pages one after the other,
/// 10 us each. Dies 0 and 1 are on the first channel.
#[test]
fn a_stripe_says_which_pages_are_read_at_once() {
    let all = [0, 1, 2, 3, 4, 5, 6, 7];
    let rows: [Row<'_>; 6] = [
        ("channel_die_plane", [(&[0, 2], 60.0), (&[0, 2, 4, 6], 60.0), (&all, 70.0)]),
        ("channel_plane_die", [(&[0, 2], 60.0), (&[0, 2, 4, 6], 60.0), (&[0, 2, 4, 6], 70.0)]),
        ("die_channel_plane", [(&[0, 1], 70.0), (&[0, 1, 2, 3], 70.0), (&all, 70.0)]),
        ("die_plane_channel", [(&[0, 1], 70.0), (&[0, 1], 90.0), (&[0, 1, 2, 3], 90.0)]),
        ("plane_channel_die", [(&[0], 70.0), (&[0, 2], 70.0), (&[0, 2, 4, 6], 70.0)]),
        ("plane_die_channel", [(&[0], 70.0), (&[0, 1], 90.0), (&[0, 1, 2, 3], 90.0)]),
    ];
    for (stripe, expected) in rows {
        for (pages, (dies, us)) in [2, 4, 8].into_iter().zip(expected) {
            let (busy, took) = read_first(pages, stripe);
            assert_eq!((&busy[..], took), (dies, us), "{stripe}, {pages} pages");
        }
    }
    let default = asked(&[ask(Op::Read, 0, 0, 4)], DIES);
    assert_eq!(default.latency.read.mean_us, Some(70.0), "planes of a die, then channels");
}

/// With a cache register, a page is transferred while the cells read the next page.
#[test]
fn a_cache_register_leaves_the_longer_of_cells_and_transfer() {
    let reads = each(Op::Read, 100);
    let reads_us = |bus, cache| {
        let sets = [CLOSED, ("flash.bus", bus), ("flash.cache_register", cache)];
        span_us(&asked(&reads, &sets))
    };
    assert_close(reads_us("409600KB/s", "false"), 100.0 * (50.0 + 10.0));
    assert_close(reads_us("409600KB/s", "true"), 100.0 * 50.0 + 10.0);
    assert_close(reads_us("51200KB/s", "false"), 100.0 * (50.0 + 80.0));
    assert_close(reads_us("51200KB/s", "true"), 50.0 + 100.0 * 80.0);
    let writes = each(Op::Write, 60);
    let writes_us =
        |cache| span_us(&asked(&writes, &[EMPTY, CLOSED, ("flash.cache_register", cache)]));
    assert_close(writes_us("false"), 60.0 * (10.0 + 200.0));
    assert_close(writes_us("true"), 10.0 + 60.0 * 200.0);
}

/// Whole blocks have the same number of pages of each type.
#[test]
fn pages_of_a_block_take_turns_in_the_times_by_type() {
    let types = [
        ("flash.program", "[\"100us\", \"200us\", \"300us\"]"),
        ("flash.read", "[\"20us\", \"40us\", \"60us\"]"),
        ("flash.pages_per_block", "6"),
    ];
    let run = |op, count, fill| {
        let fill = [("start.fill", fill)];
        let result = asked(&each(op, count), &[ALONE, &types, &fill].concat());
        let LatencySummary { mean_us, stdev_us, .. } = result.latency.all;
        (mean_us.unwrap(), stdev_us.unwrap())
    };
    // A third of the pages each: at the mean, and 100 us and 20 us off it.
    let (mean, deviation) = run(Op::Write, 60, "none");
    assert_close(mean, 10.0 + 200.0);
    assert_close(deviation, 100.0 * (2.0f64 / 3.0).sqrt());
    let (mean, deviation) = run(Op::Read, 60, "sequential");
    assert_close(mean, 40.0 + 10.0);
    assert_close(deviation, 20.0 * (2.0f64 / 3.0).sqrt());
    // The first row, and the first two rows.
    assert_eq!(run(Op::Write, 1, "none").0, 110.0);
    assert_eq!(run(Op::Write, 2, "none").0, (110.0 + 210.0) / 2.0);
    assert_eq!(run(Op::Read, 2, "sequential").0, (30.0 + 50.0) / 2.0);
}

/// A single read time can be combined with a list of program times.
#[test]
fn one_time_is_of_all_types() {
    let sets = [("flash.program", "[\"100us\", \"300us\"]"), ("flash.pages_per_block", "8")];
    let reads = asked(&each(Op::Read, 8), &[ALONE, &sets].concat());
    assert_eq!((reads.latency.read.mean_us, reads.latency.read.stdev_us), (Some(60.0), Some(0.0)));
    let writes = asked(&each(Op::Write, 8), &[ALONE, &sets, &[EMPTY]].concat());
    assert_eq!(writes.latency.write.mean_us, Some(210.0));
    assert_eq!(writes.latency.write.stdev_us, Some(100.0));
}

/// A drive without a clock has the same counts as one with a clock, but no times.
#[test]
fn without_timing_the_same_is_counted() {
    let spec = "hotcold:r=0.8,f=0.2,requests=6k,size=8KiB,reads=0.3,trim=0.02,flush=0.01";
    let sets = [
        CLOSED,
        ("mapping.scheme", "dftl"),
        ("mapping.cache", "1KiB"),
        ("flash.pages_per_block", "16"),
        ("flash.channels", "2"),
    ];
    let run = |timing| generated(spec, &[&sets[..], &[("timing", timing)]].concat());
    let (timed, counted) = (run("scheduled"), run("none"));
    let counts = |result: &RunResult| {
        let mut table = serde_json::to_value(result).unwrap();
        let sections =
            ["flash", "mapping", "cleaning", "wear", "placement", "drive", "write_amplification"];
        let mut counts: Vec<_> = sections.iter().map(|key| table[*key].take()).collect();
        let columns = ["host_pages", "write_amplification", "hit_ratio", "gc_programs"];
        counts.extend(columns.iter().map(|key| table["timeline"][*key].take()));
        table["workload"]["duration_s"].take();
        counts.push(table["workload"].take());
        counts
    };
    assert_eq!(counts(&timed), counts(&counted));
    assert!(counted.flash.erases.gc > 100 && counted.mapping.misses > 1000);
    for (given, is_timed) in [(&timed, true), (&counted, false)] {
        let latency = &given.latency;
        for summary in [&latency.all, &latency.read, &latency.write] {
            assert_eq!(summary.mean_us.is_some(), is_timed);
            assert_eq!(summary.p50_us.is_some() && summary.max_us.is_some(), is_timed);
            assert_eq!(summary.cdf.is_empty(), !is_timed);
            assert!(summary.requests > 1000, "they are counted");
        }
        assert_eq!(latency.blame_us.die.is_some(), is_timed);
        assert_eq!(given.throughput.iops.is_some(), is_timed);
        assert_eq!(given.throughput.utilization.is_some(), is_timed);
        assert_eq!(given.throughput.device_seconds.is_some(), is_timed);
        assert!(given.timeline.seconds.iter().all(|seconds| seconds.is_some() == is_timed));
        assert_eq!(given.lifetime.years.is_some(), is_timed);
        assert!(given.lifetime.host_bytes.is_some(), "bytes need no clock");
        assert_eq!(given.workload.duration_s.is_some(), is_timed);
        assert_eq!(given.timeline.mean_us.iter().any(Option::is_some), is_timed);
        assert_eq!([given.dies.idle.len(), given.channels.idle.len()] == [2, 2], is_timed);
        assert_eq!([given.dies.idle.is_empty(), given.channels.idle.is_empty()], [!is_timed; 2]);
    }
}

#[test]
fn wrong_keys_are_named() {
    for (sets, expected) in [
        (
            &[("schedule.suspend", "20us")][..],
            "schedule.suspend = \"20us\": expected none with schedule.order = \"fifo\"",
        ),
        (
            &[
                ("flash.read", "[\"1us\", \"2us\"]"),
                ("flash.program", "[\"1us\", \"2us\", \"3us\"]"),
            ],
            "flash.program = a list of 3: expected one time, or 2 as of flash.read",
        ),
        (
            &[("flash.stripe", "die_first")],
            "flash.stripe = \"die_first\": expected one of channel_die_plane, channel_plane_die, \
             die_channel_plane, die_plane_channel, plane_channel_die, plane_die_channel",
        ),
        (
            &[("flash.read", "[\"1us\", \"1us\", \"1us\", \"1us\", \"1us\"]")],
            "flash.read = [\"1us\", \"1us\", \"1us\", \"1us\", \"1us\"]: expected a duration \
             from 0ns to 10s, such as \"25us\", or a list of 1 to 4",
        ),
        (&[("flash.program", "[]")], "flash.program = []: expected a duration from 0ns"),
        (&[("flash.program", "[\"1us\", 7]")], "flash.program = [\"1us\", 7]: expected a duration"),
        (
            &[("latency.distribution", "full"), ("timing", "none")],
            "latency.distribution = \"full\": expected \"summary\" with timing = \"none\": \
             there are no latencies",
        ),
        (
            &[("latency.distribution", "all")],
            "latency.distribution = \"all\": expected one of summary, full",
        ),
        (&[("timing", "x")], "timing = \"x\": expected one of scheduled, none"),
    ] {
        let error = load(sets).unwrap_err();
        assert!(error.starts_with(expected), "{error}\nis not\n{expected}");
    }
    let first = ("schedule.order", "read_first");
    load(&[first, ("schedule.suspend", "20us")]).unwrap();
    load(&[("flash.read", "[\"1us\", \"2us\"]"), ("flash.program", "[\"1us\", \"2us\"]")]).unwrap();
}
