//! Write amplification: flash programs for each byte, and for each page, of the host.
//!
//! JEDEC (JESD218), NVMe and OCP's data-centre SSD specification compare bytes: those programmed to
//! the media over those that the host wrote. Papers and closed forms compare pages of the map:
//! programs over the pages that writes touch. The two numbers are equal where every write covers
//! whole pages. A write that covers a page in part has the rest of the page programmed, too, which
//! only the first number counts.

use floatgate_ftl::device::Counters;
use schemars::JsonSchema;
use serde::Serialize;

use super::flash::CauseCounts;

/// Bytes programmed to the flash for each byte that the host wrote, by cause; together, the write
/// amplification. All are absent if the host wrote nothing.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AmplificationResult {
    /// Bytes of the host: 1 without a write buffer, which may take in bytes that never reach the
    /// flash, or that a block is padded with.
    pub host: Option<f64>,
    /// The rest of map pages that a write covered in part: the page is programmed as a whole.
    pub partial: Option<f64>,
    /// Translation pages, on behalf of the host.
    pub map: Option<f64>,
    /// Moves of data by cleaning.
    pub gc: Option<f64>,
    /// Translation pages, on behalf of cleaning.
    pub gc_map: Option<f64>,
    /// Merges of log blocks.
    pub merge: Option<f64>,
    /// Wear levelling.
    pub wear: Option<f64>,
    /// Remapping commands.
    pub remap: Option<f64>,
    /// The journal: checkpoints and trims.
    pub journal: Option<f64>,
    /// Pages moved out of retired erase units, and pages of programs that failed once more.
    pub retire: Option<f64>,
    /// Padding of rows that had to be programmed before they were full.
    pub pad: Option<f64>,
    /// Moves out of the SLC cache.
    pub fold: Option<f64>,
    /// Parity over dies.
    pub parity: Option<f64>,
}

impl AmplificationResult {
    pub(super) fn new(programs: &CauseCounts, counters: &Counters, page_bytes: u32) -> Self {
        let host_bytes = counters.host.write_bytes;
        let bytes = |pages: u64| pages * u64::from(page_bytes);
        let share = |bytes: u64| (host_bytes > 0).then(|| bytes as f64 / host_bytes as f64);
        let of = |pages: u64| share(bytes(pages));
        let partial = partial_bytes(bytes(programs.host), counters, page_bytes);
        Self {
            host: share(bytes(programs.host) - partial),
            partial: share(partial),
            map: of(programs.map),
            gc: of(programs.gc),
            gc_map: of(programs.gc_map),
            merge: of(programs.merge),
            wear: of(programs.wear),
            remap: of(programs.remap),
            journal: of(programs.journal),
            retire: of(programs.retire),
            pad: of(programs.pad),
            fold: of(programs.fold),
            parity: of(programs.parity),
        }
    }
}

/// Bytes that the flash programmed for the host beyond those that the host wrote, because writes
/// covered pages in part.
///
/// Without a write buffer these are the bytes of the touched pages less those of the writes. A
/// buffer joins writes to one page before it programs the page. Then the excess of the programs for
/// the host over the host's bytes counts, if that is less. Padding of blocks is not counted.
fn partial_bytes(programmed: u64, counters: &Counters, page_bytes: u32) -> u64 {
    let host = &counters.host;
    let touched = (host.write_pages - host.unwritten_pages) * u64::from(page_bytes);
    let beyond = |bytes: u64| bytes.saturating_sub(host.write_bytes);
    beyond(touched).min(beyond(programmed))
}
