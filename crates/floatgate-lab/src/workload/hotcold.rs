//! Two classes of places: a share r of the requests goes to a share f of the span, evenly in each.
//!
//! The hot places are the first ones, in one piece. For a page-mapped drive it makes no difference
//! where they lie; for a cache of the map it is the friendliest case.

use floatgate_ftl::rng::Rng;

use super::keys::{KeyRow, Keys};
use super::{Pattern, Space};
use crate::config::ConfigError;

#[derive(Clone)]
pub(super) struct HotCold {
    /// The share of the requests that is hot.
    hot_share: f64,
    hot_places: u64,
}

impl Pattern for HotCold {
    const KEYS: &'static [KeyRow] = &[
        KeyRow { name: "r", default: "0.9", doc: "Share of the requests that go to hot data." },
        KeyRow { name: "f", default: "0.1", doc: "Share of the span that is hot." },
    ];

    fn new(keys: &mut Keys, space: Space, _: &mut Rng) -> Result<Self, ConfigError> {
        let hot_share = keys.number("r", 0.9, (0.0, 1.0))?;
        let f = keys.number("f", 0.1, (0.0, 1.0))?;
        let hot_places = (space.places as f64 * f).round() as u64;
        if hot_places == 0 || hot_places >= space.places {
            let places = space.places;
            return Err(keys.error(&format!(
                "f={f} of {places} places is {hot_places} hot ones: expected some of each kind"
            )));
        }
        Ok(Self { hot_share, hot_places })
    }

    fn offset(&mut self, space: Space, rng: &mut Rng) -> u64 {
        let place = if rng.unit() < self.hot_share {
            rng.below(self.hot_places)
        } else {
            self.hot_places + rng.below(space.places - self.hot_places)
        };
        place * space.step
    }
}
