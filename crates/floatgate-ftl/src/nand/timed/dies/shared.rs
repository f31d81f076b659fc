//! Durations, options and lists that all dies and channels share.

use alloc::vec::Vec;

use crate::geometry::Geometry;
use crate::nand::timed::events::FixedDelay;
use crate::nand::timed::graph::{Kind, Node, is_slc};
use crate::nand::timed::schedule::{PAGE_TYPES, PageTimes, Schedule, Timing};

/// Durations, options, and lists of completed pages and of dies and channels to look at.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    pub(super) timing: Timing,
    pub(super) schedule: Schedule,
    /// Times by page type: one type, if all pages are alike.
    pages: PageTimes,
    /// Planes of a die that can be read or programmed together, if their operations are in the
    /// die's queue together: 1 with program units, which span all planes.
    pub(super) planes: u32,
    /// Transfers of a program unit, and the map units in each transfer; `None` without program
    /// units.
    unit_transfers: Option<(u32, u32)>,
    /// Flash pages on each plane of a program unit; SLC mode programs only one of them.
    levels: u32,
    /// Pages that a die or a channel has just completed, and when the last one was completed.
    pub(super) completed: Vec<u32>,
    pub(super) end: u64,
    /// Dies and channels that may be able to begin something.
    pub(super) dirty_dies: Vec<u32>,
    pub(super) dirty_channels: Vec<u32>,
}

impl Shared {
    /// Creates the options of a drive.
    pub(super) fn new(geometry: &Geometry, timing: Timing, schedule: Schedule) -> Self {
        let (read_ns, program_ns) = (timing.read_ns, timing.program_ns);
        let [read_ns, program_ns] = [read_ns, program_ns].map(|ns| [ns; PAGE_TYPES]);
        Self {
            timing,
            schedule,
            pages: schedule.pages.unwrap_or(PageTimes { types: 1, read_ns, program_ns }),
            planes: if geometry.has_program_units() { 1 } else { geometry.shape().planes },
            unit_transfers: geometry.transfers_of_program_unit(),
            levels: geometry.levels(),
            completed: Vec::new(),
            end: 0,
            dirty_dies: Vec::new(),
            dirty_channels: Vec::new(),
        }
    }

    /// Notes that a page is complete now.
    #[inline(always)]
    pub(super) fn complete(&mut self, at: u32, now: u64) {
        self.completed.push(at);
        self.end = now;
    }

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

    /// Returns the delay of an operation, and the time that the cells take.
    #[inline(always)]
    pub(super) fn cells(&self, kind: Kind, row: u32) -> (FixedDelay, u64) {
        let of = if self.pages.types > 1 { row % self.pages.types } else { 0 };
        match (kind, self.schedule.slc.as_ref().filter(|_| is_slc(row))) {
            (Kind::Read, Some(slc)) => (FixedDelay::read(FixedDelay::SLC), slc.read_ns),
            (Kind::Program, Some(slc)) => (FixedDelay::program(FixedDelay::SLC), slc.program_ns),
            (Kind::Read, None) => (FixedDelay::read(of), self.pages.read_ns[of as usize]),
            (Kind::Program, None) => (FixedDelay::program(of), self.pages.program_ns[of as usize]),
            (Kind::Erase, _) => (FixedDelay::ERASE, self.timing.erase_ns),
        }
    }

    /// Returns the pages, or map units, in one transfer of a node's operation.
    #[inline(always)]
    pub(super) fn pages_of_transfer(&self, kind: Kind, node: &Node) -> u32 {
        match self.unit_transfers {
            Some((_, pages)) if kind == Kind::Program => pages,
            _ => node.pages.into(),
        }
    }

    /// Returns the delay of a transfer of `pages` pages that is `saved_ns` shorter than usual;
    /// `None` if its duration is not fixed.
    #[inline(always)]
    pub(super) fn delay_of_transfer(&self, pages: u32, saved_ns: u64) -> Option<FixedDelay> {
        let most = self.unit_transfers.map_or(self.planes, |(_, of_unit)| of_unit);
        match pages {
            _ if saved_ns > 0 => None,
            1 => Some(FixedDelay::TRANSFER),
            _ if pages == most => Some(FixedDelay::MOST),
            _ => None,
        }
    }
}
