//! Drives with log blocks.
//!
//! Of the T units in service, as many as the logical pages fill are data blocks; the rest can be
//! log blocks. One more unit, the reserve on top of T, is what a merge copies to.

use floatgate_ftl::log_block;
use floatgate_ftl::log_blocks;
use floatgate_ftl::log_ftl::LogFtlConfig;

use super::{Make, Plan, free_order};
use crate::config::{Config, ConfigError};

/// Log blocks that the drive of a plan has.
fn logs(config: &Config, plan: &Plan) -> u32 {
    let spare = plan.units_in_service - plan.geometry.logical_blocks();
    config.log_blocks().unwrap_or(spare)
}

macro_rules! rows {
    ($($name:ident $Type:ident($($Own:ident)?), $doc:literal, $source:literal;)*) => {
        /// Makes it with the scheme that the config names.
        pub(super) fn with_scheme<T: Make>(
            maker: T,
            config: &Config,
            plan: &Plan,
            seed: u64,
        ) -> Result<T::Made, ConfigError> {
            let of_scheme = config.log_config(plan.geometry, logs(config, plan), seed);
            match config.ftl.scheme.as_str() {
                $(stringify!($name) => maker.block_mapped(log_block::$Type::new(&of_scheme)),)*
                other => Err(ConfigError::unknown_policy("ftl.scheme", other)),
            }
        }
    };
}
log_blocks!(rows);

/// What the engine is told of the drive of a plan.
pub(super) fn engine(config: &Config, plan: &Plan) -> LogFtlConfig {
    LogFtlConfig {
        geometry: plan.geometry,
        logs: logs(config, plan),
        free_order: free_order(config),
        journal: plan.journal,
    }
}
