//! The curve of the map cache: exact curves compared with naive caches and whole runs, and sampled
//! curves with exact ones.

use std::collections::BTreeMap;

use floatgate_ftl::request::{Op, Request};
use floatgate_ftl::rng::Rng;
use floatgate_lab::config::Config;
use floatgate_lab::curve::{MapCurve, Options, PERCENTAGES, map_curve};
use floatgate_lab::result::Facts;
use floatgate_lab::run::{self, Control, RunError};
use floatgate_lab::workload::{Broken, Recorded, Summary, Workload, generator};
use serde_json::{Value, json};

const PAGE: u64 = 4096;

fn curve_of(workload: &mut dyn Workload, page_bytes: u64, sample: Option<f64>) -> MapCurve {
    let options = Options { page_bytes, sample };
    map_curve(workload, options, &Control::default()).expect("the options are right")
}

fn generated(spec: &str, sample: Option<f64>) -> MapCurve {
    curve_of(&mut *generator(spec, 1).expect(spec), PAGE, sample)
}

/// Makes a recording of requests given as operation, first byte and bytes.
fn recorded(requests: impl IntoIterator<Item = (Op, u64, u64)>) -> Recorded {
    let mut recorded = Recorded::new("test", 1, 1.0).unwrap();
    let request = |(op, offset, length)| Request { at_ns: 0, op, offset, length, stream: 0 };
    recorded.push(&requests.into_iter().map(request).collect::<Vec<_>>()).unwrap();
    recorded
}

fn page_reads(pages: impl IntoIterator<Item = u64>) -> Recorded {
    recorded(pages.into_iter().map(|page| (Op::Read, page * PAGE, PAGE)))
}

/// Returns the hits of an LRU cache that is simulated entry by entry: pages by time of use, and
/// times by page.
fn lru_hits(pages: &[u64], entries: usize) -> u64 {
    let (mut times, mut order, mut hits) = (BTreeMap::new(), BTreeMap::new(), 0);
    for (now, &page) in pages.iter().enumerate() {
        if let Some(before) = times.insert(page, now) {
            hits += 1;
            order.remove(&before);
        } else if times.len() > entries {
            let (_, oldest) = order.pop_first().unwrap();
            times.remove(&oldest);
        }
        order.insert(now, page);
    }
    hits
}

#[test]
fn every_size_has_the_hits_of_an_lru_cache() {
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        let span = 1 + rng.below(60);
        let below = |rng: &mut Rng| 1 + rng.below(span);
        let pages: Vec<u64> = (0..2000)
            .map(|_| {
                let bound = below(&mut rng);
                rng.below(bound)
            })
            .collect();
        let curve = curve_of(&mut page_reads(pages.iter().copied()), PAGE, None);
        let found: Vec<_> = (1..=span + 2).map(|n| curve.hits_at(n).unwrap() as u64).collect();
        let expected: Vec<_> = (1..=span as usize + 2).map(|n| lru_hits(&pages, n)).collect();
        assert_eq!(found, expected, "seed {seed}");
        assert_eq!(curve.hits_at(0), None);
        for percent in PERCENTAGES {
            let needed = curve.entries_for(percent);
            let enough = |entries: u64| {
                let all = lru_hits(&pages, span as usize);
                entries > 0 && lru_hits(&pages, entries as usize) * 100 >= all * u64::from(percent)
            };
            assert!(enough(needed), "seed {seed}, {percent} %: {needed}");
            assert!(needed == 1 || !enough(needed - 1), "seed {seed}, {percent} %: {needed}");
        }
    }
}

/// Returns hits and misses of the mapping in a whole run with `entries` cached entries.
fn run_hits(spec: &str, entries: u64, page: &str) -> (u64, u64) {
    let cache = (8 * entries).to_string();
    let sets = [
        ("flash.page", page),
        ("mapping.scheme", "dftl"),
        ("mapping.cache", &cache),
        ("dftl.replacement", "lru"),
        ("dftl.entry_bytes", "8"),
        ("start.fill", "none"),
    ]
    .map(|(key, value)| (key.to_owned(), value.to_owned()));
    let config = Config::load(None, None, &sets).unwrap();
    let mut workload = generator(spec, 1).unwrap();
    let span_bytes = workload.span_bytes();
    let options = run::Options { span_bytes, seed: 1, verify: false, start_cache: None };
    let facts = Facts::default();
    let result = run::run(&config, &mut *workload, facts, options, &Control::default()).unwrap();
    let mapping = &json!(result)["mapping"];
    (mapping["hits"].as_u64().unwrap(), mapping["misses"].as_u64().unwrap())
}

