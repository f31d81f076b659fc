//! How dies choose what to do next, and what they can do at the same time.

use super::events::Run;
use super::lanes::Batch;
use super::node::Kind;

/// Which of the operations that wait for a die is the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// The one that has waited for longest.
    Fifo,
    /// Reads that the host waits for, and then the one that has waited for longest; but what has
    /// waited for `starve_ns`, and for longer than these reads, goes before them.
    ReadFirst {
        /// Nanoseconds.
        starve_ns: u64,
    },
    /// The same with all reads: those of cleaning take turns with those of the host.
    AllReadsFirst {
        /// Nanoseconds.
        starve_ns: u64,
    },
}

impl Order {
    /// Whether a read goes before programs, erases and other reads.
    #[inline(always)]
    pub(super) fn is_urgent(self, is_of_host_read: bool) -> bool {
        match self {
            Self::Fifo => false,
            Self::ReadFirst { .. } => is_of_host_read,
            Self::AllReadsFirst { .. } => true,
        }
    }

    /// What has waited for so long goes before younger reads; none where no read goes first.
    #[inline(always)]
    pub(super) fn starve_ns(self) -> Option<u64> {
        match self {
            Self::Fifo => None,
            Self::ReadFirst { starve_ns } | Self::AllReadsFirst { starve_ns } => Some(starve_ns),
        }
    }
}

/// How a program or an erase is interrupted for reads that go first. One that would end before it
/// is suspended is not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Suspend {
    /// Until the cells can be read, in nanoseconds.
    pub suspend_ns: u64,
    /// Until the operation goes on, in nanoseconds.
    pub resume_ns: u64,
    /// Times that one operation can be interrupted.
    pub most: u32,
}

/// Page types that a row's number can name: single, or lower, middle and upper pages, and so on.
pub const PAGE_TYPES: usize = 4;

/// Times of the pages of a block, by row: row r is of type r mod `types`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageTimes {
    /// How many types there are, 1 to [`PAGE_TYPES`].
    pub types: u32,
    /// Cells to register, in nanoseconds.
    pub read_ns: [u64; PAGE_TYPES],
    /// Register to cells, in nanoseconds.
    pub program_ns: [u64; PAGE_TYPES],
}

/// Times of the pages of units that are in SLC mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlcTimes {
    /// Cells to register, in nanoseconds.
    pub read_ns: u64,
    /// Register to cells, in nanoseconds.
    pub program_ns: u64,
}

/// The controller's cores, and how long tasks occupy one, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Controller {
    /// Cores, at least 1.
    pub cores: u32,
    /// By [`Task`](crate::nand::Task).
    pub task_ns: [u64; 4],
    /// Whether a core that translates or remaps waits for the flash, and does nothing else.
    pub blocking: bool,
    /// Pages of the host for which there is memory until they are programmed, at least 1: writes
    /// are acknowledged when they are there. None: when they are programmed.
    pub write_pages: Option<u64>,
    /// Whether that memory outlives a loss of power.
    pub power_protected: bool,
}

impl Default for Controller {
    fn default() -> Self {
        Self {
            cores: 1,
            task_ns: [0; 4],
            blocking: false,
            write_pages: None,
            power_protected: false,
        }
    }
}

crate::choice! {
    /// Over what consecutive pages of an erase unit go first, and over what then.
    pub enum Stripe {
        /// Channels, then dies, then planes.
        ChannelDiePlane = "channel_die_plane",
        /// Channels, then planes, then dies.
        ChannelPlaneDie = "channel_plane_die",
        /// Dies, then channels, then planes.
        DieChannelPlane = "die_channel_plane",
        /// Dies, then planes, then channels.
        DiePlaneChannel = "die_plane_channel",
        /// Planes, then channels, then dies.
        PlaneChannelDie = "plane_channel_die",
        /// Planes, then dies, then channels.
        PlaneDieChannel = "plane_die_channel",
    }
}

impl Stripe {
    /// What is gone over last comes first in the order of pages.
    pub(super) fn key(self, channel: u32, die: u32, plane: u32) -> [u32; 3] {
        match self {
            Self::ChannelDiePlane => [plane, die, channel],
            Self::ChannelPlaneDie => [die, plane, channel],
            Self::DieChannelPlane => [plane, channel, die],
            Self::DiePlaneChannel => [channel, plane, die],
            Self::PlaneChannelDie => [die, channel, plane],
            Self::PlaneDieChannel => [channel, die, plane],
        }
    }
}

/// What a drive can do at the same time, and in which order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Schedule {
    /// Over what consecutive pages of a unit go.
    pub stripe: Stripe,
    /// Whether the cells can work while a page of the operation before or after is transferred.
    pub cache_register: bool,
    /// Which operation is next.
    pub order: Order,
    /// Whether programs and erases can be interrupted.
    pub suspend: Option<Suspend>,
    /// Times by page type; None: all pages are alike.
    pub pages: Option<PageTimes>,
    /// Times of what is programmed in SLC mode; None: nothing is.
    pub slc: Option<SlcTimes>,
    /// The controller's cores.
    pub controller: Controller,
}

impl Default for Schedule {
    fn default() -> Self {
        Self {
            stripe: Stripe::PlaneDieChannel,
            cache_register: false,
            order: Order::Fifo,
            suspend: None,
            pages: None,
            slc: None,
            controller: Controller::default(),
        }
    }
}

impl Schedule {
    /// How many types of pages may take a time of their own.
    pub(super) fn page_types(&self) -> u32 {
        match (self.slc, self.pages) {
            (Some(_), _) => Run::SLC + 1,
            (None, Some(pages)) => pages.types,
            (None, None) => 1,
        }
    }

    /// Whether a die can begin something while it does something else.
    #[inline(always)]
    pub(super) fn overlaps(&self) -> bool {
        self.cache_register || self.suspend.is_some()
    }

    /// Whether what the cells do can be interrupted, and should be.
    #[inline(always)]
    pub(super) fn may_suspend(&self, batch: &Batch, now: u64) -> bool {
        self.suspend.is_some_and(|suspend| {
            batch.kind != Kind::Read
                && batch.suspensions < suspend.most
                && batch.began <= now
                && batch.ends - now > suspend.suspend_ns
        })
    }
}
