//! Flash pages larger than a map unit, and rows of flash pages that are programmed at once: counts
//! and times compared with hand calculations.

mod parity;
mod parts;
mod slc;

use floatgate_lab::config::Config;
use floatgate_lab::result::Facts;
use floatgate_lab::run::{Control, Options, RunError, run};
use floatgate_lab::workload::generator;
use serde_json::Value;

/// One die of two planes: 16 KiB pages of four map entries, three levels. A row is 24 map units, 96
/// KiB. The channel transfers 4 KiB in 4 us.
const TLC: [(&str, &str); 14] = [
    ("flash.page", "16KiB"),
    ("mapping.unit", "4KiB"),
    ("flash.program_pages", "3"),
    ("flash.pages_per_block", "24"),
    ("flash.planes", "2"),
    ("flash.superblock", "2"),
    ("flash.channels", "1"),
    ("flash.dies", "1"),
    ("flash.read", "50us"),
    ("flash.program", "1200us"),
    ("flash.erase", "0us"),
    ("flash.bus", "1024000000B/s"),
    ("queue.arrivals", "closed"),
    ("queue.depth", "1"),
];
const ROW: u64 = 24;

fn try_run(workload: &str, sets: &[(&str, &str)], verify: bool) -> Result<Value, String> {
    let sets: Vec<(String, String)> =
        TLC.iter().chain(sets).map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let config = Config::load(None, None, &sets).map_err(|error| error.to_string())?;
    let mut workload = generator(workload, 11).expect("a generator");
    let options = Options { span_bytes: workload.span_bytes(), seed: 5, verify, start_cache: None };
    match run(&config, &mut *workload, Facts::default(), options, &Control::default()) {
        Ok(result) => Ok(serde_json::to_value(&result).expect("a result can be printed")),
        Err(RunError::Config(error)) => Err(error.to_string()),
        Err(error) => unreachable!("{error:?}"),
    }
}

fn result(workload: &str, sets: &[(&str, &str)]) -> Value {
    try_run(workload, sets, true).unwrap_or_else(|error| panic!("{error}"))
}

fn number(result: &Value, path: &str) -> u64 {
    result.pointer(path).and_then(Value::as_u64).unwrap_or_else(|| panic!("{path} is a count"))
}

fn programs(result: &Value) -> u64 {
    let causes = result["flash"]["programs"].as_object().expect("programs by cause");
    causes.values().map(|count| count.as_u64().expect("a count")).sum()
}

#[test]
fn programs_are_rows_and_padding_is_for_flushes() {
    let workload = "uniform:span=8MiB,requests=20k,reads=0.2,trim=0.05";
    let flushed = format!("{workload},flush=0.02");
    for protected in ["true", "false"] {
        for (text, flushes) in [(workload, false), (&flushed, true)] {
            let sets =
                [("controller.power_protected", protected), ("capacity.spare_factor", "0.3")];
            let result = result(text, &sets);
            let rows = number(&result, "/flash/program_operations") * ROW;
            // The one stream may have a partial row at the start or at the end.
            let begun = programs(&result).abs_diff(rows);
            assert!(begun < ROW, "{begun} pages are in no row");
            let padded = number(&result, "/flash/programs/pad");
            assert_eq!(padded > 0, flushes && protected == "false", "{text}, {protected}");
            assert!(number(&result, "/cleaning/foreground") > 20, "it was cleaned");
            let (senses, reads) =
                (number(&result, "/flash/senses"), number(&result, "/flash/reads/gc"));
            assert!(senses < reads, "neighbouring pages are read at once: {senses} of {reads}");
        }
    }
}

/// The drive is written in order and read by whole flash pages. Each is sensed once and fully
/// transferred.
#[test]
fn a_flash_page_is_read_once_for_all_that_a_command_wants_of_it() {
    let sets = [("start.fill", "sequential")];
    for (bytes, pages) in [(4096, 1), (8192, 2), (16_384, 4), (32_768, 8)] {
        let text = format!("sequential:span=3MiB,size={bytes}B,reads=1,requests=90");
        let result = result(&text, &sets);
        let senses = number(&result, "/flash/senses");
        assert_eq!(number(&result, "/flash/reads/host"), 90 * pages);
        assert_eq!(senses, 90 * pages.div_ceil(4), "{bytes}");
        // Flash pages on both planes are read one after the other: a die does one thing at a time.
        let (whole, left) = (pages / 4, pages % 4);
        let us = whole * (50 + 16) + if left > 0 { 50 + 4 * left } else { 0 };
        assert_eq!(result["latency"]["read"]["mean_us"].as_f64(), Some(us as f64), "{bytes}");
    }
}

