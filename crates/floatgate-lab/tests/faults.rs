//! Flash that fails: reads never return wrong data, and worn-out drives are read-only with all data
//! readable.
//!
//! Every run is verified: each read is compared with the host's last write, unless it fails.

use floatgate_ftl::buffer::BUFFERS;
use floatgate_ftl::mapping::MAPPINGS;
use floatgate_ftl::parameters::{Row, names};
use floatgate_ftl::placement::PLACEMENTS;
use floatgate_lab::config::Config;
use floatgate_lab::result::Facts;
use floatgate_lab::run::{Control, Options, run};
use floatgate_lab::workload::generator;
use serde_json::{Value, json};

const TINY: [(&str, &str); 5] = [
    ("flash.page", "1KiB"),
    ("flash.pages_per_block", "8"),
    ("flash.channels", "1"),
    ("capacity.spare_factor", "0.2"),
    ("mapping.cache", "2KiB"),
];

fn config(sets: &[(&str, &str)]) -> Config {
    let own = |&(key, value): &(&str, &str)| (key.to_owned(), value.to_owned());
    let pairs: Vec<_> = TINY.iter().chain(sets).map(own).collect();
    Config::load(None, None, &pairs).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the faults in the result, and the rest of the result.
fn play(config: &Config, text: &str, seed: u64) -> (Value, Value) {
    let mut workload = generator(text, seed).unwrap_or_else(|error| panic!("{error}"));
    let (span_bytes, facts) = (workload.span_bytes(), Facts::default());
    let options = Options { span_bytes, seed, verify: true, start_cache: None };
    let result = run(config, workload.as_mut(), facts, options, &Control::default());
    let document = json!(result.unwrap_or_else(|error| panic!("{error:?}")));
    (document["faults"].clone(), document)
}

const EVERYTHING: [(&str, &str); 6] = [
    ("faults.factory_bad", "0.02"),
    ("faults.program", "0.0004"),
    ("faults.erase", "0.002"),
    ("faults.read", "0.001"),
    ("faults.corrupt", "0.001"),
    ("faults.spare_units", "60"),
];

const OPERATIONS: &str =
    "uniform:span=128KiB,size=2KiB,aligned=false,reads=0.3,trim=0.05,flush=0.02,requests=10000";

fn number(faults: &Value, key: &str) -> u64 {
    faults[key].as_u64().unwrap_or_else(|| panic!("{key} in {faults}"))
}

type Sets = Vec<(&'static str, &'static str)>;

/// Returns a policy of a table that does not need the future.
fn row(table: &[Row], seed: u64) -> &'static str {
    let names: Vec<_> = names(table).filter(|name| !["belady", "oracle"].contains(name)).collect();
    names[seed as usize % names.len()]
}

fn engine(seed: u64) -> Sets {
    match seed % 4 {
        0 => vec![("ftl.scheme", "bast"), ("bast.log_blocks", "4")],
        1 => vec![("ftl.scheme", "fast"), ("fast.log_blocks", "4")],
        _ => vec![
            ("mapping.scheme", row(MAPPINGS, seed)),
            ("placement.scheme", row(PLACEMENTS, seed)),
        ],
    }
}

/// Returns the layer in front of the engine: none, a buffer, or SHRD if the engine has a page map.
fn front(seed: u64) -> Sets {
    let buffer = ("buffer.scheme", row(BUFFERS, seed / 4));
    let log = [("host.log", "40KiB"), ("host.threshold", "4KiB"), ("shrd.twrite_entries", "6")];
    match (seed / 4 % 4, seed % 4) {
        (0, _) => vec![],
        (1, _) => vec![buffer, ("buffer.capacity", "16KiB")],
        (3, 2..) => [&[("host.scheme", "shrd"), ("shrd.contiguous", "4")][..], &log].concat(),
        _ => vec![buffer, ("buffer.capacity", "16KiB"), ("buffer.acknowledge", "write_through")],
    }
}

/// Returns the layout of the flash: a block, two planes of two dies, or rows with parity and SLC
/// units. Log blocks are programmed page by page.
fn layout(seed: u64) -> Sets {
    let planes = [
        ("flash.channels", "2"),
        ("flash.dies", "2"),
        ("flash.planes", "2"),
        ("flash.superblock", "8"),
        ("flash.pages_per_block", "4"),
    ];
    let rows = [
        ("flash.page", "2KiB"),
        ("flash.program_pages", "2"),
        ("flash.superblock", "4"),
        ("mapping.unit", "1KiB"),
        ("controller.write_memory", "64KiB"),
    ];
    let protected = ["false", "true"][seed as usize / 2 % 2];
    let protected = [("controller.power_protected", protected)];
    let parity = [("flash.superblock", "8"), ("flash.parity", "2")];
    let cache = [("slc.static", "32KiB"), ("slc.dynamic", "64KiB")];
    let rows = [&planes[..], &rows, &protected].concat();
    match (seed / 16 % 5, seed % 4) {
        (0, _) => vec![],
        (1, _) | (_, ..2) => planes.to_vec(),
        (2, _) => rows,
        // An SLC cache cannot be combined with a log of the host.
        (3, _) => [&rows[..], &parity].concat(),
        _ if seed / 4 % 4 == 3 => [&rows[..], &parity].concat(),
        _ => [&rows[..], &parity, &cache].concat(),
    }
}

