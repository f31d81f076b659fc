//! Cost-age-times cleaning: prefers units with much space to gain, high age, low cost and low wear.
//!
//! Chiang and Chang (Journal of Systems and Software 48, 1999) clean the unit with the least `u /
//! (1 - u) * 1 / age * CT`, where `u` is its valid share and `CT` its erase count. This is the
//! greatest `age * (1 - u) / (u * CT)`.
//!
//! Decided here: age is the time since the unit was opened, in pages that the host has written.
//! `CT` is the erase count in the unit's life plus 1; otherwise a unit that was never erased would
//! go before every other unit. A unit without a valid page goes first, a unit without an invalid
//! page last. With the time since the unit last lost a page as age ([`Age::Modified`]) the policy
//! comes close to cost-benefit cleaning. Then write amplification under uniform writes is 5.22
//! instead of 4.91 (64 pages, spare factor 0.10), and under separated 90/10 writes 2.42 instead of
//! 2.25.
//!
//! The cost is a comparison or two per page written, in [`Kinetic`]'s tournaments.
//!
//! [`Age::Modified`]: super::Age::Modified

use super::kinetic::{Age, Kinetic};
use super::{Victim, VictimConfig};
use crate::addr::Unit;
use crate::policy::Policy;
use crate::unit_table::{Pool, UnitTable, ValidShare};

crate::parameters! {
    /// Parameters of [`Cat`].
    pub struct CatConfig {
        /// Event from which a unit's age counts.
        age: Age = Age::Opened;
    }
}

/// CAT: greatest age times space over cost and wear first.
#[derive(Clone, Debug)]
pub struct Cat(Kinetic);

crate::state!(Cat(_));

impl Cat {
    /// Makes the policy for a drive of this size.
    pub fn new(config: &VictimConfig) -> Self {
        Self(Kinetic::new(config, config.cat.age, rate))
    }
}

fn rate(table: &UnitTable, unit: Unit) -> (u32, u64) {
    let ValidShare { valid, pages } = table.valid_share(unit);
    let times = u64::from(table.lifetime_erases(unit)) + 1;
    (pages - valid, u64::from(valid) * times)
}

impl Victim for Cat {
    fn follows_changes(&self) -> bool {
        true
    }

    fn pick(&mut self, table: &mut UnitTable, pool: Pool) -> Option<Unit> {
        self.0.best(table, pool)
    }
}

impl Policy for Cat {}
