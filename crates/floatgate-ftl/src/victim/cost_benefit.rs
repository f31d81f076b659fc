//! Cost-benefit cleaning: space gained by a clean, over its cost, times the unit's age.
//!
//! Kawaguchi, Nishioka and Motoda (USENIX 1995) clean the unit with the greatest `age * (1 - u) /
//! 2u`, where `u` is its valid share: reading and rewriting the valid pages costs `2u`. Age is the
//! time since a page of the unit was last invalidated (or since the unit was sealed, if none was).
//! A unit that has lost no page for a long time is not likely to lose more soon.
//!
//! One difference: time is counted in pages that the host has written. The cost is a comparison or
//! two per page written, in [`Kinetic`]'s tournaments.

use super::kinetic::{Age, Kinetic};
use super::{Victim, VictimConfig};
use crate::addr::Unit;
use crate::policy::Policy;
use crate::unit_table::{Pool, UnitTable, ValidShare};

/// Cost-benefit: greatest age times space over cost first.
#[derive(Clone, Debug)]
pub struct CostBenefit(Kinetic);

crate::state!(CostBenefit(_));

impl CostBenefit {
    /// Makes the policy for a drive of this size.
    pub fn new(config: &VictimConfig) -> Self {
        Self(Kinetic::new(config, Age::Modified, rate))
    }
}

/// Leaves out the factor 2, which is equal for all units.
fn rate(table: &UnitTable, unit: Unit) -> (u32, u64) {
    let ValidShare { valid, pages } = table.valid_share(unit);
    (pages - valid, valid.into())
}

impl Victim for CostBenefit {
    fn follows_changes(&self) -> bool {
        true
    }

    fn pick(&mut self, table: &mut UnitTable, pool: Pool) -> Option<Unit> {
        self.0.best(table, pool)
    }
}

impl Policy for CostBenefit {}
