//! Jobs on a drive with a clock: outstanding requests, rates, pauses, starts and ends.

use super::*;

const SECOND: f64 = 1e9;

fn reads(changes: Value) -> Value {
    let mut one = job(json!({ "random": true, "directions": [direction("read", json!({}))] }));
    merge(&mut one, changes);
    one
}

/// A drive whose reads cost time.
fn filled() -> Config {
    config("small-nvme", &[("start.fill", "sequential"), ("queue.depth", "256")])
}

/// Little's law: the mean number of outstanding requests is that of the job.
#[test]
fn a_job_keeps_its_requests_outstanding() {
    let many =
        |depth: u64| json!({ "depth": depth, "refill_at": depth - 1, "io_bytes": 20_000 * PAGE });
    let result = played(&filled(), &[reads(many(1)), reads(many(4)), reads(many(16))]);
    for (job, depth) in result.jobs.iter().zip([1.0, 4.0, 16.0]) {
        let outstanding = job.iops.unwrap() * job.read.mean_us.unwrap() / 1e6;
        assert!((outstanding / depth - 1.0).abs() < 0.01, "{outstanding} {depth}");
    }
}

/// With full distributions each job has its own histogram, of all its requests.
#[test]
fn full_distributions_are_also_of_single_jobs() {
    let full = [("start.fill", "sequential"), ("latency.distribution", "full")];
    let works = [1000, 3000].map(|pages| reads(json!({ "io_bytes": pages * PAGE })));
    let result = played(&config("small-nvme", &full), &works);
    for (job, pages) in result.jobs.iter().zip([1000, 3000]) {
        assert_eq!(job.read.counts.iter().sum::<u64>(), pages);
        assert!(job.read.ns.is_sorted() && job.read.ns.len() == job.read.counts.len());
        assert!(job.write.ns.is_empty());
    }
    assert!(played(&filled(), &works).jobs[0].read.counts.is_empty());
}

#[test]
fn equal_jobs_have_equal_shares() {
    let clones: Vec<Value> =
        (0..4).map(|clone| reads(json!({ "clone": clone, "io_bytes": 5000 * PAGE }))).collect();
    let result = played(&filled(), &clones);
    let rates: Vec<f64> = result.jobs.iter().map(|job| job.iops.unwrap()).collect();
    let mean = rates.iter().sum::<f64>() / 4.0;
    assert!(rates.iter().all(|rate| (rate / mean - 1.0).abs() < 0.05), "{rates:?}");
    assert!(result.throughput.iops.unwrap() > 3.5 * mean);
}

/// The drive takes fewer requests at a time than the jobs keep outstanding: the others wait.
#[test]
fn requests_beyond_the_queue_of_the_drive_wait() {
    let config = config("small-nvme", &[("start.fill", "sequential"), ("queue.depth", "4")]);
    let result = played(&config, &[reads(json!({ "io_bytes": 5000 * PAGE })), reads(json!({}))]);
    let queue = result.jobs[0].blame_us.queue.unwrap();
    assert!(queue > 0.5 * result.jobs[0].read.mean_us.unwrap(), "{queue}");
    assert!(result.notes.iter().any(|note| note.contains("up to 16 requests outstanding")));
    let shallow = played(&config, &[reads(json!({ "depth": 4, "refill_at": 3 }))]);
    assert_eq!(shallow.jobs[0].blame_us.queue, Some(0.0));
}

#[test]
fn a_rate_limits_a_job() {
    let rated = |rate: u64, poisson: bool| {
        let slow = direction("read", json!({ "rate": rate }));
        json!({ "directions": [slow], "io_bytes": 10_000 * PAGE, "poisson": poisson })
    };
    let (low, high) = (1000 * PAGE, 3000 * PAGE);
    let jobs = [reads(rated(low, false)), reads(rated(high, false)), reads(rated(low, true))];
    let result = played(&filled(), &jobs);
    for (job, rate) in result.jobs.iter().zip([1000.0, 3000.0, 1000.0]) {
        assert!((job.iops.unwrap() / rate - 1.0).abs() < 0.03, "{:?} {rate}", job.iops);
    }
}

/// Linear requests do not wait for one another if the rate is low; those of a Poisson process do.
#[test]
fn requests_of_a_poisson_process_wait_for_one_another() {
    let mean = |poisson: bool| {
        let slow = direction("read", json!({ "rate": 4000 * PAGE }));
        let job = reads(json!({
            "directions": [slow], "io_bytes": 20_000 * PAGE, "poisson": poisson,
        }));
        played(&filled(), &[job]).jobs[0].read.mean_us.unwrap()
    };
    let (linear, poisson) = (mean(false), mean(true));
    assert!(poisson > 1.002 * linear, "{poisson} {linear}");
}

/// Each kind of request has its own rate, whatever the mix asks for.
#[test]
fn kinds_of_requests_have_their_own_rates() {
    let kinds = [
        direction("read", json!({ "rate": 2000 * PAGE })),
        direction("write", json!({ "rate": 1000 * PAGE })),
    ];
    let both = json!({ "directions": kinds, "read_percent": 50, "io_bytes": 9000 * PAGE });
    let result = played(&filled(), &[reads(both)]);
    let [reads, writes] = [result.jobs[0].reads, result.jobs[0].writes];
    assert!((reads as f64 / writes as f64 - 2.0).abs() < 0.05, "{reads} {writes}");
}

