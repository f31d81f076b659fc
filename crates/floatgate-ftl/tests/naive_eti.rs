//! Compares ETI with its description, implemented with scans only. Every command of long random
//! sequences must leave the same extents, counters and streams, with every option.

use crate::common::{Rig, SERIAL};
use floatgate_ftl::addr::Lpn;
use floatgate_ftl::counters::{Counters, ExtentSearch};
use floatgate_ftl::geometry::Shape;
use floatgate_ftl::placement::{
    AlphaOf, DecayUnit, Eti, EtiConfig, Extent, HostWrite, Judged, MergeValue, Placement,
    PlacementConfig, PlacementEvent, Relocation,
};
use floatgate_ftl::policy::Policy;
use floatgate_ftl::rng::Rng;

/// The algorithm (docs/algorithms.md, 3.4): a list of extents, scanned for everything.
struct NaiveEti {
    config: EtiConfig,
    extents: Vec<Extent>,
    /// Commands, or pages, since the last ageing.
    executions: u32,
    /// The page looked up last.
    last: u32,
    search: ExtentSearch,
}

impl NaiveEti {
    fn new(config: EtiConfig, pages: u32) -> Self {
        let extents = vec![Extent { start: 0, end: pages, counter: 0 }];
        Self { config, extents, executions: 0, last: 0, search: ExtentSearch::default() }
    }

    fn extent_of(&self, page: u32) -> usize {
        self.extents.iter().position(|e| e.start <= page && page < e.end).expect("no gap")
    }

    /// Searches the extent of a page in every way, and counts the steps.
    fn look_up(&mut self, page: u32) {
        let (from, to) = (self.extent_of(self.last), self.extent_of(page));
        self.search.in_last += u64::from(from == to);
        self.search.walk += (0..=to).count() as u64;
        self.search.walk_from_last += (from.min(to)..=from.max(to)).count() as u64;
        self.search.halving += halvings(self.extents.len());
        self.search.halving_from_last += 1;
        if from != to {
            let (mut reach, distance) = (1, from.abs_diff(to));
            while reach <= distance {
                reach *= 2;
                self.search.halving_from_last += 1;
            }
            self.search.halving_from_last += halvings(reach / 2);
        }
        self.last = page;
    }

    /// Returns the extent that a cut at `page` would divide.
    fn to_cut(&self, page: u32) -> Option<usize> {
        self.extents.iter().position(|e| e.start < page && page < e.end)
    }

    fn cut(&mut self, page: u32) {
        if let Some(at) = self.to_cut(page) {
            let extent = self.extents[at];
            self.extents[at].end = page;
            self.extents.insert(at + 1, Extent { start: page, ..extent });
        }
    }

    fn count(&mut self, is_written: impl Fn(&Extent) -> bool) {
        let written = self.extents.iter_mut().filter(|extent| is_written(extent));
        written.for_each(|e| e.counter = (e.counter + 1).min(self.config.counter_max));
    }

    fn command(&mut self, first: u32, pages: u32) {
        while self.executions >= self.config.decay_period {
            self.executions -= self.config.decay_period;
            self.age();
        }
        self.look_up(first);
        let end = first + pages;
        let need =
            usize::from(self.to_cut(first).is_some()) + usize::from(self.to_cut(end).is_some());
        let room = self.config.extents as usize - self.extents.len();
        if need <= room {
            self.cut(first);
            self.cut(end);
            self.count(|e| first <= e.start && e.end <= end);
        } else {
            if self.config.partial_split && room > 0 {
                self.cut(first);
            }
            let EtiConfig { alpha_of, alpha_percent, .. } = self.config;
            let alpha = f64::from(alpha_percent) / 100.0;
            self.count(|e| {
                let overlap = f64::from(e.end.min(end)) - f64::from(e.start.max(first));
                let whole = match alpha_of {
                    AlphaOf::Extent => e.end - e.start,
                    AlphaOf::Write => pages,
                };
                overlap / f64::from(whole) >= alpha
            });
        }
        self.executions += match self.config.decay_unit {
            DecayUnit::Commands => 1,
            DecayUnit::Pages => pages,
        };
    }

    /// Halves the counters, then merges hot extents with equal counters, then merges cold extents.
    fn age(&mut self) {
        let EtiConfig { beta, merge_value, .. } = self.config;
        self.extents.iter_mut().for_each(|extent| extent.counter /= 2);
        let equal = |a: &Extent, b: &Extent| a.counter >= beta && a.counter == b.counter;
        self.merge(equal, |members| members[0].counter);
        let cold = |a: &Extent, b: &Extent| a.counter < beta && b.counter < beta;
        self.merge(cold, |members| {
            let counters = members.iter().map(|extent| extent.counter);
            let length = |extent: &Extent| u64::from(extent.end - extent.start);
            match merge_value {
                _ if members.len() == 1 => members[0].counter,
                MergeValue::Mean => {
                    let mass = members.iter().map(|e| length(e) * u64::from(e.counter));
                    (mass.sum::<u64>() / members.iter().map(length).sum::<u64>()) as u8
                }
                MergeValue::PlainMean => {
                    (counters.map(usize::from).sum::<usize>() / members.len()) as u8
                }
                MergeValue::Max => counters.max().expect("members"),
                MergeValue::Min => counters.min().expect("members"),
                MergeValue::Zero => 0,
            }
        });
    }

    fn merge(
        &mut self,
        is_alike: impl Fn(&Extent, &Extent) -> bool,
        counter: impl Fn(&[Extent]) -> u8,
    ) {
        let merged = |members: &[Extent]| Extent {
            start: members[0].start,
            end: members[members.len() - 1].end,
            counter: counter(members),
        };
        self.extents = self.extents.chunk_by(is_alike).map(merged).collect();
    }

