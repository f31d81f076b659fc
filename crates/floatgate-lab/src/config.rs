//! What a device is: a TOML text, layered, checked and resolved.
//!
//! Layers, each over the one before: defaults, a preset, a file, single settings. Every key, its
//! default, its range and its doc line stand once, in [`sections`]; the JSON Schema is derived from
//! that, and the errors are from the schema.

mod buffers;
mod faults;
mod hosts;
mod layers;
mod log_blocks;
mod placements;
mod policies;
mod presets;
mod schema;
mod sections;
mod victims;

use std::fmt;

use floatgate_ftl::buffer::Buffer as WriteBuffer;
use floatgate_ftl::placement::AnyPlacement;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::drive::needs_future;

pub use buffers::{Acknowledge, Bplru, Buffer, Clc, NcqLru, Pin};
pub use faults::Faults;
pub use hosts::{ForCleaning, Host, PageCache, Shrd};
pub use log_blocks::{Bast, Fast, LogVictim, MergeWhenFull, OutOfOrder};
pub use placements::{
    Asa, AsaClock, AsaSource, Autostream, Dac, DecayUnit, Direct, Eti, Hashes, History, Insert,
    Length, LruLists, Mbf, MergeValue, Mhf, Oracle, Perfect, Sepbit, Wdac,
};
pub use policies::policies;
pub use presets::{Preset, presets};
pub use schema::schema;
pub use sections::{
    Arrivals, Capacity, Cdftl, Cleaning, Dftl, Dispatch, FetchMode, Fill, Flash, Ftl,
    GcDestination, Mapping, NodeVictim, Placement, Queue, Replacement, Scope, Sftl, Start, Tie,
    Tlllp, Tpftl, WearLeveling,
};
pub use victims::{Age, Cat, DChoices, LfsCostBenefit, Random, Redraw, Windowed};

/// A mistake of the user in a config or a workload, in one line: what was given, what was expected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigError(String);

impl ConfigError {
    /// An error with this text, which should be one line.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConfigError {}

/// A device and how it is used. Printed with the keys and in the units in which it is written.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The flash: geometry and timing.
    pub flash: Flash,
    /// How much of the flash the host can address.
    pub capacity: Capacity,
    /// The logical-to-physical map and its cache.
    pub mapping: Mapping,
    /// Which data shares erase units.
    pub placement: Placement,
    /// How space is reclaimed.
    pub cleaning: Cleaning,
    /// The write buffer.
    pub buffer: Buffer,
    /// The command queue.
    pub queue: Queue,
    /// What the host does before it sends a command.
    pub host: Host,
    /// The translation layer.
    pub ftl: Ftl,
    /// The state of the device before the workload.
    pub start: Start,
    /// Flash that breaks.
    pub faults: Faults,
    /// Parameters of the host layer `shrd`.
    pub shrd: Shrd,
    /// Parameters of the translation layer `bast`.
    pub bast: Bast,
    /// Parameters of the translation layer `fast`.
    pub fast: Fast,
    /// Parameters of the buffer `ncq_lru`.
    pub ncq_lru: NcqLru,
    /// Parameters of the buffer `bplru`.
    pub bplru: Bplru,
    /// Parameters of the buffer `clc`.
    pub clc: Clc,
    /// Parameters of the mapping `dftl`.
    pub dftl: Dftl,
    /// Parameters of the mapping `page_cache`.
    pub page_cache: PageCache,
    /// Parameters of the mapping `sftl`.
    pub sftl: Sftl,
    /// Parameters of the mapping `cdftl`.
    pub cdftl: Cdftl,
    /// Parameters of the mapping `tlllp`.
    pub tlllp: Tlllp,
    /// Parameters of the mapping `tpftl`.
    pub tpftl: Tpftl,
    /// Parameters of the placement `eti`.
    pub eti: Eti,
    /// Parameters of the placement `mbf`.
    pub mbf: Mbf,
    /// Parameters of the placement `mhf`.
    pub mhf: Mhf,
    /// Parameters of the placement `direct`.
    pub direct: Direct,
    /// Parameters of the placement `length`.
    pub length: Length,
    /// Parameters of the placement `lru_lists`.
    pub lru_lists: LruLists,
    /// Parameters of the placement `wdac`.
    pub wdac: Wdac,
    /// Parameters of the placement `asa` and of the mapping `asa`.
    pub asa: Asa,
    /// Parameters of the placement `dac`.
    pub dac: Dac,
    /// Parameters of the placement `sepbit`.
    pub sepbit: Sepbit,
    /// Parameters of the placement `autostream`.
    pub autostream: Autostream,
    /// Parameters of the placement `perfect`.
    pub perfect: Perfect,
    /// Parameters of the placement `oracle`.
    pub oracle: Oracle,
    /// Parameters of the victim policy `windowed`.
    pub windowed: Windowed,
    /// Parameters of the victim policy `d_choices`.
    pub d_choices: DChoices,
    /// Parameters of the victim policy `random`.
    pub random: Random,
    /// Parameters of the victim policy `lfs_cost_benefit`.
    pub lfs_cost_benefit: LfsCostBenefit,
    /// Parameters of the victim policy `cat`.
    pub cat: Cat,
}

