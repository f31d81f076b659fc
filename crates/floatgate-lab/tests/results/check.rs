//! The sections of a result, each recomputed.

use floatgate_ftl::device::Counters;
use floatgate_ftl::nand::{COMPONENTS, Cause, Component};
use floatgate_ftl::request::Op;
use serde_json::{Value, json};

use super::case::{Case, INTERVAL, PAGE, REQUESTS, SPAN, UNIT_PAGES};

pub(crate) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[track_caller]
pub(crate) fn assert_close(given: &Value, expected: f64) {
    let off = (number(given) - expected).abs();
    assert!(off <= 1e-9 * expected.abs(), "{given} is not {expected}");
}

/// Checks that a table has exactly these keys and values.
#[track_caller]
pub(crate) fn assert_table(given: &Value, expected: &Value) {
    let (given, expected) = (given.as_object().unwrap(), expected.as_object().unwrap());
    assert!(given.keys().eq(expected.keys()), "{:?}", given.keys());
    for (key, value) in expected {
        match value.as_f64() {
            Some(expected) if !value.is_u64() => assert_close(&given[key], expected),
            _ => assert_eq!(&given[key], value, "{key}"),
        }
    }
}

pub(crate) fn workload(case: &Case) {
    let (host, pages) = (&case.host, f64::from(case.played.plan.user_pages()));
    let [reads, writes, trims, flushes] = host.requests;
    assert!(host.empty_reads > 50 && host.partial_page_reads > 500 && flushes > 50 && trims > 200);
    let expected = json!({
        "name": "a name",
        "hash": case.result["workload"]["hash"],
        "requests": REQUESTS,
        "reads": reads,
        "writes": writes,
        "trims": trims,
        "flushes": flushes,
        "read_bytes": host.bytes[0],
        "write_bytes": host.bytes[1],
        "read_pages": host.read_pages,
        "write_pages": host.write_pages,
        "volumes_written": host.bytes[1] as f64 / pages / PAGE as f64,
        "trimmed_pages": host.trimmed_pages,
        "unwritten_pages_read": host.empty_reads,
        "partial_page_reads": host.partial_page_reads,
        "footprint_pages": host.footprint.len(),
        "skipped": 3,
        "duration_s": case.seconds(),
    });
    assert_table(&case.result["workload"], &expected);
    assert_eq!(case.result["config"], json!(case.config));
    assert_eq!(case.result["seed"], 5);
    assert_eq!(case.result["device"], "a device");
    assert_eq!(case.result["notes"][0], "a note");
    assert_eq!(case.result["host"]["commands"], REQUESTS);
    let start = json!({
        "fill": "sequential",
        "volumes": 0.0,
        "played_volumes": 0.0,
        "settled": null,
        "write_amplification": null,
        "model_units": null,
        "model_pages_per_unit": null,
    });
    assert_eq!(case.result["start"], start);
}

/// Checks the drive: it is the smallest whose logical capacity, 85 % of its pages, holds the span.
pub(crate) fn drive(case: &Case, log_blocks: bool) {
    let drive = &case.result["drive"];
    let units = (1..).find(|units| (0.85 * (units * UNIT_PAGES) as f64) as u64 >= SPAN / PAGE);
    let physical = (units.unwrap() * UNIT_PAGES) as f64;
    let logical = (0.85 * physical) as u64;
    let spare = physical - logical as f64;
    let low_water = drive["low_water"].as_u64().unwrap();
    let expected = json!({
        "units": units,
        "units_added": 0,
        "reserve_units": low_water - 1,
        "slc_units": 0,
        "pages_per_unit": UNIT_PAGES,
        "page_bytes": PAGE,
        "logical_pages": logical,
        "log_pages": 0,
        // 4 bytes for each logical page.
        "translation_pages": if log_blocks { 0 } else { (4 * logical).div_ceil(PAGE) },
        "physical_bytes": (units.unwrap() + low_water - 1) * UNIT_PAGES * PAGE,
        "logical_bytes": logical * PAGE,
        "spare_factor": spare / physical,
        "over_provisioning": spare / logical as f64,
        "low_water": low_water,
        "high_water": low_water,
        "channels": case.config.flash.channels,
        "dies": case.config.flash.dies,
        "planes": 1,
    });
    assert_table(drive, &expected);
}

