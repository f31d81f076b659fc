//! Durations, how dies choose the next operation, and which operations can overlap.

/// Durations in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timing {
    /// Time from the cells to the register.
    pub read_ns: u64,
    /// Time from the register to the cells.
    pub program_ns: u64,
    /// Erase of a block, or of one block in every plane of a die.
    pub erase_ns: u64,
    /// Transfer of one page over the channel.
    pub transfer_ns: u64,
    /// Command cycles of one operation.
    pub command_ns: u64,
}

/// Order in which a die takes the operations that wait for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// The operation that has waited longest goes first.
    Fifo,
    /// Reads that the host waits for go first, and then the operation that has waited longest. An
    /// operation that has waited for `starve_ns`, and longer than these reads, goes before them.
    ReadFirst {
        /// Nanoseconds.
        starve_ns: u64,
    },
    /// As [`Order::ReadFirst`], with all reads first: reads of cleaning and reads of the host share
    /// a queue.
    AllReadsFirst {
        /// Nanoseconds.
        starve_ns: u64,
    },
}

impl Order {
    /// Returns whether a read goes before programs, erases and other reads.
    #[inline(always)]
    pub fn is_urgent(self, is_of_host_read: bool) -> bool {
        match self {
            Self::Fifo => false,
            Self::ReadFirst { .. } => is_of_host_read,
            Self::AllReadsFirst { .. } => true,
        }
    }

    /// Returns the wait after which an operation goes before younger reads; `None` if no read goes
    /// first.
    #[inline(always)]
    pub fn starve_ns(self) -> Option<u64> {
        match self {
            Self::Fifo => None,
            Self::ReadFirst { starve_ns } | Self::AllReadsFirst { starve_ns } => Some(starve_ns),
        }
    }
}

/// Interruption of programs and erases for reads that go first. An operation that would end before
/// it is suspended is not interrupted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Suspend {
    /// Time until the cells can be read, in nanoseconds.
    pub suspend_ns: u64,
    /// Time until the operation continues, in nanoseconds.
    pub resume_ns: u64,
    /// Largest number of interruptions of one operation.
    pub most: u32,
}

/// Largest number of page types that a row number can distinguish: single, or lower, middle and
/// upper pages, and so on.
pub const PAGE_TYPES: usize = 4;

/// Times of the pages of a block, by row: row r is of type r mod `types`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageTimes {
    /// Number of types, 1 to [`PAGE_TYPES`].
    pub types: u32,
    /// Cells to register, in nanoseconds.
    pub read_ns: [u64; PAGE_TYPES],
    /// Register to cells, in nanoseconds.
    pub program_ns: [u64; PAGE_TYPES],
}

/// Times of the pages of units in SLC mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlcTimes {
    /// Cells to register, in nanoseconds.
    pub read_ns: u64,
    /// Register to cells, in nanoseconds.
    pub program_ns: u64,
}

/// The controller's cores, the durations of their tasks, and the memory for host writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Controller {
    /// Number of cores, at least 1.
    pub cores: u32,
    /// Nanoseconds of each task, by [`Task`](crate::nand::Task).
    pub task_ns: [u64; 4],
    /// Whether a core that translates or remaps waits for the flash, and does nothing else.
    pub blocking: bool,
    /// Host pages that the controller's memory holds until they are programmed, at least 1: a write
    /// is acknowledged when its pages are in the memory. None: when its pages are programmed.
    pub write_pages: Option<u64>,
    /// Whether that memory survives a loss of power.
    pub power_protected: bool,
    /// Whether writes get room in that memory in the order in which they come. If not, a write
    /// that finds no room waits for one program, and later writes fill the rest of its room.
    pub in_order: bool,
    /// Whether a read waits until all earlier writes have room in that memory, with `in_order`.
    pub head_of_line: bool,
}

impl Default for Controller {
    fn default() -> Self {
        Self {
            cores: 1,
            task_ns: [0; 4],
            blocking: false,
            write_pages: None,
            power_protected: false,
            in_order: false,
            head_of_line: false,
        }
    }
}

crate::choice! {
    /// Order in which consecutive pages of an erase unit go over channels, dies and planes.
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
    /// Returns the sort key of a plane. The dimension that pages go over last comes first.
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

/// Order and overlap of the operations of a drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Schedule {
    /// How consecutive pages of a unit go over channels, dies and planes.
    pub stripe: Stripe,
    /// Whether the cells can work while a page of the operation before or after is transferred.
    pub cache_register: bool,
    /// Order of the operations of a die.
    pub order: Order,
    /// Whether programs and erases can be interrupted.
    pub suspend: Option<Suspend>,
    /// Times by page type; None: all pages are alike.
    pub pages: Option<PageTimes>,
    /// Times of pages in SLC mode; None: no page is in SLC mode.
    pub slc: Option<SlcTimes>,
    /// The controller's cores, tasks and memory.
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
    /// Returns the number of page types that may have times of their own.
    pub(super) fn page_types(&self) -> u32 {
        match (self.slc, self.pages) {
            (Some(_), _) => PAGE_TYPES as u32 + 1,
            (None, Some(pages)) => pages.types,
            (None, None) => 1,
        }
    }

    /// Returns whether a die can begin something while it does something else.
    #[inline(always)]
    pub fn overlaps(&self) -> bool {
        self.cache_register || self.suspend.is_some()
    }
}
