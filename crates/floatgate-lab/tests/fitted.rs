//! Stand-ins: measured properties compared with the row that they imitate.

use floatgate_lab::hotness::{Hotness, Options, hotness};
use floatgate_lab::run::Control;
use floatgate_lab::workload::{Recorded, Workload, generator};
use serde_json::Value;

/// Table 1: hot pages, cold pages, hot writes, cold writes, mean length of a write in pages.
const TABLE: [(&str, [f64; 5]); 5] = [
    ("proj_0", [23_500.0, 39_800.0, 181_700.0, 62_100.0, 10.2]),
    ("src1_2", [21_200.0, 41_700.0, 172_900.0, 67_800.0, 8.2]),
    ("src2_0", [7_100.0, 29_300.0, 157_800.0, 55_000.0, 1.9]),
    ("usr_0", [6_100.0, 36_000.0, 163_100.0, 63_800.0, 2.6]),
    ("SW1", [2_100.0, 198_000.0, 9_600.0, 222_000.0, 21.6]),
];

fn measure(spec: &str, gb_bytes: u64) -> Hotness {
    let options = Options { gb_bytes, ..Options::PAPER };
    hotness(&mut *generator(spec, 1).expect(spec), options, &Control::default()).expect(spec)
}

fn row(document: &Value) -> [f64; 5] {
    ["hot_pages", "cold_pages", "hot_writes", "cold_writes", "length_pages"]
        .map(|name| document["means"][name].as_f64().unwrap())
}

/// Returns a text that writes `gbs` GB of the row's own size.
fn spec(name: &str, row: [f64; 5], gbs: f64) -> String {
    format!("fitted:row={name},writes={}", (gbs * (row[2] + row[3]) / row[4]).round())
}

#[test]
fn every_row_is_met_on_its_own_gb() {
    for (name, expected) in TABLE {
        let gb = (expected[2] + expected[3]) as u64 * 4096;
        let document = measure(&spec(name, expected, 8.5), gb).document();
        assert!(document["sequences"].as_u64().unwrap() >= 8, "{name}");
        for (found, expected) in row(&document).into_iter().zip(expected) {
            // The hot pages of SW1 have 4.6 writes, so up to 2 % of them are cold in some
            // sequences.
            let tolerance = if name == "SW1" { 0.02 } else { 0.01 };
            assert!((found / expected - 1.0).abs() < tolerance, "{name}: {found} not {expected}");
        }
    }
}

/// No GB differs much from the others, not even the first.
#[test]
fn every_sequence_is_like_any_other() {
    for (name, expected) in TABLE {
        let gb = (expected[2] + expected[3]) as u64 * 4096;
        for one in measure(&spec(name, expected, 6.5), gb).sequences() {
            let found = [one.hot_pages, one.cold_pages, one.hot_writes, one.cold_writes];
            let length = one.length().unwrap();
            for (n, expected) in found.map(|n| n as f64).into_iter().chain([length]).zip(expected) {
                assert!((n / expected - 1.0).abs() < 0.05, "{name}: {n} not {expected}");
            }
        }
    }
}

/// A GB of 10^9 bytes has up to 15 % more page writes than a row. Cold pages and the writes to both
/// classes grow by the same factor; the hot pages and the length stay. A sequence cannot have both
/// 10^9 bytes and the row's number of writes.
#[test]
fn a_gb_of_a_billion_bytes_has_the_same_pages_and_more_writes() {
    for (name, expected) in TABLE {
        let more = 1e9 / 4096.0 / (expected[2] + expected[3]);
        let found = row(&measure(&spec(name, expected, 4.8), 1_000_000_000).document());
        for (column, scale) in [1.0, more, more, more, 1.0].into_iter().enumerate() {
            let ratio = found[column] / (expected[column] * scale);
            assert!((ratio - 1.0).abs() < 0.02, "{name}: {found:?}, {more}");
        }
        assert!(more < 1.15);
    }
}

