//! The order in which a die serves operations. A write takes 10 us + 200 us, and a read 50 us + 10
//! us.

use super::*;

const FIRST: (&str, &str) = ("schedule.order", "read_first");
const SUSPEND: Sets<'_> = &[FIRST, ("schedule.suspend", "20us"), ("schedule.resume", "5us")];

/// Runs two writes and then a read on one die. Returns the latency of the read, and of both writes
/// together.
fn three(sets: Sets<'_>) -> (f64, f64) {
    let requests = [ask(Op::Write, 0, 0, 1), ask(Op::Write, 1, 1, 1), ask(Op::Read, 60, 9, 1)];
    let result = asked(&requests, sets);
    (total_us(&result.latency.read), total_us(&result.latency.write))
}

#[test]
fn a_read_goes_before_writes() {
    // The writes end at 210 and 420, and the read at 480.
    assert_eq!(three(&[]), (480.0 - 60.0, 210.0 + 419.0));
    // The first write ends at 210, the read at 270, and the second write at 480.
    assert_eq!(three(&[FIRST]), (270.0 - 60.0, 210.0 + 479.0));
}

#[test]
fn a_read_interrupts_a_write() {
    // The cells program from 10 on and are suspended at 60. The read takes from 80 to 140. From 145
    // on the cells program the remaining 150, until 295. The second write takes until 505.
    assert_eq!(three(SUSPEND), (140.0 - 60.0, 295.0 + 504.0));
    // Without time to resume, everything is 5 earlier.
    assert_eq!(three(&SUSPEND[..2]), (140.0 - 60.0, 290.0 + 499.0));
    // A program that would end before its suspension is not suspended: the read follows the first
    // write.
    let late = [FIRST, ("schedule.suspend", "150us")];
    assert_eq!(three(&late), (270.0 - 60.0, 210.0 + 479.0));
    let just = [FIRST, ("schedule.suspend", "149us")];
    assert_eq!(three(&just).0, 149.0 + 60.0);
}

#[test]
fn an_operation_is_interrupted_so_often_at_most() {
    let requests = [ask(Op::Write, 0, 0, 1), ask(Op::Read, 60, 9, 1), ask(Op::Read, 200, 10, 1)];
    let run = |most| {
        let result = asked(&requests, &[SUSPEND, &[("schedule.suspensions", most)]].concat());
        (total_us(&result.latency.read), total_us(&result.latency.write))
    };
    // The second read arrives when 95 are left, and waits for them. It takes from 295 to 355.
    assert_eq!(run("1"), (80.0 + 155.0, 295.0));
    // Or the second read suspends the write, too: it takes from 220 to 280, and the write resumes
    // at 285.
    assert_eq!(run("2"), (80.0 + 80.0, 380.0));
}

/// Runs a write, and reads that arrive faster than they are served.
fn crowd(write_us: u64, sets: Sets<'_>) -> f64 {
    let mut requests: Vec<_> = (0..20).map(|n| ask(Op::Read, 20 + 50 * n, 9 + n, 1)).collect();
    requests.push(ask(Op::Write, write_us, 0, 1));
    requests.sort_by_key(|request| request.at_ns);
    total_us(&asked(&requests, sets).latency.write)
}

#[test]
fn reads_go_before_a_write_only_until_it_starves() {
    let starve = ("schedule.starve", "300us");
    // Reads arrive from 20 on and take 60 each. The write that arrives at 21 is served after all 20
    // reads. With `starve` it is served after a wait of 300: when a read ends at 380, not at 320.
    assert_eq!(crowd(21, &[FIRST]), 20.0 + 20.0 * 60.0 + 210.0 - 21.0);
    assert_eq!(crowd(21, &[FIRST, starve]), 380.0 + 210.0 - 21.0);
    assert_eq!(crowd(21, &[]), 80.0 + 210.0 - 21.0, "in turn");
}

#[test]
fn a_write_is_interrupted_only_until_it_starves() {
    let starve = ("schedule.starve", "300us");
    // The write is suspended at 20 with 190 left. Reads are served from 40 on. The write resumes at
    // 340, the first end of a read at least 300 later, or after all reads.
    assert_eq!(crowd(0, SUSPEND), 40.0 + 20.0 * 60.0 + 5.0 + 190.0);
    assert_eq!(crowd(0, &[SUSPEND, &[starve]].concat()), 340.0 + 5.0 + 190.0);
}

#[test]
fn reads_wait_less_the_more_goes_behind_them() {
    let read_us = |sets: Sets<'_>| {
        // Half of the flash is free, so nothing is cleaned.
        let drive = [CLOSED, ("flash.dies", "4"), ("capacity.spare_factor", "0.5")];
        let result =
            generated("uniform:requests=1500,size=4KiB,reads=0.5", &[&drive, sets].concat());
        assert_eq!(result.flash.erases.total(), 0);
        result.latency.read.mean_us.unwrap()
    };
    let (fifo, first, suspended) = (read_us(&[]), read_us(&[FIRST]), read_us(SUSPEND));
    // Nearly all requests in the queue are writes to one die.
    assert!(first < 0.2 * fifo, "{fifo} {first}");
    // A quarter of the reads goes to that die, at any time of the 200 of a program. A suspension of
    // 20 replaces a mean wait of 100.
    let saved = first - suspended;
    assert!((15.0..25.0).contains(&saved), "{first} {suspended}");
}

/// A TLC drive of 8 dies under 70 % of its maximum load, half of it reads: the table of
/// docs/time.md.
#[test]
fn the_tail_of_reads_falls_by_more_than_half() {
    let drive = [
        ("flash.channels", "4"),
        ("flash.dies", "2"),
        ("flash.superblock", "8"),
        ("flash.pages_per_block", "192"),
        ("flash.read", "[\"50us\", \"60us\", \"80us\"]"),
        ("flash.program", "[\"400us\", \"700us\", \"1000us\"]"),
        ("flash.erase", "3500us"),
        ("flash.bus", "800MB/s"),
        ("queue.depth", "256"),
    ];
    let clean: Sets<'_> = &[("capacity.spare_factor", "0.6")];
    let cleaning: Sets<'_> =
        &[("capacity.spare_factor", "0.28"), ("cleaning.copies_per_write", "2")];
    for (cleaning, cleans) in [(clean, false), (cleaning, true)] {
        let run = |more: &str, sets: Sets<'_>| {
            let spec = format!("uniform:requests=20000,size=4KiB,reads=0.5{more},span=32MiB");
            serve_over(32 << 20, &spec, &[&drive, cleaning, sets].concat())
        };
        let most = run("", &[CLOSED]).throughput.iops.unwrap();
        let load = format!(",interarrival={}ns", (1e9 / (0.7 * most)).round());
        let p99 = |sets: Sets<'_>| run(&load, sets).latency.read.p99_us.unwrap();
        let (fifo, suspended) = (p99(&[]), p99(SUSPEND));
        assert!(suspended < 0.5 * fifo, "cleaning {cleans}: {fifo} us, {suspended} us");
    }
}
