//! Log blocks: where writes go on a block-mapped drive, and which merges make room for them.
//!
//! A data block has each page of a logical block at its own offset, so a page cannot be written
//! again there. New versions go to log blocks instead, one after the other. Later a merge collects
//! the newest pages of a logical block in a new data block. A scheme names the log of each write,
//! and the merges before or after it, as plain [`Step`]s. A scheme touches no flash.

mod bast;
mod fast;

pub use bast::{LogVictim, MergeWhenFull};
pub use fast::OutOfOrder;

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::addr::Lbn;
use crate::geometry::Geometry;
use crate::policy::Policy;

/// A step of the work for one write. A log is named by its slot, from 0 up to the number of logs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Open a free unit as this log.
    Open(u32),
    /// Program the page of the host write as the next page of this log.
    Append(u32),
    /// Make this log the data block of the logical block. The log has the first pages of the
    /// logical block, each at its own offset; the remaining pages are copied behind them. With no
    /// remaining pages this is a switch merge, else a partial merge.
    Promote(u32, Lbn),
    /// Merge the logical block in full, and erase this log, which has pages of that block only.
    Merge(u32, Lbn),
    /// Merge in full each logical block that has a valid page in this log, and erase the log.
    Collect(u32),
}

/// State of a log, as the scheme sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LogView {
    /// The logical block that this log belongs to; none if the log may have pages of any block.
    pub lbn: Option<Lbn>,
    /// Pages that have been appended to the log.
    pub written: u32,
}

/// A scheme of log blocks. The engine calls it once per page write.
pub trait LogBlocks: Policy {
    /// Appends, in order, the steps for a host write of one page of a logical block. Exactly one of
    /// the steps is [`Step::Append`].
    fn write(&mut self, lbn: Lbn, offset: u32, steps: &mut Vec<Step>);

    /// Returns the state of the log in a slot.
    fn log(&self, slot: u32) -> Option<LogView>;

    /// Notes that a [`Step::Collect`] has merged a logical block in full. Returns a log that held
    /// only pages of this block, if there is one: it is out of date, and the engine erases it.
    fn merged(&mut self, _: Lbn) -> Option<u32> {
        None
    }
}

macro_rules! log_blocks {
    ($($name:ident $Type:ident($($Own:ident)?), $doc:literal, $source:literal;)*) => {
        crate::axis! {
            /// Every log block scheme.
            pub const LOG_BLOCKS;
            /// Configuration of every scheme.
            pub struct LogConfig {
                /// Shape of the drive.
                geometry: Geometry,
                /// Log blocks that may be in use at a time.
                logs: u32,
                /// Seed for the random choices of a scheme.
                seed: u64,
            }
            $($name $Type($($Own)?), $doc, $source;)*
        }

        $(pub use $name::{$Type, $($Own)?};)*

        /// Makes the scheme of this name, if there is one.
        pub fn scheme(name: &str, config: &LogConfig) -> Option<Box<dyn LogBlocks + Send>> {
            match name {
                $(stringify!($name) => Some(Box::new($Type::new(config))),)*
                _ => None,
            }
        }

        /// Returns the minimum number of logs of the named scheme; none for an unknown name.
        pub fn logs_min(name: &str) -> Option<u32> {
            match name {
                $(stringify!($name) => Some($Type::LOGS_MIN),)*
                _ => None,
            }
        }

        /// Returns the number of logs that the config sets for the named scheme, if it sets one.
        pub fn logs_given(name: &str, config: &LogConfig) -> Option<u32> {
            match name {
                $(stringify!($name) => $Type::logs(config),)*
                _ => None,
            }
        }
    };
}

impl LogConfig {
    /// Configures every scheme with its default parameters.
    pub fn new(geometry: Geometry, logs: u32) -> Self {
        Self::defaults(geometry, logs, 1)
    }
}

log_blocks! {
    bast Bast(BastConfig),
        "Block-mapped: overwrites go to a log block of their logical block.",
        "Kim, Kim, Noh, Min and Cho, IEEE Trans. Consumer Electronics 48, 2002";
    fast Fast(FastConfig),
        "Block-mapped: logical blocks share random log blocks and one sequential.",
        "Lee, Park, Chung, Lee, Park and Song, ACM TECS 6, 2007";
}
