//! The controller's cores, and the host's link.

use super::*;

/// Flash that is no bottleneck: pages are read and programmed in 1 us.
const FAST: Sets<'_> = &[("flash.read", "1us"), ("flash.program", "1us"), ("flash.bus", "none")];

/// Each command takes a core for 100 us, so the drive serves `cores` commands per 100 us. The cores
/// finish the last commands at the same time, and the die then reads their pages one after the
/// other.
#[test]
fn cores_take_commands_at_the_same_time() {
    let sets = [FAST, &[CLOSED, ("controller.command", "100us")]].concat();
    for (cores, count) in [("1", 1.0), ("2", 2.0), ("4", 4.0)] {
        let sets = [&sets[..], &[("controller.cores", cores)]].concat();
        let result = asked(&each(Op::Read, 1000), &sets);
        assert_close(span_us(&result), 1000.0 / count * 100.0 + count);
        // 32 commands are in the drive.
        let blame = &result.latency.blame_us;
        let explained = blame.controller.unwrap() + blame.die.unwrap();
        assert_close(explained, result.latency.all.mean_us.unwrap());
        assert!(blame.controller.unwrap() > 31.0 / count * 100.0 * 0.9);
    }
}

#[test]
fn a_core_looks_up_a_page_at_a_time() {
    for (cores, expected) in [("1", 400.0 + 1.0), ("2", 200.0 + 2.0), ("4", 100.0 + 4.0)] {
        let keys = [("controller.translate", "100us"), ("controller.cores", cores)];
        let result = asked(&[ask(Op::Read, 0, 0, 4)], &[FAST, &keys].concat());
        assert_close(result.latency.read.mean_us.unwrap(), expected);
    }
    // Core time: once for the command, and once for each page.
    let keys = [("controller.translate", "100us"), ("controller.command", "7us")];
    let result = asked(&[ask(Op::Read, 0, 0, 4)], &[FAST, &keys].concat());
    assert_close(result.latency.blame_us.controller.unwrap(), 407.0);
}

/// Without a map in memory each page is looked up in a translation page, which takes a core 30 us.
#[test]
fn a_core_loads_translation_pages() {
    let sets = [ALONE, &[("mapping.scheme", "none")]].concat();
    let without = asked(&each(Op::Read, 100), &sets);
    assert_eq!(without.flash.reads.map, 100);
    assert_close(without.latency.read.mean_us.unwrap(), 60.0 + 60.0);
    let with =
        asked(&each(Op::Read, 100), &[&sets[..], &[("controller.map_read", "30us")]].concat());
    assert_close(with.latency.read.mean_us.unwrap(), 60.0 + 60.0 + 30.0);
    assert_close(with.latency.blame_us.controller.unwrap(), 30.0);
}

/// Two reads, each of a translation page and then of its page, on one die and with one core.
#[test]
fn a_core_that_blocks_waits_for_the_translation_page() {
    let mean_us = |blocking| {
        let sets = [
            ("mapping.scheme", "none"),
            ("controller.translate", "10us"),
            ("controller.blocking", blocking),
        ];
        asked(&each(Op::Read, 2), &sets).latency.read.mean_us.unwrap()
    };
    // The look-ups end at 10 and 20. The die reads the map page of the first read until 70. The map
    // page of the second, which waits since 20, takes until 130. Then the pages take until 190 and
    // 250.
    assert_close(mean_us("false"), f64::midpoint(190.0, 250.0));
    // The second look-up begins when the core is free, at 70, and waits for the die from 80 on. The
    // die reads the first page before it, until 130.
    assert_close(mean_us("true"), f64::midpoint(130.0, 250.0));
}

/// A blocking core is busy during its own work and during the flash read, which limits throughput.
#[test]
fn a_blocking_core_is_occupied_for_a_whole_lookup() {
    let span = |blocking| {
        let sets = [
            CLOSED,
            ("mapping.scheme", "none"),
            ("controller.translate", "100us"),
            ("controller.blocking", blocking),
        ];
        span_us(&asked(&each(Op::Read, 200), &sets))
    };
    // Each read takes 120 us on the flash and 100 us on the core. A blocking core takes 160 us,
    // including a wait of 60 us. During the wait, another page may be read first.
    let (free, held) = (span("false"), span("true"));
    assert_close(free, 100.0 + 200.0 * 120.0);
    assert!((200.0 * 160.0..200.0 * 220.0 + 60.0).contains(&held), "{held}");
}

