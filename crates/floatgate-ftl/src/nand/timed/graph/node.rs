//! A node of the graph: a piece of work.
//!
//! Cleaning a superblock makes thousands of nodes at once, so each node fits one line of the
//! processor's cache.

use crate::clock::{Component, NONE, Server};

/// Reason why one node waits for another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Edge {
    /// The node continues the chain.
    Chain,
    /// The node waits for this work as a whole, and the wait counts as the node's own component.
    Work,
    /// The node's operation must come after this operation.
    Hazard,
}

/// A node that waits for another one, and the reason: the reason takes the upper two bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Follower(u32);

impl Follower {
    /// No node waits.
    pub const NONE: Self = Self(NONE);
    const SHIFT: u32 = 30;

    #[inline(always)]
    pub fn new(node: u32, edge: Edge) -> Self {
        Self((edge as u32) << Self::SHIFT | node)
    }

    #[inline(always)]
    pub fn node(self) -> u32 {
        self.0 & !(3 << Self::SHIFT)
    }

    #[inline(always)]
    pub fn edge(self) -> Edge {
        match self.0 >> Self::SHIFT {
            0 => Edge::Chain,
            1 => Edge::Work,
            _ => Edge::Hazard,
        }
    }
}

/// Work of a node, which begins when the node waits for nothing any more.
#[derive(Clone, Copy, Debug)]
pub enum Work {
    /// The node completes at once. Of the chains that end here, the one that ends last counts:
    /// `ended` is its time, `last` the serial number of its last node.
    Join { ended: u64, last: u64 },
    /// The node takes `ns`, which count as the node's component.
    Delay { ns: u64 },
    /// The node waits for its server. `times` is the slot of its durations.
    Serve { server: Server, times: u32 },
    /// The node gives back a core, and completes.
    Release,
    /// The node waits for its die.
    Flash(Operation),
}

impl Work {
    /// Returns a join that is made at `now`.
    #[inline(always)]
    pub fn join(now: u64) -> Self {
        Self::Join { ended: now, last: 0 }
    }
}

/// Kind of flash operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Read,
    Program,
    Erase,
}

/// Marks the rows of units in SLC mode, which have times of their own.
const SLC_ROW: u32 = 1 << 31;

/// Returns the row number, marked as a row of a unit in SLC mode.
pub fn slc_row(row: u32) -> u32 {
    SLC_ROW | row
}

/// Returns whether the row of a read or a program is in a unit in SLC mode.
#[inline(always)]
pub fn is_slc(row: u32) -> bool {
    row & SLC_ROW != 0
}

/// Returns the planes of `pages` pages from a plane on: one bit each.
#[inline(always)]
pub fn planes(first: u8, pages: u8) -> u64 {
    u64::MAX >> (64 - pages) << first
}

/// Flash operation.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    pub kind: Kind,
    /// Number of the plane within the die: the first one, if the operation has several pages. 0 on
    /// a drive with program units, which span all planes.
    pub plane: u8,
    pub die: u16,
    /// Index of a unit and one of its dies.
    pub slot: u32,
    pub row: u32,
    /// The next page of a multi-plane operation.
    pub next: u32,
    /// For a program or an erase: the previous change of the same unit on the same die. For a read:
    /// the entry of the readers of the unit.
    pub before: u32,
    /// The next program or erase of the unit on the die.
    pub after: u32,
}

impl Operation {
    /// Creates an operation that is not in the graph yet.
    #[inline(always)]
    pub fn new(kind: Kind, die: u16, plane: u8, slot: u32, row: u32) -> Self {
        let (next, before, after) = (NONE, NONE, NONE);
        Self { kind, plane, die, slot, row, next, before, after }
    }
}

/// A piece of work.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Node {
    /// Number that grows with every node: the older node goes first where times are equal. 0 for a
    /// free slot.
    pub serial: u64,
    /// Without an account: how long the chain of the node has waited for host operations.
    pub waited: u64,
    pub work: Work,
    /// Slot of the account, once its chain has come to the node; none if no time is reported.
    pub account: u32,
    /// Slot of the ticket, if the end of the node is reported.
    pub watched: u32,
    /// Number of chains and work that the node waits for.
    pub follows: u32,
    /// Nodes that wait for this node: the first one, and the list of the others.
    pub first: Follower,
    pub edges: u32,
    /// Number of pages of a read or a program: pages of one row on consecutive planes, or map units
    /// that a read of a drive with program units transfers.
    pub pages: u8,
    /// Number of operations that have to come before.
    pub hazards: u8,
    /// Component that the time of the node counts as.
    pub component: Component,
    pub flags: u8,
}

const _: () = assert!(size_of::<Node>() == 64);

/// A host read waits for the node.
pub const IS_READ: u8 = 1;
/// The time of the node is reported.
pub const IS_ATTRIBUTED: u8 = 2;
/// A hazard blocked the node when its chain had ended.
pub const IS_BLOCKED: u8 = 4;
/// The node has entered the queue of its die.
pub const HAS_ENTERED: u8 = 8;
/// The chain of the node holds a core.
pub const HAS_CORE: u8 = 16;
/// The node transfers less than it reads: `Nodes::saved_ns` has the saved time.
pub const IS_PARTIAL: u8 = 32;

impl Node {
    /// Returns whether the node has a flag.
    #[inline(always)]
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Returns the operation of a node that is a flash operation.
    #[inline(always)]
    pub fn operation(&self) -> &Operation {
        match &self.work {
            Work::Flash(operation) => operation,
            other => unreachable!("{other:?} is no operation of the flash"),
        }
    }
}
