//! The size of a drive: how many erase units a workload, its map and its open units need.

use floatgate_ftl::geometry::Geometry;

use crate::config::{Config, ConfigError};

/// Units in service and logical pages.
pub(super) struct Size {
    pub in_service: u64,
    /// Units added to those of the spare factor, because the drive could not work without them.
    pub added: u64,
    /// Minimum number of units for data, map, open units and log blocks.
    pub needed: u64,
    pub logical_pages: u32,
}

impl Size {
    /// Decides the size. `extra_units` counts the units that are open, are log blocks or hold the
    /// host's log, in addition to those that the logical pages fill.
    pub fn decide(
        config: &Config,
        span_bytes: u64,
        extra_units: u32,
        map_on_flash: Option<Geometry>,
    ) -> Result<Self, ConfigError> {
        let entries = map_on_flash.map(|geometry| geometry.entries_per_page().into());
        let needs = Needs { config, extra_units: extra_units.into(), entries };
        let span_pages = span_bytes.div_ceil(config.unit_bytes()).max(1);
        let asked = match config.flash.blocks {
            Some(blocks) => u64::from(blocks / config.flash.superblock),
            None => needs.units_for(span_pages),
        };
        let logical = needs.logical_of(asked).max(1);
        let smallest = || {
            let blocks = needs.smallest(span_pages)? * u64::from(config.flash.superblock);
            Some(format!("flash.blocks = {blocks} or more"))
        };
        if logical < span_pages {
            return Err(ConfigError::new(format!(
                "the workload spans {span_bytes} bytes but the drive of flash.blocks = {} holds \
                 {}: expected {}, flash.blocks unset, or --addresses modulo",
                config.flash.blocks.unwrap_or(0),
                logical * config.unit_bytes(),
                smallest().unwrap_or_else(|| "a larger spare factor".to_owned()),
            )));
        }
        let least = needs.units_of(logical);
        if config.flash.blocks.is_some() && asked < least {
            return Err(ConfigError::new(format!(
                "a drive of {asked} erase units with a spare factor of {} has no room to clean \
                 next to {extra_units} units that are open or log blocks{}: expected {}a larger \
                 spare factor",
                config.capacity.spare(),
                if config.log_slots() > 0 { " (the host's log included)" } else { "" },
                smallest().map_or(String::new(), |blocks| blocks + ", or "),
            )));
        }
        let addressable = logical + u64::from(config.log_slots());
        let logical_pages = u32::try_from(addressable).map(|_| logical as u32).map_err(|_| {
            ConfigError::new(format!("the workload spans {span_pages} pages: too many to address"))
        })?;
        let added = least.saturating_sub(asked);
        Ok(Self { in_service: asked.max(least), added, needed: least, logical_pages })
    }
}

/// Demand of a drive for erase units.
struct Needs<'a> {
    config: &'a Config,
    /// Units that are open, are log blocks, or hold the host's log.
    extra_units: u64,
    /// Entries of a translation page, if the map is on flash.
    entries: Option<u64>,
}

impl Needs<'_> {
    /// Share of the pages in service that the host can address.
    fn kept(&self) -> f64 {
        1.0 - self.config.capacity.spare()
    }

    /// Returns the pages that the host can address on `units`.
    fn logical_of(&self, units: u64) -> u64 {
        (self.kept() * units as f64 * self.config.unit_pages() as f64) as u64
    }

    /// Returns the minimum number of units on which the host can address `pages`.
    fn units_for(&self, pages: u64) -> u64 {
        let mut units = (pages as f64 / (self.kept() * self.config.unit_pages() as f64)) as u64;
        while self.logical_of(units) < pages {
            units += 1;
        }
        units
    }

    /// Returns the units that logical pages, their map, open units and log blocks take.
    fn units_of(&self, logical: u64) -> u64 {
        let addressable = logical + u64::from(self.config.log_slots());
        let map = self.entries.map_or(0, |entries| addressable.div_ceil(entries));
        (logical + map).div_ceil(self.config.unit_pages()) + self.extra_units
    }

    /// Returns the minimum number of units that hold `span_pages` and have room to clean. None if
    /// each further unit adds at least as many logical and translation pages as it holds.
    ///
    /// More units have more logical pages, which in turn need more units. The search repeats until
    /// a drive has all units that it needs. `start`, the solution without rounding, is a lower
    /// bound.
    fn smallest(&self, span_pages: u64) -> Option<u64> {
        let per_unit = self.config.unit_pages() as f64;
        let map = self.entries.map_or(0.0, |entries| 1.0 / entries as f64);
        let spare = 1.0 - self.kept() * (1.0 + map);
        if spare <= 0.0 {
            return None;
        }
        let rounding = (f64::from(self.config.log_slots()) * map - 1.0 - map) / per_unit;
        let start = ((self.extra_units as f64 + rounding) / spare) as u64;
        let mut units = self.units_for(span_pages).max(start.saturating_sub(1)).max(1);
        while units as f64 * per_unit <= f64::from(u32::MAX) {
            match self.units_of(self.logical_of(units).max(1)) {
                needed if needed > units => units = needed,
                _ => return Some(units),
            }
        }
        None
    }
}
