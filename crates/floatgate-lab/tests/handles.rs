//! Placement handles: the drive keeps the host's handles separate, and this reduces write
//! amplification.

mod reclaiming;

use floatgate_ftl::request::{Op, Request};
use floatgate_lab::config::Config;
use floatgate_lab::result::{Facts, RunResult};
use floatgate_lab::run::{Control, Options, RunError, run};
use floatgate_lab::workload::{Recorded, Workload, generator};

const PAGE: u64 = 512;

/// A drive of 384 units of 16 pages with a tenth of spare space.
const SMALL: [(&str, &str); 4] = [
    ("flash.page", "512B"),
    ("flash.pages_per_block", "16"),
    ("flash.blocks", "384"),
    ("capacity.spare_factor", "0.1"),
];

fn run_with(workload: &mut dyn Workload, sets: &[(&str, &str)]) -> Result<RunResult, RunError> {
    let sets: Vec<_> = sets.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let config = Config::load(None, None, &sets).unwrap_or_else(|error| panic!("{error}"));
    let options =
        Options { span_bytes: workload.span_bytes(), seed: 5, verify: true, start_cache: None };
    run(&config, workload, Facts::default(), options, &Control::default())
}

/// Returns the result of the small drive.
fn result(workload: &mut dyn Workload, sets: &[(&str, &str)]) -> RunResult {
    match run_with(workload, &[&SMALL, sets].concat()) {
        Ok(result) => result,
        Err(RunError::Config(error)) => panic!("{error}"),
        Err(error) => panic!("{error:?}"),
    }
}

