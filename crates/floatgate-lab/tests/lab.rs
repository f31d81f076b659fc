//! Tests of the laboratory, one binary. `image_mount` measures the memory of its process.

#![allow(clippy::unwrap_used)] // In a test, a panic reports the failure.

mod belady;
mod buffers;
mod config;
mod crash;
mod curve;
mod drive_sizes;
mod external;
mod faults;
mod feed;
mod fitted;
mod generators;
mod handles;
mod hotness;
mod image;
mod jobs;
mod log_blocks;
mod placements;
mod program_units;
mod queueing;
mod results;
mod serve;
mod shrd;
mod stored;
mod timing;
