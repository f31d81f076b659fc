//! Config table of the controller: cores, and memory for data that is not programmed yet.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Size, Time};

/// The controller: processor cores that commands, translation and remaps occupy.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Controller {
    /// Cores, 1 to 256.
    #[schemars(range(min = 1, max = 256))]
    pub cores: u32,
    /// Time on a core per command.
    #[schemars(extend("x-minimum" = "0ns", "x-maximum" = "1s"))]
    pub command: Time,
    /// Time on a core to look up a page in the map.
    #[schemars(extend("x-minimum" = "0ns", "x-maximum" = "1s"))]
    pub translate: Time,
    /// Time on a core to load a translation page, in addition to the flash read.
    #[schemars(extend("x-minimum" = "0ns", "x-maximum" = "1s"))]
    pub map_read: Time,
    /// Time on a core per map entry of a remap.
    #[schemars(extend("x-minimum" = "0ns", "x-maximum" = "1s"))]
    pub remap_entry: Time,
    /// Whether a core that looks up or remaps a page waits idle for the flash.
    pub blocking: bool,
    /// Memory for data that is not programmed yet: a write is acknowledged when its data is in this
    /// memory. Not set: a write is acknowledged when its data is programmed. But if a die programs
    /// rows of pages (see `flash.program_pages`), the memory holds 4 rows for each die.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Size", extend("x-minimum" = "512B", "x-maximum" = "1TiB"))]
    pub write_memory: Option<Size>,
    /// Whether this memory survives a loss of power. If not, a FLUSH waits until all data is
    /// programmed, and rows that are not full are filled with padding.
    pub power_protected: bool,
    /// On a drive that programs rows of pages: time after which a row that is not full is filled
    /// with padding and programmed, counted from its first page of the host. Not set: a row is
    /// programmed when it is full, or for a FLUSH.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Time", extend("x-minimum" = "0ns", "x-maximum" = "1000s"))]
    pub flush_after: Option<Time>,
}

impl Default for Controller {
    fn default() -> Self {
        let none = Time(0);
        Self {
            cores: 1,
            command: none,
            translate: none,
            map_read: none,
            remap_entry: none,
            blocking: false,
            write_memory: None,
            power_protected: false,
            flush_after: None,
        }
    }
}