/// Returns the sum of a table of operations by cause.
pub(crate) fn total(by_cause: &Value) -> u64 {
    by_cause.as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum()
}

pub(crate) fn count(table: &Value, keys: &[&str]) -> u64 {
    keys.iter().map(|key| table[key].as_u64().unwrap()).sum()
}

pub(crate) fn flash(case: &Case) {
    let (flash, host) = (&case.result["flash"], &case.host);
    let causes = [
        (Cause::Host, "host"),
        (Cause::Map, "map"),
        (Cause::Gc, "gc"),
        (Cause::GcMap, "gc_map"),
        (Cause::Merge, "merge"),
        (Cause::Wear, "wear"),
        (Cause::Remap, "remap"),
        (Cause::Journal, "journal"),
        (Cause::Retire, "retire"),
        (Cause::Pad, "pad"),
        (Cause::Fold, "fold"),
        (Cause::Parity, "parity"),
    ];
    let counted = &case.last.flash;
    for (what, counts) in
        [("reads", counted.reads), ("programs", counted.programs), ("erases", counted.erases)]
    {
        let pairs = causes.iter().map(|&(cause, name)| (name.to_owned(), counts[cause as usize]));
        assert_table(&flash[what], &Value::from_iter(pairs));
    }
    assert_eq!(count(&flash["programs"], &["host"]), host.write_pages);
    let read = host.read_pages - host.empty_reads + host.partial_page_reads;
    assert_eq!(count(&flash["reads"], &["host"]), read);
    assert_eq!(flash["emergency_cleans"], case.last.cleans.emergency);
    let cached = case.result["slc"].as_object().unwrap();
    assert!(cached.values().all(|count| count == 0), "there is no SLC cache: {cached:?}");
    // Valid pages at the end: all logical pages except trimmed ones, and the map.
    let mapped = case.played.plan.user_pages() as usize - host.trimmed.len();
    let valid = mapped + case.played.plan.translation_pages as usize;
    assert_eq!(case.played.valid.iter().map(|&n| n as usize).sum::<usize>(), valid);
}

pub(crate) fn amplification(result: &Value) {
    let programs = &result["flash"]["programs"];
    let written = number(&result["workload"]["write_pages"]);
    assert_close(&result["page_write_amplification"], total(programs) as f64 / written);
    let media_bytes = total(programs) as f64 * number(&result["drive"]["page_bytes"]);
    let host_bytes = number(&result["workload"]["write_bytes"]);
    assert_close(&result["write_amplification"], media_bytes / host_bytes);
    let parts = result["amplification"].as_object().unwrap();
    let sum: f64 = parts.values().map(number).sum();
    assert_close(&result["write_amplification"], sum);
    for (cause, part) in parts.iter().filter(|(cause, _)| !["host", "partial"].contains(&&***cause))
    {
        assert_close(
            part,
            number(&programs[cause]) * number(&result["drive"]["page_bytes"]) / host_bytes,
        );
    }
    let data = count(programs, &["host", "gc", "merge", "wear", "retire", "pad", "fold"]);
    assert_close(&result["data_write_amplification"], data as f64 / written);
}

/// Checks that a percentile is within 0.1 % of the latency at its rank.
#[track_caller]
pub(crate) fn assert_percentile(given: &Value, sorted: &[u64], fraction: f64) {
    let rank = (fraction * sorted.len() as f64 - 1e-6).ceil().max(1.0) as usize;
    let exact = sorted[rank - 1] as f64 / 1000.0;
    let range = exact * (1.0 - 1e-12)..=exact * 1.001;
    assert!(range.contains(&number(given)), "{given} at {fraction}: {exact}");
}

