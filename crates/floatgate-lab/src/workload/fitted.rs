//! Stand-ins: requests whose hot and cold pages are those of a row of Table 1 of the ETI paper
//! (Shafaei, Desnoyers and Fitzpatrick, HotStorage 2016), for traces that are not at hand.
//!
//! A row says, per GB of writes, how many 4 KiB pages are written four times or more (hot), how
//! many less often (cold), how many page writes go to each, and how long a write is. That is all a
//! stand-in shares with its trace. Here a GB is as many page writes as the row has, hot and cold
//! together: the paper's rows have 213,000 to 244,000, which is up to 13 % less than 10^9 bytes.
//!
//! The choices beyond the row, in `hot.rs` and `cold.rs`: the hot pages lie in extents with cold
//! space between them and are all equally hot; a cold page is written one to three times within a
//! short time, and then not for two GB at least. Every GB of the stream is like any other: one has
//! gone by, unseen, before the first request.

mod cold;
mod hot;
mod land;
mod row;

use floatgate_ftl::request::Op;
use floatgate_ftl::rng::Rng;

use super::Source;
use super::keys::{KeyRow, Keys};
use crate::config::ConfigError;
use cold::Cold;
use hot::Hot;
use land::Land;
use row::Shape;

const PAGE: u64 = 4096;

/// How far the hot share may be off, in mean lengths of a write: room for chance in the order.
const SLACK: f64 = 16.0;

/// A run of consecutive pages.
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
    /// The share of the page writes that is hot.
    hot_share: f64,
    /// Page writes to hot pages that there should have been, less those that there were.
    due: f64,
    /// Page writes so far.
    now: u64,
}

impl Source for Fitted {
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
    /// The next write. Whether it is hot is left to chance, within the slack.
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

    /// Where a read or a trim goes: to hot pages as often as writes do, and anywhere else.
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
    /// The longest, in means: longer ones would be one in 3,000.
    const MAX: f64 = 8.0;

    fn draw(self, rng: &mut Rng) -> u64 {
        if self.mean <= 1.0 {
            return 1;
        }
        let steps = libm::log(1.0 - rng.unit()) / libm::log(1.0 - 1.0 / self.mean);
        1 + steps.min(Self::MAX * self.mean) as u64
    }
}
