//! Requests of jobs on a drive without a clock. Where a comment names fio, version 3.33 sent these
//! requests with its engine `null`.

use serde_json::{Value, json};

use super::*;
use crate::workload::{Workload, generator};
use floatgate_ftl::request::{Op, Request};

const PAGE: u64 = 4096;

/// Returns a job that writes 64 pages in order, with changes.
fn job(changes: Value) -> Value {
    let mut job = json!({
        "name": "job", "clone": 0, "phase": 0, "group": 0, "waits_for": [], "offset": 0,
        "size": 64 * PAGE, "random": false, "directions": [direction("write", PAGE, PAGE)],
        "read_percent": 50, "distribution": {"kind": "uniform", "shape": 0.0, "center": null},
        "each_once": true, "repeats": true, "seed": null, "depth": 1, "refill_at": 0,
        "io_bytes": 64 * PAGE, "continues": false, "loops": 1, "requests_max": null,
        "start_delay_ns": [0, 0], "ramp_ns": 0, "runtime_ns": null, "time_based": false,
        "ends_group": false, "poisson": false, "think_ns": 0, "think_requests": 1,
        "rate_ignores_think": false, "flush_every": [], "flushes_at_end": false, "handles": null,
    });
    merge(&mut job, changes);
    job
}

fn merge(job: &mut Value, changes: Value) {
    if let (Some(job), Value::Object(changes)) = (job.as_object_mut(), changes) {
        job.extend(changes);
    }
}

fn direction(op: &str, low: u64, high: u64) -> Value {
    json!({
        "op": op, "sizes": {"low": low, "high": high, "split": [], "unaligned": false},
        "align": low, "random_percent": 100, "rate": null, "zones": [],
    })
}

fn set(jobs: &[Value]) -> JobSet {
    JobSet::new("jobs", &json!({ "jobs": jobs }).to_string(), 7, None).unwrap()
}

fn requests(jobs: &[Value]) -> Vec<Request> {
    let mut requests = Vec::new();
    set(jobs).in_turns().unwrap().next_batch(&mut requests, 100_000).unwrap();
    requests
}

/// Returns the requests as text: a letter, the page, and the pages if there are several.
fn text(jobs: &[Value]) -> String {
    let word = |request: &Request| {
        let letter = &request.op.name()[..1];
        let (first, pages) = (request.offset / PAGE, request.length / PAGE);
        match request.op {
            Op::Flush => letter.to_owned(),
            _ if pages == 1 => format!("{letter}{first}"),
            _ => format!("{letter}{first}+{pages}"),
        }
    };
    requests(jobs).iter().map(word).collect::<Vec<_>>().join(" ")
}

fn of_pages(size: u64, changes: Value) -> Value {
    let mut small = job(json!({ "size": size * PAGE, "io_bytes": size * PAGE }));
    merge(&mut small, changes);
    small
}

/// Passes of fio: loops, and `io_size` beyond the region.
#[test]
fn passes_follow_one_another_as_in_fio() {
    let four = |changes| text(&[of_pages(4, changes)]);
    assert_eq!(four(json!({})), "w0 w1 w2 w3");
    assert_eq!(four(json!({ "loops": 2 })), "w0 w1 w2 w3 w0 w1 w2 w3");
    // 40k of 16k: the third pass ends in the middle.
    let ten = json!({ "io_bytes": 10 * PAGE, "continues": true });
    assert_eq!(four(ten), "w0 w1 w2 w3 w0 w1 w2 w3 w0 w1");
    // A loop of half a region: the second loop goes on where the first ended.
    let half = json!({ "io_bytes": 2 * PAGE, "continues": true, "loops": 2 });
    assert_eq!(four(half), "w0 w1 w2 w3");
    // size=32k io_size=48k loops=2: two passes of 32k, which exceed the bytes of one loop.
    let more = json!({ "io_bytes": 6 * PAGE, "continues": true, "loops": 2 });
    assert_eq!(four(more), "w0 w1 w2 w3 w0 w1 w2 w3");
    assert_eq!(four(json!({ "requests_max": 3 })), "w0 w1 w2");
    // number_ios does not extend the work.
    assert_eq!(four(json!({ "requests_max": 9 })), "w0 w1 w2 w3");
    assert_eq!(four(json!({ "requests_max": 3, "loops": 2 })), "w0 w1 w2 w3 w0 w1");
}