/// Runs random operations on flash where every kind of fault occurs. The engines take turns.
fn many_seeds(seeds: std::ops::Range<u64>) {
    let mut sums = [0u64; 7];
    let keys = [
        "program_failures",
        "erase_failures",
        "factory_bad_units",
        "failed_page_reads",
        "unwritten_pages",
        "unreadable_pages",
        "corrupt_pages",
    ];
    for seed in seeds {
        let sets = [&EVERYTHING[..], &engine(seed), &front(seed), &layout(seed)].concat();
        let (faults, _) = play(&config(&sets), OPERATIONS, seed);
        for (sum, key) in sums.iter_mut().zip(keys) {
            *sum += number(&faults, key);
        }
    }
    println!("{keys:?} {sums:?}");
    assert!(sums.iter().all(|&sum| sum > 0), "{keys:?} {sums:?}");
}

#[test]
fn no_wrong_data_on_flash_that_breaks() {
    many_seeds(0..160);
}

#[test]
#[ignore = "long: make test-long"]
fn no_wrong_data_in_a_thousand_seeds() {
    many_seeds(1000..2000);
}

#[test]
fn a_worn_drive_is_read_only_and_all_its_data_are_there() {
    for more in [
        vec![("mapping.scheme", "dftl")],
        vec![("ftl.scheme", "bast")],
        vec![("ftl.scheme", "fast")],
        [("buffer.scheme", "ncq_lru"), ("buffer.capacity", "16KiB")].to_vec(),
        front(15),
    ] {
        let worn =
            [("faults.wear_out", "true"), ("flash.endurance", "30"), ("faults.spare_units", "6")];
        let sets = [&worn[..], &more].concat();
        // Half of the requests are reads, and each is compared with the written data.
        let text = "uniform:span=128KiB,size=2KiB,reads=0.5,requests=40000";
        let (faults, document) = play(&config(&sets), text, 3);
        assert_eq!(faults["read_only"], true, "{more:?}: {faults}");
        assert!(number(&faults, "refused_requests") > 1000, "{faults}");
        assert_eq!(number(&faults, "failed_page_reads"), 0);
        assert!(number(&faults, "worn_out_units") >= 4);
        let warnings = document["warnings"].to_string();
        assert!(warnings.contains("became read-only"), "{warnings}");
    }
}

#[test]
fn pages_of_failed_units_are_moved_and_counted() {
    let broken = config(&[("faults.program", "0.001"), ("faults.spare_units", "1000")]);
    let text = "uniform:span=128KiB,size=1KiB,requests=20000";
    let (faults, document) = play(&broken, text, 5);
    let programs = &document["flash"]["programs"];
    let failures = number(&faults, "program_failures");
    // One thousandth of all programs fails, within four standard deviations.
    let all = ["host", "gc", "map", "gc_map"].map(|cause| programs[cause].as_u64().unwrap_or(0));
    let expected = all.iter().sum::<u64>() as f64 / 1000.0;
    assert!((failures as f64 - expected).abs() < 4.0 * expected.sqrt(), "{failures}, {expected}");
    assert_eq!(number(&faults, "retired_units"), failures);
    let moved = number(&faults, "moved_pages");
    assert_eq!(number(&faults, "rewritten_pages"), failures);
    assert_eq!(programs["retire"].as_u64(), Some(moved + failures));
    assert_eq!(document["flash"]["reads"]["retire"].as_u64(), Some(moved));
    // Each page of a unit is equally likely to fail, so on average half a unit is moved.
    assert!((moved as f64 / failures as f64 - 3.5).abs() < 1.5, "{moved} of {failures}");
}

#[test]
fn without_faults_the_result_has_no_fault_counts() {
    let (faults, _) = play(&config(&[]), OPERATIONS, 1);
    let zero = |value: &Value| value.as_u64() == Some(0) || value == &Value::Bool(false);
    assert!(faults.as_object().is_some_and(|all| all.values().all(zero)), "{faults}");
}

#[test]
fn faults_refuse_options_that_they_exclude() {
    for (key, value, expected) in [
        ("buffer.scheme", "belady", "buffer.scheme = \"belady\": expected another"),
        ("mapping.scheme", "belady", "mapping.scheme = \"belady\": expected another"),
        ("faults.read", "0.7", "faults.read = 0.7: expected"),
        ("faults.spare_units", "2", "faults.spare_units = 2: expected"),
    ] {
        let pairs = [("faults.program", "0.1"), (key, value)];
        let pairs = pairs.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let error = Config::load(None, None, &pairs).expect_err("it is refused").to_string();
        assert!(error.contains(expected), "{error}");
    }
}
