//! Parity over dies: its amount and its time, and the behaviour that it leaves unchanged.

use super::*;

const PARITY: &str = "/flash/programs/parity";

/// Dies on separate channels, all in one erase unit.
fn dies<'a>(
    count: &'a str,
    planes: &'a str,
    sets: &[(&'a str, &'a str)],
) -> Vec<(&'a str, &'a str)> {
    let shape = [("flash.channels", count), ("flash.superblock", planes)];
    shape.iter().chain(sets).copied().collect()
}

/// An erase unit has eight rows: 24 map units on each of 4 dies.
#[test]
fn every_stripe_that_is_full_has_a_row_of_parity() {
    for (parity, data) in [("2", 1), ("4", 3)] {
        let sets = dies("4", "8", &[("flash.parity", parity), ("start.fill", "none")]);
        for pages in [1, ROW * data - 1, ROW * data, 10 * ROW * data + 5] {
            let text = format!("sequential:span=4MiB,writes={pages}");
            let result = result(&text, &sets);
            let stripes = pages / (ROW * data);
            assert_eq!(number(&result, PARITY), stripes * ROW, "{pages} pages");
            let rows = pages / ROW + stripes;
            assert_eq!(number(&result, "/flash/program_operations"), rows);
            let written = (pages + stripes * ROW) as f64 / pages as f64;
            assert_eq!(result["write_amplification"].as_f64(), Some(written));
        }
    }
}

/// A drive with 4 dies, one of them for parity, chooses victims and moves pages like a drive with 3
/// dies.
#[test]
fn cleaning_is_that_of_a_drive_with_as_many_dies_of_data() {
    let text = "hotcold:span=24MiB,requests=30k,reads=0.2,trim=0.02,flush=0.01";
    for (scheme, cache) in [("ideal", "4KiB"), ("dftl", "4KiB")] {
        for slc in ["0B", "2MiB"] {
            let common = [
                ("mapping.scheme", scheme),
                ("mapping.cache", cache),
                ("capacity.spare_factor", "0.3"),
                ("placement.scheme", "dac"),
                ("slc.dynamic", slc),
                ("timing", "none"),
            ];
            let plain = result(text, &dies("3", "6", &common));
            let striped = [&common[..], &[("flash.parity", "4")]].concat();
            let striped = result(text, &dies("4", "8", &striped));
            let (counts, mut expected) =
                (&striped["flash"]["programs"], plain["flash"]["programs"].clone());
            expected["parity"] = counts["parity"].clone();
            assert_eq!(*counts, expected, "{scheme}, SLC {slc}");
            for key in ["reads", "erases", "senses"] {
                assert_eq!(striped["flash"][key], plain["flash"][key], "{scheme}, SLC {slc}");
            }
            assert_eq!(striped["drive"]["units"], plain["drive"]["units"]);
            assert_eq!(striped["drive"]["spare_factor"], plain["drive"]["spare_factor"]);
            // Each stream may have a stripe that began before the measurement or is incomplete.
            let data = programs(&striped) - number(&striped, PARITY);
            let streams = 8;
            let parity = number(&striped, PARITY);
            assert!((3 * parity).abs_diff(data) <= streams * 3 * ROW, "{parity} of {data}");
            assert!(number(&striped, "/cleaning/foreground") > 50, "it was cleaned");
        }
    }
}

fn shares(result: &Value, of: &str) -> Vec<f64> {
    let shares = result["dies"][of].as_array().expect("shares by die");
    shares.iter().map(|share| share.as_f64().expect("a share")).collect()
}

/// Four dies on separate channels work at the same time. Three rows of data and one of parity take
/// the time of four rows of data, and all dies are equally busy.
#[test]
fn a_row_of_parity_takes_its_die_as_long_as_one_of_data() {
    let rate = |parity: &[(&'static str, &'static str)]| {
        let sets = [("start.fill", "none"), ("controller.write_memory", "768KiB")];
        let sets = [&sets, parity].concat();
        let text = "sequential:span=48MiB,size=32KiB,requests=1500";
        let result = result(text, &dies("4", "8", &sets));
        let seconds = result["throughput"]["device_seconds"].as_f64().expect("a time");
        (12_000.0 / seconds, shares(&result, "program"))
    };
    let ((striped, busy), (plain, busy_plain)) = (rate(&[("flash.parity", "4")]), rate(&[]));
    // At the end the memory holds 8 of 500 rows: two columns, or nearly three.
    assert!((striped / plain - 0.75).abs() < 0.75 * 0.02, "{striped} of {plain} pages/s");
    // A row takes six transfers of 16 us and a program of 1,200 us.
    for share in busy.into_iter().chain(busy_plain) {
        assert!((share - 1200.0 / 1296.0).abs() < 0.02, "a die programs {share} of the time");
    }
}

