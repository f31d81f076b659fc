//! Notes on how the numbers of a result came about.

use super::AGED;
use crate::result::RunResult;

/// Volumes that the host must write to a drive aged by random writes. With fewer volumes, the
/// random writes still decide write amplification.
const CHANGED: f64 = 0.05;
/// Bytes programmed per host byte that partly covered pages may add without a note.
const PARTIAL: f64 = 0.01;

/// Returns notes on how the numbers of a result came about.
pub fn notes(result: &RunResult) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(true) = result.start.settled {
        let of_model = result.start.model_units.map_or_else(String::new, |units| {
            format!(" to a drive of {units} erase units, from which it was sampled")
        });
        notes.push(format!(
            "the start state settled after {} volumes of random page writes{of_model}",
            result.start.volumes
        ));
    }
    if result.cleaning.emergency > 0 {
        notes.push(format!(
            "in {} of the cleans free units were so few that the cheapest victim was taken, \
             regardless of the policy",
            result.cleaning.emergency
        ));
    }
    if result.flash.programs.of_map() > 0 {
        notes.push(
            "write_amplification includes translation pages; data_write_amplification does not"
                .into(),
        );
    }
    notes.extend(hardly_written(result));
    notes.extend(separated_nothing(result));
    notes.extend(written_in_part(result));
    notes
}

/// Describes a host that wrote so little that the start state decides the write amplification.
fn hardly_written(result: &RunResult) -> Option<String> {
    let aged = result.start.volumes;
    let (written, erases) = (result.workload.volumes_written, result.flash.erases.total());
    (aged >= AGED && erases > 0 && written < CHANGED).then(|| {
        format!(
            "the host wrote {written:.3} volumes (drive capacities) to a drive aged by {aged:.2} \
             of random pages, which decide most of the write amplification"
        )
    })
}

/// Describes a placement that put every page in the same stream. Handles have a warning instead.
fn separated_nothing(result: &RunResult) -> Option<String> {
    let (config, streams) = (&result.config.placement, &result.placement.streams);
    let used = streams.iter().filter(|stream| stream.host_pages + stream.gc_pages > 0).count();
    (config.scheme != "host" && streams.len() > 1 && used == 1).then(|| {
        format!(
            "the placement put every page in one of its {} streams, as \"single\" does",
            streams.len()
        )
    })
}

/// Describes the difference between write amplification in bytes and in pages, if writes covered
/// pages only partly.
fn written_in_part(result: &RunResult) -> Option<String> {
    let partial = result.amplification.partial.filter(|&share| share > PARTIAL)?;
    let (bytes, pages) = (result.write_amplification?, result.page_write_amplification?);
    Some(format!(
        "writes covered map pages of {} bytes in part: for each byte that the host wrote, \
         {partial:.2} more bytes of these pages were programmed; write_amplification {bytes:.3} \
         counts bytes, page_write_amplification {pages:.3} counts map pages, as papers do",
        result.drive.page_bytes
    ))
}
