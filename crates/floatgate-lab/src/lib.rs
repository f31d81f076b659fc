//! From a config and a workload to a result: devices, runs and metrics.

pub mod config;
pub mod crash;
pub mod curve;
mod doubts;
pub mod drive;
pub mod hotness;
#[cfg(unix)]
pub mod image;
mod metrics;
pub mod pattern;
pub mod result;
pub mod run;
#[cfg(unix)]
pub mod stored;
pub mod units;
mod words;
pub mod workload;

pub use floatgate_ftl::request::Request;
