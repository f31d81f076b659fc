//! Settings of the page-mapped engine, with built-in or external policies.

use floatgate_ftl::mapping::Boxed;
use floatgate_ftl::page_ftl::PageConfig;
use floatgate_ftl::placement::{AnyPlacement, PlacementConfig, demands};
use floatgate_ftl::unit_table::FreeOrder;
use floatgate_ftl::victim::victim;

use super::{ExternalPolicies, Plan};
use crate::config::{Config, ConfigError, WearLeveling, is_external};

/// Returns the order in which either engine opens free units.
pub(super) fn free_order(config: &Config) -> FreeOrder {
    match config.cleaning.wear_leveling {
        WearLeveling::Dynamic | WearLeveling::Static => FreeOrder::LeastWorn,
        WearLeveling::None => FreeOrder::First,
    }
}

/// Makes the mapping that the config names.
pub(super) fn mapping(config: &Config, plan: &Plan) -> Result<Boxed, ConfigError> {
    let name = &config.mapping.scheme;
    Boxed::by_name(name, &config.map_config(plan.geometry))
        .ok_or_else(|| ConfigError::unknown_policy("mapping.scheme", name))
}

/// Returns the settings of the page-mapped engine for the drive of a plan.
pub(super) fn page_config(
    config: &Config,
    plan: &Plan,
    seed: u64,
    verify: bool,
    policies: &mut dyn ExternalPolicies,
) -> Result<PageConfig, ConfigError> {
    let geometry = plan.geometry;
    let policy = &config.cleaning.victim;
    let map_demands = config.map_demands()?;
    let placements = config.placement_config(geometry, map_demands.keeps_ages);
    let count = streams_of(config, &placements)?;
    let placement = match policies.placement(&geometry) {
        Some(external) => AnyPlacement::external(external, count, &placements),
        None => {
            let scheme = &config.placement.scheme;
            AnyPlacement::new(scheme, &placements).ok_or_else(|| unknown_placement(scheme))?
        }
    };
    let levelled = plan.cleaning.wear_gap.is_some();
    let streams = PageConfig::frontiers(
        placement.streams(),
        map_demands.on_flash,
        levelled,
        plan.log_pages,
        plan.cleaning.slc.is_some(),
    );
    let of_victims = config.victim_config(geometry.units(), streams, seed);
    Ok(PageConfig {
        geometry,
        placement,
        victim: policies
            .victim(&geometry, &of_victims)
            .or_else(|| victim(policy, &of_victims))
            .ok_or_else(|| ConfigError::unknown_policy("cleaning.victim", policy))?,
        cleaning: plan.cleaning,
        free_order: free_order(config),
        verify,
        pages_per_map_page: map_demands.pages_per_map_page,
        journal: plan.journal,
        reclaim_units: plan.reclaim_units.clone(),
        flush_after_ns: config.controller.flush_after.map(|time| time.0),
    })
}

/// Returns the number of streams that the placement of a config uses.
pub(super) fn streams_of(config: &Config, placements: &PlacementConfig) -> Result<u8, ConfigError> {
    let scheme = &config.placement.scheme;
    let external = config.placement.streams.filter(|_| is_external(scheme));
    let streams = demands(scheme, placements).map(|demands| demands.streams);
    streams.or(external).ok_or_else(|| unknown_placement(scheme))
}

fn unknown_placement(scheme: &str) -> ConfigError {
    ConfigError::unknown_policy("placement.scheme", scheme)
}
