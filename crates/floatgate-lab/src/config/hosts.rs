//! The tables of a config that are about what the host does before it sends a command.
//!
//! A doc comment here is the description in the JSON Schema, and so what a user reads.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policies::names;
use super::{Config, ConfigError, Dispatch, expect};
use crate::units::{Size, Time};

/// What the host does before it sends a command.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Host {
    /// The host layer.
    #[schemars(schema_with = "names::host")]
    pub scheme: String,
    /// For "shrd": the log of small writes, a range of logical pages behind the user's.
    #[schemars(extend("x-minimum" = "4KiB", "x-maximum" = "1TiB"))]
    pub log: Size,
    /// For "shrd": writes up to this size are random, and go to the log.
    #[schemars(extend("x-minimum" = "512B", "x-maximum" = "1GiB"))]
    pub threshold: Size,
    /// Time that host and controller take for each command, one after another, before the drive
    /// begins.
    #[schemars(extend("x-minimum" = "0ns", "x-maximum" = "1s"))]
    pub command: Time,
    /// Time that they take for its interrupt when the drive is done; the next command waits for
    /// that, too.
    #[schemars(extend("x-minimum" = "0ns", "x-maximum" = "1s"))]
    pub interrupt: Time,
}

impl Default for Host {
    fn default() -> Self {
        Self {
            scheme: "plain".into(),
            log: Size(64 << 20),
            threshold: Size(16 << 10),
            command: Time(0),
            interrupt: Time(0),
        }
    }
}

/// Parameters of the host layer `shrd`. The defaults are those of the authors' driver.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Shrd {
    /// Share of the log's slots in use beyond which a window is remapped, 0 or more and below 1.
    #[schemars(range(min = 0), extend("exclusiveMaximum" = 1))]
    pub remap_threshold: f64,
    /// Share of the log that is remapped at once, above 0 and at most 1.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub remap_size: f64,
    /// The most entries of a remap command, 1 to 65536.
    #[schemars(range(min = 1, max = 65_536))]
    pub remap_entries: u32,
    /// The most data of a write to the log.
    #[schemars(extend("x-minimum" = "512B", "x-maximum" = "1GiB"))]
    pub twrite: Size,
    /// The most pages of a write to the log, 1 to 65536.
    #[schemars(range(min = 1, max = 65_536))]
    pub twrite_entries: u32,
    /// Slots in a row without which no write to the log is begun, 1 to 1000000.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub contiguous: u32,
    /// Writes that begin before this byte are sent as they are.
    #[schemars(extend("x-minimum" = "0B", "x-maximum" = "1TiB"))]
    pub exclude_below: Size,
    /// Commands in the drive at once, 1 to 65536: a write to the log is one, and so is a read with
    /// all its parts. Requests wait in the queue of `queue.depth` until then.
    #[schemars(range(min = 1, max = 65_536))]
    pub commands: u32,
    /// Whether nothing is sent while a remap is under way.
    pub block_during_remap: bool,
    /// Whether what was overwritten inside the log stays in the drive until its slot is written
    /// again, as in the authors' drive; if not, a remap drops it with its window.
    pub lazy_stale: bool,
    /// Whether odd pages go to odd slots and even ones to even slots, as the prototype with two
    /// cores needs it; slots between stay empty.
    pub parity_align: bool,
    /// Whether a read takes pages that are neighbours in the log by one command.
    pub join_reads: bool,
    /// How long the host must have asked for nothing for the log to be remapped. Not set: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Time", extend("x-minimum" = "0ns", "x-maximum" = "1000s"))]
    pub idle_after: Option<Time>,
    /// A write to the log of no more requests than this waits for more, 0 to 65536.
    #[schemars(range(min = 0, max = 65_536))]
    pub low_packing: u32,
    /// How often it does, 0 to 1000; the late drivers have 4.
    #[schemars(range(min = 0, max = 1000))]
    pub low_packing_retries: u32,
}

