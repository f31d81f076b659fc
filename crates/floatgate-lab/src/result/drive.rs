//! Subject of a run: the workload, the drive, and its start state.

use floatgate_ftl::device::Counters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Subject;
use crate::config::Fill;
use crate::drive::Plan;
use crate::metrics::Metrics;

/// Requests of the host.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WorkloadResult {
    /// File name or generator text.
    pub name: String,
    /// Digest of the requests: equal for equal input.
    pub hash: String,
    /// Requests of every kind.
    pub requests: u64,
    /// Read requests.
    pub reads: u64,
    /// Write requests.
    pub writes: u64,
    /// Trim requests.
    pub trims: u64,
    /// Flush requests.
    pub flushes: u64,
    /// Bytes of the reads.
    pub read_bytes: u64,
    /// Bytes of the writes that the drive accepted.
    pub write_bytes: u64,
    /// Pages that read requests touched.
    pub read_pages: u64,
    /// Pages that write requests touched.
    pub write_pages: u64,
    /// Bytes written divided by the capacity: drive capacities (volumes) written.
    pub volumes_written: f64,
    /// Pages unmapped by trims.
    pub trimmed_pages: u64,
    /// Pages read that held no data, because they were never written, or were trimmed; they cost no
    /// flash read.
    pub unwritten_pages_read: u64,
    /// Pages read because a write covered only a part of them.
    pub partial_page_reads: u64,
    /// Distinct pages that were read or written.
    pub footprint_pages: u64,
    /// Lines of the trace that could not be read.
    pub skipped: u64,
    /// Seconds of simulated time from the first arrival to the last completion.
    pub duration_s: Option<f64>,
}

impl WorkloadResult {
    pub(super) fn new(subject: &Subject<'_>, metrics: &Metrics, counters: &Counters) -> Self {
        let host = &counters.host;
        let [reads, writes, trims, flushes] = host.requests;
        Self {
            name: subject.facts.name.clone(),
            hash: subject.facts.digest.clone(),
            requests: reads + writes + trims + flushes,
            reads,
            writes,
            trims,
            flushes,
            read_bytes: host.read_bytes,
            write_bytes: host.write_bytes,
            read_pages: host.read_pages,
            write_pages: host.write_pages,
            volumes_written: host.write_bytes as f64 / subject.plan.logical_bytes() as f64,
            trimmed_pages: host.trimmed_pages,
            unwritten_pages_read: host.empty_reads,
            partial_page_reads: host.partial_page_reads,
            footprint_pages: metrics.footprint_pages(),
            skipped: subject.facts.skipped,
            duration_s: metrics.seconds(),
        }
    }
}

/// The simulated drive. T is the flash in service, U the flash that the host can address.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DriveResult {
    /// Erase units in service: T, without the reserve.
    pub units: u32,
    /// Units of T added to those that the spare factor gives, because the drive could not have
    /// worked without them.
    pub units_added: u32,
    /// Erase units on top of T that cleaning, or merging log blocks, needs to work.
    pub reserve_units: u32,
    /// Erase units on top of T and the reserve that only the SLC cache uses (`slc.static`).
    pub slc_units: u32,
    /// Pages in an erase unit, without parity pages.
    pub pages_per_unit: u32,
    /// Bytes of data in a page.
    pub page_bytes: u32,
    /// U in pages.
    pub logical_pages: u32,
    /// Logical pages of the host's log (SHRD), in addition to U.
    pub log_pages: u32,
    /// Flash pages that hold the map; 0 if the map is not on flash.
    pub translation_pages: u32,
    /// Bytes of T, the reserve and the SLC cache's units, parity included.
    pub physical_bytes: u64,
    /// U in bytes.
    pub logical_bytes: u64,
    /// (T-U)/T, from 0 to 1.
    pub spare_factor: f64,
    /// (T-U)/U, from 0.
    pub over_provisioning: f64,
    /// Low water of free erase units: a write that opens a unit cleans until at least this number
    /// less 1 are free.
    pub low_water: u32,
    /// High water of free erase units: cleaning ahead of need stops at this number.
    pub high_water: u32,
    /// Channels.
    pub channels: u32,
    /// Dies on a channel.
    pub dies: u32,
    /// Planes in a die.
    pub planes: u32,
}

impl DriveResult {
    pub(super) fn new(plan: &Plan) -> Self {
        let geometry = &plan.geometry;
        let shape = geometry.shape();
        let spare = plan.spare_factor();
        let slc_units = plan.cleaning.slc.map_or(0, |slc| slc.static_units);
        Self {
            units: plan.units_in_service,
            units_added: plan.units_added,
            reserve_units: geometry.units() - plan.units_in_service - slc_units,
            slc_units,
            pages_per_unit: geometry.pages_per_unit(),
            page_bytes: shape.page_bytes,
            logical_pages: plan.user_pages(),
            log_pages: plan.log_pages,
            translation_pages: plan.translation_pages,
            physical_bytes: plan.bytes_of_units(geometry.units()),
            logical_bytes: plan.logical_bytes(),
            spare_factor: spare,
            over_provisioning: spare / (1.0 - spare),
            low_water: plan.cleaning.low_water,
            high_water: plan.cleaning.high_water,
            channels: shape.channels,
            dies: shape.dies,
            planes: shape.planes,
        }
    }
}

/// The state of the drive before the workload, and how it was reached.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StartResult {
    /// Data written beforehand.
    pub fill: Fill,
    /// Volumes (drive capacities) of random page writes.
    pub volumes: f64,
    /// Volumes that the generators of `start.play` wrote after that.
    pub played_volumes: f64,
    /// For "steady" and "sampled": whether write amplification settled.
    pub settled: Option<bool>,
    /// Write amplification at the end of the start phase: of the last volume, or of all random
    /// writes.
    pub write_amplification: Option<f64>,
    /// For "sampled": erase units in service of the smaller drive whose steady state was sampled.
    /// The other fields then describe the smaller drive. None if the state is exact.
    pub model_units: Option<u32>,
    /// For "sampled": pages in an erase unit of the smaller drive.
    pub model_pages_per_unit: Option<u32>,
}

impl StartResult {
    /// The start state of a drive without random page writes.
    pub fn new(fill: Fill) -> Self {
        Self {
            fill,
            volumes: 0.0,
            played_volumes: 0.0,
            settled: None,
            write_amplification: None,
            model_units: None,
            model_pages_per_unit: None,
        }
    }
}
