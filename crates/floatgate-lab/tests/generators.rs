//! Generators and recordings: the requests match their text.

mod orders;
mod recordings;

use floatgate_ftl::request::{Op, Request};
use floatgate_lab::workload::{GENERATORS, Recorded, Workload, generator};

fn all(workload: &mut dyn Workload, batch: usize) -> Vec<Request> {
    let mut requests = Vec::new();
    loop {
        let before = requests.len();
        workload.next_batch(&mut requests, batch).expect("requests can be had");
        assert!(requests.len() <= before + batch);
        if requests.len() == before {
            return requests;
        }
    }
}

fn make(spec: &str, seed: u64) -> Vec<Request> {
    all(&mut *generator(spec, seed).expect(spec), 4096)
}

/// Returns a text for every generator, with every common key.
fn specs() -> Vec<String> {
    let own = [
        ("uniform", "aligned=false"),
        ("hotcold", "r=0.8,f=0.25,aligned=false"),
        ("zipf", "theta=1.1"),
        ("sequential", "aligned=true"),
        ("shuffled", "aligned=true"),
        ("zones", "zone=15360,active=3"),
        ("iometer", "random=0.3"),
        ("tenants", "tenants=3,random=1"),
    ];
    // Texts of `fitted`, whose requests vary in size, are in another test file.
    assert_eq!(GENERATORS.len(), own.len() + 1);
    let common = "span=1000000,writes=5k,size=1536,reads=0.3,trim=0.05,flush=0.01,\
                  arrivals=exponential,interarrival=20us";
    own.iter().map(|(name, keys)| format!("{name}:{common},{keys}")).collect()
}

#[test]
fn examples_run() {
    for row in GENERATORS {
        let mut workload = generator(row.example, 1).unwrap();
        let mut requests = Vec::new();
        workload.next_batch(&mut requests, 100).unwrap();
        assert_eq!(requests.len(), 100, "{}", row.name);
        assert!(row.example.starts_with(&format!("{}:", row.name)));
        assert!(row.doc.ends_with('.') && !row.source.is_empty());
    }
}

