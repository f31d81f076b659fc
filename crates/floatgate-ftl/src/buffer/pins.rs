//! Pins: a policy does not evict blocks that queued commands will use (S. Kim and T. Kim,
//! "Exploiting the Future Reference in Write Buffer Management Design for SSDs", 2013).
//!
//! [`Pinned`] wraps a policy. If the policy chooses a pinned block as victim, the eviction is
//! postponed: the block leaves the policy's candidates, and the policy chooses again. The first
//! rule that applies gives the next victim:
//!
//! 1. the postponed victim that was chosen first, of those whose pins have ended;
//! 2. the first choice of the policy that is not pinned;
//! 3. if all blocks are pinned, the postponed victim that was chosen first.
//!
//! A use makes a postponed victim a candidate again, at its new place in the policy's order.
//! So around LRU the victim is always the least recently used block without a pin.
//!
//! Decided here (docs/algorithms.md, 7.4, N1 to N6):
//!
//! - A pin is a count of the queued commands, reads and writes, that overlap the block.
//! - A command releases a block when its part there has been served.
//! - [`Pin::Counted`] also counts for blocks that are not buffered, so such a block is pinned when
//!   it enters. The paper has no such pins; it pins or moves only blocks that are buffered when a
//!   command is queued. Commands on one block are assumed to be served in arrival order.
//! - A trim of a page leaves a postponed victim postponed.
//!
//! Costs 4 bytes per block of the drive, and 48 per block that can be buffered. A pin is an
//! addition in a table by block. Each use of a block can postpone its eviction once. A postponed
//! victim whose pin ends waits in a heap.

use alloc::boxed::Box;
use alloc::collections::BinaryHeap;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::blocks::BlockTable;
use super::{BufferConfig, BufferEvent, EvictionPolicy, Written};
use crate::future::NextUses;
use crate::lru::{Links, List};
use crate::policy::Policy;

crate::choice! {
    /// Effect of a queued command on the blocks that it will use.
    pub enum Pin {
        /// No effect.
        None = "none",
        /// They are pinned while another block can be evicted, even if buffered after queueing.
        Counted = "counted",
        /// They are pinned only if they are buffered already when the command is queued.
        OnArrivalOnly = "on_arrival_only",
        /// Those buffered when the command is queued become the most recently used; no pinning.
        MoveOnly = "move_only",
    }
}

#[expect(clippy::derivable_impls, reason = "`choice!` takes no attribute on a variant")]
impl Default for Pin {
    fn default() -> Self {
        Self::None
    }
}

/// Bit in `pending` of a block that is a postponed victim.
const POSTPONED: u32 = 1 << 31;

#[derive(Clone, Copy, Debug, Default)]
struct State {
    block: u32,
    /// For [`Pin::OnArrivalOnly`]: queued commands on the block that arrived before the block was
    /// buffered.
    early: u32,
    /// Number of the last postponement.
    number: u64,
    /// Whether the block is a postponed victim; `pending` then has [`POSTPONED`].
    postponed: bool,
    /// Whether the block is in the heap `released`.
    released: bool,
}

/// Policy whose victims stay while queued commands need them.
struct Pinned<P> {
    order: P,
    pin: Pin,
    /// Whether the policy counts a read as a use.
    reads_use: bool,
    /// By block: unserved parts of queued commands, and [`POSTPONED`] for a postponed victim. The
    /// bit is stored here so that releasing one of several pins reads no other table.
    pending: Vec<u32>,
    slots: Vec<State>,
    links: Links,
    /// Postponed victims, the first chosen in front.
    postponed: List,
    /// Number of postponements.
    count: u64,
    /// Postponed victims whose pins have ended, by the number of their postponement, and some stale
    /// entries of blocks that were used or pinned again.
    released: BinaryHeap<Reverse<(u64, u32)>>,
}

/// Boxes a policy, with pins unless `pin` is [`Pin::None`].
pub(super) fn pinned<P: EvictionPolicy + 'static>(
    order: P,
    pin: Pin,
    reads_use: bool,
    config: &BufferConfig,
) -> Box<dyn EvictionPolicy> {
    let blocks = match pin {
        Pin::None => return Box::new(order),
        Pin::MoveOnly => 0,
        Pin::Counted | Pin::OnArrivalOnly => config.blocks(),
    };
    Box::new(Pinned {
        order,
        pin,
        reads_use,
        pending: vec![0; blocks],
        slots: vec![State::default(); config.slots()],
        links: Links::new(config.slots()),
        postponed: List::EMPTY,
        count: 0,
        released: BinaryHeap::with_capacity(config.slots()),
    })
}

impl<P: EvictionPolicy> Pinned<P> {
    #[inline]
    fn is_pinned(&self, slot: u32) -> bool {
        let State { block, early, .. } = self.slots[slot as usize];
        let pending = || self.pending[block as usize] & !POSTPONED;
        match self.pin {
            Pin::Counted => pending() > 0,
            Pin::OnArrivalOnly => pending() > early,
            Pin::None | Pin::MoveOnly => false,
        }
    }

    fn postpone(&mut self, slot: u32) {
        self.count += 1;
        self.links.push_back(&mut self.postponed, slot);
        let state = &mut self.slots[slot as usize];
        (state.postponed, state.number) = (true, self.count);
        self.pending[state.block as usize] |= POSTPONED;
    }

