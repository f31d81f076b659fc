//! What every die and channel works with.

use alloc::vec::Vec;

use super::Timing;
use super::events::{Events, Run};
use super::graph::Graph;
use super::node::{IS_PART, Kind, Operation, is_slc};
use super::schedule::Schedule;
use crate::clock::Share;

/// Times and options, the graph and its events, and the time.
#[derive(Clone, Debug)]
pub(super) struct Core {
    pub(super) timing: Timing,
    pub(super) schedule: Schedule,
    /// Planes of a die that pages can be read from or programmed to at once if they stand before
    /// it: 1 with program units, which are of all planes.
    pub(super) planes: u32,
    /// Transfers of a program unit, and how many pages of the map each is of; none without.
    pub(super) unit_transfers: Option<(u32, u32)>,
    /// Flash pages on each plane of a program unit; one of them is programmed in SLC mode.
    pub(super) levels: u32,
    pub(super) graph: Graph,
    pub(super) events: Events,
    pub(super) now: u64,
    /// Operations that a die or a channel has just done.
    pub(super) completed: Vec<u32>,
    /// Dies and channels that may be able to begin something.
    pub(super) dirty_dies: Vec<u32>,
    pub(super) dirty_channels: Vec<u32>,
    /// By how much the transfer of a read is shorter, by node; only where [`IS_PART`] says so.
    pub(super) spared: Vec<u64>,
}

impl Core {
    /// Whether pages are programmed several at once.
    #[inline(always)]
    pub(super) fn has_program_units(&self) -> bool {
        self.unit_transfers.is_some()
    }

    /// How many transfers an operation takes.
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

    /// Pages of the map in one transfer of an operation.
    #[inline(always)]
    pub(super) fn pages_of_transfer(&self, operation: &Operation) -> u32 {
        match self.unit_transfers {
            None => 1,
            Some((_, pages)) if operation.kind == Kind::Program => pages,
            Some(_) => operation.pages().into(),
        }
    }

    /// Not all of what an operation reads is transferred.
    pub(super) fn spare(&mut self, at: u32, share: Share) {
        let page_ns = self.timing.transfer_ns;
        let spared_ns = page_ns - share.transfer_ns(page_ns);
        let node = self.graph.node_mut(at);
        let at = at as usize;
        if node.flags & IS_PART == 0 {
            node.flags |= IS_PART;
            self.spared.resize(self.spared.len().max(at + 1), 0);
            self.spared[at] = 0;
        }
        self.spared[at] += spared_ns;
    }

    /// By how much the transfer of an operation is shorter than that of its pages.
    #[inline(always)]
    pub(super) fn spared_ns(&self, at: u32) -> u64 {
        if self.graph.node(at).flags & IS_PART == 0 { 0 } else { self.spared[at as usize] }
    }

    /// The run that a transfer is of, of so many pages without so much time.
    #[inline(always)]
    pub(super) fn run_of_transfer(&self, pages: u32, spared_ns: u64) -> Option<Run> {
        match self.unit_transfers {
            _ if spared_ns > 0 => None,
            _ if pages == 1 => Some(Run::TRANSFER),
            Some((_, of_unit)) if pages == of_unit => Some(Run::FLASH_PAGE),
            _ => None,
        }
    }
}
