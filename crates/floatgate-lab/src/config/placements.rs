//! The tables of a config that are placements' parameters: every key with its default, its range
//! and its doc line.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Size;

/// Parameters of the placement `eti`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Eti {
    /// Extents at most, 1 to 65536; each takes 4.5 bytes.
    #[schemars(range(min = 1, max = 65_536))]
    pub extents: u32,
    /// Share of an extent, 1 to 100 percent, that a write must cover to count for it when no more
    /// extents can be made.
    #[schemars(range(min = 1, max = 100))]
    pub alpha_percent: u32,
    /// The counter below which neighbouring extents are merged whatever their counters are, 0 to
    /// 16; from it on, only if these are equal.
    #[schemars(range(min = 0, max = 16))]
    pub beta: u8,
    /// The counter from which on a page is hot, 1 to 15.
    #[schemars(range(min = 1, max = 15))]
    pub hot_threshold: u8,
    /// The highest value of a counter, 1 to 15.
    #[schemars(range(min = 1, max = 15))]
    pub counter_max: u8,
    /// From one ageing, which halves all counters, to the next, in `decay_unit`, 1 to 1000000000.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub decay_period: u32,
    /// What `decay_period` is counted in.
    pub decay_unit: DecayUnit,
    /// The counter of cold extents that were merged.
    pub merge_value: MergeValue,
    /// Whether, with room for one more extent, a write that needs two makes one.
    pub partial_split: bool,
}

impl Default for Eti {
    fn default() -> Self {
        Self {
            extents: 2048,
            alpha_percent: 100,
            beta: 4,
            hot_threshold: 4,
            counter_max: 15,
            decay_period: 4096,
            decay_unit: DecayUnit::Commands,
            merge_value: MergeValue::Mean,
            partial_split: false,
        }
    }
}

/// What a period of ageing is counted in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DecayUnit {
    /// Write commands.
    Commands,
    /// Page writes, as for `mbf` and `mhf`.
    Pages,
}

/// The counter of cold extents that were merged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MergeValue {
    /// The mean of theirs, weighted by length.
    Mean,
    /// The highest of theirs.
    Max,
    /// The lowest of theirs.
    Min,
    /// Zero.
    Zero,
}

/// Parameters of the placement `mbf`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Mbf {
    /// Bloom filters, 1 to 16.
    #[schemars(range(min = 1, max = 16))]
    pub filters: u32,
    /// Bits of a filter, 1 to 16777216.
    #[schemars(range(min = 1, max = 16_777_216))]
    pub bits: u32,
    /// The two hash functions.
    pub hashes: Hashes,
    /// Which filter a write is entered into, of those that do not have the page.
    pub insert: Insert,
    /// Page writes from one clearing of the oldest filter to the next, 1 to 1000000000.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub clear_every: u32,
    /// A page is hot from this sum of the weights of its filters on, above 0 and at most 17. The
    /// newest filter weighs 2, the oldest 2 divided by `filters`, those between in equal steps.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 17))]
    pub hot_threshold: f64,
}

impl Default for Mbf {
    fn default() -> Self {
        Self {
            filters: 4,
            bits: 2048,
            hashes: Hashes::Crc32,
            insert: Insert::RoundRobin,
            clear_every: 4096,
            hot_threshold: 4.0,
        }
    }
}

/// Which filter a write is entered into, of those that do not have the page.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Insert {
    /// The first one from a filter on that is the next one for each write.
    RoundRobin,
    /// The newest one.
    NewestFirst,
}

/// Two hash functions: checks of a page's number, each divided by the slots there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Hashes {
    /// CRC-32 and CRC-32C.
    Crc32,
    /// The low and the high half of CRC-32: they reach 65536 slots.
    Crc32Halves,
    /// CRC-16/CCITT-FALSE and CRC-16/ARC: they reach 65536 slots.
    Crc16,
}

/// Parameters of the placement `mhf`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Mhf {
    /// Counters of four bits, 1 to 16777216.
    #[schemars(range(min = 1, max = 16_777_216))]
    pub counters: u32,
    /// A page is hot if both its counters have reached this, 1 to 15.
    #[schemars(range(min = 1, max = 15))]
    pub hot_threshold: u8,
    /// Page writes from one halving of all counters to the next, 1 to 1000000000.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub decay_period: u32,
    /// The two hash functions.
    pub hashes: Hashes,
    /// Whether a write counts only for the lower of its page's counters.
    pub conservative: bool,
}

impl Default for Mhf {
    fn default() -> Self {
        Self {
            counters: 2048,
            hot_threshold: 4,
            decay_period: 4096,
            hashes: Hashes::Crc32,
            conservative: false,
        }
    }
}

/// Parameters of the placement `direct`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Direct {
    /// A page is hot if its counter has reached this, 1 to 1000000000.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub hot_threshold: u32,
    /// Page writes from one halving of all counters to the next, 1 to 1000000000.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub decay_period: u32,
    /// Whether counters end at 15, as those of four bits do.
    pub saturating: bool,
}

impl Default for Direct {
    fn default() -> Self {
        Self { hot_threshold: 4, decay_period: 4096, saturating: true }
    }
}

/// Parameters of the placement `length`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Length {
    /// Pages up to which a write is hot, 0 to 1000000.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub threshold_pages: u32,
}

impl Default for Length {
    fn default() -> Self {
        Self { threshold_pages: 4 }
    }
}

/// Parameters of the placement `lru_lists`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LruLists {
    /// Pages in the hot list at most, 1 to 16777216.
    #[schemars(range(min = 1, max = 16_777_216))]
    pub hot: u32,
    /// Pages in the list of candidates at most, 1 to 16777216.
    #[schemars(range(min = 1, max = 16_777_216))]
    pub candidates: u32,
}

