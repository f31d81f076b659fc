//! FIFO cleaning: the unit that was sealed first, however many valid pages it has.
//!
//! The "LRU" policy of Desnoyers (SYSTOR 2012), whose write amplification has a closed form for
//! every block size. Costs nothing per page and nothing per clean.

use super::Victim;
use crate::addr::Unit;
use crate::blocks::Blocks;

/// Sealed first, cleaned first.
#[derive(Clone, Copy, Debug)]
pub struct Fifo;

impl Victim for Fifo {
    fn pick(&mut self, blocks: &Blocks) -> Option<Unit> {
        blocks.oldest()
    }
}
