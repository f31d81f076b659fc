//! The sealed units of each stream in an array, for random draws.
//!
//! Drawing units of the drive until one is in the pool would have no bound. A single draw from the
//! array gives a unit of the pool, each with the same probability. Following the units that have
//! changed costs one step for each.

use alloc::vec;
use alloc::vec::Vec;

use crate::addr::Unit;
use crate::rng::Rng;
use crate::unit_table::{Pool, UnitTable};

const NONE: u32 = u32::MAX;

/// Position of a unit in the roster, and its last known state.
#[derive(Clone, Copy, Debug)]
struct RosterSlot {
    at: u32,
    valid: u32,
    stream: u8,
}

crate::state!(blank RosterSlot { at, valid, stream });

#[derive(Clone, Debug, Default)]
struct Stream {
    units: Vec<Unit>,
    /// Valid pages of all units together.
    valid: u64,
}

crate::state!(blank Stream { units, valid });

/// Sealed units by stream, in no order.
#[derive(Clone, Debug)]
pub(super) struct Roster {
    streams: Vec<Stream>,
    places: Vec<RosterSlot>,
    changed: Vec<Unit>,
    rng: Rng,
}

crate::state!(Roster { streams, places, changed, rng });

impl Roster {
    /// Makes an empty roster for `units` units in `streams` streams.
    pub(super) fn new(units: u32, streams: u8, seed: u64) -> Self {
        Self {
            streams: vec![Stream::default(); streams.into()],
            places: vec![RosterSlot { at: NONE, valid: 0, stream: 0 }; units as usize],
            changed: Vec::new(),
            rng: Rng::new(seed),
        }
    }

    /// Follows all changes. Returns the number of sealed units in the pool, and their valid pages.
    pub(super) fn follow(&mut self, table: &mut UnitTable, pool: Pool) -> (u64, u64) {
        let mut changed = core::mem::take(&mut self.changed);
        table.take_changed(&mut changed);
        for unit in changed.drain(..) {
            let sealed = table.is_sealed(unit);
            if !(sealed && self.keep(unit, table.stream(unit), table.reclaim_valid(unit))) {
                self.take_out(unit);
                if sealed {
                    self.put_in(unit, table.stream(unit), table.reclaim_valid(unit));
                }
            }
        }
        self.changed = changed;
        let streams = table.streams(pool).map(|stream| &self.streams[usize::from(stream)]);
        streams.fold((0, 0), |(units, valid), s| (units + s.units.len() as u64, valid + s.valid))
    }

    /// Draws a unit of the pool. Each of its `count` units has the same probability.
    pub(super) fn draw(&mut self, table: &UnitTable, pool: Pool, count: u64) -> Unit {
        let mut at = self.rng.below(count) as usize;
        for stream in table.streams(pool) {
            let units = &self.streams[usize::from(stream)].units;
            match units.get(at) {
                Some(&unit) => return unit,
                None => at -= units.len(),
            }
        }
        unreachable!("the pool has {count} units")
    }

    /// Updates a unit that is still in the stream. Returns whether it is.
    fn keep(&mut self, unit: Unit, stream: u8, valid: u32) -> bool {
        let place = &mut self.places[unit.index()];
        let keeps = place.at != NONE && place.stream == stream;
        if keeps {
            let sum = &mut self.streams[usize::from(stream)].valid;
            *sum = *sum - u64::from(place.valid) + u64::from(valid);
            place.valid = valid;
        }
        keeps
    }

    fn put_in(&mut self, unit: Unit, stream: u8, valid: u32) {
        let to = &mut self.streams[usize::from(stream)];
        self.places[unit.index()] = RosterSlot { at: to.units.len() as u32, valid, stream };
        to.units.push(unit);
        to.valid += u64::from(valid);
    }

    fn take_out(&mut self, unit: Unit) {
        let RosterSlot { at, valid, stream } = self.places[unit.index()];
        if at != NONE {
            let from = &mut self.streams[usize::from(stream)];
            from.valid -= u64::from(valid);
            from.units.swap_remove(at as usize);
            if let Some(moved) = from.units.get(at as usize) {
                self.places[moved.index()].at = at;
            }
            self.places[unit.index()].at = NONE;
        }
    }
}
