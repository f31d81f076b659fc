//! Uniform random places.

use floatgate_ftl::rng::Rng;

use super::keys::Keys;
use super::{Pattern, Space};
use crate::config::ConfigError;

#[derive(Clone)]
pub(super) struct Uniform;

impl Pattern for Uniform {
    fn new(_: &mut Keys, _: Space, _: &mut Rng) -> Result<Self, ConfigError> {
        Ok(Self)
    }

    fn offset(&mut self, space: Space, rng: &mut Rng) -> u64 {
        rng.below(space.places) * space.step
    }
}