pub(crate) fn latency(case: &Case) {
    let latency = &case.result["latency"];
    let all = [Op::Read, Op::Write];
    for (name, ops) in [("all", &all[..]), ("read", &all[..1]), ("write", &all[1..])] {
        let sorted = case.latencies(0..case.requests.len(), ops);
        let count = sorted.len() as f64;
        let mean = sorted.iter().map(|&ns| ns as f64).sum::<f64>() / count;
        let squares = sorted.iter().map(|&ns| (ns as f64 - mean).powi(2)).sum::<f64>();
        let summary = &latency[name];
        assert_eq!(summary["requests"], sorted.len());
        assert_close(&summary["mean_us"], mean / 1000.0);
        assert_close(&summary["stdev_us"], (squares / count).sqrt() / 1000.0);
        for (key, fraction) in [
            ("p50_us", 0.5),
            ("p95_us", 0.95),
            ("p99_us", 0.99),
            ("p999_us", 0.999),
            ("p9999_us", 0.9999),
            ("max_us", 1.0),
        ] {
            assert_percentile(&summary[key], &sorted, fraction);
        }
        let cdf = summary["cdf"].as_array().unwrap();
        assert!(cdf.len() > 108);
        assert_eq!(cdf.last().unwrap(), &json!([summary["max_us"], 1.0]));
        cdf.iter().for_each(|point| assert_percentile(&point[0], &sorted, number(&point[1])));
    }
    let served = case.requests.iter().zip(&case.played.done);
    let served = served.filter(|(request, _)| all.contains(&request.op));
    let parts = served.fold([0u64; COMPONENTS], |mut sums, (_, done)| {
        sums.iter_mut().zip(done.blame.0).for_each(|(sum, ns)| *sum += ns);
        sums
    });
    let count = number(&latency["all"]["requests"]);
    let means = Component::NAMES
        .iter()
        .zip(parts)
        .map(|(&name, ns)| (name.to_owned(), ns as f64 / count / 1000.0));
    let means = Value::from_iter(means);
    assert_table(&latency["blame_us"], &means);
    let explained: f64 = means.as_object().unwrap().values().map(number).sum();
    assert_close(&latency["all"]["mean_us"], explained);
}

/// Planes work one by one here and transfers take no time, so a die is busy with one operation at a
/// time.
pub(crate) fn throughput(case: &Case) {
    let (host, seconds) = (&case.host, case.seconds());
    let [read_bytes, write_bytes] = host.bytes.map(|bytes| bytes as f64 / 1e6);
    let flash = &case.result["flash"];
    let [reads, programs, erases] =
        ["reads", "programs", "erases"].map(|what| total(&flash[what]) as f64);
    let busy = reads * 25e-6 + programs * 200e-6 + erases * 1.5e-3;
    let dies = f64::from(case.config.flash.channels * case.config.flash.dies);
    let expected = json!({
        "iops": (host.requests[0] + host.requests[1]) as f64 / seconds,
        "read_mb_s": read_bytes / seconds,
        "write_mb_s": write_bytes / seconds,
        "device_seconds": seconds,
        "utilization": busy / dies / seconds,
    });
    assert_table(&case.result["throughput"], &expected);
}

pub(crate) fn wear(case: &Case) {
    let (wear, written) = (&case.played.wear, case.host.bytes[1] as f64);
    let units = wear.len() as f64;
    let mean = wear.iter().sum::<u32>() as f64 / units;
    let squares = wear.iter().map(|&n| (f64::from(n) - mean).powi(2)).sum::<f64>();
    let (least, most) = (*wear.iter().min().unwrap(), *wear.iter().max().unwrap());
    assert!(least < most);
    let count = |erases| wear.iter().filter(|&&n| n == erases).count();
    let histogram = (least..=most).map(|n| (n, count(n))).filter(|&(_, units)| units > 0);
    let given = &case.result["wear"];
    assert_eq!(given.as_object().unwrap().len(), 6);
    assert_eq!([&given["erases_min"], &given["erases_max"]], [&json!(least), &json!(most)]);
    assert_close(&given["erases_mean"], mean);
    assert_close(&given["erases_stdev"], (squares / units).sqrt());
    assert_eq!(given["histogram"], json!(histogram.collect::<Vec<_>>()));
    // Each unit is a cell of the map.
    let shares = case.played.valid.iter().map(|&pages| f64::from(pages) / UNIT_PAGES as f64);
    let erases = wear.iter().map(|&n| f64::from(n));
    let map = json!({
        "units_per_cell": 1,
        "erases": erases.collect::<Vec<_>>(),
        "valid": shares.collect::<Vec<_>>(),
    });
    assert_eq!(given["map"], map);
    let lasts = 700.0 / mean * written;
    let expected = json!({
        "endurance": 700,
        "host_bytes": lasts,
        "host_bytes_first_unit": 700.0 / f64::from(most) * written,
        "years": lasts / (written / case.seconds()) / 3600.0 / 24.0 / 365.25,
    });
    assert_table(&case.result["lifetime"], &expected);
}

