//! A node of the graph: something to be done.
//!
//! A superblock that is cleaned is thousands of nodes at once, so each is one line of the
//! processor's cache.

use crate::clock::{NONE, Part, Server};

/// Why one node waits for another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Edge {
    /// It goes on in this chain.
    Chain,
    /// It waits for this work as a whole, and is told so as its own part.
    Work,
    /// Its operation must not be done before.
    Hazard,
}

/// What a node does when nothing is left that it waits for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Work {
    /// It is complete. Of the chains that end here the last to end counts: when that was, and the
    /// serial of its last node.
    Join { ended: u64, last: u64 },
    /// It takes its time, of its part.
    Delay { ns: u64 },
    /// It waits for its server, for the service of this place.
    Serve { server: Server, service: u32 },
    /// It gives back a core, and is complete.
    Release,
    /// It waits for its die.
    Flash(Operation),
}

/// Operations of the flash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Read,
    Program,
    Erase,
}

/// Marks the rows of units that are in SLC mode, whose times are others.
const SLC_ROW: u32 = 1 << 31;

/// A row of a unit in SLC mode.
pub(super) fn slc_row(row: u32) -> u32 {
    SLC_ROW | row
}

/// Whether the row of a read or a program is one of a unit in SLC mode.
#[inline(always)]
pub(super) fn is_slc(row: u32) -> bool {
    row & SLC_ROW != 0
}

/// An operation of the flash.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    pub(super) kind: Kind,
    /// The plane among those of the die; on a drive with program units, how many pages of the map
    /// are read.
    pub(super) plane_or_pages: u8,
    pub(super) die: u16,
    /// The number of a unit and one of its dies.
    pub(super) slot: u32,
    pub(super) row: u32,
    /// The next page of a multi-plane operation.
    pub(super) next: u32,
    /// Of a program or an erase: the one before it of the same unit on the same die. Of a read:
    /// those who read the same unit.
    pub(super) before: u32,
    /// The program or erase behind it.
    pub(super) after: u32,
}

impl Operation {
    /// One that is not in the graph yet.
    #[inline(always)]
    pub(super) fn new(kind: Kind, die: u16, plane: u8, slot: u32, row: u32) -> Self {
        let (next, before, after) = (NONE, NONE, NONE);
        Self { kind, plane_or_pages: plane, die, slot, row, next, before, after }
    }

    /// Its plane, on a drive without program units.
    #[inline(always)]
    pub(super) fn plane(&self) -> u8 {
        self.plane_or_pages
    }

    /// How many pages it reads, on a drive with program units.
    #[inline(always)]
    pub(super) fn pages(&self) -> u8 {
        self.plane_or_pages
    }

    /// One page more is read with it.
    pub(super) fn add_page(&mut self) {
        self.plane_or_pages += 1;
    }
}

/// Something to be done.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Node {
    /// Grows with every node: what is older goes first where times are equal. 0 for none.
    pub(super) serial: u64,
    /// If nobody is told of it: how long its chain has waited for operations of the host.
    pub(super) waited: u64,
    pub(super) work: Work,
    /// If somebody is told of it: its account, from when its chain has come to it.
    pub(super) account: u32,
    /// Where the ticket is, if its end is to be told.
    pub(super) watched: u32,
    /// Chains and work that it waits for.
    pub(super) follows: u32,
    /// Who waits for it: the first of them, and those behind.
    pub(super) first: u32,
    pub(super) edges: u32,
    pub(super) first_edge: Edge,
    /// Operations that have to be before it.
    pub(super) hazards: u8,
    /// What another is told that waits for this.
    pub(super) part: Part,
    pub(super) flags: u8,
}

const _: () = assert!(size_of::<Node>() == 64);

/// A read of the host waits for it.
pub(super) const IS_READ: u8 = 1;
/// Somebody will be told what its time went into.
pub(super) const IS_TOLD: u8 = 2;
/// It was held back when its chain had ended.
pub(super) const IS_HELD: u8 = 4;
/// It has come to stand before its die.
pub(super) const HAS_ENTERED: u8 = 8;
/// Its chain holds a core.
pub(super) const HAS_CORE: u8 = 16;
/// Not all that it reads is transferred: [`Core::spared`](super::core::Core) says how much less.
pub(super) const IS_PART: u8 = 32;

impl Node {
    #[inline(always)]
    pub(super) fn is_read(&self) -> bool {
        self.flags & IS_READ != 0
    }

    #[inline(always)]
    pub(super) fn is_told(&self) -> bool {
        self.flags & IS_TOLD != 0
    }

    #[inline(always)]
    pub(super) fn has_entered(&self) -> bool {
        self.flags & HAS_ENTERED != 0
    }

    /// The operation, if it is one of the flash.
    #[inline(always)]
    pub(super) fn operation(&self) -> &Operation {
        match &self.work {
            Work::Flash(operation) => operation,
            other => unreachable!("{other:?} is no operation of the flash"),
        }
    }

    pub(super) fn hold(&mut self) {
        self.flags |= IS_HELD;
    }
}
