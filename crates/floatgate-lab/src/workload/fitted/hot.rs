//! Hot pages: extents that are written over and over.
//!
//! A round writes every hot page once, in random order, in requests that each lie in one extent. A
//! GB has r rounds. The writes to a page in a GB are thus between r - 2 and r + 2, and every GB
//! matches the row. Independent draws would not give this: at 4.6 writes a page, every third page
//! would have fewer than four.
//!
//! With a skew a GB has fewer rounds, five, and each round writes some extents again, drawn by
//! Zipf's law. The row still holds: any five consecutive rounds make a page hot, and the further
//! writes bring the total to the row's number.
//!
//! Lengths of extents are geometric. Gaps between extents are log-uniform: many are short and a few
//! very long. Merging neighbours therefore includes little cold data, as in the paper's Figure 2.

use floatgate_ftl::rng::Rng;

use super::Run;
use super::cold::REST;
use super::land::Land;
use super::row::Shape;
use crate::workload::scatter::Scatter;
use crate::workload::zipf::Ranks;

/// Attempts to find a place for an extent that moves. If all fail, the extent stays.
const TRIES: u32 = 64;

/// Rounds in a GB if some extents are written more often: the minimum for which every GB, wherever
/// it begins, contains four whole rounds.
const ROUNDS: f64 = 5.0;

/// Extents that are written more often than once in a round.
#[derive(Clone)]
struct Popular {
    ranks: Ranks,
    /// Maps a rank to an extent, so that neighbours are not equally popular.
    places: Scatter,
    /// Additional page writes in a round. `due` has those left from earlier rounds.
    pages: f64,
    due: f64,
}

#[derive(Clone)]
pub(super) struct Hot {
    extents: Vec<Run>,
    /// Requests of this round, from the last to the first.
    round: Vec<Run>,
    /// Probability that a request ends at a page after which its extent continues.
    cut: f64,
    /// Writes of a round beyond one write of each page.
    popular: Option<Popular>,
    /// Logarithm of the longest gap.
    log_gap: f64,
    /// Extents that move per round. `moves_due` has the fraction left from earlier rounds.
    moves: f64,
    moves_due: f64,
    /// Page writes until a page that is no longer hot may be written as a cold page.
    rest: u64,
}

impl Hot {
    pub fn new(shape: &Shape, land: &mut Land, rng: &mut Rng) -> Self {
        let row = shape.row;
        let requests = (row.hot_pages as f64 / row.length).max(shape.hot_extents as f64);
        let inside = (row.hot_pages - shape.hot_extents) as f64;
        let gaps = shape.hot_extents + 1;
        let log_gap = log_of_longest(shape.cold_room() as f64 / gaps as f64);
        let extents = lay_out(shape, log_gap, rng);
        extents.iter().for_each(|extent| land.take(*extent));
        let rounds = if shape.skew > 0.0 { row.rounds().min(ROUNDS) } else { row.rounds() };
        let popular = (shape.skew > 0.0).then(|| Popular {
            ranks: Ranks::new(shape.skew, shape.hot_extents),
            places: Scatter::new(shape.hot_extents, rng),
            pages: (row.rounds() / rounds - 1.0) * row.hot_pages as f64,
            due: 0.0,
        });
        Self {
            extents,
            round: Vec::new(),
            cut: if inside > 0.0 { (requests - shape.hot_extents as f64) / inside } else { 0.0 },
            popular,
            log_gap,
            moves: shape.drift * shape.hot_extents as f64 / rounds,
            moves_due: 0.0,
            rest: REST * row.writes(),
        }
    }

    pub fn next(&mut self, now: u64, land: &mut Land, rng: &mut Rng) -> Run {
        if self.round.is_empty() {
            self.moves_due += self.moves;
            while self.moves_due >= 1.0 {
                self.moves_due -= 1.0;
                self.move_one(now, land, rng);
            }
            self.begin_round(rng);
        }
        self.round.pop().expect("a round has requests")
    }

    /// Returns at most `pages` pages of a random extent.
    pub fn part(&self, pages: u64, rng: &mut Rng) -> Run {
        let extent = self.any(rng);
        let skipped = rng.below(extent.pages);
        Run { start: extent.start + skipped, pages: pages.min(extent.pages - skipped) }
    }

