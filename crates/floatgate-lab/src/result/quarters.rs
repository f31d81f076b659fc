//! Write amplification in the quarters of a run.

use crate::metrics::Timeline;

/// Returns the write amplification in each quarter of the bytes that the host wrote; none if some
/// quarter has no timeline interval of its own.
pub fn quarters(timeline: &Timeline) -> Option<[f64; 4]> {
    let total = *timeline.host_bytes.last().filter(|&&bytes| bytes > 0)?;
    let mut sums = [(0.0, 0u64); 4];
    let mut before = 0;
    for (&bytes, factor) in timeline.host_bytes.iter().zip(&timeline.write_amplification) {
        let written = bytes - before;
        let quarter = ((before as u128 * 4 / u128::from(total)) as usize).min(3);
        sums[quarter].0 += factor.unwrap_or(0.0) * written as f64;
        sums[quarter].1 += written;
        before = bytes;
    }
    let are_known = sums.iter().all(|&(_, host)| host > 0);
    are_known.then(|| sums.map(|(media, host)| media / host as f64))
}
