//! Iometer's access specification: records of one size, some of them at a random place.
//!
//! A request that does not jump begins where the one before ended; if it does not fit there, at 0.

use floatgate_ftl::rng::Rng;

use super::keys::{KeyRow, Keys};
use super::{Pattern, Space};
use crate::config::ConfigError;

#[derive(Clone)]
pub(super) struct Iometer {
    random_share: f64,
    next: u64,
}

impl Pattern for Iometer {
    const KEYS: &'static [KeyRow] =
        &[KeyRow { name: "random", default: "1", doc: "Share of the requests that jump." }];

    fn new(keys: &mut Keys, space: Space, _: &mut Rng) -> Result<Self, ConfigError> {
        if !space.size.is_multiple_of(space.step) {
            let (size, step) = (space.size, space.step);
            return Err(keys.error(&format!("size={size}: expected a multiple of {step}")));
        }
        Ok(Self { random_share: keys.number("random", 1.0, (0.0, 1.0))?, next: 0 })
    }

    fn offset(&mut self, space: Space, rng: &mut Rng) -> u64 {
        let last = (space.places - 1) * space.step;
        let offset = if rng.unit() < self.random_share {
            rng.below(space.places) * space.step
        } else if self.next <= last {
            self.next
        } else {
            0
        };
        self.next = offset + space.size;
        offset
    }
}
