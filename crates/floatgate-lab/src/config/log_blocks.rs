//! The tables of the block-mapped translation layers.

use floatgate_ftl::log_block::logs_min;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Cleaning, Config, ConfigError, WearLeveling};

/// Parameters of the translation layer `bast`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Bast {
    /// Log blocks (erase units) in use at a time, 1 to 1000000. Not set: all spare units in
    /// service.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 1, max = 1_000_000))]
    pub log_blocks: Option<u32>,
    /// Which log block makes room.
    pub victim: LogVictim,
    /// When a log block is merged that is full.
    pub merge_when_full: MergeWhenFull,
    /// Whether a log block that is in order, but not full, is completed; if not, it is merged in
    /// full, as the C++ FlashSim does.
    pub partial_merge: bool,
}

impl Default for Bast {
    fn default() -> Self {
        Self {
            log_blocks: None,
            victim: LogVictim::Fifo,
            merge_when_full: MergeWhenFull::Immediately,
            partial_merge: true,
        }
    }
}

/// Which log block makes room.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogVictim {
    /// The one that was opened first.
    Fifo,
    /// The one that was written to longest ago.
    Lru,
    /// Any, each as likely as the others, as the C++ FlashSim has it.
    Random,
}

/// When a log block is merged that is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MergeWhenFull {
    /// As soon as its last page is written.
    Immediately,
    /// When its logical block is written next, or it makes room.
    Lazy,
}

/// Parameters of the translation layer `fast`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Fast {
    /// Log blocks (erase units) in use at a time, 2 to 1000000: one for sequential writes, the
    /// others for all other writes. Not set: all spare units in service.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 2, max = 1_000_000))]
    pub log_blocks: Option<u32>,
    /// What becomes of a write to the logical block of the sequential log that is not its next
    /// page.
    pub out_of_order: OutOfOrder,
    /// Whether a sequential log that is in order, but not full, is completed; if not, it is merged
    /// in full, as the C++ FlashSim does.
    pub partial_merge: bool,
}

impl Default for Fast {
    fn default() -> Self {
        Self { log_blocks: None, out_of_order: OutOfOrder::Restart, partial_merge: true }
    }
}

/// What becomes of a write to the logical block of the sequential log that is not its next page.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OutOfOrder {
    /// The sequential log is merged, and a new one begins with this page: the paper's text.
    Restart,
    /// It goes to the random logs, and the sequential log waits for its next page.
    Random,
}

impl Config {
    /// How many log blocks the drive has at least, if its translation layer works with them: as
    /// many as are asked for, or as few as it can do with.
    pub(crate) fn logs_least(&self) -> Option<u32> {
        let least = logs_min(&self.ftl.scheme)?;
        Some(self.log_blocks().unwrap_or(least))
    }

    /// How many log blocks are asked for.
    pub(crate) fn log_blocks(&self) -> Option<u32> {
        match self.ftl.scheme.as_str() {
            "bast" => self.bast.log_blocks,
            "fast" => self.fast.log_blocks,
            _ => None,
        }
    }

    /// A block-mapped drive has no page map that could be cached or lie on flash, no streams, and
    /// nothing to clean but by merging: what would have no effect is not taken.
    pub(super) fn check_log_blocks(&self) -> Result<(), ConfigError> {
        let scheme = &self.ftl.scheme;
        if logs_min(scheme).is_none() {
            return Ok(());
        }
        let expect = |key: &str, given: &str, expected: &str| match given == expected {
            true => Ok(()),
            false => Err(ConfigError::new(format!(
                "{key} = \"{given}\": expected \"{expected}\" with ftl.scheme = \"{scheme}\", \
                 which maps blocks"
            ))),
        };
        let unset = |key: &str, given: Option<String>| match given {
            None => Ok(()),
            Some(given) => Err(ConfigError::new(format!(
                "{key} = {given}: expected it not to be set with ftl.scheme = \"{scheme}\", which \
                 merges log blocks when it has to"
            ))),
        };
        let Cleaning { victim, low_water, high_water, copies_per_write, idle_after, .. } =
            &self.cleaning;
        let number = |given: &Option<u32>| given.map(|given| given.to_string());
        expect("mapping.scheme", &self.mapping.scheme, "ideal")?;
        expect("placement.scheme", &self.placement.scheme, "single")?;
        expect("placement.gc_destination", &word(&self.placement.gc_destination), "scheme")?;
        expect("cleaning.victim", victim, "greedy")?;
        expect("cleaning.tie", &word(&self.cleaning.tie), "cold")?;
        expect("cleaning.scope", &word(&self.cleaning.scope), "all")?;
        if self.cleaning.wear_leveling == WearLeveling::Static {
            return expect("cleaning.wear_leveling", "static", "dynamic");
        }
        unset("cleaning.low_water", number(low_water))?;
        unset("cleaning.high_water", number(high_water))?;
        unset("cleaning.copies_per_write", number(copies_per_write))?;
        unset("cleaning.idle_after", idle_after.map(|given| format!("\"{given}\"")))
    }
}

/// A value as it is written in a config.
fn word(value: &impl Serialize) -> String {
    match toml::Value::try_from(value) {
        Ok(toml::Value::String(word)) => word,
        _ => String::new(),
    }
}
