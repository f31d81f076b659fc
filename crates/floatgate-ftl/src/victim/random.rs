//! Random cleaning: draws any unit, or any unit that is not too full.
//!
//! Van Houdt (SIGMETRICS 2013) has the plain form. Its write amplification under uniform writes is
//! 1 over the spare factor. MQSim (FAST 2018) also has RANDOM_P, which draws again if the unit has
//! no invalid page, and RANDOM_PP, which draws again if the unit is too full. Here a unit is too
//! full if its share of valid pages is not below that of the pool's units together.
//!
//! After [`DRAWS_MAX`] draws the emptiest unit of the pool is taken. If any unit of the pool is
//! acceptable, this one is. The cost is a step per page lost, and the draws per clean.

use super::roster::Roster;
use super::{Victim, VictimConfig};
use crate::addr::Unit;
use crate::policy::Policy;
use crate::unit_table::{Pool, UnitTable, ValidShare};

/// Maximum number of draws per clean.
pub const DRAWS_MAX: u32 = 1000;

crate::choice! {
    /// Which units are rejected, so that another unit is drawn.
    pub enum Redraw {
        /// None.
        None = "none",
        /// Units without an invalid page: random+, MQSim's RANDOM_P.
        Full = "full",
        /// Units with no fewer valid pages than the average: random++, MQSim's RANDOM_PP.
        Average = "average",
    }
}

crate::parameters! {
    /// Parameters of [`Random`].
    pub struct RandomConfig {
        /// Which units are rejected, so that another unit is drawn.
        redraw: Redraw = Redraw::None;
    }
}

/// Random: a unit drawn at random.
#[derive(Clone, Debug)]
pub struct Random {
    redraw: Redraw,
    roster: Roster,
}

crate::state!(Random { roster } fixed { redraw });

impl Random {
    /// Makes the policy with the configured rule for rejection.
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
        let all_pages = u128::from(table.sealed_pages(pool));
        let passes = |unit: Unit| match self.redraw {
            Redraw::None => true,
            Redraw::Full => table.reclaim_valid(unit) < table.reclaim_capacity(unit),
            Redraw::Average => {
                let ValidShare { valid: own, pages } = table.valid_share(unit);
                u128::from(own) * all_pages < u128::from(pages) * u128::from(valid)
            }
        };
        let mut draws = (0..DRAWS_MAX).map(|_| self.roster.draw(table, pool, count));
        draws.find(|&unit| passes(unit)).or_else(|| {
            let emptiest = table.streams(pool).filter_map(|stream| table.fewest_valid(stream));
            emptiest.min_by_key(|&unit| table.valid_share(unit))
        })
    }
}

impl Policy for Random {}
