//! Config of a device: a TOML text that is layered, checked and resolved.
//!
//! Each layer overrides the layers below: defaults, a preset, a file, single settings. Each key has
//! its default, range and doc line in one place: in a submodule such as [`sections`], or next to
//! the policy that the key belongs to. The JSON Schema is generated from these definitions, and
//! error texts come from the schema.

mod buffers;
mod choice;
mod clock;
mod controller;
mod demands;
mod faults;
mod hosts;
mod lanes;
mod layers;
mod listing;
mod log_blocks;
mod parameters;
mod policies;
mod presets;
mod program_unit;
mod reclaiming;
mod schema;
mod sections;
mod slc;
mod start;

use std::fmt;

use floatgate_ftl::buffer::Buffer as WriteBuffer;
use floatgate_ftl::geometry::ShapeError;
use floatgate_ftl::mapping::needs_future;
use floatgate_ftl::placement::AnyPlacement;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use buffers::Buffer;
pub use choice::Chosen;
pub use controller::Controller;
pub use faults::Faults;
pub use hosts::Host;
pub use lanes::{Lanes, Moment};
pub use listing::policies;
pub use parameters::Policies;
pub(crate) use policies::is_external;
pub use presets::{Preset, presets};
pub(crate) use reclaiming::AHEAD;
pub use reclaiming::{Cleaning, Pacing, Placement, WearLeveling};
pub use schema::schema;
pub(crate) use schema::settings;
pub use sections::{
    Capacity, Flash, Ftl, Latency, Link, Mapping, Order, Queue, Resolution, Schedule, Timing,
};
pub use slc::Slc;
pub use start::{Fill, Start};

/// Mistake of the user in a config or a workload, in one line: the given value and the expected
/// one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigError(String);

impl ConfigError {
    /// Makes an error with this text, which should be one line.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Makes the error for a key whose policy name is in no table.
    pub(crate) fn unknown_policy(key: &str, name: &str) -> Self {
        let what = match is_external(name) {
            true => ": a policy in Python, which only a run that is given it can have",
            false => " is not known",
        };
        Self(format!("{key} = \"{name}\"{what}"))
    }
}

