//! Requirements of a block-mapped translation layer on other settings.

use floatgate_ftl::log_block::{logs_given, logs_min};
use floatgate_ftl::parameters::Choice;

use super::{Cleaning, Config, ConfigError, Pacing, WearLeveling, expect, expect_text};

impl Config {
    /// Returns the minimum number of log blocks on the drive, if the translation layer uses log
    /// blocks: the configured number, or else the least that the scheme can work with.
    pub(crate) fn logs_least(&self) -> Option<u32> {
        let least = logs_min(&self.ftl.scheme)?;
        Some(self.log_blocks().unwrap_or(least))
    }

    /// Returns the configured number of log blocks, if it is set.
    pub(crate) fn log_blocks(&self) -> Option<u32> {
        let geometry = self.provisional_geometry().ok()?;
        logs_given(&self.ftl.scheme, &self.log_config(geometry, 0, 0))
    }

    /// Checks that settings without effect on a block-mapped drive have their defaults. Such a
    /// drive has no page map to cache or store on flash and no streams, and reclaims space only by
    /// merging.
    pub(super) fn check_log_blocks(&self) -> Result<(), ConfigError> {
        let scheme = &self.ftl.scheme;
        if logs_min(scheme).is_none() {
            return Ok(());
        }
        let maps_blocks = format!("ftl.scheme = \"{scheme}\", which maps blocks");
        let only = |key: &str, given: &str, expected: &str| {
            expect_text(key, given, expected, &maps_blocks)
        };
        let unset = |key: &str, given: Option<String>| {
            let merges = "which reclaims space by merging alone";
            let text = format!("no value with ftl.scheme = \"{scheme}\", {merges}");
            expect(given.is_none(), key, &given.unwrap_or_default(), text)
        };
        let Cleaning { victim, low_water, high_water, copies_per_write, idle_after, .. } =
            &self.cleaning;
        let number = |given: &Option<u32>| given.map(|given| given.to_string());
        only("mapping.scheme", &self.mapping.scheme, "ideal")?;
        only("placement.scheme", &self.placement.scheme, "single")?;
        only("placement.gc_destination", self.placement.gc_destination.0.name(), "scheme")?;
        let reclaim_unit = self.placement.reclaim_unit.as_ref();
        unset("placement.reclaim_unit", reclaim_unit.map(|sizes| format!("\"{}\"", sizes.0[0])))?;
        only("cleaning.victim", victim, "greedy")?;
        only("cleaning.tie", self.cleaning.tie.0.name(), "cold")?;
        only("cleaning.scope", self.cleaning.scope.0.name(), "all")?;
        if self.cleaning.pacing == Pacing::Proportional {
            return only("cleaning.pacing", "proportional", "none");
        }
        if self.cleaning.wear_leveling == WearLeveling::Static {
            return only("cleaning.wear_leveling", "static", "dynamic");
        }
        let Cleaning { foreground_below, background_below, lazy, relabel, .. } = &self.cleaning;
        let share = |given: &Option<f64>| given.map(|given| given.to_string());
        unset("cleaning.foreground_below", share(foreground_below))?;
        unset("cleaning.background_below", share(background_below))?;
        unset("cleaning.lazy", share(lazy))?;
        unset("cleaning.relabel", relabel.then(|| "true".to_owned()))?;
        unset("cleaning.low_water", number(low_water))?;
        unset("cleaning.high_water", number(high_water))?;
        unset("cleaning.copies_per_write", number(copies_per_write))?;
        unset("cleaning.idle_after", idle_after.map(|given| format!("\"{given}\"")))
    }
}
