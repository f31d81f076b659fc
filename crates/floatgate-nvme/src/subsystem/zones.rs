//! The state machine of zones (ZNS Command Set 1.1, 2.1.1.3), in bytes.
//!
//! ```text
//!   empty ──write──> implicitly open ──────────┐ written to capacity, or finished
//!     │                 │   ^                   v
//!     └──open──> explicitly open <──> closed ─> full ──reset──> empty
//! ```
//!
//! Open and closed zones are active. If the limit of open zones is reached, a write closes an
//! implicitly open zone; an explicitly open zone is the host's.

use std::sync::Mutex;

use crate::drive::{DriveError, ZoneFill, ZoneShape};
use crate::spec::status::Status;
use crate::spec::zoned::state;

use super::lock;
use super::reply::Stop;

/// State of a zone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    Empty,
    Implicit,
    Explicit,
    Closed,
    Full,
}

impl State {
    /// Returns the state's number.
    pub const fn number(self) -> u8 {
        match self {
            Self::Empty => state::EMPTY,
            Self::Implicit => state::IMPLICITLY_OPEN,
            Self::Explicit => state::EXPLICITLY_OPEN,
            Self::Closed => state::CLOSED,
            Self::Full => state::FULL,
        }
    }

    const fn is_open(self) -> bool {
        matches!(self, Self::Implicit | Self::Explicit)
    }

    const fn is_active(self) -> bool {
        matches!(self, Self::Implicit | Self::Explicit | Self::Closed)
    }
}

/// A zone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Zone {
    pub state: State,
    /// Bytes up to the write pointer.
    pub written: u64,
}

/// Zones of a namespace.
#[derive(Debug)]
pub(super) struct Zones {
    pub shape: ZoneShape,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    zones: Vec<Zone>,
    open: u32,
    active: u32,
}

impl Table {
    fn set(&mut self, zone: usize, state: State) {
        let old = std::mem::replace(&mut self.zones[zone].state, state);
        self.open = self.open + u32::from(state.is_open()) - u32::from(old.is_open());
        self.active = self.active + u32::from(state.is_active()) - u32::from(old.is_active());
    }

    /// Opens a zone, if the limits allow it.
    fn open(&mut self, zone: usize, to: State, shape: &ZoneShape) -> Result<(), Status> {
        let old = self.zones[zone].state;
        if !old.is_active() && shape.active_max.is_some_and(|most| self.active >= most) {
            return Err(Status::ZONES_ACTIVE);
        }
        if !old.is_open() && shape.open_max.is_some_and(|most| self.open >= most) {
            let implicit = self.zones.iter().position(|zone| zone.state == State::Implicit);
            self.set(implicit.ok_or(Status::ZONES_OPEN)?, State::Closed);
        }
        self.set(zone, to);
        Ok(())
    }
}

impl Zones {
    /// Zones with the fill that the drive has found.
    pub fn new(shape: ZoneShape, fills: &[ZoneFill]) -> Self {
        let zones = Self { shape, table: Mutex::default() };
        zones.restore(fills);
        zones
    }

    /// Finds the zones again after a power cut: open zones are closed.
    pub fn restore(&self, fills: &[ZoneFill]) {
        let of = |fill: &ZoneFill| {
            let state = match fill.written {
                _ if fill.is_finished || fill.written >= self.shape.capacity => State::Full,
                0 => State::Empty,
                _ => State::Closed,
            };
            Zone { state, written: fill.written }
        };
        let zones: Vec<_> = fills.iter().map(of).collect();
        let active = zones.iter().filter(|zone| zone.state.is_active()).count() as u32;
        *lock(&self.table) = Table { zones, open: 0, active };
    }

    /// Returns all zones.
    pub fn all(&self) -> Vec<Zone> {
        lock(&self.table).zones.clone()
    }

    /// Returns the zone that begins at an offset.
    ///
    /// # Errors
    /// An offset at which no zone begins.
    pub fn starting_at(&self, offset: u64) -> Result<u64, Status> {
        let zone = offset / self.shape.bytes;
        let is_start = offset.is_multiple_of(self.shape.bytes);
        let exists = (zone as usize) < lock(&self.table).zones.len();
        if is_start && exists { Ok(zone) } else { Err(Status::INVALID_FIELD) }
    }

    /// Moves the write pointer for a write, which must begin there.
    pub fn write(&self, offset: u64, length: u64) -> Result<(), Status> {
        let (zone, at) = ((offset / self.shape.bytes) as usize, offset % self.shape.bytes);
        let mut table = lock(&self.table);
        let Zone { state, written } = table.zones[zone];
        if state == State::Full {
            return Err(Status::ZONE_FULL);
        }
        if at + length > self.shape.capacity {
            return Err(Status::ZONE_BOUNDARY);
        }
        if at != written {
            return Err(Status::ZONE_INVALID_WRITE);
        }
        self.advance(&mut table, zone, length)
    }

    /// Moves the write pointer for an append. Returns the offset of the data.
    pub fn append(&self, zone: u64, length: u64) -> Result<u64, Status> {
        let mut table = lock(&self.table);
        let Zone { state, written } = table.zones[zone as usize];
        if state == State::Full {
            return Err(Status::ZONE_FULL);
        }
        if written + length > self.shape.capacity {
            return Err(Status::ZONE_BOUNDARY);
        }
        self.advance(&mut table, zone as usize, length)?;
        Ok(zone * self.shape.bytes + written)
    }

    fn advance(&self, table: &mut Table, zone: usize, length: u64) -> Result<(), Status> {
        if !table.zones[zone].state.is_open() {
            table.open(zone, State::Implicit, &self.shape)?;
        }
        table.zones[zone].written += length;
        if table.zones[zone].written == self.shape.capacity {
            table.set(zone, State::Full);
        }
        Ok(())
    }

    /// Opens a zone explicitly.
    pub fn open(&self, zone: u64) -> Result<(), Status> {
        let mut table = lock(&self.table);
        match table.zones[zone as usize].state {
            State::Full => Err(Status::ZONE_TRANSITION),
            State::Explicit => Ok(()),
            _ => table.open(zone as usize, State::Explicit, &self.shape),
        }
    }

    /// Closes a zone.
    pub fn close(&self, zone: u64) -> Result<(), Status> {
        let mut table = lock(&self.table);
        if !table.zones[zone as usize].state.is_active() {
            return Err(Status::ZONE_TRANSITION);
        }
        table.set(zone as usize, State::Closed);
        Ok(())
    }

    /// Makes a zone full, after the drive has marked it.
    pub fn finish(
        &self,
        zone: u64,
        mark: impl FnOnce(u64) -> Result<(), DriveError>,
    ) -> Result<(), Stop> {
        let mut table = lock(&self.table);
        if table.zones[zone as usize].state != State::Full {
            mark(zone)?;
            table.set(zone as usize, State::Full);
        }
        Ok(())
    }

    /// Makes a zone empty, after the drive has emptied it.
    pub fn reset(
        &self,
        zone: u64,
        empty: impl FnOnce(u64) -> Result<(), DriveError>,
    ) -> Result<(), Stop> {
        let mut table = lock(&self.table);
        if table.zones[zone as usize] != (Zone { state: State::Empty, written: 0 }) {
            empty(zone)?;
            table.set(zone as usize, State::Empty);
            table.zones[zone as usize].written = 0;
        }
        Ok(())
    }

    /// Makes all zones empty.
    pub fn reset_all(&self, empty: impl Fn(u64) -> Result<(), DriveError>) -> Result<(), Stop> {
        (0..self.all().len() as u64).try_for_each(|zone| self.reset(zone, &empty))
    }
}
