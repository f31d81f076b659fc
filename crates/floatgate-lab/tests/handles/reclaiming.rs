//! Reclaim units, and where pages go that cleaning moves.

use super::*;

/// Data of an erase unit of the small drive.
const ERASE_UNIT: u64 = 16 * PAGE;

const NOISY: &str = "tenants=4,random=1,ratio=1";

fn error(sets: &[(&str, &str)]) -> String {
    let sets: Vec<_> = sets.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Config::load(None, None, &sets).expect_err("these settings are wrong").to_string()
}

fn victims(result: &RunResult) -> Vec<u64> {
    result.placement.streams.iter().map(|stream| stream.victims).collect()
}

#[test]
fn a_reclaim_unit_is_cleaned_as_a_whole() {
    let of = |size: u64, sets: &[(&str, &str)]| {
        let size = format!("{}B", size * ERASE_UNIT);
        tenants(NOISY, &[&APART[..], &[("placement.reclaim_unit", &size)], sets].concat())
    };
    for sets in [
        &[][..],
        &[("mapping.scheme", "dftl"), ("mapping.cache", "4KiB")],
        &[("mapping.scheme", "page_cache"), ("mapping.cache", "16KiB")],
        &[("cleaning.copies_per_write", "3")],
        &[("cleaning.victim", "random"), ("cleaning.scope", "pressure")],
        &[("cleaning.victim", "windowed"), ("timing", "none")],
    ] {
        let one = of(1, sets);
        assert_eq!(counted(&one), counted(&tenants(NOISY, &[&APART[..], sets].concat())));
        let four = of(4, sets);
        let (erases, victims) = (four.flash.erases.gc, victims(&four).iter().sum::<u64>());
        // The last victim of incremental cleaning may be in progress.
        assert!(erases.abs_diff(4 * victims) < 4 && victims > 200, "{erases} {victims} {sets:?}");
        assert!(four.drive.units >= one.drive.units);
    }
    // A page that is still valid is copied once more often, as more pages share a victim.
    let [one, four, eight] = [1, 4, 8].map(|size| amplification(&of(size, &[])));
    assert!(one < four && four < eight, "{one} {four} {eight}");
}

/// Four erase units in a reclaim unit are cleaned as a block of four times the size is.
#[test]
fn reclaim_units_cost_as_much_as_erase_units_of_their_size() {
    let random = "tenants=1,random=1";
    let sets = |blocks, pages| [("flash.blocks", blocks), ("flash.pages_per_block", pages)];
    let whole = tenants(random, &[&sets("96", "64")[..], &[("cleaning.low_water", "3")]].concat());
    let grouped = tenants(random, &[("placement.reclaim_unit", "32KiB")]);
    let [whole, grouped] = [&whole, &grouped].map(amplification);
    assert!((whole / grouped - 1.0).abs() < 0.05, "{whole} {grouped}");
}

#[test]
fn each_handle_can_have_a_size() {
    let sizes = r#"["8KiB", "24KiB", "8KiB", "32KiB"]"#;
    let sets = [&APART[..], &[("placement.reclaim_unit", sizes)]].concat();
    let result = tenants("tenants=4,random=4,ratio=1", &sets);
    let found = victims(&result);
    let erases: u64 = found.iter().zip([1, 3, 1, 4]).map(|(victims, size)| victims * size).sum();
    assert_eq!(erases, result.flash.erases.gc, "{found:?}");
    // The stream of moved pages that handles share has the first size.
    let initially = [&AT_FIRST[..], &[("placement.reclaim_unit", sizes)]].concat();
    let result = tenants("tenants=4,random=4,ratio=1", &initially);
    let found = victims(&result);
    let erases: u64 = found.iter().zip([1, 1, 3, 1, 4]).map(|(victims, size)| victims * size).sum();
    assert_eq!(erases, result.flash.erases.gc, "{found:?}");
}

