//! SepBIT: sorts by an inferred time of invalidation (Wang, Li, Lee, Ouyang, Shi and Huang,
//! "Separating Data via Block Invalidation Time Inference for Write Amplification Reduction in
//! Log-Structured Storage", FAST 2022). Checked against the authors' published code.
//!
//! There are six classes. A page of a host write goes to class 1 if its last version lived less
//! than l, else to class 2. Pages that cleaning moves out of class 1 go to class 3. Other moved
//! pages go by their age, the time since the host wrote them: below 4 l to class 4, below 16 l to
//! class 5, else to class 6. All times are in pages written by the host. l is the mean time from
//! opening to cleaning of class 1 units. It is computed after every 16 cleaned units (in separate
//! batches, not in a sliding window); at first it is infinite. Stream 0 is class 6, stream 5 is
//! class 1.
//!
//! The lifetime of the last version comes from one of two sources. `Fifo`, as in the paper, is a
//! queue of the latest host writes. A page that is not in it lived long. The queue grows with each
//! write and is cut, by at most two entries per write, to the smaller of l and the number of pages
//! written. `Exact` is a table of last writes. Decided here: a page not in the queue, or never
//! written, goes to class 2 even while l is infinite; a trim forgets a page.
//!
//! The cost is one access to a table per page written or moved and, with `Fifo`, one more per entry
//! that leaves the queue. In the drive `Fifo` takes 8 bytes per distinct page now in the queue,
//! counted as in the paper. The drive keeps the queue itself on flash, and the time of a page's
//! last host write next to the page, where cleaning finds it. `Exact` takes 4 bytes per logical
//! page.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use super::{
    HostWrite, Placement, PlacementConfig, PlacementDemands, PlacementEvent, Reclaimed, Relocation,
};
use crate::addr::Lpn;
use crate::policy::Policy;

crate::choice! {
    /// How the drive knows the time since a page was written.
    pub enum History {
        /// By a queue of the latest writes, with the length of the mean lifespan.
        Fifo = "fifo",
        /// By a table of all pages.
        Exact = "exact",
    }
}

crate::parameters! {
    /// Parameters of SepBIT.
    pub struct SepbitConfig {
        /// How the lifespan of an overwritten page is determined.
        history: History = History::Fifo;
        /// Cleaned units of the short-lived class per mean lifespan.
        units: u32 = 16, from 1 to 1_000_000;
    }
}

const CLASSES: u8 = 6;
/// Class of host pages with a short expected lifetime.
const SHORT: u8 = 1;

/// Not written, or trimmed.
const NEVER: u64 = u64::MAX;

fn stream_of(class: u8) -> u8 {
    CLASSES - class
}

/// SepBIT: six classes of pages.
#[derive(Clone, Debug)]
pub struct Sepbit {
    config: SepbitConfig,
    /// Time of the last host write, by page.
    written: Vec<u64>,
    /// Pages written and not trimmed since.
    pages: u64,
    queue: Queue,
    /// l. None: infinite.
    lifespan: Option<u64>,
    /// Sum and number of the lifespans of units since l was computed.
    sum: u64,
    units: u32,
}

crate::state!(Sepbit { written, pages, queue, lifespan, sum, units } fixed { config });

impl Sepbit {
    /// Starts with no page written and no lifespan.
    pub fn new(config: &PlacementConfig) -> Self {
        let pages = config.geometry.logical_pages() as usize;
        assert!(config.sepbit.units > 0, "a mean is of something");
        Self {
            config: config.sepbit,
            written: vec![NEVER; pages],
            pages: 0,
            queue: Queue::default(),
            lifespan: None,
            sum: 0,
            units: 0,
        }
    }

    /// Returns how long the version lived that is overwritten now, if the drive knows.
    fn lived(&self, lpn: Lpn, clock: u64) -> Option<u64> {
        let written = self.written[lpn.index()];
        let known = match self.config.history {
            History::Fifo => self.queue.holds(written),
            History::Exact => written != NEVER,
        };
        known.then(|| clock - written)
    }

    /// Returns the class of a page that is moved out of a unit of class `from`.
    fn class_of_moved(&self, relocation: Relocation, from: u8) -> u8 {
        if from == SHORT {
            return 3;
        }
        let Some(lifespan) = self.lifespan else { return 4 };
        let age = relocation.clock - self.written[relocation.lpn.index()].min(relocation.clock);
        let below = |times: u64| age < lifespan.saturating_mul(times);
        if below(4) {
            4
        } else if below(16) {
            5
        } else {
            6
        }
    }

