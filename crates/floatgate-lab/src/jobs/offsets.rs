//! Offsets of a job's requests within its region.

use floatgate_ftl::rng::Rng;

use super::once::{FreeBlocks, Order};
use super::sizes::Sizes;
use super::skew::Skewed;
use super::spec::{DirectionSpec, JobSpec, Shape};

/// Random numbers and positions that change with every request.
#[derive(Clone)]
pub(super) struct Offsets {
    draws: Draws,
    source: Source,
    /// By kind of request: the first byte behind the last request.
    next: [u64; 2],
}

/// Random numbers of a job.
#[derive(Clone)]
struct Draws {
    /// Random offsets. A generator with the same seed draws the same first numbers.
    offsets: Rng,
    sizes: Rng,
    /// Whether the next offset is random.
    turns: Rng,
}

/// State at the begin of a pass, if all passes are equal.
#[derive(Clone)]
pub(super) struct PassStart {
    draws: Draws,
    order: Option<Order>,
}

/// Source of random offsets.
#[derive(Clone)]
enum Source {
    /// Offsets follow one another.
    Sequential,
    Uniform,
    Once(Order),
    /// Every block once, with requests of several sizes.
    OnceInPieces(FreeBlocks),
    Skewed(Skewed),
    Zoned,
}

/// The unchanging part: the region and the kinds of requests.
#[derive(Clone)]
pub(super) struct Layout {
    pub size: u64,
    pub directions: Vec<DirectionLayout>,
    /// Whether offsets begin anew at the end of the region.
    pub wraps: bool,
}

/// Requests of one kind.
#[derive(Clone)]
pub(super) struct DirectionLayout {
    pub sizes: Sizes,
    pub low: u64,
    align: u64,
    skip: u64,
    /// Multiples of `align` at which the smallest request fits.
    blocks: u64,
    random_percent: u64,
    /// By zone: the cumulative percentage of the requests, the first block and the blocks.
    zones: Vec<(f64, u64, u64)>,
}

impl Layout {
    pub(super) fn new(spec: &JobSpec) -> Self {
        let directions = spec.directions.iter().map(|one| DirectionLayout::new(one, spec));
        Self { size: spec.size, directions: directions.collect(), wraps: spec.time_based }
    }
}

impl DirectionLayout {
    fn new(spec: &DirectionSpec, job: &JobSpec) -> Self {
        let low = spec.sizes.low;
        let blocks = (job.size - low) / spec.align + 1;
        let shape = job.distribution.kind;
        let zones = zones(&spec.zones, shape, spec.align, (job.size, blocks));
        let (sizes, align, skip) = (Sizes::new(&spec.sizes), spec.align, spec.skip);
        Self { sizes, low, align, skip, blocks, random_percent: spec.random_percent, zones }
    }
}

/// Returns the zones in blocks. A zone without a block is left out.
fn zones(
    spec: &[(f64, f64)],
    shape: Shape,
    align: u64,
    (size, blocks): (u64, u64),
) -> Vec<(f64, u64, u64)> {
    let (mut share, mut end) = (0.0, 0.0);
    let mut first = 0;
    let mut found = Vec::new();
    for &(percent, width) in spec {
        share += percent;
        end += if shape == Shape::ZonedAbs { width } else { width * size as f64 / 100.0 };
        let last = ((end / align as f64).round() as u64).min(blocks);
        if last > first {
            found.push((share, first, last - first));
        }
        first = last;
    }
    found
}

impl Offsets {
    /// Starts at the beginning of the region.
    pub(super) fn new(spec: &JobSpec, layout: &Layout, seed: u64) -> Self {
        let mut offsets = Rng::new(seed);
        let source = Source::new(spec, layout, &mut offsets);
        let [sizes, turns] = [0x5349_5a45, 0x5455_524e].map(|salt| Rng::new(seed ^ salt));
        Self { draws: Draws { offsets, sizes, turns }, source, next: [0; 2] }
    }

    /// Returns what a pass that equals this one begins with.
    pub(super) fn pass_start(&self) -> PassStart {
        let order = match &self.source {
            Source::Once(order) => Some(order.clone()),
            _ => None,
        };
        PassStart { draws: self.draws.clone(), order }
    }

    /// Begins a pass over the region: as `start` states, or with other random numbers than the last
    /// pass.
    pub(super) fn restart(&mut self, start: Option<&PassStart>) {
        self.next = [0; 2];
        if let Source::OnceInPieces(free) = &mut self.source {
            free.clear();
        }
        if let Some(start) = start {
            self.draws = start.draws.clone();
        }
        if let Source::Once(order) = &mut self.source {
            let kept = start.and_then(|start| start.order.clone());
            *order = kept.unwrap_or_else(|| order.again(&mut self.draws.offsets));
        }
    }

