//! Cold pages: written once, twice or three times, then left alone.
//!
//! A run of pages is taken anywhere in the span. It is written again, as a whole, after a time
//! that is uniform up to a fifth of a GB: by chance not at all, once or twice, so that the row's
//! mean number of writes to a cold page comes out. Two GB after its first write it may be taken
//! again. No page is thus written four times in a GB, nor in one and a half.
//!
//! Runs can follow one another in address, as data that are copied or appended do. Those of such a
//! stream are written again as often as the first of them and after the same time, and so in order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use floatgate_ftl::rng::Rng;

use super::land::Land;
use super::row::Shape;
use super::{Lengths, Run};

/// GB from the first write to a run until it may be taken again.
pub(super) const REST: u64 = 2;

/// The mean time until a run is written again, in GB.
const WAIT: f64 = 0.1;

/// How a run is written again: how often, and after which time, where that is the stream's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Again {
    times: u8,
    wait: Option<u64>,
}

/// A run that will be written again: when, which of those at that time, where, how.
type Waiting = Reverse<(u64, u64, Run, Again)>;

/// Runs that follow one another.
#[derive(Clone, Copy)]
struct Stream {
    /// The page behind the last of them.
    end: u64,
    again: Again,
}

#[derive(Clone)]
pub(super) struct Cold {
    waiting: BinaryHeap<Waiting>,
    /// Runs that were put there.
    number: u64,
    lengths: Lengths,
    /// The latest run's stream, where there are any.
    stream: Option<Stream>,
    /// The probability that a run is the last of its stream.
    last: f64,
    /// The probability of each of the two further writes that a run can have.
    again: f64,
    /// The longest wait and the rest, in page writes.
    wait: u64,
    rest: u64,
}

impl Cold {
    /// With m writes to a run on average, its first and last are (m - 1) w GB apart, w being the
    /// mean wait. A GB sees the runs taken in it and those taken before with writes to come: per
    /// run taken, m page writes to 1 + (m - 1) w different pages. From the row's ratio q of these,
    /// m = q (1 - w) / (1 - q w).
    pub fn new(shape: &Shape, lengths: Lengths) -> Self {
        let (gb, ratio) = (shape.row.writes(), shape.row.cold_again());
        let writes = ratio * (1.0 - WAIT) / (1.0 - ratio * WAIT);
        Self {
            waiting: BinaryHeap::new(),
            number: 0,
            lengths,
            stream: None,
            last: 1.0 / shape.cold_stream,
            again: (writes - 1.0) / 2.0,
            wait: ((2.0 * WAIT * gb as f64) as u64).max(1),
            rest: REST * gb,
        }
    }

    /// The next request.
    pub fn next(&mut self, now: u64, land: &mut Land, rng: &mut Rng) -> Run {
        let due = self.waiting.peek().is_some_and(|Reverse(first)| first.0 <= now);
        let waiting = if due { self.waiting.pop() } else { None };
        let (run, again) = match waiting {
            Some(Reverse((_, _, run, again))) => (run, again),
            None => {
                let (run, again) = self.fresh(now, land, rng);
                land.free_at(now + self.rest, run);
                (run, again)
            }
        };
        if again.times > 0 {
            self.number += 1;
            let when = now + run.pages + again.wait.unwrap_or_else(|| rng.below(self.wait));
            let next = Again { times: again.times - 1, ..again };
            self.waiting.push(Reverse((when, self.number, run, next)));
        }
        run
    }

    /// A run that was not written for long: the next of its stream, or the first of another.
    fn fresh(&mut self, now: u64, land: &mut Land, rng: &mut Rng) -> (Run, Again) {
        let pages = self.lengths.draw(rng);
        if let Some(stream) = &mut self.stream
            && rng.unit() >= self.last
        {
            let run = Run { start: stream.end, pages };
            if land.take_free(run, now) {
                stream.end += pages;
                return (run, stream.again);
            }
        }
        let run = land.take_any(pages, now, rng);
        let mut further = || u8::from(rng.unit() < self.again);
        let mut again = Again { times: further() + further(), wait: None };
        if self.last < 1.0 {
            again.wait = Some(rng.below(self.wait));
            self.stream = Some(Stream { end: run.start + run.pages, again });
        }
        (run, again)
    }
}
