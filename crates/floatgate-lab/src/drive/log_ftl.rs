//! Drives with log blocks.
//!
//! Some of the T units in service are data blocks: the number that the logical pages fill. The rest
//! can be log blocks. The reserve on top of T is one more unit, to which a merge copies.

use floatgate_ftl::log_block;
use floatgate_ftl::log_blocks;
use floatgate_ftl::log_ftl::LogFtlConfig;

use super::{Make, Plan, free_order};
use crate::config::{Config, ConfigError};

/// Number of log blocks in the drive of a plan.
fn logs(config: &Config, plan: &Plan) -> u32 {
    let spare = plan.units_in_service - plan.geometry.logical_blocks();
    config.log_blocks().unwrap_or(spare)
}

macro_rules! rows {
    ($($name:ident $Type:ident($($Own:ident)?), $doc:literal, $source:literal;)*) => {
        /// Calls the maker with the log-block scheme that the config names.
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

/// Returns the settings of the log-block engine for the drive of a plan.
pub(super) fn engine(config: &Config, plan: &Plan) -> LogFtlConfig {
    LogFtlConfig {
        geometry: plan.geometry,
        logs: logs(config, plan),
        free_order: free_order(config),
        journal: plan.journal,
    }
}
