//! Every place once, in a random order; at the end again, in the same order.

use floatgate_ftl::rng::Rng;

use super::keys::Keys;
use super::scatter::Scatter;
use super::{Pattern, Space};
use crate::config::ConfigError;

#[derive(Clone)]
pub(super) struct Shuffled {
    order: Scatter,
    next: u64,
}

impl Pattern for Shuffled {
    fn new(_: &mut Keys, space: Space, first: &mut Rng) -> Result<Self, ConfigError> {
        Ok(Self { order: Scatter::new(space.places, first), next: 0 })
    }

    fn offset(&mut self, space: Space, _: &mut Rng) -> u64 {
        let place = self.order.place(self.next);
        self.next = if self.next + 1 == space.places { 0 } else { self.next + 1 };
        place * space.step
    }
}
