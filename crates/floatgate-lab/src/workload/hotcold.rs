//! Two classes of places: a share r of the requests goes to a share f of the span, uniformly in
//! each class.
//!
//! The hot places are the first ones, in one piece, or they are scattered over the span. Scattered
//! places matter to a map cache, and to a drive that was filled in order. If the hot places are in
//! one piece, they share no erase unit with cold places from the start, and cleaning has less to
//! copy.

use floatgate_ftl::rng::Rng;

use super::keys::{KeyRow, Keys};
use super::scatter::Scatter;
use super::{Pattern, Space};
use crate::config::ConfigError;

#[derive(Clone)]
pub(super) struct HotCold {
    /// Share of the requests that go to hot places.
    hot_share: f64,
    hot_places: u64,
    /// Scatters the places over the span; without it, hot places come first.
    scatter: Option<Scatter>,
}

impl Pattern for HotCold {
    const KEYS: &'static [KeyRow] = &[
        KeyRow { name: "r", default: "0.9", doc: "Share of the requests that go to hot data." },
        KeyRow { name: "f", default: "0.1", doc: "Share of the span that is hot." },
        KeyRow {
            name: "scatter",
            default: "false",
            doc: "Hot places lie anywhere; false: in one piece, at the start.",
        },
    ];

    fn new(keys: &mut Keys, space: Space, first: &mut Rng) -> Result<Self, ConfigError> {
        let hot_share = keys.number("r", 0.9, (0.0, 1.0))?;
        let f = keys.number("f", 0.1, (0.0, 1.0))?;
        let hot_places = (space.places as f64 * f).round() as u64;
        if hot_places == 0 || hot_places >= space.places {
            let places = space.places;
            return Err(keys.error(&format!(
                "f={f} of {places} places is {hot_places} hot ones: expected some of each kind"
            )));
        }
        let anywhere = keys.choice("scatter", &[("false", false), ("true", true)])?;
        let scatter = anywhere.then(|| Scatter::new(space.places, first));
        Ok(Self { hot_share, hot_places, scatter })
    }

    fn offset(&mut self, space: Space, rng: &mut Rng) -> u64 {
        let place = if rng.unit() < self.hot_share {
            rng.below(self.hot_places)
        } else {
            self.hot_places + rng.below(space.places - self.hot_places)
        };
        self.scatter.as_ref().map_or(place, |scatter| scatter.place(place)) * space.step
    }
}
