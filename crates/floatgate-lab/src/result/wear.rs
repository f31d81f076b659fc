//! How worn the flash is, where, and how long it will last.

use serde_json::{Value, json};

use super::Subject;
use crate::metrics::Metrics;

/// The most cells of the map of the flash.
const CELLS_MAX: usize = 4096;

/// Erases per unit: how many, how evenly, and where.
pub(super) fn summary(subject: &Subject<'_>, wear: &[u32]) -> Value {
    let mean = mean(wear);
    let squares = wear.iter().map(|&n| (f64::from(n) - mean).powi(2)).sum::<f64>();
    let mut sorted = wear.to_vec();
    sorted.sort_unstable();
    let groups = sorted.chunk_by(|a, b| a == b).map(|group| (group[0], group.len()));
    json!({
        "erases_min": sorted.first(),
        "erases_mean": mean,
        "erases_max": sorted.last(),
        "erases_stdev": (squares / wear.len() as f64).sqrt(),
        "histogram": groups.collect::<Vec<_>>(),
        "map": map(wear, &subject.device.valid_pages(), subject.plan.geometry.pages_per_unit()),
    })
}

/// Wear and validity over the flash, in cells of equally many units in the order of their number;
/// the last cell may have fewer.
fn map(wear: &[u32], valid: &[u32], pages_per_unit: u32) -> Value {
    let units = wear.len().div_ceil(CELLS_MAX);
    let means = |of: &[u32]| of.chunks(units).map(mean).collect::<Vec<_>>();
    let share = |pages: f64| pages / f64::from(pages_per_unit);
    json!({
        "units_per_cell": units,
        "erases": means(wear),
        "valid": means(valid).into_iter().map(share).collect::<Vec<_>>(),
    })
}

fn mean(counts: &[u32]) -> f64 {
    counts.iter().map(|&n| f64::from(n)).sum::<f64>() / counts.len() as f64
}

/// How long the flash lasts if the host goes on as it did, wear as even as it was.
pub(super) fn lifetime(subject: &Subject<'_>, metrics: &Metrics, wear: &[u32]) -> Value {
    let endurance = f64::from(subject.config.flash.endurance);
    let most = f64::from(wear.iter().copied().max().unwrap_or(0));
    let written = metrics.write_bytes as f64;
    let until = |erases: f64| (erases > 0.0).then(|| written * endurance / erases);
    let (begin, end) = metrics.interval.unwrap_or_default();
    let seconds = (end - begin) as f64 / 1e9;
    let years = |bytes: f64| bytes / written * seconds / (365.25 * 86_400.0);
    json!({
        "endurance": subject.config.flash.endurance,
        "host_bytes": until(mean(wear)),
        "host_bytes_first_unit": until(most),
        "years": until(mean(wear)).map(years),
    })
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
            let map = map(&wear, &valid, 8);
            assert_eq!(map["units_per_cell"], per_cell);
            let column = |key: &str| map[key].as_array().unwrap().clone();
            let (erases, shares) = (column("erases"), column("valid"));
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
