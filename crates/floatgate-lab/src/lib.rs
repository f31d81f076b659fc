//! From a config and a workload to a result: devices, runs and metrics.

pub mod config;
pub mod curve;
mod doubts;
pub mod drive;
pub mod hotness;
mod metrics;
pub mod pattern;
pub mod result;
pub mod run;
pub mod units;
mod words;
pub mod workload;

pub use floatgate_ftl::request::Request;
