//! A drive in memory, for tests of hosts and of this crate: no flash, no cleaning, no time.
//!
//! It distinguishes durable data from data in its write cache, so that power cuts can be tested.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use crate::drive::{
    CauseTraffic, Drive, DriveError, DriveEvent, HandleTraffic, Health, Session, Shape, Traffic,
    WriteOptions, ZoneFill,
};

/// A drive in memory.
pub struct MemoryDrive(Arc<Inner>);

struct Inner {
    shape: Shape,
    cells: RwLock<Cells>,
    state: Mutex<State>,
    /// Number of power cuts.
    cuts: AtomicU64,
    fails_reads: AtomicBool,
}

struct Cells {
    now: Vec<u8>,
    durable: Vec<u8>,
    /// Pages that differ from their durable state.
    dirty: BTreeSet<u64>,
}

struct State {
    health: Health,
    handles: Vec<Handle>,
    events: Vec<DriveEvent>,
    zones: Vec<ZoneFill>,
    durable_zones: Vec<ZoneFill>,
}

#[derive(Clone, Copy, Default)]
struct Handle {
    host: u64,
    /// Bytes in the current unit.
    unit: u64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MemoryDrive {
    /// Makes an empty drive.
    pub fn new(shape: Shape) -> Self {
        let zones = shape.zones.map_or(0, |zones| shape.bytes / zones.bytes) as usize;
        let handles = shape.placement.map_or(1, |placement| placement.handles).into();
        let (now, durable) = (vec![0; shape.bytes as usize], vec![0; shape.bytes as usize]);
        let health = Health {
            power_cycles: 1,
            spare_percent: 100,
            spare_threshold_percent: 10,
            free_percent: 100,
            ..Health::default()
        };
        let state = State {
            health,
            handles: vec![Handle::default(); handles],
            events: vec![],
            zones: vec![ZoneFill::default(); zones],
            durable_zones: vec![ZoneFill::default(); zones],
        };
        Self(Arc::new(Inner {
            shape,
            cells: RwLock::new(Cells { now, durable, dirty: BTreeSet::new() }),
            state: Mutex::new(state),
            cuts: AtomicU64::new(0),
            fails_reads: AtomicBool::new(false),
        }))
    }

    /// Cuts the power: data that are not durable are lost, and all sessions end.
    pub fn cut_power(&self) {
        let inner = &self.0;
        inner.cuts.fetch_add(1, Ordering::SeqCst);
        let mut cells = inner.cells.write().unwrap_or_else(PoisonError::into_inner);
        let Cells { now, durable, dirty } = &mut *cells;
        now.copy_from_slice(durable);
        dirty.clear();
        let mut state = lock(&inner.state);
        state.health.unsafe_shutdowns += 1;
        state.health.power_cycles += 1;
        state.zones = state.durable_zones.clone();
        state.handles.iter_mut().for_each(|handle| handle.unit = 0);
        state.events.push(DriveEvent::Reset);
    }

    /// Makes all reads fail, or succeed again.
    pub fn fail_reads(&self, fails: bool) {
        self.0.fails_reads.store(fails, Ordering::SeqCst);
    }

    /// Makes the drive refuse writes, or take them again.
    pub fn set_read_only(&self, is_read_only: bool) {
        lock(&self.0.state).health.is_read_only = is_read_only;
    }

    /// Adds an event, as a cleaner would.
    pub fn add_event(&self, event: DriveEvent) {
        lock(&self.0.state).events.push(event);
    }
}

impl Drive for MemoryDrive {
    fn shape(&self) -> Shape {
        self.0.shape
    }

    fn attach(&self) -> Arc<dyn Session> {
        let cuts = self.0.cuts.load(Ordering::SeqCst);
        Arc::new(MemorySession { inner: Arc::clone(&self.0), cuts })
    }

    fn health(&self) -> Health {
        lock(&self.0.state).health
    }

    fn traffic(&self) -> Traffic {
        let state = lock(&self.0.state);
        let Health { media_read_bytes: read, media_written_bytes: written, .. } = state.health;
        let causes = vec![CauseTraffic { name: "host", read, written, erased: 0 }];
        let of = |handle: &Handle| HandleTraffic { host: handle.host, media: handle.host };
        Traffic { causes, handles: state.handles.iter().map(of).collect() }
    }

    fn room(&self, handle: u16) -> u64 {
        let unit_bytes = self.0.shape.placement.map_or(0, |placement| placement.unit_bytes);
        unit_bytes - lock(&self.0.state).handles[usize::from(handle)].unit
    }

    fn take_events(&self) -> Vec<DriveEvent> {
        std::mem::take(&mut lock(&self.0.state).events)
    }

    fn zone(&self, zone: u64) -> Option<ZoneFill> {
        lock(&self.0.state).zones.get(zone as usize).copied()
    }
}

struct MemorySession {
    inner: Arc<Inner>,
    /// Power cuts before the session.
    cuts: u64,
}

impl MemorySession {
    fn has_power(&self) -> Result<(), DriveError> {
        let has_power = self.inner.cuts.load(Ordering::SeqCst) == self.cuts;
        has_power.then_some(()).ok_or(DriveError::PowerOff)
    }

