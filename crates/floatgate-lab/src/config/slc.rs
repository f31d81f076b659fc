//! Config table of the SLC cache.

use floatgate_ftl::nand::SlcTimes;
use floatgate_ftl::page_ftl::{SlcConfig, WhenFull};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Chosen, Config, ConfigError, expect};
use crate::units::{Size, Time};

/// Cache of units programmed with one bit per cell. Host writes go to the cache first, and are
/// later folded into units that use all bits.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Slc {
    /// Data for which the drive always has SLC units, in addition to the units in service; none by
    /// default.
    #[schemars(with = "Size", extend("x-minimum" = "0B", "x-maximum" = "1PiB"))]
    pub r#static: Size,
    /// Additional data for which the cache may use free units.
    #[schemars(with = "Size", extend("x-minimum" = "0B", "x-maximum" = "1PiB"))]
    pub dynamic: Size,
    /// Behaviour of a write that finds the cache full.
    pub when_full: Chosen<WhenFull>,
    /// Idle time of the host before units are folded. Not set: idle time folds nothing. Units are
    /// then folded when the drive is short of units, and with `when_full` "fold" before a write
    /// that finds the cache full.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Time", extend("x-minimum" = "0ns", "x-maximum" = "1h"))]
    pub idle_after: Option<Time>,
    /// Time to read a flash page of an SLC unit.
    #[schemars(extend("x-minimum" = "0ns", "x-maximum" = "10s"))]
    pub read: Time,
    /// Time to program a row of one flash page on each plane, in SLC mode.
    #[schemars(extend("x-minimum" = "0ns", "x-maximum" = "10s"))]
    pub program: Time,
}

impl Default for Slc {
    fn default() -> Self {
        Self {
            r#static: Size(0),
            dynamic: Size(0),
            when_full: Chosen(WhenFull::Direct),
            idle_after: None,
            read: Time(25_000),
            program: Time(200_000),
        }
    }
}

impl Config {
    /// Returns the SLC cache, if there is one.
    pub(crate) fn slc(&self) -> Option<SlcConfig> {
        let Slc { r#static, dynamic, when_full, idle_after, .. } = &self.slc;
        let native = self.unit_pages().saturating_mul(self.unit_bytes());
        let unit = (native / u64::from(self.flash.program_pages)).max(1);
        let units = |data: Size| u32::try_from(data.0.div_ceil(unit)).unwrap_or(u32::MAX);
        (r#static.0 + dynamic.0 > 0).then(|| SlcConfig {
            static_units: units(*r#static),
            dynamic_units: units(*dynamic),
            when_full: when_full.0,
            idle_after_ns: idle_after.map(|time| time.0),
        })
    }

    /// Returns the times of flash pages in SLC mode, if there is an SLC cache.
    pub(super) fn slc_times(&self) -> Option<SlcTimes> {
        let Slc { read, program, .. } = self.slc;
        self.slc().map(|_| SlcTimes { read_ns: read.0, program_ns: program.0 })
    }

    pub(super) fn check_slc(&self) -> Result<(), ConfigError> {
        if self.slc().is_none() {
            return Ok(());
        }
        let levels = self.flash.program_pages;
        let other = "at least 2 with an SLC cache ([slc]): cells of several bits".to_owned();
        expect(levels >= 2, "flash.program_pages", &levels, other)?;
        let unit = self.unit_bytes();
        let row = self.flash.page.0 * u64::from(self.flash.planes);
        let other = format!(
            "with an SLC cache ([slc]) a part of the {row} bytes that a die programs at once there \
             (flash.page x flash.planes)"
        );
        expect(row.is_multiple_of(unit), "mapping.unit", &unit, other)?;
        let other = "a host without a log, as an SLC cache ([slc]) knows none";
        expect(!self.host.keeps_log(), "host.scheme", &self.host.scheme, other.to_owned())
    }
}
