//! The result of a run: every number, and every doubt about it.

mod wear;

use floatgate_ftl::device::{Counters, Device};
use floatgate_ftl::nand::{Cause, Health, Part};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::config::Config;
use crate::doubts::{notes, warnings};
use crate::drive::Plan;
use crate::metrics::{Metrics, Timeline, programs, ratio};

/// What is known of the workload beforehand.
#[derive(Clone, Debug, Default)]
pub struct WorkloadFacts {
    /// Name of the trace, or the generator's text.
    pub name: String,
    /// Digest of the requests.
    pub digest: String,
}

/// How the start state came about.
#[derive(Clone, Copy, Debug, Default)]
pub struct Started {
    /// Volumes (drive capacities) of random page writes.
    pub volumes: f64,
    /// For "steady": whether write amplification settled.
    pub settled: Option<bool>,
    /// Write amplification at its end: of the last volume, or of all random writes.
    pub write_amplification: Option<f64>,
}

/// A drive that has run, and what it was asked to do.
pub struct Subject<'a> {
    /// Its config.
    pub config: &'a Config,
    /// Its size.
    pub plan: &'a Plan,
    /// The drive.
    pub device: &'a dyn Device,
    /// The workload.
    pub facts: WorkloadFacts,
    /// The start state.
    pub started: Started,
}

/// The document that `--json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct RunResult {
    floatgate: &'static str,
    config: Value,
    seed: u64,
    workload: Value,
    drive: Value,
    start: Value,
    write_amplification: Option<f64>,
    data_write_amplification: Option<f64>,
    flash: Value,
    mapping: Value,
    merges: Value,
    buffer: Value,
    placement: Value,
    host: Value,
    latency: Value,
    throughput: Value,
    cleaning: Value,
    wear: Value,
    lifetime: Value,
    timeline: Timeline,
    warnings: Vec<String>,
    notes: Vec<String>,
    faults: Value,
    engine: Value,
}

impl RunResult {
    /// Collects the numbers, and asserts the conservation laws on them.
    pub fn new(subject: &Subject<'_>, metrics: &Metrics, seed: u64, wall_seconds: f64) -> Self {
        let counters = subject.device.counters();
        let wear = subject.device.wear();
        assert_conserved(&counters, &wear, subject.plan);
        let host_pages = counters.host.write_pages;
        let map_programs = counters.flash.programs[Cause::Map as usize]
            + counters.flash.programs[Cause::GcMap as usize]
            + counters.flash.programs[Cause::Remap as usize]
            + counters.flash.programs[Cause::Journal as usize];
        Self {
            floatgate: env!("CARGO_PKG_VERSION"),
            config: json!(subject.config),
            seed,
            workload: workload(subject, metrics, &counters),
            drive: drive(subject.plan),
            start: json!({
                "fill": json!(subject.config.start.fill),
                "volumes": subject.started.volumes,
                "settled": subject.started.settled,
                "write_amplification": subject.started.write_amplification,
            }),
            write_amplification: ratio(programs(&counters), host_pages),
            data_write_amplification: ratio(programs(&counters) - map_programs, host_pages),
            flash: flash(&counters),
            mapping: mapping(&counters),
            merges: merges(&counters),
            buffer: buffer(&counters),
            placement: placement(&counters),
            host: host(&counters),
            latency: latency(metrics),
            throughput: throughput(metrics, &counters, subject.plan),
            cleaning: cleaning(&counters, subject.plan.geometry.pages_per_unit()),
            wear: wear::summary(subject, &wear),
            lifetime: wear::lifetime(subject, metrics, &wear),
            timeline: metrics.timeline.clone(),
            warnings: warnings(subject, metrics, &counters),
            notes: notes(subject, metrics, &counters),
            faults: faults(counters.health.unwrap_or_default(), &counters),
            engine: engine(&counters, wall_seconds),
        }
    }
}

