//! The controller's memory for what the host writes: a write is acknowledged when its data is
//! there, and its place is free again when it is programmed.

use alloc::collections::VecDeque;

use super::scheduler::Scheduler;
use crate::clock::{Chain, Clock, Part};

/// Memory for data that is not programmed yet.
#[derive(Clone, Debug)]
pub(super) struct WriteMemory {
    /// Pages that it is for. What is in program units that are not full is always taken.
    pages: u64,
    used: u64,
    /// Programs that were begun, and how many pages each frees, in the order of their beginning.
    programs: VecDeque<(Chain, u32)>,
}

impl WriteMemory {
    /// Memory for so many pages.
    pub(super) fn new(pages: u64) -> Self {
        Self { pages, used: 0, programs: VecDeque::new() }
    }

    /// The first program that was begun and is in the way of so many pages.
    fn in_the_way(&mut self, pages: u64) -> Option<Chain> {
        if self.used + pages <= self.pages {
            return None;
        }
        self.first()
    }

    /// The first program that was begun: what it frees is free.
    fn first(&mut self) -> Option<Chain> {
        let (program, freed) = self.programs.pop_front()?;
        self.used -= u64::from(freed);
        Some(program)
    }
}

impl Scheduler {
    /// When this program is complete, so many pages of the host are on flash. A FLUSH waits for it.
    #[inline(always)]
    pub(super) fn frees(&mut self, program: Chain, pages: u32) {
        if let Some(memory) = &mut self.memory {
            memory.programs.push_back((program, pages));
        }
    }

    /// A chain goes on when there is memory for so many pages. The answer is whether there is any.
    pub(super) fn take_write_memory(&mut self, chain: &mut Chain, pages: u64) -> bool {
        let Some(mut memory) = self.memory.take() else { return false };
        while memory.programs.front().is_some_and(|&(first, _)| !self.is_live(first)) {
            memory.first();
        }
        while let Some(program) = memory.in_the_way(pages) {
            self.wait(chain, program, Part::Buffer);
        }
        memory.used += pages;
        self.memory = Some(memory);
        true
    }

    /// A chain goes on when all is on flash whose program was begun.
    pub(super) fn wait_for_all_programs(&mut self, chain: &mut Chain) {
        let Some(mut memory) = self.memory.take() else { return };
        while let Some(program) = memory.first() {
            self.wait(chain, program, Part::Buffer);
        }
        self.memory = Some(memory);
    }
}
