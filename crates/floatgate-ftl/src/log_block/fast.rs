//! FAST: all logical blocks share the log blocks (Lee, Park, Chung, Lee, Park and Song, 2007).
//!
//! One log takes sequential writes. This log begins with a write of a logical block's first page,
//! and grows while each write is to the next page of that block. All other writes go to the random
//! logs, in order of arrival. When the random logs are full, the oldest one is emptied: each
//! logical block with a valid page in it is merged in full, including its pages in all other logs.
//!
//! This is the paper's Algorithm 2, with two differences:
//!
//! - A write never goes to the data block, not even to a free page of it, because flash has to be
//!   programmed in ascending order. Our BAST obeys this rule, too, so the two can be compared.
//! - When a random log is emptied, the logical block that the sequential log belongs to may be
//!   merged, too. The sequential log then has no valid page, and is erased after the merge. The
//!   paper leaves this case open.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::{LogBlocks, LogConfig, LogView, Step};
use crate::addr::Lbn;
use crate::geometry::Geometry;
use crate::policy::Policy;

crate::choice! {
    /// Where a write to the sequential log's logical block goes if it is not to the next page.
    pub enum OutOfOrder {
        /// The sequential log is merged, and a new one begins with this page: the paper's text.
        Restart = "restart",
        /// To the random logs. The sequential log stays open for its next page.
        Random = "random",
    }
}

crate::parameters! {
    /// Parameters of the translation layer `fast`.
    pub struct FastConfig {
        /// Log blocks (erase units) in use at a time: one for sequential writes, the others for all
        /// other writes. Not set: all spare units in service.
        log_blocks: Option<u32> = None, from 2 to 1_000_000;
        /// Where a write to the sequential log's logical block goes if it is not to the next page.
        out_of_order: OutOfOrder = OutOfOrder::Restart;
        /// Whether a sequential log that is in order but not full takes a partial merge. If not, it
        /// takes a full merge, as in the C++ FlashSim.
        partial_merge: bool = true;
    }
}

/// Slot of the sequential log. All other slots are random logs.
const SEQUENTIAL: u32 = 0;

#[derive(Clone, Copy, Debug)]
struct Sequential {
    lbn: Lbn,
    first: u32,
    written: u32,
}

/// FAST scheme: one sequential log, and random logs that all logical blocks share.
#[derive(Clone, Debug)]
pub struct Fast {
    geometry: Geometry,
    config: FastConfig,
    sequential: Option<Sequential>,
    /// Slots of the random logs in use, the oldest in front. All except the newest are full.
    random: VecDeque<u32>,
    random_max: usize,
    /// Pages written to the newest random log.
    newest_written: u32,
}

impl Fast {
    /// Smallest number of logs with which FAST works.
    pub const LOGS_MIN: u32 = 2;

    /// Returns the number of logs that the config sets, if it sets one.
    pub fn logs(config: &LogConfig) -> Option<u32> {
        config.fast.log_blocks
    }

    /// Makes a scheme with no logs in use.
    pub fn new(config: &LogConfig) -> Self {
        let LogConfig { geometry, logs, fast, .. } = *config;
        assert!(logs >= Self::LOGS_MIN, "FAST needs a sequential and a random log block");
        let random_max = logs as usize - 1;
        let random = VecDeque::with_capacity(random_max);
        Self { geometry, config: fast, sequential: None, random, random_max, newest_written: 0 }
    }

    /// Merges the sequential log, if there is one, and begins a new one with this page.
    fn restart_sequential_log(&mut self, lbn: Lbn, offset: u32, steps: &mut Vec<Step>) {
        if let Some(log) = self.sequential {
            let complete = log.written == self.geometry.pages_of(log.lbn);
            let promote = log.first == 0 && (complete || self.config.partial_merge);
            steps.push(if promote { Step::Promote } else { Step::Merge }(SEQUENTIAL, log.lbn));
        }
        self.sequential = Some(Sequential { lbn, first: offset, written: 1 });
        steps.extend([Step::Open(SEQUENTIAL), Step::Append(SEQUENTIAL)]);
    }

    fn append_random(&mut self, steps: &mut Vec<Step>) {
        let full = self.newest_written == self.geometry.pages_per_unit();
        let slot = match self.random.back() {
            Some(&newest) if !full => newest,
            _ => self.open_random(steps),
        };
        self.newest_written += 1;
        steps.push(Step::Append(slot));
    }

    fn open_random(&mut self, steps: &mut Vec<Step>) -> u32 {
        let mut slot = SEQUENTIAL + 1 + self.random.len() as u32;
        if self.random.len() == self.random_max
            && let Some(oldest) = self.random.pop_front()
        {
            steps.push(Step::Collect(oldest));
            slot = oldest;
        }
        steps.push(Step::Open(slot));
        self.random.push_back(slot);
        self.newest_written = 0;
        slot
    }
}

impl LogBlocks for Fast {
    fn write(&mut self, lbn: Lbn, offset: u32, steps: &mut Vec<Step>) {
        let sequential = self.sequential.as_mut().filter(|log| log.lbn == lbn);
        match (offset, sequential) {
            (0, _) => self.restart_sequential_log(lbn, 0, steps),
            (_, Some(log)) if offset == log.first + log.written => {
                log.written += 1;
                steps.push(Step::Append(SEQUENTIAL));
            }
            (_, Some(_)) if self.config.out_of_order == OutOfOrder::Restart => {
                self.restart_sequential_log(lbn, offset, steps);
            }
            _ => self.append_random(steps),
        }
    }

    fn log(&self, slot: u32) -> Option<LogView> {
        if slot == SEQUENTIAL {
            return self.sequential.map(|log| LogView { lbn: Some(log.lbn), written: log.written });
        }
        let at = self.random.iter().position(|&random| random == slot)?;
        let is_newest = at + 1 == self.random.len();
        let full = self.geometry.pages_per_unit();
        let written = if is_newest { self.newest_written } else { full };
        Some(LogView { lbn: None, written })
    }

    fn merged(&mut self, lbn: Lbn) -> Option<u32> {
        self.sequential.take_if(|log| log.lbn == lbn).map(|_| SEQUENTIAL)
    }
}

impl Policy for Fast {
    fn check(&self) {
        assert!(self.random.len() <= self.random_max);
        assert!(self.random.is_empty() || self.newest_written > 0, "a log is opened to be written");
        if let Some(log) = self.sequential {
            assert!(log.first + log.written <= self.geometry.pages_of(log.lbn), "{log:?}");
            assert!(log.first == 0 || self.config.out_of_order == OutOfOrder::Restart);
        }
    }
}
