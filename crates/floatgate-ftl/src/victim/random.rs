//! Random cleaning: any unit, or any that is not too full.
//!
//! Van Houdt (SIGMETRICS 2013) has the plain form, for which uniform writes are amplified by 1
//! over the spare factor; MQSim (FAST 2018) also has RANDOM_P, which draws again if the unit has
//! no invalid page, and RANDOM_PP, which draws again if it is too full. Too full is here: as full
//! as the pool's units are on average, or more.
//!
//! After [`DRAWS_MAX`] draws the emptiest unit of the pool is taken, which passes if any does.
//! Costs a step per page lost, and the draws per clean.

use super::roster::Roster;
use super::{Victim, VictimConfig};
use crate::addr::Unit;
use crate::saved::State;
use crate::unit_table::{Pool, UnitTable};

/// Draws per clean at most.
pub const DRAWS_MAX: u32 = 1000;

crate::choice! {
    /// Which units are drawn again.
    pub enum Redraw {
        /// None.
        None = "none",
        /// Those without an invalid page: random+, MQSim's RANDOM_P.
        Full = "full",
        /// Those with no fewer valid pages than the average: random++, MQSim's RANDOM_PP.
        Average = "average",
    }
}

crate::parameters! {
    /// Parameters of [`Random`].
    pub struct RandomConfig {
        /// Which units are rejected, and another drawn.
        redraw: Redraw = Redraw::None;
    }
}

/// A unit drawn at random.
#[derive(Clone, Debug)]
pub struct Random {
    redraw: Redraw,
    roster: Roster,
}

crate::state!(Random { roster } fixed { redraw });

impl Random {
    /// With a rule for drawing again.
    pub fn new(config: &VictimConfig) -> Self {
        let roster = Roster::new(config.units, config.streams, config.seed);
        Self { redraw: config.random.redraw, roster }
    }
}

impl Victim for Random {
    fn follows_changes(&self) -> bool {
        true
    }

    fn pick(&mut self, table: &mut UnitTable, pool: Pool) -> Option<Unit> {
        let (count, valid) = self.roster.follow(table, pool);
        if count == 0 {
            return None;
        }
        let passes = |unit: Unit| match self.redraw {
            Redraw::None => true,
            Redraw::Full => table.valid(unit) < table.pages_per_unit(),
            Redraw::Average => u64::from(table.valid(unit)) * count < valid,
        };
        let mut draws = (0..DRAWS_MAX).map(|_| self.roster.draw(table, pool, count));
        draws.find(|&unit| passes(unit)).or_else(|| {
            let emptiest = table.streams(pool).filter_map(|stream| table.fewest_valid(stream));
            emptiest.min_by_key(|&unit| table.valid(unit))
        })
    }

    fn state(&mut self) -> Option<&mut dyn State> {
        Some(self)
    }
}
