//! Advice suits the kind of drive that a result describes.

use super::*;

/// Makes a result with every warning that applies to drives of all ages.
fn doubtful() -> Case {
    let mut case = Case::new(&[
        ("start.fill", "none"),
        ("flash.blocks", "127"),
        ("placement.scheme", "host"),
        ("placement.handles", "2"),
        ("lanes.window", "1ms"),
    ]);
    case.result.workload.unwritten_pages_read = 500;
    case.result.placement.streams[0].host_pages = 1;
    case.result.throughput.device_seconds = Some(1.0);
    case.result.latency.blame_us.queue = Some(3.0);
    case.result.latency.all.mean_us = Some(4.0);
    case.intervals(&[(100, 1.0), (100, 1.0), (100, 1.0), (100, 9.0)]);
    case
}

/// Checks that warnings and notes contain one of `parts` each, in order, and none of `others`.
fn assert_texts(case: &Case, kind: DriveKind, parts: &[&str], others: &[&str]) {
    let texts = [warnings(&case.result, kind), notes(&case.result)].concat();
    assert_eq!(texts.len(), parts.len(), "{texts:?}");
    texts.iter().zip(parts).for_each(|(text, part)| contains(text, &[part]));
    for (text, other) in texts.iter().flat_map(|text| others.iter().map(move |other| (text, other)))
    {
        assert!(!text.contains(other), "{other:?} is in {text:?}");
    }
}

/// A live drive has no trace, no start state and no arrivals, so no advice may mention them.
#[test]
fn advice_for_a_live_drive_suits_a_live_drive() {
    let mut case = doubtful();
    let others = ["--repeat", "--time-scale", "start.", "queue.", "lanes.", "trace", "workload"];
    for (cleans, volumes_ever, doubt) in [
        (0, 2.99, "cleaning never ran: write amplification has nothing of it (2.99 volumes (drive"),
        (0, 3.0, "cleaning never ran: write amplification has nothing of it; write more to it"),
        (1, 2.99, "not that of a drive in long use: 2.99 volumes (drive capacities) were prog"),
        (1, 3.0, "long use; begin anew when it is steady (floatgate ctl reset)"),
    ] {
        case.result.flash.erases.gc = cleans;
        let parts =
            [doubt, "; use a larger --size", "export, as `handle-1`", "; write to them bef"];
        assert_texts(&case, DriveKind::Live { volumes_ever }, &parts, &others);
    }
}

/// Nothing is cleaned in a drive in zones, so no text may expect cleaning.
#[test]
fn a_drive_in_zones_has_no_advice_on_cleaning() {
    assert_texts(&doubtful(), DriveKind::Zoned, &["; write to them"], &["clean", "handle"]);
}

/// A shadow has the requests and the size of the live drive, so no advice may mention them.
#[test]
fn a_shadow_is_filled_and_aged_by_its_config() {
    let mut case = doubtful();
    let others = ["--repeat", "--time-scale", "--size", "lanes.", "trace", "workload"];
    let aged = "start.fill = \"steady\" for it";
    let mut parts = [
        aged,
        "flash.blocks",
        "export, as `handle-1`",
        "start.fill = \"sequential\" for it",
        "queue.arrivals",
    ];
    assert_texts(&case, DriveKind::Shadow, &parts, &others);
    case.write(1);
    assert_texts(&case, DriveKind::Shadow, &parts, &others);
    case.result.flash.erases.gc = 0;
    parts[0] = "has nothing of it (less than";
    assert_texts(&case, DriveKind::Shadow, &parts, &others);
}