/// Returns the error of a drive that cannot have this workload.
fn refusal(spec: &str, sets: &[(&str, &str)]) -> String {
    let mut workload = generator(spec, 1).expect(spec);
    match run_with(&mut *workload, &[&SMALL, sets].concat()) {
        Err(RunError::Config(error)) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

fn tenants(keys: &str, sets: &[(&str, &str)]) -> RunResult {
    let spec = format!("tenants:span=2764800,size=512,writes=60k,{keys}");
    result(&mut *generator(&spec, 1).expect(&spec), sets)
}

fn amplification(result: &RunResult) -> f64 {
    result.write_amplification.expect("there were writes")
}

const APART: [(&str, &str); 3] = [
    ("placement.scheme", "host"),
    ("placement.handles", "4"),
    ("placement.isolation", "persistently"),
];
const AT_FIRST: [(&str, &str); 2] = [("placement.scheme", "host"), ("placement.handles", "4")];

#[test]
fn tenants_that_write_in_order_cost_no_copy_if_each_has_a_handle() {
    for ratio in ["1", "2", "3"] {
        let keys = format!("tenants=4,ratio={ratio}");
        for sets in [&APART[..], &AT_FIRST] {
            let apart = tenants(&keys, sets);
            assert_eq!(amplification(&apart), 1.0, "{keys} {sets:?}");
            assert!(apart.flash.erases.gc > 1000, "{}", apart.flash.erases.gc);
        }
        // At one rate, data written together is overwritten together, also with several tenants.
        let mixed = amplification(&tenants(&keys, &[]));
        assert!(if ratio == "1" { mixed == 1.0 } else { mixed > 1.1 }, "{keys}: {mixed}");
    }
}

/// Tenants have their own handles, or share one with the tenant that writes at random. Victims are
/// chosen by cost and benefit. Otherwise the victim with the fewest valid pages would be the oldest
/// unit of a sequential tenant, just before the tenant empties it.
#[test]
fn a_noisy_neighbour_in_the_same_handle_spoils_it() {
    let keys = "tenants=4,random=1,ratio=1";
    let sets = [&APART[..], &[("cleaning.victim", "cost_benefit")]].concat();
    let apart = tenants(keys, &sets);
    let copies = |tenant: usize| {
        let stream = &apart.placement.streams[tenant];
        stream.gc_pages as f64 / stream.host_pages as f64
    };
    assert!((0..3).all(|quiet| 3.0 * copies(quiet) < copies(3)), "{:?}", apart.placement.streams);
    // Tenants 1 and 3 share a handle, then all tenants do.
    let two = tenants(&format!("{keys},handles=2"), &sets);
    let one = tenants(&format!("{keys},handles=1"), &sets);
    let [apart, two, one] = [&apart, &two, &one].map(amplification);
    assert!(apart < two && two < one, "{apart} {two} {one}");
}

/// Handle first, then unit: the log is five times as large as the other data and has the most
/// invalid pages, but a smaller share of its pages is invalid.
#[test]
fn the_handle_of_a_victim_depends_on_the_scope() {
    let keys = "tenants=6,random=1,ratio=1,handles=2";
    let victims = |scope| -> Vec<u64> {
        let two = [("placement.handles", "2"), ("cleaning.scope", scope)];
        let result = tenants(keys, &[&APART[..], &two].concat());
        result.placement.streams.iter().map(|stream| stream.victims).collect()
    };
    let [any, stream, most, pressure] = ["all", "stream", "most_invalid", "pressure"].map(victims);
    println!("{any:?} {stream:?} {most:?} {pressure:?}");
    assert!(most[0] > pressure[0] && most[1] < pressure[1], "{most:?} {pressure:?}");
    let all = [any, stream, most, pressure];
    assert!((0..3).all(|at| !all[at + 1..].contains(&all[at])), "{all:?}");
}

#[test]
fn moved_pages_have_a_separate_stream_or_keep_their_handle() {
    let keys = "tenants=4,random=4,ratio=1";
    let gc = |result: &RunResult| -> Vec<u64> {
        result.placement.streams.iter().map(|stream| stream.gc_pages).collect()
    };
    let at_first = tenants(keys, &AT_FIRST);
    assert_eq!(gc(&at_first)[1..], [0; 4]);
    assert_eq!(at_first.placement.streams[0].host_pages, 0);
    assert!(gc(&at_first)[0] > 0);
    let apart = tenants(keys, &APART);
    assert!(gc(&apart).iter().all(|&pages| pages > 0), "{:?}", gc(&apart));
}

/// Returns the counts of flash, streams and wear.
fn counted(result: &RunResult) -> String {
    format!("{:?} {:?} {:?}", result.flash, result.placement.streams, result.wear)
}

#[test]
fn a_drive_with_one_handle_is_one_without() {
    let one = [("placement.handles", "1"), ("placement.isolation", "persistently")];
    for mapping in ["ideal", "dftl"] {
        let mapping = [("mapping.scheme", mapping), ("mapping.cache", "4KiB")];
        let host = [&mapping[..], &one, &[("placement.scheme", "host")]].concat();
        let keys = "tenants=3,random=1,handles=1,reads=0.2,trim=0.05,flush=0.01";
        assert_eq!(counted(&tenants(keys, &host)), counted(&tenants(keys, &mapping)));
    }
}

/// Returns writes of one page, with handles.
fn writes(handles: impl Iterator<Item = u16>) -> Recorded {
    let mut recorded = Recorded::new("handles", 1, 1.0).expect("once");
    let requests: Vec<_> = handles
        .zip(0..)
        .map(|(stream, at)| Request {
            at_ns: at,
            op: Op::Write,
            offset: at * 7 % 5000 * PAGE,
            length: PAGE,
            stream,
        })
        .collect();
    recorded.push(&requests).expect("requests in order");
    recorded
}

#[test]
fn a_page_keeps_its_handle_in_the_buffer() {
    let host = |result: &RunResult| -> Vec<u64> {
        result.placement.streams.iter().map(|stream| stream.host_pages).collect()
    };
    let all = || writes((0..20_000).map(|at| at % 3));
    let straight = result(&mut all(), &APART);
    assert_eq!(host(&straight), [6667, 6667, 6666, 0]);
    let buffer = [("buffer.scheme", "lru"), ("buffer.capacity", "64KiB")];
    let sets = [&APART[..], &buffer].concat();
    let through = [&sets[..], &[("buffer.acknowledge", "write_through")]].concat();
    assert_eq!(host(&result(&mut all(), &through)), [6667, 6667, 6666, 0]);
    // Pages that are not programmed are still in the buffer, equally many of each handle.
    let back = result(&mut all(), &sets);
    let held = host(&straight).into_iter().zip(host(&back)).map(|(all, out)| all - out);
    let held: Vec<u64> = held.collect();
    assert!(held[0] > 30 && held[..3].iter().all(|of| of.abs_diff(held[0]) < 2), "{held:?}");
}

#[test]
fn a_handle_that_the_drive_does_not_have_is_counted_and_warned_of() {
    let all = || (0..6000).map(|at| [0, 3, 4, 300][at % 4]);
    let wrong = result(&mut writes(all()), &APART);
    assert_eq!(wrong.placement.unknown_handles, 3000);
    assert_eq!(wrong.placement.streams[0].host_pages, 4500);
    let warned = |result: &RunResult, words: &str| {
        result.warnings.iter().any(|warning| warning.contains(words))
    };
    assert!(warned(&wrong, "3000 writes named a placement handle"), "{:?}", wrong.warnings);
    let none = result(&mut writes((0..6000).map(|_| 0)), &APART);
    assert!(warned(&none, "separates nothing"), "{:?}", none.warnings);
    let right = result(&mut writes((0..6000).map(|at| at % 2)), &APART);
    assert!(!warned(&right, "placement handle"), "{:?}", right.warnings);
    // A drive that ignores handles has no warning about them.
    let single = result(&mut writes(all()), &[]);
    assert!(!warned(&single, "placement handle") && single.placement.unknown_handles == 0);
}

#[test]
fn recordings_keep_handles_and_differ_by_them() {
    let handles = |count| (0..count).map(|at| if at < 70_000 { 0 } else { at as u16 });
    let mut with = writes(handles(80_000));
    let mut found = Vec::new();
    with.next_batch(&mut found, usize::MAX).expect("in memory");
    assert!(found.iter().map(|request| request.stream).eq(handles(80_000)));
    let digest = |recorded: &Recorded| recorded.summary().digest;
    let none = writes((0..80_000).map(|_| 0));
    assert_ne!(digest(&with), digest(&none));
    assert_eq!(digest(&with), digest(&writes(handles(80_000))));
}

/// A sequential tenant visits its part place by place, and each tenant has its share of the writes.
#[test]
fn tenants_write_their_parts_at_their_rates() {
    let spec = "tenants:span=400KiB,size=4KiB,tenants=4,random=1,ratio=2,handles=3,writes=150k";
    let mut workload = generator(spec, 3).expect(spec);
    assert_eq!(workload.span_bytes(), 400 << 10);
    let mut all = Vec::new();
    workload.next_batch(&mut all, usize::MAX).expect("made");
    let mut next = [0; 3];
    let mut writes = [0; 4];
    for request in &all {
        let (tenant, place) = (request.offset / (100 << 10), request.offset % (100 << 10) / 4096);
        writes[tenant as usize] += 1;
        assert_eq!(u64::from(request.stream), tenant % 3);
        if let Some(next) = next.get_mut(tenant as usize) {
            assert_eq!(place, *next);
            *next = (place + 1) % 25;
        }
    }
    for (tenant, count) in writes.into_iter().enumerate() {
        let expected = 10_000 << tenant;
        // Five standard deviations of a binomial distribution.
        let far = 5.0 * f64::from(expected).sqrt();
        assert!((f64::from(count) - f64::from(expected)).abs() < far, "{tenant}: {count}");
    }
    for (wrong, expected) in [
        ("tenants=0", "expected 1 to 128"),
        ("random=5", "expected 0 to 4"),
        ("handles=5", "expected 1 to 4"),
        ("ratio=0.5", "expected a number from 1 to 16"),
        ("size=101KiB", "expected at least 4 requests"),
        ("random=1,overwriters=2", "expected 0 to 1"),
        ("random=4,overwriters=3", "expected 0 to 2"),
    ] {
        let spec = format!("tenants:span=400KiB,writes=1,{wrong}");
        let error = generator(&spec, 3).err().expect(&spec).to_string();
        assert!(error.contains(expected), "{error}");
    }
}

/// Of five tenants, the last two have no part. They write anywhere in the parts of the first two.
#[test]
fn overwriters_write_in_the_parts_of_other_tenants() {
    let spec = "tenants:span=300KiB,tenants=5,random=3,overwriters=2,ratio=1,writes=50k";
    let mut workload = generator(spec, 3).expect(spec);
    assert_eq!(workload.span_bytes(), 300 << 10);
    let mut all = Vec::new();
    workload.next_batch(&mut all, usize::MAX).expect("made");
    let mut visits = [[0; 25]; 5];
    for request in &all {
        let (part, place) = (request.offset / (100 << 10), request.offset % (100 << 10) / 4096);
        assert_eq!(part, [0, 1, 2, 0, 1][usize::from(request.stream)]);
        visits[usize::from(request.stream)][place as usize] += 1;
    }
    for (tenant, visits) in visits.iter().enumerate() {
        let (least, most) = (visits.iter().min(), visits.iter().max());
        let spread = most.expect("25 places") - least.expect("25 places");
        // Each place is written 400 times on average; in order, all equally often.
        assert!(if tenant < 2 { spread < 2 } else { (20..200).contains(&spread) }, "{visits:?}");
    }
}

/// A log whose units lose pages to an overwriter is no longer free of copies, even if both tenants
/// have a handle each.
#[test]
fn an_overwriter_costs_copies_that_handles_do_not_prevent() {
    let two = "tenants=2,random=1,ratio=1";
    let apart = tenants("tenants=2,ratio=1", &APART);
    let over = tenants(&format!("{two},overwriters=1"), &APART);
    assert_eq!(amplification(&apart), 1.0);
    assert!(amplification(&over) > 1.05, "{}", amplification(&over));
    // The pages of the overwriter have its handle, and fill units of their own.
    let streams = &over.placement.streams;
    assert!(streams[1].host_pages > 29_000 && streams[1].victims > 100, "{streams:?}");
}