impl Config {
    /// The config of a preset (or the defaults), a file's TOML text over it, and single settings
    /// (dotted key, value) over both. A file may name its preset itself: `preset = "classic"`.
    /// A setting's value is TOML, or else text: `mapping.cache` `64KiB` needs no quotes.
    ///
    /// # Errors
    /// The first thing that is not TOML, not a key, or not a value that its key can have.
    pub fn load(
        preset: Option<&str>,
        file: Option<&str>,
        sets: &[(String, String)],
    ) -> Result<Self, ConfigError> {
        let table = layers::merge(preset, file, sets)?;
        schema::check(&table)?;
        let mut config: Self = table
            .try_into()
            .map_err(|error: toml::de::Error| ConfigError::new(error.message().to_owned()))?;
        config.capacity.settle();
        config.check_relations()?;
        config.check_policies()?;
        Ok(config)
    }

    /// Checks every value, and every relation between values.
    ///
    /// # Errors
    /// The first key whose value is not one that it can have.
    pub fn check(&self) -> Result<(), ConfigError> {
        let table = toml::Table::try_from(self)
            .map_err(|error| ConfigError::new(format!("the config cannot be printed: {error}")))?;
        schema::check(&table)?;
        self.check_relations()?;
        self.check_policies()
    }

    fn check_relations(&self) -> Result<(), ConfigError> {
        let Capacity { spare_factor, over_provisioning } = self.capacity;
        if spare_factor.is_some() && over_provisioning.is_some() {
            return Err(layers::both_capacities());
        }
        self.check_log_blocks()?;
        self.check_host()?;
        self.check_faults()?;
        let flash = &self.flash;
        let quoted = |n: &dyn fmt::Display| format!("\"{n}\"");
        let page = &flash.page;
        expect(page.0.is_power_of_two(), "flash.page", &quoted(page), "a power of two".into())?;
        let planes = u64::from(flash.channels) * u64::from(flash.dies) * u64::from(flash.planes);
        expect(
            planes.is_multiple_of(u64::from(flash.superblock)),
            "flash.superblock",
            &flash.superblock,
            format!("a divisor of the drive's {planes} planes (channels x dies x planes)"),
        )?;
        if let Some(blocks) = flash.blocks {
            let superblock = flash.superblock;
            expect(
                blocks.is_multiple_of(superblock),
                "flash.blocks",
                &blocks,
                format!("a multiple of flash.superblock ({superblock})"),
            )?;
            let pages_max = floatgate_ftl::addr::PAGE_MAX;
            expect(
                u64::from(blocks) * u64::from(flash.pages_per_block) <= u64::from(pages_max),
                "flash.blocks",
                &blocks,
                format!(
                    "at most {} blocks of {} pages",
                    pages_max / flash.pages_per_block,
                    flash.pages_per_block
                ),
            )?;
        }
        let (least, what) = self.least_cache();
        expect(
            self.mapping.cache.0 >= least,
            "mapping.cache",
            &quoted(&self.mapping.cache),
            format!("room for at least {what} ({least})"),
        )
    }

