//! Greedy cleaning: cleans the unit with the fewest valid pages.
//!
//! Greedy is optimal for uniform writes (Bux and Iliadis 2010). Among equal units of a stream, it
//! takes the unit that has lost no page for the longest time. Between streams a tie rule decides.
//! Desnoyers' simulator (SYSTOR 2012) compares the best units of the hot and the cold pool by a
//! strict "less", so a tie cleans the cold one. docs/algorithms.md, 6.5, has the effect of the tie
//! rule. The policy costs nothing per page beyond the lists that [`UnitTable`] keeps, and a look at
//! each stream per clean.

use super::{Victim, VictimConfig};
use crate::addr::Unit;
use crate::policy::Policy;
use crate::unit_table::{Pool, UnitTable};

crate::choice! {
    /// Which stream is cleaned if the emptiest units of several streams are equally full.
    pub enum Tie {
        /// The coldest stream.
        Cold = "cold",
        /// The hottest stream.
        Hot = "hot",
        /// The stream whose unit was least recently invalidated.
        Oldest = "oldest",
    }
}

/// Greedy: fewest valid pages first.
#[derive(Clone, Copy, Debug)]
pub struct Greedy {
    tie: Tie,
}

crate::state!(Greedy);

impl Greedy {
    /// Makes the policy with the configured tie rule.
    pub fn new(config: &VictimConfig) -> Self {
        Self { tie: config.tie }
    }
}

impl Victim for Greedy {
    fn pick(&mut self, table: &mut UnitTable, pool: Pool) -> Option<Unit> {
        let emptiest = table.streams(pool).filter_map(|stream| table.fewest_valid(stream));
        emptiest.min_by_key(|&unit| {
            let stream = u64::from(table.stream(unit));
            let rank = match self.tie {
                Tie::Cold => stream,
                Tie::Hot => u64::from(u8::MAX) - stream,
                Tie::Oldest => table.modified(unit),
            };
            (table.valid_share(unit), rank)
        })
    }
}

impl Policy for Greedy {}
