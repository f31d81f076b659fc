//! The zones of a namespace (ZNS Command Set 1.1, 2.1.1), in bytes.
//!
//! ```text
//!   empty ──write──> implicitly open ──────────┐ written to capacity, or finished
//!     │                 │   ^                   v
//!     └──open──> explicitly open <──> closed ─> full ──reset──> empty
//! ```
//!
//! Open and closed zones are active. If the limit of open zones is reached, a write closes an
//! implicitly open zone; an explicitly open zone is the host's.
//!
//! A write moves the write pointer when it begins, so that several writes to a zone can be in
//! progress. A reset and a finish wait until no write to their zone is in progress, and writes wait
//! for them. After a write that fails, and after a power cut, the layer takes the write pointer
//! from the drive.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::drive::{Drive, DriveError, ZoneFill, ZoneShape};
use crate::spec::status::Status;

use super::lock;
use super::reply::Stop;
use super::zone_state::{State, Table, Zone};

/// Zones of a namespace.
pub(super) struct Zones {
    pub shape: ZoneShape,
    drive: Arc<dyn Drive>,
    table: Mutex<Table>,
    /// Signalled when a zone has no write in progress, when nothing holds a zone any more, and
    /// when the zones are found again.
    changed: Condvar,
}

/// Time of the zones between two power cuts, as a number. A controller can change zones in the
/// epoch in which it connected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Epoch(u64);

/// A write in progress. It has failed unless [`Writing::end`] gets another result.
pub(super) struct Writing<'a> {
    zones: &'a Zones,
    zone: usize,
    has_succeeded: bool,
}

impl Writing<'_> {
    /// Ends the write with the result of the drive.
    ///
    /// # Errors
    /// That of the drive.
    pub fn end(mut self, written: Result<(), DriveError>) -> Result<(), Stop> {
        self.has_succeeded = written.is_ok();
        written.map_err(refused)
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.zones.end_write(self.zone, self.has_succeeded);
    }
}

/// A zone without writes, and whose writes wait.
struct Held<'a> {
    zones: &'a Zones,
    zone: usize,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        lock(&self.zones.table).zones[self.zone].is_held = false;
        self.zones.changed.notify_all();
    }
}

/// Returns why the command stops. The zones of a read-only drive are read-only.
fn refused(error: DriveError) -> Stop {
    match error {
        DriveError::ReadOnly => Status::ZONE_READ_ONLY.into(),
        error => error.into(),
    }
}

impl Zones {
    /// Zones with the fill that the drive has, and blocks of `block_bytes`.
    pub fn new(shape: ZoneShape, drive: Arc<dyn Drive>, block_bytes: u64) -> Self {
        let count = drive.shape().bytes / shape.bytes;
        let table = Table::new(shape, count as usize, block_bytes);
        let zones = Self { shape, drive, table: Mutex::new(table), changed: Condvar::new() };
        zones.restore();
        zones
    }

    /// Finds the zones again after a power cut: open zones are closed. Commands of controllers
    /// that connected earlier fail from now on; those of others wait until this returns.
    pub fn restore(&self) {
        let mut table = lock(&self.table);
        table.epoch += 1;
        table.is_restoring = true;
        table = self.wait_while(table, |table| !table.is_idle());
        drop(table);
        let count = lock(&self.table).zones.len() as u64;
        let fills: Vec<_> = (0..count).map(|zone| self.drive.zone(zone)).collect();
        let mut table = lock(&self.table);
        for (zone, fill) in fills.into_iter().enumerate() {
            table.restore(zone, fill.unwrap_or_default());
        }
        table.is_restoring = false;
        drop(table);
        self.changed.notify_all();
    }

    /// Ends active zones after an orderly shutdown of all controllers.
    pub fn shut_down(&self) {
        lock(&self.table).shut_down();
    }

