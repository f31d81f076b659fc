//! Every place once in random order, then all places again in another random order.

use floatgate_ftl::rng::Rng;

use super::keys::Keys;
use super::scatter::Scatter;
use super::{Pattern, Space};
use crate::config::ConfigError;

#[derive(Clone)]
pub(super) struct Shuffled {
    next: u64,
    order: Scatter,
}

impl Pattern for Shuffled {
    fn new(keys: &mut Keys, space: Space, first: &mut Rng) -> Result<Self, ConfigError> {
        if space.step != space.size {
            return Err(keys.error("aligned=false has no meaning: each place is written once"));
        }
        Ok(Self { next: 0, order: Scatter::new(space.places, first) })
    }

    fn offset(&mut self, space: Space, rng: &mut Rng) -> u64 {
        if self.next == space.places {
            *self = Self { next: 0, order: Scatter::new(space.places, rng) };
        }
        self.next += 1;
        self.order.place(self.next - 1) * space.step
    }
}
