//! Config table of the host's work before it sends a command.
//!
//! Doc comments here are the descriptions in the JSON Schema, which users read.

use floatgate_ftl::buffer::NONE;
use floatgate_ftl::host::keeps_log;
use floatgate_ftl::parameters::Choice;
use floatgate_ftl::queue::Dispatch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policies::names;
use super::{Config, ConfigError, expect, expect_text};
use crate::units::{Size, Time};

/// Work of the host before it sends a command.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Host {
    /// The host layer.
    #[schemars(schema_with = "names::host")]
    pub scheme: String,
    /// For "shrd": the log of small writes, a range of logical pages after the user's pages.
    #[schemars(extend("x-minimum" = "4KiB", "x-maximum" = "1TiB"))]
    pub log: Size,
    /// For "shrd": writes up to this size count as random and go to the log.
    #[schemars(extend("x-minimum" = "512B", "x-maximum" = "1GiB"))]
    pub threshold: Size,
    /// Overhead of host and controller per command, before the drive begins the command. The
    /// overheads of commands never overlap.
    #[schemars(extend("x-minimum" = "0ns", "x-maximum" = "1s"))]
    pub command: Time,
    /// Overhead of the completion interrupt per command. The overhead of the next command starts
    /// after it.
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

impl Host {
    /// Whether the host keeps a log in the drive.
    pub(crate) fn keeps_log(&self) -> bool {
        keeps_log(&self.scheme)
    }
}

impl Config {
    /// Returns the number of slots in the host's log, or 0 without a log.
    pub(crate) fn log_slots(&self) -> u32 {
        match self.host.keeps_log() {
            true => u32::try_from(self.host.log.0 / self.unit_bytes()).unwrap_or(u32::MAX),
            false => 0,
        }
    }

    /// Checks the requirements of host layers on other settings.
    pub(super) fn check_host(&self) -> Result<(), ConfigError> {
        if !self.host.keeps_log() {
            return Ok(());
        }
        let host = format!("host.scheme = \"{}\"", self.host.scheme);
        expect_text("ftl.scheme", &self.ftl.scheme, "page", &host)?;
        expect_text("buffer.scheme", &self.buffer.scheme, NONE.name, &host)?;
        let dispatch = self.queue.dispatch.0.name();
        expect_text("queue.dispatch", dispatch, Dispatch::Parallel.name(), &host)?;
        let one = format!("1 with {host}");
        expect(self.queue.queues == 1, "queue.queues", &self.queue.queues, one)?;
        for (key, name) in self.offline_policies() {
            let other = format!("another with {host}: it looks ahead in the host's order");
            expect(false, key, &format!("\"{name}\""), other)?;
        }
        let alone = format!("false with {host}, which sends commands of its own");
        expect(!self.queue.head_of_line, "queue.head_of_line", &true, alone)?;
        let contiguous = self.host_config(0, 0, 0).shrd.contiguous;
        let least = 2 * u64::from(contiguous) * self.unit_bytes();
        let log = &self.host.log;
        expect(
            log.0 >= least && log.0 / self.unit_bytes() <= u64::from(u32::MAX >> 2),
            "host.log",
            &format!("\"{log}\""),
            format!("at least twice shrd.contiguous ({} bytes), and fewer pages", least),
        )
    }
}
