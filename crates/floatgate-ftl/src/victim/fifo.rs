//! FIFO cleaning: cleans the unit that was sealed first, however many valid pages it has.
//!
//! This is the "LRU" policy of Desnoyers (SYSTOR 2012), whose write amplification has a closed form
//! for every block size. It costs nothing per page, and a look at each stream per clean.

use super::{Victim, VictimConfig};
use crate::addr::Unit;
use crate::policy::Policy;
use crate::unit_table::{Pool, UnitTable};

/// FIFO: the unit that was sealed first is cleaned first.
#[derive(Clone, Copy, Debug)]
pub struct Fifo;

crate::state!(Fifo);

impl Fifo {
    /// Makes the policy, which has no settings.
    pub fn new(_: &VictimConfig) -> Self {
        Self
    }
}

impl Victim for Fifo {
    fn pick(&mut self, table: &mut UnitTable, pool: Pool) -> Option<Unit> {
        table.oldest(pool)
    }
}

impl Policy for Fifo {}