/// Writes are acknowledged at once until the memory is full, and then at the rate of the flash: 24
/// pages in the time of 6 transfers and a program.
#[test]
fn a_write_waits_for_memory_and_nothing_else() {
    let sets = [("controller.write_memory", "384KiB")];
    let few = result("sequential:span=768KiB,size=4KiB,requests=96", &sets);
    assert_eq!(few["latency"]["write"]["max_us"].as_f64(), Some(0.0));
    let many = result("sequential:span=48MiB,size=4KiB,requests=12000", &sets);
    let rows = 12_000 / ROW;
    let (row_us, in_memory) = (6.0 * 16.0 + 1200.0, 4.0);
    let us = many["throughput"]["device_seconds"].as_f64().expect("a time") * 1e6;
    let expected = (rows as f64) * row_us;
    assert!((us - expected).abs() <= in_memory * row_us, "{us} us, expected {expected}");
    assert!(many["latency"]["blame_us"]["buffer"].as_f64().expect("a part") > 0.0);
}

/// A page in the controller's memory is read from there, without delay.
#[test]
fn a_page_that_is_not_programmed_is_read_from_memory() {
    let text = "hotcold:span=6MiB,r=0.5,f=0.002,reads=0.5,requests=8k";
    let result = result(text, &[("start.fill", "sequential"), ("capacity.spare_factor", "0.3")]);
    let from_memory = number(&result, "/flash/memory_reads");
    let reads = number(&result, "/flash/reads/host");
    assert_eq!(from_memory + reads, number(&result, "/workload/read_pages"));
    assert!(from_memory > 500, "{from_memory} of {reads}");
    assert_eq!(result["latency"]["read"]["min_us"].as_f64().unwrap_or(0.0), 0.0);
}

/// A drive has the same counts with and without simulated time.
#[test]
fn counts_do_not_depend_on_time() {
    let text = "uniform:span=8MiB,requests=20k,reads=0.2,flush=0.01";
    let [timed, counted] = ["scheduled", "none"].map(|timing| {
        let result = result(text, &[("timing", timing), ("capacity.spare_factor", "0.3")]);
        (result["flash"]["programs"].clone(), result["flash"]["erases"].clone())
    });
    assert_eq!(timed, counted);
}

/// Map units larger than a flash page: a row holds three units of 64 KiB. A write of 4 KiB reads
/// the rest of its unit.
#[test]
fn a_unit_may_be_larger_than_a_flash_page() {
    let sets = [
        ("flash.planes", "4"),
        ("flash.superblock", "4"),
        ("mapping.unit", "64KiB"),
        ("capacity.spare_factor", "0.3"),
    ];
    let text = "uniform:span=32MiB,size=4KiB,requests=4k";
    let result = result(text, &[&sets[..], &[("start.fill", "sequential")]].concat());
    assert_eq!(number(&result, "/workload/partial_page_reads"), 4000, "each write covers a part");
    assert_eq!(number(&result, "/flash/programs/host"), 4000);
    let rows = number(&result, "/flash/program_operations");
    assert!(programs(&result).abs_diff(rows * 3) < 6);
}

#[test]
fn impossible_program_units_are_refused() {
    let refused = |sets: &[(&str, &str)], text: &str| {
        let error = try_run("uniform:span=8MiB,requests=1", sets, false).expect_err(text);
        assert!(error.contains(text), "{error}");
    };
    refused(&[("mapping.unit", "12KiB")], "mapping.unit");
    refused(&[("mapping.unit", "64KiB")], "98304 bytes that a die programs at once");
    refused(&[("flash.pages_per_block", "25")], "flash.pages_per_block");
    refused(&[("flash.superblock", "1")], "flash.superblock");
    refused(&[("flash.program", r#"["1us","2us"]"#)], "flash.program");
    refused(&[("ftl.scheme", "bast")], "ftl.scheme");
    refused(&[("host.scheme", "shrd")], "controller.power_protected");
}
