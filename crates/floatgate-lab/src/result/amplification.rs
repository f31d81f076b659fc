//! Write amplification: flash programs for each byte, and for each page, of the host.
//!
//! JEDEC (JESD218), NVMe and OCP's data-centre SSD specification compare bytes: bytes programmed to
//! the media over bytes that the host wrote. Papers and closed forms compare map units: programs
//! over the units that writes touch. The two numbers are equal if every write covers whole pages. A
//! write that covers a page in part causes the drive to program the rest of the page, too, which
//! only the first number counts.

use floatgate_ftl::device::Counters;
use schemars::JsonSchema;
use serde::Serialize;

use super::flash::CauseCounts;

/// Bytes programmed to the flash for each byte that the host wrote, by cause. The components sum to
/// the write amplification. All are absent if the host wrote nothing.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AmplificationResult {
    /// Bytes of the host: 1 without a write buffer. A write buffer can absorb bytes that never
    /// reach the flash, and can add bytes to pad a block.
    pub host: Option<f64>,
    /// The rest of pages that a write covered in part: the drive programs the page as a whole.
    pub partial: Option<f64>,
    /// Translation pages, on behalf of the host.
    pub map: Option<f64>,
    /// Data moved by cleaning.
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
    /// Pages moved out of retired erase units, and pages programmed again after a failed program.
    pub retire: Option<f64>,
    /// Padding of rows that had to be programmed before they were full.
    pub pad: Option<f64>,
    /// Data moved out of the SLC cache.
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

/// Returns the bytes that the flash programmed for the host in excess of the host's bytes, because
/// writes covered pages in part.
///
/// Without a write buffer the excess is the bytes of the touched pages minus the bytes of the
/// writes. A write buffer joins writes to one page before the drive programs the page. The excess
/// is then at most the bytes of programs for the host minus the host's bytes. Padding of blocks
/// does not count.
fn partial_bytes(programmed: u64, counters: &Counters, page_bytes: u32) -> u64 {
    let host = &counters.host;
    let touched = (host.write_pages - host.unwritten_pages) * u64::from(page_bytes);
    let beyond = |bytes: u64| bytes.saturating_sub(host.write_bytes);
    beyond(touched).min(beyond(programmed))
}