    /// Changes cells. With the options of a write, also counts the write.
    fn change(
        &self,
        (offset, length): (u64, u64),
        write: Option<WriteOptions>,
        work: impl FnOnce(&mut [u8]),
    ) -> Result<(), DriveError> {
        let page = u64::from(self.inner.shape.page_bytes);
        let mut cells = self.inner.cells.write().unwrap_or_else(PoisonError::into_inner);
        self.has_power()?;
        if lock(&self.inner.state).health.is_read_only {
            return Err(DriveError::ReadOnly);
        }
        work(&mut cells.now[offset as usize..(offset + length) as usize]);
        cells.dirty.extend(offset / page..(offset + length).div_ceil(page));
        let Some(WriteOptions { handle, durable }) = write else { return Ok(()) };
        self.count_write(offset, length, handle);
        if durable { self.settle(&mut cells) } else { Ok(()) }
    }

    /// Makes all data durable.
    fn settle(&self, cells: &mut Cells) -> Result<(), DriveError> {
        self.has_power()?;
        let page = self.inner.shape.page_bytes as usize;
        for dirty in std::mem::take(&mut cells.dirty) {
            let range = dirty as usize * page..(dirty as usize + 1) * page;
            cells.durable[range.clone()].copy_from_slice(&cells.now[range]);
        }
        let mut state = lock(&self.inner.state);
        state.durable_zones = state.zones.clone();
        Ok(())
    }

    /// Counts a write, and fills the units of its handle and its zone.
    fn count_write(&self, offset: u64, length: u64, handle: u16) {
        let Shape { page_bytes, placement, zones, .. } = self.inner.shape;
        let mut state = lock(&self.inner.state);
        let State { health, handles, events, zones: fills, .. } = &mut *state;
        health.host_writes += 1;
        health.host_written_bytes += length;
        health.media_written_bytes += length;
        health.unaligned += u64::from(!(offset | length).is_multiple_of(page_bytes.into()));
        let of = &mut handles[usize::from(handle)];
        of.host += length;
        of.unit += length;
        if let Some(placement) = placement
            && of.unit >= placement.unit_bytes
        {
            of.unit %= placement.unit_bytes;
            events.push(DriveEvent::NextUnit { handle });
        }
        if let Some(zones) = zones {
            let fill = &mut fills[(offset / zones.bytes) as usize];
            fill.written = fill.written.max(offset % zones.bytes + length);
        }
    }
}

impl Session for MemorySession {
    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), DriveError> {
        let cells = self.inner.cells.read().unwrap_or_else(PoisonError::into_inner);
        self.has_power()?;
        into.copy_from_slice(&cells.now[offset as usize..offset as usize + into.len()]);
        let mut state = lock(&self.inner.state);
        if self.inner.fails_reads.load(Ordering::SeqCst) {
            state.health.media_errors += 1;
            return Err(DriveError::Unreadable);
        }
        state.health.host_reads += 1;
        state.health.host_read_bytes += into.len() as u64;
        state.health.media_read_bytes += into.len() as u64;
        Ok(())
    }

    fn write(&self, offset: u64, bytes: &[u8], options: WriteOptions) -> Result<(), DriveError> {
        let range = (offset, bytes.len() as u64);
        self.change(range, Some(options), |cells| cells.copy_from_slice(bytes))
    }

    fn zero(
        &self,
        offset: u64,
        length: u64,
        may_deallocate: bool,
        options: WriteOptions,
    ) -> Result<(), DriveError> {
        // Zeros move the write pointer of their zone.
        let is_write = !may_deallocate || self.inner.shape.zones.is_some();
        let write = is_write.then_some(options);
        self.change((offset, length), write, |cells| cells.fill(0))?;
        if options.durable { self.flush() } else { Ok(()) }
    }

    fn deallocate(&self, offset: u64, length: u64) -> Result<(), DriveError> {
        self.change((offset, length), None, |cells| cells.fill(0))
    }

    fn flush(&self) -> Result<(), DriveError> {
        let mut cells = self.inner.cells.write().unwrap_or_else(PoisonError::into_inner);
        self.settle(&mut cells)
    }

    fn next_unit(&self, handle: u16) -> Result<u64, DriveError> {
        self.has_power()?;
        let unit_bytes = self.inner.shape.placement.map_or(0, |placement| placement.unit_bytes);
        let mut state = lock(&self.inner.state);
        let unit = std::mem::take(&mut state.handles[usize::from(handle)].unit);
        Ok(if unit == 0 { 0 } else { unit_bytes - unit })
    }

    fn reset_zone(&self, zone: u64) -> Result<(), DriveError> {
        let bytes = self.inner.shape.zones.map_or(0, |zones| zones.bytes);
        self.change((zone * bytes, bytes), None, |cells| cells.fill(0))?;
        lock(&self.inner.state).zones[zone as usize] = ZoneFill::default();
        Ok(())
    }

    fn finish_zone(&self, zone: u64) -> Result<(), DriveError> {
        self.has_power()?;
        lock(&self.inner.state).zones[zone as usize].is_finished = true;
        Ok(())
    }
}
