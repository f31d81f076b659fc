//! Zones that are written from their start to their end, some of them at a time.
//!
//! The span is cut into zones; what is left of it is not written. Each of some slots holds a zone.
//! A request goes to a slot that is drawn, behind the request before it there. A zone that is full
//! is replaced by one that is drawn from those that no slot holds, and that is overwritten from its
//! start: the load of SSD-iq's zone experiments, and of a log-structured store on a block device.

use floatgate_ftl::rng::Rng;

use super::keys::{KeyRow, Keys};
use super::{Pattern, Space};
use crate::config::ConfigError;

#[derive(Clone)]
pub(super) struct Zones {
    /// Zones in the span, and requests that fill one.
    zones: u64,
    zone_places: u64,
    active: Vec<Slot>,
}

/// A zone that is being written.
#[derive(Clone, Copy)]
struct Slot {
    zone: u64,
    /// Requests that it has had.
    written: u64,
}

impl Pattern for Zones {
    const KEYS: &'static [KeyRow] = &[
        KeyRow { name: "zone", default: "", doc: "Bytes of a zone; must be given." },
        KeyRow { name: "active", default: "1", doc: "Zones that are written at a time, from 1." },
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
        let mut all = Self { zones, zone_places, active: Vec::new() };
        for _ in 0..active {
            let zone = all.draw(first);
            all.active.push(Slot { zone, written: 0 });
        }
        Ok(all)
    }

    fn offset(&mut self, space: Space, rng: &mut Rng) -> u64 {
        let at = rng.below(self.active.len() as u64) as usize;
        if self.active[at].written == self.zone_places {
            let zone = self.draw(rng);
            self.active[at] = Slot { zone, written: 0 };
        }
        let slot = &mut self.active[at];
        slot.written += 1;
        (slot.zone * self.zone_places + slot.written - 1) * space.step
    }
}

impl Zones {
    /// One of the zones that no slot holds.
    fn draw(&self, rng: &mut Rng) -> u64 {
        loop {
            let zone = rng.below(self.zones);
            if self.active.iter().all(|slot| slot.zone != zone) {
                return zone;
            }
        }
    }
}
