//! Requests of one size, anywhere in a span.

use floatgate_ftl::request::Op;
use floatgate_ftl::rng::Rng;

use super::keys::{KeyRow, Keys};
use super::{AddressSource, Pattern};
use crate::config::ConfigError;

/// Offsets of an unaligned workload are multiples of a sector.
const SECTOR: u64 = 512;

const KEYS: &[KeyRow] = &[
    KeyRow { name: "span", default: "", doc: "Size of the address range; must be given." },
    KeyRow { name: "size", default: "4KiB", doc: "Size of a request." },
    KeyRow {
        name: "aligned",
        default: "true",
        doc: "Offsets are multiples of size; false: of 512 B.",
    },
];

/// Places in a span: the positions at which a request may begin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Space {
    /// Bytes of a request.
    pub size: u64,
    /// Bytes from one place to the next.
    pub step: u64,
    /// Places at which a whole request fits in the span.
    pub places: u64,
}

/// Source of requests whose places follow a pattern.
#[derive(Clone)]
pub(super) struct OneSize<P> {
    pattern: P,
    space: Space,
    span_bytes: u64,
}

impl<P: Pattern> AddressSource for OneSize<P> {
    const KEYS: &'static [&'static [KeyRow]] = &[P::KEYS, KEYS];

    fn new(keys: &mut Keys, first: &mut Rng) -> Result<Self, ConfigError> {
        let span_bytes = keys.size("span", None)?;
        let size = keys.size("size", Some(4096))?;
        let aligned = keys.choice("aligned", &[("true", true), ("false", false)])?;
        if size > span_bytes {
            return Err(keys.error(&format!("size={size}: expected at most span ({span_bytes})")));
        }
        let step = if aligned { size } else { SECTOR };
        let space = Space { size, step, places: (span_bytes - size) / step + 1 };
        Ok(Self { pattern: P::new(keys, space, first)?, space, span_bytes })
    }

    fn span_bytes(&self) -> u64 {
        self.span_bytes
    }

    #[inline]
    fn next(&mut self, _: Op, rng: &mut Rng) -> (u64, u64) {
        (self.pattern.offset(self.space, rng), self.space.size)
    }

    #[inline]
    fn discard(&mut self, rng: &mut Rng) -> Option<(u64, u64)> {
        self.pattern.discard(self.space, rng)
    }
}
