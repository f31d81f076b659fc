use super::*;
use crate::addr::Lpn;
use crate::future::NextUseBuilder;
use crate::placement::PlacementEvent;
use crate::placement::tests::{config, relocation, write};
use crate::rng::Rng;

fn oracle(pages: u32, streams: u8, factor: u32) -> Oracle {
    Oracle::new(&PlacementConfig { oracle: OracleConfig { streams, factor }, ..config(pages) })
}

fn next_uses(pages: u32, writes: &[u32]) -> NextUses {
    let mut telling = NextUseBuilder::new(pages);
    writes.iter().for_each(|&lpn| telling.push(Lpn::new(lpn)).unwrap());
    telling.finish()
}

#[test]
fn ranges_begin_with_a_unit_and_reach_eight_volumes() {
    // Units have 64 pages.
    assert_eq!(oracle(64, 4, 2).ends, [128, 256, 512]);
    assert_eq!(oracle(64, 6, 2).ends, [64, 128, 256, 512, 1024]);
    assert_eq!(oracle(6400, 5, 4).ends, [800, 3200, 12_800, 51_200]);
    assert_eq!(oracle(64, 2, 2).ends, [512]);
    let widest = oracle(64, 255, u32::MAX);
    assert!(widest.ends.is_sorted());
}

#[test]
fn trims_may_be_part_of_the_future_or_not() {
    for knows_trims in [false, true] {
        let mut oracle = oracle(64, 4, 2);
        let mut telling = NextUseBuilder::new(64);
        let lpn = Lpn::new(5);
        telling.push(lpn).unwrap();
        (0..10).for_each(|_| telling.push(Lpn::new(6)).unwrap());
        if knows_trims {
            telling.end(lpn);
            telling.end(Lpn::new(9));
        }
        (0..600).for_each(|_| telling.push(Lpn::new(6)).unwrap());
        telling.push(lpn).unwrap();
        oracle.set_future(telling.finish());
        assert_eq!(oracle.classify(relocation(9, 0)), if knows_trims { 3 } else { 0 });
        assert_eq!(oracle.stream(write(5)), if knows_trims { 3 } else { 0 });
        (0..10).for_each(|_| assert_eq!(oracle.stream(write(6)), 3));
        oracle.observe(PlacementEvent::Trimmed(lpn));
        (0..600).for_each(|_| _ = oracle.stream(write(6)));
        assert_eq!(oracle.stream(write(5)), 0);
    }
}

#[test]
#[should_panic(expected = "the future was of another workload")]
fn a_wrong_future_is_a_bug() {
    let mut oracle = oracle(64, 4, 2);
    oracle.set_future(next_uses(64, &[1, 2, 1, 2]));
    [1, 2, 2].into_iter().for_each(|lpn| _ = oracle.stream(write(lpn)));
}

#[test]
fn every_page_is_where_its_remaining_life_says() {
    let mut rng = Rng::new(84);
    let writes: Vec<u32> = (0..5000).map(|_| (rng.below(20) * rng.below(20)) as u32).collect();
    let mut oracle = oracle(400, 6, 2);
    let is_cold = |oracle: &mut Oracle| oracle.stream(write(7)) == 0;
    assert!((0..50).all(|_| is_cold(&mut oracle)), "without a future");
    oracle.set_future(next_uses(400, &writes));
    for (now, &lpn) in writes.iter().enumerate() {
        let judge = |left: Option<usize>| {
            let short = |left: usize| oracle.ends.iter().filter(|&&end| end > left as u64).count();
            left.map_or(0, short) as u8
        };
        let written =
            judge(writes[now + 1..].iter().position(|&other| other == lpn).map(|n| n + 1));
        let asked = rng.below(400) as u32;
        let moved = judge(writes[now + 1..].iter().position(|&other| other == asked));
        assert_eq!(oracle.stream(write(lpn)), written);
        assert_eq!(oracle.moved(relocation(asked, 0)), moved);
    }
    assert!(is_cold(&mut oracle), "after the known future");
}