pub(crate) fn timeline(case: &Case) {
    let timeline = &case.result["timeline"];
    let ends = (INTERVAL..).step_by(INTERVAL).take_while(|&end| end < case.requests.len());
    let ends: Vec<usize> = ends.chain([case.requests.len()]).collect();
    assert_eq!(case.requests.len() % INTERVAL, 5, "the last interval is a part of one");
    let lengths = timeline.as_object().unwrap().values().map(|column| column.as_array().unwrap());
    assert!(lengths.map(Vec::len).all(|length| length == ends.len()));
    let (mut begin, mut was) = (0, Counters::default());
    for (row, &end) in ends.iter().enumerate() {
        let at = |key: &str| &timeline[key][row];
        let now = &case.played.counters[end - 1];
        let programs =
            |cause: Cause| now.flash.programs[cause as usize] - was.flash.programs[cause as usize];
        let sum = |causes: &[Cause]| causes.iter().map(|&cause| programs(cause)).sum::<u64>();
        let optional = |key: &str, part: u64, whole: u64| match whole {
            0 => assert!(at(key).is_null()),
            _ => assert_close(at(key), part as f64 / whole as f64),
        };
        assert_eq!(at("host_pages"), now.host.write_pages);
        assert_eq!(at("host_bytes"), now.host.write_bytes);
        let ends_at = |end: usize| case.played.done[..end].iter().map(|done| done.done_ns).max();
        let done = ends_at(end).unwrap();
        assert_close(at("seconds"), done as f64 / 1e9);
        let first = case.played.done.iter().map(|done| done.arrival_ns).min().unwrap();
        let before = ends_at(begin).unwrap_or(first);
        let bytes = now.host.write_bytes - was.host.write_bytes;
        optional("write_mb_s", bytes * 1000, done - before);
        let all = now.flash.programs.iter().sum::<u64>() - was.flash.programs.iter().sum::<u64>();
        optional("write_amplification", all * PAGE, bytes);
        optional("page_write_amplification", all, now.host.write_pages - was.host.write_pages);
        let (hits, misses) = (now.map.hits - was.map.hits, now.map.misses - was.map.misses);
        optional("hit_ratio", hits, hits + misses);
        let map = [Cause::Map, Cause::GcMap, Cause::Remap, Cause::Journal];
        assert_eq!(at("gc_programs"), sum(&[Cause::Gc]));
        assert_eq!(at("map_programs"), sum(&map));
        assert_eq!(at("merge_programs"), sum(&[Cause::Merge]));
        assert_eq!(at("fold_programs"), sum(&[Cause::Fold]));
        let sorted = case.latencies(begin..end, &[Op::Read, Op::Write]);
        assert_close(at("mean_us"), sorted.iter().sum::<u64>() as f64 / sorted.len() as f64 / 1e3);
        for (key, fraction) in
            [("p50_us", 0.5), ("p99_us", 0.99), ("p999_us", 0.999), ("max_us", 1.0)]
        {
            assert_percentile(at(key), &sorted, fraction);
        }
        (begin, was) = (end, now.clone());
    }
    sums(case);
}

/// Checks the sums over the intervals.
pub(crate) fn sums(case: &Case) {
    let (timeline, programs) = (&case.result["timeline"], &case.result["flash"]["programs"]);
    let sum = |key: &str| {
        timeline[key].as_array().unwrap().iter().map(|count| count.as_u64().unwrap()).sum::<u64>()
    };
    assert_eq!(sum("gc_programs"), count(programs, &["gc"]));
    assert_eq!(sum("map_programs"), count(programs, &["map", "gc_map", "remap", "journal"]));
    assert_eq!(sum("merge_programs"), count(programs, &["merge"]));
    assert_eq!(timeline["host_pages"].as_array().unwrap().last().unwrap(), case.host.write_pages);
    assert_eq!(timeline["host_bytes"].as_array().unwrap().last().unwrap(), case.host.bytes[1]);
}

