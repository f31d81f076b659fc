use super::super::tests::*;
use super::*;
use crate::counters::ExtentSearch;
use crate::rng::Rng;
use alloc::vec;
use proptest::prelude::*;

fn eti(pages: u32, eti: EtiConfig) -> Eti {
    Eti::new(&PlacementConfig { eti, ..config(pages) })
}

/// Runs write commands, written `100+50` or, for eight of them, `8x100+50`.
fn run(eti: &mut Eti, script: &str) {
    for word in script.split_whitespace() {
        let (times, write) = word.split_once('x').unwrap_or(("1", word));
        let (first, pages) = write.split_once('+').unwrap();
        for _ in 0..times.parse().unwrap() {
            eti.command(Lpn::new(first.parse().unwrap()), pages.parse().unwrap());
            eti.check();
        }
    }
}

/// Start and counter of each extent.
fn table(eti: &Eti) -> Vec<(u32, u8)> {
    let ends: Vec<u32> = eti.partition().map(|extent| extent.end).collect();
    let starts = eti.partition().skip(1).map(|extent| extent.start);
    assert!(starts.chain([eti.pages]).eq(ends), "no gap");
    assert_eq!(eti.counters().extents.unwrap().now, eti.starts.len() as u32);
    eti.partition().map(|extent| (extent.start, extent.counter)).collect()
}

fn small(extents: u32) -> EtiConfig {
    EtiConfig { extents, ..EtiConfig::default() }
}

#[test]
fn the_worked_example() {
    let mut eti = eti(1000, EtiConfig::default());
    assert_eq!(table(&eti), [(0, 0)]);
    run(&mut eti, "100+100");
    assert_eq!(table(&eti), [(0, 0), (100, 1), (200, 0)]);
    run(&mut eti, "100+100");
    assert_eq!(table(&eti), [(0, 0), (100, 2), (200, 0)]);
    run(&mut eti, "150+100");
    assert_eq!(table(&eti), [(0, 0), (100, 2), (150, 3), (200, 1), (250, 0)]);
    run(&mut eti, "0+50");
    assert_eq!(table(&eti), [(0, 1), (50, 0), (100, 2), (150, 3), (200, 1), (250, 0)]);
    run(&mut eti, "8x100+50 9x200+50");
    assert_eq!(table(&eti), [(0, 1), (50, 0), (100, 10), (150, 3), (200, 10), (250, 0)]);
    eti.age();
    eti.check();
    assert_eq!(table(&eti), [(0, 0), (100, 5), (150, 1), (200, 5), (250, 0)]);
    eti.age();
    eti.check();
    assert_eq!(table(&eti), [(0, 0)]);
}

/// 3 extents after each of two writes, 5 after the third. Ageing leaves one extent, and the next
/// write makes 3 again.
#[test]
fn extents_are_counted_after_each_command_since_the_reset() {
    let mut eti = eti(1000, EtiConfig { decay_period: 3, ..EtiConfig::default() });
    run(&mut eti, "2x100+100 150+100");
    let sampled = |eti: &Eti| {
        let ExtentCounts { now, most, sum, commands, .. } = eti.counters().extents.unwrap();
        (now, most, sum, commands)
    };
    assert_eq!(sampled(&eti), (5, 5, 11, 3));
    eti.reset_counters();
    assert_eq!(eti.counters().extents, Some(ExtentCounts { now: 5, ..ExtentCounts::default() }));
    run(&mut eti, "0+1000 10+10");
    assert_eq!(sampled(&eti), (3, 3, 4, 2));
}

/// Before each command: extents, the one found last, the one in which the command begins.
/// 1, 0, 0; 3, 1, 1 (0 100 200); 3, 1, 1; 5, 2, 0 (0 100 150 200 250); 6, 0, 4.
#[test]
fn searches_are_counted_by_where_commands_begin() {
    let mut eti = eti(1000, EtiConfig { decay_period: 5, ..EtiConfig::default() });
    run(&mut eti, "100+100 100+100 150+100 0+50 200+1");
    let search = ExtentSearch {
        in_last: 3,
        walk: 1 + 2 + 2 + 1 + 5,
        walk_from_last: 1 + 1 + 1 + 3 + 5,
        halving: 2 + 2 + 3 + 3, // of 1, 3, 3, 5 and 6 extents
        halving_from_last: 3 + (1 + 3) + (1 + 5), // distances 0, 0, 0, 2 and 4
    };
    assert_eq!(eti.counters().extents.unwrap().search, search);
    // Ageing merges all extents. The one found last is then the one that has its pages.
    run(&mut eti, "7x900+1");
    eti.age();
    let before = eti.counters().extents.unwrap().search.in_last;
    run(&mut eti, "900+1");
    assert_eq!(eti.counters().extents.unwrap().search.in_last, before + 1);
    // It stays the one found last behind extents that are hot.
    let mut eti = self::eti(1000, EtiConfig::default());
    run(&mut eti, "8x100+100 10x200+100 900+1");
    eti.age();
    assert_eq!((table(&eti), eti.latest.index), (vec![(0, 0), (100, 4), (200, 5), (300, 0)], 3));
}