/// The laws that hold in every run, whatever the policies do.
fn assert_conserved(counters: &Counters, wear: &[u32], plan: &Plan) {
    let flash = &counters.flash;
    let host = counters.host;
    let health = counters.health.unwrap_or_default();
    let mut writes = host.write_pages - host.unwritten_pages;
    let mut reads = host.read_pages - host.empty_reads;
    if let Some(buffer) = &counters.buffer {
        reads = reads - buffer.read_hits + buffer.padded + buffer.unpadded;
        // With write-through every page goes to the flash; else what leaves the buffer does.
        if !buffer.writes_through {
            assert_eq!(buffer.write_hits + buffer.write_misses, writes);
            writes = buffer.flushed + buffer.padded;
        }
    }
    assert_eq!(flash.programs[Cause::Host as usize], writes);
    assert_eq!(flash.reads[Cause::Host as usize], reads + host.merge_reads);
    for cause in [Cause::Gc as usize, Cause::Merge as usize] {
        assert_eq!(flash.reads[cause], flash.programs[cause]);
    }
    // The journal has units of its own.
    let erases = flash.erases.iter().sum::<u64>() - flash.erases[Cause::Journal as usize];
    assert_eq!(flash.reads[Cause::Retire as usize], health.moved);
    assert_eq!(flash.programs[Cause::Retire as usize], health.moved + health.program_failures);
    assert_eq!(wear.iter().map(|&n| u64::from(n)).sum::<u64>(), erases);
    let spares = plan.faults.map_or(0, |faults| faults.spares * plan.medium.pages_per_unit());
    let capacity = u64::from(plan.medium.physical_pages() + spares);
    let erased = flash.erases.iter().sum::<u64>() * u64::from(plan.geometry.pages_per_unit());
    assert!(programs(counters) <= erased + capacity, "more programs than erased pages");
    let shape = plan.geometry.shape();
    let dies = u64::from(shape.channels) * u64::from(shape.dies);
    assert!(counters.occupation.busy_ns <= counters.occupation.end_ns * dies);
}

fn workload(subject: &Subject<'_>, metrics: &Metrics, counters: &Counters) -> Value {
    let [reads, writes, trims, flushes] = counters.host.requests;
    json!({
        "name": subject.facts.name,
        "hash": subject.facts.digest,
        "requests": reads + writes + trims + flushes,
        "reads": reads,
        "writes": writes,
        "trims": trims,
        "flushes": flushes,
        "read_pages": counters.host.read_pages,
        "write_pages": counters.host.write_pages,
        "volumes_written": volumes_written(subject.plan, counters),
        "trimmed_pages": counters.host.trimmed_pages,
        "unwritten_pages_read": counters.host.empty_reads,
        "partial_page_reads": counters.host.merge_reads,
        "footprint_pages": metrics.footprint_pages(),
        "skipped": 0,
        "duration_s": metrics.interval.map(|(begin, end)| (end - begin) as f64 / 1e9),
    })
}

/// Pages that the host has written per page that it can address.
pub fn volumes_written(plan: &Plan, counters: &Counters) -> f64 {
    counters.host.write_pages as f64 / f64::from(plan.user_pages())
}

fn drive(plan: &Plan) -> Value {
    let geometry = &plan.geometry;
    let shape = geometry.shape();
    let spare = plan.spare_factor();
    json!({
        "units": plan.units_in_service,
        "reserve_units": geometry.units() - plan.units_in_service,
        "pages_per_unit": geometry.pages_per_unit(),
        "page_bytes": shape.page_bytes,
        "logical_pages": plan.user_pages(),
        "log_pages": plan.log_pages,
        "translation_pages": plan.translation_pages,
        "physical_bytes": u64::from(geometry.physical_pages()) * u64::from(shape.page_bytes),
        "logical_bytes": plan.logical_bytes(),
        "spare_factor": spare,
        "over_provisioning": spare / (1.0 - spare),
        "low_water": plan.cleaning.low_water,
        "high_water": plan.cleaning.high_water,
        "channels": shape.channels,
        "dies": shape.dies,
        "planes": shape.planes,
    })
}

fn by_cause(counts: [u64; 9]) -> Value {
    let pairs = Cause::ALL.iter().map(|&(cause, name)| (name, counts[cause as usize]));
    Value::Object(pairs.map(|(name, count)| (name.to_owned(), json!(count))).collect::<Map<_, _>>())
}

fn flash(counters: &Counters) -> Value {
    json!({
        "reads": by_cause(counters.flash.reads),
        "programs": by_cause(counters.flash.programs),
        "erases": by_cause(counters.flash.erases),
        "emergency_cleans": counters.cleans.emergency,
    })
}

fn merges(counters: &Counters) -> Value {
    let merges = counters.merges;
    json!({
        "switch": merges.switch,
        "partial": merges.partial,
        "full": merges.full,
        "dropped_logs": merges.dropped_logs,
        "shared_logs": merges.shared_logs,
        "merged_per_shared_log": ratio(merges.shared_merges, merges.shared_logs),
        "merged_per_shared_log_max": (merges.shared_logs > 0).then_some(merges.shared_most),
    })
}

fn buffer(counters: &Counters) -> Value {
    let counts = counters.buffer.unwrap_or_default();
    let hits = counts.read_hits + counts.write_hits;
    let misses = counts.read_misses + counts.write_misses;
    json!({
        "hit_ratio": ratio(hits, hits + misses),
        "hits": hits,
        "misses": misses,
        "write_hits": counts.write_hits,
        "read_hits": counts.read_hits,
        "flushed_pages": counts.flushed,
        "padded_pages": counts.padded,
        "trimmed_pages": counts.trimmed,
        "held_pages": counts.held,
        "memory_bytes": counts.memory_bytes,
    })
}