    fn wait_while<'a>(
        &self,
        table: MutexGuard<'a, Table>,
        is_so: impl Fn(&Table) -> bool,
    ) -> MutexGuard<'a, Table> {
        let waited = self.changed.wait_while(table, |table| is_so(table));
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the epoch of the zones.
    pub fn epoch(&self) -> Epoch {
        Epoch(lock(&self.table).epoch)
    }

    /// Returns all zones.
    pub fn all(&self) -> Vec<Zone> {
        self.wait_while(lock(&self.table), |table| table.is_restoring).zones.clone()
    }

    /// Waits until commands may change the table, and the zone if there is one.
    ///
    /// # Errors
    /// The epoch of the controller is over.
    fn begin(&self, epoch: Epoch, zone: Option<usize>) -> Result<MutexGuard<'_, Table>, Stop> {
        let is_held = |table: &Table| zone.is_some_and(|zone| table.zones[zone].is_held);
        let table = lock(&self.table);
        let table = self.wait_while(table, |table| table.is_restoring || is_held(table));
        if Epoch(table.epoch) == epoch { Ok(table) } else { Err(Stop::PowerOff) }
    }

    /// Holds a zone that has no writes in progress.
    fn hold(&self, epoch: Epoch, zone: usize) -> Result<Held<'_>, Stop> {
        let mut table = self.begin(epoch, Some(zone))?;
        while table.zones[zone].writes > 0 {
            table = self.changed.wait(table).unwrap_or_else(PoisonError::into_inner);
            drop(table);
            table = self.begin(epoch, Some(zone))?;
        }
        table.zones[zone].is_held = true;
        Ok(Held { zones: self, zone })
    }

    /// Returns the zone that begins at an offset.
    ///
    /// # Errors
    /// An offset at which no zone begins.
    pub fn starting_at(&self, offset: u64) -> Result<usize, Status> {
        let zone = (offset / self.shape.bytes) as usize;
        let is_start = offset.is_multiple_of(self.shape.bytes);
        let exists = zone < lock(&self.table).zones.len();
        if is_start && exists { Ok(zone) } else { Err(Status::INVALID_FIELD) }
    }

    /// Begins a write, which must be at the write pointer.
    pub fn write(&self, epoch: Epoch, offset: u64, length: u64) -> Result<Writing<'_>, Stop> {
        let (zone, at) = ((offset / self.shape.bytes) as usize, offset % self.shape.bytes);
        let mut table = self.begin(epoch, Some(zone))?;
        table.check_room(zone, at, length)?;
        if at != table.zones[zone].written {
            return Err(Status::ZONE_INVALID_WRITE.into());
        }
        table.advance(zone, length)?;
        Ok(Writing { zones: self, zone, has_succeeded: false })
    }

    /// Begins an append (3.4.1). Also returns the offset of the data.
    pub fn append(
        &self,
        epoch: Epoch,
        zone: usize,
        length: u64,
    ) -> Result<(Writing<'_>, u64), Stop> {
        let mut table = self.begin(epoch, Some(zone))?;
        let at = table.zones[zone].written;
        table.check_room(zone, at, length)?;
        table.advance(zone, length)?;
        let writing = Writing { zones: self, zone, has_succeeded: false };
        Ok((writing, zone as u64 * self.shape.bytes + at))
    }

    /// Ends a write. The last write to a zone makes the zone full.
    fn end_write(&self, zone: usize, has_succeeded: bool) {
        let mut table = lock(&self.table);
        let one = &mut table.zones[zone];
        one.writes -= 1;
        one.has_failed |= !has_succeeded;
        if one.writes > 0 {
            return;
        }
        if std::mem::take(&mut one.has_failed) {
            one.is_held = true;
            drop(table);
            let fill = self.drive.zone(zone as u64);
            table = lock(&self.table);
            table.zones[zone].is_held = false;
            if let Some(ZoneFill { written, .. }) = fill {
                table.zones[zone].written = table.in_blocks(written);
            }
        }
        if table.zones[zone].written == self.shape.capacity {
            table.set(zone, State::Full);
        }
        drop(table);
        self.changed.notify_all();
    }

    /// Opens a zone explicitly (3.4.3.1.3).
    pub fn open(&self, epoch: Epoch, zone: usize) -> Result<(), Stop> {
        let mut table = self.begin(epoch, Some(zone))?;
        match table.zones[zone].state {
            State::Full => Err(Status::ZONE_TRANSITION.into()),
            State::Explicit => Ok(()),
            _ => Ok(table.open(zone, State::Explicit)?),
        }
    }

    /// Opens all closed zones, or none if the limit does not allow all.
    pub fn open_all(&self, epoch: Epoch) -> Result<(), Stop> {
        let mut table = self.begin(epoch, None)?;
        let closed = table.in_state(State::Closed);
        let most = table.shape.open_max.map_or(usize::MAX, |most| most as usize);
        if table.in_state(State::Explicit).len() + closed.len() > most {
            return Err(Status::ZONES_OPEN.into());
        }
        Ok(closed.into_iter().try_for_each(|zone| table.open(zone, State::Explicit))?)
    }

    /// Closes a zone (3.4.3.1.1).
    pub fn close(&self, epoch: Epoch, zone: usize) -> Result<(), Stop> {
        let mut table = self.begin(epoch, Some(zone))?;
        if !table.zones[zone].state.is_active() {
            return Err(Status::ZONE_TRANSITION.into());
        }
        table.set(zone, State::Closed);
        Ok(())
    }

    /// Makes a zone full (3.4.3.1.2), after the drive has marked it.
    pub fn finish(
        &self,
        epoch: Epoch,
        zone: usize,
        mark: impl FnOnce(u64) -> Result<(), DriveError>,
    ) -> Result<(), Stop> {
        let held = self.hold(epoch, zone)?;
        if lock(&self.table).zones[zone].state != State::Full {
            mark(zone as u64).map_err(refused)?;
            lock(&self.table).set(zone, State::Full);
        }
        drop(held);
        Ok(())
    }

    /// Makes a zone empty (3.4.3.1.4), after the drive has emptied it.
    pub fn reset(
        &self,
        epoch: Epoch,
        zone: usize,
        empty: impl FnOnce(u64) -> Result<(), DriveError>,
    ) -> Result<(), Stop> {
        let held = self.hold(epoch, zone)?;
        if lock(&self.table).zones[zone].state != State::Empty {
            empty(zone as u64).map_err(refused)?;
            let mut table = lock(&self.table);
            table.set(zone, State::Empty);
            table.zones[zone].written = 0;
        }
        drop(held);
        Ok(())
    }

    /// Makes all zones empty, and gives them blocks of `block_bytes`.
    pub fn format(
        &self,
        epoch: Epoch,
        block_bytes: u64,
        empty: impl Fn(u64) -> Result<(), DriveError>,
    ) -> Result<(), Stop> {
        (0..self.all().len()).try_for_each(|zone| self.reset(epoch, zone, &empty))?;
        lock(&self.table).block_bytes = block_bytes;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::drive::{Shape, WriteOptions};
    use crate::memory::MemoryDrive;

    const BLOCK: u64 = 4096;
    const SHAPE: ZoneShape =
        ZoneShape { bytes: 8 * BLOCK, capacity: 6 * BLOCK, open_max: None, active_max: Some(4) };

    fn zones() -> (Arc<MemoryDrive>, Zones) {
        let shape = Shape {
            bytes: 4 * SHAPE.bytes,
            page_bytes: 4096,
            has_cache: true,
            placement: None,
            zones: Some(SHAPE),
        };
        let drive = Arc::new(MemoryDrive::new(shape));
        (Arc::clone(&drive), Zones::new(SHAPE, drive, BLOCK))
    }

    /// Asserts that a thread is still at work after a while, unless `work` ends; then that it ends.
    fn waits_for(work: impl FnOnce(), thread: thread::ScopedJoinHandle<'_, Result<(), Stop>>) {
        thread::sleep(Duration::from_millis(30));
        assert!(!thread.is_finished());
        work();
        assert!(thread.join().is_ok_and(|ended| ended == Ok(())));
    }

    #[test]
    fn a_reset_and_a_finish_wait_for_the_writes_of_their_zone() {
        for is_reset in [false, true] {
            let (_, zones) = zones();
            let epoch = zones.epoch();
            let first = zones.write(epoch, 0, BLOCK).unwrap();
            let second = zones.append(epoch, 0, BLOCK).unwrap().0;
            let elsewhere = zones.append(epoch, 1, BLOCK).unwrap().0;
            first.end(Ok(())).unwrap();
            thread::scope(|scope| {
                let ends = scope.spawn(|| match is_reset {
                    true => zones.reset(epoch, 0, |_| Ok(())),
                    false => zones.finish(epoch, 0, |_| Ok(())),
                });
                waits_for(|| second.end(Ok(())).unwrap(), ends);
            });
            drop(elsewhere);
        }
    }

    #[test]
    fn writes_wait_for_a_reset_of_their_zone() {
        let (_, zones) = zones();
        let epoch = zones.epoch();
        zones.append(epoch, 0, BLOCK).unwrap().0.end(Ok(())).unwrap();
        let appended = thread::scope(|scope| {
            let mut append = None;
            let reset = zones.reset(epoch, 0, |_| {
                append = Some(scope.spawn(|| zones.append(epoch, 0, BLOCK).map(|(_, at)| at)));
                thread::sleep(Duration::from_millis(30));
                assert!(append.as_ref().is_some_and(|append| !append.is_finished()));
                Ok(())
            });
            assert_eq!(reset, Ok(()));
            append.unwrap().join().unwrap()
        });
        assert_eq!(appended, Ok(0), "the zone is empty");
    }

    #[test]
    fn the_last_write_in_progress_makes_a_zone_full() {
        let (_, zones) = zones();
        let epoch = zones.epoch();
        let first = zones.append(epoch, 0, 2 * BLOCK).unwrap().0;
        let last = zones.append(epoch, 0, 4 * BLOCK).unwrap().0;
        last.end(Ok(())).unwrap();
        assert_eq!(zones.all()[0].state, State::Implicit);
        let more = zones.append(epoch, 0, BLOCK).err();
        assert_eq!(more, Some(Status::ZONE_FULL.into()));
        first.end(Ok(())).unwrap();
        assert_eq!(zones.all()[0].state, State::Full);
    }

    /// Otherwise the next write would leave a gap.
    #[test]
    fn a_failed_write_leaves_the_pointer_where_the_data_end() {
        let (drive, zones) = zones();
        let (epoch, session) = (zones.epoch(), drive.attach());
        let write = |blocks: u64, fails: bool| {
            let (writing, offset) = zones.append(epoch, 0, blocks * BLOCK).unwrap();
            let written = match fails {
                true => Err(DriveError::Unwritten),
                false => {
                    let bytes = vec![1; (blocks * BLOCK) as usize];
                    session.write(offset, &bytes, WriteOptions::default())
                }
            };
            (writing, written)
        };
        let (writing, written) = write(2, false);
        writing.end(written).unwrap();
        let (writing, written) = write(4, true);
        assert_eq!(writing.end(written), Err(Status::WRITE_FAULT.into()));
        let Zone { state, written, .. } = zones.all()[0];
        assert_eq!((state, written), (State::Implicit, 2 * BLOCK));
        // A later write in progress has data behind the gap.
        let (failed, late) = (write(1, true), write(1, false));
        assert!(failed.0.end(failed.1).is_err());
        late.0.end(late.1).unwrap();
        assert_eq!(zones.all()[0].written, 4 * BLOCK);
    }

    #[test]
    fn earlier_controllers_change_no_zone_after_a_power_cut() {
        let (drive, zones) = zones();
        let epoch = zones.epoch();
        let writing = zones.append(epoch, 0, BLOCK).unwrap().0;
        thread::scope(|scope| {
            let restore = scope.spawn(|| {
                drive.cut_power();
                zones.restore();
                Ok(())
            });
            let end = || assert_eq!(writing.end(Err(DriveError::PowerOff)), Err(Stop::PowerOff));
            waits_for(end, restore);
        });
        assert_eq!(zones.append(epoch, 0, BLOCK).err(), Some(Stop::PowerOff));
        assert_eq!(zones.open(epoch, 0), Err(Stop::PowerOff));
        assert_eq!(zones.reset(epoch, 0, |_| Ok(())), Err(Stop::PowerOff));
        let (_, at) = zones.append(zones.epoch(), 0, BLOCK).unwrap();
        assert_eq!(at, 0);
    }

    /// A power cut can tear a block of several pages.
    #[test]
    fn a_pointer_is_between_two_blocks() {
        let table = Table::new(SHAPE, 1, BLOCK);
        assert_eq!([0, 1, 4096, 4608].map(|bytes| table.in_blocks(bytes)), [0, 4096, 4096, 8192]);
    }
}