#[test]
fn a_pause_follows_completed_requests() {
    let pauses = json!({ "think_ns": 10_000_000, "think_requests": 4, "io_bytes": 40 * PAGE });
    let result = played(&filled(), &[reads(pauses)]);
    // Ten bursts, and nine pauses between them.
    let seconds = result.jobs[0].seconds.unwrap();
    assert!((0.09..0.1).contains(&seconds), "{seconds}");
}

#[test]
fn a_job_starts_after_its_delay_and_ends_after_its_runtime() {
    let ms = 1_000_000;
    let timed = json!({
        "time_based": true, "runtime_ns": 50 * ms, "start_delay_ns": [20 * ms, 20 * ms],
        "directions": [direction("read", json!({ "rate": 1000 * PAGE }))],
    });
    let random = json!({ "start_delay_ns": [ms, 30 * ms], "name": "late" });
    let result = played(&filled(), &[reads(timed), reads(random)]);
    let [timed, late] = &result.jobs[..] else { unreachable!("two jobs") };
    assert_eq!(timed.start_s, Some(0.02));
    assert_eq!(timed.reads, 50);
    let start = late.start_s.unwrap();
    assert!((0.001..=0.03).contains(&start), "{start}");
}

#[test]
fn the_figures_leave_out_the_ramp() {
    let ms = 1_000_000;
    let rated = direction("read", json!({ "rate": 1000 * PAGE }));
    let ramped = json!({
        "time_based": true, "runtime_ns": 50 * ms, "ramp_ns": 30 * ms, "directions": [rated],
    });
    let result = played(&filled(), &[reads(ramped)]);
    assert_eq!((result.jobs[0].reads, result.workload.reads), (50, 80));
    assert_eq!(result.jobs[0].start_s, Some(0.03));
}

#[test]
fn phases_and_waiting_jobs_follow_one_another() {
    let phase = |phase: u32| reads(json!({ "phase": phase, "io_bytes": 500 * PAGE }));
    let waits = json!({ "phase": 1, "waits_for": [1], "io_bytes": 500 * PAGE });
    let result = played(&filled(), &[phase(0), phase(1), reads(waits)]);
    let times: Vec<(f64, f64)> = result
        .jobs
        .iter()
        .map(|job| (job.start_s.unwrap(), job.start_s.unwrap() + job.seconds.unwrap()))
        .collect();
    for pair in times.windows(2) {
        assert!((pair[1].0 - pair[0].1).abs() < 1e-9, "{times:?}");
    }
}

#[test]
fn a_job_ends_its_group() {
    let short = reads(json!({ "ends_group": true, "io_bytes": 100 * PAGE }));
    let endless = json!({ "time_based": true, "runtime_ns": 1_000_000_000_000_u64 });
    let result = played(&filled(), &[short, reads(endless)]);
    let seconds = result.jobs[1].seconds.unwrap();
    assert!(seconds < 2.0 * result.jobs[0].seconds.unwrap(), "{seconds}");
}

/// A job with a low-water mark lets its queue run down before it sends again.
#[test]
fn a_low_water_mark_drains_the_queue() {
    let outstanding = |refill_at: u64| {
        let drained = json!({ "depth": 16, "refill_at": refill_at, "io_bytes": 10_000 * PAGE });
        let result = played(&filled(), &[reads(drained)]);
        result.jobs[0].iops.unwrap() * result.jobs[0].read.mean_us.unwrap() / 1e6
    };
    let (full, drained) = (outstanding(15), outstanding(0));
    assert!((full - 16.0).abs() < 0.1 && drained < 13.0, "{full} {drained}");
}

#[test]
fn a_limit_ends_jobs_that_time_would_end() {
    let endless = json!({ "time_based": true, "runtime_ns": 1_000_000_000_000_u64 });
    let both = [reads(endless.clone()), reads(endless)];
    let result = tried(&filled(), &both, Some(300)).unwrap();
    assert_eq!(result.workload.reads, 300);
}

/// The timeline of jobs that time ends has windows of equal time.
#[test]
fn the_timeline_covers_a_run_of_unknown_length() {
    let timed = json!({ "time_based": true, "runtime_ns": (0.1 * SECOND) as u64 });
    let result = played(&filled(), &[reads(timed)]);
    let windows = result.timeline.seconds.len();
    assert!((200..=260).contains(&windows), "{windows}");
    assert_eq!(result.latency.all.requests, result.workload.reads);
}

#[test]
fn options_of_time_need_a_clock() {
    let config = config("classic", &[("timing", "none")]);
    let rated = direction("read", json!({ "rate": 1000 }));
    for (changes, option) in [
        (json!({ "runtime_ns": 1 }), "runtime"),
        (json!({ "start_delay_ns": [1, 1] }), "startdelay"),
        (json!({ "ramp_ns": 1 }), "ramp_time"),
        (json!({ "think_ns": 1 }), "thinktime"),
        (json!({ "directions": [rated] }), "rate or rate_iops"),
    ] {
        let error = tried(&config, &[reads(changes)], None).unwrap_err();
        let expected = format!("[job] {option}: the drive has no clock");
        assert!(error.starts_with(&expected), "{error}");
    }
}