#[test]
fn dies_take_turns_in_holding_parity() {
    let sets = [("flash.parity", "4"), ("start.fill", "sequential"), ("queue.depth", "4")];
    let text = "sequential:span=12MiB,size=32KiB,reads=1,requests=384";
    let result = result(text, &dies("4", "8", &sets));
    let busy = shares(&result, "read");
    let total: f64 = busy.iter().sum();
    assert!(busy.iter().all(|share| (share / total - 0.25).abs() < 0.01), "{busy:?}");
}

#[test]
fn a_stripe_that_does_not_fit_is_refused() {
    let refused = |sets: &[(&str, &str)], expected: &str| {
        let error = try_run("sequential:span=4MiB,writes=9", sets, true).unwrap_err();
        assert!(error.contains(expected), "{error}");
    };
    refused(
        &[("flash.parity", "2")],
        "flash.parity = 2: expected at least 2, and a divisor of the 1 dies",
    );
    refused(&dies("4", "8", &[("flash.parity", "3")]), "a divisor of the 4 dies");
    refused(&dies("4", "8", &[("flash.parity", "1")]), "flash.parity");
}

/// Parity works without rows of several pages.
#[test]
fn a_drive_of_single_pages_can_have_parity() {
    let pages = [
        ("flash.page", "4KiB"),
        ("mapping.unit", "4KiB"),
        ("flash.program_pages", "1"),
        ("flash.planes", "1"),
        ("start.fill", "none"),
        ("flash.parity", "4"),
    ];
    let result = result("sequential:span=4MiB,writes=32", &dies("4", "4", &pages));
    assert_eq!(number(&result, PARITY), 10);
    assert_eq!(number(&result, "/flash/program_operations"), 42);
}

/// The space account adds up from the advertised capacity to all flash, by hand: units of 144 pages
/// for data and 48 for parity.
#[test]
fn all_flash_is_accounted_for() {
    let sets = [
        ("flash.parity", "4"),
        ("flash.blocks", "800"),
        ("capacity.spare_factor", "0.3"),
        ("capacity.reserve", "0.05"),
        ("mapping.scheme", "dftl"),
        ("mapping.cache", "4KiB"),
        ("slc.static", "3MiB"),
        ("ftl.journal", "true"),
    ];
    let result = result("uniform:span=8MiB,writes=2k", &dies("4", "8", &sets));
    let space = |key: &str| number(&result, &format!("/space/{key}_bytes"));
    let drive = |key: &str| number(&result, &format!("/drive/{key}"));
    let (unit, full) = (8 * 3 * ROW * 4096, 8 * 4 * ROW * 4096);
    assert_eq!(drive("units"), 100);
    let user = (0.7 * 100.0 * (8 * 3 * ROW) as f64) as u64 * 4096;
    assert_eq!(space("user"), user);
    assert_eq!(space("map"), (user / 4096 * 4).div_ceil(4096) * 4096);
    assert_eq!(space("log"), 0);
    assert_eq!(space("spare"), 100 * unit - user - space("map"));
    assert_eq!(space("cleaning"), drive("reserve_units") * unit);
    assert!(space("cleaning") > 0 && space("journal") > 0 && space("journal") % unit == 0);
    // 3 MiB in SLC mode, which uses one bit of three.
    assert_eq!(space("slc"), (9_u64 << 20).div_ceil(unit) * unit);
    assert_eq!(space("fault"), 0);
    let used = 100 * unit + space("cleaning") + space("slc") + space("journal");
    let kept = (used / unit).div_ceil(20);
    assert_eq!(space("reserve"), kept * unit);
    assert_eq!(space("parity"), (used / unit + kept) * (full - unit));
    assert_eq!(space("raw"), (used / unit + kept) * full);
    let parts = result["space"].as_object().expect("parts").values().map(|n| n.as_u64().unwrap());
    assert_eq!(parts.sum::<u64>(), 2 * space("raw"));
}