    fn any(&self, rng: &mut Rng) -> Run {
        self.extents[rng.below(self.extents.len() as u64) as usize]
    }

    /// Divides every extent into requests, popular extents more than once, and shuffles the
    /// requests.
    fn begin_round(&mut self, rng: &mut Rng) {
        for index in 0..self.extents.len() {
            self.divide(index, rng);
        }
        if let Some(mut popular) = self.popular.take() {
            popular.due += popular.pages;
            while popular.due > 0.0 {
                let index = popular.places.place(popular.ranks.draw(rng) - 1) as usize;
                popular.due -= self.extents[index].pages as f64;
                self.divide(index, rng);
            }
            self.popular = Some(popular);
        }
        for i in (1..self.round.len()).rev() {
            self.round.swap(i, rng.below(i as u64 + 1) as usize);
        }
    }

    /// Divides an extent into requests of this round.
    fn divide(&mut self, index: usize, rng: &mut Rng) {
        let Run { mut start, pages } = self.extents[index];
        let end = start + pages;
        for page in start + 1..end {
            if rng.unit() < self.cut {
                self.round.push(Run { start, pages: page - start });
                start = page;
            }
        }
        self.round.push(Run { start, pages: end - start });
    }

    /// Moves a random extent to a place near another extent.
    fn move_one(&mut self, now: u64, land: &mut Land, rng: &mut Rng) {
        let moved = rng.below(self.extents.len() as u64) as usize;
        let Run { pages, .. } = self.extents[moved];
        let near = (0..TRIES).find_map(|_| {
            let other = self.any(rng);
            let gap = libm::exp(rng.unit() * self.log_gap) as u64;
            let start = if rng.bits() & 1 == 0 {
                other.start + other.pages + gap
            } else {
                other.start.checked_sub(gap + pages)?
            };
            // Adjacent extents would merge into one.
            let wider = Run { start: start.saturating_sub(1), pages: pages + 2 };
            land.is_free(wider).then_some(Run { start, pages })
        });
        // Without a free place for the whole extent, it stays.
        let Some(place) = near else { return };
        land.take(place);
        land.free_at(now + self.rest, self.extents[moved]);
        self.extents[moved] = place;
    }
}

/// Returns extents of geometric lengths, with log-uniform gaps around them, that fill the span.
fn lay_out(shape: &Shape, log_gap: f64, rng: &mut Rng) -> Vec<Run> {
    let gaps: Vec<f64> =
        (0..=shape.hot_extents).map(|_| libm::exp(rng.unit() * log_gap) - 1.0).collect();
    // Each gap gets one page, and a share of the other cold pages in proportion to its random
    // number.
    let spare = (shape.cold_room() - shape.hot_extents - 1) as f64;
    let scale = spare / gaps.iter().sum::<f64>().max(1.0);
    let mut at = 0;
    let mut place = |pages: u64, gap: f64| {
        let start = at + 1 + (gap * scale) as u64;
        at = start + pages;
        Run { start, pages }
    };
    lengths(shape, rng).into_iter().zip(gaps).map(|(pages, gap)| place(pages, gap)).collect()
}

/// Returns the lengths of all extents: the hot pages, cut at the required number of different
/// places.
fn lengths(shape: &Shape, rng: &mut Rng) -> Vec<u64> {
    let (mut places, mut cuts) = (shape.row.hot_pages - 1, shape.hot_extents - 1);
    let mut lengths = Vec::new();
    let mut length = 1;
    while places > 0 {
        // Selection sampling: the probability of a cut depends on the remaining places and cuts.
        if rng.below(places) < cuts {
            cuts -= 1;
            lengths.push(std::mem::replace(&mut length, 0));
        }
        length += 1;
        places -= 1;
    }
    lengths.push(length);
    lengths
}

/// Returns ln g for which log-uniform numbers from 1 to g have this mean: (g - 1) / ln g.
fn log_of_longest(mean: f64) -> f64 {
    let (mut low, mut high) = (1e-6, 64.0);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if libm::expm1(middle) / middle < mean {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_gap_has_the_mean_asked_for() {
        for mean in [1.5, 8.0, 469.0, 1e6] {
            let log = log_of_longest(mean);
            assert!((libm::expm1(log) / log / mean - 1.0).abs() < 1e-9, "{mean}");
        }
    }
}