    /// Returns the offset and the length of the next request of a kind; `None` at the end of the
    /// region or when every block was taken.
    #[inline]
    pub(super) fn next(&mut self, layout: &Layout, kind: usize) -> Option<(u64, u64)> {
        let direction = &layout.directions[kind];
        let found = if self.is_random(direction) {
            self.random(layout, direction)
        } else {
            self.following(layout, kind)
        };
        if let Some((offset, length)) = found {
            self.next[kind] = offset + length;
        }
        found
    }

    #[inline]
    fn is_random(&mut self, direction: &DirectionLayout) -> bool {
        match self.source {
            Source::Sequential => false,
            _ if direction.random_percent == 100 => true,
            _ => self.draws.turns.below(100) < direction.random_percent,
        }
    }

    /// Returns the request behind the last one of its kind.
    fn following(&mut self, layout: &Layout, kind: usize) -> Option<(u64, u64)> {
        let direction = &layout.directions[kind];
        let mut offset = self.next[kind];
        if offset > 0 {
            offset += direction.skip;
        }
        if offset + direction.low > layout.size {
            if !layout.wraps {
                let is_random = !matches!(self.source, Source::Sequential);
                return is_random.then(|| self.random(layout, direction)).flatten();
            }
            offset = 0;
        }
        Some((offset, direction.sizes.draw(layout.size - offset, &mut self.draws.sizes)?))
    }

    #[inline]
    fn random(&mut self, layout: &Layout, direction: &DirectionLayout) -> Option<(u64, u64)> {
        if let Source::OnceInPieces(_) = self.source {
            return self.piece(layout, direction);
        }
        let rng = &mut self.draws.offsets;
        let block = match &mut self.source {
            Source::Once(order) => {
                if order.is_empty() {
                    if !layout.wraps {
                        return None;
                    }
                    *order = order.again(rng);
                }
                order.take()
            }
            Source::Skewed(skewed) => skewed.draw(rng).min(direction.blocks - 1),
            Source::Zoned => zoned(&direction.zones, rng),
            _ => rng.below(direction.blocks),
        };
        let offset = block * direction.align;
        Some((offset, direction.sizes.draw(layout.size - offset, &mut self.draws.sizes)?))
    }

    /// Takes blocks that no request of the pass has. A request ends in front of the next taken
    /// block.
    fn piece(&mut self, layout: &Layout, direction: &DirectionLayout) -> Option<(u64, u64)> {
        let Source::OnceInPieces(free) = &mut self.source else { return None };
        if free.is_empty() {
            if !layout.wraps {
                return None;
            }
            free.clear();
        }
        let block = smallest(&layout.directions);
        let first = free.draw(&mut self.draws.offsets);
        let offset = first * block;
        let length = direction.sizes.draw(layout.size - offset, &mut self.draws.sizes);
        // Where sizes differ by kind, the smallest of this kind may not fit.
        let length = length.unwrap_or(layout.size - offset);
        let taken = free.take(first, length.div_ceil(block));
        Some((offset, length.min(taken * block)))
    }
}

impl Source {
    fn new(spec: &JobSpec, layout: &Layout, rng: &mut Rng) -> Self {
        let directions = &layout.directions;
        let blocks = directions.iter().map(|one| one.blocks).max().unwrap_or(1);
        let is_one_size = directions.iter().all(|one| matches!(one.sizes, Sizes::One(_)));
        let are_equal = directions.windows(2).all(|pair| pair[0].low == pair[1].low);
        match spec.distribution.kind {
            _ if !spec.random => Self::Sequential,
            Shape::Zoned | Shape::ZonedAbs => Self::Zoned,
            Shape::Uniform if !spec.each_once => Self::Uniform,
            Shape::Uniform if is_one_size && are_equal => Self::Once(Order::new(blocks, rng)),
            Shape::Uniform => {
                Self::OnceInPieces(FreeBlocks::new(layout.size / smallest(directions)))
            }
            _ => Self::Skewed(Skewed::new(&spec.distribution, blocks, rng)),
        }
    }
}

/// Returns the smallest size of all kinds of requests.
fn smallest(directions: &[DirectionLayout]) -> u64 {
    directions.iter().map(|one| one.low).min().unwrap_or(1)
}

fn zoned(zones: &[(f64, u64, u64)], rng: &mut Rng) -> u64 {
    let all = zones.last().map_or(0.0, |&(share, ..)| share);
    let drawn = rng.unit() * all;
    let at = zones.partition_point(|&(share, ..)| share <= drawn).min(zones.len() - 1);
    let (_, first, blocks) = zones[at];
    first + rng.below(blocks)
}
