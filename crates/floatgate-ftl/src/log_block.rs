//! Log blocks: where writes go on a block-mapped drive, and what is merged to make room for them.
//!
//! A data block has each page of a logical block at its own place, so a page cannot be written
//! again there. New versions go to log blocks instead, one after the other; in time the newest
//! pages of a logical block come together in a new data block. A scheme says which log a write goes
//! to, and what has to be merged before or after it, as plain [`Step`]s. It touches no flash.

mod bast;
mod fast;

pub use bast::{LogVictim, MergeWhenFull};
pub use fast::OutOfOrder;

use alloc::vec::Vec;

use crate::addr::Lbn;
use crate::geometry::Geometry;

/// What has to be done for a write. A log is named by its slot, 0 to the number of logs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Take a free unit into use as this log.
    Open(u32),
    /// Program the page that the host writes as the next one of this log.
    Append(u32),
    /// This log holds the first pages of the logical block, each at its place: copy the others
    /// behind them, and make it the data block. A switch merge if there are no others, or else a
    /// partial merge.
    Promote(u32, Lbn),
    /// Merge the logical block in full, and erase this log, which has only its pages.
    Merge(u32, Lbn),
    /// Merge in full each logical block that has a valid page in this log, and erase it.
    Collect(u32),
}

/// What a log is for, as the scheme sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LogView {
    /// The logical block whose pages it holds; none if any may be in it.
    pub lbn: Option<Lbn>,
    /// Pages that have been appended to it.
    pub written: u32,
}

/// A scheme of log blocks. Asked once per page write.
pub trait LogBlocks {
    /// The host writes a page of a logical block: appends what that takes, in order. Exactly one of
    /// the steps is [`Step::Append`].
    fn write(&mut self, lbn: Lbn, offset: u32, steps: &mut Vec<Step>);

    /// What is in a slot.
    fn log(&self, slot: u32) -> Option<LogView>;

    /// A [`Step::Collect`] has merged a logical block in full. The answer is a log that held only
    /// pages of it, so that it is out of date: it is erased.
    fn merged(&mut self, _: Lbn) -> Option<u32> {
        None
    }

    /// Recomputes what can be recomputed, and asserts that it agrees.
    fn check(&self) {}
}

/// The table of log block schemes: config name, type and parameters, what it does, where it is
/// from. `$then!` gets the rows.
#[macro_export]
macro_rules! log_blocks {
    ($then:ident) => {
        $then! {
            bast Bast(BastConfig),
                "Block-mapped: overwrites go to a log block of their logical block.",
                "Kim, Kim, Noh, Min and Cho, IEEE Trans. Consumer Electronics 48, 2002";
            fast Fast(FastConfig),
                "Block-mapped: logical blocks share random log blocks and one sequential.",
                "Lee, Park, Chung, Lee, Park and Song, ACM TECS 6, 2007";
        }
    };
}

macro_rules! name_rows {
    ($($name:ident $Type:ident($($Own:ident)?), $doc:literal, $source:literal;)*) => {
        crate::axis! {
            /// Every log block scheme.
            pub const LOG_BLOCKS;
            /// What every scheme is made from.
            pub struct LogConfig {
                /// Shape of the drive.
                geometry: Geometry,
                /// Log blocks that may be in use at a time.
                logs: u32,
                /// Seed of what a scheme draws.
                seed: u64,
            }
            $($name $Type($($Own)?), $doc, $source;)*
        }

        $(pub use $name::{$Type, $($Own)?};)*

        /// The fewest logs that the scheme of this name works with, if there is one.
        pub fn logs_min(name: &str) -> Option<u32> {
            match name {
                $(stringify!($name) => Some($Type::LOGS_MIN),)*
                _ => None,
            }
        }

        /// The logs that the scheme of this name is to have, if that is given.
        pub fn logs_given(name: &str, config: &LogConfig) -> Option<u32> {
            match name {
                $(stringify!($name) => $Type::logs(config),)*
                _ => None,
            }
        }
    };
}

impl LogConfig {
    /// The default parameters of every scheme.
    pub fn new(geometry: Geometry, logs: u32) -> Self {
        Self::defaults(geometry, logs, 1)
    }
}

log_blocks!(name_rows);

#[cfg(test)]
mod tests;