    /// What policies ask of each other and of themselves.
    fn check_policies(&self) -> Result<(), ConfigError> {
        self.check_foretold()?;
        let eti = &self.eti;
        expect(
            eti.hot_threshold <= eti.counter_max,
            "eti.hot_threshold",
            &eti.hot_threshold,
            format!("at most eti.counter_max ({}), or nothing is ever hot", eti.counter_max),
        )
    }

    /// The policies that want to be told what the host will do: key and name.
    pub(crate) fn foretold(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let (mapping, placement) = (&self.mapping.scheme, &self.placement.scheme);
        let buffer = &self.buffer.scheme;
        let policies = [
            ("mapping.scheme", mapping, needs_future(mapping)),
            ("placement.scheme", placement, AnyPlacement::needs_future(placement)),
            ("buffer.scheme", buffer, WriteBuffer::needs_future(buffer)),
        ];
        let told = policies.into_iter().filter(|policy| policy.2);
        told.map(|(key, name, _)| (key, name.as_str()))
    }

    /// What is told the future is told of requests as the host sends them, one after the other.
    fn check_foretold(&self) -> Result<(), ConfigError> {
        for (key, name) in self.foretold() {
            let given = format!("\"{name}\"");
            let another = |why: &str| format!("another {why} what it is told of");
            let is_before_all = key == "buffer.scheme" || self.buffer.scheme == "none";
            let why = another("beside a write buffer, which changes");
            expect(is_before_all, key, &given, why)?;
            let why = another("with queue.queues above 1, which changes the order of");
            expect(self.queue.queues == 1, key, &given, why)?;
        }
        Ok(())
    }

    /// The fewest bytes that the mapping's cache can do with, and what they are for.
    fn least_cache(&self) -> (u64, &'static str) {
        let page = self.flash.page.0;
        let (least, what) = match self.mapping.scheme.as_str() {
            "page_cache" if self.page_cache.entries.is_some() => {
                return (self.map_page_bytes(), "one map page of page_cache.entries");
            }
            "page_cache" => return (page, "one translation page of flash.page"),
            "sftl" => {
                let entries = page / u64::from(self.mapping.entry_bytes);
                let longest = (entries.div_ceil(8) + 4 * entries) as f64;
                let least = longest / (1.0 - self.sftl.buffer_share);
                return (least.ceil() as u64, "a page of one-page runs, and the buffer");
            }
            "cdftl" => {
                let least = page + u64::from(self.cdftl.entry_bytes);
                return (least, "one translation page and one entry of cdftl.entry_bytes");
            }
            "belady" => (self.dftl.entry_bytes, "one entry of dftl.entry_bytes"),
            "dftl" => (self.dftl.entry_bytes, "one entry of dftl.entry_bytes"),
            "asa" => (self.asa.entry_bytes, "one entry of asa.entry_bytes"),
            "tlllp" => (
                self.tlllp.bytes_per_entry + self.tlllp.bytes_per_node,
                "one entry and its node, of tlllp.bytes_per_entry and tlllp.bytes_per_node",
            ),
            "tpftl" => (
                self.tpftl.bytes_per_entry + self.tpftl.bytes_per_node,
                "one entry and its node, of tpftl.bytes_per_entry and tpftl.bytes_per_node",
            ),
            _ => (0, "nothing"),
        };
        (u64::from(least), what)
    }
}

/// Whether a relation between values holds, and if not, what was expected of the key.
fn expect(
    holds: bool,
    key: &str,
    given: &dyn fmt::Display,
    expected: String,
) -> Result<(), ConfigError> {
    let text = || ConfigError(format!("{key} = {given}: expected {expected}"));
    if holds { Ok(()) } else { Err(text()) }
}
