//! The state machine of a zone (ZNS Command Set 1.1, 2.1.1.3), and the limits of open and active
//! zones (2.1.1.4).

use crate::drive::{ZoneFill, ZoneShape};
use crate::spec::status::Status;
use crate::spec::zoned::state;

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

    pub const fn is_open(self) -> bool {
        matches!(self, Self::Implicit | Self::Explicit)
    }

    pub const fn is_active(self) -> bool {
        matches!(self, Self::Implicit | Self::Explicit | Self::Closed)
    }
}

/// A zone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Zone {
    pub state: State,
    /// Bytes up to the write pointer.
    pub written: u64,
    /// Writes in progress.
    pub writes: u32,
    /// Whether one of these writes, or of those that ended since the zone was last without a
    /// write, has failed.
    pub has_failed: bool,
    /// Whether other commands for the zone wait.
    pub is_held: bool,
}

impl Zone {
    const EMPTY: Self =
        Self { state: State::Empty, written: 0, writes: 0, has_failed: false, is_held: false };
}

/// All zones.
#[derive(Debug)]
pub(super) struct Table {
    pub shape: ZoneShape,
    pub zones: Vec<Zone>,
    open: u32,
    active: u32,
    pub block_bytes: u64,
    /// Number of restorations.
    pub epoch: u64,
    pub is_restoring: bool,
}

impl Table {
    /// Empty zones.
    pub fn new(shape: ZoneShape, count: usize, block_bytes: u64) -> Self {
        let zones = vec![Zone::EMPTY; count];
        Self { shape, zones, open: 0, active: 0, block_bytes, epoch: 0, is_restoring: false }
    }

    /// Returns whether no command works on a zone.
    pub fn is_idle(&self) -> bool {
        self.zones.iter().all(|zone| zone.writes == 0 && !zone.is_held)
    }

    /// Returns the zones in a state.
    pub fn in_state(&self, state: State) -> Vec<usize> {
        (0..self.zones.len()).filter(|zone| self.zones[*zone].state == state).collect()
    }

    /// Rounds up to whole blocks, as a power cut may have torn the last block.
    pub fn in_blocks(&self, bytes: u64) -> u64 {
        bytes.next_multiple_of(self.block_bytes)
    }

    /// Changes the state of a zone.
    pub fn set(&mut self, zone: usize, state: State) {
        let old = std::mem::replace(&mut self.zones[zone].state, state);
        self.open = self.open + u32::from(state.is_open()) - u32::from(old.is_open());
        self.active = self.active + u32::from(state.is_active()) - u32::from(old.is_active());
    }

    /// Gives a zone the state and the write pointer of its fill.
    pub fn restore(&mut self, zone: usize, fill: ZoneFill) {
        let written = self.in_blocks(fill.written);
        let state = match written {
            _ if fill.is_finished || written >= self.shape.capacity => State::Full,
            0 => State::Empty,
            _ => State::Closed,
        };
        self.set(zone, state);
        self.zones[zone].written = written;
    }

    /// Ends active zones on which no command works: a zone is closed, or empty if nothing was
    /// written to it.
    pub fn shut_down(&mut self) {
        for at in 0..self.zones.len() {
            let Zone { state, written, writes, is_held, .. } = self.zones[at];
            if state.is_active() && writes == 0 && !is_held {
                self.set(at, if written == 0 { State::Empty } else { State::Closed });
            }
        }
    }

    /// Opens a zone, if the limits allow it.
    pub fn open(&mut self, zone: usize, to: State) -> Result<(), Status> {
        let old = self.zones[zone].state;
        if !old.is_active() && self.shape.active_max.is_some_and(|most| self.active >= most) {
            return Err(Status::ZONES_ACTIVE);
        }
        if !old.is_open() && self.shape.open_max.is_some_and(|most| self.open >= most) {
            let implicit = self.zones.iter().position(|zone| zone.state == State::Implicit);
            self.set(implicit.ok_or(Status::ZONES_OPEN)?, State::Closed);
        }
        self.set(zone, to);
        Ok(())
    }

    /// Checks that a zone has room for `length` bytes at a place in the zone.
    pub fn check_room(&self, zone: usize, at: u64, length: u64) -> Result<(), Status> {
        let Zone { state, written, .. } = self.zones[zone];
        let capacity = self.shape.capacity;
        match state {
            State::Full => Err(Status::ZONE_FULL),
            _ if written == capacity => Err(Status::ZONE_FULL),
            _ if at + length > capacity => Err(Status::ZONE_BOUNDARY),
            _ => Ok(()),
        }
    }

    /// Moves the write pointer for a write that begins.
    pub fn advance(&mut self, zone: usize, length: u64) -> Result<(), Status> {
        if !self.zones[zone].state.is_open() {
            self.open(zone, State::Implicit)?;
        }
        let one = &mut self.zones[zone];
        (one.written, one.writes) = (one.written + length, one.writes + 1);
        Ok(())
    }
}
