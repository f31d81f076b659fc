//! Stand-ins: requests with the hot and cold pages of a row of Table 1 in the ETI paper (Shafaei,
//! Desnoyers and Fitzpatrick, HotStorage 2016), for traces that are not available.
//!
//! Per GB of writes, a row states how many 4 KiB pages are written four times or more (hot), and
//! how many less often (cold). It also states the page writes to each class and the mean length of
//! a write. A stand-in shares only these numbers with its trace. Here a GB is the number of page
//! writes in the row, hot and cold together. The paper's rows have 213,000 to 244,000 page writes,
//! which is up to 13 % less than 10^9 bytes.
//!
//! The choices beyond the row are in `hot.rs` and `cold.rs`. The hot pages lie in extents with cold
//! space between them, and all are equally hot. A cold page is written one to three times within a
//! short time, and then not for at least two GB. Every GB of the stream is like any other: the
//! state before the first request is that after one GB.

mod cold;
mod hot;
mod land;
mod row;

use floatgate_ftl::request::Op;
use floatgate_ftl::rng::Rng;

use super::AddressSource;
use super::keys::{KeyRow, Keys};
use crate::config::ConfigError;
use cold::Cold;
use hot::Hot;
use land::Land;
use row::Shape;

const PAGE: u64 = 4096;

/// Maximum deviation of the hot writes from their share, in mean lengths of a write: room for
/// randomness in the order.
const SLACK: f64 = 16.0;

/// Run of consecutive pages.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Run {
    start: u64,
    pages: u64,
}

/// Hot and cold writes, mixed in a given ratio.
#[derive(Clone)]
pub(super) struct Fitted {
    hot: Hot,
    cold: Cold,
    land: Land,
    lengths: Lengths,
    stands_for: Option<String>,
    /// Share of the page writes that go to hot pages.
    hot_share: f64,
    /// Page writes to hot pages that are due according to the share, minus those already made.
    due: f64,
    /// Page writes so far.
    now: u64,
}

impl AddressSource for Fitted {
    const KEYS: &'static [&'static [KeyRow]] = &[row::KEYS];

    fn new(keys: &mut Keys, first: &mut Rng) -> Result<Self, ConfigError> {
        let shape = Shape::read(keys)?;
        let mut land = Land::new(shape.pages);
        let hot = Hot::new(&shape, &mut land, first);
        let lengths = Lengths { mean: shape.row.length };
        let cold = Cold::new(&shape, lengths);
        let (hot_share, stands_for) = (shape.hot_share(), shape.stands_for.clone());
        let mut fitted = Self { hot, cold, land, lengths, stands_for, hot_share, due: 0.0, now: 0 };
        while fitted.now < shape.row.writes() {
            fitted.write(first);
        }
        Ok(fitted)
    }

    fn span_bytes(&self) -> u64 {
        self.land.pages() * PAGE
    }

    fn stands_for(&self) -> Option<String> {
        self.stands_for.clone()
    }

    fn next(&mut self, op: Op, rng: &mut Rng) -> (u64, u64) {
        let run = if op == Op::Write { self.write(rng) } else { self.anywhere(rng) };
        (run.start * PAGE, run.pages * PAGE)
    }
}

impl Fitted {
    /// Returns the next write. Chance decides whether it is hot, within the slack.
    fn write(&mut self, rng: &mut Rng) -> Run {
        let chance = (2.0 * rng.unit() - 1.0) * SLACK * self.lengths.mean;
        let hot = self.due > chance;
        let run = if hot {
            self.hot.next(self.now, &mut self.land, rng)
        } else {
            self.cold.next(self.now, &mut self.land, rng)
        };
        self.now += run.pages;
        self.due += self.hot_share * run.pages as f64;
        if hot {
            self.due -= run.pages as f64;
        }
        run
    }

    /// Returns the target of a read or a trim: hot pages with the same share as for writes, and
    /// otherwise any pages.
    fn anywhere(&self, rng: &mut Rng) -> Run {
        let pages = self.lengths.draw(rng);
        if rng.unit() < self.hot_share {
            return self.hot.part(pages, rng);
        }
        let start = rng.below(self.land.pages());
        Run { start, pages: pages.min(self.land.pages() - start) }
    }
}

/// Lengths of writes in pages: geometric, from 1.
#[derive(Clone, Copy)]
struct Lengths {
    mean: f64,
}

impl Lengths {
    /// Maximum length in means. One in 3,000 lengths would be longer.
    const MAX: f64 = 8.0;

    fn draw(self, rng: &mut Rng) -> u64 {
        if self.mean <= 1.0 {
            return 1;
        }
        let steps = libm::log(1.0 - rng.unit()) / libm::log(1.0 - 1.0 / self.mean);
        1 + steps.min(Self::MAX * self.mean) as u64
    }
}
