//! Policies that draw units at random.

use super::*;

/// Number of times each unit is chosen.
fn frequencies(policy: &mut dyn Victim, history: &mut History, pool: Pool) -> Vec<u32> {
    let mut counts = vec![0; history.units as usize];
    for _ in 0..9000 {
        counts[policy.pick(&mut history.table, pool).expect("some are sealed").index()] += 1;
    }
    counts
}

#[test]
fn random_draws_the_units_of_the_pool_equally_often() {
    let mut history = full(9, 4);
    history.invalidate(3);
    history.invalidate(3);
    history.invalidate(4);
    let mut with = |redraw, pool| {
        history.table.track_changes();
        let config = VictimConfig { random: RandomConfig { redraw }, ..config(9) };
        let mut policy = Random::new(&config);
        // The policy did not follow from the start, so all units are written again.
        let sealed = history.sealed(Pool::All);
        sealed.into_iter().for_each(|unit| {
            history.clean(unit);
            let stream = (unit.0 % u32::from(STREAMS)) as u8;
            (0..4).for_each(|_| history.program(stream));
        });
        [3, 3, 4].into_iter().for_each(|unit| history.invalidate(unit));
        frequencies(&mut policy, &mut history, pool)
    };
    let even = |count: u32, share: u32| count.abs_diff(9000 / share) < 250;
    assert!(with(Redraw::None, Pool::All).into_iter().all(|count| even(count, 9)));
    let stream = with(Redraw::None, Pool::Stream(1));
    assert!((0..).zip(&stream).all(|(unit, &n)| if unit % 3 == 1 { even(n, 3) } else { n == 0 }));
    let full = with(Redraw::Full, Pool::All);
    assert!(even(full[3], 2) && even(full[4], 2), "{full:?}");
    // 33 of 36 pages are valid: the average is 3.67, and 3 is below it.
    let average = with(Redraw::Average, Pool::All);
    assert!(even(average[3], 2) && even(average[4], 2), "{average:?}");
    assert_eq!(with(Redraw::Average, Pool::Stream(0))[3], 9000, "the only one below the average");
}

#[test]
fn random_keeps_its_rule_where_it_can() {
    for redraw in [Redraw::Full, Redraw::Average] {
        for seed in 0..5 {
            let mut history = History::new(20, 6, seed);
            let mut policy =
                Random::new(&VictimConfig { random: RandomConfig { redraw }, ..config(20) });
            for _ in 0..5000 {
                history.step();
                let pool = pool(&mut history.rng);
                let sealed = history.sealed(pool);
                let picked = policy.pick(&mut history.table, pool);
                assert_eq!(picked.is_some(), !sealed.is_empty());
                let Some(unit) = picked else { continue };
                let valid = |unit: &Unit| history.table.valid(*unit);
                let sum = sealed.iter().map(valid).sum::<u32>();
                let passes = |unit: &Unit| match redraw {
                    Redraw::Average => valid(unit) * (sealed.len() as u32) < sum,
                    _ => valid(unit) < 6,
                };
                assert!(sealed.contains(&unit));
                assert!(passes(&unit) || !sealed.iter().any(passes), "{redraw:?}");
            }
        }
    }
}

#[test]
fn many_choices_find_the_emptiest() {
    for seed in 0..5 {
        let mut history = History::new(20, 6, seed);
        let mut policy =
            DChoices::new(&VictimConfig { d_choices: DChoicesConfig { d: 400 }, ..config(20) });
        for _ in 0..3000 {
            history.step();
            let pool = pool(&mut history.rng);
            let fewest = history.sealed(pool).iter().map(|&unit| history.table.valid(unit)).min();
            let picked = policy.pick(&mut history.table, pool);
            assert_eq!(picked.map(|unit| history.table.valid(unit)), fewest);
        }
    }
}

#[test]
fn draws_follow_from_the_seed() {
    for name in ["random", "d_choices"] {
        let sequence = |seed| {
            let mut history = History::new(20, 6, 1);
            let config = VictimConfig { seed, d_choices: DChoicesConfig { d: 2 }, ..config(20) };
            let mut policy = victim(name, &config).expect("a row of the table");
            let mut picked = vec![];
            for _ in 0..1000 {
                history.step();
                picked.push(policy.pick(&mut history.table, Pool::All));
            }
            picked
        };
        assert_eq!(sequence(1), sequence(1));
        assert_ne!(sequence(1), sequence(2));
    }
}
