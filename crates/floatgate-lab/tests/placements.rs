//! Placements in whole, verified runs.

use floatgate_ftl::parameters::names;
use floatgate_ftl::placement::PLACEMENTS;
use floatgate_lab::config::Config;
use floatgate_lab::result::Facts;
use floatgate_lab::run::{Control, Options, RunError, run};
use floatgate_lab::workload::{Recorded, Workload, generator};
use serde_json::Value;

/// Returns the result of a small drive with these settings over a preset's settings.
fn result(workload: &mut dyn Workload, preset: Option<&str>, sets: &[(&str, &str)]) -> Value {
    let small = [("flash.page", "512B"), ("flash.pages_per_block", "16")];
    let sets = [&small, sets].concat();
    let sets: Vec<_> = sets.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let config = Config::load(preset, None, &sets).expect("these settings are right");
    let options =
        Options { span_bytes: workload.span_bytes(), seed: 5, verify: true, start_cache: None };
    let facts = Facts::default();
    match run(&config, workload, facts, options, &Control::default()) {
        Ok(result) => serde_json::to_value(&result).expect("a result can be printed"),
        Err(RunError::Config(error)) => panic!("{error}"),
        Err(error) => panic!("{error:?}"),
    }
}

/// Returns the pages that the flash programmed, for any cause.
fn programs(result: &Value) -> u64 {
    let causes = result["flash"]["programs"].as_object().expect("counts by cause");
    causes.values().filter_map(Value::as_u64).sum()
}

/// Returns requests that start and end anywhere, with trims, five times over.
fn recording() -> Recorded {
    let mut requests = Vec::new();
    let spec = "zipf:span=2MiB,requests=8k,size=1KiB,reads=0.1,trim=0.02,flush=0.01,\
                aligned=false,interarrival=100us";
    generator(spec, 9).expect(spec).next_batch(&mut requests, 8000).expect(spec);
    let mut recorded = Recorded::new("trims", 5, 1.0).expect("five repeats");
    recorded.push(&requests).expect("requests in order");
    recorded
}

#[test]
fn with_future_writes_the_oracle_programs_fewest_pages() {
    for victim in ["greedy", "cost_benefit"] {
        for fill in ["none", "sequential", "random"] {
            let with = |placement: &str| {
                let sets = [
                    ("placement.scheme", placement),
                    ("cleaning.victim", victim),
                    ("start.fill", fill),
                    ("flash.blocks", "384"),
                    ("capacity.spare_factor", "0.1"),
                ];
                programs(&result(&mut recording(), None, &sets))
            };
            let bound = with("oracle");
            for placement in names(PLACEMENTS) {
                let theirs = with(placement);
                assert!(bound <= theirs, "{victim} {fill} {placement}: {bound} {theirs}");
            }
        }
    }
}

#[test]
fn asa_as_a_whole() {
    let with = |sets: &[(&str, &str)]| {
        let spec = "hotcold:span=4MiB,r=0.9,f=0.1,requests=80k,size=512,seed=3";
        let mut workload = generator(spec, 1).expect(spec);
        let small = [("mapping.cache", "4KiB"), ("capacity.spare_factor", "0.1")];
        result(&mut *workload, Some("asa14"), &[&small, sets].concat())
    };
    let count = |result: &Value, key: &str| result["placement"][key].as_u64().expect("a count");
    let (asa, sampled) = (with(&[]), with(&[("asa.sample_source", "random_lpn")]));
    assert_eq!(asa["placement"]["streams"].as_array().map(Vec::len), Some(3));
    // Samples and criteria. The ages are in the map entries.
    assert_eq!(count(&asa, "memory_bytes"), 4008);
    let logical = asa["drive"]["logical_pages"].as_u64().expect("a count");
    assert_eq!(asa["drive"]["translation_pages"], logical.div_ceil(64));
    assert_eq!(count(&asa, "sample_reads"), 0);
    assert!(count(&sampled, "sample_reads") > 1000);
    let dftl = with(&[
        ("mapping.scheme", "dftl"),
        ("mapping.cache", "2KiB"),
        ("mapping.entry_bytes", "8"),
        ("placement.scheme", "single"),
    ]);
    // With the same number of entries in the cache and on flash, only the separation differs.
    assert_eq!(asa["mapping"]["misses"], dftl["mapping"]["misses"]);
    let moved = |result: &Value| result["flash"]["programs"]["gc"].as_u64().expect("a count");
    assert!(moved(&asa) < moved(&dftl), "{} of {}", moved(&asa), moved(&dftl));
}

#[test]
fn host_writes_of_hot_pages_are_counted_by_stream() {
    let with = |placement: &str, hot_pages: Option<&str>| {
        let spec = "hotcold:span=4MiB,r=0.9,f=0.1,requests=20k,size=512,seed=3";
        let mut workload = generator(spec, 1).expect(spec);
        let hot = hot_pages.map(|pages| ("perfect.hot_pages", pages));
        let sets = [("placement.scheme", placement), ("capacity.spare_factor", "0.1")];
        let result = result(&mut *workload, None, &sets.into_iter().chain(hot).collect::<Vec<_>>());
        let streams = result["placement"]["streams"].as_array().expect("streams").clone();
        let count = |stream: &Value, key: &str| stream[key].as_u64().expect("a count");
        streams.iter().map(|s| (count(s, "host_pages"), count(s, "hot_pages"))).collect::<Vec<_>>()
    };
    let perfect = with("perfect", Some("819"));
    let [(cold, 0), (hot, counted)] = perfect[..] else { panic!("two streams: {perfect:?}") };
    assert_eq!((cold + hot, counted), (20_000, hot));
    let asa = with("asa", Some("819"));
    assert_eq!(asa.iter().map(|&(_, hot)| hot).sum::<u64>(), hot, "the same writes: {asa:?}");
    assert!(asa[2].1 > 0 && asa[2].1 < asa[2].0, "some labels are wrong: {asa:?}");
    assert!(with("asa", None).iter().all(|&(_, hot)| hot == 0), "nothing is known");
}