#[test]
fn hot_pages_lie_in_the_extents_asked_for() {
    for (text, extents) in [
        ("fitted:row=proj_0,writes=50k", 1152.0),
        ("fitted:row=src2_0,writes=250k", 1868.0),
        ("fitted:row=src2_0,hot_extents=500,writes=250k", 500.0),
        ("fitted:row=usr_0,hot_extents=1,writes=200k", 1.0),
    ] {
        let document = measure(text, 1_000_000_000).document();
        let merged = |k: usize| document["extents"][k]["extents"].as_f64().unwrap();
        assert_eq!(merged(0), extents, "{text}");
        assert!(merged(10) <= (extents / 3.0).max(1.0), "{text}");
        // The paper states: half of the extents, and less than 5 % of the cold writes.
        let half = (0..11).find(|&k| merged(k) <= extents / 2.0);
        let share = half.map(|k| document["extents"][k]["cold_writes_share"].as_f64().unwrap());
        assert!(share.is_none_or(|share| share < 0.05), "{text}: {share:?}");
    }
}

#[test]
fn cold_data_move_on_and_hot_extents_drift() {
    let text = "fitted:row=src2_0,writes=1M";
    let written = |text: &str| measure(text, 871_628_800).document()["written_pages"].clone();
    // 8.9 GB with 29,300 cold pages each are 262,000 pages, and some of them recur.
    let pages = written(text).as_f64().unwrap();
    assert!((190_000.0..250_000.0).contains(&pages), "{pages}");
    let narrow = written(&format!("{text},span=1GB")).as_f64().unwrap();
    assert!(narrow < 0.9 * pages, "{narrow}");

    let first = |text: &str| {
        let mut requests = Vec::new();
        generator(text, 1).unwrap().next_batch(&mut requests, 1_000_000).unwrap();
        let hot = |part: &[floatgate_lab::Request]| {
            let mut pages: Vec<u64> =
                part.iter().flat_map(|r| r.offset / 4096..(r.offset + r.length) / 4096).collect();
            pages.sort_unstable();
            let hot = pages.chunk_by(|a, b| a == b).filter(|same| same.len() >= 12);
            hot.map(|same| same[0]).collect::<std::collections::BTreeSet<u64>>()
        };
        let (begin, end) = (hot(&requests[..112_000]), hot(&requests[888_000..]));
        begin.intersection(&end).count() as f64 / begin.len() as f64
    };
    assert_eq!(first(text), 1.0);
    // Eight GB later, 0.9^8 = 43 % of the extents are at their first place.
    let stayed = first(&format!("{text},drift=0.1"));
    assert!((0.36..0.50).contains(&stayed), "{stayed}");
}

/// The row is met for every distribution of the writes beyond it.
#[test]
fn a_row_is_met_with_skew_and_streams() {
    for (name, expected) in TABLE {
        let gb = (expected[2] + expected[3]) as u64 * 4096;
        // A few extents have most of the writes and determine their length. A GB of proj_0 has
        // about sixty streams, each written again as a whole.
        for more in ["skew=1.2", "skew=0.5,cold_stream=64"] {
            let text = format!("{},{more}", spec(name, expected, 4.5));
            for (n, expected) in row(&measure(&text, gb).document()).into_iter().zip(expected) {
                assert!((n / expected - 1.0).abs() < 0.05, "{text}: {n} not {expected}");
            }
        }
    }
}

/// Returns the pages of the writes, in order.
fn writes(text: &str) -> Vec<std::ops::Range<u64>> {
    let (mut requests, mut workload) = (Vec::new(), generator(text, 1).unwrap());
    workload.next_batch(&mut requests, usize::MAX).unwrap();
    requests.iter().map(|r| r.offset / 4096..(r.offset + r.length) / 4096).collect()
}

