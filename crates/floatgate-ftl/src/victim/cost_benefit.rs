//! Cost-benefit cleaning: space that a clean gives back, over its cost, times the unit's age.
//!
//! Kawaguchi, Nishioka and Motoda (USENIX 1995) clean the unit with the greatest `age * (1 - u) /
//! 2u`, where `u` is its valid share: reading and rewriting what is valid costs `2u`. Age is the
//! time since a page of the unit was last given up (or since it was sealed, if none was): a unit
//! that has not lost anything for long will not soon lose more.
//!
//! Deviates: time is counted in pages that the host has written. Costs a comparison or two per
//! page written, in [`Kinetic`]'s tournaments.

use super::kinetic::{Age, Kinetic};
use super::{Victim, VictimConfig};
use crate::addr::Unit;
use crate::saved::State;
use crate::unit_table::{Pool, UnitTable};

/// Greatest age times space over cost first.
#[derive(Clone, Debug)]
pub struct CostBenefit(Kinetic);

crate::state!(CostBenefit(_));

impl CostBenefit {
    /// For a drive of this size.
    pub fn new(config: &VictimConfig) -> Self {
        Self(Kinetic::new(config, Age::Modified, rate))
    }
}

/// The 2 is the same for all and left out.
fn rate(table: &UnitTable, unit: Unit) -> (u32, u64) {
    let valid = table.valid(unit);
    (table.pages_per_unit() - valid, valid.into())
}

impl Victim for CostBenefit {
    fn follows_changes(&self) -> bool {
        true
    }

    fn pick(&mut self, table: &mut UnitTable, pool: Pool) -> Option<Unit> {
        self.0.best(table, pool)
    }

    fn state(&mut self) -> Option<&mut dyn State> {
        Some(self)
    }
}
