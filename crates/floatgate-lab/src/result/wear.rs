//! Wear of the flash, its map over the erase units, and the lifetime.

use schemars::JsonSchema;
use serde::Serialize;

use super::Subject;
use super::readings::Readings;
use crate::metrics::Metrics;

/// Maximum number of cells in the map of the erase units.
const CELLS_MAX: usize = 4096;

/// Erases per erase unit: how many, how even, and where.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WearResult {
    /// Erases of the least erased unit.
    pub erases_min: Option<u32>,
    /// Mean erases of a unit.
    pub erases_mean: f64,
    /// Erases of the most erased unit.
    pub erases_max: Option<u32>,
    /// Standard deviation of the erases of a unit.
    pub erases_stdev: f64,
    /// Pairs of a number of erases and the number of units with that many erases, rising.
    pub histogram: Vec<(u32, usize)>,
    /// Map of wear and valid pages over the erase units.
    pub map: WearMap,
}

impl WearResult {
    pub(super) fn new(readings: &Readings, pages_per_unit: u32) -> Self {
        let wear = &readings.wear;
        let mean = mean(wear);
        let squares = wear.iter().map(|&n| (f64::from(n) - mean).powi(2)).sum::<f64>();
        let mut sorted = wear.clone();
        sorted.sort_unstable();
        let groups = sorted.chunk_by(|a, b| a == b).map(|group| (group[0], group.len()));
        Self {
            erases_min: sorted.first().copied(),
            erases_mean: mean,
            erases_max: sorted.last().copied(),
            erases_stdev: (squares / wear.len() as f64).sqrt(),
            histogram: groups.collect(),
            map: WearMap::new(wear, &readings.valid_pages, pages_per_unit),
        }
    }
}

/// Map of wear and valid pages over the erase units. It has at most 4096 cells, each with the same
/// number of units, in the order of the units' numbers; the last cell may have fewer units.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WearMap {
    /// Erase units in a cell.
    pub units_per_cell: usize,
    /// Mean erases of the units of each cell.
    pub erases: Vec<f64>,
    /// Share of valid pages in each cell, 0 to 1.
    pub valid: Vec<f64>,
}

impl WearMap {
    fn new(wear: &[u32], valid: &[u32], pages_per_unit: u32) -> Self {
        let units = wear.len().div_ceil(CELLS_MAX);
        let means = |of: &[u32]| of.chunks(units).map(mean).collect::<Vec<_>>();
        let share = |pages: f64| pages / f64::from(pages_per_unit);
        Self {
            units_per_cell: units,
            erases: means(wear),
            valid: means(valid).into_iter().map(share).collect(),
        }
    }
}

fn mean(counts: &[u32]) -> f64 {
    counts.iter().map(|&n| f64::from(n)).sum::<f64>() / counts.len() as f64
}

/// How long the flash lasts if the host continues as in this run, and wear stays as even.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LifetimeResult {
    /// Rated erases of a unit.
    pub endurance: u32,
    /// Bytes that the host can write until the mean erases of all units reach the endurance.
    pub host_bytes: Option<f64>,
    /// Bytes that the host can write until the first unit reaches the endurance.
    pub host_bytes_first_unit: Option<f64>,
    /// Years until the mean erases of all units reach the endurance, at the workload's rate.
    pub years: Option<f64>,
}

impl LifetimeResult {
    pub(super) fn new(subject: &Subject<'_>, metrics: &Metrics, readings: &Readings) -> Self {
        let wear = &readings.wear;
        let endurance = f64::from(subject.config.flash.endurance);
        let most = f64::from(wear.iter().copied().max().unwrap_or(0));
        let written = readings.counters.host.write_bytes as f64;
        let until = |erases: f64| (erases > 0.0).then(|| written * endurance / erases);
        let years = |bytes: f64| Some(bytes / written * metrics.seconds()? / (365.25 * 86_400.0));
        Self {
            endurance: subject.config.flash.endurance,
            host_bytes: until(mean(wear)),
            host_bytes_first_unit: until(most),
            // Without a write, or without simulated time, there is no rate.
            years: until(mean(wear))
                .and_then(years)
                .filter(|years| years.is_finite() && *years > 0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_has_4096_cells_at_most() {
        for (units, per_cell, cells) in
            [(1, 1, 1), (4096, 1, 4096), (4097, 2, 2049), (8192, 2, 4096), (8193, 3, 2731)]
        {
            let wear: Vec<u32> = (0..units).collect();
            let valid: Vec<u32> = wear.iter().map(|unit| unit % 9).collect();
            let WearMap { units_per_cell, erases, valid: shares } = WearMap::new(&wear, &valid, 8);
            assert_eq!(units_per_cell, per_cell);
            assert_eq!([erases.len(), shares.len()], [cells, cells], "{units} units");
            for (cell, first) in (0..units).step_by(per_cell).enumerate() {
                let of: Vec<u32> = (first..units.min(first + per_cell as u32)).collect();
                let mean = of.iter().sum::<u32>() as f64 / of.len() as f64;
                let pages = of.iter().map(|unit| unit % 9).sum::<u32>();
                assert_eq!(erases[cell], mean, "cell {cell} of {units} units");
                assert_eq!(shares[cell], f64::from(pages) / of.len() as f64 / 8.0);
            }
        }
    }
}
