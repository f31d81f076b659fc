//! Drives with log blocks.
//!
//! Of the T units in service, as many as the logical pages fill are data blocks; the rest can be
//! log blocks. One more unit, the reserve on top of T, is what a merge copies to.

use floatgate_ftl::blocks::FreeOrder;
use floatgate_ftl::log_block::{
    Bast, BastConfig, Fast, FastConfig, LogConfig, LogVictim as FtlVictim,
    OutOfOrder as FtlOutOfOrder,
};
use floatgate_ftl::log_blocks;
use floatgate_ftl::log_ftl::LogFtlConfig;

use super::{Make, Plan};
use crate::config::{Config, ConfigError, LogVictim, MergeWhenFull, OutOfOrder, WearLeveling};

/// Log blocks that the drive of a plan has.
fn logs(config: &Config, plan: &Plan) -> u32 {
    let spare = plan.units_in_service - plan.geometry.logical_blocks();
    config.log_blocks().unwrap_or(spare)
}

macro_rules! rows {
    ($($name:literal $Type:ident, $doc:literal, $source:literal;)*) => {
        /// Makes it with the scheme that the config names.
        pub(super) fn with_scheme<T: Make>(
            maker: T,
            config: &Config,
            plan: &Plan,
            seed: u64,
        ) -> Result<T::Made, ConfigError> {
            let of_scheme = log_config(config, plan, seed);
            match config.ftl.scheme.as_str() {
                $($name => maker.block_mapped(<$Type>::new(&of_scheme)),)*
                other => {
                    Err(ConfigError::new(format!("ftl.scheme = \"{other}\" is not known")))
                }
            }
        }
    };
}
log_blocks!(rows);

fn log_config(config: &Config, plan: &Plan, seed: u64) -> LogConfig {
    let bast = BastConfig {
        victim: match config.bast.victim {
            LogVictim::Fifo => FtlVictim::Fifo,
            LogVictim::Lru => FtlVictim::Lru,
            LogVictim::Random => FtlVictim::Random,
        },
        merge_when_full: config.bast.merge_when_full == MergeWhenFull::Immediately,
        partial_merge: config.bast.partial_merge,
    };
    let fast = FastConfig {
        out_of_order: match config.fast.out_of_order {
            OutOfOrder::Restart => FtlOutOfOrder::Restart,
            OutOfOrder::Random => FtlOutOfOrder::Random,
        },
        partial_merge: config.fast.partial_merge,
    };
    LogConfig { geometry: plan.geometry, logs: logs(config, plan), seed, bast, fast }
}

/// What the engine is told of the drive of a plan.
pub(super) fn engine(config: &Config, plan: &Plan) -> LogFtlConfig {
    LogFtlConfig {
        geometry: plan.geometry,
        logs: logs(config, plan),
        free_order: match config.cleaning.wear_leveling {
            WearLeveling::None => FreeOrder::First,
            _ => FreeOrder::LeastWorn,
        },
        journal: plan.journal,
    }
}