    /// Handles a trim.
    fn forget(&mut self, lpn: Lpn) {
        let last = core::mem::replace(&mut self.written[lpn.index()], NEVER);
        self.pages -= u64::from(last != NEVER);
        self.queue.distinct -= u64::from(self.queue.holds(last));
    }

    /// Updates l, the mean lifespan of the last units of class 1.
    fn reclaimed(&mut self, unit: Reclaimed) {
        if unit.stream != stream_of(SHORT) {
            return;
        }
        self.sum += unit.age;
        self.units += 1;
        if self.units == self.config.units {
            self.lifespan = Some(self.sum / u64::from(self.units));
            (self.sum, self.units) = (0, 0);
        }
    }

    fn remember(&mut self, lpn: Lpn, clock: u64) {
        let last = core::mem::replace(&mut self.written[lpn.index()], clock);
        self.pages += u64::from(last == NEVER);
        if self.config.history == History::Fifo {
            let again = self.queue.holds(last);
            self.queue.push(lpn, clock, again);
            let limit = self.lifespan.unwrap_or(u64::MAX);
            for limit in [limit.min(self.pages), limit] {
                if self.queue.len() > limit {
                    self.queue.pop(&self.written);
                }
            }
        }
    }
}

impl Placement for Sepbit {
    fn demands(_: &PlacementConfig) -> PlacementDemands {
        PlacementDemands { sorts_moved: true, ..PlacementDemands::streams(CLASSES) }
    }

    #[inline]
    fn stream(&mut self, write: HostWrite) -> u8 {
        let lived = self.lived(write.lpn, write.clock);
        let short = lived.is_some_and(|lived| self.lifespan.is_none_or(|limit| lived < limit));
        self.remember(write.lpn, write.clock);
        stream_of(if short { SHORT } else { 2 })
    }

    fn moved(&mut self, relocation: Relocation) -> u8 {
        self.classify(relocation)
    }

    fn classify(&self, relocation: Relocation) -> u8 {
        stream_of(self.class_of_moved(relocation, CLASSES - relocation.stream))
    }

    #[inline(always)]
    fn observe(&mut self, event: PlacementEvent) {
        match event {
            PlacementEvent::Trimmed(lpn) => self.forget(lpn),
            PlacementEvent::Reclaimed(unit) => self.reclaimed(unit),
            _ => {}
        }
    }
}

impl Policy for Sepbit {
    fn memory_bytes(&self) -> u64 {
        match self.config.history {
            History::Fifo => 8 * self.queue.distinct,
            History::Exact => 4 * self.written.len() as u64,
        }
    }

    fn check(&self) {
        let latest = |&(lpn, at): &(Lpn, u64)| self.written[lpn.index()] == at;
        let distinct = self.queue.entries().filter(latest).count() as u64;
        assert_eq!(distinct, self.queue.distinct, "pages in the queue");
        let written = self.written.iter().filter(|&&at| at != NEVER).count() as u64;
        assert_eq!(written, self.pages, "pages written");
    }
}

/// The latest host writes, and the time of each. If the host first writes to a log, the clock also
/// counts those writes, which are not in the queue.
#[derive(Clone, Debug, Default)]
struct Queue {
    writes: VecDeque<(Lpn, u64)>,
    /// Number of pages whose latest write is in the queue.
    distinct: u64,
}

crate::state!(Queue { writes, distinct });

impl Queue {
    fn len(&self) -> u64 {
        self.writes.len() as u64
    }

    /// Returns whether a page with its last write at this time is in the queue.
    fn holds(&self, written: u64) -> bool {
        written != NEVER && self.writes.front().is_some_and(|&(_, start)| written >= start)
    }

    /// Adds a write. `again` states whether the page is in the queue already.
    fn push(&mut self, lpn: Lpn, clock: u64, again: bool) {
        self.writes.push_back((lpn, clock));
        self.distinct += u64::from(!again);
    }

    fn pop(&mut self, written: &[u64]) {
        if let Some((lpn, clock)) = self.writes.pop_front() {
            self.distinct -= u64::from(written[lpn.index()] == clock);
        }
    }

    fn entries(&self) -> impl Iterator<Item = (Lpn, u64)> {
        self.writes.iter().copied()
    }
}

#[cfg(test)]
mod tests;
