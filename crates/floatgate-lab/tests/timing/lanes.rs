//! The recorded work of dies and channels. Their shares refer to the time from the start to the end
//! of the last flash operation. `throughput.utilization` refers to the time from the first arrival
//! to the last completion. The two are equal if the last flash operation serves a request and is
//! the last completion, and the first request arrives at the start.

use floatgate_lab::result::{ChannelsResult, DiesResult};

use super::*;

fn dies(result: &DiesResult) -> [&Vec<f64>; 6] {
    let DiesResult { read, program, erase, transfer, wait, idle } = result;
    [read, program, erase, transfer, wait, idle]
}

fn channels(result: &ChannelsResult) -> [&Vec<f64>; 6] {
    let ChannelsResult { host, map, gc, merge, remap, idle } = result;
    [host, map, gc, merge, remap, idle]
}

#[track_caller]
fn assert_shares(given: &[&Vec<f64>; 6], lanes: usize) {
    for lane in 0..lanes {
        assert!(given.iter().all(|shares| shares.len() == lanes));
        let all = given.iter().map(|shares| shares[lane]);
        assert!(all.clone().all(|share| (0.0..=1.0).contains(&share)), "{lane}");
        assert!((all.sum::<f64>() - 1.0).abs() < 1e-12, "{lane}");
    }
}

/// Two dies on one channel, a page of each: both read until 50. The transfers end at 60 and 70.
#[test]
fn two_reads_on_a_channel() {
    let sets = [("flash.dies", "2"), ("flash.superblock", "2")];
    let result = asked(&[ask(Op::Read, 0, 0, 2)], &sets);
    let near = |given: &[f64], expected: &[f64]| {
        assert_eq!(given.len(), expected.len());
        given.iter().zip(expected).for_each(|(&given, us)| assert_close(given, us / 70.0));
    };
    near(&result.dies.read, &[50.0, 50.0]);
    near(&result.dies.transfer, &[10.0, 10.0]);
    near(&result.dies.wait, &[0.0, 10.0]);
    near(&result.dies.idle, &[10.0, 0.0]);
    near(&result.dies.program, &[0.0, 0.0]);
    near(&result.dies.erase, &[0.0, 0.0]);
    near(&result.channels.host, &[20.0]);
    near(&result.channels.idle, &[50.0]);
    assert_close(result.throughput.utilization.unwrap(), (60.0 + 70.0) / 2.0 / 70.0);
}

const BUSY: Sets<'_> = &[
    CLOSED,
    ("mapping.scheme", "dftl"),
    ("mapping.cache", "1KiB"),
    ("flash.pages_per_block", "16"),
];
const MIXED: &str = "hotcold:r=0.8,f=0.2,requests=6k,size=8KiB,reads=0.3";

#[test]
fn shares_add_up() {
    let shape = [("flash.channels", "2"), ("flash.dies", "3"), ("queue.depth", "16")];
    for more in [&[][..], &[("flash.cache_register", "true"), ("schedule.order", "read_first")]] {
        let result = generated(MIXED, &[BUSY, &shape, more].concat());
        assert_shares(&dies(&result.dies), 6);
        assert_shares(&channels(&result.channels), 2);
        let busy = result.dies.idle.iter().map(|idle| 1.0 - idle).sum::<f64>() / 6.0;
        assert!((result.throughput.utilization.unwrap() - busy).abs() < 1e-9);
        assert!(busy > 0.1 && result.channels.gc.iter().all(|&share| share > 0.0));
    }
}

/// On one die with one request at a time, all operations are serial: shares are counts times
/// durations.
#[test]
fn shares_match_the_activity() {
    let result = generated(MIXED, &[BUSY, &[("queue.depth", "1")]].concat());
    let us = span_us(&result);
    let flash = &result.flash;
    let [reads, programs, erases] =
        [&flash.reads, &flash.programs, &flash.erases].map(|counts| counts.total() as f64);
    assert!(erases > 100.0);
    assert_close(result.dies.read[0], reads * 50.0 / us);
    assert_close(result.dies.program[0], programs * 200.0 / us);
    assert_close(result.dies.erase[0], erases * 1000.0 / us);
    assert_close(result.dies.transfer[0], (reads + programs) * 10.0 / us);
    assert_eq!(result.dies.wait, [0.0]);
    assert!(result.dies.idle[0].abs() < 1e-9, "it is never idle");
    let transfers = |of: fn(&floatgate_lab::result::CauseCounts) -> u64| {
        (of(&flash.reads) + of(&flash.programs)) as f64 * 10.0 / us
    };
    assert_close(result.channels.host[0], transfers(|counts| counts.host));
    assert_close(result.channels.map[0] + result.channels.gc[0], transfers(|c| c.total() - c.host));
    assert!(result.channels.gc[0] >= transfers(|counts| counts.gc));
    assert_eq!([&result.channels.merge, &result.channels.remap], [&[0.0], &[0.0]]);
}