#[test]
fn one_pass_has_the_hits_of_single_runs() {
    for spec in [
        "zipf:span=32MiB,requests=40k,size=6KiB,aligned=false,reads=0.4,flush=0.01",
        "hotcold:span=16MiB,requests=40k,size=4KiB,reads=0.2",
        "iometer:span=16MiB,requests=20k,size=20KiB,random=0.3,reads=0.5",
    ] {
        for (page_bytes, page) in [(4096, "4KiB"), (2048, "2KiB")] {
            let curve = curve_of(&mut *generator(spec, 1).unwrap(), page_bytes, None);
            for entries in [1, 64, 500, 2048, 8192] {
                let (hits, misses) = run_hits(spec, entries, page);
                assert_eq!(curve.accesses, hits + misses, "{spec}, {page}");
                let found = curve.hits_at(entries).unwrap();
                assert_eq!(found, hits as f64, "{spec}, {page}, {entries} entries");
            }
        }
    }
}

#[test]
fn requests_are_taken_apart_into_pages() {
    let mut workload = recorded([
        (Op::Write, 4095, 2),         // pages 0 and 1, in part
        (Op::Read, 8192, 8192),       // pages 2 and 3
        (Op::Trim, 0, 8192),          // counted only
        (Op::Flush, 0, 0),            // nothing
        (Op::Read, 100_000, 0),       // nothing
        (Op::Write, 4096, 4096),      // page 1, whole: the third from the top
        (Op::Read, 16384 - 512, 512), // page 3: the second
    ]);
    let curve = curve_of(&mut workload, PAGE, None);
    assert_eq!((curve.accesses, curve.distinct_pages, curve.trims_ignored), (6, 4, 1));
    let hits: Vec<_> = (1..=4).map(|n| curve.hits_at(n).unwrap()).collect();
    assert_eq!(hits, [0.0, 1.0, 2.0, 2.0]);
}

#[test]
fn degenerate_workloads_have_a_curve() {
    let check = |pages: Vec<u64>, distinct: u64, ratios: Value, needed: Value| {
        let curve = curve_of(&mut page_reads(pages), PAGE, None);
        let document = curve.document();
        assert_eq!(document["distinct_pages"], distinct);
        let rows = |name: &str, key: &str| -> Value {
            document[name].as_array().unwrap().iter().map(|row| row[key].clone()).collect()
        };
        assert_eq!(rows("points", "hit_ratio"), ratios);
        assert_eq!(rows("needed", "entries"), needed);
        assert_eq!(document["expected_error"], 0.0);
    };
    check(vec![], 0, json!([]), json!([]));
    check(vec![7], 1, json!([0.0]), json!([1, 1, 1, 1, 1]));
    check(vec![7; 4], 1, json!([0.75]), json!([1, 1, 1, 1, 1]));
    check(vec![1, 2, 3], 3, json!([0.0, 0.0, 0.0]), json!([1, 1, 1, 1, 1]));
    check(vec![1, 2, 1, 2], 2, json!([0.0, 0.5]), json!([2, 2, 2, 2, 2]));
    let nothing = curve_of(&mut page_reads([]), PAGE, Some(0.5));
    assert_eq!((nothing.hit_ratio_at(1000), nothing.hit_ratio_max()), (None, None));
}

#[test]
fn points_are_few_and_have_all_powers_of_two() {
    for spec in ["uniform:span=3GiB,writes=1M", "uniform:span=1MiB,writes=10k"] {
        let curve = generated(spec, None);
        let points = curve.points();
        assert!(points.len() <= 200, "{}", points.len());
        assert!(points.is_sorted_by(|a, b| a < b));
        assert_eq!((points[0], points[points.len() - 1]), (1, curve.distinct_pages));
        let powers = (0..63).map(|n| 1 << n).take_while(|&n| n <= curve.distinct_pages);
        powers.for_each(|power| assert!(points.contains(&power)));
    }
}

/// Returns the mean absolute error over the points of the sampled curve.
fn measured_error(exact: &MapCurve, sampled: &MapCurve) -> f64 {
    let points = sampled.points();
    let errors = points.iter().map(|&entries| {
        (exact.hit_ratio_at(entries).unwrap() - sampled.hit_ratio_at(entries).unwrap()).abs()
    });
    errors.sum::<f64>() / points.len() as f64
}

