//! Reads of part of a map unit: the flash reads the whole unit, and the channel transfers only the
//! requested part, in sectors of 4 KiB.

use super::*;

/// Checks that every request takes `us` microseconds and reads `pages` pages, on a drive that was
/// filled in order.
#[track_caller]
fn takes(text: &str, sets: &[(&str, &str)], us: u64, pages: u64) {
    let result = result(text, &[sets, &[("start.fill", "sequential")]].concat());
    let kind = if text.contains("reads=1") { "read" } else { "write" };
    let time = |key: &str| result["latency"][kind][key].as_f64().expect("a time");
    assert_eq!(time("mean_us"), us as f64, "{text}");
    assert!(time("max_us") < us as f64 * 1.001, "{text}: it has three digits");
    let requests: u64 = text.rsplit('=').next().and_then(|n| n.parse().ok()).expect("at the end");
    assert_eq!(number(&result, "/flash/reads/host"), pages * requests, "{text}");
    assert_eq!(number(&result, "/flash/senses"), pages * requests, "{text}");
}

const LARGE_UNITS: [(&str, &str); 3] =
    [("flash.planes", "4"), ("flash.superblock", "4"), ("mapping.unit", "64KiB")];

/// Map units of 64 KiB, on four planes: 50 us of cells, and 4 us of channel for each 4 KiB.
#[test]
fn a_large_unit_transfers_only_requested_sectors() {
    for (size, sectors) in
        [("512B", 1), ("4KiB", 1), ("8KiB", 2), ("16KiB", 4), ("32KiB", 8), ("64KiB", 16)]
    {
        let text = format!("uniform:span=6MiB,size={size},reads=1,requests=100");
        takes(&text, &LARGE_UNITS, 50 + 4 * sectors, 1);
    }
    // One and a half units, in either order, on one die.
    let text = "sequential:span=6MiB,size=96KiB,reads=1,requests=60";
    takes(text, &LARGE_UNITS, 50 + 64 + 50 + 32, 2);
}

/// Drives with pages that are programmed one by one.
const LARGE_PAGES: [(&str, &str); 5] = [
    ("flash.program_pages", "1"),
    ("mapping.unit", "16KiB"),
    ("flash.planes", "1"),
    ("flash.superblock", "1"),
    ("capacity.spare_factor", "0.3"),
];

#[test]
fn a_large_page_transfers_only_requested_sectors() {
    for (size, sectors) in [("1KiB", 1), ("4KiB", 1), ("8KiB", 2), ("16KiB", 4)] {
        let text = format!("uniform:span=6MiB,size={size},reads=1,requests=100");
        takes(&text, &LARGE_PAGES, 50 + 4 * sectors, 1);
    }
}

/// A partial write reads the rest of its page and programs the whole page.
#[test]
fn a_write_of_a_part_moves_the_whole_page() {
    let text = "uniform:span=6MiB,size=4KiB,requests=50";
    takes(text, &LARGE_PAGES, 50 + 16 + 16 + 1200, 1);
}

/// Parts of map units in one flash page are read and transferred together.
#[test]
fn parts_at_both_ends_of_a_flash_page_are_one_transfer() {
    // Units of 8 KiB, two in a flash page. A request has 8 KiB from the middle of one unit to the
    // middle of the next.
    let trace = [("mapping.unit", "8KiB"), ("start.fill", "sequential")];
    let result = result("sequential:span=3MiB,size=12KiB,reads=1,requests=64", &trace);
    // Four requests cover 48 KiB, or three flash pages. The first lies in one flash page (3
    // sectors). The others begin at 12, 24 and 36 KiB, and the second and third cross into the next
    // flash page.
    let us = [50 + 12, 50 + 4 + 50 + 8, 50 + 8 + 50 + 4, 50 + 12];
    let mean = us.iter().sum::<u64>() as f64 / 4.0;
    assert_eq!(result["latency"]["read"]["mean_us"].as_f64(), Some(mean));
    assert_eq!(number(&result, "/flash/senses"), 64 / 4 * 6);
}

/// The register does not keep a flash page that one command has read for the next command.
#[test]
fn a_command_reads_anew() {
    // One flash page of four units. Every command covers half a unit, and no row is full.
    for buffer in [&[][..], &[("buffer.scheme", "lru"), ("buffer.capacity", "4KiB")]] {
        let sets = [&[("start.fill", "sequential"), ("buffer.block_pages", "1")][..], buffer];
        let sets = if buffer.is_empty() { sets[0][..1].to_vec() } else { sets.concat() };
        let result = result("uniform:span=16KiB,size=2KiB,reads=0.7,requests=40", &sets);
        let reads = number(&result, "/flash/reads/host");
        assert!(reads > 8, "{reads} pages were read from flash");
        assert_eq!(number(&result, "/flash/senses"), reads);
    }
}