impl Default for LruLists {
    fn default() -> Self {
        Self { hot: 512, candidates: 1024 }
    }
}

/// Parameters of the placement `wdac`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Wdac {
    /// Page writes that are remembered, 1 to 16777216.
    #[schemars(range(min = 1, max = 16_777_216))]
    pub window: u32,
    /// A page is hot from this sum of the weights of its writes on, above 0 and at most 1000000.
    /// They weigh from 2, the newest, down to nothing.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1_000_000))]
    pub hot_threshold: f64,
}

impl Default for Wdac {
    fn default() -> Self {
        Self { window: 16_384, hot_threshold: 4.0 }
    }
}

/// Parameters of the placement `asa` and of the mapping `asa`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Asa {
    /// What the ages of pages are measured in.
    pub clock: AsaClock,
    /// Pages that the host writes from one update of the criteria to the next, 1 to 1000000000.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub update_period: u32,
    /// Ages that the criteria are found from, 3 to 1000000.
    #[schemars(range(min = 3, max = 1_000_000))]
    pub samples: u32,
    /// Which pages' ages those are.
    pub sample_source: AsaSource,
    /// Whether the logarithms of ages (plus one) are clustered, not the ages.
    pub log1p: bool,
    /// Whether cleaning moves pages to a colder partition when their age says so.
    pub relabel_on_gc: bool,
    /// Bytes that a cached page takes in map and hotness table together, 1 to 64; of the mapping.
    #[schemars(range(min = 1, max = 64))]
    pub entry_bytes: u32,
    /// Bytes of an entry on flash, 1 to 64, in place of `mapping.entry_bytes`; of the mapping.
    #[schemars(range(min = 1, max = 64))]
    pub flash_entry_bytes: u32,
}

impl Default for Asa {
    fn default() -> Self {
        Self {
            clock: AsaClock::Writes,
            update_period: 10_000,
            samples: 1000,
            sample_source: AsaSource::Cht,
            log1p: false,
            relabel_on_gc: false,
            entry_bytes: 16,
            flash_entry_bytes: 8,
        }
    }
}

/// What the ages of pages are measured in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AsaClock {
    /// Pages that the host has written.
    Writes,
    /// Time.
    Time,
}

/// Which pages are sampled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AsaSource {
    /// Those whose entries are cached, which costs nothing; all that are written, if the whole map
    /// is.
    Cht,
    /// All that are written; of one whose entry is not cached the translation page is read.
    RandomLpn,
}

/// Parameters of the placement `dac`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Dac {
    /// Regions between which pages climb and sink, 1 to 64.
    #[schemars(range(min = 1, max = 64))]
    pub regions: u8,
    /// A written page climbs if it was younger than this, in pages that the host has written, 1 to
    /// 4000000000. Not set: always.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 1, max = 4_000_000_000_u32))]
    pub young: Option<u32>,
    /// A cleaned page sinks if it is at least this old, in pages that the host has written, 1 to
    /// 4000000000. Not set: always.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 1, max = 4_000_000_000_u32))]
    pub old: Option<u32>,
}

impl Default for Dac {
    fn default() -> Self {
        Self { regions: 6, young: None, old: None }
    }
}

/// Parameters of the placement `sepbit`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Sepbit {
    /// How the drive knows how long ago a page was written.
    pub history: History,
    /// Units of the class of short lives that the mean lifespan is taken over, 1 to 1000000.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub units: u32,
}

impl Default for Sepbit {
    fn default() -> Self {
        Self { history: History::Fifo, units: 16 }
    }
}

/// How the drive knows how long ago a page was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum History {
    /// By a queue of the latest writes, as long as the mean lifespan.
    Fifo,
    /// By a table of all pages.
    Exact,
}

/// Parameters of the placement `autostream`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Autostream {
    /// Queues, and so streams, 1 to 64.
    #[schemars(range(min = 1, max = 64))]
    pub queues: u8,
    /// Bytes of addresses that are counted together; at least a page.
    #[schemars(extend("x-minimum" = "512B", "x-maximum" = "1GiB"))]
    pub chunk: Size,
    /// Base of the logarithm that makes a queue of a count, 2 to 1000.
    #[schemars(range(min = 2, max = 1000))]
    pub base: u32,
    /// Whether a chunk that sinks has its count cut to the least of the queue that it sinks to.
    pub forget: bool,
}

impl Default for Autostream {
    fn default() -> Self {
        Self { queues: 8, chunk: Size(1 << 20), base: 2, forget: false }
    }
}

/// Parameters of the placement `perfect`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Perfect {
    /// Share of the drive's logical pages that is hot, the first of them: `f` of the workload
    /// "hotcold", 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    pub hot_share: f64,
    /// Hot pages as a count, in place of the share, 1 to 4000000000: exact where a drive has more
    /// pages than the workload touches. Not set: the share.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 1, max = 4_000_000_000_u32))]
    pub hot_pages: Option<u32>,
}

impl Default for Perfect {
    fn default() -> Self {
        Self { hot_share: 0.1, hot_pages: None }
    }
}

/// Parameters of the placement `oracle`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Oracle {
    /// Ranges of remaining lifetime, 2 to 64.
    #[schemars(range(min = 2, max = 64))]
    pub streams: u8,
    /// How much longer a range is than the one before, 2 to 1000.
    #[schemars(range(min = 2, max = 1000))]
    pub factor: u32,
}

impl Default for Oracle {
    fn default() -> Self {
        Self { streams: 16, factor: 2 }
    }
}
