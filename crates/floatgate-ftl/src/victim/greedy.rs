//! Greedy cleaning: the unit with the fewest valid pages.
//!
//! Optimal for uniform writes (Bux and Iliadis 2010). Within a stream, of units with equally few
//! the one that has gone longest without losing a page is taken; between streams the tie rule
//! decides: Desnoyers' simulator (SYSTOR 2012) compares the best of the hot and of the cold pool by
//! a strict "less", so that a tie cleans the cold one. How much that matters:
//! docs/algorithms.md, 6.5. Costs nothing per page beyond the lists that [`UnitTable`] keeps, and a
//! look at each stream per clean.

use super::{Victim, VictimConfig};
use crate::addr::Unit;
use crate::saved::State;
use crate::unit_table::{Pool, UnitTable};

crate::choice! {
    /// Which stream is cleaned if the emptiest units of several are equally full.
    pub enum Tie {
        /// The coldest.
        Cold = "cold",
        /// The hottest.
        Hot = "hot",
        /// The one whose unit was least recently invalidated.
        Oldest = "oldest",
    }
}

/// Fewest valid pages first.
#[derive(Clone, Copy, Debug)]
pub struct Greedy {
    tie: Tie,
}

crate::state!(Greedy);

impl Greedy {
    /// With a tie rule.
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
            (table.valid(unit), rank)
        })
    }

    fn state(&mut self) -> Option<&mut dyn State> {
        Some(self)
    }
}