/// A generator reads each key that a help text shows, and the key has the default shown.
#[test]
fn keys_are_as_shown() {
    for row in GENERATORS {
        for key in row.keys() {
            let given = format!(",{}=", key.name);
            assert!(key.doc.ends_with('.') && key.doc.len() > 10, "{} {}", row.name, key.name);
            // Some defaults are numbers. Others are words that state what the default follows from.
            let in_words = key.default.is_empty() || key.default == "row";
            if in_words || key.default.contains(' ') || row.example.contains(&given) {
                continue;
            }
            let more = if key.name == "interarrival" { ",arrivals=fixed" } else { "" };
            let without = format!("{}{more}", row.example);
            let names = [without.clone(), format!("{without}{given}{}", key.default)]
                .map(|text| generator(&text, 1).expect(&text).summary().name);
            assert_eq!(names[0], names[1], "{}: {}", row.name, key.name);
        }
        let mut names: Vec<&str> = row.keys().map(|key| key.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }
}

#[test]
fn a_stream_follows_from_its_text_and_seed() {
    for spec in specs() {
        let requests = make(&spec, 7);
        assert_eq!(requests, make(&spec, 7), "{spec}");
        assert_ne!(requests, make(&spec, 8), "{spec}");
        assert_eq!(requests, make(&format!("{spec},seed=7"), 8), "{spec}");
    }
}

#[test]
fn the_size_of_a_batch_does_not_matter() {
    for spec in specs() {
        let one = all(&mut *generator(&spec, 7).unwrap(), 1);
        let many = all(&mut *generator(&spec, 7).unwrap(), 1000);
        assert_eq!(one, many, "{spec}");
        assert_eq!(one.len() as u64, generator(&spec, 7).unwrap().requests());
    }
}

#[test]
fn requests_match_the_text() {
    for spec in specs() {
        let requests = make(&spec, 3);
        let count = |op| requests.iter().filter(|r| r.op == op).count();
        assert_eq!(count(Op::Write), 5000, "{spec}");
        // 5000 writes are a share of 0.64.
        assert_eq!(requests.len(), 7813);
        for (op, share) in [(Op::Read, 0.3), (Op::Trim, 0.05), (Op::Flush, 0.01)] {
            assert!((count(op) as f64 - share * 7812.5).abs() <= 1.0, "{spec}");
        }
        for r in &requests {
            let length = if r.op == Op::Flush { 0 } else { 1536 };
            assert_eq!(r.length, length);
            assert!(r.offset + r.length <= 1_000_000, "{spec}");
            let step = if spec.contains("aligned=false") { 512 } else { 1536 };
            assert!(r.offset.is_multiple_of(step), "{spec}");
        }
        assert!(requests.windows(2).all(|w| w[0].at_ns <= w[1].at_ns));
        // The mean of n exponential gaps has a standard deviation of the mean gap divided by the
        // root of n.
        let mean = requests.last().unwrap().at_ns as f64 / 7812.0;
        assert!((mean - 20_000.0).abs() < 5.0 * 20_000.0 / 7812f64.sqrt(), "{mean}");
        let at_512 = requests.iter().any(|r| !r.offset.is_multiple_of(1536));
        assert_eq!(at_512, spec.contains("aligned=false"), "{spec}");
    }
}

#[test]
fn kinds_are_spread_over_the_stream() {
    let requests = make("uniform:span=1MiB,requests=100k,reads=0.5", 1);
    for part in requests.chunks(10_000) {
        let reads = part.iter().filter(|r| r.op == Op::Read).count();
        assert!((4700..5300).contains(&reads), "{reads}");
    }
    let counts = |spec| make(spec, 1).iter().filter(|r| r.op == Op::Write).count();
    assert_eq!(counts("uniform:span=1MiB,requests=3,reads=0.5,trim=0.5"), 0);
    assert_eq!(counts("uniform:span=1MiB,requests=10,reads=0.7,trim=0.2,flush=0.1"), 0);
    assert_eq!(make("uniform:span=1MiB,requests=3,reads=0.5,trim=0.5", 1).len(), 3);
}

#[test]
fn arrivals() {
    let times = |spec: &str| make(spec, 1).iter().map(|r| r.at_ns).collect::<Vec<_>>();
    assert_eq!(times("uniform:span=1MiB,writes=3,interarrival=1us"), [0, 1000, 2000]);
    assert_eq!(times("uniform:span=1MiB,writes=3,arrivals=closed"), [0, 0, 0]);
    assert_eq!(times("uniform:span=1MiB,writes=3"), [0, 0, 0]);
    let bursts = times("uniform:span=1MiB,writes=5,interarrival=1us,burst=2");
    assert_eq!(bursts, [0, 0, 2000, 2000, 4000], "as many in the same time");
    let alone = times("uniform:span=1MiB,writes=5,interarrival=1us,arrivals=exponential");
    let said = times("uniform:span=1MiB,writes=5,interarrival=1us,arrivals=exponential,burst=1");
    assert_eq!(said, alone);
}

/// Returns the relative frequency of each of `places` places of 4 KiB.
fn frequencies(spec: &str, places: usize) -> Vec<f64> {
    let mut counts = vec![0.0; places];
    for request in make(spec, 11) {
        counts[(request.offset / 4096) as usize] += 1.0;
    }
    counts
}

/// Returns the sum of squared deviations divided by expectations. Its mean is the number of classes
/// less 1.
fn chi_square(counts: &[f64], expected: impl Fn(usize) -> f64) -> f64 {
    counts.iter().enumerate().map(|(k, n)| (n - expected(k)).powi(2) / expected(k)).sum()
}

/// Returns the mean of chi-square plus six standard deviations.
fn bound(classes: usize) -> f64 {
    let freedom = (classes - 1) as f64;
    freedom + 6.0 * (2.0 * freedom).sqrt()
}

#[test]
fn uniform_is_uniform() {
    let counts = frequencies("uniform:span=400KiB,writes=100k", 100);
    let x = chi_square(&counts, |_| 1000.0);
    assert!(x < bound(100), "{x}");
}

#[test]
fn hotcold_is_even_in_each_class() {
    let counts = frequencies("hotcold:span=400KiB,r=0.9,f=0.1,writes=100k", 100);
    let x = chi_square(&counts, |k| if k < 10 { 9000.0 } else { 10_000.0 / 90.0 });
    assert!(x < bound(100), "{x}");
    let hot: f64 = counts[..10].iter().sum();
    assert!((hot - 90_000.0).abs() < 5.0 * 95.0, "{hot}");
}

/// Scattered hot places have the same number and frequency, and do not lie in one piece.
#[test]
fn hotcold_scatters_its_hot_places() {
    let counts = frequencies("hotcold:span=400KiB,r=0.9,f=0.1,scatter=true,writes=100k", 100);
    let hot: Vec<usize> = (0..100).filter(|&place| counts[place] > 4000.0).collect();
    assert_eq!(hot.len(), 10);
    let x = chi_square(&counts, |k| if hot.contains(&k) { 9000.0 } else { 10_000.0 / 90.0 });
    assert!(x < bound(100), "{x}");
    let neighbours = hot.windows(2).filter(|pair| pair[1] == pair[0] + 1).count();
    assert!(neighbours < 4, "{hot:?}");
}

#[test]
fn zipf_has_the_exact_probabilities() {
    for (theta, n) in [(0.0, 50usize), (0.5, 50), (0.99, 50), (1.0, 50), (1.5, 20), (2.5, 6)] {
        let spec = format!("zipf:span={},theta={theta},writes=200k", n * 4096);
        let mut counts = frequencies(&spec, n);
        counts.sort_by(|a, b| b.total_cmp(a));
        if theta == 0.0 {
            // If all places are equally popular, sorting tells nothing about the rank.
            assert!(chi_square(&counts, |_| 200_000.0 / n as f64) < bound(n));
            continue;
        }
        let bar = |k: usize| ((k + 1) as f64).powf(-theta);
        let sum: f64 = (0..n).map(bar).sum();
        let x = chi_square(&counts, |k| 200_000.0 * bar(k) / sum);
        assert!(x < bound(n), "{theta}: {x}");
    }
}

#[test]
fn zipf_works_on_a_large_span_and_a_single_place() {
    let requests = make("zipf:span=64TiB,theta=0.99,writes=10k", 1);
    assert!(requests.iter().all(|r| r.offset < 64 << 40));
    let far = requests.iter().filter(|r| r.offset > 32 << 40).count();
    assert!((3000..7000).contains(&far), "{far}");
    assert!(make("zipf:span=4KiB,writes=10", 1).iter().all(|r| r.offset == 0));
}

#[test]
fn iometer_jumps_as_often_as_it_says() {
    let requests = make("iometer:span=1GiB,random=0.25,writes=40k", 1);
    let jumps = requests.windows(2).filter(|w| w[1].offset != w[0].offset + w[0].length).count();
    assert!((jumps as f64 - 10_000.0).abs() < 6.0 * 87.0, "{jumps}");
    let requests = make("iometer:span=12KiB,random=0,writes=4", 1);
    assert_eq!(requests.iter().map(|r| r.offset).collect::<Vec<_>>(), [0, 4096, 8192, 0]);
}

#[test]
fn iometer_aligns_as_it_says() {
    let offsets = |spec: &str| -> Vec<u64> { make(spec, 1).iter().map(|r| r.offset).collect() };
    // Smaller boundaries than the record: requests begin at every boundary.
    let at = offsets("iometer:span=64KiB,size=16KiB,align=4KiB,writes=2k");
    let mut places = at.clone();
    places.sort_unstable();
    places.dedup();
    assert!(places.iter().copied().eq((0..=48).step_by(4).map(|kib| kib << 10)));
    // Larger boundaries than the record: each sequential request begins at the next boundary.
    let at = offsets("iometer:span=64KiB,size=4KiB,align=16KiB,random=0,writes=6");
    assert_eq!(at, [0, 16, 32, 48, 0, 16].map(|kib| kib << 10));
    let own = "iometer:span=1MiB,size=8KiB,random=0.5,writes=1k";
    assert_eq!(offsets(&format!("{own},align=8KiB")), offsets(own));
    let both = generator("iometer:span=1MiB,writes=1,aligned=false,align=4KiB", 1).err();
    let text = both.map(|error| error.to_string());
    assert_eq!(text.as_deref(), Some("iometer: align has no meaning with aligned=false"));
}

/// Workload 1 of the paper on write buffers and command queues, with the paper's numbers.
#[test]
fn iometer_makes_the_workloads_of_the_queue_paper() {
    let spec = "iometer:span=256MiB,size=256KiB,random=1,reads=0,requests=20k";
    let fixed = make(&format!("{spec},interarrival=830us"), 1);
    assert!(fixed.iter().zip(0..).all(|(r, n)| r.at_ns == n * 830_000));
    let spread = make(&format!("{spec},arrivals=exponential,interarrival=830us"), 1);
    let mean = spread.last().unwrap().at_ns as f64 / 19_999.0;
    assert!((mean - 830_000.0).abs() < 5.0 * 830_000.0 / 20_000f64.sqrt(), "{mean}");
    for r in fixed.iter().chain(&spread) {
        assert!(r.op == Op::Write && r.length == 256 << 10 && r.offset.is_multiple_of(256 << 10));
    }
}

#[test]
fn digests_tell_workloads_apart() {
    let digest = |spec, seed| generator(spec, seed).unwrap().summary().digest;
    let spec = "uniform:span=1MiB,writes=10k";
    assert_eq!(digest(spec, 1), digest("uniform: writes=10000, span=1024KiB, size=4KiB", 1));
    assert_eq!(digest(spec, 1), digest("uniform:span=1MiB,writes=10k,seed=1", 9));
    assert_ne!(digest(spec, 1), digest(spec, 2));
    assert_ne!(digest(spec, 1), digest("uniform:span=1MiB,writes=10k,size=8KiB", 1));
    assert_eq!(
        generator(spec, 1).unwrap().summary().name,
        "uniform:aligned=true,arrivals=closed,flush=0,reads=0,seed=1,size=4KiB,\
         span=1MiB,trim=0,writes=10000"
    );
}

#[test]
fn wrong_texts_are_named() {
    let check = |spec: &str, expected: &str| {
        let error = generator(spec, 1).err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some(expected), "{spec}");
    };
    check(
        "unifrom:span=1MiB",
        "unknown generator `unifrom`; did you mean `uniform`? expected one of uniform, hotcold, \
         zipf, sequential, shuffled, zones, iometer, tenants, fitted",
    );
    check("uniform", "uniform: span is missing; for example span=1GiB");
    check(
        "uniform:span=1MiB",
        "uniform: writes is missing; for example writes=1M (or requests=1M)",
    );
    check("uniform:span", "uniform: `span`: expected key=value");
    check("uniform:span=1MiB,span=2MiB", "uniform: span is given twice");
    check(
        "uniform:span=1MiB,writes=1,requests=1",
        "uniform: requests and writes are both given: expected one of them",
    );
    check(
        "uniform:span=1MiB,writes=1,theta=1",
        "uniform: unknown key `theta`; known: aligned, arrivals, burst, flush, interarrival, \
         reads, requests, seed, size, span, trim, writes",
    );
    check(
        "hotcold:spam=1MiB,writes=1",
        "hotcold: unknown key `spam`; did you mean `span`? known: aligned, arrivals, burst, f, \
         flush, interarrival, r, reads, requests, scatter, seed, size, span, trim, writes",
    );
    check("uniform:span=1KiB,writes=1", "uniform: size=4096: expected at most span (1024)");
    check(
        "uniform:span=1x,writes=1",
        "uniform: span=1x: expected a size such as \"4KiB\", not \"1x\"",
    );
    check("uniform:span=0,writes=1", "uniform: span=0B: expected at least 1 byte");
    check("uniform:span=1MiB,writes=0", "uniform: expected at least 1 request and fewer than 2^53");
    check(
        "uniform:span=1MiB,writes=many",
        "uniform: writes=many: expected a count such as 10M or 64Ki, not \"many\"",
    );
    check(
        "uniform:span=1MiB,writes=1,reads=1.5",
        "uniform: reads=1.5: expected a number from 0 to 1",
    );
    check(
        "uniform:span=1MiB,writes=1,reads=0.75,trim=0.5",
        "uniform: reads + trim + flush = 1.25: expected at most 1",
    );
    check(
        "uniform:span=1MiB,writes=1,reads=1",
        "uniform: writes is given, but reads, trim and flush leave no share",
    );
    check(
        "uniform:span=1MiB,writes=1,arrivals=later",
        "uniform: arrivals=later: expected one of closed, fixed, exponential",
    );
    check(
        "uniform:span=1MiB,writes=1,arrivals=closed,interarrival=1us",
        "uniform: interarrival has no meaning with arrivals=closed",
    );
    check(
        "uniform:span=1MiB,writes=4,burst=2",
        "uniform: burst has no meaning with arrivals=closed",
    );
    for burst in [0, 5] {
        check(
            &format!("uniform:span=1MiB,writes=4,interarrival=1us,burst={burst}"),
            "uniform: burst: expected at least 1 request, and no more than there are",
        );
    }
    check(
        "uniform:span=1MiB,writes=1G,interarrival=1s",
        "uniform: requests x interarrival: expected at most 15 years",
    );
    check(
        "hotcold:span=16KiB,writes=1,f=0.1",
        "hotcold: f=0.1 of 4 places is 0 hot ones: expected some of each kind",
    );
    check("zipf:span=1MiB,writes=1,theta=nan", "zipf: theta=NaN: expected a number from 0 to 10");
    check(
        "sequential:span=1MiB,writes=1,aligned=false",
        "sequential: aligned=false has no meaning: each request follows the last",
    );
    check("zones:span=1MiB,writes=1", "zones: zone is missing; for example zone=1GiB");
    check(
        "zones:span=1MiB,zone=6KiB,writes=1",
        "zones: zone=6144: expected a multiple of size (4096), aligned",
    );
    for active in [0, 16] {
        check(
            &format!("zones:span=1MiB,zone=64KiB,active={active},writes=1"),
            &format!("zones: active={active} of 16 zones: expected 1 to one less than all"),
        );
    }
    check(
        "iometer:span=1MiB,writes=1,size=1000,aligned=false",
        "iometer: size=1000: expected a multiple of 512",
    );
}

/// The requests of every generator are pinned: they must be the same on any machine. A change here
/// changes every published result.
#[test]
fn streams_are_the_same_everywhere() {
    let mut digests = Vec::new();
    for spec in specs() {
        let mut recorded = Recorded::new("x", 1, 1.0).unwrap();
        recorded.push(&make(&spec, 42)).unwrap();
        digests.push(format!("{:016x}", recorded.summary().digest));
    }
    let expected = [
        "56af4a51e46efc49",
        "e946f0e84d9d5153",
        "b52e403080dbbe83",
        "12c2b318e81be95a",
        "62a34d1e200ecd79",
        "762e2e93fe1f517b",
        "035da05383864e50",
        "ea2539baa7915f3c",
    ];
    assert_eq!(digests, expected);
}
