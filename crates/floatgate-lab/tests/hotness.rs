//! Hot and cold data of a workload, compared with a naive count.

use std::collections::BTreeMap;

use floatgate_ftl::request::{Op, Request};
use floatgate_lab::hotness::{GAPS, Hotness, Options, Rounding, hotness};
use floatgate_lab::run::{Control, RunError};
use floatgate_lab::workload::{Recorded, generator};
use serde_json::Value;

const PAGE: u64 = 4096;

fn request(op: Op, offset: u64, length: u64) -> Request {
    Request { at_ns: 0, op, offset, length, stream: 0 }
}

fn recorded(requests: &[Request]) -> Recorded {
    let mut recorded = Recorded::new("x", 1, 1.0).unwrap();
    recorded.push(requests).unwrap();
    recorded
}

fn measure(requests: &[Request], options: Options) -> Hotness {
    hotness(&mut recorded(requests), options, &Control::default()).unwrap()
}

/// Returns the pages that a write counts for.
fn pages(request: &Request, rounding: Rounding) -> std::ops::Range<u64> {
    let first = request.offset / PAGE;
    match rounding {
        Rounding::Cover => first..(request.offset + request.length).div_ceil(PAGE),
        Rounding::Truncate => first..first + request.length / PAGE,
    }
}

/// Returns hot pages, cold pages, hot writes, cold writes, and extents and merged writes for each
/// k. It visits the address space page by page.
fn naive(writes: &[&Request], options: Options) -> (Vec<u64>, Vec<(u64, u64)>) {
    let mut counts = BTreeMap::<u64, u64>::new();
    for page in writes.iter().flat_map(|request| pages(request, options.rounding)) {
        *counts.entry(page).or_default() += 1;
    }
    let is_hot = |page: u64| counts.get(&page).is_some_and(|&n| n >= u64::from(options.hot_from));
    let (hot, cold): (Vec<_>, Vec<_>) = counts.iter().partition(|count| is_hot(*count.0));
    let sum = |of: &[(&u64, &u64)]| of.iter().map(|count| *count.1).sum::<u64>();
    let row = vec![hot.len() as u64, cold.len() as u64, sum(&hot), sum(&cold)];
    let merged = GAPS.map(|k| {
        // A cold page is inside an extent if the hot pages around it are less than k + 1 pages
        // apart.
        let end = counts.keys().last().map_or(0, |last| last + 1);
        let (mut extents, mut inside, mut at) = (0, 0, 0);
        while at < end {
            if is_hot(at) {
                let gap = (1..=k).find(|ahead| is_hot(at + ahead)).unwrap_or(u64::MAX);
                if gap == u64::MAX {
                    extents += 1;
                } else {
                    inside += (at + 1..at + gap).filter_map(|page| counts.get(&page)).sum::<u64>();
                }
            }
            at += 1;
        }
        (extents, inside)
    });
    (row, merged.to_vec())
}

#[test]
fn equals_a_naive_count() {
    for text in [
        "zipf:span=4MiB,requests=6k,theta=1.1,reads=0.2,trim=0.05,flush=0.01",
        "hotcold:span=8MiB,r=0.7,f=0.05,writes=5k,size=6KiB,aligned=false",
        "iometer:span=2MiB,writes=3k,size=12KiB,random=0.3",
    ] {
        let mut requests = Vec::new();
        generator(text, 3).unwrap().next_batch(&mut requests, 10_000).unwrap();
        for rounding in [Rounding::Cover, Rounding::Truncate] {
            let options = Options { gb_bytes: 7_000_000, hot_from: 4, rounding, partial: true };
            let found = measure(&requests, options);
            let writes: Vec<&Request> = requests.iter().filter(|r| r.op == Op::Write).collect();
            let mut left = &writes[..];
            for one in found.sequences() {
                let mut bytes = 0;
                let under = |r: &&&Request| {
                    let more = bytes < options.gb_bytes;
                    bytes += r.length;
                    more
                };
                let (now, later) = left.split_at(left.iter().take_while(under).count());
                left = later;
                let (row, merged) = naive(now, options);
                let found = [one.hot_pages, one.cold_pages, one.hot_writes, one.cold_writes];
                assert_eq!(row, found, "{text}");
                let extents = one.extents.into_iter().zip(one.merged_writes);
                assert_eq!(merged, extents.collect::<Vec<_>>(), "{text}");
                assert_eq!(one.requests, now.len() as u64);
            }
            assert!(left.is_empty(), "{text}");
        }
    }
}

