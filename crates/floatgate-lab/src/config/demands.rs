//! Inputs of policies from a config, and requirements of policies on a config.

use floatgate_ftl::geometry::{Geometry, Shape};
use floatgate_ftl::host::HostConfig;
use floatgate_ftl::log_block::LogConfig;
use floatgate_ftl::mapping::{self, MapConfig, MapDemands};
use floatgate_ftl::parameters::Refusal;
use floatgate_ftl::placement::{self, PlacementConfig};
use floatgate_ftl::victim::VictimConfig;

use super::{Config, ConfigError, expect, is_external};

impl Config {
    /// Returns the shape of a drive before its size is decided: one erase unit, one logical page,
    /// map entries of the configured size.
    fn provisional_shape(&self) -> Shape {
        let flash = &self.flash;
        Shape {
            page_bytes: u32::try_from(self.unit_bytes()).unwrap_or(u32::MAX),
            pages_per_block: self.unit_pages_per_block(),
            superblock: flash.superblock,
            units: 1,
            channels: flash.channels,
            dies: flash.dies,
            planes: flash.planes,
            logical_pages: 1,
            entry_bytes: self.mapping.entry_bytes,
            program_unit: self.program_unit(),
        }
    }

    pub(super) fn provisional_geometry(&self) -> Result<Geometry, ConfigError> {
        Ok(Geometry::new(self.provisional_shape())?)
    }

    /// Returns the provisional shape, with the size of map entries on flash that the mapping uses.
    pub(crate) fn shape(&self, demands: &MapDemands) -> Shape {
        let shape = self.provisional_shape();
        Shape { entry_bytes: demands.entry_bytes.unwrap_or(shape.entry_bytes), ..shape }
    }

    /// Returns the requirements of the mapping on the drive.
    ///
    /// # Errors
    /// Numbers that give no valid drive, or an unknown policy name.
    pub(crate) fn map_demands(&self) -> Result<MapDemands, ConfigError> {
        let name = &self.mapping.scheme;
        let config = self.map_config(self.provisional_geometry()?);
        let external = is_external(name).then(MapDemands::default);
        mapping::demands(name, &config)
            .or(external)
            .ok_or_else(|| ConfigError::unknown_policy("mapping.scheme", name))
    }

    /// Returns the inputs of mappings.
    pub(crate) fn map_config(&self, geometry: Geometry) -> MapConfig {
        MapConfig::new(geometry, self.mapping.cache.0).with(&|s, key| self.policies.value(s, key))
    }

    /// Returns the inputs of placements.
    pub(crate) fn placement_config(
        &self,
        geometry: Geometry,
        ages_in_map: bool,
    ) -> PlacementConfig {
        let config = PlacementConfig::new(geometry).with(&|s, key| self.policies.value(s, key));
        let (handles, isolation) = (self.placement.handles as u8, self.placement.isolation.0);
        let moved_pages = self.placement.moved_pages.0;
        PlacementConfig { ages_in_map, handles, isolation, moved_pages, ..config }
    }

    /// Whether the placement uses the nanoseconds of the device's clock. An external policy gets
    /// them, and may use them.
    pub(crate) fn placement_reads_time(&self) -> Result<bool, ConfigError> {
        if is_external(&self.placement.scheme) {
            return Ok(true);
        }
        let placements = self.placement_config(self.provisional_geometry()?, false);
        let demands = placement::demands(&self.placement.scheme, &placements);
        Ok(demands.is_some_and(|demands| demands.reads_time))
    }

    /// Returns the inputs of victim policies, on a drive with `units` erase units and `streams`
    /// streams.
    pub(crate) fn victim_config(&self, units: u32, streams: u8, seed: u64) -> VictimConfig {
        let config = VictimConfig::new(units, streams).with(&|s, key| self.policies.value(s, key));
        let reclaim_units = (units / self.largest_reclaim_unit()).max(1);
        VictimConfig { tie: self.cleaning.tie.0, reclaim_units, seed, ..config }
    }

    /// Returns the inputs of log-block schemes.
    pub(crate) fn log_config(&self, geometry: Geometry, logs: u32, seed: u64) -> LogConfig {
        let config = LogConfig::new(geometry, logs).with(&|s, key| self.policies.value(s, key));
        LogConfig { seed, ..config }
    }

    /// Returns the inputs of host layers.
    pub(crate) fn host_config(&self, log2_page: u32, user_pages: u32, slots: u32) -> HostConfig {
        let config = HostConfig::new(log2_page, user_pages, slots, self.host.threshold.0);
        config.with(&|s, key| self.policies.value(s, key))
    }

    /// Checks the requirements of policies on the config and on their own parameters.
    pub(super) fn check_demands(&self) -> Result<(), ConfigError> {
        if let Some(streams) = self.placement.streams {
            let text = "only with a placement in Python, python:NAME".to_owned();
            expect(is_external(&self.placement.scheme), "placement.streams", &streams, text)?;
        }
        let geometry = self.provisional_geometry()?;
        let of_mappings = self.map_config(geometry).refusal();
        let of_placements = || self.placement_config(geometry, false).refusal();
        if let Some(Refusal { key, given, expected }) = of_mappings.or_else(of_placements) {
            expect(false, key, &given, expected)?;
        }
        let MapDemands { cache_bytes, cache_for, .. } = self.map_demands()?;
        expect(
            self.mapping.cache.0 >= cache_bytes,
            "mapping.cache",
            &format!("\"{}\"", self.mapping.cache),
            format!("room for at least {cache_for} ({cache_bytes})"),
        )
    }
}
