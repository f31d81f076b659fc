//! The controller's memory for host writes. A write is acknowledged when its data is in the memory;
//! the space is free again when the data is programmed.

use alloc::collections::VecDeque;

use crate::clock::{Chain, Gate};
use crate::nand::timed::graph::Nodes;

/// Memory for data that is not programmed yet.
#[derive(Clone, Debug)]
pub struct WriteMemory {
    /// Capacity in pages. Data of program units that are not full is accepted beyond the capacity.
    pages: u64,
    used: u64,
    /// Programs, the oldest first, and the pages that each frees.
    programs: VecDeque<(Chain, u32)>,
    /// Where writes wait for room, if they get it in order.
    pub gate: Gate,
}

impl WriteMemory {
    /// Creates a memory for `pages` pages.
    pub(super) fn new(pages: u64) -> Self {
        Self { pages, used: 0, programs: VecDeque::new(), gate: Gate::OPEN }
    }

    /// Notes a program, which frees `pages` pages when it is complete.
    #[inline(always)]
    pub fn frees(&mut self, program: Chain, pages: u32) {
        self.programs.push_back((program, pages));
    }

    /// Stores `pages` pages, if the memory has room for them. If not, removes and returns the
    /// oldest program: the pages have to wait for it.
    pub fn store(&mut self, pages: u64, nodes: &Nodes) -> Option<Chain> {
        while self.programs.front().is_some_and(|&(first, _)| !nodes.is_live(first)) {
            self.pop();
        }
        let program = if self.used + pages > self.pages { self.pop() } else { None };
        if program.is_none() {
            self.used += pages;
        }
        program
    }

    /// Removes and returns the oldest program. Its pages count as free.
    pub fn pop(&mut self) -> Option<Chain> {
        let (program, freed) = self.programs.pop_front()?;
        self.used -= u64::from(freed);
        Some(program)
    }
}
