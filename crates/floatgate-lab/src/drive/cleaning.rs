//! When a drive cleans, and how many units it keeps free for cleaning.

use floatgate_ftl::geometry::{Geometry, Shape};
use floatgate_ftl::mapping::{MapDemands, extra_map_units};
use floatgate_ftl::page_ftl::{Cleaning, Pace};

use super::sizing::Size;
use crate::config::{AHEAD, Config, ConfigError, Pacing, WearLeveling, expect};

/// Rows of each die that paced cleaning may owe, unless `cleaning.debt` is set.
const ROWS_OWED: u32 = 2;

/// Units that the cleaning of one victim may open for the map, in addition to the first such unit.
pub(super) fn map_units(
    config: &Config,
    geometry: &Geometry,
    size: &Size,
    demands: &MapDemands,
) -> u32 {
    let pages = (size.logical_pages + config.log_slots()).div_ceil(geometry.entries_per_page());
    let (per_unit, victim) = (geometry.pages_per_unit(), config.largest_reclaim_unit());
    extra_map_units(per_unit, victim, pages, demands.pages_per_map_page)
}

/// Returns when and how a drive with `frontiers` open units cleans. Cleaning one victim may take
/// `further_units` more units.
pub(super) fn cleaning(
    config: &Config,
    geometry: &Geometry,
    frontiers: u8,
    further_units: u32,
) -> Result<Cleaning, ConfigError> {
    let given = &config.cleaning;
    let mut cleaning = Cleaning {
        destination: config.placement.gc_destination.0,
        scope: given.scope.0,
        pace: pace(config, geometry),
        lazy: given.lazy.map(|share| (share * 1e6).round() as u32),
        relabel: given.relabel,
        slc: config.slc(),
        idle_after_ns: given.idle_after.map(|time| time.0),
        wear_gap: (given.wear_leveling == WearLeveling::Static).then_some(given.wear_gap),
        ..Cleaning::new(0)
    };
    let ahead = cleaning.pace.is_some() || cleaning.idle_after_ns.is_some();
    // A loss of power while a victim is cleaned costs the page that was being programmed. A victim
    // whose pages just fitted into the free units then fits no longer.
    let further_units = further_units.saturating_add(config.ftl.journal.into());
    let least = cleaning
        .least_low_water(frontiers, config.largest_reclaim_unit())
        .saturating_add(further_units);
    cleaning.low_water = given.low_water.unwrap_or(least.max(3));
    let usual = match cleaning.pace {
        Some(Pace::Proportional { .. }) => least_high_water(config, &cleaning, geometry, frontiers),
        Some(Pace::Fixed(_)) | None => cleaning.low_water.saturating_mul(2),
    };
    let high_water = given.high_water.unwrap_or(usual);
    let has_reserve = ahead && given.background_below.is_none();
    cleaning.high_water = if has_reserve { high_water } else { cleaning.low_water };
    let open = format!("at least {least}, as {frontiers} units are open at a time");
    expect(cleaning.low_water >= least, "cleaning.low_water", &cleaning.low_water, open)?;
    let may_be_set = ahead || given.high_water.is_none();
    expect(may_be_set, "cleaning.high_water", &high_water, AHEAD.into())?;
    if has_reserve {
        let least = least_high_water(config, &cleaning, geometry, frontiers);
        let low = match cleaning.pace {
            Some(Pace::Proportional { .. }) => {
                format!("at least {least}, so that no write waits for a whole victim")
            }
            Some(Pace::Fixed(_)) | None => format!("at least cleaning.low_water ({least})"),
        };
        expect(high_water >= least, "cleaning.high_water", &high_water, low)?;
    }
    Ok(cleaning)
}

/// Returns the lowest `high_water` at which cleaning ahead of need is early enough that no write
/// waits for a whole victim.
fn least_high_water(
    config: &Config,
    cleaning: &Cleaning,
    geometry: &Geometry,
    frontiers: u8,
) -> u32 {
    let victim_units = config.largest_reclaim_unit();
    cleaning.least_high_water(frontiers, victim_units, geometry.unit_capacity())
}

/// Returns the pace of cleaning, if the drive cleans along with writes.
fn pace(config: &Config, geometry: &Geometry) -> Option<Pace> {
    match config.cleaning.pacing {
        Pacing::Proportional => {
            let Shape { channels, dies, planes, superblock, .. } = *geometry.shape();
            let row = geometry.program_unit().max(planes.min(superblock));
            let usual = (channels * dies).saturating_mul(row).saturating_mul(ROWS_OWED);
            Some(Pace::Proportional { debt: config.cleaning.debt.unwrap_or(usual) })
        }
        Pacing::None => config.cleaning.copies_per_write.map(Pace::Fixed),
    }
}

/// Applies the thresholds that are shares of the units in service. They add no units to the drive,
/// so its spare space must suffice for them.
pub(super) fn with_shares(
    config: &Config,
    cleaning: Cleaning,
    geometry: &Geometry,
    frontiers: u8,
    size: &Size,
) -> Result<Cleaning, ConfigError> {
    let Cleaning { low_water, high_water, .. } = cleaning;
    let in_service = size.in_service as f64;
    let units = |share: f64| (share * in_service).ceil() as u32;
    let spare = (size.in_service - size.needed) as u32;
    let given = config.cleaning.foreground_below;
    // A write cleans while fewer than `low_water` - 1 units are free.
    let foreground = given.map_or(low_water, |share| low_water.max(units(share) + 1));
    let most = f64::from(spare + low_water - 1) / in_service;
    let text =
        format!("at most {:.4}, as much as the drive has to spare", (most * 1e4).floor() / 1e4);
    let has_room = foreground <= low_water + spare;
    expect(has_room, "cleaning.foreground_below", &given.unwrap_or(0.0), text)?;
    let cleaning = Cleaning { low_water: foreground, ..cleaning };
    let least = least_high_water(config, &cleaning, geometry, frontiers);
    let background = config.cleaning.background_below.map_or(high_water, units);
    Ok(Cleaning { high_water: background.max(least), ..cleaning })
}