#[test]
fn a_wrong_size_is_refused() {
    let small = [("flash.page", "512B"), ("flash.pages_per_block", "16")];
    let with = |sets: &[(&str, &str)]| error(&[&small, sets].concat());
    for (value, scheme, expected) in [
        ("12KiB", "host", "\"12KiB\": expected a multiple of the 8192 bytes of an erase unit"),
        (r#"["8KiB", "16KiB"]"#, "host", "expected one size, or one for each of the 4"),
        (r#"["8KiB", "16KiB"]"#, "single", "as only placement.scheme = \"host\" has handles"),
        ("0B", "host", "expected a size from 512B to 1PiB"),
        ("[]", "host", "or a list of 1 to 128"),
    ] {
        let handles = ("placement.handles", "4");
        let sets = [("placement.reclaim_unit", value), ("placement.scheme", scheme), handles];
        assert!(with(&sets).contains(expected), "{}", with(&sets));
    }
    let blocks = [("ftl.scheme", "fast"), ("placement.reclaim_unit", "16KiB")];
    assert!(with(&blocks).contains("expected no value with ftl.scheme"), "{}", with(&blocks));
}

/// A reclaim unit that is being filled is no victim, so a drive with large ones needs more units.
#[test]
fn a_drive_has_room_for_a_reclaim_unit_of_each_stream() {
    let sets = |size| [&APART[..], &[("placement.reclaim_unit", size)]].concat();
    let spec = "tenants:span=2764800,size=512,writes=60k,tenants=4,random=4,ratio=1";
    let unsized_drive = |size| {
        let mut sets = sets(size);
        sets.extend([("flash.page", "512B"), ("flash.pages_per_block", "16")]);
        run_with(&mut *generator(spec, 1).expect(spec), &sets)
    };
    let small = unsized_drive("8KiB").expect("small");
    let large = unsized_drive("128KiB").expect("large");
    assert_eq!(small.drive.units_added, 0);
    assert!(large.drive.units >= small.drive.units + 20, "{}", large.drive.units);
    assert!(large.warnings.iter().any(|warning| warning.contains("reclaim units: with fewer")));
    let all = sets("512KiB");
    let error = refusal(spec, &all);
    assert!(error.contains("has no room to clean next to 256 units"), "{error}");
}

#[test]
fn moved_pages_of_persistent_handles_can_have_a_unit_of_their_own() {
    let apart = [&APART[..], &[("placement.moved_pages", "apart")]].concat();
    let result = tenants(NOISY, &apart);
    let (moved, written) = result.placement.streams.split_at(4);
    assert!(moved.iter().all(|stream| stream.host_pages == 0), "{moved:?}");
    assert!(written.iter().all(|stream| stream.host_pages > 0 && stream.gc_pages == 0));
    // The order of the logs is kept, as with initial isolation: fewer pages are copied.
    let [apart, together] = [&result, &tenants(NOISY, &APART)].map(amplification);
    assert!(apart < together, "{apart} {together}");
    let wrong = [("placement.scheme", "host"), ("placement.moved_pages", "apart")];
    assert!(error(&wrong).contains("\"apart\": expected \"with_writes\""), "{}", error(&wrong));
    let many = [&APART[..2], &APART[2..], &wrong[1..], &[("placement.handles", "121")]].concat();
    assert!(error(&many).contains("placement.handles = 121: expected at most 120"));
}

/// Settings with which cleaning runs ahead of need, and keeps few units free for it.
const AHEAD: [(&str, &str); 2] =
    [("cleaning.copies_per_write", "4"), ("cleaning.background_below", "0.04")];

#[test]
fn thresholds_are_shares_of_the_spare_space() {
    let random = "tenants=1,random=1";
    let plain = tenants(random, &[]);
    // 384 units are in service, 38 of them spare; the reserve has two units more.
    let foreground = tenants(random, &[("cleaning.foreground_below", "0.05")]);
    assert_eq!(plain.drive.reserve_units, foreground.drive.reserve_units);
    let [less, more] = [&plain, &foreground].map(amplification);
    assert!(more > 1.3 * less, "20 units are never used: {less} {more}");
    let background = tenants(random, &AHEAD);
    assert!(background.cleaning.incremental > 1000 && background.cleaning.foreground < 20);
    let later = tenants(random, &[AHEAD[0], ("cleaning.background_below", "0.01")]);
    assert!(amplification(&later) < amplification(&background), "the later, the emptier");
    // Units of `high_water` are a reserve, in addition to the spare space.
    let reserve = tenants(random, &[AHEAD[0], ("cleaning.high_water", "16")]);
    assert_eq!(reserve.drive.reserve_units, background.drive.reserve_units + 13);
}

#[test]
fn lazy_cleaning_waits_for_emptier_victims() {
    let with = |sets: &[(&str, &str)]| tenants("tenants=2,random=1", &[&AHEAD, sets].concat());
    let [eager, lazy, never] =
        [with(&[]), with(&[("cleaning.lazy", "0.75")]), with(&[("cleaning.lazy", "0")])];
    let ahead = |result: &RunResult| result.cleaning.incremental;
    assert!(ahead(&eager) > ahead(&lazy) && ahead(&lazy) > 100, "{:?}", lazy.cleaning);
    assert!(lazy.cleaning.foreground > eager.cleaning.foreground);
    assert!(amplification(&lazy) < amplification(&eager));
    // Only victims without a valid page are left.
    assert!(ahead(&never) < ahead(&lazy), "{:?}", never.cleaning);
}

/// The log of the first tenant and random data share a handle. A reclaim unit has erase units that
/// are still whole.
#[test]
fn whole_erase_units_are_relabelled_and_not_copied() {
    let keys = "tenants=2,random=1,overwriters=0,ratio=8,handles=1";
    let sets = |size, relabel| {
        let sets = [("placement.reclaim_unit", size), ("cleaning.relabel", relabel)];
        [&APART[..], &sets, &[("cleaning.victim", "fifo")]].concat()
    };
    let copied = tenants(keys, &sets("64KiB", "false"));
    let relabelled = tenants(keys, &sets("64KiB", "true"));
    assert_eq!(copied.cleaning.relabelled, 0);
    assert!(relabelled.cleaning.relabelled > 50, "{:?}", relabelled.cleaning);
    assert!(amplification(&relabelled) < amplification(&copied));
    // An erase unit is either erased or relabelled.
    let taken: u64 = 8 * victims(&relabelled).iter().sum::<u64>();
    assert_eq!(taken, relabelled.flash.erases.gc + relabelled.cleaning.relabelled);
}

#[test]
fn settings_of_cleaning_without_effect_are_refused() {
    let two = ("placement.reclaim_unit", "512KiB");
    let relabel = ("cleaning.relabel", "true");
    for (sets, expected) in [
        (&[("cleaning.lazy", "0.5")][..], "cleaning.lazy = 0.5: expected cleaning.pacing"),
        (&[("cleaning.background_below", "0.1")], "or cleaning.idle_after to be set as well"),
        (
            &[("cleaning.foreground_below", "0.1"), ("cleaning.low_water", "9")],
            "cleaning.foreground_below = 0.1: expected no value together with cleaning.low_water",
        ),
        (
            &[AHEAD[0], AHEAD[1], ("cleaning.high_water", "9")],
            "cleaning.background_below = 0.04: expected no value together with cleaning.high_water",
        ),
        (&[relabel], "cleaning.relabel = true: expected false, or a larger placement.reclaim_unit"),
        (&[relabel, two, ("placement.scheme", "dac")], "scheme = \"dac\", which sorts moved pages"),
        (&[relabel, two, ("placement.gc_destination", "reclassify")], "\"reclassify\""),
        (&[("ftl.scheme", "bast"), ("cleaning.foreground_below", "0.1")], "expected no value with"),
    ] {
        assert!(error(sets).contains(expected), "{}", error(sets));
    }
    let all = [("cleaning.foreground_below", "0.2")];
    let spec = "tenants:span=2764800,size=512,writes=1k,tenants=1";
    assert!(refusal(spec, &all).contains("expected at most 0.1"), "{}", refusal(spec, &all));
}