impl Default for Shrd {
    fn default() -> Self {
        Self {
            remap_threshold: 0.25,
            remap_size: 0.0625,
            remap_entries: 511,
            twrite: Size(512 << 10),
            twrite_entries: 128,
            contiguous: 128,
            exclude_below: Size(2 << 20),
            commands: 32,
            block_during_remap: true,
            lazy_stale: false,
            parity_align: false,
            join_reads: false,
            idle_after: None,
            low_packing: 16,
            low_packing_retries: 0,
        }
    }
}

/// Parameters of the mapping `page_cache`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PageCache {
    /// Entries of a map page, a multiple of those in a page of the flash; it is read and written as
    /// one. 1 to 16777216. Not set: those in a page of the flash.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 1, max = 16_777_216))]
    pub entries: Option<u32>,
    /// What cleaning does with map pages that it changes and that are not cached.
    pub cleaning: ForCleaning,
}

impl Default for PageCache {
    fn default() -> Self {
        Self { entries: None, cleaning: ForCleaning::Update }
    }
}

/// What cleaning does with map pages that it changes and that are not cached.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ForCleaning {
    /// Rewrites them on flash.
    Update,
    /// Loads them, to be the first to leave, as the drive of SHRD does.
    LruEnd,
}

impl Config {
    /// Slots of the log, if the host has one.
    pub(crate) fn log_slots(&self) -> u32 {
        match self.host.scheme.as_str() {
            "shrd" => u32::try_from(self.host.log.0 / self.flash.page.0).unwrap_or(u32::MAX),
            _ => 0,
        }
    }

    /// Entries of the map in a page of the flash.
    fn entries_in_page(&self) -> u32 {
        (self.flash.page.0 / u64::from(self.mapping.entry_bytes)).max(1) as u32
    }

    /// Flash pages of a map page.
    pub(crate) fn map_page_pages(&self) -> u32 {
        match self.mapping.scheme.as_str() {
            "page_cache" => {
                self.page_cache.entries.map_or(1, |entries| entries / self.entries_in_page())
            }
            _ => 1,
        }
    }

    /// Bytes of a map page of `page_cache`.
    pub(super) fn map_page_bytes(&self) -> u64 {
        u64::from(self.map_page_pages().max(1)) * self.flash.page.0
    }

    /// What host layers and map pages ask of the rest.
    pub(super) fn check_host(&self) -> Result<(), ConfigError> {
        if let Some(entries) = self.page_cache.entries {
            let in_page = self.entries_in_page();
            expect(
                entries.is_multiple_of(in_page),
                "page_cache.entries",
                &entries,
                format!("a multiple of the {in_page} entries in a page of the flash"),
            )?;
        }
        if self.host.scheme != "shrd" {
            return Ok(());
        }
        let alone = |key: &str, given: &str, expected: &str| {
            let text = format!("\"{expected}\" with host.scheme = \"shrd\"");
            expect(given == expected, key, &format!("\"{given}\""), text)
        };
        alone("ftl.scheme", &self.ftl.scheme, "page")?;
        alone("buffer.scheme", &self.buffer.scheme, "none")?;
        let serial = self.queue.dispatch == Dispatch::Serial;
        alone("queue.dispatch", if serial { "serial" } else { "parallel" }, "parallel")?;
        let one = "1 with host.scheme = \"shrd\"".to_owned();
        expect(self.queue.queues == 1, "queue.queues", &self.queue.queues, one)?;
        for (key, name) in self.foretold() {
            let other = "another beside host.scheme = \"shrd\", which changes what it is told of";
            expect(false, key, &format!("\"{name}\""), other.into())?;
        }
        let least = 2 * u64::from(self.shrd.contiguous) * self.flash.page.0;
        let log = &self.host.log;
        expect(
            log.0 >= least && log.0 / self.flash.page.0 <= u64::from(u32::MAX >> 2),
            "host.log",
            &format!("\"{log}\""),
            format!("at least twice shrd.contiguous ({} bytes), and fewer pages", least),
        )
    }
}