/// A hundred hot pages, each an extent. Each page has five writes in a GB. The k-th page has the
/// share 1 / (k^s H) of the other 9,500 writes, where H is the sum of j^-s.
#[test]
fn hot_extents_are_written_by_zipfs_law() {
    let row = "hot_pages=100,cold_pages=1000,hot_writes=10k,cold_writes=1000,length=1";
    let gbs = 20.0;
    for skew in [0.8_f64, 1.2] {
        let requests = (gbs * 11_000.0) as u64;
        let text = format!("fitted:{row},hot_extents=100,skew={skew},writes={requests}");
        let mut counts = std::collections::BTreeMap::<u64, f64>::new();
        writes(&text).iter().for_each(|pages| *counts.entry(pages.start).or_default() += 1.0);
        let mut counts: Vec<f64> = counts.into_values().collect();
        counts.sort_by(|a, b| b.total_cmp(a));
        let sum: f64 = (1..=100).map(|k| f64::from(k).powf(-skew)).sum();
        for rank in [1, 2, 5, 20] {
            let expected = gbs * (5.0 + 9500.0 / sum * f64::from(rank).powf(-skew));
            let found = counts[rank as usize - 1];
            assert!((found / expected - 1.0).abs() < 0.06, "{skew} {rank}: {found} not {expected}");
        }
        assert!(counts[99] > 4.5 * gbs, "each is hot");
    }
}

/// Nearly all pages are cold and written once. One of `cold_stream` requests begins a stream. The
/// longer the streams are, the more of them end early, because others occupy an eighth of the span.
#[test]
fn cold_requests_follow_one_another() {
    for (more, streams) in [("", 1.0), (",cold_stream=8", 8.0), (",cold_stream=64", 64.0)] {
        let text = "fitted:hot_pages=10,cold_pages=20k,hot_writes=50,cold_writes=20k,length=2";
        let requests = writes(&format!("{text},writes=40k{more}"));
        let begin = requests.windows(2).filter(|two| two[0].end != two[1].start).count();
        let found = requests.len() as f64 / begin as f64;
        assert!((0.6..1.05).contains(&(found / streams)), "{more}: {found}");
    }
}

/// The runs of a stream are written again in their order.
#[test]
fn a_following_run_is_rewritten_unchanged() {
    let text = "fitted:hot_pages=10,cold_pages=10k,hot_writes=50,cold_writes=20k,length=2,\
                cold_stream=64,writes=20k";
    let requests = writes(text);
    let ends: std::collections::BTreeSet<u64> = requests.iter().map(|pages| pages.end).collect();
    let mut latest = Vec::new();
    let mut follow = 0;
    for pages in &requests {
        // Streams written twice or three times, with different waits, are interleaved.
        follow += usize::from(latest.contains(&pages.start));
        latest.push(pages.end);
        latest = latest.split_off(latest.len().saturating_sub(16));
    }
    assert!(ends.len() < requests.len() && follow as f64 > 0.9 * requests.len() as f64, "{follow}");
}

#[test]
fn reads_and_trims_do_not_change_the_row() {
    let text = "fitted:row=usr_0,writes=400k,reads=0.5,trim=0.1,interarrival=1ms";
    let found = row(&measure(text, 929_382_400).document());
    for (found, expected) in found.into_iter().zip(TABLE[3].1) {
        assert!((found / expected - 1.0).abs() < 0.01, "{found} not {expected}");
    }
    let workload = generator(text, 1).unwrap();
    assert_eq!(workload.requests(), 1_000_000);
    assert_eq!(workload.stands_for().as_deref(), Some("usr_0"));
}

#[test]
fn it_states_the_trace_that_it_imitates() {
    let of = |text: &str| generator(text, 1).unwrap().stands_for();
    let own = "hot_pages=1k,cold_pages=10k,hot_writes=8k,cold_writes=15k,length=2";
    assert_eq!(of("fitted:row=SW1,writes=1").as_deref(), Some("SW1"));
    assert_eq!(of("fitted:row=SW1,drift=0.1,writes=1").as_deref(), Some("SW1"));
    let changed = of("fitted:row=src2_0,hot_pages=7k,writes=1");
    assert_eq!(changed.as_deref(), Some("src2_0, with its own hot_pages"));
    assert_eq!(of(&format!("fitted:{own},writes=1")), None);
    assert_eq!(of("uniform:span=1MiB,writes=1"), None);
}

