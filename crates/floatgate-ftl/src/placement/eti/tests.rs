use super::super::tests::*;
use super::*;
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
            eti.command(first.parse().unwrap(), pages.parse().unwrap());
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
        eti.command(7, 0);
        assert_eq!(table(&eti), expected, "a write of nothing");
    }
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
        eti.command(first, 1 + rng.below(40) as u32);
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
            eti.command(first, 1 + rng.below(most.into()) as u32);
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
