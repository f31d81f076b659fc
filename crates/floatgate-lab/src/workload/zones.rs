//! Zones that are written from start to end, several of them at a time.
//!
//! The span is cut into zones, and the remainder is not written. Each of several slots holds a
//! zone. A request goes to a random slot, after the previous request in that slot. A full zone is
//! replaced by a random zone that no slot holds, which is then overwritten from its start. The host
//! may discard a zone before it overwrites the zone. This is the load of SSD-iq's zone experiments,
//! and of a log-structured store on a block device.

use floatgate_ftl::rng::Rng;

use super::keys::{KeyRow, Keys};
use super::{Pattern, Space};
use crate::config::ConfigError;

#[derive(Clone)]
pub(super) struct Zones {
    /// Zones in the span. `zone_places` is the number of requests that fill one.
    zones: u64,
    zone_places: u64,
    active: Vec<Slot>,
    /// Whether zones are discarded.
    discards: bool,
    /// Slot of the next request, if a discard has decided it.
    turn: Option<usize>,
}

/// Zone that is being written.
#[derive(Clone, Copy)]
struct Slot {
    zone: u64,
    /// Requests that the zone has received.
    written: u64,
    /// Whether the zone is still to be discarded.
    is_old: bool,
}

impl Pattern for Zones {
    const KEYS: &'static [KeyRow] = &[
        KeyRow { name: "zone", default: "", doc: "Bytes of a zone; must be given." },
        KeyRow { name: "active", default: "1", doc: "Zones that are written at a time, from 1." },
        KeyRow {
            name: "discard",
            default: "false",
            doc: "A zone is trimmed before it is written; the trim counts as one of the writes.",
        },
    ];

    fn new(keys: &mut Keys, space: Space, first: &mut Rng) -> Result<Self, ConfigError> {
        let zone_bytes = keys.size("zone", None)?;
        let active = keys.count("active")?.unwrap_or(1);
        keys.resolve("active", &active);
        if space.step != space.size || !zone_bytes.is_multiple_of(space.size) {
            let size = space.size;
            let text = format!("zone={zone_bytes}: expected a multiple of size ({size}), aligned");
            return Err(keys.error(&text));
        }
        let zone_places = zone_bytes / space.size;
        let zones = space.places / zone_places;
        if active == 0 || active >= zones {
            let text = format!("active={active} of {zones} zones: expected 1 to one less than all");
            return Err(keys.error(&text));
        }
        let choices = [("false", false), ("true", true)];
        let discards = keys.choice("discard", &choices)?;
        let mut all = Self { zones, zone_places, active: Vec::new(), discards, turn: None };
        for _ in 0..active {
            let zone = all.draw(first);
            all.active.push(Slot { zone, written: 0, is_old: discards });
        }
        Ok(all)
    }

    fn offset(&mut self, space: Space, rng: &mut Rng) -> u64 {
        let at = self.slot(rng);
        let slot = &mut self.active[at];
        slot.written += 1;
        (slot.zone * self.zone_places + slot.written - 1) * space.step
    }

    fn discard(&mut self, space: Space, rng: &mut Rng) -> Option<(u64, u64)> {
        if !self.discards {
            return None;
        }
        let at = self.slot(rng);
        self.turn = Some(at);
        let slot = &mut self.active[at];
        let bytes = self.zone_places * space.step;
        std::mem::take(&mut slot.is_old).then_some((slot.zone * bytes, bytes))
    }
}

impl Zones {
    /// Returns the slot of the next request. Its zone is not full.
    fn slot(&mut self, rng: &mut Rng) -> usize {
        let drawn = self.turn.take();
        let at = drawn.unwrap_or_else(|| rng.below(self.active.len() as u64) as usize);
        if self.active[at].written == self.zone_places {
            let zone = self.draw(rng);
            self.active[at] = Slot { zone, written: 0, is_old: self.discards };
        }
        at
    }

    /// Draws a zone that no slot holds.
    fn draw(&self, rng: &mut Rng) -> u64 {
        loop {
            let zone = rng.below(self.zones);
            if self.active.iter().all(|slot| slot.zone != zone) {
                return zone;
            }
        }
    }
}
