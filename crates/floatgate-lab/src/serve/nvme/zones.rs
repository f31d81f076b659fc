//! The served drive as a drive in zones (NVMe ZNS Command Set 1.1).
//!
//! A zone holds the data of one reclaim unit. The host writes an active zone in order, and its
//! pages go through a placement handle that no other zone has at that time. The handle begins with
//! an empty reclaim unit, so a zone fills a unit of its own. A reset leaves that unit without valid
//! pages, and the drive erases it without a copy: cleaning has nothing to do.
//!
//! ```text
//!   logical pages:   | zone 0 ........ | mark | zone 1 ........ | mark | ...
//!   units:             u3, handle 0             u7, handle 1
//! ```
//!
//! The page behind a zone, its mark, is written when the host finishes the zone. The drive finds
//! the write pointer of a zone in its map: it is behind the last page that holds data.
//!
//! The command layer limits active zones to the number of handles, and waits for the writes of a
//! zone before it resets or finishes the zone.
//!
//! A power cut ends all units. A zone that was active then continues in another unit, and cleaning
//! may have to move pages until the zone is reset.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use floatgate_ftl::addr::Lpn;
use floatgate_nvme::drive::{DriveError, Session, WriteOptions, ZoneFill, ZoneShape};
use serde_json::{Value, json};

use crate::config::Config;
use crate::drive::live::{Live, Opened};
use crate::serve::nvme::session::Controller;
use crate::serve::panics::lock;

/// Bytes of the largest block of a namespace: the unit of the sizes of zones.
const BLOCK_BYTES: u64 = 4096;

/// The zones of a drive.
#[derive(Debug)]
pub(super) struct Zones {
    pub shape: ZoneShape,
    pub count: u64,
    page_bytes: u64,
    table: Mutex<Table>,
    /// Signalled when a zone has no writes in progress.
    idle: Condvar,
}

#[derive(Debug)]
struct Table {
    zones: Vec<Zone>,
    /// Handles that no zone has.
    free: Vec<u16>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Zone {
    /// Bytes of the writes that have begun.
    begun: u64,
    in_progress: u32,
    handle: Option<u16>,
}

impl Table {
    /// Takes a handle that no zone has, or else that of a zone without writes in progress.
    fn take_handle(&mut self) -> Option<u16> {
        self.free.pop().or_else(|| {
            let is_idle = |zone: &&mut Zone| zone.in_progress == 0 && zone.handle.is_some();
            self.zones.iter_mut().find(is_idle)?.handle.take()
        })
    }

    fn release(&mut self, zone: usize) {
        self.free.extend(self.zones[zone].handle.take());
    }
}

impl Zones {
    /// Returns the zones of a drive: as many as fit, each of a reclaim unit.
    ///
    /// # Errors
    /// A drive whose config does not keep the pages of zones apart: the key, its value, and the
    /// expected value.
    pub fn new(opened: &Opened) -> Result<Self, String> {
        let Opened { drive, description, plan } = opened;
        let config = &description.config;
        let page_bytes = u64::from(plan.geometry.shape().page_bytes);
        check(config, page_bytes, &plan.reclaim_units)?;
        if description.aged {
            return refused("aged", "true", "false");
        }
        let erase_units = plan.reclaim_units.iter().copied().max().unwrap_or(1);
        let pages = u64::from(erase_units) * u64::from(plan.geometry.unit_capacity());
        let capacity = pages * page_bytes / BLOCK_BYTES * BLOCK_BYTES;
        let handles = config.placement.handles;
        let limit = Some(handles);
        let bytes = capacity.next_power_of_two();
        let shape = ZoneShape { bytes, capacity, open_max: limit, active_max: limit };
        let count = drive.bytes().checked_div(capacity + page_bytes).unwrap_or(0);
        if count == 0 {
            let (given, least) = (drive.bytes(), capacity + page_bytes);
            return refused("size", &format!("{given} B"), &format!("at least {least} B"));
        }
        let zones = vec![Zone::default(); count as usize];
        let table = Mutex::new(Table { zones, free: (0..handles as u16).rev().collect() });
        Ok(Self { shape, count, page_bytes, table, idle: Condvar::new() })
    }