    fn stream(&self, lpn: u32) -> u8 {
        u8::from(self.extents[self.extent_of(lpn)].counter >= self.config.hot_threshold)
    }
}

/// How often `many` candidates are halved until one is left.
fn halvings(many: usize) -> u64 {
    let mut left = many;
    let halving = std::iter::from_fn(|| (left > 1).then(|| left = left.div_ceil(2)));
    halving.count() as u64
}

/// Source of commands: some to a few hot places, some in sequence, the rest anywhere.
struct Commands {
    rng: Rng,
    pages: u32,
    longest: u32,
    next: u32,
}

impl Commands {
    fn next(&mut self) -> (u32, u32) {
        let pages = u64::from(self.pages);
        let first = match self.rng.below(8) {
            0 => self.next,
            1..=4 => (self.rng.below(24) * pages / 24) as u32 / 4 * 4,
            _ => self.rng.below(pages) as u32,
        };
        let most = match self.rng.below(64) {
            0 => self.pages,
            1..=31 => 1,
            _ => self.longest,
        };
        let count = 1 + self.rng.below(u64::from(most.min(self.pages - first))) as u32;
        self.next = (first + count) % self.pages;
        (first, count)
    }
}

/// Compares both after each of `commands` commands, and all extents once in `every` commands.
fn compare(eti: EtiConfig, pages: u32, commands: u32, every: u32) {
    let shape = Shape { logical_pages: pages, units: pages / 64 + 40, ..SERIAL };
    let geometry = Rig::new(shape, "ideal", "greedy").geometry();
    let mut ours = Eti::new(&PlacementConfig { eti, ..PlacementConfig::new(geometry) });
    let mut naive = NaiveEti::new(eti, pages);
    let rng = Rng::new(u64::from(pages) + u64::from(eti.extents));
    let mut source = Commands { rng, pages, longest: 24, next: 0 };
    let (mut hot, mut most, mut held) = (0, 0, None);
    for number in 0..commands {
        let (first, count) = source.next();
        let event = PlacementEvent::Command { first: Lpn::new(first), pages: count };
        ours.observe(event);
        match eti.judged {
            Judged::After => naive.command(first, count),
            Judged::Before => {
                if let Some((first, count)) = held.replace((first, count)) {
                    naive.command(first, count);
                }
            }
        }
        most = most.max(naive.extents.len());
        // The first pages, the last page, and a page that was not written.
        let ends = (first..first + count.min(3)).chain([first + count - 1]);
        for lpn in ends {
            let write = HostWrite { lpn: Lpn::new(lpn), request_pages: count, clock: 0, now_ns: 0 };
            let stream = ours.stream(write);
            assert_eq!(stream, naive.stream(lpn), "command {number}: page {lpn}, {eti:?}");
            naive.last = lpn;
            hot += u64::from(stream);
        }
        let (lpn, stream) = (source.rng.below(pages.into()) as u32, 0);
        let relocation = Relocation { lpn: Lpn::new(lpn), stream, clock: 0, now_ns: 0 };
        assert_eq!(ours.classify(relocation), naive.stream(lpn));
        if number % every == 0 {
            ours.check();
            assert!(
                ours.partition().eq(naive.extents.iter().copied()),
                "command {number}, {eti:?}"
            );
        }
    }
    let mut counters = Counters::default();
    ours.report(&mut counters);
    assert_eq!(counters.extents.expect("it has extents").search, naive.search, "{eti:?}");
    assert_eq!(most, eti.extents as usize, "the extents were all used: {eti:?}");
    assert!(hot > 0, "something was hot: {eti:?}");
}

fn options() -> Vec<EtiConfig> {
    let small = EtiConfig { extents: 60, decay_period: 400, ..EtiConfig::default() };
    let mut all = vec![small, EtiConfig { partial_split: true, ..small }];
    for merge_value in [MergeValue::PlainMean, MergeValue::Max, MergeValue::Min, MergeValue::Zero] {
        all.push(EtiConfig { merge_value, decay_unit: DecayUnit::Pages, ..small });
    }
    for (alpha_percent, beta) in [(90, 4), (80, 3), (50, 2), (1, 8)] {
        for partial_split in [false, true] {
            all.push(EtiConfig { alpha_percent, beta, partial_split, ..small });
        }
    }
    let of_write = EtiConfig { alpha_of: AlphaOf::Write, ..small };
    all.extend([of_write, EtiConfig { judged: Judged::Before, ..small }]);
    all.push(EtiConfig { alpha_percent: 50, judged: Judged::Before, ..of_write });
    all.push(EtiConfig { beta: 0, hot_threshold: 2, ..small });
    all.push(EtiConfig { counter_max: 7, beta: 2, hot_threshold: 7, ..small });
    all.push(EtiConfig { extents: 1, alpha_percent: 50, hot_threshold: 2, ..small });
    all.push(EtiConfig { extents: 2, beta: 1, hot_threshold: 1, ..small });
    all
}

#[test]
fn every_option_keeps_the_extents_of_the_description() {
    for eti in options() {
        compare(eti, 3001, 200_000, 16);
    }
}

#[test]
fn the_defaults_keep_the_extents_of_the_description() {
    compare(EtiConfig::default(), 1 << 20, 200_000, 64);
}

#[test]
#[ignore = "long: make test-long"]
fn ten_million_writes_keep_the_extents_of_the_description() {
    compare(EtiConfig::default(), 1 << 20, 10_000_000, 1024);
    compare(options()[0], 3001, 10_000_000, 1024);
}
