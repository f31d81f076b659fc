//! Tournaments: the winner changes at the stated time, with few comparisons.

use super::*;
use crate::victim::kinetic::Line;
use crate::victim::tournament::{Contender, Leaves, Tournament};

#[test]
fn units_change_places_at_the_given_times() {
    let line = |gain, cost, origin, unit| Line { gain, cost, origin, unit: Unit(unit) };
    // A large unit, old and worn.
    let now = 1 << 40;
    let (steep, flat) = (line(1 << 20, 1, now - 1, 0), line(1, 1 << 40, 0, 1));
    assert_eq!(steep.beats(&flat, now), (true, u64::MAX));
    let mut rng = Rng::new(1);
    for _ in 0..100_000 {
        // The times at which they cross are close, far, or never.
        let mut draw = |unit| {
            let (gains, costs) = (1 << rng.below(12), 1 << rng.below(20));
            line(rng.below(gains) as u32, 1 + rng.below(costs), rng.below(1000), unit)
        };
        let (a, b) = (draw(0), draw(1));
        let (first, until) = a.beats(&b, 1000);
        assert_eq!(b.beats(&a, 1000), (!first, until));
        let still = |now| a.beats(&b, now).0 == first;
        let far = 1 << 40;
        assert!(still(until.min(far)), "until {until}: {a:?} {b:?}");
        // Rounded down, but not by so much that early comparisons cost time.
        assert!(until >= far || !still(until + 2), "until {until}: {a:?} {b:?}");
    }
}

/// A line that counts its comparisons.
#[derive(Clone, Copy, PartialEq)]
struct Compared(Line);

std::thread_local! {
    static COMPARISONS: core::cell::Cell<u64> = const { core::cell::Cell::new(0) };
}

impl Contender for Compared {
    const NONE: Self = Self(Line::NONE);

    fn unit(&self) -> Unit {
        self.0.unit
    }

    fn beats(&self, other: &Self, now: u64) -> (bool, u64) {
        COMPARISONS.set(COMPARISONS.get() + 1);
        self.0.beats(&other.0, now)
    }
}

/// Comparisons per page lost, with `units` units of 64 pages that lose them at random. A clean
/// follows after one in thirteen losses. `cost` returns the cost of a unit with that many valid
/// pages. Origins change with every loss if `moves`.
fn comparisons(units: u32, cost: fn(u32) -> u64, moves: bool) -> f64 {
    let (mut rng, mut leaves) = (Rng::new(1), Leaves::new(units));
    let mut tournament = Tournament::new();
    let mut valid = vec![64u32; units as usize];
    let mut lines: Vec<_> = (0..units).map(|unit| (u64::from(unit), Unit(unit))).collect();
    let rounds = 20 * u64::from(units);
    for step in 0..2 * rounds {
        let now = u64::from(units) + step;
        if step == rounds {
            COMPARISONS.set(0);
        }
        let at = rng.below(u64::from(units)) as usize;
        // A unit with more valid pages loses pages faster.
        if rng.below(64) < u64::from(valid[at]) {
            valid[at] -= 1;
            lines[at].0 = if moves { now } else { lines[at].0 };
        }
        let mut set = |tournament: &mut Tournament<_>, at: usize, valid: u32, origin| {
            let line = Line { gain: 64 - valid, cost: cost(valid), origin, unit: lines[at].1 };
            tournament.set(&mut leaves, Compared(line), now);
        };
        set(&mut tournament, at, valid[at], lines[at].0);
        if step % 13 == 0 {
            let best = tournament.winner(now).expect("one is in").unit().index();
            tournament.remove(&mut leaves, Unit(best as u32), now);
            (valid[best], lines[best].0) = (64, now);
        }
    }
    COMPARISONS.get() as f64 / rounds as f64
}

#[test]
fn a_loss_costs_as_few_comparisons_on_a_large_drive() {
    for (cost, moves) in [
        ((|valid| u64::from(valid)) as fn(u32) -> u64, true), // Cost-benefit.
        (|valid| u64::from(valid), false),                    // CAT.
        (|valid| if valid == 0 { 0 } else { 64 + u64::from(valid) }, false), // LFS.
    ] {
        let [small, large] = [1000, 16_000].map(|units| comparisons(units, cost, moves));
        assert!(large < 1.5 * small && large < 12.0, "{small:.2} comparisons, then {large:.2}");
    }
}