/// rw=write:8k leaves two pages out. A pass ends with the last request that fits.
#[test]
fn requests_in_order_leave_gaps() {
    let mut skipping = direction("write", PAGE, PAGE);
    merge(&mut skipping, json!({ "skip": 2 * PAGE }));
    let ten = |changes: Value| {
        let mut one = of_pages(10, json!({ "directions": [skipping.clone()] }));
        merge(&mut one, changes);
        text(&[one])
    };
    assert_eq!(ten(json!({})), "w0 w3 w6 w9");
    assert_eq!(ten(json!({ "loops": 2 })), "w0 w3 w6 w9 w0 w3 w6 w9");
    let rest = json!({ "io_bytes": 6 * PAGE, "continues": true });
    assert_eq!(ten(rest), "w0 w3 w6 w9 w0 w3");
}

/// size=1m bs=300k: the rest of the region is not written.
#[test]
fn a_request_lies_within_the_region() {
    let thirds = json!({
        "size": 1 << 20, "io_bytes": 1 << 20, "directions": [direction("write", 307_200, 307_200)],
    });
    let offsets = |changes: Value| {
        let mut one = job(thirds.clone());
        merge(&mut one, changes);
        requests(&[one]).iter().map(|request| request.offset / 307_200).collect::<Vec<_>>()
    };
    assert_eq!(offsets(json!({})), [0, 1, 2]);
    // io_size=2m: after two passes, the largest request does not fit in what is left.
    let two = json!({ "io_bytes": 2 << 20, "continues": true });
    assert_eq!(offsets(two), [0, 1, 2, 0, 1, 2]);
    // io_size=3m: the last request goes beyond it.
    let three = json!({ "io_bytes": 3 << 20, "continues": true });
    assert_eq!(offsets(three).len(), 11);
}

#[test]
fn flushes_come_between_writes_as_in_fio() {
    let six = |changes| text(&[of_pages(6, changes)]);
    assert_eq!(six(json!({ "flush_every": [3] })), "w0 w1 w2 f w3 w4 w5");
    assert_eq!(six(json!({ "flush_every": [2, 3] })), "w0 w1 f w2 f w3 f w4 w5");
    assert_eq!(six(json!({ "flush_every": [4], "flushes_at_end": true })), "w0 w1 w2 w3 f w4 w5 f");
    let ends = json!({ "flushes_at_end": true, "loops": 2 });
    assert_eq!(text(&[of_pages(2, ends)]), "w0 w1 f w0 w1 f");
    // fio flushes at the end of a pass and again at the start of the next.
    let each = json!({ "flush_every": [1], "loops": 2 });
    assert_eq!(text(&[of_pages(2, each)]), "w0 f w1 f f w0 f w1");
    let reads = json!({ "directions": [direction("read", PAGE, PAGE)], "flushes_at_end": true });
    assert_eq!(text(&[of_pages(2, reads)]), "r0 r1");
}

/// Reads and writes in order have positions of their own.
#[test]
fn kinds_of_requests_have_their_share_and_their_own_position() {
    let mixed = |percent: u64| {
        let kinds = [direction("read", PAGE, PAGE), direction("write", PAGE, PAGE)];
        job(json!({ "directions": kinds, "read_percent": percent }))
    };
    let both = requests(&[mixed(70)]);
    for op in [Op::Read, Op::Write] {
        let pages: Vec<u64> =
            both.iter().filter(|one| one.op == op).map(|one| one.offset / PAGE).collect();
        assert!(pages.iter().copied().eq(0..pages.len() as u64), "{pages:?}");
    }
    let many = json!({ "random": true, "each_once": false, "io_bytes": 40_000 * PAGE });
    let mut one = mixed(70);
    merge(&mut one, many);
    let all = requests(&[one]);
    let reads = all.iter().filter(|request| request.op == Op::Read).count() as f64;
    assert!((reads / all.len() as f64 - 0.7).abs() < 0.02, "{reads}");
    assert!(requests(&[mixed(0)]).iter().all(|request| request.op == Op::Write));
    assert!(requests(&[mixed(100)]).iter().all(|request| request.op == Op::Read));
}

fn offsets(requests: &[Request]) -> Vec<u64> {
    requests.iter().map(|request| request.offset).collect()
}

/// With the seed of the run, the first job sends the requests of a generator.
#[test]
fn the_first_job_sends_the_requests_of_a_generator() {
    let random = json!({ "random": true, "io_bytes": 300 * PAGE, "continues": true });
    let with = |changes: Value| {
        let mut one = job(random.clone());
        merge(&mut one, changes);
        requests(&[one])
    };
    for (text, changes) in [
        ("uniform", json!({ "each_once": false })),
        ("sequential", json!({ "random": false })),
        // Every pass in another order, as with randrepeat=0.
        ("shuffled", json!({ "repeats": false })),
    ] {
        let spec = format!("{text}:span=256KiB,writes=300");
        let mut generated = Vec::new();
        generator(&spec, 7).unwrap().next_batch(&mut generated, 1000).unwrap();
        assert_eq!(with(changes), generated, "{text}");
    }
}

