use super::*;
use crate::mapping::drive_tests::{Drive, anything};
use crate::mapping::tests::{PAGES, fetch, geometry, rewrite, update};
use crate::rng::Rng;
use alloc::vec;

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
fn a_sequentially_written_page_is_one_run() {
    let mut drive = drive(10_000, 0);
    assert_eq!(drive.run("r0")[0], [fetch(0)]);
    assert_eq!(drive.map.memory_bytes(), EMPTY, "an entry that is not set starts a run");
    drive.run("w0+64");
    assert_eq!(drive.map.memory_bytes(), 8 + 4);
    // A write in the middle adds two runs. Then the neighbour joins. The last entry has no
    // neighbour behind it.
    for (word, bytes) in [("w10", 12 + 8), ("w11", 12 + 8), ("w63", 12 + 12), ("t0", 12 + 16)] {
        drive.run(word);
        assert_eq!(drive.map.memory_bytes(), bytes, "{word}");
    }
}

#[test]
fn a_change_adds_or_removes_at_most_two_runs() {
    let (mut drive, mut rng) = (drive(1 << 20, 0), Rng::new(3));
    drive.run("r0 r64 r128 r192");
    let (mut seen, mut lpn) = ([0; 5], 0);
    for _ in 0..8000 {
        let before = drive.map.memory_bytes();
        // Half of the writes are to the next page, so that runs form too.
        lpn = if rng.below(2) == 0 { rng.below(256) as u32 } else { (lpn + 1) % 256 };
        match rng.below(8) {
            0 => drop(drive.trim(lpn, 1)),
            1 => drop(drive.clean(&[lpn])),
            _ => drop(drive.write(lpn, &[])),
        }
        let words = (drive.map.memory_bytes() as i64 - before as i64) / 4;
        seen[usize::try_from(words + 2).expect("at most two runs fewer")] += 1;
    }
    assert!(seen[1..].iter().all(|&count| count > 0), "{seen:?}");
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

/// The sizes of all cached pages, computed from the entries only.
fn recounted(drive: &Drive<Sftl>) -> u64 {
    let table = drive.table();
    let page = |tpn: u32| {
        let entries = &table[(tpn * ENTRIES) as usize..((tpn + 1) * ENTRIES) as usize];
        let joins = entries.windows(2).filter(|pair| match pair {
            [Some(a), Some(b)] => a.get() + 1 == b.get(),
            _ => false,
        });
        8 + 4 * (64 - joins.count() as u64)
    };
    let cached = (0..PAGES / ENTRIES)
        .filter(|tpn| drive.residency(tpn * ENTRIES) != Residency::Absent)
        .map(page);
    cached.sum()
}

#[test]
fn sizes_are_those_of_the_entries() {
    let (mut drive, mut rng) = (drive(1500, 0), Rng::new(9));
    let mut evictions_on_hits = 0;
    for _ in 0..6000 {
        let lpn = rng.below(1000) as u32;
        match rng.below(8) {
            0 => drop(drive.read(lpn)),
            1 => drop(drive.trim(lpn, 1)),
            2 => drop(drive.clean(&[lpn, lpn + 1, lpn + 2, lpn + 500])),
            3 => drop(drive.run("f")),
            4 => {
                for lpn in (lpn..lpn + 16).step_by(2) {
                    let before = drive.map.counters().map;
                    drive.write(lpn, &[]);
                    let after = drive.map.counters().map;
                    let hit = after.hits > before.hits;
                    evictions_on_hits += u32::from(hit && after.evictions > before.evictions);
                }
            }
            _ => (lpn..lpn + 16).for_each(|lpn| drop(drive.write(lpn, &[]))),
        }
        assert_eq!(drive.map.memory_bytes(), recounted(&drive));
    }
    assert!(evictions_on_hits > 10, "{evictions_on_hits}");
}

#[test]
fn a_page_that_grows_makes_another_leave() {
    let mut drive = drive(12 + EMPTY, 0);
    drive.run("w0+64 w64+64");
    assert_eq!(drive.map.memory_bytes(), 24, "both are one run");
    for lpn in (1..63).step_by(2) {
        assert_eq!(drive.run(&alloc::format!("w{lpn}")), [[]], "a hit is free");
    }
    assert_eq!(drive.map.memory_bytes(), 24 + 31 * 8);
    assert_eq!(drive.run("w65"), [[rewrite(0)]], "4 bytes are left, it needs 8");
    assert_eq!(drive.map.memory_bytes(), 12 + 8);
}

#[test]
fn the_page_in_use_stays_at_any_size() {
    let mut drive = drive(1, 0);
    assert_eq!(drive.run("w0 r1 w64"), [vec![fetch(0)], vec![], vec![rewrite(0), fetch(1)]]);
}

#[test]
fn sparse_changes_wait_in_the_buffer() {
    let mut drive = drive(EMPTY, 10);
    let io = drive.run("w0 r64 r0 w0 w0");
    assert_eq!(io, [vec![fetch(0)], vec![fetch(1)], vec![], vec![], vec![]]);
    assert_eq!(drive.map.memory_bytes(), EMPTY + 8);
    let residency = [0, 1, 64].map(|lpn| drive.residency(lpn));
    assert_eq!(residency, [Residency::Dirty, Residency::Absent, Residency::Clean]);
    assert_eq!(drive.run("r1"), [[fetch(0)]]);
    assert_eq!(drive.map.memory_bytes(), EMPTY, "the buffered entry has joined its page");
    // Trimmed in the buffer, then written back from there by a flush.
    assert_eq!(drive.run("r64 t0 f f"), [vec![fetch(1)], vec![], vec![update(0)], vec![]]);
    assert_eq!(drive.map.memory_bytes(), EMPTY);
    assert_eq!(
        drive.run("w0 w1 r64 g0 g0+2"),
        [vec![fetch(0)], vec![], vec![fetch(1)], vec![], vec![]],
        "cleaning changes buffered entries in place"
    );
}

#[test]
fn cleaning_takes_buffered_entries_along() {
    let mut drive = drive(EMPTY, 10);
    drive.run("w0 w1 f r64 w0 r64");
    assert_eq!(drive.map.memory_bytes(), EMPTY + 8);
    assert_eq!(drive.run("g1"), [[update(0)]]);
    assert_eq!((drive.map.memory_bytes(), drive.residency(0)), (EMPTY, Residency::Absent));
    // The entry is written back between the access and the program, so it is loaded again.
    drive.run("w0 r64");
    assert_eq!(drive.write(0, &[1]), [update(0), fetch(0)]);
    assert_eq!(drive.residency(0), Residency::Dirty);
}

#[test]
fn the_owner_of_most_changes_is_written_back() {
    let mut drive = drive(EMPTY, 10);
    let io = drive.run("w0+6 r64 w64+5 r128 w128+6 r192 w192+7 r256 f");
    // 6 and 5 do not fit together: the 6 are written back. Then 5 and 6 do not fit: the victim
    // itself has more.
    assert_eq!(io[1], [fetch(1)]);
    assert_eq!(io[3], [update(0), fetch(2)]);
    assert_eq!(io[5], [rewrite(2), fetch(3)]);
    // 7 changes are not sparse.
    assert_eq!(io[7], [rewrite(3), fetch(4)]);
    assert_eq!(io[8], [update(1)]);
    let MapStats { evictions, dirty_evictions, .. } = drive.map.counters().map;
    assert_eq!((evictions, dirty_evictions), (4, 3));
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