/// A remap takes one core for the time of each entry in turn.
#[test]
fn a_core_carries_out_remaps() {
    let run = |entry| {
        let sets = [
            CLOSED,
            ("host.scheme", "shrd"),
            ("host.log", "1MiB"),
            ("shrd.contiguous", "32"),
            ("shrd.exclude_below", "0B"),
            ("mapping.scheme", "page_cache"),
            ("capacity.spare_factor", "0.3"),
            ("flash.pages_per_block", "16"),
            ("controller.remap_entry", entry),
        ];
        generated("uniform:writes=3k,size=4KiB", &sets)
    };
    let (free, slow) = (run("0ns"), run("1ms"));
    assert_eq!(free.latency.blame_us.controller, Some(0.0));
    assert!(free.host.remaps > 5 && slow.host.remaps > 5);
    // All remaps but the last one are complete when the last write completes.
    let complete = slow.host.remapped_pages as f64 * (1.0 - 1.0 / slow.host.remaps as f64);
    assert!(span_us(&slow) > 0.9 * complete * 1000.0 && span_us(&slow) > span_us(&free));
    assert!(span_us(&free) < 0.9 * complete * 1000.0, "else this says nothing");
}

/// The link takes 100 us for a page in each direction.
const LINK: (&str, &str) = ("link.bandwidth", "40960KB/s");

#[test]
fn a_link_passes_no_more_than_its_bandwidth() {
    let reads = asked(&each(Op::Read, 1000), &[FAST, &[CLOSED, LINK]].concat());
    // The link transfers all pages one after the other, from the end of the first read on.
    assert_close(span_us(&reads), 1.0 + 1000.0 * 100.0);
    assert_close(reads.throughput.read_mb_s.unwrap(), 4.096 / 0.100_001);
    let writes = asked(&each(Op::Write, 1000), &[FAST, &[CLOSED, LINK, EMPTY]].concat());
    assert_close(span_us(&writes), 1000.0 * 100.0 + 1.0);
    assert_close(writes.throughput.write_mb_s.unwrap(), 4.096 / 0.100_001);
    // Both directions at once take no longer than the writes alone. Reads of unwritten pages use
    // the link, too.
    let both: Vec<_> = (0..500)
        .flat_map(|page| [ask(Op::Write, 0, page, 1), ask(Op::Read, 0, 1000 - page, 1)])
        .collect();
    let sets = [("queue.arrivals", "immediate"), ("queue.depth", "1000"), LINK, EMPTY];
    let both = asked(&both, &[FAST, &sets].concat());
    assert_eq!((both.workload.reads, both.workload.writes), (500, 500));
    assert_close(span_us(&both), 500.0 * 100.0 + 1.0);
    // In each direction the pages are sent one after the other: 100, 200, ... us for the 500
    // requests.
    assert_close(both.latency.read.mean_us.unwrap(), 501.0 / 2.0 * 100.0);
    assert_close(both.latency.write.mean_us.unwrap(), 501.0 / 2.0 * 100.0 + 1.0);
}

#[test]
fn a_link_is_passed_twice() {
    let requests: Vec<_> =
        (0..50).flat_map(|page| [ask(Op::Read, 0, page, 1), ask(Op::Write, 0, page, 1)]).collect();
    let sets = [ALONE, &[EMPTY]].concat();
    let without = asked(&requests, &sets);
    let with = asked(&requests, &[&sets[..], &[("link.latency", "7us")]].concat());
    for (before, after) in
        [(&without.latency.read, &with.latency.read), (&without.latency.write, &with.latency.write)]
    {
        assert_close(after.mean_us.unwrap(), before.mean_us.unwrap() + 2.0 * 7.0);
        assert_close(after.max_us.unwrap().round(), (before.max_us.unwrap() + 2.0 * 7.0).round());
    }
    assert_close(with.latency.blame_us.link.unwrap(), 2.0 * 7.0);
    assert_close(span_us(&with), span_us(&without) + 100.0 * 2.0 * 7.0);
}

/// A waiting core must not wait for a request that needs the same core. A later request may
/// overtake a remap, or a request whose data is on the link, so that its map page waits behind
/// theirs.
#[test]
fn cores_that_wait_do_not_wait_for_each_other() {
    let waits = ("controller.blocking", "true");
    let dftl = [
        CLOSED,
        waits,
        ("flash.dies", "4"),
        ("flash.superblock", "4"),
        ("mapping.scheme", "dftl"),
        ("mapping.cache", "512B"),
        ("link.bandwidth", "50MB/s"),
    ];
    let shrd = [
        CLOSED,
        waits,
        ("mapping.scheme", "dftl"),
        ("mapping.cache", "512B"),
        ("host.scheme", "shrd"),
        ("host.log", "256KiB"),
        ("shrd.contiguous", "8"),
        ("shrd.block_during_remap", "false"),
    ];
    for sets in [&dftl[..], &shrd] {
        let result = generated("uniform:requests=3000,size=8KiB,reads=0.5", sets);
        assert_eq!(result.workload.requests, 3000);
        assert!(result.latency.blame_us.controller.unwrap() > 0.0, "the core is waited for");
    }
}
