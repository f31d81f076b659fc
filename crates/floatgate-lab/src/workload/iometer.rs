//! Iometer's access specification: records of one size, some of them at a random place.
//!
//! A request that does not jump begins where the previous one ended, or at the next aligned place.
//! If it does not fit there, it begins at 0. Records are aligned to their size, to a sector
//! (`aligned=false`), or to `align`, which is Iometer's "align I/Os on" and can be more or less
//! than the size.

use floatgate_ftl::rng::Rng;

use super::keys::{KeyRow, Keys};
use super::{Pattern, Space};
use crate::config::ConfigError;

#[derive(Clone)]
pub(super) struct Iometer {
    space: Space,
    random_share: f64,
    next: u64,
}

impl Pattern for Iometer {
    const KEYS: &'static [KeyRow] = &[
        KeyRow { name: "random", default: "1", doc: "Share of random requests; rest sequential." },
        KeyRow { name: "align", default: "", doc: "Alignment of random offsets, if not the size." },
    ];

    fn new(keys: &mut Keys, space: Space, _: &mut Rng) -> Result<Self, ConfigError> {
        let space = if keys.has("align") { aligned(keys, space)? } else { space };
        if space.step < space.size && !space.size.is_multiple_of(space.step) {
            let (size, step) = (space.size, space.step);
            return Err(keys.error(&format!("size={size}: expected a multiple of {step}")));
        }
        Ok(Self { space, random_share: keys.number("random", 1.0, (0.0, 1.0))?, next: 0 })
    }

    fn offset(&mut self, _: Space, rng: &mut Rng) -> u64 {
        let space = self.space;
        let last = (space.places - 1) * space.step;
        let offset = if rng.unit() < self.random_share {
            rng.below(space.places) * space.step
        } else if self.next <= last {
            self.next
        } else {
            0
        };
        self.next = (offset + space.size).next_multiple_of(space.step);
        offset
    }
}

/// Returns the same span with places at multiples of `align`.
fn aligned(keys: &mut Keys, space: Space) -> Result<Space, ConfigError> {
    if space.step != space.size {
        return Err(keys.error("align has no meaning with aligned=false"));
    }
    let step = keys.size("align", None)?;
    Ok(Space { step, places: (space.places - 1) * space.step / step + 1, ..space })
}
