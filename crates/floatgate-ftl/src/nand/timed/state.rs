//! State that all dies and channels share.

use alloc::vec::Vec;

use super::Timing;
use super::events::{Events, FixedDelay};
use super::graph::Graph;
use super::node::{IS_PARTIAL, Kind, Operation, is_slc};
use super::schedule::Schedule;
use crate::clock::Share;

/// Durations and options, the graph, its events, and the present time.
#[derive(Clone, Debug)]
pub(super) struct SchedulerState {
    pub(super) timing: Timing,
    pub(super) schedule: Schedule,
    /// Planes of a die that can be read or programmed together, if their operations are in the
    /// die's queue together: 1 with program units, which span all planes.
    pub(super) planes: u32,
    /// Transfers of a program unit, and the map units in each transfer; `None` without program
    /// units.
    pub(super) unit_transfers: Option<(u32, u32)>,
    /// Flash pages on each plane of a program unit; SLC mode programs only one of them.
    pub(super) levels: u32,
    pub(super) graph: Graph,
    pub(super) events: Events,
    pub(super) now: u64,
    /// Operations that a die or a channel has just completed.
    pub(super) completed: Vec<u32>,
    /// Dies and channels that may be able to begin something.
    pub(super) dirty_dies: Vec<u32>,
    pub(super) dirty_channels: Vec<u32>,
    /// By node: nanoseconds that a read saves, because it transfers only a share of its pages.
    /// Valid for nodes with the flag [`IS_PARTIAL`].
    pub(super) saved_ns: Vec<u64>,
}

impl SchedulerState {
    /// Returns whether a die programs several pages at once.
    #[inline(always)]
    pub(super) fn has_program_units(&self) -> bool {
        self.unit_transfers.is_some()
    }

    /// Returns the number of transfers of an operation.
    #[inline(always)]
    pub(super) fn transfers(&self, kind: Kind, row: u32) -> u32 {
        match self.unit_transfers {
            Some((transfers, _)) if kind == Kind::Program && self.timing.transfer_ns > 0 => {
                if is_slc(row) {
                    transfers / self.levels
                } else {
                    transfers
                }
            }
            _ => 1,
        }
    }

    /// Returns the map units in one transfer of an operation.
    #[inline(always)]
    pub(super) fn pages_of_transfer(&self, operation: &Operation) -> u32 {
        match self.unit_transfers {
            None => 1,
            Some((_, pages)) if operation.kind == Kind::Program => pages,
            Some(_) => operation.pages().into(),
        }
    }

    /// Shortens the transfer of a read, which sends only a share of a page.
    pub(super) fn shorten_transfer(&mut self, at: u32, share: Share) {
        let page_ns = self.timing.transfer_ns;
        let saved_ns = page_ns - share.transfer_ns(page_ns);
        let node = self.graph.node_mut(at);
        let at = at as usize;
        if node.flags & IS_PARTIAL == 0 {
            node.flags |= IS_PARTIAL;
            self.saved_ns.resize(self.saved_ns.len().max(at + 1), 0);
            self.saved_ns[at] = 0;
        }
        self.saved_ns[at] += saved_ns;
    }

    /// Returns the nanoseconds that an operation saves in transfers.
    #[inline(always)]
    pub(super) fn saved_ns(&self, at: u32) -> u64 {
        if self.graph.node(at).flags & IS_PARTIAL == 0 { 0 } else { self.saved_ns[at as usize] }
    }

    /// Returns the delay of a transfer of `pages` pages that is `saved_ns` shorter than usual;
    /// `None` if its duration is not fixed.
    #[inline(always)]
    pub(super) fn delay_of_transfer(&self, pages: u32, saved_ns: u64) -> Option<FixedDelay> {
        match self.unit_transfers {
            _ if saved_ns > 0 => None,
            _ if pages == 1 => Some(FixedDelay::TRANSFER),
            Some((_, of_unit)) if pages == of_unit => Some(FixedDelay::FLASH_PAGE),
            _ => None,
        }
    }
}
