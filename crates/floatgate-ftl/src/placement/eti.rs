//! ETI: temperature by extents (Shafaei, Desnoyers and Fitzpatrick, "Write Amplification Reduction
//! in Flash-Based SSDs Through Extent-Based Temperature Identification", HotStorage 2016).
//!
//! The address space is divided into at most N extents, each with a counter of four bits. At first
//! it is one extent. A write command, however long, is one update:
//! ```text
//! extents   |     a     |  b  |      c       |        A: the write is an extent
//! A                     [=====]                       b + 1
//! B              [===]                                a is cut in three, the middle one + 1
//! C                           [====]                  c is cut in two, the first one + 1
//! D                        [=====]                    b and c are cut in two, two of the four + 1
//! ```
//! In general: ETI cuts at both ends of the write, then adds 1 to every extent inside it. When no
//! more cuts can be made, it adds 1 to the extents that the write covers to `alpha` percent. Once
//! in a period all counters are halved. Then hot neighbours (`beta` or more) with equal counters
//! are merged, and so are all cold neighbours. A page is hot if its extent's counter has reached
//! the threshold.
//!
//! Decided here (docs/algorithms.md, 3.4, E1 to E10):
//!
//! - If two cuts are needed and one is left, no cut is made. With `partial_split` the cut is made
//!   where the write begins, and then `alpha` decides.
//! - A share equal to `alpha` suffices. By default it is a share of the extent (`alpha_of`).
//! - The counter of merged cold extents is the mean of their counters, weighted by length and
//!   rounded down (`merge_value`). Nearly all of a drive is cold, so this mean is mostly 0; `max`
//!   remembers writes that the mean forgets.
//! - The period is counted in commands (`decay_unit`).
//! - Pages are judged after the update of their own command (`judged`). An ageing that this command
//!   makes due waits for the next command.
//! - A page that is judged without a write gets the counter of its extent.
//! - Trims change nothing.
//!
//! The cost per command is a search among the extents of one of 256 parts of the drive, unless the
//! command begins in the extent found last. There are at most two insertions into a sorted array of
//! N starts, and each also updates the parts behind it. Then 1 is added to each extent written. A
//! page costs one comparison if it is in the extent found last. In a drive ETI takes 4.5 bytes for
//! each of the N extents; a drive needs no parts.
//!
//! The paper begins each search at the extent found last (Algorithm 1). The module `search` counts
//! how much this saves in the paper's searches; the search in parts is not counted.

mod config;
mod parts;
mod search;

use alloc::format;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use core::mem;
use core::ops::Range;

use super::{HostWrite, Placement, PlacementConfig, PlacementDemands, PlacementEvent, Relocation};
use crate::counters::{Counters, ExtentCounts};
use crate::parameters::Refusal;
use crate::policy::Policy;
use config::COUNTER_MAX;
pub use config::{AlphaOf, DecayUnit, EtiConfig, Judged, MergeValue};
use parts::Parts;

/// Consecutive pages that share a counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    /// First page.
    pub start: u32,
    /// End: the page behind the last one.
    pub end: u32,
    /// Number of writes, halved with age.
    pub counter: u8,
}

/// Parts into which a step of a search divides the extents.
const WAYS: usize = 8;
/// After this many halvings every counter of four bits is 0, and all extents have merged into one.
const HALVINGS: u64 = 4;

/// The extents: an array of their starts, and an array of their counters.
#[derive(Clone, Debug)]
pub struct Eti {
    config: EtiConfig,
    pages: u32,
    /// Starts in ascending order, from 0. An extent ends where the next one starts.
    starts: Vec<u32>,
    counters: Vec<u8>,
    parts: Parts,
    latest: Latest,
    /// Commands, or page writes, since the last ageing.
    executions: u64,
    /// The last command, if pages are judged before their own. It is executed when the next one
    /// comes.
    held: Held,
    seen: ExtentCounts,
}

crate::state!(
    Eti { starts, counters, parts, latest, executions, held }
    fixed { config, pages, seen }
);

/// A command that has not been executed yet. It has no pages if there is none.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    first: u32,
    pages: u32,
}

crate::state!(Held { first, pages });

impl Eti {
    /// Starts with one extent over all pages.
    pub fn new(config: &PlacementConfig) -> Self {
        let (pages, config) = (config.geometry.logical_pages(), config.eti);
        assert!(config.extents > 0 && config.decay_period > 0, "{config:?}");
        assert!((1..=COUNTER_MAX).contains(&config.counter_max), "{config:?}");
        Self {
            config,
            pages,
            starts: vec![0],
            counters: vec![0],
            parts: Parts::new(pages),
            latest: Latest { index: 0, lower: 0, upper: pages },
            executions: 0,
            held: Held::default(),
            seen: ExtentCounts::default(),
        }
    }

    /// Returns the extents in order. They cover all pages without gaps.
    pub fn partition(&self) -> impl Iterator<Item = Extent> {
        (0..self.starts.len()).map(|index| self.extent(index))
    }

