//! Config table of the write buffer.
//!
//! Doc comments here are the descriptions in the JSON Schema, which users read.

use floatgate_ftl::buffer::NONE;
use floatgate_ftl::device::Acknowledge;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::choice::Chosen;
use super::policies::names;
use super::{Config, ConfigError, expect};
use crate::units::{Size, Time};

/// The write buffer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Buffer {
    /// The buffer policy: which pages are buffered, and which victim is evicted.
    #[schemars(schema_with = "names::buffer")]
    pub scheme: String,
    /// Memory of the buffer for page data.
    #[schemars(extend("x-minimum" = "512B", "x-maximum" = "1TiB"))]
    pub capacity: Size,
    /// Pages in a logical block of a block-level buffer, 1 to 2147483646. Not set: the pages of an
    /// erase unit, or the capacity of the buffer if it is smaller.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 1, max = 2_147_483_646))]
    pub block_pages: Option<u32>,
    /// When a write is acknowledged.
    pub acknowledge: Chosen<Acknowledge>,
    /// Time to copy a page into or out of the buffer.
    #[schemars(extend("x-minimum" = "0ns", "x-maximum" = "10s"))]
    pub ram_page: Time,
}

impl Buffer {
    /// Whether the drive has a write buffer.
    pub(crate) fn exists(&self) -> bool {
        self.scheme != NONE.name
    }

    /// Returns the number of pages of `page_bytes` that the buffer holds, at least one.
    pub fn capacity_pages(&self, page_bytes: u64) -> u32 {
        u32::try_from(self.capacity.0 / page_bytes).unwrap_or(u32::MAX).max(1)
    }

    /// Returns the number of pages in a logical block, where an erase unit has `unit_pages` pages
    /// of `page_bytes`.
    pub fn block_pages_for(&self, page_bytes: u64, unit_pages: u32) -> u32 {
        self.block_pages.unwrap_or(unit_pages.min(self.capacity_pages(page_bytes)))
    }
}

impl Default for Buffer {
    fn default() -> Self {
        Self {
            scheme: NONE.name.into(),
            capacity: Size(16 << 20),
            block_pages: None,
            acknowledge: Chosen(Acknowledge::WriteBack),
            ram_page: Time(1000),
        }
    }
}

impl Config {
    pub(super) fn check_buffer(&self) -> Result<(), ConfigError> {
        let Some(block_pages) = self.buffer.block_pages.filter(|_| self.buffer.exists()) else {
            return Ok(());
        };
        let held = self.buffer.capacity_pages(self.unit_bytes());
        let most = format!("at most the {held} pages that buffer.capacity holds");
        expect(block_pages <= held, "buffer.block_pages", &block_pages, most)
    }
}
