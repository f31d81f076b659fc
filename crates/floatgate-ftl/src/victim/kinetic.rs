//! The unit whose score is highest, where a score grows linearly with time.
//!
//! A score is `gain / cost * (now - origin)`: what a clean gains over what it costs, times an age.
//! Gain, cost and origin of a unit change only when the unit does, so each stream has a tournament
//! whose results hold until the line of a steeper unit crosses that of the winner. A clean costs
//! the units that have changed since the last one, and the crossings that have gone by: both are
//! paid for by the pages written in between.
//!
//! Scores are compared as fractions, exactly. Of equal ones the steeper goes first (it is ahead a
//! moment later), then the earlier origin, then the lower number. A cost of 0 is an infinite
//! score; among infinite ones the earlier origin goes first. A gain of 0 is a score of 0 for ever:
//! such a unit is taken if there is nothing else.
//!
//! Times of crossings are rounded down, by more than the error of their division: a unit may be
//! compared too early, never too late.

use core::cmp::Reverse;

use alloc::vec;
use alloc::vec::Vec;

use super::VictimConfig;
use super::tournament::{Contender, FOREVER, Leaves, NOBODY, Tournament};
use crate::addr::Unit;
use crate::unit_table::{Pool, UnitTable};

crate::choice! {
    /// Since when a unit ages, in pages that the host has written.
    pub enum Age {
        /// Since it was opened.
        Opened = "opened",
        /// Since it was sealed: since data last came into it.
        Sealed = "sealed",
        /// Since it was sealed or lost a page, whichever came last.
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

/// What a unit's score is made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Line {
    pub(super) gain: u32,
    pub(super) cost: u64,
    /// When the score was 0.
    pub(super) origin: u64,
    pub(super) unit: Unit,
}

crate::state!(blank Line { gain, cost, origin, unit });

/// A little less than 1: times a quotient of two rounded numbers, it is below the true one.
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
        // Both times both costs: below 2^128 for every drive whose age and wear are below 2^40.
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

/// How many units ahead memory is asked for.
const AHEAD: usize = 3;

/// Gain and cost of cleaning a unit.
pub(super) type Rate = fn(&UnitTable, Unit) -> (u32, u64);

/// A tournament of scores for each stream.
#[derive(Clone, Debug)]
pub(super) struct Kinetic {
    leaves: Leaves,
    /// The stream in which a unit takes part.
    streams: Vec<u8>,
    tournaments: Vec<Tournament<Line>>,
    age: Age,
    rate: Rate,
    changed: Vec<Unit>,
}

crate::state!(Kinetic { leaves, streams, tournaments, changed } fixed { age, rate });

impl Kinetic {
    /// For the units and streams of a config.
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

    /// The unit of a pool with the highest score.
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