#[test]
fn three_extents_are_full() {
    let mut eti = eti(1000, small(3));
    run(&mut eti, "100+100");
    let full = [(0, 0), (100, 1), (200, 0)];
    assert_eq!(table(&eti), full);
    run(&mut eti, "150+10");
    assert_eq!(table(&eti), full, "a tenth of an extent");
    run(&mut eti, "90+200");
    assert_eq!(table(&eti), [(0, 0), (100, 2), (200, 0)]);
}

#[test]
fn the_four_drawn_cases() {
    for (write, expected) in [
        ("200+200", vec![(0, 0), (200, 1), (400, 0)]), // A
        ("50+100", vec![(0, 0), (50, 1), (150, 0), (200, 0), (400, 0)]), // B
        ("400+100", vec![(0, 0), (200, 0), (400, 1), (500, 0)]), // C
        ("300+100", vec![(0, 0), (200, 0), (300, 1), (400, 0)]), // C, the other end
        ("300+200", vec![(0, 0), (200, 0), (300, 1), (400, 1), (500, 0)]), // D
        ("100+400", vec![(0, 0), (100, 1), (200, 1), (400, 1), (500, 0)]), // over three
        ("0+1000", vec![(0, 1), (200, 1), (400, 1)]),  // everything
        ("0+1", vec![(0, 1), (1, 0), (200, 0), (400, 0)]), // the first page
        ("999+1", vec![(0, 0), (200, 0), (400, 0), (999, 1)]), // the last page
        ("300+700", vec![(0, 0), (200, 0), (300, 1), (400, 1)]), // up to the end
    ] {
        let mut eti = eti(1000, EtiConfig::default());
        for page in [400, 200] {
            eti.cut(0, page);
            eti.remember(0);
        }
        run(&mut eti, write);
        assert_eq!(table(&eti), expected, "{write}");
        eti.command(Lpn::new(7), 0);
        assert_eq!(table(&eti), expected, "a write of nothing");
    }
}

#[test]
fn with_no_cuts_left_alpha_decides() {
    let check = |alpha_percent, partial_split, script, expected: &[(u32, u8)]| {
        let mut eti = eti(1000, EtiConfig { alpha_percent, partial_split, ..small(4) });
        run(&mut eti, "100+100");
        run(&mut eti, script);
        assert_eq!(table(&eti), expected, "{script}");
    };
    // One cut is left, two are needed.
    check(100, false, "120+50", &[(0, 0), (100, 1), (200, 0)]);
    check(100, true, "120+50", &[(0, 0), (100, 1), (120, 1), (200, 0)]);
    check(100, true, "120+180", &[(0, 0), (100, 1), (120, 2), (200, 0)]);
    check(50, true, "120+40", &[(0, 0), (100, 1), (120, 2), (200, 0)]);
    // Only one cut is needed.
    check(100, false, "100+50", &[(0, 0), (100, 2), (150, 1), (200, 0)]);
    // No cut is left. `alpha` is a share of the extent, not of the write.
    check(100, false, "100+50 99+50", &[(0, 0), (100, 2), (150, 1), (200, 0)]);
    check(80, false, "100+50 99+40", &[(0, 0), (100, 2), (150, 1), (200, 0)]);
    check(80, false, "100+50 99+41", &[(0, 0), (100, 3), (150, 1), (200, 0)]);
    check(80, false, "100+50 110+90", &[(0, 0), (100, 3), (150, 2), (200, 0)]);
}

#[test]
fn one_extent_is_enough() {
    let mut eti = eti(1000, small(1));
    run(&mut eti, "0+999 1+999 5+1");
    assert_eq!(table(&eti), [(0, 0)]);
    run(&mut eti, "4x0+1000");
    assert_eq!((table(&eti), eti.stream(write(7))), (vec![(0, 4)], 1));
    eti.age();
    assert_eq!(table(&eti), [(0, 2)]);
    let mut tiny = self::eti(1, EtiConfig::default());
    run(&mut tiny, "20x0+1");
    assert_eq!(table(&tiny), [(0, 15)]);
}

#[test]
fn pages_are_judged_by_their_extents_after_the_update() {
    let mut eti = eti(1000, EtiConfig::default());
    run(&mut eti, "3x100+10");
    assert_eq!([99, 100, 109, 110].map(|lpn| eti.stream(write(lpn))), [0; 4]);
    run(&mut eti, "105+10");
    assert_eq!([104, 105, 109, 110].map(|lpn| eti.stream(write(lpn))), [0, 1, 1, 0]);
    assert_eq!([104, 105, 109, 110].map(|lpn| eti.classify(relocation(lpn, 0))), [0, 1, 1, 0]);
}

#[test]
fn counters_saturate_at_the_configured_limit() {
    for counter_max in [1, 7, 15] {
        let mut eti = eti(1000, EtiConfig { counter_max, ..EtiConfig::default() });
        run(&mut eti, "20x100+10");
        assert_eq!(table(&eti), [(0, 0), (100, counter_max), (110, 0)]);
    }
}

