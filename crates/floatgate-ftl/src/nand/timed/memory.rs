//! The controller's memory for host writes. A write is acknowledged when its data is in the memory;
//! the space is free again when the data is programmed.

use alloc::collections::VecDeque;

use super::scheduler::Scheduler;
use crate::clock::{Chain, Clock, Component};

/// Memory for data that is not programmed yet.
#[derive(Clone, Debug)]
pub(super) struct WriteMemory {
    /// Capacity in pages. Data of program units that are not full is accepted beyond the capacity.
    pages: u64,
    used: u64,
    /// Programs in the order in which they were begun, and the pages that each frees.
    programs: VecDeque<(Chain, u32)>,
}

impl WriteMemory {
    /// Creates a memory for `pages` pages.
    pub(super) fn new(pages: u64) -> Self {
        Self { pages, used: 0, programs: VecDeque::new() }
    }

    /// Removes and returns the oldest program, if the memory lacks room for `pages` pages.
    fn in_the_way(&mut self, pages: u64) -> Option<Chain> {
        if self.used + pages <= self.pages {
            return None;
        }
        self.first()
    }

    /// Removes and returns the oldest program. Its pages count as free.
    fn first(&mut self) -> Option<Chain> {
        let (program, freed) = self.programs.pop_front()?;
        self.used -= u64::from(freed);
        Some(program)
    }
}

impl Scheduler {
    /// Notes a program: when it is complete, `pages` more host pages are on flash. A FLUSH waits
    /// for it.
    #[inline(always)]
    pub(super) fn frees(&mut self, program: Chain, pages: u32) {
        if let Some(memory) = &mut self.memory {
            memory.programs.push_back((program, pages));
        }
    }

    /// Makes a chain wait until the memory has room for `pages` pages. Returns whether the drive
    /// has such a memory.
    pub(super) fn take_write_memory(&mut self, chain: &mut Chain, pages: u64) -> bool {
        let Some(mut memory) = self.memory.take() else { return false };
        while memory.programs.front().is_some_and(|&(first, _)| !self.is_live(first)) {
            memory.first();
        }
        while let Some(program) = memory.in_the_way(pages) {
            self.wait(chain, program, Component::Buffer);
        }
        memory.used += pages;
        self.memory = Some(memory);
        true
    }

    /// Makes a chain wait for all programs whose data is still in the memory.
    pub(super) fn wait_for_all_programs(&mut self, chain: &mut Chain) {
        let Some(mut memory) = self.memory.take() else { return };
        while let Some(program) = memory.first() {
            self.wait(chain, program, Component::Buffer);
        }
        self.memory = Some(memory);
    }
}
