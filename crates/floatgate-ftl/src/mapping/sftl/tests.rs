use super::*;
use crate::mapping::drive_tests::{Drive, anything};
use crate::mapping::tests::geometry;

/// Pages of 64 entries: 8 bytes of bitmap, 12 to 264 bytes in total.
const ENTRIES: u32 = 64;
const EMPTY: u64 = 8 + 4 * 64;

/// A drive with `bytes` for pages and `buffered` places in the buffer. Up to 6 changes are sparse.
fn drive(bytes: u64, buffered: u64) -> Drive<Sftl> {
    let budget = bytes + 8 * buffered;
    // Rounded up, because the map rounds a share down to whole entries.
    let buffer_permille = (8 * buffered * 1000).div_ceil(budget) as f64;
    let sftl = SftlConfig { buffer_share: buffer_permille / 1000.0, sparse_share: 0.1 };
    let map = Sftl::new(&MapConfig { sftl, ..MapConfig::new(geometry(ENTRIES), budget) });
    assert_eq!(map.budget, bytes);
    Drive::new(map, geometry(ENTRIES), budget.max(EMPTY + 8 * buffered))
}

#[test]
fn the_default_shares_are_a_tenth_and_a_twentieth() {
    let map = Sftl::new(&MapConfig::new(geometry(ENTRIES), 10_000));
    assert_eq!((map.budget, map.sparse_max), (9000, 3));
}

#[test]
fn a_write_that_closes_a_gap_joins_two_runs() {
    let mut content = Content::new(&geometry(ENTRIES));
    let (page, gap) = (Tpn::new(0), Lpn::new(1));
    content.set(Lpn::new(0), Some(Ppn::new(10)));
    content.set(Lpn::new(2), Some(Ppn::new(12)));
    for (to, runs) in [(None, 64), (Some(11), 62), (Some(12), 64), (Some(11), 62), (None, 64)] {
        content.set(gap, to.map(Ppn::new));
        assert_eq!(content.runs(page), runs);
        content.check();
    }
}

#[test]
fn anything_keeps_the_map() {
    let cases = [(1, 0), (264, 0), (264, 5), (300, 40), (700, 3), (1000, 10), (1 << 20, 0)];
    for (seed, (bytes, buffered)) in cases.into_iter().enumerate() {
        anything(&mut drive(bytes, buffered), seed as u64, 3000);
    }
}

#[test]
fn anything_keeps_the_map_with_tiny_pages() {
    for (seed, bytes) in [1u64, 40, 100, 200].into_iter().enumerate() {
        let sftl = SftlConfig { buffer_share: 0.3, sparse_share: 0.3 };
        let geometry = geometry(8);
        let map = Sftl::new(&MapConfig { sftl, ..MapConfig::new(geometry, bytes) });
        anything(&mut Drive::new(map, geometry, bytes.max(33 + bytes * 3 / 10)), seed as u64, 3000);
    }
}
