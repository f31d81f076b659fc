//! BAST: each log block belongs to one logical block (Kim, Kim, Noh, Min and Cho, 2002).
//!
//! Every write goes to the log of its logical block. A full log is merged with its data block. When
//! a write needs a log and all logs are in use, a victim is merged, too. A log in order is
//! promoted:
//!
//! ```text
//!   log 0 1 2 3            switch:  the log becomes the data block, the old one is erased
//!   log 0 1 . .            partial: 2 and 3 are copied behind, then as for a switch
//!   log 1 0 . .  0 0 1 2   full:    all pages are copied to a fresh unit, both are erased
//! ```

use alloc::vec;
use alloc::vec::Vec;

use super::{LogBlocks, LogConfig, LogView, Step};
use crate::addr::Lbn;
use crate::geometry::Geometry;
use crate::lru::{Links, List};
use crate::policy::Policy;
use crate::rng::Rng;

crate::choice! {
    /// Which log block is merged to make room.
    pub enum LogVictim {
        /// The log block that was opened first.
        Fifo = "fifo",
        /// The least recently written log block.
        Lru = "lru",
        /// A random log block, as in the C++ FlashSim.
        Random = "random",
    }
}

crate::parameters! {
    /// Parameters of the translation layer `bast`.
    pub struct BastConfig {
        /// Log blocks (erase units) in use at a time. Not set: all spare units in service.
        log_blocks: Option<u32> = None, from 1 to 1_000_000;
        /// Which log block is the victim when a new one is needed.
        victim: LogVictim = LogVictim::Fifo;
        /// When a full log block is merged.
        merge_when_full: MergeWhenFull = MergeWhenFull::Immediately;
        /// Whether a log block that is in order but not full takes a partial merge. If not, it
        /// takes a full merge, as in the C++ FlashSim.
        partial_merge: bool = true;
    }
}

crate::choice! {
    /// When a full log block is merged.
    pub enum MergeWhenFull {
        /// As soon as its last page is written.
        Immediately = "immediately",
        /// Before the next write of its logical block, or when it is the victim.
        Lazy = "lazy",
    }
}

#[derive(Clone, Copy, Debug)]
struct Log {
    lbn: Lbn,
    written: u32,
    /// Whether each page is at its own offset.
    in_order: bool,
}

/// BAST scheme: one log per logical block.
#[derive(Clone, Debug)]
pub struct Bast {
    geometry: Geometry,
    config: BastConfig,
    /// Slot of the log, by logical block.
    slots: Vec<Option<u32>>,
    logs: Vec<Option<Log>>,
    /// Slots in use. The next victim of `fifo` and `lru` is in front.
    order: List,
    links: Links,
    vacant: Vec<u32>,
    rng: Rng,
}

impl Bast {
    /// Smallest number of logs with which BAST works.
    pub const LOGS_MIN: u32 = 1;

    /// Returns the number of logs that the config sets, if it sets one.
    pub fn logs(config: &LogConfig) -> Option<u32> {
        config.bast.log_blocks
    }

    /// Starts with no logs in use.
    pub fn new(config: &LogConfig) -> Self {
        let LogConfig { geometry, logs, seed, bast, .. } = *config;
        assert!(logs >= Self::LOGS_MIN, "BAST needs a log block");
        Self {
            geometry,
            config: bast,
            slots: vec![None; geometry.logical_blocks() as usize],
            logs: vec![None; logs as usize],
            order: List::EMPTY,
            links: Links::new(logs as usize),
            vacant: (0..logs).rev().collect(),
            rng: Rng::new(seed),
        }
    }

    /// Chooses the log to merge when all logs are in use.
    fn victim(&mut self) -> u32 {
        match self.config.victim {
            LogVictim::Fifo | LogVictim::Lru => self.order.front().expect("all logs are in use"),
            LogVictim::Random => self.rng.below(self.logs.len() as u64) as u32,
        }
    }

    fn open(&mut self, lbn: Lbn, steps: &mut Vec<Step>) -> u32 {
        if self.vacant.is_empty() {
            let victim = self.victim();
            self.merge(victim, steps);
        }
        let slot = self.vacant.pop().expect("merging a log makes its slot vacant");
        self.logs[slot as usize] = Some(Log { lbn, written: 0, in_order: true });
        self.slots[lbn.index()] = Some(slot);
        self.links.push_back(&mut self.order, slot);
        steps.push(Step::Open(slot));
        slot
    }

    fn merge(&mut self, slot: u32, steps: &mut Vec<Step>) {
        let log = self.logs[slot as usize].take().expect("only a log in use is merged");
        let complete = log.written == self.geometry.pages_of(log.lbn);
        let promote = log.in_order && (complete || self.config.partial_merge);
        steps.push(if promote { Step::Promote } else { Step::Merge }(slot, log.lbn));
        self.slots[log.lbn.index()] = None;
        self.links.remove(&mut self.order, slot);
        self.vacant.push(slot);
    }

    fn is_full(&self, slot: u32) -> bool {
        let written = self.logs[slot as usize].map(|log| log.written);
        written == Some(self.geometry.pages_per_unit())
    }
}

impl LogBlocks for Bast {
    fn write(&mut self, lbn: Lbn, offset: u32, steps: &mut Vec<Step>) {
        let mut slot = self.slots[lbn.index()];
        if let Some(full) = slot.filter(|&slot| self.is_full(slot)) {
            self.merge(full, steps);
            slot = None;
        }
        let slot = slot.unwrap_or_else(|| self.open(lbn, steps));
        if self.config.victim == LogVictim::Lru {
            self.links.remove(&mut self.order, slot);
            self.links.push_back(&mut self.order, slot);
        }
        if let Some(log) = &mut self.logs[slot as usize] {
            log.in_order &= log.written == offset;
            log.written += 1;
        }
        steps.push(Step::Append(slot));
        if self.config.merge_when_full == MergeWhenFull::Immediately && self.is_full(slot) {
            self.merge(slot, steps);
        }
    }

    fn log(&self, slot: u32) -> Option<LogView> {
        self.logs[slot as usize].map(|log| LogView { lbn: Some(log.lbn), written: log.written })
    }
}

impl Policy for Bast {
    fn check(&self) {
        assert_eq!(self.order.len() as usize + self.vacant.len(), self.logs.len());
        for slot in self.links.iter(&self.order) {
            let log = self.logs[slot as usize].expect("a slot in order is in use");
            assert_eq!(self.slots[log.lbn.index()], Some(slot), "one log per logical block");
            let full = log.written == self.geometry.pages_per_unit();
            assert!(
                log.written > 0
                    && !(full && self.config.merge_when_full == MergeWhenFull::Immediately),
                "{log:?}"
            );
        }
        let in_use = self.slots.iter().flatten().count();
        assert_eq!(in_use, self.order.len() as usize, "a log belongs to one logical block");
    }
}