fn faults(health: Health, counters: &Counters) -> Value {
    json!({
        "factory_bad_units": health.factory_bad,
        "program_failures": health.program_failures,
        "erase_failures": health.erase_failures,
        "worn_out_units": health.worn_out,
        "retired_units": health.retired,
        "moved_pages": health.moved,
        "unreadable_pages": health.read_errors,
        "corrupt_pages": health.corrupt_pages,
        "failed_page_reads": counters.host.failed_pages,
        "unwritten_pages": counters.host.unwritten_pages,
        "unpadded_pages": counters.buffer.unwrap_or_default().unpadded,
        "spare_units_left": health.spares_left,
        "read_only": health.read_only,
        "refused_requests": counters.host.refused,
    })
}

/// Without a host layer every request is a command.
fn host(counters: &Counters) -> Value {
    let layer = counters.layer.unwrap_or_default();
    let shrd = layer.shrd;
    let requests = counters.host.requests.iter().sum::<u64>();
    json!({
        "commands": if counters.layer.is_some() { shrd.commands } else { requests },
        "remaps": shrd.remaps,
        "remapped_pages": shrd.remapped_pages,
        "redirected_reads": shrd.redirected_reads,
        "windows": shrd.windows,
        "twrites": shrd.twrites,
        "packed_requests": shrd.packed,
        "packed_pages": shrd.packed_pages,
        "dropped_pages": shrd.dropped,
        "log_full": shrd.log_full,
        "log_pages_used": layer.slots_used,
        "memory_bytes": layer.memory_bytes,
    })
}

fn mapping(counters: &Counters) -> Value {
    let map = counters.map;
    json!({
        "hit_ratio": ratio(map.hits, map.hits + map.misses),
        "hits": map.hits,
        "misses": map.misses,
        "evictions": map.evictions,
        "dirty_evictions": map.dirty_evictions,
        "prefetched": map.prefetched,
        "prefetch_used": map.prefetch_used,
        "prefetch_unused": map.prefetch_unused,
        "cache_bytes": counters.cache_bytes,
    })
}

fn placement(counters: &Counters) -> Value {
    let rows = counters
        .streams
        .iter()
        .map(|s| json!({ "host_pages": s.host_pages, "gc_pages": s.gc_pages }));
    json!({
        "streams": rows.collect::<Vec<_>>(),
        "memory_bytes": counters.placement_bytes,
        "extents": counters.extents,
        "sample_reads": counters.sample_reads,
    })
}

fn cleaning(counters: &Counters, pages_per_unit: u32) -> Value {
    let cleans = counters.cleans;
    let erases = counters.flash.erases[Cause::Gc as usize];
    let copies = counters.flash.programs[Cause::Gc as usize];
    json!({
        "foreground": cleans.foreground,
        "emergency": cleans.emergency,
        "incremental": cleans.incremental,
        "idle": cleans.idle,
        "wear": cleans.wear,
        "victim_valid_mean": ratio(copies, erases * u64::from(pages_per_unit)),
    })
}

fn latency(metrics: &Metrics) -> Value {
    let requests = metrics.all.summary();
    let count = metrics.all.count();
    let mean = |ns: u128| (count > 0).then(|| ns as f64 / count as f64 / 1000.0);
    let blame = Part::NAMES.iter().zip(metrics.blame_ns);
    let blame = blame.map(|(&name, ns)| (name.to_owned(), json!(mean(ns))));
    json!({
        "all": requests,
        "read": metrics.read.summary(),
        "write": metrics.write.summary(),
        "blame_us": Value::Object(blame.collect::<Map<_, _>>()),
    })
}

fn throughput(metrics: &Metrics, counters: &Counters, plan: &Plan) -> Value {
    let (begin, end) = metrics.interval.unwrap_or_default();
    let seconds = (end - begin) as f64 / 1e9;
    let per_second = |n: f64| (seconds > 0.0).then(|| n / seconds);
    let shape = plan.geometry.shape();
    let dies = f64::from(shape.channels * shape.dies);
    json!({
        "iops": per_second(metrics.all.count() as f64),
        "read_mb_s": per_second(metrics.read_bytes as f64 / 1e6),
        "write_mb_s": per_second(metrics.write_bytes as f64 / 1e6),
        "device_seconds": seconds,
        "utilization": per_second(counters.occupation.busy_ns as f64 / 1e9 / dies),
    })
}

fn engine(counters: &Counters, wall_seconds: f64) -> Value {
    let per_second = |n: u64| n as f64 / wall_seconds.max(1e-9);
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "wall_seconds": wall_seconds,
        "host_requests_per_second": per_second(counters.host.requests.iter().sum()),
        "page_writes_per_second": per_second(counters.host.write_pages),
        "page_programs_per_second": per_second(programs(counters)),
        "peak_rss_bytes": peak_rss_bytes(),
    })
}

/// The process's largest resident set so far; absent where the system does not say.
fn peak_rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

#[cfg(test)]
mod tests;