#[test]
fn samples_are_within_their_stated_error() {
    // Workload, sampling rate, and maximum error of a useful sample.
    for (spec, rate, useful) in [
        ("zipf:span=4GiB,theta=0.99,requests=3M", 0.01, 0.02),
        ("zipf:span=4GiB,theta=0.8,requests=3M", 0.01, 0.02),
        ("zipf:span=1GiB,theta=1.2,requests=3M,reads=0.5", 0.01, 0.03),
        ("uniform:span=1GiB,requests=3M", 0.01, 0.02),
        ("uniform:span=1GiB,requests=1M,size=48KiB,aligned=false", 0.01, 0.02),
        ("hotcold:span=2GiB,r=0.9,f=0.1,requests=3M", 0.01, 0.02),
        ("hotcold:span=256MiB,r=0.8,f=0.2,requests=1M", 0.05, 0.03),
        ("sequential:span=512MiB,requests=1M", 0.01, 0.05),
        ("iometer:span=1GiB,random=0.5,requests=2M", 0.01, 0.03),
    ] {
        let (exact, sampled) = (generated(spec, None), generated(spec, Some(rate)));
        let (error, stated) = (measured_error(&exact, &sampled), sampled.expected_error());
        println!("{error:.4} stated {stated:.4} {spec}");
        assert!(error <= stated, "{spec}: {error:.4}, but {stated:.4} is stated");
        assert!(error <= useful, "{spec}: {error:.4}");
        assert_eq!((exact.expected_error(), exact.accesses), (0.0, sampled.accesses));
        let distinct = sampled.distinct_pages as f64 / exact.distinct_pages as f64;
        assert!((0.95..1.05).contains(&distinct), "{spec}: {distinct}");
        assert_eq!(sampled.document(), generated(spec, Some(rate)).document());
    }
}

#[test]
fn a_sample_of_everything_is_exact() {
    let spec = "zipf:span=64MiB,requests=100k";
    let (exact, sampled) = (generated(spec, None), generated(spec, Some(1.0)));
    assert_eq!(sampled.points(), exact.points());
    for entries in exact.points() {
        assert_eq!(sampled.hits_at(entries), exact.hits_at(entries));
    }
    assert_eq!(sampled.expected_error(), 0.0);
}

#[test]
fn a_sampled_curve_rises_and_stays_a_ratio() {
    // All pages differ, so no sample may show a hit.
    for spec in ["sequential:span=256MiB,requests=65536", "zipf:span=64MiB,requests=300k"] {
        let curve = generated(spec, Some(0.02));
        let ratios: Vec<_> =
            curve.points().into_iter().map(|n| curve.hit_ratio_at(n).unwrap()).collect();
        assert!(ratios.is_sorted());
        assert!(ratios.iter().all(|ratio| (0.0..=1.0).contains(ratio)));
        assert_eq!(curve.hit_ratio_at(1), None, "too small for the sample");
    }
}

#[test]
fn wrong_options_are_named() {
    let check = |spec: &str, page_bytes, sample, expected: &str| {
        let mut workload = generator(spec, 1).unwrap();
        let options = Options { page_bytes, sample };
        match map_curve(&mut *workload, options, &Control::default()) {
            Err(RunError::Config(error)) => assert_eq!(error.to_string(), expected),
            other => panic!("{other:?}"),
        }
    };
    let small = "uniform:span=1MiB,requests=1k";
    check(small, 3000, None, "page = 3000 bytes: expected a power of two, at least 512");
    check(small, 256, None, "page = 256 bytes: expected a power of two, at least 512");
    check(small, 4096, Some(0.0), "sample = 0: expected a rate above 0 and at most 1");
    check(small, 4096, Some(f64::NAN), "sample = NaN: expected a rate above 0 and at most 1");
    check(
        small,
        4096,
        Some(0.01),
        "sample = 0.01: 2 of the pages were in the sample: expected at least 100; take a higher \
         rate, or the exact curve",
    );
    check(
        "uniform:span=2TiB,requests=1k",
        512,
        None,
        "the workload spans 4294967296 pages of 512 bytes: expected at most 2147483647",
    );
}

/// Workload that watches the control while it gives requests, and cancels before the last request.
struct Watched<'a> {
    control: &'a Control,
    given: u64,
}

impl Workload for Watched<'_> {
    fn next_batch(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), Broken> {
        assert_eq!(self.control.progress(), ("curve", self.given, 10_000));
        if self.given > 5000 {
            self.control.cancel();
        }
        let write = Request { at_ns: 0, op: Op::Write, offset: 0, length: PAGE, stream: 0 };
        out.extend(std::iter::repeat_n(write, max));
        self.given += max as u64;
        assert!(self.given <= 10_000, "it was cancelled before");
        Ok(())
    }

    fn fork(&self) -> Box<dyn Workload + Send> {
        unreachable!("a curve is one pass")
    }

    fn summary(&self) -> Summary {
        let name = "watched".to_owned();
        Summary { name, span_bytes: PAGE, requests: 10_000, digest: 0, closed: true }
    }
}

#[test]
fn a_pass_is_watched_and_cancelled() {
    for sample in [None, Some(0.5)] {
        let control = Control::default();
        let mut watched = Watched { control: &control, given: 0 };
        let options = Options { page_bytes: PAGE, sample };
        let result = map_curve(&mut watched, options, &control);
        assert!(matches!(result, Err(RunError::Cancelled)));
    }
}