/// The user's own rows are met, up to the limits of valid values.
#[test]
fn own_rows_are_met_too() {
    for (expected, more) in [
        ([1000.0, 10_000.0, 8_000.0, 15_000.0, 2.0], ""),
        ([1000.0, 10_000.0, 4_500.0, 10_000.0, 1.0], ""),
        ([500.0, 2_000.0, 50_000.0, 5_000.0, 1.5], ",hot_extents=333"),
        ([64.0, 64_000.0, 6_400.0, 64_000.0, 64.0], ",hot_extents=1"),
        ([2000.0, 8_000.0, 12_000.0, 8_000.0, 30.0], ",span=1GiB"),
    ] {
        let [hot, cold, hot_writes, cold_writes, length]: [f64; 5] = expected;
        let writes = (30.0 * (hot_writes + cold_writes) / length).round();
        let text = format!(
            "fitted:hot_pages={hot},cold_pages={cold},hot_writes={hot_writes},\
             cold_writes={cold_writes},length={length},writes={writes}{more}"
        );
        let found = row(&measure(&text, (hot_writes + cold_writes) as u64 * 4096).document());
        for (found, expected) in found.into_iter().zip(expected) {
            assert!((found / expected - 1.0).abs() < 0.05, "{text}: {found} not {expected}");
        }
    }
}

/// The requests are pinned: they must be the same on any machine, and in batches of any size.
#[test]
fn a_stream_is_the_same_everywhere() {
    let text = "fitted:row=usr_0,drift=0.5,writes=60k,reads=0.2,seed=7";
    for batch in [1, 1000] {
        let mut workload = generator(text, 1).unwrap();
        let (mut recorded, mut requests) = (Recorded::new("x", 1, 1.0).unwrap(), Vec::new());
        loop {
            requests.clear();
            workload.next_batch(&mut requests, batch).unwrap();
            if requests.is_empty() {
                break;
            }
            assert!(requests.iter().all(|r| r.offset + r.length <= workload.span_bytes()));
            recorded.push(&requests).unwrap();
        }
        assert_eq!(recorded.summary().requests, 75_000);
        assert_eq!(format!("{:016x}", recorded.summary().digest), "61e7cf796da61b19");
    }
}

#[test]
fn wrong_texts_are_named() {
    let check = |keys: &str, expected: &str| {
        let error = generator(&format!("fitted:{keys}"), 1).err().map(|error| error.to_string());
        assert_eq!(error, Some(format!("fitted: {expected}")), "{keys}");
    };
    check(
        "writes=1",
        "row is missing; for example row=src2_0 (or all of hot_pages, cold_pages, hot_writes, \
         cold_writes, length)",
    );
    check(
        "row=src20,writes=1",
        "row=src20: did you mean `src2_0`? expected one of proj_0, src1_2, src2_0, usr_0, SW1",
    );
    check("row=SW1", "writes is missing; for example writes=1M (or requests=1M)");
    check("row=SW1,writes=1,hot_pages=0", "hot_pages=0: expected 1 to 4294967296");
    check(
        "row=SW1,writes=1,hot_pages=2400",
        "hot_writes / hot_pages = 4.000: expected at least 4.5, as 4 writes make a page hot",
    );
    check(
        "row=SW1,writes=1,cold_pages=50k",
        "cold_writes / cold_pages = 4.440: expected 1 to 2.5, as 4 writes make a page hot",
    );
    check(
        "row=SW1,writes=1,hot_extents=98",
        "hot_extents=98: expected 1 to hot_pages / length (97), as a write lies in one extent",
    );
    check(
        "row=src2_0,writes=1,span=512MiB",
        "span has 131072 pages of 4 KiB: expected 241500 to 4294967296",
    );
    check("row=src2_0,writes=1,length=0.5", "length=0.5: expected a number from 1 to 65536");
    let error = generator("fitted:row=SW1,writes=1,sise=4KiB", 1).err().unwrap().to_string();
    assert!(error.starts_with("fitted: unknown key `sise`; "), "{error}");
}