    /// Returns the first byte of a zone on the drive.
    fn start(&self, zone: u64) -> u64 {
        zone * (self.shape.capacity + self.page_bytes)
    }

    /// Returns the zone of a byte, and the place of the byte in the zone.
    fn locate(&self, offset: u64) -> (u64, u64) {
        (offset / self.shape.bytes, offset % self.shape.bytes)
    }

    /// Returns the fill of a zone that the map of the drive has.
    pub fn fill(&self, drive: &dyn Live, zone: u64) -> ZoneFill {
        let (first, pages) =
            (self.start(zone) / self.page_bytes, self.shape.capacity / self.page_bytes);
        let holds = |page: u64| !drive.is_hole(Lpn::new((first + page) as u32));
        let written = (0..pages).rev().find(|&page| holds(page)).map_or(0, |last| last + 1);
        ZoneFill { written: written * self.page_bytes, is_finished: holds(pages) }
    }

    /// Continues with the fill of a zone.
    pub fn refill(&self, zone: u64, fill: ZoneFill) {
        let begun = if fill.is_finished { self.shape.capacity } else { fill.written };
        let mut table = lock(&self.table);
        table.zones[zone as usize].begun = begun;
        self.settle(&mut table, zone as usize);
    }

    /// Takes the handle from a zone that has no write in progress and is empty or full.
    fn settle(&self, table: &mut Table, zone: usize) {
        let Zone { begun, in_progress, .. } = table.zones[zone];
        if in_progress == 0 && (begun == 0 || begun >= self.shape.capacity) {
            table.release(zone);
        }
        self.idle.notify_all();
    }

    /// Begins a write to a zone, and returns the handle of the zone. A zone without a handle gets
    /// one, whose unit `next_unit` empties.
    fn begin(
        &self,
        zone: u64,
        bytes: u64,
        next_unit: impl Fn(u16) -> Result<u64, DriveError>,
    ) -> Result<u16, DriveError> {
        let at = zone as usize;
        let mut table = lock(&self.table);
        while table.zones[at].handle.is_none() {
            let Some(handle) = table.take_handle() else {
                table = self.idle.wait(table).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            table.zones[at].handle = Some(handle);
            if let Err(error) = next_unit(handle) {
                table.release(at);
                return Err(error);
            }
        }
        let one = &mut table.zones[at];
        (one.begun, one.in_progress) = (one.begun + bytes, one.in_progress + 1);
        Ok(one.handle.unwrap_or(0))
    }

    /// Ends a write. A full zone gives up its handle with its last write.
    fn end(&self, zone: u64) {
        let mut table = lock(&self.table);
        table.zones[zone as usize].in_progress -= 1;
        self.settle(&mut table, zone as usize);
    }
}

/// Checks that the pages of a zone can fill a unit of their own.
fn check(config: &Config, page_bytes: u64, reclaim_units: &[u32]) -> Result<(), String> {
    for (key, given, expected) in [
        ("placement.scheme", &*config.placement.scheme, "host"),
        ("buffer.scheme", &*config.buffer.scheme, "none"),
        ("host.scheme", &*config.host.scheme, "plain"),
    ] {
        if given != expected {
            return refused(key, &format!("{given:?}"), &format!("{expected:?}"));
        }
    }
    if config.slc().is_some() {
        return refused("slc", "an SLC cache", "none");
    }
    if page_bytes > BLOCK_BYTES {
        return refused("flash.page", &format!("{page_bytes} B"), "at most 4096 B");
    }
    if reclaim_units.iter().any(|units| *units != reclaim_units[0]) {
        return refused("placement.reclaim_unit", "several sizes", "one size for all handles");
    }
    Ok(())
}

fn refused<T>(key: &str, given: &str, expected: &str) -> Result<T, String> {
    Err(format!("{key}: {given} given; expected {expected} for a drive in zones"))
}

/// Returns the zones for the status of the drive: their shape, and their number by state.
pub(super) fn document(shape: ZoneShape, states: [(&str, usize); 5]) -> Value {
    json!({
        "bytes": shape.bytes,
        "capacity_bytes": shape.capacity,
        "active_max": shape.active_max,
        "states": states.into_iter().collect::<BTreeMap<_, _>>(),
    })
}

/// A controller of a drive in zones.
pub(super) struct ZonedController {
    inner: Controller,
    zones: Arc<Zones>,
}

impl ZonedController {
    pub fn new(inner: Controller, zones: Arc<Zones>) -> Self {
        Self { inner, zones }
    }