pub(crate) fn mapping(case: &Case) {
    let map = case.last.map;
    let expected = json!({
        "hit_ratio": map.hits as f64 / (map.hits + map.misses) as f64,
        "hits": map.hits,
        "misses": map.misses,
        "evictions": map.evictions,
        "dirty_evictions": map.dirty_evictions,
        "prefetched": 0,
        "prefetch_used": 0,
        "prefetch_unused": 0,
        "cache_bytes": case.played.cache_bytes,
    });
    assert_table(&case.result["mapping"], &expected);
    // A trim looks up an entry only if it is cached, or if it is the only uncached one of its
    // translation page.
    let of_trims = map.hits + map.misses - case.host.read_pages - case.host.write_pages;
    assert!((1..=case.host.trimmed_pages).contains(&of_trims), "{of_trims}");
    assert!(map.hits > 0 && 0 < map.dirty_evictions && map.dirty_evictions < map.evictions);
    assert!(map.evictions <= map.misses, "an entry makes room for one");
    assert_eq!(case.played.cache_bytes, 1024);
}

/// Checks that sections without meaning for a drive have no values.
pub(crate) fn absent(result: &Value, absent: &[&str]) {
    for section in absent {
        for (key, value) in result[section].as_object().unwrap() {
            let nothing = [json!(null), json!(0), json!(false), json!([])].contains(value)
                || value.as_object().is_some_and(|table| table.values().all(Value::is_null));
            assert!(nothing || key == "commands", "{section}.{key} = {value}");
        }
    }
}

pub(crate) fn engine(result: &Value) {
    let engine = &result["engine"];
    let seconds = number(&engine["wall_seconds"]);
    assert!(seconds > 0.0);
    let programs = total(&result["flash"]["programs"]) as f64;
    assert_close(&engine["host_requests_per_second"], REQUESTS as f64 / seconds);
    let pages = number(&result["workload"]["write_pages"]);
    assert_close(&engine["page_writes_per_second"], pages / seconds);
    assert_close(&engine["page_programs_per_second"], programs / seconds);
    assert_eq!(engine["version"], result["floatgate"]);
    if cfg!(target_os = "linux") {
        let bytes = engine["peak_rss_bytes"].as_u64().unwrap();
        assert!((1 << 20..1 << 40).contains(&bytes) && bytes.is_multiple_of(1024), "{bytes}");
    }
}

pub(crate) fn everywhere(case: &Case) {
    workload(case);
    flash(case);
    amplification(&case.result);
    latency(case);
    throughput(case);
    wear(case);
    timeline(case);
    engine(&case.result);
    absent(&case.result, &["host", "buffer", "faults"]);
}

/// Checks merges: they copy pages, and empty log blocks. Nothing is cleaned.
pub(crate) fn merges(case: &Case, shared: bool) {
    let merges = case.last.merges;
    let per_log = merges.shared_merges as f64 / merges.shared_logs as f64;
    let expected = json!({
        "switch": merges.switch,
        "partial": merges.partial,
        "full": merges.full,
        "dropped_logs": merges.dropped_logs,
        "shared_logs": merges.shared_logs,
        "merged_per_shared_log": if shared { json!(per_log) } else { Value::Null },
        "merged_per_shared_log_max": shared.then_some(merges.shared_most),
    });
    assert_table(&case.result["merges"], &expected);
    assert!(merges.full > 100);
    assert_eq!(merges.shared_logs > 0, shared);
    // A log block has pages of at least one logical block, and at most of one per page.
    assert!(!shared || (1.0 < per_log && per_log <= merges.shared_most as f64));
    assert!(merges.shared_most <= UNIT_PAGES && merges.shared_merges <= merges.full);
    absent(&case.result, &["cleaning"]);
}