    fn extent(&self, index: usize) -> Extent {
        let (start, counter) = (self.starts[index], self.counters[index]);
        Extent { start, end: self.end(index), counter }
    }

    #[inline(always)]
    fn end(&self, index: usize) -> u32 {
        self.starts.get(index + 1).copied().unwrap_or(self.pages)
    }

    /// Ages the extents if it is time, then updates them for a command.
    fn command(&mut self, first: u32, pages: u32) {
        let period = u64::from(self.config.decay_period);
        if self.executions >= period {
            for _ in 0..(self.executions / period).min(HALVINGS) {
                self.age();
            }
            self.executions %= period;
        }
        if pages == 0 {
            return;
        }
        assert!(first < self.pages && pages <= self.pages - first, "a command ends in the drive");
        let (last, searched) = (self.latest.index, self.starts.len());
        let from = self.find(first);
        self.seen.search.note(last, from, searched);
        self.update(from, first..first + pages);
        let extents = self.starts.len() as u32;
        self.seen.most = self.seen.most.max(extents);
        self.seen.sum += u64::from(extents);
        self.seen.commands += 1;
        self.executions += match self.config.decay_unit {
            DecayUnit::Commands => 1,
            DecayUnit::Pages => u64::from(pages),
        };
    }

    /// Updates the extents for a command that writes these pages: figure 3 of the paper.
    fn update(&mut self, from: usize, pages: Range<u32>) {
        let last = self.find(pages.end - 1);
        let cuts = [self.starts[from] < pages.start, pages.end < self.end(last)];
        let needed = cuts.map(usize::from).iter().sum::<usize>();
        let room = self.config.extents as usize - self.starts.len();
        if needed <= room {
            if needed == 2 && from == last {
                self.cut_out(from, &pages);
            } else {
                if cuts[1] {
                    self.cut(last, pages.end);
                }
                if cuts[0] {
                    self.cut(from, pages.start);
                }
            }
            let inside = usize::from(cuts[0]);
            (from + inside..=last + inside).for_each(|index| self.count(index));
            self.remember(from + inside);
        } else {
            let partial = self.config.partial_split && room == 1;
            if partial {
                self.cut(from, pages.start);
            }
            for index in from..=last + usize::from(partial) {
                if self.is_covered(index, &pages) {
                    self.count(index);
                }
            }
            self.remember(from + usize::from(partial));
        }
    }

    /// Adds 1 to the counter of an extent.
    #[inline(always)]
    fn count(&mut self, index: usize) {
        self.counters[index] = (self.counters[index] + 1).min(self.config.counter_max);
    }

    /// Cuts an extent in two with equal counters. The second one starts at `page`.
    fn cut(&mut self, index: usize, page: u32) {
        self.starts.insert(index + 1, page);
        self.counters.insert(index + 1, self.counters[index]);
        self.parts.cut(page, 1);
    }

    /// Cuts an extent in three with equal counters. These pages are the middle one.
    fn cut_out(&mut self, index: usize, pages: &Range<u32>) {
        let counter = self.counters[index];
        insert_two(&mut self.starts, index + 1, [pages.start, pages.end]);
        insert_two(&mut self.counters, index + 1, [counter; 2]);
        if self.parts.behind(pages.start) == self.parts.behind(pages.end) {
            self.parts.cut(pages.end, 2);
        } else {
            self.parts.cut(pages.start, 1);
            self.parts.cut(pages.end, 1);
        }
    }

    /// Returns whether a write covers `alpha` of an extent, or `alpha` of the write is in the
    /// extent.
    fn is_covered(&self, index: usize, pages: &Range<u32>) -> bool {
        let Extent { start, end, .. } = self.extent(index);
        let overlap = pages.end.min(end).saturating_sub(pages.start.max(start));
        let whole = match self.config.alpha_of {
            AlphaOf::Extent => end - start,
            AlphaOf::Write => pages.end - pages.start,
        };
        u64::from(overlap) * 100 >= u64::from(self.config.alpha_percent) * u64::from(whole)
    }

    /// Halves all counters, then merges similar neighbours.
    fn age(&mut self) {
        self.counters.iter_mut().for_each(|counter| *counter /= 2);
        let (mut merged, mut next, mut latest) = (0, 0, 0);
        while next < self.starts.len() {
            let members = next..next + self.alike(next);
            if members.contains(&self.latest.index) {
                latest = merged;
            }
            self.counters[merged] = self.merged_counter(&members);
            self.starts[merged] = self.starts[next];
            (merged, next) = (merged + 1, members.end);
        }
        self.starts.truncate(merged);
        self.counters.truncate(merged);
        self.parts.renew(&self.starts);
        self.remember(latest);
    }

    /// Returns how many extents from `first` on are merged into one.
    fn alike(&self, first: usize) -> usize {
        let joins = |&index: &usize| {
            let [before, here] = [index - 1, index].map(|index| self.counters[index]);
            before == here || before.max(here) < self.config.beta
        };
        1 + (first + 1..self.starts.len()).take_while(joins).count()
    }

