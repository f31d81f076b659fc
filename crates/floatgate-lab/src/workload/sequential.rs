//! One request after the other, from the start again at the end.

use floatgate_ftl::rng::Rng;

use super::keys::Keys;
use super::{Pattern, Space};
use crate::config::ConfigError;

#[derive(Clone)]
pub(super) struct Sequential {
    next: u64,
}

impl Pattern for Sequential {
    fn new(keys: &mut Keys, space: Space, _: &mut Rng) -> Result<Self, ConfigError> {
        if space.step != space.size {
            return Err(keys.error("aligned=false has no meaning: each request follows the last"));
        }
        Ok(Self { next: 0 })
    }

    fn offset(&mut self, space: Space, _: &mut Rng) -> u64 {
        let place = self.next;
        self.next = if place + 1 == space.places { 0 } else { place + 1 };
        place * space.step
    }
}
