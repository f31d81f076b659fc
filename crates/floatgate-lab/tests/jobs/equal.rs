//! Jobs give the results of a generator, and drives with and without a clock play the same jobs.

use super::*;

/// Returns a result without the names of the workload.
fn numbers(result: &RunResult) -> Value {
    let mut numbers = serde_json::to_value(result).unwrap();
    let fields = numbers.as_object_mut().unwrap();
    for name in ["engine", "jobs", "notes"] {
        fields.remove(name);
    }
    for name in ["name", "hash"] {
        fields["workload"].as_object_mut().unwrap().remove(name);
    }
    numbers
}

/// Drives of many kinds, each with one queue. With several queues a generator always has a request
/// for each of them, and a job only those that it keeps outstanding.
const DRIVES: [(&str, &[(&str, &str)]); 6] = [
    ("classic", &[]),
    ("classic", &[("timing", "none")]),
    ("classic", &[("mapping.scheme", "dftl"), ("mapping.cache", "8KiB")]),
    ("classic", &[("buffer.scheme", "lru"), ("buffer.capacity", "256KiB")]),
    ("classic", &[("ftl.scheme", "fast")]),
    ("classic", &[("queue.dispatch", "serial")]),
];

/// One job with the options of a generator gives the generator's result to the bit, latencies and
/// timeline included.
#[test]
fn one_job_gives_the_result_of_its_generator() {
    let random = json!({ "random": true, "io_bytes": 3000 * PAGE, "continues": true });
    for (device, sets) in DRIVES {
        let mut sets = sets.to_vec();
        sets.push(("queue.depth", "8"));
        if !sets.contains(&("ftl.scheme", "fast")) {
            sets.extend(SMALL);
        }
        let config = config(device, &sets);
        for (spec, changes) in [
            ("uniform", json!({})),
            ("sequential", json!({ "random": false })),
            ("shuffled", json!({ "each_once": true })),
        ] {
            let mut one = job(random.clone());
            merge(&mut one, changes);
            let expected = generated(&config, &format!("{spec}:span=4MiB,writes=3000"));
            let result = played(&config, &[one]);
            assert_eq!(numbers(&result), numbers(&expected), "{spec} on {device} {sets:?}");
        }
    }
}

/// SHRD packs the requests that wait: they are those of the generator, although the packs differ.
#[test]
fn one_job_behind_shrd_is_close_to_its_generator() {
    let config = config("shrd17", &[("flash.pages_per_block", "8"), ("queue.depth", "32")]);
    let many = json!({
        "random": true, "io_bytes": 4000 * PAGE, "continues": true, "depth": 32, "refill_at": 31,
    });
    let result = played(&config, &[job(many)]);
    let expected = generated(&config, "uniform:span=4MiB,writes=4000");
    assert_eq!(result.workload.footprint_pages, expected.workload.footprint_pages);
    let [got, wanted] = [&result, &expected].map(|one| one.write_amplification.unwrap());
    assert!((got / wanted - 1.0).abs() < 0.02, "{got} {wanted}");
}

#[test]
fn jobs_play_equally_each_time() {
    let config = config("classic", &SMALL);
    let jobs: Vec<Value> = (0..4)
        .map(|at| job(json!({ "random": true, "clone": at, "depth": at + 1, "refill_at": at })))
        .collect();
    let [first, second] = [(); 2].map(|()| serde_json::to_value(played(&config, &jobs)).unwrap());
    assert_eq!(first["jobs"], second["jobs"]);
    assert_eq!(first["latency"], second["latency"]);
}

#[test]
fn the_jobs_sum_to_the_run() {
    let kinds = [direction("read", json!({})), direction("write", json!({}))];
    let mixed = job(json!({ "random": true, "directions": kinds, "flush_every": [10] }));
    let trims = job(json!({ "directions": [direction("trim", json!({}))] }));
    for timing in ["scheduled", "none"] {
        let config = config("classic", &[("timing", timing)]);
        let result = played(&config, &[mixed.clone(), trims.clone(), job(json!({}))]);
        let sum = |of: fn(&floatgate_lab::result::JobResult) -> u64| -> u64 {
            result.jobs.iter().map(of).sum()
        };
        let workload = &result.workload;
        assert_eq!(sum(|job| job.reads), workload.reads);
        assert_eq!(sum(|job| job.writes), workload.writes);
        assert_eq!(sum(|job| job.trims), workload.trims);
        assert_eq!(sum(|job| job.flushes), workload.flushes);
        assert_eq!(sum(|job| job.read_bytes), workload.read_bytes);
        assert_eq!(sum(|job| job.write_bytes), workload.write_bytes);
        assert!(result.jobs[0].flushes > 0 && result.jobs[1].trims == 1024);
        let has_latency = result.jobs[1].trim.p99_us.is_some();
        assert_eq!(has_latency, timing == "scheduled");
    }
}