/// With randrepeat=1, fio sends the same random order in each pass, unless time ends the job.
#[test]
fn passes_repeat_their_order_unless_it_is_drawn_anew() {
    let twice = |repeats: bool| {
        let passes = json!({ "random": true, "loops": 2, "repeats": repeats });
        let all = offsets(&requests(&[job(passes)]));
        assert_eq!(all.len(), 128);
        let mut sorted = all[..64].to_vec();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..64).map(|page| page * PAGE).collect::<Vec<_>>());
        all[..64] == all[64..]
    };
    assert!(twice(true));
    assert!(!twice(false));
}

#[test]
fn clones_send_other_random_requests() {
    let one = || job(json!({ "random": true, "each_once": false }));
    let mut clone = one();
    merge(&mut clone, json!({ "clone": 1 }));
    let all = requests(&[one(), clone]);
    let of = |first: usize| all.iter().skip(first).step_by(2).map(|one| one.offset);
    assert!(!of(0).eq(of(1)));
    let seeded = requests(&[job(json!({ "random": true, "each_once": false, "seed": 1 }))]);
    assert_ne!(offsets(&seeded), offsets(&requests(&[one()])));
}

/// Requests of several sizes cover every block once: a request ends in front of a taken block.
#[test]
fn a_pass_of_several_sizes_has_every_block_once() {
    let pieces = json!({ "random": true, "directions": [direction("write", PAGE, 16 * PAGE)] });
    let all = requests(&[of_pages(1000, pieces)]);
    let mut written = vec![0; 1000];
    for request in &all {
        let (first, pages) = (request.offset / PAGE, request.length / PAGE);
        assert!((1..=16).contains(&pages) && request.length % PAGE == 0);
        written[first as usize..(first + pages) as usize].iter_mut().for_each(|n| *n += 1);
    }
    assert!(written.iter().all(|&n| n == 1));
    assert!(all.iter().any(|request| request.length > 8 * PAGE));
}

#[test]
fn a_share_of_offsets_follows_the_last_request() {
    let mut follows = direction("write", PAGE, PAGE);
    merge(&mut follows, json!({ "random_percent": 25 }));
    let some = json!({
        "random": true, "each_once": false, "directions": [follows], "size": 1_000_000 * PAGE,
        "io_bytes": 40_000 * PAGE,
    });
    let all = offsets(&requests(&[job(some)]));
    let following = all.windows(2).filter(|pair| pair[1] == pair[0] + PAGE).count() as f64;
    assert!((following / all.len() as f64 - 0.75).abs() < 0.02, "{following}");
}

/// zoned:60/10:40/90, and zones in bytes.
#[test]
fn zones_have_their_share_of_the_requests() {
    let shares = |kind: &str, zones: Value, first: u64| {
        let mut zoned = direction("write", PAGE, PAGE);
        merge(&mut zoned, json!({ "zones": zones }));
        let distribution = json!({ "kind": kind, "shape": 0.0, "center": null });
        let some = json!({
            "random": true, "each_once": false, "directions": [zoned], "size": 1000 * PAGE,
            "io_bytes": 40_000 * PAGE, "distribution": distribution,
        });
        let all = offsets(&requests(&[job(some)]));
        let inside = all.iter().filter(|&&offset| offset < first * PAGE).count() as f64;
        (inside / all.len() as f64, all.iter().max().unwrap() / PAGE)
    };
    let (inside, last) = shares("zoned", json!([[60.0, 10.0], [40.0, 90.0]]), 100);
    assert!((inside - 0.6).abs() < 0.02 && last > 990, "{inside} {last}");
    let (kib, more) = (100.0 * 4096.0, 200.0 * 4096.0);
    let (inside, last) = shares("zoned_abs", json!([[70.0, kib], [30.0, more]]), 100);
    assert!((inside - 0.7).abs() < 0.02 && (290..300).contains(&last), "{inside} {last}");
}

/// Outstanding requests take turns, so that a job sends in proportion to its depth.
#[test]
fn jobs_share_a_drive_without_a_clock_by_depth() {
    let of = |depth: u32, offset: u64, changes: Value| {
        let mut one = job(json!({ "depth": depth, "offset": offset * PAGE }));
        merge(&mut one, changes);
        one
    };
    let all = requests(&[of(3, 0, json!({})), of(1, 1000, json!({}))]);
    let second = |part: &[Request]| part.iter().filter(|one| one.offset >= 1000 * PAGE).count();
    assert_eq!(all.len(), 128);
    assert_eq!(second(&all[..84]), 21);
    // The first job has ended; the second goes on alone.
    assert_eq!(second(&all[86..]), 42);
}

