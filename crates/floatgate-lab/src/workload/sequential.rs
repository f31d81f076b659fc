//! Places in ascending order, every place or every n-th. After the last place the order starts
//! again.

use floatgate_ftl::rng::Rng;

use super::keys::{KeyRow, Keys};
use super::{Pattern, Space};
use crate::config::ConfigError;

#[derive(Clone)]
pub(super) struct Sequential {
    next: u64,
    stride: u64,
}

impl Pattern for Sequential {
    const KEYS: &'static [KeyRow] = &[KeyRow {
        name: "stride",
        default: "",
        doc: "Places from one request to the next, from 1; without it 1, and none is left out.",
    }];

    fn new(keys: &mut Keys, space: Space, _: &mut Rng) -> Result<Self, ConfigError> {
        if space.step != space.size {
            return Err(keys.error("aligned=false has no meaning: each request follows the last"));
        }
        let stride = keys.count("stride")?.unwrap_or(1);
        if !(1..=space.places).contains(&stride) {
            let most = space.places;
            return Err(keys.error(&format!("stride={stride}: expected 1 to {most} places")));
        }
        Ok(Self { next: 0, stride })
    }

    fn offset(&mut self, space: Space, _: &mut Rng) -> u64 {
        let place = self.next;
        self.next = (place + self.stride) % space.places;
        place * space.step
    }
}
