//! Config tables: every key with its default, its range and its doc line.
//!
//! Doc comments here are the descriptions in the JSON Schema, which users read.

use floatgate_ftl::nand::{PAGE_TYPES, Stripe};
use floatgate_ftl::queue::{Arrivals, Dispatch};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::choice::Chosen;
use super::policies::names;
use crate::units::{Rate, Size, Time, Times};

/// The flash: geometry and timing.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Flash {
    /// Bytes of data in a flash page: the unit in which the cells of a plane are read.
    #[schemars(extend("x-minimum" = "512B", "x-maximum" = "1MiB"))]
    pub page: Size,
    /// Pages in a block, 1 to 65536.
    #[schemars(range(min = 1, max = 65_536))]
    pub pages_per_block: u32,
    /// Blocks in service, a multiple of `superblock`. The reserve for cleaning is added to them.
    /// Not set: as many as the span of the workload needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 1, max = 2_147_483_646))]
    pub blocks: Option<u32>,
    /// Channels of the drive, 1 to 256.
    #[schemars(range(min = 1, max = 256))]
    pub channels: u32,
    /// Dies on a channel, 1 to 256.
    #[schemars(range(min = 1, max = 256))]
    pub dies: u32,
    /// Planes in a die, 1 to 64.
    #[schemars(range(min = 1, max = 64))]
    pub planes: u32,
    /// Blocks in an erase unit, on consecutive planes; divides the number of planes.
    #[schemars(range(min = 1, max = 65_536))]
    pub superblock: u32,
    /// Order in which the consecutive pages of an erase unit are spread. Default: over planes
    /// first, because the pages of a row can be programmed together, then over channels, then over
    /// dies.
    pub stripe: Chosen<Stripe>,
    /// Time of a page read, from cells to register: one time for all pages, or a list by page type
    /// (LSB, CSB, MSB). The pages of a block cycle through the types.
    #[schemars(extend("x-minimum" = "0ns", "x-maximum" = "10s", "maxItems" = PAGE_TYPES))]
    pub read: Times,
    /// Time of a page program, from register to cells: one time, or a list by page type.
    #[schemars(extend("x-minimum" = "0ns", "x-maximum" = "10s", "maxItems" = PAGE_TYPES))]
    pub program: Times,
    /// Time of a block erase.
    #[schemars(extend("x-minimum" = "0ns", "x-maximum" = "10s"))]
    pub erase: Time,
    /// Transfer rate of a channel, or "none": transfers take no time.
    pub bus: Rate,
    /// Flash pages on each plane of a die that are programmed at once, 1 to 4: with 3, the lower,
    /// middle and upper page of TLC. If the number is above 1, or if `mapping.unit` is not the
    /// flash page, a die collects such a row over all its planes and programs it when it is full.
    #[schemars(range(min = 1, max = 4))]
    pub program_pages: u32,
    /// Whether the cells can work during the transfer of a page that they have already read or will
    /// program next (cache read, cache program).
    pub cache_register: bool,
    /// Dies in a parity group of an erase unit, 2 to 65536. In each row one die of the group holds
    /// the parity of the others; the dies take turns. Not set: no parity.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 2, max = 65_536))]
    pub parity: Option<u32>,
    /// Time of the command and address cycles of an operation.
    #[schemars(extend("x-minimum" = "0ns", "x-maximum" = "10s"))]
    pub command: Time,
    /// Program/erase cycles that a block is rated for. Used for lifetime estimates.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub endurance: u32,
}

impl Default for Flash {
    fn default() -> Self {
        Self {
            page: Size(4096),
            pages_per_block: 64,
            blocks: None,
            channels: 1,
            dies: 1,
            planes: 1,
            superblock: 1,
            stripe: Chosen(Stripe::PlaneChannelDie),
            read: Times::one(25_000),
            program: Times::one(200_000),
            erase: Time(1_500_000),
            bus: Rate(None),
            program_pages: 1,
            cache_register: false,
            parity: None,
            command: Time(0),
            endurance: 3000,
        }
    }
}

/// How much of the flash in service the host can address. T pages are in service, U of them
/// addressable.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Capacity {
    /// Spare factor (T-U)/T, above 0 and below 1. Not together with `over_provisioning`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64", extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    #[schemars(extend("default" = SPARE_FACTOR))]
    pub spare_factor: Option<f64>,
    /// Over-provisioning (T-U)/U, above 0 and at most 100. Not together with `spare_factor`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64", extend("exclusiveMinimum" = 0, "maximum" = 100))]
    pub over_provisioning: Option<f64>,
    /// Erase units reserved for blocks that fail, as a share of the other erase units, 0 to 1. The
    /// drive has this flash and never uses it: the setting changes only the accounting of space.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub reserve: f64,
}

const SPARE_FACTOR: f64 = 0.07;

impl Capacity {
    /// Returns the spare factor (T-U)/T in force, whichever way it is written.
    pub fn spare(&self) -> f64 {
        match (self.spare_factor, self.over_provisioning) {
            (Some(spare), _) => spare,
            (None, Some(over)) => over / (1.0 + over),
            (None, None) => SPARE_FACTOR,
        }
    }

    /// Sets the default spare factor if the config gives no spare space.
    pub(super) fn resolve_default(&mut self) {
        if self.over_provisioning.is_none() {
            self.spare_factor.get_or_insert(SPARE_FACTOR);
        }
    }
}

