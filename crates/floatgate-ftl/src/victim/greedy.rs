//! Greedy cleaning: the unit with the fewest valid pages.
//!
//! Optimal for uniform writes (Bux and Iliadis 2010). Among units with equally few the one that
//! has gone longest without losing a page is taken, as in Desnoyers' simulator (SYSTOR 2012).
//! Costs nothing per page beyond the lists that [`Blocks`] keeps, and nothing per clean.

use super::Victim;
use crate::addr::Unit;
use crate::blocks::Blocks;

/// Fewest valid pages first.
#[derive(Clone, Copy, Debug)]
pub struct Greedy;

impl Victim for Greedy {
    fn pick(&mut self, blocks: &Blocks) -> Option<Unit> {
        blocks.fewest_valid()
    }
}
