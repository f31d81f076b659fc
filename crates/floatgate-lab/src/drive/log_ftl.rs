//! Drives with log blocks.
//!
//! Of the T units in service, as many as the logical pages fill are data blocks; the rest can be
//! log blocks. One more unit, the reserve on top of T, is what a merge copies to.

use floatgate_ftl::blocks::FreeOrder;
use floatgate_ftl::device::Device;
use floatgate_ftl::log_block::{
    Bast, BastConfig, Fast, FastConfig, LogBlocks, LogConfig, LogVictim as FtlVictim,
    OutOfOrder as FtlOutOfOrder,
};
use floatgate_ftl::log_blocks;
use floatgate_ftl::log_ftl::{LogFtl, LogFtlConfig};
use floatgate_ftl::nand::{Counted, Shadow, Timed};

use super::{Front, Plan, verified};
use crate::config::{Config, ConfigError, LogVictim, MergeWhenFull, OutOfOrder, WearLeveling};

/// Log blocks that the drive of a plan has.
pub(super) fn logs(config: &Config, plan: &Plan) -> u32 {
    let spare = plan.units_in_service - plan.geometry.logical_blocks();
    config.log_blocks().unwrap_or(spare)
}

macro_rules! build_rows {
    ($($name:literal $Type:ident, $doc:literal, $source:literal;)*) => {
        /// The drive of a plan whose translation layer works with log blocks.
        pub(super) fn build(
            config: &Config,
            plan: &Plan,
            front: Front,
            seed: u64,
            verify: bool,
        ) -> Result<Box<dyn Device>, ConfigError> {
            match config.ftl.scheme.as_str() {
                $($name => {
                    let scheme = <$Type>::new(&log_config(config, plan, seed));
                    Ok(assemble(scheme, config, plan, front, (seed, verify)))
                })*
                other => {
                    Err(ConfigError::new(format!("ftl.scheme = \"{other}\" is not known")))
                }
            }
        }
    };
}
log_blocks!(build_rows);

pub(super) fn log_config(config: &Config, plan: &Plan, seed: u64) -> LogConfig {
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

fn assemble<L: LogBlocks + Send + 'static>(
    scheme: L,
    config: &Config,
    plan: &Plan,
    front: Front,
    (seed, verify): (u64, bool),
) -> Box<dyn Device> {
    let engine = engine(config, plan);
    if verify || plan.faults.is_some() {
        let nand = verified(plan, seed, true);
        let shadow = Shadow::new(plan.geometry.logical_pages());
        let Ok(ftl) = LogFtl::new(nand, scheme, engine);
        front.before(ftl, shadow)
    } else {
        let timed = Timed::new(Counted::default(), plan.medium, plan.timing);
        let Ok(ftl) = LogFtl::new(timed, scheme, engine);
        front.before(ftl, ())
    }
}