    fn merged_counter(&self, members: &Range<usize>) -> u8 {
        let first = self.counters[members.start];
        if members.len() == 1 || first >= self.config.beta {
            return first;
        }
        let counters = self.counters[members.clone()].iter().copied();
        match self.config.merge_value {
            MergeValue::Mean => {
                let mass = members.clone().map(|index| {
                    let Extent { start, end, counter } = self.extent(index);
                    u64::from(end - start) * u64::from(counter)
                });
                let length = self.end(members.end - 1) - self.starts[members.start];
                (mass.sum::<u64>() / u64::from(length)) as u8
            }
            MergeValue::PlainMean => {
                (counters.map(u64::from).sum::<u64>() / members.len() as u64) as u8
            }
            MergeValue::Max => counters.max().unwrap_or(first),
            MergeValue::Min => counters.min().unwrap_or(first),
            MergeValue::Zero => 0,
        }
    }

    /// Finds the extent of a page, which then is the extent found last.
    #[inline(always)]
    fn find(&mut self, page: u32) -> usize {
        if !self.latest.covers(page) {
            self.remember(self.search(page));
        }
        self.latest.index
    }

    /// Makes an extent the one found last.
    #[inline(always)]
    fn remember(&mut self, index: usize) {
        self.latest = Latest { index, lower: self.starts[index], upper: self.end(index) };
    }

    /// Returns the extent of a page: the last one that does not start after it. The processor makes
    /// the comparisons of a step in parallel, while each step of a binary search waits for the one
    /// before.
    fn search(&self, page: u32) -> usize {
        let (mut found, last) = self.parts.extents(page);
        let mut stride = last + 1 - found;
        while stride > 1 {
            stride = stride.div_ceil(WAYS);
            let starts = (1..WAYS).filter_map(|way| self.starts.get(found + way * stride));
            found += starts.filter(|&&start| start <= page).count() * stride;
        }
        found
    }

    #[inline(always)]
    fn stream_of(&self, index: usize) -> u8 {
        u8::from(self.counters[index] >= self.config.hot_threshold)
    }
}

impl Placement for Eti {
    fn demands(config: &PlacementConfig) -> PlacementDemands {
        let EtiConfig { hot_threshold, counter_max, .. } = config.eti;
        let refusal = (hot_threshold > counter_max).then(|| Refusal {
            key: "eti.hot_threshold",
            given: hot_threshold.to_string(),
            expected: format!("at most eti.counter_max ({counter_max}), or nothing is ever hot"),
        });
        PlacementDemands { refusal, ..PlacementDemands::streams(2) }
    }

    #[inline]
    fn stream(&mut self, write: HostWrite) -> u8 {
        let index = self.find(write.lpn.get());
        self.stream_of(index)
    }

    fn classify(&self, relocation: Relocation) -> u8 {
        self.stream_of(self.search(relocation.lpn.get()))
    }

    #[inline(always)]
    fn observe(&mut self, event: PlacementEvent) {
        if let PlacementEvent::Command { first, pages } = event {
            let given = Held { first: first.get(), pages };
            let Held { first, pages } = match self.config.judged {
                Judged::After => given,
                Judged::Before => mem::replace(&mut self.held, given),
            };
            self.command(first, pages);
        }
    }
}

impl Policy for Eti {
    fn memory_bytes(&self) -> u64 {
        let extents = u64::from(self.config.extents);
        // Sixteen counters in a word.
        let (starts, counters) = (extents * 4, extents.div_ceil(16) * 8);
        starts + counters + size_of::<Latest>() as u64
    }

    fn report(&self, counters: &mut Counters) {
        counters.extents = Some(ExtentCounts { now: self.starts.len() as u32, ..self.seen });
    }

    fn reset_counters(&mut self) {
        self.seen = ExtentCounts::default();
    }

    fn check(&self) {
        assert!((1..=self.config.extents as usize).contains(&self.starts.len()));
        assert_eq!(self.starts.len(), self.counters.len());
        assert!(self.starts[0] == 0 && self.starts.is_sorted_by(|a, b| a < b));
        assert!(self.partition().all(|e| e.end <= self.pages && e.start < e.end));
        assert!(self.partition().all(|e| e.counter <= self.config.counter_max));
        let Latest { index, lower, upper } = self.latest;
        assert_eq!((lower, upper), (self.starts[index], self.end(index)), "the one found last");
        let mut parts = self.parts.clone();
        parts.renew(&self.starts);
        assert_eq!(parts, self.parts, "where the extents of each part are");
    }
}

fn insert_two<T: Copy>(all: &mut Vec<T>, at: usize, two: [T; 2]) {
    let end = all.len();
    all.extend(two);
    all.copy_within(at..end, at + 2);
    all[at..at + 2].copy_from_slice(&two);
}

/// The extent found last, with its bounds. It is looked up again after extents were cut or merged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Latest {
    index: usize,
    lower: u32,
    upper: u32,
}

crate::state!(Latest { index, lower, upper });

impl Latest {
    #[inline(always)]
    fn covers(&self, page: u32) -> bool {
        self.lower <= page && page < self.upper
    }
}

#[cfg(test)]
mod tests;
