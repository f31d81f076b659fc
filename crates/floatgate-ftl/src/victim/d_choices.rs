//! d-choices cleaning: draws `d` units at random, and cleans the one with the fewest valid pages.
//!
//! In Van Houdt (SIGMETRICS 2013) the draws are uniform, with replacement. Among equally full units
//! the one drawn first is cleaned. `d` = 1 is random cleaning, and a large `d` is greedy. In
//! between, the write amplification of uniform writes has a mean-field limit (docs/algorithms.md,
//! 6.2). Randomized greedy is the same idea (Li, Lee and Lui, SIGMETRICS 2013). Only sealed units
//! of the pool are drawn. The cost is a step per page lost, and `d` look-ups per clean.

use super::roster::Roster;
use super::{Victim, VictimConfig};
use crate::addr::Unit;
use crate::policy::Policy;
use crate::unit_table::{Pool, UnitTable};

crate::parameters! {
    /// Parameters of [`DChoices`].
    pub struct DChoicesConfig {
        /// Units drawn at random, d. The drawn unit with the fewest valid pages is cleaned.
        d: u32 = 10, from 1 to 1_000_000;
    }
}

/// d-choices: the emptiest of `d` units drawn.
#[derive(Clone, Debug)]
pub struct DChoices {
    choices: u32,
    roster: Roster,
}

crate::state!(DChoices { roster } fixed { choices });

impl DChoices {
    /// Makes the policy with the configured number of draws.
    pub fn new(config: &VictimConfig) -> Self {
        let roster = Roster::new(config.units, config.streams, config.seed);
        Self { choices: config.d_choices.d.max(1), roster }
    }
}

impl Victim for DChoices {
    fn follows_changes(&self) -> bool {
        true
    }

    fn pick(&mut self, table: &mut UnitTable, pool: Pool) -> Option<Unit> {
        let (count, _) = self.roster.follow(table, pool);
        if count == 0 {
            return None;
        }
        let drawn = (0..self.choices).map(|_| self.roster.draw(table, pool, count));
        drawn.min_by_key(|&unit| table.valid_share(unit))
    }
}

impl Policy for DChoices {}