/// On a drive without a clock, outstanding requests take turns.
#[test]
fn a_drive_without_a_clock_counts_jobs_by_their_depth() {
    let config = config("classic", &[("timing", "none")]);
    let deep = job(json!({ "depth": 24, "refill_at": 23 }));
    let result = tried(&config, &[deep, job(json!({}))], Some(800)).unwrap();
    assert_eq!(result.jobs.iter().map(|job| job.writes).collect::<Vec<_>>(), [600, 200]);
    assert!(result.jobs[0].iops.is_none() && result.jobs[0].start_s.is_none());
    assert!(result.notes.iter().any(|note| note.contains("take turns")), "{:?}", result.notes);
}

fn with_handles(numbers: &[u16]) -> Value {
    let handles = json!({ "option": "fdp=1", "numbers": numbers, "random": false });
    job(json!({ "handles": handles }))
}

#[test]
fn handles_need_a_drive_that_has_them() {
    let error = tried(&config("classic", &[]), &[with_handles(&[1])], None).unwrap_err();
    assert!(error.starts_with("[job] fdp=1: the drive has no placement handles"), "{error}");
    assert!(error.contains("expected placement.scheme = \"host\""), "{error}");
}

#[test]
fn handles_of_jobs_have_their_bytes_and_their_amplification() {
    let sets = [("placement.scheme", "host"), ("placement.handles", "4")];
    let varied = [("scheduled", "persistently"), ("none", "persistently"), ("none", "initially")];
    for (timing, isolation) in varied {
        let own = [("timing", timing), ("placement.isolation", isolation)];
        let config = config("classic", &[&sets[..], &own, &SMALL].concat());
        let mut jobs = [with_handles(&[1, 3]), with_handles(&[]), job(json!({}))];
        jobs[1]["random"] = json!(true);
        let result = played(&config, &jobs);
        let handles = |at: usize| -> Vec<(u32, u64)> {
            let job = &result.jobs[at];
            job.handles.iter().map(|one| (one.handle, one.write_bytes / PAGE)).collect()
        };
        assert_eq!(handles(0), [(1, 512), (3, 512)]);
        assert_eq!(handles(1), [(0, 256), (1, 256), (2, 256), (3, 256)]);
        assert_eq!(handles(2), []);
        let owner = &result.placement.owners[3];
        assert_eq!(owner.host_pages, 512 + 256);
        assert!(owner.gc_pages > 0, "{isolation}");
        let factor = result.jobs[0].handles[1].write_amplification.unwrap();
        assert_eq!(factor, (768 + owner.gc_pages) as f64 / 768.0);
    }
}

/// A handle beyond those of the drive counts as handle 0 of the drive, and is reported.
#[test]
fn an_unknown_handle_is_counted() {
    let config = config("classic", &[("placement.scheme", "host"), ("placement.handles", "2")]);
    let result = played(&config, &[with_handles(&[7])]);
    assert_eq!(result.placement.unknown_handles, 1024);
    assert!(!result.warnings.is_empty());
}

#[test]
fn a_policy_that_needs_the_future_needs_a_fixed_order() {
    let sets = [("mapping.scheme", "belady"), ("mapping.cache", "8KiB")];
    let timed = config("classic", &sets);
    let one = job(json!({ "random": true }));
    assert!(played(&timed, std::slice::from_ref(&one)).mapping.hits > 0);
    let error = tried(&timed, &[one.clone(), one.clone()], None).unwrap_err();
    assert!(error.starts_with("mapping.scheme = \"belady\": the order of the requests"), "{error}");
    let counting = config("classic", &[&sets[..], &[("timing", "none")]].concat());
    assert!(played(&counting, &[one.clone(), one]).mapping.hits > 0);
}
