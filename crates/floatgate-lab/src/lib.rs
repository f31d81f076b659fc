//! Devices, runs and metrics: a config and a workload give a result.

pub mod config;
pub mod crash;
pub mod curve;
pub mod drive;
pub mod hotness;
#[cfg(unix)]
pub mod image;
pub mod jobs;
mod metrics;
pub mod result;
pub mod run;
#[cfg(target_os = "linux")]
pub mod serve;
#[cfg(unix)]
pub mod stored;
mod suggest;
pub mod units;
pub mod usual_lines;
mod warnings;
pub mod workload;

pub use floatgate_ftl::request::Request;
