//! Generators that visit places in an order: one after another, strided, shuffled, by zones.

use floatgate_ftl::request::Op;
use floatgate_lab::workload::generator;

use super::{bound, chi_square, frequencies, make};

#[test]
fn sequential_wraps() {
    let offsets = |spec| make(spec, 1).iter().map(|r| r.offset).collect::<Vec<_>>();
    assert_eq!(offsets("sequential:span=13000,writes=5"), [0, 4096, 8192, 0, 4096]);
}

#[test]
fn zipf_without_scatter_lies_in_the_order_of_popularity() {
    let counts = frequencies("zipf:span=40KiB,theta=1,scatter=false,writes=100k", 10);
    assert!(counts.is_sorted_by(|a, b| a > b), "{counts:?}");
}

/// Three zones of four places are written at a time, and each continues at its last place. A new
/// zone begins at its start and is not active already. All zones are equally frequent.
#[test]
fn zones_are_written_from_their_start_to_their_end() {
    let (zone, active, zones) = (4u64, 3, 16);
    let mut open: Vec<(u64, u64)> = Vec::new();
    let mut begun = vec![0.0; zones];
    // The remainder of the span after the last whole zone is not written.
    for request in make("zones:span=260KiB,zone=16KiB,active=3,writes=100k", 1) {
        let place = request.offset / 4096;
        let (number, within) = (place / zone, place % zone);
        match open.iter_mut().find(|slot| slot.0 == number && slot.1 < zone) {
            Some(slot) => {
                assert_eq!(slot.1, within);
                slot.1 += 1;
            }
            None => {
                assert_eq!(within, 0);
                open.retain(|slot| slot.1 < zone);
                open.push((number, 1));
                begun[number as usize] += 1.0;
            }
        }
        assert!(open.iter().filter(|slot| slot.1 < zone).count() <= active);
    }
    let each = begun.iter().sum::<f64>() / zones as f64;
    assert!(chi_square(&begun, |_| each) < bound(zones), "{begun:?}");
}

/// A zone is trimmed as a whole immediately before its first write, also the first zones. A trim
/// counts as one of the writes.
#[test]
fn zones_are_discarded_before_they_are_written() {
    let spec = "zones:span=256KiB,zone=16KiB,active=3,writes=10k";
    let requests = make(&format!("{spec},discard=true"), 1);
    assert_eq!(requests.len(), 10_000);
    let mut trims = 0;
    for (before, request) in requests.iter().zip(&requests[1..]) {
        if request.op == Op::Trim {
            assert_eq!((request.offset % 16_384, request.length), (0, 16_384));
            trims += 1;
            continue;
        }
        let is_first = request.offset % 16_384 == 0;
        let is_discarded = before.op == Op::Trim && before.offset == request.offset;
        assert_eq!(is_first, is_discarded, "{before:?} {request:?}");
    }
    // A trim for every four writes.
    assert!((2_000..=2_002).contains(&trims), "{trims}");
    assert_eq!(make(spec, 1), make(&format!("{spec},discard=false"), 1));
    assert!(make(spec, 1).iter().all(|request| request.op == Op::Write));
}

#[test]
fn sequential_strides() {
    let offsets = |spec| make(spec, 1).iter().map(|r| r.offset >> 12).collect::<Vec<_>>();
    assert_eq!(offsets("sequential:span=40KiB,writes=5,stride=3"), [0, 3, 6, 9, 2]);
    let one = "sequential:span=40KiB,writes=25";
    assert_eq!(offsets(one), offsets("sequential:span=40KiB,writes=25,stride=1"));
}

#[test]
fn shuffled_visits_every_place_once_and_then_again() {
    for places in [1u64, 2, 7, 1000] {
        let spec = format!("shuffled:span={},writes={}", places * 4096, 3 * places);
        let offsets: Vec<u64> = make(&spec, 5).iter().map(|r| r.offset >> 12).collect();
        for pass in offsets.chunks(places as usize) {
            let mut seen = pass.to_vec();
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..places), "{spec}");
        }
        let (first, second) = offsets.split_at(places as usize);
        assert!(places < 1000 || first != &second[..places as usize], "another order");
    }
}

#[test]
fn orders_of_whole_places_are_named_where_they_are_wrong() {
    for (spec, expected) in [
        ("sequential:span=40KiB,writes=1,stride=0", "stride=0: expected 1 to 10 places"),
        ("sequential:span=40KiB,writes=1,stride=11", "stride=11: expected 1 to 10 places"),
        (
            "shuffled:span=40KiB,writes=1,aligned=false",
            "aligned=false has no meaning: each place is written once",
        ),
    ] {
        let error = generator(spec, 1).err().map(|error| error.to_string());
        let name = spec.split(':').next().unwrap();
        assert_eq!(error, Some(format!("{name}: {expected}")));
    }
}
