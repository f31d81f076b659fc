//! Cleaning, and the pages of each stream.

use floatgate_ftl::counters::StreamCounts;
use serde_json::json;

use super::case::{Case, UNIT_PAGES};
use super::check::{assert_table, count};

pub(crate) fn by_stream(case: &Case) {
    let flash = &case.result["flash"];
    let (erased, moved) = (count(&flash["erases"], &["gc"]), count(&flash["programs"], &["gc"]));
    let maps = count(&flash["erases"], &["gc_map"]);
    assert_eq!(count(&flash["reads"], &["gc"]), moved, "what is moved is read");
    let emergency = case.last.cleans.emergency;
    let expected = json!({
        "foreground": erased + maps,
        "emergency": emergency,
        "incremental": 0,
        "idle": 0,
        "wear": 0,
        "relabelled": 0,
        "victim_valid_mean": moved as f64 / (erased * UNIT_PAGES) as f64,
    });
    assert_table(&case.result["cleaning"], &expected);
    // Long writes are cold, and go to stream 0.
    let short = case.host.short_pages;
    let streams = &case.played.streams;
    let written = [case.host.write_pages - short, short];
    for (at, (stream, host_pages)) in streams.iter().zip(written).enumerate() {
        let held = (stream.victims * UNIT_PAGES) as f64;
        let expected = json!({
            "host_pages": host_pages,
            "hot_pages": 0,
            "gc_pages": stream.gc_pages,
            "victims": stream.victims,
            "victim_valid_pages": stream.victim_valid_pages,
            "victim_valid_mean": stream.victim_valid_pages as f64 / held,
        });
        assert_table(&case.result["placement"]["streams"][at], &expected);
        assert!(stream.gc_pages > 0 && stream.victims > 0);
    }
    let sum = |of: fn(&StreamCounts) -> u64| streams.iter().map(of).sum::<u64>();
    assert_eq!(sum(|stream| stream.gc_pages), moved);
    assert_eq!(sum(|stream| stream.victims), erased);
    assert_eq!(sum(|stream| stream.victim_valid_pages), moved, "victims keep their valid pages");
    let placement = &case.result["placement"];
    assert_eq!([&placement["memory_bytes"], &placement["sample_reads"]], [0, 0]);
    assert!(placement["extents"].is_null());
}
