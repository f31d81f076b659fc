//! Finds the unit with the highest score, where scores grow linearly with time.
//!
//! A score is `gain / cost * (now - origin)`: the gain of a clean over its cost, times an age.
//! Gain, cost and origin of a unit change only when the unit changes. So each stream has a
//! tournament, and a result of it holds until the line of a steeper unit crosses the winner's line.
//! The work of a clean grows with the number of units changed since the last clean, and of
//! crossings since then. Both are amortised over the pages written in between.
//!
//! Scores are compared as fractions, exactly. Among equal scores the steeper line goes first (it is
//! ahead a moment later), then the earlier origin, then the lower number. A cost of 0 is an
//! infinite score; among infinite scores the earlier origin goes first. A gain of 0 is always a
//! score of 0: such a unit is taken only if there is no other.
//!
//! Times of crossings are rounded down, by more than the error of their division. So a unit may be
//! compared too early, but never too late.

use core::cmp::Reverse;

use alloc::vec;
use alloc::vec::Vec;

use super::VictimConfig;
use super::tournament::{Contender, FOREVER, Leaves, NOBODY, Tournament};
use crate::addr::Unit;
use crate::unit_table::{Pool, UnitTable};

crate::choice! {
    /// Event from which a unit ages, in pages that the host has written.
    pub enum Age {
        /// The opening of the unit.
        Opened = "opened",
        /// The sealing of the unit, which is when it last received data.
        Sealed = "sealed",
        /// The sealing of the unit or its last loss of a page, the later of both.
        Modified = "modified",
    }
}

impl Age {
    fn origin(self, table: &UnitTable, unit: Unit) -> u64 {
        match self {
            Self::Opened => table.opened(unit),
            Self::Sealed => table.sealed_at(unit),
            Self::Modified => table.modified(unit),
        }
    }
}

/// Parameters of a unit's score, a line over time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Line {
    pub(super) gain: u32,
    pub(super) cost: u64,
    /// Time at which the score was 0.
    pub(super) origin: u64,
    pub(super) unit: Unit,
}

crate::state!(blank Line { gain, cost, origin, unit });

/// A factor slightly below 1. It makes a quotient of two rounded numbers lower than the exact one.
const BELOW_ONE: f64 = 1.0 - 1.0 / (1u64 << 50) as f64;

impl Contender for Line {
    const NONE: Self = Self { gain: 0, cost: 0, origin: 0, unit: NOBODY };

    fn unit(&self) -> Unit {
        self.unit
    }

    fn beats(&self, other: &Self, now: u64) -> (bool, u64) {
        if self.cost == 0 || other.cost == 0 {
            let rank = |line: &Self| (line.cost != 0, line.origin, line.unit);
            return (rank(self) < rank(other), FOREVER);
        }
        // Scores times both costs. They are below 2^128 on every drive with age and wear below
        // 2^40.
        let slope = |line: &Self, cost: u64| u128::from(line.gain) * u128::from(cost);
        let slopes = [slope(self, other.cost), slope(other, self.cost)];
        let score = |slope: u128, line: &Self| slope * u128::from(now - line.origin);
        let scores = [score(slopes[0], self), score(slopes[1], other)];
        let rank = |at: usize, line: &Self| {
            (scores[at], slopes[at], Reverse(line.origin), Reverse(line.unit))
        };
        let first = rank(0, self) > rank(1, other);
        let (winner, loser) = if first { (0, 1) } else { (1, 0) };
        if slopes[winner] >= slopes[loser] {
            return (first, FOREVER);
        }
        let lead = (scores[winner] - scores[loser]) as f64;
        let gained = (slopes[loser] - slopes[winner]) as f64;
        (first, now.saturating_add((lead / gained * BELOW_ONE) as u64))
    }
}

/// Distance of prefetches, in units.
const AHEAD: usize = 3;

/// Gain and cost of cleaning a unit.
pub(super) type Rate = fn(&UnitTable, Unit) -> (u32, u64);

/// A tournament of scores for each stream.
#[derive(Clone, Debug)]
pub(super) struct Kinetic {
    leaves: Leaves,
    /// Stream in which a unit takes part, by unit.
    streams: Vec<u8>,
    tournaments: Vec<Tournament<Line>>,
    age: Age,
    rate: Rate,
    changed: Vec<Unit>,
}

crate::state!(Kinetic { leaves, streams, tournaments, changed } fixed { age, rate });

impl Kinetic {
    /// Makes empty tournaments for the units and streams of a config.
    pub(super) fn new(config: &VictimConfig, age: Age, rate: Rate) -> Self {
        let VictimConfig { units, streams, .. } = *config;
        Self {
            leaves: Leaves::new(units),
            streams: vec![0; units as usize],
            tournaments: vec![Tournament::new(); streams.into()],
            age,
            rate,
            changed: Vec::new(),
        }
    }

    /// Returns the unit of a pool with the highest score.
    pub(super) fn best(&mut self, table: &mut UnitTable, pool: Pool) -> Option<Unit> {
        self.follow(table);
        let now = table.now();
        let winner = |stream: u8| self.tournaments[usize::from(stream)].winner(now);
        let winners = table.streams(pool).filter_map(winner);
        let best = winners.reduce(|best, line| if line.beats(&best, now).0 { line } else { best });
        best.map(|line| line.unit)
    }

    fn follow(&mut self, table: &mut UnitTable) {
        let Self { leaves, streams, tournaments, changed, .. } = self;
        table.take_changed(changed);
        let now = table.now();
        for (at, &unit) in changed.iter().enumerate() {
            if let Some(&later) = changed.get(at + 2 * AHEAD) {
                table.prefetch_unit(later);
                leaves.prefetch(later);
            }
            if let Some(&soon) = changed.get(at + AHEAD) {
                tournaments[usize::from(streams[soon.index()])].prefetch(leaves, soon);
            }
            let (held, stream) = (&mut streams[unit.index()], table.stream(unit));
            let stays = table.is_sealed(unit) && stream == *held;
            if leaves.takes_part(unit) && !stays {
                tournaments[usize::from(*held)].remove(leaves, unit, now);
            }
            if table.is_sealed(unit) {
                *held = stream;
                let (gain, cost) = (self.rate)(table, unit);
                let line = Line { gain, cost, origin: self.age.origin(table, unit), unit };
                tournaments[usize::from(stream)].set(leaves, line, now);
            }
        }
        changed.clear();
    }
}