#[test]
fn ageing_waits_for_the_next_command() {
    let mut eti = eti(1000, EtiConfig { decay_period: 4, ..EtiConfig::default() });
    run(&mut eti, "4x100+10");
    assert_eq!(eti.stream(write(100)), 1, "the counter is 4 until the next command");
    // The fifth command finds one extent, and then cuts it.
    run(&mut eti, "500+10");
    assert_eq!(table(&eti), [(0, 0), (500, 1), (510, 0)]);
    let decay_unit = DecayUnit::Pages;
    let mut pages = self::eti(1000, EtiConfig { decay_period: 4, decay_unit, ..small(2048) });
    run(&mut pages, "3x0+1 0+3");
    assert_eq!(table(&pages), [(0, 4), (1, 1), (3, 0)]);
    // Six pages: one period has ended, and two pages belong to the next.
    run(&mut pages, "0+2");
    assert_eq!(table(&pages), [(0, 1), (2, 0)]);
    run(&mut pages, "5x0+2");
    let mut long = self::eti(1000, EtiConfig { decay_period: 4, decay_unit, ..small(2048) });
    run(&mut long, "0+999 0+999");
    assert_eq!(table(&long), [(0, 1), (999, 0)], "249 periods");
}

#[test]
fn cold_extents_have_one_counter_when_they_merge() {
    // Aged: 3 over 100 pages, 1 over 300, 0 over 600.
    for (merge_value, expected) in [
        (MergeValue::Mean, 0),      // 600/1000
        (MergeValue::PlainMean, 1), // 4/3
        (MergeValue::Max, 3),
        (MergeValue::Min, 0),
        (MergeValue::Zero, 0),
    ] {
        let mut eti = eti(1000, EtiConfig { merge_value, ..EtiConfig::default() });
        run(&mut eti, "7x0+100 3x100+300");
        eti.age();
        assert_eq!(table(&eti), [(0, expected)]);
    }
    let mut eti = eti(1000, EtiConfig::default());
    run(&mut eti, "7x0+600 3x600+400");
    eti.age();
    assert_eq!(table(&eti), [(0, 2)], "2200/1000");
    let zero = EtiConfig { merge_value: MergeValue::Zero, ..EtiConfig::default() };
    let mut eti = self::eti(1000, zero);
    run(&mut eti, "8x400+100 7x0+400 7x500+500");
    eti.age();
    assert_eq!(table(&eti), [(0, 3), (400, 4), (500, 3)], "nothing merged with them");
}

#[test]
fn hot_extents_merge_with_their_like_only() {
    let mut eti = eti(1000, EtiConfig::default());
    run(&mut eti, "8x0+100 9x100+100 10x200+100 8x300+100");
    eti.age();
    assert_eq!(table(&eti), [(0, 4), (200, 5), (300, 4), (400, 0)]);
    let mut eti = self::eti(1000, EtiConfig { beta: 0, ..EtiConfig::default() });
    run(&mut eti, "0+100 2x100+100");
    eti.age();
    assert_eq!(table(&eti), [(0, 0), (100, 1), (200, 0)], "nothing is cold");
}

#[test]
fn it_takes_nine_kibibytes() {
    let eti = eti(1 << 20, EtiConfig::default());
    assert_eq!(eti.memory_bytes(), 2048 * 4 + 1024 + 16);
    assert_eq!(Eti::demands(&config(1)).streams, 2);
}

#[test]
fn after_ageing_no_neighbours_are_alike() {
    let mut rng = Rng::new(1);
    let mut eti = eti(5000, EtiConfig { decay_period: 200, ..small(100) });
    for _ in 0..100_000 {
        // Few places, written many times.
        let first = (rng.below(16) * rng.below(16) * 20) as u32;
        eti.command(Lpn::new(first), 1 + rng.below(40) as u32);
        eti.check();
        if eti.executions == 1 {
            // All updates except the last one are aged. The last one made at most two cuts.
            let mut aged = eti.clone();
            aged.age();
            let table = table(&aged);
            let alike = |pair: &[(u32, u8)]| pair[0].1 == pair[1].1 || pair[0].1.max(pair[1].1) < 4;
            assert!(!table.windows(2).any(alike), "{table:?}");
        }
    }
}

proptest! {
    #[test]
    fn the_extent_found_is_that_of_the_page(
        seed: u64, extents in 1u32..200, decay_period in 1u32..300, pages in 1u32..3000,
    ) {
        let mut eti = eti(pages, EtiConfig { decay_period, beta: 2, ..small(extents) });
        let mut rng = Rng::new(seed);
        for _ in 0..400 {
            let first = rng.below(pages.into()) as u32;
            let most = (pages - first).min(1 + rng.below(60) as u32);
            eti.command(Lpn::new(first), 1 + rng.below(most.into()) as u32);
            eti.check();
            let edge = eti.starts[rng.below(eti.starts.len() as u64) as usize];
            for page in [rng.below(pages.into()) as u32, edge, edge.saturating_sub(1)] {
                let found = eti.starts.partition_point(|&start| start <= page) - 1;
                prop_assert_eq!((eti.search(page), eti.find(page)), (found, found));
                eti.check();
            }
        }
    }
}