    /// Removes a block from the postponed victims. Returns whether it was one.
    #[inline]
    fn resume(&mut self, slot: u32) -> bool {
        let state = &mut self.slots[slot as usize];
        let was_postponed = core::mem::take(&mut state.postponed);
        if was_postponed {
            self.pending[state.block as usize] &= !POSTPONED;
            self.links.remove(&mut self.postponed, slot);
        }
        was_postponed
    }

    /// Removes and returns the first of the postponed victims, pinned or not.
    fn first_postponed(&mut self) -> Option<u32> {
        let slot = self.postponed.front()?;
        self.resume(slot);
        Some(slot)
    }

    /// Removes and returns the first of the postponed victims whose pins have ended.
    fn first_released(&mut self) -> Option<u32> {
        while let Some(Reverse((number, slot))) = self.released.pop() {
            self.slots[slot as usize].released = false;
            if self.slots[slot as usize].postponed && !self.is_pinned(slot) {
                // No eviction is postponed before the heap is empty, so this entry is of the
                // block's last postponement.
                assert_eq!(self.slots[slot as usize].number, number);
                self.resume(slot);
                return Some(slot);
            }
        }
        None
    }

    /// Returns the policy's first choice that is not pinned, and postpones the choices before it.
    fn first_choice(&mut self) -> Option<u32> {
        loop {
            let slot = self.order.victim()?;
            if !self.is_pinned(slot) {
                return Some(slot);
            }
            self.postpone(slot);
        }
    }

    /// Makes a buffered block a candidate at the place of a block that was just used.
    fn use_block(&mut self, slot: u32, table: &BlockTable) {
        self.take(slot);
        self.order.put(&Written {
            slot,
            block: table.block(slot),
            is_new: false,
            pages: 0..0,
            buffered: table.buffered(slot),
            whole: table.block_pages(),
        });
    }

    fn served(&mut self, block: u32, table: &BlockTable) {
        let Some(pending) = self.pending.get_mut(block as usize) else { return };
        assert!(*pending & !POSTPONED > 0, "a served part was queued");
        *pending -= 1;
        if self.pin == Pin::Counted && *pending != POSTPONED {
            return;
        }
        let Some(slot) = table.find(block) else { return };
        let state = &mut self.slots[slot as usize];
        state.early = state.early.saturating_sub(1);
        if state.postponed && !state.released && !self.is_pinned(slot) {
            let state = &mut self.slots[slot as usize];
            state.released = true;
            self.released.push(Reverse((state.number, slot)));
        }
    }
}

impl<P: EvictionPolicy> EvictionPolicy for Pinned<P> {
    #[inline]
    fn put(&mut self, written: &Written) {
        if written.is_new {
            let state = &mut self.slots[written.slot as usize];
            state.block = written.block;
            state.early = self.pending.get(written.block as usize).map_or(0, |n| n & !POSTPONED);
        }
        self.order.put(written);
    }

    #[inline]
    fn take(&mut self, slot: u32) {
        if !self.resume(slot) {
            self.order.take(slot);
        }
    }

    fn victim(&mut self) -> Option<u32> {
        self.first_released().or_else(|| self.first_choice()).or_else(|| self.first_postponed())
    }

    fn any(&mut self) -> Option<u32> {
        self.first_postponed().or_else(|| self.order.any())
    }

    fn next(&self) -> Option<u32> {
        self.order.next()
    }

    fn observe(&mut self, event: BufferEvent, table: &BlockTable) {
        match event {
            BufferEvent::Queued { blocks } if self.pin == Pin::MoveOnly => {
                let buffered = blocks.filter_map(|block| table.find(block));
                buffered.for_each(|slot| self.use_block(slot, table));
            }
            BufferEvent::Queued { blocks } => {
                let pending = &mut self.pending[blocks.start as usize..blocks.end as usize];
                pending.iter_mut().for_each(|pending| *pending += 1);
            }
            BufferEvent::Served { block } => self.served(block, table),
            BufferEvent::Read { slot } if self.slots[slot as usize].postponed => {
                if self.reads_use {
                    self.use_block(slot, table);
                }
            }
            BufferEvent::Read { .. } | BufferEvent::Trimmed { .. } => {
                self.order.observe(event, table);
            }
        }
    }

    fn check_blocks(&self, table: &BlockTable, candidates: usize) {
        let postponed: Vec<u32> = self.links.iter(&self.postponed).collect();
        self.order.check_blocks(table, candidates - postponed.len());
        assert!(postponed.is_sorted_by_key(|&slot| self.slots[slot as usize].number));
        for (block, slot) in table.iter() {
            let state = &self.slots[slot as usize];
            assert_eq!((state.block, state.postponed), (block, postponed.contains(&slot)));
            let pending = self.pending.get(block as usize).map_or(0, |pending| *pending);
            assert_eq!(pending & POSTPONED != 0, state.postponed);
            let waits = state.postponed && !self.is_pinned(slot);
            assert!(!waits || state.released, "block {block} would never leave");
        }
        assert_eq!(self.released.len(), self.slots.iter().filter(|state| state.released).count());
    }
}

impl<P: EvictionPolicy> Policy for Pinned<P> {
    fn set_future(&mut self, future: NextUses) {
        self.order.set_future(future);
    }

    fn memory_bytes(&self) -> u64 {
        let own = self.slots.len() * (size_of::<State>() + 8 + 16) + self.pending.len() * 4;
        self.order.memory_bytes() + own as u64
    }
}
