//! Cold pages: written once, twice or three times, then left alone.
//!
//! A run of pages is taken anywhere in the span. The whole run is written again after a time that
//! is uniform up to a fifth of a GB. Chance decides whether this happens not at all, once or twice,
//! so that the mean number of writes to a cold page equals the row's mean. Two GB after its first
//! write the run may be taken again. So no page is written four times in 1.5 GB.
//!
//! Runs can follow one another in address, like copied or appended data. The runs of such a stream
//! are all written again as often as the first run and after the same time, and therefore in order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use floatgate_ftl::rng::Rng;

use super::land::Land;
use super::row::Shape;
use super::{Lengths, Run};

/// GB from the first write to a run until its pages may be taken again.
pub(super) const REST: u64 = 2;

/// Mean time until a run is written again, in GB.
const WAIT: f64 = 0.1;

/// Further writes of a run: their number, and the wait before each if the stream fixes it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Again {
    times: u8,
    wait: Option<u64>,
}

/// Run that will be written again: time, order among runs of this time, pages, further writes.
type Waiting = Reverse<(u64, u64, Run, Again)>;

/// Stream of runs that follow one another.
#[derive(Clone, Copy)]
struct Stream {
    /// Page after the last run.
    end: u64,
    again: Again,
}

#[derive(Clone)]
pub(super) struct Cold {
    waiting: BinaryHeap<Waiting>,
    /// Number of runs that were added.
    number: u64,
    lengths: Lengths,
    /// Stream of the latest run, if there are streams.
    stream: Option<Stream>,
    /// Probability that a run is the last of its stream.
    last: f64,
    /// Probability of each of the two possible further writes of a run.
    again: f64,
    /// Longest wait before a further write, in page writes.
    wait: u64,
    /// Time until the pages of a run may be taken again, in page writes.
    rest: u64,
}

impl Cold {
    /// With m writes to a run on average, its first and last write are (m - 1) w GB apart, where w
    /// is the mean wait. A GB contains writes to the runs taken in it and to earlier runs: per page
    /// taken, m writes to 1 + (m - 1) w different pages. The row gives the ratio q of these two
    /// numbers, so m = q (1 - w) / (1 - q w).
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

    /// Returns a run that has not been written for long: the next of its stream, or the first of
    /// another.
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