    /// Writes to a zone through its handle: `write` gets the options.
    fn write_to(
        &self,
        zone: u64,
        bytes: u64,
        durable: bool,
        write: impl FnOnce(WriteOptions) -> Result<(), DriveError>,
    ) -> Result<(), DriveError> {
        let handle = self.zones.begin(zone, bytes, |handle| self.inner.next_unit(handle))?;
        let written = write(WriteOptions { handle, durable });
        self.zones.end(zone);
        written
    }
}

impl Session for ZonedController {
    /// Bytes between the end of a zone and the next zone are zeros.
    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), DriveError> {
        let mut rest = into;
        let mut offset = offset;
        while !rest.is_empty() {
            let (zone, at) = self.zones.locate(offset);
            let ZoneShape { bytes, capacity, .. } = self.zones.shape;
            let is_data = at < capacity;
            let end = if is_data { capacity } else { bytes };
            let length = (end - at).min(rest.len() as u64);
            let (piece, others) = rest.split_at_mut(length as usize);
            match is_data {
                true => self.inner.read(self.zones.start(zone) + at, piece)?,
                false => piece.fill(0),
            }
            (rest, offset) = (others, offset + length);
        }
        Ok(())
    }

    fn write(&self, offset: u64, bytes: &[u8], of: WriteOptions) -> Result<(), DriveError> {
        let (zone, at) = self.zones.locate(offset);
        let start = self.zones.start(zone) + at;
        let length = bytes.len() as u64;
        self.write_to(zone, length, of.durable, |of| self.inner.write(start, bytes, of))
    }

    /// Writes zeros: a hole would move the write pointer that the drive finds after a power cut.
    fn zero(&self, offset: u64, length: u64, _: bool, of: WriteOptions) -> Result<(), DriveError> {
        let (zone, at) = self.zones.locate(offset);
        let start = self.zones.start(zone) + at;
        self.write_to(zone, length, of.durable, |of| self.inner.zero(start, length, false, of))
    }

    /// Does nothing: a host deallocates whole zones, by a reset.
    fn deallocate(&self, _: u64, _: u64) -> Result<(), DriveError> {
        Ok(())
    }

    fn flush(&self) -> Result<(), DriveError> {
        self.inner.flush()
    }

    /// Hosts of a drive in zones have no handles.
    fn next_unit(&self, _: u16) -> Result<u64, DriveError> {
        Err(DriveError::Failed)
    }

    fn reset_zone(&self, zone: u64) -> Result<(), DriveError> {
        let bytes = self.zones.shape.capacity + self.zones.page_bytes;
        self.inner.deallocate(self.zones.start(zone), bytes)?;
        self.zones.refill(zone, ZoneFill::default());
        Ok(())
    }

    fn finish_zone(&self, zone: u64) -> Result<(), DriveError> {
        let capacity = self.zones.shape.capacity;
        let mark = vec![0; self.zones.page_bytes as usize];
        let start = self.zones.start(zone) + capacity;
        self.write_to(zone, 0, false, |of| self.inner.write(start, &mark, of))?;
        self.zones.refill(zone, ZoneFill { written: capacity, is_finished: true });
        Ok(())
    }
}