#[test]
fn overwrites_and_runs_equal_a_naive_count() {
    let mut requests = Vec::new();
    let text = "iometer:span=1MiB,requests=4k,size=8KiB,random=0.4,reads=0.3";
    generator(text, 5).unwrap().next_batch(&mut requests, 10_000).unwrap();
    let document = measure(&requests, Options::PAPER).document();
    let (mut last, mut now, mut bins) = (BTreeMap::new(), 0u64, [0u64; 64]);
    for page in
        requests.iter().filter(|r| r.op == Op::Write).flat_map(|r| pages(r, Rounding::Cover))
    {
        now += 1;
        if let Some(before) = last.insert(page, now) {
            bins[(now - before).ilog2() as usize] += 1;
        }
    }
    for (bar, expected) in document["overwrites"]["histogram"].as_array().unwrap().iter().zip(bins)
    {
        assert_eq!(bar["overwrites"], expected);
    }
    assert_eq!(document["overwrites"]["overwrites"], bins.iter().sum::<u64>());
    assert_eq!(document["written_pages"], last.len());
    assert_eq!(document["page_writes"], now);
    for (kind, kept) in [("all", None), ("reads", Some(Op::Read)), ("writes", Some(Op::Write))] {
        let kept: Vec<_> = requests.iter().filter(|r| kept.is_none_or(|op| r.op == op)).collect();
        let follows = kept.windows(2).filter(|w| w[1].offset == w[0].offset + w[0].length).count();
        let found = &document["sequentiality"][kind];
        assert_eq!(found["requests"], kept.len());
        assert_eq!(found["runs"], kept.len() - follows, "{kind}");
        let share = found["continuing_requests_share"].as_f64().unwrap();
        assert_eq!(share, follows as f64 / kept.len() as f64);
    }
}

#[test]
fn a_last_partial_sequence_counts_only_if_asked_for_or_alone() {
    let writes: Vec<Request> = (0..5).map(|n| request(Op::Write, n * PAGE, PAGE)).collect();
    let of = |gb_pages: u64, partial| {
        let options = Options { gb_bytes: gb_pages * PAGE, partial, ..Options::PAPER };
        let document = measure(&writes, options).document();
        let number = |name: &str| document[name].as_u64().unwrap();
        (number("sequences"), number("partial_bytes") / PAGE, document["partial_counted"] == true)
    };
    assert_eq!(of(2, false), (2, 1, false));
    assert_eq!(of(2, true), (3, 1, true));
    assert_eq!(of(5, false), (1, 0, false));
    assert_eq!(of(6, false), (1, 5, true));
}

#[test]
fn a_workload_without_writes_has_no_means() {
    let reads = [request(Op::Read, 0, PAGE), request(Op::Flush, 0, 0)];
    let document = measure(&reads, Options::PAPER).document();
    assert_eq!(document["sequences"], 0);
    for path in ["/means/hot_pages", "/skew/gini", "/overwrites/mean_pages", "/extents/3/extents"] {
        assert_eq!(document.pointer(path), Some(&Value::Null), "{path}");
    }
    assert_eq!(document["sequentiality"]["reads"]["runs"], 1);
}

#[test]
fn truncated_lengths_are_whole_pages() {
    let writes = [request(Op::Write, 100, 2 * PAGE), request(Op::Write, PAGE - 1, 2)];
    let of = |rounding| measure(&writes, Options { rounding, ..Options::PAPER }).document();
    let cover = of(Rounding::Cover);
    assert_eq!((&cover["page_writes"], &cover["means"]["length_pages"]), (&5.into(), &2.5.into()));
    let truncate = of(Rounding::Truncate);
    assert_eq!((&truncate["page_writes"], &truncate["written_pages"]), (&2.into(), &2.into()));
}

#[test]
fn wrong_options_are_named_and_a_pass_is_cancelled() {
    let mut one = recorded(&[request(Op::Write, 0, PAGE)]);
    let control = Control::default();
    let none = Options { gb_bytes: 0, ..Options::PAPER };
    let error = hotness(&mut one, none, &control).unwrap_err();
    assert!(matches!(error, RunError::Config(e) if e.to_string() == "gb = 0: expected at least 1"));
    control.cancel();
    let error = hotness(&mut one, Options::PAPER, &control).unwrap_err();
    assert!(matches!(error, RunError::Cancelled));
}
