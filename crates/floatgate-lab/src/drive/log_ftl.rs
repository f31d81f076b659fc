//! Drives with log blocks.
//!
//! Of the T units in service, as many as the logical pages fill are data blocks. The rest can be
//! log blocks. The reserve is one unit in addition to T, into which a merge copies.

use floatgate_ftl::log_block::{self, LogBlocks};
use floatgate_ftl::log_ftl::LogFtlConfig;

use super::{Plan, free_order};
use crate::config::{Config, ConfigError};

/// Number of log blocks in the drive of a plan.
fn logs(config: &Config, plan: &Plan) -> u32 {
    let spare = plan.units_in_service - plan.geometry.logical_blocks();
    config.log_blocks().unwrap_or(spare)
}

/// Makes the log-block scheme that the config names.
pub(super) fn scheme(
    config: &Config,
    plan: &Plan,
    seed: u64,
) -> Result<Box<dyn LogBlocks + Send>, ConfigError> {
    let (name, logs) = (&config.ftl.scheme, logs(config, plan));
    log_block::scheme(name, &config.log_config(plan.geometry, logs, seed))
        .ok_or_else(|| ConfigError::unknown_policy("ftl.scheme", name))
}

/// Returns the settings of the log-block engine for the drive of a plan.
pub(super) fn engine(config: &Config, plan: &Plan) -> LogFtlConfig {
    LogFtlConfig {
        geometry: plan.geometry,
        logs: logs(config, plan),
        free_order: free_order(config),
        journal: plan.journal,
    }
}