impl From<ShapeError> for ConfigError {
    fn from(error: ShapeError) -> Self {
        Self(error.to_string())
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConfigError {}

/// Config of a device and of its use. It is printed with the keys and units of its TOML form.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("additionalProperties" = false))]
pub struct Config {
    /// Whether the drive's time is simulated.
    pub timing: Timing,
    /// How much of the request latencies the result keeps.
    pub latency: Latency,
    /// The flash: geometry and timing.
    pub flash: Flash,
    /// The order in which a die serves waiting operations.
    pub schedule: Schedule,
    /// The controller's cores.
    pub controller: Controller,
    /// The link between host and drive.
    pub link: Link,
    /// How much of the flash the host can address.
    pub capacity: Capacity,
    /// The logical-to-physical map and its cache.
    pub mapping: Mapping,
    /// Which pages share erase units.
    pub placement: Placement,
    /// How space is reclaimed.
    pub cleaning: Cleaning,
    /// The SLC cache.
    pub slc: Slc,
    /// The write buffer.
    pub buffer: Buffer,
    /// The command queue.
    pub queue: Queue,
    /// Work of the host before it sends a command.
    pub host: Host,
    /// The translation layer.
    pub ftl: Ftl,
    /// The state of the device before the workload.
    pub start: Start,
    /// Fault injection: flash that fails.
    pub faults: Faults,
    /// Recording of the work of dies and channels.
    pub lanes: Lanes,
    /// Parameters of policies: a section for each policy that has parameters.
    #[serde(flatten)]
    #[schemars(skip)]
    pub policies: Policies,
}

impl Config {
    /// Loads the config of a preset (or the defaults), with a file's TOML text over it, and single
    /// settings (dotted key, value) over both. A file may name its preset itself: `preset =
    /// "classic"`. The value of a setting is TOML or plain text: `mapping.cache` `64KiB` needs no
    /// quotes.
    ///
    /// # Errors
    /// The first text that is not TOML, unknown key, or value outside the range of its key.
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
        config.capacity.resolve_default();
        config.check_relations()?;
        Ok(config)
    }

    /// Checks every value, and every relation between values.
    ///
    /// # Errors
    /// The first key whose value is not allowed.
    pub fn check(&self) -> Result<(), ConfigError> {
        let table = toml::Table::try_from(self)
            .map_err(|error| ConfigError::new(format!("the config cannot be printed: {error}")))?;
        schema::check(&table)?;
        self.check_relations()
    }

    fn check_relations(&self) -> Result<(), ConfigError> {
        let Capacity { spare_factor, over_provisioning, .. } = self.capacity;
        if spare_factor.is_some() && over_provisioning.is_some() {
            return Err(layers::both_capacities());
        }
        self.check_log_blocks()?;
        self.check_host()?;
        self.check_faults()?;
        self.check_schedule()?;
        self.check_program_unit()?;
        self.check_slc()?;
        self.check_reclaiming()?;
        self.check_lanes()?;
        self.check_start()?;
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
                u64::from(blocks) * u64::from(self.unit_pages_per_block()) <= u64::from(pages_max),
                "flash.blocks",
                &blocks,
                format!(
                    "at most {} blocks of {} pages",
                    pages_max / self.unit_pages_per_block().max(1),
                    self.unit_pages_per_block()
                ),
            )?;
        }
        self.check_buffer()?;
        self.check_offline()?;
        self.check_demands()
    }

    /// Returns key and name of each policy that needs to know the future requests of the host.
    pub(crate) fn offline_policies(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let (mapping, placement) = (&self.mapping.scheme, &self.placement.scheme);
        let buffer = &self.buffer.scheme;
        let policies = [
            ("mapping.scheme", mapping, needs_future(mapping)),
            ("placement.scheme", placement, AnyPlacement::needs_future(placement)),
            ("buffer.scheme", buffer, WriteBuffer::needs_future(buffer)),
        ];
        let informed = policies.into_iter().filter(|policy| policy.2);
        informed.map(|(key, name, _)| (key, name.as_str()))
    }

    /// Checks that policies with knowledge of the future see requests in the order in which the
    /// host sends them, one after the other.
    fn check_offline(&self) -> Result<(), ConfigError> {
        for (key, name) in self.offline_policies() {
            let given = format!("\"{name}\"");
            let another = |why: &str| format!("another {why}: it looks ahead in the host's order");
            let is_before_all = key == "buffer.scheme" || !self.buffer.exists();
            let why = another("with a write buffer");
            expect(is_before_all, key, &given, why)?;
            let why = another("with queue.queues above 1");
            expect(self.queue.queues == 1, key, &given, why)?;
        }
        Ok(())
    }
}

/// Returns the settings that a preset, and a file's TOML text over it, contain. The tables are
/// unchecked and have no defaults. They include `[class]`: published figures of drives of this
/// class.
///
/// # Errors
/// A text that is not TOML, or an unknown preset.
pub fn said(preset: Option<&str>, file: Option<&str>) -> Result<toml::Table, ConfigError> {
    layers::said(preset, file)
}

/// Checks a relation between values. The error of a broken one states the expected value of the
/// key.
pub(crate) fn expect(
    holds: bool,
    key: &str,
    given: &dyn fmt::Display,
    expected: String,
) -> Result<(), ConfigError> {
    let text = || ConfigError(format!("{key} = {given}: expected {expected}"));
    if holds { Ok(()) } else { Err(text()) }
}

/// Checks that a key has the only text that another setting (`with`) allows.
fn expect_text(key: &str, given: &str, expected: &str, with: &str) -> Result<(), ConfigError> {
    let text = format!("\"{expected}\" with {with}");
    expect(given == expected, key, &format!("\"{given}\""), text)
}