#[test]
fn a_phase_begins_when_the_last_has_ended() {
    let phase = |phase: u32, offset: u64| job(json!({ "phase": phase, "offset": offset * PAGE }));
    let all = offsets(&requests(&[phase(0, 0), phase(1, 100), phase(1, 200), phase(3, 300)]));
    let first = |from: u64| all.iter().position(|&offset| offset == from * PAGE).unwrap();
    assert_eq!((first(0), first(100), first(200), first(300)), (0, 64, 65, 192));
    let waits = job(json!({ "waits_for": [0], "offset": 100 * PAGE }));
    let all = offsets(&requests(&[phase(0, 0), waits]));
    assert_eq!(all.iter().position(|&offset| offset == 100 * PAGE), Some(64));
}

#[test]
fn a_job_ends_its_group() {
    let ends = of_pages(4, json!({ "ends_group": true }));
    let long = |group: u32| job(json!({ "group": group, "offset": 100 * PAGE }));
    assert!(requests(&[ends.clone(), long(0)]).len() <= 9);
    assert_eq!(requests(&[ends, long(1)]).len(), 4 + 64);
}

#[test]
fn handles_take_turns_or_are_drawn() {
    let handles = |random: bool| {
        let given = json!({ "option": "fdp=1", "numbers": [2, 5, 7], "random": random });
        let all = requests(&[of_pages(600, json!({ "handles": given }))]);
        all.iter().map(|request| request.stream).collect::<Vec<_>>()
    };
    assert!(handles(false).chunks(3).all(|turn| turn == [2, 5, 7]));
    let drawn = handles(true);
    for handle in [2, 5, 7] {
        let count = drawn.iter().filter(|&&one| one == handle).count();
        assert!((150..250).contains(&count), "{count}");
    }
    let all = json!({ "option": "fdp=1", "numbers": [], "random": false });
    let every = set(&[job(json!({ "handles": all }))]);
    let mut requests = Vec::new();
    Turns::new(&every, 3).unwrap().next_batch(&mut requests, 4).unwrap();
    assert_eq!(requests.iter().map(|one| one.stream).collect::<Vec<_>>(), [0, 1, 2, 0]);
}

#[test]
fn a_limit_ends_all_jobs() {
    let text = json!({ "jobs": [job(json!({})), job(json!({}))] }).to_string();
    let limited = JobSet::new("jobs", &text, 7, Some(10)).unwrap();
    let mut requests = Vec::new();
    limited.in_turns().unwrap().next_batch(&mut requests, 1000).unwrap();
    assert_eq!((requests.len(), limited.summary().requests), (10, 10));
}

#[test]
fn the_number_of_requests_is_known_for_one_size() {
    for (changes, count) in [
        (json!({}), 64),
        (json!({ "loops": 3 }), 192),
        (json!({ "requests_max": 5, "loops": 3 }), 15),
        (json!({ "io_bytes": 100 * PAGE, "continues": true }), 100),
    ] {
        let jobs = [job(changes)];
        assert_eq!(set(&jobs).summary().requests, count);
        assert_eq!(requests(&jobs).len() as u64, count);
    }
    let endless = job(json!({ "time_based": true, "runtime_ns": 1 }));
    assert_eq!(set(std::slice::from_ref(&endless)).summary().requests, 0);
    let error = set(&[endless]).in_turns().err().unwrap().to_string();
    assert!(
        error.starts_with("[job] time_based: only the time of a drive ends the job"),
        "{error}"
    );
}

#[test]
fn equal_jobs_have_equal_digests() {
    let digest = |seed: u64, changes: Value| {
        let text = json!({ "jobs": [job(changes)] }).to_string();
        JobSet::new("jobs", &text, seed, None).unwrap().summary().digest
    };
    assert_eq!(digest(1, json!({})), digest(1, json!({})));
    assert_ne!(digest(1, json!({})), digest(2, json!({})));
    assert_ne!(digest(1, json!({})), digest(1, json!({ "depth": 2 })));
}

#[test]
fn a_wrong_description_is_refused() {
    let error = |changes: Value| {
        let text = json!({ "jobs": [job(changes)] }).to_string();
        JobSet::new("jobs", &text, 1, None).err().unwrap().to_string()
    };
    for (changes, part) in [
        (json!({ "depth": 0 }), "[job] depth: expected 1 to 65536"),
        (json!({ "size": 100 }), "[job] sizes: expected a region of at least one request"),
        (json!({ "waits_for": [0] }), "[job] waits_for: expected earlier jobs"),
        (json!({ "extra": 1 }), "unknown field `extra`"),
        (json!({ "directions": [] }), "[job] directions: expected one or two"),
    ] {
        let text = error(changes);
        assert!(text.contains(part), "{text}");
    }
    assert!(JobSet::new("jobs", "{\"jobs\": []}", 1, None).is_err());
}