/// The logical-to-physical map and its cache.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Mapping {
    /// The map cache: which part of the map is in memory.
    #[schemars(schema_with = "names::mapping")]
    pub scheme: String,
    /// Bytes that a map entry maps, a power of two: part of a flash page, or several flash pages. A
    /// host write that covers a map unit only partly reads the rest. Not set: the flash page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Size", extend("x-minimum" = "512B", "x-maximum" = "1MiB"))]
    pub unit: Option<Size>,
    /// Memory for the part of the map that is cached.
    #[schemars(extend("x-minimum" = "1B", "x-maximum" = "1TiB"))]
    pub cache: Size,
    /// Bytes of a map entry on flash, 1 to 64.
    #[schemars(range(min = 1, max = 64))]
    pub entry_bytes: u32,
}

impl Default for Mapping {
    fn default() -> Self {
        Self { scheme: "ideal".into(), unit: None, cache: Size(64 << 10), entry_bytes: 4 }
    }
}

/// Whether the drive's time is simulated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Timing {
    /// Flash operations are scheduled on dies and channels.
    #[default]
    Scheduled,
    /// Operations are counted and take no time: there are no latencies.
    None,
}

/// How much of the request latencies the result keeps.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Latency {
    /// How much of the latency distribution the result has.
    pub distribution: Resolution,
}

/// How much of a distribution the result has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Resolution {
    /// Percentiles of reads, writes and all, finer towards the tail.
    #[default]
    Summary,
    /// The summary, and the full distributions of response time and of each latency component, for
    /// reads, writes and both together: `distributions` in the result. Takes at most 15 MiB of
    /// memory.
    Full,
}

/// The order in which a die serves waiting operations.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Schedule {
    /// Which of the operations that wait for a die is served next.
    pub order: Order,
    /// Not for "fifo": an operation that has waited this long, and longer than the waiting reads,
    /// goes before them. A suspended operation resumes before further reads once it has waited this
    /// long.
    #[schemars(extend("x-minimum" = "0ns", "x-maximum" = "1000s"))]
    pub starve: Time,
    /// Not for "fifo": time to suspend a program or an erase until the cells can be read. Not set:
    /// reads do not suspend other operations.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Time", extend("x-minimum" = "0ns", "x-maximum" = "1s"))]
    pub suspend: Option<Time>,
    /// Time until a suspended operation resumes.
    #[schemars(extend("x-minimum" = "0ns", "x-maximum" = "1s"))]
    pub resume: Time,
    /// How often one operation can be suspended, 1 to 1000000.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub suspensions: u32,
}

impl Default for Schedule {
    fn default() -> Self {
        Self {
            order: Order::Fifo,
            starve: Time(10_000_000),
            suspend: None,
            resume: Time(0),
            suspensions: 16,
        }
    }
}

/// Which of the operations that wait for a die is served next.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The operation that has waited longest.
    Fifo,
    /// Reads that a host read waits for, then the operation that has waited longest.
    ReadFirst,
    /// All reads, also reads of cleaning, then the operation that has waited longest.
    AllReadsFirst,
}

/// The link between host and drive.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Link {
    /// Rate of read data and of write data, in each direction, or "none": data takes no time.
    pub bandwidth: Rate,
    /// Time of a command to the drive, and of its acknowledgement to the host.
    #[schemars(extend("x-minimum" = "0ns", "x-maximum" = "1s"))]
    pub latency: Time,
}

impl Default for Link {
    fn default() -> Self {
        Self { bandwidth: Rate(None), latency: Time(0) }
    }
}

/// The command queue.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Queue {
    /// Commands in the device at once, 1 to 65536.
    #[schemars(range(min = 1, max = 65_536))]
    pub depth: u32,
    /// When requests arrive.
    pub arrivals: Chosen<Arrivals>,
    /// When the device begins a command in its queue.
    pub dispatch: Chosen<Dispatch>,
    /// Queues of this depth, 1 to 256. One queue is SATA's NCQ. Several queues are NVMe's: each
    /// serves a host with an equal share of the drive, and the drive serves them in turn.
    #[schemars(range(min = 1, max = 256))]
    pub queues: u32,
    /// With paced cleaning: whether a read waits until all writes before it have room in the
    /// controller's memory, because the drive takes no command from a queue in which a write waits.
    pub head_of_line: bool,
}

impl Default for Queue {
    fn default() -> Self {
        let (arrivals, dispatch) = (Chosen(Arrivals::Open), Chosen(Dispatch::Parallel));
        Self { depth: 32, arrivals, dispatch, queues: 1, head_of_line: false }
    }
}

/// The translation layer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Ftl {
    /// The engine. With log blocks there is no map cache and no placement, and merging replaces
    /// cleaning: `mapping`, `placement` and `cleaning` must have their defaults, except that
    /// `cleaning.wear_leveling` may be "none".
    #[schemars(schema_with = "names::ftl")]
    pub scheme: String,
    /// Whether a journal makes flushed trims durable and takes checkpoints that shorten the next
    /// mount. The journal has its own erase units, in addition to the units of the capacity, and
    /// the drive keeps one more unit free.
    pub journal: bool,
    /// With a journal: pages programmed between two checkpoints, 1 to 4294967295.
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    pub checkpoint_every: u32,
}

impl Default for Ftl {
    fn default() -> Self {
        Self { scheme: "page".into(), journal: false, checkpoint_every: 1 << 18 }
    }
}
